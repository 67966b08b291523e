"""Instructions that numba has no function for, written as LLVM code. The fast engine uses them."""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

BLOCK = 16  # entries that `matches` compares at once


@intrinsic
def matches(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Return a bit mask: which of BLOCK entries of an int32 array, from `index` on, equal `value`.

    The array must be contiguous.
    """

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


@intrinsic
def bits_set(typingctx: Any, mask: Any) -> Any:
    """Return the number of ones in a 64-bit integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Load the cache line with an entry of an array, without waiting for it."""
    return types.void(array, types.int64), partial(_emit_prefetch, write=False)


@intrinsic
def prefetch_to_write(typingctx: Any, array: Any, index: Any) -> Any:
    """Load the cache line with an entry of an array for this core alone, which will write to it."""
    return types.void(array, types.int64), partial(_emit_prefetch, write=True)


def _emit_prefetch(context: Any, builder: Any, signature: Any, args: Any, write: bool) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    place = builder.bitcast(builder.gep(data, [args[1]]), byte)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
    builder.call(function, [place, number(int(write)), number(3), number(1)])  # to keep, data
    return context.get_dummy_value()


@intrinsic
def add_atomically(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Add to an entry that threads share; return what it was. What they did before is then seen."""
    return types.int64(array, types.int64, types.int64), partial(_emit_exchange, operation="add")


@intrinsic
def swap_atomically(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Set an entry that threads share; return what it was. What they did before is then seen."""
    return types.int64(array, types.int64, types.int64), partial(_emit_exchange, operation="xchg")


def _emit_exchange(context: Any, builder: Any, signature: Any, args: Any, operation: str) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.atomic_rmw(operation, builder.gep(data, [args[1]]), args[2], "seq_cst")


@intrinsic
def load_atomically(typingctx: Any, array: Any, index: Any) -> Any:
    """Load an entry that threads share, and see what they did before they changed it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "acquire", align=8)

    return types.int64(array, types.int64), codegen
