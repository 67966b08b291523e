"""Every step of every sampler follows the equations.

The fast samplers are held against `literal.py`, which gives the chances of every next node after
any history. Two kinds of test use them on all steps of all walks at once.

*The probability integral transform.* Of a step to x, after a history that makes F the distribution
function of the next node, take a number uniform between F(x-) and F(x). If the sampler is exact,
these numbers are independent and uniform on [0, 1], whatever the histories were: a chi-square test
with 20 bins. Nodes are ordered by row number, and once more by visits so far.

*Sums of differences.* How often do walks return to their start, or meet a new node, less how often
they should: step by step the differences have mean 0 and a known variance, so their sum is held
against Bernstein's inequality. This notices what the transform, with its eyes on everything,
overlooks.

False alarms: this file computes fewer than 4,000 p-values and holds each against 1e-6 / 4,000, so
an exact sampler fails any of them with a probability below 1e-6. Seeds are fixed: what passes once
stays so until the sampler's random numbers change.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chi2, chisquare

from helpers import toy_graphs
from helpers.literal import next_probabilities, times_in, ucb_scores
from helpers.toy_graphs import TOY_GRAPHS
from helpers.walk_policies import PRESETS, VARIATIONS
from reinforce2vec import FirstOrderWalk, Graph, ReinforcedWalk, SecondOrderWalk, sample_walks

ALPHA = 1e-6 / 4_000
BINS = 20


def graph_named(name):
    return getattr(toy_graphs, name)()


# -- the judge -----------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """What the steps of many walks say about the equations they should follow."""

    steps: int
    impossible: int  # steps that have no chance by the equations
    p_values: dict[str, float]

    @property
    def worst(self):
        return 0.0 if self.impossible else min(self.p_values.values())


def judge(graph, walk, *, length=30, steps=10_000, every=1, equations=None, history=None):
    """Sample walks from all nodes and hold every `every`-th step of theirs against equations.

    `equations` and `history` put wrong ones in place of what the walk itself says.
    """
    decisions = range(0, length - 1, every)
    per_node = -(-steps // (graph.n_nodes * len(decisions)))
    if not graph.degrees.all():
        per_node *= 4  # dead ends make walks short
    walks = sample_walks(graph, walk, length=length, per_node=per_node, seed=11)
    rng = np.random.default_rng(7)
    rows = np.arange(graph.n_nodes)
    uniform = {"by row": [], "by visits": []}
    sums = {name: np.zeros(2) for name in QUESTIONS}
    impossible = 0
    for n in decisions:
        going = walks[walks[:, n] >= 0]
        path, x = going[:, : n + 1], going[:, n + 1]
        seen = path if history is None else history(path)
        chances = next_probabilities(graph, equations or walk, seen, length)
        dead_end = chances.sum(axis=1) == 0
        assert np.array_equal(x < 0, dead_end)
        path, x, chances = path[~dead_end], x[~dead_end], chances[~dead_end]
        impossible += np.count_nonzero(chances[np.arange(len(x)), x] == 0)
        visits = times_in(path, graph.n_nodes)
        orders = {
            "by row": np.broadcast_to(rows, chances.shape),
            "by visits": np.argsort(-visits, axis=1, kind="stable"),
        }
        for name, order in orders.items():
            uniform[name].append(transformed(chances, x, order, rng))
        for name, question in QUESTIONS.items():
            sums[name] += difference_and_variance(question(path, visits, chances), chances, x)
    numbers = {name: np.concatenate(parts) for name, parts in uniform.items()}
    p_values = {name: uniformity(of_steps) for name, of_steps in numbers.items()}
    p_values |= {name: bernstein(*sums[name]) for name in QUESTIONS}
    return Verdict(numbers["by row"].size, impossible, p_values)


def transformed(chances, x, order, rng):
    """A uniform number between F(x-) and F(x) for each step to x, nodes in the given order."""
    ordered = np.take_along_axis(chances, order, axis=1)
    place = (order == x[:, None]).argmax(axis=1)[:, None]
    upper = np.take_along_axis(ordered.cumsum(axis=1), place, axis=1)[:, 0]
    return upper - rng.random(len(order)) * np.take_along_axis(ordered, place, axis=1)[:, 0]


def uniformity(numbers):
    """p-value of the hypothesis that the numbers are uniform on [0, 1]."""
    counts, _ = np.histogram(np.clip(numbers, 0, 1), bins=BINS, range=(0, 1))
    return float(chisquare(counts).pvalue)


# What is asked of a step: a number between 0 and 1 for every next node, given the path so far.
QUESTIONS = {
    "to the start": lambda path, visits, chances: np.eye(visits.shape[1])[path[:, 0]],
    "turning back": lambda path, visits, chances: np.eye(visits.shape[1])[path[:, -2:][:, 0]],
    "to a new node": lambda path, visits, chances: (visits == 0).astype(float),
    "to a likely node": lambda path, visits, chances: (
        1 + np.log(np.clip(chances, 1e-5, 1)) / np.log(1e5)
    ),
}


def difference_and_variance(answers, chances, x):
    """Of the steps to x: the sum of answers less what was to be expected, and its variance."""
    mean = (chances * answers).sum(axis=1)
    variance = (chances * (answers - mean[:, None]) ** 2).sum()
    return (answers[np.arange(len(x)), x] - mean).sum(), variance


def bernstein(difference, variance):
    """Bound of the chance that a sum of differences of at most 1, of mean 0, gets this far."""
    distance = max(abs(difference) - 1e-6, 0.0)  # less what rounding may have added
    if distance == 0.0:
        return 1.0
    return min(1.0, 2 * np.exp(-(distance**2) / (2 * (variance + distance / 3))))


def assert_exact(graph, walk, **options):
    verdict = judge(graph, walk, **options)
    assert verdict.steps >= 2_000
    assert verdict.impossible == 0
    assert verdict.worst > ALPHA, verdict.p_values


# -- every walk, every graph ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("graph_name", TOY_GRAPHS)
@pytest.mark.parametrize("preset", PRESETS)
def test_both_readings_follow_the_equations(preset, graph_name):
    assert_exact(graph_named(graph_name), PRESETS[preset])


@pytest.mark.slow
@pytest.mark.parametrize("graph_name", ["weighted_hub", "random_graph"])
@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_parameter_follows_the_equations(variation, graph_name):
    assert_exact(graph_named(graph_name), VARIATIONS[variation])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "every", "graph_name"),
    [(300, 6, "weighted"), (300, 6, "random_graph"), (2_500, 50, "clique"), (2_500, 50, "star")],
)
@pytest.mark.parametrize("preset", PRESETS)
def test_long_histories_follow_the_equations(preset, length, every, graph_name):
    assert_exact(graph_named(graph_name), PRESETS[preset], length=length, every=every, steps=4_000)


ON_A_HUB = {
    "released": ReinforcedWalk.released("js"),
    "one candidate": ReinforcedWalk.released("kl", candidates=1),
    "more candidates than neighbours": ReinforcedWalk.released("js", candidates=1000),
    "strongly repelled": ReinforcedWalk("js", candidates=5, attraction=1e-3),
    "vertex": ReinforcedWalk("vertex", "epsilon", weight=0.1, candidates=3),
    "cold": ReinforcedWalk.released("js", temperature=0.05),
    "no cap": ReinforcedWalk("vertex"),
    "no cap, repelled": ReinforcedWalk("vertex", attraction=0.01),
}


@pytest.mark.parametrize("walk", ON_A_HUB)
def test_walks_on_a_weighted_hub_follow_the_equations(walk):
    graph = toy_graphs.large_weighted_hub(directed=walk == "one candidate")
    assert_exact(graph, ON_A_HUB[walk], length=20, steps=6_000)


def test_remembered_strangers_that_dwarf_all_neighbours_change_nothing():
    """The weights of both neighbours, beside such a node's, have no digits left."""
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("c", "e"), ("x", "y")]
    graph = Graph.from_edges(edges, [1, 1, 1e-24, 1.4e-24, 1], directed=True)
    cold = ReinforcedWalk("vertex", temperature=1 / 690)
    walks = sample_walks(graph, cold, length=4, per_node=4_000, starts=["a"])
    counts = np.bincount(walks[:, 3], minlength=5)[[graph.row("d"), graph.row("e")]]
    assert chisquare(counts, 4_000 * np.array([1, 1.4]) / 2.4).pvalue > ALPHA


