"""What a walk remembers: its nodes, ordered by how often it has been there.

`nodes` lists the distinct nodes, most visited first, `counts` their visits, and at_least[c] says
how many were visited c times or more: nodes with the same count form a block, and one more visit
moves a node to the front of its block and the block's border by one. Constant time. A small hash
table finds a node's place: a cell is 0 if empty, else (node + 1) in its upper 32 bits and the
node's place in the lower ones. Several walks' memories lie in the same arrays, one row each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined

_SHIFT = 32
_LOW = np.int64(0xFFFFFFFF)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Memory(NamedTuple):
    """The memories of several walks, a row each."""

    cells: NDArray[np.int64]
    nodes: NDArray[np.int32]
    counts: NDArray[np.int32]
    slots: NDArray[np.int32]  # in which cell a node's place is written
    at_least: NDArray[np.int32]
    distinct: NDArray[np.int64]  # how many nodes each walk remembers
    masses: NDArray[np.float64]  # scratch of a step: the weight of each block of equal counts


def bytes_per_walk(length: int, n_nodes: int) -> int:
    """Return about how many bytes one walk's memory takes."""
    return 44 * min(length, n_nodes) + 4 * length


def make_memory(lanes: int, length: int, n_nodes: int) -> Memory:
    """Allocate the memories of `lanes` walks."""
    most = min(length, n_nodes)
    capacity = 16
    while capacity < 2 * most:
        capacity *= 2
    blocks = int((2 * length) ** 0.5) + 2  # distinct counts: 1 + 2 + ... + b <= length
    return Memory(
        cells=np.zeros((lanes, capacity), np.int64),
        nodes=np.zeros((lanes, most), np.int32),
        counts=np.zeros((lanes, most), np.int32),
        slots=np.zeros((lanes, most), np.int32),
        at_least=np.zeros((lanes, length + 2), np.int32),
        distinct=np.zeros(lanes, np.int64),
        masses=np.zeros((lanes, blocks), np.float64),
    )


@inlined
def forget(memory, lane):
    """Empty one walk's memory. The rest is overwritten as nodes are remembered."""
    for i in range(memory.cells.shape[1]):
        memory.cells[lane, i] = 0
    for i in range(memory.at_least.shape[1]):
        memory.at_least[lane, i] = 0
    memory.distinct[lane] = 0


@inlined
def _find_slot(cells, lane, node):
    """Return the number of a node's cell, or of the empty cell where it belongs. Linear probing."""
    last = cells.shape[1] - 1
    slot = np.int64((np.uint64(node) * _SPREAD) >> np.uint64(32)) & last
    wanted = np.int64(node) + 1
    while True:
        key = cells[lane, slot] >> _SHIFT
        if key == wanted or key == 0:
            return slot
        slot = (slot + 1) & last


@inlined
def visits(memory, lane, node):
    """Return how often a walk has been at a node."""
    cell = memory.cells[lane, _find_slot(memory.cells, lane, node)]
    return np.int64(memory.counts[lane, cell & _LOW]) if cell != 0 else np.int64(0)


@inlined
def remember(memory, lane, node):
    """Count one more visit to a node."""
    cells, nodes, counts, slots = memory.cells, memory.nodes, memory.counts, memory.slots
    slot = _find_slot(cells, lane, node)
    if cells[lane, slot] == 0:
        front = memory.distinct[lane]
        memory.distinct[lane] += 1
        count = np.int32(0)
    else:
        place = cells[lane, slot] & _LOW
        count = counts[lane, place]
        front = np.int64(memory.at_least[lane, count + 1])
        if front != place:  # change places with the first node of the block
            other, other_slot = nodes[lane, front], slots[lane, front]
            nodes[lane, place], slots[lane, place] = other, other_slot
            cells[lane, other_slot] = ((np.int64(other) + 1) << _SHIFT) + place
    nodes[lane, front] = node
    slots[lane, front] = slot
    counts[lane, front] = count + 1
    cells[lane, slot] = ((np.int64(node) + 1) << _SHIFT) + front
    memory.at_least[lane, count + 1] = front + 1
