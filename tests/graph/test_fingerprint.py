"""The fingerprint of a graph is stored in files, so its value stays."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Graph, karate_club
from reinforce2vec.graph.fingerprint import fingerprint


def test_the_values_in_checkpoints_and_studies_stay():
    friends = Graph.from_edges([("a", "b", 2.0), ("b", "é", 3.0)], directed=True)
    assert fingerprint(karate_club()) == "e92d38aa24fbfc7117fe99f19f5c5f97"
    assert fingerprint(karate_club(), direction=False) == "f419aafe1a91d6cc3b54816734c3dc34"
    assert fingerprint(friends) == "48a06f2a717d44adbef986c5b634f120"
    assert fingerprint(friends, direction=False) == "9d39727b776b6ca11da66a6649871fa4"


@pytest.mark.parametrize(
    "other",
    [
        Graph.from_edges([(1, 2), (2, 4)]),
        Graph.from_edges([(1, 2), (2, 3), (3, 1)]),
        Graph.from_edges([(1, 2), (2, 3)], [1, 2]),
        Graph.from_edges([("1", "2"), ("2", "3")]),
        Graph.from_edges([(1, 2), (2, 3)], nodes=[1, 2, 3, 4]),
    ],
    ids=["ids", "edges", "weights", "kind of ids", "isolated node"],
)
def test_another_graph_has_another_fingerprint(other):
    assert fingerprint(other) != fingerprint(Graph.from_edges([(1, 2), (2, 3)]))


def test_directions_and_further_arrays_count():
    edges = [(1, 2), (2, 1)]
    one, other = Graph.from_edges(edges), Graph.from_edges(edges, directed=True)
    assert fingerprint(one, direction=False) == fingerprint(other, direction=False)
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one) != fingerprint(one, np.arange(2))
