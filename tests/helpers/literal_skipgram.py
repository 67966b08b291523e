"""Skip-gram by its definition, in float64, one step after the other; and walks to train on.

The trainers are held against this page: those of the CPU against `literal_block_training`, which
trains bucket after bucket, that of the GPU against `literal_walk_training`, which trains walk after
walk. Both take the same random numbers as the trainers do. Beside these, the tables that negatives
are drawn from, the blocks that nodes are dealt into and the rounds of buckets come from the
package; they have tests of their own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np

from reinforce2vec._util.random import below, draw, stream, unit
from reinforce2vec.skipgram.rules import NEGATIVES, TRAINING, keep_chances, noise_table
from reinforce2vec.skipgram.schedule import dealt, rounds

BATCH = 8  # pairs whose scores are computed before any vector moves
MOST_TIMES = 2  # that a context occurs in a batch
MOST_TARGETS = 6  # of a step
POINTS = 100  # of the loss curve


def make_walks(n_walks=12, length=15, n_nodes=30, seed=0):
    """Walks of all lengths from 1 on, padded."""
    rng = np.random.default_rng(seed)
    walks = rng.integers(0, n_nodes, (n_walks, length)).astype(np.int32)
    for walk in walks[1:]:
        walk[rng.integers(1, length + 1) :] = -1
    walks[0, 0] = n_nodes - 1
    return walks


def drawer(seed, number, purpose=TRAINING):
    """The draws of a walk or a bucket: random bits by position, or batch, and number."""
    parts = stream(np.uint64(seed) ^ purpose, number)
    key, gamma = (np.uint64(part) for part in parts)
    return lambda position, i: np.uint64(draw(key, gamma, position, i))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def literal_draw(bits, noise):
    """One of the entries of an alias table, by 64 random bits."""
    cell, rest = divmod(int(bits) * len(noise), 2**64)
    chance, other = divmod(int(noise[cell]), 2**32)
    return cell if rest >> 32 < chance else other


# -- block by block, as the CPU trains -----------------------------------------------------------


def literal_pairs(walk, number, settings, keep):
    """Pairs of a context and a centre, in the order in which windows go along a walk."""
    bits_at = drawer(settings.seed, number)
    path = [
        node
        for at, node in enumerate(walk[walk >= 0].tolist())
        if keep is None or unit(bits_at(at, 1)) < keep[node]
    ]
    for at, centre in enumerate(path):
        reach = 1 + below(bits_at(at, 0), settings.window)
        for other in range(max(at - reach, 0), min(at + reach + 1, len(path))):
            if other != at:
                yield path[other], centre


def literal_batches(pairs):
    """Up to eight pairs each, fewer where a context would occur a third time."""
    batch = []
    for pair in pairs:
        times = sum(context == pair[0] for context, _ in batch)
        if len(batch) == BATCH or times == MOST_TIMES:
            yield batch
            batch = []
        batch.append(pair)
    if batch:
        yield batch


def literal_block_step(inputs, outputs, batch, own, negatives, rate):
    """Train pairs against negatives that they share and, if `own`, each against its centre.

    Scores are computed first. Then pair after pair moves; negatives move aside, in a copy, and what
    they moved by is added at the end. A negative that is a pair's own centre does not count for it.
    """
    pulls, loss = [], 0.0
    for context, centre in batch:
        scores = outputs[[centre, *negatives]] @ inputs[context]
        rises = np.array([1, *[0] * len(negatives)])
        counts = np.array([own, *(node != centre for node in negatives)])
        pulls.append(np.where(counts, rate * (rises - sigmoid(scores)), 0.0))
        loss += np.logaddexp(0, np.where(rises, -scores, scores))[counts].sum()
    old = outputs[negatives]
    moved = old.copy()
    for (context, centre), (rise, *falls) in zip(batch, pulls, strict=True):
        before = inputs[context].copy()
        after = before + rise * outputs[centre] + falls @ moved
        outputs[centre] += rise * before
        moved += np.outer(falls, before)
        inputs[context] = after
    np.add.at(outputs, negatives, moved - old)  # adds twice what is there twice
    return loss


def literal_bucket(pairs, number, block, blocks, inputs, outputs, seed, negatives, rate):
    """Train the pairs of a bucket, with negatives of a block: the loss."""
    own = slice(*blocks.begins[block : block + 2])
    members, noise = blocks.members[own], blocks.noise[own]
    bits_at = drawer(seed, number, NEGATIVES)
    n_groups = -(-(negatives + 1) // MOST_TARGETS)
    size = -(-(negatives + 1) // n_groups)
    loss = 0.0
    for batch_number, batch in enumerate(literal_batches(pairs)):
        cells = [literal_draw(bits_at(batch_number, k), noise) for k in range(1, negatives + 1)]
        targets = [None, *members[cells]]  # the first is every pair's own centre
        for first in range(0, negatives + 1, size):
            shared = np.array(targets[max(first, 1) : first + size], np.int64)
            loss += literal_block_step(inputs, outputs, batch, first == 0, shared, rate)
    return loss


def literal_pass(
    pairs, first, size, total, blocks, inputs, outputs, seed, negatives, learning_rate,
    one_matrix=False,
):  # fmt: skip
    """Train a pass, round after round: the point of the loss curve, the loss and pairs of each."""
    buckets = defaultdict(list)
    for context, centre in pairs:
        buckets[blocks.of[context], blocks.of[centre]].append((context, centre))
    order = rounds(blocks.n_blocks, one_matrix)
    for number, some in enumerate(order):
        progress = Fraction(first * len(order) + size * number, total * len(order))
        rate = np.float32(learning_rate * max(1 - float(progress), 1e-4))
        for i, j in some:
            place = first * blocks.n_blocks**2 + i * blocks.n_blocks + j
            loss = literal_bucket(
                buckets[i, j], place, j, blocks, inputs, outputs, seed, negatives, rate
            )
            yield int(progress * POINTS), loss, len(buckets[i, j])


def literal_block_training(walks, inputs, outputs, visits, settings, size):
    """Skip-gram by the schedule, in passes of `size` walks: losses and pairs of all points."""
    blocks, keep = dealt(visits, settings.seed), keep_chances(visits, settings.subsample)
    total = len(walks) * settings.epochs
    losses, n_pairs = np.zeros(POINTS), np.zeros(POINTS, np.int64)
    for epoch in range(settings.epochs):
        for first in range(0, len(walks), size):
            some = walks[first : first + size]
            number = epoch * len(walks) + first
            pairs = [
                pair
                for k, walk in enumerate(some)
                for pair in literal_pairs(walk, number + k, settings, keep)
            ]
            for point, loss, count in literal_pass(
                pairs, number, len(some), total, blocks, inputs, outputs, settings.seed,
                settings.negatives, settings.learning_rate,
            ):  # fmt: skip
                losses[point] += loss
                n_pairs[point] += count
    return losses, n_pairs


# -- walk by walk, as the GPU trains -------------------------------------------------------------


def literal_walk_step(inputs, outputs, contexts, targets, labels, rate):
    """Train contexts against targets that all of them share.

    `labels` has 1 for the true target, 0 for a negative and NaN for one that does not count.
    """
    scores = inputs[contexts] @ outputs[targets].T
    counts = ~np.isnan(labels)
    gradients = np.where(counts, rate * (np.nan_to_num(labels) - sigmoid(scores)), 0.0)
    loss = np.where(counts, np.where(labels == 1, -1, 1) * scores, -np.inf)
    old = outputs[targets].copy()
    moved = old.copy()
    for context, gradient in zip(contexts, gradients, strict=True):
        before = inputs[context].copy()
        inputs[context] += gradient @ moved
        moved += np.outer(gradient, before)
    np.add.at(outputs, targets, moved - old)  # adds twice what is there twice
    return np.log1p(np.exp(loss)).sum()


def literal_batch(path):
    """The most contexts at once, of 8, 4 and 2, among which no node stands more than twice."""
    for size in (8, 4):
        parts = (path[at : at + size] for at in range(len(path)))
        if all(max(Counter(part).values()) <= 2 for part in parts):
            return size
    return 2


def literal_walk_training(
    walks, inputs, outputs, visits, settings, n_walks, most_contexts=8, most_targets=MOST_TARGETS
):
    """Skip-gram, walk after walk and window after window: the loss and how many pairs.

    At most `most_contexts` contexts are trained against `most_targets` targets at once.
    """
    noise = noise_table(visits)
    keep = keep_chances(visits, settings.subsample)
    negatives = settings.negatives
    n_groups = -(-(negatives + 1) // most_targets)
    size = -(-(negatives + 1) // n_groups)
    loss, pairs = 0.0, 0
    for number in range(n_walks):
        walk = walks[number % len(walks)]
        bits_at = drawer(settings.seed, number)
        path = [
            node
            for at, node in enumerate(walk[walk >= 0])
            if keep is None or unit(bits_at(at, negatives + 1)) < keep[node]
        ]
        rate = np.float32(settings.learning_rate * max(1 - number / n_walks, 1e-4))
        batch = min(literal_batch(path), most_contexts)
        for at, centre in enumerate(path):
            shrunk = 1 + below(bits_at(at, 0), settings.window)
            contexts = path[max(at - shrunk, 0) : at] + path[at + 1 : at + 1 + shrunk]
            targets, labels = [centre], [1.0]
            for k in range(1, negatives + 1):
                node = literal_draw(bits_at(at, k), noise)
                targets.append(node)
                labels.append(np.nan if node == centre else 0.0)
            pairs += len(contexts)
            for first in range(0, negatives + 1, size):
                group = slice(first, first + size)
                for some in range(0, len(contexts), batch):
                    loss += literal_walk_step(
                        inputs, outputs, contexts[some : some + batch],
                        targets[group], np.array(labels[group]), rate,
                    )  # fmt: skip
    return loss, pairs
