"""Training of LINE, one order at a time: every thread draws edges and trains on them.

Threads change the same matrices without locks, as in skip-gram: a lost update is a little noise.
With one thread the result is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ..._util.engine import fast_engine_compiles
from ..._util.interrupts import held_back
from ..._util.progress import Report
from ..._util.threads import in_turn
from ...graph import Graph
from ...skipgram.host import scaled_chunk
from ...skipgram.loss_check import DivergenceCheck
from ...skipgram.rules import DRAWN_AT_ONCE
from ...skipgram.weights import Weights, new_weights
from ._line_edges import LineTask, tables_of

_CHUNK_BLOCKS = 256  # blocks of draws in a usual chunk: about ten milliseconds of work
_ORDER_BIT = 59  # the seeds of the two orders differ in this bit and the next

_TrainEdges = Callable[[int, int, Weights, LineTask], Any]


class LineSettings(NamedTuple):
    """How to train one order, 1 or 2."""

    order: int
    dimensions: int
    negatives: int
    samples: int
    learning_rate: float
    seed: int


class LineTraining:
    """The training of one order on a graph that has edges.

    Parameters
    ----------
    graph : Graph
        Row j holds the nodes with an edge to j.
    settings : LineSettings
        How to train.
    """

    def __init__(self, graph: Graph, settings: LineSettings) -> None:
        self.settings = settings
        edges, edges_per_draw = tables_of(graph)
        seed = np.uint64(settings.seed ^ settings.order << _ORDER_BIT)
        weights = new_weights(graph.n_nodes, settings.dimensions, int(seed))
        if settings.order == 1:  # both ends of an edge are rows of one matrix
            weights = weights._replace(outputs=weights.inputs)
        self.weights: Weights = weights
        n_draws = math.ceil(settings.samples / edges_per_draw)
        self.task = LineTask(n_draws, seed, settings.negatives, settings.learning_rate, edges)
        blocks = scaled_chunk(_CHUNK_BLOCKS, settings.dimensions, settings.negatives)
        self.chunk = DRAWN_AT_ONCE * max(1, blocks)
        self._train_edges = _kernel_for(self.weights, self.task)

    def run(self, workers: int, report: Report) -> None:
        """Train to the end, and report how many edges are done."""
        settings, n_draws = self.settings, self.task.n_draws
        divergence = DivergenceCheck(
            settings.negatives, settings.learning_rate, settings.samples, "edges"
        )
        with held_back() as interrupt, ThreadPoolExecutor(workers) as threads:

            def chunks() -> Iterator[tuple[int, int]]:
                for first in range(0, n_draws, self.chunk):
                    if interrupt.asked:
                        return
                    yield first, min(first + self.chunk, n_draws)

            for last, edges, loss in in_turn(threads, self.train, chunks(), 2 * workers):
                done = last * settings.samples // n_draws
                divergence.check_loss(loss, edges, done)
                report(done, settings.samples)
        divergence.check_finite(self.weights.finite(), settings.samples)

    def train(self, draws: tuple[int, int]) -> tuple[int, int, float]:
        """Train on draws from one number up to another; return that, the edges, and their loss."""
        first, last = draws
        edges, loss = self._train_edges(first, last, self.weights, self.task)
        return last, edges, loss


def _kernel_for(weights: Weights, task: LineTask) -> _TrainEdges:
    """Return what trains on edges, compiled: on the fast engine if that is possible."""

    def compile_fast() -> None:
        from ._line_fast import train_edges

        train_edges(0, 0, weights, task)

    if fast_engine_compiles(compile_fast):
        from ._line_fast import train_edges
    else:
        from ._line_plain import train_edges

        train_edges(0, 0, weights, task)
    return train_edges
