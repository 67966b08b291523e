"""What a piece of work takes of memory."""

from __future__ import annotations

import tracemalloc


def peak_of(work, *arguments):
    """Return the most bytes that arrays and objects take while a function works."""
    tracemalloc.start()
    try:
        work(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def least_peak_of(work, *arguments):
    """Return the least peak of three runs: what Python and numba themselves take differs."""
    return min(peak_of(work, *arguments) for _ in range(3))
