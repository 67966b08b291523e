"""What evaluations are made of: the metrics and the splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from reinforce2vec import Graph, InputError, evaluate_link_prediction, karate_club
from reinforce2vec.evaluation import hold_out_edges
from reinforce2vec.evaluation._metrics import auc, average_precision, f1_scores
from reinforce2vec.evaluation.splits import _draw_non_edges

# -- metrics -------------------------------------------------------------------------------------


@st.composite
def scored(draw):
    """Answers, both of which occur, and scores, of which some are equal."""
    size = draw(st.integers(2, 60))
    truth = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    truth[0], truth[-1] = True, False
    scores = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6))
    return np.array(truth), np.array(draw(st.lists(scores, min_size=size, max_size=size)))


@settings(max_examples=50)
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


@settings(max_examples=30)
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


@settings(max_examples=60)
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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("graph", "fraction", "sentence"),
    [
        ([(0, 1), (1, 2), (2, 3)], 0.5, "fraction=0.5 of 3 edges is 1, but none can be held out"),
        (
            [(0, 1), (1, 2), (2, 0), (2, 3)],
            0.5,
            "4 edges is 2, but 1 can be held out",
        ),
        ([(0, 1), (1, 2), (2, 0)], 0.1, "3 edges is 0, but 1 can be held out"),
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


# -- sparse graphs -------------------------------------------------------------------------------


def sparse_graph(n_nodes, n_more, seed=0):
    """A random tree with a few more edges, as a citation graph has."""
    rng = np.random.default_rng(seed)
    edges = {(int(rng.integers(0, node)), node) for node in range(1, n_nodes)}
    while len(edges) < n_nodes - 1 + n_more:
        a, b = sorted(rng.integers(0, n_nodes, 2).tolist())
        if a < b:
            edges.add((a, b))
    return Graph.from_edges(sorted(edges))


def test_by_default_a_sparse_graph_gives_what_it_can_spare():
    graph = sparse_graph(200, 50)
    with pytest.warns(UserWarning, match="too sparse to hold out 50% of its edges .* 20% of them"):
        split = hold_out_edges(graph, seed=3)
    assert len(split.edges) == int(0.2 * graph.n_edges)
    assert split.graph.n_components == 1
    same = hold_out_edges(graph, 0.2, seed=3)
    assert np.array_equal(same.edges, split.edges)
    assert np.array_equal(same.non_edges, split.non_edges)
    with pytest.raises(InputError, match=r"fraction=0\.5 of 249 edges is 124, but 1 to 50 can be"):
        hold_out_edges(graph, 0.5)


@pytest.mark.parametrize("n_more", [1, 2, 3])
@pytest.mark.parametrize("n_nodes", [30, 50, 99, 100, 150])
def test_a_share_that_is_lowered_is_at_least_one_edge(n_nodes, n_more):
    with pytest.warns(UserWarning, match="too sparse"):
        split = hold_out_edges(sparse_graph(n_nodes, n_more))
    assert 1 <= len(split.edges) <= n_more


@pytest.mark.filterwarnings("error")
def test_the_default_is_half_of_the_edges_of_other_graphs():
    for graph in (karate_club(), Graph.from_edges(karate_club_arcs(), directed=True)):
        default, half = hold_out_edges(graph, seed=1), hold_out_edges(graph, 0.5, seed=1)
        assert np.array_equal(default.edges, half.edges)
        assert np.array_equal(default.non_edges, half.non_edges)


def karate_club_arcs():
    matrix = karate_club().to_scipy().tocoo()
    return np.column_stack([matrix.row, matrix.col])


def test_of_a_tree_no_edge_can_be_held_out():
    for edges in ([(0, 1), (1, 2), (2, 3)], [(0, 1), (2, 3)]):
        with pytest.raises(InputError, match="no edge can be held out: the graph has no cycle"):
            hold_out_edges(Graph.from_edges(edges))
    with pytest.raises(InputError, match="no edges to hold out"):
        hold_out_edges(Graph.from_edges([(0, 0)], self_loops=True))


def test_link_prediction_of_a_sparse_graph_records_its_share():
    def by_row(graph):
        return np.random.default_rng(0).normal(size=(graph.n_nodes, 4))

    graph = sparse_graph(200, 50)
    for protocol in ("shared", "transfer"):
        with pytest.warns(UserWarning, match="too sparse") as warned:
            found = evaluate_link_prediction(
                graph, by_row, protocol=protocol, seeds=2, progress=False
            )
        assert len(warned) == 1
        assert found.fraction == found.to_dict()["fraction"] == 0.2
        assert "20% of edges held out" in str(found)
    with pytest.raises(InputError, match="1 to 50 can be held out"):
        evaluate_link_prediction(graph, by_row, fraction=0.5, seeds=1)
