"""What a terminal can show: printable characters and colours."""

from __future__ import annotations

import os
import re
import shutil
from typing import TextIO

_STYLES = {"bold": "1", "dim": "2", "red": "1;31", "green": "32", "yellow": "33", "cyan": "36"}
# Control characters, which a terminal would obey, those that turn the direction of writing, and
# halves of characters, which cannot be written at all. Tabs and line breaks are left.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


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


def _is_dumb() -> bool:
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")
