"""Links in the page: the edges between nodes on the map, and likely missing ones."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..embedding import Embedding
from ..embedding.links import LinkRanking
from ..embedding.matching import rows_among
from ..embedding.nearest import RowSearch
from ..graph import Graph, edges_of
from ..plotting.maps import degrees_of

MAP_EDGES = 2_000_000  # in a page, so that it stays small enough to send by e-mail
_PER_NODE = (50, 30, 20, 10)  # edges kept per node if the graph has more
_LISTED_NEIGHBOURS = 1000  # of each node, if they are asked for; the page lists no more
_COUNT_NAMES = {  # scores of links that are no log-odds
    "allocation": "common neighbours (resource allocation)",
    "adamic-adar": "common neighbours (Adamic-Adar)",
    "common": "common neighbours",
    "three-steps": "paths of three steps",
}

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
        rows = rows_among(graph, embedding)
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

    def packed(self, limit: int) -> tuple[dict[str, NDArray[Any] | None], int | None]:
        """Return the edges between nodes on the map, each once, as the page reads them.

        Returns
        -------
        dict of arrays
            edge_counts: for each node, how many edges begin at it; edge_ends: where they end, node
            by node in ascending order, as differences; edge_weights.
        int or None
            How many edges every node keeps at least, if there are more than `limit`.
        """
        ends, weights = self.edges()
        if not self.graph.directed:
            ends.sort(axis=1)
        most = None
        if len(ends) > limit:
            rank = self._ranks(ends, weights)
            most = next((most for most in _PER_NODE if (rank < most).sum() <= limit), _PER_NODE[-1])
            ends, weights = ends[rank < most], weights[rank < most]
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        ends, weights = ends[order], weights[order]
        arrays = {
            "edge_counts": np.bincount(ends[:, 0], minlength=len(self.rows)),
            "edge_ends": np.diff(ends[:, 1], prepend=np.int32(0)),
            "edge_weights": weights.astype(np.float32) if self.graph.weighted else None,
        }
        return arrays, most

    def _ranks(self, ends: NDArray[np.int32], weights: NDArray[np.float64]) -> _Counts:
        """Return the lower rank of each edge among those of either of its nodes.

        The heaviest come first, and among equal weights those to nodes of high degree.
        """
        rank = np.full(len(ends), len(self.rows), np.int64)
        for own, other in ((0, 1), (1, 0)):
            order = np.lexsort((-self.degrees[ends[:, other]], -weights, ends[:, own]))
            counts = np.bincount(ends[:, own], minlength=len(self.rows))
            begins = np.repeat(np.cumsum(counts) - counts, counts)
            np.minimum.at(rank, order, np.arange(len(ends)) - begins)
        return rank


# -- likely missing links ----------------------------------------------------------------------


def score_facts(scorer: str) -> dict[str, Any]:
    """Return what the page says about the scores of missing links."""
    if scorer not in _COUNT_NAMES:
        return {"link_note": "by the log-odds of being an edge", "link_odds": True}
    note = f"by {_COUNT_NAMES[scorer]}, in percent of the highest of the node"
    return {"link_note": note, "link_odds": False}


def missing_links(
    ranking: LinkRanking, sources: NDArray[np.int32], k: int, method: str, progress: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the likeliest missing links of some rows, padded with -1, and their scores, with NaN.

    Scores are as the page shows them: log-odds, or percent.
    """
    targets, scores, which = ranking.best(sources, k, method, progress)
    place = np.arange(len(which)) - np.searchsorted(which, which)  # they come in order of sources
    rows = np.full((len(sources), min(k, len(ranking.targets))), -1, np.int32)
    values = np.full(rows.shape, np.nan)
    rows[which, place], values[which, place] = targets, scores
    if ranking.score in _COUNT_NAMES:
        values *= 100 / np.nanmax(values, axis=1, initial=1e-300, keepdims=True)
    return rows, values


# -- what a page asks --------------------------------------------------------------------------


