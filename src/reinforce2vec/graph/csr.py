"""Numba kernels that build a sorted adjacency (CSR) of numbered edges, and alias tables of weights.

Nodes are 32-bit numbers, offsets are 64-bit. `weights` may be None: numba then compiles a version
without them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import inner, kernel
from .._util.random import below, left_over

_RUN = 32  # arcs to sort by insertion


# -- edges to rows -----------------------------------------------------------------------------
# One pass in random order writes every arc into its row. Rows are then sorted and parallel arcs
# merged in place, which stays in the cache and needs no second copy of the arcs.


@kernel
def fill_offsets(ends, mirror, keep_loops, indptr):
    """Fill `indptr`, which is 0, with where each node's arcs begin; return how many self-loops.

    `ends` (m, 2) holds each edge's source and target. With `mirror` every edge counts in both
    directions (a self-loop once).
    """
    loops = 0
    for i in range(len(ends)):
        s, t = np.uint32(ends[i, 0]), np.uint32(ends[i, 1])
        if s == t:
            loops += 1
            indptr[s] += keep_loops
        else:
            indptr[s] += 1
            indptr[t] += mirror
    total = 0
    for v in range(indptr.size):
        degree = indptr[v]
        indptr[v] = total
        total += degree
    return loops


@kernel
def fill_rows(ends, edge_weights, mirror, keep_loops, place, indices, weights):
    """Write each arc to the next free place of its row; `place` starts as the rows' offsets."""
    for i in range(len(ends)):
        s, t = np.uint32(ends[i, 0]), np.uint32(ends[i, 1])
        if s == t and not keep_loops:
            continue
        at = np.uint64(place[s])
        place[s] += 1
        indices[at] = t
        if edge_weights is not None:
            weights[at] = edge_weights[i]
        if mirror and s != t:
            at = np.uint64(place[t])
            place[t] += 1
            indices[at] = s
            if edge_weights is not None:
                weights[at] = edge_weights[i]


@inner
def _sort_run(indices, weights, begin, end):
    """Sort a few arcs by insertion; equal ones stay in order."""
    for i in range(begin + 1, end):
        index = indices[i]
        weight = 0.0 if weights is None else weights[i]
        j = i
        while j > begin and indices[j - 1] > index:
            indices[j] = indices[j - 1]
            if weights is not None:
                weights[j] = weights[j - 1]
            j -= 1
        indices[j] = index
        if weights is not None:
            weights[j] = weight


@inner
def _merge_runs(indices, weights, begin, middle, end, left, left_weights):
    """Merge two adjacent sorted runs; equal arcs stay in order. `left` is room for the first."""
    size = middle - begin
    for i in range(size):
        left[i] = indices[begin + i]
        if weights is not None:
            left_weights[i] = weights[begin + i]
    i, j, k = 0, middle, begin
    while i < size:
        if j < end and indices[j] < left[i]:
            indices[k] = indices[j]
            if weights is not None:
                weights[k] = weights[j]
            j += 1
        else:
            indices[k] = left[i]
            if weights is not None:
                weights[k] = left_weights[i]
            i += 1
        k += 1


def sort_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    first: int,
    last: int,
) -> None:
    """Sort the rows from `first` to before `last` by a stable merge sort.

    Stable, so that the weights of parallel edges are added in the same order in both their rows.
    """
    widest = np.diff(indptr[first : last + 1]).max(initial=0)
    left_weights = None if weights is None else np.empty(widest, np.float64)
    _sort_rows(indptr, indices, weights, first, last, np.empty(widest, np.int32), left_weights)


@kernel
def _sort_rows(indptr, indices, weights, first, last, left, left_weights):
    """Sort rows; `left` is room for the longest of them."""
    for v in range(first, last):
        begin, end = indptr[v], indptr[v + 1]
        for run in range(begin, end, _RUN):
            _sort_run(indices, weights, run, min(run + _RUN, end))
        width = _RUN
        while width < end - begin:
            for at in range(begin, end - width, 2 * width):
                stop = min(at + 2 * width, end)
                _merge_runs(indices, weights, at, at + width, stop, left, left_weights)
            width *= 2


