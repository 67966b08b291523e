"""One skip-gram step in explicit vector instructions, as numba intrinsics.

Compilers do not vectorise this step from plain loops: they cannot know that the rows of the two
matrices do not overlap. So the instructions are written out here, with everything that is used more
than once kept in registers. Products are added up in 16 lanes, and the lanes in one fixed order, on
every CPU: where a register is narrower, a few of them make up the 16 lanes. So all CPUs that fuse a
multiplication and an addition (AVX2, AVX-512, ARM) compute the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from ..rules import BATCH, FAR

LANES = 2 * BATCH  # scores of two targets with all contexts make one vector
_HALF = BATCH // 2  # contexts whose scores are computed at once


def _lane(target: int, context: int) -> int:
    """Return the lane, of a vector of scores, of one of two targets and a context.

    That is where `_folded` puts it.
    """
    return 4 * (context % _HALF) + 2 * target + context // _HALF


_OF_LANE = {_lane(k, j): (k, j) for k in range(2) for j in range(BATCH)}
_TARGETS = [_OF_LANE[lane][0] for lane in range(LANES)]
_CONTEXTS = [_OF_LANE[lane][1] for lane in range(LANES)]

_FLOAT, _INT, _LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_FLOATS, _INTS = ir.VectorType(_FLOAT, LANES), ir.VectorType(_INT, LANES)
_BITS = ir.VectorType(ir.IntType(1), LANES)


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
_SCORED = (
    (4, 6) if WIDTH == 16 else (2, 3)
)  # contexts and targets whose products are summed at once


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


def _splat(builder: Any, value: Any, kind: Any = _WIDE) -> Any:
    """Return a vector with a number in every lane."""
    empty = ir.Constant(kind, ir.Undefined)
    vector = builder.insert_element(empty, value, _INT(0))
    return _shuffled(builder, vector, empty, [0] * kind.count)


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c, rounded once if the CPU can."""
    kind, name = ir.FunctionType(a.type, [a.type] * 3), f"llvm.fmuladd.v{a.type.count}f32"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _picked(units: list[int], size: int, blocks: Iterable[int]) -> list[int]:
    """Return lane numbers: in each block some units of `size` lanes, of one vector and another."""
    return [
        block + vector + size * unit + lane
        for block in blocks
        for vector in (0, LANES)
        for unit in units
        for lane in range(size)
    ]


_QUADS = range(0, LANES, 4)
_FOLDS = [
    (_picked([0], 8, [0]), _picked([1], 8, [0])),
    (_picked([0, 2], 4, [0]), _picked([1, 3], 4, [0])),
    (_picked([0, 1], 1, _QUADS), _picked([2, 3], 1, _QUADS)),
    (_picked([0, 2], 1, _QUADS), _picked([1, 3], 1, _QUADS)),
]


def _folded(builder: Any, vectors: list[Any], level: int) -> list[Any]:
    """Add some lanes of two vectors at a time to the others, which leaves half as many vectors.

    After all four levels every lane is a sum over the lanes of one vector. That takes about three
    instructions for each vector. Lane l is the sum of vector (l % 4) * 4 + l // 4.
    """
    some, others = _FOLDS[level]
    return [
        builder.fadd(_shuffled(builder, a, b, some), _shuffled(builder, a, b, others))
        for a, b in zip(vectors[::2], vectors[1::2], strict=True)
    ]


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
    """The operands of a step: pointers to rows, and to the memory of the gradients.

    `targets[k][j]` is target k of context j: its own centre, or a negative that all share.
    """

    contexts: list[Any]
    targets: list[list[Any]]
    own: int  # how many targets, the first ones, are not shared
    stride: Any
    gradients: Any


def _emit_products(builder: Any, step: _Step, contexts: range, targets: range) -> list[list[Any]]:
    """Multiply contexts by targets: a vector for each two, whose lanes add up to their score."""
    sums = [[cgutils.alloca_once(builder, _FLOATS) for _ in contexts] for _ in targets]
    for row in sums:
        for total in row:
            builder.store(_constant(0.0), total)
    with cgutils.for_range_slice(builder, _LONG(0), step.stride, _LONG(LANES), _LONG) as (at, _):
        values = [_load(builder, builder.gep(step.contexts[j], [at]), _FLOATS) for j in contexts]
        for k, row in zip(targets, sums, strict=True):
            weights = None
            for j, value, total in zip(contexts, values, row, strict=True):
                if weights is None or k < step.own:
                    weights = _load(builder, builder.gep(step.targets[k][j], [at]), _FLOATS)
                builder.store(_fused(builder, value, weights, builder.load(total)), total)
    return [[builder.load(total) for total in row] for row in sums]


