"""Text files in chunks of whole lines, which several threads can parse."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple, TypeVar

import numpy as np

from .._util.errors import InputError
from .._util.threads import Threads, in_turn
from ._fields import NEWLINE

CHUNK_BYTES = 1 << 22
SMALL_CHUNK_BYTES = 1 << 16  # where fields become strings, which take many times the memory
_SIGNS = {
    codecs.BOM_UTF16_LE: "text in UTF-16 or UTF-32",
    codecs.BOM_UTF16_BE: "text in UTF-16 or UTF-32",
    b"\x1f\x8b": "a gzip file, whose name ends in .gz",
}
_LONGEST_LINE = 1 << 25  # bytes; longer ones are no text, or a megabyte that unpacks to gigabytes
_WORKERS = 2

INTEGER = re.compile(rb"0|-?[1-9]\d*")  # as str(int) writes it
# of a size that may fit in 64 bits; Python refuses to convert one of over 4,300 digits
SHORT_INTEGER = re.compile(rb"0|-?[1-9]\d{0,18}")
# Each digit can be matched in one way only, or the time would grow with the square of the length;
# that of float() does, so there are at most 1,000 characters.
NUMBER = re.compile(
    rb"(?=.{1,1000}\Z)[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.I
)

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class TextChunk(NamedTuple):
    """Whole lines of a file, and the number of the first line, counted from 1."""

    text: bytes
    line: int
    marked: bool = False  # whether a byte order mark stood before it

    def count_lines(self) -> int:
        """Return the number of lines; numpy counts them faster than bytes.count."""
        return int(np.count_nonzero(np.frombuffer(self.text, np.uint8) == NEWLINE))

    def line_at(self, place: int) -> int:
        """Return the number of the line that holds the byte at `place`."""
        return self.line + self.text.count(b"\n", 0, place)


def read_chunks(stream: BinaryIO, name: str, size: int) -> Iterator[TextChunk]:
    """Yield a file in chunks of whole lines of about `size` bytes; InputError if it is not text."""
    line = 1
    for text in _cut_at_newlines(stream, name, size):
        marked = line == 1 and text.startswith(codecs.BOM_UTF8)
        text = text.removeprefix(codecs.BOM_UTF8) if marked else text
        if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        chunk = TextChunk(text, line, marked)
        check_is_text(chunk, name)
        yield chunk
        line += chunk.count_lines()


def _cut_at_newlines(stream: BinaryIO, name: str, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that end with a newline; a missing last one is added."""
    pending: list[bytes] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if not cut:  # the last byte may be half of a line's end
            cut = block.rfind(b"\r", 0, len(block) - 1) + 1
        if cut:
            yield b"".join([*pending, memoryview(block)[:cut]])
            pending = []
        pending.append(block[cut:])
        if len(pending) * size > _LONGEST_LINE:
            raise _too_long(name)
    if any(pending):
        yield b"".join([*pending, b"\n"])


def read_lines(stream: BinaryIO, name: str, size: int) -> list[bytes]:
    """Return the next lines of a file, about `size` bytes; InputError for one of over 32 MB."""
    lines: list[bytes] = []
    while size > 0 and (line := stream.readline(_LONGEST_LINE)):
        if len(line) == _LONGEST_LINE:
            raise _too_long(name)
        lines.append(line)
        size -= len(line)
    return lines


def _too_long(name: str) -> InputError:
    return InputError(f"{name}: expected lines of text, but one has more than 32 MB")


def check_is_text(chunk: TextChunk, name: str) -> None:
    """Raise InputError if a chunk is not UTF-8."""
    text = chunk.text
    if text.isascii() and b"\0" not in text:
        return
    for sign, what in _SIGNS.items() if chunk.line == 1 else ():
        if text.startswith(sign):
            raise InputError(f"{name}: this is {what}, expected text in UTF-8")
    place = text.find(b"\n" + codecs.BOM_UTF8) + 1
    if place or (chunk.line > 1 and text.startswith(codecs.BOM_UTF8)):
        problem = "begins with a byte order mark: were two files joined?"
    elif b"\0" in text:
        place, problem = text.index(b"\0"), "holds a NUL byte"
    else:
        try:
            text.decode()
            return
        except UnicodeDecodeError as error:
            place = error.start
        problem = 'is not UTF-8 ("iconv -f latin1 -t utf-8" converts Latin-1)'
    raise InputError(
        f"{name}, line {chunk.line_at(place)}: expected text in UTF-8, but this line {problem}"
    )


def map_in_order(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Yield the results of `work` in the order of the items; threads work a few items ahead."""
    with Threads(_WORKERS) as pool:
        yield from in_turn(pool, work, items, _WORKERS + 1)
