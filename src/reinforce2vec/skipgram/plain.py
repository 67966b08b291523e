"""Skip-gram with negative sampling in plain Python, compiled by numba: the text to read first.

The module trains as word2vec does, with walks for sentences and nodes for words. For every position
of a walk, the node there (the centre) is predicted from each node around it (a context). Contexts
have their vectors in `inputs`, which become the embedding; centres have theirs in `outputs`. The
product of the two vectors is a score, and σ(score) the predicted probability that the two belong
together. Training raises it for a context and its centre, and lowers it for the context and a few
nodes drawn at random (the negatives). The centre and the negatives are the targets of the context.

Pairs of a context and a centre are sorted into buckets, which `schedule.py` explains, and those of
a bucket are trained in batches that share their negatives.

`cpu` trains the same in explicit vector instructions, and draws the same random numbers, so the two
engines differ by the rounding of float32 numbers only. (`cuda` trains on a GPU, walk by walk.)
Without numba's compiler (NUMBA_DISABLE_JIT=1) the module runs as it stands, which takes seconds for
a graph of a hundred nodes and is handy in a debugger.
"""

from __future__ import annotations

import math
from collections import deque
from threading import Barrier

import numpy as np

from .._util.compiled import compiled
from .._util.random import below, draw, left_over, stream, unit
from .._util.threads import taken_from
from .rules import (
    BATCH,
    FAR,
    KEEP,
    LARGEST_RATE,
    LONGEST,
    MOST_TIMES,
    NEGATIVES,
    REACH,
    TRAINING,
    target_groups,
)
from .schedule import BucketTask, Order, Work
from .state import Weights

_FARTHEST_SCORE = 87.0  # beyond, e^score is no float32 number
_HALF, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)  # of 64 bits


# -- pairs of walks ------------------------------------------------------------------------------
# Walk w is nodes[begins[w]:begins[w + 1]], up to its first -1, and has the number first + w.


