"""Numbering node ids of any kind 0, 1, 2, ... in the order in which they first appear."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..files.fields import parse_integers
from .errors import InputError, UnknownNode

Ids = NDArray[np.int64] | NDArray[np.object_]

FIRST_ROOM = 1 << 11
ONE = np.uint64(1)


# -- all at once -----------------------------------------------------------------------------


def number_objects(
    known: Sequence[Hashable], edges: Sequence[Sequence[Hashable]]
) -> tuple[NDArray[np.int32], Ids]:
    """Number ids of any hashable kind by first appearance, `known` ones first."""
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
    """Whether a name is None, NaN, or pandas' NA, which will not even say whether it differs."""
    try:
        return name is None or bool(name != name)
    except TypeError:
        return True


def fits_int64(node: Hashable) -> bool:
    """Whether an id is an integer that a 64-bit number holds."""
    return type(node) is int and -(2**63) <= node < 2**63


def as_ids(ids: Sequence[Hashable]) -> Ids:
    """Node ids as an array: int64 where all are integers, else objects."""
    if all(isinstance(node, (int, np.integer)) and not isinstance(node, bool) for node in ids):
        try:
            return np.array(ids, np.int64)
        except OverflowError:
            pass
    array = np.empty(len(ids), object)
    array[:] = ids
    return array


