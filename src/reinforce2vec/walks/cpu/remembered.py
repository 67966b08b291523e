"""A draw on a weighted graph, by looking up the edges to remembered nodes.

The unvisited neighbours share what the cap leaves of their weight, and how much that is depends on
how many of a node's neighbours were visited. A hub has many neighbours, but a walk remembers few
nodes: so their edges are looked up, and neighbours are not.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined, inner
from ..._util.random import draw, unit
from ..plan import MOST_PROPOSALS
from .neighbors import arc_weight, draw_arc, find_edge, row_bounds, row_weight

_ARCS_PER_LOOKUP = 4  # arcs that are weighed in the time that it takes to look up an edge


@inlined
def few_remembered(degree, size):
    """Return whether to look up `size` remembered nodes, rather than all neighbours."""
    return degree >= _ARCS_PER_LOOKUP * size


@inner
def draw_by_remembered(graph, weighing, decision, drawn, visited, weights, unvisited, candidates):
    """Draw a neighbour, or return -1 if all proposals were refused. O(size) look-ups of edges.

    `weights` holds the weight of each remembered node, and `unvisited` that of an unvisited one,
    both without edge weights; `drawn` is the number of the first draw. Visited neighbours are
    proposed with their weights, and all neighbours with the edge weights that the cap leaves to
    unvisited ones (all, if `candidates` is 0); of the latter a visited one is refused. Nothing is
    subtracted, so that no rounding can make a weight negative.
    """
    here, n, key, gamma, _ = decision
    nodes, lane, size = visited
    begin, end = row_bounds(graph.indptr, here)
    degree, total = end - begin, row_weight(here, end - begin, weighing)
    fresh, seen_weight = degree, 0.0
    for place in range(size):
        arc = find_edge(graph, here, nodes[lane, np.uint64(place)])
        if arc >= 0:
            fresh -= 1
            weights[place] *= arc_weight(arc, weighing)
            seen_weight += weights[place]
        else:
            weights[place] = 0.0
    weighed = fresh
    if candidates > 0:
        weighed = min(candidates if degree > candidates else 1, fresh)
    fresh_weight = 0.0
    if fresh > 0:
        fresh_weight = unvisited * (weighed / fresh) * total
    for turn in range(MOST_PROPOSALS):
        left = unit(draw(key, gamma, n, drawn + 2 * turn)) * (fresh_weight + seen_weight)
        if left < fresh_weight:
            bits = draw(key, gamma, n, drawn + 2 * turn + 1)
            there = graph.indices[np.uint64(draw_arc(begin, degree, weighing, bits))]
            if not _is_remembered(visited, there):
                return there
        elif seen_weight > 0.0:
            return nodes[lane, np.uint64(_place_at(left - fresh_weight, weights, size))]
    return np.int32(-1)


@inlined
def _is_remembered(visited, node):
    is_there = False
    for place in range(visited.size):
        is_there |= visited.nodes[visited.lane, np.uint64(place)] == node
    return is_there


@inlined
def _place_at(left, weights, size):
    """Return the place at which the sum of weights, one of which is above 0, reaches `left`."""
    chosen = 0
    for place in range(size):
        if weights[place] > 0.0:
            chosen = place
            if left < weights[place]:
                break
            left -= weights[place]
    return chosen
