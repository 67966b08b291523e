"""Numba kernels of skip-gram with negative sampling; simd.py has the innermost step.

As in word2vec, the node at a position of a walk (the centre) is predicted from each node around it
(a context): contexts have rows in `inputs`, centres and nodes drawn at random (negatives) in
`outputs`. A centre's negatives are drawn once and shared by all its contexts, which makes of the
whole window a small dense product that stays in the first cache. A row of a matrix is known by
its offset, the row's number times `stride`.
"""

from __future__ import annotations

import math

import numpy as np

from ..._util.compiled import inlined, kernel
from ..._util.intrinsics import fast_below, fast_multiply_high, prefetch_to_write
from ..._util.random import draw, stream, unit
from .lanes import GROUP_LABELS, SILENT, set_labels, set_slot
from .simd import LANES, step

BATCH = 8  # contexts whose scores are taken before vectors move: more train less stably
SMALLEST_BATCH = 2
# Draws for other purposes than walking come from other seeds: they must not repeat the walks'.
BEGINNING, ORDER, TRAINING = np.uint64(1 << 61), np.uint64(1 << 62), np.uint64(1 << 63)

AHEAD = 64  # positions whose negatives are drawn at once: cache misses overlap
LEAST_RATE = 1e-4  # of the first learning rate
LINE = 16  # numbers in a cache line
HALF, ALIAS = np.uint64(32), np.uint64(0xFFFFFFFF)  # an entry of the noise table in two


@kernel
def count_nodes(nodes, visits):
    """Add to `visits` how often each node stands in some walks."""
    for node in nodes:
        if node >= 0:
            visits[np.uint32(node)] += 1


@kernel
def fill_inputs(inputs, dimensions, seed):
    """Numbers of [-1/2d, 1/2d): where training begins."""
    for row in range(len(inputs)):
        key, gamma = stream(seed ^ BEGINNING, row)
        for column in range(dimensions):
            inputs[row, column] = (unit(draw(key, gamma, column, 0)) - 0.5) / dimensions


@kernel
def shuffle(array, seed):
    """Bring an array into a random order that depends on the seed alone."""
    key, gamma = stream(seed ^ ORDER, 0)
    for last in range(array.size - 1, 0, -1):
        other = fast_below(draw(key, gamma, last, 0), last + 1)
        array[last], array[other] = array[other], array[last]


@inlined
def take_path(nodes, begin, end, keep, key, gamma, negatives, stride, path):
    """Offsets of a walk's rows, without the nodes that subsampling leaves out; how many."""
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
    """The rows of `outputs` for positions begin to end: the centre, its negatives, itself again."""
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
                kept = (bits * n) >> HALF < entry >> HALF
                node = cell if kept else entry & ALIAS
                targets[np.uint64(row + k)] = np.int64(node) * stride
            else:
                targets[np.uint64(row + k)] = centre


@inlined
def batch_for(path, end):
    """How many contexts of a walk may be trained at once: the fewer, the smaller its circles.

    A context that stands several times in a batch would move several times by its first score,
    and too far. So batches are halved until no node stands in one more than twice, or they are
    as small as can be.
    """
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
def take_contexts(path, centre, reach, end, contexts):
    """Rows of the nodes up to `reach` steps around a position; how many."""
    count = 0
    for at in range(max(centre - reach, 0), min(centre + reach + 1, end)):
        contexts[np.uint64(count)] = path[np.uint64(at)]
        count += at != centre
    return count


@inlined
def fetch(matrix, offset, stride):
    """Ask for a row to be brought into the cache: this one's alone, since it is to be changed."""
    for at in range(0, stride, LINE):
        prefetch_to_write(matrix, offset + at)


@inlined
def train_batch(inputs, outputs, contexts, count, targets, group, stride, labels, gradients, tally):
    """Train up to BATCH contexts, with as many instructions as they need."""
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
def train_window(
    inputs, outputs, contexts, count, batch, targets, group, stride, negatives, rate, labels,
    gradients, tally,
):  # fmt: skip
    """Train all contexts of a centre, `batch` at a time, against it and its negatives.

    A negative that is the centre itself does not count.
    """
    size = len(group)
    centre = targets[0]
    for number in range(labels.size // GROUP_LABELS):
        some = targets[np.uint64(number * size) :]
        meant = labels[np.uint64(number * GROUP_LABELS) :]
        last = negatives - number * size
        silenced = False
        for k in range(number == 0, size):
            if some[np.uint64(k)] == centre and k <= last:
                set_slot(meant, k, SILENT, np.float32(0.0))
                silenced = True
        for at in range(0, count, batch):
            train_batch(
                inputs, outputs, contexts[np.uint64(at) :], min(count - at, batch), some, group,
                stride, meant, gradients, tally,
            )  # fmt: skip
        if silenced:
            for k in range(number == 0, size):
                if k <= last:
                    set_slot(meant, k, np.float32(0.0), -rate)


@kernel
def train_walks(
    nodes, begins, first, total, seed, inputs, outputs, noise, keep, window, negatives,
    rate, group, path, contexts, targets, labels, gradients, tally,
):  # fmt: skip
    """Train on walks number first, first + 1, ... of `total`; the rate falls with the number.

    Walk w is nodes[begins[w]:begins[w + 1]], up to its first -1. `group` has as many members as
    targets are handled at once: its length is compiled in. Returns the nodes seen, the pairs of
    centre and context trained on, and the sum of their losses. About 3 d (negatives + 1)
    multiply-adds for each pair; draws are numbered by walk and position, so that the result
    depends on nothing but what is handed in.
    """
    stride = inputs.shape[1]
    width = labels.size // GROUP_LABELS * len(group)
    all_tokens, all_pairs, exponents = 0, 0, 0
    for lane in range(LANES):
        tally[lane] = 1.0  # mantissas; the exponents behind them begin at 0
        tally[LANES + lane] = 0.0
    counts = tally.view(np.int32)
    for w in range(begins.size - 1):
        key, gamma = stream(seed ^ TRAINING, first + w)
        end, tokens = take_path(
            nodes, begins[w], begins[w + 1], keep, key, gamma, negatives, stride, path
        )
        all_tokens += tokens
        current = np.float32(rate * max(1.0 - (first + w) / total, LEAST_RATE))
        set_labels(labels, group, negatives, current)
        batch = batch_for(path, end)
        for block in range(0, end, AHEAD):
            stop = min(block + AHEAD, end)
            draw_targets(noise, path, block, stop, key, gamma, negatives, stride, targets, width)
            for centre in range(block, stop):
                shrunk = 1 + fast_below(draw(key, gamma, centre, 0), window)
                count = take_contexts(path, centre, shrunk, end, contexts)
                own = targets[np.uint64((centre - block) * width) :]
                if centre + 1 < stop:
                    for k in range(width, 2 * width):
                        fetch(outputs, own[np.uint64(k)], stride)
                if centre + window + 1 < end:
                    fetch(inputs, path[np.uint64(centre + window + 1)], stride)
                train_window(
                    inputs, outputs, contexts, count, batch, own, group, stride, negatives,
                    current, labels, gradients, tally,
                )  # fmt: skip
                all_pairs += count
            for lane in range(LANES):
                exponents += counts[LANES + lane]
                counts[LANES + lane] = 0
    loss = exponents * math.log(2.0)
    for lane in range(LANES):
        loss += math.log(tally[lane])
    return all_tokens, all_pairs, loss
