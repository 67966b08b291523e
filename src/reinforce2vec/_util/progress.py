"""A line on the terminal that tells how far a long job is; silence elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

Report = Callable[[int, int], None]
"""Called with how much is done and how much there is to do."""

_EVERY = 0.2  # seconds between two updates of the line


def terminal_progress(
    what: str,
    unit: str,
    stream: TextIO | None = None,
    *,
    began_at: int = 0,
    more: Callable[[], str] = lambda: "",
) -> Report:
    """A report that keeps one line up to date, with speed and time left, if there is a terminal.

    Parameters
    ----------
    what : str
        Name of the job, in front of the line.
    unit : str
        What is counted.
    stream : file, optional
        Where to write; standard error by default.
    began_at : int
        How much was done before, which says nothing about the speed.
    more : callable
        Gives what else to say, in front of the time left.
    """
    out = sys.stderr if stream is None else stream
    if out is None or not out.isatty():
        return lambda done, total: None
    began = time.perf_counter()
    last = began - _EVERY

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if done >= total:
            write_over(out)
        elif now - last >= _EVERY:
            last = now
            speed = (done - began_at) / max(now - began, 1e-9)
            left = clock((total - done) / speed) if speed else "?"
            share = done / max(total, 1)
            line = f"{what} {share:4.0%}  {readable(speed)} {unit}/s  {more()}{left} left"
            write_over(out, line)

    return report


def write_over(terminal: TextIO, text: str = "") -> None:
    """Put a text in place of the line that is there, as far as it has room."""
    width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be cleared
    terminal.write(f"\r\033[K{text[:width]}")
    terminal.flush()


def readable(number: float) -> str:
    """A quantity in three digits: 41.3 million, 12,300."""
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if number >= size:
            return f"{number / size:.3g}{name}"
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def readable_bytes(size: float) -> str:
    """A size in bytes as a person writes it."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000 or unit == "GB":
            break
    return f"{size:.1f} {unit}"


def counted(number: int, noun: str) -> str:
    """A number of things: 1 node, 2,000 nodes, 3 classes."""
    return f"{number:,} {noun}" + ("" if number == 1 else "es" if noun.endswith("s") else "s")


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, or hours, minutes and seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
