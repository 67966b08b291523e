"""Numba kernel of second-order walks: node2vec's, by rejection."""

from __future__ import annotations

import numpy as np

from ..._util.compiled import kernel
from ..._util.intrinsics import prefetch
from ..._util.random import draw, left_over, unit
from .neighbors import (
    arc_weight,
    begin_walks,
    draw_ahead,
    draw_arc,
    find_edge,
    patience,
    row_weight,
)


@kernel
def second_order_walks(graph, weighing, batch, settings, scratch):
    """Take node2vec's steps. About one draw and one look-up of an edge a step."""
    walks, keys, gammas, indptr = batch.walks, batch.keys, batch.gammas, graph.indptr
    rows, length = walks.shape
    lanes = keys.size
    turn_back, stray = 1.0 / settings.p, 1.0 / settings.q
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(graph, batch, base, width)
        for n in range(length - 1):
            draw_ahead(graph, weighing, batch, base, width, n)
            for lane in range(width):
                row = base + lane
                here = walks[row, n]
                there = np.int32(-1)
                if here >= 0 and indptr[here + 1] > indptr[here]:
                    before = walks[row, n - 1] if n > 0 else np.int32(-1)
                    there = _second_order_step(
                        graph, weighing, before, here, n, keys[lane], gammas[lane], turn_back, stray
                    )
                    prefetch(graph.indptr, there)
                walks[row, n + 1] = there


@kernel
def _second_order_step(graph, weighing, before, here, n, key, gamma, turn_back, stray):
    """Take one step from `here`, come from `before` (-1: none); turn_back = 1/p, stray = 1/q.

    A neighbour is proposed by weight and kept with its bias over the largest bias of neighbours
    other than `before`; where 1/p is larger still, the rest of it is a proposal of its own.
    """
    indices = graph.indices
    begin, degree = graph.indptr[here], graph.indptr[here + 1] - graph.indptr[here]
    if before < 0:
        return indices[draw_arc(begin, degree, weighing, draw(key, gamma, n, 0))]
    most, least = max(1.0, stray), min(1.0, stray)
    base = row_weight(here, degree, weighing) * most
    extra = 0.0
    if turn_back > most:
        arc = find_edge(graph, here, before)
        if arc >= 0:
            extra = (turn_back - most) * arc_weight(arc, weighing)
    for attempt in range(patience(degree)):
        if extra > 0.0 and unit(draw(key, gamma, n, 3 * attempt + 1)) * (base + extra) >= base:
            return before
        bits = draw(key, gamma, n, 3 * attempt)
        there = indices[draw_arc(begin, degree, weighing, bits)]
        keep = left_over(bits, degree)
        if weighing is not None:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 3 * attempt + 2))
        keep *= most
        if there == before:
            if keep < turn_back:
                return there
        elif keep < least:
            return there
        else:
            linked = find_edge(graph, before, there) >= 0
            if keep < (1.0 if linked else stray):
                return there
    total, left, there = 0.0, 0.0, np.int32(-1)
    for choosing in range(2):  # weigh every neighbour, then choose
        for arc in range(begin, begin + degree):
            there = indices[arc]
            bias = turn_back
            if there != before:
                linked = find_edge(graph, before, there) >= 0
                bias = 1.0 if linked else stray
            bias *= arc_weight(arc, weighing)
            if choosing == 0:
                total += bias
            elif left < bias:
                break
            else:
                left -= bias
        left = unit(draw(key, gamma, n, 3 * patience(degree))) * total
    return there
