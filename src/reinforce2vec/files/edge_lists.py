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
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, NoEdges, excerpt
from .._util.ids import Ids
from .._util.machine import Advice, check_memory
from .._util.progress import counted
from .._util.terminal import on_one_line
from ._fields import (
    BAD_QUOTE,
    FINE,
    LIKE_COMMENT,
    MISSING,
    OPEN_QUOTE,
    TAB,
    TOO_WIDE,
    find_fields,
    parse_weights,
)
from ._lines import (
    CHUNK_BYTES,
    INTEGER,
    NUMBER,
    SHORT_INTEGER,
    TextChunk,
    map_in_order,
)
from ._tokens import TokenIds, Tokens
from .columns import BY_THE_RULE, ColumnChoice, Table, are_known, choose_columns
from .delimited import (
    DELIMITER_NAMES,
    WHITESPACE,
    DelimitedText,
    Dialect,
    comment_hint,
    line_refusal,
    unescaped,
)
from .id_texts import COMMENTED, WHOLE_DECIMAL, refuse_odd_id
from .opening import naming

_ROOM_FOR_CHUNKS = 1 << 27  # bytes, for those that are parsed next
_MARK = "a byte order mark left out"
_DATE = re.compile(rb"\d{4}-\d\d-\d\d(?!\d)")
_COMMA = ord(",")
_MARKS = ("#", "%")
_THOUSANDS = re.compile(rb"[+-]?[1-9]\d{0,2}(?:,\d{3})+")
_WITH_COMMA = re.compile(rb"[+-]?(?:\d[\d.' ]*,\d*|,\d+)(?:e[+-]?\d+)?", re.I)


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

    @property
    def weighted(self) -> bool:
        """Whether there is a column of weights."""
        return len(self.columns) == 3

    @cached_property
    def slots(self) -> NDArray[np.int64]:
        """For each field of a line, its place among the columns to read, or -1."""
        slots = np.full(max(self.columns) + 1, -1, np.int64)
        slots[list(self.columns)] = np.arange(len(self.columns))
        return slots

    def find_fields(self, text: bytes, bounds: NDArray[np.int32]) -> tuple[int, int, int, int, int]:
        """Fill `bounds`, which has two numbers for each of the columns to read.

        Returns what the kernel :func:`_fields.find_fields` returns.
        """
        way = self.dialect
        rows, problem, place, field, comments = find_fields(
            np.frombuffer(text, np.uint8),
            *(way.kinds, way.starts, way.starts if way.has_remarks else None, way.stop),
            0 if way.may_be_quoted(text) else None,
            *(self.slots, self.most, bounds),
        )
        return rows, problem, int(place), field, comments


def _find_layout(
    heads: list[list[bytes]],
    dialect: Dialect,
    where: str,
    *,
    columns: ColumnChoice = BY_THE_RULE,
    weighted: bool | None = None,
    header: bool | None = None,
) -> tuple[_Layout, _Header]:
    """Return how to read a file, guessed from its first data lines where it is not given.

    `heads` are the fields of these lines. Also returns what its header says.
    """
    if header is None:
        given = [str(name) for name in columns.given.values()]
        words = [name for name in given if not name.isdecimal()]  # not by number
        named = {word.encode(errors="surrogatepass") for word in words}
        header = _is_header(heads) or (bool(named) and named <= {*heads[0]})
    names = [name.decode() for name in heads[0]] if header else []
    rows = heads[header:]
    if not columns.given:
        rows = [dialect.without_remark(row) for row in rows]
    width = max((_count_filled(row) for row in rows), default=len(names))
    if 1 < len(names) < width:
        raise InputError(
            f"{where}: the header names {len(names)} columns, but the lines below have {width}: "
            "name all of them"
        )
    third = b"".join(rows[0][2:3]) if rows else b""
    if weighted is not False and columns.weight is None and third.startswith((b"{'", b'{"')):
        raise InputError(
            f'{where}: the third column holds Python dictionaries ("{excerpt(third)}"): write the '
            "file with networkx.write_weighted_edgelist, or pass weighted=False to leave them out",
            settings=[("weighted", False)],
        )

    def values(column: int) -> list[bytes]:
        return [row[column] for row in rows if column < len(row) and row[column]]

    def numbers(column: int) -> NDArray[np.float64]:
        found = values(column)
        return np.array(found if all(map(NUMBER.fullmatch, found)) else [], np.float64)

    table = Table(
        names if len(names) > 1 else range(1, max(width, 3 if weighted else 2) + 1),
        lambda column: any(map(_is_number, values(column)[:1])),
        lambda column: _is_ascending(values(column)),
        has_header=len(names) > 1,
        is_text=True,
        numbers=numbers,
    )
    with naming(where):
        chosen = choose_columns(table, columns, weighted)
    most = len(names) if len(names) > 1 else 0
    if not most and (chosen.weight == width - 1 or (width == 2 and not columns.given)):
        most = width
    most = 0 if weighted is False else most
    layout = _Layout(dialect, tuple(chosen.used), header, most)
    return layout, _Header(table.sides(chosen), chosen.notes)


