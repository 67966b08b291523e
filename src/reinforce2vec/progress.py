"""A line on the terminal that tells how far a long job is; silence elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

Report = Callable[[int, int], None]
"""Called with how much is done and how much there is to do."""

_EVERY = 0.2  # seconds between two updates of the line


def terminal_progress(what: str, unit: str, stream: TextIO | None = None) -> Report:
    """A report that keeps one line up to date, with speed and time left, if there is a terminal.

    Parameters
    ----------
    what : str
        Name of the job, in front of the line.
    unit : str
        What is counted.
    stream : file, optional
        Where to write; standard error by default.
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
            out.write("\r\033[K")
        elif now - last >= _EVERY:
            last = now
            speed = done / max(now - began, 1e-9)
            left = _clock((total - done) / speed) if done else "?"
            share = done / max(total, 1)
            out.write(f"\r\033[K{what} {share:4.0%}  {readable(speed)} {unit}/s  {left} left")
        out.flush()

    return report


def readable(number: float) -> str:
    """A quantity in three digits: 41.3 million, 12,300."""
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if number >= size:
            return f"{number / size:.3g}{name}"
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
