"""Numba kernels of skip-gram with negative sampling; simd.py has the innermost step.

They train as `skipgram/plain.py` does, which explains the algorithm, with the same draws. What
differs is for speed: memory is handed in, the next batch is prepared while its rows come from
memory, and threads divide the buckets of a pass among themselves without a lock.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import aligned_zeros
from ..._util.compiled import inlined, inner, kernel
from ..._util.intrinsics import (
    add_atomically,
    load_atomically,
    prefetch_to_write,
    swap_atomically,
)
from ..._util.random import below, draw, multiply_high, stream, unit
from ..rules import (
    BATCH,
    KEEP,
    LARGEST_RATE,
    LONGEST,
    MOST_TIMES,
    NEGATIVES,
    REACH,
    TRAINING,
    target_groups,
)
from ..schedule import Lanes
from .simd import LANES, step, take_pairs

_CACHE_LINE = 16  # numbers
_HALF, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)  # of 64 bits
_SLOTS = 8  # room for a group of targets
_SPINS = 100  # how often to look for a bucket that can begin, before the thread sleeps
_LOOKS = 5000  # at a flag, about as many as a thread takes to fall asleep and wake up
_APART = 8  # places of the board between two counters: each has a cache line of its own


class _BatchRoom(NamedTuple):
    """Memory for two batches, each with its contexts, centres and targets; see `simd.step`."""

    group: tuple[int, ...]  # as long as a group of targets: numba compiles the length in
    batches: NDArray[np.int32]
    gradients: NDArray[np.float32]
    tally: NDArray[np.float32]
    exponents: NDArray[np.int32]  # the second half of the tally


class DrawnFrom(NamedTuple):
    """What negatives of a bucket are drawn from: its stream, and `n` members from `begin` on."""

    key: np.uint64
    gamma: np.uint64
    noise: NDArray[np.uint64]
    members: NDArray[np.int32]
    begin: np.uint64
    n: np.uint64


def new_batch_room(negatives: int) -> _BatchRoom:
    """Return the memory that a thread needs to train."""
    n_groups, size = target_groups(negatives)
    numbers = 2 * (2 * BATCH + n_groups * _SLOTS)
    tally = aligned_zeros(2 * LANES)
    exponents = tally[LANES:].view(np.int32)
    batches, gradients = np.zeros(numbers, np.int32), aligned_zeros(4 * LANES)
    return _BatchRoom((0,) * size, batches, gradients, tally, exponents)


def further_groups(negatives: int) -> int | None:
    """Return how many groups of targets follow the first.

    None if there are none: as an argument of a kernel, it leaves out the code for them.
    """
    n_groups, _ = target_groups(negatives)
    return n_groups - 1 if n_groups > 1 else None


# -- pairs of a pass ---------------------------------------------------------------------------


@kernel
def skip_visits(nodes, begins, first, task):
    """Remove the visits that subsampling skips from walks; what remains ends with -1."""
    for w in range(begins.size - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        begin, end = begins[w], begins[w + 1]
        size = begin
        for at in range(begin, end):
            node = nodes[np.uint64(at)]
            if node < 0:
                break
            if unit(draw(key, gamma, at - begin, KEEP)) < task.keep[np.uint32(node)]:
                nodes[np.uint64(size)] = node
                size += 1
        if size < end:
            nodes[np.uint64(size)] = -1


@inlined
def _take_path(nodes, begin, end, of, room):
    """Write the blocks of a walk's nodes; return how many nodes it has."""
    size = 0
    for at in range(begin, end):
        node = nodes[np.uint64(at)]
        if node < 0:
            break
        room[np.uint64(size)] = of[np.uint32(node)]
        size += 1
    return size


