"""Adding edges to a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import number_objects
from .graph import Graph, edges_of


def grown(graph: Graph, edges: Any) -> tuple[Graph, NDArray[np.int32]]:
    """Return a graph with new edges, old nodes first, and the rows of all nodes with a new edge.

    If `edges` hold every edge of the graph, they are taken as its new state, with their weights.
    Otherwise they are added, and the weights of an edge that exists already are summed. If only
    one of the two is weighted, edges of the other have weight 1.
    """
    new = Graph.from_any(edges, directed=graph.directed)
    codes, ids = number_objects(graph.ids.tolist(), [new.ids.tolist()])
    rows = codes[graph.n_nodes :]
    (old_ends, old_weights), (new_ends, new_weights) = (
        edges_of(graph), edges_of(new, both_ways=graph.directed)
    )  # fmt: skip
    new_ends = rows[new_ends]
    ends, weights, touched = new_ends, new_weights, np.unique(rows)
    there, here = (_edge_keys(part, len(ids), graph.directed) for part in (old_ends, new_ends))
    if len(there) and np.isin(there, here).all():
        order = np.argsort(there)
        place = order[np.searchsorted(there, here, sorter=order).clip(max=len(there) - 1)]
        same = (there[place] == here) & (old_weights[place] == new_weights)
        touched = np.union1d(new_ends[~same], rows[rows >= graph.n_nodes]).astype(np.int32)
    else:
        ends = np.concatenate([old_ends, new_ends])
        weights = np.concatenate([old_weights, new_weights])
    if not touched.size:
        raise InputError("there are no new edges to learn from")
    weighted = graph.weighted or new.weighted
    whole = Graph.from_numbered(
        ends, weights if weighted else None, ids, directed=graph.directed, self_loops=True
    )
    return whole, touched


def _edge_keys(ends: NDArray[np.int32], n_nodes: int, directed: bool) -> NDArray[np.int64]:
    """Return a number for each edge that identifies it."""
    pairs = ends.astype(np.int64) if directed else np.sort(ends, axis=1).astype(np.int64)
    return pairs[:, 0] * n_nodes + pairs[:, 1]
