"""Labels of the lanes of a step: which score is to rise, which to fall, which does not count.

A step (see `simd.step`) computes the scores of two contexts at a time, SLOTS lanes for each. For
every group of targets there are signs, offsets and rates of LANES lanes, once for two contexts and
once for a single context.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined
from .simd import LANES, SLOTS

GROUP_LABELS = 2 * 3 * LANES  # numbers for one group of targets
SILENT = np.float32(-1e3)  # added to a score that does not count


@inlined
def set_labels(labels, group, negatives, rate):
    """Set the labels of all groups: the centre, in the first lane, is to rise, negatives to fall.

    Lanes beyond the last negative are silent, and those of a missing second context.
    """
    for lane in range(labels.size):
        labels[np.uint64(lane)] = 0.0
    size = len(group)
    for number in range(labels.size // GROUP_LABELS):
        for alone in range(2):
            base = (2 * number + alone) * 3 * LANES
            for lane in range(LANES):
                slot = lane % SLOTS
                target = number * size + slot
                if slot >= size or target > negatives or (alone and lane >= SLOTS):
                    labels[np.uint64(base + LANES + lane)] = SILENT
                else:
                    sign = -1.0 if target == 0 else 1.0
                    labels[np.uint64(base + lane)] = sign
                    labels[np.uint64(base + 2 * LANES + lane)] = -sign * rate


@inlined
def set_slot(labels, slot, offset, rate):
    """Silence a target of a group for all contexts, or let it count again."""
    for lane in (slot, SLOTS + slot, 3 * LANES + slot):
        labels[np.uint64(LANES + lane)] = offset
        labels[np.uint64(2 * LANES + lane)] = rate
