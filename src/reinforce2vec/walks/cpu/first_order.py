"""Numba kernel of first-order walks."""

from __future__ import annotations

import numpy as np

from ..._util.compiled import kernel
from ..._util.intrinsics import prefetch
from .neighbors import begin_walks, draw_ahead, draw_arc, row_bounds


@kernel
def first_order_walks(graph, weighing, batch, settings, scratch):
    """Take a neighbour by weight at each step. One draw a step, no memory."""
    walks = batch.walks
    rows, length = walks.shape
    lanes = batch.keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(graph, batch, base, width)
        for n in range(length - 1):
            draw_ahead(graph, weighing, batch, base, width, n)
            for lane in range(width):
                here = walks[base + lane, n]
                there = np.int32(-1)
                if here >= 0:
                    begin, end = row_bounds(graph.indptr, here)
                    if begin < end:
                        arc = draw_arc(begin, end - begin, weighing, batch.bits[lane])
                        there = graph.indices[np.uint64(arc)]
                        prefetch(graph.indptr, there)
                walks[base + lane, n + 1] = there
