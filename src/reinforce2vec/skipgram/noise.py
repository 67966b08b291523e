"""What follows from the visits of nodes: how negatives are drawn, and which visits are skipped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph import csr

Visits = NDArray[np.int64]
Noise = NDArray[np.uint64]

POWER = 0.75  # as in word2vec: between the visits themselves and no preference at all


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
