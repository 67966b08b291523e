"""CPU or GPU: what backend="auto" chooses, and whether the work fits into GPU memory."""

from __future__ import annotations

from typing import Any

from .cluster import connection
from .cuda import device
from .hyperparameters import PARAMETERS
from .machine import Advice, check_memory

# work from which on a GPU saves time, including the time to start it
LEAST_WORK = {
    "walks": 1 << 29,  # steps
    "training": 1 << 31,  # tokens times dimensions
    "smoothing": 2 * 10**10,  # numbers that are summed; two threads of a CPU take about 4 s
    "regression": 1 << 29,  # rows times dimensions times classes: some 5 s of the CPU
}


def choose(backend: Any, kind: str, work: int = 0, *, workers: int | None = None) -> str:
    """Return where to work: "cpu", "cuda" or "ray"; InputError if that is unknown or missing.

    `kind` and `work` say what is to be done, and how much of it, in the units of LEAST_WORK.
    "auto" chooses a GPU if there is one and the work is large enough, unless the number of threads
    is given: that is a choice of the CPU, where results repeat to the last bit.
    """
    PARAMETERS["backend"].check(backend)
    if backend == "auto":
        is_large = work >= LEAST_WORK[kind]
        return "cuda" if is_large and workers is None and device.why_not() is None else "cpu"
    if backend == "cuda":
        device.cupy()
    if backend == "ray":
        connection.check_installed()
    return str(backend)


def has_room(needed: int, what: str, backend: Any) -> bool:
    """Return whether so much GPU memory is free.

    InputError, with the figures, if it is not and the backend is not "auto".
    """
    free = device.free_bytes()
    if backend != "auto":
        check_memory(needed, what, _smaller_or_cpu, free=free, place="GPU memory")
    return needed <= free


def _smaller_or_cpu(missing: int) -> Advice:
    return Advice('use backend="cpu", or a larger GPU', (("backend", "cpu"),))
