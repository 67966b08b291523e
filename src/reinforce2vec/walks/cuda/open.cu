// DRRW with UCB and mild scores (see Kernel in walks/plan.py), every neighbour a candidate: little
// more than one draw a step.

#include "../../_util/cuda/random.cu"
#include "graph.cu"
#include "trail.cu"
#include "scores.cu"
#include "softmax.cu"

// Propose until a neighbour is kept; the first proposal is the one the caller looked at. What the
// walk remembers is its own row, without the start where that does not count.
__device__ __forceinline__ int open_step(const Graph& graph, Row row, int n, Stream stream,
                                         const Scores& scores, int c_u, double top,
                                         const Trail& trail, int start) {
    auto times_seen = [&](int node) {
        return trail.count(n + 1, node) - (!scores.path && node == start);
    };
    for (unsigned attempt = 0; attempt < patience(row); attempt++) {
        unsigned long long bits = draw(stream, n, 2 * attempt);
        int there = draw_neighbor(graph, row, bits);
#ifdef WEIGHTED  // the alias table used up what was left of the draw
        double keep = unit(draw(stream, n, 2 * attempt + 1));
#else
        double keep = left_over(bits, row.degree);
#endif
        if (keep * top < softmax_weight(scores, n, c_u, times_seen(there), 0.0)) return there;
    }
    return weigh_neighbors(graph, row, n, stream, scores, c_u, 0, times_seen);
}

// Relative to an unvisited node's, no weight exceeds tops[n] or is below floors[c_u]: under that
// share a proposal is kept without looking up how often the walk has been there.
extern "C" __global__ void __launch_bounds__(256)
open_walks(GRAPH_PARAMETERS, WALK_PARAMETERS, SCORE_PARAMETERS, const double *__restrict__ tops,
           const double *__restrict__ floors) {
    const Graph graph = GRAPH;
    const Scores scores = SCORES;
    FOR_EACH_WALK(walk) {
        Stream stream = make_stream(seed, first + walk);
        Trail trail(walks, walk, length);
        int start = __ldg(starts + (first + walk) % n_starts), here = start;
        int c_u = path ? 1 : 0;
        trail.put(0, start);
        for (int n = 0; n + 1 < length; n++) {
            int there = -1;
            Row row = {0, 0};
            if (here >= 0) row = row_of(graph, here);
            if (row.degree > 0) {
                unsigned long long bits = draw(stream, n, 0);
#ifdef WEIGHTED
                double keep = unit(draw(stream, n, 1));
#else
                double keep = left_over(bits, row.degree);
#endif
                double top = __ldg(tops + n);
                if (keep * top < __ldg(floors + c_u))
                    there = draw_neighbor(graph, row, bits);
                else
                    there = open_step(graph, row, n, stream, scores, c_u, top, trail, start);
                c_u += there == start;
            }
            trail.put(n + 1, there);
            here = there;
        }
    }
}
