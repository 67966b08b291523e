"""Numba kernel of reinforced walks, except for those with mild scores (open.py, capped.py).

The next node is the most visited neighbour, or is drawn from a mixture of neighbours and
remembered nodes; a remembered node that is no neighbour is drawn again. Draws are exact, and they
end: after as many refusals as weighing every neighbour would cost, every neighbour is weighed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined, kernel
from ..._util.intrinsics import prefetch
from ..._util.random import draw, unit
from ..plan import GREEDY, LEAST_TOTAL, LINEAR, MOST_PROPOSALS, SOFTMAX
from ..scores import exp, exponent, softmax_weight
from .memory import Memory, forget, make_memory, remember, visits
from .neighbors import (
    Decision,
    Visited,
    arc_weight,
    begin_walks,
    draw_arc,
    find_edge,
    largest_weight,
    patience,
    row_weight,
)
from .weighing import draw_by_remembered, few_remembered


class _ReinforcedScratch(NamedTuple):
    """What each lane remembers of its walk."""

    start_visits: NDArray[np.int64]
    memory: Memory
    weights: NDArray[np.float64]  # of the remembered nodes of one lane, on a weighted graph


def make_reinforced_scratch(lanes: int, length: int, n_nodes: int) -> _ReinforcedScratch:
    """Allocate scratch memory for `lanes` walks."""
    memory = make_memory(lanes, length, n_nodes)
    return _ReinforcedScratch(np.empty(lanes, np.int64), memory, np.empty(min(length, n_nodes)))


@kernel
def reinforced_walks(graph, weighing, batch, settings, scratch):
    """Take steps by the rule GREEDY, LINEAR (weight 1 + visits) or SOFTMAX, or at random with ε.

    A step that draws costs a few draws and look-ups, and the number of distinct visit counts, at
    most sqrt(2 n); a greedy one looks up edges to remembered nodes until one is found; under a cap
    on a weighted graph a step looks up the edges to all of them, or weighs every neighbour if those
    are fewer.
    """
    walks, keys, gammas = batch.walks, batch.keys, batch.gammas
    indptr, epsilons = graph.indptr, settings.epsilons
    start_visits, memory = scratch.start_visits, scratch.memory
    rows, length = walks.shape
    lanes = keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(graph, batch, base, width)
        for lane in range(width):
            forget(memory, lane)
            start_visits[lane] = 0
            if settings.scores.path:
                remember(memory, lane, walks[base + lane, 0])
                start_visits[lane] = 1
        for n in range(length - 1):
            for lane in range(width):
                row = base + lane
                here = walks[row, n]
                if here < 0 or indptr[here + 1] == indptr[here]:
                    walks[row, n + 1] = -1
                    continue
                begin, degree = indptr[here], indptr[here + 1] - indptr[here]
                key, gamma = keys[lane], gammas[lane]
                decision = Decision(here, n, key, gamma, start_visits[lane])
                if epsilons[n] > 0.0 and unit(draw(key, gamma, n, 0)) < epsilons[n]:
                    bits = draw(key, gamma, n, 1)
                    there = graph.indices[draw_arc(begin, degree, weighing, bits)]
                elif settings.rule == GREEDY:
                    there = _greedy_step(graph, weighing, decision, memory, lane)
                else:
                    there = _mixture_step(graph, weighing, decision, settings, scratch, lane)
                prefetch(graph.indptr, there)
                walks[row, n + 1] = there
                remember(memory, lane, there)
                start_visits[lane] += there == walks[row, 0]


@inlined
def _weight_of(settings, n, c_u, c, top):
    """Return the weight of a node seen c times, over exp(top), relative to an unvisited one's."""
    if settings.rule == LINEAR:
        return (1.0 + c) * settings.scores.attraction if c > 0 else 1.0
    return softmax_weight(settings.scores, n, c_u, c, top)


