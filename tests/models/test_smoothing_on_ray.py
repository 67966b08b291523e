"""Smoothing on Ray: the bits of one machine, also where workers and nodes end during the work."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from helpers.memory import peak_of
from helpers.toy_graphs import weighted_arcs
from reinforce2vec import Embedding, Graph, InputError, rmat, smooth
from reinforce2vec._util import engine
from reinforce2vec.models import smoothing
from reinforce2vec.models._smoothing_parts import links_of, scale_of
from reinforce2vec.models.ray import smoothing as on_ray

pytestmark = pytest.mark.slow


def some_vectors(n_nodes, dimensions=40):
    return np.random.default_rng(0).normal(size=(n_nodes, dimensions)).astype(np.float32)


@pytest.fixture(scope="module")
def graph():
    return rmat(14, 4, seed=1)  # two parts of the rows


@pytest.fixture(autouse=True)
def ranges(monkeypatch):
    """A range of rows for each part of them."""
    monkeypatch.setattr(on_ray, "_RANGE_BYTES", 1)


# -- the same bits -----------------------------------------------------------------------------


def test_any_number_of_workers_gives_the_bits_of_one_machine(ray_cluster, graph):
    vectors = some_vectors(graph.n_nodes, 70)
    expected = smooth(vectors, graph, backend="cpu")
    for workers in (1, 2, 3, 4):
        found = smooth(vectors, graph, backend="ray", workers=workers)
        np.testing.assert_array_equal(found, expected)


def test_directed_and_weighted_graphs_and_embeddings(ray_cluster, graph):
    weights = np.random.default_rng(0).exponential(size=len(graph.indices))
    arcs = Graph(graph.indptr, graph.indices, weights, graph.ids, directed=True)
    for case in (arcs, weighted_arcs()):
        embedding = Embedding(case.ids[::-1], some_vectors(case.n_nodes, 5))
        found, expected = (smooth(embedding, case, backend=one) for one in ("ray", "cpu"))
        np.testing.assert_array_equal(found.vectors, expected.vectors)
        assert found.ids.tolist() == embedding.ids.tolist()


def test_the_plain_engine_works_in_this_process(monkeypatch):
    monkeypatch.setenv(engine.VARIABLE, "plain")
    monkeypatch.setattr(on_ray, "smoothed", None)  # it is not called
    case = rmat(6, 4, seed=1)
    vectors = some_vectors(case.n_nodes)
    found, expected = (smooth(vectors, case, backend=one) for one in ("ray", "cpu"))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("nodes", [0, 1, 8192, 8193, 5 * 8192, 10**8])
def test_ranges_are_all_rows_in_order(monkeypatch, nodes):
    monkeypatch.setattr(on_ray, "_RANGE_BYTES", 4 * 32 * 8192 * 2)
    ranges = on_ray._row_ranges(nodes, 32)
    assert len(ranges) <= 256
    cuts = [0, *(some.stop for some in ranges)]
    assert [some.start for some in ranges] == cuts[:-1]
    assert cuts[-1] == nodes
    assert all(cut % 8192 == 0 for cut in cuts[:-1])


# -- lost workers ------------------------------------------------------------------------------


class Killer(threading.Thread):
    """Calls a function as soon as a worker is in a call."""

    def __init__(self, cluster, call, act):
        super().__init__()
        self._cluster, self._call, self._act = cluster, call, act
        self.done = False

    def run(self):
        deadline = time.monotonic() + 60
        while not self.done and time.monotonic() < deadline:
            for process in self._cluster.worker_processes(self._call):
                self._act(process)
                self.done = True
                return
            time.sleep(0.001)


@pytest.fixture
def slow(monkeypatch):
    """Many products, so that a call takes some time."""
    monkeypatch.setattr(smoothing, "series", lambda *how: np.ones(150) / 150)


def kill(process):
    os.kill(process, signal.SIGKILL)


def test_a_worker_that_is_killed_changes_no_bit(ray_cluster, graph, slow):
    vectors = some_vectors(graph.n_nodes)
    expected = smooth(vectors, graph, backend="cpu")
    killer = Killer(ray_cluster, "_filter_columns", kill)
    killer.start()
    found = smooth(vectors, graph, backend="ray")
    killer.join()
    assert killer.done
    np.testing.assert_array_equal(found, expected)


def test_a_node_that_is_lost_with_its_results_changes_no_bit(ray_cluster, graph):
    """The columns that it had filtered are gone, and their vectors were given back."""
    vectors = some_vectors(graph.n_nodes, 128)
    expected = smooth(vectors, graph, backend="cpu")
    node, products = ray_cluster.add_node(), on_ray.sum_of_products

    def lose_node_before(parts, *more, **how):
        nonlocal node
        if node is not None:
            ray_cluster.remove_node(node)
            node = None
        return products(parts, *more, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_ray, "sum_of_products", lose_node_before)
        found = smooth(vectors, graph, backend="ray")
    assert node is None
    np.testing.assert_array_equal(found, expected)


def test_workers_that_are_lost_again_and_again_are_an_error(ray_cluster, graph, monkeypatch):
    def lose_workers(*how):
        raise on_ray.WorkersLost("a worker has died")

    monkeypatch.setattr(on_ray, "_attempt", lose_workers)
    with pytest.raises(InputError, match=r"lost 3 times while smoothing \(a worker has died\)"):
        smooth(some_vectors(graph.n_nodes), graph, backend="ray")


def test_no_call_goes_on_after_ctrl_c(ray_cluster, graph, slow, interrupts):
    killer = Killer(ray_cluster, "_filter_columns", lambda _: os.kill(os.getpid(), signal.SIGINT))
    killer.start()
    with pytest.raises(KeyboardInterrupt):
        smooth(some_vectors(graph.n_nodes, 320), graph, backend="ray")
    killer.join()
    deadline = time.monotonic() + 20
    while ray_cluster.worker_processes("_filter_columns"):
        assert time.monotonic() < deadline
        time.sleep(0.1)


# -- memory ------------------------------------------------------------------------------------


def test_too_little_memory_is_refused_before_any_call(ray_cluster, graph, monkeypatch):
    nodes = on_ray.resources.nodes
    vectors = some_vectors(graph.n_nodes)
    monkeypatch.setattr(on_ray, "_attempt", None)  # it is not called
    for resource, place in (
        ("memory", "of memory for each Ray worker"),
        ("object_store_memory", "of Ray's object store on every node"),
    ):
        smaller = [one | {resource: 10**6} for one in nodes(ray_cluster.ray)]
        monkeypatch.setattr(on_ray.resources, "nodes", lambda ray, smaller=smaller: smaller)
        with pytest.raises(InputError, match=rf"needs about .* MB {place}, and 1.0 MB are free"):
            smooth(vectors, graph, backend="ray")


def test_the_memory_of_a_call_is_estimated(graph):
    vectors, needed = some_vectors(graph.n_nodes, 32), smoothing.bytes_on_ray(graph, 320)
    links = links_of(graph, 1.0, 1.0 + graph.degrees)
    how = links, vectors, scale_of(vectors), np.ones(4), [slice(0, graph.n_nodes)], 2
    on_ray._filter_columns(*how)  # compiles
    peak = peak_of(on_ray._filter_columns, *how)
    assert 0.9 * needed.call < peak < 1.1 * needed.call
