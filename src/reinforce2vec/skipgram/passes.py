"""Passes: pairs of nodes are found, sorted by bucket and trained, on threads.

`schedule` says what comes in which order, `pairs` sorts, and the executor of an engine trains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import BrokenBarrierError
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.threads import Threads, taken_from
from .engine import Chunk, Outcome
from .pairs import PairFinder, PairSorter
from .rules import falling_rates
from .schedule import BucketTask, Order, Work, dealt, first_number, in_turn, rounds
from .state import POINTS, Weights


class _PassOutcome(NamedTuple):
    """The result of a pass."""

    losses: NDArray[np.float64]  # of each bucket, in their order
    pairs: NDArray[np.int64]


class PassSettings(NamedTuple):
    """How to train passes."""

    seed: int
    negatives: int
    learning_rate: float  # the initial one
    total: int  # what is trained on in all: walks, or draws of edges
    one_matrix: bool = False  # whether contexts and centres are rows of the same matrix


class PassTrainer:
    """Trains on pairs, pass after pass, with threads of its own.

    Parameters
    ----------
    weights : Weights
        What is trained.
    visits : array
        Visits of nodes, or another weight: negatives are drawn by them.
    settings : PassSettings
        How to train.
    kernels : module
        `cpu.engine` or `plain`.
    workers : int
        Threads.

    Attributes
    ----------
    blocks : Blocks
        Which node is in which block.
    """

    def __init__(
        self,
        weights: Weights,
        visits: NDArray[Any],
        settings: PassSettings,
        kernels: ModuleType,
        workers: int,
    ) -> None:
        self.settings = settings
        self.blocks = dealt(visits, settings.seed)
        all_rounds = rounds(self.blocks.n_blocks, settings.one_matrix)
        self.order = in_turn(all_rounds, settings.one_matrix)
        self.n_rounds = len(all_rounds)
        self.buckets = self.order["context_block"] * self.blocks.n_blocks
        self.buckets += self.order["centre_block"]
        # rows that another core has changed take long to come
        task = BucketTask(np.uint64(settings.seed), settings.negatives, self.blocks, workers > 1)
        self.barrier = kernels.Barrier
        self.executor = kernels.Executor(weights, task, self.order, workers)
        self.workers, self.pool = workers, Threads(workers)
        self.room = np.empty(0, np.uint64)  # for pairs
        self.context = copy_context()  # of large arrays; threads do not have it

    def train(
        self, finder: PairFinder[Any], parts: list[Any], first: int, size: int
    ) -> _PassOutcome:
        """Train a pass: `size` walks or draws from number `first` on, in parts for the threads."""
        n_blocks, order, settings = self.blocks.n_blocks, self.order, self.settings
        by_round = falling_rates(settings.learning_rate, settings.total, first, size, self.n_rounds)
        rates, losses = by_round[order["round"]], np.zeros(len(order))
        sorter = PairSorter(finder, parts, n_blocks)

        def assign() -> None:
            self.context.run(sorter.assign, self.room)
            self.room, number = sorter.pairs, first_number(first, n_blocks)
            self.executor.begin(Work(sorter.pairs, sorter.bounds, number, order, rates, losses))

        self._on_threads(sorter, assign)
        return _PassOutcome(losses, np.diff(sorter.bounds)[self.buckets])

    def _on_threads(self, sorter: PairSorter, assign: Callable[[], None]) -> None:
        """Sort the pairs and train them, on all threads."""
        to_count, to_place = (deque(range(len(sorter.parts))) for _ in range(2))
        counted, placed = self.barrier(self.workers, assign), self.barrier(self.workers)

        def stop() -> None:
            counted.abort()
            placed.abort()
            self.executor.stop()

        def run(thread: int) -> None:
            try:
                for number in taken_from(to_count):
                    sorter.count(number)
                counted.wait()
                for number in taken_from(to_place):
                    sorter.place(number)
                placed.wait()
                self.executor.run(thread)
            except BaseException:
                stop()
                raise

        try:
            jobs = [self.pool.submit(run, thread) for thread in range(self.workers)]
        except BaseException:
            stop()  # else those that run would wait for the one that does not
            raise
        errors = [error for job in jobs if (error := job.exception()) is not None]
        for error in errors:
            if not isinstance(error, BrokenBarrierError):
                raise error  # the others failed because of it
        if errors:
            raise errors[0]

    def close(self) -> None:
        """End the threads."""
        self.pool.shutdown()


_OfBuckets = tuple[NDArray[np.float64], NDArray[np.int64]]  # losses, and pairs


def outcome_of(
    chunk: Chunk, n_walks: int, tokens: int, order: Order, scales: Sequence[_OfBuckets]
) -> Outcome:
    """Return the outcome of a pass over some of `n_walks` walks.

    `scales` has losses and pairs of the buckets for each scale, in the `order` of the pass.
    """
    (first, size), n_rounds = chunk, int(order["round"][-1]) + 1
    begins = (first * n_rounds + size * number for number in range(n_rounds))
    points = np.array([POINTS * begin // (n_walks * n_rounds) for begin in begins])
    of_buckets, start = (points - points[0])[order["round"]], int(points[0])
    losses = [np.bincount(of_buckets, of_scale).astype(np.float64) for of_scale, _ in scales]
    pairs = [np.bincount(of_buckets, of_scale).astype(np.int64) for _, of_scale in scales]
    return Outcome(chunk, tokens, start, np.stack(losses), np.stack(pairs))
