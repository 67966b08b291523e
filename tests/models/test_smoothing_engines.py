"""Smoothing on the CPU: engines agree, threads change no bit, memory is estimated, Ctrl-C works."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from helpers.toy_graphs import dead_ends, random_graph, weighted, weighted_arcs
from reinforce2vec import Graph, rmat, smooth
from reinforce2vec._util import engine
from reinforce2vec.models import smoothing
from reinforce2vec.models._filter import ROWS
from reinforce2vec.models.cpu import smoothing as fast
from reinforce2vec.models.cpu.eigenvectors import eigenvectors

GRAPHS = {
    "random": random_graph,
    "weighted": weighted,
    "arcs": dead_ends,
    "weighted arcs": weighted_arcs,
    "isolated nodes": lambda: Graph.from_edges([(0, 1), (1, 2)], nodes=range(9)),
    "hubs": lambda: Graph.from_edges([(hub, node) for hub in (0, 1) for node in range(2, 3000)]),
    "scale-free": lambda: rmat(10, 8, seed=1),
}


def some_vectors(n_nodes, dimensions=6):
    return np.random.default_rng(0).normal(size=(n_nodes, dimensions)).astype(np.float32)


def cosines(a, b):
    return np.einsum("ij,ij->i", a.astype(np.float64), b.astype(np.float64))


# -- engines -----------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=list(GRAPHS))
def test_the_plain_engine_gives_the_vectors_of_the_fast_one(monkeypatch, graph):
    graph = graph()
    vectors = some_vectors(graph.n_nodes)
    monkeypatch.setenv(engine.VARIABLE, "fast")
    found = smooth(vectors, graph)
    monkeypatch.setenv(engine.VARIABLE, "plain")
    monkeypatch.setattr(fast, "smoothed", None)  # it is not called
    expected = smooth(vectors, graph)
    assert found.dtype == expected.dtype == np.float32
    assert cosines(found, expected).min() > 1 - 1e-6
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_numbers_of_any_size_are_smoothed_alike():
    graph = rmat(8, 4, seed=1)
    vectors = some_vectors(graph.n_nodes)
    usual = smooth(vectors, graph)
    for exponent in (-90, 120):
        np.testing.assert_array_equal(smooth(np.ldexp(vectors, exponent), graph), usual)


# -- the same bits -----------------------------------------------------------------------------


@pytest.mark.parametrize("with_weights", [False, True])
def test_the_number_of_threads_changes_no_bit(monkeypatch, with_weights):
    graph = rmat(10, 8, seed=1)
    if with_weights:
        values = np.random.default_rng(0).exponential(size=len(graph.indices))
        both = Graph(graph.indptr, graph.indices, values, graph.ids).to_scipy()
        graph = Graph.from_any(both + both.T)
    vectors = some_vectors(graph.n_nodes, 40)
    monkeypatch.setattr(fast, "_SUMMED", 3 * ROWS // 2)
    one = smooth(vectors, graph, workers=1)
    monkeypatch.setattr(fast, "_LEAST_WORK", 100)
    for workers in (1, 2, 7, 16):
        np.testing.assert_array_equal(smooth(vectors, graph, workers=workers), one)


SMOOTH_AND_ALIGN = """
import hashlib, numpy as np
from reinforce2vec import rmat, smooth
from reinforce2vec.models.smoothing import aligned
graph = rmat(10, 8, seed=1)
vectors = np.random.default_rng(0).normal(size=(graph.n_nodes, 300)).astype(np.float32)
found = smooth(vectors, graph)
back = aligned(found, np.arange(900), found[:900, ::-1].copy())
print(hashlib.sha256(found.tobytes() + back.tobytes()).hexdigest())
"""


def test_the_threads_of_the_linear_algebra_library_change_no_bit():
    """With 300 dimensions, the eigenvectors of numpy depend on them."""
    found = set()
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, threads), engine.VARIABLE: "fast"}
        command = [sys.executable, "-c", SMOOTH_AND_ALIGN]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.add(run.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("workers", [1, 3, 64])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=list(GRAPHS))
def test_parts_are_all_rows_in_order(monkeypatch, graph, workers):
    graph = graph()
    monkeypatch.setattr(fast, "_LEAST_WORK", 10)
    parts = fast._equal_parts(graph.indptr, workers)
    assert np.concatenate([np.arange(graph.n_nodes)[part] for part in parts]).tolist() == list(
        range(graph.n_nodes)
    )
    assert len(parts) <= 8 * workers


# -- eigenvectors ------------------------------------------------------------------------------


def gram(rows, columns, grade=0.0):
    values = np.random.default_rng(0).normal(size=(rows, columns))
    values *= 10.0 ** np.linspace(0, grade, columns)
    return values.T @ values


MATRICES = {
    "one": np.full((1, 1), 3.0),
    "two": np.array([[1.0, 2.0], [2.0, -3.0]]),
    "zeros": np.zeros((5, 5)),
    "identity": np.eye(6),
    "diagonal": np.diag([3.0, 1.0, 2.0]),
    "of equal numbers": np.ones((7, 7)),
    "huge": np.full((3, 3), 1e300),
    "with numbers whose squares vanish": np.eye(4) + 5e-162,
    "usual": gram(500, 100),
    "falling": gram(500, 100, -8),
    "rising": gram(500, 100, 8),
    "of rank 3": gram(3, 128),
    "of rank 34, falling": gram(34, 128, -6),
}


@pytest.mark.parametrize("matrix", MATRICES.values(), ids=list(MATRICES))
def test_eigenvectors(matrix):
    before = matrix.copy()
    values, vectors = eigenvectors(matrix)
    np.testing.assert_array_equal(matrix, before)
    size = np.abs(matrix).max() or 1.0
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(matrix)), atol=1e-13)
    np.testing.assert_allclose(matrix / size @ vectors, vectors * (values / size), atol=1e-12)
    expected = np.linalg.eigvalsh(matrix / size)
    np.testing.assert_allclose(values / size, expected, atol=1e-12)


# -- rotating to earlier vectors ---------------------------------------------------------------


def rotation(dimensions, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dimensions, dimensions)))[0]


def unit_vectors(n_nodes, dimensions):
    vectors = some_vectors(n_nodes, dimensions)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(params=["fast", "plain"])
def each_engine(request, monkeypatch):
    monkeypatch.setenv(engine.VARIABLE, request.param)


def test_a_rotated_copy_is_recovered(each_engine):
    earlier = unit_vectors(500, 20)
    turned = (earlier @ rotation(20)).astype(np.float32)
    rows = np.random.default_rng(1).permutation(500)[:300]
    found = smoothing.aligned(turned, rows, earlier[rows])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, earlier, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_new_rows_turn_with_the_old_ones(each_engine):
    earlier = unit_vectors(400, 20)
    later = unit_vectors(500, 20)
    later[:400] = earlier + 0.05 * later[:400]
    later /= np.linalg.norm(later, axis=1, keepdims=True)
    turned = (later @ rotation(20)).astype(np.float32)
    found = smoothing.aligned(turned, np.arange(400), earlier)
    np.testing.assert_allclose(found @ found.T, turned @ turned.T, atol=1e-6)
    best = scipy_rotation(turned[:400], earlier)
    np.testing.assert_allclose(found, turned @ best, atol=1e-5)


def scipy_rotation(vectors, reference):
    from scipy.linalg import orthogonal_procrustes

    return orthogonal_procrustes(vectors.astype(np.float64), reference.astype(np.float64))[0]


# -- memory, progress, Ctrl-C ------------------------------------------------------------------


MEASURE = """
import pickle, sys
import numpy as np
from reinforce2vec import karate_club, smooth
from reinforce2vec._util.machine import peak_bytes
from reinforce2vec.models._memory import smoothing_bytes as bytes_for
graph = pickle.load(open(sys.argv[1], "rb"))
rng, dimensions = np.random.default_rng(0), int(sys.argv[2])
vectors = rng.random((graph.n_nodes, dimensions), np.float32)
smooth(np.eye(34, dtype=np.float32), karate_club(), workers=2)  # loads compiled code
if graph.weighted:
    smooth(vectors[:2], type(graph).from_edges([(0, 1, 2.0)]), workers=2)
