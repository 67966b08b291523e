"""Who makes walks: the fast or the plain engine on the CPU, or the GPU. All give the same walks.

Processes of a cluster use the CPU: `ray.ranges` gives them ranges of walks to make.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.engine import fast_engine_compiles
from .plan import Task


class Walker(Protocol):
    """Makes the walks of a task. Each backend has a class of this name in its `walker` module."""

    chunk: int  # walks to make at a time
    uses_threads: bool  # whether several threads should call `fill`, each for a chunk

    def suits(self, task: Task) -> bool:
        """Return whether a task, of the same graph and plan, has the same seed and starts."""

    def fill(self, first: int, walks: NDArray[np.int32]) -> None:
        """Fill an array (walks, length) with the walks from number `first` on."""


def make_walker(task: Task, backend: str) -> Walker:
    """Return what makes the walks of a task in this process; of the backend "ray", on its CPU."""
    return {"cpu": _on_cpu, "cuda": _on_gpu, "ray": _on_cpu}[backend](task)


def _on_gpu(task: Task) -> Walker:
    from .cuda.walker import Walker

    return Walker(task)


def _on_cpu(task: Task) -> Walker:
    _ = task.graph.alias  # made here: a failure would have nothing to do with the engine
    if fast_engine_compiles(lambda: _fast(task).fill(0, np.empty((0, task.length), np.int32))):
        return _fast(task)
    from .plain.walker import Walker

    return Walker(task)


def _fast(task: Task) -> Walker:
    from .cpu.walker import Walker

    return Walker(task)
