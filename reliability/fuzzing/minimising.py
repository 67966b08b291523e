"""Makes inputs smaller that still end in the same finding."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import time
from collections.abc import Callable
from typing import Any

from .cases import Case
from .runs import Ending, Job, crash_of, replayed
from .targets import Target

_SECONDS = 20  # for one finding
_CPU_SECONDS = 10  # for one attempt


def minimise(
    target: Target, case: Case, origin: Case | None, wanted: Ending
) -> Callable[[Job, Callable[[dict[str, Any]], None]], None]:
    """Return the work of making an input smaller; it reports the smallest."""

    def work(job: Job, report: Callable[[dict[str, Any]], None]) -> None:
        end = time.monotonic() + _SECONDS
        smallest = case
        job.marker.set(1)

        def same(one: Case) -> bool:
            job.marker.set(1)
            ending = _in_fork(target, one, origin, job)
            if wanted.kind == "crash":
                return ending.kind == "crash" and ending.text.split()[:1] == wanted.text.split()[:1]
            return ending.kind == wanted.kind and ending.key == wanted.key

        if wanted.kind == "hang" or not same(case):
            report({"case": case, "again": wanted.kind == "hang"})
            return
        if case.options and same(plain := Case(case.target, case.files, case.main)):
            smallest = plain
        if origin is None:  # of a damaged file, all bytes but some are right
            for name in case.files:
                smallest = _shorter(smallest, name, same, end)
        report({"case": smallest, "again": True})

    return work


def _shorter(case: Case, name: str, same: Callable[[Case], bool], end: float) -> Case:
    """Remove pieces of a file, large ones first, as long as the finding stays."""
    packed = name.endswith(".gz")

    def with_content(content: bytes) -> Case:
        stored = gzip.compress(content, mtime=0) if packed else content
        return Case(case.target, case.files | {name: stored}, case.main, case.options)

    content = case.files[name]
    if packed:
        try:
            content = gzip.decompress(content)
        except Exception:
            packed = False
        else:
            if not same(with_content(content)):
                return case
    step = max(1, len(content) // 2)
    while step and time.monotonic() < end:
        at = 0
        while at < len(content) and time.monotonic() < end:
            shorter = content[:at] + content[at + step :]
            if same(with_content(shorter)):
                content = shorter
            else:
                at += step
        step //= 2
    return with_content(content)


def _in_fork(target: Target, case: Case, origin: Case | None, job: Job) -> Ending:
    """Read an input in a process of its own, which may crash."""
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 1))
        signal.alarm(4 * _CPU_SECONDS)
        try:
            ending = replayed(target, case, origin, job.folder / "input")
            os.write(send, f"{ending.kind}\n{ending.place}\n{ending.text}"[:4000].encode())
        finally:
            os._exit(0)
    os.close(send)
    text = b""
    while part := os.read(receive, 1 << 16):
        text += part
    os.close(receive)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return crash_of(job, status)
    kind, _, rest = text.decode(errors="replace").partition("\n")
    place, _, message = rest.partition("\n")
    return Ending(kind, message, place)
