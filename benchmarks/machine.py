"""The machine and versions that a result was measured with."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path


def describe(*packages: str) -> dict:
    """Return machine, versions and date, for a file of results."""
    names = ("reinforce2vec", "numpy", "scipy", "numba", *packages)
    return {
        "date": date(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in names},
        "commit": commit(),
    }


def date() -> str:
    """Return today's date."""
    return datetime.now(timezone.utc).date().isoformat()


def commit() -> str:
    """Return the commit that is checked out, or "" outside of a repository."""
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return found.stdout.strip()


def processor() -> str:
    """Return the name of the CPU, from Linux where possible."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
