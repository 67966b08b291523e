"""Delimited text, as in edge lists and files of labels: delimiters, quotes, comments, records.

Quotes are those of RFC 4180: a field in double quotes may hold delimiters, line breaks, and quotes
that are doubled. Where whitespace separates fields, a quote is a character as any other.

A comment begins with # or %, and stands before all data: further down such a line is data, so that
"#tag" can be an id, unless the caller names the character that begins comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, NoEdges
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
    find_open_line,
    unescape,
)
from ._lines import CHUNK_BYTES, TextChunk, excerpt, read_chunks

WHITESPACE = 0  # the delimiter that means any run of spaces and tabs
_MARKS = "#%"  # begin comments where the caller names no other character
_COMMA, _SEMICOLON = b",;"
_HEADS = 100  # lines by which columns are recognised
_WORD = re.compile(rb"[^ \t\r\n]+")
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
        before = b"\t\r" if self.delimiter == SPACE else b" \t\r"
        while at < len(text) and len(rows) < most:
            end = text.index(b"\n", at)
            content = text[at:end].lstrip(before)
            start = self.starts[content[0]] if content else LINE_END
            if start == MARK and self.kinds[(content + b"\n")[1]] in (BLANK, LINE_END):
                return Split(rows, begins, comments, at, LIKE_COMMENT, [])
            if start == COMMENT:
                comments += 1
            elif start != LINE_END:
                row, begin, end, problem = self._split_line(text, at, end)
                if problem != FINE:
                    return Split(rows, begins, comments, at, problem, row)
                rows.append(row)
                begins.append(begin)
            at = end + 1
        return Split(rows, begins, comments, at, FINE, [])

    def _split_line(self, text: bytes, at: int, end: int) -> tuple[list[bytes], int, int, int]:
        """Return the fields of the line from `at` to `end`, where the first of them begins, where
        the line really ends, since quotes may hold newlines, and its problem.
        """
        if self.delimiter == WHITESPACE:
            first = _WORD.search(text, at)
            assert first is not None  # the line is not blank
            return _WORD.findall(text, at, end), first.start(), end, FINE
        delimiter = bytes([self.delimiter])
        blanks = b" \t\r".replace(delimiter, b"")
        if text.find(b'"', at, end) < 0:
            fields = text[at:end].split(delimiter)
            begin = at + len(fields[0]) - len(fields[0].lstrip(blanks))
            return [field.strip(blanks) for field in fields], begin, end, FINE
        fields, begins = [], []
        past_blanks, past_field = self._patterns
        while True:
            at = past_blanks(text, at).end()
            if text[at : at + 1] == b'"':
                quoted = _QUOTED.match(text, at)
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
    where : str
        The file and the first of these lines, for errors.
    """

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
        text, begin = b"", 0
        for chunk in self._rest:
            text += chunk.text
            begin, self.comments = _past_comments(text, comments)
            if begin == len(text):
                continue
            body = text[begin:]
            likely = _likely_delimiter(_first_lines(body)) if code is None else code
            sure = True
            if code is None and likely == _COMMA and b";" in _first_lines(body)[0]:
                likely, sure = _comma_or_semicolon(body, comments)
            self.dialect = Dialect(likely, comments)
            found = self.dialect.split(body, _HEADS)
            waiting = found.problem == OPEN_QUOTE and len(body) - found.end <= _LONGEST_QUOTED
            if len(found.rows) == _HEADS or not (found.problem == FINE or waiting):
                break
        missing = NoEdges if content == "edges" else InputError
        if not text.strip():
            raise missing(f"{name}: expected {content}, but the file is empty")
        if begin == len(text):
            advised = choice and not comments
            raise missing(
                f"{name}: expected {content}, found only comments"
                + ('; comments="" takes every line for data' if advised else ""),
                settings=[("comments", "")] if advised else [],
            )
        self._head = TextChunk(text[begin:], 1 + text.count(b"\n", 0, begin))
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
        if comments is None:
            self._check_comments(text[:begin])

    def _check_comments(self, text: bytes) -> None:
        """Raise InputError if a comment may be data: "#a,#b" above lines of two fields."""
        plain = Dialect(self.dialect.delimiter, "")
        for number, line in enumerate(text.splitlines(keepends=True), 1):
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
        for chunk in self.chunks(header):
            n_lines = chunk.count_lines()
            found = self.dialect.split(chunk.text, n_lines)
            ends = np.flatnonzero(np.frombuffer(chunk.text, np.uint8) == NEWLINE)
            numbers = (chunk.line + np.searchsorted(ends, found.begins)).tolist()
            self.comments += found.comments
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
    marks = tuple(mark.encode() for mark in (_MARKS if comments is None else comments))
    place = count = 0
    while place < len(text):
        end = text.find(b"\n", place) + 1
        line = text[place:end].strip()
        if line and not line.startswith(marks):
            break
        count += bool(line)
        place = end
    return place, count


def _first_lines(text: bytes) -> list[bytes]:
    """Return the first two lines of a text; the first goes on while a quote may be open."""
    first = end = text.find(b"\n") + 1
    quotes = text.count(b'"', 0, end)
    while quotes % 2 and end < min(len(text), _LONGEST_QUOTED):
        begin, end = end, text.find(b"\n", end) + 1
        quotes += text.count(b'"', begin, end)
    end = first if quotes % 2 else end
    return [text[:end], text[end : text.find(b"\n", end) + 1]]


def _likely_delimiter(lines: list[bytes]) -> int:
    """Return the delimiter that lines of data most likely have, by the first of them."""
    # neither quoted text nor the dictionary that networkx writes after an edge counts
    bare = re.sub(rb'"[^"]*"', b'""', lines[0]).split(b"{")[0]
    # pandas writes no name above its index
    for delimiter in (b",", b";", b"\t"):
        unnamed = bare.startswith(delimiter) and bare.strip().count(delimiter) > 0
        if unnamed and not any(line.startswith(delimiter) for line in lines[1:2]):
            return ord(delimiter)
    # a tab next to another blank is part of a run of whitespace
    if re.fullmatch(rb" *[^\s](?:[^\t]*[^\s])?\t[^\s].*", bare.rstrip()):
        return TAB
    for delimiter in (b",", b";"):
        if all(field.strip() for field in bare.split(delimiter, 2)[:2]) and delimiter in bare:
            return ord(delimiter)
    # a bar may well be part of an id, so it counts only where no blank could separate the ids
    if re.fullmatch(rb"[^\s|]+(\s*\|\s*[^\s|]+)+", bare.strip()):
        return ord("|")
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
