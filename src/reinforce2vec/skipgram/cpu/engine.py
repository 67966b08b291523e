"""The fast engine of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..corpus import Taken
from ..host import HostEngine, task_for
from ..rules import DRAWN_AT_ONCE, Task
from ..state import Settings
from ..weights import Weights, blank_weights
from .kernels import WalkRoom, group_of, new_step_room, train_walks


class TrainingEngine(HostEngine):
    """Threads that train with the kernels of `kernels.py`."""

    def _train_walks(self, taken: Taken, first: int) -> Any:
        return _train_walks(taken, first, self.state.weights, self.task, self.corpus.longest)


def compile_kernels(settings: Settings) -> None:
    """Compile the kernels that some settings need, by training on no walks."""
    task, weights = task_for(settings, 1, np.ones(1, np.int64)), blank_weights(1, 1)
    _train_walks((np.empty(0, np.int32), np.zeros(1, np.int64)), 0, weights, task, longest=1)


def _train_walks(taken: Taken, first: int, weights: Weights, task: Task, longest: int) -> Any:
    n_groups, group = group_of(task.negatives)
    around = 2 * min(task.window, longest) + 2
    sizes = longest, around, DRAWN_AT_ONCE * n_groups * len(group)
    room = WalkRoom(*(np.empty(size, np.int64) for size in sizes))
    return train_walks(*taken, first, weights, task, group, room, new_step_room(n_groups))
