"""Eigenvectors of a symmetric matrix on one thread, always in the same order of operations.

Those of LAPACK depend on the number of threads: 200 columns and more are summed in parts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inner, kernel

_MOST_STEPS = 100  # for an eigenvalue; it takes two or three
_ROUNDING = 2.0**-53  # relative error of a float64
_NOTHING = 1e-200  # of a sum of squares beside 1: far less than rounding, and with an inverse


def eigenvectors(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns."""
    largest = np.abs(matrix).max(initial=0.0)
    size = 2.0 ** np.frexp(largest)[1]  # a power of 2, so that scaling rounds nothing
    values, beside = np.empty(len(matrix)), np.zeros(len(matrix))
    rows = np.eye(len(matrix))
    _reduce(matrix / size, values, beside, rows, *np.empty((2, len(matrix))))
    negligible = _ROUNDING * (np.abs(values) + np.abs(beside)).max(initial=0.0)
    if not _diagonalise(values, beside, rows, negligible):
        raise ArithmeticError("the search for eigenvectors did not converge")
    order = np.argsort(values, kind="stable")
    return size * values[order], np.ascontiguousarray(rows[order].T)


@kernel
def _reduce(matrix, diagonal, beside, rows, v, product):
    """Make the matrix tridiagonal by Householder reflections; overwrites it.

    `rows`, an identity matrix, becomes Qᵗ, where Qᵗ matrix Q has the diagonal, and beside it the
    numbers `beside`, the last of which is 0. `v` and `product` are room for a row each.
    """
    n = len(matrix)
    for k in range(n - 2):
        square = 0.0
        for i in range(k + 1, n):
            square += matrix[k, i] ** 2
        if square < _NOTHING:
            continue
        norm = np.sqrt(square)
        head = -norm if matrix[k, k + 1] > 0 else norm
        for i in range(k + 1, n):
            v[i] = matrix[k, i]
        v[k + 1] -= head
        factor = 2.0 / (square - matrix[k, k + 1] ** 2 + v[k + 1] ** 2)
        matrix[k, k + 1] = head
        _multiply(v, matrix, k + 1, k + 1, product)
        overlap = 0.0
        for i in range(k + 1, n):
            product[i] *= factor
            overlap += product[i] * v[i]
        for i in range(k + 1, n):
            product[i] -= 0.5 * factor * overlap * v[i]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                matrix[i, j] -= v[i] * product[j] + product[i] * v[j]
        _multiply(v, rows, k + 1, 0, product)
        for i in range(k + 1, n):
            for j in range(n):
                rows[i, j] -= factor * v[i] * product[j]
    for k in range(n):
        diagonal[k] = matrix[k, k]
        beside[k] = matrix[k, k + 1] if k < n - 1 else 0.0


@inner
def _multiply(vector, matrix, first, column, product):
    """Multiply a vector by the rows of a matrix from `first` on, and its columns from `column`."""
    for j in range(product.size):
        product[j] = 0.0
    for i in range(first, product.size):
        for j in range(column, product.size):
            product[j] += vector[i] * matrix[i, j]


@kernel
def _diagonalise(diagonal, beside, rows, negligible):
    """Make a tridiagonal matrix diagonal by implicit QL steps, and rotate the rows with it.

    Numbers beside the diagonal are 0 if they are `negligible`. Returns False if that takes too
    many steps.
    """
    n = len(diagonal)
    for low in range(n):
        for step in range(_MOST_STEPS + 1):
            high = low
            while high < n - 1 and abs(beside[high]) > negligible:
                high += 1
            if high == low:
                break
            if step == _MOST_STEPS:
                return False
            slope = (diagonal[low + 1] - diagonal[low]) / (2.0 * beside[low])
            length = np.hypot(slope, 1.0)
            shift = diagonal[low] - beside[low] / (slope + np.copysign(length, slope))
            g, sine, cosine, removed = diagonal[high] - shift, 1.0, 1.0, 0.0
            split = False
            for i in range(high - 1, low - 1, -1):
                f, b = sine * beside[i], cosine * beside[i]
                length = np.hypot(f, g)
                beside[i + 1] = length
                if length == 0.0:
                    diagonal[i + 1] -= removed
                    beside[high] = 0.0
                    split = True
                    break
                sine, cosine = f / length, g / length
                g = diagonal[i + 1] - removed
                r = (diagonal[i] - g) * sine + 2.0 * cosine * b
                removed = sine * r
                diagonal[i + 1] = g + removed
                g = cosine * r - b
                for j in range(n):
                    upper, lower = rows[i, j], rows[i + 1, j]
                    rows[i + 1, j] = sine * upper + cosine * lower
                    rows[i, j] = cosine * upper - sine * lower
            if not split:
                diagonal[low] -= removed
                beside[low] = g
                beside[high] = 0.0
    return True
