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
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, NoEdges, excerpt
from ._fields import (
    BAD_QUOTE,
    BLANK,
    COMMENT,
    DELIMITER,
    FINE,
    LIKE_COMMENT,
    LINE_END,
    MARK,
    NEWLINE,
    OPEN_QUOTE,
    ORDINARY,
    RETURN,
    SPACE,
    TAB,
    TOO_WIDE,
    find_open_line,
    unescape,
)
from ._lines import CHUNK_BYTES, TextChunk, read_chunks

WHITESPACE = 0  # the delimiter that means any run of spaces and tabs
DELIMITER_NAMES = {9: "tabs", 44: "commas", 59: "semicolons", 124: "bars"}
"""What reports call the bytes that separate fields."""
_MARKS = "#%"  # begin comments where the caller names no other character
_COMMA, _SEMICOLON = b",;"
_HEADS = 100  # lines by which columns are recognised
_HEAD_BYTES = 1 << 22  # after so many, blank lines or long ones, fewer lines have to do
_MOST_FIELDS = 100_000  # of a line: more are a matrix, or a list of neighbours
_LOOK = 1 << 16  # bytes of a line by which its delimiter is recognised
_MOST_DOUBTFUL = 1000  # comments that are looked at for data
_WORD = re.compile(rb"[^ \t\r\n]+")
_TEXT_WORD = re.compile(_WORD.pattern.decode())
_QUOTED = re.compile(rb'"([^"]*(?:""[^"]*)*)"(?!")')
_LONGEST_QUOTED = 1 << 20  # bytes; longer ones are taken for quotes that were never closed


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
        for mark in _MARKS if self.comments is None else self.comments:
            starts[ord(mark)] = MARK if self.comments is None else COMMENT
        return starts

    @cached_property
    def _patterns(self) -> tuple[Any, Any]:
        """What matches blanks, and what matches a field without quotes."""
        delimiter = bytes([self.delimiter])
        blanks = re.compile(b"[%s]*" % b" \t\r".replace(delimiter, b""))
        return blanks.match, re.compile(b"[^%s\n]*" % re.escape(delimiter)).match

    @property
    def stop(self) -> int:
        """The kind of byte that ends a field."""
        return BLANK if self.delimiter == WHITESPACE else DELIMITER

    def may_be_quoted(self, text: bytes) -> bool:
        """Return whether there may be quoted fields in a piece of a file."""
        return self.delimiter != WHITESPACE and b'"' in text

    def is_plain(self, text: bytes) -> bool:
        """Return whether no line is a comment, has quotes or too many fields: most text is so."""
        marks = _MARKS if self.comments is None else self.comments
        return len(text) <= _MOST_FIELDS and not (
            self.may_be_quoted(text) or any(mark.encode() in text for mark in marks)
        )

    def plain_rows(self, chunk: TextChunk) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the fields of every line of plain text, as :meth:`split` does."""
        words = _TEXT_WORD.findall
        delimiter = chr(self.delimiter)
        blanks = " \t\r".replace(delimiter, "")
        for number, line in enumerate(chunk.text.decode().split("\n"), chunk.line):
            if self.delimiter == WHITESPACE:
                if row := words(line):
                    yield number, row
            elif line.strip(" \t\r"):
                yield number, [field.strip(blanks) for field in line.split(delimiter)]

    @property
    def has_remarks(self) -> bool:
        """Whether comments may follow an edge."""
        return self.delimiter == WHITESPACE

    def without_remark(self, row: list[bytes]) -> list[bytes]:
        """Return the fields of an edge without the comment that follows it."""
        if self.has_remarks:
            for place, field in enumerate(row[2:], 2):
                start = self.starts[field[0]]
                if start == COMMENT or (start == MARK and len(field) == 1):
                    return row[:place]
        return row

    def closed_part(self, text: bytes) -> int:
        """Return how many bytes of some lines, from their beginning, leave no quotes open."""
        if not self.may_be_quoted(text):
            return len(text)
        data = np.frombuffer(text, np.uint8)
        return int(find_open_line(data, self.kinds, self.starts, self.stop))

    def split(self, text: bytes, most: int) -> Split:
        """Return the fields of the first lines of data, empty ones included.

        The text ends with a newline, as every chunk does.
        """
        rows: list[list[bytes]] = []
        begins: list[int] = []
        comments, at = 0, 0
        while len(rows) < most and (content := _WORD.search(text, at)):  # past blank lines
            at = text.rfind(b"\n", at, content.start()) + 1 or at
            end = text.index(b"\n", content.start())
            start = self.starts[text[content.start()]]
            if start == MARK and self.kinds[text[content.start() + 1]] in (BLANK, LINE_END):
                return Split(rows, begins, comments, at, LIKE_COMMENT, [])
            if start == COMMENT:
                comments += 1
            else:
                row, begin, end, problem = self._split_line(text, at, end)
                if problem != FINE:
                    return Split(rows, begins, comments, at, problem, row)
                rows.append(row)
                begins.append(begin)
            at = end + 1
        return Split(rows, begins, comments, at if len(rows) == most else len(text), FINE, [])

    def _split_line(self, text: bytes, at: int, end: int) -> tuple[list[bytes], int, int, int]:
        """Return the fields of the line from `at` to `end`, where the first of them begins, where
        the line really ends, since quotes may hold newlines, and its problem.
        """
        if self.delimiter == WHITESPACE:
            first = _WORD.search(text, at)
            assert first is not None  # the line is not blank
            if end - at <= 2 * _MOST_FIELDS:  # too short for more
                return _WORD.findall(text, at, end), first.start(), end, FINE
            words = [word[0] for word in islice(_WORD.finditer(text, at, end), _MOST_FIELDS + 1)]
            if len(words) > _MOST_FIELDS:
                return [], first.start(), end, TOO_WIDE
            return words, first.start(), end, FINE
        delimiter = bytes([self.delimiter])
        blanks = b" \t\r".replace(delimiter, b"")
        if text.find(b'"', at, end) < 0:
            fields = text[at:end].split(delimiter, _MOST_FIELDS)
            if len(fields) > _MOST_FIELDS:
                return [], at, end, TOO_WIDE
            begin = at + len(fields[0]) - len(fields[0].lstrip(blanks))
            return [field.strip(blanks) for field in fields], begin, end, FINE
        fields, begins = [], []
        past_blanks, past_field = self._patterns
        while True:
            at = past_blanks(text, at).end()
            if text[at : at + 1] == b'"':
                quoted = _QUOTED.match(text, at, at + _LONGEST_QUOTED)
                if quoted is None:
                    return fields, 0, end, OPEN_QUOTE
                begins.append(at + 1)
                fields.append(quoted[1].replace(b'""', b'"').replace(b"\r\n", b"\n"))
                at = past_blanks(text, quoted.end()).end()
                if text[at : at + 1] not in (delimiter, b"\n"):
                    return fields[:-1], 0, end, BAD_QUOTE
            else:
                begins.append(at)
                at = past_field(text, at).end()
                fields.append(text[begins[-1] : at].rstrip(blanks))
            if text[at : at + 1] == b"\n":
                return fields, begins[0], at, FINE
            if len(fields) == _MOST_FIELDS:
                return [], begins[0], end, TOO_WIDE
            at += 1


class Split(NamedTuple):
    """Lines of a piece of a file, separated into fields."""

    rows: list[list[bytes]]
    begins: list[int]  # where the first field of each is
    comments: int  # how many were skipped
    end: int  # where the next line begins
    problem: int  # of the next line
    sound: list[bytes]  # the fields before this problem


def unescaped(text: bytes, tokens: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the bytes of a chunk, in which the tokens that were in quotes are what they stand for.

    The places of these tokens are changed to fit.
    """
    data = np.frombuffer(text, np.uint8)
    if b'"' in text and (b'""' in text or b"\r" in text):
        data = data.copy()
        unescape(data, tokens)
    return data


