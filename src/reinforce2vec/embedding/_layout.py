"""A map by forces: nodes attract their nearest neighbours and repel others, as in LargeVis.

In each round every node moves by what it saw in the round before, so that the result does not
depend on the number of threads; random numbers are those of the node and the round. The kernel only
adds, multiplies and divides: the same bits on every machine.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.compiled import kernel
from .._util.machine import available_cpus
from .._util.progress import Report
from .._util.random import below, draw, stream
from .._util.threads import Threads, do_all

_ROUNDS = 400
_REPELLED = 5  # random nodes that repel a node in each round
_AT_A_TIME = 1 << 14  # nodes that a thread moves at a time

_Points = NDArray[np.float32]


def lay_out(nearest: NDArray[np.int32], start: _Points, seed: int, report: Report) -> _Points:
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
    n = len(nearest)
    begins, ends = _both_ways(nearest)
    old = np.ascontiguousarray(start, np.float32)
    new = np.empty_like(old)
    with Threads(available_cpus()) as threads:
        for turn in range(_ROUNDS):
            step = partial(_move_some, old, new, begins, ends, seed, turn)
            do_all(threads, step, range(0, n, _AT_A_TIME))
            old, new = new, old
            report(turn + 1, _ROUNDS)
    return old


def _move_some(
    old: _Points,
    new: _Points,
    begins: NDArray[np.int64],
    ends: NDArray[np.int32],
    seed: int,
    turn: int,
    first: int,
) -> None:
    """Move as many nodes as are moved at a time, from one on; ever less from turn to turn."""
    last = min(first + _AT_A_TIME, len(old))
    pace = np.float32(1 - turn / _ROUNDS)
    _move(first, last, old, new, begins, ends, pace, np.uint64(seed % 2**64), turn)


def _both_ways(nearest: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for each node those that it has among its nearest, or that have it, as adjacency."""
    n = len(nearest)
    there = nearest >= 0
    begins = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    matrix = scipy.sparse.csr_array(
        (np.ones(int(there.sum()), np.int8), nearest[there], begins), shape=(n, n)
    )
    both = (matrix + matrix.T).tocsr()
    both.sort_indices()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32)


@kernel
def _move(
    first: Any,
    last: Any,
    old: Any,
    new: Any,
    begins: Any,
    ends: Any,
    pace: Any,
    seed: Any,
    turn: Any,
) -> Any:
    """Move some nodes: toward the mean of their neighbours, away from random nodes."""
    n = len(old)
    one, two = np.float32(1), np.float32(2)
    most, near = np.float32(4), np.float32(0.01)
    for node in range(first, last):
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
