"""What every estimator keeps to: scikit-learn's conventions, rows, refusals, memory, files."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

from helpers.models import vectors_of
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
    karate_club,
    rmat,
)
from reinforce2vec._util import machine

CLUB = karate_club()
FACTORIZATIONS = {"HOPE": HOPE, "GraRep": GraRep, "NetMF": NetMF, "ProNE": ProNE}
FACTORIZATIONS |= {"Spectral": Spectral}
ESTIMATORS = FACTORIZATIONS | {
    "Reinforce2Vec": partial(Reinforce2Vec, walks_per_node=2, walk_length=10, workers=1),
    "LINE": partial(LINE, samples=2000, workers=1),
}
EVERY = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
EVERY_FACTORIZATION = pytest.mark.parametrize("make", FACTORIZATIONS.values(), ids=FACTORIZATIONS)


def test_all_of_them_are_here():
    from reinforce2vec.models import __all__ as names

    assert ESTIMATORS.keys() == set(names) - {"NodeFeatures", "smooth"}


# -- parameters --------------------------------------------------------------------------------


@EVERY
def test_parameters_are_kept_set_copied_and_shown(make):
    base = pytest.importorskip("sklearn.base")
    model = make(dimensions=4, seed=3)
    params = model.get_params(deep=False)
    assert all(getattr(model, name) is value for name, value in params.items())
    copy = base.clone(model.fit(CLUB, progress=False))
    assert copy.get_params(deep=False) == params
    assert not hasattr(copy, "embedding_")
    assert np.array_equal(vectors_of(copy.fit(CLUB, progress=False)), vectors_of(model))
    assert copy.set_params(dimensions=5, seed=4) is copy
    assert (copy.dimensions, copy.seed) == (5, 4)
    assert repr(copy).startswith(f"{type(copy).__name__}(dimensions=5")
    assert repr(type(copy)()) == f"{type(copy).__name__}()"
    with pytest.raises(InputError, match="no parameter 'typo'; it has dimensions"):
        copy.set_params(typo=1)


WRONG = {name: [("dimensions", 0), ("dimensions", 2.5), ("seed", -1)] for name in ESTIMATORS}
WRONG["HOPE"] += [("beta", 0), ("beta", float("nan"))]
WRONG["GraRep"] += [("steps", 0)]
WRONG["NetMF"] += [("window", 0), ("negatives", 0), ("rank", "5")]
WRONG["ProNE"] += [("smooth", 1), ("order", 1), ("mu", 3), ("theta", 0)]
WRONG["Spectral"] += [("regularization", -1)]
WRONG["LINE"] += [("order", "third"), ("order", ["first"]), ("dimensions", 1), ("negatives", 0)]
WRONG["LINE"] += [("samples", 1e6), ("samples", 2**61), ("learning_rate", 0.0), ("workers", 0)]


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [(name, *case) for name, cases in WRONG.items() for case in cases],
)
def test_a_wrong_parameter_is_named_by_fit_and_not_before(name, parameter, value):
    model = ESTIMATORS[name](**{parameter: value})
    with pytest.raises(InputError, match=parameter):
        model.fit(CLUB)
    assert not hasattr(model, "embedding_")


# -- vectors -----------------------------------------------------------------------------------


@EVERY
def test_fit_returns_the_model_and_fit_transform_its_vectors(make):
    model = make(dimensions=7)
    assert model.fit(CLUB, None, progress=False) is model
    vectors = make(dimensions=7).fit_transform(CLUB, y=[1], progress=False)
    assert vectors.dtype == np.float32
    assert vectors.shape == (34, 7)
    assert np.array_equal(vectors, vectors_of(model))
    assert np.array_equal(model.transform([34, 1]), model.embedding_[[34, 1]])


@EVERY
def test_rows_are_in_the_order_of_ids_and_anything_that_holds_a_graph_is_taken(make, tmp_path):
    edges = [("zoe", "ann"), ("ann", "Ünal"), ("Ünal", "zoe"), ("Ünal", "10")]
    model = make(dimensions=2).fit(edges, progress=False)
    assert model.embedding_.ids.tolist() == ["zoe", "ann", "Ünal", "10"]
    (tmp_path / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in edges), encoding="utf-8")
    again = make(dimensions=2).fit(tmp_path / "edges.csv", progress=False)
    assert np.array_equal(vectors_of(again), vectors_of(model))


STAR = [("hub", f"leaf {number}") for number in range(40)]
ODD_GRAPHS = {
    "one node": Graph.from_edges([], nodes=["alone"]),
    "two nodes": Graph.from_edges([("a", "b")]),
    "two nodes apart": Graph.from_edges([], nodes=["a", "b"]),
    "one weighted arc": Graph.from_edges([("a", "b")], [1e-90], directed=True),
    "star": Graph.from_edges(STAR),
    "star to the hub": Graph.from_edges([edge[::-1] for edge in STAR], directed=True),
    "complete": Graph.from_edges([(a, b) for a in range(15) for b in range(a)]),
    "self-loops": Graph.from_edges([(node, node) for node in range(30)], self_loops=True),
    "dead ends": Graph.from_edges([(n, 2 * n + 1) for n in range(20)], directed=True),
    "isolated nodes": Graph.from_edges([(0, 1), (1, 2)], nodes=range(9)),
}


@EVERY
@pytest.mark.parametrize("graph", ODD_GRAPHS.values(), ids=ODD_GRAPHS)
def test_vectors_of_odd_graphs_are_finite(make, graph):
    model = make(dimensions=8).fit(graph, progress=False)
    assert model.embedding_.ids.tolist() == graph.ids.tolist()
    assert vectors_of(model).shape == (graph.n_nodes, 8)
    assert np.isfinite(vectors_of(model)).all()


@EVERY_FACTORIZATION
def test_isolated_nodes_and_dimensions_beyond_the_nodes_have_zeros(make):
    for nodes in (40, 3000):
        ring = [(node, (node + 1) % (nodes - 5)) for node in range(nodes - 5)]
        graph = Graph.from_edges(ring, nodes=range(nodes))
        vectors = make(dimensions=8).fit_transform(graph, progress=False)
        assert np.isfinite(vectors).all()
        assert not vectors[nodes - 5 :].any()
        assert vectors[: nodes - 5].any(axis=1).all()
    pair = make(dimensions=50).fit_transform(Graph.from_edges([(0, 1)]), progress=False)
    assert np.count_nonzero(pair.any(axis=0)) <= 8


@EVERY
def test_weights_count(make):
    weights = np.random.default_rng(0).uniform(0.1, 9, len(CLUB.indices))
    both = Graph(CLUB.indptr, CLUB.indices, weights, CLUB.ids).to_scipy()
    weighted = Graph.from_any(both + both.T)
    plain = make(dimensions=8).fit_transform(CLUB, progress=False)
    assert not np.allclose(make(dimensions=8).fit_transform(weighted, progress=False), plain)


@pytest.mark.parametrize("name", ["GraRep", "NetMF", "ProNE", "Spectral"])
def test_directions_are_set_aside(name):
    arcs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (4, 5), (5, 0)]
    vectors = [
        ESTIMATORS[name](dimensions=4).fit_transform(Graph.from_edges(arcs, directed=directed))
        for directed in (False, True)
    ]
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-5)


@EVERY_FACTORIZATION
def test_another_seed_gives_the_same_but_for_rounding(make):
    graph = rmat(8, seed=1)
    one, again, other = (
        make(dimensions=6, seed=seed).fit_transform(graph, progress=False) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, again)
    np.testing.assert_allclose(one @ one.T, other @ other.T, atol=2e-2)


@pytest.mark.parametrize("power", [-300, 900])
@pytest.mark.parametrize("name", sorted(ESTIMATORS.keys() - {"HOPE"}))
def test_a_common_factor_of_all_weights_changes_nothing(name, power):
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    weights = np.array([3, 1, 2, 1, 4, 1, 2], float)
    vectors = [
        ESTIMATORS[name](dimensions=4).fit_transform(Graph.from_edges(edges, scaled))
        for scaled in (weights, np.ldexp(weights, power))
    ]
    np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)


# -- refusals, memory, files -------------------------------------------------------------------


@EVERY
def test_no_nodes_no_graph_and_too_little_memory_are_refused(make, monkeypatch):
    with pytest.raises(InputError, match="the graph has no nodes"):
        make().fit(Graph.from_edges(np.zeros((0, 2), int)))
    with pytest.raises(InputError, match="cannot make a graph"):
        make().fit(7)
    with pytest.raises(InputError, match="not fitted yet"):
        make().transform([1])
    graph = rmat(10)
    needed = make(dimensions=64).estimate_memory(graph)
    assert 10**6 < needed < make(dimensions=512).estimate_memory(graph) < 10**10
    monkeypatch.setattr(machine, "available_bytes", lambda: 10**5)
    with pytest.raises(InputError, match=r"dimensions=64.* needs about .* MB of memory, and"):
        make(dimensions=64).fit(graph, progress=False)


@EVERY
def test_a_fitted_model_comes_back_from_a_file_and_a_pickle(make, tmp_path):
    model = make(dimensions=5).fit(CLUB, progress=False)
    model.save(tmp_path / "model.r2v")
    copies = [type(model).load(tmp_path / "model.r2v"), pickle.loads(pickle.dumps(model))]
    for copy in copies:
        assert copy.get_params() == model.get_params()
        assert copy.embedding_.ids.tolist() == model.embedding_.ids.tolist()
        assert np.array_equal(vectors_of(copy), vectors_of(model))
        assert copy.embedding_.info == model.embedding_.info
    new = [one.transform_nodes([("new", 1), ("new", 2)]) for one in (model, *copies)]
    assert all(np.allclose(one["new"], new[0]["new"]) for one in new)
    other = LINE if type(model) is HOPE else HOPE
    with pytest.raises(InputError, match=f"this is a model of {type(model).__name__}"):
        other.load(tmp_path / "model.r2v")