def _emit_scores(builder: Any, step: _Step) -> list[Any]:
    """Compute the scores of all contexts with all targets: a vector for each two targets."""
    at_once, together = _SCORED
    n_targets = len(step.targets)
    folded: list[list[Any]] = [[] for _ in range(n_targets)]
    for first in range(0, len(step.contexts), _HALF):
        products: list[list[Any]] = [[] for _ in range(n_targets)]
        for low in range(0, n_targets, together):
            targets = range(low, min(low + together, n_targets))
            for begin in range(first, first + _HALF, at_once):
                scores_of = _emit_products(builder, step, range(begin, begin + at_once), targets)
                for k, row in zip(targets, scores_of, strict=True):
                    products[k] += row
        for row, vectors in zip(folded, products, strict=True):
            row += _folded(builder, _folded(builder, vectors, 0), 1)
    nothing = _constant(0.0)
    halves = [row + [nothing] * (2 - len(row)) for row in folded]
    halves += [[nothing, nothing]] * (n_targets % 2)
    sums = [_folded(builder, row, 2)[0] for row in halves]
    return _folded(builder, sums, 3)


def _emit_gradients(
    builder: Any, scores: Any, rises: Any, rate: Any, silent: Any, tally: Any
) -> tuple[Any, Any]:
    """Compute gradients, rate * (label - σ(score)), 0 in silent lanes; add the loss to the tally.

    `rises` is 1 in lanes whose scores are to rise, and -1 in the others. Returns also in which
    lanes the score is wrong by FAR.
    """
    wrong = builder.fmul(scores, builder.fneg(rises))
    far = builder.fcmp_ordered(">", wrong, _constant(FAR))
    far = builder.and_(far, builder.not_(silent))
    odds = _exponential(builder, wrong)
    whole = builder.fadd(builder.select(silent, _constant(0.0), odds), _constant(1.0))
    product, exponent = builder.gep(tally, [_LONG(0)]), builder.gep(tally, [_LONG(LANES)])
    bits = builder.bitcast(builder.fmul(_load(builder, product, _FLOATS), whole), _INTS)
    high = builder.sub(builder.lshr(bits, _constant(23, _INTS)), _constant(127, _INTS))
    _store(builder, builder.add(_load(builder, exponent, _INTS), high), exponent)
    low = builder.and_(bits, _constant(0x7FFFFF, _INTS))
    _store(builder, builder.or_(low, _constant(0x3F800000, _INTS)), product)
    gradients = builder.fmul(builder.fmul(rate, rises), builder.fdiv(odds, whole))
    return builder.select(silent, _constant(0.0), gradients), far