before = peak_bytes()
smooth(vectors, graph, workers=2)
print(peak_bytes() - before, bytes_for(graph, dimensions, 2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from Linux")
@pytest.mark.parametrize("chosen", engine.ENGINES)
@pytest.mark.parametrize("weights", [False, True])
def test_the_estimate_is_enough_and_not_much_more(tmp_path, chosen, weights):
    graph = rmat(15, 16, seed=1)
    if weights:
        graph = Graph(graph.indptr, graph.indices, np.ones(len(graph.indices)), graph.ids)
    path = tmp_path / "graph"
    path.write_bytes(pickle.dumps(graph))
    command = [sys.executable, "-c", MEASURE, str(path), "128"]
    environment = {**os.environ, engine.VARIABLE: chosen}
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # it has memory for all its threads
        environment.pop(name, None)
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    peak, estimate = map(int, run.stdout.split())
    assert peak < 1.02 * estimate  # the allocator keeps some
    assert estimate < 1.3 * peak


def test_an_interrupt_ends_it_soon_and_leaves_no_thread(monkeypatch):
    steps, before = [], threading.active_count()
    step = fast.take_step

    def interrupted(*arguments):
        steps.append(1)
        if len(steps) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        step(*arguments)

    monkeypatch.setattr(fast, "take_step", interrupted)
    smoothing._fast_engine_compiles(False)
    steps.clear()
    graph = rmat(12, 16, seed=1)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup may have silenced it
    try:
        with pytest.raises(KeyboardInterrupt):
            smooth(some_vectors(graph.n_nodes, 320), graph, theta=100.0, order=200, workers=2)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert len(steps) < 200  # of 480
    assert threading.active_count() == before
