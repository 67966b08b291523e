"""Measured peak rates of a GPU, and R-MAT graphs generated on it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import reinforce2vec as r2v
from reinforce2vec._util.cuda import device

KERNELS = r"""
extern "C" __global__ void copy(const float4* from, float4* to, long long size, int rounds) {
    long long threads = (long long)gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; round++)
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += threads)
            __stcg(to + i, __ldcg(from + i));
}

// Eight independent chains of fused multiply-adds in each thread.
extern "C" __global__ void multiply_adds(float* out, float by, int rounds) {
    float sums[8];
    for (int i = 0; i < 8; i++) sums[i] = threadIdx.x + i;
#pragma unroll 16
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int i = 0; i < 8; i++) sums[i] = fmaf(sums[i], by, 1.0f);
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += sums[i];
    out[(long long)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Reads of four bytes at random places, each independent of the others.
extern "C" __global__ void read_at_random(
    const unsigned* from, unsigned mask, unsigned* out, int rounds) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, place = thread * 2654435769u, sum = 0;
#pragma unroll 8
    for (int round = 0; round < rounds; round++) {
        place = place * 1664525u + 1013904223u;
        sum += __ldcg(from + ((place ^ (place >> 15)) & mask));
    }
    out[thread] = sum;
}
"""
THREADS = 256


def seconds_of(action: Callable[[], object]) -> float:
    """Return the GPU time of an action; the wall-clock time where the GPU is emulated."""
    cp = device.cupy()
    if not hasattr(cp.cuda, "Event"):
        begin = time.perf_counter()
        action()
        return time.perf_counter() - begin
    begins, ends = cp.cuda.Event(), cp.cuda.Event()
    begins.record()
    action()
    ends.record()
    ends.synchronize()
    return float(cp.cuda.get_elapsed_time(begins, ends)) / 1e3


def measure_limits(tiny: bool, repeats: int = 5) -> Iterator[dict]:
    """Measure memory and cache bandwidth, multiply-adds and random reads per second."""
    cp, gpu = device.cupy(), device.properties()
    yield {"what": "GPU", **describe_gpu()}
    module = cp.RawModule(code=KERNELS, options=("--std=c++17",))
    blocks = 2 if tiny else 8 * gpu.multiprocessors
    threads, shrink = blocks * THREADS, 1 << (14 if tiny else 0)
    rounds, reads = (np.int32(8 if tiny else count) for count in (4096, 1024))
    out, tasks = cp.empty(threads, np.float32), {}  # amount of work of a run, kernel, arguments
    for what, size, times in (("memory", 1 << 30, 1), ("cache", 1 << 21, 50)):
        a, b = (cp.zeros(max(size // shrink, 64), np.float32) for _ in range(2))
        arguments = a, b, np.int64(a.size // 4), np.int32(times)
        tasks[f"{what} bytes/s"] = 2 * a.nbytes * times, "copy", arguments
        if what == "memory":
            numbers = a.view(np.uint32)
    amount = 8 * int(rounds) * threads
    tasks["multiply-adds/s"] = amount, "multiply_adds", (out, np.float32(0.999), rounds)
    for size in (1 << 21, 1 << 25, 1 << 30):
        arguments = numbers, np.uint32(size // shrink - 1), out.view(np.uint32), reads
        tasks[f"random reads/s of {size >> 18} MB"] = (
            *(int(reads) * threads, "read_at_random"),
            arguments,
        )
    for what, (amount, name, arguments) in tasks.items():
        kernel = module.get_function(name)
        for repeat in range(-1, repeats):  # the first one compiles
            seconds = seconds_of(lambda k=kernel, a=arguments: k((blocks,), (THREADS,), a))
            if repeat >= 0:
                yield {"what": what, "repeat": repeat, "per_second": amount / seconds}


def describe_gpu() -> dict:
    """Return name, sizes and versions, from CuPy and, if it is installed, nvidia-smi."""
    cp = device.cupy()
    properties = cp.cuda.runtime.getDeviceProperties(0)
    facts = {"name": properties["name"].decode(), "cupy": cp.__version__}
    facts["memory_bytes"] = int(properties["totalGlobalMem"])
    if shutil.which("nvidia-smi"):
        fields = "driver_version,clocks.sm,clocks.max.sm,clocks.mem"
        command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        names = ("driver", "clock", "highest_clock", "memory_clock")
        facts |= dict(zip(names, answer.split("\n")[0].split(", "), strict=False))
    return facts


def rmat_on_gpu(scale: int, edge_factor: int = 16, seed: int = 0, xp: Any = None) -> r2v.Graph:
    """Generate a graph like :func:`reinforce2vec.rmat` with random numbers of CuPy, or of `xp`."""
    xp = device.cupy() if xp is None else xp
    upper_left, upper_right, lower_left = np.cumsum((0.57, 0.19, 0.19)).tolist()
    rng, n = xp.random.default_rng(seed), 1 << scale
    drawn, piece = n * edge_factor, 1 << 26
    number = xp.argsort(rng.random(n, np.float64))
    keys = xp.full(2 * drawn, 2**63 - 1, np.int64)  # row and column, both ways; self-loops last
    filled = 0
    for first in range(0, drawn, piece):
        size = min(piece, drawn - first)
        row, column = xp.zeros(size, np.int32), xp.zeros(size, np.int32)
        for _ in range(scale):
            quarter = rng.random(size, np.float32)
            below = quarter >= upper_right
            right = ((quarter >= upper_left) & ~below) | (quarter >= lower_left)
            row, column = 2 * row + below, 2 * column + right
        row, column = number[row], number[column]
        kept = row != column
        row, column = row[kept], column[kept]
        for one, other in ((row, column), (column, row)):
            keys[filled : filled + len(row)] = (one << 32) | other
            filled += len(row)
    del row, column, kept, quarter, below, right, number
    keys.sort()
    keys = keys[:filled]
    different = xp.ones(filled, np.bool_)
    different[1:] = keys[1:] != keys[:-1]
    keys = keys[different]
    del different
    indptr = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) << 32).astype(np.int64)
    indices = (keys & (n - 1)).astype(np.int32)
    del keys
    if xp is not np:
        indptr, indices = indptr.get(), indices.get()
        xp.get_default_memory_pool().free_all_blocks()
    return r2v.Graph(indptr, indices, None, np.arange(n, dtype=np.int64))
