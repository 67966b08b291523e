"""Walks of any lengths, one after another, as arrays; what is no walk is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids
from .._util.progress import counted
from .walk_shards import StoredNodes

CHECKED_NODES = 1 << 20  # nodes of a matrix to check at a time


@dataclass(frozen=True, eq=False, repr=False)
class StoredWalks:
    """Walks of any lengths, one after another, and the ids of their nodes.

    Walk k is `nodes[begins[k]:begins[k + 1]]`, up to the first -1 if there is one: a matrix is kept
    with its padding. No walk is empty. The arrays are read-only.

    Attributes
    ----------
    nodes : int32 array
        The nodes of all walks, as row numbers into `ids`. If walks were read from .npy files,
        slices of `nodes` are arrays, which are read from the files.
    begins : int64 array (n_walks + 1)
        Where in `nodes` each walk begins, and where the last one ends.
    ids : int64 or object array
        The node ids.
    notes : tuple of str
        What was decided while they were read.
    """

    nodes: NDArray[np.int32] | StoredNodes
    begins: NDArray[np.int64]
    ids: Ids
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.nodes, self.begins, self.ids):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __repr__(self) -> str:
        n_walks = counted(len(self.begins) - 1, "walk")
        return f"StoredWalks({n_walks}, {counted(len(self.ids), 'node')})"


def checked_walks(
    nodes: NDArray[np.int32] | StoredNodes,
    begins: NDArray[np.int64],
    ids: Ids,
    notes: tuple[str, ...] = (),
) -> StoredWalks:
    """Return walks; InputError if there are none."""
    if len(begins) < 2:
        raise InputError("there are no walks")
    return StoredWalks(nodes, begins, ids, notes)


# -- checks ------------------------------------------------------------------------------------


def check_rows(matrix: NDArray[Any], n_ids: int, there_are_ids: str, number: int = 0) -> None:
    """Raise InputError for rows out of range, empty walks, and nodes after a walk's end.

    The walks are numbered from `number`.
    """
    step = max(1, CHECKED_NODES // max(1, matrix.shape[1]))
    for first in range(0, len(matrix), step):
        rows = matrix[first : first + step]
        ended = rows < 0
        bad = ended[:, :1].all(1) | (ended[:, :-1] & ~ended[:, 1:]).any(1)
        bad |= ((rows < -1) | (rows >= n_ids)).any(1)
        for walk in np.flatnonzero(bad)[:1].tolist():
            problem = _describe_problem(rows[walk].tolist(), n_ids, there_are_ids)
            raise InputError(f"walk {number + first + walk:,} (counted from 0) {problem}")


def _describe_problem(walk: list[int], n_ids: int, there_are_ids: str) -> str:
    """Return why a row of a matrix is not a walk."""
    for row in walk:
        if row < -1:
            return f"holds {row}: row numbers begin at 0, and -1 marks the end of a walk"
        if row >= n_ids:
            return f"names row {row}, but {there_are_ids}: rows are counted from 0"
    if not walk or walk[0] < 0:
        return "is empty: it needs a node at least"
    return "goes on after a -1, which marks the end of a walk"


def check_lengths(lengths: NDArray[np.int64], first: int = 0) -> None:
    """Raise InputError for an empty walk; the walks are numbered from `first`."""
    for walk in np.flatnonzero(lengths == 0)[:1].tolist():
        raise InputError(
            f"walk {first + walk:,} (counted from 0) is empty: it needs a node at least"
        )


# -- walks that come one after another ---------------------------------------------------------


class _GrowingArray:
    """An array that grows at its end, in place where the operating system can extend memory."""

    def __init__(self, dtype: Any) -> None:
        """Make an empty array."""
        self._array = np.empty(0, dtype)
        self.size = 0

    def add(self, items: NDArray[Any]) -> None:
        """Append items."""
        begin, self.size = self.size, self.size + items.size
        if self.size > self._array.size:
            self._array.resize(self.size + self.size // 8, refcheck=False)
        self._array[begin : self.size] = items

    def whole(self) -> NDArray[Any]:
        """Return all items; none can be added after this."""
        self._array.resize(self.size, refcheck=False)
        return self._array


class WalkCollector:
    """Collects walks chunk by chunk."""

    def __init__(self) -> None:
        """Start without walks."""
        self.nodes, self.begins = _GrowingArray(np.int32), _GrowingArray(np.int64)
        self.begins.add(np.zeros(1, np.int64))

    def add(self, nodes: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        """Append walks; `ends` holds where in `nodes` each of them ends."""
        self.begins.add(ends + self.nodes.size)
        self.nodes.add(nodes)

    def walks(self, ids: Ids, notes: tuple[str, ...] = ()) -> StoredWalks:
        """Return all walks."""
        return checked_walks(self.nodes.whole(), self.begins.whole(), ids, notes)
