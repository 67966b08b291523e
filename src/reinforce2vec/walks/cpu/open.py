"""Numba kernel of DRRW with UCB and mild scores, with every neighbour a candidate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inner, kernel
from ..._util.intrinsics import prefetch
from ..._util.random import draw, left_over, unit
from ..scores import softmax_weight
from .neighbors import Decision, Visited, begin_walks, draw_ahead, draw_arc, patience, row_bounds
from .weighing import padded, times_seen, weigh_neighbors


class _OpenScratch(NamedTuple):
    """What each lane remembers of its walk."""

    start_visits: NDArray[np.int64]
    nodes: NDArray[np.int32]  # as they came


def make_open_scratch(lanes: int, length: int) -> _OpenScratch:
    """Allocate scratch memory for `lanes` walks."""
    return _OpenScratch(np.empty(lanes, np.int64), np.empty((lanes, padded(length)), np.int32))


@kernel
def open_walks(graph, weighing, batch, settings, scratch):
    """Take steps with little more than one draw each.

    Relative to an unvisited node's, no weight exceeds tops[n] or is below floors[c_u]: under that
    share a proposal is kept without looking up how often the walk has been there.
    """
    walks, keys, gammas = batch.walks, batch.keys, batch.gammas
    start_visits, nodes = scratch.start_visits, scratch.nodes
    rows, length = walks.shape
    lanes = keys.size
    since = 0 if settings.scores.path else 1  # the first step that counts
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(graph, batch, base, width)
        nodes[:] = -1
        for lane in range(width):
            start_visits[lane] = 1 - since
            if settings.scores.path:
                nodes[lane, 0] = walks[base + lane, 0]
        for n in range(length - 1):
            draw_ahead(graph, weighing, batch, base, width, n)
            for lane in range(width):
                here = walks[base + lane, n]
                there = np.int32(-1)
                if here >= 0:
                    begin, end = row_bounds(graph.indptr, here)
                    degree = end - begin
                    if degree > 0:
                        c_u = start_visits[lane]
                        bits = batch.bits[lane]
                        keep = left_over(bits, degree)
                        if weighing is not None:
                            keep = unit(draw(keys[lane], gammas[lane], n, 1))
                        if keep * settings.tops[n] < settings.floors[np.uint64(c_u)]:
                            arc = draw_arc(begin, degree, weighing, bits)
                            there = graph.indices[np.uint64(arc)]
                        else:
                            decision = Decision(here, n, keys[lane], gammas[lane], c_u)
                            visited = Visited(nodes, lane, n + 1 - since)
                            there = _open_step(graph, weighing, decision, visited, settings)
                        prefetch(graph.indptr, there)
                        start_visits[lane] = c_u + (there == walks[base + lane, 0])
                nodes[lane, n + 1 - since] = there
                walks[base + lane, n + 1] = there


@inner
def _open_step(graph, weighing, decision, visited, settings):
    """Propose until a neighbour is kept; the first proposal is the one the caller looked at."""
    here, n, key, gamma, c_u = decision
    scores, top = settings.scores, settings.tops[n]
    begin, end = row_bounds(graph.indptr, here)
    for attempt in range(patience(end - begin)):
        bits = draw(key, gamma, n, 2 * attempt)
        there = graph.indices[draw_arc(begin, end - begin, weighing, bits)]
        keep = left_over(bits, end - begin)
        if weighing is not None:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 2 * attempt + 1))
        c = times_seen(visited, None, there)
        if keep * top < softmax_weight(scores, n, c_u, c, 0.0):
            return there
    return weigh_neighbors(graph, weighing, decision, visited, None, scores, 0)
