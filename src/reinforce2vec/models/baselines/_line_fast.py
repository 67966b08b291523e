"""LINE's kernels for the fast engine: `_line_plain.py` in vector instructions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined, kernel
from ..._util.random import draw, stream
from ...skipgram.cpu.kernels import (
    clear_tally,
    draw_targets,
    fetch,
    group_of,
    loss_of,
    new_step_room,
    take_exponents,
    train_window,
)
from ...skipgram.cpu.lanes import set_labels
from ...skipgram.learning_rate import LEAST_RATE
from ...skipgram.rules import BATCH, DRAWN_AT_ONCE, TRAINING
from ...skipgram.weights import Weights
from ...walks.cpu.neighbors import draw_arc, row_bounds
from ._line_edges import SHARING, LineTask


class _EdgeRoom(NamedTuple):
    """Memory for a block of draws, as offsets of rows; `sizes` counts the sources of a centre."""

    centres: NDArray[np.int64]
    sources: NDArray[np.int64]
    sizes: NDArray[np.int64]
    targets: NDArray[np.int64]


def new_edge_room(width: int) -> _EdgeRoom:
    """Return the memory for a block of centres with `width` targets each."""
    sizes = 1, SHARING, 1, width
    return _EdgeRoom(*(np.full(DRAWN_AT_ONCE * size, -1, np.int64) for size in sizes))


def train_edges(first: int, last: int, weights: Weights, task: LineTask) -> Any:
    """Train on centres number first to last; return how many edges that were, and their loss.

    `first` begins a block of draws.
    """
    n_groups, group = group_of(task.negatives)
    room = new_edge_room(n_groups * len(group))
    return _train_edges(first, last, weights, task, group, room, new_step_room(n_groups))


@inlined
def _draw_centres(chances, count, key, gamma, stride, centres):
    """Draw nodes that edges lead to, each by its chance."""
    for at in range(count):
        node = draw_arc(0, chances[0].size, chances, draw(key, gamma, at, 0))
        centres[np.uint64(at)] = np.int64(node) * stride


@kernel  # of its own: numba drops a branch on None only if an argument is None
def _draw_sources(edges, weighing, count, key, gamma, after, stride, room):
    """Draw nodes with an edge to each centre, by weight."""
    for at in range(count):
        begin, end = row_bounds(edges.indptr, room.centres[np.uint64(at)] // stride)
        room.sizes[np.uint64(at)] = min(end - begin, SHARING)
        for i in range(min(end - begin, SHARING)):
            bits = draw(key, gamma, at, after + i)
            arc = draw_arc(begin, end - begin, weighing, bits)
            source = np.int64(edges.indices[np.uint64(arc)])
            room.sources[np.uint64(at * SHARING + i)] = source * stride


@kernel
def draw_edges(block, count, task, stride, room):
    """Draw all that is random in a block of `count` centres: a function of its number.

    Writes the centres, up to SHARING sources of each and how many, and the targets of each: the
    centre, its negatives, and the centre again in place of missing ones.
    """
    key, gamma = stream(task.seed ^ TRAINING, block)
    edges, negatives, centres = task.edges, task.negatives, room.centres
    width = room.targets.size // DRAWN_AT_ONCE
    _draw_centres(edges.chances, count, key, gamma, stride, centres)
    draw_targets(edges.noise, centres, 0, count, key, gamma, negatives, stride, room.targets, width)
    _draw_sources(edges, edges.weighing, count, key, gamma, negatives + 1, stride, room)


@kernel
def _train_edges(first, last, weights, task, group, room, step_room):
    """Train on centres number first to last, each with up to SHARING edges.

    Blocks of DRAWN_AT_ONCE centres are drawn at once, so that cache misses overlap. The two
    matrices may be one: a step reads a target again before it moves it. Returns how many edges
    there were and the sum of their losses. About 3 d (negatives + 1) multiply-adds for each edge.
    """
    stride, negatives = weights.inputs.shape[1], task.negatives
    width = room.targets.size // DRAWN_AT_ONCE
    n_edges, exponents = 0, 0
    clear_tally(step_room.tally)
    for begin in range(first, last, DRAWN_AT_ONCE):
        count = min(DRAWN_AT_ONCE, last - begin)
        draw_edges(begin // DRAWN_AT_ONCE, count, task, stride, room)
        rate = np.float32(task.learning_rate * max(1.0 - begin / task.n_draws, LEAST_RATE))
        set_labels(step_room.labels, group, negatives, rate)
        for at in range(count):
            own = room.targets[np.uint64(at * width) :]
            some = room.sources[np.uint64(at * SHARING) :]
            size = room.sizes[np.uint64(at)]
            if at + 1 < count:
                for k in range(width, 2 * width):
                    fetch(weights.outputs, own[np.uint64(k)], stride)
                for i in range(SHARING, SHARING + room.sizes[np.uint64(at + 1)]):
                    fetch(weights.inputs, some[np.uint64(i)], stride)
            train_window(weights, some, size, BATCH, own, group, negatives, rate, step_room)
            n_edges += size
        exponents += take_exponents(step_room.tally)
    return n_edges, loss_of(step_room.tally, exponents)