def _emit_moves(builder: Any, step: _Step, begin: Any, end: Any, columns: int) -> None:
    """Move contexts and targets along the gradients, `columns` vectors of columns at a time."""
    shared = range(step.own, len(step.targets))

    def gradient(k: int, j: int) -> Any:
        place = builder.gep(step.gradients, [_LONG(k // 2 * LANES + _lane(k % 2, j))])
        return _splat(builder, builder.load(place))

    by = _LONG(columns * WIDTH)
    with cgutils.for_range_slice(builder, begin, end, by, _LONG) as (at, _):
        offsets = [builder.add(at, _LONG(WIDTH * c)) for c in range(columns)]

        def places_in(row: Any) -> list[Any]:
            return [builder.gep(row, [offset]) for offset in offsets]

        places = {k: places_in(step.targets[k][0]) for k in shared}
        weights = {k: [_load(builder, place) for place in places[k]] for k in shared}
        current = {k: list(weights[k]) for k in shared}
        for j, context in enumerate(step.contexts):
            own = places_in(context)
            values = [_load(builder, place) for place in own]
            moved = list(values)
            for k in range(len(step.targets)):
                pull = gradient(k, j)
                if k < step.own:
                    there = places_in(step.targets[k][j])
                    target = [_load(builder, place) for place in there]
                else:
                    target = current[k]
                for c in range(columns):
                    moved[c] = _fused(builder, pull, target[c], moved[c])
                    target[c] = _fused(builder, pull, values[c], target[c])
                if k < step.own:
                    for place, vector in zip(there, target, strict=True):
                        _store(builder, vector, place)
            for place, vector in zip(own, moved, strict=True):
                _store(builder, vector, place)
        for k in shared:
            for c, place in enumerate(places[k]):
                move = builder.fsub(current[k][c], weights[k][c])
                there = _load(builder, place)  # again: a target may be among them twice
                _store(builder, builder.fadd(there, move), place)


@intrinsic
def step(typingctx, weights, room, places, halves, own, rate):
    """Train up to 4 len(halves) pairs against len(room.group) targets each.

    The `places` are (at, count, first, n_targets). From `at` on, room.batches holds the BATCH
    contexts of the pairs, then their BATCH centres; `count` pairs count. From `first` on it holds
    the targets, of which `n_targets` count. With an entry in `own` the first target of a pair is
    its own centre; all others are negatives, shared by the pairs. One that is a pair's own centre
    does not count for it. What follows the last pair and the last target must be numbers of rows
    too.

    With x the rows of inputs of the contexts and y the rows of outputs of the targets: all scores
    x·y are computed first, and with them the gradients; then, pair after pair, x and each y move
    along each other, as in word2vec. `skipgram/plain.py` has the same step in plain loops.
    room.tally holds the running product of 1 + e^score, as mantissas and exponents, from which the
    loss is known. 3 len(room.group) multiply-adds for each pair and column. Returns whether a score
    was wrong by FAR.
    """
    sizes = dict(zip(room.fields, room.types, strict=True))
    n_contexts, size, n_own = _HALF * len(halves), len(sizes["group"]), len(own)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def array(number: int, field: str) -> Any:
            kind = signature.args[number]
            place = kind.fields.index(field)
            value = builder.extract_value(args[number], place)
            return context.make_array(kind.types[place])(context, builder, value)

        inputs, outputs = array(0, "inputs"), array(0, "outputs")
        batch, gradients, tally = (
            array(1, name).data for name in ("batches", "gradients", "tally")
        )
        at, count, first, n_targets = cgutils.unpack_tuple(builder, args[2])
        stride = builder.extract_value(inputs.shape, 1)

        def row(matrix: Any, number: Any) -> Any:
            return builder.gep(matrix.data, [builder.mul(builder.zext(number, _LONG), stride)])

        def numbers(begin: Any, count: int) -> list[Any]:
            places = [builder.add(begin, _LONG(k)) for k in range(count)]
            return [builder.load(builder.gep(batch, [place])) for place in places]

        centres_at = builder.add(at, _LONG(BATCH))
        contexts = [row(inputs, number) for number in numbers(at, n_contexts)]
        centres = [row(outputs, number) for number in numbers(centres_at, n_contexts)]
        targets = numbers(first, size)
        rows = [centres] * n_own + [[row(outputs, k)] * n_contexts for k in targets[n_own:]]
        step = _Step(contexts, rows, n_own, stride, gradients)

        eight = ir.VectorType(_INT, BATCH)
        own_centres = _load(builder, builder.gep(batch, [centres_at]), eight)
        own_centres = _shuffled(builder, own_centres, own_centres, _CONTEXTS)
        of_context = ir.Constant(_INTS, _CONTEXTS)
        missing = builder.icmp_signed(
            ">=", of_context, _splat(builder, builder.trunc(count, _INT), _INTS)
        )
        known = _splat(builder, builder.trunc(n_targets, _INT), _INTS)
        rates = _splat(builder, args[5], _FLOATS)
        far = ir.Constant(_BITS, [False] * LANES)
        for number, scores in enumerate(_emit_scores(builder, step)):
            of_target = [2 * number + k for k in _TARGETS]
            falls = [k >= n_own for k in of_target]
            two = ir.Constant(_INTS, ir.Undefined)
            for k, target in enumerate(targets[2 * number : 2 * number + 2]):
                two = builder.insert_element(two, target, _INT(k))
            same = builder.icmp_signed("==", own_centres, _shuffled(builder, two, two, _TARGETS))
            same = builder.and_(same, ir.Constant(_BITS, falls))
            beyond = builder.icmp_signed(">=", ir.Constant(_INTS, of_target), known)
            silent = builder.or_(missing, builder.or_(same, beyond))
            rises = ir.Constant(_FLOATS, [-1.0 if negative else 1.0 for negative in falls])
            found, wrong = _emit_gradients(builder, scores, rises, rates, silent, tally)
            far = builder.or_(far, wrong)
            _store(builder, found, builder.gep(gradients, [_LONG(number * LANES)]))
        even = builder.and_(stride, _LONG(-_COLUMNS * WIDTH))
        _emit_moves(builder, step, _LONG(0), even, _COLUMNS)
        if _COLUMNS > 1:
            _emit_moves(builder, step, even, stride, 1)
        bits = ir.IntType(LANES)
        return builder.icmp_signed("!=", builder.bitcast(far, bits), bits(0))

    numbers = types.UniTuple(types.int64, 4)
    return types.boolean(weights, room, numbers, halves, own, types.float32), codegen


# -- taking pairs ------------------------------------------------------------------------------


@intrinsic
def take_pairs(typingctx, pairs, begin, batch, at):
    """Take BATCH pairs, from `begin` on: write their contexts, then their centres, from `at` on.

    A pair is its context, in the upper half of 64 bits, and its centre. Returns whether a context
    occurs more than twice.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pairs, batch = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 2)
        )
        words = ir.VectorType(_INT, 2 * BATCH)
        both = _load(builder, builder.gep(pairs, [args[1]]), words)
        centres = _shuffled(builder, both, both, list(range(0, 2 * BATCH, 2)))
        contexts = _shuffled(builder, both, both, list(range(1, 2 * BATCH, 2)))
        _store(builder, contexts, builder.gep(batch, [args[3]]))
        _store(builder, centres, builder.gep(batch, [builder.add(args[3], _LONG(BATCH))]))
        times = _constant(0, contexts.type)  # less one
        for turn in range(1, BATCH):
            turned = [(lane + turn) % BATCH for lane in range(BATCH)]
            others = _shuffled(builder, contexts, contexts, turned)
            equal = builder.icmp_signed("==", contexts, others)
            times = builder.sub(times, builder.sext(equal, contexts.type))
        often = builder.icmp_signed(">", times, _constant(1, contexts.type))
        return builder.icmp_signed(
            "!=", builder.bitcast(often, ir.IntType(BATCH)), ir.IntType(BATCH)(0)
        )

    return types.boolean(pairs, types.int64, batch, types.int64), codegen
