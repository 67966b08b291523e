"""How many fused multiply-adds a second this machine can do: the ceiling of any trainer.

Each thread keeps `CHAINS` vectors of `WIDTH` floats in registers and multiplies and adds into each
in turn; none waits for another, nothing touches memory. More chains than an instruction takes
cycles times the units that do it, fewer than there are registers: 12 is enough for all of today's
processors, and fits the 16 registers of AVX2.
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
    """An intrinsic: `rounds` fused multiply-adds into each of the chains; their sum is returned."""

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
    """The same number in every lane."""
    spread_out = ir.Constant(vector, ir.Undefined)
    for lane in range(vector.count):
        spread_out = builder.insert_element(spread_out, value, ir.Constant(ir.IntType(32), lane))
    return spread_out


KERNELS = {width: vector_chains(width) for width in (8, 16)}


def fma_peak(threads: int, seconds: float = 0.2, repeats: int = 5) -> float:
    """Fused multiply-adds a second on so many threads, each of 32 bits: the best of all tries."""
    return max(rate(width, threads, seconds / repeats) for width in KERNELS for _ in range(repeats))


def rate(width: int, threads: int, seconds: float) -> float:
    """The rate of one kernel, run for about so many seconds."""
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
        print(f"{threads} threads: {fma_peak(threads) / 1e9:.1f} billion a second")
