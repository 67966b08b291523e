"""Delimited text, as in edge lists and files of labels: delimiters, quotes, comments, records.

Quotes are those of RFC 4180: a field in double quotes may hold delimiters, line breaks, and quotes
that are doubled. Where whitespace separates fields, a quote is a character as any other.

A comment begins with # or %, and stands before all data: further down such a line is data, so that
"#tag" can be an id, unless the caller names the character that begins comments. Where whitespace
separates fields, a comment may also follow an edge: "1 2 # note".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, NoEdges, excerpt
from . import _fields as kernels
from ._fields import (
    BLANK,
    COMMENT,
    DELIMITER,
    FINE,
    LINE_END,
    MARK,
    NEWLINE,
    ORDINARY,
    RETURN,
    SPACE,
    TAB,
)
from ._lines import CHUNK_BYTES, TextChunk, read_chunks

WHITESPACE = 0  # the delimiter that means any run of spaces and tabs
_DELIMITER_NAMES = {9: "tabs", 44: "commas", 59: "semicolons", 124: "bars"}
"""What reports call the bytes that separate fields."""
MARKS = "#%"  # begin comments where the caller names no other character
_HEADS = 100  # lines by which columns are recognised
_HEAD_BYTES = 1 << 22  # after so many, blank lines or long ones, fewer lines have to do
_MOST_FIELDS = 100_000  # of a line: more are a matrix, or a list of neighbours
_LOOK = 1 << 16  # bytes of a line by which its delimiter is recognised
_WORD = re.compile(rb"[^ \t\r\n]+")
_TEXT_WORD = re.compile(_WORD.pattern.decode())
_QUOTE = re.compile(rb'[ \t\r]*"')
_QUOTED = re.compile(rb'[ \t\r]*"[^"]*(?:""[^"]*)*"(?!")')
_LONGEST_QUOTED = 1 << 20  # bytes; longer ones are taken for quotes that were never closed
PROBLEMS = {
    kernels.LIKE_COMMENT: "this looks like a comment, and only comments before the first line of "
    "data are skipped",
    kernels.TOO_WIDE: f"this line has more than {_MOST_FIELDS:,} columns",
    kernels.BAD_QUOTE: "expected double quotes around a whole field, and doubled ones inside it",
    kernels.OPEN_QUOTE: "a double quote opens in this line and is never closed",
}


class Record(NamedTuple):
    """A line of data, separated into fields."""

    number: int  # of the line
    fields: list[bytes]  # those before the problem
    problem: int
    line: bytes  # without blanks around it, and up to a newline in quotes
    end: int  # where the next line begins


@dataclass(frozen=True)
class Dialect:
    """How lines are separated into fields, and which are comments."""

    delimiter: int
    comments: str | None = None
    """The character that begins comments anywhere; "" for none, None for those before all data."""

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each byte in a line."""
        kinds = np.full(256, ORDINARY, np.uint8)
        kinds[[SPACE, TAB, RETURN]] = BLANK
        kinds[NEWLINE] = LINE_END
        if self.delimiter != WHITESPACE:
            kinds[self.delimiter] = DELIMITER
        return kinds

    @cached_property
    def starts(self) -> NDArray[np.uint8]:
        """The kind of each byte as the first of a line that is not blank."""
        starts = np.full(256, ORDINARY, np.uint8)
        starts[NEWLINE] = LINE_END
        for mark in MARKS if self.comments is None else self.comments:
            starts[ord(mark)] = MARK if self.comments is None else COMMENT
        return starts

    @property
    def stop(self) -> int:
        """The kind of byte that ends a field."""
        return BLANK if self.delimiter == WHITESPACE else DELIMITER

    @property
    def has_remarks(self) -> bool:
        """Whether comments may follow an edge."""
        return self.delimiter == WHITESPACE

    @property
    def _blanks(self) -> bytes:
        """What may stand around a field and is no part of it."""
        return b" \t\r".replace(bytes([self.delimiter]), b"")

    @cached_property
    def _field(self) -> re.Pattern[bytes]:
        """What matches a field, in quotes or not, and what ends it."""
        delimiter, blanks = re.escape(bytes([self.delimiter])), self._blanks
        return re.compile(
            rb'(?:[%s]*"([^"]*(?:""[^"]*)*)"[%s]*|(?![%s]*")[%s]*([^%s\n]*))([%s\n])'
            % (blanks, blanks, blanks, blanks, delimiter, delimiter)
        )

    @property
    def separation(self) -> str:
        """What separates fields, for reports: "separated by commas"."""
        return f"separated by {_DELIMITER_NAMES.get(self.delimiter, 'whitespace')}"

    def may_be_quoted(self, text: bytes) -> bool:
        """Return whether there may be quoted fields in a piece of a file."""
        return self.delimiter != WHITESPACE and b'"' in text

    def without_remark(self, row: list[bytes]) -> list[bytes]:
        """Return the fields of an edge without the comment that follows it."""
        for place, field in enumerate(row[2:] if self.has_remarks else (), 2):
            start = self.starts[field[0]]
            if start == COMMENT or (start == MARK and len(field) == 1):
                return row[:place]
        return row

    def closed_part(self, text: bytes) -> int:
        """Return how many bytes of some lines, from their beginning, leave no quotes open."""
        if not self.may_be_quoted(text):
            return len(text)
        data = np.frombuffer(text, np.uint8)
        return int(kernels.find_open_line(data, self.kinds, self.starts, self.stop))

    def is_plain(self, text: bytes) -> bool:
        """Return whether no line is a comment, has quotes or too many fields: most text is so."""
        special = MARKS if self.comments is None else self.comments
        return len(text) <= _MOST_FIELDS and not (
            self.may_be_quoted(text) or any(mark.encode() in text for mark in special)
        )

    def plain_rows(self, chunk: TextChunk) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the fields of every line of plain text; a fifth of the time."""
        blanks, separator = self._blanks.decode(), chr(self.delimiter)
        for number, line in enumerate(chunk.text.decode().split("\n"), chunk.line):
            if self.delimiter == WHITESPACE and (words := _TEXT_WORD.findall(line)):
                yield number, words
            elif self.delimiter != WHITESPACE and line.strip(" \t\r"):
                yield number, [field.strip(blanks) for field in line.split(separator)]

    def records(self, text: bytes, number: int = 1) -> Iterator[Record]:
        """Yield the lines of data with their fields, empty ones included, up to the first problem.

        The text ends with a newline, as every chunk does; `number` is that of its first line.
        """
        starts, blanks, place = self.starts.tolist(), self._blanks, 0
        separator = None if self.delimiter == WHITESPACE else bytes([self.delimiter])
        while place < len(text):
            end, fields, problem = text.index(b"\n", place), list[bytes](), FINE
            line = text[place:end]
            content = line.strip(b" \t\r")
            start = starts[content[0]] if content else COMMENT
            if not content:  # past all blank lines at once
                word = _WORD.search(text, end)
                end = text.rindex(b"\n", 0, len(text) if word is None else word.start())
            elif start == COMMENT:
                pass
            elif start == MARK and line.lstrip(b" \t\r")[1:2] in blanks:  # or nothing follows it
                problem = kernels.LIKE_COMMENT
            elif len(line) > _MOST_FIELDS < len(line.split(separator, _MOST_FIELDS)):
                problem = kernels.TOO_WIDE
            elif separator is None:
                fields = _WORD.findall(line)
            elif b'"' in line:
                fields, end, problem = self._quoted_fields(text, place, end)
            else:
                fields = [field.strip(blanks) for field in line.split(separator)]
            if start != COMMENT:
                yield Record(number, fields, problem, content, end + 1)
                if problem != FINE:
                    return
            number += text.count(b"\n", place, end + 1)
            place = end + 1

    def _quoted_fields(self, text: bytes, place: int, end: int) -> tuple[list[bytes], int, int]:
        """Return the fields of a line, where it ends, as quotes hold newlines, and its problem."""
        fields: list[bytes] = []
        last, line_end = b"", end
        while last != b"\n":
            if place > line_end:  # behind a newline in quotes
                line_end = text.index(b"\n", place)
            is_quoted = _QUOTE.match(text, place) is not None
            limit = place + _LONGEST_QUOTED if is_quoted else line_end + 1
            field = self._field.match(text, place, limit)
            if len(fields) == _MOST_FIELDS:
                return [], end, kernels.TOO_WIDE
            if field is None:
                is_closed = _QUOTED.match(text, place, limit) is not None
                return fields, end, kernels.BAD_QUOTE if is_closed else kernels.OPEN_QUOTE
            quoted, bare, last = field.groups()
            if quoted is None:
                fields.append(bare.rstrip(self._blanks))
            else:
                fields.append(quoted.replace(b'""', b'"').replace(b"\r\n", b"\n"))
            place = field.end()
        return fields, place - 1, FINE


# -- what the user may name ----------------------------------------------------------------------


def delimiter_code(delimiter: str) -> int:
    """Return the byte of a delimiter that the user names; InputError if it cannot be one."""
    if delimiter in (" ", "whitespace"):
        return WHITESPACE
    _check_character("delimiter", delimiter, '"\n\r-+.')
    return ord(delimiter)


def check_comments(comments: str | None) -> None:
    """Raise InputError if a string cannot be what begins comments."""
    if comments:
        _check_character("comments", comments, " \t\n\r\"'-+.,;|")


def _check_character(parameter: str, value: str, forbidden: str) -> None:
    """Raise InputError unless a string is one character that no number or word has."""
    if len(value) != 1 or not value.isascii() or value.isalnum() or value in forbidden:
        raise InputError(
            f"{parameter} must be one character that no number or word has, not {value!r}",
            parameter=parameter,
            value=value,
        )


# -- reading -----------------------------------------------------------------------------------


@dataclass
class DelimitedText:
    """Delimited text in a file, of which only the beginning was read so far."""

    name: str
    """What errors call the file."""
    dialect: Dialect
    heads: list[list[bytes]]
    """The fields of the first lines that hold data, at most 100."""
    comments: int
    """How many comments stand before these lines."""
    marked: bool
    """Whether the file begins with a byte order mark."""
    _head: TextChunk
    _rest: Iterator[TextChunk]

    @property
    def where(self) -> str:
        """The file and its first line of data, for errors."""
        return f"{self.name}, line {self._head.line}"

    def chunks(self, header: bool) -> Iterator[TextChunk]:
        """Yield everything from the first line that holds data, or what follows it, the header.

        No chunk ends inside quotes.
        """
        cut = 0
        if header:
            first = next(self.dialect.records(self._head.text, self._head.line))
            if first.problem != FINE:
                raise _line_refusal(self.name, first.number, first.line, first.problem)
            cut = first.end
        head = TextChunk(self._head.text[cut:], self._head.line_at(cut))
        open_part: TextChunk | None = None
        for chunk in chain([head], self._rest):
            if open_part is not None:
                chunk = TextChunk(open_part.text + chunk.text, open_part.line)
            cut = self.dialect.closed_part(chunk.text)
            open_part = None
            if cut < len(chunk.text):
                open_part = TextChunk(chunk.text[cut:], chunk.line_at(cut))
                if len(open_part.text) > _LONGEST_QUOTED:
                    break
            yield TextChunk(chunk.text[:cut], chunk.line)
        if open_part is not None:
            line = open_part.text.split(b"\n", 1)[0]
            raise _line_refusal(self.name, open_part.line, line, kernels.OPEN_QUOTE)

    def rows(self, header: bool) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of every line that holds data, and its fields, decoded."""
        return self.rows_in(self.chunks(header))

    def rows_in(self, chunks: Iterable[TextChunk]) -> Iterator[tuple[int, list[str]]]:
        """Yield the same of some chunks."""
        for chunk in chunks:
            if self.dialect.is_plain(chunk.text):
                yield from self.dialect.plain_rows(chunk)
                continue
            for number, fields, problem, line, _ in self.dialect.records(chunk.text, chunk.line):
                if problem != FINE:
                    raise _line_refusal(self.name, number, line, problem)
                yield number, [field.decode() for field in fields]