@pytest.mark.parametrize(
    "graph_name", ["paper_toy", "dead_ends", "weighted", "weighted_arcs", "hub", "random_graph"]
)
@pytest.mark.parametrize(("p", "q"), list(product([0.1, 1, 10], repeat=2)))
def test_second_order_walks_follow_node2vec(p, q, graph_name):
    assert_exact(graph_named(graph_name), SecondOrderWalk(p, q))


def test_first_order_walks_choose_by_edge_weight(toy_graph):
    assert_exact(toy_graph, FirstOrderWalk(), steps=30_000)


# -- history by history --------------------------------------------------------------------------


@pytest.mark.parametrize("graph_name", ["paper_toy", "dead_ends", "weighted", "weighted_arcs"])
@pytest.mark.parametrize("preset", PRESETS)
def test_after_every_frequent_history_the_next_node_is_right(preset, graph_name):
    graph, walk, length = graph_named(graph_name), PRESETS[preset], 7
    walks = sample_walks(graph, walk, length=length, per_node=40_000, seed=3, starts=[3])
    statistic, freedom = 0.0, 0
    for n in range(length - 1):
        going = walks[walks[:, n + 1] >= 0]
        codes = going[:, : n + 1] @ (graph.n_nodes ** np.arange(n + 1))
        _, examples, which, times = np.unique(
            codes, return_index=True, return_inverse=True, return_counts=True
        )
        observed = np.zeros((len(times), graph.n_nodes), np.int64)
        np.add.at(observed, (which, going[:, n + 1]), 1)
        frequent = times >= 200
        histories = going[examples[frequent], : n + 1]
        chances = next_probabilities(graph, walk, histories, length)
        assert not observed[frequent][chances == 0].any()
        added, more = compare(observed[frequent], chances * times[frequent, None])
        statistic, freedom = statistic + added, freedom + more
    assert freedom > 0
    assert chi2.sf(statistic, freedom) > ALPHA


