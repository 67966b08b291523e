"""Smoothing in operations on whole arrays, of numpy on the CPU or CuPy on a GPU, in float64.

On the CPU this is the plain engine: read it before `cpu/smoothing.py`, which computes the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.progress import Report
from ..graph import Graph
from ._axes import axes_from

_COLUMNS = 32  # filtered at a time, so that they stay in the cache; a warp has 32 lanes
_BLOCKS = 8  # of so many columns, in memory at once
_ROWS = 1 << 14  # turned at a time
_PARTS = 5  # of so many rows, in memory at once

_Array = Any  # of numpy or CuPy


class _Links(Protocol):
    """An undirected graph to smooth along."""

    def mixed(self, values: _Array, near: _Array, own: _Array) -> _Array:
        """Return own * values + near * (the weighted sum over the neighbours), for every node."""


class HostLinks:
    """An undirected graph in the CPU's memory."""

    def __init__(self, graph: Graph) -> None:
        self._adjacency = graph.to_scipy()

    def mixed(self, values: _Array, near: _Array, own: _Array) -> _Array:
        """Return own * values + near * (the weighted sum over the neighbours), for every node."""
        sums = self._adjacency @ values
        sums *= near[:, None]
        sums += own[:, None] * values
        return sums


def bytes_for_arrays(nodes: int, dimensions: int) -> int:
    """Estimate the memory for all columns, the degrees, and what is under way: columns or rows."""
    columns = _BLOCKS * min(_COLUMNS, dimensions) * nodes
    rows = _PARTS * dimensions * min(_ROWS, nodes)
    return 8 * ((dimensions + 6) * nodes + max(columns, rows))


def smoothed(
    xp: Any,
    links: _Links,
    vectors: NDArray[np.float32],
    unit: float,
    degrees: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    report: Report,
) -> NDArray[np.float32]:
    """Return the smoothed vectors; with numpy or CuPy as xp.

    Weights are multiplied by `unit`; degrees are sums of these products and 1 for the self-loop.
    The coefficients are those of :func:`reinforce2vec.models._series.series`.
    """
    signals = xp.empty(vectors.shape, np.float64)
    for rows in _blocks(len(vectors), _ROWS):
        signals[rows] = xp.asarray(vectors[rows])
    _filter(xp, links, signals, unit, degrees, coefficients, report)
    return _orthogonal_units(xp, signals)


def _blocks(size: int, step: int) -> Iterator[slice]:
    return (slice(first, first + step) for first in range(0, size, step))


def _filter(
    xp: Any,
    links: _Links,
    signals: _Array,
    unit: float,
    degrees: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    report: Report,
) -> None:
    """Replace signals by D Σ cₖ Tₖ(P) signals, where P is the transition matrix."""
    near, own, all_degrees = (
        xp.asarray(values) for values in (unit / degrees, 1 / degrees, degrees)
    )
    all_columns, products = list(_blocks(signals.shape[1], _COLUMNS)), len(coefficients) - 1
    for done, columns in enumerate(all_columns, 1):
        signal = xp.ascontiguousarray(signals[:, columns])
        sums = _clenshaw(lambda values: links.mixed(values, near, own), signal, coefficients)
        sums *= all_degrees[:, None]
        signals[:, columns] = sums
        report(done * products, len(all_columns) * products)


def _clenshaw(transition: Any, signal: _Array, coefficients: NDArray[np.float64]) -> _Array:
    """Return Σ cₖ Tₖ(P) signal, by bₖ = cₖ signal + 2 P bₖ₊₁ − bₖ₊₂; `transition` is P."""
    first, *others, last = coefficients.tolist()
    term, before = last * signal, None
    for coefficient in reversed(others):
        following = transition(term)
        following *= 2
        following += coefficient * signal
        if before is not None:
            following -= before
        before, term = term, following
    sums = transition(term)
    sums += first * signal
    if before is not None:
        sums -= before
    return sums


def _orthogonal_units(xp: Any, signals: _Array) -> NDArray[np.float32]:
    """Return U √S of the thin singular value decomposition, with rows of length 1."""
    turn = xp.asarray(axes_from(*np.linalg.eigh(_to_host(signals.T @ signals))))
    result = np.empty(signals.shape, np.float32)
    for rows in _blocks(len(signals), _ROWS):
        part = signals[rows] @ turn
        lengths = xp.sqrt((part * part).sum(axis=1, keepdims=True))
        part /= xp.where(lengths > 0, lengths, 1)
        result[rows] = _to_host(part.astype(np.float32))
    return result


def _to_host(array: _Array) -> NDArray[Any]:
    return np.asarray(array if isinstance(array, np.ndarray) else array.get())
