"""Spectral embedding: the eigenvectors that vary most slowly along the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..._util.checks import check_number
from ...graph import Graph
from ...graph.matrices import undirected_adjacency, unit_rows
from ._factorize import Factorization, Matrix, fix_signs, undirected_links
from ._spectrum import Product, Search, leading_eigenpairs

_SEARCH = Search(32, 3e-4, confirm=0, dtype=np.float32, importance=lambda values: values)
_MOST = 1000.0  # of regularisation: beyond, nothing of the graph is left
_SPARSE = 16  # mean degree, up to which one pass of the search has several products
_MOST_POWER = 7
_FREED = 1.05  # what the allocator has not given back yet, beside arrays: measured
_BUFFERS = 12 << 20  # bytes that BLAS takes for products of narrow matrices, at most: measured
_BELOW_ALL = 3.0  # taken from the trivial eigenvalue 1: the others are at least -1


class Spectral(Factorization):
    """Normalised spectral embedding (Ng, Jordan and Weiss, NIPS 2001): fast, and good for labels.

    The leading eigenvectors of the normalised adjacency matrix

        D^-½ (A + τ/n 11ᵗ) D^-½

    vary least along the edges. D has the row sums of the matrix in brackets. The first eigenvector
    is trivial, D^½ 1, and left out; each row of the others, scaled to length 1, is a node's vector.

    τ links all pairs of nodes weakly (regularised spectral clustering; Qin and Rohe, NIPS 2013).
    Without it, every component and every small group at the end of a single edge has an eigenvalue
    near 1, and such eigenvectors, which tell nothing of the other nodes, come first.

    Weights count. Directions are ignored; an edge that leads both ways counts once, with the
    weights of both.

    Parameters
    ----------
    dimensions : int, default 64
        Dimensions of a vector.
    regularization : float, default 0.1
        τ, as a share of the mean degree of all nodes that have edges; 0 for none.
    seed : int, default 0
        Seed of the random vectors that the search for eigenvectors starts from.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors, with the ids of their nodes.

    References
    ----------
    A. Ng, M. Jordan and Y. Weiss: On spectral clustering: analysis and an algorithm. NIPS 2001.
    U. von Luxburg: A tutorial on spectral clustering. Statistics and Computing, 2007.
    T. Qin and K. Rohe: Regularized spectral clustering under the degree-corrected stochastic
    blockmodel. NIPS 2013.

    Examples
    --------
    >>> from reinforce2vec import Spectral, karate_club
    >>> Spectral(dimensions=16).fit_transform(karate_club()).shape
    (34, 16)
    """

    def __init__(self, dimensions: int = 64, regularization: float = 0.1, seed: int = 0) -> None:
        self.dimensions = dimensions
        self.regularization = regularization
        self.seed = seed

    def _check(self) -> None:
        check_number("regularization", self.regularization, least=0.0, most=_MOST)

    def _bytes(self, graph: Graph, dimensions: int, keep: bool) -> int:
        n, (arcs, making, kept) = graph.n_nodes, undirected_links(graph)
        normalising = (26 if graph.weighted else 34) * arcs
        searching = 8 * arcs + _SEARCH.bytes_for(n, dimensions) + 8 * n
        arrays = max(making, kept + max(normalising, searching))
        return int(_FREED * arrays) + min(_BUFFERS, 8 * _SEARCH.block * n)

    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        product = _normalised(undirected_adjacency(graph), self.regularization)
        n, rank = graph.n_nodes, min(dimensions, graph.n_nodes - 1)
        return unit_rows(fix_signs(leading_eigenpairs(product, n, rank, rng, _SEARCH, progress)[1]))


def _normalised(adjacency: Any, regularization: float) -> Product:
    """Return products with a power of (M + I) / 2, M the normalised matrix.

    It has M's eigenvectors in M's order, but for the trivial one, which comes last. On sparse
    graphs, where many eigenvalues are close to the first, those of the power are further apart, and
    products cost little beside the search; odd powers keep the order of negative numbers, too.
    """
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    linked = degrees > 0
    count = max(int(np.count_nonzero(linked)), 1)
    tau = regularization * degrees.sum() / count
    roots = np.sqrt(np.where(linked, degrees + tau, 0))
    inverse = np.divide(1, roots, out=np.zeros_like(roots), where=linked)
    data = np.repeat(inverse, np.diff(adjacency.indptr))
    data *= adjacency.data
    data *= inverse[adjacency.indices]
    matrix = scipy.sparse.csr_array(
        (data.astype(np.float32), adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )
    # beside the edges: the links of all pairs, and less of the trivial eigenvector
    trivial = roots / max(np.linalg.norm(roots), 1e-300)
    columns = np.column_stack([np.sqrt(tau / count) * inverse, trivial]).astype(np.float32)
    signed = columns * np.array([1, -_BELOW_ALL], np.float32)

    power = min(1 + 2 * (_SPARSE * count // max(matrix.nnz, 1)), _MOST_POWER)

    def product(new: Matrix) -> Matrix:
        for _ in range(power):
            new = np.ascontiguousarray(new)
            image: Matrix = matrix @ new
            image += signed @ (columns.T @ new)
            image += new
            new = image
            new *= np.float32(0.5)
        return new

    return product
