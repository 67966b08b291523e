"""Processes that work for one another's good: each does jobs and hands back what it finds.

Each has one thread for linear algebra, so that results do not depend on how many there are. A
process that dies takes only its own job along; all of them end when the one that started them ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from .._util.errors import InputError

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class Found(NamedTuple):
    """Something that a process hands back: a result, a failure, or that its job is over."""

    job: int
    kind: str  # "result", "failure" or "over"
    value: Any


class Workers:
    """A few processes that do jobs.

    Parameters
    ----------
    count : int
        How many.
    work : callable
        Takes a job and yields its results; a function of a module, since it goes to a new process.
    """

    def __init__(self, count: int, work: Callable[[Any], Iterator[Any]]) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._count, self._work = count, work
        self._idle: list[tuple[Any, Connection]] = []
        self._busy: dict[Connection, tuple[Any, int]] = {}

    @property
    def free(self) -> bool:
        """Whether one more job can begin now."""
        return len(self._busy) < self._count

    @property
    def working(self) -> bool:
        """Whether a job is under way."""
        return bool(self._busy)

    def begin(self, number: int, job: Any) -> None:
        """Give a job to a process that has none."""
        process, line = self._idle.pop() if self._idle else self._start()
        line.send(job)
        self._busy[line] = (process, number)

    def wait(self, seconds: float) -> list[Found]:
        """What has come back; empty if nothing has in so many seconds."""
        found = []
        for line in wait(list(self._busy), seconds):
            assert isinstance(line, Connection)
            process, number = self._busy[line]
            try:
                kind, value = line.recv()
            except (EOFError, OSError):
                process.join()
                kind, value = "failure", how_it_ended(process.exitcode)
                found.append(Found(number, kind, value))
                kind, value = "over", None
                line.close()
                del self._busy[line]
            else:
                if kind == "over":
                    del self._busy[line]
                    self._idle.append((process, line))
            found.append(Found(number, kind, value))
        return found

    def end(self) -> None:
        """Stop all processes, whatever they are doing."""
        everyone = [*self._idle, *((process, line) for line, (process, _) in self._busy.items())]
        for process, line in everyone:
            process.kill()
            line.close()
        for process, _ in everyone:
            process.join()
        self._idle, self._busy = [], {}

    def _start(self) -> tuple[Any, Connection]:
        ours, theirs = self._context.Pipe()
        with one_thread():
            process = self._context.Process(target=serve, args=(theirs, self._work), daemon=True)
            process.start()
        theirs.close()
        return process, ours


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that begin here do linear algebra with one thread."""
    usual = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in usual.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def how_it_ended(code: int | None) -> str:
    """Why a process is gone, as far as its exit code tells."""
    if code == -signal.SIGKILL:
        return "its process was killed, perhaps because memory ran out: try fewer --jobs"
    return f"its process ended unexpectedly (exit code {code})"


# -- in the new process --------------------------------------------------------------------------


def serve(line: Connection, work: Callable[[Any], Iterator[Any]]) -> None:
    """Do jobs until there are none left to come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process also ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=end_with_parent, daemon=True).start()
    while True:
        try:
            job = line.recv()
        except EOFError:
            return
        try:
            for result in work(job):
                line.send(("result", result))
        except (InputError, MemoryError, OSError) as error:
            line.send(("failure", str(error) or type(error).__name__))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(last.filename)}, line {last.lineno}"
            line.send(("failure", f"{type(error).__name__}: {error} ({where})"))
        line.send(("over", None))


def end_with_parent() -> None:
    """End this process when the one that started it is gone, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
