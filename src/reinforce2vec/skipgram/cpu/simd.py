"""One skip-gram step in explicit vector instructions, as numba intrinsics.

Compilers do not vectorise this step from plain loops: they cannot know that the rows of the two
matrices do not overlap. So the instructions are written out here, for the vector width of the
processor at hand, with everything that is used more than once kept in registers.
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

FLOAT, INT, LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
FLOATS, INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)


def vector_width() -> int:
    """Numbers in a vector register of the processor that numba compiles for."""
    features = config.CPU_FEATURES  # type: ignore[attr-defined]
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return next((width for name, width in (("+avx512f", 16), ("+avx", 8)) if name in features), 4)


WIDTH = vector_width()
WIDE = ir.VectorType(FLOAT, WIDTH)
# What registers there are for:
COLUMNS = 2 if WIDTH == 16 else 1  # vectors of a row that are moved at once
AT_ONCE = 4 if WIDTH == 16 else 2  # contexts that are scored at once


# -- vectors -----------------------------------------------------------------------------------


def load(builder: Any, pointer: Any, kind: Any = WIDE) -> Any:
    """Numbers from memory."""
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=4)


def store(builder: Any, values: Any, pointer: Any) -> None:
    """Numbers to memory."""
    builder.store(values, builder.bitcast(pointer, values.type.as_pointer()), align=4)


def constant(value: float, kind: Any = FLOATS) -> Any:
    """The same number in every lane."""
    return ir.Constant(kind, [value] * kind.count)


def shuffled(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
    """Lanes picked from two vectors, the second's numbered on from the first's."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT, len(lanes)), lanes))


def splat(builder: Any, value: Any) -> Any:
    """A number in every lane."""
    empty = ir.Constant(WIDE, ir.Undefined)
    return shuffled(builder, builder.insert_element(empty, value, INT(0)), empty, [0] * WIDTH)


def fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """The sum a * b + c, rounded once where the processor can."""
    kind, name = ir.FunctionType(a.type, [a.type] * 3), f"llvm.fmuladd.v{a.type.count}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def picked(units: list[int], size: int, blocks: Iterable[int]) -> list[int]:
    """In each block of lanes, some units of so many lanes: of one vector, then of another."""
    return [
        block + vector + size * unit + lane
        for block in blocks
        for vector in (0, WIDTH)
        for unit in units
        for lane in range(size)
    ]


QUADS = range(0, WIDTH, 4)
FOLDS = [
    (picked([0, 1], 1, QUADS), picked([2, 3], 1, QUADS)),
    (picked([0, 2], 1, QUADS), picked([1, 3], 1, QUADS)),
    *{
        16: [(picked([0, 1], 4, [0]), picked([2, 3], 4, [0])),
             (picked([0, 2], 4, [0]), picked([1, 3], 4, [0]))],
        8: [(picked([0], 4, [0]), picked([1], 4, [0]))],
        4: [],
    }[WIDTH],
]  # fmt: skip


def sums(builder: Any, vectors: list[Any]) -> Any:
    """The sums over the lanes of LANES vectors, as one vector.

    Two vectors at a time are folded into one, some lanes of both added to the others, until every
    lane is a sum: about three instructions for each, not two for each halving.
    """
    for some, others in FOLDS:
        vectors = [
            builder.fadd(shuffled(builder, a, b, some), shuffled(builder, a, b, others))
            for a, b in pairwise(vectors)
        ]
    while len(vectors) > 1:
        both = list(range(2 * vectors[0].type.count))
        vectors = [shuffled(builder, a, b, both) for a, b in pairwise(vectors)]
    return vectors[0]


def pairwise(vectors: list[Any]) -> Iterable[tuple[Any, Any]]:
    """The first and the second, the third and the fourth, ..."""
    return zip(vectors[::2], vectors[1::2], strict=True)


def exponential(builder: Any, x: Any) -> Any:
    """e^x to float32 accuracy for |x| up to 87, beyond which x is cut off; NaN stays NaN."""
    for bound, sign in ((87.0, ">"), (-87.0, "<")):
        beyond = builder.fcmp_ordered(sign, x, constant(bound))
        x = builder.select(beyond, constant(bound), x)
    rounding = constant(12582912.0)  # 1.5 * 2^23: numbers of this size have no fraction
    shifted = fused(builder, x, constant(float(np.float32(1 / np.log(2)))), rounding)
    n = builder.fsub(shifted, rounding)
    high, low = float(np.float32(0.693359375)), float(np.float32(-2.12194440e-4))  # log 2 in two
    rest = fused(builder, n, constant(-low), fused(builder, n, constant(-high), x))
    power = constant(float(np.float32(1 / 720)))
    for divisor in (120, 24, 6, 2, 1, 1):
        power = fused(builder, power, rest, constant(float(np.float32(1 / divisor))))
    scale = builder.shl(builder.bitcast(shifted, INTS), constant(23, INTS))
    return builder.bitcast(builder.add(builder.bitcast(power, INTS), scale), FLOATS)


# -- the step ----------------------------------------------------------------------------------


class Step(NamedTuple):
    """What the instructions of a step work on: pointers to rows, and where gradients are kept."""

    contexts: list[Any]
    targets: list[Any]
    stride: Any
    gradients: Any


