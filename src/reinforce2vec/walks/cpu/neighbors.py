"""Drawing a neighbour and finding an edge: what every walk does at every step.

`weighing` is None on an unweighted graph and else (threshold, alias, total, largest, weights):
the alias tables of :func:`reinforce2vec.csr.alias_tables`, each row's sum and largest weight, and
the edge weights.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..._util.compiled import inlined, kernel
from ..._util.random import below, left_over

BLOCK = 16  # entries compared at once
WINDOW = 64  # entries looked at before a binary search


@intrinsic
def matches(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Bit mask: which of the BLOCK entries of an int32 array from `index` on equal `value`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        wide = ir.VectorType(ir.IntType(32), BLOCK)
        place = builder.bitcast(builder.gep(data, [args[1]]), wide.as_pointer())
        undefined = ir.Constant(wide, ir.Undefined)
        one = builder.insert_element(undefined, args[2], ir.IntType(32)(0))
        values = builder.shuffle_vector(one, undefined, ir.Constant(wide, [0] * BLOCK))
        equal = builder.icmp_signed("==", builder.load(place, align=4), values)
        return builder.zext(builder.bitcast(equal, ir.IntType(BLOCK)), ir.IntType(64))

    return types.int64(array, types.int64, types.int32), codegen


def emit_prefetch(context: Any, builder: Any, signature: Any, args: Any, write: bool) -> Any:
    """The instruction behind `prefetch`."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    place = builder.bitcast(builder.gep(data, [args[1]]), byte)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    builder.call(function, [place, number(int(write)), number(3), number(1)])  # to keep, data
    return context.get_dummy_value()


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for an entry of an array to be brought into the cache."""
    return types.void(array, types.int64), partial(emit_prefetch, write=False)


@intrinsic
def prefetch_to_write(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for an entry of an array to be brought into the cache, and into no other."""
    return types.void(array, types.int64), partial(emit_prefetch, write=True)


@intrinsic
def bits_set(typingctx: Any, mask: Any) -> Any:
    """Number of ones in a 64-bit integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


# Numba would test every signed index for being negative, so node numbers and positions, which
# never are, index as unsigned numbers.


@inlined
def row_bounds(indptr, node):
    """Where a node's arcs begin and end."""
    return indptr[np.uint32(node)], indptr[np.uint32(node) + 1]


@inlined
def draw_arc(begin, degree, weighing, bits):
    """Position of an arc drawn by weight from a row. Constant time, one draw."""
    arc = begin + below(bits, degree)
    if weighing is not None and left_over(bits, degree) >= weighing[0][arc]:
        arc = begin + weighing[1][arc]
    return arc


@inlined
def likely_window(indptr, indices, source, target):
    """Where in the row of `source` to look for `target` first.

    Behind as large a share of the row as of all arcs: there it would stand if rows were drawn
    from all arcs alike, as they nearly are where numbers do not follow the graph's structure.
    """
    low, high = row_bounds(indptr, source)
    share = np.float64(indptr[np.uint32(target)]) / max(indices.size, 1)
    window = low + np.int64(share * (high - low)) - WINDOW // 2
    window = max(low, min(window, high - WINDOW))
    return max(0, min(window, indices.size - WINDOW))


@inlined
def find_arc_near(indptr, indices, source, target, window):
    """Position of the arc source -> target, or -1: a look at a window, then binary search."""
    low, high = row_bounds(indptr, source)
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
    return search_row(indices, low, high, target)


@inlined
def find_arc(indptr, indices, source, target):
    """Position of the arc source -> target, or -1."""
    window = likely_window(indptr, indices, source, target)
    return find_arc_near(indptr, indices, source, target, window)


@kernel
def search_row(indices, low, high, target):
    """Position of `target` in a sorted stretch, or -1. Binary search."""
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
def shorter_row(indptr, directed, source, target):
    """In which node's row to look for the edge source -> target, and for which entry.

    An undirected edge stands in both rows, with the same weight.
    """
    low, high = row_bounds(indptr, source)
    other_low, other_high = row_bounds(indptr, target)
    swap = not directed and high - low > other_high - other_low
    row, entry = source, target
    if swap:
        row, entry = target, source
    return row, entry


@inlined
def find_edge(indptr, indices, directed, source, target):
    """Position of an arc that carries the edge source -> target, or -1."""
    row, entry = shorter_row(indptr, directed, source, target)
    return find_arc(indptr, indices, row, entry)


@inlined
def row_weight(here, degree, weighing):
    """Sum of the weights of a node's arcs."""
    if weighing is None:
        return np.float64(degree)
    return weighing[2][here]


@inlined
def largest_weight(here, weighing):
    """Largest weight of a node's arcs."""
    if weighing is None:
        return 1.0
    return weighing[3][here]


@inlined
def arc_weight(arc, weighing):
    """Weight of one arc."""
    if weighing is None:
        return 1.0
    return weighing[4][arc]
