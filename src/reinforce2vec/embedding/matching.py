"""Vectors and graphs that belong together: their nodes matched by id."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from ..graph import Graph
from .embedding import Embedding, not_vectors


def as_matrix(vectors: Any, graph: Graph | None = None) -> NDArray[Any]:
    """A matrix of float32 or float64, of an Embedding in the order of the graph's nodes.

    InputError if a number is not finite or rows do not fit the graph.
    """
    matrix = vectors
    if isinstance(vectors, Embedding):
        matrix = vectors.vectors if graph is None else vectors.vectors[rows_in(vectors, graph)]
    try:
        matrix = np.asarray(matrix)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise not_vectors(vectors) from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"vectors must be a matrix with a row for each node, not of shape {matrix.shape}"
        )
    if graph is not None and len(matrix) != graph.n_nodes:
        raise InputError(
            f"expected a vector for each of {graph.n_nodes:,} nodes, got {len(matrix):,}"
        )
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise InputError(f"vectors must be finite; that of row {bad[0]:,} (from 0) is not")
    return matrix


def rows_in(embedding: Embedding, graph: Graph) -> Any:
    """Rows of the embedding in the order of the graph's nodes."""
    if np.array_equal(embedding.ids, graph.ids):
        return slice(None)
    missing = [node for node in graph.ids.tolist() if node not in embedding]
    if missing or len(embedding) != graph.n_nodes:
        raise InputError(
            f"the embedding has {len(embedding):,} nodes and the graph {graph.n_nodes:,}, "
            + (f"node {missing[0]!r} only in the graph" if missing else "all of them among those")
            + ": both need the same nodes"
        )
    return embedding.rows(graph.ids.tolist())
