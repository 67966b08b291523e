"""LINE: what it draws, how it trains, what its vectors are like, what it refuses."""

from __future__ import annotations

import signal
import sys
from functools import partial

import networkx
import numpy as np
import pytest
import sklearn
from scipy.stats import chisquare

from helpers import toy_graphs
from helpers.terminals import Terminal
from reinforce2vec import LINE, Graph, InputError, karate_club
from reinforce2vec._util import machine
from reinforce2vec.models.baselines import _line_fast, line
from reinforce2vec.models.baselines._line_edges import SHARING, incoming
from reinforce2vec.models.baselines._line_training import LineSettings, LineTraining
from reinforce2vec.skipgram.rules import DRAWN_AT_ONCE, target_groups

FALSE_ALARMS = 1e-6  # chance of any of the draws' tests to fail if all is well, for a new seed


# a model that learns fast and repeats
quick = partial(LINE, dimensions=8, samples=20_000, learning_rate=0.05, workers=1)


def training_of(graph, order, **changes):
    settings = {"dimensions": 5, "negatives": 5, "samples": 8, "learning_rate": 0.05, "seed": 3}
    return LineTraining(incoming(graph, order), LineSettings(order=order, **(settings | changes)))


def draws_of(training, block):
    """Row numbers that a block draws: centres, and sources and targets of each.

    Where a centre has fewer than SHARING sources, there is -1 in place of the others.
    """
    stride = training.weights.inputs.shape[1]
    count = min(DRAWN_AT_ONCE, training.task.n_draws - block * DRAWN_AT_ONCE)
    groups, size = target_groups(training.task.negatives)
    drawn = _line_fast.new_edge_room(groups * size)
    _line_fast.draw_edges(block, count, training.task, stride, drawn)
    centres, sources, sizes, targets = (array.reshape(DRAWN_AT_ONCE, -1)[:count] for array in drawn)
    np.testing.assert_array_equal(sizes[:, 0], (sources >= 0).sum(1))
    targets = targets[:, : 1 + training.settings.negatives]
    return centres[:, 0] // stride, sources // stride, targets // stride


# -- what is drawn -----------------------------------------------------------------------------


