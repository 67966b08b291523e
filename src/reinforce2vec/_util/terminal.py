"""What a terminal can show: colours, and lines that end between words."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import TextIO

_STYLES = {"bold": "1", "dim": "2", "red": "1;31", "green": "32", "yellow": "33", "cyan": "36"}
# Control characters, which a terminal would obey, those that turn the direction of writing, and
# halves of characters, which cannot be written at all. Tabs and line breaks are left.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# a word, or a number and its unit, which stay together: "122.9 kB", "(1 component"
_WORDS = re.compile(r"^\s+|[^\w\s]?\d(?:[\d.,]*\d)? [^\W\d]\S*|\S+")
# a word that is too long may end after the first of these, or else the others
_SEPARATORS = (r"(?<=[/\\,;=|&?])", r"(?<=[_.:+-])")


def printable(text: str) -> str:
    r"""Return a text with escapes for characters that a terminal would obey.

    For what is shown of files and ids, which may be anything. Tabs and ends of lines stay.

    >>> print(printable("ann\x1b[2J"))
    ann\x1b[2J
    """
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def on_one_line(text: str) -> str:
    r"""Return a text as :func:`printable` does, with escapes for the ends of lines too.

    >>> print(on_one_line("a\nb"))
    a\nb
    """
    return printable(text).replace("\n", "\\n")


def is_screen(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal on which a line can be written over."""
    return stream is not None and stream.isatty() and not _is_dumb()


def is_rich(stream: TextIO | None) -> bool:
    """Return whether to print for people: tables with lines, and styles.

    True on a terminal, unless TERM=dumb. FORCE_COLOR makes it true for files and pipes as well.
    """
    if stream is None or _is_dumb():  # None: Python's, where the shell has closed it
        return False
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def styled(text: str, style: str, stream: TextIO | None) -> str:
    """Return a text in a style, if the stream shows it and NO_COLOR is not set."""
    if style == "plain" or os.environ.get("NO_COLOR") or not is_rich(stream):
        return text
    return f"\033[{_STYLES[style]}m{text}\033[0m"


def columns() -> int:
    """Return the width of the terminal, 80 if it is unknown."""
    return shutil.get_terminal_size().columns


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Return a text in lines that end between words; all but the first are indented.

    A number stays with the word after it, if both fit into a line. Only a word that is longer than
    a line is divided: after a separator, such as the slash of a path, as long as there is one.
    Spaces at the beginning of a text are kept.
    """
    if len(text) <= width:
        return [text]
    if 2 * len(indent) > width:
        indent = ""
    lines, line = list[str](), ""
    words = [
        word
        for found in _WORDS.findall(text)
        for word in ([found] if len(indent) + len(found) <= width else found.split() or [found])
    ]
    for word in words:
        joined = f"{line} {word}" if line.strip() else f"{line}{word}"
        if len(joined) <= width:
            line = joined
            continue
        if line.strip() and len(indent) + len(word) <= width:
            lines.append(line)
            line = indent + word
            continue
        if line.strip():
            line += " "
        for piece in _divided(word, width - len(indent)):
            if line.strip() and len(line) + len(piece) > width:
                lines.append(line.rstrip())
                line = indent
            line += piece
            while len(line) > width:
                lines.append(line[:width])
                line = indent + line[width:]
    return [*lines, line]


def _divided(word: str, width: int, separators: tuple[str, ...] = _SEPARATORS) -> Iterator[str]:
    """Yield a word in parts that end after separators and, if it has enough of them, fit."""
    if len(word) <= width or not separators:
        yield word
        return
    for piece in re.split(separators[0], word):
        yield from _divided(piece, width, separators[1:])


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