def emit_scores(builder: Any, step: Step, first: int, last: int) -> list[Any]:
    """Products of some contexts with all targets: a vector of LANES for each two contexts."""
    contexts, targets = step.contexts[first:last], step.targets
    totals = [[cgutils.alloca_once(builder, WIDE) for _ in targets] for _ in contexts]
    for row in totals:
        for total in row:
            builder.store(constant(0.0, WIDE), total)
    with cgutils.for_range_slice(builder, LONG(0), step.stride, LONG(WIDTH), LONG) as (at, _):
        values = [load(builder, builder.gep(context, [at])) for context in contexts]
        for k, target in enumerate(targets):
            weights = load(builder, builder.gep(target, [at]))
            for value, row in zip(values, totals, strict=True):
                builder.store(fused(builder, value, weights, builder.load(row[k])), row[k])
    empty = [constant(0.0, WIDE)] * (SLOTS - len(targets))
    slots = [[builder.load(total) for total in row] + empty for row in totals]
    return [sums(builder, one + other) for one, other in pairwise(slots)]


def emit_gradients(builder: Any, scores: Any, labels: Any, tally: Any) -> Any:
    """The gradients of two contexts, rate * (label - σ(score)); their loss goes to the tally."""
    sign, offset, rate = (
        load(builder, builder.gep(labels, [LONG(i * LANES)]), FLOATS) for i in range(3)
    )
    odds = exponential(builder, fused(builder, scores, sign, offset))
    whole = builder.fadd(odds, constant(1.0))
    product, exponent = builder.gep(tally, [LONG(0)]), builder.gep(tally, [LONG(LANES)])
    bits = builder.bitcast(builder.fmul(load(builder, product, FLOATS), whole), INTS)
    high = builder.sub(builder.lshr(bits, constant(23, INTS)), constant(127, INTS))
    store(builder, builder.add(load(builder, exponent, INTS), high), exponent)
    low = builder.and_(bits, constant(0x7FFFFF, INTS))
    store(builder, builder.or_(low, constant(0x3F800000, INTS)), product)
    return builder.fmul(rate, builder.fdiv(odds, whole))


def emit_moves(builder: Any, step: Step, begin: Any, end: Any, columns: int) -> None:
    """Move contexts and targets along the gradients, `columns` vectors of columns at a time."""
    by = LONG(columns * WIDTH)
    with cgutils.for_range_slice(builder, begin, end, by, LONG) as (at, _):
        offsets = [builder.add(at, LONG(WIDTH * c)) for c in range(columns)]
        places = [[builder.gep(target, [offset]) for offset in offsets] for target in step.targets]
        weights = [[load(builder, place) for place in row] for row in places]
        current = [list(row) for row in weights]
        for j, context in enumerate(step.contexts):
            own = [builder.gep(context, [offset]) for offset in offsets]
            values = [load(builder, place) for place in own]
            moved = list(values)
            for k in range(len(step.targets)):
                slot = builder.gep(step.gradients, [LONG(j * SLOTS + k)])
                gradient = splat(builder, builder.load(slot))
                for c in range(columns):
                    moved[c] = fused(builder, gradient, current[k][c], moved[c])
                    current[k][c] = fused(builder, gradient, values[c], current[k][c])
            for place, vector in zip(own, moved, strict=True):
                store(builder, vector, place)
        for k, row in enumerate(places):
            for c, place in enumerate(row):
                move = builder.fsub(current[k][c], weights[k][c])
                there = load(builder, place)  # anew: a target may be among them twice
                store(builder, builder.fadd(there, move), place)


@intrinsic
def step(
    typingctx, inputs, outputs, contexts, count, targets, pairs, group, stride, labels, gradients,
    tally,
):  # fmt: skip
    """Train up to 2 len(pairs) contexts, `count` of them, against len(group) targets at once.

    With x the rows of `inputs` at the offsets `contexts` and y the rows of `outputs` at the
    offsets `targets`: all scores x·y are taken first, and with them the gradients; then, context
    after context, x and each y move along each other's gradient, as in word2vec. So only the
    scores are a little old.
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
        last = builder.sub(count, LONG(1))
        numbers: list[Any] = [LONG(j) for j in range(n_contexts)]
        alone = builder.icmp_signed("==", last, numbers[-2])
        numbers[-1] = builder.select(alone, numbers[-2], numbers[-1])  # in place of none
        rows = [row(pointer(0), pointer(2), number) for number in numbers]
        of_targets = [row(pointer(1), pointer(4), LONG(k)) for k in range(n_targets)]
        step = Step(rows, of_targets, stride, pointer(9))
        of_one = builder.gep(labels, [builder.select(alone, LONG(3 * LANES), LONG(0))])
        scores: list[Any] = []
        for first in range(0, n_contexts, AT_ONCE):
            scores += emit_scores(builder, step, first, min(first + AT_ONCE, n_contexts))
        for pair, vector in enumerate(scores):
            meant = of_one if pair == len(scores) - 1 else labels
            place = builder.gep(step.gradients, [LONG(pair * LANES)])
            store(builder, emit_gradients(builder, vector, meant, tally), place)
        even = builder.and_(stride, LONG(-COLUMNS * WIDTH))
        emit_moves(builder, step, LONG(0), even, COLUMNS)
        if COLUMNS > 1:
            emit_moves(builder, step, even, stride, 1)
        return context.get_dummy_value()

    signature = types.void(
        inputs, outputs, contexts, types.int64, targets, pairs, group, types.int64, labels,
        gradients, tally,
    )  # fmt: skip
    return signature, codegen