def arcs_of(graph, order):
    """Weights of all edges, from row to column; of the first order without directions."""
    weights = graph.to_scipy().toarray()
    return weights + weights.T if order == 1 and graph.directed else weights


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", ["hub", "weighted", "weighted_arcs"])
def test_edges_are_drawn_by_weight_and_negatives_by_degree(name, order):
    graph = toy_graphs.TOY_GRAPHS[name]()
    training = training_of(graph, order, samples=SHARING * DRAWN_AT_ONCE * 1000)
    drawn = [
        draws_of(training, block) for block in range(-(-training.task.n_draws // DRAWN_AT_ONCE))
    ]
    centres, sources, targets = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
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
    degrees = graph.to_scipy().toarray()
    degrees = degrees.sum(0) + degrees.sum(1)
    for negatives in targets[:, 1:].T:
        seen = np.bincount(negatives, minlength=graph.n_nodes)
        chances.append(fit_of(seen, degrees**0.75))
    np.testing.assert_array_equal(targets[:, 0], centres)
    n_tests = 3 * 2 * len(chances)
    assert min(chances) > FALSE_ALARMS / n_tests


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


def test_sources_of_a_centre_are_drawn_independently():
    training = training_of(toy_graphs.star(), 2, samples=SHARING * DRAWN_AT_ONCE * 100)
    drawn = [draws_of(training, block) for block in range(200)]
    sources = np.concatenate([sources[centres == 0] for centres, sources, _ in drawn])
    seen = np.zeros((8, 8))
    np.add.at(seen, (sources[:, 0], sources[:, 1]), 1)
    assert len(sources) > 1000
    assert fit_of(seen[1:, 1:], np.ones((7, 7))) > FALSE_ALARMS


def test_each_order_draws_edges_of_its_own():
    one, other = (
        draws_of(training_of(toy_graphs.hub(), order, samples=1000), 0) for order in (1, 2)
    )
    assert not np.array_equal(one[0], other[0])


# -- how vectors move --------------------------------------------------------------------------


def literal_training(training, inputs, outputs):
    """LINE by its definition, with the draws of `training`, in float64: how many edges, loss."""
    settings, edges, loss = training.settings, 0, 0.0
    for block in range(-(-training.task.n_draws // DRAWN_AT_ONCE)):
        left = 1 - block * DRAWN_AT_ONCE / training.task.n_draws
        rate = settings.learning_rate * max(left, 1e-4)
        _, size = target_groups(settings.negatives)
        for centre, drawn, targets in zip(*draws_of(training, block), strict=True):
            sources = drawn[drawn >= 0]
            edges += len(sources)
            labels = (np.arange(len(targets)) == 0).astype(float)
            kept = (labels == 1) | (targets != centre)
            for group in range(0, len(targets), size):
                some = np.arange(len(targets))[group : group + size]
                some = some[kept[some]]
                loss += literal_step(inputs, outputs, sources, targets[some], labels[some], rate)
    return edges, loss


def literal_step(inputs, outputs, sources, targets, labels, rate):
    """Scores are taken first; then one source after the other and all targets move."""
    scores = inputs[sources] @ outputs[targets].T
    gradients = rate * (labels - 1 / (1 + np.exp(-scores)))
    ends = outputs[targets]
    moved = ends.copy()
    for source, gradient in zip(sources, gradients, strict=True):
        begin = inputs[source].copy()
        inputs[source] += gradient @ moved
        moved += np.outer(gradient, begin)
    np.add.at(outputs, targets, moved - ends)  # adds twice what is there twice
    return np.logaddexp(0, np.where(labels == 1, -scores, scores)).sum()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("name", "dimensions", "negatives"),
    [("random_graph", 5, 5), ("random_graph", 40, 11), ("weighted_arcs", 16, 5), ("line", 3, 5)],
)
def test_vectors_move_as_defined(name, order, dimensions, negatives):
    graph = toy_graphs.TOY_GRAPHS[name]()
    samples = SHARING * (2 * DRAWN_AT_ONCE + 7)
    training = training_of(
        graph, order, dimensions=dimensions, negatives=negatives, samples=samples
    )
    own = training.weights
    assert (own.outputs is own.inputs) == (order == 1)
    rng = np.random.default_rng(1)
    for matrix in (own.inputs, own.outputs):  # away from the straight part of σ
        matrix[:, :dimensions] = rng.normal(size=(graph.n_nodes, dimensions)) / dimensions**0.5
    inputs = own.inputs[:, :dimensions].astype(float)
    outputs = inputs if order == 1 else own.outputs[:, :dimensions].astype(float)
    expected_edges, expected = literal_training(training, inputs, outputs)
    last, edges, loss = training.train((0, training.task.n_draws))
    assert (last, edges) == (training.task.n_draws, expected_edges)
    assert loss == pytest.approx(expected, rel=1e-5)
    for matrix, exact in ((own.inputs, inputs), (own.outputs, outputs)):
        np.testing.assert_allclose(matrix[:, :dimensions], exact, rtol=1e-4, atol=2e-5)
        assert not matrix[:, dimensions:].any()


def test_it_does_not_matter_into_how_many_chunks_draws_are_split():
    vectors = []
    for chunk in (DRAWN_AT_ONCE, 100 * DRAWN_AT_ONCE):
        training = training_of(toy_graphs.hub(), 2, samples=SHARING * DRAWN_AT_ONCE * 5)
        training.chunk = chunk
        training.run(1, lambda done, total: None)
        vectors.append(training.weights.vectors)
    np.testing.assert_array_equal(*vectors)


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


@pytest.mark.parametrize("order", ["first", "second"])
def test_groups_that_weights_alone_make_are_apart(order):
    everyone = networkx.complete_graph(40)
    weights = [1.0 if GROUPS[a] == GROUPS[b] else 0.02 for a, b in everyone.edges]
    weighted = Graph.from_edges(list(everyone.edges), weights)
    within, across = cosines_within_and_across(quick(order=order).fit_transform(weighted), GROUPS)
    assert within > across + 0.3
    within, across = cosines_within_and_across(quick(order=order).fit_transform(everyone), GROUPS)
    assert abs(within - across) < 0.1


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


def test_one_seed_has_one_result():
    club = karate_club()
    vectors = quick(seed=5).fit_transform(club)
    np.testing.assert_array_equal(vectors, quick(seed=5).fit_transform(club))
    assert not np.allclose(vectors, quick(seed=6).fit_transform(club), atol=0.1)


@pytest.mark.parametrize("workers", [1, 3, None])
def test_vectors_are_finite_with_any_number_of_threads(toy_graph, workers):
    vectors = quick(workers=workers, learning_rate=0.025).fit_transform(toy_graph)
    assert vectors.shape == (toy_graph.n_nodes, 8)
    assert np.isfinite(vectors).all()


def test_threads_learn_about_as_well_as_one():
    graph = networkx.planted_partition_graph(2, 20, 0.5, 0.05, seed=1)
    vectors = quick(workers=4, samples=400_000).fit_transform(graph)
    within, across = cosines_within_and_across(vectors, GROUPS)
    assert within > across + 0.3


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


PARAMETERS = {
    "dimensions": 12,
    "order": "second",
    "negatives": 7,
    "samples": 1000,
    "learning_rate": 0.01,
    "seed": 9,
    "workers": 1,
}


def test_hyperparameters_are_kept_changed_and_copied():
    model = LINE(**PARAMETERS)
    assert model.get_params() == PARAMETERS
    assert sklearn.clone(model).get_params() == PARAMETERS
    assert model.set_params(order="first").order == "first"
    assert repr(LINE(order="first", seed=3)) == "LINE(order='first', seed=3)"
    with pytest.raises(InputError, match="LINE has no parameter 'window'"):
        model.set_params(window=3)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"order": "third"}, 'order must be "both", "first" or "second", not \'third\''),
        ({"order": ["first"]}, "order must be"),
        ({"dimensions": 1}, "dimensions must be an integer of at least 2, not 1"),
        ({"dimensions": 0, "order": "first"}, "dimensions must be an integer of at least 1"),
        ({"negatives": 0}, "negatives must be"),
        ({"samples": 0}, "samples must be"),
        ({"samples": 1e6}, "samples must be"),
        ({"samples": 2**61}, r"above the limit of 2\*\*60"),
        ({"learning_rate": 0.0}, "learning_rate must be"),
        ({"seed": -1}, "seed must be"),
        ({"workers": 0}, "workers must be"),
    ],
)
def test_hyperparameters_that_make_no_sense_are_refused(changes, complaint):
    with pytest.raises(InputError, match=complaint):
        quick(**changes).fit(karate_club())


