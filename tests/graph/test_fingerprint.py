"""The fingerprint of a graph is stored in files, so its value stays."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Graph, karate_club
from reinforce2vec.graph.fingerprint import content_digest, fingerprint


def test_the_values_in_checkpoints_and_studies_stay():
    friends = Graph.from_edges([("a", "b", 2.0), ("b", "é", 3.0)], directed=True)
    assert fingerprint(karate_club()) == "e92d38aa24fbfc7117fe99f19f5c5f97"
    assert fingerprint(karate_club(), direction=False) == "f419aafe1a91d6cc3b54816734c3dc34"
    assert fingerprint(friends) == "48a06f2a717d44adbef986c5b634f120"
    assert fingerprint(friends, direction=False) == "9d39727b776b6ca11da66a6649871fa4"
    assert content_digest(karate_club()) == "c1ffd417501dfa8d"
    assert content_digest(friends) == "5d17498df9f12bd4"


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
    graph = Graph.from_edges([(1, 2), (2, 3)])
    assert fingerprint(other) != fingerprint(graph)
    assert content_digest(other) != content_digest(graph)


def test_directions_and_further_arrays_count():
    edges = [(1, 2), (2, 1)]
    one, other = Graph.from_edges(edges), Graph.from_edges(edges, directed=True)
    assert fingerprint(one, direction=False) == fingerprint(other, direction=False)
    assert fingerprint(one) != fingerprint(other)
    assert content_digest(one) != content_digest(other)
    assert fingerprint(one) != fingerprint(one, np.arange(2))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("named", [int, str])
def test_the_digest_of_the_content_does_not_depend_on_order(directed, named):
    """Arcs are summed 65,536 at a time: there are more, and some nodes have many."""
    ends = np.unique((np.random.default_rng(0).random((110_000, 2)) ** 2 * 600).astype(int), axis=0)
    triples = [(named(a), named(b), float(a + 2 * b + 1)) for a, b in ends[:80_000].tolist()]

    def digest_of(triples):
        return content_digest(Graph.from_edges(triples, directed=directed))

    (a, b, weight), *others = triples[1:]
    whole = digest_of(triples[1:])
    assert digest_of([*others, (a, b, weight)]) == whole
    assert digest_of(triples[:0:-1]) == whole
    assert (digest_of([(b, a, weight), *others]) != whole) == directed
    assert digest_of([(a, b, weight + 1), *others]) != whole
