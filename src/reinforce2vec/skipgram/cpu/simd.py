"""One skip-gram step in explicit vector instructions, as numba intrinsics.

Compilers do not vectorise this step from plain loops: they cannot know that the rows of the two
matrices do not overlap. So the instructions are written out here, for the vector width of this CPU,
with everything that is used more than once kept in registers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

SLOTS = 8  # room for the targets of one context among the gradients
LANES = 2 * SLOTS  # scores of two contexts make one vector

_FLOAT, _INT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_FLOATS, _INTS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)


def _vector_width() -> int:
    """Return the numbers in a vector register of the CPU that numba compiles for."""
    features = config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return next((width for name, width in (("+avx512f", 16), ("+avx", 8)) if name in features), 4)


WIDTH = _vector_width()
_WIDE = ir.VectorType(_FLOAT, WIDTH)
# What registers there are for:
_COLUMNS = 2 if WIDTH == 16 else 1  # vectors of a row that are moved at once
_AT_ONCE = 4 if WIDTH == 16 else 2  # contexts that are scored at once


# -- vectors -----------------------------------------------------------------------------------


def _load(builder: Any, pointer: Any, kind: Any = _WIDE) -> Any:
    """Load numbers from memory."""
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)


def _store(builder: Any, values: Any, pointer: Any) -> None:
    """Store numbers to memory."""
    builder.store(values, builder.bitcast(pointer, values.type.as_pointer()), align=4)


def _constant(value: float, kind: Any = _FLOATS) -> Any:
    """Return a constant vector."""
    return ir.Constant(kind, [value] * kind.count)


def _shuffled(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
    """Return lanes picked from two vectors, the second's numbered on from the first's."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT, len(lanes)), lanes))


