"""A draw on a weighted graph, by looking up the edges to remembered nodes.

The unvisited neighbours share what the cap leaves of their weight: `candidates` of them, or one
where a node has no more neighbours than this, or all without a cap, `candidates` = 0. How much that
is depends on how many neighbours were visited. A hub has many neighbours, but a walk remembers few
nodes.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import draw, unit
from ..plan import MOST_PROPOSALS
from .memory import visits
from .neighbors import arc_weight, degree_of, draw_neighbor, find_arc, row_weight

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
