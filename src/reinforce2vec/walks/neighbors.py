"""Drawing a neighbour and finding an edge: what every walk does at every step.

`weighing` is None on an unweighted graph and else (threshold, alias, total, largest, weights):
the alias tables of :func:`reinforce2vec.csr.alias_tables`, each row's sum and largest weight, and
the edge weights.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .random import below, left_over


@njit(cache=True, inline="always", _nrt=False)
def draw_arc(begin, degree, weighing, bits):  # type: ignore[no-untyped-def]
    """Position of an arc drawn by weight from a row. Constant time, one draw."""
    arc = begin + below(bits, degree)
    if weighing is not None and left_over(bits, degree) >= weighing[0][arc]:
        arc = begin + weighing[1][arc]
    return arc


@njit(cache=True, _nrt=False)
def find_arc(indptr, indices, source, target):  # type: ignore[no-untyped-def]
    """Position of the arc source -> target, or -1. Binary search: log2(degree) steps."""
    low, high = indptr[source], indptr[source + 1]
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < target:
            low = middle + 1
        else:
            high = middle
    if low < indptr[source + 1] and indices[low] == target:
        return low
    return np.int64(-1)


@njit(cache=True, _nrt=False)
def find_edge(indptr, indices, directed, source, target):  # type: ignore[no-untyped-def]
    """Position of an arc that carries the edge source -> target, or -1.

    An undirected edge stands in both rows with the same weight: the shorter row is searched.
    """
    if not directed and (
        indptr[source + 1] - indptr[source] > indptr[target + 1] - indptr[target]
    ):
        source, target = target, source
    return find_arc(indptr, indices, source, target)


@njit(cache=True, inline="always", _nrt=False)
def row_weight(here, degree, weighing):  # type: ignore[no-untyped-def]
    """Sum of the weights of a node's arcs."""
    if weighing is None:
        return np.float64(degree)
    return weighing[2][here]


@njit(cache=True, inline="always", _nrt=False)
def largest_weight(here, weighing):  # type: ignore[no-untyped-def]
    """Largest weight of a node's arcs."""
    if weighing is None:
        return 1.0
    return weighing[3][here]


@njit(cache=True, inline="always", _nrt=False)
def arc_weight(arc, weighing):  # type: ignore[no-untyped-def]
    """Weight of one arc."""
    if weighing is None:
        return 1.0
    return weighing[4][arc]
