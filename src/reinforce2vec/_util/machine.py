"""What the machine has: CPUs and memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .errors import InputError
from .progress import readable_bytes

_FOR_LIBRARIES, _FOR_A_THREAD = 900_000_000, 100_000_000  # bytes of address space
_KEPT_BY_ALLOCATOR = 32 << 20  # glibc keeps arrays of up to 32 MB that were freed, for later ones

_GROUPS_OF_THIS_PROCESS = Path("/proc/self/cgroup")
_CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory",
        *("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ),
)


def available_cpus() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_bytes() -> int | None:
    """Return the memory that can be allocated without swapping; None if the system hides it."""
    free = _kilobytes(Path("/proc/meminfo"), "MemAvailable")
    limits = [] if free is None else [free]
    for root, most, used, cache in _CGROUPS:  # a container may have less than its machine
        for folder in _own_groups(Path(root)):
            try:
                taken = int((folder / used).read_text())
                taken -= _entry(folder / "memory.stat", cache) or 0  # the system frees it on demand
                limits.append(max(0, int((folder / most).read_text()) - taken))
            except (OSError, ValueError):  # no such file, or "max"
                continue
    addresses, reserved = _address_space(), _kilobytes(Path("/proc/self/status"), "VmSize")
    if addresses is not None and reserved is not None:
        limits.append(max(0, addresses - reserved))
    return min(limits, default=None)


def check_address_space() -> None:
    """Raise InputError if `ulimit -v` leaves too few addresses to load and run the compiler.

    Libraries that cannot reserve addresses for a thread abort the process, or wait for ever. They
    reserve far more than they use; this was measured with training from a cold cache.
    """
    most = _address_space()
    if most is None or "numba" in sys.modules:  # what is loaded has what it needs
        return
    needed = _FOR_LIBRARIES + available_cpus() * _FOR_A_THREAD
    if most < needed:
        raise InputError(
            f"`ulimit -v` leaves {readable_bytes(most)} of address space to this process, and its "
            f"libraries reserve about {readable_bytes(needed)} for {available_cpus()} CPU "
            "cores, though they use less memory: raise that limit, or limit memory by a control "
            "group, as containers do"
        )


def _address_space() -> int | None:
    """Return the bytes of addresses that the process may reserve; None without a limit."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, AttributeError, OSError):  # Windows, or a system without this limit
        return None
    return None if most == resource.RLIM_INFINITY else most


class Advice(NamedTuple):
    """What to do about too little memory, and the settings that the text names."""

    text: str
    settings: tuple[tuple[str, Any], ...] = ()


def _usual_advice(missing: int) -> Advice:
    return Advice("use fewer dimensions, a smaller graph or a larger machine")


def _largest_below(given: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to before `given` that fits, where less fits too; or 0."""
    low, high = 0, given  # what fits, what does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def check_memory(
    needed: int,
    what: str,
    advise: Callable[[int], Advice] = _usual_advice,
    *,
    free: int | None = None,
    place: str = "memory",
) -> None:
    """Raise InputError, with figures, if more memory is needed than is free.

    Parameters
    ----------
    needed : int
        Bytes, without what the allocator keeps.
    what : str
        What needs them: the subject of the error's sentence.
    advise : callable
        Gets the number of missing bytes, and returns what to do about it.
    free : int, optional
        Bytes that are free; by default those of the machine, where it reports them.
    place : str
        What is too small.
    """
    kept = 0
    if free is None:
        free, kept = available_bytes(), _KEPT_BY_ALLOCATOR
    if free is None:
        return
    usable = max(free // 2, free - kept)  # the allocator keeps no more than it was given back
    if needed > usable:
        advice = advise(needed - usable)
        about = needed if needed > free else needed + min(needed, kept)
        raise InputError(
            f"{what} needs about {readable_bytes(about)} of {place}, and "
            f"{readable_bytes(max(free, 0))} are free: {advice.text}",
            settings=advice.settings,
        )


def check_dimensions(
    dimensions: int, bytes_for: Callable[[int], int], what: str, step: int = 1
) -> None:
    """Raise InputError if work with so many dimensions takes more memory than is free.

    It names how many would fit, of the multiples of `step`; `bytes_for` estimates the memory.
    """
    needed = bytes_for(dimensions)

    def advise(missing: int) -> Advice:
        given = ("dimensions", dimensions)
        fitting = step * _largest_below(
            -(-dimensions // step), lambda some: bytes_for(step * some) <= needed - missing
        )
        if fitting:
            return Advice(f"dimensions={fitting} would fit", (given, ("dimensions", fitting)))
        text = (
            "no number of dimensions would fit: use a smaller graph, other settings or more memory"
        )
        return Advice(text, (given,))

    check_memory(needed, f"{what} with dimensions={dimensions}", advise)


def _own_groups(root: Path) -> list[Path]:
    """Return the folders of all control groups that this process belongs to."""
    try:
        lines = _GROUPS_OF_THIS_PROCESS.read_text().splitlines()
    except OSError:
        return [root]
    fields = (line.split(":", 2) for line in lines)  # 4:memory:/a/b, or 0::/a/b of version 2
    paths = {path for _, kinds, path in fields if not kinds or "memory" in kinds.split(",")}
    inner = [root / path.lstrip("/") for path in paths]
    return [
        root,
        *(group for own in inner for group in (own, *own.parents) if root in group.parents),
    ]


def peak_bytes() -> int:
    """Return the most memory this process has used; 0 if the system hides it."""
    # before getrusage, which also counts the process that started this one
    peak = _kilobytes(Path("/proc/self/status"), "VmHWM")
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _kilobytes(path: Path, name: str) -> int | None:
    """Return an entry of one of Linux's tables, in bytes."""
    entry = _entry(path, name)
    return None if entry is None else 1024 * entry


def _entry(path: Path, name: str) -> int | None:
    """Return the number behind a name in one of Linux's tables."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    rows = (line.split() for line in lines)
    return next((int(row[1]) for row in rows if row and row[0].rstrip(":") == name), None)
