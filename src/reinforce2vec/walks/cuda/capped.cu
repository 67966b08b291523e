// DRRW with UCB and mild scores (see Kernel in walks/plan.py), where at most `candidates` unvisited
// neighbours are weighed, and every visited one.
//
// The next node is an unvisited neighbour or a remembered node that is a neighbour: together the
// unvisited ones weigh as much as the cap allows, and a remembered node is proposed with the
// largest weight, tops[n], and kept with its own. On a weighted graph the edges to all remembered
// nodes are looked up (remembered.cu), unless there are fewer neighbours to weigh.
//
// COUNT_BYTES: what it takes to say how often a walk has been at a node. NEAR: what walks remember
// lies in shared memory, else in `far_nodes` and `far_counts`. Entry e of all threads lies side by
// side.

#include "../../_util/cuda/random.cu"
#include "graph.cu"
#include "trail.cu"
#include "scores.cu"
#include "softmax.cu"
#include "remembered.cu"
#include "filter.cu"

#if COUNT_BYTES == 1
typedef unsigned char Count;
#else
typedef unsigned short Count;
#endif

#ifndef EMULATED
#define SHARED_MEMORY(type, name) extern __shared__ type name[]
#endif

// The distinct nodes a walk has been at, in the order of the first visits, and how often.
struct Recall {
    int* nodes;
    Count* counts;
    unsigned stride;
    int size;
    Filter filter;

    __device__ __forceinline__ void clear() {
        size = 0;
        filter.clear();
    }

    // Where a node stands; `size` if it does not.
    __device__ __forceinline__ int place_of(int node) const {
        if (filter.surely_new(node)) return size;
        int place = 0;
        while (place < size && nodes[place * stride] != node) place++;
        return place;
    }

    __device__ __forceinline__ int times_seen(int node) const {
        int place = place_of(node);
        return place < size ? (int)counts[place * stride] : 0;
    }

    __device__ __forceinline__ void visit(int node, int place) {
        if (place < size) {
            counts[place * stride]++;
            return;
        }
        nodes[place * stride] = node;
        counts[place * stride] = 1;
        size++;
        filter.add(node);
    }
};

// Whether a row has more arcs than the cap, and as many to unvisited nodes.
__device__ __forceinline__ bool enough_unvisited(const Graph& graph, Row row, const Recall& recall,
                                                 int candidates) {
    if (row.degree <= (unsigned)candidates) return false;
    if ((long long)row.degree - recall.size >= candidates) return true;
    const int* entries = graph.indices + row.begin;
    int unvisited = 0;
    for (unsigned i = 0; i < row.degree && unvisited < candidates; i++)
        unvisited += recall.filter.surely_new(__ldg(entries + i));
    if (unvisited == candidates) return true;
    unvisited = 0;
    for (unsigned i = 0; i < row.degree && unvisited < candidates; i++)
        unvisited += recall.place_of(__ldg(entries + i)) == recall.size;
    return unvisited == candidates;
}

// Lanes of a warp do not wait for each other's steps: each turn of the loop is one proposal.
extern "C" __global__ void __launch_bounds__(256, 3)
capped_walks(GRAPH_PARAMETERS, WALK_PARAMETERS, SCORE_PARAMETERS, const double *__restrict__ tops,
             int candidates, int *far_nodes, Count *far_counts) {
    const Graph graph = GRAPH;
    const Scores scores = SCORES;
    Recall recall;
#ifdef NEAR
    SHARED_MEMORY(int, near_nodes);
    recall.nodes = near_nodes + threadIdx.x;
    recall.counts = (Count*)(near_nodes + blockDim.x * length) + threadIdx.x;
    recall.stride = blockDim.x;
#else
    recall.nodes = far_nodes + (blockIdx.x * blockDim.x + threadIdx.x);
    recall.counts = far_counts + (blockIdx.x * blockDim.x + threadIdx.x);
    recall.stride = gridDim.x * blockDim.x;
#endif
    FOR_EACH_WALK(walk) {
        Stream stream = make_stream(seed, first + walk);
        Trail trail(walks, walk, length);
        int start = __ldg(starts + (first + walk) % n_starts), here = start;
        int c_u = path ? 1 : 0;
        recall.clear();
        if (path) recall.visit(start, 0);
        trail.put(0, start);
        Row row = {0, 0};
        unsigned turn = 0;
        bool wants_fresh = false, weighs = false;
        for (int n = 0; n + 1 < length;) {
            int there = -1, place = -1;  // place: where the next node stands; -1: undecided
            if (turn == 0) {
                row = row_of(graph, here);
                wants_fresh = false;
#ifdef WEIGHTED
                weighs = true;
#else
                weighs = row.degree == 0 || !enough_unvisited(graph, row, recall, candidates);
#endif
                if (row.degree == 0) {
                    for (; n + 1 < length; n++) trail.put(n + 1, -1);
                    break;
                }
            }
            if (!weighs) {
                double top = __ldg(tops + n), left = 0.0;
                if (!wants_fresh) {
                    left = unit(draw(stream, n, 2 * turn)) * (candidates + recall.size * top);
                    left -= candidates;
                    wants_fresh = left < 0.0;
                }
                if (wants_fresh) {
                    there = draw_neighbor(graph, row, draw(stream, n, 2 * turn + 1));
                    if (recall.place_of(there) == recall.size) place = recall.size;
                } else {
                    left /= top;
                    int drawn = (int)min((long long)left, (long long)recall.size - 1);
                    int c = recall.counts[drawn * recall.stride];
                    double weight = softmax_weight(scores, n, c_u, c, 0.0);
                    there = recall.nodes[drawn * recall.stride];
                    Offset arc;
                    if ((left - drawn) * top < weight && find_edge(graph, here, row, there, arc))
                        place = drawn;
                }
                turn++;
                weighs = place < 0 && !wants_fresh && turn >= MOST_PROPOSALS;
                if (weighs) there = -1;  // it was refused
            }
            if (weighs) {
#ifdef WEIGHTED
                if (few_remembered(row, recall.size)) {
                    auto node_at = [&](int at) { return recall.nodes[at * recall.stride]; };
                    auto weight_at = [&](int at) {
                        int c = recall.counts[at * recall.stride];
                        return softmax_weight(scores, n, c_u, c, 0.0);
                    };
                    there = draw_by_remembered(graph, here, row, n, stream, 0, recall.size, 1.0,
                                               candidates, node_at, weight_at);
                }
#endif
                if (there < 0) {
                    auto times_seen = [&](int node) { return recall.times_seen(node); };
                    there =
                        weigh_neighbors(graph, row, n, stream, scores, c_u, candidates, times_seen);
                }
                place = recall.place_of(there);
            }
            if (place >= 0) {
                recall.visit(there, place);
                c_u += there == start;
                trail.put(n + 1, there);
                here = there;
                n++;
                turn = 0;
            }
        }
    }
}
