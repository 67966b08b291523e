"""LINE: what it draws, how it trains, what its vectors are like, what it refuses."""

from __future__ import annotations

import signal
from functools import partial
from itertools import pairwise

import networkx
import numpy as np
import pytest
from scipy.stats import chisquare

from helpers import toy_graphs
from helpers.literal_skipgram import literal_pass
from helpers.memory import least_peak_of
from reinforce2vec import LINE, Graph, InputError, karate_club
from reinforce2vec._util.engine import ENGINES, VARIABLE
from reinforce2vec.models.baselines import _line_training, line
from reinforce2vec.models.baselines._line_training import LineSettings, LineTraining, incoming
from reinforce2vec.skipgram import schedule

SHARING = _line_training.SHARING  # edges, at most, that are drawn for one centre
FALSE_ALARMS = 1e-6  # chance of any of the draws' tests to fail if all is well, for a new seed


# a model that learns fast and repeats
quick = partial(LINE, dimensions=8, samples=20_000, learning_rate=0.05, workers=1)


def training_of(graph, order, workers=1, **changes):
    settings = {"dimensions": 5, "negatives": 5, "samples": 8, "learning_rate": 0.05, "seed": 3}
    changed = LineSettings(order=order, **(settings | changes))
    return LineTraining(incoming(graph, order), changed, workers)


def pairs_of(training, first, last):
    """Sources and centres, one pair an edge, of draws number first to before last."""
    counts = np.zeros((training.trainer.blocks.n_blocks,) * 2, np.int64)
    pairs = training.finder.count(range(first, last), counts)
    assert counts.sum() == len(pairs)
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(2**32 - 1)).astype(int)


def draws_of(training, count=None):
    """Row numbers that are drawn: centres, and the sources of each.

    Where a centre has fewer than SHARING sources, there is -1 in place of the others.
    """
    sources, centres = pairs_of(training, 0, count or training.n_draws)
    sizes = np.minimum(np.diff(training.finder.edges.indptr), SHARING)
    begins, at = [], 0
    while at < len(centres):
        begins.append(at)
        at += sizes[centres[at]]
    assert at == len(centres)
    found = np.full((len(begins), SHARING), -1)
    for row, begin in zip(found, begins, strict=True):
        size = sizes[centres[begin]]
        assert (centres[begin : begin + size] == centres[begin]).all()
        row[:size] = sources[begin : begin + size]
    return centres[begins], found


# -- what is drawn -----------------------------------------------------------------------------


def arcs_of(graph, order):
    """Weights of all edges, from row to column; of the first order without directions."""
    weights = graph.to_scipy().toarray()
    return weights + weights.T if order == 1 and graph.directed else weights


def fit_of(seen, weights):
    """How likely counts are to be as far from what weights say, by a chi-square test."""
    assert not seen[weights == 0].any()
    if not weights.any():
        return 1.0
    expected = weights / weights.sum() * seen.sum()
    often = expected >= 10  # what is rarer is counted together
    groups = [np.append(part[often], part[~often].sum()) for part in (seen, expected)]
    some = groups[1] > 0
    return chisquare(groups[0][some], groups[1][some]).pvalue


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["hub", "weighted", "weighted_arcs"])
def test_edges_are_drawn_by_weight(name, order):
    graph = toy_graphs.TOY_GRAPHS[name]()
    training = training_of(graph, order, samples=500_000)
    centres, sources = draws_of(training)
    weights = arcs_of(graph, order)
    sizes = np.minimum(np.count_nonzero(weights, axis=0), SHARING)  # sources of each centre
    by_slot = [np.where(slot < sizes, weights / np.maximum(sizes, 1), 0) for slot in range(SHARING)]
    np.testing.assert_allclose(sum(by_slot), weights)
    chances = []
    for slot, expected in enumerate(by_slot):  # each alone: those of a centre depend on each other
        seen, some = np.zeros_like(weights), sources[:, slot] >= 0
        np.add.at(seen, (sources[some, slot], centres[some]), 1)
        chances.append(fit_of(seen, expected))
    assert np.count_nonzero(sources >= 0) == pytest.approx(training.settings.samples, rel=0.01)
    n_tests = 3 * 2 * len(chances)
    assert min(chances) > FALSE_ALARMS / n_tests


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["hub", "weighted", "weighted_arcs"])
@pytest.mark.parametrize("least", [4, 64], ids=["blocks", "one block"])
def test_negatives_are_drawn_by_degree(name, order, least, monkeypatch):
    """Tables are decoded, so this is exact; tests of training show how tables are drawn from."""
    monkeypatch.setattr(schedule, "_LEAST_NODES", least)
    graph = toy_graphs.TOY_GRAPHS[name]()
    found = training_of(graph, order).trainer.blocks
    assert (found.n_blocks > 1) == (least == 4)
    weights = graph.to_scipy().toarray()
    weights = weights.sum(0) + weights.sum(1)
    for begin, end in pairwise(found.begins):
        table = found.noise[begin:end]
        kept = (table >> np.uint64(32)) / 2.0**32
        others = (table & np.uint64(2**32 - 1)).astype(np.int64)
        drawn = kept + np.bincount(others, 1 - kept, len(table))
        expected = weights[found.members[begin:end]] ** 0.75
        np.testing.assert_allclose(drawn / len(table), expected / expected.sum(), rtol=1e-6)


