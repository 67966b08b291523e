"""Reads MatrixMarket files with the kernels for edge lists.

A reader of our own: that of SciPy ends the process where a file has a NUL byte, and reserves what
a file announces. The format: Boisvert, Pozo and Remington, NISTIR 5935, 1996.
"""

from __future__ import annotations

import re
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt
from ._fields import FINE, find_fields, parse_integers, parse_weights
from ._lines import CHUNK_BYTES, INTEGER, NUMBER, TextChunk, map_in_order, read_chunks
from .converters import check_matrix_memory
from .delimited import WHITESPACE, Dialect
from .edges import check_nodes
from .opening import naming

_BANNER = b"%%matrixmarket"
_LONGEST_LINE = 1 << 10  # before the entries; comments may be longer
_SIZE = re.compile(rb"\d{1,18}")
_WORDS = (
    ("object", ("matrix",)),
    ("format", ("coordinate", "array")),
    ("field", ("real", "double", "integer", "unsigned-integer", "pattern")),
    ("symmetry", ("general", "symmetric", "skew-symmetric")),
)
_LINES = Dialect(WHITESPACE, "%")


def read_matrix_market(stream: BinaryIO, name: str) -> Any:
    """Return the matrix in a MatrixMarket file as a sparse array; `name` is what errors call it."""
    head = _read_head(stream, name)
    n_rows, n_columns = head.shape
    mirrored = head.symmetry != "general"
    if mirrored and n_rows != n_columns:
        raise InputError(f"{name}: a {head.symmetry} matrix is square, not {n_rows} x {n_columns}")
    with naming(name):
        check_nodes(max(head.shape))
        if not head.dense:
            check_matrix_memory(max(head.shape), head.n_entries * (1 + mirrored))
    rows, columns, values = _read_entries(stream, name, head)
    if mirrored:
        beside = rows != columns
        rows, columns = np.append(rows, columns[beside]), np.append(columns, rows[beside])
        sign = -1 if head.symmetry == "skew-symmetric" else 1
        values = np.append(values, sign * values[beside])
    return scipy.sparse.coo_array((values, (rows, columns)), shape=head.shape)


# -- the lines before the entries --------------------------------------------------------------


class _Head(NamedTuple):
    """What the first lines say."""

    dense: bool
    field: str
    symmetry: str
    shape: tuple[int, int]
    n_entries: int
    line: int  # the number of the line with the sizes

    @property
    def fields(self) -> int:
        """How many fields the line of an entry has."""
        return 1 if self.dense else 2 if self.field == "pattern" else 3


def _read_head(stream: BinaryIO, name: str) -> _Head:
    """Read the first line, comments, and the sizes."""
    banner = stream.readline(_LONGEST_LINE).removeprefix(b"\xef\xbb\xbf")
    words = banner.lower().split()
    at_once = banner.lower().startswith(_BANNER)  # not after blanks
    if not at_once or words[0] != _BANNER or len(words) != 1 + len(_WORDS):
        raise InputError(
            f"{name}: not a MatrixMarket file: its first line must be like "
            f'"%%MatrixMarket matrix coordinate real general", found "{excerpt(banner.strip())}"'
        )
    found = [word.decode(errors="replace") for word in words[1:]]
    for word, (what, known) in zip(found, _WORDS, strict=True):
        if word in ("complex", "hermitian"):
            raise InputError(f"{name}: an adjacency matrix holds real numbers, not complex ones")
        if word not in known:
            raise InputError(
                f'{name}: unknown {what} "{excerpt(word)}" in the first line: expected '
                f"{' or '.join(known)}"
            )
    _, form, field, symmetry = found
    if field == "pattern" and (form == "array" or symmetry == "skew-symmetric"):
        raise InputError(f"{name}: a pattern of entries is neither an array nor skew-symmetric")
    text, line = _first_line(stream, 2)
    sizes = text.split()
    if len(sizes) != (2 if form == "array" else 3) or not all(map(_SIZE.fullmatch, sizes)):
        wanted = "rows and columns" if form == "array" else "rows, columns and entries"
        raise InputError(
            f"{name}, line {line}: expected the numbers of {wanted}, found "
            f'"{excerpt(text.strip())}"'
        )
    n_rows, n_columns, *rest = map(int, sizes)
    n_entries = rest[0] if rest else n_rows * n_columns
    if form == "array" and symmetry != "general":
        n_entries = n_rows * (n_rows + 1 - 2 * (symmetry == "skew-symmetric")) // 2
    return _Head(form == "array", field, symmetry, (n_rows, n_columns), n_entries, line)


def _first_line(stream: BinaryIO, line: int) -> tuple[bytes, int]:
    """Return the first line that is neither blank nor a comment, and its number."""
    while text := stream.readline(_LONGEST_LINE):
        if text.strip() and not text.lstrip().startswith(b"%"):
            return text, line
        while text and not text.endswith(b"\n"):
            text = stream.readline(_LONGEST_LINE)
        line += 1
    return b"", line


# -- entries -----------------------------------------------------------------------------------


class _Parsed(NamedTuple):
    """Some entries: rows and columns from 0, and values; a dense matrix has only values."""

    places: NDArray[np.int32]
    values: NDArray[np.float64]


