"""Skip-gram with negative sampling in plain Python, compiled by numba: the text to read first.

The module trains as word2vec does, with walks for sentences and nodes for words. For every position
of a walk, the node there (the centre) is predicted from each node around it (a context). Contexts
have their vectors in `inputs`, which become the embedding; centres have theirs in `outputs`. The
product of the two vectors is a score, and σ(score) the predicted probability that the two belong
together. Training raises it for the centre, and lowers it for a few nodes drawn at random (the
negatives). The centre and its negatives are the targets of all contexts around it.

`cpu` trains the same in explicit vector instructions, and `cuda` on a GPU. All draw the same random
numbers, numbered by walk and position, so this engine and the one of `cpu` differ by the rounding
of float32 numbers only. Without numba's compiler (NUMBA_DISABLE_JIT=1) the module runs as it
stands, which takes about a second for a graph of a hundred nodes and is handy in a debugger.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._util.compiled import compiled
from .._util.random import below, draw, left_over, stream, unit
from .corpus import Taken
from .host import HostEngine
from .learning_rate import LEAST_RATE
from .rules import BATCH, SMALLEST_BATCH, TRAINING, target_groups

_FARTHEST_SCORE = 87.0  # beyond, e^score is no float32 number


@compiled
def _train_walks(nodes, begins, first, inputs, outputs, task, group_size):
    """Train on some walks; return the nodes in them, the pairs trained on, and their loss.

    Walk w is nodes[begins[w]:begins[w + 1]], up to its first -1, and has the number first + w.
    """
    n_nodes, n_pairs, loss = 0, 0, 0.0
    for w in range(len(begins) - 1):
        key, gamma = stream(task.seed ^ TRAINING, first + w)
        walk = _without_padding(nodes[begins[w] : begins[w + 1]])
        path = _subsampled(walk, task.keep, task.negatives + 1, key, gamma)
        rate = task.learning_rate * max(1.0 - (first + w) / task.n_walks, LEAST_RATE)
        batch = _batch_size(path)
        for position in range(len(path)):
            contexts = _draw_contexts(path, position, task.window, key, gamma)
            targets = draw_targets(path[position], position, task.noise, task.negatives, key, gamma)
            loss += train_window(inputs, outputs, contexts, targets, batch, group_size, rate)
            n_pairs += len(contexts)
        n_nodes += len(walk)
    return n_nodes, n_pairs, loss


@compiled
def _without_padding(walk):
    """Return the walk up to its first -1."""
    length = 0
    while length < len(walk) and walk[length] >= 0:
        length += 1
    return walk[:length]


@compiled
def _subsampled(walk, keep, i, key, gamma):
    """Return the walk without the visits that subsampling skips, by draw i of each position."""
    path = np.empty(len(walk), np.int64)
    size = 0
    for position in range(len(walk)):
        node = walk[position]
        if keep is not None and unit(draw(key, gamma, position, i)) >= keep[node]:
            continue
        path[size] = node
        size += 1
    return path[:size]


@compiled
def _draw_contexts(path, position, window, key, gamma):
    """Return the nodes around a position, up to a distance drawn from 1 to `window`."""
    reach = 1 + below(draw(key, gamma, position, 0), window)
    before = path[max(position - reach, 0) : position]
    after = path[position + 1 : min(position + 1 + reach, len(path))]
    return np.concatenate((before, after))


@compiled
def draw_targets(centre, position, noise, negatives, key, gamma):
    """Return the centre and, after it, its negatives."""
    targets = np.empty(negatives + 1, np.int64)
    targets[0] = centre
    for k in range(1, negatives + 1):
        targets[k] = _draw_negative(noise, draw(key, gamma, position, k))
    return targets


@compiled
def _draw_negative(noise, bits):
    """Return a node drawn from the table of `noise.noise_table`."""
    cell = below(bits, len(noise))
    chance = (noise[cell] >> np.uint64(32)) / 2.0**32
    if left_over(bits, len(noise)) < chance:
        return cell
    return np.int64(noise[cell] & np.uint64(0xFFFFFFFF))


@compiled
def _batch_size(path):
    """Return how many contexts of a walk may be trained at once: fewer, the smaller its circles.

    All contexts of a batch move by scores computed before any of them moves. One that occurs
    several times would move too far. So batches are halved until no node occurs more than twice
    in any of them, or they cannot be smaller.
    """
    size = BATCH
    for position in range(len(path)):
        while size > SMALLEST_BATCH and _times_before(path, position, size) > 2:
            size //= 2
    return size


@compiled
def _times_before(path, position, size):
    """Return how often the node at a position is among the `size` nodes that end there."""
    times = 0
    for other in path[max(position - size + 1, 0) : position + 1]:
        times += other == path[position]
    return times


@compiled
def train_window(inputs, outputs, contexts, targets, batch, group_size, rate):
    """Train all contexts of a centre against all targets; return the loss.

    Targets are taken in groups, and contexts in batches: a step handles one of each.
    """
    loss = 0.0
    for group in range(0, len(targets), group_size):
        signs = _signs(targets, group, min(group + group_size, len(targets)))
        some_targets = targets[group : group + group_size]
        for first in range(0, len(contexts), batch):
            some_contexts = contexts[first : first + batch]
            loss += _train_step(inputs, outputs, some_contexts, some_targets, signs, rate)
    return loss


@compiled
def _signs(targets, begin, end):
    """Return 1 for a target whose scores are to rise, -1 for one to fall, 0 to leave it out.

    The first of all targets, the centre, is to rise. A negative that happens to be the centre is
    left out.
    """
    signs = np.empty(end - begin, np.int64)
    for k in range(begin, end):
        if k == 0:
            signs[k - begin] = 1
        else:
            signs[k - begin] = 0 if targets[k] == targets[0] else -1
    return signs


@compiled
def _train_step(inputs, outputs, contexts, targets, signs, rate):
    """Train a few contexts against a few targets; return the loss.

    All scores are computed first, and with them the gradients of log σ(±score). Then, context
    after context, the vectors of the context and of each target move along each other.
    """
    loss = 0.0
    gradients = np.zeros((len(contexts), len(targets)), np.float32)
    for j in range(len(contexts)):
        for k in range(len(targets)):
            if signs[k] != 0:
                score = signs[k] * _product(inputs[contexts[j]], outputs[targets[k]])
                odds = math.exp(_bounded(-score))  # of being wrong
                loss += math.log1p(odds)
                gradients[j, k] = rate * signs[k] * odds / (1.0 + odds)
    before = outputs[targets]  # a copy
    moved = before.copy()
    for j in range(len(contexts)):
        context = inputs[contexts[j]]
        old = context.copy()
        for k in range(len(targets)):
            context += gradients[j, k] * moved[k]
            moved[k] += gradients[j, k] * old
    for k in range(len(targets)):  # a target may occur twice, or be one of the contexts
        outputs[targets[k]] += moved[k] - before[k]
    return loss


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


class TrainingEngine(HostEngine):
    """Threads that train with the kernels of this module."""

    def _train_walks(self, taken: Taken, first: int) -> Any:
        weights, (_, group_size) = self.state.weights, target_groups(self.task.negatives)
        return _train_walks(*taken, first, weights.inputs, weights.outputs, self.task, group_size)
