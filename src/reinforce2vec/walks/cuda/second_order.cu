// node2vec's walk by rejection. About one draw and one look-up of an edge a step.

#include "../../_util/cuda/random.cu"
#include "graph.cu"
#include "trail.cu"

// One step from `here`, come from `before` (-1: none), with turn_back = 1/p and stray = 1/q.
//
// A neighbour is proposed by weight and kept with its bias over the largest bias of neighbours
// other than `before`; where 1/p is larger still, the rest of it is a proposal of its own.
__device__ __forceinline__ int second_order_step(const Graph& graph, int before, int here, Row row,
                                                 int n, Stream stream, double turn_back,
                                                 double stray) {
    if (before < 0) return draw_neighbor(graph, row, draw(stream, n, 0));
    double most = max(1.0, stray), least = min(1.0, stray);
    double base = row_weight(graph, here, row) * most, extra = 0.0;
    Row row_before = row_of(graph, before);
    Offset arc;
    if (turn_back > most && find_edge(graph, here, row, before, arc))
        extra = (turn_back - most) * arc_weight(graph, arc);
    for (unsigned attempt = 0; attempt < patience(row); attempt++) {
        if (extra > 0.0 && unit(draw(stream, n, 3 * attempt + 1)) * (base + extra) >= base)
            return before;
        unsigned long long bits = draw(stream, n, 3 * attempt);
        int there = draw_neighbor(graph, row, bits);
#ifdef WEIGHTED  // the alias table used up what was left of the draw
        double keep = unit(draw(stream, n, 3 * attempt + 2)) * most;
#else
        double keep = left_over(bits, row.degree) * most;
#endif
        if (there == before) {
            if (keep < turn_back) return there;
        } else if (keep < least) {
            return there;
        } else {
            bool linked = find_edge(graph, before, row_before, there, arc);
            if (keep < (linked ? 1.0 : stray)) return there;
        }
    }
    double total = 0.0, left = 0.0;
    int there = -1;
    for (int choosing = 0; choosing < 2; choosing++) {  // weigh every neighbour, then choose
        for (unsigned i = 0; i < row.degree; i++) {
            there = __ldg(graph.indices + row.begin + i);
            double bias = turn_back;
            if (there != before)
                bias = find_edge(graph, before, row_before, there, arc) ? 1.0 : stray;
            bias *= arc_weight(graph, row.begin + i);
            if (choosing == 0) total += bias;
            else if (left < bias) break;
            else left -= bias;
        }
        left = unit(draw(stream, n, 3 * patience(row))) * total;
    }
    return there;
}

extern "C" __global__ void __launch_bounds__(256)
second_order_walks(GRAPH_PARAMETERS, WALK_PARAMETERS, double p, double q) {
    const Graph graph = GRAPH;
    FOR_EACH_WALK(walk) {
        Stream stream = make_stream(seed, first + walk);
        Trail trail(walks, walk, length);
        int before = -1, here = __ldg(starts + (first + walk) % n_starts);
        trail.put(0, here);
        for (int n = 0; n + 1 < length; n++) {
            int there = -1;
            if (here >= 0) {
                Row row = row_of(graph, here);
                if (row.degree > 0)
                    there = second_order_step(graph, before, here, row, n, stream, 1.0 / p,
                                              1.0 / q);
            }
            trail.put(n + 1, there);
            before = here;
            here = there;
        }
    }
}
