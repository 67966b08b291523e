"""Sampling walks, in blocks of bounded size or all at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._util.backend_choice import choose, has_room
from .._util.checks import check_choice, check_count
from .._util.errors import InputError
from .._util.hyperparameters import DIRECTIONS
from .._util.machine import Advice, available_cpus, check_memory
from .._util.progress import Report, terminal_progress
from .._util.threads import Threads, in_turn
from ..graph import Graph
from ..graph.graph import bytes_without_directions
from ._backends import Walker, make_walker
from .plan import Plan, Task, plan_for
from .policy import ReinforcedWalk, Walk, check_walk

Walks = NDArray[np.int32]
_Result = TypeVar("_Result")

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
        Threads; by default one for each CPU this process may use. With the backend "ray",
        processes; by default one for each CPU of the cluster.
    starts : iterable of node ids, optional
        Where walks start; by default every node, in `graph.ids` order.
    block_size : int, optional
        Walks in a block; by default what fits in 16 MB.
    progress : bool or callable, default False
        True shows a line on a terminal; a callable gets walks done and walks in all.
    backend : {"auto", "cpu", "cuda", "ray"}, default "auto"
        Where walks are sampled. "auto" uses a GPU if there is one with enough memory for the
        graph, there are many walks, and `workers` is not given. "ray" uses the Ray cluster that
        this process is connected to, or that the environment variable RAY_ADDRESS names; without
        one it starts processes on this machine, and ends them after the last block.
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
        self.copying_bytes = 0
        if direction == "both":
            self.copying_bytes = bytes_without_directions(whole)[0]
            check_memory(self.copying_bytes, "a graph without directions", _forward)
            self.graph = whole.to_undirected()
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
        self._given_backend, self._given_workers = backend, workers
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
        return self._blocks(self.block_size)

    def sample(self) -> Walks:
        """Return all walks in one array."""
        with closing(self._blocks(max(1, self.n_walks))) as blocks:
            return next(blocks, np.empty((0, self.length), np.int32))

    def _blocks(self, size: int) -> Generator[Walks, None, None]:
        """Yield blocks of so many walks; the last one may have fewer."""
        self._check_memory(min(size, self.n_walks))
        if self.backend == "ray":
            yield from self._blocks_from_cluster(size)
            return
        report = self._report()
        with Threads(self.workers) as threads:
            for first in range(0, self.n_walks, size):
                block = self._empty_block(first, size)
                self._fill_all(block, first, threads, report)
                yield block

    def _check_memory(self, walks: int) -> None:
        """Raise InputError if a block of so many walks takes too much memory."""

        def advise(missing: int) -> Advice:
            fitting = (needed - missing) // a_walk
            if fitting < 1:
                return Advice("use a smaller length", (("length", self.length),))
            named = (("block_size", walks), ("block_size", fitting))
            return Advice(f"iterate over a WalkSampler: block_size={fitting} would fit", named)

        a_walk = 4 * self.length
        needed = walks * a_walk
        check_memory(needed, f"an array of {walks:,} walks of {self.length:,} nodes", advise)

    def _blocks_from_cluster(self, size: int) -> Generator[Walks, None, None]:
        """Yield blocks that are put together from the results of tasks."""
        report, done, filled = self._report(), 0, 0
        block = self._empty_block(0, size)
        for walks in self._on_cluster(None, None):
            done += len(walks)
            while len(walks):
                taken = walks[: len(block) - filled]
                block[filled : filled + len(taken)] = taken
                walks, filled = walks[len(taken) :], filled + len(taken)
                if filled == len(block):
                    first = done - len(walks)
                    report(first, self.n_walks)
                    yield block
                    block, filled = self._empty_block(first, size), 0
            report(done, self.n_walks)

    def _empty_block(self, first: int, size: int) -> Walks:
        return np.empty((min(size, self.n_walks - first), self.length), np.int32)

    def map_ranges(
        self,
        work: Callable[[int, Walks], _Result],
        size: int,
        before: Callable[[], str | None] | None = None,
    ) -> Generator[_Result, None, None]:
        """Yield what `work` returns for ranges of walks, in their order.

        The work is done where the walks are made: in threads, or in processes of a cluster.

        Parameters
        ----------
        work : callable
            Gets the number of the first walk, and walks. With the backend "ray" it is pickled, and
            may be called again for a range if a worker is lost.
        size : int
            Walks of a range.
        before : callable, optional
            Is called before any walk is made, once on each machine that makes them. It returns
            None, or why that machine cannot do the work: then InputError is raised.
        """
        report, done = self._report(), 0
        ranges = self._on_cluster if self.backend == "ray" else self._in_threads
        with closing(ranges(work, size, before)) as results:
            for result in results:
                done = min(done + size, self.n_walks)
                report(done, self.n_walks)
                yield result

    def _on_cluster(self, *work: Any) -> Generator[Any, None, None]:
        from .ray.ranges import map_ranges

        with closing(map_ranges(self.task, self.walk, self._given_workers, *work)) as results:
            yield from results

    def _in_threads(
        self,
        work: Callable[[int, Walks], _Result],
        size: int,
        before: Callable[[], str | None] | None,
    ) -> Generator[_Result, None, None]:
        if before is not None and (problem := before()) is not None:
            raise InputError(problem)
        walker, ended = self._ready_walker(), Event()
        threads = self.workers if walker.uses_threads else 1

        def make(first: int) -> _Result:
            walks = self._empty_block(first, size)
            for at in range(0, len(walks), walker.chunk):
                if ended.is_set():
                    raise CancelledError
                walker.fill(first + at, walks[at : at + walker.chunk])
            return work(first, walks)

        with Threads(threads) as pool:
            try:
                yield from in_turn(pool, make, range(0, self.n_walks, size), 2 * threads)
            finally:
                ended.set()

    def _fill_all(
        self, walks: Walks, first: int, threads: ThreadPoolExecutor, report: Report
    ) -> None:
        walker = self._ready_walker()
        chunk = walker.chunk
        if walker.uses_threads and len(walks) < self.workers * chunk:
            chunk = max(1, -(-len(walks) // self.workers))  # few walks: a share for each thread
        begins = range(0, len(walks), chunk)

        def fill(at: int) -> int:
            walker.fill(first + at, walks[at : at + chunk])
            return min(first + at + chunk, first + len(walks))

        filled = (
            in_turn(threads, fill, begins, 2 * self.workers)
            if walker.uses_threads
            else (fill(at) for at in begins)
        )
        with closing(filled) as done:
            for number in done:
                report(number, self.n_walks)

    def fill(self, first: int, walks: Walks) -> None:
        """Fill an int32 array (walks, length) with the walks from number `first` on.

        Works in the calling thread, also with the backend "ray"; several threads may fill arrays at
        once.
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


def _forward(missing: int) -> Advice:
    named = (("direction", "both"), ("direction", "forward"))
    return Advice('direction="forward" takes less', named)


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