def test_what_is_drawn_does_not_depend_on_how_many_are_drawn_at_once():
    training = training_of(toy_graphs.hub(), 2, samples=5000)
    whole = np.concatenate(pairs_of(training, 3, 300))
    for ends in ([3, 4, 5, 300], [3, 67, 131, 300], range(3, 301)):
        parts = [pairs_of(training, *two) for two in pairwise(ends)]
        together = [np.concatenate(some) for some in zip(*parts, strict=True)]
        assert np.array_equal(np.concatenate(together), whole)


# -- how vectors move --------------------------------------------------------------------------


def literal_training(training, inputs, outputs):
    """LINE by its definition, with the edges that `training` draws, in float64: edges and loss."""
    settings, seed = training.settings, training.finder.seed
    edges, loss = 0, 0.0
    for first in range(0, training.n_draws, training.size):
        last = min(first + training.size, training.n_draws)
        pairs = list(zip(*pairs_of(training, first, last), strict=True))
        for _, some, count in literal_pass(
            pairs, first, last - first, training.n_draws, training.trainer.blocks, inputs,
            outputs, seed, settings.negatives, settings.learning_rate, settings.order == 1,
        ):  # fmt: skip
            loss += some
            edges += count
    return edges, loss


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("name", "dimensions", "negatives", "n_blocks"),
    [
        ("random_graph", 5, 5, 1),
        ("weighted_arcs", 16, 5, 1),
        ("random_graph", 20, 7, 4),
        ("weighted_arcs", 16, 5, 3),
        ("hub", 9, 1, 2),
    ],
)
def test_vectors_move_as_defined(name, order, dimensions, negatives, n_blocks, engine, monkeypatch):
    """The random graph has loops: an edge from a node to itself moves one row of one matrix."""
    monkeypatch.setenv(VARIABLE, engine)
    graph = toy_graphs.TOY_GRAPHS[name]()
    monkeypatch.setattr(schedule, "_LEAST_NODES", graph.n_nodes // n_blocks)
    training = training_of(graph, order, dimensions=dimensions, negatives=negatives, samples=1080)
    assert training.trainer.blocks.n_blocks == n_blocks
    own, train, outcomes = training.weights, training.trainer.train, []
    assert (own.outputs is own.inputs) == (order == 1)
    rng = np.random.default_rng(1)
    for matrix in (own.inputs, own.outputs):  # away from the straight part of σ
        matrix[:, :dimensions] = rng.normal(size=(graph.n_nodes, dimensions)) / dimensions**0.5
    inputs = own.inputs[:, :dimensions].astype(float)
    outputs = inputs if order == 1 else own.outputs[:, :dimensions].astype(float)
    expected_edges, expected = literal_training(training, inputs, outputs)
    monkeypatch.setattr(
        training.trainer, "train", lambda *options: outcomes.append(train(*options)) or outcomes[-1]
    )
    training.run(lambda done, total: None)
    assert len(outcomes) > 10  # passes
    assert sum(outcome.pairs.sum() for outcome in outcomes) == expected_edges
    assert sum(outcome.losses.sum() for outcome in outcomes) == pytest.approx(expected, rel=1e-5)
    for matrix, exact in ((own.inputs, inputs), (own.outputs, outputs)):
        np.testing.assert_allclose(matrix[:, :dimensions], exact, rtol=1e-4, atol=2e-5)
        assert not matrix[:, dimensions:].any()


@pytest.mark.parametrize("order", [1, 2])
def test_it_does_not_matter_into_how_many_parts_draws_are_split(order, monkeypatch):
    monkeypatch.setattr(schedule, "_LEAST_NODES", 10)
    vectors = []
    for part in (1, 7, 1 << 12):
        monkeypatch.setattr(_line_training, "CENTRES", part)
        training = training_of(toy_graphs.hub(), order, workers=2, samples=5000)
        training.run(lambda done, total: None)
        vectors.append(training.weights.vectors.tobytes())
    assert len(set(vectors)) == 1


# -- what vectors are like ---------------------------------------------------------------------


def cosines_within_and_across(vectors, groups):
    """Mean cosine of nodes of one group, and of nodes of two."""
    same = groups[:, None] == groups
    products = vectors @ vectors.T / np.outer(*2 * [np.linalg.norm(vectors, axis=1)])
    return products[same & ~np.eye(len(groups), dtype=bool)].mean(), products[~same].mean()


GROUPS = np.repeat([0, 1], 20)


@pytest.mark.parametrize("order", ["both", "first", "second"])
def test_groups_of_a_graph_are_apart(order):
    graph = networkx.planted_partition_graph(2, 20, 0.5, 0.05, seed=1)
    within, across = cosines_within_and_across(quick(order=order).fit_transform(graph), GROUPS)
    assert within > across + 0.3


def test_first_order_is_about_edges_and_second_about_common_neighbours():
    sides = networkx.complete_bipartite_graph(20, 20)
    within, across = cosines_within_and_across(quick(order="first").fit_transform(sides), GROUPS)
    assert across > within
    within, across = cosines_within_and_across(quick(order="second").fit_transform(sides), GROUPS)
    assert within > across + 0.3


def test_both_orders_stand_side_by_side_each_of_length_1():
    club = karate_club()
    both = quick(dimensions=9).fit_transform(club)
    first = quick(dimensions=5, order="first").fit_transform(club)
    second = quick(dimensions=4, order="second").fit_transform(club)
    np.testing.assert_array_equal(both, np.hstack([first, second]))
    for half in (first, second):
        np.testing.assert_allclose(np.linalg.norm(half, axis=1), 1, rtol=1e-5)


def test_vectors_are_finite_and_the_same_with_any_number_of_threads(toy_graph):
    one, *others = (
        quick(workers=workers, learning_rate=0.025).fit_transform(toy_graph)
        for workers in (1, 3, None)
    )
    assert one.shape == (toy_graph.n_nodes, 8)
    assert np.isfinite(one).all()
    assert [other.tobytes() for other in others] == [one.tobytes()] * 2


def test_first_order_does_not_care_for_directions():
    arcs = list(networkx.gnm_random_graph(12, 30, seed=5).edges)
    undirected = quick(order="first").fit_transform(Graph.from_edges(arcs))
    directed = quick(order="first").fit_transform(Graph.from_edges(arcs, directed=True))
    np.testing.assert_array_equal(directed, undirected)


def test_second_order_looks_where_edges_lead_to():
    """Nodes 0 to 9 point to one half of the others and 10 to 19 to the other half."""
    arcs = [(a, 20 + b + 10 * (a // 10)) for a in range(20) for b in range(10)]
    model = quick(order="second").fit(Graph.from_edges(arcs, nodes=range(40), directed=True))
    vectors = model.embedding_.vectors
    within, across = cosines_within_and_across(vectors[:20], np.repeat([0, 1], 10))
    assert within > across + 0.3
    assert not vectors[20:].any()


def test_a_node_that_nothing_is_known_about_has_zeros():
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], nodes=["alone", 0, 1, 2, 3])
    vectors = quick().fit_transform(graph)
    assert not vectors[0].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[1:], axis=1), 2**0.5, rtol=1e-5)
    assert not quick().fit_transform(Graph.from_edges([], nodes=["a", "b", "c"])).any()


