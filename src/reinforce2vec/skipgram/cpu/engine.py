"""The fast engine of the CPU: the functions that `host` trains with, by the names of `plain`."""

from __future__ import annotations

import numpy as np

from ..blocks import dealt
from ..rules import WindowTask
from ..schedule import BucketTask, Work, in_turn, rounds
from ..state import Settings
from ..weights import blank_weights
from .executor import Barrier, Executor
from .kernels import count_pairs, place_pairs, skip_visits

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