def number_integers(values: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Number integer ids; returns the numbers and the distinct ids."""
    table = IntegerIds()
    return table.number(values), table.ids()


# -- the way back ----------------------------------------------------------------------------


class Lookup:
    """Finds the row numbers of node ids; `home` is where an error says that one is missing."""

    def __init__(self, ids: Ids, home: str) -> None:
        """Make a dictionary of the ids."""
        self._row_of: dict[Hashable, int] = {node: row for row, node in enumerate(ids.tolist())}
        self._home = home

    def row(self, node: Hashable) -> int:
        """Row number of a node id; UnknownNode if it has none."""
        try:
            return self._row_of[node]
        except (KeyError, TypeError):
            raise UnknownNode(f"node {node!r} is not in {self._home}") from None

    def rows(self, nodes: Iterable[Hashable]) -> NDArray[np.int32]:
        """Row numbers of many node ids."""
        listed = nodes.tolist() if isinstance(nodes, np.ndarray) else nodes
        return np.fromiter((self.row(node) for node in listed), np.int32)

    def __contains__(self, node: Hashable) -> bool:
        return node in self._row_of


# -- kernels -------------------------------------------------------------------------------------
# Both number ids 0, 1, 2, ... by first appearance, beginning at the item `start` and going on from
# the n ids that are known already, through an open-addressing hash table (-1: free). They return
# before an id for which there is no room: how far they came, and the new n. (Making room in the
# kernels would cost half their speed: numba then cannot keep the arrays in registers.)


@njit(cache=True, nogil=True)
def mixed(h):
    """Spread the bits of a 64-bit number: the finalizer of MurmurHash3."""
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@njit(cache=True, nogil=True)
def number_values(values, start, codes, slots, ids, n):
    """Number integers. A slot holds a row number into `ids`, whose size is the room there is."""
    mask = np.uint64(slots.size - 1)
    for i in range(start, values.size):
        slot = mixed(np.uint64(values[i])) & mask
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


@njit(cache=True, nogil=True)
def hash_tokens(data, tokens, tags):
    """A 31-bit hash of each data[tokens[i, 0]:tokens[i, 1]]: FNV-1a, its bits spread."""
    for i in range(len(tokens)):
        place, end = np.uint64(tokens[i, 0]), np.uint64(tokens[i, 1])
        h = np.uint64(14695981039346656037)
        while place < end:
            h = (h ^ np.uint64(data[place])) * np.uint64(1099511628211)
            place += ONE
        tags[i] = mixed(h) >> np.uint64(33)


@njit(cache=True, nogil=True)
def guess_codes(tags, slots, codes):
    """For each token, the number of the first id with the same hash, or -1.

    A pass of its own, because its many cache misses then overlap, which saves a fifth of the time.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(len(tags)):
        slot = np.uint64(tags[i]) & mask
        while slots[slot] >= 0 and slots[slot] >> 32 != tags[i]:
            slot = (slot + ONE) & mask
        codes[i] = slots[slot] & 0xFFFFFFFF if slots[slot] >= 0 else -1


@njit(cache=True, nogil=True)
def is_id(data, begin, end, offsets, letters, code):
    """Whether data[begin:end] is the id with this number."""
    place = np.uint64(offsets[np.uint64(code)])
    if np.uint64(offsets[np.uint64(code) + ONE]) - place != end - begin:
        return False
    # nearly always it is, so going on after a difference costs less than the branch
    different = False
    for i in range(end - begin):
        different |= data[begin + i] != letters[place + i]
    return not different


@njit(cache=True, nogil=True)
def number_tokens(data, tokens, tags, start, codes, slots, offsets, letters, n):
    """Number strings of bytes, each from tokens[i, 0] to tokens[i, 1] in the data.

    The id with the number k is letters[offsets[k]:offsets[k + 1]]. A slot holds an id's hash above
    its 32-bit number, so that nearly every look-up compares the bytes of one id only. `codes`
    holds what :func:`guess_codes` made of the tokens.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(start, len(tokens)):
        begin, end = np.uint64(tokens[i, 0]), np.uint64(tokens[i, 1])
        if codes[i] >= 0 and is_id(data, begin, end, offsets, letters, codes[i]):
            continue
        tag = np.int64(tags[i])
        slot = np.uint64(tag) & mask
        while slots[slot] >= 0 and not (
            slots[slot] >> 32 == tag
            and is_id(data, begin, end, offsets, letters, slots[slot] & 0xFFFFFFFF)
        ):
            slot = (slot + ONE) & mask
        if slots[slot] < 0:
            place = np.uint64(offsets[n])
            if n + 1 == offsets.size or place + (end - begin) > np.uint64(letters.size):
                return i, n
            slots[slot] = tag << 32 | n
            while begin < end:
                letters[place] = data[begin]
                begin += ONE
                place += ONE
            n += 1
            offsets[n] = place
        codes[i] = slots[slot] & 0xFFFFFFFF
    return len(tokens), n


@njit(cache=True, nogil=True)
def move_slots(full, slots):
    """Move what number_tokens put into a hash table to a larger one."""
    mask = np.uint64(slots.size - 1)
    for entry in full:
        if entry >= 0:
            slot = np.uint64(entry >> 32) & mask
            while slots[slot] >= 0:
                slot = (slot + ONE) & mask
            slots[slot] = entry


# -- integers and text, fast ----------------------------------------------------------------------


def with_room(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    """A larger copy of an array."""
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


class IntegerIds:
    """Numbers node ids while all of them are integers."""

    n = 0

    def __init__(self, room: int = FIRST_ROOM) -> None:
        """Make an empty table; it grows by itself."""
        self.slots = np.full(2 * room, -1, np.int32)
        self.known = np.empty(room, np.int64)

    def number(self, values: NDArray[np.int64]) -> NDArray[np.int32]:
        """Row numbers of ids, new ones numbered as they come."""
        codes = np.empty(values.size, np.int32)
        done = 0
        while True:
            done, self.n = number_values(values, done, codes, self.slots, self.known, self.n)
            if done == values.size:
                return codes
            self._grow()

    def _grow(self) -> None:
        larger = IntegerIds(2 * len(self.known))
        larger.number(self.known[: self.n])
        self.slots, self.known = larger.slots, larger.known

    def ids(self) -> NDArray[np.int64]:
        """The ids in the order of their numbers."""
        return self.known[: self.n].copy()


class TextIds:
    """Numbers node ids as strings, which stand one after another in UTF-8."""

    n = 0

    def __init__(self, room: int = FIRST_ROOM) -> None:
        """Make an empty table; it grows by itself."""
        self.slots = np.full(2 * room, -1, np.int64)
        self.offsets = np.zeros(room + 1, np.int64)
        self.letters = np.empty(8 * room, np.uint8)

    @classmethod
    def of_integers(cls, ids: NDArray[np.int64]) -> TextIds:
        """The table of ids met as integers: written in one way only, they keep their numbers."""
        table = cls()
        for begin in range(0, len(ids), 1 << 20):
            words = [b"%d" % node for node in ids[begin : begin + (1 << 20)].tolist()]
            ends = np.cumsum([len(word) for word in words], dtype=np.int32)
            tokens = np.column_stack([np.append(np.int32(0), ends[:-1]), ends])
            data = np.frombuffer(b"".join(words), np.uint8)
            table.number(data, tokens, token_hashes(data, tokens))
        return table

    def number(
        self, data: NDArray[np.uint8], tokens: NDArray[np.int32], tags: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        """Row numbers of the ids that stand in the data from tokens[i, 0] to tokens[i, 1]."""
        codes = np.empty(len(tokens), np.int32)
        guess_codes(tags, self.slots, codes)
        done = 0
        while True:
            done, self.n = number_tokens(
                data, tokens, tags, done, codes, self.slots, self.offsets, self.letters, self.n
            )
            if done == len(tokens):
                return codes
            self._grow(int(tokens[done, 1] - tokens[done, 0]))

    def _grow(self, next_length: int) -> None:
        if self.n + 1 == self.offsets.size:
            self.offsets = with_room(self.offsets, self.n + 1, 2 * self.n + 1)
            slots = np.full(2 * self.slots.size, -1, np.int64)
            move_slots(self.slots, slots)
            self.slots = slots
        else:
            used = int(self.offsets[self.n])
            self.letters = with_room(self.letters, used, 2 * (used + next_length))

    def ids(self) -> NDArray[np.object_]:
        """The ids in the order of their numbers, each decoded once."""
        ends = self.offsets[: self.n + 1].tolist()
        raw = self.letters[: ends[-1]].tobytes()
        ids = np.empty(self.n, object)
        if raw.isascii():
            text = raw.decode()
            ids[:] = [text[a:b] for a, b in pairwise(ends)]
        else:
            ids[:] = [raw[a:b].decode() for a, b in pairwise(ends)]
        return ids


def token_hashes(data: NDArray[np.uint8], tokens: NDArray[np.int32]) -> NDArray[np.int32]:
    """The hashes that :meth:`TextIds.number` needs."""
    tags = np.empty(len(tokens), np.int32)
    hash_tokens(data, tokens, tags)
    return tags


class Tokens(NamedTuple):
    """Ids as they stand in text, and as integers if all of them are, else their hashes."""

    data: NDArray[np.uint8]
    places: NDArray[np.int32]  # where each begins and ends
    values: NDArray[np.int64] | None
    tags: NDArray[np.int32] | None


class TokenIds:
    """Numbers node ids as integers while all of them are, and from then on as strings.

    Threads may parse the tokens of several chunks at once; one thread numbers chunk after chunk.
    """

    def __init__(self) -> None:
        """Make an empty table."""
        self.integers = IntegerIds()
        self.words: TextIds | None = None
        self._all_integers = True  # until the first token that is not

    def parse(self, data: NDArray[np.uint8], places: NDArray[np.int32]) -> Tokens:
        """The tokens that stand in the data from places[i, 0] to places[i, 1]."""
        if self._all_integers:
            values = np.empty(len(places), np.int64)
            if parse_integers(data, places, values):
                return Tokens(data, places, values, None)
            self._all_integers = False  # threads share this: at worst one parses in vain
        return Tokens(data, places, None, token_hashes(data, places))

    def number(self, tokens: Tokens) -> NDArray[np.int32]:
        """Row numbers of ids, new ones numbered as they come."""
        data, places, values, tags = tokens
        if self.words is None and values is not None:
            return self.integers.number(values)
        if self.words is None:
            self.words = TextIds.of_integers(self.integers.ids())
        return self.words.number(data, places, token_hashes(data, places) if tags is None else tags)

    def ids(self) -> Ids:
        """The ids in the order of their numbers."""
        return self.integers.ids() if self.words is None else self.words.ids()
