"""Training of LINE, one order: edges are drawn and trained on by every thread, in turns.

Threads change the same matrices without locks, as in skip-gram: a lost update is a little noise.
With one thread the result is the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.errors import InputError
from ..._util.interrupts import held_back
from ..._util.progress import Report
from ..._util.threads import in_turn
from ...graph import Graph, csr
from ...skipgram.cpu.kernels import AHEAD
from ...skipgram.cpu.lanes import GROUP_LABELS
from ...skipgram.cpu.simd import LANES, MOST_TARGETS, SLOTS
from ...skipgram.engine import USUAL_WORK
from ...skipgram.noise import Noise, noise_table
from ...skipgram.trainer import ENOUGH_PAIRS, MOST_LOSS, SAFE_RATE
from ...skipgram.weights import Weights, aligned, new_weights, row_size
from . import _line_kernels as kernels
from ._line_kernels import SHARING

CHUNK_BLOCKS = 256  # blocks of draws that a thread takes at a time: some ten milliseconds of work
ORDER_BIT = 59  # orders draw from seeds that differ from here on


class Settings(NamedTuple):
    """How to train one order, 1 or 2."""

    order: int
    dimensions: int
    negatives: int
    samples: int
    learning_rate: float
    seed: int


class Edges(NamedTuple):
    """What edges and negatives are drawn from: see `kernels.draw_edges`."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weighing: tuple[NDArray[Any], ...] | None
    chances: tuple[NDArray[Any], ...]
    noise: Noise


def draws_of(graph: Graph) -> tuple[Edges, float]:
    """Tables to draw edges and negatives from, and how many edges a draw has on the average.

    Negatives are drawn by degree ^ 0.75; as in the authors' program, the degree is the weight of
    all edges from a node and to it.
    """
    rows, weighing = np.array([0, graph.n_nodes]), graph.alias
    degrees = graph.degrees
    weights, shares = (degrees, None) if weighing is None else (weighing[2], weighing[4])
    draws = weights / np.clip(degrees, 1, SHARING)
    chances = csr.alias_tables(rows, draws)[:2]
    noise = noise_table(weights + np.bincount(graph.indices, shares, graph.n_nodes))
    edges = Edges(graph.indptr, graph.indices, weighing, chances, noise)
    return edges, float(weights.sum() / draws.sum())


def incoming(graph: Graph, order: int) -> Graph:
    """The graph whose rows hold the nodes with an edge to the row's node."""
    if not graph.directed:
        return graph
    sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    turned = np.column_stack([graph.indices, sources])
    return Graph.from_numbered(
        turned, graph.weights, graph.ids, directed=order == 2, self_loops=True
    )


class Training:
    """The training of one order on a graph that has edges.

    Parameters
    ----------
    graph : Graph
        Row j holds the nodes with an edge to j.
    settings : Settings
        How to train.
    """

    def __init__(self, graph: Graph, settings: Settings) -> None:
        self.settings = settings
        self.edges, edges_per_draw = draws_of(graph)
        self.seed = np.uint64(settings.seed ^ settings.order << ORDER_BIT)
        weights = new_weights(graph.n_nodes, settings.dimensions, int(self.seed))
        if settings.order == 1:  # both ends of an edge are rows of one matrix
            weights = weights._replace(outputs=weights.inputs)
        self.weights: Weights = weights
        self.n_draws = math.ceil(settings.samples / edges_per_draw)
        targets = settings.negatives + 1
        self.groups = -(-targets // MOST_TARGETS)
        self.group = (0,) * -(-targets // self.groups)
        self.width = self.groups * len(self.group)
        work = row_size(settings.dimensions) * targets
        self.chunk = AHEAD * max(1, CHUNK_BLOCKS * USUAL_WORK // max(work, USUAL_WORK))

    def run(self, workers: int, report: Report) -> None:
        """Train to the end, and report how many edges are done."""
        settings = self.settings
        self.train((0, 0))  # compiled before threads wait for it
        with held_back() as interrupt, ThreadPoolExecutor(workers) as threads:

            def chunks() -> Iterator[tuple[int, int]]:
                for first in range(0, self.n_draws, self.chunk):
                    if interrupt.asked:
                        return
                    yield first, min(first + self.chunk, self.n_draws)

            done = 0
            for last, edges, loss in in_turn(threads, self.train, chunks(), 2 * workers):
                done = last * settings.samples // self.n_draws
                self._check_loss(loss, edges, done)
                report(done, settings.samples)
        self._check_vectors()

    def train(self, draws: tuple[int, int]) -> tuple[int, int, float]:
        """Train on draws from one number up to another: that, how many edges, and their loss."""
        settings = self.settings
        first, last = draws
        edges, loss = kernels.train_edges(
            first, last, self.n_draws, self.seed, *self.edges, self.weights.inputs,
            self.weights.outputs, settings.negatives, settings.learning_rate, self.group,
            *(np.empty(AHEAD * size, np.int64) for size in (1, SHARING, 1, self.width)),
            aligned(self.groups * GROUP_LABELS), aligned(SHARING * SLOTS), aligned(2 * LANES),
        )  # fmt: skip
        return last, edges, loss

    def _check_loss(self, loss: float, edges: int, done: int) -> None:
        guessing = (self.settings.negatives + 1) * math.log(2)
        if edges >= ENOUGH_PAIRS and not loss <= MOST_LOSS * guessing * edges:
            sign = f"the loss is {loss / edges:.3g}, where guessing has {guessing:.3g}"
            raise self._diverged(sign, done)

    def _check_vectors(self) -> None:
        if not self.weights.finite():
            raise self._diverged("vectors are not finite", self.settings.samples)

    def _diverged(self, sign: str, done: int) -> InputError:
        rate = self.settings.learning_rate
        return InputError(
            f"training failed after {done:,} of {self.settings.samples:,} edges: {sign}. A "
            f"learning_rate of {rate:g} is too large: try {min(rate / 5, SAFE_RATE):g}"
        )
