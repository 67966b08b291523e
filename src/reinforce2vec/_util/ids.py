"""Node ids: numbering them 0, 1, 2, ... in order of first appearance, and finding them again."""

from __future__ import annotations

import secrets
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .compiled import inner, kernel
from .errors import InputError, UnknownNode, short_repr

Ids = NDArray[np.int64] | NDArray[np.object_]


class NamedRows(Protocol):
    """Rows with node ids, such as a graph or an embedding."""

    @property
    def ids(self) -> Ids:
        """Node ids, in row order."""

    def row(self, node: Hashable) -> int:
        """Return the row number of a node id."""

    def __contains__(self, node: Hashable) -> bool: ...

    def __len__(self) -> int: ...


INITIAL_CAPACITY = 1 << 11
ONE = np.uint64(1)
# another in every process: no file can hold ids that all have the same hash, which would make the
# time grow with their square
HASH_SECRET = np.uint64(secrets.randbits(64))


# -- ids of any kind -------------------------------------------------------------------------


def number_objects(
    known: Sequence[Hashable], edges: Sequence[Sequence[Hashable]]
) -> tuple[NDArray[np.int32], Ids]:
    """Number ids of any hashable kind by first appearance, `known` ones first.

    Returns the numbers of `known` and then of all ends of `edges`, and the distinct ids.
    """
    numbers: dict[Hashable, int] = {}
    try:
        codes = [
            numbers.setdefault(node, len(numbers))
            for node in chain(known, chain.from_iterable(edges))
        ]
    except TypeError as error:
        raise InputError(f"node ids must be hashable, like numbers and strings: {error}") from None
    if any(is_missing(node) for node in numbers):
        raise InputError("a node id is missing (None or NaN): every node needs one")
    return np.array(codes, np.int32), as_ids(list(numbers))


def is_missing(name: Any) -> bool:
    """Return whether a name is None, NaN, or pandas' NA, which cannot be compared."""
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True


def fits_int64(node: Hashable) -> bool:
    """Return whether an id is an integer that fits in 64 bits."""
    return type(node) is int and -(2**63) <= node < 2**63


def as_ids(ids: Sequence[Hashable]) -> Ids:
    """Return node ids as an array: int64 if all are integers, else objects."""
    if all(isinstance(node, (int, np.integer)) and not isinstance(node, bool) for node in ids):
        try:
            return np.array(ids, np.int64)
        except OverflowError:
            pass
    array = np.empty(len(ids), object)
    array[:] = ids
    return array


def number_integers(values: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number integer ids; return the numbers and the distinct ids."""
    table = IntegerIds()
    return table.number(values), table.ids()


# -- finding rows by id ----------------------------------------------------------------------


class Lookup:
    """Finds row numbers of node ids; `home` is what errors call the place to which ids belong."""

    def __init__(self, ids: Ids, home: str) -> None:
        """Make a dictionary of the ids."""
        self._row_of: dict[Hashable, int] = {node: row for row, node in enumerate(ids.tolist())}
        self._home = home

    def row(self, node: Hashable) -> int:
        """Return the row number of a node id; UnknownNode if there is no such id."""
        try:
            return self._row_of[node]
        except (KeyError, TypeError):
            raise UnknownNode(f"node {short_repr(node)} is not in {self._home}") from None

    def rows(self, nodes: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row numbers of node ids."""
        listed = nodes.tolist() if isinstance(nodes, np.ndarray) else nodes
        return np.fromiter((self.row(node) for node in listed), np.int32)

    def __contains__(self, node: Hashable) -> bool:
        return node in self._row_of


# -- kernels -------------------------------------------------------------------------------------
# _number_values and _number_tokens in files/_tokens.py number ids 0, 1, 2, ... by first appearance,
# from the item `start` on and after the n ids that are known already, with an open-addressing hash
# table (-1: free). They stop at an id for which there is no room and return how far they came and
# the new n. (Growing the arrays in a kernel would halve its speed: numba then cannot keep them in
# registers.)


@inner
def mix_hash(h):
    """Mix the bits of a 64-bit number: the finalizer of MurmurHash3."""
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@kernel
def _guess_numbers(values, secret, codes, slots):
    """Write, for each integer, the number in its first slot, or -1.

    A separate pass, so that its cache misses overlap: half of the time with ten million ids.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(values.size):
        codes[i] = slots[mix_hash(np.uint64(values[i]) ^ secret) & mask]


@kernel
def _number_values(values, secret, start, codes, slots, ids, n):
    """Number integers; a slot holds a row number into `ids`, whose size is the capacity.

    `codes` holds what :func:`_guess_numbers` made of the integers.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(start, values.size):
        if codes[i] >= 0 and ids[np.uint64(codes[i])] == values[i]:
            continue
        slot = mix_hash(np.uint64(values[i]) ^ secret) & mask
        while slots[slot] >= 0 and ids[slots[slot]] != values[i]:
            slot = (slot + ONE) & mask
        if slots[slot] < 0:
            if n == ids.size:
                return i, n
            slots[slot] = n
            ids[n] = values[i]
            n += 1
        codes[i] = slots[slot]
    return values.size, n


# -- integer ids ----------------------------------------------------------------------------------


def enlarged(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    """Return a copy of an array's first `used` items with room for `size` items."""
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


class IntegerIds:
    """Numbers node ids while all of them are integers."""

    n = 0

    def __init__(self, room: int = INITIAL_CAPACITY) -> None:
        """Make an empty table; it grows by itself."""
        self.slots = np.full(2 * room, -1, np.int32)
        self.known = np.empty(room, np.int64)

    def number(self, values: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return row numbers of ids; new ones are numbered as they come."""
        codes = np.empty(values.size, np.int32)
        _guess_numbers(values, HASH_SECRET, codes, self.slots)
        done = 0
        while True:
            done, self.n = _number_values(
                values, HASH_SECRET, done, codes, self.slots, self.known, self.n
            )
            if done == values.size:
                return codes
            self._grow()

    def _grow(self) -> None:
        larger = IntegerIds(2 * len(self.known))
        larger.number(self.known[: self.n])
        self.slots, self.known = larger.slots, larger.known

    def ids(self) -> NDArray[np.int64]:
        """Return the ids in the order of their numbers."""
        return self.known[: self.n].copy()
