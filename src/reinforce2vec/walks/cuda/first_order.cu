// Each step a neighbour by weight. One draw and two loads a step.

#include "../../_util/cuda/random.cu"
#include "graph.cu"
#include "trail.cu"

extern "C" __global__ void __launch_bounds__(256)
first_order_walks(GRAPH_PARAMETERS, WALK_PARAMETERS) {
    const Graph graph = GRAPH;
    FOR_EACH_WALK(walk) {
        Stream stream = make_stream(seed, first + walk);
        Trail trail(walks, walk, length);
        int node = __ldg(starts + (first + walk) % n_starts);
        trail.put(0, node);
        for (int n = 0; n + 1 < length; n++) {
            if (node >= 0) {
                Row row = row_of(graph, node);
                node = row.degree > 0 ? draw_neighbor(graph, row, draw(stream, n, 0)) : -1;
            }
            trail.put(n + 1, node);
        }
    }
}