def open_text(
    stream: BinaryIO,
    name: str,
    content: str,
    *,
    delimiter: str | None = None,
    comments: str | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> DelimitedText:
    """Read the beginning of a text file, and find out what separates its fields.

    Parameters
    ----------
    stream : binary file
    name : str
        What errors call it.
    content : str
        What should be in it, for errors: "edges", "labels".
    delimiter, comments : str or None
        As the user gave them; None: found out.
    chunk_bytes : int
        About how much to read at a time.
    """
    check_comments(comments)
    code = None if delimiter is None else delimiter_code(delimiter)
    chunks = read_chunks(stream, name, chunk_bytes)
    head, n_comments, marked = _read_head(chunks, comments)
    if not head.text:
        problem = "found only comments" if n_comments else "but the file is empty"
        missing = NoEdges if content == "edges" else InputError
        raise missing(f"{name}: expected {content}, {problem}")
    if code is None:
        code = _detected_delimiter(head, name, comments, content == "edges")
    dialect = Dialect(code, comments)
    records = list(islice(dialect.records(head.text, head.line), _HEADS))
    heads = [record.fields for record in records if record.fields]
    if not heads:
        raise _line_refusal(name, records[0].number, records[0].line, records[0].problem)
    return DelimitedText(name, dialect, heads, n_comments, marked, head, chunks)


def _read_head(chunks: Iterator[TextChunk], comments: str | None) -> tuple[TextChunk, int, bool]:
    """Return the beginning of a text from its first line of data on, without open quotes.

    Also returns how many comments stand before it, and whether a byte order mark does.
    """
    parts: list[bytes] = []
    line, n_comments, n_lines, n_quotes, size = 1, 0, 0, 0, 0
    marked = False
    for chunk in chunks:
        marked |= chunk.marked
        text = chunk.text
        if not parts:
            begin, count = _past_comments(text, comments)
            n_comments += count
            line, text = chunk.line_at(begin), text[begin:]
        if text:
            parts.append(text)
        n_lines += text.count(b"\n")
        n_quotes += text.count(b'"')
        size += len(text)
        if size > _HEAD_BYTES or (n_lines >= _HEADS and n_quotes % 2 == 0):
            break
    return TextChunk(b"".join(parts), line), n_comments, marked


def _past_comments(text: bytes, comments: str | None) -> tuple[int, int]:
    """Return where the first line of data begins, and how many comments are before it."""
    marks = re.escape(MARKS if comments is None else comments).encode()
    first = re.compile(rb"^[ \t\r]*[^ \t\r\n%s]" % marks, re.M).search(text)
    place = len(text) if first is None else first.start()
    if place == 0:
        return 0, 0
    data = np.frombuffer(text, np.uint8, place)
    begins = np.append(0, np.flatnonzero(data == NEWLINE)[:-1] + 1)
    return place, int(np.count_nonzero(np.logical_or.reduceat(data > SPACE, begins)))


def _line_refusal(name: str, number: int, line: bytes, problem: int) -> InputError:
    """Return the error for a line whose quotes are wrong, or that looks like a comment."""
    return InputError(f'{name}, line {number}: {PROBLEMS[problem]} ("{excerpt(line.strip())}")')


# -- delimiters --------------------------------------------------------------------------------


def _detected_delimiter(head: TextChunk, name: str, comments: str | None, are_edges: bool) -> int:
    """Return what most likely separates the fields; InputError where commas or semicolons may."""
    lines = _first_lines(head.text)
    # neither quoted text nor the dictionary that networkx writes after an edge counts
    bare = re.sub(rb'"[^"]*"', b'""', lines[0][:_LOOK]).split(b"{")[0]
    likely = _likely_delimiter(bare, lines[1], comments)
    if likely == ord(",") and b";" in bare:
        hint = ', or pass delimiter="," or delimiter=";"' if are_edges else ""
        raise InputError(
            f"{name}, line {head.line}: commas or semicolons may separate the fields "
            f'("{excerpt(bare.strip())}"): put fields with the other one in double quotes{hint}',
            settings=[("delimiter", ","), ("delimiter", ";")],
        )
    if likely == WHITESPACE and not are_edges:
        return _delimiter_before_gap(lines)
    return likely


def _first_lines(text: bytes) -> list[bytes]:
    """Return the first two lines of a text; the first goes on while a quote may be open."""
    first = end = text.find(b"\n") + 1
    quotes = text.count(b'"', 0, end)
    while quotes % 2 and (quote := text.find(b'"', end, _LONGEST_QUOTED)) >= 0:
        end = text.find(b"\n", quote) + 1
        quotes += text.count(b'"', quote, end)
    end = first if quotes % 2 else end
    return [text[:end], text[end : text.find(b"\n", end) + 1]]


def _likely_delimiter(bare: bytes, second: bytes, comments: str | None) -> int:
    """Return the delimiter that the first line of data most likely has."""
    text = bare.strip()
    # pandas writes no name above its index
    for delimiter in (b",", b";", b"\t"):
        if bare.startswith(delimiter) and delimiter in text and not second.startswith(delimiter):
            return ord(delimiter)
    # "1 2 # a, b" is an edge and a comment
    remark = rb"[#%][ \t]" if comments is None else re.escape(comments).encode()
    edge = rb"\s*-?\d+[ \t]+-?\d+(?:[ \t]+[+-]?[\d.]+)?[ \t]+"
    if remark and re.match(edge + remark, bare):
        return WHITESPACE
    # a tab next to another blank is part of a run of whitespace
    if re.fullmatch(rb" *[^\s](?:[^\t]*[^\s])?\t[^\s].*", bare.rstrip()):
        return TAB
    # "1 2 0,5" is an edge with a decimal comma, not one from "1 2 0" to "5"
    if re.fullmatch(rb"[^\s,;]+[ \t]+[^\s,;]+[ \t]+[+-]?\d*,\d+", text):
        return WHITESPACE
    for delimiter in (b",", b";"):
        if all(field.strip() for field in bare.split(delimiter, 2)[:2]) and delimiter in bare:
            return ord(delimiter)
    # a bar may well be part of an id, so it counts only where no blank could separate the ids
    if re.fullmatch(rb"[^\s|]+(\s*\|\s*[^\s|]+)+", text):
        return ord("|")
    return WHITESPACE


def _delimiter_before_gap(lines: list[bytes]) -> int:
    """Return what separates columns of nodes if the second field is empty; else WHITESPACE.

    In "ann," above "bob,x" it is the comma. Above "bob," it is, too, unless blanks are in "ann".
    """
    first, second = (re.sub(rb'"[^"]*"', b'""', line[:_LOOK]).strip(b" \r\n") for line in lines)
    for delimiter in (b",", b";", b"\t", b"|"):
        node, *rest = first.split(delimiter)
        if not rest or not node.strip() or rest[0].strip():
            continue
        below = second.split(delimiter, 1)[1:]
        if b"".join(below).strip() or (b" " not in node and (below or not second)):
            return ord(delimiter)
    return WHITESPACE
