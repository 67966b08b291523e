"""The two matrices that are trained."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import row_blocks
from .._util.machine import available_bytes
from .._util.scratch import large_arrays_in, large_zeros
from ._preparation import fill_inputs

Matrix = NDArray[np.float32]
_ROW = 16  # rows are filled up with zeros to a multiple of so many numbers, for vector registers


class Weights(NamedTuple):
    """Input vectors, which become the embedding, and output vectors: one row a node each.

    Rows may be wider than `dimensions`: they end with zeros, which training leaves zero.
    """

    inputs: Matrix
    outputs: Matrix
    dimensions: int

    @property
    def vectors(self) -> Matrix:
        """The embedding: a view, (nodes, dimensions)."""
        return self.inputs[:, : self.dimensions]

    def finite(self) -> bool:
        """Return whether every number is finite."""
        return all_finite(self.inputs, self.outputs)


def all_finite(*matrices: Matrix) -> bool:
    """Return whether every number of some matrices is finite."""
    return all(
        np.isfinite(matrix[rows]).all() for matrix in matrices for rows in row_blocks(matrix)
    )


def row_size(dimensions: int) -> int:
    """Return how many numbers a row takes, zeros included."""
    return -(-dimensions // _ROW) * _ROW


def weights_bytes(n_nodes: int, dimensions: int) -> int:
    """Return the bytes that the two matrices take."""
    return 2 * 4 * n_nodes * row_size(dimensions)


def scales_bytes(n_nodes: int, dimensions: Iterable[int]) -> int:
    """Return the bytes that the matrices of several windows take."""
    return sum(weights_bytes(n_nodes, one) for one in dimensions)


def zeros(n_nodes: int, dimensions: int) -> Matrix:
    """Return a matrix of zeros with aligned rows."""
    return large_zeros((n_nodes, row_size(dimensions)))


def blank_weights(n_nodes: int, dimensions: int) -> Weights:
    """Return two matrices of zeros, which take no memory before they are written to."""
    return Weights(zeros(n_nodes, dimensions), zeros(n_nodes, dimensions), dimensions)


def roomy_weights(n_nodes: int, dimensions: int) -> Weights:
    """Return two matrices of zeros; on disk, if they would take much of the memory that is free.

    The files are in the folder for temporary files, TMPDIR.
    """
    free = available_bytes()
    enough = free is None or weights_bytes(n_nodes, dimensions) <= free // 4
    with large_arrays_in(None if enough else Path(tempfile.gettempdir())):
        return blank_weights(n_nodes, dimensions)


def new_weights(n_nodes: int, dimensions: int, seed: int) -> Weights:
    """Return small random inputs and zero outputs, as word2vec begins."""
    weights = blank_weights(n_nodes, dimensions)
    fill_inputs(weights.inputs, np.arange(n_nodes, dtype=np.int32), dimensions, np.uint64(seed))
    return weights
