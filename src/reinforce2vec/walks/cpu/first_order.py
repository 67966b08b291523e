"""Numba kernel of first-order walks."""

from __future__ import annotations

import numpy as np

from ..._util.compiled import kernel
from ..._util.random import draw
from .lanes import begin_walks
from .neighbors import draw_arc


@kernel
def first_order_walks(graph, weighing, batch, settings, scratch):
    """Take a neighbour by weight at each step. One draw a step, no memory."""
    walks, keys, gammas = batch.walks, batch.keys, batch.gammas
    indptr, indices = graph.indptr, graph.indices
    rows, length = walks.shape
    lanes = keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(batch, base, width)
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
