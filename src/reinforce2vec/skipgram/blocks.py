"""Blocks of nodes: pairs whose nodes are in different blocks can be trained at the same time.

Nodes are sorted by their visits and dealt one to each block in turn, so that all blocks get equally
many of the busy nodes; which of the next few nodes goes where is random, so that no block has a
part of the graph to itself. Negatives of a centre are drawn from its own block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._preparation import deal
from .noise import Noise, noise_table

BYTES_TO_DEAL = 56  # for each node, while blocks are made
_MOST_BLOCKS = 32
_LEAST_NODES = 64  # that a block has, of those with a visit: fewer make poor negatives


class Blocks(NamedTuple):
    """Which node is in which block, and what negatives are drawn from.

    Block b has the nodes members[begins[b] : begins[b + 1]]. Each has an entry in `noise`, see
    `noise.noise_table`.
    """

    of: NDArray[np.uint8]
    members: NDArray[np.int32]
    begins: NDArray[np.int64]
    noise: Noise

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.begins) - 1


def blocks_for(n_nodes: int) -> int:
    """Return how many blocks nodes are dealt into, where so many are visited.

    >>> blocks_for(34), blocks_for(1000), blocks_for(10**6)
    (1, 15, 32)
    """
    return min(max(n_nodes // _LEAST_NODES, 1), _MOST_BLOCKS)


def dealt(visits: NDArray[Any], seed: int) -> Blocks:
    """Deal nodes into blocks, by their visits or another weight."""
    count = blocks_for(int(np.count_nonzero(visits)))
    of = np.empty(len(visits), np.uint8)
    deal(np.argsort(-visits, kind="stable"), np.arange(count), np.uint64(seed), of)
    members = np.argsort(of, kind="stable").astype(np.int32)
    begins = np.append(0, np.cumsum(np.bincount(of, minlength=count)))
    return Blocks(of, members, begins, noise_table(visits[members], begins))