@inlined
def _mixture_step(graph, weighing, decision, settings, scratch, lane):
    """Draw from neighbours, each with an unvisited one's weight, and remembered nodes.

    Without a cap a remembered node stands in the mixture with what its weight exceeds an
    unvisited one's by, and a visited neighbour that weighs less is kept with the ratio. With a
    cap the neighbours' part is for unvisited ones alone and weighs as many as the cap allows, and
    a remembered node stands there with all its weight.
    """
    (here, n, key, gamma, c_u), memory = decision, scratch.memory
    begin, degree = graph.indptr[here], graph.indptr[here + 1] - graph.indptr[here]
    distinct, candidates = memory.distinct[lane], settings.candidates
    top = _top_exponent(settings, n, c_u, memory, lane)
    unvisited = exp(-top) if top > 0.0 else 1.0
    capped = candidates > 0
    if weighing is not None and capped:
        there = _draw_by_remembered(
            graph, weighing, decision, 3, settings, scratch, lane, top, unvisited
        )
        if there >= 0:
            return there
    if capped and (weighing is not None or degree <= candidates or degree - distinct < candidates):
        return _weigh_all(graph, weighing, decision, 2, settings, memory, lane, top)
    spared = 0.0 if capped else unvisited
    excess = _fill_masses(settings, n, c_u, top, spared, memory, lane)
    heaviest = largest_weight(here, weighing)
    excess *= heaviest
    base = unvisited * (candidates if capped else row_weight(here, degree, weighing))
    drawn = 2
    for _ in range(patience(degree) if weighing is None else min(patience(degree), MOST_PROPOSALS)):
        left = unit(draw(key, gamma, n, drawn)) * (base + excess)
        if left < base or excess == 0.0:
            while True:
                drawn += 1
                bits = draw(key, gamma, n, drawn)
                there = graph.indices[draw_arc(begin, degree, weighing, bits)]
                c = visits(memory, lane, there)
                if not capped or c == 0:
                    break
            if c == 0:
                return there
            drawn += 1
            keep = unit(draw(key, gamma, n, drawn)) * unvisited
            if keep < _weight_of(settings, n, c_u, c, top):
                return there
        else:
            there = _remembered_at((left - base) / heaviest, memory, lane)
            arc = find_edge(graph, here, there)
            if arc >= 0:
                if weighing is None:
                    return there
                drawn += 1
                if unit(draw(key, gamma, n, drawn)) * heaviest < arc_weight(arc, weighing):
                    return there
        drawn += 1
    if weighing is not None:  # one edge outweighs the others by far: look up those that matter
        there = _draw_by_remembered(
            graph, weighing, decision, drawn + 1, settings, scratch, lane, top, unvisited
        )
        if there >= 0:
            return there
    return _weigh_all(graph, weighing, decision, drawn, settings, memory, lane, top)


@inlined
def _draw_by_remembered(graph, weighing, decision, drawn, settings, scratch, lane, top, unvisited):
    """Draw by the edges to remembered nodes; -1 if they are many, or all proposals were refused."""
    here, memory = decision.here, scratch.memory
    degree, distinct = graph.indptr[here + 1] - graph.indptr[here], memory.distinct[lane]
    if not few_remembered(degree, distinct):
        return np.int32(-1)
    for place in range(distinct):
        c = np.int64(memory.counts[lane, place])
        scratch.weights[place] = _weight_of(settings, decision.n, decision.c_u, c, top)
    visited, candidates = Visited(memory.nodes, lane, distinct), settings.candidates
    return draw_by_remembered(
        graph, weighing, decision, drawn, visited, scratch.weights, unvisited, candidates
    )


@inlined
def _top_exponent(settings, n, c_u, memory, lane):
    """Return what to subtract from exponents: 0 where the tables hold all weights."""
    top = 0.0
    if settings.rule == SOFTMAX and memory.distinct[lane] > 0:
        tabled = settings.scores.explore_table.shape[0]
        if memory.counts[lane, 0] >= tabled or c_u >= tabled:
            top = _highest_exponent(settings.scores, n, c_u, memory, lane)
    return top


@inlined
def _fill_masses(settings, n, c_u, top, spared, memory, lane):
    """Fill `masses` with the weight of a node in each block, less `spared`; return the total."""
    distinct = memory.distinct[lane]
    excess, block, place = 0.0, 0, np.int64(0)
    while place < distinct:
        c = np.int64(memory.counts[lane, place])
        end = np.int64(memory.at_least[lane, c])
        weight = _weight_of(settings, n, c_u, c, top) - spared
        memory.masses[lane, block] = max(weight, 0.0)
        excess += (end - place) * max(weight, 0.0)
        place = end
        block += 1
    return excess