@compiled
def skip_visits(nodes, begins, first, task):
    """Remove the visits that subsampling skips from walks; what remains ends with -1."""
    for w in range(len(begins) - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        walk = nodes[begins[w] : begins[w + 1]]
        path = _without_padding(walk).copy()
        walk[:] = -1
        size = 0
        for position in range(len(path)):
            if unit(draw(key, gamma, position, KEEP)) < task.keep[path[position]]:
                walk[size] = path[position]
                size += 1


@compiled
def count_pairs(nodes, begins, first, task, of, counts, room):
    """Add to `counts` (blocks, blocks) the pairs of walks, by the blocks of context and centre."""
    for w in range(len(begins) - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        path = _without_padding(nodes[begins[w] : begins[w + 1]])
        for position in range(len(path)):
            for context in _draw_contexts(path, position, task.window, key, gamma):
                counts[of[context], of[path[position]]] += 1


@compiled
def place_pairs(nodes, begins, first, task, of, places, pairs, room):
    """Write each pair of walks to the next place of its bucket."""
    for w in range(len(begins) - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        path = _without_padding(nodes[begins[w] : begins[w + 1]])
        for position in range(len(path)):
            centre = path[position]
            for context in _draw_contexts(path, position, task.window, key, gamma):
                at = places[of[context], of[centre]]
                pairs[at] = np.uint64(context) << _HALF | np.uint64(centre)
                places[of[context], of[centre]] += 1


@compiled
def _without_padding(walk):
    """Return the walk up to its first -1."""
    length = 0
    while length < len(walk) and walk[length] >= 0:
        length += 1
    return walk[:length]


@compiled
def _draw_contexts(path, position, window, key, gamma):
    """Return the nodes around a position, up to a distance drawn from 1 to `window`."""
    reach = 1 + below(draw(key, gamma, position, REACH), window)
    before = path[max(position - reach, 0) : position]
    after = path[position + 1 : min(position + 1 + reach, len(path))]
    return np.concatenate((before, after))


# -- training ------------------------------------------------------------------------------------


class Executor:
    """Trains passes, round by round: the buckets of a round at the same time, on threads."""

    def __init__(self, weights: Weights, task: BucketTask, order: Order, workers: int) -> None:
        self.weights, self.task, self.workers = weights, task, workers
        self.barrier = Barrier(workers)

    def begin(self, work: Work) -> None:
        """Get ready for a pass; the losses of its buckets will be written to `work`."""
        self.work, numbers = work, work.order["round"]
        self.rounds = [deque(np.flatnonzero(numbers == number)) for number in np.unique(numbers)]
        self.barrier = Barrier(self.workers)

    def run(self, thread: int) -> None:
        """Train buckets, round by round."""
        for places in self.rounds:
            for place in taken_from(places):
                self._train_bucket(int(place))
            self.barrier.wait()

    def stop(self) -> None:
        """End all threads: one has failed."""
        self.barrier.abort()

    def _train_bucket(self, place: int) -> None:
        work, task = self.work, self.task
        turn, rate = work.order[place], work.rates[place]
        block = turn["centre_block"]
        bucket = turn["context_block"] * task.blocks.n_blocks + block
        pairs = work.pairs[work.bounds[bucket] : work.bounds[bucket + 1]]
        _, group_size = target_groups(task.negatives)
        work.losses[place] = _train_bucket(
            pairs, work.number + bucket, block, self.weights, task, group_size, rate
        )


@compiled
def _train_bucket(pairs, number, block, weights, task, group_size, rate):
    """Train the pairs of a bucket, batch by batch; return their loss."""
    inputs, outputs, negatives = weights.inputs, weights.outputs, task.negatives
    begin, end = task.blocks.begins[block], task.blocks.begins[block + 1]
    members, noise = task.blocks.members[begin:end], task.blocks.noise[begin:end]
    key, gamma = stream(task.seed ^ NEGATIVES, number)
    loss, done, batch = 0.0, 0, 0
    while done < len(pairs):
        contexts, centres = _next_batch(pairs[done:])
        targets = _draw_negatives(members, noise, negatives, batch, key, gamma)
        far = False
        for group in range(0, negatives + 1, group_size):
            last = min(group + group_size, negatives + 1)
            shared = targets[max(group, 1) - 1 : last - 1]
            more, wrong = _train_step(inputs, outputs, contexts, centres, group == 0, shared, rate)
            loss, far = loss + more, far or wrong
        if far:
            _shorten(inputs, contexts, rate)
            _shorten(outputs, centres, rate)
            _shorten(outputs, targets, rate)
        done += len(contexts)
        batch += 1
    return loss


@compiled
def _next_batch(pairs):
    """Return contexts and centres of the next batch: it ends where a context is there too often.

    All pairs of a batch move by scores computed before any of them moves. A context that occurs
    several times would move too far.
    """
    contexts = (pairs[:BATCH] >> _HALF).astype(np.int64)
    centres = (pairs[:BATCH] & _LOWER).astype(np.int64)
    count = 0
    while count < len(contexts) and (contexts[:count] == contexts[count]).sum() < MOST_TIMES:
        count += 1
    return contexts[:count], centres[:count]


@compiled
def _draw_negatives(members, noise, negatives, batch, key, gamma):
    """Return nodes of a block, drawn from its table of `rules.noise_table`."""
    drawn = np.empty(negatives, np.int64)
    for k in range(negatives):
        bits = draw(key, gamma, batch, k + 1)
        cell = below(bits, len(noise))
        chance = (noise[cell] >> _HALF) / 2.0**32
        if left_over(bits, len(noise)) >= chance:
            cell = np.int64(noise[cell] & _LOWER)
        drawn[k] = members[cell]
    return drawn


@compiled
def _train_step(inputs, outputs, contexts, centres, with_centres, shared, rate):
    """Train a batch of pairs against a few negatives that they share.

    All scores are computed first, and with them the gradients of log σ(±score). Then, pair after
    pair, the vectors of the context and of each target move along each other. A negative that is a
    pair's own centre does not count for it. Returns the loss, and whether a score was wrong by FAR.
    """
    loss, far = 0.0, False
    rises = np.zeros(len(contexts), np.float32)
    falls = np.zeros((len(contexts), len(shared)), np.float32)
    for j in range(len(contexts)):
        context = inputs[contexts[j]]
        if with_centres:
            wrong = -_product(context, outputs[centres[j]])
            odds = math.exp(_bounded(wrong))
            far = far or wrong > FAR
            loss += math.log1p(odds)
            rises[j] = rate * odds / (1.0 + odds)
        for k in range(len(shared)):
            if shared[k] != centres[j]:
                wrong = _product(context, outputs[shared[k]])
                odds = math.exp(_bounded(wrong))
                far = far or wrong > FAR
                loss += math.log1p(odds)
                falls[j, k] = -rate * odds / (1.0 + odds)
    before = outputs[shared]  # a copy
    moved = before.copy()
    for j in range(len(contexts)):
        old = inputs[contexts[j]].copy()
        new = old.copy()
        if with_centres:
            centre = outputs[centres[j]]
            new += rises[j] * centre
            centre += rises[j] * old
        for k in range(len(shared)):
            new += falls[j, k] * moved[k]
            moved[k] += falls[j, k] * old
        inputs[contexts[j]] = new
    for k in range(len(shared)):  # a negative may occur twice, or be a centre
        outputs[shared[k]] += moved[k] - before[k]
    return loss, far


@compiled
def _shorten(matrix, rows, rate):
    """Shorten rows that are too long for a rate."""
    for row in rows:
        much = min(rate, LARGEST_RATE) * _product(matrix[row], matrix[row])
        if much > LONGEST:
            matrix[row] *= np.float32(math.sqrt(LONGEST / much))


@compiled
def _product(one, other):
    """Return the inner product of two vectors."""
    return float((one * other).sum())


@compiled
def _bounded(score):
    """Return a score cut off where its exponential is no float32 number; NaN stays NaN."""
    if score > _FARTHEST_SCORE:
        return _FARTHEST_SCORE
    if score < -_FARTHEST_SCORE:
        return -_FARTHEST_SCORE
    return score
