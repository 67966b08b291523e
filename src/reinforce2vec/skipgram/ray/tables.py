"""What workers look up: where the rows of nodes are, and what negatives are drawn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import unlocked
from ..blocks import Blocks
from ..noise import Noise
from ..ring import Ring

BYTES_PER_NODE = 21  # of the tables of one scale


class Tables(NamedTuple):
    """Tables of one scale. Nodes have *places*: those of the first block come first."""

    places: NDArray[np.int32]  # of nodes; and -1, for what follows the end of a walk
    nodes: NDArray[np.int32]  # by place
    of: NDArray[np.uint8]  # the block of each place
    rows: NDArray[np.int32]  # the row of each place in its unit
    begins: NDArray[np.int64]  # the first place of each block, and where the last one ends
    noise: Noise  # by place; see `noise.noise_table`

    def unlocked(self) -> Tables:
        """Return the tables as kernels expect them."""
        return Tables(*(unlocked(table) for table in self))

    def of_units(self) -> Blocks:
        """Return the blocks as kernels see them that have the rows of one unit."""
        return Blocks(self.of, self.rows, self.begins, self.noise)

    def sizes(self, units: list[range]) -> list[int]:
        """Return how many rows each unit has."""
        return [int(self.begins[unit.stop] - self.begins[unit.start]) for unit in units]

    def span(self, blocks: range) -> slice:
        """Return the places of some blocks."""
        return slice(int(self.begins[blocks.start]), int(self.begins[blocks.stop]))


def unit_begins(begins: NDArray[np.int64], ring: Ring) -> NDArray[np.int64]:
    """Return, for each block, the first place of the unit that it belongs to."""
    return np.concatenate([np.full(len(unit), begins[unit.start]) for unit in ring.units])


def tables_of(blocks: Blocks, ring: Ring) -> Tables:
    """Return the tables for the blocks of one scale."""
    n_nodes, sizes = len(blocks.members), np.diff(blocks.begins)
    places = np.full(n_nodes + 1, -1, np.int32)
    places[blocks.members] = np.arange(n_nodes, dtype=np.int32)
    rows = np.arange(n_nodes) - np.repeat(unit_begins(blocks.begins, ring), sizes)
    of = np.repeat(np.arange(blocks.n_blocks, dtype=np.uint8), sizes)
    return Tables(places, blocks.members, of, rows.astype(np.int32), blocks.begins, blocks.noise)
