"""The edges that LINE trains on, drawn by weight.

To draw an edge i -> j by weight is to draw j by the weight of all edges that lead there, and then i
among those by weight. So j, the centre, is drawn once and several sources i for it, which is
faster. A centre with few neighbours has no more sources than these, lest one edge should count many
times in a row, and is drawn the more often: every edge has its right chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...graph import Graph, csr
from ...graph.matrices import with_moderate_weights
from ._line_draws import SHARING, count_edges, draw_edges, place_edges

_AT_ONCE = 1 << 16  # edges that are counted at a time


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
        size = draw_edges(part.start, part.stop, self.seed, self.edges, drawn)
        count_edges(drawn[:size], self.of, counts)
        return drawn[:size]

    def place(
        self, found: NDArray[np.uint64], places: NDArray[np.int64], pairs: NDArray[np.uint64]
    ) -> None:
        """Write each edge to the next place of its bucket."""
        place_edges(found, self.of, places, pairs)
