"""Progress on the terminal: one line that is written over and over. Also numbers in words.

A pipe or a file gets a line every half minute. rich would hide the cursor and needs an end that a
job which raises does not reach; so this line is our own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, TextIO

from .terminal import columns, is_screen, on_one_line, styled

_LEAST_SECONDS, _LEAST_SHARE = 1.0, 0.02  # of a job, after which its end can be foreseen
_BAR = 16  # characters
_EVERY, _LOG_EVERY = 0.2, 30.0  # seconds between two updates: on a terminal, and elsewhere

Report = Callable[[int, int], None]
"""Called with how much is done and how much there is to do."""

_parents: list[str] = []  # jobs that those which report now are parts of
_files: list[tuple[int, int]] = []  # descriptors and sizes of files that are being read


class ProgressLine:
    """The line that shows how far a long job is; of several, the one that reported last.

    Parameters
    ----------
    wanted : bool
        False writes nothing.
    stream : file, optional
        Where to write; standard error by default.
    """

    _latest: ClassVar[ProgressLine | None] = None

    def __init__(self, wanted: bool = True, stream: TextIO | None = None) -> None:
        self._stream = (stream or sys.stderr) if wanted else None
        self.on_terminal = is_screen(self._stream)
        self._every = _EVERY if self.on_terminal else _LOG_EVERY
        self._next = time.perf_counter() + (0.0 if self.on_terminal else _LOG_EVERY)
        self._due, self._shown = False, ""

    @property
    def is_latest(self) -> bool:
        """Whether no other line has taken over since."""
        return ProgressLine._latest is self

    def due(self) -> bool:
        """Return whether it is time for an update; the line reports from now on."""
        ProgressLine._latest = self
        now = time.perf_counter()
        self._due = self._stream is not None and now >= self._next
        if self._due:
            self._next = now + self._every
        return self._due

    def show(self, text: str, share: float | None = None) -> None:
        """Replace the line by a text, as far as it fits; without a terminal, append it if due.

        With the share of the job that is done, a bar stands in front of the text.
        """
        text = on_one_line("".join(f"{parent}: " for parent in _parents) + text)
        if self._stream is None or text == self._shown:
            return
        self._shown, ProgressLine._latest = text, self
        if self.on_terminal:
            room = columns() - 1  # a line that wraps cannot be cleared
            bar = ""
            if share is not None and room > 3 * _BAR:
                done = round(_BAR * min(max(share, 0.0), 1.0))
                bar = styled("#" * done, "green", self._stream)
                bar += styled("-" * (_BAR - done), "dim", self._stream) + " "
                room -= _BAR + 1
            self._stream.write(f"\r\033[K{bar}{text[:room]}")
        elif self._due:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Empty the line on the terminal."""
        if self.on_terminal and self._stream is not None:
            self._shown = ""
            self._stream.write("\r\033[K")
            self._stream.flush()


class _Pace:
    """How fast a job is, since its first report: what is before it includes compiling."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def begin(self, done: int) -> None:
        """Note the first report."""
        if self._first is None:
            self._first = done, time.perf_counter()

    def text(self, what: str, done: int, total: int, unit: str) -> str:
        """Return the share that is done, with speed and time left once they are known."""
        self.begin(done)
        assert self._first is not None
        since, seconds = done - self._first[0], time.perf_counter() - self._first[1]
        text = f"{what} {done / max(total, 1):4.0%}"
        known = seconds >= _LEAST_SECONDS or since >= _LEAST_SHARE * total
        if since <= 0 or seconds <= 0 or not known:
            return text
        speed = since / seconds
        rate = f"  {_rate(speed, unit)}" if unit else ""
        return f"{text}{rate}  {clock((total - done) / speed)} left"


def _rate(speed: float, unit: str) -> str:
    """Return how many things are done a second, or how long one takes: "8 s per seed"."""
    if unit == "bytes":
        return f"{readable_bytes(speed)}/s"
    if speed >= 1:
        return f"{readable(speed)} {unit}/s"
    seconds = 1 / speed
    long = clock(seconds) if seconds >= 100 else f"{seconds:.2g} s"
    return f"{long} per {unit.removesuffix('s')}"


def terminal_progress(
    what: str, unit: str, wanted: bool = True, *, more: Callable[[], str] = lambda: ""
) -> Report:
    """Return a report that keeps a line on the terminal up to date, with speed and time left.

    Parameters
    ----------
    what : str
        Name of the job, at the beginning of the line.
    unit : str
        What is counted; no speed is shown if it is empty.
    wanted : bool
        False returns a report that writes nothing.
    more : callable
        Returns what else to show.
    """
    line, pace = ProgressLine(wanted), _Pace()

    def report(done: int, total: int) -> None:
        if not wanted:
            return
        pace.begin(done)
        if done >= total:
            line.clear()
        elif line.due():
            text = pace.text(what, done, total, unit)
            line.show(f"{text}  {more()}".rstrip(), done / max(total, 1))

    return report


@contextmanager
def part_of(job: str) -> Iterator[None]:
    """Name the job that the progress shown in the block is a part of: "seed 2 of 3"."""
    _parents.append(job)
    try:
        yield
    finally:
        _parents.pop()


@contextmanager
def waiting(what: str, wanted: bool = True) -> Iterator[None]:
    """Show a job that reports nothing: the seconds that it takes, and how much of a file is read.

    A thread keeps the line up to date, until something in the block shows progress of its own.
    """
    if not wanted:
        yield
        return
    line, pace, ended, known = ProgressLine(), _Pace(), threading.Event(), len(_files)
    began = time.perf_counter()
    if line.due():
        line.show(f"{what} ...")

    def update() -> None:
        while not ended.wait(_EVERY) and line.is_latest:
            seconds = time.perf_counter() - began
            if seconds < _LEAST_SECONDS or not line.due():
                continue
            done, total = _position(known)
            if 0 < done < total:
                line.show(pace.text(what, done, total, "bytes"), done / total)
            else:
                line.show(f"{what} ... {clock(seconds)}")

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    line.clear()


@contextmanager
def being_read(descriptor: int) -> Iterator[None]:
    """Let :func:`waiting` show how much of an open file has been read."""
    file = descriptor, os.fstat(descriptor).st_size
    _files.append(file)
    try:
        yield
    finally:
        _files.remove(file)


def _position(known: int) -> tuple[int, int]:
    """Return how much of the file that was opened last has been read, and its size."""
    try:
        descriptor, size = _files[known:][-1]
        return os.lseek(descriptor, 0, os.SEEK_CUR), size
    except (IndexError, OSError):  # none, or no longer open
        return 0, 0


# -- numbers in words --------------------------------------------------------------------------


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
