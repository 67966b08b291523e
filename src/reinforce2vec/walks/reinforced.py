"""Numba kernels of the walks that remember.

Two ways to the same family. Where all weights are nearly alike (`gentle_walks`), a neighbour is
proposed and rarely refused. Elsewhere (`reinforced_walks`) the next node is drawn from a mixture
of neighbours and remembered nodes; a remembered node that is no neighbour is drawn again. Both
are exact, and both end: after as many refusals as weighing every neighbour would cost, every
neighbour is weighed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .kernels import begin_walks, patience
from .memory import forget, remember, visits
from .neighbors import arc_weight, draw_arc, find_edge, largest_weight, row_weight
from .random import draw, left_over, unit
from .scores import exp, exponent

GREEDY, LINEAR, SOFTMAX = 0, 1, 2


@njit(cache=True, inline="always", _nrt=False)
def softmax_weight(scores, n, c_u, c):  # type: ignore[no-untyped-def]
    """exp(score - score of an unvisited node) of a node seen c times."""
    tabled = scores.explore_table.shape[0]
    if c < tabled and c_u < tabled:
        return scores.exploit_table[n, c] * scores.explore_table[c_u, c]
    return exp(exponent(scores, n, c_u, c))


# -- DRRW with UCB over the whole graph's occupation ---------------------------------------------


@njit(cache=True, nogil=True, _nrt=False)
def gentle_walks(
    indptr, indices, weighing, starts, seed, first, walks, keys, gammas, scores, tops, floors,
    start_visits,
):  # type: ignore[no-untyped-def] # fmt: skip
    """A neighbour is proposed by edge weight and kept with its weight over tops[n].

    No weight exceeds tops[n], and none is below floors[n] once the start was revisited and below
    1 before: a proposal under that bound is kept without asking how often the walk has been
    there. Else the path is searched: O(n), sixteen nodes at a time. Hardly more than first order.
    """
    rows, length = walks.shape
    lanes = keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        start_visits[:] = 0
        for n in range(length - 1):
            for lane in range(width):
                row = base + lane
                here = walks[row, n]
                there = np.int32(-1)
                if here >= 0:
                    begin = indptr[here]
                    degree = indptr[here + 1] - begin
                    if degree > 0:
                        c_u = start_visits[lane]
                        bits = draw(keys[lane], gammas[lane], n, 0)
                        keep = left_over(bits, degree)
                        if weighing is not None:
                            keep = unit(draw(keys[lane], gammas[lane], n, 1))
                        if keep * tops[n] < (1.0 if c_u == 0 else floors[c_u]):
                            there = indices[draw_arc(begin, degree, weighing, bits)]
                        else:
                            there = gentle_step(
                                indices, weighing, begin, degree, walks[row], n,
                                keys[lane], gammas[lane], scores, c_u, tops[n],
                            )  # fmt: skip
                        start_visits[lane] = c_u + (there == walks[row, 0])
                walks[row, n + 1] = there


@njit(cache=True, _nrt=False)
def gentle_step(
    indices, weighing, begin, degree, path, n, key, gamma, scores, c_u, top
):  # type: ignore[no-untyped-def]
    """Propose until a neighbour is kept; the first proposal is the one the caller looked at."""
    for attempt in range(patience(degree)):
        bits = draw(key, gamma, n, 2 * attempt)
        there = indices[draw_arc(begin, degree, weighing, bits)]
        keep = left_over(bits, degree)
        if weighing is not None:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 2 * attempt + 1))
        if keep * top < softmax_weight(scores, n, c_u, times_in_path(path, n, there)):
            return there
    highest = -np.inf
    for arc in range(begin, begin + degree):
        c = times_in_path(path, n, indices[arc])
        highest = max(highest, exponent(scores, n, c_u, c))
    total, left, there = 0.0, 0.0, np.int32(-1)
    for choosing in range(2):  # weigh every neighbour, then choose
        for arc in range(begin, begin + degree):
            there = indices[arc]
            c = times_in_path(path, n, there)
            weight = exp(exponent(scores, n, c_u, c) - highest) * arc_weight(arc, weighing)
            if choosing == 0:
                total += weight
            elif left < weight:
                break
            else:
                left -= weight
        left = unit(draw(key, gamma, n, 2 * patience(degree))) * total
    return there


@njit(cache=True, inline="always", _nrt=False)
def times_in_path(path, n, node):  # type: ignore[no-untyped-def]
    """How often a node stands in X(1), ..., X(n)."""
    seen = 0
    for s in range(1, n + 1):
        seen += path[s] == node
    return seen


# -- every other reinforced walk -----------------------------------------------------------------


@njit(cache=True, nogil=True, _nrt=False)
def reinforced_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas,
    rule, epsilons, candidates, scores, start_visits, memory,
):  # type: ignore[no-untyped-def] # fmt: skip
    """Walks with the rule GREEDY, LINEAR (weight 1 + visits) or SOFTMAX, after ε's share.

    `candidates` caps the unvisited neighbours that are weighed (0: no cap). A step costs a few
    draws and look-ups, and the number of distinct visit counts, at most sqrt(2 n).
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