def _read_entries(
    stream: BinaryIO, name: str, head: _Head
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Read rows, columns and values of all entries; those of a dense matrix that are not zero."""
    parts, count = [_Parsed(np.empty((0, 2), np.int32), np.empty(0))], 0
    numbers: list[NDArray[np.int64]] = []  # of the entries of a dense matrix
    # empty lines in place of those that were read, so that errors name the right ones
    lines: Any = _Joined(b"\n" * head.line, stream)
    chunks = read_chunks(lines, name, CHUNK_BYTES)
    for part in map_in_order(_Parser(name, head).parse, chunks):
        first, count = count, count + len(part.values)
        if count > head.n_entries:
            break
        if head.dense:
            filled = np.flatnonzero(part.values)
            numbers.append(first + filled)
            part = _Parsed(part.places[filled], part.values[filled])
        parts.append(part)
    if count != head.n_entries:
        there_are = "more" if count > head.n_entries else f"only {count:,}"
        raise InputError(
            f"{name}: line {head.line} announces {head.n_entries:,} entries, and there are "
            f"{there_are}: is the file complete?"
        )
    places = np.concatenate([part.places for part in parts])
    if head.dense and len(places):  # not of a matrix that only announces its size
        places = _dense_places(np.concatenate(numbers), head)
    return places[:, 0], places[:, 1], np.concatenate([part.values for part in parts])


class _Joined:
    """Some bytes, and then what is left of a stream."""

    def __init__(self, before: bytes, stream: BinaryIO) -> None:
        self._before, self._stream = before, stream

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        before, self._before = self._before, b""
        return before or self._stream.read(size)


def _dense_places(numbers: NDArray[np.int64], head: _Head) -> NDArray[np.int32]:
    """Return rows and columns of entries by their numbers: columns one after another.

    Of a symmetric matrix, a column begins at the diagonal, or below it if that is zero.
    """
    n_rows, n_columns = head.shape
    skipped = np.zeros(n_columns, np.int64)
    if head.symmetry != "general":
        skipped = np.arange(n_columns) + (head.symmetry == "skew-symmetric")
    begins = np.concatenate([[0], np.cumsum(n_rows - skipped)])
    columns = np.searchsorted(begins, numbers, side="right") - 1
    rows = numbers - begins[columns] + skipped[columns]
    return np.column_stack([rows, columns]).astype(np.int32)


class _Parser:
    """Parses chunks of entries; errors name the file and the line."""

    def __init__(self, name: str, head: _Head) -> None:
        self._name, self._head = name, head
        self._slots = np.arange(head.fields)
        if head.dense:
            self._slots += 2  # the values are where weights of edges are

    def parse(self, chunk: TextChunk) -> _Parsed:
        """Parse the entries of some lines."""
        data = np.frombuffer(chunk.text, np.uint8)
        bounds = np.zeros((chunk.count_lines(), 6), np.int32)
        rows, problem, place, _, _ = find_fields(
            *(data, _LINES.kinds, _LINES.starts, None, _LINES.stop, None),
            *(self._slots, self._head.fields, bounds),
        )
        if problem != FINE:
            self._refuse(chunk, int(place))
        bounds = bounds[:rows]
        places = np.empty((rows, 2), np.int32)
        if not self._head.dense:
            places = self._places(chunk, data, bounds)
        if self._head.field == "pattern":
            return _Parsed(places, np.ones(rows))
        return _Parsed(places, self._values(chunk, data, bounds))

    def _places(self, chunk: TextChunk, data: NDArray[np.uint8], bounds: Any) -> Any:
        """Return rows and columns, counted from 0."""
        fields = np.ascontiguousarray(bounds[:, :4]).reshape(-1, 2)
        numbers: NDArray[np.int64] = np.empty(len(fields), np.int64)
        if not parse_integers(data, fields, numbers):
            for begin, end in fields.tolist():
                if not INTEGER.fullmatch(chunk.text, begin, end) or end - begin > 18:
                    self._refuse(chunk, begin)
        numbers = numbers.reshape(-1, 2)
        outside = ((numbers < 1) | (numbers > self._head.shape)).any(axis=1)
        for row in np.flatnonzero(outside)[:1].tolist():
            size = " x ".join(f"{one:,}" for one in self._head.shape)
            raise InputError(
                f"{self._name}, line {chunk.line_at(int(bounds[row, 0]))}: row and column "
                f"{numbers[row, 0]} and {numbers[row, 1]} are outside of the matrix: they are "
                f"counted from 1, and it has {size}"
            )
        return (numbers - 1).astype(np.int32)

    def _values(self, chunk: TextChunk, data: NDArray[np.uint8], bounds: Any) -> Any:
        """Return the values, each correctly rounded."""
        values = np.empty(len(bounds))
        parse_weights(data, bounds, values)
        left = np.flatnonzero(np.isnan(values))  # signs, and more digits than the kernel takes
        places = bounds[left, 4:].tolist()
        try:
            values[left] = [float(chunk.text[begin:end]) for begin, end in places]
            sound = b"_" not in chunk.text  # which may stand between digits in Python
        except ValueError:
            sound = False
        for begin, end in () if sound else places:
            if not NUMBER.fullmatch(chunk.text, begin, end):
                self._refuse(chunk, begin)
        if self._head.field.endswith("integer"):
            for row in np.flatnonzero(values != np.floor(values))[:1].tolist():
                self._refuse(chunk, int(bounds[row, 4]))
        return values

    def _refuse(self, chunk: TextChunk, place: int) -> NoReturn:
        """Raise an InputError for the line that holds a place."""
        begin = chunk.text.rfind(b"\n", 0, place) + 1
        line = chunk.text[begin : chunk.text.index(b"\n", place)].strip()
        if self._head.dense:
            wanted = "a number"
        elif self._head.field == "pattern":
            wanted = "a row and a column"
        else:
            wanted = "a row, a column and a number"
        if self._head.field.endswith("integer"):
            wanted += " without decimals"
        raise InputError(
            f'{self._name}, line {chunk.line_at(place)}: expected {wanted}, found "{excerpt(line)}"'
        )
