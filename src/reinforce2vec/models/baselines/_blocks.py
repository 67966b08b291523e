"""Matrices too large to write down, made a few rows at a time, and walks that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._util.machine import available_bytes

Matrix = NDArray[Any]

BLOCK_BYTES = 64 << 20  # of a dense block of rows
KEPT_BYTES = 2 << 30  # of blocks; further ones are made anew whenever they are needed
SPARSE = 0.15  # share of numbers that are not zero up to which sparse products are faster


class Block(NamedTuple):
    """Some rows of a matrix, which is zero in them outside of some columns."""

    rows: slice
    columns: slice
    make: Callable[[], Any]


class BlockMatrix:
    """A matrix of float32 that is made block by block; kept as far as memory allows.

    Products are of the type of the vectors.

    A block is kept sparse if few of its numbers are not zero. What is not kept is made anew for
    each product, at the price of time.
    """

    def __init__(self, n: int, blocks: list[Block], kept_bytes: int | None = None) -> None:
        self.n = n
        self.blocks = blocks
        self.kept: list[Any] = [None] * len(blocks)
        free = available_bytes()
        self.room = min(KEPT_BYTES, KEPT_BYTES if free is None else free // 3)
        if kept_bytes is not None:
            self.room = kept_bytes

    def __iter__(self) -> Iterator[tuple[slice, slice, Any]]:
        for number, block in enumerate(self.blocks):
            matrix = self.kept[number]
            if matrix is None:
                matrix = lightest(block.make())
                size = matrix.data.nbytes
                if scipy.sparse.issparse(matrix):
                    size += matrix.indices.nbytes + matrix.indptr.nbytes
                if size <= self.room:
                    self.kept[number] = matrix
                    self.room -= size
            yield block.rows, block.columns, matrix

    def product(self, vectors: Matrix) -> Matrix:
        """The matrix times vectors."""
        result = np.zeros((self.n, vectors.shape[1]), vectors.dtype)
        vectors = np.ascontiguousarray(vectors)
        for rows, columns, matrix in self:
            result[rows] += matrix @ vectors[columns]
        return result

    def symmetric_product(self, vectors: Matrix) -> Matrix:
        """The matrix and its mirror image times vectors: blocks begin at the diagonal."""
        result = np.zeros((self.n, vectors.shape[1]), vectors.dtype)
        vectors = np.ascontiguousarray(vectors)
        for rows, columns, matrix in self:
            result[rows] += matrix @ vectors[columns]
            beyond = matrix[:, rows.stop - rows.start :]
            result[rows.stop : columns.stop] += beyond.T @ vectors[rows]
        return result

    def gram_product(self, vectors: Matrix) -> Matrix:
        """XᵗX times vectors, X being the matrix, in one pass over it."""
        result = np.zeros((self.n, vectors.shape[1]), vectors.dtype)
        vectors = np.ascontiguousarray(vectors)
        for _, columns, matrix in self:
            result[columns] += matrix.T @ (matrix @ vectors[columns])
        return result


def lightest(matrix: Any) -> Any:
    """A block in the form in which products with it are fast."""
    if scipy.sparse.issparse(matrix):
        share = matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1])
        return matrix if share < 2 * SPARSE else matrix.toarray()
    if np.count_nonzero(matrix) < SPARSE * matrix.size:
        return scipy.sparse.csr_array(matrix)
    return matrix


def positive_logs(block: Any, factors: Any) -> Any:
    """log max(x, 1) of every number x of a block, after its columns are multiplied by factors."""
    if scipy.sparse.issparse(block):
        block = block.copy()
        block.data = np.log(np.maximum(block.data * factors[block.indices], 1))
        block.eliminate_zeros()
        return block
    block = block * factors
    np.maximum(block, 1, out=block)
    return np.log(block, out=block)


def row_blocks(n: int) -> list[slice]:
    """Slices of the rows of a square matrix that are dense blocks of a modest size."""
    size = max(1, BLOCK_BYTES // (4 * n)) if n else 1
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


# -- steps of a random walk ------------------------------------------------------------------------


class Steps:
    """Where a random walk is after so many steps, for a block of starts at a time.

    Parameters
    ----------
    adjacency : scipy CSR array
        Chances are in proportion to its rows; nothing leaves a row of zeros.
    """

    def __init__(self, adjacency: Any) -> None:
        self.n = adjacency.shape[0]
        sums = np.asarray(adjacency.sum(axis=1)).ravel()
        shares = adjacency.astype(np.float64)
        shares.data = shares.data / np.repeat(sums, np.diff(shares.indptr))
        self.forward = scipy.sparse.csr_array(shares).astype(np.float32)
        self.backward = scipy.sparse.csr_array(self.forward.T)
        self.forward.sort_indices()

    def after(self, rows: slice) -> Iterator[Any]:
        """Chances after 1, 2, ... steps: sparse (rows, n) while few are not zero, then dense."""
        here = self.forward[rows]
        while True:
            yield here
            if scipy.sparse.issparse(here):
                # a sparse product takes about eight times as long for a number that is not zero
                if 8 * here.nnz < here.shape[0] * self.n:
                    here = here @ self.forward
                    continue
                here = here.toarray()
            here = (self.backward @ np.ascontiguousarray(here.T)).T
