"""Smoothing on threads, in float32. The number of threads does not change a bit of the result.

Every row is computed by one thread, in one order, and sums are those of fixed parts. Columns are
filtered in blocks that are stored by themselves: what a row needs of a neighbour is then two cache
lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.progress import Report
from ..._util.scratch import large_zeros
from ..._util.threads import Threads, in_turn
from ...embedding.matching import rotation_towards
from ...graph import Graph
from .._filter import COLUMNS, ROWS, Filter, axes_from, padded, slices
from .eigenvectors import eigenvectors
from .kernels import add_products, take_step, turn_rows

_PARTS = 8  # of the rows, for each thread
_LEAST_WORK = 1 << 17  # arcs, and some for each row, in a part
_ROW_WORK = 4  # a row takes as long as so many arcs
_SUMMED = 1 << 13  # rows whose products are summed by one thread

_Vectors = NDArray[np.float32]
_Square = NDArray[np.float64]


class _Work(NamedTuple):
    """Threads that share parts of the rows."""

    threads: ThreadPoolExecutor
    workers: int

    def results(self, work: Callable[[slice], Any], parts: Iterable[slice]) -> Iterable[Any]:
        """Yield the results of all parts, in their order."""
        return in_turn(self.threads, work, parts, 2 * self.workers)

    def do(self, work: Callable[[slice], None], parts: Iterable[slice]) -> None:
        """Do the work of all parts."""
        for _ in self.results(work, parts):
            pass


def smoothed(vectors: _Vectors, how: Filter, workers: int, report: Report) -> _Vectors:
    """Return the smoothed vectors."""
    with Threads(workers) as threads:
        work = _Work(threads, workers)
        signals = _filtered(work, vectors, how, report)
        _turn(work, signals, axes_from(*eigenvectors(_products(work, signals, signals))))
    return signals


def aligned(
    vectors: _Vectors, rows: NDArray[np.integer[Any]], reference: _Vectors, workers: int
) -> _Vectors:
    """Return vectors rotated so that some rows match the reference as well as possible."""
    result = _copied(vectors)
    with Threads(workers) as threads:
        work = _Work(threads, workers)
        products = _products(work, _copied(result, rows), _copied(reference))
        _turn(work, result, rotation_towards(products, eigenvectors))
    return result


def _copied(matrix: _Vectors, rows: Any = None) -> _Vectors:
    """Return a copy of a matrix, or of some of its rows."""
    count = len(matrix) if rows is None else len(rows)
    copy: _Vectors = large_zeros((count, matrix.shape[1]))
    for part in slices(count, _SUMMED):
        copy[part] = matrix[part if rows is None else rows[part]]
    return copy


def compile_kernels(weighted: bool) -> None:
    """Compile everything, by smoothing and aligning a graph of two nodes."""
    weights = np.ones(2) if weighted else None
    pair = Graph(np.array([0, 1, 2]), np.array([1, 0], np.int32), weights, np.arange(2))
    vectors = np.eye(2, dtype=np.float32)
    smoothed(vectors, Filter(pair, 1.0, np.full(2, 2.0), np.ones(3)), 1, lambda done, total: None)
    aligned(vectors, np.arange(2), vectors, 1)


# -- the filter --------------------------------------------------------------------------------


class _Recurrence:
    """Clenshaw's recurrence bₖ = cₖ x + 2 P bₖ₊₁ − bₖ₊₂ for some columns; a step is one pass.

    A step replaces bₖ₊₂ by bₖ, row by row, so that three arrays are enough.
    """

    def __init__(self, work: _Work, how: Filter) -> None:
        self.work, self.graph, self.unit = work, how.graph, how.unit
        self.parts = _equal_parts(how.graph.indptr, work.workers)
        self.inverse = (1 / how.degrees).astype(np.float32)
        self.signal, self.term, self.before = (
            large_zeros((how.graph.n_nodes, COLUMNS)) for _ in range(3)
        )

    def begin(self, vectors: _Vectors, scale: np.float32, last: np.float32) -> None:
        """Take columns of the vectors, and compute the last term."""
        width = vectors.shape[1]

        def begin(rows: slice) -> None:
            np.multiply(vectors[rows], scale, out=self.signal[rows, :width])
            self.signal[rows, width:] = 0
            np.multiply(self.signal[rows], last, out=self.term[rows])
            self.before[rows] = 0

        self.work.do(begin, self.parts)

    def step(self, coefficient: np.float32, twice: float) -> None:
        """Compute the next term."""
        links = self.graph.indptr, self.graph.indices, self.graph.weights, self.unit, self.inverse
        arrays = self.signal, coefficient, self.term, self.before

        def step(rows: slice) -> None:
            take_step(rows.start, rows.stop, *links, np.float32(twice), arrays)

        self.work.do(step, self.parts)
        self.term, self.before = self.before, self.term

    def end(self, result: _Vectors) -> None:
        """Write D times the current term to columns of the result."""
        width = result.shape[1]

        def end(rows: slice) -> None:
            np.divide(self.term[rows, :width], self.inverse[rows, None], out=result[rows])

        self.work.do(end, self.parts)


def _filtered(work: _Work, vectors: _Vectors, how: Filter, report: Report) -> _Vectors:
    """Return D Σ cₖ Tₖ(P) vectors, up to a factor."""
    recurrence, result = _Recurrence(work, how), large_zeros(vectors.shape)
    size = max(float(vectors.max(initial=0)), -float(vectors.min(initial=0)))
    # a power of two; with vectors multiplied by it, no sum can overflow
    scale = np.float32(2.0 ** -np.clip(np.frexp(size)[1], -120, 120))
    last, *others, first = how.coefficients[::-1].astype(np.float32)
    steps = [(coefficient, 2.0) for coefficient in others] + [(first, 1.0)]
    blocks, done = slices(vectors.shape[1], COLUMNS), 0
    for columns in blocks:
        recurrence.begin(vectors[:, columns], scale, last)
        for step in steps:
            recurrence.step(*step)
            done += 1
            report(done, len(blocks) * len(steps))
        recurrence.end(result[:, columns])
    return result


def _equal_parts(indptr: NDArray[np.int64], workers: int) -> list[slice]:
    """Return parts of the rows that take about the same time."""
    nodes = len(indptr) - 1

    def work_before(row: int) -> int:
        return int(indptr[row]) + _ROW_WORK * row

    n_parts = max(1, min(_PARTS * workers, work_before(nodes) // _LEAST_WORK))
    shares = (work_before(nodes) * part // n_parts for part in range(1, n_parts))
    cuts = [0, *(bisect_left(range(nodes), share, key=work_before) for share in shares), nodes]
    return [slice(*ends) for ends in pairwise(cuts)]


# -- orthogonal columns ------------------------------------------------------------------------


def _room(columns: int) -> _Square:
    return np.empty((ROWS, columns))


def _products(work: _Work, left: _Vectors, right: _Vectors) -> _Square:
    """Return leftᵗ right in float64; parts of the rows are always the same, and added in order."""
    dimensions, same = left.shape[1], left is right
    columns = padded(dimensions)

    def multiply(rows: slice) -> _Square:
        rooms, products = (_room(columns), _room(columns)), np.zeros((columns, columns))
        add_products(left, right, same, rows.start, rows.stop, rooms, products)
        return products

    total = np.zeros((columns, columns))
    for products in work.results(multiply, slices(len(left), _SUMMED)):
        total += products
    total = total[:dimensions, :dimensions]
    return np.triu(total) + np.triu(total, 1).T if same else total


def _turn(work: _Work, matrix: _Vectors, turn: _Square) -> None:
    """Multiply the matrix by `turn`, and scale its rows to length 1, in place."""
    columns = padded(len(turn))
    square = np.zeros((columns, columns))
    square[: len(turn), : len(turn)] = turn

    def multiply(rows: slice) -> None:
        turn_rows(matrix, rows.start, rows.stop, square, (_room(columns), _room(columns)))

    work.do(multiply, slices(len(matrix), _SUMMED))
