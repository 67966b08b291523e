"""What a walk is: presets, values that compare, and sentences about bad parameters."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from functools import partial

import numpy as np
import pytest

from helpers import refusals
from reinforce2vec import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from reinforce2vec.walks.policy import check_walk

REWARDS = ["vertex", "kl", "js"]
EXPLORATIONS = ["none", "epsilon", "ucb"]

refusal = partial(refusals.refusal, check_walk)


# -- presets -------------------------------------------------------------------------------------


def test_the_default_walk_is_the_papers_js_ucb():
    assert ReinforcedWalk() == ReinforcedWalk.paper() == ReinforcedWalk.paper("js", "ucb")


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


def test_presets_take_changes():
    released = ReinforcedWalk.released("kl", weight=0.5, candidates=None, temperature=2.0)
    assert (released.weight, released.candidates, released.temperature) == (0.5, None, 2.0)
    assert released.occupation == "path"
    assert ReinforcedWalk.paper("vertex", annealing="linear").annealing == "linear"


# -- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("walk", "name"),
    [(ReinforcedWalk(), "weight"), (SecondOrderWalk(), "p"), (FirstOrderWalk(), "p")],
)
def test_walks_do_not_change(walk, name):
    with pytest.raises(FrozenInstanceError):
        setattr(walk, name, 0.5)


def test_walks_with_the_same_parameters_are_equal():
    assert ReinforcedWalk("kl") == ReinforcedWalk("kl")
    assert ReinforcedWalk("kl") != ReinforcedWalk("js")
    assert SecondOrderWalk(1, 2) == SecondOrderWalk(1.0, 2.0)
    assert SecondOrderWalk() != FirstOrderWalk()
    assert len({ReinforcedWalk(), ReinforcedWalk.paper(), FirstOrderWalk(), FirstOrderWalk()}) == 2


@pytest.mark.parametrize(
    "walk",
    [
        ReinforcedWalk.released("vertex", "epsilon", weight=0.25),
        SecondOrderWalk(0.5, 2.0),
        FirstOrderWalk(),
    ],
)
def test_repr_is_the_code_that_makes_the_walk(walk):
    assert eval(repr(walk)) == walk


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reward", "exploration", "annealing", "occupation"])
def test_unknown_choices_are_named_with_the_known_ones(name):
    message = refusal(replace(ReinforcedWalk(), **{name: "JS"}))
    assert message.startswith(f"{name} must be one of ")
    assert "'JS'" in message
    assert getattr(ReinforcedWalk(), name) in message


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1e7, float("nan"), "strong"])
def test_attraction_must_be_a_reasonable_factor(wrong):
    assert refusal(ReinforcedWalk(attraction=wrong)).startswith("attraction must be a number")


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


@pytest.mark.parametrize("wrong", [0, 0.0, -1, np.inf, np.nan, "1", None, [1]])
def test_temperature_must_be_above_zero(wrong):
    message = refusal(ReinforcedWalk(temperature=wrong))
    assert message == f"temperature must be a number above 0, not {wrong!r}"


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan, "0.5"])
def test_epsilon_must_be_a_probability(wrong):
    message = refusal(ReinforcedWalk(exploration="epsilon", weight=wrong))
    assert message == f"weight must be a number at least 0 and at most 1, not {wrong!r}"


@pytest.mark.parametrize("wrong", [-0.1, np.inf, np.nan, "1"])
def test_a_ucb_weight_must_not_be_negative(wrong):
    message = refusal(ReinforcedWalk(exploration="ucb", weight=wrong))
    assert message == f"weight must be a number at least 0, not {wrong!r}"


def test_a_ucb_weight_may_exceed_one():
    check_walk(ReinforcedWalk(exploration="ucb", weight=7))
    check_walk(ReinforcedWalk(exploration="epsilon", weight=1))
    check_walk(ReinforcedWalk(exploration="epsilon", weight=0))


@pytest.mark.parametrize("wrong", [2.0, "3", True, [1]])
def test_candidates_must_be_an_integer(wrong):
    assert refusal(ReinforcedWalk(candidates=wrong)) == (
        f"candidates must be an integer of at least 1, not {wrong!r}"
    )


@pytest.mark.parametrize("wrong", [0, -4])
def test_candidates_must_be_at_least_one(wrong):
    message = refusal(ReinforcedWalk(candidates=wrong))
    assert message == f"candidates must be an integer of at least 1, not {wrong!r}"
    check_walk(ReinforcedWalk(candidates=np.int64(1)))


@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, np.nan, "1", None])
@pytest.mark.parametrize("name", ["p", "q"])
def test_p_and_q_must_be_above_zero(name, wrong):
    message = refusal(SecondOrderWalk(**{name: wrong}))
    assert message == f"{name} must be a number above 0, not {wrong!r}"


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


@pytest.mark.parametrize("annealing", ["constant", "linear", "exponential"])
def test_without_exploration_its_weight_is_zero(annealing):
    walk = ReinforcedWalk("js", "none", 0.7, annealing)
    assert walk.exploration_weights(5).tolist() == [0.0] * 5


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
