"""Counter-based random numbers: every draw is a pure function of (seed, walk, step, draw).

Nothing is shared between walks, so neither threads nor blocks nor devices can change a walk. The
generator hashes a counter: SplitMix64's finaliser over key + counter * gamma, with a key and an
odd gamma of each walk's own. It only adds, multiplies and shifts integers, so results are the same
on every machine.

Each function is there twice: in Python, and as the LLVM code that kernels get in its place. That
code takes numba's compiler no time, and kernels are full of it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

from .compiled import INTERPRETED, in_python

_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd
_MUL_1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

_WORD = ir.IntType(64)


def _emitted(signature: Any, emit: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Compile calls of a function to the code that `emit` writes; Python calls it as it is."""

    def decorate(function: Callable[..., Any]) -> Any:
        function = in_python(function)
        if INTERPRETED:
            return function

        def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = emit(builder, *arguments)
            if isinstance(value, tuple):
                return context.make_tuple(builder, signature.return_type, value)
            return value

        def typer(*given: Any) -> Any:
            return signature

        typer.pysig = inspect.signature(function)  # type: ignore[attr-defined]
        type_callable(function)(lambda context: typer)
        lower_builtin(function, *signature.args)(lower)
        return function

    return decorate


def _emit_mix(builder: Any, x: Any) -> Any:
    for shift, factor in ((30, _MUL_1), (27, _MUL_2)):
        x = builder.mul(builder.xor(x, builder.lshr(x, _WORD(shift))), _WORD(int(factor)))
    return builder.xor(x, builder.lshr(x, _WORD(31)))


def _emit_stream(builder: Any, seed: Any, k: Any) -> tuple[Any, Any]:
    step = _WORD(int(_STEP))
    key = _emit_mix(builder, builder.add(seed, step))
    key = _emit_mix(builder, builder.add(key, builder.mul(k, step)))
    return key, builder.or_(_emit_mix(builder, builder.add(key, step)), _WORD(1))


def _emit_draw(builder: Any, key: Any, gamma: Any, step: Any, i: Any) -> Any:
    counter = builder.add(builder.shl(i, _WORD(32)), step)
    return _emit_mix(builder, builder.add(key, builder.mul(counter, gamma)))


def _emit_multiply_high(builder: Any, a: Any, b: Any) -> Any:
    wide = ir.IntType(128)
    product = builder.mul(builder.zext(a, wide), builder.zext(b, wide))
    return builder.trunc(builder.lshr(product, wide(64)), _WORD)


def _emit_left_over(builder: Any, bits: Any, n: Any) -> Any:
    return _emit_unit(builder, builder.mul(bits, n))


def _emit_unit(builder: Any, bits: Any) -> Any:
    number = builder.sitofp(builder.lshr(bits, _WORD(11)), ir.DoubleType())
    return builder.fmul(number, ir.DoubleType()(1.0 / 9007199254740992.0))


_BITS, _LONG, _FLOAT = types.uint64, types.int64, types.float64


@_emitted(_BITS(_BITS), _emit_mix)
def mix(x):
    """Scramble 64 bits so that every input bit flips every output bit half of the time."""
    x = (x ^ (x >> np.uint64(30))) * _MUL_1
    x = (x ^ (x >> np.uint64(27))) * _MUL_2
    return x ^ (x >> np.uint64(31))


@_emitted(types.UniTuple(_BITS, 2)(_BITS, _LONG), _emit_stream)
def stream(seed, k):
    """Return key and gamma of walk k."""
    key = mix(mix(seed + _STEP) + np.uint64(k) * _STEP)
    return key, mix(key + _STEP) | _ONE


@_emitted(_BITS(_BITS, _BITS, _LONG, _LONG), _emit_draw)
def draw(key, gamma, step, i):
    """Return 64 random bits: draw number i of a step of a walk."""
    return mix(key + ((np.uint64(i) << np.uint64(32)) + np.uint64(step)) * gamma)


@_emitted(_BITS(_BITS, _BITS), _emit_multiply_high)
def multiply_high(a, b):
    """Return the upper 64 bits of the 128-bit product of two unsigned 64-bit integers."""
    a_low, a_high, b_low, b_high = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF)


@_emitted(_LONG(_BITS, _LONG), _emit_multiply_high)
def below(bits, n):
    """Return random bits as an integer in [0, n), uniform to one part in 2^64 / n."""
    return np.int64(multiply_high(bits, np.uint64(n)))


@_emitted(_FLOAT(_BITS, _LONG), _emit_left_over)
def left_over(bits, n):
    """Return what `below` left unused: a number in [0, 1), independent of its result."""
    return unit(bits * np.uint64(n))


@_emitted(_FLOAT(_BITS), _emit_unit)
def unit(bits):
    """Return random bits as a number in [0, 1), a multiple of 2^-53."""
    return np.float64(np.int64(bits >> np.uint64(11))) * (1.0 / 9007199254740992.0)
