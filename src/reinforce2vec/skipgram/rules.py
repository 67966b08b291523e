"""What all engines agree on, so that they train the same vectors from the same walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
