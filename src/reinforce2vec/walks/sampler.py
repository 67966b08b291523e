"""Sampling walks, in blocks of bounded size or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.backend_choice import choose, has_room
from .._util.checks import check_choice, check_count
from .._util.errors import InputError
from .._util.hyperparameters import DIRECTIONS
from .._util.machine import available_cpus
from .._util.progress import Report, terminal_progress
from ..graph import Graph
from ._backends import Walker, make_walker
from .plan import Plan, Task, plan_for
from .policy import ReinforcedWalk, Walk, check_walk

Walks = NDArray[np.int32]

_BLOCK_BYTES = 16 << 20  # a block of walks


class WalkSampler:
    """An iterator over blocks of walks, which are sampled as they are needed.

    Walk k starts at node k modulo the number of nodes (or at starts[k % len(starts)]) and is a
    pure function of graph, walk, length, seed and k: neither `workers` nor `block_size` nor
    `backend` changes it. Memory: one block and, for each thread, the visits of a few walks.

    Parameters
    ----------
    graph : Graph
        Where to walk. Anything else that :meth:`Graph.from_any` takes is converted.
    walk : ReinforcedWalk, FirstOrderWalk or SecondOrderWalk, optional
        How to walk; by default the paper's DRRW with JS divergence and UCB.
    length : int, default 40
        Nodes in a walk, the start included.
    per_node : int, default 80
        Walks from every start.
    seed : int, default 0
        The same seed gives the same walks.
    workers : int, optional
        Threads; by default one for each CPU this process may use.
    starts : iterable of node ids, optional
        Where walks start; by default every node, in `graph.ids` order.
    block_size : int, optional
        Walks in a block; by default what fits in 16 MB.
    progress : bool or callable, default False
        True shows a line on a terminal; a callable gets walks done and walks in all.
    backend : {"auto", "cpu", "cuda"}, default "auto"
        Where walks are sampled. "auto" uses a GPU if there is one with enough memory for the
        graph, there are many walks, and `workers` is not given.
    direction : {"forward", "both"}, default "forward"
        On a directed graph, whether walks follow edges in their direction only, or both ways;
        then the weights of two edges in opposite directions are added.

    Examples
    --------
    >>> from reinforce2vec import WalkSampler, karate_club
    >>> sampler = WalkSampler(karate_club(), length=10, per_node=4, block_size=100)
    >>> [block.shape for block in sampler]
    [(100, 10), (36, 10)]
    """

    def __init__(
        self,
        graph: Any,
        walk: Walk | None = None,
        *,
        length: int = 40,
        per_node: int = 80,
        seed: int = 0,
        workers: int | None = None,
        starts: Iterable[Any] | None = None,
        block_size: int | None = None,
        progress: bool | Report = False,
        backend: str = "auto",
        direction: str = "forward",
    ) -> None:
        self.direction = check_choice("direction", direction, DIRECTIONS)
        self.graph = whole = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        if direction == "both":
            self.graph = self.graph.to_undirected()
        self.copied_bytes = 0 if self.graph is whole else self.graph.nbytes
        self.walk = ReinforcedWalk() if walk is None else walk
        check_walk(self.walk)
        self.length = check_count("length", length, 1)
        self.per_node = check_count("per_node", per_node, 0)
        self.seed = check_count("seed", seed, 0) % 2**64
        self.workers = available_cpus() if workers is None else check_count("workers", workers, 1)
        if starts is None:
            self.starts = np.arange(self.graph.n_nodes, dtype=np.int32)
        elif isinstance(starts, (str, bytes)) or not isinstance(starts, Iterable):
            raise InputError(f"starts must be a list of node ids, not {starts!r}")
        else:
            self.starts = self.graph.rows(starts)
        fitting = max(1, _BLOCK_BYTES // (4 * self.length))
        self.block_size = (
            fitting if block_size is None else check_count("block_size", block_size, 1)
        )
        self.progress = progress
        steps = self.n_walks * self.length
        self.backend = choose(backend, "walks", steps, workers=workers)
        self._given_backend = backend
        self._walker: Walker | None = None

    @property
    def n_walks(self) -> int:
        """Number of walks."""
        return self.per_node * len(self.starts)

    def __len__(self) -> int:
        """Number of blocks."""
        return -(-self.n_walks // self.block_size)

    def __iter__(self) -> Iterator[Walks]:
        """Yield int32 arrays (walks, length): row numbers into graph.ids, -1 after a walk's end."""
        report = self._report()
        with ThreadPoolExecutor(self.workers) as threads:
            for first in range(0, self.n_walks, self.block_size):
                count = min(self.block_size, self.n_walks - first)
                block = np.empty((count, self.length), np.int32)
                self._fill_all(block, first, threads, report)
                yield block

    def sample(self) -> Walks:
        """Return all walks in one array."""
        walks = np.empty((self.n_walks, self.length), np.int32)
        with ThreadPoolExecutor(self.workers) as threads:
            self._fill_all(walks, 0, threads, self._report())
        return walks

    def _fill_all(
        self, walks: Walks, first: int, threads: ThreadPoolExecutor, report: Report
    ) -> None:
        walker = self._ready_walker()
        chunk = walker.chunk
        if not walker.uses_threads:
            for at in range(0, len(walks), chunk):
                walker.fill(first + at, walks[at : at + chunk])
                report(min(first + at + chunk, first + len(walks)), self.n_walks)
            return
        if len(walks) < self.workers * chunk:  # few walks: a share for each thread
            chunk = max(1, -(-len(walks) // self.workers))
        begins = range(0, len(walks), chunk)
        jobs = [threads.submit(walker.fill, first + at, walks[at : at + chunk]) for at in begins]
        try:
            for at, job in zip(begins, jobs, strict=True):
                job.result()
                report(min(first + at + chunk, first + len(walks)), self.n_walks)
        finally:
            for job in jobs:  # an interrupt ends with the chunks under way
                job.cancel()

    def fill(self, first: int, walks: Walks) -> None:
        """Fill an int32 array (walks, length) with the walks from number `first` on.

        Works in the calling thread; several threads may fill arrays at once.
        """
        self._ready_walker().fill(first, walks)

    @cached_property
    def plan(self) -> Plan:
        """Which kernel makes the walks, and the tables it looks up."""
        return plan_for(self.graph, self.walk, self.length)

    @property
    def task(self) -> Task:
        """All that a backend needs to make the walks, with seed and starts as they are now."""
        return Task(self.graph, self.starts, self.seed, self.length, self.n_walks, self.plan)

    def _ready_walker(self) -> Walker:
        """Return what makes the walks, with seed and starts as they are now."""
        task, walker = self.task, self._walker
        if walker is None or not walker.suits(task):
            self._walker = walker = None  # frees its memory
            if self.backend == "cuda" and not self._gpu_has_room(task):
                self.backend = "cpu"
            self._walker = walker = make_walker(task, self.backend)
        return walker

    def _gpu_has_room(self, task: Task) -> bool:
        from .cuda.walker import bytes_for

        what = f"walking on {self.graph.n_nodes:,} nodes"
        return has_room(bytes_for(task), what, self._given_backend)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__ | {"_walker": None}
        state.pop("plan", None)  # made again when needed, like the walker
        return state

    def _report(self) -> Report:
        if callable(self.progress):
            return self.progress
        if self.progress:
            return terminal_progress("walking", "walks")
        return lambda done, total: None


def sample_walks(graph: Any, walk: Walk | None = None, **options: Any) -> Walks:
    """Sample walks from every node of a graph, all in one array.

    Parameters
    ----------
    graph : Graph
        Where to walk. Anything else that :meth:`Graph.from_any` takes is converted.
    walk : ReinforcedWalk, FirstOrderWalk or SecondOrderWalk, optional
        How to walk; by default the paper's DRRW with JS divergence and UCB.
    **options
        As in :class:`WalkSampler`: `length` (40), `per_node` (80), `seed` (0), `workers`,
        `starts`, `progress`, `backend`, `direction`.

    Returns
    -------
    int32 array (walks, length)
        Row numbers into `graph.ids`. Walk k starts at node k modulo the number of nodes. A walk
        that ended early, at a node without neighbours, is filled up with -1.

    Examples
    --------
    >>> from reinforce2vec import FirstOrderWalk, karate_club, sample_walks
    >>> sample_walks(karate_club(), FirstOrderWalk(), length=5, per_node=1).shape
    (34, 5)
    """
    return WalkSampler(graph, walk, **options).sample()
