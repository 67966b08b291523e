"""Measure how many fused multiply-adds per second this machine can do: the peak for any trainer.

Each thread keeps `CHAINS` vectors in registers and multiplies and adds into each in turn; no chain
depends on another, nothing touches memory. There have to be more chains than the instruction's
latency times the units that execute it, and fewer than there are registers: 12 is enough for all of
today's CPUs, and fits the 16 registers of AVX2.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

CHAINS = 12


def vector_chains(width: int):
    """Return a kernel: `rounds` fused multiply-adds into each chain; it returns their sum."""

    @intrinsic
    def run_chains(_context, rounds, factor, term):
        def generate(context, builder, _signature, arguments):
            rounds, factor, term = arguments
            vector = ir.VectorType(ir.FloatType(), width)
            fma = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{width}f32"
            )
            factors, terms = spread(builder, factor, vector), spread(builder, term, vector)
            chains = [cgutils.alloca_once_value(builder, terms) for _ in range(CHAINS)]
            with cgutils.for_range(builder, rounds):
                for chain in chains:
                    value = builder.call(fma, [builder.load(chain), factors, terms])
                    builder.store(value, chain)
            total = context.get_constant(types.float32, 0)
            for chain in chains:
                value = builder.load(chain)
                for lane in range(width):
                    number = builder.extract_element(value, ir.Constant(ir.IntType(32), lane))
                    total = builder.fadd(total, number)
            return total

        return types.float32(types.int64, types.float32, types.float32), generate

    @numba.njit(nogil=True)
    def run(rounds, factor, term):
        return run_chains(rounds, factor, term)

    return run


def spread(builder: ir.IRBuilder, value: ir.Value, vector: ir.VectorType) -> ir.Value:
    """Put the same number into every lane."""
    spread_out = ir.Constant(vector, ir.Undefined)
    for lane in range(vector.count):
        spread_out = builder.insert_element(spread_out, value, ir.Constant(ir.IntType(32), lane))
    return spread_out


KERNELS = {width: vector_chains(width) for width in (8, 16)}


def fma_peak(threads: int, seconds: float = 0.2, repeats: int = 5) -> float:
    """Return fused multiply-adds per second (32 bits) on some threads: the best of all tries."""
    return max(rate(width, threads, seconds / repeats) for width in KERNELS for _ in range(repeats))


def rate(width: int, threads: int, seconds: float) -> float:
    """Return the rate of one kernel, run for about `seconds` seconds."""
    run, factor, term = KERNELS[width], np.float32(0.5), np.float32(1)
    run(1, factor, term)
    rounds = int(seconds * 2e8)
    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter()
        list(pool.map(lambda _: run(rounds, factor, term), range(threads)))
        taken = time.perf_counter() - start
    return threads * rounds * CHAINS * width / taken


if __name__ == "__main__":
    for threads in (1, 2):
        print(f"{threads} threads: {fma_peak(threads) / 1e9:.1f} billion per second")
