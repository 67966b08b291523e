"""Traces agree with the paper's definitions, computed on full vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from reinforce2vec import (
    InputError,
    ReinforcedWalk,
    divergences,
    karate_club,
    occupation,
    sample_walks,
    stuck_set,
)

READINGS = ("graph", "path")


def literal_occupation(path, n_nodes, n, reading):
    """w(n), from its definition."""
    if reading == "graph":
        counted = [1 + sum(node == i for node in path[1 : n + 1]) for i in range(n_nodes)]
        return np.array(counted) / (n + n_nodes)
    return np.array([sum(node == i for node in path[: n + 1]) for i in range(n_nodes)]) / (n + 1)


def literal_divergence(before, after, reward, reading):
    if reward == "kl":
        return entropy(before, after)
    distance = jensenshannon(before, after)
    return distance if reading == "path" else distance**2


@pytest.fixture(scope="module")
def walk():
    return sample_walks(karate_club(), length=60, per_node=1, seed=3)[5].tolist()


@pytest.fixture(scope="module")
def long_walk():
    walk = ReinforcedWalk(exploration="epsilon", weight=0.3)
    return sample_walks(karate_club(), walk, length=10_001, per_node=1, starts=[1])[0]


# -- occupation --------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_occupation_is_that_of_the_definition(walk, reading):
    steps = [17, 0, 59, 3, 17]
    expected = [literal_occupation(walk, 34, n, reading) for n in steps]
    np.testing.assert_allclose(occupation(walk, 34, steps, reading), expected, rtol=1e-15)


# -- divergences -------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("reward", ["kl", "js"])
def test_divergences_are_those_of_the_full_vectors(walk, reward, reading):
    vectors = [literal_occupation(walk, 34, n, reading) for n in range(60)]
    expected = [literal_divergence(vectors[n], vectors[n + 1], reward, reading) for n in range(59)]
    found = divergences(walk, 34, reward, reading)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("reward", ["kl", "js"])
def test_divergences_hold_late_in_a_long_walk(long_walk, reward, reading):
    late = range(9_000, 10_000, 97)
    found = divergences(long_walk, 34, reward, reading)
    assert found.shape == (10_000,)
    for n in late:
        before, after = occupation(long_walk, 34, [n, n + 1], reading)
        expected = literal_divergence(before, after, reward, reading)
        # the sums over all nodes lose digits where they cancel, so they bound what can be asked
        assert found[n] == pytest.approx(expected, rel=1e-4, abs=1e-15)


# -- stuck sets --------------------------------------------------------------------------------


def test_the_stuck_set_counts_the_last_steps(long_walk):
    nodes, counts = stuck_set(long_walk, last=250)
    tail = long_walk[-250:].tolist()
    assert {node: tail.count(node) for node in set(tail)} == dict(
        zip(nodes.tolist(), counts.tolist(), strict=True)
    )
    assert (np.diff(counts) <= 0).all()


# -- padding and errors ------------------------------------------------------------------------


def test_padding_is_left_out(walk):
    padded = np.array([*walk, -1, -1, -1], np.int32)
    np.testing.assert_array_equal(occupation(padded, 34), occupation(walk, 34))
    np.testing.assert_array_equal(divergences(padded, 34), divergences(walk, 34))
    np.testing.assert_array_equal(stuck_set(padded)[0], stuck_set(walk)[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: occupation([], 3), "a path is one walk"),
        (lambda: occupation([-1, -1], 3), "a path is one walk"),
        (lambda: occupation([[0, 1], [1, 0]], 3), "a path is one walk"),
        (lambda: occupation([0.5, 1], 3), "a path is one walk"),
        (lambda: occupation([0, -1, 1], 3), "a path is one walk"),
        (lambda: occupation([0, -2], 3), "a path is one walk"),
        (lambda: occupation([0, 3], 3), "a path is one walk"),
        (lambda: occupation([0, 1], 3, [2]), "steps 0 to 1, there is no step 2"),
        (lambda: occupation([0, 1], 3, [-1]), "there is no step -1"),
        (lambda: occupation([0, 1], 3, [0.5]), "steps are integers"),
        (lambda: occupation([0, 1], 3, occupation="walk"), "occupation must be one of"),
        (lambda: divergences([0, 1], 3, reward="vertex"), "reward must be one of kl, js"),
        (lambda: divergences([0, 1], 3, occupation="walk"), "occupation must be one of"),
        (lambda: divergences([0, 9], 3), "a path is one walk"),
        (lambda: stuck_set([0, 1], after=7), "there is no step 7"),
        (lambda: stuck_set([0, 1], last=0), "last must be at least 1"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()
