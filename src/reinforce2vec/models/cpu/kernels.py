"""The kernels of smoothing: a step of the series, products of columns, a rotation.

Their inner loops are written out in vector instructions, as numba intrinsics.

Every lane is a column of its own, and its numbers are added in the order of the loop. So the width
of the registers does not change a bit of the sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..._util.compiled import inner, kernel
from ...skipgram.cpu.simd import WIDTH
from .._filter import COLUMNS, ROWS, WIDE

_TALL = 8 if WIDTH == 16 else 2  # rows of a tile of products, which stays in the registers

_AHEAD = 16  # arcs from the one that is added to the one whose neighbour is fetched
_TOGETHER = 256  # neighbours added up before they are added to the sum, for accuracy
_LINE = 16  # float32 numbers in a cache line

_FLOAT, _DOUBLE, _INT, _LONG = ir.FloatType(), ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_SIGNAL, _TILE_ROW = ir.VectorType(_FLOAT, COLUMNS), ir.VectorType(_DOUBLE, WIDE)


def _load(builder: Any, pointer: Any, kind: Any) -> Any:
    bytes_of_number = 4 if kind.element == _FLOAT else 8
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=bytes_of_number)


def _store(builder: Any, values: Any, pointer: Any) -> None:
    bytes_of_number = 4 if values.type.element == _FLOAT else 8
    builder.store(values, builder.bitcast(pointer, values.type.as_pointer()), align=bytes_of_number)


def _splat(builder: Any, value: Any, kind: Any) -> Any:
    """Return a vector with a number in every lane."""
    empty = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(empty, value, _INT(0))
    lanes = ir.Constant(ir.VectorType(_INT, kind.count), [0] * kind.count)
    return builder.shuffle_vector(one, empty, lanes)


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once if the CPU can."""
    bits = 32 if a.type.element == _FLOAT else 64
    kind = ir.FunctionType(a.type, [a.type] * 3)
    name = f"llvm.fmuladd.v{a.type.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _zeros(builder: Any, kind: Any) -> Any:
    """Return a variable with zeros; it stays in registers."""
    variable = cgutils.alloca_once(builder, kind)
    builder.store(ir.Constant(kind, [0.0] * kind.count), variable)
    return variable


# -- sums over neighbours ----------------------------------------------------------------------


def _emit_fetch(builder: Any, indices: Any, terms: Any, arc: Any, last: Any) -> None:
    """Load the row of a neighbour some arcs ahead into the cache, without waiting for it."""
    ahead = builder.add(arc, _LONG(_AHEAD))
    ahead = builder.select(builder.icmp_signed("<", ahead, last), ahead, last)
    row = _emit_row(builder, indices, terms, ahead)
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _INT, _INT, _INT])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    for at in range(0, COLUMNS, _LINE):
        place = builder.bitcast(builder.gep(row, [_LONG(at)]), byte)
        builder.call(prefetch, [place, _INT(0), _INT(3), _INT(1)])  # to read, to keep, data


def _emit_row(builder: Any, indices: Any, terms: Any, arc: Any) -> Any:
    """Return where the row of the neighbour at an arc begins."""
    neighbour = builder.sext(builder.load(builder.gep(indices, [arc])), _LONG)
    return builder.gep(terms, [builder.mul(neighbour, _LONG(COLUMNS))])


@intrinsic
def _next_term(
    typingctx, indices, weights, unit, row, first, last, signal, coefficient, scale, term, before
):  # fmt: skip
    """Replace a row of `before` by coefficient * signal + scale * (A term) − before.

    That is a step of Clenshaw's recurrence. A is the adjacency matrix with weights times `unit`,
    where weights are float64 or None, and with self-loops of 1. The arcs of the row are from
    `first` to `last`. Signal, term and before have COLUMNS columns of float32.
    """
    weighted = not isinstance(weights, types.NoneType)
    long, single = types.int64, types.float32
    signature = types.void(
        indices, weights, types.float64, long, long, long, signal, single, single, term, before
    )

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def of(at: int) -> Any:
            return context.make_array(signature.args[at])(context, builder, args[at])

        arcs, terms = of(0).data, of(9).data
        unit, row, first, last = args[2:6]
        end = builder.sub(builder.extract_value(of(0).shape, 0), _LONG(1))
        total, part = _zeros(builder, _SIGNAL), _zeros(builder, _SIGNAL)
        with cgutils.for_range_slice(builder, first, last, _LONG(_TOGETHER), _LONG) as (at, _):
            until = builder.add(at, _LONG(_TOGETHER))
            until = builder.select(builder.icmp_signed("<", until, last), until, last)
            builder.store(ir.Constant(_SIGNAL, [0.0] * COLUMNS), part)
            with cgutils.for_range_slice(builder, at, until, _LONG(1), _LONG) as (arc, _):
                _emit_fetch(builder, arcs, terms, arc, end)
                values = _load(builder, _emit_row(builder, arcs, terms, arc), _SIGNAL)
                sums = builder.load(part)
                if weighted:
                    weight = builder.fmul(unit, builder.load(builder.gep(of(1).data, [arc])))
                    weight = _splat(builder, builder.fptrunc(weight, _FLOAT), _SIGNAL)
                    builder.store(_fused(builder, weight, values, sums), part)
                else:
                    builder.store(builder.fadd(values, sums), part)
            builder.store(builder.fadd(builder.load(total), builder.load(part)), total)
        place = builder.mul(row, _LONG(COLUMNS))
        signals, own, earlier = (builder.gep(of(at).data, [place]) for at in (6, 9, 10))
        sums = builder.fadd(builder.load(total), _load(builder, own, _SIGNAL))
        coefficient, scale = (_splat(builder, args[at], _SIGNAL) for at in (7, 8))
        found = builder.fneg(_load(builder, earlier, _SIGNAL))
        found = _fused(builder, coefficient, _load(builder, signals, _SIGNAL), found)
        _store(builder, _fused(builder, scale, sums, found), earlier)
        return context.get_dummy_value()

    return signature, codegen


