"""Which way walks follow the edges of a directed graph: only forward, or both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph

_STARTS = 10_000  # of the walks that are tried
_LEAST_SHARE = 0.5  # of the length that walks must have on average to be long enough


def mean_length(graph: Graph, length: int, starts: NDArray[np.int32] | None = None) -> float:
    """Estimate the mean number of nodes in walks along the edges, of at most `length` nodes.

    The walks that are tried choose among all neighbours alike, whatever the walk and the weights;
    dead ends are what counts. They begin at all nodes alike, or at the `starts`.

    Examples
    --------
    >>> from reinforce2vec import Graph
    >>> mean_length(Graph.from_edges([(1, 2), (2, 3)], directed=True), 40)
    2.0
    """
    at: NDArray[np.integer[Any]]
    rng = np.random.default_rng(0)
    if starts is not None and len(starts):
        at = starts[rng.integers(0, len(starts), _STARTS)]
    elif graph.n_nodes > _STARTS:
        at = rng.choice(graph.n_nodes, _STARTS, replace=False)
    else:
        at = np.tile(np.arange(graph.n_nodes), -(-_STARTS // max(graph.n_nodes, 1)))
    walks, tokens = len(at), len(at)
    for _ in range(length - 1):
        degrees = graph.indptr[at + 1] - graph.indptr[at]
        at, degrees = at[degrees > 0], degrees[degrees > 0]
        if not at.size:
            break
        steps = (rng.random(len(at)) * degrees).astype(np.int64)
        at = graph.indices[graph.indptr[at] + steps]
        tokens += len(at)
    return tokens / max(walks, 1)


def are_short(mean: float, length: int) -> bool:
    """Return whether walks of so many nodes on average are too short to learn from."""
    return mean < _LEAST_SHARE * length


def likely_direction(graph: Graph, length: int) -> str:
    """Return "both" for a directed graph whose walks soon reach a dead end, else "forward"."""
    if not graph.directed or length == 1:
        return "forward"
    return "both" if are_short(mean_length(graph, length), length) else "forward"
