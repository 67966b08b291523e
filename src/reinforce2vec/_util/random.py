"""Counter-based random numbers: every draw is a pure function of (seed, walk, step, draw).

Nothing is shared between walks, so neither threads nor blocks nor devices can change a walk. The
generator hashes a counter: SplitMix64's finaliser over key + counter * gamma, with a key and an
odd gamma of each walk's own. It only adds, multiplies and shifts integers, so results are the same
on every machine. `intrinsics` has `below` with fewer instructions, for the fast engine.
"""

from __future__ import annotations

import numpy as np

from .compiled import inlined

_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd
_MUL_1 = np.uint64(0xBF58476D1CE4E5B9)
_MUL_2 = np.uint64(0x94D049BB133111EB)
_ONE = np.uint64(1)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@inlined
def mix(x):
    """Scramble 64 bits so that every input bit flips every output bit half of the time."""
    x = (x ^ (x >> np.uint64(30))) * _MUL_1
    x = (x ^ (x >> np.uint64(27))) * _MUL_2
    return x ^ (x >> np.uint64(31))


@inlined
def stream(seed, k):
    """Return key and gamma of walk k."""
    key = mix(mix(seed + _STEP) + np.uint64(k) * _STEP)
    return key, mix(key + _STEP) | _ONE


@inlined
def draw(key, gamma, step, i):
    """Return 64 random bits: draw number i of a step of a walk."""
    return mix(key + ((np.uint64(i) << np.uint64(32)) + np.uint64(step)) * gamma)


@inlined
def multiply_high(a, b):
    """Return the upper 64 bits of the 128-bit product of two unsigned 64-bit integers."""
    a_low, a_high, b_low, b_high = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF)


@inlined
def below(bits, n):
    """Return random bits as an integer in [0, n), uniform to one part in 2^64 / n."""
    return np.int64(multiply_high(bits, np.uint64(n)))


@inlined
def left_over(bits, n):
    """Return what `below` left unused: a number in [0, 1), independent of its result."""
    return unit(bits * np.uint64(n))


@inlined
def unit(bits):
    """Return random bits as a number in [0, 1), a multiple of 2^-53."""
    return np.float64(np.int64(bits >> np.uint64(11))) * (1.0 / 9007199254740992.0)
