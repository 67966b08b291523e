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
    WalkSampler,
    karate_club,
    rmat,
    sample_walks,
    write_walks,
)
from reinforce2vec.files.stored_walks import StoredWalks
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


def test_walks_that_end_early_are_followed_to_their_end(at_once):
    """In a matrix, -1 stands after the end of a walk; some walks have no step at all."""
    rng = np.random.default_rng(3)
    walks = rng.integers(0, 12, (30, 7))
    for walk in walks:
        walk[rng.integers(1, 8) :] = -1
    assert (walks[:, 1] == -1).any()
    check(walks_from(walks, range(12)))


def test_steps_from_a_node_to_itself_do_not_count(at_once):
    graph = check(walks_from([["a", "a", "b", "b", "b", "a"], ["c", "c"]]))
    assert graph.n_edges == 1
    assert graph.to_scipy().sum() == 2 * 2


def test_nodes_in_no_walk_have_no_edges(at_once):
    graph = check(walks_from(np.array([[4, 2], [2, 4], [7, -1]]), range(10)))
    assert graph.n_nodes == 10
    assert graph.degrees.tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("walks", [[["a"]], [["a"], ["b"]], [["a", "a"]]], ids=str)
def test_walks_without_a_step_have_a_graph_without_edges(at_once, walks):
    graph = check(walks_from(walks))
    assert graph.n_edges == 0
    assert graph.n_nodes == len({node for walk in walks for node in walk})


def test_ids_of_any_type_are_kept(at_once):
    ids = ["zoe", 7, (1, 2), b"x"]
    check(walks_from(np.array([[0, 1, 2], [3, 1, 0]]), ids))


@pytest.mark.parametrize("suffix", [".txt", ".npz"])
def test_walks_in_files_have_the_graph_of_walks_in_memory(tmp_path, suffix):
    sampler = WalkSampler(karate_club(), length=8, per_node=3)
    path = tmp_path / f"walks{suffix}"
    write_walks(path, sampler)
    read, given = walks_from(path), walks_from(sampler.sample(), karate_club())
    edges = (
        {
            (frozenset((str(a), str(b))), weight)
            for a, row in zip(graph.ids, graph.to_scipy().toarray(), strict=True)
            for b, weight in zip(graph.ids, row, strict=True)
            if weight
        }
        for graph in (graph_of_steps(read), graph_of_steps(given))
    )
    assert next(edges) == next(edges)


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


def test_large_numbers_of_nodes_do_not_overflow():
    """Two row numbers make one key of 64 bits."""
    n_nodes = 3_000_000
    ids = np.arange(n_nodes)
    nodes = np.array([n_nodes - 1, n_nodes - 2, 0, n_nodes - 1], np.int32)
    graph = graph_of_steps(StoredWalks(nodes, np.array([0, 4]), ids))
    assert graph.n_edges == 3
    assert graph.neighbors(n_nodes - 1).tolist() == [0, n_nodes - 2]


def test_edges_are_sorted_a_few_times_only(monkeypatch):
    """Not with every million of steps, which would take time like the square of their number."""
    sorted_ = []

    def merged(parts):
        sorted_.append(sum(len(keys) for keys, _ in parts))
        return usual(parts)

    usual = _steps._merged
    monkeypatch.setattr(_steps, "_AT_ONCE", 100)
    monkeypatch.setattr(_steps, "_merged", merged)
    nodes = np.random.default_rng(0).integers(0, 2000, (1000, 40))
    graph = graph_of_steps(walks_from(nodes))
    assert sum(sorted_) < 6 * nodes.size
    monkeypatch.undo()
    expected = graph_of_steps(walks_from(nodes))
    assert np.array_equal(graph.indices, expected.indices)
    assert np.array_equal(graph.weights, expected.weights)


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
