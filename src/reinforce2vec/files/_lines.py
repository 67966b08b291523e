"""Text files in chunks of whole lines, which several threads can parse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, NamedTuple, TypeVar

import numpy as np

from .._util.errors import InputError
from .._util.threads import in_turn
from ._fields import NEWLINE

CHUNK_BYTES = 1 << 22
_LONGEST_LINE = 1 << 30  # places in a chunk are 32-bit numbers
_WORKERS = 2

INTEGER = re.compile(rb"0|-?[1-9]\d*")  # as str(int) writes it
NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.I)

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class TextChunk(NamedTuple):
    """Whole lines of a file, and the number of the first line, counted from 1."""

    text: bytes
    line: int

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
        if line == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        chunk = TextChunk(text, line)
        _check_is_text(chunk, name)
        yield chunk
        line += chunk.count_lines()


def _cut_at_newlines(stream: BinaryIO, name: str, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces that end with a newline; a missing last one is added."""
    pending: list[bytes] = []
    while block := stream.read(size):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield b"".join([*pending, block[:cut]])
            pending = []
        pending.append(block[cut:])
        if len(pending) * size > _LONGEST_LINE:
            raise InputError(f"{name}: expected lines of text, but one has more than 1 GB")
    if any(pending):
        yield b"".join([*pending, b"\n"])


def _check_is_text(chunk: TextChunk, name: str) -> None:
    """Raise InputError if a chunk is not UTF-8."""
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


def map_in_order(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Yield the results of `work` in the order of the items; threads work a few items ahead."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        yield from in_turn(pool, work, items, _WORKERS + 1)


def excerpt(text: bytes, longest: int = 60) -> str:
    """Return the beginning of a piece of a file, to show in an error."""
    decoded = text.decode(errors="replace")
    return decoded if len(decoded) <= longest else decoded[: longest - 3] + "..."
