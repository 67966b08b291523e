"""A graph that grows, and vectors that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .errors import InputError
from .graph import Graph
from .numbering import as_ids
from .skipgram.trainer import State


def grown(graph: Graph, edges: Any) -> tuple[Graph, NDArray[np.int64]]:
    """A graph with new edges, old nodes first; and the rows of all nodes that have a new edge.

    Where only one side has weights, an edge of the other has weight 1; weights of an edge that
    was there already are added to its own.
    """
    new = Graph.from_any(edges, directed=graph.directed)
    if new.n_nodes == 0:
        raise InputError("there are no new edges to learn from")
    known = {node: row for row, node in enumerate(graph.ids.tolist())}
    names = graph.ids.tolist()
    rows = np.empty(new.n_nodes, np.int32)
    for number, node in enumerate(new.ids.tolist()):
        if node not in known:
            known[node] = len(names)
            names.append(node)
        rows[number] = known[node]
    ends = np.concatenate([edges_of(graph), rows[edges_of(new, graph.directed)]])
    weights = None
    if graph.weighted or new.weighted:
        weights = np.concatenate([weights_of(graph), weights_of(new, graph.directed)])
    whole = Graph.from_numbered(
        ends, weights, as_ids(names), directed=graph.directed, self_loops=True
    )
    return whole, np.unique(rows).astype(np.int64)


def edges_of(graph: Graph, both_ways: bool = False) -> NDArray[np.int32]:
    """Every edge once, as row numbers (m, 2); or undirected ones both ways."""
    sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    ends = np.column_stack([sources, graph.indices])
    return ends if graph.directed or both_ways else ends[ends[:, 0] <= ends[:, 1]]


def weights_of(graph: Graph, both_ways: bool = False) -> NDArray[np.float64]:
    """The weights of these edges; 1 where there are none."""
    weights = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
    if graph.directed or both_ways:
        return weights
    sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    once: NDArray[np.float64] = weights[sources <= graph.indices]
    return once


def carry_over(old: State, new: State, graph: Graph, n_old: int) -> None:
    """Begin a training where another ended; nodes from row n_old on at their neighbours' mean."""
    new.visits[:n_old] += old.visits
    links = graph.to_scipy()
    if graph.directed:
        links = links + links.T
    links = scipy.sparse.csr_array(links[n_old:, :n_old])
    sums = np.asarray(links.sum(axis=1)).ravel()
    placed = np.flatnonzero(sums > 0)
    shares = scipy.sparse.diags_array(1.0 / sums[placed]) @ links[placed]
    for before, after in zip(old.weights[:2], new.weights[:2], strict=True):
        after[:n_old] = before
        after[n_old + placed] = shares @ before
