"""What every walk does at every step: drawing a neighbour and finding an edge, in lanes.

Walks advance in turn, a `lane` each: while one waits for memory, the others go on. A step has two
stages, each a loop over the lanes: `draw_ahead` draws the arc that is proposed first and prefetches
it, then the kernel takes the step and prefetches the row of the node that it leads to. Kernels
allocate nothing and count no references; see _util/compiled.py.

`weighing` is None on an unweighted graph, and otherwise the graph's `alias`: (threshold, alias,
total, largest, weights), that is the alias tables of :func:`reinforce2vec.graph.csr.alias_tables`,
each row's sum and largest weight, and the edge weights. It is an argument by itself, and not a
field of `Arcs`, since numba leaves out code for weights only if an argument is None.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined, inner
from ..._util.intrinsics import BLOCK, bits_set, matches, prefetch
from ..._util.random import below, draw, left_over, stream

WINDOW = 64  # entries looked at before a binary search


class Arcs(NamedTuple):
    """A graph's adjacency, as kernels take it."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    directed: bool


# Numba would test every signed index for being negative, so node numbers and positions, which
# never are, index as unsigned numbers.


@inlined
def row_bounds(indptr, node):
    """Return where a node's arcs begin and end."""
    return indptr[np.uint32(node)], indptr[np.uint32(node) + 1]


@inlined
def draw_arc(begin, degree, weighing, bits):
    """Return the position of an arc drawn by weight from a row. Constant time, one draw."""
    arc = begin + below(bits, degree)
    if weighing is not None and left_over(bits, degree) >= weighing[0][arc]:
        arc = begin + weighing[1][arc]
    return arc


@inlined
def likely_window(graph, source, target):
    """Return where in the row of `source` to look for `target` first.

    It lies behind as large a share of the row as of all arcs: there the target would stand if rows
    were drawn from all arcs alike, as they nearly are if numbers do not follow the graph's
    structure.
    """
    low, high = row_bounds(graph.indptr, source)
    size = graph.indices.size
    share = np.float64(graph.indptr[np.uint32(target)]) / max(size, 1)
    window = low + np.int64(share * (high - low)) - WINDOW // 2
    window = max(low, min(window, high - WINDOW))
    return max(0, min(window, size - WINDOW))


@inlined
def find_arc_near(graph, source, target, window):
    """Return the position of the arc source -> target, or -1.

    Looks at a window of the row first, then searches the row.
    """
    indices = graph.indices
    low, high = row_bounds(graph.indptr, source)
    if low == high:
        return np.int64(-1)
    if indices.size >= WINDOW:
        equal = np.int64(0)
        for block in range(WINDOW // BLOCK):
            equal |= matches(indices, window + block * BLOCK, target) << (block * BLOCK)
        others = max(low - window, 0)  # entries of the rows before
        equal = (equal >> others) << others
        if equal != 0:
            arc = window + bits_set((equal & -equal) - 1)
            if arc < high:
                return arc
        end = window + WINDOW
        if (window <= low or target >= indices[np.uint64(window)]) and (
            end >= high or target <= indices[np.uint64(end - 1)]
        ):
            return np.int64(-1)
    return _search_row(indices, low, high, target)


@inlined
def find_arc(graph, source, target):
    """Return the position of the arc source -> target, or -1."""
    return find_arc_near(graph, source, target, likely_window(graph, source, target))


@inner
def _search_row(indices, low, high, target):
    """Return the position of `target` in a sorted stretch, or -1. Binary search."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if indices[np.uint64(middle)] < target:
            low = middle + 1
        else:
            high = middle
    if low < end and indices[np.uint64(low)] == target:
        return low
    return np.int64(-1)


@inlined
def shorter_row(graph, source, target):
    """Return in which node's row to look for the edge source -> target, and for which entry.

    An undirected edge stands in both rows, with the same weight.
    """
    low, high = row_bounds(graph.indptr, source)
    other_low, other_high = row_bounds(graph.indptr, target)
    swap = not graph.directed and high - low > other_high - other_low
    row, entry = source, target
    if swap:
        row, entry = target, source
    return row, entry


@inlined
def find_edge(graph, source, target):
    """Return the position of an arc that carries the edge source -> target, or -1."""
    row, entry = shorter_row(graph, source, target)
    return find_arc(graph, row, entry)


@inlined
def row_weight(here, degree, weighing):
    """Return the sum of the weights of a node's arcs."""
    if weighing is None:
        return np.float64(degree)
    return weighing[2][here]


@inlined
def largest_weight(here, weighing):
    """Return the largest weight of a node's arcs."""
    if weighing is None:
        return 1.0
    return weighing[3][here]


@inlined
def arc_weight(arc, weighing):
    """Return the weight of one arc."""
    if weighing is None:
        return 1.0
    return weighing[4][arc]


@inlined
def patience(degree):
    """Return how many proposals to try before weighing every neighbour: about what that costs."""
    return 8 + degree // 8


# -- lanes -----------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Walks to make: number first, first + 1, ..., a row of `walks` each."""

    starts: NDArray[np.int32]  # walk k starts at starts[k % len(starts)]
    seed: np.uint64
    first: int
    walks: NDArray[np.int32]
    keys: NDArray[np.uint64]  # by lane: the random stream of the walk under way
    gammas: NDArray[np.uint64]
    bits: NDArray[np.uint64]  # and the first draw of its present step


class Decision(NamedTuple):
    """Where a walk goes next is to be decided."""

    here: int
    n: int  # number of the decision
    key: np.uint64  # the random stream of the walk
    gamma: np.uint64
    c_u: int  # how often the walk has been at its start


class Visited(NamedTuple):
    """The first `size` entries of the row of a lane: nodes that its walk has been at."""

    nodes: NDArray[np.int32]
    lane: int
    size: int


@inlined
def begin_walks(graph, batch, base, width):
    """Put `width` walks from row `base` on at their starts and give each its random stream."""
    for lane in range(width):
        k = batch.first + base + lane
        start = batch.starts[k % batch.starts.size]
        prefetch(graph.indptr, start)
        batch.walks[base + lane, 0] = start
        batch.keys[lane], batch.gammas[lane] = stream(batch.seed, k)


@inlined
def draw_ahead(graph, weighing, batch, base, width, n):
    """Make the first draw of each walk that goes on, and prefetch the arc that it proposes."""
    for lane in range(width):
        here = batch.walks[base + lane, n]
        if here >= 0:
            begin, end = row_bounds(graph.indptr, here)
            if begin < end:
                bits = draw(batch.keys[lane], batch.gammas[lane], n, 0)
                batch.bits[lane] = bits
                arc = begin + below(bits, end - begin)
                prefetch(graph.indices, arc)
                if weighing is not None:
                    prefetch(weighing[0], arc)
                    prefetch(weighing[1], arc)
