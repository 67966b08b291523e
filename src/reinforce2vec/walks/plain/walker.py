"""Walks made one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import read_only
from ..plan import Kernel, Task
from .capped import capped_walks
from .first_order import first_order_walks
from .memory import Paths, make_memory
from .neighbors import adjacency_of
from .open import open_walks
from .reinforced import reinforced_walks
from .second_order import second_order_walks

_CHUNK_STEPS = 1 << 16  # what a thread takes at a time

_KERNELS = {
    Kernel.FIRST_ORDER: first_order_walks,
    Kernel.SECOND_ORDER: second_order_walks,
    Kernel.OPEN: open_walks,
    Kernel.CAPPED: capped_walks,
    Kernel.REINFORCED: reinforced_walks,
}


class Walker:
    """Makes walks in the calling thread; several threads may call `fill` at once."""

    uses_threads = True

    def __init__(self, task: Task) -> None:
        self.task = task
        self.chunk = max(1, _CHUNK_STEPS // task.length)
        self._graph = adjacency_of(task.graph)
        self._starts = read_only(task.starts)
        self._kernel = _KERNELS[task.plan.kernel]

    def suits(self, task: Task) -> bool:
        """Return whether a task, of the same graph and plan, has the same seed and starts."""
        return task.seed == self.task.seed and task.starts is self.task.starts

    def fill(self, first: int, walks: NDArray[np.int32]) -> None:
        """Fill an array (walks, length) with the walks from number `first` on."""
        paths = Paths(self._starts, np.uint64(self.task.seed), first, walks)
        self._kernel(self._graph, paths, self.task.plan.settings, make_memory(self.task.length))
