"""Numba kernels of LINE: edges are drawn by weight and trained on, a few at once.

To draw an edge i -> j by weight is to draw j by the weight of all edges that lead there, and then i
among those by weight. So j, the centre, is drawn once, with its negatives, and several sources i
for it: the step is the small dense product of skip-gram. A centre with few neighbours has no more
sources than these, lest one edge should count many times in a step, and is drawn the more often:
every edge has its right chance.
"""

from __future__ import annotations

import math

import numpy as np

from ..._util.compiled import inlined, kernel
from ..._util.random import draw, stream
from ...skipgram.cpu.kernels import (
    AHEAD,
    BATCH,
    LEAST_RATE,
    TRAINING,
    draw_targets,
    fetch,
    train_window,
)
from ...skipgram.cpu.lanes import GROUP_LABELS, set_labels
from ...skipgram.cpu.simd import LANES
from ...walks.cpu.neighbors import draw_arc, row_bounds

SHARING = BATCH  # edges, at most, that lead to one centre and share its negatives


@inlined
def draw_centres(chances, count, key, gamma, stride, centres):
    """Offsets of nodes that edges lead to, each drawn by its chance."""
    for at in range(count):
        node = draw_arc(0, chances[0].size, chances, draw(key, gamma, at, 0))
        centres[np.uint64(at)] = np.int64(node) * stride


@inlined
def draw_sources(
    indptr, indices, weighing, centres, count, key, gamma, after, stride, sources, sizes
):
    """Offsets of nodes with an edge to each centre, drawn by weight, and how many."""
    for at in range(count):
        begin, end = row_bounds(indptr, centres[np.uint64(at)] // stride)
        sizes[np.uint64(at)] = min(end - begin, SHARING)
        for i in range(min(end - begin, SHARING)):
            bits = draw(key, gamma, at, after + i)
            arc = draw_arc(begin, end - begin, weighing, bits)
            sources[np.uint64(at * SHARING + i)] = np.int64(indices[np.uint64(arc)]) * stride


@kernel
def draw_edges(
    block, count, seed, indptr, indices, weighing, chances, noise, negatives, stride, centres,
    sources, sizes, targets, width,
):  # fmt: skip
    """All that is drawn at random for a block of `count` centres: a function of its number.

    Row j of the adjacency holds the nodes with an edge to j; `chances` is the alias table of all
    centres. Writes the centres, up to SHARING sources of each and how many, and `width` targets of
    each: the centre, its negatives, and itself again in place of none.
    """
    key, gamma = stream(seed ^ TRAINING, block)
    draw_centres(chances, count, key, gamma, stride, centres)
    draw_targets(noise, centres, 0, count, key, gamma, negatives, stride, targets, width)
    draw_sources(
        indptr,
        indices,
        weighing,
        centres,
        count,
        key,
        gamma,
        negatives + 1,
        stride,
        sources,
        sizes,
    )


@kernel
def train_edges(
    first, last, total, seed, indptr, indices, weighing, chances, noise, inputs, outputs,
    negatives, rate, group, centres, sources, sizes, targets, labels, gradients, tally,
):  # fmt: skip
    """Train on centres number first to last of `total`, each with up to SHARING edges.

    Blocks of AHEAD centres are drawn at once, so that cache misses overlap; `first` begins one.
    `inputs` and `outputs` may be one matrix: a step reads a target again before it moves it.
    Returns how many edges there were and the sum of their losses. About 3 d (negatives + 1)
    multiply-adds for each edge.
    """
    stride = inputs.shape[1]
    width = labels.size // GROUP_LABELS * len(group)
    edges, exponents = 0, 0
    for lane in range(LANES):
        tally[lane] = 1.0  # mantissas; the exponents behind them begin at 0
        tally[LANES + lane] = 0.0
    counts = tally.view(np.int32)
    for begin in range(first, last, AHEAD):
        count = min(AHEAD, last - begin)
        draw_edges(
            begin // AHEAD, count, seed, indptr, indices, weighing, chances, noise, negatives,
            stride, centres, sources, sizes, targets, width,
        )  # fmt: skip
        current = np.float32(rate * max(1.0 - begin / total, LEAST_RATE))
        set_labels(labels, group, negatives, current)
        for at in range(count):
            own, some = targets[np.uint64(at * width) :], sources[np.uint64(at * SHARING) :]
            if at + 1 < count:
                for k in range(width, 2 * width):
                    fetch(outputs, own[np.uint64(k)], stride)
                for i in range(SHARING, SHARING + sizes[np.uint64(at + 1)]):
                    fetch(inputs, some[np.uint64(i)], stride)
            train_window(
                inputs, outputs, some, sizes[np.uint64(at)], BATCH, own, group, stride, negatives,
                current, labels, gradients, tally,
            )  # fmt: skip
            edges += sizes[np.uint64(at)]
        for lane in range(LANES):
            exponents += counts[LANES + lane]
            counts[LANES + lane] = 0
    loss = exponents * math.log(2.0)
    for lane in range(LANES):
        loss += math.log(tally[lane])
    return edges, loss
