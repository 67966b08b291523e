"""Every reinforced walk but those of `open` and `capped`.

With probability ε, at decision n epsilons[n], the next node is a neighbour drawn by edge weight.
Otherwise the rule decides:

- GREEDY takes the neighbour with the best reward, which is the most visited one;
- LINEAR draws in proportion to Z(x) = 1 + visits (VRRW);
- SOFTMAX draws from the softmax of the scores, as in weighing.py.

Drawing proposes from a mixture. One part are all neighbours, each with an unvisited one's weight;
the other are the remembered nodes, each with what its weight exceeds that by. A remembered node is
refused if it is no neighbour, and a neighbour that weighs less than an unvisited one is kept with
the ratio of the two.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import draw, unit
from ..plan import GREEDY, LEAST_TOTAL, LINEAR, MOST_PROPOSALS, SOFTMAX
from ..scores import exp, exponent, softmax_weight
from .memory import begin_path, block_end, forget, remember_sorted, visits
from .neighbors import (
    arc_weight,
    degree_of,
    draw_neighbor,
    find_arc,
    largest_weight,
    patience,
    row_weight,
)
from .weighing import draw_by_remembered, few_remembered


@compiled
def reinforced_walks(graph, paths, settings, memory):
    """Take the steps of every walk."""
    for row in range(len(paths.walks)):
        key, gamma = begin_path(paths, row)
        path = paths.walks[row]
        start = path[0]
        c_u = 0  # how often the walk has been at its start
        forget(memory)
        if settings.scores.path:
            remember_sorted(memory, start)
            c_u = 1
        for n in range(path.size - 1):
            here, epsilon = path[n], settings.epsilons[n]
            if degree_of(graph, here) == 0:
                break
            if epsilon > 0.0 and unit(draw(key, gamma, n, 0)) < epsilon:
                there = draw_neighbor(graph, here, draw(key, gamma, n, 1))
            elif settings.rule == GREEDY:
                there = _greedy_step(graph, here, n, key, gamma, memory)
            else:
                there = _mixture_step(graph, here, n, key, gamma, settings, c_u, memory)
            path[n + 1] = there
            remember_sorted(memory, there)
            if there == start:
                c_u += 1


# -- greedy --------------------------------------------------------------------------------------


@compiled
def _greedy_step(graph, here, n, key, gamma, memory):
    """Take the neighbour visited most; ties are broken at random, by edge weight.

    Without any visited neighbour, all have the same reward.
    """
    bits = draw(key, gamma, n, 1)
    begin = np.int64(0)
    while begin < memory.distinct[0]:
        end = block_end(memory, begin)
        total = 0.0
        for place in range(begin, end):
            arc = find_arc(graph, here, memory.nodes[place])
            if arc >= 0:
                total += arc_weight(graph, arc)
        if total > 0.0:
            return _neighbor_in_block(graph, here, begin, end, unit(bits) * total, memory)
        begin = end
    return draw_neighbor(graph, here, bits)


@compiled
def _neighbor_in_block(graph, here, begin, end, left, memory):
    """Return the neighbour in a block of nodes at which the sum of edge weights reaches `left`."""
    chosen = np.int32(-1)
    for place in range(begin, end):
        arc = find_arc(graph, here, memory.nodes[place])
        if arc >= 0:
            chosen = memory.nodes[place]
            weight = arc_weight(graph, arc)
            if left < weight:
                break
            left -= weight
    return chosen


# -- draws ---------------------------------------------------------------------------------------


@compiled
def _weight(settings, n, c_u, c, top):
    """Return the weight of a node seen c times, over exp(top), relative to an unvisited one's."""
    if settings.rule == LINEAR:
        return (1.0 + c) * settings.scores.attraction if c > 0 else 1.0
    return softmax_weight(settings.scores, n, c_u, c, top)


@compiled
def _top_exponent(settings, n, c_u, memory):
    """Return what is subtracted from all exponents so that no weight overflows.

    It is 0 with weights that the tables hold, and otherwise the largest exponent, at least 0.
    """
    top = 0.0
    if settings.rule == SOFTMAX and memory.distinct[0] > 0:
        tabled = settings.scores.explore_table.shape[0]
        if memory.counts[0] >= tabled or c_u >= tabled:
            for place in range(memory.distinct[0]):
                top = max(top, exponent(settings.scores, n, c_u, memory.counts[place]))
    return top


@compiled
def _excess(settings, n, c_u, c, top, spared):
    """Return what the weight of a node seen c times exceeds `spared` by."""
    return max(_weight(settings, n, c_u, c, top) - spared, 0.0)


