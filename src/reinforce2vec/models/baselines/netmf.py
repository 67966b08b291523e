"""NetMF: the matrix that DeepWalk factorises implicitly, factorised explicitly."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, reduce
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ..._util.checks import check_count, check_number
from ..._util.errors import InputError
from ...graph import Graph, csr
from ...graph.matrices import undirected_adjacency
from ._blocks import Block, BlockMatrix, Steps, matrix_bytes, positive_logs, square_row_blocks
from ._factorize import Factorization, Matrix, check_span, fix_signs, undirected_links
from ._spectrum import Search, leading_eigenpairs

_EXACT = 5_000  # nodes in a component up to which powers of its matrix are computed exactly
_LARGEST = 1e38  # of the numbers of M
# a pass takes long, and no graph but one of equal parts needs it to be confirmed
SEARCH = Search(64, 1e-4, confirm=0, dtype=np.float32)
_COMPONENT_SEARCH = SEARCH._replace(block=16, importance=lambda values: values)
# of a block, while it is made: a sum and three of a step, or a product and its logarithms
_EXACT_COPIES, _COPIES = 4, 2


class NetMF(Factorization):
    """NetMF (Qiu et al., WSDM 2018): DeepWalk as a matrix factorisation.

    With P the transition matrix of the random walk, D the degrees and vol their sum, the matrix is
    log max(M, 1), where M = vol / (b T) · (P + P² + … + P^T) D⁻¹, T is the window and b the number
    of negatives. Its leading singular vectors, times the square roots of the singular values,
    are the node vectors.

    Connected components are computed separately, which changes the speed only: exactly with up to
    5,000 nodes ("NetMF for a small window"), larger ones by the `rank` leading eigenpairs of
    D^-½ A D^-½ ("for a large window"), as in the paper.

    Weights count. Directions are ignored; an edge that leads both ways counts once, with the
    weights of both.

    Parameters
    ----------
    dimensions : int, default 64
        Dimensions of a vector.
    window : int, default 10
        Largest distance between two nodes of a walk that count as a pair.
    negatives : float, default 1
        Negative samples for each pair.
    rank : int, default 256
        Eigenpairs that approximate a large component.
    seed : int, default 0
        Seed of the random vectors that the search for eigenvectors starts from.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors, with the ids of their nodes.

    Examples
    --------
    >>> from reinforce2vec import NetMF, karate_club
    >>> NetMF(dimensions=16).fit_transform(karate_club()).shape
    (34, 16)
    """

    def __init__(
        self,
        dimensions: int = 64,
        window: int = 10,
        negatives: float = 1,
        rank: int = 256,
        seed: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.negatives = negatives
        self.rank = rank
        self.seed = seed

    def _check(self) -> None:
        check_count("window", self.window, 1)
        check_count("rank", self.rank, 1)
        check_number("negatives", self.negatives, above=0.0)

    def _bytes(self, graph: Graph, dimensions: int, keep: bool) -> int:
        """Estimate the memory; where most nodes with edges are one component, not only a bound."""
        linked = graph.n_nodes - graph.n_isolated  # rows of others are empty, and sparse
        arcs, making, kept = undirected_links(graph)
        if linked <= _EXACT or _largest_component(graph) <= _EXACT:
            search, factors, n, copies = 0, 16 * arcs, graph.n_nodes, _EXACT_COPIES
        else:
            rank = min(self.rank, linked)
            search = _COMPONENT_SEARCH.bytes_for(linked, rank) + 28 * arcs
            search = max(search, (4 + 8 + 4) * linked * rank)
            factors, n, copies = 2 * 4 * linked * rank, linked, _COPIES
        matrix_at_first, matrix = matrix_bytes(n, copies, half=True, keep=keep)
        rows = max(
            matrix_at_first + SEARCH.bytes_of_first_pass(graph.n_nodes),
            matrix + SEARCH.bytes_for(graph.n_nodes, dimensions),
        )
        return max(making, kept + 48 * arcs + max(search, factors + rows))

    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        check_span(graph, "NetMF")
        adjacency = undirected_adjacency(graph)
        order, pieces = _pieces(adjacency)
        adjacency = adjacency[order][:, order]
        scale = self._scale(adjacency)
        blocks: list[Block] = []
        for piece, exact in pieces:
            links = scipy.sparse.csr_array(adjacency[piece, piece])
            if exact:
                make = _exact_rows(links, self.window, scale)
            else:
                make = _approximate_rows(links, self.window, scale, self.rank, rng, progress)
            for rows in square_row_blocks(links.shape[0]):
                whole = slice(piece.start + rows.start, piece.start + rows.stop)
                blocks.append(Block(whole, slice(whole.start, piece.stop), partial(make, rows)))
        n, rank = graph.n_nodes, min(dimensions, graph.n_nodes)
        reserved = SEARCH.bytes_for(n, dimensions)
        reserved += matrix_bytes(n, _EXACT_COPIES, half=True, keep=False)[1]
        product = partial(BlockMatrix(n, blocks, reserved=reserved).product, half=True)
        values, found = leading_eigenpairs(product, n, rank, rng, SEARCH, progress)
        vectors = np.empty(found.shape, np.float32)
        vectors[order] = fix_signs(found * np.sqrt(np.abs(values)))
        return vectors

    def _scale(self, adjacency: Any) -> float:
        """Return vol / b; InputError if M may have numbers that are too large for 32 bits."""
        sums = np.asarray(adjacency.sum(axis=1)).ravel()
        scale = float(sums.sum()) / float(self.negatives)
        if scale > _LARGEST * sums[sums > 0].min(initial=1.0):
            raise InputError(
                f"negatives={self.negatives:g} is too small for numbers of 32 bits: use a larger "
                "one",
                parameter="negatives",
                value=self.negatives,
            )
        return scale


def _largest_component(graph: Graph) -> int:
    """Return the number of nodes of the largest component."""
    towards = np.arange(graph.n_nodes, dtype=np.int32)
    csr.count_components(graph.indptr, graph.indices, not graph.directed, towards)
    while ((further := towards[towards]) != towards).any():  # to the first node of each
        towards = further
    return int(np.bincount(towards).max())


def _pieces(adjacency: Any) -> tuple[NDArray[np.int64], list[tuple[slice, bool]]]:
    """Return an order of nodes in which each large component, and all small ones, are slices.

    Each slice comes with whether it is to be computed exactly.
    """
    count, component = connected_components(adjacency, directed=False)
    sizes = np.bincount(component, minlength=count)
    large = np.flatnonzero(sizes > _EXACT)
    place = np.zeros(count, np.int64)  # 0: small
    place[large] = np.arange(1, len(large) + 1)
    order = np.argsort(place[component], kind="stable")
    ends = np.cumsum(np.bincount(place[component], minlength=len(large) + 1))
    starts = np.concatenate([[0], ends[:-1]])
    slices = [slice(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]
    return order, [(piece, not number) for number, piece in enumerate(slices)]


def _exact_rows(links: Any, window: int, scale: float) -> Callable[[slice], Any]:
    """Return a function that computes rows of log max(M, 1), from the diagonal on, exactly."""
    walk = Steps(links)
    degrees = np.asarray(links.sum(axis=1)).ravel()
    factors = np.divide(scale / window, degrees, out=np.zeros_like(degrees), where=degrees > 0)
    factors = factors.astype(np.float32)

    def make(rows: slice) -> Any:
        chances = islice(walk.after(rows), window)
        return positive_logs(reduce(operator.add, chances)[:, rows.start :], factors[rows.start :])

    return make


def _approximate_rows(
    links: Any, window: int, scale: float, rank: int, rng: np.random.Generator, progress: bool
) -> Callable[[slice], Any]:
    """Return a function that approximates rows of log max(M, 1), from the diagonal on."""
    roots = np.sqrt(np.asarray(links.sum(axis=1)).ravel())
    matrix = links.copy()
    matrix.data = matrix.data / roots[matrix.indices] / np.repeat(roots, np.diff(matrix.indptr))
    values, vectors = _leading(matrix.astype(np.float32), rank, rng, progress)
    near = np.mean([values**r for r in range(1, window + 1)], axis=0)
    right = (vectors / roots[:, None]).astype(np.float32)
    left = (right * (scale * near)).astype(np.float32)

    def make(rows: slice) -> Any:
        block: Matrix = left[rows] @ right[rows.start :].T
        return positive_logs(block, np.float32(1))

    return make


def _leading(
    matrix: Any, rank: int, rng: np.random.Generator, progress: bool
) -> tuple[NDArray[np.float64], Matrix]:
    """Return the leading eigenpairs of a normalised adjacency matrix A.

    Where many eigenvalues are close to 1, those of ((A + I) / 2)^q are much further apart, and in
    the same order. A rough search for a few of them shows which power q is right.
    """

    def found(rank: int, power: int, tolerance: float) -> tuple[NDArray[np.float64], Matrix]:
        def product(new: Matrix) -> Matrix:
            for _ in range(power):
                new = np.ascontiguousarray(new)
                new = (new + matrix @ new) * np.float32(0.5)
            return new

        search = _COMPONENT_SEARCH._replace(tolerance=tolerance)
        values, vectors = leading_eigenpairs(product, matrix.shape[0], rank, rng, search, progress)
        return 2 * np.maximum(values, 0) ** (1 / power) - 1, vectors

    close = found(32, 1, 1e-2)[0][-1]
    power = np.log(0.3) / np.log((1 + np.clip(close, 0, 0.99)) / 2)
    return found(rank, int(np.clip(power, 1, 16)), SEARCH.tolerance)
