// What the softmax kernels of mild scores share: weighing every neighbour.

#include "../../_util/cuda/random.cu"
#include "graph.cu"
#include "scores.cu"

// `times_seen(node)` says how often the walk has been at a node. O(degree) look-ups.
template <class TimesSeen>
__device__ __forceinline__ int weigh_neighbors(const Graph& graph, Row row, int n, Stream stream,
                                               const Scores& scores, int c_u, int candidates,
                                               TimesSeen times_seen) {
    const int* entries = graph.indices + row.begin;
    double shift = 0.0, total = 0.0, share = 1.0;
    const double infinity = __longlong_as_double(0x7FF0000000000000ll);
    for (;;) {
        int unvisited = 0;
        double seen_weight = 0.0, fresh_weight = 0.0, highest = -infinity;
        for (unsigned i = 0; i < row.degree; i++) {
            int c = times_seen(__ldg(entries + i));
            double weight = softmax_weight(scores, n, c_u, c, shift);
            weight *= arc_weight(graph, row.begin + i);
            if (c == 0) {
                unvisited++;
                fresh_weight += weight;
            } else {
                seen_weight += weight;
            }
        }
        if (candidates > 0 && unvisited > 0) {  // what the cap leaves of unvisited ones' weight
            int weighed = row.degree > (unsigned)candidates ? candidates : 1;
            share = (double)min(weighed, unvisited) / (double)unvisited;
        }
        total = seen_weight + share * fresh_weight;
        if (0.0 < total && total < infinity) break;
        for (unsigned i = 0; i < row.degree; i++)  // out of range: measure from the largest
            highest = max(highest, exponent(scores, n, c_u, times_seen(__ldg(entries + i))));
        shift = highest;
    }
    double left = unit(draw(stream, n, 0x7FFFFFFF)) * total;
    int there = -1;
    for (unsigned i = 0; i < row.degree; i++) {
        there = __ldg(entries + i);
        int c = times_seen(there);
        double weight = softmax_weight(scores, n, c_u, c, shift);
        weight *= arc_weight(graph, row.begin + i);
        if (c == 0) weight *= share;
        if (left < weight) break;
        left -= weight;
    }
    return there;
}
