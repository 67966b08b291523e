// The walks that remember, except for those with mild scores (open.cu, capped.cu).
//
// The next node is the most visited neighbour, or is drawn from a mixture of neighbours and
// remembered nodes; a remembered node that is no neighbour is drawn again.

#include "../../_util/cuda/random.cu"
#include "graph.cu"
#include "trail.cu"
#include "scores.cu"
#include "memory.cu"
#include "remembered.cu"

#define GREEDY 0
#define LINEAR 1
#define SOFTMAX 2

// Weight of a node seen c times, over exp(top), relative to an unvisited one's.
__device__ __forceinline__ double weight_of(int rule, const Scores& scores, int n, int c_u, int c,
                                            double top) {
    if (rule == LINEAR) return c > 0 ? (1.0 + c) * scores.attraction : 1.0;
    return softmax_weight(scores, n, c_u, c, top);
}

// Largest exponent among the remembered counts and an unvisited node's 0.
__device__ __forceinline__ double highest_exponent(const Scores& scores, int n, int c_u,
                                                   const Memory& memory) {
    double highest = 0.0;
    for (int place = 0; place < memory.distinct; place = memory.block_end(place))
        highest = max(highest, exponent(scores, n, c_u, memory.count_at(place)));
    return highest;
}

// Choose by weighing every neighbour: O(degree).
__device__ __forceinline__ int weigh_all(const Graph& graph, Row row, int n, Stream stream,
                                         unsigned drawn, int rule, int candidates,
                                         const Scores& scores, const Memory& memory, int c_u,
                                         double top) {
    const int* entries = graph.indices + row.begin;
    int fresh = 0;
    double fresh_weight = 0.0, seen_weight = 0.0, share, total;
    for (int turn = 0;; turn++) {
        for (unsigned i = 0; i < row.degree; i++) {
            int c = memory.visits(__ldg(entries + i));
            double weight = arc_weight(graph, row.begin + i);
            if (c == 0) {
                fresh++;
                fresh_weight += weight;
            } else {
                seen_weight += weight_of(rule, scores, n, c_u, c, top) * weight;
            }
        }
        share = 0.0;  // weight of an unvisited neighbour under the cap
        if (fresh > 0) {
            share = exp_exact(-top);
            if (candidates > 0) {
                int weighed = row.degree > (unsigned)candidates ? candidates : 1;
                share *= (double)min(weighed, fresh) / (double)fresh;
            }
        }
        total = seen_weight + fresh_weight * share;
        if (turn == 1 || total > 1e-290) break;  // LEAST_TOTAL of plan.py
        // the remembered node that set `top` is no neighbour and dwarfs all that are
        top = __longlong_as_double((long long)0xFFF0000000000000ull);
        for (unsigned i = 0; i < row.degree; i++)
            top = max(top, exponent(scores, n, c_u, memory.visits(__ldg(entries + i))));
        fresh = 0;
        fresh_weight = seen_weight = 0.0;
    }
    double left = unit(draw(stream, n, drawn)) * total;
    int there = -1;
    for (unsigned i = 0; i < row.degree; i++) {
        there = __ldg(entries + i);
        int c = memory.visits(there);
        double weight = c > 0 ? weight_of(rule, scores, n, c_u, c, top) : share;
        weight *= arc_weight(graph, row.begin + i);
        if (left < weight) break;
        left -= weight;
    }
    return there;
}

