"""Run work in several threads, and yield the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


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
) -> Iterator[_Result]:
    """Yield the results of `work` in the order of the items; at most `ahead` are under way."""
    waiting: deque[Future[_Result]] = deque()
    try:
        for item in items:
            waiting.append(threads.submit(work, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for job in reversed(waiting):  # no later one begins that would wait for an earlier one
            job.cancel()
