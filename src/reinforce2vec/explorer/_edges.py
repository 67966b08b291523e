"""The graph in the page: the edges between nodes on the map, and their degrees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..embedding import Embedding
from ..embedding.matching import rows_in_graph
from ..graph import Graph, edges_of
from ..plotting.maps import degrees_of

_MAP_EDGES = 2_000_000  # in a page, so that it stays small enough to send by e-mail
_PER_NODE = (50, 30, 20, 10)  # edges kept per node if the graph has more

_Counts = NDArray[np.int64]


@dataclass(frozen=True)
class MapLinks:
    """A graph as seen from the nodes on the map.

    Attributes
    ----------
    graph : Graph
        The whole graph.
    rows : int64 array
        The row in the graph of each node on the map, -1 if it is not in the graph.
    degrees : int64 array
        Degree of each node on the map, in the whole graph; in- and out-edges together.
    inward : int64 array or None
        In-degree, in a directed graph.
    """

    graph: Graph
    rows: _Counts
    degrees: _Counts
    inward: _Counts | None

    @classmethod
    def of(cls, embedding: Embedding, graph: Graph) -> MapLinks:
        """Match a graph to all nodes of an embedding; InputError if they share none."""
        rows = rows_in_graph(embedding, graph)
        inward = None
        if graph.directed:
            counts = np.bincount(graph.indices, minlength=graph.n_nodes)
            inward = np.where(rows < 0, 0, counts[rows])
        return cls(graph, rows, degrees_of(graph, rows), inward)

    def part(self, shown: _Counts) -> MapLinks:
        """Return the same for some of the nodes."""
        inward = None if self.inward is None else self.inward[shown]
        return replace(self, rows=self.rows[shown], degrees=self.degrees[shown], inward=inward)

    def edges(self, both_ways: bool = False) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the edges between nodes on the map, and their weights, as :func:`edges_of`."""
        place = np.full(self.graph.n_nodes, -1, np.int32)
        known = np.flatnonzero(self.rows >= 0)
        place[self.rows[known]] = known
        ends, weights = edges_of(self.graph, both_ways)
        ends = place[ends]
        kept = (ends >= 0).all(axis=1)
        return ends[kept], weights[kept]

    def matrix(self) -> scipy.sparse.csr_array:
        """Return the edges as a matrix of weights; undirected ones in both directions."""
        ends, weights = self.edges(both_ways=True)
        n = len(self.rows)
        return scipy.sparse.csr_array((weights, (ends[:, 0], ends[:, 1])), shape=(n, n))

    def are_linked(self, others: NDArray[np.int32]) -> NDArray[np.uint8]:
        """Return whether each node has an edge, in any direction, with others: 0 or 1.

        Parameters
        ----------
        others : int32 array (n, k)
            Rows of other nodes, for each node on the map; -1 for none.
        """
        n = len(self.rows)
        ends = self.edges()[0].astype(np.int64)
        edges = np.concatenate([ends[:, 0] * n + ends[:, 1], ends[:, 1] * n + ends[:, 0]])
        pairs = np.arange(n, dtype=np.int64)[:, None] * n + others
        return ((others >= 0) & np.isin(pairs, edges)).astype(np.uint8)


def edges_on_map(links: MapLinks) -> tuple[dict[str, NDArray[Any] | None], int | None]:
    """Return the edges between nodes on the map, each once, as the page reads them.

    Returns
    -------
    dict of arrays
        edge_counts: for each node, how many edges begin at it; edge_ends: where they end, node by
        node in ascending order, as differences; edge_weights.
    int or None
        How many edges every node keeps at least, if some were left out.
    """
    ends, weights = links.edges()
    if not links.graph.directed:
        ends.sort(axis=1)
    most = None
    if len(ends) > _MAP_EDGES:
        kept, most = _foremost_edges(ends, weights, links.degrees)
        ends, weights = ends[kept], weights[kept]
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, weights = ends[order], weights[order]
    arrays = {
        "edge_counts": np.bincount(ends[:, 0], minlength=len(links.rows)),
        "edge_ends": np.diff(ends[:, 1], prepend=np.int32(0)),
        "edge_weights": weights.astype(np.float32) if links.graph.weighted else None,
    }
    return arrays, most


def _foremost_edges(
    ends: NDArray[np.int32], weights: NDArray[np.float64], degrees: _Counts
) -> tuple[NDArray[np.bool_], int]:
    """Return which edges are among the first of either of their nodes, and how many that is.

    The heaviest come first, and among equal weights those to nodes of high degree.
    """
    rank = np.full(len(ends), len(degrees), np.int64)
    for own, other in ((0, 1), (1, 0)):
        order = np.lexsort((-degrees[ends[:, other]], -weights, ends[:, own]))
        counts = np.bincount(ends[:, own], minlength=len(degrees))
        begins = np.repeat(np.cumsum(counts) - counts, counts)
        np.minimum.at(rank, order, np.arange(len(ends)) - begins)
    for most in _PER_NODE:
        kept = rank < most
        if np.count_nonzero(kept) <= _MAP_EDGES:
            break
    return kept, most


def edges_between(
    matrix: scipy.sparse.csr_array, rows: _Counts, most: int, directed: bool
) -> list[list[int]] | None:
    """Return the edges of a matrix between some rows, each once; None if there are over `most`."""
    rows = np.unique(rows)
    wanted = np.zeros(matrix.shape[0], bool)
    wanted[rows] = True
    found: list[list[int]] = []
    for row in rows.tolist():
        ends = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        ends = ends[wanted[ends] & (directed | (ends >= row))]
        if len(found) + len(ends) > most:
            return None
        found.extend([row, end] for end in ends.tolist())
    return found
