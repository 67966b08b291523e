"""Graphs as matrices, for what factorises or multiplies them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .graph import Graph, edges_of


def undirected_adjacency(graph: Graph) -> Any:
    """The adjacency without directions, as a scipy CSR array of float64.

    An edge that leads both ways counts once, and has the weights of both directions together.
    """
    return undirected(graph).to_scipy()


def undirected(graph: Graph) -> Graph:
    """The graph without directions: where edges lead both ways, their weights add up."""
    if not graph.directed:
        return graph
    ends, weights = edges_of(graph)
    return Graph.from_numbered(
        ends, weights if graph.weighted else None, graph.ids, self_loops=True
    )


def unit_rows(matrix: NDArray[Any]) -> NDArray[Any]:
    """Rows divided by their lengths, in place; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
    lengths[lengths == 0] = 1
    matrix /= lengths[:, None].astype(matrix.dtype)
    return matrix


def singular_factors(
    matrix: NDArray[Any], right: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """U √S of the thin singular value decomposition U S Vᵗ, in the shape of the matrix.

    If `right` holds orthonormal columns R of which the matrix is the image M R, the second is
    R V √S: together they are the factors of M. Directions in which there is nothing but rounding
    are zeros.

    By way of MᵗM, thirty times faster than of M itself; sizes are measured after the turn, so that
    small ones are right too.
    """
    turn = principal_axes(matrix.T @ matrix).astype(matrix.dtype)
    left = matrix @ turn
    sizes = np.sqrt(np.einsum("ij,ij->j", left, left, dtype=np.float64))
    roots, inverse = roots_of(sizes, matrix.dtype)
    left *= inverse
    return left, None if right is None else right @ turn * roots


def principal_axes(products: NDArray[Any]) -> NDArray[np.float64]:
    """Eigenvectors of MᵗM as columns, the largest eigenvalue first.

    The largest number of each is positive: eigenvectors have no sign, and libraries differ.
    """
    axes = np.linalg.eigh(products.astype(np.float64))[1][:, ::-1]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
    return np.asarray(np.where(largest < 0, -axes, axes))


def roots_of(sizes: NDArray[np.float64], dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Roots of singular values and their inverses; zeros where there is nothing but rounding."""
    rounding = 100 * np.finfo(dtype).eps * sizes.max(initial=0.0)
    roots = np.sqrt(np.where(sizes > rounding, sizes, 0)).astype(dtype)
    return roots, np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)


def without_strays(vectors: NDArray[Any], adjacency: Any) -> NDArray[Any]:
    """Singular vectors without what rounding left of them where they should be zero, in place.

    The matrices of a graph have no entries between its components, so a singular vector lives in
    one component (or some, of equal singular values), and is zero in all others.
    """
    count, component = connected_components(adjacency, directed=False)
    for column in vectors.T:
        shares = np.bincount(component, column.astype(np.float64) ** 2, count)
        column[(shares < 1e-6 * shares.sum())[component]] = 0
    return vectors
