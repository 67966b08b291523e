// A draw on a weighted graph by looking up the edges to remembered nodes, as in
// walks/cpu/weighing.py: under a cap, or where proposals are refused again and again.

#include "../../_util/cuda/random.cu"
#include "graph.cu"

#define ARCS_PER_LOOKUP 4  // arcs that are weighed in the time that it takes to look up an edge

__device__ __forceinline__ bool few_remembered(Row row, int size) {
    return (long long)row.degree >= ARCS_PER_LOOKUP * (long long)size;
}

// `node_at(place)` says which nodes are remembered, `weight_at(place)` what each weighs and
// `unvisited` what an unvisited one does, all without edge weights; `drawn` is the number of the
// first draw. Returns -1 if all proposals were refused. O(size) look-ups of edges.
template <class NodeAt, class WeightAt>
__device__ __forceinline__ int draw_by_remembered(const Graph& graph, int here, Row row, int n,
                                                  Stream stream, unsigned drawn, int size,
                                                  double unvisited, int candidates, NodeAt node_at,
                                                  WeightAt weight_at) {
    unsigned fresh = row.degree;
    double seen_weight = 0.0, fresh_weight = 0.0;
    for (int place = 0; place < size; place++) {
        Offset arc;
        if (!find_edge(graph, here, row, node_at(place), arc)) continue;
        fresh--;
        seen_weight += weight_at(place) * arc_weight(graph, arc);
    }
    unsigned weighed = fresh;
    if (candidates > 0)
        weighed = min(row.degree > (unsigned)candidates ? (unsigned)candidates : 1u, fresh);
    if (fresh > 0)
        fresh_weight =
            unvisited * ((double)weighed / (double)fresh) * row_weight(graph, here, row);
    for (int turn = 0; turn < MOST_PROPOSALS; turn++) {
        double left = unit(draw(stream, n, drawn + 2 * turn)) * (fresh_weight + seen_weight);
        if (left < fresh_weight) {
            int there = draw_neighbor(graph, row, draw(stream, n, drawn + 2 * turn + 1));
            int place = 0;
            while (place < size && node_at(place) != there) place++;
            if (place == size) return there;
        } else if (seen_weight > 0.0) {
            left -= fresh_weight;
            int chosen = -1;
            for (int place = 0; place < size; place++) {
                int there = node_at(place);
                Offset arc;
                if (!find_edge(graph, here, row, there, arc)) continue;
                double weight = weight_at(place) * arc_weight(graph, arc);
                if (!(weight > 0.0)) continue;
                chosen = there;
                if (left < weight) break;
                left -= weight;
            }
            return chosen;
        }
    }
    return -1;
}