@dataclass(eq=False)
class Details:
    """Answers what the page of a large map shows of a node, and which edges are between some nodes.

    Attributes
    ----------
    embedding : Embedding
        The nodes on the map, and their vectors.
    links : MapLinks or None
        The graph.
    ranking : LinkRanking or None
        Ranks missing links; None without a graph.
    listed : int
        How many similar nodes and missing links to list.
    """

    embedding: Embedding
    links: MapLinks | None
    ranking: LinkRanking | None
    listed: int

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.embedding)

    def of(self, row: int) -> dict[str, Any]:
        """Return what `Nodes.details` in web/src/data.js promises for a row."""
        with self._lock:  # a browser may ask for several at once, and memory is bounded
            edges = {to for matrix in self._matrices for to in _row_of(matrix, row)[0].tolist()}
            similar = [
                {"row": other, "value": round(value, 3), "edge": other in edges}
                for other, value in _pairs(*self._similar.nearest(row, self.listed))
            ]
            return {
                "similar": similar,
                "likely": self._likely(row),
                "neighbours": self._neighbours(row),
            }

    def edges_among(self, rows: _Counts, most: int) -> list[list[int]] | None:
        """Return the edges between some rows, each once; None if there are more than `most`."""
        if self.links is None:
            return []
        rows = np.unique(rows)
        wanted = np.zeros(len(self), bool)
        wanted[rows] = True
        edges: list[list[int]] = []
        for row in rows.tolist():
            ends = _row_of(self._matrices[0], row)[0]
            ends = ends[wanted[ends] & (self.links.graph.directed | (ends >= row))]
            if len(edges) + len(ends) > most:
                return None
            edges.extend([row, end] for end in ends.tolist())
        return edges

    @cached_property
    def _similar(self) -> RowSearch:
        return RowSearch(self.embedding.vectors)

    @cached_property
    def _matrices(self) -> list[scipy.sparse.csr_array]:
        """Matrices of weights: of the edges from each node, and in a directed graph to it."""
        if self.links is None:
            return []
        ends, weights = self.links.edges(both_ways=True)
        shape = (len(self), len(self))
        out = scipy.sparse.csr_array((weights, (ends[:, 0], ends[:, 1])), shape=shape)
        return [out, out.T.tocsr()] if self.links.graph.directed else [out]

    def _likely(self, row: int) -> list[dict[str, Any]] | None:
        if self.ranking is None:
            return None
        sources = np.array([row], np.int32)
        rows, scores = missing_links(self.ranking, sources, self.listed, "exact", False)
        listed = rows[0] >= 0
        return [
            {"row": other, "value": round(value, 2)}
            for other, value in _pairs(rows[0, listed], scores[0, listed])
        ]

    def _neighbours(self, row: int) -> list[dict[str, Any]]:
        """Return lists of neighbours, the heaviest and best connected first."""
        links = self.links
        if links is None:
            return []
        lists = {"Graph neighbours": int(links.degrees[row])}
        if links.inward is not None:
            inward = int(links.inward[row])
            lists = {"Points to": int(links.degrees[row]) - inward, "Pointed to by": inward}
        neighbours = []
        for (title, total), matrix in zip(lists.items(), self._matrices, strict=True):
            rows, weights = _row_of(matrix, row)
            order = np.lexsort((-links.degrees[rows], -weights))[:_LISTED_NEIGHBOURS]
            listed = [
                {"row": other, "weight": weight if links.graph.weighted else None}
                for other, weight in _pairs(rows[order], weights[order])
            ]
            neighbours.append({"title": title, "found": listed, "total": total})
        return neighbours


def _row_of(matrix: scipy.sparse.csr_array, row: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the columns and values in a row of a matrix."""
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]


def _pairs(rows: NDArray[Any], values: NDArray[Any]) -> list[tuple[int, float]]:
    return list(zip(rows.tolist(), values.tolist(), strict=True))
