"""Edge lists in text: two node ids a line, perhaps a weight, read fast and exactly.

A file is read in chunks of whole lines. Worker threads find the fields of a chunk and parse its
integers and weights; the calling thread numbers the ids, chunk after chunk, so that nodes are
numbered in the order in which the file names them. Memory: 8 bytes an edge (16 with weights),
twice that for a moment when the chunks are joined, a hash table of the ids, and a few chunks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .errors import InputError

CHUNK_BYTES = 1 << 22
LONGEST_LINE = 1 << 30  # places in a chunk are 32-bit numbers
WORKERS = 2

# Names by which a header calls the two columns of node ids.
NAME_PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("source", "destination"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("from_node", "to_node"),
    ("from_id", "to_id"),
    ("source_id", "target_id"),
    ("head", "tail"),
    ("start", "end"),
    ("u", "v"),
    ("i", "j"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("node_a", "node_b"),
    ("id1", "id2"),
    ("id_1", "id_2"),
)

INTEGER = re.compile(rb"0|-?[1-9]\d*")  # as str(int) writes it
NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.I)

# The parts that a byte can play in a line.
ORDINARY, BLANK, DELIMITER, LINE_END = 0, 1, 2, 3

WHITESPACE = 0  # the delimiter that stands for any run of spaces and tabs
DELIMITER_NAMES = {9: "tabs", 44: "commas", 59: "semicolons", 124: "bars"}

# What can be wrong with the fields of a line.
FINE, MISSING, EMPTY, BAD_QUOTE = 0, 1, 2, 3

TAB, NEWLINE, RETURN, SPACE = 9, 10, 13, 32
QUOTE, HASH, PERCENT = 34, 35, 37
PLUS, MINUS, DOT, ZERO, NINE, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101

ONE = np.uint64(1)
LARGEST = 2**63 - 1
MANTISSA_LIMIT = 9 * 10**14  # one more digit still leaves it below 2^53
TENS = np.array(
    [float(10**power) for power in range(23)]
)  # the powers of ten that a float64 holds exactly


# -- kernels: fields ---------------------------------------------------------------------------
# The data end with a newline, so a scan for one needs no look at the size. Places are unsigned:
# numba would test a signed index for being negative, which doubles the time.


@njit(cache=True, nogil=True)
def past_blanks(data, kinds, i):  # type: ignore[no-untyped-def]
    """The first place from `i` on that holds no blank."""
    while kinds[data[i]] == BLANK:
        i += ONE
    return i


@njit(cache=True, nogil=True)
def find_fields(data, kinds, stop, wanted, bounds):  # type: ignore[no-untyped-def]
    """Find where the first `wanted` fields of every line begin and end.

    `kinds` gives the part that each byte plays, and a field ends at a byte of the kind `stop` or
    above. Blank lines and comments are passed over. `bounds` gets a row for every line that holds
    data: begin and end of its first field, of its second, .... Returns how many rows were filled,
    what is wrong with the line after them (FINE if nothing), where that line begins, and which of
    its fields is meant. One pass over the bytes.
    """
    delimited = stop == DELIMITER
    rows = 0
    i = np.uint64(0)
    while i < np.uint64(data.size):
        line = i
        while kinds[data[i]] == BLANK or data[i] == TAB:
            i += ONE
        if data[i] != NEWLINE and data[i] != HASH and data[i] != PERCENT:
            if delimited:
                i = line  # a tab at the start of the line may be a delimiter
            for field in range(wanted):
                if field > 0 and delimited and data[i] != NEWLINE:
                    i = past_blanks(data, kinds, i + ONE)
                else:
                    i = past_blanks(data, kinds, i)
                    if field > 0 and data[i] == NEWLINE:
                        return rows, MISSING, line, field
                if delimited and data[i] == QUOTE:
                    begin = i + ONE
                    i = begin
                    while data[i] != QUOTE and data[i] != NEWLINE:
                        i += ONE
                    end = i
                    if data[i] == QUOTE:
                        i = past_blanks(data, kinds, i + ONE)
                    if data[end] != QUOTE or kinds[data[i]] < stop:
                        return rows, BAD_QUOTE, line, field
                else:
                    begin = i
                    while kinds[data[i]] < stop:
                        i += ONE
                    end = i
                    while end > begin and kinds[data[end - ONE]] == BLANK:
                        end -= ONE
                if end == begin:
                    return rows, EMPTY, line, field
                bounds[rows, 2 * field] = begin
                bounds[rows, 2 * field + 1] = end
            rows += 1
        while data[i] != NEWLINE:
            i += ONE
        i += ONE
    return rows, FINE, i, 0


@njit(cache=True, nogil=True)
def parse_integers(data, tokens, values):  # type: ignore[no-untyped-def]
    """Parse each data[tokens[i, 0]:tokens[i, 1]] as an integer, as far as they are that.

    Returns False at the first one that is not written as str(int) writes it, or does not fit in
    64 bits: the ids then are strings.
    """
    for row in range(len(tokens)):
        i, end = np.uint64(tokens[row, 0]), np.uint64(tokens[row, 1])
        negative = data[i] == MINUS
        if negative:
            i += ONE
        digits = end - i
        if digits < ONE or digits > np.uint64(19):
            return False
        if data[i] == ZERO and (digits > ONE or negative):
            return False
        value = np.uint64(0)  # holds any 19 digits
        while i < end:
            if data[i] < ZERO or data[i] > NINE:
                return False
            value = value * np.uint64(10) + np.uint64(data[i] - ZERO)
            i += ONE
        if value > np.uint64(LARGEST) + np.uint64(negative):
            return False
        values[row] = -np.int64(value) if negative else np.int64(value)
    return True


@njit(cache=True, nogil=True)
def parse_weights(data, bounds, weights):  # type: ignore[no-untyped-def]
    """Parse the third field of every row as a decimal number, correctly rounded.

    A mantissa below 2^53 and a power of ten up to 10^22 are exact in a float64, so their product
    or quotient is rounded once. Any other field leaves NaN, for Python to look at.
    """
    for row in range(len(bounds)):
        i, end = np.uint64(bounds[row, 4]), np.uint64(bounds[row, 5])
        weights[row] = np.nan
        mantissa, exponent, digits, after_dot = np.int64(0), np.int64(0), 0, 0
        while i < end and mantissa < MANTISSA_LIMIT:
            if ZERO <= data[i] <= NINE:
                mantissa = mantissa * 10 + np.int64(data[i] - ZERO)
                digits += 1
                exponent -= after_dot
            elif data[i] == DOT and after_dot == 0:
                after_dot = 1
            else:
                break
            i += ONE
        if i + ONE < end and (data[i] == LOWER_E or data[i] == UPPER_E):
            i += ONE
            sign = -1 if data[i] == MINUS else 1
            if (data[i] == MINUS or data[i] == PLUS) and i + ONE < end:
                i += ONE
            power = np.int64(0)
            while i < end and ZERO <= data[i] <= NINE and power < 1000:
                power = power * 10 + np.int64(data[i] - ZERO)
                i += ONE
            exponent += sign * power
        if i == end and digits > 0 and -22 <= exponent <= 22:
            if exponent < 0:
                weights[row] = mantissa / TENS[-exponent]
            else:
                weights[row] = mantissa * TENS[exponent]


# -- kernels: numbering ------------------------------------------------------------------------
# Both number ids 0, 1, 2, ... by first appearance, beginning at the item `start` and going on from
# the n ids that are known already, through an open-addressing hash table (-1: free). They return
# before an id for which there is no room: how far they came, and the new n. (Making room in the
# kernels would cost half their speed: numba then cannot keep the arrays in registers.)


@njit(cache=True, nogil=True)
def mixed(h):  # type: ignore[no-untyped-def]
    """Spread the bits of a 64-bit number: the finalizer of MurmurHash3."""
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@njit(cache=True, nogil=True)
def number_integers(values, start, codes, slots, ids, n):  # type: ignore[no-untyped-def]
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
def hash_tokens(data, tokens, tags):  # type: ignore[no-untyped-def]
    """A 31-bit hash of each data[tokens[i, 0]:tokens[i, 1]]: FNV-1a, its bits spread."""
    for i in range(len(tokens)):
        place, end = np.uint64(tokens[i, 0]), np.uint64(tokens[i, 1])
        h = np.uint64(14695981039346656037)
        while place < end:
            h = (h ^ np.uint64(data[place])) * np.uint64(1099511628211)
            place += ONE
        tags[i] = mixed(h) >> np.uint64(33)


@njit(cache=True, nogil=True)
def same_bytes(data, begin, end, letters, place):  # type: ignore[no-untyped-def]
    """Whether data[begin:end] stands in `letters` at `place`."""
    while begin < end and data[begin] == letters[place]:
        begin += ONE
        place += ONE
    return begin == end


@njit(cache=True, nogil=True)
def number_tokens(data, tokens, tags, start, codes, slots, offsets, letters, n):  # type: ignore[no-untyped-def]
    """Number strings of bytes, each from tokens[i, 0] to tokens[i, 1] in the data.

    The id with the number k is letters[offsets[k]:offsets[k + 1]]. A slot holds an id's hash above
    its 32-bit number, so that nearly every look-up compares the bytes of one id only.
    """
    mask = np.uint64(slots.size - 1)
    for i in range(start, len(tokens)):
        begin, end = np.uint64(tokens[i, 0]), np.uint64(tokens[i, 1])
        tag = np.int64(tags[i])
        slot = np.uint64(tag) & mask
        while slots[slot] >= 0:
            if slots[slot] >> 32 == tag:
                known = np.uint64(slots[slot] & 0xFFFFFFFF)
                place = np.uint64(offsets[known])
                if np.uint64(offsets[known + ONE]) - place == end - begin and same_bytes(
                    data, begin, end, letters, place
                ):
                    break
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
def move_slots(full, slots):  # type: ignore[no-untyped-def]
    """Move what number_tokens put into a hash table to a larger one."""
    mask = np.uint64(slots.size - 1)
    for entry in full:
        if entry >= 0:
            slot = np.uint64(entry >> 32) & mask
            while slots[slot] >= 0:
                slot = (slot + ONE) & mask
            slots[slot] = entry


# -- the table of ids --------------------------------------------------------------------------

FIRST_ROOM = 1 << 11
Ids = NDArray[np.int64] | NDArray[np.object_]


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
            done, self.n = number_integers(values, done, codes, self.slots, self.known, self.n)
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


# -- chunks ------------------------------------------------------------------------------------


class Chunk(NamedTuple):
    """Whole lines of a file, and the number of the first of them, counted from 1."""

    text: bytes
    line: int

    def count_lines(self) -> int:
        """How many lines there are; numpy counts them faster than bytes.count."""
        return int(np.count_nonzero(np.frombuffer(self.text, np.uint8) == NEWLINE))

    def line_at(self, place: int) -> int:
        """The number of the line that holds the byte at a place."""
        return self.line + self.text.count(b"\n", 0, place)


def whole_lines(stream: BinaryIO, name: str, size: int) -> Iterator[Chunk]:
    """Cut a file into chunks of whole lines of about `size` bytes, and check that it is text."""
    line = 1
    for text in cut_at_newlines(stream, name, size):
        if line == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        chunk = Chunk(text, line)
        check_is_text(chunk, name)
        yield chunk
        line += chunk.count_lines()


def cut_at_newlines(stream: BinaryIO, name: str, size: int) -> Iterator[bytes]:
    """The bytes of a file in pieces that end with a newline, added at the end if missing."""
    pending: list[bytes] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield b"".join([*pending, block[:cut]])
            pending = []
        pending.append(block[cut:])
        if len(pending) * size > LONGEST_LINE:
            raise InputError(f"{name}: not an edge list: it has a line of more than 1 GB")
    if any(pending):
        yield b"".join([*pending, b"\n"])


def check_is_text(chunk: Chunk, name: str) -> None:
    """Refuse what is not UTF-8."""
    place = chunk.text.find(b"\0")
    if place >= 0:
        problem = "holds a NUL byte"
    elif chunk.text.isascii():
        return
    else:
        try:
            chunk.text.decode()
        except UnicodeDecodeError as error:
            place, problem = error.start, "is not UTF-8"
        else:
            return
    raise InputError(
        f"{name}, line {chunk.line_at(place)}: expected text in UTF-8, but this line {problem}"
    )


def first_data_lines(chunk: Chunk, count: int) -> list[tuple[int, int]]:
    """Where the first lines of a chunk begin and end that are neither blank nor comments."""
    found: list[tuple[int, int]] = []
    begin = 0
    while begin < len(chunk.text) and len(found) < count:
        end = chunk.text.find(b"\n", begin) + 1 or len(chunk.text)
        line = chunk.text[begin:end].strip()
        if line and not line.startswith((b"#", b"%")):
            found.append((begin, end))
        begin = end
    return found


# -- layout ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """How the lines of a file are to be read."""

    delimiter: int
    weighted: bool
    has_header: bool

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The part that each byte plays in a line."""
        kinds = np.full(256, ORDINARY, np.uint8)
        kinds[[SPACE, TAB, RETURN]] = BLANK
        kinds[NEWLINE] = LINE_END
        if self.delimiter != WHITESPACE:
            kinds[self.delimiter] = DELIMITER
        return kinds

    def find_fields(
        self, data: NDArray[np.uint8], bounds: NDArray[np.int32]
    ) -> tuple[int, int, int, int]:
        """Fill `bounds` with the places of as many fields as it has columns for."""
        stop = BLANK if self.delimiter == WHITESPACE else DELIMITER
        wanted = bounds.shape[1] // 2
        rows, problem, place, field = find_fields(data, self.kinds, stop, wanted, bounds)
        return rows, problem, int(place), field

    def fields(self, line: bytes) -> list[bytes]:
        """The first three fields of a line, or as many as it has."""
        bounds = np.zeros((1, 6), np.int32)
        data = np.frombuffer(line, np.uint8)
        _, problem, _, sound = self.find_fields(data, bounds)
        ends = bounds[0, : 2 * sound if problem else 6].tolist()
        return [line[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]


def find_layout(
    lines: list[bytes],
    where: str,
    *,
    weighted: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Layout:
    """Find out how to read a file from its first two data lines; what is given is not guessed."""
    code = likely_delimiter(lines[0]) if delimiter is None else delimiter_code(delimiter)
    plain = Layout(code, weighted=False, has_header=False)
    heads = [plain.fields(line) for line in lines]
    if header is None:
        header = is_header(heads)
    third = b"".join(heads[header][2:]) if len(heads) > header else b""
    if weighted is not False and third.startswith((b"{'", b'{"')):
        raise InputError(
            f'{where}: the third column holds Python dictionaries ("{shown(third)}"): write the '
            "file with networkx.write_weighted_edgelist, or pass weighted=False to leave them out"
        )
    if weighted is None:
        weighted = NUMBER.fullmatch(third) is not None
    return Layout(code, weighted, header)


def delimiter_code(delimiter: str) -> int:
    """The byte of a delimiter that the user names."""
    if delimiter in (" ", "whitespace"):
        return WHITESPACE
    if (
        len(delimiter) == 1
        and delimiter.isascii()
        and not (delimiter.isalnum() or delimiter in '"\n\r-+.')
    ):
        return ord(delimiter)
    raise InputError(
        f"delimiter {delimiter!r} cannot separate fields: give one character such as ',' or "
        "'\\t', or ' ' for any run of spaces and tabs"
    )


def likely_delimiter(line: bytes) -> int:
    """The delimiter of a line that holds data."""
    # neither quoted text nor the dictionary that networkx writes after an edge counts
    bare = re.sub(rb'"[^"]*"', b'""', line).split(b"{")[0]
    for delimiter in (b"\t", b",", b";"):
        fields = [field.strip() for field in bare.split(delimiter)[:2]]
        if len(fields) == 2 and all(fields):
            return ord(delimiter)
    # a bar may well be part of an id, so it counts only where no blank could separate the ids
    if re.fullmatch(rb"[^\s|]+(\s*\|\s*[^\s|]+)+", bare.strip()):
        return ord("|")
    return WHITESPACE


def is_header(heads: list[list[bytes]]) -> bool:
    """Whether the first data line names the columns: a known pair, or words before integers."""
    names = tuple(name.decode().lower() for name in heads[0][:2])
    if names in NAME_PAIRS or names[::-1] in NAME_PAIRS:
        return True
    if len(heads) < 2 or len(names) < 2 or len(heads[1]) < 2:
        return False
    return not any(map(NUMBER.fullmatch, heads[0][:2])) and all(
        map(INTEGER.fullmatch, heads[1][:2])
    )


# -- reading -----------------------------------------------------------------------------------


class EdgeList(NamedTuple):
    """What a file holds: edges as row numbers into `ids`, and their weights if it has any."""

    ends: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: Ids


class Parsed(NamedTuple):
    """What the threads make of a chunk: its ids as integers, or else the hashes of its tokens."""

    values: NDArray[np.int64] | None
    tags: NDArray[np.int32] | None
    data: NDArray[np.uint8]
    tokens: NDArray[np.int32]
    weights: NDArray[np.float64] | None


def read_edge_list(
    stream: BinaryIO,
    name: str,
    *,
    weighted: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> EdgeList:
    """Read an edge list from a binary stream; `name` is what errors call it.

    See :func:`reinforce2vec.read_graph` for the other arguments.
    """
    chunks = whole_lines(stream, name, chunk_bytes)
    head, lines = head_of(chunks, name)
    texts = [head.text[begin:end] for begin, end in lines]
    where = f"{name}, line {head.line_at(lines[0][0])}"
    layout = find_layout(texts, where, weighted=weighted, delimiter=delimiter, header=header)
    if layout.has_header:
        cut = lines[0][1]
        head = Chunk(head.text[cut:], head.line_at(cut))
    parser = Parser(name, layout)
    parsed = in_order(parser.parse, chain([head], chunks))
    edges = join(parsed)
    if layout.has_header and header is None:
        check_header(layout.fields(texts[0])[:2], edges, where)
    if not len(edges.ends):
        raise InputError(f"{name}: expected edges, found only a header")
    return edges


def check_header(names: list[bytes], edges: EdgeList, where: str) -> None:
    """Refuse to take for a header what may be an edge: there, "u" and "v" may be nodes."""
    for name in (name.decode() for name in names):
        if edges.ids.dtype == object and name in edges.ids.tolist():
            raise InputError(
                f'{where}: this looks like a header, but "{name}" is a node id too: pass '
                "header=True or header=False"
            )


def head_of(chunks: Iterator[Chunk], name: str) -> tuple[Chunk, list[tuple[int, int]]]:
    """Take chunks, as one, until they hold two data lines; also returns where those lines are."""
    head = Chunk(b"", 1)
    for chunk in chunks:
        head = Chunk(head.text + chunk.text, 1)
        lines = first_data_lines(head, 2)
        if len(lines) == 2:
            return head, lines
    if not head.text.strip():
        raise InputError(f"{name}: expected edges, but the file is empty")
    lines = first_data_lines(head, 2)
    if not lines:
        raise InputError(f"{name}: expected edges, found only comments")
    return head, lines


Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Do the work in threads, a few items ahead, and hand out the results in order."""
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > WORKERS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def join(parsed: Iterable[Parsed]) -> EdgeList:
    """Number the ids of all chunks and put the chunks together."""
    integers, words = IntegerIds(), None
    codes, weights = [], []
    for chunk in parsed:
        if words is None and chunk.values is not None:
            codes.append(integers.number(chunk.values))
        else:
            if words is None:
                words = TextIds.of_integers(integers.ids())
            tags = token_hashes(chunk.data, chunk.tokens) if chunk.tags is None else chunk.tags
            codes.append(words.number(chunk.data, chunk.tokens, tags))
        if chunk.weights is not None:
            weights.append(chunk.weights)
    ends = np.concatenate(codes).reshape(-1, 2)
    codes.clear()  # strings take much memory, and more while they are made
    ids: Ids = integers.ids() if words is None else words.ids()
    return EdgeList(ends, np.concatenate(weights) if weights else None, ids)


@dataclass
class Parser:
    """Parses chunks of one file; an error names the file and the line."""

    name: str
    layout: Layout
    integers: bool = True  # until the first id that is not

    def parse(self, chunk: Chunk) -> Parsed:
        """Find the fields of a chunk and parse its ids, if they are integers, and its weights."""
        data = np.frombuffer(chunk.text, np.uint8)
        fields = 3 if self.layout.weighted else 2
        bounds = np.empty((chunk.count_lines(), 2 * fields), np.int32)
        rows, problem, place, field = self.layout.find_fields(data, bounds)
        bounds = bounds[:rows]
        weights = self._weights(chunk, data, bounds) if self.layout.weighted else None
        if problem != FINE:
            self._refuse(chunk, place, problem, field)
        tokens = np.ascontiguousarray(bounds[:, :4]).reshape(-1, 2)
        values = np.empty(len(tokens), np.int64)
        # the threads share the flag: at worst one parses integers in vain
        self.integers = self.integers and parse_integers(data, tokens, values)
        if self.integers:
            return Parsed(values, None, data, tokens, weights)
        return Parsed(None, token_hashes(data, tokens), data, tokens, weights)

    def _weights(
        self, chunk: Chunk, data: NDArray[np.uint8], bounds: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        weights = np.empty(len(bounds), np.float64)
        parse_weights(data, bounds, weights)
        for row in np.flatnonzero(~((weights > 0) & (weights < np.inf))).tolist():
            begin, end = bounds[row, 4:6].tolist()
            token = chunk.text[begin:end]
            weight = float(token) if NUMBER.fullmatch(token) else None
            if weight is None or not 0 < weight < np.inf:
                raise InputError(
                    f"{self.name}, line {chunk.line_at(begin)}: expected a positive weight in the "
                    f'third column, found {what_is(weight)} ("{shown(token)}"); '
                    "weighted=False leaves weights out"
                )
            weights[row] = weight
        return weights

    def _refuse(self, chunk: Chunk, place: int, problem: int, field: int) -> NoReturn:
        """Say what is wrong with a line's fields."""
        line = chunk.text[place:].split(b"\n", 1)[0].strip()
        kind = DELIMITER_NAMES.get(self.layout.delimiter)
        ids = "two node ids" + (f" separated by {kind}" if kind else "")
        if problem == BAD_QUOTE:
            text = "expected double quotes around a whole field, with none inside it, found"
        elif field == 2:
            text = "expected a weight in the third column, found none"
        elif problem == MISSING:
            text = f"expected {ids}, found one column"
        else:
            text = f"expected {ids}, but the {('first', 'second')[field]} is empty"
        raise InputError(f'{self.name}, line {chunk.line_at(place)}: {text} ("{shown(line)}")')


def what_is(weight: float | None) -> str:
    """What a weight is that cannot be used, in a word."""
    if weight is None:
        return "no number"
    if weight != weight:
        return "NaN"
    if weight == 0:
        return "zero"
    return "an infinite one" if abs(weight) == np.inf else "a negative one"


def shown(text: bytes, longest: int = 60) -> str:
    """A piece of a file as an error shows it."""
    decoded = text.decode(errors="replace")
    return decoded if len(decoded) <= longest else decoded[: longest - 3] + "..."
