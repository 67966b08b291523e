"""The fast engine of the CPU: the functions that `host` trains with, by the names of `plain`."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from threading import BrokenBarrierError

import numpy as np

from ..rules import WindowTask
from ..schedule import BucketTask, Order, Work, dealt, in_turn, lanes_of, rounds
from ..state import Settings, Weights, blank_weights
from .kernels import (
    count_pairs,
    further_groups,
    is_set,
    new_batch_room,
    new_board,
    place_pairs,
    skip_visits,
    train_buckets,
)

__all__ = ["Barrier", "Executor", "compile_kernels", "count_pairs", "place_pairs", "skip_visits"]


def compile_kernels(settings: Settings) -> None:
    """Compile the kernels that some settings need, by training on no walks."""
    blocks, seed = dealt(np.ones(1, np.int64), 0), np.uint64(0)
    keep = np.ones(1, np.float32) if settings.subsample else None
    task = WindowTask(seed, settings.widest, keep)
    nothing = np.empty(0, np.int32), np.zeros(1, np.int64), 0
    counts, pairs, room = np.zeros((1, 1), np.int64), np.empty(0, np.uint64), np.empty(1, np.uint8)
    if keep is not None:
        skip_visits(*nothing, task)
    count_pairs(*nothing, task, blocks.of, counts, room)
    place_pairs(*nothing, task, blocks.of, counts, pairs, room)
    order, rates, losses = in_turn(rounds(1)), np.zeros(1, np.float32), np.zeros(1)
    buckets = BucketTask(seed, settings.negatives, blocks, fetching=False)
    executor = Executor(blank_weights(1, 1), buckets, order, workers=1)
    executor.begin(Work(pairs, np.zeros(2, np.int64), 0, order, rates, losses))
    executor.run(0)


_AT_ONCE = 1 << 62  # buckets that a thread trains before it returns to Python
_NAP = 20e-6  # seconds until a thread looks again for a bucket that can begin


class Barrier:
    """As `threading.Barrier`, for one use; threads wait without sleeping, if it does not take long.

    With 16 threads the standard one takes a millisecond, which is a tenth of a short pass.
    """

    def __init__(self, parties: int, action: Callable[[], None] = lambda: None) -> None:
        self.parties, self.action = parties, action
        self.arrivals, self.broken = count(1), False
        self.open = np.zeros(1, np.int64)

    def wait(self) -> None:
        """Wait until all have arrived; the last one calls the action first."""
        if next(self.arrivals) == self.parties:
            self.action()
            self.open[0] = 1
        while not is_set(self.open):
            if self.broken:
                raise BrokenBarrierError
            time.sleep(_NAP)

    def abort(self) -> None:
        """End the waiting of all threads with BrokenBarrierError."""
        self.broken = True


class Executor:
    """Trains passes; every thread that calls `run` takes bucket after bucket."""

    def __init__(self, weights: Weights, task: BucketTask, order: Order, workers: int) -> None:
        self.weights, self.task, self.lanes = weights, task, lanes_of(order)
        self.rooms = [new_batch_room(task.negatives) for _ in range(workers)]
        self.further = further_groups(task.negatives)

    def begin(self, work: Work) -> None:
        """Get ready for a pass; the losses of its buckets will be written to `work`."""
        self.work, self.stopped = work, False
        self.board = new_board(self.lanes, self.task.blocks.n_blocks)

    def run(self, thread: int) -> None:
        """Train buckets until none is left."""
        n_lanes, n_threads, room = len(self.lanes.begins) - 1, len(self.rooms), self.rooms[thread]
        home = thread * n_lanes // n_threads
        while not self.stopped:
            if not train_buckets(
                home, _AT_ONCE, self.board, self.work, self.weights, self.task, self.further, room
            ):
                return
            time.sleep(_NAP)

    def stop(self) -> None:
        """End all threads: one has failed, and others would wait for its bucket forever."""
        self.stopped = True
