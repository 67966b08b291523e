"""A map by forces, and the neighbours that it needs, as in LargeVis.

Nodes attract their nearest neighbours and repel others. In each round every node is worked out from
what was known of all nodes before, so that the result does not depend on the number of threads;
random numbers are those of the node and the round. The kernels only add, multiply and divide: the
same bits on every machine.

Most of the nearest neighbours in a large matrix are found in little time: random trees part the
rows by random directions, and rows in a leaf are compared with each other, in several trees. Then
the neighbours of neighbours are compared, twice.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.compiled import kernel
from .._util.machine import available_cpus
from .._util.progress import Report
from .._util.random import below, draw, stream
from .._util.threads import Threads, do_all
from ._exact_search import Places, Rows, slices

_ROUNDS = 400  # of the layout
_REPELLED = 5  # random nodes that repel a node in each round
_TREES = 4
_LEAF = 200  # rows, at most
_COMPARISONS = 2  # of neighbours of neighbours
_AT_A_TIME = 1 << 14  # nodes for which a thread works at a time

_Floats = NDArray[np.float32]


def lay_out(nearest: Rows, start: _Floats, seed: int, report: Report) -> _Floats:
    """Return points of the nodes, near to those of their nearest neighbours.

    Parameters
    ----------
    nearest : int32 array (n, k)
        The nearest neighbours of each node; -1 where there are fewer.
    start : float32 array (n, 2)
        Where the nodes start.
    seed : int
        Seed of the nodes that repel.
    report : callable
        Called with the rounds that are done, and the rounds there are.
    """
    neighbors = _both_ways(nearest)
    old = np.ascontiguousarray(start, np.float32)
    new = np.empty_like(old)
    with Threads(available_cpus()) as threads:
        for turn in range(_ROUNDS):
            pace = np.float32(1 - turn / _ROUNDS)  # ever slower
            move = partial(_move, old, new, *neighbors, pace, np.uint64(seed % 2**64), turn)
            do_all(threads, move, slices(len(old), _AT_A_TIME))
            old, new = new, old
            report(turn + 1, _ROUNDS)
    return old


def _both_ways(nearest: Rows) -> tuple[Places, Rows]:
    """Return for each node those that it has among its nearest, or that have it, as adjacency."""
    n = len(nearest)
    valid = nearest >= 0
    begins = np.concatenate([[0], np.cumsum(valid.sum(axis=1))])
    matrix = scipy.sparse.csr_array(
        (np.ones(int(valid.sum()), np.int8), nearest[valid], begins), shape=(n, n)
    )
    both = (matrix + matrix.T).tocsr()
    both.sort_indices()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32)


@kernel
def _move(old, new, begins, ends, pace, seed, turn, nodes):
    """Move some nodes: toward the mean of their neighbours, away from random nodes."""
    n = len(old)
    one, two = np.float32(1), np.float32(2)
    most, near = np.float32(4), np.float32(0.01)
    for node in range(nodes.start, nodes.stop):
        x, y = old[node, 0], old[node, 1]
        right = up = np.float32(0)
        count = begins[node + 1] - begins[node]
        for place in range(begins[node], begins[node + 1]):
            other = ends[place]
            a, b = old[other, 0] - x, old[other, 1] - y
            pull = two / (one + a * a + b * b)
            right += pull * a
            up += pull * b
        if count > 0:
            share = one / np.float32(count)
            right *= share
            up *= share
        key, gamma = stream(seed, node)
        for number in range(_REPELLED):
            other = below(draw(key, gamma, turn, number), n)
            a, b = x - old[other, 0], y - old[other, 1]
            apart = a * a + b * b
            push = two / ((near + apart) * (one + apart))
            right += min(max(push * a, -most), most)
            up += min(max(push * b, -most), most)
        new[node, 0] = x + pace * np.float32(0.5) * right
        new[node, 1] = y + pace * np.float32(0.5) * up


# -- neighbours that are found fast ------------------------------------------------------------


def rough_neighbors(units: _Floats, k: int, seed: int, report: Report) -> tuple[Rows, _Floats]:
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
    work = _TREES + 2 * _COMPARISONS
    with Threads(available_cpus()) as threads:
        for tree in range(_TREES):
            order, begins = _grow_tree(units, np.random.default_rng((seed, tree)))
            compare = partial(_compare_leaves, order, begins, units, rows, cosines)
            leaves = len(begins) - 1
            do_all(threads, compare, slices(leaves, -(-leaves // (4 * available_cpus()))))
            report(tree + 1, work)
        for turn in range(_COMPARISONS):
            ask = partial(_ask_neighbors, units, rows.copy(), _some_sources(rows), rows, cosines)
            do_all(threads, ask, slices(n, _AT_A_TIME))
            report(_TREES + 2 * (turn + 1), work)
    cosines[rows < 0] = np.nan
    return rows, cosines


def _grow_tree(units: _Floats, rng: np.random.Generator) -> tuple[Rows, Places]:
    """Halve the rows again and again, each part along the difference of two of its rows.

    Returns the rows in the order of the tree, and where its leaves begin and the last ends.
    """
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
        for some in slices(n, _AT_A_TIME):
            heights[some] = np.einsum("ij,ij->i", units[order[some]], directions[part[some]])
        order = order[np.lexsort((heights, part))]
        begins = np.sort(np.concatenate([begins, begins[:-1] + sizes // 2]))
    return order, begins


def _some_sources(rows: Rows) -> Rows:
    """Return for each row some rows that have it among their neighbours; -1 where there are few."""
    n, k = rows.shape
    targets = rows.ravel()
    sources = np.repeat(np.arange(n, dtype=np.int32), k)
    sources, targets = sources[targets >= 0], targets[targets >= 0]
    order = np.argsort(targets, kind="stable")
    sources, targets = sources[order], targets[order]
    place = np.arange(len(targets)) - np.searchsorted(targets, targets)
    kept = place < k
    back = np.full((n, k), -1, np.int32)
    back[targets[kept], place[kept]] = sources[kept]
    return back


@kernel
def _insert(rows, cosines, row, other, cosine):
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
def _product(units, a, b):
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
def _compare_leaves(order, begins, units, rows, cosines, leaves):
    """Add the rows of each of some leaves to each other's lists."""
    for leaf in range(leaves.start, leaves.stop):
        for i in range(begins[leaf], begins[leaf + 1]):
            for j in range(begins[leaf], i):
                a, b = order[i], order[j]
                cosine = _product(units, a, b)
                _insert(rows, cosines, a, b, cosine)
                _insert(rows, cosines, b, a, cosine)


@kernel
def _ask_neighbors(units, known, back, rows, cosines, some):
    """Add neighbours of neighbours to the lists of some rows."""
    k = known.shape[1]
    for row in range(some.start, some.stop):
        for way in range(2):
            for place in range(k):
                middle = known[row, place] if way == 0 else back[row, place]
                if middle < 0:
                    continue
                for further in range(k):
                    other = known[middle, further]
                    if other >= 0 and other != row:
                        _insert(rows, cosines, row, other, _product(units, row, other))
