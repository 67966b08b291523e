"""Graphs as matrices, and the linear algebra that smoothing, baselines and projections share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .graph import Graph

_LARGEST, _SMALLEST = 2.0**500, 2.0**-500  # of weights whose sums and inverses are certainly finite


def with_moderate_weights(graph: Graph) -> Graph:
    """Return a graph whose sums of weights do not overflow, and neither do their inverses.

    Weights far from 1 are all multiplied by the same power of two, which is exact. For methods to
    which a common factor of all weights means nothing.
    """
    if graph.weights is None or graph.weights.size == 0:
        return graph
    largest = graph.weights.max()
    if _SMALLEST < largest < _LARGEST:
        return graph
    return replace(graph, weights=np.ldexp(graph.weights, -int(np.frexp(largest)[1])))


def undirected_adjacency(graph: Graph) -> Any:
    """Return the adjacency without directions, as a scipy CSR array of float64.

    Two edges in opposite directions become one, whose weight is the sum of theirs. A common factor
    of all weights may be missing.
    """
    return with_moderate_weights(graph).to_undirected().to_scipy()


def unit_rows(matrix: NDArray[Any]) -> NDArray[Any]:
    """Divide rows by their Euclidean norms, in place; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    lengths[lengths == 0] = 1
    matrix /= lengths[:, None].astype(matrix.dtype)
    return matrix


def singular_factors(
    matrix: NDArray[Any], right: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return U √S of the thin singular value decomposition U S Vᵗ, in the shape of the matrix.

    If the matrix is M R, and `right` holds the orthonormal columns of R, the second result is
    R V √S: together they are the factors of M. Directions with nothing but rounding errors are
    zeros.

    Computed from the eigenvectors of MᵗM, thirty times faster than from M itself; singular values
    are measured after the rotation, so that small ones are accurate too.
    """
    turn = principal_axes(matrix.T @ matrix).astype(matrix.dtype)
    left = matrix @ turn
    sizes = np.sqrt(np.einsum("ij,ij->j", left, left, dtype=np.float64))
    roots, inverse = roots_of(sizes, matrix.dtype)
    left *= inverse
    return left, None if right is None else right @ turn * roots


def principal_axes(products: NDArray[Any]) -> NDArray[np.float64]:
    """Return the eigenvectors of MᵗM as columns, the largest eigenvalue first.

    The largest entry of each is positive: the sign of an eigenvector is arbitrary, and libraries
    differ.
    """
    return with_fixed_signs(np.linalg.eigh(products.astype(np.float64))[1][:, ::-1])


def with_fixed_signs(axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns, some of them negated, so that the largest entry of each is positive."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return np.asarray(np.where(largest < 0, -axes, axes))


def roots_of(sizes: NDArray[np.float64], dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return roots of singular values and their inverses; zeros for nothing but rounding errors."""
    rounding = 100 * np.finfo(dtype).eps * sizes.max(initial=0.0)
    roots = np.sqrt(np.where(sizes > rounding, sizes, 0)).astype(dtype)
    return roots, np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)


def without_strays(vectors: NDArray[Any], adjacency: Any) -> NDArray[Any]:
    """Set entries of singular vectors to zero that only rounding errors made nonzero, in place.

    The matrices of a graph have no entries between its components, so a singular vector belongs to
    one component (or several, with equal singular values), and is zero in all others.
    """
    count, component = connected_components(adjacency, directed=False)
    for column in vectors.T:
        shares = np.bincount(component, column.astype(np.float64) ** 2, count)
        column[(shares < 1e-6 * shares.sum())[component]] = 0
    return vectors
