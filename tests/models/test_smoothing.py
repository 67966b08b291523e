"""Smoothing: the filter, which row belongs to which node, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.special import iv

from helpers import emulator
from helpers.toy_graphs import dead_ends, random_graph, weighted, weighted_arcs
from reinforce2vec import Embedding, Graph, InputError, rmat, smooth
from reinforce2vec._util import backend_choice
from reinforce2vec._util.cuda import device
from reinforce2vec.models import smoothing
from reinforce2vec.models._memory import smoothing_bytes_on_gpu


def some_vectors(n_nodes, dimensions=6):
    return np.random.default_rng(0).normal(size=(n_nodes, dimensions)).astype(np.float32)


def literal(vectors, adjacency, mu=0.2, theta=0.5):
    """The filter as a function of a dense matrix, without a series."""
    one = np.eye(len(adjacency))
    links = adjacency + one
    centred = one - links / links.sum(axis=1, keepdims=True) - mu * one
    band = scipy.linalg.expm(-theta * (centred @ centred / 2 - one))
    return units(*np.linalg.svd(links @ (vectors - band @ vectors), full_matrices=False)[:2])


def units(left, sizes):
    result = left * np.sqrt(sizes)
    return result / np.linalg.norm(result, axis=1, keepdims=True)


def angles(vectors):
    """What does not depend on the signs of columns."""
    return vectors.astype(np.float64) @ vectors.T.astype(np.float64)


@pytest.mark.parametrize(("mu", "theta"), [(0.2, 0.5), (0.0, 1.0), (1.5, 2.0)])
def test_the_series_is_the_filter(mu, theta):
    graph = rmat(7, 4, seed=1)
    vectors = some_vectors(graph.n_nodes)
    expected = literal(vectors, graph.to_scipy().toarray(), mu, theta)
    found = smooth(vectors, graph, order=20, mu=mu, theta=theta)
    np.testing.assert_allclose(angles(found), angles(expected), atol=2e-6)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_fewer_terms_are_those_of_the_papers_series(order):
    graph = random_graph()
    vectors = some_vectors(graph.n_nodes).astype(np.float64)
    adjacency = graph.to_scipy().toarray()
    one = np.eye(len(adjacency))
    links = adjacency + one
    centred = 0.8 * one - links / links.sum(axis=1, keepdims=True)
    y = centred @ centred / 2 - one
    before, term = vectors, y @ vectors
    rest = (1 - iv(0, 0.5)) * vectors + 2 * iv(1, 0.5) * term
    for i in range(2, order):
        before, term = term, 2 * y @ term - before
        rest -= 2 * (-1) ** i * iv(i, 0.5) * term
    expected = units(*np.linalg.svd(links @ rest, full_matrices=False)[:2])
    found = smooth(vectors, graph, order=order)
    np.testing.assert_allclose(angles(found), angles(expected), atol=2e-6)
    if order < 5:
        wrong = angles(smooth(vectors, graph, order=order + 1))
        assert np.abs(wrong - angles(expected)).max() > 1e-4


@pytest.mark.parametrize("dimensions", [1, 31, 32, 70])
def test_columns_filtered_in_several_turns_are_all_right(dimensions):
    graph = rmat(8, 4, seed=1)
    vectors = some_vectors(graph.n_nodes, dimensions)
    expected = literal(vectors, graph.to_scipy().toarray())
    np.testing.assert_allclose(angles(smooth(vectors, graph)), angles(expected), atol=3e-6)


def test_weights_count_and_their_unit_does_not():
    graph = weighted()
    vectors = some_vectors(graph.n_nodes)
    ends = np.argwhere(np.triu(graph.to_scipy().toarray()))
    heavy = graph.to_scipy().toarray()[tuple(ends.T)]
    rows = np.arange(graph.n_nodes)
    plain, same, scaled = (
        smooth(vectors, Graph.from_numbered(ends, weights, rows))
        for weights in (None, heavy, 1000 * heavy)
    )
    np.testing.assert_allclose(angles(same), angles(scaled), atol=1e-6)
    assert np.abs(angles(same) - angles(plain)).max() > 0.01


@pytest.mark.parametrize("graph", [dead_ends(), weighted_arcs()], ids=["arcs", "weighted arcs"])
def test_directions_are_set_aside(graph):
    adjacency = graph.to_scipy().toarray()
    both = adjacency + adjacency.T
    if not graph.weighted:
        both = (both > 0).astype(float)
    vectors = some_vectors(graph.n_nodes)
    undirected = Graph.from_any(both)
    np.testing.assert_allclose(
        angles(smooth(vectors, graph)), angles(smooth(vectors, undirected)), atol=1e-6
    )


def test_an_embedding_is_matched_by_ids_and_keeps_its_order():
    graph = random_graph()
    vectors = some_vectors(graph.n_nodes)
    order = np.random.default_rng(1).permutation(graph.n_nodes)
    given = Embedding(graph.ids[order], vectors[order])
    found = smooth(given, graph)
    assert isinstance(found, Embedding)
    assert found.ids.tolist() == given.ids.tolist()
    np.testing.assert_array_equal(found.vectors, smooth(vectors, graph)[order])


def test_an_array_gives_float32_of_the_same_shape_and_unit_rows():
    graph = random_graph()
    found = smooth(some_vectors(graph.n_nodes).astype(np.float64), graph)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_isolated_nodes_and_vectors_of_zeros_stay_finite():
    graph = Graph.from_edges([(0, 1), (1, 2)], nodes=range(6))
    vectors = some_vectors(6, 4)
    vectors[5] = 0
    found = smooth(vectors, graph)
    assert np.isfinite(found).all()
    assert not found[5].any()


def test_more_dimensions_than_nodes_end_in_zeros():
    graph = Graph.from_edges([(0, 1), (1, 2)])
    found = smooth(some_vectors(3, 8), graph)
    assert np.isfinite(found).all()
    assert not found[:, 3:].any()


def test_rows_that_do_not_fit_the_graph():
    with pytest.raises(InputError, match="50 nodes and the matrix 49 rows"):
        smooth(some_vectors(49), random_graph())


def test_an_embedding_of_other_nodes():
    graph = Graph.from_edges([("a", "b"), ("b", "c")])
    with pytest.raises(InputError, match="node 'c' only in the graph"):
        smooth(Embedding(["a", "b", "x"], some_vectors(3)), graph)
    with pytest.raises(InputError, match="4 nodes and the graph 3"):
        smooth(Embedding(["a", "b", "c", "x"], some_vectors(4)), graph)


def test_vectors_that_are_not_finite():
    vectors = some_vectors(50)
    vectors[3, 1] = np.nan
    with pytest.raises(InputError, match="not finite"):
        smooth(vectors, random_graph())


# -- on a GPU --------------------------------------------------------------------------


GRAPHS = {
    "random": random_graph,
    "weighted": weighted,
    "arcs": dead_ends,
    "weighted arcs": weighted_arcs,
    "without edges": lambda: Graph.from_edges([], nodes=range(5)),
    "with hubs": lambda: Graph.from_edges(
        [(hub, node) for hub in (0, 1) for node in range(2 + hub, 1200)]
    ),
}


def check_gpu(graph, dimensions):
    vectors = some_vectors(graph.n_nodes, dimensions)
    found = smooth(vectors, graph, backend="cuda")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, smooth(vectors, graph, backend="cpu"), atol=2e-5)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=list(GRAPHS))
def test_a_gpu_gives_the_vectors_of_the_cpu(cuda, graph):
    check_gpu(graph(), 5)


def test_a_gpu_takes_columns_and_rows_in_turns(cuda, monkeypatch):
    monkeypatch.setattr("reinforce2vec.models._array_smoothing.ROWS", 100)
    check_gpu(rmat(8, 4, seed=1), 40)


@pytest.mark.parametrize("directed", [False, True])
def test_the_estimate_for_the_gpu_is_enough(cuda, directed, monkeypatch):
    """With no room beyond it but for what is rounded up, smoothing works."""
    if cuda == "device":
        pytest.skip("nobody knows how much a GPU has left to the last byte")
    graph = rmat(9, 8, directed=directed, seed=1)
    used = emulator.get_default_memory_pool().used_bytes()
    needed = smoothing_bytes_on_gpu(graph, 40)
    monkeypatch.setattr(emulator, "MEMORY", used + needed + 30 * emulator.UNIT)
    monkeypatch.setattr(device, "RESERVE", 0)
    check_gpu(graph, 40)
    assert emulator.get_default_memory_pool().used_bytes() <= used
    monkeypatch.setattr(emulator, "MEMORY", used + needed // 3)
    monkeypatch.setattr(device, "free_bytes", lambda: 2 * needed)
    with pytest.raises(MemoryError):
        check_gpu(graph, 40)


def test_too_little_memory_on_the_gpu_is_said_with_figures(cuda, monkeypatch):
    monkeypatch.setattr(device, "free_bytes", lambda: 1000)
    with pytest.raises(InputError, match=r"smoothing 50 .* of GPU memory, and 1\.0 kB"):
        smooth(some_vectors(50), random_graph(), backend="cuda")


@pytest.mark.parametrize(
    ("least", "free", "taken"),
    [(0, 1 << 40, True), (1 << 60, 1 << 40, False), (0, 1000, False)],
    ids=["pays and fits", "does not pay", "does not fit"],
)
def test_a_gpu_is_taken_by_itself_where_it_pays_and_fits(cuda, monkeypatch, least, free, taken):
    made = []
    monkeypatch.setitem(backend_choice.LEAST_WORK, "smoothing", least)
    monkeypatch.setattr(device, "free_bytes", lambda: free)
    links = smoothing.DeviceLinks
    monkeypatch.setattr(smoothing, "DeviceLinks", lambda graph: made.append(1) or links(graph))
    smooth(some_vectors(50), random_graph())
    assert bool(made) == taken


def test_with_ray_this_process_smooths(monkeypatch):
    monkeypatch.setattr("reinforce2vec._util.cluster.connection.check_installed", lambda: None)
    vectors, graph = some_vectors(50, 40), random_graph()
    expected = smooth(vectors, graph, backend="cpu")
    for workers in (None, 3):
        found = smooth(vectors, graph, backend="ray", workers=workers)
        np.testing.assert_array_equal(found, expected)
