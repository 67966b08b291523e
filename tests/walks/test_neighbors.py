"""Finding an edge is exact, wherever the window looked at first happens to lie."""

import numpy as np
import pytest
from numba import njit

from reinforce2vec import Graph, rmat
from reinforce2vec.walks.cpu.neighbors import Arcs, find_arc, find_edge


@njit
def all_found(graph, found_arcs, found_edges):
    for source in range(graph.indptr.size - 1):
        for target in range(graph.indptr.size - 1):
            found_arcs[source, target] = find_arc(graph, source, np.int32(target))
            found_edges[source, target] = find_edge(graph, np.int32(source), np.int32(target))


def sparse(n: int, m: int, seed: int, directed: bool) -> Graph:
    edges = np.random.default_rng(seed).integers(0, n, (m, 2))
    return Graph.from_edges(edges, nodes=range(n), directed=directed, self_loops=True)


GRAPHS = {
    "no edge": Graph.from_edges([], nodes=range(3)),
    "fewer arcs than a window": sparse(5, 6, seed=0, directed=False),
    "short rows": sparse(60, 150, seed=1, directed=False),
    "short rows, directed": sparse(60, 150, seed=1, directed=True),
    "long rows": sparse(300, 30_000, seed=2, directed=False),
    "long rows, directed": sparse(300, 30_000, seed=2, directed=True),
    "hubs": rmat(9, seed=3),
    "a last node without arcs": Graph.from_edges([(i, i + 1) for i in range(80)], directed=True),
    "numbers that follow the structure": Graph.from_edges(
        [(i, j) for i in range(400) for j in range(i + 1, min(i + 90, 400))]
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_every_edge_and_no_other_is_found(name):
    graph = GRAPHS[name]
    adjacency = graph.to_scipy().toarray() > 0
    arcs = np.empty(adjacency.shape, np.int64)
    edges = np.empty(adjacency.shape, np.int64)
    all_found(Arcs(graph.indptr, graph.indices, graph.directed), arcs, edges)
    np.testing.assert_array_equal(arcs >= 0, adjacency)
    np.testing.assert_array_equal(edges >= 0, adjacency)
    sources, targets = np.nonzero(adjacency)
    np.testing.assert_array_equal(graph.indices[arcs[sources, targets]], targets)
    assert (arcs[sources, targets] >= graph.indptr[sources]).all()
    assert (arcs[sources, targets] < graph.indptr[sources + 1]).all()
