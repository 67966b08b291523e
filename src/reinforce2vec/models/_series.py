"""The filter of smoothing, as a series of Chebyshev polynomials of the transition matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy.special import iv

_NEGLIGIBLE = 1e-7  # of the sum of all coefficients: the rounding error of a float32


def series(order: int, mu: float, theta: float) -> NDArray[np.float64]:
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
