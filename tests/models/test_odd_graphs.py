"""Stars, paths, complete graphs, self-loops, dead ends, one node and two: vectors are finite."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import HOPE, LINE, Graph, GraRep, NetMF, ProNE, Reinforce2Vec, Spectral

STAR = [(0, leaf) for leaf in range(1, 30)]
TREE = [((node - 1) // 2, node) for node in range(1, 30)]
GRAPHS = {
    "one node": Graph.from_edges([], nodes=["a"]),
    "one node with a self-loop": Graph.from_edges([("a", "a")], self_loops=True),
    "two nodes": Graph.from_edges([("a", "b")]),
    "two nodes apart": Graph.from_edges([], nodes=["a", "b"]),
    "one weighted arc": Graph.from_edges([("a", "b")], [1e-90], directed=True),
    "star": Graph.from_edges(STAR),
    "star whose leaves point to the hub": Graph.from_edges(
        [edge[::-1] for edge in STAR], directed=True
    ),
    "path": Graph.from_edges([(node, node + 1) for node in range(30)]),
    "complete": Graph.from_edges([(a, b) for a in range(15) for b in range(a)]),
    "self-loops alone": Graph.from_edges([(node, node) for node in range(30)], self_loops=True),
    "self-loops, dropped": Graph.from_edges([(node, node) for node in range(30)]),
    "dead ends": Graph.from_edges(TREE, directed=True),
}
METHODS = {
    "Reinforce2Vec": lambda: Reinforce2Vec(8, walks_per_node=2, walk_length=10, workers=1),
    "LINE": lambda: LINE(8, samples=1000, workers=1),
    "HOPE": lambda: HOPE(8),
    "GraRep": lambda: GraRep(8),
    "NetMF": lambda: NetMF(8),
    "ProNE": lambda: ProNE(8),
    "Spectral": lambda: Spectral(8),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_vectors_are_finite(method, graph):
    found = method().fit(graph, progress=False).embedding_
    assert found.ids.tolist() == graph.ids.tolist()
    assert found.vectors.shape == (graph.n_nodes, 8)
    assert np.isfinite(found.vectors).all()
