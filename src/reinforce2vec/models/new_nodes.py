"""Vectors of nodes that a model has not seen, from their edges to nodes that it has."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, line_of_user
from .._util.progress import counted
from ..embedding import Embedding
from ..graph import Graph
from ..graph.matrices import undirected_adjacency

_NAMED = 3  # nodes in a message
_Floats = NDArray[np.float64]


def vectors_of_new_nodes(embedding: Embedding, graph: Graph | None, edges: Any) -> Embedding:
    """Return vectors for the new nodes that edges name; see `Estimator.transform_nodes`.

    `graph` is the one that the embedding was made from, if it is known.
    """
    new = Graph.from_any(edges)
    links = undirected_adjacency(new)
    known = np.array([node in embedding for node in new.ids.tolist()], bool)
    between = int(np.count_nonzero(known[links.nonzero()[0]] & known[links.nonzero()[1]]))
    if between:
        warnings.warn(
            f"{counted(-(-between // 2), 'edge')} between known nodes have no effect: partial_fit "
            "learns them",
            stacklevel=line_of_user(),
        )
    rows = embedding.rows(new.ids[known])
    vectors = np.zeros((new.n_nodes, embedding.dimensions))
    vectors[known] = embedding.vectors[rows]
    strength = np.asarray(links.sum(axis=1)).ravel()
    if graph is not None:
        strength[known] = np.maximum(_strengths(graph)[rows], strength[known])
    share = 1 / np.sqrt(np.where(strength > 0, strength, 1))
    placed = known.copy()
    while True:  # from neighbours of known nodes to those behind them
        following = ~placed & (links @ placed > 0)
        if not following.any():
            break
        weights = links[following][:, placed] * share[placed]
        vectors[following] = _means(weights, vectors[placed], embedding.scales)
        placed |= following
    if not placed.all():
        lost = [repr(node) for node in new.ids[~placed].tolist()]
        more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
        raise InputError(
            f"no path leads from {', '.join(lost[:_NAMED])}{more} to a node of the model: add "
            "edges to known nodes, or leave them out"
        )
    ids = new.ids[~known]
    return Embedding(ids, vectors[~known].astype(np.float32), scales=embedding.scales)


def _strengths(graph: Graph) -> _Floats:
    """Return the sum of the weights of each node's edges, in both directions.

    Sums that overflow are the largest number.
    """
    links = graph.to_scipy()
    with np.errstate(over="ignore"):
        sums: _Floats = np.asarray(links.sum(axis=1)).ravel()
        if graph.directed:
            sums = sums + np.asarray(links.sum(axis=0)).ravel()
    return sums.clip(max=np.finfo(np.float64).max)


def _means(weights: Any, vectors: _Floats, scales: tuple[int, ...]) -> _Floats:
    """Return weighted means of vectors; each scale gets the mean length of those it came from."""
    means: _Floats = weights @ vectors
    total = np.asarray(weights.sum(axis=1)).ravel()
    first = 0
    for width in scales:
        columns = slice(first, first + width)
        first += width
        wanted = weights @ np.linalg.norm(vectors[:, columns], axis=1) / total
        lengths = np.linalg.norm(means[:, columns], axis=1)
        factors = np.divide(wanted, lengths, out=np.zeros_like(wanted), where=lengths > 0)
        means[:, columns] *= factors[:, None]
    return means
