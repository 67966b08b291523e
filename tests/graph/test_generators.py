"""Generators: graphs that keep their promises."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import InputError, planted_groups, rmat
from reinforce2vec.graph.fingerprint import fingerprint


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


def test_a_seed_is_a_graph_the_same_as_in_older_versions():
    groups, other = (planted_groups(300, 3, seed=seed) for seed in (1, 2))
    assert fingerprint(groups.graph, groups.labels) == "d245d93f70126c258e32dc563c834e7d"
    assert fingerprint(groups.graph) != fingerprint(other.graph)
    assert fingerprint(rmat(10, seed=1)) == "eae3453fc0b497e524e0ade538272faa"
    directed = rmat(7, 8, probabilities=(0.4, 0.3, 0.2), directed=True, seed=3)
    assert fingerprint(directed) == "eb97dbd49728c7d503892229b518675d"
    assert fingerprint(rmat(10)) != fingerprint(rmat(10, seed=1))
    assert rmat(0).n_nodes == 1
    for options in ({"scale": -1}, {"scale": 31}, {"scale": 3, "edge_factor": -1}):
        with pytest.raises(InputError, match=f"^{list(options)[-1]} must be an integer"):
            rmat(**options)


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
        ({"n_groups": 0}, "n_groups must be"),
        ({"n_nodes": 9, "n_groups": 5}, "n_nodes must be"),
        ({"degree": 0}, "degree must be"),
        ({"mixing": 1.5}, "mixing must be"),
        ({"exponent": 2}, "exponent must be"),
        ({"seed": -1}, "seed must be"),
        ({"n_groups": 1}, "2,000 edges between groups are too many for 0 pairs"),
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
