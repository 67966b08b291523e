"""Which kernel makes which walks, with which tables and how much scratch memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._util.intrinsics import BLOCK
from ..graph import Graph
from . import scores as scoring
from .cpu.memory import bytes_per_walk, make_memory
from .cpu.reinforced import GREEDY, LINEAR, SOFTMAX, reinforced_walks
from .cpu.second_order import first_order_walks, second_order_walks
from .cpu.softmax import capped_walks, open_walks
from .policy import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk, Walk

LANES = 32  # walks that advance in turn
LONGEST_RECALLED = 1024  # on longer walks it pays to count visits under a cap as they happen
MILD = 8.0  # so many times an unvisited node's weight, scores are not mild any more
LANE_BYTES = 4 << 20  # what they may remember together


class Plan(NamedTuple):
    """How to make walks of one kind and length on one graph."""

    kernel: Callable[..., None]
    lanes: int
    settings: tuple[Any, ...]  # what the walks have in common
    scratch: Callable[[], tuple[Any, ...]]  # what each thread writes to


def plan_for(graph: Graph, walk: Walk, length: int) -> Plan:
    """Choose the kernel for a walk and fill its tables."""
    if isinstance(walk, FirstOrderWalk):
        return Plan(first_order_walks, LANES, (), tuple)
    if isinstance(walk, SecondOrderWalk):
        return Plan(second_order_walks, LANES, (within_range(walk.p), within_range(walk.q)), tuple)
    if walk.exploration == "ucb" and walk.reward != "vertex":
        mild = plan_softmax(graph, walk, length)
        if mild is not None:
            return mild
    return plan_reinforced(graph, walk, length)


def plan_softmax(graph: Graph, walk: ReinforcedWalk, length: int) -> Plan | None:
    """DRRW with UCB where scores are mild, and what was visited is found quickly enough."""
    scores = make_scores(graph, walk, walk.exploration_weights(max(length - 1, 1)))
    tops, floors = scoring.softmax_bounds(scores)
    if tops.max() > MILD or (walk.candidates and length > LONGEST_RECALLED):
        return None
    padded = -(-length // BLOCK) * BLOCK
    lanes = lanes_for(8 * padded)

    def scratch() -> tuple[Any, ...]:
        return np.empty(lanes, np.int64), np.empty((lanes, padded), np.int32)

    if not walk.candidates:
        return Plan(open_walks, lanes, (scores, tops, floors), scratch)

    def capped_scratch() -> tuple[Any, ...]:
        counts = np.empty((lanes, padded), np.int32)
        sizes, places, windows = np.empty((3, lanes), np.int64)
        lists = np.empty((4, lanes + 1), np.uint32)
        offers, sought = np.empty(lanes, np.int32), np.empty((2, lanes), np.int32)
        lefts = np.empty(lanes, np.float64)
        return *scratch(), counts, sizes, places, lists, offers, sought, windows, lefts

    return Plan(capped_walks, lanes, (scores, tops, cap_of(walk)), capped_scratch)


def plan_reinforced(graph: Graph, walk: ReinforcedWalk, length: int) -> Plan:
    """Every other reinforced walk: visits are counted as they happen."""
    decisions = max(length - 1, 1)
    weights, nothing = walk.exploration_weights(decisions), np.zeros(decisions)
    if walk.exploration == "ucb":
        rule, alphas, epsilons = SOFTMAX, weights, nothing
    else:
        rule, alphas, epsilons = LINEAR if walk.draws else GREEDY, nothing, weights
    settings = (rule, epsilons, cap_of(walk), make_scores(graph, walk, alphas))
    lanes = lanes_for(bytes_per_walk(length, graph.n_nodes))

    def scratch() -> tuple[Any, ...]:
        return np.empty(lanes, np.int64), make_memory(lanes, length, graph.n_nodes)

    return Plan(reinforced_walks, lanes, settings, scratch)


def make_scores(graph: Graph, walk: ReinforcedWalk, alphas: Any) -> scoring.Scores:
    """The score tables of a walk."""
    path = walk.occupation == "path"
    temperature, attraction = within_range(walk.temperature), float(walk.attraction)
    return scoring.make_scores(walk.reward, path, temperature, attraction, alphas, graph.n_nodes)


def cap_of(walk: ReinforcedWalk) -> int:
    """How many unvisited neighbours are weighed at most; 0 for no cap."""
    return min(int(walk.candidates or 0), 2**31 - 1)


def lanes_for(bytes_per_walk: int) -> int:
    """How many walks advance in turn, if each remembers so much."""
    return max(1, min(LANES, LANE_BYTES // bytes_per_walk))


def within_range(parameter: float) -> float:
    """A parameter that divides; beyond these bounds it changes nothing but can overflow."""
    return float(min(max(parameter, 1e-12), 1e12))
