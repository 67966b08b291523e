"""Numba kernels of skip-gram with negative sampling; simd.py has the innermost step.

They train as `skipgram/plain.py` does, which explains the algorithm, with the same draws. What
differs is for speed: rows of the matrices are known by their offset (the row's number times the
width of a row, `stride`), memory is handed in, and rows are fetched into the cache before they are
needed. The centre's negatives are shared by all its contexts, so the whole window is a small dense
product that stays in the first cache.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined, kernel
from ..._util.intrinsics import fast_below, fast_multiply_high, prefetch_to_write
from ..._util.random import draw, stream, unit
from ..learning_rate import LEAST_RATE
from ..rules import BATCH, DRAWN_AT_ONCE, SMALLEST_BATCH, TRAINING, target_groups
from ..weights import aligned
from .lanes import GROUP_LABELS, SILENT, set_labels, set_slot
from .simd import LANES, SLOTS, step

_CACHE_LINE = 16  # numbers
_HALF, _ALIAS = np.uint64(32), np.uint64(0xFFFFFFFF)  # an entry of the noise table in two


class WalkRoom(NamedTuple):
    """Memory for a walk: offsets of its rows, of a window's contexts, and of the targets."""

    path: NDArray[np.int64]
    contexts: NDArray[np.int64]
    targets: NDArray[np.int64]


class _StepRoom(NamedTuple):
    """Memory for a step: see `simd.step`."""

    labels: NDArray[np.float32]
    gradients: NDArray[np.float32]
    tally: NDArray[np.float32]


def new_step_room(n_groups: int) -> _StepRoom:
    """Return the memory that steps with so many groups of targets need."""
    return _StepRoom(aligned(n_groups * GROUP_LABELS), aligned(BATCH * SLOTS), aligned(2 * LANES))


def group_of(negatives: int) -> tuple[int, tuple[int, ...]]:
    """Return the number of groups of targets, and a tuple as long as a group.

    Its length is a type to numba, and compiled in.
    """
    n_groups, size = target_groups(negatives)
    return n_groups, (0,) * size


@kernel  # of its own: numba drops a branch on None only if an argument is None
def _take_path(nodes, begin, end, keep, key, gamma, negatives, stride, path):
    """Write the offsets of a walk's rows, without the visits that subsampling skips.

    Returns how many there are, and how many nodes the walk has.
    """
    size, tokens = 0, 0
    for at in range(begin, end):
        node = nodes[np.uint64(at)]
        if node < 0:
            break
        tokens += 1
        if keep is not None:
            chance = unit(draw(key, gamma, at - begin, negatives + 1))
            if chance >= keep[np.uint32(node)]:
                continue
        path[np.uint64(size)] = np.int64(node) * stride
        size += 1
    return size, tokens


@inlined
def draw_targets(noise, path, begin, end, key, gamma, negatives, stride, targets, width):
    """Write the offsets of the targets of positions begin to end, `width` for each.

    They are the centre, its negatives and, in place of missing ones, the centre again.
    """
    n = np.uint64(noise.size)
    for position in range(begin, end):
        row = (position - begin) * width
        centre = path[np.uint64(position)]
        targets[np.uint64(row)] = centre
        for k in range(1, width):
            if k <= negatives:
                bits = draw(key, gamma, position, k)
                cell = fast_multiply_high(bits, n)
                entry = noise[cell]
                kept = (bits * n) >> _HALF < entry >> _HALF
                node = cell if kept else entry & _ALIAS
                targets[np.uint64(row + k)] = np.int64(node) * stride
            else:
                targets[np.uint64(row + k)] = centre


@inlined
def _batch_for(path, end):
    """Return how many contexts of a walk may be trained at once; see `plain.py`."""
    size = BATCH
    for at in range(2, end):
        seen = 1
        for before in range(max(at - size + 1, 0), at):
            seen += path[np.uint64(before)] == path[np.uint64(at)]
        while seen > 2 and size > SMALLEST_BATCH:
            size //= 2
            seen = 1
            for before in range(max(at - size + 1, 0), at):
                seen += path[np.uint64(before)] == path[np.uint64(at)]
        if size == SMALLEST_BATCH:
            break
    return size


@inlined
def _take_contexts(path, centre, reach, end, contexts):
    """Write the offsets of the nodes up to `reach` steps around a position; return how many."""
    count = 0
    for at in range(max(centre - reach, 0), min(centre + reach + 1, end)):
        contexts[np.uint64(count)] = path[np.uint64(at)]
        count += at != centre
    return count


@inlined
def fetch(matrix, offset, stride):
    """Bring a row into the cache of this core alone, since it is to be changed."""
    for at in range(0, stride, _CACHE_LINE):
        prefetch_to_write(matrix, offset + at)


