"""GraRep: similar vectors for nodes that reach the same nodes in one step, in two steps, ..."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._util.checks import check_count
from ..._util.progress import counted, part_of
from ...graph import Graph
from ...graph.matrices import singular_factors, undirected_adjacency, unit_rows, without_strays
from ._blocks import Block, BlockMatrix, Steps, matrix_bytes, positive_logs, square_row_blocks
from ._factorize import Factorization, Matrix, check_span, fix_signs, undirected_links
from ._spectrum import Search, leading_eigenpairs

SEARCH = Search(tolerance=1e-5, dtype=np.float32)
# one step is cheap, and its singular vectors live in few nodes: the others need every digit
_FIRST_SEARCH = Search(tolerance=1e-11)
_COPIES = 3  # of a block, while it is made: before a step, turned, and after it


class GraRep(Factorization):
    """GraRep (Cao, Lu and Xu, CIKM 2015): one part of the vector for each number of steps.

    With A the transition matrix of the random walk and n nodes, the part for k steps comes from
    X = max(log(Aᵏᵢⱼ / Σᵢ Aᵏᵢⱼ) − log(1/n), 0). The left singular vectors with the largest singular
    values, times their square roots, are the part, which is scaled to length 1.

    Weights count. Directions are ignored, as the authors recommend; an edge that leads both ways
    counts once, with the weights of both.

    Parameters
    ----------
    dimensions : int, default 64
        Dimensions of a vector, split evenly among the steps; the first steps get the remainder.
    steps : int, default 4
        The largest number of steps.
    seed : int, default 0
        Seed of the random vectors that the search for singular vectors starts from.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors, with the ids of their nodes.

    Examples
    --------
    >>> from reinforce2vec import GraRep, karate_club
    >>> GraRep(dimensions=16).fit_transform(karate_club()).shape
    (34, 16)
    """

    def __init__(self, dimensions: int = 64, steps: int = 4, seed: int = 0) -> None:
        self.dimensions = dimensions
        self.steps = steps
        self.seed = seed

    def _check(self) -> None:
        check_count("steps", self.steps, 1)

    def _bytes(self, graph: Graph, dimensions: int, keep: bool) -> int:
        n, a_part = graph.n_nodes, -(-dimensions // self.steps)
        arcs, making, kept = undirected_links(graph)
        matrix_at_first, matrix = matrix_bytes(n, _COPIES, keep=keep)
        search = max(
            _FIRST_SEARCH.bytes_for(n, a_part) + 16 * arcs,
            matrix_at_first + SEARCH.bytes_of_first_pass(n),
            matrix + SEARCH.bytes_for(n, a_part),
        )
        links = kept + 34 * arcs  # scipy 1.15 copies the indices to transpose them
        return max(making, search + links + 4 * n * dimensions)

    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        check_span(graph, "GraRep")
        walk = Steps(undirected_adjacency(graph))
        sums, parts = np.ones(graph.n_nodes), []
        for k in range(1, self.steps + 1):
            sums = walk.backward @ sums
            rank = dimensions // self.steps + (k <= dimensions % self.steps)
            if rank:
                with part_of(f"{k} of {counted(self.steps, 'step')}"):
                    parts.append(_part(walk, k, sums, rank, rng, progress))
        return np.concatenate(parts, axis=1)


def _part(
    walk: Steps,
    k: int,
    sums: NDArray[np.float64],
    rank: int,
    rng: np.random.Generator,
    progress: bool,
) -> Matrix:
    """Return the dimensions for k steps; `sums` are the column sums of the matrix."""
    n = walk.n
    scale = np.divide(n, sums, out=np.zeros(n), where=sums > 0).astype(np.float32)
    blocks = [
        Block(rows, slice(0, n), partial(_log_chances, walk, k, scale, rows))
        for rows in square_row_blocks(n)
    ]
    search = _FIRST_SEARCH if k == 1 else SEARCH
    reserved = SEARCH.bytes_for(n, rank) + matrix_bytes(n, _COPIES, keep=False)[1]
    matrix = BlockMatrix(n, blocks, reserved=reserved)
    _, right = leading_eigenpairs(matrix.gram_product, n, rank, rng, search, progress)
    left, _ = singular_factors(matrix.product(right))
    found = np.zeros((n, rank), np.float32)
    found[:, : left.shape[1]] = fix_signs(left)
    return unit_rows(without_strays(found, walk.forward))


def _log_chances(walk: Steps, k: int, scale: NDArray[np.float32], rows: slice) -> Any:
    """Return some rows of X, sparse or dense as the probabilities are."""
    chances = next(islice(walk.after(rows), k - 1, None))
    return positive_logs(chances, scale)
