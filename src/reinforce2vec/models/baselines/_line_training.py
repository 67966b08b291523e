"""Training of LINE, one order at a time: edges are drawn and trained in passes, as skip-gram's are.

See `skipgram.schedule`: one seed gives one result, with any number of threads.
"""

from __future__ import annotations

import math
from contextlib import closing
from typing import NamedTuple

import numpy as np

from ..._util.interrupts import held_back
from ..._util.progress import Report
from ...graph import Graph
from ...skipgram.host import cpu_kernels
from ...skipgram.passes import PassSettings, PassTrainer
from ...skipgram.schedule import pass_size
from ...skipgram.state import Settings, Weights, new_weights
from ...skipgram.trainer import DivergenceCheck
from ._line_edges import EdgePairs, tables_of

CENTRES = 1 << 12  # centres that a thread draws at a time
_ORDER_BIT = 59  # the seeds of the two orders differ in this bit and the next


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
    workers : int
        Threads.
    """

    def __init__(self, graph: Graph, settings: LineSettings, workers: int) -> None:
        self.settings = settings
        tables = tables_of(graph)
        seed = settings.seed ^ settings.order << _ORDER_BIT
        weights = new_weights(graph.n_nodes, settings.dimensions, seed)
        one_matrix = settings.order == 1  # both ends of an edge are rows of it
        if one_matrix:
            weights = weights._replace(outputs=weights.inputs)
        self.weights: Weights = weights
        self.n_draws = math.ceil(settings.samples / tables.edges_per_draw)
        kernels = cpu_kernels(Settings(settings.dimensions, negatives=settings.negatives))
        passes = PassSettings(
            seed, settings.negatives, settings.learning_rate, self.n_draws, one_matrix
        )
        self.trainer = PassTrainer(weights, tables.weights, passes, kernels, workers)
        blocks = self.trainer.blocks
        n_nodes = int(np.count_nonzero(tables.weights))
        self.size = pass_size(self.n_draws, tables.edges_per_draw, n_nodes)
        self.finder = EdgePairs(tables.edges, np.uint64(seed), blocks.of)

    def run(self, report: Report) -> None:
        """Train to the end, and report how many edges are done."""
        settings = self.settings
        divergence = DivergenceCheck(
            settings.negatives, settings.learning_rate, settings.samples, "edges"
        )
        with held_back() as interrupt, closing(self.trainer):
            for first in range(0, self.n_draws, self.size):
                last = min(first + self.size, self.n_draws)
                parts = [range(at, min(at + CENTRES, last)) for at in range(first, last, CENTRES)]
                found = self.trainer.train(self.finder, parts, first, last - first)
                done = last * settings.samples // self.n_draws
                divergence.check_loss(found.losses.sum(), found.pairs.sum(), done)
                report(done, settings.samples)
                if interrupt.asked:
                    break
        divergence.check_finite(self.weights.finite(), settings.samples)
