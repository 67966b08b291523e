"""Waiting for calls on Ray, which notices when workers or the whole cluster are lost."""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from ..errors import InputError, first_line

_FETCHING = 60.0  # seconds in which a result arrives that is ready
_LOOK = 1.0  # seconds between two checks of the head node
_SILENT = 20.0  # seconds without an answer of the head node, after which the cluster is lost


class WorkersLost(Exception):
    """Workers have ended, or do not answer; other workers can repeat the work."""


class ClusterLost(InputError):
    """The cluster does not answer any more."""


def results(ray: Any, refs: Sequence[Any], seconds: float) -> list[Any]:
    """Return the results of some calls, in their order.

    If a call has raised an exception, this raises it. WorkersLost if a worker has ended, or if no
    call ends for so many seconds; ClusterLost if the cluster does not answer.
    """
    waiting, deadline = list(refs), time.monotonic() + seconds
    found: dict[Any, Any] = {}
    head = _head_at(ray.get_runtime_context().gcs_address)
    while waiting:
        try:
            done, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=_LOOK)
        except Exception as error:  # of a connection that is lost
            raise _raised(ray, error) from None
        if done:
            found.update(zip(done, _fetched(ray, done), strict=True))
            deadline = time.monotonic() + seconds
        elif time.monotonic() > deadline:
            raise WorkersLost(f"no worker has answered for {seconds:.0f} s")
        head.check()
    return [found[ref] for ref in refs]


def in_turn(
    ray: Any, calls: Iterable[Any], ahead: int, seconds: float, ending: float = 0.0
) -> Generator[Any, None, None]:
    """Yield the results of calls, in their order; at most `ahead` of them are under way.

    Calls are made as the iterable is read. If this generator ends early, those that are left are
    cancelled, and have so many seconds (`ending`) to end.
    """
    waiting: deque[Any] = deque()

    def first() -> Any:
        (result,) = results(ray, [waiting[0]], seconds)
        waiting.popleft()
        return result

    try:
        for call in calls:
            waiting.append(call)
            if len(waiting) >= ahead:
                yield first()
        while waiting:
            yield first()
    finally:
        with suppress(Exception):  # the cluster may be lost
            for call in waiting:
                ray.cancel(call)
            deadline, left = time.monotonic() + ending, list(waiting)
            while left and time.monotonic() < deadline:
                _, left = ray.wait(left, num_returns=len(left), timeout=0.1)


def _fetched(ray: Any, refs: Sequence[Any]) -> list[Any]:
    """Return the results of calls that have ended."""
    try:
        return list(ray.get(list(refs), timeout=_FETCHING))
    except ray.exceptions.RayError as error:
        raise _raised(ray, error) from None


def _raised(ray: Any, error: BaseException) -> BaseException:
    """Return the exception to raise for one of Ray's: that of the call itself, or WorkersLost."""
    if isinstance(error, ray.exceptions.RayTaskError):
        cause = error.cause
        return _raised(ray, cause) if isinstance(cause, ray.exceptions.RayError) else cause
    if isinstance(error, ray.exceptions.RayError):
        return WorkersLost(first_line(error).rstrip("."))
    return error


class _Head:
    """The head node of a cluster; if it is lost, Ray ends this process after a minute."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = host.strip("[]"), int(port)
        self._looked = time.monotonic()
        self._silent_since: float | None = None

    def check(self) -> None:
        """Raise ClusterLost if the head node has not answered for some time."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        try:
            socket.create_connection(self._address, timeout=_LOOK).close()
            self._silent_since = None
        except OSError:
            if self._silent_since is None:
                self._silent_since = now
            elif now - self._silent_since > _SILENT:
                raise ClusterLost(
                    "the Ray cluster does not answer any more: its head node has ended, or the "
                    "network is down"
                ) from None


@lru_cache(maxsize=1)
def _head_at(address: str) -> _Head:
    """Return the head node at an address, the same object for all calls of :func:`results`.

    Each of them may be shorter than the time between two checks.
    """
    return _Head(address)
