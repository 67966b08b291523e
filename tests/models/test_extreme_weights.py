"""Weights far from 1: a common factor changes nothing, or a sentence says what is not supported."""

from __future__ import annotations

import warnings

import networkx
import numpy as np
import pytest

from reinforce2vec import (
    HOPE,
    LINE,
    Graph,
    GraRep,
    InputError,
    NetMF,
    ProNE,
    Reinforce2Vec,
    Spectral,
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


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("power", POWERS.values(), ids=POWERS)
@pytest.mark.parametrize(
    "method",
    [
        lambda: NetMF(8),
        lambda: GraRep(8),
        lambda: ProNE(8),
        lambda: Spectral(8),
        lambda: LINE(8, samples=2_000, workers=1),
        lambda: Reinforce2Vec(dimensions=8, walks_per_node=1, walk_length=10, workers=1),
    ],
    ids=["NetMF", "GraRep", "ProNE", "Spectral", "LINE", "Reinforce2Vec"],
)
def test_a_common_factor_of_all_weights_changes_nothing(method, power, directed):
    expected = method().fit_transform(graph_of(0, directed), progress=False)
    found = method().fit_transform(graph_of(power, directed), progress=False)
    np.testing.assert_allclose(found, expected, atol=1e-4)


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


@pytest.mark.parametrize("span", [(-140, 0), (160, 300), (-300, -160), (-323, -310)])
def test_widely_spread_weights_give_finite_vectors(span):
    graph = Graph.from_edges(EDGES, 10.0 ** np.linspace(*span, len(EDGES)))
    vectors = np.random.default_rng(1).normal(size=(40, 8)).astype(np.float32)
    assert np.isfinite(smooth(vectors, graph)).all()
    for model in (ProNE(8), Spectral(8), Spectral(8, regularization=0)):
        assert np.isfinite(model.fit_transform(graph, progress=False)).all()


@pytest.mark.parametrize("directed", [False, True])
def test_new_nodes_beside_the_largest_weights_have_vectors(directed):
    known = graph_of(1023, directed)
    model = Reinforce2Vec(dimensions=8, walks_per_node=1, walk_length=10, workers=1).fit(known)
    found = model.transform_nodes([("new", known.ids[known.degrees.argmax()])])
    assert np.linalg.norm(found.vectors) > 0.5


@pytest.mark.parametrize("negatives", [1e-300, 1e-40])
def test_too_few_negatives_of_netmf_are_refused(negatives):
    with pytest.raises(InputError, match=r"negatives=1e-.* is too small"):
        NetMF(8, negatives=negatives).fit(graph_of())
    assert np.isfinite(NetMF(8, negatives=1e-30).fit_transform(graph_of())).all()