@compiled
def _mixture_step(graph, here, n, key, gamma, settings, c_u, memory):
    """Draw from the mixture until a proposal is kept, or weigh every neighbour.

    With a cap the first part is for unvisited neighbours alone and weighs `candidates` of them, and
    a remembered node has all its weight. Every neighbour is weighed if there may be fewer unvisited
    ones. On a weighted graph weighing.py draws under a cap, or every neighbour is weighed.
    """
    degree, candidates, distinct = degree_of(graph, here), settings.candidates, memory.distinct[0]
    capped = candidates > 0
    top = _top_exponent(settings, n, c_u, memory)
    unvisited = exp(-top) if top > 0.0 else 1.0
    drawn = 2  # number of the next draw
    if graph.weighted and capped:
        there = _look_up(graph, here, n, key, gamma, 3, settings, c_u, top, unvisited, memory)
        if there >= 0:
            return there
    if capped and (graph.weighted or degree <= candidates or degree - distinct < candidates):
        return _weigh_all(graph, here, n, key, gamma, drawn, settings, c_u, top, memory)
    spared = 0.0 if capped else unvisited
    heaviest = largest_weight(graph, here)
    base = unvisited * (np.float64(candidates) if capped else row_weight(graph, here))
    excess = 0.0
    begin = np.int64(0)
    while begin < distinct:
        end = block_end(memory, begin)
        excess += (end - begin) * _excess(settings, n, c_u, memory.counts[begin], top, spared)
        begin = end
    excess *= heaviest
    turns = patience(graph, here)
    for _ in range(min(turns, MOST_PROPOSALS) if graph.weighted else turns):
        left = unit(draw(key, gamma, n, drawn)) * (base + excess)
        drawn += 1
        if left < base or excess == 0.0:
            there = draw_neighbor(graph, here, draw(key, gamma, n, drawn))
            drawn += 1
            while capped and visits(memory, there) > 0:
                there = draw_neighbor(graph, here, draw(key, gamma, n, drawn))
                drawn += 1
            c = visits(memory, there)
            if c == 0:
                return there
            keep = unit(draw(key, gamma, n, drawn)) * unvisited
            drawn += 1
            if keep < _weight(settings, n, c_u, c, top):
                return there
        else:
            left = (left - base) / heaviest
            there = _remembered_at(left, settings, n, c_u, top, spared, memory)
            arc = find_arc(graph, here, there)
            if arc >= 0 and not graph.weighted:
                return there
            if arc >= 0:
                keep = unit(draw(key, gamma, n, drawn)) * heaviest
                drawn += 1
                if keep < arc_weight(graph, arc):
                    return there
    if graph.weighted:  # one edge outweighs the others by far: look up those that matter
        there = _look_up(
            graph, here, n, key, gamma, drawn + 1, settings, c_u, top, unvisited, memory
        )
        if there >= 0:
            return there
    return _weigh_all(graph, here, n, key, gamma, drawn, settings, c_u, top, memory)


@compiled
def _look_up(graph, here, n, key, gamma, drawn, settings, c_u, top, unvisited, memory):
    """Draw by the edges to remembered nodes; -1 if they are many, or all proposals were refused."""
    if not few_remembered(graph, here, memory):
        return np.int32(-1)
    for place in range(memory.distinct[0]):
        memory.weights[place] = _weight(settings, n, c_u, memory.counts[place], top)
    return draw_by_remembered(
        graph, here, n, key, gamma, drawn, unvisited, settings.candidates, memory
    )


@compiled
def _remembered_at(left, settings, n, c_u, top, spared, memory):
    """Return the remembered node at which the sum of excess weights reaches `left`."""
    begin = np.int64(0)
    while True:
        end = block_end(memory, begin)
        weight = _excess(settings, n, c_u, memory.counts[begin], top, spared)
        if left < (end - begin) * weight or end == memory.distinct[0]:
            break
        left -= (end - begin) * weight
        begin = end
    if weight > 0.0:
        ahead = left / weight  # by rounding, or if it is not finite, it may lie too far
        begin = begin + np.int64(ahead) if ahead < end - begin else end - 1
    return memory.nodes[begin]


@compiled
def _weigh_all(graph, here, n, key, gamma, drawn, settings, c_u, top, memory):
    """Draw a neighbour by weighing all: O(degree) look-ups. The cap is as in weighing.py."""
    first, end, candidates = graph.indptr[here], graph.indptr[here + 1], settings.candidates
    total, share = 0.0, 0.0
    for turn in range(2):
        unvisited, unvisited_weight, visited_weight = 0, 0.0, 0.0
        for arc in range(first, end):
            c = visits(memory, graph.indices[arc])
            if c == 0:
                unvisited += 1
                unvisited_weight += arc_weight(graph, arc)
            else:
                visited_weight += _weight(settings, n, c_u, c, top) * arc_weight(graph, arc)
        share = 0.0  # of its edge weight that an unvisited neighbour has
        if unvisited > 0:
            share = exp(-top)
            if candidates > 0:
                weighed = candidates if end - first > candidates else 1
                share *= min(weighed, unvisited) / unvisited
        total = visited_weight + unvisited_weight * share
        if turn == 1 or total > LEAST_TOTAL:
            break
        top = -np.inf  # the node that set it is no neighbour: measure from the largest of those
        for arc in range(first, end):
            top = max(top, exponent(settings.scores, n, c_u, visits(memory, graph.indices[arc])))
    left = unit(draw(key, gamma, n, drawn)) * total
    there = np.int32(-1)
    for arc in range(first, end):
        there = graph.indices[arc]
        c = visits(memory, there)
        weight = share if c == 0 else _weight(settings, n, c_u, c, top)
        weight *= arc_weight(graph, arc)
        if left < weight:
            break
        left -= weight
    return there