@kernel
def merge_parallel(indptr, indices, weights):
    """Merge arcs to the same neighbour, adding their weights; return how many arcs are left.

    Works in place: the rows move towards the front.
    """
    kept = 0
    begin = indptr[0]
    for v in range(indptr.size - 1):
        end = indptr[v + 1]
        row = kept
        indptr[v] = row
        for i in range(begin, end):
            if kept > row and indices[kept - 1] == indices[i]:
                if weights is not None:
                    weights[kept - 1] += weights[i]
            else:
                indices[kept] = indices[i]
                if weights is not None:
                    weights[kept] = weights[i]
                kept += 1
        begin = end
    indptr[indptr.size - 1] = kept
    return kept


@kernel
def count_components(indptr, indices, mirrored, towards):
    """Return the number of connected components; directions are ignored.

    `mirrored`: every arc has its counterpart. Union-find: every node points to an earlier node of
    its component, or to itself if it is the first; paths are halved on the way. `towards` has these
    nodes, and at first each node itself. Almost linear time.
    """
    parts = indptr.size - 1
    for v in range(indptr.size - 1):
        root = np.int32(v)
        while towards[root] != root:
            root = towards[root]
        for i in range(indptr[v], indptr[v + 1]):
            other = indices[i]
            if mirrored and other > v:
                break  # so are all that follow, and they will meet v
            while towards[other] != other:
                towards[other] = towards[towards[other]]
                other = towards[other]
            if other != root:
                parts -= 1
                root, later = min(root, other), max(root, other)
                towards[later] = root
        towards[v] = root
    return parts


# -- draws by weight -----------------------------------------------------------------------------


class _AliasTables(NamedTuple):
    """What :func:`alias_tables` returns."""

    threshold: NDArray[np.float64]
    alias: NDArray[np.int32]
    total: NDArray[np.float64]
    largest: NDArray[np.float64]


def alias_tables(indptr: NDArray[np.int64], weights: NDArray[np.float64]) -> _AliasTables:
    """Return Walker's alias tables, one per row, for draws by weight in constant time.

    A draw picks a cell of the row uniformly and keeps it if a second uniform number in [0, 1) is
    below `threshold`, else takes the cell `alias` (numbered from the row's start). Linear time,
    12 bytes per arc. Also returns each row's sum of weights and largest weight.
    """
    tables = _AliasTables(
        np.empty(weights.size), np.empty(weights.size, np.int32), *np.zeros((2, indptr.size - 1))
    )
    widest = np.diff(indptr).max(initial=0)
    _fill_alias_tables(indptr, weights, *tables, *np.empty((2, widest), np.int32))
    return tables


@kernel
def _fill_alias_tables(indptr, weights, threshold, alias, total, largest, small, large):
    """Fill alias tables; `small` and `large` are room for the longest row."""
    for v in range(indptr.size - 1):
        start, degree = indptr[v], indptr[v + 1] - indptr[v]
        for i in range(degree):
            total[v] += weights[start + i]
            largest[v] = max(largest[v], weights[start + i])
        n_small, n_large = 0, 0
        for i in range(degree):
            threshold[start + i] = weights[start + i] / total[v] * degree
            alias[start + i] = i
            if threshold[start + i] < 1.0:
                small[n_small] = i
                n_small += 1
            else:
                large[n_large] = i
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            poor, rich = small[n_small], large[n_large - 1]
            alias[start + poor] = rich
            threshold[start + rich] -= 1.0 - threshold[start + poor]
            if threshold[start + rich] < 1.0:
                n_large -= 1
                small[n_small] = rich
                n_small += 1
        for i in range(n_small):  # left over by rounding: such a cell is always kept
            threshold[start + small[i]] = 1.0
        for i in range(n_large):
            threshold[start + large[i]] = 1.0


@inner
def draw_by_weight(begin, size, threshold, alias, bits):
    """Return one of `size` entries from `begin` on, drawn from alias tables with 64 random bits.

    The upper bits choose a cell, and what is left of them whether it or its alias is taken.
    """
    cell = begin + below(bits, size)
    if left_over(bits, size) >= threshold[cell]:
        cell = begin + alias[cell]
    return cell
