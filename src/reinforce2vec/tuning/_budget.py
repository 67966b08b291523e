"""The time budget of a search: how much is left, and how long a training will take."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from typing import Any

from .._util.checks import check_number
from .._util.errors import InputError
from .._util.hyperparameters import PARAMETERS
from ..skipgram.state import Settings
from .space import WALK_LENGTH, Setting

_NUMBER = re.compile(r"\d+(?:\.\d*)?")
_TIME = re.compile("".join(rf"(?:({_NUMBER.pattern}){unit})?" for unit in "hms"))
_SHARE_OF_A_TRIAL = 1 / 8  # of the budget, at most
SHARE_OF_THE_END = 1 / 4  # of the budget, for what comes after the search, at least
# the default and another one, both again on the unseen part, and to measure speed
_LEAST_TRIALS = 5
_BESIDE_THE_WINDOW = 3  # what a token costs beside its window, in steps of it
_RECENT = 4  # trainings that show how fast the machine is now


def seconds_of(budget: Any) -> float:
    """Return a time in seconds, from a number or from text.

    >>> [seconds_of(text) for text in ("90s", "10m", "1h30m", 45)]
    [90.0, 600.0, 5400.0, 45.0]
    """
    seconds = budget
    if isinstance(budget, str):
        text = budget.strip().lower()
        written = _TIME.fullmatch(f"{text}s" if _NUMBER.fullmatch(text) else text)
        if written is None or not any(written.groups()):
            problem = f"budget must be a time such as 90s, 10m or 1h30m, or seconds, not {budget!r}"
            raise InputError(problem, parameter="budget", value=budget)
        hours, minutes, rest = (float(number or 0) for number in written.groups())
        seconds = 3600 * hours + 60 * minutes + rest
    return check_number("budget", seconds, above=0.0)


class SearchClock:
    """The time that a search has spent, and that is left.

    Parameters
    ----------
    limit : float, optional
        Seconds in total; no limit by default.
    now : callable
        Returns the time.
    """

    def __init__(
        self, limit: float | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit, self.now, self.began = limit, now, now()

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return self.now() - self.began

    @property
    def left(self) -> float:
        """Seconds until the end."""
        return math.inf if self.limit is None else self.limit - self.elapsed


class TimeEstimates:
    """Estimates how long a training takes from recent ones; the slowest of them counts."""

    def __init__(self, n_nodes: int) -> None:
        self.n_nodes = n_nodes
        self.trainings: list[tuple[str, float, float]] = []
        """The walk of each, seconds for each unit of work, and for all else: scoring, smoothing."""

    def work(self, setting: Setting) -> float:
        """Return the work of a training: steps of the windows, over all walks and dimensions."""
        tokens = self.n_nodes * setting["walks_per_node"] * WALK_LENGTH
        scales = Settings(window=PARAMETERS["window"].typed(setting["window"])).scales()
        steps = sum(one.dimensions * one.widest for one in scales)
        mean = steps / sum(one.dimensions for one in scales)
        return float(tokens * (mean + _BESIDE_THE_WINDOW * len(scales)))

    def add(self, setting: Setting, training: float, beside: float) -> None:
        """Record how long a setting took."""
        self.trainings.append((setting["walk"], training / self.work(setting), beside))

    def expected(self, setting: Setting) -> float:
        """Return the seconds that a setting will take; 0 before the first."""
        if not self.trainings:
            return 0.0
        paces = [pace for walk, pace, _ in self.trainings if walk == setting["walk"]]
        paces = paces or [pace for _, pace, _ in self.trainings]
        beside = max(seconds for _, _, seconds in self.trainings[-_RECENT:])
        return self.work(setting) * max(paces[-_RECENT:]) + beside

    def most_walks(self, default: Setting, choices: tuple[int, ...], budget: float) -> int:
        """Return the most walks per node with which the default takes a small share of the budget.

        InputError, with the budget that is needed, if two settings with the fewest walks cannot be
        compared.
        """
        needed = _LEAST_TRIALS * self.expected(default | {"walks_per_node": choices[0]})
        if needed > budget:
            raise InputError(
                f"a budget of {budget:g}s is too little for this graph: comparing two settings "
                f"with {choices[0]} walk from every node takes about {math.ceil(needed)}s",
                parameter="budget",
                value=budget,
            )
        affordable = [
            walks
            for walks in choices
            if self.expected(default | {"walks_per_node": walks}) <= _SHARE_OF_A_TRIAL * budget
        ]
        return max(affordable, default=choices[0])
