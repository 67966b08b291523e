"""What the fast engine's smoothing consists of: columns to filter, products of rows, turned rows.

Every row is computed by one thread, in one order, and sums are those of fixed parts. So neither
threads (`cpu/smoothing.py`) nor workers of a cluster (`ray/smoothing.py`) change a bit of the
result. Columns are filtered in blocks that are stored by themselves: what a row needs of a
neighbour is then two cache lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._util.scratch import large_zeros
from .._util.threads import in_turn
from ..graph import Graph
from ._axes import axes_from
from ._sizes import COLUMNS, ROWS, padded
from .cpu.eigenvectors import eigenvectors
from .cpu.kernels import add_products, take_step, turn_rows

_PARTS = 8  # of the rows, for each thread
_LEAST_WORK = 1 << 17  # arcs, and some for each row, in a part
_ROW_WORK = 4  # a row takes as long as so many arcs
_SUMMED = 1 << 13  # rows whose products are summed by one thread

_Result = TypeVar("_Result")


class Work:
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


class Links(NamedTuple):
    """An undirected graph to filter along: weights are multiplied by `unit`; 1 / degree."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    unit: float
    inverse: NDArray[np.float32]


def links_of(graph: Graph, unit: float, degrees: NDArray[np.float64]) -> Links:
    """Return what the filter needs of a graph."""
    inverse = (1 / degrees).astype(np.float32)
    return Links(graph.indptr, graph.indices, graph.weights, unit, inverse)


def scale_of(vectors: NDArray[np.float32]) -> np.float32:
    """Return a power of two; with vectors multiplied by it, no sum can overflow."""
    size = max(float(vectors.max(initial=0)), -float(vectors.min(initial=0)))
    return np.float32(2.0 ** -np.clip(np.frexp(size)[1], -120, 120))


def column_blocks(dimensions: int) -> list[slice]:
    """Return the columns that are filtered together."""
    return [
        slice(begin, min(begin + COLUMNS, dimensions)) for begin in range(0, dimensions, COLUMNS)
    ]


class Recurrence:
    """Clenshaw's recurrence bₖ = cₖ x + 2 P bₖ₊₁ − bₖ₊₂ for some columns; a step is one pass.

    Private methods do the work of some rows. A step replaces bₖ₊₂ by bₖ, row by row, so that three
    arrays are enough.
    """

    def __init__(self, links: Links, workers: int) -> None:
        *self._links, self._inverse = links
        self._parts = _equal_parts(links.indptr, workers)
        self._signal, self._term, self._before = (
            large_zeros((len(self._inverse), COLUMNS)) for _ in range(3)
        )

    def filter(
        self,
        work: Work,
        vectors: NDArray[np.float32],
        scale: np.float32,
        coefficients: NDArray[np.float64],
        result: NDArray[np.float32],
    ) -> Iterator[None]:
        """Write D Σ cₖ Tₖ(P) vectors, times the scale, to the result; yields after each product."""
        last, *others, first = coefficients[::-1].astype(np.float32)
        work.do(partial(self._begin, scale, vectors, last), self._parts)
        for coefficient in others:
            work.do(partial(self._step, coefficient, np.float32(2)), self._parts)
            self._swap()
            yield
        work.do(partial(self._step, first, np.float32(1)), self._parts)
        self._swap()
        work.do(partial(self._end, result), self._parts)
        yield

    def _begin(
        self, scale: np.float32, vectors: NDArray[np.float32], last: np.float32, rows: slice
    ) -> None:
        """Take columns of the vectors, and compute the last term."""
        width = vectors.shape[1]
        np.multiply(vectors[rows], scale, out=self._signal[rows, :width])
        self._signal[rows, width:] = 0
        np.multiply(self._signal[rows], last, out=self._term[rows])
        self._before[rows] = 0

    def _step(self, coefficient: np.float32, twice: np.float32, rows: slice) -> None:
        """Compute the next term; call `_swap` when all rows are done."""
        arrays = self._signal, coefficient, self._term, self._before
        take_step(rows.start, rows.stop, *self._links, self._inverse, twice, arrays)

    def _swap(self) -> None:
        """Make the next term the current one."""
        self._term, self._before = self._before, self._term

    def _end(self, result: NDArray[np.float32], rows: slice) -> None:
        """Write D times the current term to columns of the result."""
        width = result.shape[1]
        np.divide(self._term[rows, :width], self._inverse[rows, None], out=result[rows])


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


def _rooms(columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.empty((ROWS, columns)), np.empty((ROWS, columns))


def row_parts(nodes: int) -> list[slice]:
    """Return parts of the rows: always the same, so that sums over them are."""
    return [slice(first, min(first + _SUMMED, nodes)) for first in range(0, nodes, _SUMMED)]


def part_products(
    left: NDArray[np.float32], right: NDArray[np.float32], rows: slice
) -> NDArray[np.float64]:
    """Return leftᵗ right of some rows, for :func:`sum_of_products`."""
    columns = padded(left.shape[1])
    products = np.zeros((columns, columns))
    same = left is right
    add_products(left, right, same, rows.start, rows.stop, _rooms(columns), products)
    return products


def sum_of_products(
    parts: Iterable[NDArray[np.float64]], dimensions: int, same: bool
) -> NDArray[np.float64]:
    """Return the sum of the products of all parts, which come in their order."""
    columns = padded(dimensions)
    total = np.zeros((columns, columns))
    for products in parts:
        total += products
    total = total[:dimensions, :dimensions]
    return np.triu(total) + np.triu(total, 1).T if same else total


def turn_part(matrix: NDArray[np.float32], turn: NDArray[np.float64], rows: slice) -> None:
    """Multiply some rows by `turn`, and scale them to length 1, in place."""
    columns = padded(len(turn))
    square = np.zeros((columns, columns))
    square[: len(turn), : len(turn)] = turn
    turn_rows(matrix, rows.start, rows.stop, square, _rooms(columns))


def axes_of(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix that makes columns with these products orthogonal."""
    return axes_from(*eigenvectors(products))
