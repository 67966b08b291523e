"""What evaluations are made of: the classifier, the metrics, the splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from reinforce2vec import Graph, InputError, karate_club, rmat
from reinforce2vec._util import logistic
from reinforce2vec._util.logistic import fit_logistic, predict
from reinforce2vec.evaluation import hold_out_edges
from reinforce2vec.evaluation._metrics import auc, average_precision, f1_scores
from reinforce2vec.evaluation.splits import _draw_non_edges

# -- logistic regression -------------------------------------------------------------------------


def answers(rng, x, n_classes, noise=1.0):
    """Classes of different sizes that have to do with x."""
    scores = x @ rng.normal(size=(x.shape[1], n_classes))
    scores += noise * scores.std() * rng.normal(size=scores.shape)
    bars = np.linspace(0.05, 0.97, n_classes + 2)[1:-1]
    return scores > [np.quantile(column, bar) for column, bar in zip(scores.T, bars, strict=True)]


def peer(x, y, c=1.0):
    fitted = LogisticRegression(C=c, tol=1e-9, max_iter=10_000, solver="newton-cholesky")
    fitted.fit(x.astype(np.float64), y)
    return fitted.coef_[0], fitted.intercept_[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [1, 3, 11])
@pytest.mark.parametrize(
    ("rows", "scale", "shift", "noise"),
    [
        (400, 1.0, 0.0, 1.0),
        (400, 0.01, 0.0, 1.0),  # the penalty rules
        (400, 30.0, 0.0, 0.0),  # separable
        (15, 1.0, 0.0, 1.0),  # fewer rows than dimensions
        (400, 1.0, 100.0, 1.0),  # far from 0
    ],
)
def test_weights_are_those_of_scikit_learn(dtype, n_classes, rows, scale, shift, noise):
    rng = np.random.default_rng(3)
    stretched = rng.normal(size=(rows, 20)) * np.geomspace(1, 0.1, 20)
    x = (scale * stretched @ rng.normal(size=(20, 20)) + shift).astype(dtype)
    y = answers(rng, x - shift, n_classes, noise)
    weights, intercepts = fit_logistic(x, y)
    assert weights.shape == (20, n_classes)
    for number in range(n_classes):
        expected, intercept = peer(x, y[:, number])
        largest = np.abs(expected).max()
        assert np.allclose(weights[:, number], expected, atol=1e-4 * largest, rtol=0)
        assert np.isclose(intercepts[number], intercept, atol=2e-4 * max(1, largest * shift))


def test_how_much_rows_count_is_as_in_scikit_learn():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 5))
    y = answers(rng, x, 6)
    for c in (0.01, 20.0):
        weights, intercepts = fit_logistic(x, y, c)
        expected, intercept = peer(x, y[:, 2], c)
        assert np.allclose(weights[:, 2], expected, atol=1e-4)
        assert np.isclose(intercepts[2], intercept, atol=1e-4)


def test_standardise_penalises_weights_as_if_columns_had_variance_1():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 6)) * [1, 10, 0.01, 3, 5, 1] + [0, 5, 0, 0, 9, 0]
    x[:, 5] = 7.25  # a constant column
    y = answers(rng, x, 2)
    weights, intercepts = fit_logistic(x, y, standardise=True)
    spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    scaled = (x - x.mean(axis=0)) / spread
    by_hand, expected = fit_logistic(scaled, y)
    assert np.allclose(weights * spread[:, None], by_hand, atol=1e-5)
    assert np.allclose(predict(x, weights, intercepts), predict(scaled, by_hand, expected), 0, 1e-4)


def test_the_gradient_is_gone_on_many_rows_with_long_tails():
    """More rows than a sample for the equations and than a block; few of them far out."""
    rng = np.random.default_rng(5)
    x = rng.standard_t(2.2, size=(3 * logistic.SAMPLE + 17, 9)).astype(np.float32)
    y = answers(rng, x, 1, noise=0.3)
    weights, intercepts = fit_logistic(x, y)
    likely = 1 / (1 + np.exp(-predict(x, weights, intercepts)))
    gradient = weights + x.astype(np.float64).T @ (likely - y)
    first = x.astype(np.float64).T @ (y.mean() - y)
    assert np.linalg.norm(gradient) < 1e-4 * np.linalg.norm(first)
    assert abs((likely - y).sum()) < 1e-2


def test_more_classes_than_are_solved_at_once(monkeypatch):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 4))
    y = answers(rng, x, 7)
    together = fit_logistic(x, y)
    monkeypatch.setattr(logistic, "CLASSES_AT_ONCE", 5)
    for one, other in zip(together, fit_logistic(x, y), strict=True):
        assert np.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 9])
def test_a_class_with_one_answer_only_is_certain(n_classes):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(50, 3))
    y = answers(rng, x, n_classes)
    y[:, 0], y[:, 1] = True, False
    weights, intercepts = fit_logistic(x, y)
    assert intercepts[0] == 1e9
    assert intercepts[1] == -1e9
    assert not weights[:, :2].any()
    assert (np.abs(intercepts[2:]) < 100).all()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 30), columns=st.integers(1, 40))
def test_rows_that_repeat_vanish_or_are_huge_give_finite_weights(seed, rows, columns):
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 1.0, -1.0, 1e4], (rows, columns)).astype(np.float32)
    y = rng.random((rows, 6)) < 0.5
    weights, intercepts = fit_logistic(x, y)
    assert np.isfinite(weights).all()
    assert np.isfinite(intercepts).all()


# -- metrics -------------------------------------------------------------------------------------


@st.composite
def scored(draw):
    """Answers, both of which occur, and scores, of which some are equal."""
    size = draw(st.integers(2, 60))
    truth = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    truth[0], truth[-1] = True, False
    scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))
    return np.array(truth), np.array(draw(st.lists(scores, min_size=size, max_size=size)))


@settings(max_examples=50, deadline=None)
@given(scored())
def test_areas_are_those_of_scikit_learn(case):
    truth, scores = case
    assert auc(truth, scores) == pytest.approx(100 * roc_auc_score(truth, scores))
    expected = 100 * average_precision_score(truth, scores)
    assert average_precision(truth, scores) == pytest.approx(expected)


def test_a_constant_score_says_nothing():
    truth = np.arange(10) < 3
    assert auc(truth, np.zeros(10)) == 50
    assert average_precision(truth, np.zeros(10)) == pytest.approx(30)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(2, 6), st.floats(0, 1))
def test_f1_is_that_of_scikit_learn(seed, rows, classes, share):
    truth, found = np.random.default_rng(seed).random((2, rows, classes)) < share
    expected = [
        100 * f1_score(truth, found, average=kind, zero_division=0) for kind in ("micro", "macro")
    ]
    assert f1_scores(truth, found) == pytest.approx(expected)


# -- splits --------------------------------------------------------------------------------------


def pairs_of(graph):
    rows = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    pairs = zip(rows.tolist(), graph.indices.tolist(), strict=True)
    return {(a, b) for a, b in pairs if graph.directed or a <= b}


def components(graph):
    return connected_components(graph.to_scipy(), directed=False)[1]


def random_graph(seed, nodes, edges, directed, weighted):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (edges, 2))
    weights = rng.uniform(0.5, 2, edges) if weighted else None
    ids = [f"node {number}" for number in range(nodes)]
    return Graph.from_edges(
        [(ids[a], ids[b]) for a, b in ends.tolist()],
        weights,
        nodes=ids,
        directed=directed,
        self_loops=True,
    )


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 15),
    st.integers(1, 60),
    st.booleans(),
    st.booleans(),
    st.floats(0.05, 0.9),
)
def test_a_split_takes_edges_apart_and_leaves_components(
    seed, nodes, edges, directed, weighted, fraction
):
    graph = random_graph(seed, nodes, edges, directed, weighted)
    proper = {pair for pair in pairs_of(graph) if pair[0] != pair[1]}
    try:
        split = hold_out_edges(graph, fraction, seed)
    except InputError as error:
        assert "can be held out" in str(error) or "without an edge" in str(error)  # noqa: PT017
        return
    held, rest = {tuple(pair) for pair in split.edges.tolist()}, pairs_of(split.graph)
    assert len(held) == len(split.edges) == int(fraction * len(proper))
    assert held | rest == pairs_of(graph)
    assert held <= proper
    assert not held & rest
    assert (split.graph.ids == graph.ids).all()
    assert (components(split.graph) == components(graph)).all()
    non_edges = {tuple(pair) for pair in split.non_edges.tolist()}
    assert len(non_edges) == len(split.non_edges) == len(held)
    assert not non_edges & proper
    assert all(a < b or (directed and a != b) for a, b in non_edges)
    if weighted:
        whole = graph.to_scipy().toarray()
        left = split.graph.to_scipy().toarray()
        assert np.array_equal(left[left > 0], whole[left > 0])


def test_one_seed_one_split():
    one, same, other = (hold_out_edges(karate_club(), 0.5, seed) for seed in (4, 4, 5))
    assert np.array_equal(one.edges, same.edges)
    assert np.array_equal(one.non_edges, same.non_edges)
    assert not np.array_equal(one.edges, other.edges)
    assert not np.array_equal(one.non_edges, other.non_edges)


def test_every_edge_of_a_ring_is_held_out_equally_often():
    """One of 10 edges can go; 1,000 splits; limits at 5 standard deviations: 1 alarm in 100,000."""
    ring = Graph.from_edges([(number, (number + 1) % 10) for number in range(10)])
    counts = np.zeros((10, 10), int)
    for seed in range(1000):
        ((a, b),) = hold_out_edges(ring, 0.1, seed).edges
        counts[a, b] += 1
    found = counts[counts > 0]
    assert len(found) == 10
    assert np.abs(found - 100).max() < 5 * np.sqrt(100 * 0.9)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_nodes", [6, 12])  # by listing pairs, and by drawing them
def test_non_edges_are_equally_likely(directed, n_nodes):
    """3,000 draws of 3; limits at 6 standard deviations: 1 alarm in a million."""
    edges = np.array([(0, 1), (1, 2), (2, 3), (0, 5)])
    pairs = n_nodes * (n_nodes - 1) // (1 if directed else 2)
    assert (pairs <= 4 * len(edges)) == (n_nodes == 6 and not directed)
    counts = np.zeros((n_nodes, n_nodes), int)
    rng = np.random.default_rng(11)
    for _ in range(3000):
        drawn = _draw_non_edges(edges, n_nodes, 3, directed, rng)
        np.add.at(counts, tuple(drawn.T), 1)
    assert (counts[tuple(edges.T)] == 0).all()
    found = counts[counts > 0]
    assert len(found) == pairs - len(edges)
    share = 3 / len(found)
    assert np.abs(found - 3000 * share).max() < 6 * np.sqrt(3000 * share * (1 - share))


def test_the_last_non_edges_of_a_dense_graph_are_found():
    pairs = [(a, b) for a in range(40) for b in range(a) if (a, b) not in {(7, 3), (9, 1)}]
    dense = Graph.from_edges(pairs, nodes=range(40))
    split = hold_out_edges(dense, 2.5 / len(pairs))
    assert {tuple(pair) for pair in split.non_edges.tolist()} == {(3, 7), (1, 9)}


def test_a_split_of_a_larger_graph():
    graph = rmat(12)
    split = hold_out_edges(graph, 0.5)
    assert len(split.edges) == graph.n_edges // 2
    assert split.graph.n_components == graph.n_components
    assert split.graph.n_isolated == graph.n_isolated


@pytest.mark.parametrize(
    ("graph", "fraction", "sentence"),
    [
        ([(0, 1), (1, 2), (2, 3)], 0.5, "fraction=0.5 of 3 edges is 1, and of this graph none can"),
        (
            [(0, 1), (1, 2), (2, 0), (2, 3)],
            0.5,
            "4 edges is 2, and of this graph 1 can be held out",
        ),
        ([(0, 1), (1, 2), (2, 0)], 0.1, "3 edges is 0, and of this graph 1 can be held out"),
        ([(0, 1), (1, 2), (2, 0)], 0.5, "the graph has no pair of nodes without an edge, which"),
        (
            [(a, b) for a in range(4) for b in range(a)][1:],
            0.4,
            "the graph has 1 pair of nodes without an edge, and 2 are needed",
        ),
        ([(0, 1), (1, 2), (2, 0)], 1.5, "fraction must be a number above 0 and at most 1, not 1.5"),
    ],
)
def test_splits_that_cannot_be(graph, fraction, sentence):
    with pytest.raises(InputError) as error:
        hold_out_edges(Graph.from_edges(graph), fraction)
    assert sentence in str(error.value)
