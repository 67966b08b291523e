"""Vectors to be judged, in whichever way they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice
from .._util.errors import InputError
from ..embedding.embedding import Embedding, not_vectors
from ..graph.graph import Graph
from ..models.smoothing import rows_in

PARTS = ("test", "validation")


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


def check_part(part: str) -> None:
    """Which pairs or nodes to score."""
    check_choice("part", part, PARTS)