@njit(cache=True, inline="always", _nrt=False)
def weight_of(rule, scores, n, c_u, c, top):  # type: ignore[no-untyped-def]
    """Weight of a node seen c times, over exp(top), relative to an unvisited one's."""
    if rule == LINEAR:
        return 1.0 + c
    if top == 0.0:
        return softmax_weight(scores, n, c_u, c)
    return exp(exponent(scores, n, c_u, c) - top)


@njit(cache=True, inline="always", _nrt=False)
def mixture_step(
    indptr, indices, weighing, directed, here, n, key, gamma,
    rule, candidates, scores, memory, lane, c_u,
):  # type: ignore[no-untyped-def] # fmt: skip
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
    if capped and (
        weighing is not None
        or degree <= candidates
        or degree - distinct < candidates
    ):
        return weigh_all(
            indices, weighing, begin, degree, n, key, gamma, 2,
            rule, candidates, scores, memory, lane, c_u,
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
                place = min(place + np.int64(left / weight), end - 1)
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
        rule, candidates, scores, memory, lane, c_u,
    )  # fmt: skip


@njit(cache=True, _nrt=False)
def highest_exponent(scores, n, c_u, memory, lane):  # type: ignore[no-untyped-def]
    """Largest exponent among the remembered counts and an unvisited node's 0."""
    highest, place = 0.0, np.int64(0)
    while place < memory.distinct[lane]:
        c = np.int64(memory.counts[lane, place])
        highest = max(highest, exponent(scores, n, c_u, c))
        place = np.int64(memory.at_least[lane, c])
    return highest


@njit(cache=True, _nrt=False)
def weigh_all(
    indices, weighing, begin, degree, n, key, gamma, drawn,
    rule, candidates, scores, memory, lane, c_u,
):  # type: ignore[no-untyped-def] # fmt: skip
    """Choose by weighing every neighbour: O(degree)."""
    highest, unvisited = -np.inf, 0
    for arc in range(begin, begin + degree):
        c = visits(memory, lane, indices[arc])
        unvisited += c == 0
        if rule == SOFTMAX:
            highest = max(highest, exponent(scores, n, c_u, c))
    share = 1.0  # of its weight that an unvisited neighbour keeps under the cap
    if candidates > 0 and unvisited > 0:
        share = min(candidates if degree > candidates else 1, unvisited) / unvisited
    total, left, there = 0.0, 0.0, np.int32(-1)
    for choosing in range(2):
        for arc in range(begin, begin + degree):
            there = indices[arc]
            c = visits(memory, lane, there)
            weight = 1.0 + c
            if rule == SOFTMAX:
                weight = exp(exponent(scores, n, c_u, c) - highest)
            weight *= arc_weight(arc, weighing)
            if c == 0:
                weight *= share
            if choosing == 0:
                total += weight
            elif left < weight:
                break
            else:
                left -= weight
        left = unit(draw(key, gamma, n, drawn)) * total
    return there


@njit(cache=True, inline="always", _nrt=False)
def greedy_step(
    indptr, indices, weighing, directed, here, n, key, gamma, memory, lane
):  # type: ignore[no-untyped-def]
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
