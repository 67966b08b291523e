"""How often nodes are visited, and what follows: which negatives are drawn, which nodes skipped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph import csr

Visits = NDArray[np.int64]
Noise = NDArray[np.uint64]

POWER = 0.75  # as in word2vec: between the visits themselves and no preference at all


def noise_table(visits: Visits) -> Noise:
    """An alias table to draw negatives from, a node in proportion to visits ^ 0.75.

    The upper half of an entry is the chance, in 2^32nds, that its own node is the one drawn, the
    lower half the node drawn otherwise: one look into memory for a draw.
    """
    rows = np.array([0, len(visits)])
    threshold, alias, _, _ = csr.alias_tables(rows, visits**POWER)
    chance = np.minimum(threshold * 2.0**32, 2.0**32 - 1).astype(np.uint64)
    table: Noise = chance << np.uint64(32) | alias.astype(np.uint64)
    return table


def keep_chances(visits: Visits, subsample: float) -> NDArray[np.float32] | None:
    """Chance to keep a visit of each node: sqrt(t/f) + t/f for a node of frequency f.

    None, which is all of them, if the threshold t is 0.
    """
    if subsample == 0:
        return None
    share = subsample * visits.sum() / np.maximum(visits, 1)
    chances: NDArray[np.float32] = np.minimum(np.sqrt(share) + share, 1.0).astype(np.float32)
    return chances
