"""Weights far from 1: a common factor changes nothing, or a sentence says what is not supported."""

from __future__ import annotations

import warnings

import networkx
import numpy as np
import pytest

from reinforce2vec import (
    HOPE,
    Graph,
    GraRep,
    InputError,
    NetMF,
    smooth,
)

EDGES = np.array(networkx.barabasi_albert_graph(40, 3, seed=1).edges)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 1.0, len(EDGES))
POWERS = {"largest": 1023, "smallest": -1020}  # sums overflow; inverses do


def graph_of(power=0, directed=False):
    """The same graph, all weights multiplied by a power of two, which is exact."""
    ends = np.concatenate([EDGES, EDGES[:, ::-1]]) if directed else EDGES
    weights = np.ldexp(np.resize(WEIGHTS, len(ends)), power)
    return Graph.from_edges(ends, weights, directed=directed)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("power", POWERS.values(), ids=POWERS)
def test_smoothing_does_not_depend_on_the_unit_of_weights(power):
    vectors = np.random.default_rng(1).normal(size=(40, 8)).astype(np.float32)
    np.testing.assert_array_equal(smooth(vectors, graph_of(power)), smooth(vectors, graph_of()))


@pytest.mark.parametrize(("power", "other"), [(1000, "smaller"), (-1020, "larger")])
@pytest.mark.parametrize("directed", [False, True])
def test_hope_refuses_weights_that_leave_nothing_of_the_graph(directed, power, other):
    with pytest.raises(InputError, match=f"use a {other} beta"):
        HOPE(8).fit(graph_of(power, directed), progress=False)


def test_hope_of_a_long_chain_is_finite_or_refused():
    steps = np.arange(400)
    chain = Graph.from_edges(np.column_stack([steps, steps + 1]), np.full(400, 1e6), directed=True)
    with pytest.raises(InputError, match="proximities are too large"):
        HOPE(8).fit(chain, progress=False)


@pytest.mark.parametrize("method", [NetMF, GraRep])
def test_weights_that_32_bits_cannot_hold_are_refused(method):
    weights = 10.0 ** np.linspace(-60, 0, len(EDGES))
    with pytest.raises(InputError, match=f"{method.__name__} works with numbers of 32 bits"):
        method(8).fit(Graph.from_edges(EDGES, weights), progress=False)


@pytest.mark.parametrize("negatives", [1e-300, 1e-40])
def test_too_few_negatives_of_netmf_are_refused(negatives):
    with pytest.raises(InputError, match=r"negatives=1e-.* is too small"):
        NetMF(8, negatives=negatives).fit(graph_of())
    assert np.isfinite(NetMF(8, negatives=1e-30).fit_transform(graph_of())).all()
