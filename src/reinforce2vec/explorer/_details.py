"""What the page asks the server about nodes, if the map is too large to hold all of it."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..embedding import Embedding
from ..embedding.links import LinkRanking
from ..embedding.nearest import RowSearch
from ._edges import MapLinks, edges_between
from ._links import missing_links

_LISTED_NEIGHBOURS = 1000  # of each node; the page lists no more
_Rows = NDArray[np.int64]


class Details:
    """Answers what the page shows of a node, and which edges are between some nodes.

    Parameters
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

    def __init__(
        self,
        embedding: Embedding,
        links: MapLinks | None,
        ranking: LinkRanking | None,
        listed: int,
    ) -> None:
        self._embedding, self._links, self._ranking = embedding, links, ranking
        self._listed = listed
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._embedding)

    def of(self, row: int) -> dict[str, Any]:
        """Return what `Nodes.details` in web/src/data.js promises for a row."""
        with self._lock:  # a browser may ask for several at once, and memory is bounded
            rows, cosines = self._similar.nearest(row, self._listed)
            edges = self._linked_rows(row)
            similar = [
                {"row": other, "value": round(value, 3), "edge": other in edges}
                for other, value in zip(rows.tolist(), cosines.tolist(), strict=True)
            ]
            likely, neighbours = self._likely(row), self._neighbours(row)
            return {"similar": similar, "likely": likely, "neighbours": neighbours}

    def edges_among(self, rows: _Rows, most: int) -> list[list[int]] | None:
        """Return the edges between some rows; None if there are more than `most`."""
        if self._links is None:
            return []
        return edges_between(self._out, rows, most, self._links.graph.directed)

    @cached_property
    def _similar(self) -> RowSearch:
        return RowSearch(self._embedding.vectors)

    def _likely(self, row: int) -> list[dict[str, Any]] | None:
        if self._ranking is None:
            return None
        sources = np.array([row], np.int32)
        found = missing_links(self._ranking, sources, self._listed, "exact", False)
        there = found.rows[0] >= 0
        return [
            {"row": other, "value": round(value, 2)}
            for other, value in zip(
                found.rows[0, there].tolist(), found.scores[0, there].tolist(), strict=True
            )
        ]

    # -- edges ---------------------------------------------------------------------------------

    @cached_property
    def _out(self) -> scipy.sparse.csr_array:
        assert self._links is not None
        return self._links.matrix()

    @cached_property
    def _in(self) -> scipy.sparse.csr_array:
        return self._out.T.tocsr()

    def _linked_rows(self, row: int) -> set[int]:
        """Return all neighbours of a row, in any direction."""
        if self._links is None:
            return set()
        matrices = (self._out, self._in) if self._links.graph.directed else (self._out,)
        return {
            other
            for matrix in matrices
            for other in matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].tolist()
        }

    def _neighbours(self, row: int) -> list[dict[str, Any]]:
        links = self._links
        if links is None:
            return []
        degree = int(links.degrees[row])
        if links.inward is None:
            return [self._linked("Graph neighbours", self._out, row, degree)]
        inward = int(links.inward[row])
        return [
            self._linked("Points to", self._out, row, degree - inward),
            self._linked("Pointed to by", self._in, row, inward),
        ]

    def _linked(
        self, title: str, matrix: scipy.sparse.csr_array, row: int, total: int
    ) -> dict[str, Any]:
        """Return the neighbours in a row of a matrix, the heaviest and best connected first."""
        assert self._links is not None
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        rows, weights = matrix.indices[part], matrix.data[part]
        order = np.lexsort((-self._links.degrees[rows], -weights))[:_LISTED_NEIGHBOURS]
        weighted = self._links.graph.weighted
        found = [
            {"row": other, "weight": weight if weighted else None}
            for other, weight in zip(rows[order].tolist(), weights[order].tolist(), strict=True)
        ]
        return {"title": title, "found": found, "total": total}
