"""What the kernels of DRRW with UCB share: looking up visits, and weighing every neighbour.

Scores are mild: all weights lie close together, so the next node is proposed and rarely refused,
and how often a walk has been somewhere is looked up only when a proposal needs it, sixteen nodes at
a time. Draws are exact, and they end: after as many refusals as weighing every neighbour would
cost, every neighbour is weighed.

A walk remembers nodes (`neighbors.Visited`) and `counts`, a row for each lane, padded to whole
blocks with -1 and 0. With counts these are the distinct nodes and how often it has been there;
without (None), the nodes as they came.

On a weighted graph the unvisited neighbours share what the cap leaves of their weight, and how much
that is depends on how many of a node's neighbours were visited. A hub has many neighbours, but a
walk remembers few nodes: so their edges are looked up, and neighbours are not.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined, inner
from ..._util.intrinsics import BLOCK, bits_set, matches
from ..._util.random import draw, unit
from ..plan import MOST_PROPOSALS
from ..scores import exponent, softmax_weight
from .neighbors import arc_weight, draw_arc, find_edge, row_bounds, row_weight


def padded(length: int) -> int:
    """Return the length of a row of `nodes`: whole blocks."""
    return -(-length // BLOCK) * BLOCK


@inlined
def times_seen(visited, counts, node):
    """Return how often a walk has been at a node: O(size / 16)."""
    if counts is not None:
        return np.int64(counts[visited.lane, np.uint64(find_place(visited, node))])
    seen = 0
    for begin in range(0, visited.size, BLOCK):
        seen += bits_set(
            matches(visited.nodes, visited.lane * visited.nodes.shape[1] + begin, node)
        )
    return seen


@inlined
def find_place(visited, node):
    """Return where a node stands among the visited ones, and their size if it does not."""
    row = visited.lane * visited.nodes.shape[1]
    for begin in range(0, visited.size, BLOCK):
        equal = matches(visited.nodes, row + begin, node)
        if equal != 0:
            return begin + bits_set((equal & -equal) - 1)
    return np.int64(visited.size)


@inner
def weigh_neighbors(graph, weighing, decision, visited, counts, scores, candidates):
    """Choose by weighing every neighbour: O(degree) look-ups. `candidates` is the cap, or 0."""
    indices, n, c_u = graph.indices, decision.n, decision.c_u
    begin, end = row_bounds(graph.indptr, decision.here)
    shift, total, share = 0.0, 0.0, 1.0
    while True:
        unvisited, seen_weight, fresh_weight, highest = 0, 0.0, 0.0, -np.inf
        for arc in range(begin, end):
            c = times_seen(visited, counts, indices[arc])
            weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(arc, weighing)
            if c == 0:
                unvisited += 1
                fresh_weight += weight
            else:
                seen_weight += weight
        if candidates > 0 and unvisited > 0:  # what the cap leaves of unvisited ones' weight
            share = min(candidates if end - begin > candidates else 1, unvisited) / unvisited
        total = seen_weight + share * fresh_weight
        if 0.0 < total < np.inf:
            break
        for arc in range(begin, end):  # weights out of range: measure them from the largest
            c = times_seen(visited, counts, indices[arc])
            highest = max(highest, exponent(scores, n, c_u, c))
        shift = highest
    bits = draw(decision.key, decision.gamma, n, (1 << 31) - 1)
    left, there = unit(bits) * total, np.int32(-1)
    for arc in range(begin, end):
        there = indices[arc]
        c = times_seen(visited, counts, there)
        weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(arc, weighing)
        if c == 0:
            weight *= share
        if left < weight:
            break
        left -= weight
    return there


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