@inlined
def _train_batch(weights, contexts, count, targets, group, labels, room):
    """Train up to BATCH contexts, with as many instructions as they need."""
    inputs, outputs, stride = weights.inputs, weights.outputs, weights.inputs.shape[1]
    gradients, tally = room.gradients, room.tally
    if count > 6:
        step(
            inputs, outputs, contexts, count, targets, (0, 0, 0, 0), group, stride, labels,
            gradients, tally,
        )  # fmt: skip
    elif count > 4:
        step(
            inputs, outputs, contexts, count, targets, (0, 0, 0), group, stride, labels,
            gradients, tally,
        )  # fmt: skip
    elif count > 2:
        step(
            inputs, outputs, contexts, count, targets, (0, 0), group, stride, labels, gradients,
            tally,
        )  # fmt: skip
    else:
        step(
            inputs, outputs, contexts, count, targets, (0,), group, stride, labels, gradients, tally
        )


@inlined
def train_window(weights, contexts, count, batch, targets, group, negatives, rate, room):
    """Train all contexts of a centre, `batch` at a time, against it and its negatives.

    A negative that is the centre itself does not count.
    """
    size = len(group)
    centre = targets[0]
    for number in range(room.labels.size // GROUP_LABELS):
        some = targets[np.uint64(number * size) :]
        labels = room.labels[np.uint64(number * GROUP_LABELS) :]
        last = negatives - number * size
        silenced = False
        for k in range(number == 0, size):
            if some[np.uint64(k)] == centre and k <= last:
                set_slot(labels, k, SILENT, np.float32(0.0))
                silenced = True
        for at in range(0, count, batch):
            _train_batch(
                weights, contexts[np.uint64(at) :], min(count - at, batch), some, group, labels,
                room,
            )  # fmt: skip
        if silenced:
            for k in range(number == 0, size):
                if k <= last:
                    set_slot(labels, k, np.float32(0.0), -rate)


@inlined
def clear_tally(tally):
    """Begin a sum of losses: a product of 1, as mantissas and, behind them, exponents."""
    for lane in range(LANES):
        tally[lane] = 1.0
        tally[LANES + lane] = 0.0


@inlined
def take_exponents(tally):
    """Return the sum of the tally's exponents, which begin at 0 again lest they overflow."""
    counts = tally.view(np.int32)
    total = 0
    for lane in range(LANES):
        total += counts[LANES + lane]
        counts[LANES + lane] = 0
    return total


@inlined
def loss_of(tally, exponents):
    """Return the logarithm of the tally's product, with the exponents taken from it before."""
    loss = exponents * math.log(2.0)
    for lane in range(LANES):
        loss += math.log(tally[lane])
    return loss


@kernel
def train_walks(nodes, begins, first, weights, task, group, room, step_room):
    """Train on walks number first, first + 1, ...; the rate falls with the number.

    Walk w is nodes[begins[w]:begins[w + 1]], up to its first -1. `group` has as many members as
    targets are handled at once: its length is compiled in. Returns the nodes seen, the pairs of
    centre and context trained on, and the sum of their losses. About 3 d (negatives + 1)
    multiply-adds for each pair. Draws are numbered by walk and position, so the result depends on
    the arguments alone.
    """
    stride, negatives = weights.inputs.shape[1], task.negatives
    path, contexts, targets = room.path, room.contexts, room.targets
    width = step_room.labels.size // GROUP_LABELS * len(group)
    all_tokens, all_pairs, exponents = 0, 0, 0
    clear_tally(step_room.tally)
    for w in range(begins.size - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        end, tokens = _take_path(
            nodes, begins[w], begins[w + 1], task.keep, key, gamma, negatives, stride, path
        )
        all_tokens += tokens
        rate = task.learning_rate * max(1.0 - (first + w) / task.n_walks, LEAST_RATE)
        current = np.float32(rate)
        set_labels(step_room.labels, group, negatives, current)
        batch = _batch_for(path, end)
        for block in range(0, end, DRAWN_AT_ONCE):
            stop = min(block + DRAWN_AT_ONCE, end)
            draw_targets(
                task.noise, path, block, stop, key, gamma, negatives, stride, targets, width
            )
            for centre in range(block, stop):
                reach = 1 + fast_below(draw(key, gamma, centre, 0), task.window)
                count = _take_contexts(path, centre, reach, end, contexts)
                own = targets[np.uint64((centre - block) * width) :]
                if centre + 1 < stop:
                    for k in range(width, 2 * width):
                        fetch(weights.outputs, own[np.uint64(k)], stride)
                if centre + task.window + 1 < end:
                    fetch(weights.inputs, path[np.uint64(centre + task.window + 1)], stride)
                train_window(
                    weights, contexts, count, batch, own, group, negatives, current, step_room
                )
                all_pairs += count
            exponents += take_exponents(step_room.tally)
    return all_tokens, all_pairs, loss_of(step_room.tally, exponents)
