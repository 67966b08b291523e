"""Numba kernel of the walks that remember, but for those of softmax.py, which are mild.

The next node is the most visited neighbour, or is drawn from a mixture of neighbours and
remembered nodes, of which one that is no neighbour is drawn again. Draws are exact, and they end:
after as many refusals as weighing every neighbour would cost, every neighbour is weighed.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined, kernel
from ..._util.random import draw, unit
from ..scores import exp, exponent, softmax_weight
from .memory import forget, remember, visits
from .neighbors import arc_weight, draw_arc, find_edge, largest_weight, row_weight
from .second_order import begin_walks, patience

GREEDY, LINEAR, SOFTMAX = 0, 1, 2


@kernel
def reinforced_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas,
    rule, epsilons, candidates, scores, start_visits, memory,
):  # fmt: skip
    """Walks with the rule GREEDY, LINEAR (weight 1 + visits) or SOFTMAX, after ε's share.

    `candidates` caps the unvisited neighbours that are weighed (0: no cap). A step that draws
    costs a few draws and look-ups, and the number of distinct visit counts, at most sqrt(2 n); a
    greedy one looks up edges to remembered nodes until one is found; under a cap on a weighted
    graph a step weighs every neighbour.
    """
    rows, length = walks.shape
    lanes = keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        for lane in range(width):
            forget(memory, lane)
            start_visits[lane] = 0
            if scores.path:
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
                if epsilons[n] > 0.0 and unit(draw(key, gamma, n, 0)) < epsilons[n]:
                    bits = draw(key, gamma, n, 1)
                    there = indices[draw_arc(begin, degree, weighing, bits)]
                elif rule == GREEDY:
                    there = greedy_step(
                        indptr, indices, weighing, directed, here, n, key, gamma, memory, lane
                    )
                else:
                    there = mixture_step(
                        indptr, indices, weighing, directed, here, n, key, gamma,
                        rule, candidates, scores, memory, lane, start_visits[lane],
                    )  # fmt: skip
                walks[row, n + 1] = there
                remember(memory, lane, there)
                start_visits[lane] += there == walks[row, 0]


@inlined
def weight_of(rule, scores, n, c_u, c, top):
    """Weight of a node seen c times, over exp(top), relative to an unvisited one's."""
    if rule == LINEAR:
        return (1.0 + c) * scores.attraction if c > 0 else 1.0
    return softmax_weight(scores, n, c_u, c, top)


@inlined
def mixture_step(
    indptr, indices, weighing, directed, here, n, key, gamma,
    rule, candidates, scores, memory, lane, c_u,
):  # fmt: skip
    """Draw from neighbours, each with an unvisited one's weight, and remembered nodes.

    Without a cap a remembered node stands in the mixture with what its weight exceeds an
    unvisited one's by, and a visited neighbour that weighs less is kept with the ratio. With a
    cap the neighbours' part is for unvisited ones alone and weighs as many as the cap allows, and
    a remembered node stands there with all its weight.
    """
    begin, degree = indptr[here], indptr[here + 1] - indptr[here]
    distinct = memory.distinct[lane]
    top = 0.0
    if rule == SOFTMAX and distinct > 0:
        tabled = scores.explore_table.shape[0]
        if memory.counts[lane, 0] >= tabled or c_u >= tabled:
            top = highest_exponent(scores, n, c_u, memory, lane)
    unvisited = exp(-top) if top > 0.0 else 1.0
    capped = candidates > 0
    if capped and (weighing is not None or degree <= candidates or degree - distinct < candidates):
        return weigh_all(
            indices, weighing, begin, degree, n, key, gamma, 2,
            rule, candidates, scores, memory, lane, c_u, top,
        )  # fmt: skip
    spared = 0.0 if capped else unvisited
    excess, block, place = 0.0, 0, np.int64(0)
    while place < distinct:
        c = np.int64(memory.counts[lane, place])
        end = np.int64(memory.at_least[lane, c])
        weight = weight_of(rule, scores, n, c_u, c, top) - spared
        memory.masses[lane, block] = max(weight, 0.0)
        excess += (end - place) * max(weight, 0.0)
        place = end
        block += 1
    heaviest = largest_weight(here, weighing)
    excess *= heaviest
    base = unvisited * (candidates if capped else row_weight(here, degree, weighing))
    drawn = 2
    for _ in range(patience(degree)):
        left = unit(draw(key, gamma, n, drawn)) * (base + excess)
        if left < base or excess == 0.0:
            while True:
                drawn += 1
                bits = draw(key, gamma, n, drawn)
                there = indices[draw_arc(begin, degree, weighing, bits)]
                c = visits(memory, lane, there)
                if not capped or c == 0:
                    break
            if c == 0:
                return there
            drawn += 1
            keep = unit(draw(key, gamma, n, drawn)) * unvisited
            if keep < weight_of(rule, scores, n, c_u, c, top):
                return there
        else:
            left = (left - base) / heaviest
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
            there = memory.nodes[lane, place]
            arc = find_edge(indptr, indices, directed, here, there)
            if arc >= 0:
                if weighing is None:
                    return there
                drawn += 1
                if unit(draw(key, gamma, n, drawn)) * heaviest < arc_weight(arc, weighing):
                    return there
        drawn += 1
    return weigh_all(
        indices, weighing, begin, degree, n, key, gamma, drawn,
        rule, candidates, scores, memory, lane, c_u, top,
    )  # fmt: skip