@kernel
def count_pairs(nodes, begins, first, task, of, counts, room):
    """Add to `counts` (blocks, blocks) the pairs of walks, by the blocks of context and centre.

    Walk w is nodes[begins[w]:begins[w + 1]], up to its first -1, and has the number first + w.
    """
    for w in range(begins.size - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        size = _take_path(nodes, begins[w], begins[w + 1], of, room)
        for centre in range(size):
            reach = 1 + below(draw(key, gamma, centre, REACH), task.window)
            block = room[np.uint64(centre)]
            for at in range(max(centre - reach, 0), centre):
                counts[room[np.uint64(at)], block] += 1
            for at in range(centre + 1, min(centre + reach + 1, size)):
                counts[room[np.uint64(at)], block] += 1


@inlined
def _place(pairs, places, block, of_centre, context, centre):
    """Write a pair to the next place of its bucket."""
    at = places[block, of_centre]
    pairs[np.uint64(at)] = np.uint64(context) << _HALF | np.uint64(centre)
    places[block, of_centre] = at + 1


@kernel
def place_pairs(nodes, begins, first, task, of, places, pairs, room):
    """Write the pairs of walks to the places of their buckets, which move on."""
    for w in range(begins.size - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        begin = begins[w]
        size = _take_path(nodes, begin, begins[w + 1], of, room)
        for centre in range(size):
            reach = 1 + below(draw(key, gamma, centre, REACH), task.window)
            node, block = nodes[np.uint64(begin + centre)], room[np.uint64(centre)]
            for at in range(max(centre - reach, 0), centre):
                context = nodes[np.uint64(begin + at)]
                _place(pairs, places, room[np.uint64(at)], block, context, node)
            for at in range(centre + 1, min(centre + reach + 1, size)):
                context = nodes[np.uint64(begin + at)]
                _place(pairs, places, room[np.uint64(at)], block, context, node)


# -- a bucket ----------------------------------------------------------------------------------


@inlined
def _take_batch(pairs, begin, end, batches, at):
    """Take up to BATCH pairs from `begin` on: until a context would be there too often.

    Writes contexts and centres from `at` on, and returns how many. Places without a pair repeat
    the first one.
    """
    if begin + BATCH <= end and not take_pairs(pairs, begin, batches, at):
        return BATCH
    count = 0
    while begin + count < end and count < BATCH:
        pair = pairs[np.uint64(begin + count)]
        context = np.int32(pair >> _HALF)
        times = 0
        for other in range(count):
            times += batches[np.uint64(at + other)] == context
        if times == MOST_TIMES:
            break
        batches[np.uint64(at + count)] = context
        batches[np.uint64(at + BATCH + count)] = np.int32(pair & _LOWER)
        count += 1
    for other in range(count, BATCH):
        batches[np.uint64(at + other)] = batches[np.uint64(at)]
        batches[np.uint64(at + BATCH + other)] = batches[np.uint64(at + BATCH)]
    return count


@inlined
def draw_targets(drawn, number, negatives, room, at):
    """Draw the negatives of batch `number`: the targets from the second on.

    Groups of targets have _SLOTS places each; those without a negative repeat one.
    """
    size, batches = len(room.group), room.batches
    place, slot = at, 1
    for k in range(1, negatives + 1):
        bits = draw(drawn.key, drawn.gamma, number, k)
        cell = multiply_high(bits, drawn.n)
        entry = drawn.noise[drawn.begin + cell]
        kept = (bits * drawn.n) >> _HALF < entry >> _HALF
        member = cell if kept else entry & _LOWER
        if slot == size:
            place, slot = place + _SLOTS, 0
        batches[np.uint64(place + slot)] = drawn.members[drawn.begin + member]
        slot += 1
    for missing in range(slot, size):
        batches[np.uint64(place + missing)] = batches[np.uint64(place + slot - 1)]


@inlined
def _fetch(matrix, row, stride):
    """Bring a row into the cache of this core alone, since it is to be changed."""
    for at in range(0, stride, _CACHE_LINE):
        prefetch_to_write(matrix, np.int64(row) * stride + at)


@inlined
def _fetch_batch(weights, room, at, count, negatives):
    """Bring the rows of a batch into the cache."""
    stride, size, batches = weights.inputs.shape[1], len(room.group), room.batches
    for j in range(count):
        _fetch(weights.inputs, batches[np.uint64(at + j)], stride)
        _fetch(weights.outputs, batches[np.uint64(at + BATCH + j)], stride)
    for k in range(1, negatives + 1):
        slot = 2 * BATCH + k // size * _SLOTS + k % size
        _fetch(weights.outputs, batches[np.uint64(at + slot)], stride)


@inlined
def _train_batch(weights, room, at, count, negatives, further, rate):
    """Train a batch: first the centres and as many negatives as fit, then the other negatives.

    Returns whether a score was wrong by far.
    """
    first, size = at + 2 * BATCH, len(room.group)
    left = negatives + 1  # targets
    known = min(left, size)
    if count > BATCH // 2:
        far = step(weights, room, (at, count, first, known), (0, 0), (0,), rate)
    else:
        far = step(weights, room, (at, count, first, known), (0,), (0,), rate)
    if further is not None:
        for _ in range(further):
            left -= size
            known = min(left, size)
            first += _SLOTS
            far |= step(weights, room, (at, count, first, known), (0, 0), (), rate)
    return far


@inner
def _shorten(matrix, row, rate):
    """Shorten a row that is too long for a rate; the sum has one order on every CPU."""
    at, stride = np.uint64(row), matrix.shape[1]
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for k in range(0, stride, 4):
        a += matrix[at, np.uint64(k)] ** 2
        b += matrix[at, np.uint64(k + 1)] ** 2
        c += matrix[at, np.uint64(k + 2)] ** 2
        d += matrix[at, np.uint64(k + 3)] ** 2
    much = rate * ((a + b) + (c + d))
    if much > LONGEST:
        factor = np.float32(math.sqrt(LONGEST / much))
        for k in range(stride):
            matrix[at, np.uint64(k)] *= factor


@inner
def _shorten_batch(weights, room, at, count, negatives, rate):
    """Shorten the rows of a batch that are too long for its rate."""
    size, batches, rate = len(room.group), room.batches, min(rate, np.float32(LARGEST_RATE))
    for j in range(count):
        _shorten(weights.inputs, batches[np.uint64(at + j)], rate)
        _shorten(weights.outputs, batches[np.uint64(at + BATCH + j)], rate)
    for k in range(1, negatives + 1):
        slot = 2 * BATCH + k // size * _SLOTS + k % size
        _shorten(weights.outputs, batches[np.uint64(at + slot)], rate)


@inner
def _clear_tally(room):
    """Begin a sum of losses: a product of 1, as mantissas and exponents."""
    for lane in range(LANES):
        room.tally[lane] = 1.0
        room.exponents[lane] = 0


@inner
def _take_exponents(counts):
    """Return the sum of the tally's exponents, which begin at 0 again lest they overflow."""
    total = 0
    for lane in range(LANES):
        total += counts[lane]
        counts[lane] = 0
    return total


@inner
def _loss_of(tally, exponents):
    """Return the logarithm of the tally's product, with the exponents taken from it before."""
    loss = exponents * math.log(2.0)
    for lane in range(LANES):
        loss += math.log(tally[lane])
    return loss


@inner
def _train_bucket(pairs, number, block, weights, task, rate, further, room):
    """Train the pairs of a bucket in batches that share negatives; return their loss.

    The negatives are nodes of the `block` of the centres, drawn by the number of the bucket and of
    the batch, so the result depends on the arguments alone. About 3 d (negatives + 1) multiply-adds
    for each pair.
    """
    blocks, negatives, batches = task.blocks, task.negatives, room.batches
    key, gamma = stream(task.seed ^ NEGATIVES, number)
    begin, n = blocks.begins[block], blocks.begins[block + 1] - blocks.begins[block]
    drawn = DrawnFrom(key, gamma, blocks.noise, blocks.members, np.uint64(begin), np.uint64(n))
    this, other = 0, batches.size // 2
    _clear_tally(room)
    exponents = 0
    count = _take_batch(pairs, 0, pairs.size, batches, this)
    draw_targets(drawn, 0, negatives, room, 2 * BATCH)
    done, batch = 0, 0
    while count > 0:
        done += count
        batch += 1
        following = _take_batch(pairs, done, pairs.size, batches, other)
        draw_targets(drawn, batch, negatives, room, other + 2 * BATCH)
        if task.fetching:
            _fetch_batch(weights, room, other, following, negatives)
        if _train_batch(weights, room, this, count, negatives, further, rate):
            _shorten_batch(weights, room, this, count, negatives, rate)
        if batch % 1024 == 0:
            exponents += _take_exponents(room.exponents)
        this, other, count = other, this, following
    return _loss_of(room.tally, exponents + _take_exponents(room.exponents))


# -- the buckets of a pass ---------------------------------------------------------------------


@kernel
def is_set(flag):
    """Return whether a flag is set, after waiting for a moment."""
    looks = 0
    while looks < _LOOKS and not load_atomically(flag, 0):
        looks += 1
    return looks < _LOOKS


class _Board(NamedTuple):
    """What threads tell each other during a pass; entries are _APART places apart."""

    lanes: Lanes
    through: NDArray[np.int64]  # how many buckets the rows of each block have been through
    done: NDArray[np.int64]  # how many buckets of each lane are done
    taken: NDArray[np.int64]  # whether a thread works on a lane
    left: NDArray[np.int64]  # how many buckets are left


def new_board(lanes: Lanes, n_blocks: int) -> _Board:
    """Return the board before a pass."""
    sizes = 2 * n_blocks, len(lanes.begins) - 1, len(lanes.begins) - 1, 1
    board = _Board(lanes, *(np.zeros(size * _APART, np.int64) for size in sizes))
    board.left[0] = len(lanes.places)
    return board


@inlined
def _next_of(lane, board, order):
    """Return the next bucket of a lane, by its place in the order; -1 if it cannot begin.

    A bucket begins when its rows have been through all buckets that come before it in the order: so
    the result is that of training one bucket after the other.
    """
    lanes = board.lanes
    number = lanes.begins[lane] + load_atomically(board.done, lane * _APART)
    if number == lanes.begins[lane + 1]:
        return -1
    place = lanes.places[number]
    turn = order[place]
    if load_atomically(board.through, turn.inputs * _APART) < turn.inputs_before:
        return -1
    if load_atomically(board.through, turn.outputs * _APART) < turn.outputs_before:
        return -1
    return place


@inlined
def _take_lane(home, board, order):
    """Take a lane whose next bucket can begin; return it and the bucket's place, or -1 and -1.

    Lanes are tried from `home` on, so that a thread mostly stays with the same blocks, whose rows
    are in its cache.
    """
    n_lanes = board.lanes.begins.size - 1
    for further in range(n_lanes):
        lane = (home + further) % n_lanes
        if (
            load_atomically(board.taken, lane * _APART) == 0
            and _next_of(lane, board, order) >= 0
            and swap_atomically(board.taken, lane * _APART, 1) == 0
        ):
            place = _next_of(lane, board, order)  # again: another thread may have had it
            if place >= 0:
                return lane, place
            swap_atomically(board.taken, lane * _APART, 0)
    return -1, -1


@kernel
def train_buckets(home, at_most, board, work, weights, task, further, room):
    """Train buckets until none is left, or `at_most`, or none can begin soon: return how many left.

    If others need the CPU, it is better to sleep than to wait for their buckets here.
    """
    n_blocks = task.blocks.begins.size - 1
    spins = 0
    while at_most > 0 and spins < _SPINS and load_atomically(board.left, 0) > 0:
        spins += 1
        lane, place = _take_lane(home, board, work.order)
        if lane < 0:
            continue
        turn = work.order[place]
        bucket = turn.context_block * n_blocks + turn.centre_block
        pairs = work.pairs[work.bounds[bucket] : work.bounds[bucket + 1]]
        number, block, rate = work.number + bucket, turn.centre_block, work.rates[place]
        work.losses[place] = _train_bucket(pairs, number, block, weights, task, rate, further, room)
        add_atomically(board.through, turn.inputs * _APART, 1)
        add_atomically(board.through, turn.outputs * _APART, 1)
        add_atomically(board.done, lane * _APART, 1)
        swap_atomically(board.taken, lane * _APART, 0)
        add_atomically(board.left, 0, -1)
        at_most -= 1
        spins = 0
    return load_atomically(board.left, 0)
