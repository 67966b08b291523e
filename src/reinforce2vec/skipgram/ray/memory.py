"""Memory for the units that a worker has: its own, or shared by all workers of a machine.

Workers of a machine hand units to each other without a copy: a unit has a fixed place in memory
that all of them see. That memory has no name, and ends with the processes.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..state import Matrix, row_size, zeros


class Address(NamedTuple):
    """Where other processes of the machine find shared memory."""

    process: int
    file: int


class UnitMemory(Protocol):
    """Memory for units of one scale."""

    def rows(self, unit: int) -> Matrix:
        """Return the rows of a unit."""

    def leave(self, unit: int) -> Matrix:
        """Return the rows of a unit that leaves the machine, valid until the next visit of one."""


class _OwnMemory:
    """Memory of one worker, for the units that it has; `sizes` are the rows of each unit."""

    def __init__(self, sizes: list[int], dimensions: int) -> None:
        self._sizes, self._dimensions = sizes, dimensions
        self._held: dict[int, Matrix] = {}
        self._free: list[Matrix] = []

    def rows(self, unit: int) -> Matrix:
        """Return the rows of a unit."""
        if unit not in self._held:
            room = self._free.pop() if self._free else zeros(max(self._sizes), self._dimensions)
            self._held[unit] = room
        return self._held[unit][: self._sizes[unit]]

    def leave(self, unit: int) -> Matrix:
        """Return the rows of a unit that leaves the machine, valid until the next visit of one."""
        rows = self.rows(unit)
        self._free.append(self._held.pop(unit))
        return rows


class SharedMemory:
    """Memory of all workers of a machine, for all units; those that are elsewhere take none.

    Without an address it is new; OSError or AttributeError where the system has no such memory.
    """

    def __init__(self, sizes: list[int], dimensions: int, address: Address | None = None) -> None:
        self._width = row_size(dimensions)
        self._sizes = sizes
        place = -(-4 * self._width * max(sizes) // mmap.PAGESIZE) * mmap.PAGESIZE
        self._begins = [unit * place for unit in range(len(sizes))]
        if address is None:
            file = os.memfd_create("reinforce2vec")
            os.ftruncate(file, place * len(sizes))
        else:
            file = os.open(f"/proc/{address.process}/fd/{address.file}", os.O_RDWR)
        self.address = Address(os.getpid(), file)
        self._memory = mmap.mmap(file, place * len(sizes))

    def rows(self, unit: int) -> Matrix:
        """Return the rows of a unit."""
        shape = self._sizes[unit], self._width
        return np.ndarray(shape, np.float32, self._memory, self._begins[unit])

    def leave(self, unit: int) -> Matrix:
        """Return the rows of a unit that leaves the machine.

        They are a copy: the unit may come back to another worker at any time.
        """
        rows = self.rows(unit).copy()
        last = [*self._begins, len(self._memory)][unit + 1]
        self._memory.madvise(mmap.MADV_REMOVE, self._begins[unit], last - self._begins[unit])
        return rows


def make_memories(
    sizes: list[list[int]], dimensions: list[int], alone: bool, addresses: Sequence[Address]
) -> Sequence[_OwnMemory | SharedMemory]:
    """Return memory for the units of each scale: shared, new or of another worker.

    A worker that is `alone`, and one on a system without such memory, gets its own.
    """
    given: Sequence[Address | None] = addresses or [None] * len(sizes)
    if not alone:
        try:
            return [SharedMemory(*one) for one in zip(sizes, dimensions, given, strict=True)]
        except (OSError, AttributeError):  # not Linux, or processes may not see each other
            pass
    return [_OwnMemory(*one) for one in zip(sizes, dimensions, strict=True)]
