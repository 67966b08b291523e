"""What a walk is: presets, values that compare, and sentences about bad parameters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers import refusals
from reinforce2vec import ReinforcedWalk, SecondOrderWalk
from reinforce2vec.walks.policy import check_walk

REWARDS = ["vertex", "kl", "js"]
EXPLORATIONS = ["none", "epsilon", "ucb"]

refusal = partial(refusals.refusal, check_walk)


# -- presets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("exploration", EXPLORATIONS)
@pytest.mark.parametrize("reward", REWARDS)
def test_the_papers_walks_weigh_every_neighbour_by_the_whole_graph(reward, exploration):
    walk = ReinforcedWalk.paper(reward, exploration)
    assert (walk.reward, walk.exploration) == (reward, exploration)
    assert (walk.occupation, walk.candidates, walk.weight) == ("graph", None, None)
    check_walk(walk)


@pytest.mark.parametrize("exploration", EXPLORATIONS)
@pytest.mark.parametrize("reward", REWARDS)
def test_the_released_walks_weigh_ten_new_candidates_by_the_path(reward, exploration):
    walk = ReinforcedWalk.released(reward, exploration)
    assert (walk.reward, walk.exploration, walk.occupation) == (reward, exploration, "path")
    assert walk.candidates == (None if reward == "vertex" else 10)
    assert walk.weight == (0.01 if exploration == "ucb" else None)
    check_walk(walk)


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reward", "exploration", "annealing", "occupation"])
def test_unknown_choices_are_named_with_the_known_ones(name):
    message = refusal(replace(ReinforcedWalk(), **{name: "JS"}))
    assert message.startswith(f"{name} must be one of ")
    assert "'JS'" in message
    assert getattr(ReinforcedWalk(), name) in message


@pytest.mark.parametrize(
    "walk",
    [
        *(ReinforcedWalk(attraction=wrong) for wrong in (0.0, -1.0, 1e7, np.nan, "strong")),
        *(ReinforcedWalk(temperature=wrong) for wrong in (0, -1, np.inf, np.nan, "1", None)),
        *(ReinforcedWalk(exploration="epsilon", weight=wrong) for wrong in (-0.1, 1.1, np.nan)),
        *(ReinforcedWalk(weight=wrong) for wrong in (-0.1, np.inf, np.nan, "1")),
        *(ReinforcedWalk(candidates=wrong) for wrong in (2.0, "3", True, 0, -4)),
        *(SecondOrderWalk(p=wrong) for wrong in (0, -1.0, np.inf, np.nan, "1", None)),
        *(SecondOrderWalk(q=wrong) for wrong in (0, np.nan)),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_refused(walk):
    assert " must be " in refusal(walk)


@pytest.mark.parametrize(
    ("walk", "draws"),
    [
        (ReinforcedWalk("vertex", "none", attraction=2.0), True),
        (ReinforcedWalk("vertex", "epsilon", attraction=2.0), True),
        (ReinforcedWalk.released("vertex", "ucb", attraction=2.0), True),
        (ReinforcedWalk.released("vertex", "none", attraction=2.0), False),
        (ReinforcedWalk("js", "epsilon", attraction=2.0), False),
        (ReinforcedWalk("kl", "none", attraction=0.5), False),
    ],
)
def test_attraction_needs_a_walk_that_draws_by_weight(walk, draws):
    if draws:
        check_walk(walk)
    else:
        assert "takes the best neighbour" in refusal(walk)


@pytest.mark.parametrize("thing", ["deepwalk", None, ReinforcedWalk])
def test_only_walks_are_walks(thing):
    assert refusal(thing) == (
        f"a walk is a ReinforcedWalk, FirstOrderWalk or SecondOrderWalk, not {type(thing).__name__}"
    )


# -- how exploration fades -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exploration", "weight", "expected"),
    [("epsilon", None, 0.5), ("ucb", None, 1.0), ("epsilon", 0.2, 0.2), ("ucb", 0.0, 0.0)],
)
def test_constant_exploration(exploration, weight, expected):
    weights = ReinforcedWalk("js", exploration, weight).exploration_weights(7)
    assert weights.tolist() == [expected] * 7


def test_linear_annealing_falls_in_a_straight_line_to_zero():
    weights = ReinforcedWalk(weight=0.8, annealing="linear").exploration_weights(5)
    np.testing.assert_allclose(weights, [0.8, 0.6, 0.4, 0.2, 0.0], atol=1e-15)


def test_exponential_annealing_falls_by_a_constant_ratio_to_a_hundredth():
    weights = ReinforcedWalk(weight=3.0, annealing="exponential").exploration_weights(39)
    assert weights[0] == 3.0
    assert weights[-1] == pytest.approx(0.03)
    ratios = weights[1:] / weights[:-1]
    np.testing.assert_allclose(ratios, ratios[0])
    assert ratios[0] < 1


@pytest.mark.parametrize("annealing", ["constant", "linear", "exponential"])
def test_a_single_decision_explores_with_the_full_weight(annealing):
    assert ReinforcedWalk(weight=0.3, annealing=annealing).exploration_weights(1).tolist() == [0.3]
