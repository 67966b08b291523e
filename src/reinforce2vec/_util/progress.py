"""Progress on the terminal: one line that is written over and over. Also numbers in words."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar, TextIO

from .terminal import columns, is_screen, printable, styled

_LEAST_SECONDS, _LEAST_SHARE = 1.0, 0.02  # of a job, after which its end can be foreseen
_BAR, _SHORT_BAR = 16, 6  # characters: where there is room, and at least
_LOG_EVERY = 30.0  # seconds between two lines where the output is no terminal

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

    _latest: ClassVar[ProgressLine | None] = None  # the one that reports
    _paused: ClassVar[bool] = False  # something else stands there for a moment

    def __init__(
        self,
        wanted: bool = True,
        stream: TextIO | None = None,
        *,
        every: float = 0.2,
        log_every: float | None = None,
    ) -> None:
        self._stream = (sys.stderr if stream is None else stream) if wanted else None
        self.on_terminal = self._stream is not None and is_screen(self._stream)
        self._every = every if self.on_terminal else log_every
        self._next = time.perf_counter() + (0.0 if self.on_terminal else log_every or 0.0)
        self._shown = ""

    def pause(self, text: str) -> None:
        """Show something else on the terminal for a moment, in place of the job that reports."""
        if self.on_terminal:
            ProgressLine._paused = True
            self._write(text)

    def resume(self) -> None:
        """End that."""
        ProgressLine._paused = False
        self.clear()

    @property
    def is_latest(self) -> bool:
        """Whether no other line has taken over since."""
        return ProgressLine._latest is self

    def due(self) -> bool:
        """Return whether it is time for an update; it then is not before the next interval.

        Whoever asks reports from now on, in place of others.
        """
        ProgressLine._latest = self
        now = time.perf_counter()
        if self._stream is None or self._every is None or now < self._next:
            return False
        self._next = now + self._every
        return True

    def show(self, text: str, share: float | None = None) -> None:
        """Replace the line by a text, as far as it fits; without a terminal, append it.

        With the share of the job that is done, a bar stands in front of the text.
        """
        if self._stream is None:
            return
        text = printable("".join(f"{one}: " for one in _parents) + text).replace("\n", " ")
        if text == self._shown:
            return
        self._shown, ProgressLine._latest = text, self
        if self.on_terminal:
            self._write(text, share)
        elif self._every is not None:
            self._stream.write(f"{text}\n")
            self._stream.flush()

    def _write(self, text: str, share: float | None = None) -> None:
        assert self._stream is not None
        width = columns() - 1  # a line that wraps cannot be cleared
        size = min(_BAR, max(_SHORT_BAR, width - len(text) - 1))  # shorter, for more text
        bar = "" if share is None or width < 3 * _BAR else self._bar(share, size)
        room = width - (size + 1 if bar else 0)
        if len(text) > room:  # what comes last matters least
            fitting = text[: room + 1].rpartition("  ")[0]
            text = fitting if 2 * len(fitting) > room else text[:room]
        self._stream.write(f"\r\033[K{bar}{text}")
        self._stream.flush()

    def _bar(self, share: float, size: int) -> str:
        assert self._stream is not None
        done, left = ("━", "─") if _can_write(self._stream, "━─") else ("#", "-")
        full = round(size * min(max(share, 0.0), 1.0))
        return (
            styled(done * full, "green", self._stream)
            + styled(left * (size - full), "dim", self._stream)
            + " "
        )

    def clear(self) -> None:
        """Empty the line on the terminal."""
        if self.on_terminal and self._stream is not None:
            self._shown = ""
            self._stream.write("\r\033[K")
            self._stream.flush()


def _can_write(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


# -- jobs that report how far they are ---------------------------------------------------------


def terminal_progress(
    what: str,
    unit: str,
    wanted: bool = True,
    *,
    more: Callable[[], str] = lambda: "",
) -> Report:
    """Return a report that keeps a line on the terminal up to date, with speed and time left.

    Both are measured from the first report on, since what is before it includes compiling; they are
    shown after a second, or two percent of the job. Without a terminal, a job that takes long
    writes a line every half minute.

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
    if not wanted:
        return lambda done, total: None
    line = ProgressLine(log_every=_LOG_EVERY)
    pace = _Pace()

    def report(done: int, total: int) -> None:
        pace.add(done)
        if done >= total:
            line.clear()
        elif line.due():
            speed, left = "", ""
            if pace.is_known(total):
                speed = f"  {_rate(pace.speed, unit)}" if unit else ""
                left = f"  {clock((total - done) / pace.speed)} left"
            share = done / max(total, 1)
            line.show(f"{what} {share:4.0%}{speed}{left}  {more()}".rstrip(), share)

    return report


def _rate(speed: float, unit: str) -> str:
    """Return how many things are done a second, or how long one takes: "8 s per seed"."""
    if speed >= 1:
        return f"{readable(speed)} {unit}/s"
    seconds = 1 / speed
    long = clock(seconds) if seconds >= 100 else f"{seconds:.2g} s"
    return f"{long} per {unit.removesuffix('s')}"


class _Pace:
    """How fast a job is, since its first report."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None
        self._since = self._seconds = 0.0

    def add(self, done: float) -> None:
        """Take note of how much is done by now."""
        now = time.perf_counter()
        if self._first is None:
            self._first = done, now
        self._since, self._seconds = done - self._first[0], now - self._first[1]

    def is_known(self, total: float) -> bool:
        """Return whether enough is done to foresee the end."""
        enough = self._seconds >= _LEAST_SECONDS or self._since >= _LEAST_SHARE * total
        return self._since > 0 and self._seconds > 0 and enough

    @property
    def speed(self) -> float:
        """How much is done in a second."""
        return self._since / self._seconds


_parents: list[str] = []  # jobs that those which report now are parts of


@contextmanager
def part_of(job: str) -> Iterator[None]:
    """Name the job that the progress shown in the block is a part of: "seed 2 of 3"."""
    _parents.append(job)
    try:
        yield
    finally:
        _parents.pop()


# -- jobs that do not --------------------------------------------------------------------------


@contextmanager
def waiting(what: str, wanted: bool = True) -> Iterator[None]:
    """Show a job that reports nothing: the seconds that it takes, and how much of a file is read.

    A thread keeps the line up to date, until something in the block shows progress of its own.
    """
    line = ProgressLine(wanted, log_every=_LOG_EVERY)
    if not wanted:
        yield
        return
    line.due()
    if line.on_terminal:
        line.show(f"{what} ...")
    ended, known = threading.Event(), len(_files)
    began, pace = time.perf_counter(), _Pace()

    def update() -> None:
        while not ended.wait(0.2 if line.on_terminal else _LOG_EVERY):
            if ProgressLine._paused:
                continue
            if not line.is_latest:
                return
            seconds = time.perf_counter() - began
            if seconds < _LEAST_SECONDS:
                continue
            done, total = _position(known)
            pace.add(done)
            if not 0 < done < total:
                line.show(f"{what} ... {clock(seconds)}")
                continue
            text = f"{what} {done / total:4.0%}"
            if pace.is_known(total):
                left = clock((total - done) / pace.speed)
                text += f"  {readable_bytes(pace.speed)}/s  {left} left"
            line.show(text, done / total)

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    line.clear()


_files: list[tuple[int, int]] = []  # descriptors and sizes of files that are being read


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
