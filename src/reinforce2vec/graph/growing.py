"""Adding edges to a graph."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import digest
from .._util.errors import InputError, short_repr
from .._util.ids import number_objects
from .graph import Graph, edges_of


class Growth(NamedTuple):
    """What becomes of a graph when edges are added.

    Attributes
    ----------
    graph : Graph
        The graph with the edges, old nodes first; the old one itself if they change nothing.
    touched : int32 array
        The rows of all nodes with an edge that is new or has another weight, and of new nodes.
    added : str
        If weights were added up, a digest of the edges, by which they are known if they come
        again; else "", since adding them again would change nothing. The digest holds row numbers,
        which stay when the graph grows, so it does not depend on the order of the edges.
    """

    graph: Graph
    touched: NDArray[np.int32]
    added: str = ""


def grown(graph: Graph, edges: Any) -> Growth:
    """Add edges to a graph.

    If `edges` hold every edge of the graph, they are taken as its new state, with their weights.
    Otherwise they are added. In a weighted graph, the weights of an edge that exists already are
    summed. If only one of the two is weighted, edges of the other have weight 1.
    """
    new = Graph.from_any(edges, directed=graph.directed)
    _check_types(graph, new)
    codes, ids = number_objects(graph.ids.tolist(), [new.ids.tolist()])
    rows = codes[graph.n_nodes :]
    if new.n_edges and rows.min() >= graph.n_nodes:
        known, unknown = (short_repr(some.ids.tolist()[0]) for some in (graph, new))
        warnings.warn(
            f"none of the {len(rows):,} nodes of the new edges is in the graph: its ids are such "
            f"as {known}, those of the new edges such as {unknown}",
            stacklevel=3,
        )
    old_ends, old_weights = edges_of(graph)
    ends, weights = edges_of(new, both_ways=graph.directed)
    ends = rows[ends].reshape(-1, 2)
    if not graph.directed:
        ends = np.sort(ends, axis=1)
    old_keys, keys = (_edge_keys(pairs, len(ids)) for pairs in (old_ends, ends))
    whole = len(old_keys) > 0 and bool(np.isin(old_keys, keys).all())
    weighted, added = graph.weighted or new.weighted, ""
    if whole or not weighted:
        changed = _changed(old_keys, old_weights, keys, weights)
    else:
        changed = np.ones(len(keys), bool)
        added = _digest(ends, weights, len(ids)) if len(keys) else ""
    touched = np.union1d(ends[changed], rows[rows >= graph.n_nodes]).astype(np.int32)
    if not touched.size:
        return Growth(graph, touched)
    if not whole:
        ends = np.concatenate([old_ends, ends])
        weights = np.concatenate([old_weights, weights])
    kept_weights = weights if weighted else None
    options: dict[str, Any] = {"directed": graph.directed, "sides": graph.sides}
    larger = Graph.from_numbered(ends, kept_weights, ids, self_loops=True, **options)
    return Growth(larger, touched, added)


def _check_types(graph: Graph, new: Graph) -> None:
    """Raise InputError for a new node that is a known one as another type: "1" beside 1."""
    for node in new.ids.tolist():
        other: Any = None
        if isinstance(node, int):
            other = str(node)
        elif isinstance(node, str) and node.removeprefix("-").isdecimal():
            other = int(node)
        if other is not None and other in graph and node not in graph:
            raise InputError(
                f"node {short_repr(node)} is new, but there is a node {short_repr(other)}: write "
                f"both alike, as {'integers' if isinstance(other, int) else 'strings'}"
            )


def digest_of_edges(graph: Graph) -> str:
    """Return the digest that :class:`Growth` would have if all edges of a graph were added."""
    return _digest(*edges_of(graph), graph.n_nodes)


def _digest(ends: NDArray[np.int32], weights: NDArray[np.float64], n_nodes: int) -> str:
    order = np.argsort(_edge_keys(ends, n_nodes))
    return digest(ends[order], weights[order])


def _changed(
    old_keys: NDArray[np.int64],
    old_weights: NDArray[np.float64],
    keys: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which edges are not among the old ones, or have other weights there."""
    if not len(old_keys):
        return np.ones(len(keys), bool)
    order = np.argsort(old_keys)
    place = order[np.searchsorted(old_keys, keys, sorter=order).clip(max=len(old_keys) - 1)]
    return np.asarray((old_keys[place] != keys) | (old_weights[place] != weights))


def _edge_keys(ends: NDArray[np.int32], n_nodes: int) -> NDArray[np.int64]:
    """Return a number for each edge that identifies it; of undirected ones, the lower row first."""
    pairs = ends.astype(np.int64)
    return np.asarray(pairs[:, 0] * n_nodes + pairs[:, 1])
