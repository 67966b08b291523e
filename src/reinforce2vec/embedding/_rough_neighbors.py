"""Most of the most similar rows of a large matrix, in little time: what a map of it needs.

Random trees part the rows by random directions; rows in a leaf are compared with each other, in
several trees. Then the neighbours of neighbours are compared, twice. Every row is worked out from
what was known of all rows before, so that the result does not depend on the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import kernel
from .._util.machine import available_cpus
from .._util.progress import Report
from .._util.threads import Threads, do_all

_TREES = 4
_LEAF = 200  # rows, at most
_ROUNDS = 2  # of comparing neighbours of neighbours
_AT_A_TIME = 1 << 14  # rows for which a thread works at a time

_Rows = NDArray[np.int32]
_Vectors = NDArray[np.float32]


def rough_neighbors(
    units: _Vectors, k: int, seed: int, report: Report
) -> tuple[_Rows, NDArray[np.float32]]:
    """Return about the k most similar rows of each, the most similar first, and their cosines.

    Parameters
    ----------
    units : float32 array (n, dimensions)
        Vectors of length 1, or 0.
    k : int
        Less than n.
    seed : int
        Seed of the trees.
    report : callable
        Called with how much is done, and how much there is to do.

    Returns
    -------
    int32 array (n, k) and float32 array (n, k)
        -1 and NaN where fewer were found.
    """
    n = len(units)
    rows = np.full((n, k), -1, np.int32)
    cosines = np.full((n, k), -np.inf, np.float32)
    work = _TREES + 2 * _ROUNDS
    with Threads(available_cpus()) as threads:
        for tree in range(_TREES):
            leaves = _grow_tree(units, np.random.default_rng((seed, tree)))
            some = np.array_split(np.arange(len(leaves.begins) - 1), 4 * available_cpus())
            do_all(threads, partial(_compare_some, leaves, units, rows, cosines), some)
            report(tree + 1, work)
        for turn in range(_ROUNDS):
            ask = partial(_ask_some, units, rows.copy(), _some_sources(rows), rows, cosines)
            do_all(threads, ask, range(0, n, _AT_A_TIME))
            report(_TREES + 2 * (turn + 1), work)
    missing = rows < 0
    cosines[missing] = np.nan
    return rows, cosines


class _Leaves(NamedTuple):
    """The rows in the order of a tree, and where its leaves begin and the last ends."""

    order: _Rows
    begins: NDArray[np.int64]


def _compare_some(
    leaves: _Leaves, units: _Vectors, rows: _Rows, cosines: _Vectors, some: NDArray[np.int64]
) -> None:
    """Compare the rows of some leaves, one after another, with each other."""
    if len(some):
        begins = leaves.begins[some[0] : some[-1] + 2]
        _compare_leaves(leaves.order, begins, units, rows, cosines)


def _ask_some(
    units: _Vectors, known: _Rows, back: _Rows, rows: _Rows, cosines: _Vectors, first: int
) -> None:
    """Compare as many rows as are compared at a time with neighbours of their neighbours."""
    last = min(first + _AT_A_TIME, len(units))
    _ask_neighbours(first, last, units, known, back, rows, cosines)


def _grow_tree(units: _Vectors, rng: np.random.Generator) -> _Leaves:
    """Halve the rows again and again, each part along the difference of two of its rows."""
    n = len(units)
    order = rng.permutation(n).astype(np.int32)
    begins = np.array([0, n], np.int64)
    while np.diff(begins).max() > _LEAF:
        sizes = np.diff(begins)
        ends = begins[:-1] + rng.integers(0, sizes)
        others = begins[:-1] + rng.integers(0, sizes)
        directions = units[order[ends]] - units[order[others]]
        part = np.repeat(np.arange(len(sizes)), sizes)
        heights = np.empty(n, np.float32)
        for begin in range(0, n, _AT_A_TIME):
            some = slice(begin, begin + _AT_A_TIME)
            heights[some] = np.einsum("ij,ij->i", units[order[some]], directions[part[some]])
        order = order[np.lexsort((heights, part))]
        middles = begins[:-1] + sizes // 2
        begins = np.sort(np.concatenate([begins, middles]))
    return _Leaves(order, begins)


def _some_sources(rows: _Rows) -> _Rows:
    """Return for each row some rows that have it among their neighbours; -1 where there are few."""
    n, k = rows.shape
    targets = rows.ravel()
    sources = np.repeat(np.arange(n, dtype=np.int32), k)
    sources, targets = sources[targets >= 0], targets[targets >= 0]
    order = np.argsort(targets, kind="stable")
    sources, targets = sources[order], targets[order]
    place = np.arange(len(targets)) - np.searchsorted(targets, targets)
    kept = place < k
    found = np.full((n, k), -1, np.int32)
    found[targets[kept], place[kept]] = sources[kept]
    return found


@kernel
def _insert(rows: Any, cosines: Any, row: Any, other: Any, cosine: Any) -> Any:
    """Add a neighbour to the sorted list of a row, if it is near enough and not there."""
    k = rows.shape[1]
    if not cosine > cosines[row, k - 1]:
        return
    for place in range(k):
        if rows[row, place] == other:
            return
    place = k - 1
    while place > 0 and cosines[row, place - 1] < cosine:
        cosines[row, place] = cosines[row, place - 1]
        rows[row, place] = rows[row, place - 1]
        place -= 1
    cosines[row, place] = cosine
    rows[row, place] = other


@kernel
def _product(units: Any, a: Any, b: Any) -> Any:
    """Return the scalar product of two rows, in four sums that can be added side by side."""
    first = second = third = fourth = np.float32(0)
    whole = units.shape[1] // 4 * 4
    for i in range(0, whole, 4):
        first += units[a, i] * units[b, i]
        second += units[a, i + 1] * units[b, i + 1]
        third += units[a, i + 2] * units[b, i + 2]
        fourth += units[a, i + 3] * units[b, i + 3]
    for i in range(whole, units.shape[1]):
        first += units[a, i] * units[b, i]
    return (first + second) + (third + fourth)


@kernel
def _compare_leaves(order: Any, begins: Any, units: Any, rows: Any, cosines: Any) -> Any:
    """Add the rows of each leaf to each other's lists."""
    for leaf in range(len(begins) - 1):
        for i in range(begins[leaf], begins[leaf + 1]):
            for j in range(begins[leaf], i):
                a, b = order[i], order[j]
                cosine = _product(units, a, b)
                _insert(rows, cosines, a, b, cosine)
                _insert(rows, cosines, b, a, cosine)


@kernel
def _ask_neighbours(
    begin: Any, end: Any, units: Any, known: Any, back: Any, rows: Any, cosines: Any
) -> Any:
    """Add neighbours of neighbours to the lists of some rows."""
    k = known.shape[1]
    for row in range(begin, end):
        for way in range(2):
            for place in range(k):
                middle = known[row, place] if way == 0 else back[row, place]
                if middle < 0:
                    continue
                for further in range(k):
                    other = known[middle, further]
                    if other >= 0 and other != row:
                        _insert(rows, cosines, row, other, _product(units, row, other))
