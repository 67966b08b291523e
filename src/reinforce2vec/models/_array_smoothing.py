"""Smoothing in operations on whole arrays, of numpy on the CPU or CuPy on a GPU, in float64.

On the CPU this is the plain engine: read it before `cpu/smoothing.py`, which computes the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.progress import Report
from ..graph import Graph
from ._filter import COLUMNS, Filter, axes_from, slices

ROWS = 1 << 14  # turned at a time

_Array = Any  # of numpy or CuPy


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


def smoothed(
    xp: Any, links: Any, vectors: NDArray[np.float32], how: Filter, report: Report
) -> NDArray[np.float32]:
    """Return the smoothed vectors; with numpy and HostLinks, or CuPy and DeviceLinks."""
    signals = xp.empty(vectors.shape, np.float64)
    for rows in slices(len(vectors), ROWS):
        signals[rows] = xp.asarray(vectors[rows])
    _filter(xp, links, signals, how, report)
    return _orthogonal_units(xp, signals)


def _filter(xp: Any, links: Any, signals: _Array, how: Filter, report: Report) -> None:
    """Replace signals by D Σ cₖ Tₖ(P) signals, where P is the transition matrix."""
    near, own, degrees = map(xp.asarray, (how.unit / how.degrees, 1 / how.degrees, how.degrees))
    blocks, products = slices(signals.shape[1], COLUMNS), len(how.coefficients) - 1
    for done, columns in enumerate(blocks, 1):
        signal = xp.ascontiguousarray(signals[:, columns])
        sums = _clenshaw(lambda values: links.mixed(values, near, own), signal, how.coefficients)
        sums *= degrees[:, None]
        signals[:, columns] = sums
        report(done * products, len(blocks) * products)


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
    for rows in slices(len(signals), ROWS):
        part = signals[rows] @ turn
        lengths = xp.sqrt((part * part).sum(axis=1, keepdims=True))
        part /= xp.where(lengths > 0, lengths, 1)
        result[rows] = _to_host(part.astype(np.float32))
    return result


def _to_host(array: _Array) -> NDArray[Any]:
    return np.asarray(array if isinstance(array, np.ndarray) else array.get())
