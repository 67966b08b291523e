"""Walks on the threads of this machine: which kernel, how many lanes, how much scratch memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import read_only
from ..plan import Kernel, Task
from .capped import capped_walks, make_capped_scratch
from .first_order import first_order_walks
from .memory import bytes_per_walk
from .neighbors import Arcs, Batch
from .open import make_open_scratch, open_walks
from .reinforced import make_reinforced_scratch, reinforced_walks
from .second_order import second_order_walks
from .weighing import padded

_LANES = 32  # walks that advance in turn, at most
_MANY_LANES = 128  # where they wait for little but memory
_LANE_BYTES = 4 << 20  # scratch memory that they may take together
_CHUNK_STEPS = 1 << 16  # what a thread takes at a time: some milliseconds of work


class _Implementation(NamedTuple):
    kernel: Callable[..., None]
    bytes_per_lane: Callable[[int, int], int]  # of length and number of nodes
    make_scratch: Callable[[int, int, int], tuple[Any, ...]]  # of lanes, length, number of nodes
    lanes: int = _LANES


def _no_bytes(length: int, n_nodes: int) -> int:
    return 0


def _path_bytes(length: int, n_nodes: int) -> int:
    return 8 * padded(length)


_IMPLEMENTATIONS = {
    Kernel.FIRST_ORDER: _Implementation(
        first_order_walks, _no_bytes, lambda *sizes: (), _MANY_LANES
    ),
    Kernel.SECOND_ORDER: _Implementation(second_order_walks, _no_bytes, lambda *sizes: ()),
    Kernel.OPEN: _Implementation(
        open_walks,
        _path_bytes,
        lambda lanes, length, _: make_open_scratch(lanes, length),
        _MANY_LANES,
    ),
    Kernel.CAPPED: _Implementation(
        capped_walks, _path_bytes, lambda lanes, length, _: make_capped_scratch(lanes, length)
    ),
    Kernel.REINFORCED: _Implementation(reinforced_walks, bytes_per_walk, make_reinforced_scratch),
}


class Walker:
    """Makes walks in the calling thread; several threads may call `fill` at once."""

    uses_threads = True

    def __init__(self, task: Task) -> None:
        self.task = task
        alias = task.graph.alias  # made once, before threads need it
        self._weighing = None if alias is None else tuple(map(read_only, alias))
        self._starts = read_only(task.starts)
        self._implementation = _IMPLEMENTATIONS[task.plan.kernel]
        a_lane = self._implementation.bytes_per_lane(task.length, task.graph.n_nodes)
        self._lanes = max(1, min(self._implementation.lanes, _LANE_BYTES // max(a_lane, 1)))
        self.chunk = max(self._lanes, _CHUNK_STEPS // task.length)

    def suits(self, task: Task) -> bool:
        """Return whether a task, of the same graph and plan, has the same seed and starts."""
        return task.seed == self.task.seed and task.starts is self.task.starts

    def fill(self, first: int, walks: NDArray[np.int32]) -> None:
        """Fill an array (walks, length) with the walks from number `first` on."""
        graph, _, seed, length, _, plan = self.task
        keys, gammas, bits = np.empty((3, self._lanes), np.uint64)
        self._implementation.kernel(
            Arcs(graph.indptr, graph.indices, graph.directed),
            self._weighing,
            Batch(self._starts, np.uint64(seed), first, walks, keys, gammas, bits),
            plan.settings,
            self._implementation.make_scratch(self._lanes, length, graph.n_nodes),
        )
