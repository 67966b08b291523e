"""Edge lists in text: two node ids a line, perhaps a weight.

Our own parser takes 2.9 s for 10 million lines, networkx 80 s. polars parses them in 0.7 s, but it
numbers no nodes and does not report the line of a bad edge (benchmarks/results/reading.md).

A file is read in chunks of whole lines. Worker threads find the fields of a chunk and parse its
integers and weights; the calling thread numbers the ids, chunk after chunk, so that nodes are
numbered in the order in which the file names them. Memory: 8 bytes an edge (16 with weights),
twice that for a moment when the chunks are joined, a hash table of the ids, and a few chunks.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, NoEdges, excerpt
from .._util.ids import Ids
from .._util.machine import check_memory
from .._util.progress import counted
from .._util.terminal import on_one_line
from . import _fields as kernels
from ._lines import CHUNK_BYTES, INTEGER, NUMBER, SHORT_INTEGER, TextChunk, map_in_order
from ._tokens import TokenIds, Tokens
from .columns import BY_THE_RULE, ColumnChoice, Table, are_known, choose_columns
from .delimited import MARKS, PROBLEMS, WHITESPACE, DelimitedText, Dialect, open_text
from .id_texts import COMMENTED, WHOLE_DECIMAL, refuse_odd_id
from .opening import naming

_ROOM_FOR_CHUNKS = 1 << 27  # bytes, for those that are parsed next
_FEW = 10  # edges, of which a word in the first one only says nothing
_DATE = re.compile(rb"\d{4}-\d\d-\d\d(?!\d)")
_WITH_COMMA = re.compile(rb"[+-]?(?:\d[\d.' ]*,\d*|,\d+)(?:e[+-]?\d+)?", re.I)
_UNWEIGHTED = ("weighted", False)


# -- layout ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """How the lines of a file are read."""

    dialect: Dialect
    columns: tuple[int, ...] = (0, 1)
    """Numbers of the columns to read, from 0: source, target and, if edges have them, weight."""
    has_header: bool = False
    most: int = 0
    """How many columns a line may have, 0 for any number: more may be weights that are lost."""

    @cached_property
    def slots(self) -> NDArray[np.int64]:
        """For each field of a line, its place among the columns to read, or -1."""
        slots = np.full(max(self.columns) + 1, -1, np.int64)
        slots[list(self.columns)] = np.arange(len(self.columns))
        return slots

    def find_fields(self, text: bytes, bounds: NDArray[np.int32]) -> tuple[int, ...]:
        """Fill `bounds`, which has two numbers for each of the columns to read.

        Returns what the kernel :func:`_fields.find_fields` returns.
        """
        dialect = self.dialect
        remarks = dialect.starts if dialect.has_remarks else None
        quotes = 0 if dialect.may_be_quoted(text) else None
        data = np.frombuffer(text, np.uint8)
        looks = dialect.kinds, dialect.starts, remarks, dialect.stop, quotes
        return tuple(map(int, kernels.find_fields(data, *looks, self.slots, self.most, bounds)))


class _Reading(NamedTuple):
    """How a file is read, and what is known of its columns."""

    layout: _Layout
    sides: tuple[str, str] | None  # names of the columns of sources and targets
    notes: tuple[str, ...]  # what to report


def _plan(
    text: DelimitedText, choice: ColumnChoice, weighted: bool | None, header: bool | None
) -> _Reading:
    """Return how to read a file: as the user says, or else as its first lines of data look."""
    has_header = _is_header(text.heads, choice) if header is None else header
    names = [name.decode() for name in text.heads[0]] if has_header else []
    rows = text.heads[has_header:]
    if not choice.given:
        rows = [text.dialect.without_remark(row) for row in rows]
    width = max((number for row in rows for number, value in enumerate(row, 1) if value), default=0)
    is_named = len(names) > 1
    if is_named and width > len(names):
        raise InputError(
            f"{text.where}: the header names {len(names)} columns, but lines below have {width}"
        )
    third = b"".join(rows[0][2:3]) if rows else b""
    if weighted is not False and choice.weight is None and third.startswith((b"{'", b'{"')):
        raise InputError(
            f'{text.where}: the third column holds dictionaries ("{excerpt(third)}"): write the '
            "file with networkx.write_weighted_edgelist, or pass weighted=False to leave them out",
            settings=[_UNWEIGHTED],
        )
    with naming(text.where):
        numbers = range(1, max(width, 3 if weighted else 2) + 1)
        table = _table(names if is_named else numbers, is_named, rows)
        columns = choose_columns(table, choice, weighted)
    most = len(names) if is_named else 0
    if not most and (columns.weight == width - 1 or (width == 2 and not choice.given)):
        most = width
    layout = _Layout(
        text.dialect, tuple(columns.used), has_header, 0 if weighted is False else most
    )
    return _Reading(layout, table.sides(columns), columns.notes)


def _table(names: Sequence[Any], has_header: bool, rows: list[list[bytes]]) -> Table:
    """Return what the rule for columns has to know of the first lines of a file."""

    def values(column: int) -> list[bytes]:
        return [row[column] for row in rows if column < len(row) and row[column]]

    def numbers(column: int) -> NDArray[np.float64]:
        listed = values(column)
        return np.array(listed if all(map(NUMBER.fullmatch, listed)) else [], np.float64)

    def is_ascending(column: int) -> bool:
        if not all(map(SHORT_INTEGER.fullmatch, values(column))):
            return False
        whole = list(map(int, values(column)))
        return whole == sorted({*whole}) and min(whole, default=0) >= 0

    return Table(
        names,
        lambda column: any(map(_is_number, values(column)[:1])),
        is_ascending,
        has_header=has_header,
        is_text=True,
        numbers=numbers,
    )


def _is_number(value: bytes) -> bool:
    """Return whether a value is a number, perhaps with a decimal comma, as weights may not be."""
    return bool(NUMBER.fullmatch(value) or _WITH_COMMA.fullmatch(value))


def is_no_name(value: bytes) -> bool:
    """Return whether a value is a number or a date, as names of columns are not."""
    return _is_number(value) or bool(_DATE.match(value))


def _is_header(heads: list[list[bytes]], choice: ColumnChoice) -> bool:
    """Return whether the first data line names the columns.

    It does if it has the names that the user gives, if its words are known names, or if it has
    words where the lines below have numbers or dates.
    """
    first = [name.decode().strip().lower() for name in heads[0]]
    given = [name for name in map(str, choice.given.values()) if not name.isdecimal()]
    words = {name.encode(errors="surrogatepass") for name in given}
    if are_known(first) or (words and words <= {*heads[0]}):
        return True
    rows = [row for row in heads[1:] if len(row) > 1]
    if len(first) < 2 or not rows or any(map(is_no_name, heads[0])):
        return False
    if all(map(INTEGER.fullmatch, rows[0][:2])):
        return True
    return (
        len(first) == len(rows[0])
        and not any(name.startswith("{") for name in first)
        and any(all(map(is_no_name, column)) for column in zip(*rows, strict=False))
    )


# -- reading -----------------------------------------------------------------------------------


class _EdgeList(NamedTuple):
    """The content of a file: edges as row numbers into `ids`, and their weights if it has any."""

    ends: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: Ids
    comments: int  # how many were skipped
    sides: tuple[str, str] | None = None  # names of the columns of sources and targets
    notes: tuple[str, ...] = ()  # what to report


def read_edge_list(
    stream: BinaryIO,
    name: str,
    *,
    columns: ColumnChoice = BY_THE_RULE,
    weighted: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> _EdgeList:
    """Read an edge list from a binary stream; `name` is what errors call it.

    See :func:`reinforce2vec.read_graph` for the other arguments.
    """
    how: Any = {"delimiter": delimiter, "comments": comments, "chunk_bytes": chunk_bytes}
    text = open_text(stream, name, "edges", **how)
    layout, sides, notes = _plan(text, columns, weighted, header)
    parser = _Parser(name, layout)
    parsed = map_in_order(parser.parse, text.chunks(layout.has_header))
    edges = _join(parsed, parser.ids, text.comments, name)
    if not len(edges.ends):
        raise NoEdges(f"{name}: expected edges, found only a header")
    if edges.ids.dtype == object:
        _check_ids(edges, name, comments, text.dialect.delimiter == WHITESPACE)
        if header is None:
            _check_first_line(text, layout, edges)
    guesses = ["a byte order mark left out"] if text.marked else []
    if comments is None:
        guesses += _marked_edges(edges)
    if delimiter is None:
        guesses.append(text.dialect.separation)
    if header is None:
        guesses.append("a header" if layout.has_header else "no header")
    return edges._replace(sides=sides, notes=(*notes, *guesses))


def is_read_without_header(text: bytes, weighted: bool) -> bool:
    """Return whether lines, separated by tabs, are read as edges, all of them."""
    try:
        beginning = open_text(io.BytesIO(text), "", "edges")
        layout = _plan(beginning, BY_THE_RULE, None, None).layout
    except InputError:  # only comments, or weights that may be times
        return False
    plain = _Layout(Dialect(kernels.TAB), (0, 1, 2) if weighted else (0, 1))
    return replace(layout, most=0) == plain and not beginning.comments


def _check_ids(edges: _EdgeList, name: str, comments: str | None, are_words: bool) -> None:
    """Raise InputError for ids that are most likely none.

    Where whitespace separates words, so is a lone # or %: "3 # note" is an id and a comment.
    """

    def where(row: int) -> str:
        edge = int(np.argmax(edges.ends == row)) // 2
        source, target = (excerpt(node) for node in edges.ids[edges.ends[edge]])
        return f'{name}, edge {edge + 1:,} ("{source}" and "{target}")'

    listed = edges.ids.tolist()
    refuse_odd_id(listed, where, WHOLE_DECIMAL, *([COMMENTED] if comments is None else []))
    for mark in MARKS if comments is None and are_words else ():
        if mark in listed:
            raise InputError(
                f'{where(listed.index(mark))}: comments="{mark}" takes "{mark}" for the beginning '
                'of a comment, and comments="" for an id',
                settings=[("comments", mark), ("comments", "")],
            )


def _check_first_line(text: DelimitedText, layout: _Layout, edges: _EdgeList) -> None:
    """Refuse a line taken for a header that may be an edge; warn of an edge that may be a header.

    "u" and "v" may be nodes; words that no other line has may be names of columns.
    """
    names = [text.heads[0][column].decode() for column in layout.columns[:2]]
    if layout.has_header:
        for name in set(names).intersection(edges.ids.tolist()):
            raise InputError(
                f'{text.where}: this looks like a header, but "{excerpt(name)}" is a node id too: '
                "pass header=True or header=False",
                settings=[("header", True), ("header", False)],
            )
    elif (
        text.dialect.delimiter != WHITESPACE
        and len(edges.ends) >= _FEW
        and not (edges.ends[1:] < 2).any()
    ):
        first, second = map(excerpt, names)
        warnings.warn(
            on_one_line(
                f'{text.where}: "{first}" and "{second}" are in no other line: if they are names '
                "of columns, pass header=True (--header), else header=False (--no-header)"
            ),
            stacklevel=2,
        )


def _marked_edges(edges: _EdgeList) -> list[str]:
    """Return a note on edges that may be comments: they begin with a mark of one."""
    if edges.ids.dtype != object:
        return []
    marked = np.array([node.startswith((*MARKS,)) for node in edges.ids.tolist()], bool)
    count = int(np.count_nonzero(marked[edges.ends[:, 0]]))
    return [f"{counted(count, 'edge')} from ids that begin with # or %"] if count else []


class _Parsed(NamedTuple):
    """A chunk after it was parsed, before its ids are numbered."""

    tokens: Tokens
    weights: NDArray[np.float64] | None
    comments: int


def _join(parsed: Iterable[_Parsed], ids: TokenIds, comments: int, name: str) -> _EdgeList:
    """Number the ids of all chunks and join the chunks; InputError if they will not fit."""
    codes, weights = [np.empty(0, np.int32)], []
    n_edges = 0
    for chunk in parsed:
        codes.append(ids.number(chunk.tokens))
        n_edges += len(codes[-1]) // 2
        comments += chunk.comments
        if chunk.weights is not None:
            weights.append(chunk.weights)
        if len(codes) > 2:
            # what is still to be allocated: the joined chunks, the adjacency, the ids
            further = n_edges * (24 if weights else 8) + ids.nbytes_of_ids() + _ROOM_FOR_CHUNKS
            what = f"{name}: a graph of more than {n_edges:,} edges"
            check_memory(further, what, place="further memory")
    ends = np.concatenate(codes).reshape(-1, 2)
    codes.clear()  # strings take much memory, and more while they are made
    return _EdgeList(ends, np.concatenate(weights) if weights else None, ids.ids(), comments)


@dataclass
class _Parser:
    """Parses chunks of one file; errors name the file and the line."""

    name: str
    layout: _Layout
    ids: TokenIds = field(default_factory=TokenIds)

    def parse(self, chunk: TextChunk) -> _Parsed:
        """Find the fields of a chunk; parse its weights, and its ids if they are integers."""
        bounds = np.empty((chunk.count_lines(), 2 * len(self.layout.columns)), np.int32)
        rows, problem, place, column, comments = self.layout.find_fields(chunk.text, bounds)
        bounds = bounds[:rows]
        weights = self._weights(chunk, bounds) if len(self.layout.columns) == 3 else None
        if problem != kernels.FINE:
            raise self._refusal(chunk, place, problem, column)
        places = np.ascontiguousarray(bounds[:, :4]).reshape(-1, 2)
        data = np.frombuffer(chunk.text, np.uint8)
        if b'"' in chunk.text and (b'""' in chunk.text or b"\r" in chunk.text):
            data = data.copy()
            kernels.unescape(data, places)
        return _Parsed(self.ids.parse(data, places), weights, comments)

    def _weights(self, chunk: TextChunk, bounds: NDArray[np.int32]) -> NDArray[np.float64]:
        weights = np.empty(len(bounds), np.float64)
        kernels.parse_weights(np.frombuffer(chunk.text, np.uint8), bounds, weights)
        for row in np.flatnonzero(~((weights > 0) & (weights < np.inf))).tolist():
            begin, end = bounds[row, 4:6].tolist()
            token = chunk.text[begin:end]
            weights[row] = float(token) if NUMBER.fullmatch(token) else np.nan
            if not 0 < weights[row] < np.inf:
                problem = (
                    f"expected a positive weight in column {self.layout.columns[2] + 1}, found "
                    f'"{excerpt(token)}"; weighted=False leaves weights out'
                )
                raise self._error(chunk, begin, problem, [_UNWEIGHTED])
        return weights

    def _refusal(self, chunk: TextChunk, place: int, problem: int, column: int) -> InputError:
        """Return the error for a line whose fields have a problem."""
        layout, settings = self.layout, list[tuple[str, Any]]()
        if problem == kernels.TOO_WIDE:
            known = "header" if layout.has_header else "first lines"
            what = f"this line has more than the {layout.most} columns of the {known}"
            what += "; weighted=False leaves out what follows the node ids"
            settings.append(_UNWEIGHTED)
        elif problem == kernels.MISSING:
            expected = f"{max(layout.columns) + 1} columns, {layout.dialect.separation}"
            what = f"expected {expected}, found {column}"
        elif problem == kernels.EMPTY:
            what = f"column {column + 1} is empty"
        else:
            what = PROBLEMS[problem]
        return self._error(chunk, place, what, settings)

    def _error(
        self, chunk: TextChunk, place: int, problem: str, settings: list[tuple[str, Any]]
    ) -> InputError:
        """Return an error that shows the line that holds a place, which may be a comment."""
        begin = chunk.text.rfind(b"\n", 0, place) + 1
        line = chunk.text[begin:].split(b"\n", 1)[0].strip()
        dialect, hint = self.layout.dialect, ""
        comment = re.search(rb"(?:^|[ \t])([#%])" if dialect.has_remarks else rb"^([#%])", line)
        if comment and dialect.comments is None:
            mark = comment[1].decode()
            hint = f'; comments="{mark}" skips comments'
            settings = [*settings, ("comments", mark)]
        return InputError(
            f'{self.name}, line {chunk.line_at(place)}: {problem} ("{excerpt(line)}"){hint}',
            settings=settings,
        )
