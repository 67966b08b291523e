"""Smoothing on threads, in float32: every row is computed by one thread, in one order.

So the number of threads does not change a bit of the result. Columns are filtered in blocks that
are stored by themselves: what a row needs of a neighbour is then two cache lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..._util.progress import Report
from ..._util.threads import in_turn
from ...embedding.alignment import rotation_towards
from ...graph import Graph
from .._axes import axes_from
from .._sizes import COLUMNS, ROWS, padded
from .eigenvectors import eigenvectors
from .kernels import add_products, take_step, turn_rows

_PARTS = 8  # of the rows, for each thread
_LEAST_WORK = 1 << 17  # arcs, and some for each row, in a part
_ROW_WORK = 4  # a row takes as long as so many arcs
_SUMMED = 1 << 13  # rows whose products are summed by one thread

_Result = TypeVar("_Result")


def smoothed(
    vectors: NDArray[np.float32],
    graph: Graph,
    unit: float,
    degrees: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    workers: int,
    report: Report,
) -> NDArray[np.float32]:
    """Return the smoothed vectors; as :func:`reinforce2vec.models._array_smoothing.smoothed`."""
    with ThreadPoolExecutor(workers) as threads:
        work = _Work(threads, workers)
        signals = _filtered(work, vectors, graph, unit, degrees, coefficients, report)
        products = _products(work, signals, signals)
        _turn(work, signals, axes_from(*eigenvectors(products)))
    return signals


def aligned(
    vectors: NDArray[np.float32],
    rows: NDArray[np.integer[Any]],
    reference: NDArray[np.float32],
    workers: int,
) -> NDArray[np.float32]:
    """Return vectors rotated so that some rows match the reference as well as possible."""
    result = np.array(vectors, np.float32, order="C")
    with ThreadPoolExecutor(workers) as threads:
        work = _Work(threads, workers)
        products = _products(work, result[rows], np.array(reference, np.float32, order="C"))
        _turn(work, result, rotation_towards(products, eigenvectors))
    return result


def compile_kernels(weighted: bool) -> None:
    """Compile everything, by smoothing and aligning a graph of two nodes."""
    weights = np.ones(2) if weighted else None
    arcs = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    vectors = np.eye(2, dtype=np.float32)
    smoothed(
        vectors, Graph(*arcs, weights, np.arange(2)), 1.0, np.full(2, 2.0), np.ones(3), 1,
        lambda done, total: None,
    )  # fmt: skip
    aligned(vectors, np.arange(2), vectors, 1)


class _Work:
    """Threads, and the parts of the rows that they share."""

    def __init__(self, threads: ThreadPoolExecutor, workers: int) -> None:
        self.threads, self.workers = threads, workers

    def results(
        self, work: Callable[[slice], _Result], parts: Iterable[slice]
    ) -> Iterable[_Result]:
        """Yield the results of all parts, in their order."""
        return in_turn(self.threads, work, parts, 2 * self.workers)

    def do(self, work: Callable[[slice], None], parts: Iterable[slice]) -> None:
        """Do the work of all parts."""
        for _ in self.results(work, parts):
            pass


# -- the filter --------------------------------------------------------------------------------


def _filtered(
    work: _Work,
    vectors: NDArray[np.float32],
    graph: Graph,
    unit: float,
    degrees: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    report: Report,
) -> NDArray[np.float32]:
    """Return D Σ cₖ Tₖ(P) vectors, up to a factor."""
    dimensions = vectors.shape[1]
    size = max(float(vectors.max(initial=0)), -float(vectors.min(initial=0)))
    scale = np.float32(2.0 ** -np.clip(np.frexp(size)[1], -120, 120))  # no sum can overflow
    recurrence = _Recurrence(graph, unit, degrees)
    parts = _equal_parts(graph, work.workers)
    result = np.empty(vectors.shape, np.float32)
    last, *others, first = coefficients[::-1].astype(np.float32)
    passes = -(-dimensions // COLUMNS) * (len(others) + 1)
    done = count(1)
    for begin in range(0, dimensions, COLUMNS):
        columns = slice(begin, min(begin + COLUMNS, dimensions))
        work.do(partial(recurrence.begin, scale, vectors[:, columns], last), parts)
        for coefficient in others:
            work.do(partial(recurrence.step, coefficient, np.float32(2)), parts)
            recurrence.swap()
            report(next(done), passes)
        work.do(partial(recurrence.step, first, np.float32(1)), parts)
        recurrence.swap()
        work.do(partial(recurrence.end, result[:, columns]), parts)
        report(next(done), passes)
    return result


class _Recurrence:
    """Clenshaw's recurrence bₖ = cₖ x + 2 P bₖ₊₁ − bₖ₊₂ for some columns; a step is one pass.

    Methods do the work of some rows. A step replaces bₖ₊₂ by bₖ, row by row, so that three arrays
    are enough.
    """

    def __init__(self, graph: Graph, unit: float, degrees: NDArray[np.float64]) -> None:
        self._links = graph.indptr, graph.indices, graph.weights, unit
        self._inverse = (1 / degrees).astype(np.float32)
        self._signal, self._term, self._before = (
            np.zeros((graph.n_nodes, COLUMNS), np.float32) for _ in range(3)
        )

    def begin(
        self, scale: np.float32, vectors: NDArray[np.float32], last: np.float32, rows: slice
    ) -> None:
        """Take columns of the vectors, and compute the last term."""
        width = vectors.shape[1]
        np.multiply(vectors[rows], scale, out=self._signal[rows, :width])
        self._signal[rows, width:] = 0
        np.multiply(self._signal[rows], last, out=self._term[rows])
        self._before[rows] = 0

    def step(self, coefficient: np.float32, twice: np.float32, rows: slice) -> None:
        """Compute the next term; call `swap` when all rows are done."""
        arrays = self._signal, coefficient, self._term, self._before
        take_step(rows.start, rows.stop, *self._links, self._inverse, twice, arrays)

    def swap(self) -> None:
        """Make the next term the current one."""
        self._term, self._before = self._before, self._term

    def end(self, result: NDArray[np.float32], rows: slice) -> None:
        """Write D times the current term to columns of the result."""
        width = result.shape[1]
        np.divide(self._term[rows, :width], self._inverse[rows, None], out=result[rows])


def _equal_parts(graph: Graph, workers: int) -> list[slice]:
    """Return parts of the rows that take about the same time."""
    nodes = graph.n_nodes

    def work_before(row: int) -> int:
        return int(graph.indptr[row]) + _ROW_WORK * row

    n_parts = max(1, min(_PARTS * workers, work_before(nodes) // _LEAST_WORK))
    shares = (work_before(nodes) * part // n_parts for part in range(1, n_parts))
    cuts = [0, *(bisect_left(range(nodes), share, key=work_before) for share in shares), nodes]
    return [slice(*ends) for ends in pairwise(cuts)]


# -- orthogonal columns ------------------------------------------------------------------------


def _rooms(columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.empty((ROWS, columns)), np.empty((ROWS, columns))


def _row_parts(nodes: int) -> list[slice]:
    return [slice(first, min(first + _SUMMED, nodes)) for first in range(0, nodes, _SUMMED)]


def _products(work: _Work, left: NDArray[np.float32], right: NDArray[np.float32]) -> Any:
    """Return leftᵗ right in float64; parts of the rows are always the same, and added in order."""
    dimensions, same = left.shape[1], left is right
    columns = padded(dimensions)

    def of_part(rows: slice) -> NDArray[np.float64]:
        products = np.zeros((columns, columns))
        add_products(left, right, same, rows.start, rows.stop, _rooms(columns), products)
        return products

    total = np.zeros((columns, columns))
    for products in work.results(of_part, _row_parts(len(left))):
        total += products
    total = total[:dimensions, :dimensions]
    return np.triu(total) + np.triu(total, 1).T if same else total


def _turn(work: _Work, matrix: NDArray[np.float32], turn: NDArray[np.float64]) -> None:
    """Multiply the matrix by `turn`, and scale its rows to length 1, in place."""
    columns = padded(len(turn))
    square = np.zeros((columns, columns))
    square[: len(turn), : len(turn)] = turn

    def turn_part(rows: slice) -> None:
        turn_rows(matrix, rows.start, rows.stop, square, _rooms(columns))

    work.do(turn_part, _row_parts(len(matrix)))
