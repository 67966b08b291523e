"""Smoothing on Ray: the bits of one machine, whatever the number of workers and what they suffer."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Graph, rmat, smooth

pytestmark = pytest.mark.slow


def some_vectors(n_nodes, dimensions=40):
    return np.random.default_rng(0).normal(size=(n_nodes, dimensions)).astype(np.float32)


@pytest.fixture(scope="module")
def graph():
    return rmat(15, 4, seed=1)


def test_any_number_of_workers_gives_the_bits_of_one_machine(ray_cluster, graph):
    vectors = some_vectors(graph.n_nodes, 70)
    expected = smooth(vectors, graph, backend="cpu")
    for workers in (1, 2, 3, 4, None):
        found = smooth(vectors, graph, backend="ray", workers=workers)
        np.testing.assert_array_equal(found, expected)