# -- the estimator -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["first", "second"])
def test_training_that_fails_says_why(order):
    model = quick(order=order, learning_rate=1e6)
    with pytest.raises(InputError, match=r"learning_rate of 1e\+06 is too large: try 0.025"):
        model.fit(karate_club())
    assert not hasattr(model, "embedding_")


def test_ids_are_those_of_the_graph():
    embedding = quick().fit([("ann", "bob"), ("bob", "cid")]).embedding_
    assert list(embedding) == ["ann", "bob", "cid"]


def test_an_interrupt_ends_the_training(monkeypatch):
    def stop(done, total):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(line, "terminal_progress", lambda *words: stop)
    model = quick(samples=10**12, workers=2)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup may have silenced it
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(karate_club())
    finally:
        signal.signal(signal.SIGINT, usual)
    assert not hasattr(model, "embedding_")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_estimate_holds_where_nearly_all_is_edges(weighted):
    pairs = np.column_stack(np.triu_indices(1200, 1))
    weights = np.random.default_rng(0).uniform(1, 2, len(pairs)) if weighted else None
    graph = Graph.from_edges(pairs, weights)
    quick().fit(Graph.from_edges(pairs[:2], [1, 2] if weighted else None), progress=False)
    peak = least_peak_of(lambda: quick().fit(graph, progress=False))
    assert peak <= quick().estimate_memory(graph)
