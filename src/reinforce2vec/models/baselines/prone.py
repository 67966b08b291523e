"""ProNE: a sparse matrix of the edges, factorised; the vectors are smoothed along the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..._util.checks import check_flag
from ...graph import Graph
from ...graph.matrices import singular_factors, undirected_adjacency, unit_rows, without_strays
from .._filter import checked_filter, series
from .._memory import smoothing_bytes
from ..smoothing import smooth_learned
from ._factorize import Factorization, Matrix, fix_signs, undirected_links
from ._spectrum import Search, leading_eigenpairs

_SEARCH = Search(block=16, tolerance=1e-6)


class ProNE(Factorization):
    """ProNE (Zhang et al., IJCAI 2019): fast, and good with few dimensions.

    An edge from i to j with the transition probability p has the entry log p − log P(j), where
    P(j) is j's share of negative samples, in proportion to (Σᵢ pᵢⱼ) ^ 0.75. Left singular vectors
    of that matrix, times the square roots of the singular values, are scaled to length 1; then
    :func:`reinforce2vec.smooth` propagates them.

    Weights count. Directions are ignored; an edge that leads both ways counts once, with the
    weights of both.

    Parameters
    ----------
    dimensions : int, default 64
        Dimensions of a vector.
    smooth : bool, default True
        Whether to propagate the vectors; without it, those of the first stage are the result.
    order : int, default 10
        Terms of the filter's series, as in :func:`reinforce2vec.smooth`.
    mu : float, default 0.2
        Centre of the filter.
    theta : float, default 0.5
        Narrowness of the filter.
    seed : int, default 0
        Seed of the random vectors that the search for singular vectors starts from.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors, with the ids of their nodes.

    Examples
    --------
    >>> from reinforce2vec import ProNE, karate_club
    >>> ProNE(dimensions=16).fit_transform(karate_club()).shape
    (34, 16)
    """

    def __init__(
        self,
        dimensions: int = 64,
        smooth: bool = True,
        order: int = 10,
        mu: float = 0.2,
        theta: float = 0.5,
        seed: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.smooth = smooth
        self.order = order
        self.mu = mu
        self.theta = theta
        self.seed = seed

    def _check(self) -> None:
        check_flag("smooth", self.smooth)
        checked_filter(self.order, self.mu, self.theta)

    def _bytes(self, graph: Graph, dimensions: int, keep: bool) -> int:
        n, (arcs, making, kept) = graph.n_nodes, undirected_links(graph)
        information = 36 * arcs  # of the edges, and transposed; scipy takes indices of 64 bits
        stages = [_SEARCH.bytes_for(n, dimensions) + information]
        stages += [4 * 8 * n * dimensions + information]  # factors
        stages += [58 * arcs]  # to transpose: scipy 1.15 copies the indices
        smoothing = 0
        if self.smooth:
            smoothing = 4 * n * dimensions + smoothing_bytes(graph, dimensions)
        return max(making, kept + 16 * arcs + max(stages), smoothing)

    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        vectors = _factorised(graph, dimensions, rng, progress)
        if not self.smooth:
            return vectors
        coefficients = series(*checked_filter(self.order, self.mu, self.theta))
        return smooth_learned(vectors, graph, coefficients, backend="cpu", progress=progress)


def _factorised(graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool) -> Matrix:
    """Return the vectors of the first stage; all else is freed before the second."""
    adjacency = undirected_adjacency(graph)
    matrix = _edge_information(adjacency)
    transposed = scipy.sparse.csr_array(matrix.T)

    def product(new: Matrix) -> Matrix:
        return np.asarray(transposed @ (matrix @ np.ascontiguousarray(new)))

    _, right = leading_eigenpairs(product, graph.n_nodes, dimensions, rng, _SEARCH, progress)
    left, _ = singular_factors(matrix @ right)
    return unit_rows(without_strays(fix_signs(left), adjacency).astype(np.float32))


def _edge_information(adjacency: Any) -> Any:
    """Return log pᵢⱼ − log P(j) for every edge: p of transitions, P of negative samples."""
    matrix = adjacency.copy()
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    matrix.data = matrix.data / np.repeat(sums, np.diff(matrix.indptr))
    negatives = np.asarray(matrix.sum(axis=0)).ravel() ** 0.75
    matrix.data = np.log(matrix.data * negatives.sum() / negatives[matrix.indices])
    return matrix