@kernel
def highest_exponent(scores, n, c_u, memory, lane):
    """Largest exponent among the remembered counts and an unvisited node's 0."""
    highest, place = 0.0, np.int64(0)
    while place < memory.distinct[lane]:
        c = np.int64(memory.counts[lane, place])
        highest = max(highest, exponent(scores, n, c_u, c))
        place = np.int64(memory.at_least[lane, c])
    return highest


@kernel
def weigh_all(
    indices, weighing, begin, degree, n, key, gamma, drawn,
    rule, candidates, scores, memory, lane, c_u, top,
):  # fmt: skip
    """Choose by weighing every neighbour: O(degree)."""
    fresh, fresh_weight, seen_weight = 0, 0.0, 0.0
    while True:
        for arc in range(begin, begin + degree):
            c = visits(memory, lane, indices[arc])
            if c == 0:
                fresh += 1
                fresh_weight += arc_weight(arc, weighing)
            else:
                weight = weight_of(rule, scores, n, c_u, c, top)
                seen_weight += weight * arc_weight(arc, weighing)
        share = 0.0  # weight of an unvisited neighbour under the cap
        if fresh > 0:
            share = exp(-top)
            if candidates > 0:
                share *= min(candidates if degree > candidates else 1, fresh) / fresh
        total = seen_weight + fresh_weight * share
        if total > 0.0:
            break
        # the remembered node that set `top` is no neighbour and dwarfs all that are
        top = -np.inf
        for arc in range(begin, begin + degree):
            c = visits(memory, lane, indices[arc])
            top = max(top, exponent(scores, n, c_u, c))
        fresh, fresh_weight = 0, 0.0
    left, there = unit(draw(key, gamma, n, drawn)) * total, np.int32(-1)
    for arc in range(begin, begin + degree):
        there = indices[arc]
        c = visits(memory, lane, there)
        weight = share
        if c > 0:
            weight = weight_of(rule, scores, n, c_u, c, top)
        weight *= arc_weight(arc, weighing)
        if left < weight:
            break
        left -= weight
    return there


@inlined
def greedy_step(indptr, indices, weighing, directed, here, n, key, gamma, memory, lane):
    """Take the neighbour visited most, which has the best reward; ties by weight at random.

    Remembered nodes are asked from the most visited on, block by block, until one is a neighbour.
    """
    distinct = memory.distinct[lane]
    place = np.int64(0)
    while place < distinct:
        end = np.int64(memory.at_least[lane, memory.counts[lane, place]])
        total, left, chosen = 0.0, 0.0, np.int32(-1)
        for choosing in range(2):
            for i in range(place, end):
                there = memory.nodes[lane, i]
                arc = find_edge(indptr, indices, directed, here, there)
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
    begin, degree = indptr[here], indptr[here + 1] - indptr[here]
    return indices[draw_arc(begin, degree, weighing, draw(key, gamma, n, 1))]
