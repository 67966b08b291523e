"""Where a walk starts, and what it remembers: the distinct nodes it has been at, and how often."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import compiled
from ..._util.random import stream


class Memory(NamedTuple):
    """The memory of one walk."""

    nodes: NDArray[np.int32]
    counts: NDArray[np.int64]  # how often the walk has been at each
    distinct: NDArray[np.int64]  # one entry: how many nodes there are
    weights: NDArray[np.float64]  # scratch of a step: what each weighs


def make_memory(length: int) -> Memory:
    """Allocate room for a walk of some length."""
    return Memory(
        np.zeros(length, np.int32),
        np.zeros(length, np.int64),
        np.zeros(1, np.int64),
        np.zeros(length, np.float64),
    )


@compiled
def forget(memory):
    """Empty the memory."""
    memory.distinct[0] = 0


@compiled
def place_of(memory, node):
    """Return where a node stands, or the number of distinct nodes if it does not."""
    place = np.int64(0)
    while place < memory.distinct[0] and memory.nodes[place] != node:
        place += 1
    return place


@compiled
def visits(memory, node):
    """Return how often the walk has been at a node."""
    place = place_of(memory, node)
    return memory.counts[place] if place < memory.distinct[0] else np.int64(0)


@compiled
def remember(memory, node):
    """Count a visit; nodes stay in the order of their first visits. Return the node's place."""
    place = place_of(memory, node)
    if place == memory.distinct[0]:
        memory.nodes[place] = node
        memory.counts[place] = 0
        memory.distinct[0] += 1
    memory.counts[place] += 1
    return place


@compiled
def remember_sorted(memory, node):
    """Count a visit; nodes stand in blocks of equal counts, the most visited first.

    The node changes places with the first of its block, whose first place then belongs to the block
    before.
    """
    place = remember(memory, node)
    count = memory.counts[place] - 1
    front = place
    while front > 0 and memory.counts[front - 1] == count:
        front -= 1
    memory.nodes[place], memory.counts[place] = memory.nodes[front], count
    memory.nodes[front], memory.counts[front] = node, count + 1


@compiled
def block_end(memory, place):
    """Return where the block of nodes ends that were visited as often as the one at a place."""
    end = place
    while end < memory.distinct[0] and memory.counts[end] == memory.counts[place]:
        end += 1
    return end


class Paths(NamedTuple):
    """Walks to make: number first, first + 1, ..., a row of `walks` each."""

    starts: NDArray[np.int32]  # walk k starts at starts[k % len(starts)]
    seed: np.uint64
    first: int
    walks: NDArray[np.int32]


@compiled
def begin_path(paths, row):
    """Put a walk at its start; return its random stream, a key and a gamma.

    The rest of the path is -1, which stays where a walk ends early.
    """
    number = paths.first + row
    paths.walks[row, :] = -1
    paths.walks[row, 0] = paths.starts[number % paths.starts.size]
    return stream(paths.seed, number)
