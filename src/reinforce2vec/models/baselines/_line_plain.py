"""LINE's kernels for the plain engine: the algorithm without what makes it fast."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import below, draw, left_over, stream
from ...skipgram.learning_rate import LEAST_RATE
from ...skipgram.plain import draw_targets, train_window
from ...skipgram.rules import BATCH, DRAWN_AT_ONCE, TRAINING, target_groups
from ...skipgram.weights import Weights
from ._line_edges import SHARING, LineTask


def train_edges(first: int, last: int, weights: Weights, task: LineTask) -> Any:
    """Train on centres number first to last; return how many edges that were, and their loss.

    `first` begins a block of draws.
    """
    _, group_size = target_groups(task.negatives)
    return _train_edges(first, last, weights.inputs, weights.outputs, task, group_size)


@compiled
def _train_edges(first, last, inputs, outputs, task, group_size):
    """Draw centres, some edges that lead to each, and its negatives; train on them."""
    n_edges, loss = 0, 0.0
    for number in range(first, last):
        block, at = number // DRAWN_AT_ONCE, number % DRAWN_AT_ONCE
        key, gamma = stream(task.seed ^ TRAINING, block)
        begin = block * DRAWN_AT_ONCE
        rate = task.learning_rate * max(1.0 - begin / task.n_draws, LEAST_RATE)
        edges = task.edges
        centre = _draw_by_weight(0, len(edges.chances[0]), edges.chances, draw(key, gamma, at, 0))
        sources = _draw_sources(edges, centre, task.negatives + 1, at, key, gamma)
        targets = draw_targets(centre, at, edges.noise, task.negatives, key, gamma)
        loss += train_window(inputs, outputs, sources, targets, BATCH, group_size, rate)
        n_edges += len(sources)
    return n_edges, loss


@compiled
def _draw_sources(edges, centre, first_draw, at, key, gamma):
    """Return nodes with an edge to the centre, drawn by weight: up to SHARING of them."""
    begin = edges.indptr[centre]
    degree = edges.indptr[centre + 1] - begin
    sources = np.empty(min(degree, SHARING), np.int64)
    for i in range(len(sources)):
        bits = draw(key, gamma, at, first_draw + i)
        sources[i] = edges.indices[_draw_by_weight(begin, degree, edges.weighing, bits)]
    return sources


@compiled
def _draw_by_weight(begin, size, tables, bits):
    """Return one of `size` entries from `begin` on, drawn with alias tables or, without, evenly."""
    entry = begin + below(bits, size)
    if tables is not None and left_over(bits, size) >= tables[0][entry]:
        entry = begin + tables[1][entry]
    return entry
