"""Walks of any lengths, one after another; what is no walk is refused."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids
from .._util.progress import counted
from .opening import opened

_CHECKED_NODES = 1 << 20  # nodes of a matrix to check at a time


class StoredNodes:
    """The nodes of all walks in files, read from the files a slice at a time.

    Slices are int32 arrays; `numpy.asarray` reads everything. The files are not mapped: a mapped
    file that becomes shorter ends the process, and one that is written to changes what was
    checked. InputError if a file has changed.

    Parameters
    ----------
    files : list of (path, int, int)
        Each file, where in it the nodes begin, and their number.
    """

    dtype = np.dtype(np.int32)

    def __init__(self, files: Sequence[tuple[Path, int, int]]) -> None:
        self._files = [(path.absolute(), begin, _stamp(os.stat(path))) for path, begin, _ in files]
        self._begins = np.cumsum([0, *(count for _, _, count in files)], dtype=np.int64)

    def __len__(self) -> int:
        return int(self._begins[-1])

    @property
    def shape(self) -> tuple[int]:
        """Number of nodes, as arrays have it."""
        return (len(self),)

    def __getitem__(self, places: slice) -> NDArray[np.int32]:
        begin, end, step = places.indices(len(self))
        if step != 1:
            raise IndexError("the nodes of stored walks are read in their order: use step 1")
        parts = []
        number = int(np.searchsorted(self._begins, begin, side="right")) - 1
        while begin < end:
            stop = min(end, int(self._begins[number + 1]))
            parts.append(self._read(number, begin - int(self._begins[number]), stop - begin))
            begin, number = stop, number + 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.empty(0, np.int32), *parts])

    def _read(self, number: int, first: int, count: int) -> NDArray[np.int32]:
        path, offset, stamp = self._files[number]
        with opened(path, False) as stream:
            nodes: NDArray[np.int32] = np.fromfile(stream, "<i4", count, offset=offset + 4 * first)
            now = _stamp(os.fstat(stream.fileno()))
        if len(nodes) < count or now != stamp:
            raise InputError(
                f"{path}: this file has changed since it was opened: leave walks as they are until "
                "the training on them has ended"
            )
        return nodes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or self.dtype, copy=False)


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    """Return what changes when a file is written to or replaced."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@dataclass(frozen=True, eq=False, repr=False)
class StoredWalks:
    """Walks of any lengths, one after another, and the ids of their nodes.

    Walk k is `nodes[begins[k]:begins[k + 1]]`, up to the first -1 if there is one: a matrix is kept
    with its padding. No walk is empty. The arrays are read-only.

    Attributes
    ----------
    nodes : int32 array
        The nodes of all walks, as row numbers into `ids`. If walks were read from a .npz file or a
        folder, slices of `nodes` are arrays, which are read from the files.
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
        if len(self.begins) < 2:
            raise InputError("there are no walks")
        for array in (self.nodes, self.begins, self.ids):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @classmethod
    def of_length(
        cls,
        length: int,
        nodes: NDArray[np.int32] | StoredNodes,
        ids: Ids,
        notes: tuple[str, ...] = (),
    ) -> StoredWalks:
        """Return walks that all take the same number of places: the rows of a matrix."""
        begins = np.arange(0, len(nodes) + 1, max(1, length), dtype=np.int64)
        return cls(nodes, begins, ids, notes)

    def __repr__(self) -> str:
        n_walks = counted(len(self.begins) - 1, "walk")
        return f"StoredWalks({n_walks}, {counted(len(self.ids), 'node')})"


# -- checks ------------------------------------------------------------------------------------


def check_rows(
    matrix: NDArray[Any], n_ids: int, number: int = 0, at_once: int = _CHECKED_NODES
) -> None:
    """Raise InputError for rows out of range, empty walks, and nodes after a walk's end.

    The walks are numbered from `number`; about `at_once` nodes are checked at a time.
    """
    step = max(1, at_once // max(1, matrix.shape[1]))
    for first in range(0, len(matrix), step):
        rows = matrix[first : first + step]
        ended = rows < 0
        bad = ended[:, :1].all(1) | (ended[:, :-1] & ~ended[:, 1:]).any(1)
        bad |= ((rows < -1) | (rows >= n_ids)).any(1)
        for walk in np.flatnonzero(bad)[:1].tolist():
            outside = [row for row in rows[walk].tolist() if not -1 <= row < n_ids]
            raise InputError(
                f"walk {number + first + walk:,} (counted from 0) "
                + (
                    f"names row {outside[0]}, but there are {n_ids:,} ids: rows are counted from 0"
                    if outside
                    else "is empty, or goes on after a -1, which marks the end of a walk"
                )
            )


def check_lengths(lengths: NDArray[np.int64]) -> None:
    """Raise InputError for an empty walk."""
    for walk in np.flatnonzero(lengths == 0)[:1].tolist():
        raise InputError(f"walk {walk:,} (counted from 0) is empty: it needs a node at least")


# -- walks that come one after another ---------------------------------------------------------


class _GrowingArray:
    """An array that grows at its end, in place where the operating system can extend memory."""

    def __init__(self, dtype: Any) -> None:
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
        self.nodes, self.begins = _GrowingArray(np.int32), _GrowingArray(np.int64)
        self.begins.add(np.zeros(1, np.int64))

    def add(self, nodes: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        """Append walks; `ends` holds where in `nodes` each of them ends."""
        self.begins.add(ends + self.nodes.size)
        self.nodes.add(nodes)

    def walks(self, ids: Ids, notes: tuple[str, ...] = ()) -> StoredWalks:
        """Return all walks."""
        return StoredWalks(self.nodes.whole(), self.begins.whole(), ids, notes)
