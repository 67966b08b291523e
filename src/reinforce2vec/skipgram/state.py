"""The settings of a training, and its state: the two matrices of each window."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.arrays import row_blocks
from .._util.machine import available_bytes
from .._util.scratch import large_arrays_in, large_zeros
from ..graph import Graph
from ..graph.matrices import undirected_adjacency
from ._preparation import fill_inputs
from .rules import Visits, narrow_rate

Matrix = NDArray[np.float32]

POINTS = 100  # of the loss curve, at most
_NARROW = 4  # windows below the widest share one of so many parts of the dimensions
_NEXT_SEED = 0x9E3779B97F4A7C15  # from the seed of a scale to that of the next
_ROW = 16  # rows are filled up with zeros to a multiple of so many numbers, for vector registers


class Settings(NamedTuple):
    """The hyperparameters of a training; see :class:`Reinforce2Vec`."""

    dimensions: int = 64
    window: int | tuple[int, ...] = 10
    negatives: int = 5
    epochs: int = 1
    learning_rate: float = 0.025
    subsample: float = 0.0
    seed: int = 0
    rates: tuple[float, ...] = ()  #: learning rates of the windows, if they are not the usual ones

    @property
    def windows(self) -> tuple[int, ...]:
        """The windows that are trained, the narrowest first."""
        windows = (self.window,) if isinstance(self.window, int) else self.window
        return windows[-self.dimensions :]

    @property
    def widest(self) -> int:
        """The widest window."""
        return self.windows[-1]

    @property
    def shares(self) -> list[int]:
        """The dimensions of each window."""
        return split(self.dimensions, len(self.windows))

    def scales(self) -> list[Settings]:
        """Return the settings of each window: its dimensions, its rate, and a seed of its own.

        >>> scales = Settings(128, (1, 10), learning_rate=0.05).scales()
        >>> [(one.window, one.dimensions, one.learning_rate) for one in scales]
        [(1, 32, 0.1), (10, 96, 0.05)]
        """
        usual = [self.learning_rate * narrow_rate(window, self.widest) for window in self.windows]
        parts = zip(self.shares, self.windows, self.rates or usual, strict=True)
        return [
            self._replace(
                dimensions=share,
                window=window,
                learning_rate=rate,
                seed=(self.seed + number * _NEXT_SEED) % 2**64,
                rates=(),
            )
            for number, (share, window, rate) in enumerate(parts)
        ]

    def slower(self, number: int) -> Settings:
        """Return these settings with half of the learning rate for one of the windows."""
        rates = [one.learning_rate for one in self.scales()]
        rates[number] /= 2
        return self._replace(rates=tuple(rates))

    def scaled(self, factor: float) -> Settings:
        """Return these settings with all learning rates multiplied by a factor."""
        rates = [factor * one.learning_rate for one in self.scales()]
        return self._replace(rates=tuple(rates))


def split(dimensions: int, n_windows: int) -> list[int]:
    """Return the dimensions of each window: the widest has three quarters, the others the rest.

    >>> split(128, 2), split(64, 3), split(64, 1), split(3, 3)
    ([32, 96], [8, 8, 48], [64], [1, 1, 1])
    """
    others = n_windows - 1
    narrow = max(1, dimensions // (_NARROW * others)) if others else 0
    return [narrow] * others + [dimensions - narrow * others]


class StoredRows(NamedTuple):
    """Files with the rows of a checkpoint, by name, and their digests; see `checkpoint`."""

    folder: Path
    digests: Mapping[str, str]


@dataclass
class State:
    """The state of a training: all that is needed to resume it."""

    scales: Sequence[Weights]  #: what is trained, for each window
    visits: Visits
    walks: int = 0
    tokens: int = 0
    seconds: float = 0.0
    losses: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    blank: bool = False  #: whether the engine has to fill the weights first
    rows: StoredRows | None = None  #: files that the engine has to read the weights from first
    rates: tuple[float, ...] = ()  #: learning rates of the windows, if they are not the usual ones

    def __post_init__(self) -> None:
        if not self.losses.size:
            self.losses = np.zeros((len(self.scales), POINTS))
            self.pairs = np.zeros((len(self.scales), POINTS), np.int64)

    @property
    def dimensions(self) -> int:
        """Dimensions of a vector, over all windows."""
        return sum(weights.dimensions for weights in self.scales)

    @property
    def vectors(self) -> Matrix:
        """The vectors of all windows side by side; of a single window, a view."""
        if len(self.scales) == 1:
            return self.scales[0].vectors
        vectors = large_zeros((len(self.scales[0].inputs), self.dimensions))
        return np.concatenate([weights.vectors for weights in self.scales], axis=1, out=vectors)

    @property
    def loss_curve(self) -> NDArray[np.float64]:
        """Mean loss of a pair and its negatives, over each hundredth of the training so far.

        With several windows, a column for each.
        """
        some = (self.pairs > 0).all(axis=0)
        curves: NDArray[np.float64] = (self.losses[:, some] / self.pairs[:, some]).T
        return curves[:, 0] if len(self.scales) == 1 else curves


def carry_over(old: State, new: State, graph: Graph, n_old: int) -> None:
    """Start a training where another ended; nodes from row n_old on at their neighbours' mean."""
    new.visits[:n_old] += old.visits
    links = scipy.sparse.csr_array(undirected_adjacency(graph)[n_old:, :n_old])
    sums = np.asarray(links.sum(axis=1)).ravel()
    placed = np.flatnonzero(sums > 0)
    for old_weights, new_weights in zip(old.scales, new.scales, strict=True):
        for before, after in zip(old_weights[:2], new_weights[:2], strict=True):
            after[:n_old] = before
            after[n_old + placed] = (links[placed] @ before) / sums[placed, None]


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
