"""Blocks of walks: who walks, on how many threads, in how much memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..graph import Graph
from ..progress import Report, terminal_progress
from . import scores as scoring
from .kernels import LANES, first_order_walks, second_order_walks
from .memory import make_memory
from .policy import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk, Walk, check_walk
from .reinforced import GREEDY, LINEAR, SOFTMAX, gentle_walks, reinforced_walks

Walks = NDArray[np.int32]
Kernel = Callable[[int, Walks], None]
"""Fills an array with the walks from a given number on."""

BLOCK_BYTES = 16 << 20  # a block of walks
CHUNK_STEPS = 1 << 16  # what a thread takes at a time: some milliseconds of work
LANE_BYTES = 4 << 20  # what the walks that advance in turn may remember together


class WalkSampler:
    """An iterator over blocks of walks, made as they are asked for.

    Walk k starts at node k modulo the number of nodes (or at starts[k % len(starts)]) and is a
    pure function of graph, walk, length, seed and k: neither `workers` nor `block_size` changes
    it. Memory is one block and, for each thread, what a few walks remember.

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
        One seed, one result.
    workers : int, optional
        Threads; by default one for each processor this process may use.
    starts : iterable of node ids, optional
        Where walks start; by default every node, in `graph.ids` order.
    block_size : int, optional
        Walks in a block; by default what fits in 16 MB.
    progress : bool or callable, default False
        True shows a line on a terminal; a callable gets walks done and walks in all.

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
    ) -> None:
        self.graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        self.walk = ReinforcedWalk() if walk is None else walk
        check_walk(self.walk)
        self.length = _count("length", length, 1)
        self.per_node = _count("per_node", per_node, 0)
        self.seed = _count("seed", seed, 0)
        self.workers = available_cpus() if workers is None else _count("workers", workers, 1)
        if starts is None:
            self.starts = np.arange(self.graph.n_nodes, dtype=np.int32)
        else:
            self.starts = self.graph.rows(starts)
        fitting = max(1, BLOCK_BYTES // (4 * self.length))
        self.block_size = fitting if block_size is None else _count("block_size", block_size, 1)
        self.progress = progress

    @property
    def n_walks(self) -> int:
        """Number of walks in all."""
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
                self._fill(block, first, threads, report)
                yield block

    def sample(self) -> Walks:
        """All walks in one array."""
        walks = np.empty((self.n_walks, self.length), np.int32)
        with ThreadPoolExecutor(self.workers) as threads:
            self._fill(walks, 0, threads, self._report())
        return walks

    def _fill(self, walks: Walks, first: int, threads: ThreadPoolExecutor, report: Report) -> None:
        chunk = max(LANES, CHUNK_STEPS // self.length)
        if len(walks) < self.workers * chunk:  # few walks: a share for each thread
            chunk = max(1, -(-len(walks) // self.workers))
        begins = range(0, len(walks), chunk)
        fill = kernel_for(self.graph, self.walk, self.length, self.seed, self.starts)
        jobs = [threads.submit(fill, first + at, walks[at : at + chunk]) for at in begins]
        try:
            for at, job in zip(begins, jobs, strict=True):
                job.result()
                report(min(first + at + chunk, first + len(walks)), self.n_walks)
        finally:
            for job in jobs:  # an interrupt ends with the chunks under way
                job.cancel()

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
        `starts`, `progress`.

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


def available_cpus() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def kernel_for(
    graph: Graph, walk: Walk, length: int, seed: int, starts: NDArray[np.int32]
) -> Kernel:
    """The function that fills an array with walks of one kind on one graph."""
    weighing = None if graph.alias is None else (*graph.alias, graph.weights)
    rows = (graph.indptr, graph.indices, weighing)
    seeded = np.uint64(seed % 2**64)

    def streams(lanes: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        return np.empty(lanes, np.uint64), np.empty(lanes, np.uint64)

    if isinstance(walk, FirstOrderWalk):

        def fill(first: int, walks: Walks) -> None:
            first_order_walks(*rows, starts, seeded, first, walks, *streams(LANES))

        return fill

    if isinstance(walk, SecondOrderWalk):
        p, q = float(walk.p), float(walk.q)

        def fill(first: int, walks: Walks) -> None:
            second_order_walks(
                *rows, graph.directed, starts, seeded, first, walks, *streams(LANES), p, q
            )

        return fill

    decisions = max(length - 1, 1)
    path = walk.occupation == "path"
    weights = walk.exploration_weights(decisions)
    nothing = np.zeros(decisions)
    alphas, epsilons = (weights, nothing) if walk.exploration == "ucb" else (nothing, weights)
    scores = scoring.make_scores(walk.reward, path, walk.temperature, alphas, graph.n_nodes)
    candidates = int(walk.candidates or 0)

    if walk.exploration == "ucb" and walk.reward != "vertex" and not path and not candidates:
        tops, floors = scoring.softmax_bounds(scores)

        def fill(first: int, walks: Walks) -> None:
            gentle_walks(
                *rows, starts, seeded, first, walks, *streams(LANES),
                scores, tops, floors, np.empty(LANES, np.int64),
            )  # fmt: skip

        return fill

    if walk.exploration == "ucb":
        rule = SOFTMAX
    else:
        rule = LINEAR if walk.reward == "vertex" and not path else GREEDY
    lanes = max(1, min(LANES, LANE_BYTES // (40 * min(length, graph.n_nodes) + 4 * length)))

    def fill(first: int, walks: Walks) -> None:
        reinforced_walks(
            *rows, graph.directed, starts, seeded, first, walks, *streams(lanes),
            rule, epsilons, candidates, scores, np.empty(lanes, np.int64),
            make_memory(lanes, length, graph.n_nodes),
        )  # fmt: skip

    return fill


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, not {value!r}")
    return int(value)
