"""HOPE: proximity by the number of paths between nodes; longer paths count less."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

from ..._util.checks import check_number
from ..._util.errors import InputError
from ...graph import Graph
from ...graph.matrices import singular_factors
from ._factorize import Factorization, Matrix, fix_signs
from ._spectrum import Product, Search, leading_eigenpairs

_SEARCH = Search(block=16, tolerance=1e-8)
_SMALLEST, _LARGEST = 1e-100, 1e8  # of beta times the largest weight
_TERMS = 100  # of the series; beyond, a factorisation of I − βA is taken instead


class HOPE(Factorization):
    """HOPE (Ou et al., KDD 2016) with Katz proximity S = (I − βA)⁻¹ βA.

    Half of a vector describes the node as a source of paths, the other half as a target: U √Σ and
    V √Σ for the largest singular values Σ of S. Directions and weights count.

    Katz's sum over paths, βA + (βA)² + …, exists only for β below one over A's largest eigenvalue;
    S itself also exists for larger β, and is factorised here. On an undirected graph S has the
    eigenvectors of A, with eigenvalues βλ / (1 − βλ).

    The length of the vectors depends on β. With a small β they are so short that a regularised
    classifier cannot use them. So all are multiplied by the same number, which makes their mean
    squared length 1.

    Parameters
    ----------
    dimensions : int, default 64
        Dimensions of a vector; if they are odd, the source's half is the larger one.
    beta : float, default 0.01
        Katz's decay factor: a path of k steps counts beta ^ k.
    seed : int, default 0
        Seed of the random vectors that the search for singular vectors starts from.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors, with the ids of their nodes.

    Examples
    --------
    >>> from reinforce2vec import HOPE, karate_club
    >>> HOPE(dimensions=16).fit_transform(karate_club()).shape
    (34, 16)
    """

    def __init__(self, dimensions: int = 64, beta: float = 0.01, seed: int = 0) -> None:
        self.dimensions = dimensions
        self.beta = beta
        self.seed = seed

    def _check(self) -> None:
        check_number("beta", self.beta, above=0.0)

    def _bytes(self, graph: Graph, dimensions: int, keep: bool) -> int:
        n, arcs, rank = graph.n_nodes, len(graph.indices), min(-(-dimensions // 2), graph.n_nodes)
        factors = 6 if graph.directed else 4  # of so many columns each, when both halves are made
        columns = max(_SEARCH.bytes_for(n, rank), 8 * factors * n * rank)
        searching = columns + 8 * n + (32 if graph.directed else 16) * arcs + 4 * arcs
        return max(searching, 40 * n + (24 if graph.weighted else 32) * arcs)

    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        scaled = graph.to_scipy()
        largest = self.beta * scaled.data.max(initial=0.0)
        if largest > _LARGEST or 0 < largest < _SMALLEST:
            other = "smaller" if largest > 1 else "larger"
            raise InputError(
                f"beta={self.beta:g} times the largest weight is {largest:.3g}, which is too far "
                f"from 1: use a {other} beta, or {other} weights"
            )
        rank = min(-(-dimensions // 2), graph.n_nodes)
        scaled = scaled * self.beta
        halves = _directed if graph.directed else _undirected
        try:
            sources, targets = halves(scaled, rank, rng, progress)
        except np.linalg.LinAlgError:
            raise self._overflow() from None
        sources, targets = _moderate(sources, targets)
        if not (np.isfinite(sources).all() and np.isfinite(targets).all()):
            raise self._overflow()
        vectors = np.zeros((graph.n_nodes, dimensions), np.float32)
        middle = -(-dimensions // 2)
        vectors[:, :rank] = sources
        vectors[:, middle : middle + rank] = targets[:, : dimensions - middle]
        square = float(np.einsum("ij,ij->", vectors, vectors, dtype=np.float64))
        return vectors * np.float32(np.sqrt(graph.n_nodes / square)) if square > 0 else vectors

    def _overflow(self) -> InputError:
        return InputError(
            f"the proximities are too large for a computer with beta={self.beta:g}: use a smaller "
            "beta, or smaller weights"
        )


def _moderate(sources: Matrix, targets: Matrix) -> tuple[Matrix, Matrix]:
    """Return both, multiplied by a power of two if numbers of 32 bits could not hold them."""
    largest = max(np.abs(sources).max(initial=0.0), np.abs(targets).max(initial=0.0))
    if 1e-15 < largest < 1e15 or largest == 0 or not np.isfinite(largest):
        return sources, targets
    power = -int(np.frexp(largest)[1])
    return np.ldexp(sources, power), np.ldexp(targets, power)


def _undirected(
    scaled: Any, rank: int, rng: np.random.Generator, progress: bool
) -> tuple[Matrix, Matrix]:
    """Return both halves from the eigenvectors of βA for which |λ / (1 − λ)| is largest.

    On either side of its pole at 1 that function has no other extremum than 0 at 0, so the
    wanted eigenvalues are next to the ends of the spectrum, or next to the pole among those
    above: the method, which finds eigenvalues from the ends inwards, meets all of them before
    any that matter less, except for those far above the pole, which it meets first.
    """

    def proximity(values: Matrix) -> Matrix:
        with np.errstate(divide="ignore"):
            return np.asarray(values / (1 - values))

    def product(new: Matrix) -> Matrix:
        return np.asarray(scaled @ np.ascontiguousarray(new))

    search = _SEARCH._replace(importance=lambda values: np.abs(proximity(values)))
    values, vectors = leading_eigenpairs(product, scaled.shape[0], rank, rng, search, progress)
    if (np.abs(1 - values) < 1e-9).any():
        raise _singular()
    sources = fix_signs(vectors) * np.sqrt(np.abs(proximity(values)))
    return sources, sources * np.sign(proximity(values))


def _directed(
    scaled: Any, rank: int, rng: np.random.Generator, progress: bool
) -> tuple[Matrix, Matrix]:
    """Return both halves from singular vectors of S, which is known by its products."""
    turned = scipy.sparse.csr_array(scaled.T)
    solve, solve_turned = _solvers(scaled, turned)

    def forth(new: Matrix) -> Matrix:
        return solve(scaled @ np.ascontiguousarray(new))

    def product(new: Matrix) -> Matrix:
        return np.asarray(turned @ solve_turned(np.ascontiguousarray(forth(new))))

    _, right = leading_eigenpairs(product, scaled.shape[0], rank, rng, _SEARCH, progress)
    sources, targets = singular_factors(forth(right), right)
    assert targets is not None
    signs = np.where(sources.sum(axis=0) < 0, -1, 1)
    return sources * signs, targets * signs


def _solvers(scaled: Any, turned: Any) -> tuple[Product, Product]:
    """Return functions that multiply (I − βA)⁻¹, and its transpose, with vectors.

    They use the sum of (βA)ᵏ if it converges fast, else sparse triangular factors.
    """
    terms = [_terms(matrix) for matrix in (scaled, turned)]
    if terms[0] and terms[1]:
        return partial(_sum, scaled, terms[0]), partial(_sum, turned, terms[1])
    try:
        factors = splu(scipy.sparse.csc_matrix(scipy.sparse.eye(scaled.shape[0]) - scaled))
    except RuntimeError:
        raise _singular() from None
    return factors.solve, partial(factors.solve, trans="T")


def _terms(scaled: Any) -> int | None:
    """Return how many terms of the sum over (βA)ᵏ give all digits; None if too many.

    No entry of (βA)ᵏ is negative, so its largest row sum, which bounds what it makes of a vector,
    shows in its product with ones.
    """
    sums = np.ones(scaled.shape[0])
    for count in range(1, _TERMS):
        sums = scaled @ sums
        if sums.max() < 1e-12:
            return count
    return None


def _sum(scaled: Any, terms: int, vectors: Matrix) -> Matrix:
    """Return the sum of (βA)ᵏ times vectors, by Horner's rule."""
    total = vectors
    for _ in range(terms - 1):
        total = vectors + scaled @ total
    return total


def _singular() -> InputError:
    return InputError(
        "beta is one over an eigenvalue of the adjacency matrix, where the proximity is infinite: "
        "use another beta"
    )