@inlined
def _remembered_at(left, memory, lane):
    """Return the remembered node at which the sum of `masses` reaches `left`."""
    distinct = memory.distinct[lane]
    place, block = np.int64(0), 0
    while True:
        end = np.int64(memory.at_least[lane, memory.counts[lane, place]])
        weight = memory.masses[lane, block]
        if left < (end - place) * weight or end == distinct:
            break
        left -= (end - place) * weight
        place = end
        block += 1
    if weight > 0.0:
        ahead = left / weight  # by rounding, or without bounds, it may lie too far
        place = place + np.int64(ahead) if ahead < end - place else end - 1
    return memory.nodes[lane, place]


@kernel
def _highest_exponent(scores, n, c_u, memory, lane):
    """Return the largest exponent among the remembered counts and an unvisited node's 0."""
    highest, place = 0.0, np.int64(0)
    while place < memory.distinct[lane]:
        c = np.int64(memory.counts[lane, place])
        highest = max(highest, exponent(scores, n, c_u, c))
        place = np.int64(memory.at_least[lane, c])
    return highest


@kernel
def _weigh_all(graph, weighing, decision, drawn, settings, memory, lane, top):
    """Choose by weighing every neighbour: O(degree)."""
    here, n, key, gamma, c_u = decision
    indices, candidates = graph.indices, settings.candidates
    begin, degree = graph.indptr[here], graph.indptr[here + 1] - graph.indptr[here]
    fresh, fresh_weight, seen_weight = 0, 0.0, 0.0
    for turn in range(2):
        for arc in range(begin, begin + degree):
            c = visits(memory, lane, indices[arc])
            if c == 0:
                fresh += 1
                fresh_weight += arc_weight(arc, weighing)
            else:
                weight = _weight_of(settings, n, c_u, c, top)
                seen_weight += weight * arc_weight(arc, weighing)
        share = 0.0  # weight of an unvisited neighbour under the cap
        if fresh > 0:
            share = exp(-top)
            if candidates > 0:
                share *= min(candidates if degree > candidates else 1, fresh) / fresh
        total = seen_weight + fresh_weight * share
        if turn == 1 or total > LEAST_TOTAL:
            break
        # the remembered node that set `top` is no neighbour and dwarfs all that are
        top = -np.inf
        for arc in range(begin, begin + degree):
            c = visits(memory, lane, indices[arc])
            top = max(top, exponent(settings.scores, n, c_u, c))
        fresh, fresh_weight, seen_weight = 0, 0.0, 0.0
    left, there = unit(draw(key, gamma, n, drawn)) * total, np.int32(-1)
    for arc in range(begin, begin + degree):
        there = indices[arc]
        c = visits(memory, lane, there)
        weight = share
        if c > 0:
            weight = _weight_of(settings, n, c_u, c, top)
        weight *= arc_weight(arc, weighing)
        if left < weight:
            break
        left -= weight
    return there


@inlined
def _greedy_step(graph, weighing, decision, memory, lane):
    """Take the neighbour visited most, which has the best reward; ties by weight at random.

    Remembered nodes are looked at from the most visited on, block by block, until one is a
    neighbour.
    """
    here, n, key, gamma, _ = decision
    distinct = memory.distinct[lane]
    place = np.int64(0)
    while place < distinct:
        end = np.int64(memory.at_least[lane, memory.counts[lane, place]])
        total, left, chosen = 0.0, 0.0, np.int32(-1)
        for choosing in range(2):
            for i in range(place, end):
                there = memory.nodes[lane, i]
                arc = find_edge(graph, here, there)
                if arc >= 0:
                    chosen = there
                    weight = arc_weight(arc, weighing)
                    if choosing == 0:
                        total += weight
                    elif left < weight:
                        break
                    else:
                        left -= weight
            if chosen < 0:
                break
            left = unit(draw(key, gamma, n, 1)) * total
        if chosen >= 0:
            return chosen
        place = end
    begin, degree = graph.indptr[here], graph.indptr[here + 1] - graph.indptr[here]
    return graph.indices[draw_arc(begin, degree, weighing, draw(key, gamma, n, 1))]
