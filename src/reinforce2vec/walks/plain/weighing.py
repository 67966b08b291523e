"""Drawing by weighing every neighbour, or by looking up the edges to remembered nodes.

Neighbour x, seen c times, has the weight exp(s(x) / temperature) times the edge weight, where
s = Q + α U: the exploitation score Q = 1 - D, with the divergence D between the occupation vectors
before and after a step to x, and the upper confidence bound U = sqrt(log Z(u) / Z(x)).
`softmax_weight` returns it relative to an unvisited neighbour's.

On a weighted graph the unvisited neighbours share what the cap leaves of their weight, and how much
that is depends on how many neighbours were visited. A hub has many neighbours, but a walk remembers
few nodes: so the edges to these are looked up.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import draw, unit
from ..plan import MOST_PROPOSALS
from ..scores import exponent, softmax_weight
from .memory import visits
from .neighbors import arc_weight, degree_of, draw_neighbor, find_arc, row_weight

_LAST_DRAW = (1 << 31) - 1  # a number that no proposal's draw has


@compiled
def weigh_neighbors(graph, here, n, key, gamma, scores, c_u, candidates, memory):
    """Draw a neighbour from the softmax: O(degree) look-ups.

    With a cap, `candidates` > 0, so many unvisited neighbours are weighed, or one where a node has
    no more neighbours than this. They are drawn at random, so each of them has the same share of
    its weight.
    """
    first, end = graph.indptr[here], graph.indptr[here + 1]
    share, shift = 1.0, 0.0
    total = 0.0
    while True:
        unvisited, unvisited_weight, visited_weight = 0, 0.0, 0.0
        for arc in range(first, end):
            c = visits(memory, graph.indices[arc])
            weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(graph, arc)
            if c == 0:
                unvisited += 1
                unvisited_weight += weight
            else:
                visited_weight += weight
        if candidates > 0 and unvisited > 0:
            weighed = candidates if degree_of(graph, here) > candidates else 1
            share = min(weighed, unvisited) / unvisited
        total = visited_weight + share * unvisited_weight
        if 0.0 < total < np.inf:
            break
        shift = -np.inf  # weights out of range: measure them from the largest
        for arc in range(first, end):
            shift = max(shift, exponent(scores, n, c_u, visits(memory, graph.indices[arc])))
    left = unit(draw(key, gamma, n, _LAST_DRAW)) * total
    there = np.int32(-1)
    for arc in range(first, end):
        there = graph.indices[arc]
        c = visits(memory, there)
        weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(graph, arc)
        if c == 0:
            weight *= share
        if left < weight:
            break
        left -= weight
    return there


_ARCS_PER_LOOKUP = 4  # arcs that are weighed in the time that it takes to look up an edge


@compiled
def few_remembered(graph, here, memory):
    """Return whether to look up the remembered nodes, rather than all neighbours."""
    return degree_of(graph, here) >= _ARCS_PER_LOOKUP * memory.distinct[0]


@compiled
def draw_by_remembered(graph, here, n, key, gamma, drawn, unvisited, candidates, memory):
    """Draw a neighbour, or return -1 if all proposals were refused. O(distinct) look-ups of edges.

    memory.weights holds the weight of each remembered node, and `unvisited` that of an unvisited
    one, both without edge weights; `drawn` is the number of the first draw. The proposals are all
    neighbours, together with the weight of the unvisited ones times (sum of all edge weights) /
    (sum of unvisited ones' edge weights), of which visited ones are refused; and the visited
    neighbours with their own weights.
    """
    degree = degree_of(graph, here)
    fresh, visited_weight = degree, 0.0
    for place in range(memory.distinct[0]):
        arc = find_arc(graph, here, memory.nodes[place])
        if arc >= 0:
            fresh -= 1
            memory.weights[place] *= arc_weight(graph, arc)
            visited_weight += memory.weights[place]
        else:
            memory.weights[place] = 0.0
    weighed = fresh
    if candidates > 0:
        weighed = min(candidates if degree > candidates else 1, fresh)
    fresh_weight = 0.0
    if fresh > 0:
        fresh_weight = unvisited * (weighed / fresh) * row_weight(graph, here)
    for turn in range(MOST_PROPOSALS):
        left = unit(draw(key, gamma, n, drawn + 2 * turn)) * (fresh_weight + visited_weight)
        if left < fresh_weight:
            there = draw_neighbor(graph, here, draw(key, gamma, n, drawn + 2 * turn + 1))
            if visits(memory, there) == 0:
                return there
        elif visited_weight > 0.0:
            return memory.nodes[_place_at(left - fresh_weight, memory)]
    return np.int32(-1)


@compiled
def _place_at(left, memory):
    """Return the place at which the sum of weights, one of which is above 0, reaches `left`."""
    chosen = 0
    for place in range(memory.distinct[0]):
        if memory.weights[place] > 0.0:
            chosen = place
            if left < memory.weights[place]:
                break
            left -= memory.weights[place]
    return chosen
