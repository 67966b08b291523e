"""Numba kernels of first- and second-order walks; reinforced.py has those that remember.

A kernel fills `walks` (rows, length) with walks number first, first + 1, ...; walk k starts at
starts[k % len(starts)]. Several walks advance in turn, one `lane` each: while one waits for
memory the others' instructions run, which is worth a factor of two to four. Kernels allocate
nothing and count no references (`_nrt=False`): shared reference counts would cost tenfold.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined, kernel
from ..._util.random import draw, left_over, stream, unit
from .neighbors import arc_weight, draw_arc, find_edge, row_weight


@inlined
def begin_walks(starts, seed, first, walks, base, width, keys, gammas):
    """Put `width` walks from row `base` on at their starts and give each its random stream."""
    for lane in range(width):
        k = first + base + lane
        walks[base + lane, 0] = starts[k % starts.size]
        keys[lane], gammas[lane] = stream(seed, k)


@inlined
def patience(degree):
    """How many proposals to try before weighing every neighbour: about what that would cost."""
    return 8 + degree // 8


@kernel
def first_order_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas
):
    """Each step a neighbour by weight. One draw a step, no memory."""
    rows, length = walks.shape
    lanes = keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        for n in range(length - 1):
            for lane in range(width):
                here = walks[base + lane, n]
                there = np.int32(-1)
                if here >= 0:
                    begin = indptr[here]
                    degree = indptr[here + 1] - begin
                    if degree > 0:
                        bits = draw(keys[lane], gammas[lane], n, 0)
                        there = indices[draw_arc(begin, degree, weighing, bits)]
                walks[base + lane, n + 1] = there


@kernel
def second_order_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas, p, q
):
    """node2vec's walk by rejection. About one draw and one look-up of an edge a step."""
    rows, length = walks.shape
    lanes = keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        for n in range(length - 1):
            for lane in range(width):
                row = base + lane
                here = walks[row, n]
                there = np.int32(-1)
                if here >= 0 and indptr[here + 1] > indptr[here]:
                    before = walks[row, n - 1] if n > 0 else np.int32(-1)
                    there = second_order_step(
                        indptr, indices, weighing, directed, before, here, n,
                        keys[lane], gammas[lane], 1.0 / p, 1.0 / q,
                    )  # fmt: skip
                walks[row, n + 1] = there


@kernel
def second_order_step(
    indptr, indices, weighing, directed, before, here, n, key, gamma, turn_back, stray
):
    """One step from `here`, come from `before` (-1: none), with turn_back = 1/p and stray = 1/q.

    A neighbour is proposed by weight and kept with its bias over the largest bias of neighbours
    other than `before`; where 1/p is larger still, the rest of it is a proposal of its own.
    """
    begin, degree = indptr[here], indptr[here + 1] - indptr[here]
    if before < 0:
        return indices[draw_arc(begin, degree, weighing, draw(key, gamma, n, 0))]
    most, least = max(1.0, stray), min(1.0, stray)
    base = row_weight(here, degree, weighing) * most
    extra = 0.0
    if turn_back > most:
        arc = find_edge(indptr, indices, directed, here, before)
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
            linked = find_edge(indptr, indices, directed, before, there) >= 0
            if keep < (1.0 if linked else stray):
                return there
    total, left, there = 0.0, 0.0, np.int32(-1)
    for choosing in range(2):  # weigh every neighbour, then choose
        for arc in range(begin, begin + degree):
            there = indices[arc]
            bias = turn_back
            if there != before:
                linked = find_edge(indptr, indices, directed, before, there) >= 0
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
