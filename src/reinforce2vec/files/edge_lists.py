"""Edge lists in text: two node ids a line, perhaps a weight, read fast and exactly.

A file is read in chunks of whole lines. Worker threads find the fields of a chunk and parse its
integers and weights; the calling thread numbers the ids, chunk after chunk, so that nodes are
numbered in the order in which the file names them. Memory: 8 bytes an edge (16 with weights),
twice that for a moment when the chunks are joined, a hash table of the ids, and a few chunks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import BinaryIO, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids
from .._util.threads import in_turn
from .fields import (
    BAD_QUOTE,
    BLANK,
    DELIMITER,
    FINE,
    LINE_END,
    MISSING,
    NEWLINE,
    ORDINARY,
    RETURN,
    SPACE,
    TAB,
    find_fields,
    parse_weights,
)
from .tokens import TokenIds, Tokens

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

WHITESPACE = 0  # the delimiter that stands for any run of spaces and tabs
DELIMITER_NAMES = {9: "tabs", 44: "commas", 59: "semicolons", 124: "bars"}


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
            raise InputError(f"{name}: expected lines of text, but one has more than 1 GB")
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
    if header:
        check_columns(lines[0], code, where, weighted)
    third = b"".join(heads[header][2:]) if len(heads) > header else b""
    if weighted is not False and third.startswith((b"{'", b'{"')):
        raise InputError(
            f'{where}: the third column holds Python dictionaries ("{shown(third)}"): write the '
            "file with networkx.write_weighted_edgelist, or pass weighted=False to leave them out",
            settings=[("weighted", False)],
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
        "'\\t', or ' ' for any run of spaces and tabs",
        parameter="delimiter",
        value=delimiter,
    )


def likely_delimiter(line: bytes) -> int:
    """The delimiter of a line that holds data."""
    # neither quoted text nor the dictionary that networkx writes after an edge counts
    bare = re.sub(rb'"[^"]*"', b'""', line).split(b"{")[0]
    # a tab beside another blank is part of a run of whitespace
    if re.fullmatch(rb" *[^\s](?:[^\t]*[^\s])?\t[^\s].*", bare.rstrip()):
        return TAB
    for delimiter in (b",", b";"):
        if all(field.strip() for field in bare.split(delimiter, 2)[:2]) and delimiter in bare:
            return ord(delimiter)
    # a bar may well be part of an id, so it counts only where no blank could separate the ids
    if re.fullmatch(rb"[^\s|]+(\s*\|\s*[^\s|]+)+", bare.strip()):
        return ord("|")
    return WHITESPACE


def is_header(heads: list[list[bytes]]) -> bool:
    """Whether the first data line names the columns.

    It does if it holds a known pair of names, or words where the next line has numbers: in both
    columns of ids, or in the third.
    """
    names = [name.decode().lower() for name in heads[0]]
    if any(set(pair) <= set(names) for pair in NAME_PAIRS):
        return True
    if len(heads) < 2 or len(names) < 2 or len(heads[1]) < 2:
        return False
    if any(map(NUMBER.fullmatch, heads[0])):
        return False
    third = len(names) == len(heads[1]) == 3 and not names[2].startswith("{")
    return all(map(INTEGER.fullmatch, heads[1][:2])) or (
        third and NUMBER.fullmatch(heads[1][2]) is not None
    )


def check_columns(line: bytes, delimiter: int, where: str, weighted: bool | None) -> None:
    """Refuse a header whose known names stand in columns that are not read for them."""
    separator = None if delimiter == WHITESPACE else bytes([delimiter])
    names = [name.strip(b' \t\r\n"').decode().lower() for name in line.split(separator)]
    remedy = "put them there, or read the file with pandas and pass that to Graph.from_any"
    for pair in NAME_PAIRS:
        if set(pair) <= set(names) and set(pair) != set(names[:2]):
            raise InputError(
                f'{where}: expected the ids in the first two columns, but "{pair[0]}" and '
                f'"{pair[1]}" stand elsewhere: {remedy}'
            )
    if weighted is not False and "weight" in names[3:]:
        raise InputError(
            f'{where}: expected weights in the third column, but "weight" is column '
            f"{names.index('weight') + 1}: {remedy}; or leave them out with weighted=False",
            settings=[("weighted", False)],
        )


# -- reading -----------------------------------------------------------------------------------


class EdgeList(NamedTuple):
    """What a file holds: edges as row numbers into `ids`, and their weights if it has any."""

    ends: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: Ids


class Parsed(NamedTuple):
    """What the threads make of a chunk."""

    tokens: Tokens
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
    parser = Parser(name, layout, TokenIds())
    parsed = in_order(parser.parse, chain([head], chunks))
    edges = join(parsed, parser.ids)
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
                "header=True or header=False",
                settings=[("header", True), ("header", False)],
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
        yield from in_turn(pool, work, items, WORKERS + 1)


def join(parsed: Iterable[Parsed], ids: TokenIds) -> EdgeList:
    """Number the ids of all chunks and put the chunks together."""
    codes, weights = [], []
    for chunk in parsed:
        codes.append(ids.number(chunk.tokens))
        if chunk.weights is not None:
            weights.append(chunk.weights)
    ends = np.concatenate(codes).reshape(-1, 2)
    codes.clear()  # strings take much memory, and more while they are made
    return EdgeList(ends, np.concatenate(weights) if weights else None, ids.ids())


@dataclass
class Parser:
    """Parses chunks of one file; an error names the file and the line."""

    name: str
    layout: Layout
    ids: TokenIds

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
        places = np.ascontiguousarray(bounds[:, :4]).reshape(-1, 2)
        return Parsed(self.ids.parse(data, places), weights)

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
                    "weighted=False leaves weights out",
                    settings=[("weighted", False)],
                )
            weights[row] = weight
        return weights

    def _refuse(self, chunk: Chunk, place: int, problem: int, field: int) -> NoReturn:
        """Say what is wrong with a line's fields."""
        line = chunk.text[place:].split(b"\n", 1)[0].strip()
        kind = DELIMITER_NAMES.get(self.layout.delimiter)
        ids = "two node ids" + (f" separated by {kind}" if kind else "")
        hint = ""
        if problem == BAD_QUOTE:
            text = "expected double quotes around a whole field, with none inside it, found"
        elif field == 2:
            text = "expected a weight in the third column, found none"
        elif problem == MISSING:
            text = f"expected {ids}, found one column"
            hint = "; a node without edges is written as an edge to itself"
        else:
            text = f"expected {ids}, but the {('first', 'second')[field]} is empty"
        raise InputError(
            f'{self.name}, line {chunk.line_at(place)}: {text} ("{shown(line)}"){hint}'
        )


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
