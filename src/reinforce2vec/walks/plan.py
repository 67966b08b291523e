"""From a walk to plain data: which kernel makes it, and the tables that the kernel looks up."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from . import scores as scoring
from .policy import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk, Walk
from .scores import Scores

_LONGEST_RECALLED = 1024  # on longer walks it is faster to count visits under a cap as they happen
MOST_PROPOSALS = 64  # that are refused before what else there is to choose from is looked up
LEAST_TOTAL = 1e-290  # of weights that are summed: parts of a smaller total lose digits
_MILD = 8.0  # the largest weight, relative to an unvisited node's, for which proposing is fast

# how a ReinforcedWalk without mild scores takes its next node: the rules of Kernel.REINFORCED
GREEDY = 0  # the most visited neighbour
LINEAR = 1  # drawn with weight 1 + visits
SOFTMAX = 2  # drawn from the softmax of the scores


class Kernel(Enum):
    """A sampling algorithm. Every backend has it in a file of this name: open.py, open.cu, ...

    DRRW has the reward "js" or "kl". Its scores are mild if at every decision the upper bound of a
    candidate's weight, relative to an unvisited node's (`softmax_bounds`), is at most _MILD.
    """

    FIRST_ORDER = "first_order"  # no memory
    SECOND_ORDER = "second_order"  # remembers one node
    OPEN = "open"  # DRRW with UCB and mild scores; every neighbour is a candidate
    CAPPED = "capped"  # the same with a cap on unvisited ones, up to length _LONGEST_RECALLED
    REINFORCED = "reinforced"  # every other walk that remembers its path


class FirstOrderSettings(NamedTuple):
    """First-order walks have no parameters."""


class SecondOrderSettings(NamedTuple):
    """Parameters of node2vec's walk."""

    p: float
    q: float


class OpenSettings(NamedTuple):
    """Scores, and bounds of a candidate's weight relative to an unvisited one's."""

    scores: Scores
    tops: NDArray[np.float64]  # by n: upper bounds
    floors: NDArray[np.float64]  # by c_u: lower bounds


class CappedSettings(NamedTuple):
    """Scores, upper bounds of a candidate's weight, and the cap."""

    scores: Scores
    tops: NDArray[np.float64]  # by n
    candidates: int  # how many unvisited neighbours are weighed at most


class ReinforcedSettings(NamedTuple):
    """How the next node is taken, the chance of a random one, the cap, and scores."""

    rule: int  # GREEDY, LINEAR or SOFTMAX
    epsilons: NDArray[np.float64]  # by n
    candidates: int  # how many unvisited neighbours are weighed at most; 0: all
    scores: Scores


KernelSettings = (
    FirstOrderSettings | SecondOrderSettings | OpenSettings | CappedSettings | ReinforcedSettings
)


class Plan(NamedTuple):
    """How to make walks of one kind and length on one graph."""

    kernel: Kernel
    settings: KernelSettings  # in the order in which kernels take them


class Task(NamedTuple):
    """All that a backend needs to make walks.

    Walk k, for k from 0 to n_walks - 1, starts at starts[k % len(starts)].
    """

    graph: Graph
    starts: NDArray[np.int32]
    seed: int
    length: int
    n_walks: int
    plan: Plan


def graph_of_walks(graph: Graph) -> Graph:
    """Return a graph with what walks need: not its weights, which `alias` has, nor objects."""
    numbers = graph.ids if graph.ids.dtype == np.int64 else np.arange(graph.n_nodes)
    lean = replace(graph, weights=None, ids=numbers, notes=(), sides=None)
    lean.__dict__["alias"] = graph.alias
    return lean


def plan_for(graph: Graph, walk: Walk, length: int) -> Plan:
    """Choose the kernel for a walk and fill its tables."""
    if isinstance(walk, FirstOrderWalk):
        return Plan(Kernel.FIRST_ORDER, FirstOrderSettings())
    if isinstance(walk, SecondOrderWalk):
        settings = SecondOrderSettings(_within_range(walk.p), _within_range(walk.q))
        return Plan(Kernel.SECOND_ORDER, settings)
    if walk.exploration == "ucb" and walk.reward != "vertex":
        mild = _plan_mild(graph, walk, length)
        if mild is not None:
            return mild
    return _plan_reinforced(graph, walk, length)


def _plan_mild(graph: Graph, walk: ReinforcedWalk, length: int) -> Plan | None:
    """Plan DRRW with UCB if scores are mild and visited nodes are found quickly enough."""
    scores = _make_scores(graph, walk, walk.exploration_weights(max(length - 1, 1)))
    tops, floors = scoring.softmax_bounds(scores)
    if tops.max() > _MILD or (walk.candidates and length > _LONGEST_RECALLED):
        return None
    if not walk.candidates:
        return Plan(Kernel.OPEN, OpenSettings(scores, tops, floors))
    return Plan(Kernel.CAPPED, CappedSettings(scores, tops, _cap_of(walk)))


def _plan_reinforced(graph: Graph, walk: ReinforcedWalk, length: int) -> Plan:
    """Plan any reinforced walk: its visits are counted as they happen."""
    decisions = max(length - 1, 1)
    weights, zeros = walk.exploration_weights(decisions), np.zeros(decisions)
    if walk.exploration == "ucb":
        rule, alphas, epsilons = SOFTMAX, weights, zeros
    else:
        rule, alphas, epsilons = LINEAR if walk.draws else GREEDY, zeros, weights
    scores = _make_scores(graph, walk, alphas)
    return Plan(Kernel.REINFORCED, ReinforcedSettings(rule, epsilons, _cap_of(walk), scores))


def _make_scores(graph: Graph, walk: ReinforcedWalk, alphas: Any) -> Scores:
    path = walk.occupation == "path"
    temperature, attraction = _within_range(walk.temperature), float(walk.attraction)
    return scoring.make_scores(walk.reward, path, temperature, attraction, alphas, graph.n_nodes)


def _cap_of(walk: ReinforcedWalk) -> int:
    """Return how many unvisited neighbours are weighed at most; 0 for no cap."""
    return min(int(walk.candidates or 0), 2**31 - 1)


def _within_range(parameter: float) -> float:
    """Return a divisor within bounds, beyond which it changes nothing but can overflow."""
    return float(min(max(parameter, 1e-12), 1e12))
