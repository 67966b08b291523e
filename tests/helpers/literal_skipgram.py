"""Skip-gram by its definition, in float64, one step after the other; and walks to train on.

The fast trainers are held against this page. It takes the same random numbers as they do, and
shares no other code with them.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from reinforce2vec._util.random import below, draw, stream, unit
from reinforce2vec.skipgram.noise import keep_chances, noise_table
from reinforce2vec.skipgram.rules import MOST_TARGETS, TRAINING


def make_walks(n_walks=12, length=15, n_nodes=30, seed=0):
    """Walks of all lengths from 1 on, padded."""
    rng = np.random.default_rng(seed)
    walks = rng.integers(0, n_nodes, (n_walks, length)).astype(np.int32)
    for walk in walks[1:]:
        walk[rng.integers(1, length + 1) :] = -1
    walks[0, 0] = n_nodes - 1
    return walks


def drawer(seed, number):
    """The draws of a walk: random bits by position and number."""
    parts = stream(np.uint64(seed) ^ TRAINING, number)
    key, gamma = (np.uint64(part) for part in parts)
    return lambda position, i: np.uint64(draw(key, gamma, position, i))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def literal_step(inputs, outputs, contexts, targets, labels, rate):
    """Train contexts against targets: the definition, in as many words as simd.step's.

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


def literal_training(
    walks, inputs, outputs, visits, settings, n_walks, most_contexts=8, most_targets=MOST_TARGETS
):
    """Skip-gram as plain.py describes it, with the same draws: the loss and how many pairs.

    At most `most_contexts` contexts are trained against `most_targets` targets at once.
    """
    noise = [divmod(int(entry), 2**32) for entry in noise_table(visits)]
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
                node, rest = divmod(int(bits_at(at, k)) * len(visits), 2**64)
                chance, alias = noise[node]
                node = node if rest >> 32 < chance else alias
                targets.append(node)
                labels.append(np.nan if node == centre else 0.0)
            pairs += len(contexts)
            for first in range(0, negatives + 1, size):
                group = slice(first, first + size)
                for some in range(0, len(contexts), batch):
                    loss += literal_step(
                        inputs, outputs, contexts[some : some + batch],
                        targets[group], np.array(labels[group]), rate,
                    )  # fmt: skip
    return loss, pairs