# -- what the user may name ----------------------------------------------------------------------


def delimiter_code(delimiter: str) -> int:
    """Return the byte of a delimiter that the user names; InputError if it cannot be one."""
    if delimiter in (" ", "whitespace"):
        return WHITESPACE
    if _is_separate(delimiter) and delimiter not in '"\n\r-+.':
        return ord(delimiter)
    raise InputError(
        f"delimiter {delimiter!r} cannot separate fields: give one character such as ',' or "
        "'\\t', or ' ' for any run of spaces and tabs",
        parameter="delimiter",
        value=delimiter,
    )


def check_comments(comments: str | None) -> None:
    """Raise InputError if a string cannot be what begins comments."""
    if comments and not (_is_separate(comments) and comments not in " \t\n\r\"'-+.,;|"):
        raise InputError(
            f"comments {comments!r} cannot begin a comment: give one character such as '#', or '' "
            "if the file has no comments",
            parameter="comments",
            value=comments,
        )


def _is_separate(character: str) -> bool:
    """Return whether a string is one character that no number or word has."""
    return len(character) == 1 and character.isascii() and not character.isalnum()


# -- reading -----------------------------------------------------------------------------------


class DelimitedText:
    """Delimited text in a file, of which only the beginning was read so far.

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
    choice : bool
        Whether the user can choose `comments`, so that errors advise it.

    Attributes
    ----------
    name : str
    dialect : Dialect
    heads : list of lists of bytes
        The fields of the first lines that hold data, at most 100.
    comments : int
        How many comments stand before these lines.
    marked : bool
        Whether the file begins with a byte order mark.
    where : str
        The file and the first of these lines, for errors.
    """

    @property
    def separation(self) -> str:
        """What separates fields, for reports: "separated by commas"."""
        return f"separated by {DELIMITER_NAMES.get(self.dialect.delimiter, 'whitespace')}"

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        content: str,
        *,
        delimiter: str | None = None,
        comments: str | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        choice: bool = True,
    ) -> None:
        check_comments(comments)
        code = None if delimiter is None else delimiter_code(delimiter)
        self.name, self._choice = name, choice
        self._rest = read_chunks(stream, name, chunk_bytes)
        self.comments, self.marked = 0, False
        head: TextChunk | None = None
        doubtful: list[tuple[int, bytes]] = []
        for chunk in _in_growing_parts(self._rest):
            self.marked |= chunk.marked
            if head is None:
                begin, count = _past_comments(chunk.text, comments)
                if comments is None and count:
                    doubtful += _doubtful_comments(chunk, begin)[: _MOST_DOUBTFUL - len(doubtful)]
                self.comments += count
                if begin == len(chunk.text):
                    continue
                head = TextChunk(chunk.text[begin:], chunk.line_at(begin))
            else:
                head = TextChunk(head.text + chunk.text, head.line)
            body = head.text
            first = _first_lines(body) if code is None else []
            likely = _likely_delimiter(first, comments) if code is None else code
            sure = True
            if code is None and likely == _COMMA and b";" in first[0]:
                likely, sure = _comma_or_semicolon(body, comments)
            if code is None and likely == WHITESPACE and content != "edges":
                likely = _delimiter_before_gap(first)
            self.dialect = Dialect(likely, comments)
            found = self.dialect.split(body, _HEADS)
            waiting = found.problem == OPEN_QUOTE and len(body) - found.end <= _LONGEST_QUOTED
            if len(found.rows) == _HEADS or not (found.problem == FINE or waiting):
                break
            if len(body) > _HEAD_BYTES and not waiting:
                break
        missing = NoEdges if content == "edges" else InputError
        if head is None and not self.comments:
            raise missing(f"{name}: expected {content}, but the file is empty")
        if head is None:
            advised = choice and not comments
            raise missing(
                f"{name}: expected {content}, found only comments"
                + ('; comments="" takes every line for data' if advised else ""),
                settings=[("comments", "")] if advised else [],
            )
        self._head = head
        self.where = f"{name}, line {self._head.line}"
        if content == "edges" and not sure:  # which the user can choose
            raise InputError(
                f"{self.where}: commas or semicolons may separate the fields "
                f'("{excerpt(_first_lines(body)[0].strip())}"): delimiter="," or delimiter=";" '
                "says which",
                settings=[("delimiter", ","), ("delimiter", ";")],
            )
        self.heads = found.rows + ([found.sound] if found.sound else [])
        if not self.heads:
            raise line_refusal(name, self._head, found.end, found.problem, choice)
        self._check_comments(doubtful)

    def _check_comments(self, doubtful: list[tuple[int, bytes]]) -> None:
        """Raise InputError if a comment may be data: "#a,#b" above lines of two fields."""
        plain = Dialect(self.dialect.delimiter, "")
        for number, line in doubtful:
            fields = next(iter(plain.split(line, 1).rows), [b""])
            marked = [field for field in fields if re.match(rb"[#%][^\s#%]", field)]
            if len(fields) == len(self.heads[0]) and len(marked) > 1 and marked[0] == fields[0]:
                mark = fields[0][:1]
                shown = excerpt(line.strip())
                one, none = f'comments="{mark.decode()}"', 'comments=""'
                raise InputError(
                    f'{self.name}, line {number}: this may be a comment or data ("{shown}"): '
                    f"{one} takes it for a comment, {none} for data",
                    settings=[("comments", mark.decode()), ("comments", "")],
                )

    def chunks(self, header: bool) -> Iterator[TextChunk]:
        """Yield everything from the first line that holds data, or what follows it, the header.

        No chunk ends inside quotes.
        """
        head = self._head
        if header:
            cut = self.dialect.split(head.text, 1).end
            head = TextChunk(head.text[cut:], head.line_at(cut))
        open_part: TextChunk | None = None
        for chunk in chain([head], self._rest):
            if open_part is not None:
                chunk = TextChunk(open_part.text + chunk.text, open_part.line)
            cut = self.dialect.closed_part(chunk.text)
            if cut == len(chunk.text):
                open_part = None
                yield chunk
                continue
            open_part = TextChunk(chunk.text[cut:], chunk.line_at(cut))
            if len(open_part.text) > _LONGEST_QUOTED:
                break
            yield TextChunk(chunk.text[:cut], chunk.line)
        if open_part is not None:
            raise line_refusal(self.name, open_part, 0, OPEN_QUOTE)

    def rows(self, header: bool) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of every line that holds data, and its fields, decoded."""
        return self.rows_in(self.chunks(header))

    def rows_in(self, chunks: Iterable[TextChunk]) -> Iterator[tuple[int, list[str]]]:
        """Yield the same of some chunks."""
        for chunk in chunks:
            if self.dialect.is_plain(chunk.text):
                yield from self.dialect.plain_rows(chunk)
                continue
            n_lines = chunk.count_lines()
            found = self.dialect.split(chunk.text, n_lines)
            ends = np.flatnonzero(np.frombuffer(chunk.text, np.uint8) == NEWLINE)
            numbers = (chunk.line + np.searchsorted(ends, found.begins)).tolist()
            for number, row in zip(numbers, found.rows, strict=True):
                yield number, [field.decode() for field in row]
            if found.problem != FINE:
                raise line_refusal(self.name, chunk, found.end, found.problem, self._choice)


def line_refusal(
    name: str, chunk: TextChunk, place: int, problem: int, choice: bool = True
) -> InputError:
    """Return the error for a line whose quotes are wrong, or that looks like a comment.

    `choice` says whether the user can choose what begins comments.
    """
    line = excerpt(chunk.text[place:].split(b"\n", 1)[0].strip())
    where = f"{name}, line {chunk.line_at(place)}"
    if problem == LIKE_COMMENT and not choice:
        return InputError(
            f'{where}: this looks like a comment ("{line}"), and only comments before the first '
            "line of data are skipped: move it there"
        )
    if problem == LIKE_COMMENT:
        mark = line[0]
        return InputError(
            f'{where}: this looks like a comment ("{line}"), and only comments before the first '
            f'line of data are skipped: comments="{mark}" skips all, and comments="" takes such '
            "lines for data",
            settings=[("comments", mark), ("comments", "")],
        )
    if problem == TOO_WIDE:
        return InputError(
            f'{where}: this line has more than {_MOST_FIELDS:,} columns ("{line}"): expected lines '
            "with a few"
        )
    if problem == BAD_QUOTE:
        return InputError(
            f"{where}: expected double quotes around a whole field, and doubled ones inside it, "
            f'found ("{line}")'
        )
    return InputError(f'{where}: a double quote opens in this line and is never closed ("{line}")')


def comment_hint(line: bytes, dialect: Dialect) -> tuple[str, list[tuple[str, str]]]:
    """Return what to add to an error about a line that may be a comment, and the settings named."""
    mark = line.lstrip()[:1].decode(errors="replace")
    if dialect.comments is not None or not mark or mark not in _MARKS:
        return "", []
    return f'; if it is a comment, comments="{mark}" skips it', [("comments", mark)]


def _past_comments(text: bytes, comments: str | None) -> tuple[int, int]:
    """Return where the first line of data begins, and how many comments are before it."""
    marks = re.escape(_MARKS if comments is None else comments).encode()
    first = re.compile(rb"^[ \t\r]*[^ \t\r\n%s]" % marks, re.M).search(text)
    place = len(text) if first is None else first.start()
    if place == 0:
        return 0, 0
    data = np.frombuffer(text, np.uint8, place)
    begins = np.append(0, np.flatnonzero(data == NEWLINE)[:-1] + 1)
    return place, int(np.count_nonzero(np.logical_or.reduceat(data > SPACE, begins)))


def _doubtful_comments(chunk: TextChunk, end: int) -> list[tuple[int, bytes]]:
    """Return comments with two marks, which may be data, up to a place, and their line numbers."""
    found, place, line = [], 0, chunk.line
    twice = re.finditer(rb"^[^\S\n]*[#%][^\s#%][^\n]*[#%][^\n]*\n", chunk.text[:end], re.M)
    for comment in islice(twice, _MOST_DOUBTFUL):
        line += chunk.text.count(b"\n", place, comment.start())
        place = comment.start()
        found.append((line, comment[0]))
    return found


def _in_growing_parts(chunks: Iterable[TextChunk]) -> Iterator[TextChunk]:
    """Yield chunks, each part as long as all before it, up to a limit: few parts are looked at."""
    part: list[TextChunk] = []
    before = size = 0
    for chunk in chunks:
        part.append(chunk)
        size += len(chunk.text)
        if size >= before:
            yield part[0]._replace(text=b"".join(one.text for one in part))
            before = min(before + size, _HEAD_BYTES)
            part, size = [], 0
    if part:
        yield part[0]._replace(text=b"".join(one.text for one in part))


def _first_lines(text: bytes) -> list[bytes]:
    """Return the first two lines of a text; the first goes on while a quote may be open."""
    first = end = text.find(b"\n") + 1
    quotes = text.count(b'"', 0, end)
    while quotes % 2 and (quote := text.find(b'"', end, _LONGEST_QUOTED)) >= 0:
        end = text.find(b"\n", quote) + 1
        quotes += text.count(b'"', quote, end)
    end = first if quotes % 2 else end
    return [text[:end], text[end : text.find(b"\n", end) + 1]]


def _likely_delimiter(lines: list[bytes], comments: str | None) -> int:
    """Return the delimiter that lines of data most likely have, by the first of them."""
    # neither quoted text nor the dictionary that networkx writes after an edge counts
    bare = re.sub(rb'"[^"]*"', b'""', lines[0][:_LOOK]).split(b"{")[0]
    # pandas writes no name above its index
    for delimiter in (b",", b";", b"\t"):
        unnamed = bare.startswith(delimiter) and bare.strip().count(delimiter) > 0
        if unnamed and not any(line.startswith(delimiter) for line in lines[1:2]):
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
    if re.fullmatch(rb"[^\s,;]+[ \t]+[^\s,;]+[ \t]+[+-]?\d*,\d+", bare.strip()):
        return WHITESPACE
    for delimiter in (b",", b";"):
        if all(field.strip() for field in bare.split(delimiter, 2)[:2]) and delimiter in bare:
            return ord(delimiter)
    # a bar may well be part of an id, so it counts only where no blank could separate the ids
    if re.fullmatch(rb"[^\s|]+(\s*\|\s*[^\s|]+)+", bare.strip()):
        return ord("|")
    return WHITESPACE


def _delimiter_before_gap(lines: list[bytes]) -> int:
    """Return what separates columns of nodes if the second field is empty; else WHITESPACE.

    In "ann," above "bob,x" it is the comma. Above "bob," it is, too, unless blanks are in "ann".
    """
    first, second = (re.sub(rb'"[^"]*"', b'""', line[:_LOOK]) for line in lines)
    for delimiter in (b",", b";", b"\t", b"|"):
        node, found, rest = first.strip(b" \r\n").partition(delimiter)
        if not (found and node.strip()) or rest.split(delimiter)[0].strip():
            continue
        _, again, below = second.strip(b" \r\n").partition(delimiter)
        if below.strip() or (b" " not in node and (again or not second.strip())):
            return ord(delimiter)
    return WHITESPACE


def _comma_or_semicolon(text: bytes, comments: str | None) -> tuple[int, bool]:
    """Return which of the two separates the fields of lines that have both, and if that is sure.

    It is the one that every line has, in "a;b;0,5" the one without the other in the two ids, or the
    one that separates all lines into the same number of fields.
    """
    found = {}
    for delimiter, other in ((_COMMA, b";"), (_SEMICOLON, b",")):
        rows = Dialect(delimiter, comments).split(text, _HEADS).rows
        if rows and all(len(row) > 1 and row[0] and row[1] for row in rows):
            plain = not any(other in field for row in rows for field in row[:2])
            found[delimiter] = (plain, len({len(row) for row in rows}) == 1)
    best = max(found.values(), default=None)
    likely = [delimiter for delimiter, signs in found.items() if signs == best]
    return (likely or [_COMMA])[0], len(likely) < 2
