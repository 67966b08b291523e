"""What the machine has: processors and memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

GROUPS_OF_THIS_PROCESS = Path("/proc/self/cgroup")
CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory",
        *("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ),
)


def available_cpus() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_bytes() -> int | None:
    """Memory that can still be taken without swapping; None where the system does not tell."""
    free = _kilobytes(Path("/proc/meminfo"), "MemAvailable")
    limits = [] if free is None else [free]
    for root, most, used, cache in CGROUPS:  # a container may have less than its machine
        for folder in _own_groups(Path(root)):
            try:
                taken = int((folder / used).read_text())
                taken -= _entry(folder / "memory.stat", cache) or 0  # given back on demand
                limits.append(max(0, int((folder / most).read_text()) - taken))
            except (OSError, ValueError):  # no such file, or "max"
                continue
    return min(limits, default=None)


def _own_groups(root: Path) -> list[Path]:
    """Folders of all control groups around this process."""
    try:
        lines = GROUPS_OF_THIS_PROCESS.read_text().splitlines()
    except OSError:
        return [root]
    paths = {line.split(":", 2)[2] for line in lines if line.split(":")[1] in ("", "memory")}
    inner = [root / path.lstrip("/") for path in paths]
    return [
        root,
        *(group for own in inner for group in (own, *own.parents) if root in group.parents),
    ]


def peak_bytes() -> int:
    """The most memory this process has had; 0 where the system does not tell."""
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
    """An entry of one of Linux's tables, in bytes."""
    entry = _entry(path, name)
    return None if entry is None else 1024 * entry


def _entry(path: Path, name: str) -> int | None:
    """The number behind a name in one of Linux's tables."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    rows = (line.split() for line in lines)
    return next((int(row[1]) for row in rows if row and row[0].rstrip(":") == name), None)
