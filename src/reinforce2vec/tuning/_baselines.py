"""Baselines beside the search: other methods, as they are, scored as the best settings are."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from .._util.errors import InputError
from ..evaluation.results import MetricValues
from ..models.methods import BASELINES
from ._objective import TEST, VALIDATION, TuningTask

AUTO, _NONE = "auto", "none"
_ALWAYS = ("prone",)
_IF_SMALL = ("netmf", "grarep")  # of all pairs of nodes
_SMALL = 20_000  # nodes


@dataclass(frozen=True)
class BaselineRun:
    """A baseline with its own defaults, trained once.

    Attributes
    ----------
    name : str
        Its name, as `--method` takes it.
    validation, test : float or None
        Its scores on the part that the search looked at, and on the unseen part, in percent; None
        if it failed.
    way : str
        How its vectors are used best, by validation.
    scores : dict
        All ways and metrics on the unseen part.
    seconds : float
        Its time, including scoring.
    error : str
        Why it failed, if it did.
    """

    name: str
    validation: float | None = None
    test: float | None = None
    way: str = ""
    scores: MetricValues = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""

    @property
    def label(self) -> str:
        """Its name in the report."""
        return BASELINES[self.name].__name__


def chosen_baselines(method: str | Iterable[str], n_nodes: int) -> tuple[str, ...]:
    """Return the names of the baselines to try; InputError if there is no such method."""
    if method == AUTO:
        return _ALWAYS + (_IF_SMALL if n_nodes <= _SMALL else ())
    if method == _NONE:
        return ()
    names = method.split(",") if isinstance(method, str) else list(method)
    names = [name.strip() if isinstance(name, str) else name for name in names]
    for name in names:
        if name not in BASELINES:
            raise InputError(
                f"method must be {AUTO}, {_NONE}, or some of {', '.join(BASELINES)}, not {name!r}",
                parameter="method",
                value=name,
            )
    return tuple(dict.fromkeys(names))


def run_baseline(name: str, task: TuningTask, dimensions: int, seed: int) -> BaselineRun:
    """Compute the vectors of a baseline, and score them on both parts."""
    began = time.monotonic()
    try:
        model = BASELINES[name](dimensions=dimensions, seed=seed)
        vectors = model.fit(task.graph, progress=False).embedding_
        validation, test = (task.score(vectors, part) for part in (VALIDATION, TEST))
    except InputError as problem:  # too little memory, or a graph that does not suit it
        return BaselineRun(name, seconds=time.monotonic() - began, error=str(problem))
    way = max(validation, key=lambda one: validation[one][task.metric])
    return BaselineRun(
        name,
        validation[way][task.metric],
        test[way][task.metric],
        way,
        test,
        time.monotonic() - began,
    )