# -- products of matrices ----------------------------------------------------------------------


@intrinsic
def _add_tile(
    typingctx, a, a_at, a_down, a_along, b, b_at, b_along, count, out, out_at, out_down
):  # fmt: skip
    """Add a tile of a matrix product: out[r, c] += Σ a[r, k] b[k, c], k from 0 to count.

    The tile has _TALL rows and WIDE columns of float64. Matrices are contiguous; `at` is where the
    operand begins, `down` and `along` are the steps from r to r + 1 and from k to k + 1.
    """
    long = types.int64
    signature = types.void(a, long, long, long, b, long, long, long, out, long, long)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b, out = (
            context.make_array(signature.args[at])(context, builder, args[at]).data
            for at in (0, 4, 8)
        )
        _, a_at, a_down, a_along, _, b_at, b_along, count, _, out_at, out_down = args
        sums = [_zeros(builder, _TILE_ROW) for _ in range(_TALL)]
        with cgutils.for_range_slice(builder, _LONG(0), count, _LONG(1), _LONG) as (k, _):
            place = builder.add(b_at, builder.mul(k, b_along))
            values = _load(builder, builder.gep(b, [place]), _TILE_ROW)
            place = builder.add(a_at, builder.mul(k, a_along))
            for total in sums:
                factor = _splat(builder, builder.load(builder.gep(a, [place])), _TILE_ROW)
                builder.store(_fused(builder, factor, values, builder.load(total)), total)
                place = builder.add(place, a_down)
        place = out_at
        for total in sums:
            pointer = builder.gep(out, [place])
            known = _load(builder, pointer, _TILE_ROW)
            _store(builder, builder.fadd(known, builder.load(total)), pointer)
            place = builder.add(place, out_down)
        return context.get_dummy_value()

    return signature, codegen


# -- loops over rows that threads share --------------------------------------------------------


@kernel
def take_step(begin, end, indptr, indices, weights, unit, inverse, twice, step):
    """Compute some rows of the next term of the series, from `begin` to `end`.

    `inverse` has 1 / degree for each row. `step` has signal, coefficient, term and before.
    """
    signal, coefficient, term, before = step
    for row in range(begin, end):
        scale = twice * inverse[row]
        _next_term(
            indices, weights, unit, row, indptr[row], indptr[row + 1], signal, coefficient, scale,
            term, before,
        )  # fmt: skip


@inner
def _widen(matrix, first, last, room):
    """Copy rows into float64, with zeros in columns that the matrix does not have."""
    dimensions = matrix.shape[1]
    for row in range(first, last):
        for column in range(dimensions):
            room[row - first, column] = matrix[row, column]
        for column in range(dimensions, room.shape[1]):
            room[row - first, column] = 0.0


@kernel
def add_products(left, right, same, begin, end, rooms, products):
    """Add leftᵗ right of some rows to the products, in the order of the rows.

    If both are the `same` matrix, the lower triangle of the products is not complete. `rooms`
    are two float64 arrays (ROWS, padded dimensions).
    """
    room, other = rooms
    padded = room.shape[1]
    for first in range(begin, end, ROWS):
        last = min(first + ROWS, end)
        _widen(left, first, last, room)
        if not same:
            _widen(right, first, last, other)
        for i in range(0, padded, _TALL):
            for j in range(i // WIDE * WIDE if same else 0, padded, WIDE):
                _add_tile(
                    room, i, 1, padded, room if same else other, j, padded, last - first,
                    products, i * padded + j, padded,
                )  # fmt: skip


@kernel
def turn_rows(matrix, begin, end, turn, rooms):
    """Multiply some rows by a square matrix, and scale them to length 1, in place."""
    room, turned = rooms
    padded = room.shape[1]
    for first in range(begin, end, ROWS):
        last = min(first + ROWS, end)
        _widen(matrix, first, last, room)
        for row in range(last - first):
            for column in range(padded):
                turned[row, column] = 0.0
        for i in range(0, last - first, _TALL):
            for j in range(0, padded, WIDE):
                _add_tile(
                    room, i * padded, padded, 1, turn, j, padded, padded,
                    turned, i * padded + j, padded,
                )  # fmt: skip
        for row in range(first, last):
            square = 0.0
            for column in range(matrix.shape[1]):
                square += turned[row - first, column] ** 2
            scale = 1 / np.sqrt(square) if square > 0 else 0.0
            for column in range(matrix.shape[1]):
                matrix[row, column] = turned[row - first, column] * scale
