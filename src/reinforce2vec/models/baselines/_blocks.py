"""Matrices too large for memory, computed a few rows at a time, and powers of random walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..._util.machine import available_bytes

Matrix = NDArray[Any]

BLOCK_BYTES = 64 << 20  # of a dense block of rows
_KEPT_BYTES = 2 << 30  # of blocks; others are computed again whenever they are needed
_SPARSE = 0.15  # share of nonzero numbers up to which sparse products are faster


class Block(NamedTuple):
    """Some rows of a matrix, with the columns outside of which they are zero."""

    rows: slice
    columns: slice
    make: Callable[[], Any]


class BlockMatrix:
    """A matrix of float32 that is computed block by block.

    Blocks are kept as far as memory allows, as sparse matrices if few numbers are nonzero. Others
    are computed again for each product, which takes time; `reserved` bytes are left free for other
    uses. Products have the type of the vectors.
    """

    def __init__(
        self, n: int, blocks: list[Block], kept_bytes: int | None = None, reserved: int = 0
    ) -> None:
        self.n = n
        self.blocks = blocks
        self.kept: list[Any] = [None] * len(blocks)
        if kept_bytes is None:
            free = available_bytes()
            room = _KEPT_BYTES if free is None else min(free // 2, free - reserved)
            kept_bytes = max(0, min(_KEPT_BYTES, room))
        self.room = kept_bytes

    def __iter__(self) -> Iterator[tuple[slice, slice, Any]]:
        for number, block in enumerate(self.blocks):
            matrix = self.kept[number]
            if matrix is None:
                matrix = _in_fast_form(block.make())
                size = matrix.data.nbytes
                if scipy.sparse.issparse(matrix):
                    size += matrix.indices.nbytes + matrix.indptr.nbytes
                if size <= self.room:
                    self.kept[number] = matrix
                    self.room -= size
            yield block.rows, block.columns, matrix

    def product(self, vectors: Matrix, half: bool = False) -> Matrix:
        """Return the matrix times vectors; with `half`, it is symmetric, and blocks begin at the
        diagonal.
        """
        result = np.zeros((self.n, vectors.shape[1]), vectors.dtype)
        vectors = np.ascontiguousarray(vectors)
        for rows, columns, matrix in self:
            result[rows] += matrix @ vectors[columns]
            if half:
                beyond = matrix[:, rows.stop - rows.start :]
                result[rows.stop : columns.stop] += beyond.T @ vectors[rows]
        return result

    def gram_product(self, vectors: Matrix) -> Matrix:
        """Return XᵗX times vectors, where X is the matrix, in one pass over it."""
        result = np.zeros((self.n, vectors.shape[1]), vectors.dtype)
        vectors = np.ascontiguousarray(vectors)
        for _, columns, matrix in self:
            result[columns] += matrix.T @ (matrix @ vectors[columns])
        return result


def matrix_bytes(n: int, copies: int, *, half: bool = False, keep: bool = True) -> tuple[int, int]:
    """Estimate the memory of a square matrix: at most while it is made, and in later products.

    A block is made in so many copies. With `half`, blocks begin at the diagonal. Without `keep`,
    none is kept.
    """
    block = min(BLOCK_BYTES, 4 * n * n)
    size = 2 * n * n + block // 2 if half else 4 * n * n
    if keep and size <= _KEPT_BYTES:
        return size + (copies - 1) * block, size
    # the block before is freed after the next is made
    most = (_KEPT_BYTES if keep else 0) + copies * block + min(block, size - block)
    return most, most


def _in_fast_form(matrix: Any) -> Any:
    """Return a block in the form, sparse or dense, in which products with it are fast."""
    if scipy.sparse.issparse(matrix):
        share = matrix.nnz / max(1, matrix.shape[0] * matrix.shape[1])
        return matrix if share < 2 * _SPARSE else matrix.toarray()
    if np.count_nonzero(matrix) < _SPARSE * matrix.size:
        return scipy.sparse.csr_array(matrix)
    return matrix


def positive_logs(block: Any, factors: Any) -> Any:
    """Multiply the columns of a block by factors; return log max(x, 1) of every number x."""
    if scipy.sparse.issparse(block):
        block = block.copy()
        block.data = np.log(np.maximum(block.data * factors[block.indices], 1))
        block.eliminate_zeros()
        return block
    block = block * factors
    np.maximum(block, 1, out=block)
    return np.log(block, out=block)


def square_row_blocks(n: int) -> list[slice]:
    """Split the rows of a square matrix into dense blocks of up to BLOCK_BYTES."""
    size = max(1, BLOCK_BYTES // (4 * n)) if n else 1
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


# -- steps of a random walk ------------------------------------------------------------------------


class Steps:
    """Where a random walk is after some steps, for a block of starts at a time.

    Parameters
    ----------
    adjacency : scipy CSR array
        Transition probabilities are proportional to its rows; a walk ends at a row of zeros.
    """

    def __init__(self, adjacency: Any) -> None:
        self.n = adjacency.shape[0]
        sums = np.asarray(adjacency.sum(axis=1)).ravel()
        shares = adjacency.astype(np.float64)
        shares.data = shares.data / np.repeat(sums, np.diff(shares.indptr))
        self.forward = scipy.sparse.csr_array(shares).astype(np.float32)
        if self.forward.nnz < 2**31:  # else a sparse block has as many bytes as three dense ones
            self.forward.indices = self.forward.indices.astype(np.int32)
            self.forward.indptr = self.forward.indptr.astype(np.int32)
        self.backward = scipy.sparse.csr_array(self.forward.T)
        self.forward.sort_indices()

    def after(self, rows: slice) -> Iterator[Any]:
        """Yield the probabilities after 1, 2, ... steps: (rows, n), sparse while most are zero."""
        here = self.forward[rows]
        while True:
            # a sparse product takes about eight times as long for a nonzero number, and sparse
            # numbers twice the memory
            if scipy.sparse.issparse(here) and 8 * here.nnz >= here.shape[0] * self.n:
                here = here.toarray()
            yield here
            if scipy.sparse.issparse(here):
                here = here @ self.forward
            else:
                here = (self.backward @ np.ascontiguousarray(here.T)).T
