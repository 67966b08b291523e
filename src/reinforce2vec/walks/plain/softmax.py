"""What `open` and `capped` share: drawing from the softmax by weighing every neighbour.

Neighbour x, seen c times, has the weight exp(s(x) / temperature) times the edge weight, where
s = Q + α U: the exploitation score Q = 1 - D, with the divergence D between the occupation vectors
before and after a step to x, and the upper confidence bound U = sqrt(log Z(u) / Z(x)).
`softmax_weight` returns it relative to an unvisited neighbour's.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import draw, unit
from ..scores import exponent, softmax_weight
from .memory import visits
from .neighbors import arc_weight, degree_of

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