// Draw from neighbours, each with an unvisited one's weight, and remembered nodes.
//
// Without a cap a remembered node stands in the mixture with what its weight exceeds an unvisited
// one's by, and a visited neighbour that weighs less is kept with the ratio. With a cap the
// neighbours' part is for unvisited ones alone and weighs as many as the cap allows, and a
// remembered node stands there with all its weight.
__device__ __forceinline__ int mixture_step(const Graph& graph, int here, Row row, int n,
                                            Stream stream, int rule, int candidates,
                                            const Scores& scores, const Memory& memory, int c_u) {
    const int distinct = memory.distinct;
    const bool capped = candidates > 0;
    double top = 0.0;
    unsigned drawn = 2;
    if (rule == SOFTMAX && distinct > 0 &&
        (memory.count_at(0) >= scores.tabled || c_u >= scores.tabled))
        top = highest_exponent(scores, n, c_u, memory);
    const double unvisited = top > 0.0 ? exp_exact(-top) : 1.0;
#ifdef WEIGHTED
    auto look_up = [&](unsigned number) {  // by the edges to remembered nodes, or -1
        auto node_at = [&](int place) { return memory.node_at(place); };
        auto weight_at = [&](int place) {
            return weight_of(rule, scores, n, c_u, memory.count_at(place), top);
        };
        if (!few_remembered(row, distinct)) return -1;
        return draw_by_remembered(graph, here, row, n, stream, number, distinct, unvisited,
                                  candidates, node_at, weight_at);
    };
    const unsigned turns = min(patience(row), (unsigned)MOST_PROPOSALS);
#else
    const unsigned turns = patience(row);
#endif
    bool propose = true;
    if (capped) {
#ifdef WEIGHTED
        propose = false;
        int there = look_up(3);
        if (there >= 0) return there;
#else
        propose = row.degree > (unsigned)candidates &&
                  (long long)row.degree - distinct >= candidates;
#endif
    }
    if (propose) {
        const double spared = capped ? 0.0 : unvisited;
        const double heaviest = largest_weight(graph, here);
        auto mass = [&](int place) {  // of each node of a block
            int c = memory.count_at(place);
            return max(weight_of(rule, scores, n, c_u, c, top) - spared, 0.0);
        };
        double excess = 0.0;
        for (int place = 0; place < distinct;) {
            int end = memory.block_end(place);
            excess += (end - place) * mass(place);
            place = end;
        }
        excess *= heaviest;
        const double base =
            unvisited * (capped ? (double)candidates : row_weight(graph, here, row));
        for (unsigned attempt = 0; attempt < turns; attempt++, drawn++) {
            double left = unit(draw(stream, n, drawn)) * (base + excess);
            if (left < base || excess == 0.0) {
                int there, c;
                do {
                    drawn++;
                    there = draw_neighbor(graph, row, draw(stream, n, drawn));
                    c = memory.visits(there);
                } while (capped && c > 0);
                if (c == 0) return there;
                drawn++;
                double keep = unit(draw(stream, n, drawn)) * unvisited;
                if (keep < weight_of(rule, scores, n, c_u, c, top)) return there;
            } else {
                left = (left - base) / heaviest;
                int place = 0, end;
                double weight;
                for (;;) {
                    end = memory.block_end(place);
                    weight = mass(place);
                    if (left < (end - place) * weight || end == distinct) break;
                    left -= (end - place) * weight;
                    place = end;
                }
                if (weight > 0.0) {
                    double ahead = left / weight;  // by rounding it may lie too far
                    place = ahead < end - place ? place + (int)ahead : end - 1;
                }
                int there = memory.node_at(place);
                Offset arc;
                if (find_edge(graph, here, row, there, arc)) {
#ifdef WEIGHTED
                    drawn++;
                    if (unit(draw(stream, n, drawn)) * heaviest < arc_weight(graph, arc))
                        return there;
#else
                    return there;
#endif
                }
            }
        }
#ifdef WEIGHTED
        // one edge outweighs the others by far: look up those that matter
        int there = look_up(drawn + 1);
        if (there >= 0) return there;
#endif
    }
    return weigh_all(graph, row, n, stream, drawn, rule, candidates, scores, memory, c_u, top);
}

// Take the neighbour visited most, which has the best reward; ties by weight at random. Remembered
// nodes are looked at from the most visited on, block by block, until one is a neighbour.
__device__ __forceinline__ int greedy_step(const Graph& graph, int here, Row row, int n,
                                           Stream stream, const Memory& memory) {
    for (int place = 0; place < memory.distinct;) {
        int end = memory.block_end(place), chosen = -1;
        double total = 0.0, left = 0.0;
        for (int choosing = 0; choosing < 2; choosing++) {
            for (int i = place; i < end; i++) {
                int there = memory.node_at(i);
                Offset arc;
                if (!find_edge(graph, here, row, there, arc)) continue;
                chosen = there;
                double weight = arc_weight(graph, arc);
                if (choosing == 0) total += weight;
                else if (left < weight) break;
                else left -= weight;
            }
            if (chosen < 0) break;
            left = unit(draw(stream, n, 1)) * total;
        }
        if (chosen >= 0) return chosen;
        place = end;
    }
    return draw_neighbor(graph, row, draw(stream, n, 1));
}

// Walks with the rule GREEDY, LINEAR (weight 1 + visits) or SOFTMAX, after ε's share.
extern "C" __global__ void __launch_bounds__(256, 3)
reinforced_walks(GRAPH_PARAMETERS, WALK_PARAMETERS, int rule, const double *__restrict__ epsilons,
                 int candidates, SCORE_PARAMETERS, int *nodes, Place *places, unsigned n_cells,
                 int most) {
    const Graph graph = GRAPH;
    const Scores scores = SCORES;
    Memory memory(nodes, places, n_cells, most, length);
    FOR_EACH_WALK(walk) {
        Stream stream = make_stream(seed, first + walk);
        Trail trail(walks, walk, length);
        int start = __ldg(starts + (first + walk) % n_starts), here = start;
        int c_u = path ? 1 : 0;
        memory.forget();
        if (path) memory.remember(start);
        trail.put(0, start);
        for (int n = 0; n + 1 < length; n++) {
            int there = -1;
            Row row = {0, 0};
            if (here >= 0) row = row_of(graph, here);
            if (row.degree > 0) {
                double epsilon = __ldg(epsilons + n);
                if (epsilon > 0.0 && unit(draw(stream, n, 0)) < epsilon)
                    there = draw_neighbor(graph, row, draw(stream, n, 1));
                else if (rule == GREEDY)
                    there = greedy_step(graph, here, row, n, stream, memory);
                else
                    there = mixture_step(graph, here, row, n, stream, rule, candidates, scores,
                                         memory, c_u);
                memory.remember(there);
                c_u += there == start;
            }
            trail.put(n + 1, there);
            here = there;
        }
    }
}