def _splat(builder: Any, value: Any) -> Any:
    """Return a vector with a number in every lane."""
    empty = ir.Constant(_WIDE, ir.Undefined)
    return _shuffled(builder, builder.insert_element(empty, value, _INT(0)), empty, [0] * WIDTH)


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once if the CPU can."""
    kind, name = ir.FunctionType(a.type, [a.type] * 3), f"llvm.fmuladd.v{a.type.count}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _picked(units: list[int], size: int, blocks: Iterable[int]) -> list[int]:
    """Return lane numbers: in each block some units of `size` lanes, of one vector and another."""
    return [
        block + vector + size * unit + lane
        for block in blocks
        for vector in (0, WIDTH)
        for unit in units
        for lane in range(size)
    ]


_QUADS = range(0, WIDTH, 4)
_FOLDS = [
    (_picked([0, 1], 1, _QUADS), _picked([2, 3], 1, _QUADS)),
    (_picked([0, 2], 1, _QUADS), _picked([1, 3], 1, _QUADS)),
    *{
        16: [(_picked([0, 1], 4, [0]), _picked([2, 3], 4, [0])),
             (_picked([0, 2], 4, [0]), _picked([1, 3], 4, [0]))],
        8: [(_picked([0], 4, [0]), _picked([1], 4, [0]))],
        4: [],
    }[WIDTH],
]  # fmt: skip


def _sums(builder: Any, vectors: list[Any]) -> Any:
    """Return the sums over the lanes of LANES vectors, as one vector.

    Two vectors at a time are folded into one, by adding some lanes of both to the others, until
    every lane is a sum. That takes about three instructions for each vector.
    """
    for some, others in _FOLDS:
        vectors = [
            builder.fadd(_shuffled(builder, a, b, some), _shuffled(builder, a, b, others))
            for a, b in _pairwise(vectors)
        ]
    while len(vectors) > 1:
        both = list(range(2 * vectors[0].type.count))
        vectors = [_shuffled(builder, a, b, both) for a, b in _pairwise(vectors)]
    return vectors[0]


def _pairwise(vectors: list[Any]) -> Iterable[tuple[Any, Any]]:
    """Return the first and the second, the third and the fourth, ..."""
    return zip(vectors[::2], vectors[1::2], strict=True)


def _exponential(builder: Any, x: Any) -> Any:
    """Return e^x to float32 accuracy for |x| up to 87, where x is cut off; NaN stays NaN."""
    for bound, sign in ((87.0, ">"), (-87.0, "<")):
        beyond = builder.fcmp_ordered(sign, x, _constant(bound))
        x = builder.select(beyond, _constant(bound), x)
    rounding = _constant(12582912.0)  # 1.5 * 2^23: numbers of this size have no fraction
    shifted = _fused(builder, x, _constant(float(np.float32(1 / np.log(2)))), rounding)
    n = builder.fsub(shifted, rounding)
    high, low = float(np.float32(0.693359375)), float(np.float32(-2.12194440e-4))  # log 2 in two
    rest = _fused(builder, n, _constant(-low), _fused(builder, n, _constant(-high), x))
    power = _constant(float(np.float32(1 / 720)))
    for divisor in (120, 24, 6, 2, 1, 1):
        power = _fused(builder, power, rest, _constant(float(np.float32(1 / divisor))))
    scale = builder.shl(builder.bitcast(shifted, _INTS), _constant(23, _INTS))
    return builder.bitcast(builder.add(builder.bitcast(power, _INTS), scale), _FLOATS)


# -- the step ----------------------------------------------------------------------------------


class _Step(NamedTuple):
    """The operands of a step: pointers to rows, and to the memory of the gradients."""

    contexts: list[Any]
    targets: list[Any]
    stride: Any
    gradients: Any


def _emit_scores(builder: Any, step: _Step, first: int, last: int) -> list[Any]:
    """Compute the scores of some contexts with all targets: a vector for each two contexts."""
    contexts, targets = step.contexts[first:last], step.targets
    totals = [[cgutils.alloca_once(builder, _WIDE) for _ in targets] for _ in contexts]
    for row in totals:
        for total in row:
            builder.store(_constant(0.0, _WIDE), total)
    with cgutils.for_range_slice(builder, _LONG(0), step.stride, _LONG(WIDTH), _LONG) as (at, _):
        values = [_load(builder, builder.gep(context, [at])) for context in contexts]
        for k, target in enumerate(targets):
            weights = _load(builder, builder.gep(target, [at]))
            for value, row in zip(values, totals, strict=True):
                builder.store(_fused(builder, value, weights, builder.load(row[k])), row[k])
    empty = [_constant(0.0, _WIDE)] * (SLOTS - len(targets))
    slots = [[builder.load(total) for total in row] + empty for row in totals]
    return [_sums(builder, one + other) for one, other in _pairwise(slots)]


def _emit_gradients(builder: Any, scores: Any, labels: Any, tally: Any) -> Any:
    """Compute the gradients of two contexts, rate * (label - σ(score)); add loss to the tally."""
    sign, offset, rate = (
        _load(builder, builder.gep(labels, [_LONG(i * LANES)]), _FLOATS) for i in range(3)
    )
    odds = _exponential(builder, _fused(builder, scores, sign, offset))
    whole = builder.fadd(odds, _constant(1.0))
    product, exponent = builder.gep(tally, [_LONG(0)]), builder.gep(tally, [_LONG(LANES)])
    bits = builder.bitcast(builder.fmul(_load(builder, product, _FLOATS), whole), _INTS)
    high = builder.sub(builder.lshr(bits, _constant(23, _INTS)), _constant(127, _INTS))
    _store(builder, builder.add(_load(builder, exponent, _INTS), high), exponent)
    low = builder.and_(bits, _constant(0x7FFFFF, _INTS))
    _store(builder, builder.or_(low, _constant(0x3F800000, _INTS)), product)
    return builder.fmul(rate, builder.fdiv(odds, whole))


def _emit_moves(builder: Any, step: _Step, begin: Any, end: Any, columns: int) -> None:
    """Move contexts and targets along the gradients, `columns` vectors of columns at a time."""
    by = _LONG(columns * WIDTH)
    with cgutils.for_range_slice(builder, begin, end, by, _LONG) as (at, _):
        offsets = [builder.add(at, _LONG(WIDTH * c)) for c in range(columns)]
        places = [[builder.gep(target, [offset]) for offset in offsets] for target in step.targets]
        weights = [[_load(builder, place) for place in row] for row in places]
        current = [list(row) for row in weights]
        for j, context in enumerate(step.contexts):
            own = [builder.gep(context, [offset]) for offset in offsets]
            values = [_load(builder, place) for place in own]
            moved = list(values)
            for k in range(len(step.targets)):
                slot = builder.gep(step.gradients, [_LONG(j * SLOTS + k)])
                gradient = _splat(builder, builder.load(slot))
                for c in range(columns):
                    moved[c] = _fused(builder, gradient, current[k][c], moved[c])
                    current[k][c] = _fused(builder, gradient, values[c], current[k][c])
            for place, vector in zip(own, moved, strict=True):
                _store(builder, vector, place)
        for k, row in enumerate(places):
            for c, place in enumerate(row):
                move = builder.fsub(current[k][c], weights[k][c])
                there = _load(builder, place)  # again: a target may be among them twice
                _store(builder, builder.fadd(there, move), place)


@intrinsic
def step(
    typingctx, inputs, outputs, contexts, count, targets, pairs, group, stride, labels, gradients,
    tally,
):  # fmt: skip
    """Train up to 2 len(pairs) contexts, `count` of them, against len(group) targets at once.

    With x the rows of `inputs` at the offsets `contexts` and y the rows of `outputs` at the
    offsets `targets`: all scores x·y are computed first, and with them the gradients; then, context
    after context, x and each y move along each other, as in word2vec. `skipgram/plain.py` has the
    same step in plain loops.
    `labels` holds, for each lane, the sign of the score (-1 for the true target), an offset that
    silences a lane, and the rate with its sign, once for two contexts and once for one alone;
    `tally` the running product of 1 + e^score, as mantissas and exponents, from which the loss is
    known. 3 len(group) multiply-adds for each context and column.
    """
    n_contexts, n_targets = 2 * len(pairs), len(group)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def pointer(index: int) -> Any:
            return context.make_array(signature.args[index])(context, builder, args[index]).data

        def row(matrix: Any, offsets: Any, number: Any) -> Any:
            return builder.gep(matrix, [builder.load(builder.gep(offsets, [number]))])

        count, stride, labels, tally = args[3], args[7], pointer(8), pointer(10)
        last = builder.sub(count, _LONG(1))
        numbers: list[Any] = [_LONG(j) for j in range(n_contexts)]
        alone = builder.icmp_signed("==", last, numbers[-2])
        numbers[-1] = builder.select(alone, numbers[-2], numbers[-1])  # in place of none
        rows = [row(pointer(0), pointer(2), number) for number in numbers]
        of_targets = [row(pointer(1), pointer(4), _LONG(k)) for k in range(n_targets)]
        step = _Step(rows, of_targets, stride, pointer(9))
        of_one = builder.gep(labels, [builder.select(alone, _LONG(3 * LANES), _LONG(0))])
        scores: list[Any] = []
        for first in range(0, n_contexts, _AT_ONCE):
            scores += _emit_scores(builder, step, first, min(first + _AT_ONCE, n_contexts))
        for pair, vector in enumerate(scores):
            meant = of_one if pair == len(scores) - 1 else labels
            place = builder.gep(step.gradients, [_LONG(pair * LANES)])
            _store(builder, _emit_gradients(builder, vector, meant, tally), place)
        even = builder.and_(stride, _LONG(-_COLUMNS * WIDTH))
        _emit_moves(builder, step, _LONG(0), even, _COLUMNS)
        if _COLUMNS > 1:
            _emit_moves(builder, step, even, stride, 1)
        return context.get_dummy_value()

    signature = types.void(
        inputs, outputs, contexts, types.int64, targets, pairs, group, types.int64, labels,
        gradients, tally,
    )  # fmt: skip
    return signature, codegen
