"""Rotations of smoothed vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.matrices import roots_of, with_fixed_signs

_TIE = 1e-9  # of the largest product

_Matrix = NDArray[np.float64]


def axes_from(values: _Matrix, vectors: _Matrix) -> _Matrix:
    """Return a matrix B such that X B = U √S, where X = U S Vᵗ is the singular value decomposition.

    Takes the eigenvalues of XᵗX, ascending, and its eigenvectors as columns. Axes are sorted by
    their singular values, the largest first, and have fixed signs. An axis with nothing but
    rounding errors of float32 is zero.
    """
    _, inverse = roots_of(np.sqrt(np.maximum(values[::-1], 0)), np.float32)
    return np.asarray(with_fixed_signs(vectors[:, ::-1]) * inverse)


def rotation_towards(products: _Matrix, eigenvectors: Callable[[_Matrix], Any]) -> _Matrix:
    """Return the orthogonal R for which X R is nearest to Y, from the products Xᵗ Y.

    It is U Vᵗ, where U S Vᵗ is the singular value decomposition of the products; an axis with
    products of zero stays. `eigenvectors` returns the eigenvalues of a symmetric matrix, ascending,
    and its eigenvectors as columns. Those of [0 XᵗY; YᵗX 0] are (u, v) / √2 with eigenvalues S.
    """
    n = len(products)
    largest = np.abs(products).max(initial=0.0) or 1.0
    pairs = np.zeros((2 * n, 2 * n))
    pairs[:n, n:] = products + _TIE * largest * np.eye(n)
    pairs[n:, :n] = pairs[:n, n:].T
    _, vectors = eigenvectors(pairs)
    return np.asarray(2 * np.einsum("ik,jk->ij", vectors[:n, n:], vectors[n:, n:]))
