"""The three kinds of walks and their parameters, each a frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.hyperparameters import PARAMETERS, REINFORCED, SECOND_ORDER

_LOG_OF_LAST = -4.605170185988091  # an exponentially annealed weight ends at 1% of its start
_LARGEST_WEIGHT = 1e12  # a larger one changes nothing but can overflow


@dataclass(frozen=True)
class FirstOrderWalk:
    """DeepWalk's walk: the next node is a random neighbour, drawn by edge weight."""

    def check(self) -> None:
        """Do nothing: there are no parameters."""


@dataclass(frozen=True)
class SecondOrderWalk:
    """node2vec's walk: the next node depends on the last two.

    Coming from t, a neighbour x weighs 1/p if it is t itself, 1 if t has an edge to x, and 1/q
    otherwise, times its edge weight. Uses rejection sampling, without precomputed tables.

    Parameters
    ----------
    p : float, default 1
        Return parameter: the smaller it is, the more often the walk turns back.
    q : float, default 1
        In-out parameter: the smaller it is, the farther the walk strays.
    """

    p: float = 1.0
    q: float = 1.0

    def check(self) -> None:
        """Raise InputError if a parameter is invalid."""
        for name in SECOND_ORDER:
            PARAMETERS[name].check(getattr(self, name))


@dataclass(frozen=True)
class ReinforcedWalk:
    """A reinforced random walk: its whole path influences the choice of the next node.

    The reward of a neighbour measures how well it fits the path so far: how often the path has
    been there (VRRW), or how little the path's occupation vector would move (DRRW). Exploration
    keeps the walk from getting stuck. With `exploration="ucb"` the next node is drawn from the
    softmax of reward plus exploration score. With "epsilon" a random neighbour is taken with
    probability ε; otherwise VRRW draws in proportion to the reward (with `occupation="path"`: takes
    the best), and DRRW takes the best. Edge weights multiply a neighbour's weight in every draw.

    Parameters
    ----------
    reward : {"js", "kl", "vertex"}
        Jensen-Shannon or Kullback-Leibler divergence (DRRW), or visit counts (VRRW).
    exploration : {"ucb", "epsilon", "none"}
        Upper confidence bounds, ε-greedy, or no exploration.
    weight : float, optional
        How strongly to explore: ε in [0, 1] (default 0.5), or the factor α >= 0 of the UCB score
        (default 1).
    annealing : {"constant", "linear", "exponential"}
        How the weight falls along the walk: not at all, in a straight line to 0, or by a constant
        ratio to 1% of itself.
    occupation : {"graph", "path"}
        Which nodes count. "graph": the paper's equations as printed, every node of the graph
        starts with a count of 1. "path": as in the authors' released code, the start counts as
        visited and the occupation vector covers the path alone; it also takes the square root of
        the JS divergence, the best reward in ε-greedy VRRW, and another UCB score for VRRW.
    candidates : int, optional
        Consider at most this many unvisited neighbours, drawn at random (only one if the node has
        no more neighbours than this), and every visited neighbour. Default: all.
    temperature : float, default 1
        Divides the scores before the softmax: low is greedy, high is uniform.
    attraction : float, default 1
        Multiplies the weight of visited neighbours: above 1 the path attracts the walk, below 1
        it repels it. Not in the paper.

    Examples
    --------
    >>> from reinforce2vec import ReinforcedWalk
    >>> ReinforcedWalk.released("kl")
    ReinforcedWalk(reward='kl', exploration='ucb', weight=0.01, annealing='constant', \
occupation='path', candidates=10, temperature=1.0, attraction=1.0)
    """

    reward: str = "js"
    exploration: str = "ucb"
    weight: float | None = None
    annealing: str = "constant"
    occupation: str = "graph"
    candidates: int | None = None
    temperature: float = 1.0
    attraction: float = 1.0

    @classmethod
    def paper(cls, reward: str = "js", exploration: str = "ucb", **changes: Any) -> ReinforcedWalk:
        """Return the walk of the paper's equations; `changes` override single parameters."""
        return cls(reward, exploration, **changes)

    @classmethod
    def released(
        cls, reward: str = "js", exploration: str = "ucb", **changes: Any
    ) -> ReinforcedWalk:
        """Return the walk of the paper's tables; `changes` override single parameters.

        It sets `occupation` to "path", `weight` to 0.01 with UCB, and `candidates` to 10 unless
        the reward is "vertex".
        """
        settings: dict[str, Any] = {
            "weight": 0.01 if exploration == "ucb" else None,
            "occupation": "path",
            "candidates": None if reward == "vertex" else 10,
        }
        return cls(reward, exploration, **(settings | changes))

    def check(self) -> None:
        """Raise InputError if a parameter is invalid."""
        for name in REINFORCED:
            probability = name == "weight" and self.exploration == "epsilon"
            PARAMETERS[name].check(getattr(self, name), most=1.0 if probability else None)
        if self.attraction != 1 and not self.draws:
            raise InputError(
                "attraction has no effect on a walk that takes the best neighbour; it needs "
                'exploration="ucb", or reward="vertex" and occupation="graph"',
                parameter="attraction",
                value=self.attraction,
                settings=[("exploration", "ucb"), ("reward", "vertex"), ("occupation", "graph")],
            )

    @property
    def draws(self) -> bool:
        """Whether the next node is drawn by reward, instead of taking the best."""
        counts = self.reward == "vertex" and self.occupation == "graph"
        return self.exploration == "ucb" or counts

    def exploration_weights(self, decisions: int) -> NDArray[np.float64]:
        """Return ε or α at each decision of a walk; zeros without exploration."""
        if self.exploration == "none":
            return np.zeros(decisions)
        first = self.weight
        if first is None:
            first = 0.5 if self.exploration == "epsilon" else 1.0
        from .scores import exp  # has the same bits on every machine

        progress = np.arange(decisions) / max(decisions - 1, 1)
        curves = {
            "constant": lambda: np.ones(decisions),
            "linear": lambda: 1.0 - progress,
            "exponential": lambda: np.array([exp(_LOG_OF_LAST * share) for share in progress]),
        }
        return float(min(first, _LARGEST_WEIGHT)) * curves[self.annealing]()


Walk = FirstOrderWalk | SecondOrderWalk | ReinforcedWalk


def check_walk(walk: Any) -> None:
    """Raise InputError unless `walk` is a walk with sound parameters."""
    if not isinstance(walk, (FirstOrderWalk, SecondOrderWalk, ReinforcedWalk)):
        raise InputError(
            "a walk is a ReinforcedWalk, FirstOrderWalk or SecondOrderWalk, "
            f"not {type(walk).__name__}"
        )
    walk.check()
