"""What the kernels of DRRW with UCB share: looking up visits, and weighing every neighbour.

Scores are mild: all weights lie close together, so the next node is proposed and rarely refused,
and how often a walk has been somewhere is looked up only when a proposal needs it, sixteen nodes at
a time. Draws are exact, and they end: after as many refusals as weighing every neighbour would
cost, every neighbour is weighed.

A walk remembers nodes (`lanes.Visited`) and `counts`, a row for each lane, padded to whole blocks
with -1 and 0. With counts these are the distinct nodes and how often it has been there; without
(None), the nodes as they came.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined, inner
from ..._util.intrinsics import BLOCK, bits_set, matches
from ..._util.random import draw, unit
from ..scores import exponent, softmax_weight
from .neighbors import arc_weight, row_bounds


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
