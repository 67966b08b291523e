"""Progress on the terminal: one line that is written over and over. Also numbers in words."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

_LEAST_SECONDS, _LEAST_SHARE = 1.0, 0.02  # of a job, after which its end can be foreseen

Report = Callable[[int, int], None]
"""Called with how much is done and how much there is to do."""


class ProgressLine:
    """The line on the terminal that shows how far a long job is; no output where there is none.

    Everything that shows progress uses it.

    Parameters
    ----------
    wanted : bool
        False writes nothing.
    stream : file, optional
        Where to write; standard error by default.
    every : float
        Seconds between two updates, for those who ask :meth:`due`.
    log_every : float, optional
        Seconds between two lines in a stream that is no terminal; by default it gets none.
    """

    def __init__(
        self,
        wanted: bool = True,
        stream: TextIO | None = None,
        *,
        every: float = 0.2,
        log_every: float | None = None,
    ) -> None:
        self._stream = (sys.stderr if stream is None else stream) if wanted else None
        self.on_terminal = self._stream is not None and self._stream.isatty()
        self._every = every if self.on_terminal else log_every
        self._next = time.perf_counter() + (0.0 if self.on_terminal else log_every or 0.0)
        self._shown = ""

    def due(self) -> bool:
        """Return whether it is time for an update; it then is not before the next interval."""
        now = time.perf_counter()
        if self._stream is None or self._every is None or now < self._next:
            return False
        self._next = now + self._every
        return True

    def show(self, text: str) -> None:
        """Replace the line by a text, as far as it fits; without a terminal, append it."""
        if self._stream is None or text == self._shown:
            return
        self._shown = text
        if self.on_terminal:
            width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be cleared
            self._stream.write(f"\r\033[K{text[:width]}")
            self._stream.flush()
        elif self._every is not None:
            self._stream.write(f"{text}\n")
            self._stream.flush()

    def clear(self) -> None:
        """Empty the line on the terminal."""
        if self.on_terminal and self._stream is not None:
            self._shown = ""
            self._stream.write("\r\033[K")
            self._stream.flush()


def terminal_progress(
    what: str,
    unit: str,
    wanted: bool = True,
    *,
    more: Callable[[], str] = lambda: "",
) -> Report:
    """Return a report that keeps a line on the terminal up to date, with speed and time left.

    Both are measured from the first report on, since what is before it includes compiling; they are
    shown after a second, or two percent of the job.

    Parameters
    ----------
    what : str
        Name of the job, at the beginning of the line.
    unit : str
        What is counted.
    wanted : bool
        False returns a report that writes nothing.
    more : callable
        Returns what else to show, in front of the time left.
    """
    line = ProgressLine(wanted)
    if not line.on_terminal:
        return lambda done, total: None
    first: tuple[int, float] | None = None  # what was done at the first report, and when

    def report(done: int, total: int) -> None:
        nonlocal first
        now = time.perf_counter()
        if first is None:
            first = done, now
        since, seconds = done - first[0], now - first[1]
        if done >= total:
            line.clear()
        elif line.due():
            speed, left = "", ""
            if since and (seconds >= _LEAST_SECONDS or since >= _LEAST_SHARE * total):
                speed = f"  {readable(since / seconds)} {unit}/s"
                left = f"{clock((total - done) * seconds / since)} left"
            line.show(f"{what} {done / max(total, 1):4.0%}{speed}  {more()}{left}".rstrip())

    return report


def readable(number: float) -> str:
    """Return a quantity in three digits: 41.3 million, 12,300."""
    for size, name in ((1e9, " billion"), (1e6, " million")):
        if number >= size:
            return f"{number / size:.3g}{name}"
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def readable_bytes(size: float) -> str:
    """Return a size in bytes with its unit."""
    if size < 1000:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if size < 1000 or unit == "GB":
            break
    return f"{size:.1f} {unit}"


def counted(number: int, noun: str) -> str:
    """Return a number of things: 1 node, 2,000 nodes, 3 classes."""
    return f"{number:,} {noun}" + ("" if number == 1 else "es" if noun.endswith("s") else "s")


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, or hours, minutes and seconds."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