def test_a_graph_without_nodes_is_refused():
    with pytest.raises(InputError, match="no nodes"):
        quick().fit(Graph.from_edges([]))


def test_more_memory_than_there_is_is_refused(monkeypatch):
    monkeypatch.setattr(machine, "available_bytes", lambda: 1000)
    with pytest.raises(InputError, match=r"LINE needs about .* kB of memory, and 1\.0 kB are free"):
        quick().fit(karate_club())


@pytest.mark.parametrize("order", ["first", "second"])
def test_training_that_fails_says_why(order):
    model = quick(order=order, learning_rate=1e6)
    with pytest.raises(InputError, match=r"learning_rate of 1e\+06 is too large: try 0.025"):
        model.fit(karate_club())
    assert not hasattr(model, "embedding_")


def test_ids_are_those_of_the_graph():
    embedding = quick().fit([("ann", "bob"), ("bob", "cid")]).embedding_
    assert list(embedding) == ["ann", "bob", "cid"]


def test_there_are_10_000_samples_a_node_unless_said_otherwise(monkeypatch):
    told = []
    monkeypatch.setattr(line, "terminal_progress", lambda *words: lambda *now: told.append(now))
    LINE(workers=1).fit(toy_graphs.paper_toy())
    assert told[-1] == (50_000, 50_000)


def test_a_terminal_is_told_how_it_goes(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    quick(samples=10**6).fit(karate_club(), progress=False)
    assert not sys.stderr.getvalue()
    quick(samples=10**6).fit(karate_club())
    for words in ("first order", "second order", "edges/s"):
        assert words in sys.stderr.getvalue()


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
