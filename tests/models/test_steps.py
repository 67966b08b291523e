"""The graph that walks went along, held against steps that are counted one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from helpers.memory import peak_of
from helpers.toy_graphs import weighted
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    karate_club,
    rmat,
    sample_walks,
)
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.models import _steps
from reinforce2vec.models._steps import graph_of_steps


def counted(stored):
    """How often walks went between two nodes, either way, by row numbers."""
    found = Counter()
    for begin, end in pairwise(stored.begins.tolist()):
        walk = stored.nodes[begin:end].tolist()
        if -1 in walk:
            walk = walk[: walk.index(-1)]
        found.update(frozenset(step) for step in pairwise(walk) if step[0] != step[1])
    return found


def check(stored):
    graph = graph_of_steps(stored)
    steps = counted(stored)
    expected = np.zeros((len(stored.ids), len(stored.ids)))
    for (a, b), times in ((tuple(step), times) for step, times in steps.items()):
        expected[a, b] = expected[b, a] = times
    np.testing.assert_array_equal(graph.to_scipy().toarray(), expected)
    assert graph.ids.tolist() == stored.ids.tolist()
    assert graph.weighted
    assert not graph.directed
    assert graph.n_edges == len(steps)
    return graph


@pytest.fixture(params=[1, 2, 3, 7, 40, 41, 1 << 20], ids="{} at once".format)
def at_once(request, monkeypatch):
    """Chunks of so many nodes: borders fall into walks, before them and after them."""
    monkeypatch.setattr(_steps, "_AT_ONCE", request.param)
    return request.param


def test_every_step_counts_once(at_once):
    check(walks_from(sample_walks(karate_club(), length=10, per_node=2)))


def test_walks_of_any_length_do_not_run_into_each_other(at_once):
    rng = np.random.default_rng(2)
    lists = [rng.integers(0, 9, length).tolist() for length in rng.integers(1, 8, 40)]
    check(walks_from(lists, range(9)))


@pytest.mark.parametrize("walks", [[["a"]], [["a"], ["b"]], [["a", "a"]]], ids=str)
def test_walks_without_a_step_have_a_graph_without_edges(at_once, walks):
    graph = check(walks_from(walks))
    assert graph.n_edges == 0
    assert graph.n_nodes == len({node for walk in walks for node in walk})


def test_with_many_walks_it_is_the_graph_itself():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    walks = sample_walks(graph, FirstOrderWalk(), length=40, per_node=200)
    found = graph_of_steps(walks_from(walks, graph)).to_scipy()
    assert np.array_equal(found.toarray() > 0, graph.to_scipy().toarray() > 0)
    # steps of a walk on an unweighted graph come along all edges equally often
    np.testing.assert_allclose(found.data, found.data.mean(), rtol=0.05)


def test_weights_and_directions_show_in_how_often_edges_are_taken():
    for graph in (weighted(), rmat(7, 4, directed=True, seed=1)):
        check(walks_from(sample_walks(graph, length=12, per_node=2), graph))


def test_the_estimate_covers_what_is_taken():
    for walks in (
        np.random.default_rng(0).integers(0, 3000, (2000, 40)),
        np.random.default_rng(0).integers(0, 100, (20_000, 40)),
        sample_walks(karate_club(), per_node=500),
    ):
        stored = walks_from(walks)
        needed = _steps.bytes_for_steps(stored, _steps.likely_edges(stored))[0]
        assert peak_of(graph_of_steps, stored) <= needed
        assert peak_of(_steps.likely_edges, stored) <= needed
