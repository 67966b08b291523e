"""The GPU: whether there is one, and what it can do."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..errors import InputError, first_line, missing

_LEAST_CAPABILITY = (7, 0)
RESERVE = 256 << 20  # bytes left to CuPy, its libraries and the driver
SHARED_RESERVE = 1024  # bytes of shared memory that a block takes for itself
THREADS = 256  # in a block, for kernels in which each thread works alone


class Device(NamedTuple):
    """What a GPU can do."""

    capability: tuple[int, int]  # NVIDIA's number for what the hardware understands
    multiprocessors: int
    threads: int  # that a multiprocessor can hold
    shared_bytes: int  # of a multiprocessor
    shared_bytes_of_block: int  # at most


def cupy() -> Any:
    """Return the module CuPy; InputError if it is not installed, or has no device to work on."""
    reason = why_not()
    if reason is not None:
        raise InputError(reason, settings=[("backend", "cuda")])
    import cupy

    return cupy


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """Return what is missing for work on a GPU; None if nothing is."""
    if find_spec("cupy") is None:
        return str(missing("CuPy", "cuda", 'backend="cuda"'))
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() == 0:
            return 'backend="cuda" needs a GPU, and CuPy finds none'
        cupy.cuda.nvrtc.getVersion()  # what compiles the kernels
        major, minor = divmod(int(cupy.cuda.Device().compute_capability), 10)
    except Exception as error:  # a missing library, driver or device: each has its own class
        return f'backend="cuda" needs a GPU that CuPy can use: {first_line(error)}'
    if (major, minor) < _LEAST_CAPABILITY:
        least = ".".join(map(str, _LEAST_CAPABILITY))
        return (
            f'backend="cuda" needs a GPU of compute capability {least} or later, and '
            f"this one has {major}.{minor}"
        )
    return None


def properties() -> Device:
    """Return what the current GPU can do."""
    runtime = cupy().cuda.runtime
    facts = runtime.getDeviceProperties(runtime.getDevice())
    return Device(
        (int(facts["major"]), int(facts["minor"])),
        int(facts["multiProcessorCount"]),
        int(facts["maxThreadsPerMultiProcessor"]),
        int(facts["sharedMemPerMultiprocessor"]),
        int(facts["sharedMemPerBlockOptin"]),
    )


def free_bytes() -> int:
    """Return how much GPU memory is free, including what CuPy keeps for itself."""
    cp = cupy()
    free, _ = cp.cuda.runtime.memGetInfo()
    kept = cp.get_default_memory_pool().free_bytes()
    return int(free) + int(kept) - RESERVE
