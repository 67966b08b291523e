"""The emulator does what CUDA does, where the kernels rely on it."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

import reinforce2vec._util.cuda
from helpers import emulator
from reinforce2vec._util import random

pytestmark = pytest.mark.skipif(emulator.COMPILER is None, reason="the emulator needs g++")

WARP = r"""
extern "C" __global__ void __launch_bounds__(64)
sums(const float* x, float* sums, unsigned* votes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    votes[i / 32] = __ballot_sync(0xFFFFFFFF, value > 10.0f);
    for (int by = 16; by > 0; by >>= 1) value += __shfl_xor_sync(0xFFFFFFFF, value, by);
    if (i % 32 == 0) sums[i / 32] = value;
}

extern "C" __global__ void reversed(const int* x, int* y, int count) {
    SHARED_MEMORY(int, kept);
    int i = threadIdx.x;
    if (i >= count) return;
    kept[i] = x[i];
    __syncthreads();
    y[i] = kept[count - 1 - i];
    __syncthreads();
    kept[i] = y[i] + 1;
    __syncthreads();
    y[i] = kept[(i + 1) % count];
}

extern "C" __global__ void leaving(unsigned* votes, int* ahead) {
    unsigned vote = 0;
    for (int round = 0; round < 40; round++) {
        if ((int)threadIdx.x == round) return;
        vote = __ballot_sync(0xFFFFFFFF, 1);
        ahead[threadIdx.x] = __shfl_down_sync(0xFFFFFFFF, (int)threadIdx.x * round, 1);
        votes[threadIdx.x] = vote;
    }
}
"""


@pytest.fixture(scope="module")
def warps():
    return emulator.RawModule(code=WARP, options=("--std=c++17",))


def test_lanes_of_a_warp_exchange_values(warps):
    x = np.arange(192, dtype=np.float32)
    sums, votes = emulator.empty(6, np.float32), emulator.empty(6, np.uint32)
    warps.get_function("sums")((3,), (64,), (emulator.asarray(x), sums, votes))
    np.testing.assert_array_equal(sums.get(), x.reshape(6, 32).sum(axis=1))
    np.testing.assert_array_equal(votes.get(), [0xFFFFF800] + 5 * [0xFFFFFFFF])


@pytest.mark.parametrize("count", [1, 20, 32, 33, 100])
def test_threads_of_a_block_wait_for_each_other(warps, count):
    x, y = np.arange(count, dtype=np.int32) ** 2, emulator.empty(count, np.int32)
    kernel = warps.get_function("reversed")
    kernel((1,), (128,), (emulator.asarray(x), y, np.int32(count)), shared_mem=4 * count)
    np.testing.assert_array_equal(y.get(), np.roll(x[::-1] + 1, -1))


def test_lanes_that_have_ended_do_not_vote(warps):
    votes, ahead = emulator.zeros(32, np.uint32), emulator.zeros(32, np.int32)
    warps.get_function("leaving")((1,), (32,), (votes, ahead))
    np.testing.assert_array_equal(
        votes.get()[1:], [0xFFFFFFFF << lane & 0xFFFFFFFF for lane in range(1, 32)]
    )
    np.testing.assert_array_equal(ahead.get()[1:-1], [(i + 1) * (i - 1) for i in range(1, 31)])


DRAWS = r"""
extern "C" __global__ void draws(unsigned long long seed, const unsigned* n, double* y, int count) {
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
        Stream stream = make_stream(seed, k);
        unsigned long long bits = draw(stream, 3 * k, 7 + k);
        double* row = y + 5 * k;
        row[0] = unit(bits);
        row[1] = below(bits, n[k]);
        row[2] = below(bits, (unsigned long long)n[k]);
        row[3] = left_over(bits, n[k]);
        row[4] = stream.gamma & 1;
    }
}
"""


def test_random_numbers_are_those_of_the_host():
    n = np.append(np.arange(1, 40), [2**31, 2**32 - 1]).astype(np.uint32)
    y = emulator.empty((n.size, 5))
    source = (files(reinforce2vec._util.cuda) / "random.cu").read_text(encoding="utf-8")
    module = emulator.RawModule(code=source + DRAWS)
    module.get_function("draws")(
        (1,), (32,), (np.uint64(2**64 - 5), emulator.asarray(n), y, np.int32(n.size))
    )
    for k, row in enumerate(y.get()):
        key, gamma = random.stream(np.uint64(2**64 - 5), k)
        bits = np.uint64(random.draw(np.uint64(key), np.uint64(gamma), 3 * k, 7 + k))
        drawn = random.below(bits, n[k])
        assert list(row) == [random.unit(bits), drawn, drawn, random.left_over(bits, n[k]), 1]


def test_device_memory_is_no_host_memory():
    there = emulator.asarray(np.arange(6))
    with pytest.raises(TypeError):
        np.asarray(there)
    with pytest.raises(TypeError):
        there[:2] = np.arange(2)
    there[:2].set(np.array([7, 8]))
    np.testing.assert_array_equal(there.get(), [7, 8, 2, 3, 4, 5])
    assert emulator.empty(3, np.int32).get().any()


@pytest.mark.parametrize("count", [np.int64(4), np.float32(4), 4, None])
def test_arguments_of_a_wrong_type_are_refused(warps, count):
    y = emulator.zeros(4, np.int32)
    with pytest.raises(TypeError, match="argument 3"):
        warps.get_function("reversed")((1,), (32,), (y, y, count), shared_mem=16)


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.uint8])
def test_arrays_of_a_wrong_type_are_refused(warps, dtype):
    right, wrong = emulator.zeros(4, np.uint32), emulator.zeros(4, dtype)
    kernel = warps.get_function("reversed")
    for number, pair in enumerate([(wrong, right), (right, wrong)], 1):
        with pytest.raises(TypeError, match=f"argument {number}"):
            kernel((1,), (32,), (*pair, np.int32(4)), shared_mem=16)
    kernel((1,), (32,), (right, right, np.int32(4)), shared_mem=16)  # whatever the sign


def test_arrays_with_gaps_are_refused(warps):
    right, wrong = emulator.zeros(4, np.int32), emulator.zeros((4, 2), np.int32)[:, 0]
    with pytest.raises(ValueError, match=r"argument 2 .* not contiguous"):
        warps.get_function("reversed")((1,), (32,), (right, wrong, np.int32(4)), shared_mem=16)


PACKED = """
extern "C" __global__ void ends(const uint2* rows, const ulonglong2* cells, double* y) {
    y[threadIdx.x] = rows[threadIdx.x].y + cells[threadIdx.x].x;
}
"""


def test_packed_numbers_are_read_from_arrays_of_their_parts():
    rows, cells = (emulator.asarray(np.arange(8, dtype=kind)) for kind in (np.uint32, np.uint64))
    y = emulator.empty(4)
    kernel = emulator.RawModule(code=PACKED).get_function("ends")
    kernel((1,), (4,), (rows, cells, y))
    np.testing.assert_array_equal(y.get(), [1, 5, 9, 13])
    with pytest.raises(TypeError, match="argument 3"):
        kernel((1,), (4,), (rows, cells, rows))


def test_kernels_of_one_source_share_what_they_may_take(warps):
    y, most = emulator.zeros(4, np.int32), 232_448
    other = emulator.RawModule(code=WARP, options=("--std=c++17",)).get_function("reversed")
    kernel = warps.get_function("reversed")
    usual = kernel.max_dynamic_shared_size_bytes
    try:
        other.max_dynamic_shared_size_bytes = most
        kernel((1,), (32,), (y, y, np.int32(4)), shared_mem=most)
        other.max_dynamic_shared_size_bytes = 8
        with pytest.raises(ValueError, match="16 bytes of shared memory, where 8 are allowed"):
            kernel((1,), (32,), (y, y, np.int32(4)), shared_mem=16)
        with pytest.raises(ValueError, match="a block cannot have"):
            kernel.max_dynamic_shared_size_bytes = most + 1
    finally:
        kernel.max_dynamic_shared_size_bytes = usual


def test_memory_is_counted_and_ends(monkeypatch):
    pool = emulator.get_default_memory_pool()
    before = pool.used_bytes()
    monkeypatch.setattr(emulator, "MEMORY", before + 4096)
    whole = emulator.zeros(1000, np.uint8)
    part = whole[10:20].reshape(2, 5).T
    assert emulator.cuda.runtime.memGetInfo() == (3072, before + 4096)
    del whole
    assert pool.used_bytes() == before + 1024
    with pytest.raises(MemoryError, match="3,584 bytes"):
        emulator.empty(3073, np.uint8)
    del part
    assert pool.used_bytes() == before
    assert emulator.cuda.Device().mem_info[0] == 4096


def test_device_arrays_calculate_among_themselves():
    x = np.random.default_rng(0).normal(size=(5, 3))
    there = emulator.asarray(x)
    before = emulator.get_default_memory_pool().used_bytes()
    products = 2 * (there.T @ there) - np.float64(1)
    assert emulator.get_default_memory_pool().used_bytes() == before + emulator.UNIT
    np.testing.assert_array_equal(products.get(), 2 * (x.T @ x) - 1)
    there /= emulator.sqrt((there * there).sum(axis=1, keepdims=True))
    np.testing.assert_allclose((there.get() ** 2).sum(axis=1), 1)
    assert emulator.isfinite(there).all()
    assert float(there.max()) <= 1
    for other in (x, x[0]):
        with pytest.raises(TypeError, match="Unsupported type"):
            there + other
        with pytest.raises(TypeError, match="Unsupported type"):
            there *= other
