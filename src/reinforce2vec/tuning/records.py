"""What a search records: trials, the runs of the best few at its end, and baselines."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..evaluation.results import MetricValues
from ..models.baselines import BASELINES
from .space import Setting


@dataclass(frozen=True)
class Trial:
    """A setting that was scored on the validation part.

    Attributes
    ----------
    number : int
        In the order of the search, from 0.
    setting : dict
        Its parameters, by the names of the search space.
    name : str
        Its name, if the search began with it.
    score : float or None
        On the validation part, in percent; None if the training failed.
    way : str
        How the vectors are used best, by validation: the operator that makes features of a pair.
    scores : dict
        All ways and metrics on the validation part.
    seconds : float
        Its time, including scoring.
    at : float
        Seconds from the beginning of the search to its end.
    error : str
        Why the training failed, if it did.
    """

    number: int
    setting: Setting
    name: str = ""
    score: float | None = None
    way: str = ""
    scores: MetricValues = field(default_factory=dict)
    seconds: float = 0.0
    at: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class FinalRuns:
    """A trial's setting trained again, with other seeds, and scored on both parts.

    Attributes
    ----------
    number : int
        The number of the trial.
    seeds : list of int
        Seeds of the trainings.
    validation, test : list of float
        For each seed the score on the part that the search looked at, and on the unseen part.
    scores : list of dict
        For each seed, all ways and metrics on the unseen part.
    """

    number: int
    seeds: list[int]
    validation: list[float]
    test: list[float]
    scores: list[MetricValues]


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