def _count_filled(row: list[bytes]) -> int:
    """Return the number of fields up to the last that is not empty."""
    return max((number for number, field in enumerate(row, 1) if field), default=0)


def _is_number(value: bytes) -> bool:
    """Return whether a value is a number, perhaps with a decimal comma, as weights may not be."""
    return bool(NUMBER.fullmatch(value) or _WITH_COMMA.fullmatch(value))


def is_no_name(value: bytes) -> bool:
    """Return whether a value is a number or a date, as names of columns are not."""
    return _is_number(value) or bool(_DATE.match(value))


def _is_ascending(values: list[bytes]) -> bool:
    """Return whether values are whole numbers from 0 on, each larger than the one before."""
    if not all(map(SHORT_INTEGER.fullmatch, values)):
        return False
    numbers = [int(value) for value in values]
    return numbers == sorted({*numbers}) and min(numbers, default=0) >= 0


def _is_header(heads: list[list[bytes]]) -> bool:
    """Return whether the first data line names the columns.

    It does if its words are known names, or if it has words where the lines below have numbers or
    dates.
    """
    names = [name.decode().strip().lower() for name in heads[0]]
    if are_known(names):
        return True
    rows = [row for row in heads[1:] if len(row) > 1]
    if len(names) < 2 or not rows or any(map(is_no_name, heads[0])):
        return False
    if all(map(INTEGER.fullmatch, rows[0][:2])):
        return True
    return (
        len(names) == len(rows[0])
        and not any(name.startswith("{") for name in names)
        and any(all(map(is_no_name, column)) for column in zip(*rows, strict=False))
    )


# -- reading -----------------------------------------------------------------------------------


class _Header(NamedTuple):
    """What is known of the columns of a file."""

    sides: tuple[str, str] | None = None  # names of the columns of sources and targets
    notes: tuple[str, ...] = ()  # what to report


class _EdgeList(NamedTuple):
    """The content of a file: edges as row numbers into `ids`, and their weights if it has any."""

    ends: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: Ids
    comments: int = 0
    """How many comments were skipped."""
    header: _Header = _Header()


class _Parsed(NamedTuple):
    """A chunk after it was parsed, before its ids are numbered."""

    tokens: Tokens
    weights: NDArray[np.float64] | None
    comments: int


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
    text = DelimitedText(stream, name, "edges", **how)
    layout, names = _find_layout(
        text.heads, text.dialect, text.where, columns=columns, weighted=weighted, header=header
    )
    parser = _Parser(name, layout, TokenIds())
    parsed = map_in_order(parser.parse, text.chunks(layout.has_header))
    edges = _join(parsed, parser.ids, text.comments, name)
    if layout.has_header and header is None:
        _check_header([text.heads[0][column] for column in layout.columns[:2]], edges, text.where)
    if not len(edges.ends):
        raise NoEdges(f"{name}: expected edges, found only a header")
    _check_ids(edges, name, comments)
    if header is None and not layout.has_header and text.dialect.delimiter != WHITESPACE:
        _warn_of_header(edges, text.where)
    guesses = [_MARK] if text.marked else []
    guesses += _marked_edges(edges) if comments is None else []
    if comments is None and text.dialect.delimiter == WHITESPACE:
        _refuse_marks(edges, name)
    if delimiter is None:
        guesses.append(text.separation)
    if header is None:
        guesses.append("a header" if layout.has_header else "no header")
    return edges._replace(header=names._replace(notes=(*names.notes, *guesses)))


def is_read_without_header(text: bytes, weighted: bool) -> bool:
    """Return whether lines, separated by tabs, are read as edges, all of them."""
    try:
        found = DelimitedText(io.BytesIO(text), "", "edges")
        layout, _ = _find_layout(found.heads, found.dialect, "")
    except InputError:  # only comments, or weights that may be times
        return False
    plain = _Layout(Dialect(TAB), (0, 1, 2) if weighted else (0, 1))
    return replace(layout, most=0) == plain and not found.comments


