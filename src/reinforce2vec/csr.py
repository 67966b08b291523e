"""Numba kernels that turn numbered edges into a sorted adjacency, and weights into draws.

Rows and columns are 32-bit node numbers, offsets are 64-bit. `weights` may be None: numba then
compiles a version without them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

EMPTY = np.int32(-1)


@njit(cache=True, nogil=True)
def number_in_order(values, codes, table, low):  # type: ignore[no-untyped-def]
    """Number integers 0, 1, 2, ... by first appearance, through a direct look-up table.

    `codes` receives the number of every value; `table` (filled with -1) covers low, low+1, ....
    Returns the distinct values in order. One pass, memory: the table.
    """
    distinct = np.empty(min(table.size, values.size), np.int64)
    n = 0
    for i in range(values.size):
        place = values[i] - low
        code = table[place]
        if code < 0:
            code = np.int32(n)
            table[place] = code
            distinct[n] = values[i]
            n += 1
        codes[i] = code
    return distinct[:n].copy()


@njit(cache=True, nogil=True)
def arcs_by_target(ends, weights, n, mirror, keep_loops):  # type: ignore[no-untyped-def]
    """Group arcs by the node they lead to, in any order inside a group.

    `ends` (m, 2) holds each edge's source and target. With `mirror` every edge counts in both directions (a self-loop once). Returns the offsets of
    the groups, the arcs' sources, their weights, and how many self-loops were left out.
    """
    offsets = np.zeros(n + 1, np.int64)
    loops = 0
    for i in range(len(ends)):
        s, t = ends[i, 0], ends[i, 1]
        if s == t:
            loops += 1
            if keep_loops:
                offsets[t + 1] += 1
        else:
            offsets[t + 1] += 1
            if mirror:
                offsets[s + 1] += 1
    for v in range(n):
        offsets[v + 1] += offsets[v]
    sources = np.empty(offsets[n], np.int32)
    by_target = None if weights is None else np.empty(offsets[n], np.float64)
    place = offsets[:-1].copy()
    for i in range(len(ends)):
        s, t = ends[i, 0], ends[i, 1]
        if s == t and not keep_loops:
            continue
        sources[place[t]] = s
        if weights is not None:
            by_target[place[t]] = weights[i]
        place[t] += 1
        if mirror and s != t:
            sources[place[s]] = t
            if weights is not None:
                by_target[place[s]] = weights[i]
            place[s] += 1
    return offsets, sources, by_target, 0 if keep_loops else loops


@njit(cache=True, nogil=True)
def sorted_rows(offsets, sources, by_target, n):  # type: ignore[no-untyped-def]
    """Turn arcs grouped by target into rows by source, each sorted and free of duplicates.

    Visiting the targets in order appends to every row in order, so no sort is needed, and
    parallel arcs meet at the end of a row, where their weights are added. Linear time.
    """
    indptr = np.zeros(n + 1, np.int64)
    for i in range(sources.size):
        indptr[sources[i] + 1] += 1
    for v in range(n):
        indptr[v + 1] += indptr[v]
    place = indptr[:-1].copy()
    indices = np.empty(sources.size, np.int32)
    weights = None if by_target is None else np.empty(sources.size, np.float64)
    for t in range(n):
        for i in range(offsets[t], offsets[t + 1]):
            s = sources[i]
            last = place[s] - 1
            if last >= indptr[s] and indices[last] == t:
                if by_target is not None:
                    weights[last] += by_target[i]
            else:
                indices[place[s]] = t
                if by_target is not None:
                    weights[place[s]] = by_target[i]
                place[s] += 1
    kept = 0
    for v in range(n):  # close the gaps that merged arcs left, in place
        begin = kept
        for i in range(indptr[v], place[v]):
            indices[kept] = indices[i]
            if by_target is not None:
                weights[kept] = weights[i]
            kept += 1
        indptr[v] = begin
    indptr[n] = kept
    return indptr, indices, weights, kept


@njit(cache=True, nogil=True)
def alias_tables(indptr, weights):  # type: ignore[no-untyped-def]
    """Walker's alias tables, one per row, for draws by weight in constant time.

    A draw picks a cell of the row uniformly and keeps it if a second uniform number in [0, 1) is
    below `threshold`, else takes the cell `alias` (numbered from the row's start). Linear time,
    12 bytes an arc. Also returns each row's sum of weights and largest weight.
    """
    n = indptr.size - 1
    threshold = np.empty(weights.size, np.float64)
    alias = np.empty(weights.size, np.int32)
    total = np.zeros(n, np.float64)
    largest = np.zeros(n, np.float64)
    widest = 0
    for v in range(n):
        widest = max(widest, indptr[v + 1] - indptr[v])
    small = np.empty(widest, np.int32)
    large = np.empty(widest, np.int32)
    for v in range(n):
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
        for i in range(n_small):  # what rounding left over fills its own cell
            threshold[start + small[i]] = 1.0
        for i in range(n_large):
            threshold[start + large[i]] = 1.0
    return threshold, alias, total, largest
