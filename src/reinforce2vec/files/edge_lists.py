"""Edge lists in text: two node ids a line, perhaps a weight.

Our own parser takes 2.9 s for 10 million lines, networkx 80 s. polars parses them in 0.7 s, but it
numbers no nodes and does not report the line of a bad edge (benchmarks/results/reading.md).

A file is read in chunks of whole lines. Worker threads find the fields of a chunk and parse its
integers and weights; the calling thread numbers the ids, chunk after chunk, so that nodes are
numbered in the order in which the file names them. Memory: 8 bytes an edge (16 with weights),
twice that for a moment when the chunks are joined, a hash table of the ids, and a few chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, NoEdges
from .._util.ids import Ids
from ._fields import (
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
from ._lines import CHUNK_BYTES, INTEGER, NUMBER, TextChunk, excerpt, map_in_order, read_chunks
from ._tokens import TokenIds, Tokens

# Names of the two columns of node ids by which a header is recognised.
ID_COLUMN_NAMES = (
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

_WHITESPACE = 0  # the delimiter that means any run of spaces and tabs
_DELIMITER_NAMES = {9: "tabs", 44: "commas", 59: "semicolons", 124: "bars"}


# -- layout ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """How the lines of a file are read."""

    delimiter: int
    weighted: bool
    has_header: bool

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each byte in a line."""
        kinds = np.full(256, ORDINARY, np.uint8)
        kinds[[SPACE, TAB, RETURN]] = BLANK
        kinds[NEWLINE] = LINE_END
        if self.delimiter != _WHITESPACE:
            kinds[self.delimiter] = DELIMITER
        return kinds

    def find_fields(
        self, data: NDArray[np.uint8], bounds: NDArray[np.int32]
    ) -> tuple[int, int, int, int]:
        """Fill `bounds` with the places of as many fields as it has columns for.

        Returns what the kernel :func:`_fields.find_fields` returns.
        """
        stop = BLANK if self.delimiter == _WHITESPACE else DELIMITER
        wanted = bounds.shape[1] // 2
        rows, problem, place, field = find_fields(data, self.kinds, stop, wanted, bounds)
        return rows, problem, int(place), field

    def fields(self, line: bytes) -> list[bytes]:
        """Return the first three fields of a line, or as many as it has."""
        bounds = np.zeros((1, 6), np.int32)
        data = np.frombuffer(line, np.uint8)
        _, problem, _, sound = self.find_fields(data, bounds)
        ends = bounds[0, : 2 * sound if problem else 6].tolist()
        return [line[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]


def _find_layout(
    lines: list[bytes],
    where: str,
    *,
    weighted: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> _Layout:
    """Return how to read a file, guessed from its first two data lines where it is not given."""
    code = _likely_delimiter(lines[0]) if delimiter is None else delimiter_code(delimiter)
    plain = _Layout(code, weighted=False, has_header=False)
    heads = [plain.fields(line) for line in lines]
    if header is None:
        header = _is_header(heads)
    if header:
        _check_columns(lines[0], code, where, weighted)
    third = b"".join(heads[header][2:]) if len(heads) > header else b""
    if weighted is not False and third.startswith((b"{'", b'{"')):
        raise InputError(
            f'{where}: the third column holds Python dictionaries ("{excerpt(third)}"): write the '
            "file with networkx.write_weighted_edgelist, or pass weighted=False to leave them out",
            settings=[("weighted", False)],
        )
    if weighted is None:
        weighted = NUMBER.fullmatch(third) is not None
    return _Layout(code, weighted, header)


def delimiter_code(delimiter: str) -> int:
    """Return the byte of a delimiter that the user names; InputError if it cannot be one."""
    if delimiter in (" ", "whitespace"):
        return _WHITESPACE
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


def _likely_delimiter(line: bytes) -> int:
    """Return the delimiter that a line of data most likely has."""
    # neither quoted text nor the dictionary that networkx writes after an edge counts
    bare = re.sub(rb'"[^"]*"', b'""', line).split(b"{")[0]
    # a tab next to another blank is part of a run of whitespace
    if re.fullmatch(rb" *[^\s](?:[^\t]*[^\s])?\t[^\s].*", bare.rstrip()):
        return TAB
    for delimiter in (b",", b";"):
        if all(field.strip() for field in bare.split(delimiter, 2)[:2]) and delimiter in bare:
            return ord(delimiter)
    # a bar may well be part of an id, so it counts only where no blank could separate the ids
    if re.fullmatch(rb"[^\s|]+(\s*\|\s*[^\s|]+)+", bare.strip()):
        return ord("|")
    return _WHITESPACE


def _is_header(heads: list[list[bytes]]) -> bool:
    """Return whether the first data line names the columns.

    It does if it holds a known pair of names, or words where the next line has numbers: in both
    columns of ids, or in the third.
    """
    names = [name.decode().lower() for name in heads[0]]
    if any(set(pair) <= set(names) for pair in ID_COLUMN_NAMES):
        return True
    if len(heads) < 2 or len(names) < 2 or len(heads[1]) < 2:
        return False
    if any(map(NUMBER.fullmatch, heads[0])):
        return False
    third = len(names) == len(heads[1]) == 3 and not names[2].startswith("{")
    return all(map(INTEGER.fullmatch, heads[1][:2])) or (
        third and NUMBER.fullmatch(heads[1][2]) is not None
    )


def _check_columns(line: bytes, delimiter: int, where: str, weighted: bool | None) -> None:
    """Raise InputError if a header has the known names in columns that are not read for them."""
    separator = None if delimiter == _WHITESPACE else bytes([delimiter])
    names = [name.strip(b' \t\r\n"').decode().lower() for name in line.split(separator)]
    remedy = "put them there, or read the file with pandas and pass that to Graph.from_any"
    for pair in ID_COLUMN_NAMES:
        if set(pair) <= set(names) and set(pair) != set(names[:2]):
            raise InputError(
                f'{where}: expected the ids in the first two columns, but "{pair[0]}" and '
                f'"{pair[1]}" are elsewhere: {remedy}'
            )
    if weighted is not False and "weight" in names[3:]:
        raise InputError(
            f'{where}: expected weights in the third column, but "weight" is column '
            f"{names.index('weight') + 1}: {remedy}; or leave them out with weighted=False",
            settings=[("weighted", False)],
        )


# -- reading -----------------------------------------------------------------------------------


class _EdgeList(NamedTuple):
    """The content of a file: edges as row numbers into `ids`, and their weights if it has any."""

    ends: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: Ids


class _Parsed(NamedTuple):
    """A chunk after it was parsed, before its ids are numbered."""

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
) -> _EdgeList:
    """Read an edge list from a binary stream; `name` is what errors call it.

    See :func:`reinforce2vec.read_graph` for the other arguments.
    """
    chunks = read_chunks(stream, name, chunk_bytes)
    head, lines = _read_head(chunks, name)
    texts = [head.text[begin:end] for begin, end in lines]
    where = f"{name}, line {head.line_at(lines[0][0])}"
    layout = _find_layout(texts, where, weighted=weighted, delimiter=delimiter, header=header)
    if layout.has_header:
        cut = lines[0][1]
        head = TextChunk(head.text[cut:], head.line_at(cut))
    parser = _Parser(name, layout, TokenIds())
    parsed = map_in_order(parser.parse, chain([head], chunks))
    edges = _join(parsed, parser.ids)
    if layout.has_header and header is None:
        _check_header(layout.fields(texts[0])[:2], edges, where)
    if not len(edges.ends):
        raise NoEdges(f"{name}: expected edges, found only a header")
    return edges


def _check_header(names: list[bytes], edges: _EdgeList, where: str) -> None:
    """Raise InputError if a line taken for a header may be an edge: "u" and "v" may be nodes."""
    for name in (name.decode() for name in names):
        if edges.ids.dtype == object and name in edges.ids.tolist():
            raise InputError(
                f'{where}: this looks like a header, but "{name}" is a node id too: pass '
                "header=True or header=False",
                settings=[("header", True), ("header", False)],
            )


def _first_data_lines(chunk: TextChunk, count: int) -> list[tuple[int, int]]:
    """Return where the first lines that are neither blank nor comments begin and end."""
    found: list[tuple[int, int]] = []
    begin = 0
    while begin < len(chunk.text) and len(found) < count:
        end = chunk.text.find(b"\n", begin) + 1 or len(chunk.text)
        line = chunk.text[begin:end].strip()
        if line and not line.startswith((b"#", b"%")):
            found.append((begin, end))
        begin = end
    return found


def _read_head(chunks: Iterator[TextChunk], name: str) -> tuple[TextChunk, list[tuple[int, int]]]:
    """Join chunks until they hold two data lines; also return where these lines begin and end."""
    head = TextChunk(b"", 1)
    for chunk in chunks:
        head = TextChunk(head.text + chunk.text, 1)
        lines = _first_data_lines(head, 2)
        if len(lines) == 2:
            return head, lines
    if not head.text.strip():
        raise NoEdges(f"{name}: expected edges, but the file is empty")
    lines = _first_data_lines(head, 2)
    if not lines:
        raise NoEdges(f"{name}: expected edges, found only comments")
    return head, lines


def _join(parsed: Iterable[_Parsed], ids: TokenIds) -> _EdgeList:
    """Number the ids of all chunks and join the chunks."""
    codes, weights = [], []
    for chunk in parsed:
        codes.append(ids.number(chunk.tokens))
        if chunk.weights is not None:
            weights.append(chunk.weights)
    ends = np.concatenate(codes).reshape(-1, 2)
    codes.clear()  # strings take much memory, and more while they are made
    return _EdgeList(ends, np.concatenate(weights) if weights else None, ids.ids())


@dataclass
class _Parser:
    """Parses chunks of one file; errors name the file and the line."""

    name: str
    layout: _Layout
    ids: TokenIds

    def parse(self, chunk: TextChunk) -> _Parsed:
        """Find the fields of a chunk; parse its weights, and its ids if they are integers."""
        data = np.frombuffer(chunk.text, np.uint8)
        fields = 3 if self.layout.weighted else 2
        bounds = np.empty((chunk.count_lines(), 2 * fields), np.int32)
        rows, problem, place, field = self.layout.find_fields(data, bounds)
        bounds = bounds[:rows]
        weights = self._weights(chunk, data, bounds) if self.layout.weighted else None
        if problem != FINE:
            self._refuse(chunk, place, problem, field)
        places = np.ascontiguousarray(bounds[:, :4]).reshape(-1, 2)
        return _Parsed(self.ids.parse(data, places), weights)

    def _weights(
        self, chunk: TextChunk, data: NDArray[np.uint8], bounds: NDArray[np.int32]
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
                    f'third column, found {_describe_weight(weight)} ("{excerpt(token)}"); '
                    "weighted=False leaves weights out",
                    settings=[("weighted", False)],
                )
            weights[row] = weight
        return weights

    def _refuse(self, chunk: TextChunk, place: int, problem: int, field: int) -> NoReturn:
        """Raise an InputError that describes the problem of a line's fields."""
        line = chunk.text[place:].split(b"\n", 1)[0].strip()
        kind = _DELIMITER_NAMES.get(self.layout.delimiter)
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
            f'{self.name}, line {chunk.line_at(place)}: {text} ("{excerpt(line)}"){hint}'
        )


def _describe_weight(weight: float | None) -> str:
    """Return in a word why a weight cannot be used."""
    if weight is None:
        return "no number"
    if weight != weight:
        return "NaN"
    if weight == 0:
        return "zero"
    return "an infinite one" if abs(weight) == np.inf else "a negative one"
