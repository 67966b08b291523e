"""What all engines share that smooth vectors: the filter, and the axes of the result."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import iv

from .._util.checks import check_count, check_number
from ..graph import Graph
from ..graph.matrices import roots_of, with_fixed_signs

COLUMNS = 32  # of signals, filtered together: a neighbour's are two cache lines; lanes of a warp
WIDE = 16  # columns of a tile of products
ROWS = 128  # whose products are computed at a time, so that they stay in the cache
_NEGLIGIBLE = 1e-7  # of the sum of all coefficients: the rounding error of a float32

_Matrix = NDArray[np.float64]


class Filter(NamedTuple):
    """A filter on the nodes of an undirected graph: D Σ cₖ Tₖ(P), see :func:`series`.

    Weights are multiplied by `unit`; degrees are sums of these products and 1 for the self-loop.
    """

    graph: Graph
    unit: float
    degrees: NDArray[np.float64]
    coefficients: NDArray[np.float64]


def filter_along(graph: Graph, coefficients: NDArray[np.float64]) -> Filter:
    """Return the filter on an undirected graph whose mean weight is made 1."""
    if graph.weights is None or graph.weights.size == 0:
        return Filter(graph, 1.0, 1 + graph.degrees.astype(np.float64), coefficients)
    unit = float(1 / graph.weights.mean())
    sums, linked = np.zeros(graph.n_nodes), np.flatnonzero(graph.degrees)
    sums[linked] = np.add.reduceat(graph.weights, graph.indptr[linked])
    return Filter(graph, unit, 1 + unit * sums, coefficients)


def checked_filter(order: Any, mu: Any, theta: Any) -> tuple[int, float, float]:
    """Return the parameters of the filter; InputError if one is out of range."""
    return (
        check_count("order", order, 2),
        check_number("mu", mu, least=0.0, most=2.0),
        check_number("theta", theta, above=0.0, most=100.0),
    )


def series(order: int = 10, mu: float = 0.2, theta: float = 0.5) -> NDArray[np.float64]:
    """Return c such that smoothed signals are D Σ cₖ Tₖ(P) x, up to a factor; P is D⁻¹ A.

    A is the adjacency matrix with self-loops, D has its degrees, and M = (1 − mu) I − P is the
    random-walk Laplacian less mu. The filter is F = I − exp(−θ y(M)) with y(M) = M²/2 − 1, and
    smoothing is A F x. ProNE approximates it by `order` terms of

        exp(−θ y) = I₀(θ) + 2 Σ (−1)ⁱ Iᵢ(θ) Tᵢ(y)

    with modified Bessel functions I, which converges since the eigenvalues of y(M) are in [−1, 1].
    These terms take two products with P each. But A F = D P F is also a polynomial of P, and the
    eigenvalues of P are in [−1, 1], too. So it has a Chebyshev series in P itself, with one product
    for each term. It is the same polynomial, less its last terms if they are negligible together:
    Tₖ(P) is at most 1. With the usual filter 10 products are left of 19.
    """
    terms = iv(np.arange(order), theta) * np.where(np.arange(order) % 2, 2.0, -2.0)
    terms[0] = 1 - iv(0, theta)
    terms = _without_tail(terms / np.abs(terms).max(), 1e-17)

    def smoothed(p: Any) -> Any:
        return p * chebyshev.chebval((1 - mu - p) ** 2 / 2 - 1, terms)

    return _without_tail(chebyshev.chebinterpolate(smoothed, 2 * len(terms) - 1), _NEGLIGIBLE)


def _without_tail(terms: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Leave out last terms that add up to no more than a share of the sum of all; two stay."""
    tails = np.cumsum(np.abs(terms[::-1]))[::-1]
    return terms[: max(2, np.count_nonzero(tails > share * tails[0]))]


def axes_from(values: _Matrix, vectors: _Matrix) -> _Matrix:
    """Return a matrix B such that X B = U √S, where X = U S Vᵗ is the singular value decomposition.

    Takes the eigenvalues of XᵗX, ascending, and its eigenvectors as columns. Axes are sorted by
    their singular values, the largest first, and have fixed signs. An axis with nothing but
    rounding errors of float32 is zero.
    """
    _, inverse = roots_of(np.sqrt(np.maximum(values[::-1], 0)), np.float32)
    return np.asarray(with_fixed_signs(vectors[:, ::-1]) * inverse)


def padded(dimensions: int) -> int:
    """Return the columns of whole tiles."""
    return -(-dimensions // WIDE) * WIDE


def slices(size: int, step: int) -> list[slice]:
    """Return slices of so many rows or columns: all of them, in order."""
    return [slice(first, min(first + step, size)) for first in range(0, size, step)]