def _refuse_marks(edges: _EdgeList, name: str) -> None:
    """Raise InputError if a lone # or % is a node: "3 # note" has an id and a comment."""
    marks = {"#", "%"}.intersection(edges.ids.tolist() if edges.ids.dtype == object else ())
    for mark in sorted(marks):
        raise InputError(
            f'{name}: "{mark}" stands where an id is expected: comments="{mark}" takes it for the '
            'beginning of a comment, and comments="" for an id',
            settings=[("comments", mark), ("comments", "")],
        )


def _check_ids(edges: _EdgeList, name: str, comments: str | None) -> None:
    """Raise InputError if ids are strings only because of one that is most likely no id."""

    def where(row: int) -> str:
        edge = int(np.argmax(edges.ends == row)) // 2
        source, target = (excerpt(node) for node in edges.ids[edges.ends[edge]])
        return f'{name}, edge {edge + 1:,} ("{source}" and "{target}")'

    patterns = (WHOLE_DECIMAL, COMMENTED) if comments is None else (WHOLE_DECIMAL,)
    if edges.ids.dtype == object:
        refuse_odd_id(edges.ids, where, *patterns)


def _marked_edges(edges: _EdgeList) -> list[str]:
    """Return a note on edges that may be comments: they begin with a mark of one."""
    if edges.ids.dtype != object:
        return []
    marked = np.array([node.startswith(_MARKS) for node in edges.ids.tolist()], bool)
    count = int(np.count_nonzero(marked[edges.ends[:, 0]]))
    return [f"{counted(count, 'edge')} from ids that begin with # or %"] if count else []


def _warn_of_header(edges: _EdgeList, where: str) -> None:
    """Warn if the first line, taken for an edge, has words that no other line has."""
    ends = edges.ends
    if edges.ids.dtype == object and len(ends) >= 10 and not (ends[1:] < 2).any():
        first, second = edges.ids[:2].tolist() if ends[0, 1] else [edges.ids[0]] * 2
        warnings.warn(
            on_one_line(
                f'{where}: "{excerpt(first)}" and "{excerpt(second)}" are in no other line: if '
                "they are names of columns, pass header=True (--header), else header=False "
                "(--no-header)"
            ),
            stacklevel=2,
        )


def _check_header(names: list[bytes], edges: _EdgeList, where: str) -> None:
    """Raise InputError if a line taken for a header may be an edge: "u" and "v" may be nodes."""
    for name in (name.decode() for name in names):
        if edges.ids.dtype == object and name in edges.ids.tolist():
            raise InputError(
                f'{where}: this looks like a header, but "{excerpt(name)}" is a node id too: pass '
                "header=True or header=False",
                settings=[("header", True), ("header", False)],
            )


def _join(parsed: Iterable[_Parsed], ids: TokenIds, comments: int, name: str) -> _EdgeList:
    """Number the ids of all chunks and join the chunks."""
    codes, weights = [np.empty(0, np.int32)], []
    n_edges = 0
    for chunk in parsed:
        codes.append(ids.number(chunk.tokens))
        n_edges += len(codes[-1]) // 2
        if len(codes) > 2:
            _check_room(n_edges, ids, chunk.weights is not None, name)
        comments += chunk.comments
        if chunk.weights is not None:
            weights.append(chunk.weights)
    ends = np.concatenate(codes).reshape(-1, 2)
    codes.clear()  # strings take much memory, and more while they are made
    return _EdgeList(ends, np.concatenate(weights) if weights else None, ids.ids(), comments)


def _check_room(n_edges: int, ids: TokenIds, weighted: bool, name: str) -> None:
    """Raise InputError if the edges that were read so far already make too large a graph."""
    # what is still to be allocated: arrays in which chunks are joined, the adjacency, the ids
    further = n_edges * (24 if weighted else 8) + ids.nbytes_of_ids() + _ROOM_FOR_CHUNKS
    check_memory(
        further,
        f"{name}: a graph of more than {n_edges:,} edges",
        lambda _: Advice("leave out edges, or use a machine with more memory"),
        place="further memory",
    )


