"""What a result was measured on, and how much memory this process has taken."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path


def describe(*packages: str) -> dict:
    """Machine, versions and date, for a file of results."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = ("reinforce2vec", "numpy", "scipy", "numba", *packages)
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
        "commit": commit.stdout.strip(),
    }


def processor() -> str:
    """The processor's name, where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")


def peak_bytes() -> int:
    """The most memory this process has had."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, getrusage also counts the process that started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
