"""A graph that grows, and vectors that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .errors import InputError
from .graph import Graph, edges_of
from .numbering import number_objects
from .skipgram.state import State


def grown(graph: Graph, edges: Any) -> tuple[Graph, NDArray[np.int32]]:
    """A graph with new edges, old nodes first; and the rows of all nodes that have a new edge.

    Where only one side has weights, an edge of the other has weight 1; weights of an edge that
    was there already are added to its own.
    """
    new = Graph.from_any(edges, directed=graph.directed)
    if new.n_nodes == 0:
        raise InputError("there are no new edges to learn from")
    codes, ids = number_objects(graph.ids.tolist(), [new.ids.tolist()])
    rows = codes[graph.n_nodes :]
    (old_ends, old_weights), (new_ends, new_weights) = (
        edges_of(graph), edges_of(new, both_ways=graph.directed)
    )  # fmt: skip
    ends = np.concatenate([old_ends, rows[new_ends]])
    weighted = graph.weighted or new.weighted
    weights = np.concatenate([old_weights, new_weights]) if weighted else None
    whole = Graph.from_numbered(ends, weights, ids, directed=graph.directed, self_loops=True)
    return whole, np.unique(rows)


def carry_over(old: State, new: State, graph: Graph, n_old: int) -> None:
    """Begin a training where another ended; nodes from row n_old on at their neighbours' mean."""
    new.visits[:n_old] += old.visits
    links = graph.to_scipy()
    if graph.directed:
        links = links + links.T
    links = scipy.sparse.csr_array(links[n_old:, :n_old])
    sums = np.asarray(links.sum(axis=1)).ravel()
    placed = np.flatnonzero(sums > 0)
    for before, after in zip(old.weights[:2], new.weights[:2], strict=True):
        after[:n_old] = before
        after[n_old + placed] = (links[placed] @ before) / sums[placed, None]
