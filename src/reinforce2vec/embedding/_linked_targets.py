"""Which targets a source is already linked to, so that they are not recommended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ._exact_search import Rows


class LinkedTargets:
    """Excludes targets from the search of sources: themselves, and those they are linked to."""

    def __init__(self, graph: Graph, sources: Rows, targets: Rows) -> None:
        self._graph, self._sources = graph, sources
        self._places = np.full(graph.n_nodes, -1, np.int32)
        self._places[targets] = np.arange(len(targets), dtype=np.int32)

    def __call__(self, part: slice) -> tuple[NDArray[np.int64], Rows]:
        """Return where those of each source begin, and their ascending places among targets."""
        rows = self._sources[part]
        begins = self._graph.indptr[rows]
        degrees = self._graph.indptr[rows + 1] - begins
        arcs = np.arange(degrees.sum()) + np.repeat(begins - np.cumsum(degrees) + degrees, degrees)
        who = np.concatenate([np.repeat(np.arange(len(rows)), degrees), np.arange(len(rows))])
        places = self._places[np.concatenate([self._graph.indices[arcs], rows])]
        order = np.lexsort((places, who))
        order = order[places[order] >= 0]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.bincount(who[order], minlength=len(rows)), out=offsets[1:])
        return offsets, places[order]
