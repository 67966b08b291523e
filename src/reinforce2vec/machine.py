"""What the machine has: processors and memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CGROUPS = ("/sys/fs/cgroup", "memory.max", "memory.current"), (
    "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
)  # fmt: skip


def available_cpus() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_bytes() -> int | None:
    """Memory that can still be taken without swapping; None where the system does not tell."""
    free = _kilobytes("/proc/meminfo", "MemAvailable")
    limits = [] if free is None else [free]
    for folder, most, used in CGROUPS:  # a container may have less than its machine
        try:
            taken = int(Path(folder, used).read_text())
            limits.append(max(0, int(Path(folder, most).read_text()) - taken))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(limits, default=None)


def peak_bytes() -> int:
    """The most memory this process has had; 0 where the system does not tell."""
    peak = _kilobytes("/proc/self/status", "VmHWM")  # getrusage also counts who started this one
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _kilobytes(path: str, name: str) -> int | None:
    """A line of one of Linux's tables, in bytes."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), None)
