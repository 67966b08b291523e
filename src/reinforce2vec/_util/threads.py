"""Run work in several threads, and yield the results in order."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

from .errors import InputError
from .interrupts import result_of

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Threads(ThreadPoolExecutor):
    """Threads for a piece of work; InputError if the system does not let them start."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Let a thread do some work."""
        try:
            return super().submit(work, *arguments, **options)
        except RuntimeError as error:
            if "start new thread" not in str(error):  # after the end, say
                raise
            raise InputError(
                f"the system does not let this process start {self._max_workers} threads (a limit "
                "on threads or memory, such as ulimit -u, or pids.max of a container): set workers "
                "to fewer, or allow more threads"
            ) from error


def taken_from(items: deque[_Item]) -> Iterator[_Item]:
    """Yield items until none is left; several threads may take from the same ones."""
    while True:
        try:
            yield items.popleft()
        except IndexError:
            return


def in_turn(
    threads: ThreadPoolExecutor,
    work: Callable[[_Item], _Result],
    items: Iterable[_Item],
    ahead: int,
) -> Generator[_Result, None, None]:
    """Yield the results of `work` in the order of the items; at most `ahead` are under way."""
    waiting: deque[Future[_Result]] = deque()
    try:
        for item in items:
            waiting.append(threads.submit(work, item))
            if len(waiting) >= ahead:
                yield result_of(waiting.popleft())
        while waiting:
            yield result_of(waiting.popleft())
    finally:
        for job in reversed(waiting):  # no later one begins that would wait for an earlier one
            job.cancel()


def do_all(
    threads: ThreadPoolExecutor, work: Callable[[_Item], object], items: Iterable[_Item]
) -> None:
    """Do work on each item."""
    for _ in in_turn(threads, work, items, sys.maxsize):
        pass


def _free_locks() -> None:
    """Give a forked process new locks of cached properties.

    Before Python 3.12 all objects of a class share one. A thread that held it does not exist in the
    child, which would wait for it forever.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(__name__.partition(".")[0] + "."):
            for kind in vars(module).values():
                for value in vars(kind).values() if isinstance(kind, type) else ():
                    if isinstance(value, cached_property):
                        value.lock = RLock()  # type: ignore[attr-defined]


if sys.version_info < (3, 12) and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)
