"""Smoothing on threads, in float32. The number of threads does not change a bit of the result."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._util.progress import Report
from ..._util.scratch import large_zeros
from ..._util.threads import Threads
from ...embedding.alignment import rotation_towards
from ...graph import Graph
from .._smoothing_parts import (
    Links,
    Recurrence,
    Work,
    axes_of,
    column_blocks,
    links_of,
    part_products,
    row_parts,
    scale_of,
    sum_of_products,
    turn_part,
)
from .eigenvectors import eigenvectors


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
    with Threads(workers) as threads:
        work = Work(threads, workers)
        signals = _filtered(work, vectors, links_of(graph, unit, degrees), coefficients, report)
        products = _products(work, signals, signals)
        _turn(work, signals, axes_of(products))
    return signals


def aligned(
    vectors: NDArray[np.float32],
    rows: NDArray[np.integer[Any]],
    reference: NDArray[np.float32],
    workers: int,
) -> NDArray[np.float32]:
    """Return vectors rotated so that some rows match the reference as well as possible."""
    result = _copied(vectors)
    with Threads(workers) as threads:
        work = Work(threads, workers)
        products = _products(work, _copied(result, rows), _copied(reference))
        _turn(work, result, rotation_towards(products, eigenvectors))
    return result


def _copied(matrix: NDArray[np.float32], rows: Any = None) -> NDArray[np.float32]:
    """Return a copy of a matrix, or of some of its rows."""
    count = len(matrix) if rows is None else len(rows)
    copy: NDArray[np.float32] = large_zeros((count, matrix.shape[1]))
    for part in row_parts(count):
        copy[part] = matrix[part if rows is None else rows[part]]
    return copy


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


def _filtered(
    work: Work,
    vectors: NDArray[np.float32],
    links: Links,
    coefficients: NDArray[np.float64],
    report: Report,
) -> NDArray[np.float32]:
    """Return D Σ cₖ Tₖ(P) vectors, up to a factor."""
    recurrence, scale = Recurrence(links, work.workers), scale_of(vectors)
    result = large_zeros(vectors.shape)
    blocks = column_blocks(vectors.shape[1])
    passes, done = len(blocks) * (len(coefficients) - 1), count(1)
    for columns in blocks:
        terms = recurrence.filter(
            work, vectors[:, columns], scale, coefficients, result[:, columns]
        )
        for _ in terms:
            report(next(done), passes)
    return result


def _products(work: Work, left: NDArray[np.float32], right: NDArray[np.float32]) -> Any:
    """Return leftᵗ right in float64; parts of the rows are always the same, and added in order."""
    parts = work.results(partial(part_products, left, right), row_parts(len(left)))
    return sum_of_products(parts, left.shape[1], left is right)


def _turn(work: Work, matrix: NDArray[np.float32], turn: NDArray[np.float64]) -> None:
    """Multiply the matrix by `turn`, and scale its rows to length 1, in place."""
    work.do(partial(turn_part, matrix, turn), row_parts(len(matrix)))
