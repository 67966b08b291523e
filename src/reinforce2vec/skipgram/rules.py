"""What all engines agree on, so that they train the same vectors from the same walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .noise import Noise

# Draws for other purposes than walking use other seeds: they must not repeat those of the walks.
BEGINNING, ORDER, TRAINING = np.uint64(1 << 61), np.uint64(1 << 62), np.uint64(1 << 63)

BATCH = 8  # contexts whose scores are computed before vectors move: more train less stably
SMALLEST_BATCH = 2
MOST_TARGETS = 6  # targets of a step: as many rows as the registers of a CPU can hold
DRAWN_AT_ONCE = 64  # positions whose negatives are drawn together: cache misses overlap


def target_groups(negatives: int) -> tuple[int, int]:
    """Return into how many groups the centre and its negatives are split, and how large they are.

    The last group may be smaller.

    >>> target_groups(5), target_groups(13)
    ((1, 6), (3, 5))
    """
    groups = -(-(negatives + 1) // MOST_TARGETS)
    return groups, -(-(negatives + 1) // groups)


class TrainingTask(NamedTuple):
    """What a kernel of the CPU needs to train, beside the walks and the weights."""

    n_walks: int  # over all epochs: the learning rate falls with the number of a walk
    seed: np.uint64
    window: int
    negatives: int
    learning_rate: float
    noise: Noise  # the table that negatives are drawn from
    keep: NDArray[np.float32] | None  # the chance to keep a visit of each node; None keeps all
