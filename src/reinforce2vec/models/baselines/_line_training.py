"""Training of LINE, one order at a time: edges are drawn and trained in passes, as skip-gram's are.

To draw an edge i -> j by weight is to draw j by the weight of all edges that lead there, and then i
among those by weight. So j, the centre, is drawn once and several sources i for it, which is
faster. A centre with few neighbours has no more sources than these, lest one edge should count many
times in a row, and is drawn the more often: every edge has its right chance.

See `skipgram.schedule`: one seed gives one result, with any number of threads.
"""

from __future__ import annotations

import math
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import compiled
from ..._util.interrupts import held_back
from ..._util.progress import Report
from ..._util.random import below, draw, stream
from ...graph import Graph, csr
from ...graph.csr import draw_by_weight
from ...graph.matrices import with_moderate_weights
from ...skipgram.host import cpu_kernels
from ...skipgram.passes import PassSettings, PassTrainer
from ...skipgram.rules import TRAINING
from ...skipgram.schedule import pass_size
from ...skipgram.state import Settings, Weights, new_weights
from ...skipgram.trainer import DivergenceCheck

SHARING = 8  # edges, at most, that are drawn for one centre
CENTRES = 1 << 12  # centres that a thread draws at a time
_DRAWN_AT_ONCE = 64  # centres: cache misses overlap
_AT_ONCE = 1 << 16  # edges that are counted at a time
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


# -- edges -------------------------------------------------------------------------------------


class EdgeTables(NamedTuple):
    """Tables to draw from.

    Row j of the adjacency holds the nodes with an edge to j. `weighing` is None or the tables of
    :attr:`Graph.alias`, `chances` the alias table of all centres.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weighing: tuple[NDArray[Any], ...] | None
    chances: tuple[NDArray[Any], ...]


class _LineTables(NamedTuple):
    """What follows from the weights of a graph's edges."""

    edges: EdgeTables
    edges_per_draw: float  # on average over all centres
    weights: NDArray[Any]  # of all edges from and to a node


def tables_of(graph: Graph) -> _LineTables:
    """Return the tables of a graph whose row j holds the nodes with an edge to j."""
    rows, weighing = np.array([0, graph.n_nodes]), graph.alias
    degrees = graph.degrees
    weights, shares = (degrees, None) if weighing is None else (weighing[2], weighing[4])
    draws = weights / np.clip(degrees, 1, SHARING)
    chances = csr.alias_tables(rows, draws)[:2]
    edges = EdgeTables(graph.indptr, graph.indices, weighing, chances)
    both = weights + _sums_of_columns(graph, shares)
    return _LineTables(edges, float(weights.sum() / draws.sum()), both)


def _sums_of_columns(graph: Graph, shares: NDArray[Any] | None) -> NDArray[Any]:
    """Return how many edges each node has that lead there, or the sum of their shares."""
    sums = np.zeros(graph.n_nodes, np.int64 if shares is None else np.float64)
    for first in range(0, len(graph.indices), _AT_ONCE):  # whose indices are copied as 64 bits
        some = slice(first, first + _AT_ONCE)
        np.add.at(sums, graph.indices[some], 1 if shares is None else shares[some])
    return sums


def incoming(graph: Graph, order: int) -> Graph:
    """Return the graph whose rows hold the nodes with an edge to the row's node."""
    if not graph.directed:
        return graph
    graph = with_moderate_weights(graph)
    sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    turned = np.column_stack([graph.indices, sources])
    return Graph.from_numbered(
        turned, graph.weights, graph.ids, directed=order == 2, self_loops=True
    )


class EdgePairs:
    """Draws edges, as pairs of source and centre; see `skipgram.pairs.PairFinder`."""

    def __init__(self, edges: EdgeTables, seed: np.uint64, of: NDArray[np.uint8]) -> None:
        self.edges, self.seed, self.of = edges, seed, of

    def count(self, part: range, counts: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Draw edges for some centres, and count them by bucket."""
        drawn = np.empty(len(part) * SHARING, np.uint64)
        size = _draw_edges(part.start, part.stop, self.seed, self.edges, drawn)
        _count_edges(drawn[:size], self.of, counts)
        return drawn[:size]

    def place(
        self, found: NDArray[np.uint64], places: NDArray[np.int64], pairs: NDArray[np.uint64]
    ) -> None:
        """Write each edge to the next place of its bucket."""
        _place_edges(found, self.of, places, pairs)


# -- kernels -----------------------------------------------------------------------------------


@compiled
def _draw_edges(first, last, seed, edges, drawn):
    """Draw centres number first to last and edges that lead to each; return how many edges.

    The draws of a centre are a function of its number.
    """
    centres = np.empty(_DRAWN_AT_ONCE, np.int64)
    size = 0
    for begin in range(first, last, _DRAWN_AT_ONCE):
        count = min(_DRAWN_AT_ONCE, last - begin)
        for at in range(count):
            key, gamma = stream(seed ^ TRAINING, begin + at)
            bits = draw(key, gamma, 0, 0)
            threshold, alias = edges.chances
            centres[at] = draw_by_weight(0, len(threshold), threshold, alias, bits)
        for at in range(count):
            key, gamma = stream(seed ^ TRAINING, begin + at)
            row = edges.indptr[centres[at]]
            degree = edges.indptr[centres[at] + 1] - row
            for i in range(min(degree, SHARING)):
                arc = _draw_arc(row, degree, edges.weighing, draw(key, gamma, 0, 1 + i))
                source = np.uint64(edges.indices[arc])
                drawn[size] = source << np.uint64(32) | np.uint64(centres[at])
                size += 1
    return size


@compiled
def _draw_arc(begin, degree, weighing, bits):
    """Return an arc of a row, drawn by weight or, without tables, evenly."""
    if weighing is None:
        return begin + below(bits, degree)
    return draw_by_weight(begin, degree, weighing[0], weighing[1], bits)


@compiled
def _count_edges(drawn, of, counts):
    """Add to `counts` the pairs by the blocks of source and centre."""
    for pair in drawn:
        counts[of[pair >> np.uint64(32)], of[np.uint32(pair)]] += 1


@compiled
def _place_edges(drawn, of, places, pairs):
    """Write pairs to the next places of their buckets."""
    for pair in drawn:
        i, j = of[pair >> np.uint64(32)], of[np.uint32(pair)]
        pairs[places[i, j]] = pair
        places[i, j] += 1
