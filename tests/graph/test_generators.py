"""Generators: graphs that keep their promises."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import InputError, planted_groups


def ends_of(graph):
    """Both ends of every edge, each edge in both directions."""
    return np.repeat(np.arange(graph.n_nodes), graph.degrees), graph.indices


@pytest.mark.parametrize(
    ("n_nodes", "n_groups", "degree", "mixing"),
    [(1000, 5, 20, 0.2), (200, 7, 6.5, 0.5), (60, 2, 8, 0), (60, 2, 8, 1), (90, 1, 5, 0)],
)
def test_planted_groups_have_the_requested_edges(n_nodes, n_groups, degree, mixing):
    found = planted_groups(n_nodes, n_groups, degree=degree, mixing=mixing, seed=3)
    graph, labels = found.graph, found.labels
    assert labels.shape == (n_nodes, n_groups)
    assert labels.dtype == np.bool_
    assert (labels.sum(axis=1) == 1).all()
    assert np.ptp(labels.sum(axis=0)) <= 1
    assert graph.ids.tolist() == list(range(n_nodes))
    assert graph.n_edges == round(n_nodes * degree / 2)  # so none is parallel to another
    one, other = ends_of(graph)
    assert (one != other).all()
    assert graph.dropped_self_loops == 0
    group = labels.argmax(axis=1)
    leaving = np.count_nonzero(group[one] != group[other]) // 2
    assert leaving == round(graph.n_edges * mixing)


def test_a_seed_is_a_graph():
    first, again, other = (planted_groups(300, 3, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.graph.indices, again.graph.indices)
    assert np.array_equal(first.labels, again.labels)
    assert not np.array_equal(first.graph.indices, other.graph.indices)
    assert not np.array_equal(first.labels, other.labels)


def test_numbers_of_nodes_say_nothing_about_groups():
    """Neighbours in number share one of 5 groups in a fifth of cases: sd 0.0057, false alarm
    below 1 in 10,000 at 0.025."""
    group = planted_groups(5000, 5).labels.argmax(axis=1)
    assert abs(np.mean(group[1:] == group[:-1]) - 0.2) < 0.025


@pytest.mark.parametrize("exponent", [2.5, 3.5])
def test_degrees_follow_a_power_law(exponent):
    """The share of nodes beyond degree d falls as d^(1 - exponent).

    More than 900 of 20,000 nodes lie beyond 40, so the ratio's sd is at most 0.016, and that the
    popular have some edges only once makes it up to 0.03 smaller: false alarm below 1 in 1,000.
    """
    degrees = planted_groups(20_000, 4, exponent=exponent).graph.degrees
    beyond = [np.count_nonzero(degrees > least) for least in (40, 80)]
    assert abs(beyond[1] / beyond[0] - 2 ** (1 - exponent)) < 0.08


def test_without_skew_degrees_are_all_alike():
    """Nearly Poisson then: sd 4.5 around 20, and none of 2,000 beyond 60."""
    degrees = planted_groups(2000, 4, exponent=1000).graph.degrees
    assert 4 < degrees.std() < 5
    assert degrees.max() < 60


def test_every_pair_of_groups_is_linked_alike():
    """1,000 edges in each of 10 pairs, sd at most 32: false alarm below 1 in 10,000 at 160."""
    found = planted_groups(5000, 5, degree=20, mixing=0.2)
    one, other = ends_of(found.graph)
    between = np.zeros((5, 5), int)
    group = found.labels.argmax(axis=1)
    np.add.at(between, (group[one], group[other]), 1)
    apart = between[~np.eye(5, dtype=bool)]
    assert (abs(apart - 1000) < 160).all()
    assert (abs(between.diagonal() / 2 - 8000) < 450).all()


def test_popular_nodes_are_popular_in_other_groups_too():
    found = planted_groups(5000, 5, mixing=0.5)
    one, other = ends_of(found.graph)
    group = found.labels.argmax(axis=1)
    inside = group[one] == group[other]
    own = np.bincount(one[inside], minlength=5000)
    foreign = np.bincount(one[~inside], minlength=5000)
    assert np.corrcoef(own, foreign)[0, 1] > 0.8


def test_the_densest_possible_graph_is_made():
    assert planted_groups(100, 5, degree=9.5, mixing=0, exponent=2.01).graph.n_edges == 475


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_groups": 0}, "n_groups must be an integer of at least 1, not 0"),
        ({"n_nodes": 9, "n_groups": 5}, "n_nodes must be an integer of at least 10, not 9"),
        ({"degree": 0}, "degree must be a number above 0, not 0"),
        ({"mixing": 1.5}, "mixing must be a number at least 0 and at most 1, not 1.5"),
        ({"exponent": 2}, "exponent must be a number above 2, not 2"),
        ({"seed": -1}, "seed must be an integer of at least 0, not -1"),
        ({"n_groups": 1}, "a single group has no other to mix with: pass mixing=0"),
        (
            {"n_nodes": 100, "n_groups": 10},
            "800 edges within groups are too many for 450 pairs of nodes",
        ),
        (
            {"n_nodes": 20, "n_groups": 2, "mixing": 1, "degree": 11},
            "110 edges between groups are too many for 100 pairs",
        ),
    ],
)
def test_what_cannot_be_made_is_a_sentence(options, sentence):
    with pytest.raises(InputError, match=f"^{sentence}"):
        planted_groups(**options)
