"""What all engines agree on, so that they train the same vectors from the same walks."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph import csr

Visits = NDArray[np.int64]
Noise = NDArray[np.uint64]

# Draws for other purposes than walking use other seeds: they must not repeat those of the walks.
BEGINNING, ORDER, TRAINING = np.uint64(1 << 61), np.uint64(1 << 62), np.uint64(1 << 63)
DEALING, NEGATIVES = np.uint64(1 << 57), np.uint64(1 << 58)
REACH, KEEP = 0, 1  # draws at a position of a walk: how far its window reaches, whether to keep it

BATCH = 8  # pairs whose scores are computed before vectors move: more train less stably
MOST_TIMES = 2  # that a context may be in a batch
MOST_TARGETS = 6  # targets of a step: as many rows as the registers of a CPU can hold

# A step on the loss of a score x·y changes it by up to rate |y|²/4 times what it is wrong by, and
# beyond 2 it overshoots by more every time. Rows of ordinary graphs stay shorter. That of a hub
# grows with the number of neighbours that have no other, so a batch with a score that is wrong by
# FAR shortens its rows. At rates above our own they would be too short to learn: training may fail.
FAR = 6.0
LONGEST = 8.0  # of rate |y|²
LARGEST_RATE = 0.1

POWER = 0.75  # of visits, for negatives, as in word2vec: between themselves and no preference

SAFE_RATE = 0.025  # word2vec's
_BOLD_RATE = 0.05  # larger ones can diverge where walks turn in small circles
_MANY_TOKENS = 3200  # for each node, from which on the safe rate is the best one
_MOST_TIMES = 2.0  # the learning rate of the widest window
LEAST_RATE = 1e-4  # where it ends, as a share of the first one


def target_groups(negatives: int) -> tuple[int, int]:
    """Return into how many groups the centre and its negatives are split, and how large they are.

    The last group may be smaller.

    >>> target_groups(5), target_groups(13)
    ((1, 6), (3, 5))
    """
    groups = -(-(negatives + 1) // MOST_TARGETS)
    return groups, -(-(negatives + 1) // groups)


class WindowTask(NamedTuple):
    """What a kernel of the CPU needs to find the pairs of a walk."""

    seed: np.uint64
    window: int
    keep: NDArray[np.float32] | None  # the chance to keep a visit of each node; None keeps all


def noise_table(visits: NDArray[Any], begins: NDArray[np.int64] | None = None) -> Noise:
    """Return alias tables to draw negatives from, in proportion to visits ^ 0.75.

    There is one for all nodes, or one for each block of nodes: block b from begins[b] to before
    begins[b + 1]. In a block without visits all nodes have the same chance. The upper half of an
    entry is the chance, in 2^32nds, that its own node is drawn; the lower half is the node drawn
    otherwise, numbered from the block's first. So a draw reads memory once.
    """
    rows = np.array([0, len(visits)]) if begins is None else begins
    weights = np.sqrt(visits) * np.sqrt(np.sqrt(visits))  # ^ POWER, rounded alike on every CPU
    if begins is not None:
        idle = np.add.reduceat(np.append(weights, 0.0), begins[:-1]) == 0
        weights += np.repeat(idle, np.diff(begins))
    threshold, alias, _, _ = csr.alias_tables(rows, weights)
    chance = np.minimum(threshold * 2.0**32, 2.0**32 - 1).astype(np.uint64)
    table: Noise = chance << np.uint64(32) | alias.astype(np.uint64)
    return table


def keep_chances(visits: Visits, subsample: float) -> NDArray[np.float32] | None:
    """Return the chance to keep a visit of each node: sqrt(t/f) + t/f for the frequency f.

    None, which keeps all, if the threshold t is 0.
    """
    if subsample == 0:
        return None
    share = subsample * visits.sum() / np.maximum(visits, 1)
    chances: NDArray[np.float32] = np.minimum(np.sqrt(share) + share, 1.0).astype(np.float32)
    return chances


def narrow_rate(window: int, widest: int) -> float:
    """Return how many times the learning rate of the widest window a narrower one has.

    It has fewer pairs to learn from; benchmarks/defaults.py has the measurements.

    >>> narrow_rate(1, 10), narrow_rate(10, 10)
    (2.0, 1.0)
    """
    return min(math.sqrt((widest + 1) / (window + 1)), _MOST_TIMES)


def usual_rate(tokens: float) -> float:
    """Return the default learning rate for so many tokens (nodes in walks) for each node.

    The fewer tokens, the larger the rate, since a vector has to get as far in fewer steps;
    docs/results.md has the measurements.

    >>> [usual_rate(40 * walks) for walks in (1, 20, 80, 1000)]
    [0.05, 0.05, 0.025, 0.025]
    """
    return min(max(SAFE_RATE * math.sqrt(_MANY_TOKENS / max(tokens, 1)), SAFE_RATE), _BOLD_RATE)


def falling_rates(
    rate: float, total: int, first: int, size: int, n_rounds: int
) -> NDArray[np.float32]:
    """Return the learning rate in each round of a pass: from `rate` it falls to almost 0.

    The pass has `size` walks of `total`, from number `first` on.
    """
    progress = (first + size * np.arange(n_rounds) / n_rounds) / total
    with np.errstate(over="ignore"):  # of a rate so large that training will fail
        return (rate * np.maximum(1 - progress, LEAST_RATE)).astype(np.float32)
