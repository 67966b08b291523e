"""The graphics card: whether there is one, what it has, and whether to use it."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..errors import InputError, missing
from ..parameters import PARAMETERS
from ..progress import readable_bytes

LEAST_CAPABILITY = (7, 0)
RESERVE = 256 << 20  # bytes left to CuPy, its libraries and the driver
SHARED_RESERVE = 1024  # bytes of shared memory that a block takes for itself
THREADS = 256  # in a block, for kernels in which each thread works alone


class Device(NamedTuple):
    """What a card can do."""

    capability: tuple[int, int]  # NVIDIA's number for what the hardware understands
    multiprocessors: int
    threads: int  # that a multiprocessor can hold
    shared_bytes: int  # of a multiprocessor
    shared_bytes_of_block: int  # at most


def choose(backend: Any, *, workers: int | None, pays: bool) -> str:
    """Where to work: "cpu" or "cuda".

    With "auto" on a card if there is one and the work is large enough to pay, unless somebody has
    said how many threads to use: that is a word about the CPU, and with one thread a promise that
    results repeat to the last bit.
    """
    PARAMETERS["backend"].check(backend)
    if backend == "auto":
        return "cuda" if pays and workers is None and why_not() is None else "cpu"
    if backend == "cuda":
        cupy()
    return str(backend)


def cupy() -> Any:
    """The module CuPy; InputError if it is not there, or has no device to work on."""
    reason = why_not()
    if reason is not None:
        raise InputError(reason, settings=[("backend", "cuda")])
    import cupy

    return cupy


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """What is missing for work on a card; None if nothing is."""
    if find_spec("cupy") is None:
        return str(missing("CuPy", "cuda", 'backend="cuda"'))
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() == 0:
            return 'backend="cuda" needs a graphics card, and CuPy finds none'
        cupy.cuda.nvrtc.getVersion()  # what compiles the kernels
        major, minor = divmod(int(cupy.cuda.Device().compute_capability), 10)
    except Exception as error:  # a missing library, driver or device: each has its own class
        told = str(error).strip().splitlines() or [type(error).__name__]
        return f'backend="cuda" needs a graphics card that CuPy can use: {told[0]}'
    if (major, minor) < LEAST_CAPABILITY:
        least = ".".join(map(str, LEAST_CAPABILITY))
        return (
            f'backend="cuda" needs a graphics card of compute capability {least} or later, and '
            f"this one has {major}.{minor}"
        )
    return None


def properties() -> Device:
    """What the current card can do."""
    runtime = cupy().cuda.runtime
    found = runtime.getDeviceProperties(runtime.getDevice())
    return Device(
        (int(found["major"]), int(found["minor"])),
        int(found["multiProcessorCount"]),
        int(found["maxThreadsPerMultiProcessor"]),
        int(found["sharedMemPerMultiprocessor"]),
        int(found["sharedMemPerBlockOptin"]),
    )


def free_bytes() -> int:
    """Memory on the card that can still be taken, with what CuPy keeps for itself."""
    cp = cupy()
    free, _ = cp.cuda.runtime.memGetInfo()
    kept = cp.get_default_memory_pool().free_bytes()
    return int(free) + int(kept) - RESERVE


def has_room(needed: int, what: str, backend: Any) -> bool:
    """Whether so much memory is free on the card.

    If it is not, and the card was not left open but asked for, InputError with the figures.
    """
    free = free_bytes()
    if needed > free and backend != "auto":
        raise InputError(
            f"{what} needs about {readable_bytes(needed)} on the graphics card, and "
            f'{readable_bytes(max(free, 0))} are free there: use backend="cpu", or a larger card',
            settings=[("backend", "cpu")],
        )
    return needed <= free