@dataclass
class _Parser:
    """Parses chunks of one file; errors name the file and the line."""

    name: str
    layout: _Layout
    ids: TokenIds

    def parse(self, chunk: TextChunk) -> _Parsed:
        """Find the fields of a chunk; parse its weights, and its ids if they are integers."""
        bounds = np.empty((chunk.count_lines(), 2 * len(self.layout.columns)), np.int32)
        rows, problem, place, field, comments = self.layout.find_fields(chunk.text, bounds)
        bounds = bounds[:rows]
        weights = self._weights(chunk, bounds) if self.layout.weighted else None
        if problem != FINE:
            self._refuse(chunk, place, problem, field)
        places = np.ascontiguousarray(bounds[:, :4]).reshape(-1, 2)
        data = unescaped(chunk.text, places)
        return _Parsed(self.ids.parse(data, places), weights, comments)

    def _weights(self, chunk: TextChunk, bounds: NDArray[np.int32]) -> NDArray[np.float64]:
        weights = np.empty(len(bounds), np.float64)
        parse_weights(np.frombuffer(chunk.text, np.uint8), bounds, weights)
        for row in np.flatnonzero(~((weights > 0) & (weights < np.inf))).tolist():
            begin, end = bounds[row, 4:6].tolist()
            token = chunk.text[begin:end]
            weight = float(token) if NUMBER.fullmatch(token) else None
            if weight is None or not 0 < weight < np.inf:
                line = chunk.text[chunk.text.rfind(b"\n", 0, bounds[row].min()) + 1 : end]
                hint, settings = comment_hint(line, self.layout.dialect)
                if _WITH_COMMA.fullmatch(token):
                    hint = _comma_hint(token, self.layout.dialect.delimiter)
                raise InputError(
                    f"{self.name}, line {chunk.line_at(begin)}: expected a positive weight in the "
                    f"{_ordinal(self.layout.columns[2])} column, found {_describe_weight(weight)} "
                    f'("{excerpt(token)}"); weighted=False leaves weights out{hint}',
                    settings=[("weighted", False), *settings],
                )
            weights[row] = weight
        return weights

    def _refuse(self, chunk: TextChunk, place: int, problem: int, field: int) -> NoReturn:
        """Raise an InputError that describes the problem of a line's fields."""
        if problem in (BAD_QUOTE, OPEN_QUOTE, LIKE_COMMENT):
            raise line_refusal(self.name, chunk, place, problem)
        line = chunk.text[place:].split(b"\n", 1)[0].strip()
        kind = DELIMITER_NAMES.get(self.layout.dialect.delimiter)
        ids = "two node ids" + (f" separated by {kind}" if kind else "")
        hint, settings = comment_hint(line, self.layout.dialect)
        if problem == TOO_WIDE:
            raise self._too_wide(f"{self.name}, line {chunk.line_at(place)}", line)
        if self.layout.columns[2:] == (field,):
            text = f"expected a weight in the {_ordinal(field)} column, found none"
        elif problem == MISSING and (field > 1 or max(self.layout.columns) > 2):
            text = f"expected {max(self.layout.columns) + 1} columns, found {field}"
        elif problem == MISSING:
            text = f"expected {ids}, found one column"
            hint = hint or "; a node without edges is written as an edge to itself"
        else:
            text = f"expected {ids}, but the {_ordinal(self.layout.columns.index(field))} is empty"
        raise InputError(
            f'{self.name}, line {chunk.line_at(place)}: {text} ("{excerpt(line)}"){hint}',
            settings=settings,
        )

    def _too_wide(self, where: str, line: bytes) -> InputError:
        """Return the error for a line with more columns than the header or the first lines."""
        known = "header" if self.layout.has_header else "first lines"
        hint, settings = "", list[tuple[str, str]]()
        if self.layout.dialect.delimiter == ord(","):
            hint = ": put fields with a comma, such as 0,5, in double quotes"
        elif self.layout.dialect.has_remarks:
            further = line.split(maxsplit=self.layout.most)[self.layout.most :]
            hint, settings = comment_hint(b"".join(further), self.layout.dialect)
        return InputError(
            f"{where}: this line has more than the {self.layout.most} columns of the {known} "
            f'("{excerpt(line)}"){hint}; weighted=False leaves out what follows the node ids',
            settings=[*settings, ("weighted", False)],
        )


def _comma_hint(token: bytes, delimiter: int) -> str:
    """Return what to add to an error about a weight with a comma: a decimal one, or of thousands.

    Where commas separate fields as well, "1,000" in quotes is most likely a thousand.
    """
    if delimiter == _COMMA and _THOUSANDS.fullmatch(token):
        return "; write numbers without commas between thousands"
    separator = r"\s+" if delimiter == WHITESPACE else chr(delimiter)
    return (
        "; write numbers with a point, not a decimal comma, or pass the table that "
        f"pandas.read_csv(file, sep={separator!r}, decimal=',') returns"
    )


def _ordinal(number: int) -> str:
    """Return "first" for 0, and so on."""
    words = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
    return words[number] if number < len(words) else f"{number + 1}th"


def _describe_weight(weight: float | None) -> str:
    """Return in a word why a weight cannot be used."""
    if weight is None:
        return "no number"
    if weight != weight:
        return "NaN"
    if weight == 0:
        return "zero"
    return "an infinite one" if abs(weight) == np.inf else "a negative one"