def compare(observed, expected):
    """Chi-square statistic and degrees of freedom of many rows of counts.

    Cells where fewer than 5 are expected are added to their row's largest cell.
    """
    small = expected < 5
    rows, largest = np.arange(len(expected)), expected.argmax(axis=1)
    merged = []
    for cells in (observed.astype(float), expected.copy()):
        cells[rows, largest] += np.where(small, cells, 0).sum(axis=1)
        merged.append(cells[~small])
    return float(((merged[0] - merged[1]) ** 2 / merged[1]).sum()), int((~small).sum() - len(rows))


# -- the tests themselves ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("walk", "graph_name", "wrong"),
    [
        (PRESETS["paper-vertex-ucb"], "random_graph", {"temperature": 1.1}),
        (PRESETS["released-vertex-ucb"], "random_graph", {"temperature": 1.1}),
        (VARIATIONS["cold-released"], "random_graph", {"temperature": 0.3}),
        (VARIATIONS["only-js"], "weighted", {"reward": "kl"}),
        (VARIATIONS["only-path-kl"], "random_graph", {"occupation": "graph"}),
        (VARIATIONS["path-uncapped"], "hub", {"candidates": 10}),
        (VARIATIONS["graph-2-candidates"], "random_graph", {"candidates": 3}),
        (VARIATIONS["attracted"], "random_graph", {"attraction": 2.5}),
        (VARIATIONS["repelled-vertex"], "random_graph", {"attraction": 0.2}),
        (VARIATIONS["rare-epsilon"], "random_graph", {"weight": 0.2}),
        (VARIATIONS["linear-ucb"], "random_graph", {"annealing": "constant"}),
        (ON_A_HUB["released"], "large_weighted_hub", {"candidates": 30}),
        (VARIATIONS["always-epsilon"], "clique", {"weight": 0.9}),
        (VARIATIONS["never-epsilon"], "clique", {"exploration": "ucb"}),
    ],
)
def test_a_wrong_parameter_would_be_noticed(walk, graph_name, wrong):
    equations = replace(walk, **wrong)
    verdict = judge(graph_named(graph_name), walk, equations=equations, steps=20_000)
    assert verdict.worst < ALPHA


@pytest.mark.parametrize("candidates", [1, 2, 3, 5, 7, 8])
def test_the_share_of_candidates_is_the_mean_over_all_sets_of_candidates(candidates):
    """`literal.py` weighs the unvisited ones by an expectation; here every set is drawn."""
    graph = toy_graphs.star()
    walk = ReinforcedWalk.released("js", weight=1.0, candidates=candidates)
    path = np.array([[0, 2, 0, 2, 0, 5, 0]])
    edges = graph.to_scipy().toarray()[[0]].astype(float)
    scores = ucb_scores(walk, edges, path, alpha=1.0)[0]
    visited, unvisited = [2, 5], [1, 3, 4, 6, 7]
    weighed = min(len(unvisited), candidates if candidates < 7 else 1)
    sets = [[*visited, *drawn] for drawn in combinations(unvisited, weighed)]
    mean = np.zeros(graph.n_nodes)
    for members in sets:
        mean[members] += softmax(scores[members]) / len(sets)
    np.testing.assert_allclose(next_probabilities(graph, walk, path, 40)[0], mean, atol=1e-14)
