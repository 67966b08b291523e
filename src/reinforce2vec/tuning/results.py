"""What a search found: every trial, the last word on the unseen part, as text and as JSON."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from .._util.errors import InputError
from .._util.progress import clock, counted
from ..evaluation.results import HEADS, MetricValues
from ..files.writing import check_target, whole
from . import space
from .space import Setting

if TYPE_CHECKING:
    from ..models import Reinforce2Vec

FORMAT = "reinforce2vec tuning 1"
SHOWN = 5  # settings in the table
DEFAULT = "default"


@dataclass(frozen=True)
class Trial:
    """A setting that was tried.

    Attributes
    ----------
    number : int
        In the order of the search, from 0.
    setting : dict
        Its parameters, by the names of the search space.
    name : str
        What it is called, if the search began with it.
    score : float or None
        On the validation part, in percent; None if the training failed.
    way : str
        How the vectors are used best, by validation: the operator that makes features of a pair.
    scores : dict
        All ways and metrics on the validation part.
    seconds : float
        What it took, scoring included.
    at : float
        Seconds since the search began, when it was done.
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
class Final:
    """A trial's setting trained anew, with other seeds, and scored on both parts.

    Attributes
    ----------
    number : int
        Of the trial.
    seeds : list of int
        Of the trainings.
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


@dataclass(frozen=True, eq=False)
class Source:
    """How the user names the graph, in a command and in Python."""

    words: tuple[str, ...] = ("embed", "GRAPH", "-o", "vectors.npz")
    python: str = ""
    name: str = "the graph"


@dataclass(eq=False, repr=False)
class Tuning:
    """What :func:`tune` found. Prints as a report.

    Attributes
    ----------
    facts : dict
        What was tuned: graph, task, metric, dimensions, seed, budget and the like.
    trials : list of Trial
        Every setting that was tried, with its score on the validation part.
    finals : list of Final
        The best few and the default again, with other seeds, on the part that the search never
        looked at; empty if the search was interrupted.
    importances : dict
        Share of each parameter in reaching good scores; empty after too few trials to tell.
    finished : bool
        Whether the search ended by itself.
    """

    facts: dict[str, Any]
    trials: list[Trial] = field(default_factory=list)
    finals: list[Final] = field(default_factory=list)
    importances: dict[str, float] = field(default_factory=dict)
    elapsed: float = 0.0
    finished: bool = False
    source: Source = field(default_factory=Source)

    # -- the best ------------------------------------------------------------------------------

    @property
    def ranking(self) -> list[Trial]:
        """Trials that did not fail, by their score, the best first."""
        done = [trial for trial in self.trials if trial.score is not None]
        return sorted(done, key=lambda trial: -(trial.score or 0.0))

    @property
    def best(self) -> Trial:
        """The best setting: by validation, over all seeds that it was trained with."""
        if not self.finals:
            return self.ranking[0]
        return self.trials[max(self.finals, key=self.validation_of).number]

    @property
    def default(self) -> Trial:
        """The setting that :class:`Reinforce2Vec` has by itself, with as many walks as allowed."""
        tried = [trial for trial in self.trials if trial.name == DEFAULT]
        return max(tried, key=lambda trial: trial.setting["walks_per_node"])

    def validation_of(self, final: Final) -> float:
        """Mean validation score over the search and what came after it."""
        return mean([self.trials[final.number].score or 0.0, *final.validation])

    def final_of(self, trial: Trial) -> Final | None:
        """What a trial did on the unseen part, if it was asked."""
        return next((final for final in self.finals if final.number == trial.number), None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The best parameters of :class:`Reinforce2Vec`."""
        return space.parameters_of(self.best.setting, self.facts["dimensions"])

    def model(self, **changes: Any) -> Reinforce2Vec:
        """A model with the best parameters, to be fitted; `changes` override or add some."""
        from ..models import Reinforce2Vec

        return Reinforce2Vec(**(self.parameters | changes))

    @property
    def command(self) -> str:
        """The best setting as a command."""
        options = space.option_words(self.best.setting, self.facts["dimensions"])
        return shlex.join(["reinforce2vec", *self.source.words, *options])

    @property
    def python(self) -> str:
        """The best setting as Python."""
        model = space.python_model(self.best.setting, self.facts["dimensions"])
        lines = ["import reinforce2vec as r2v", ""]
        if self.source.python:
            lines.append(f"graph = {self.source.python}")
        lines += [f"model = {model}", 'model.fit(graph).embedding_.save("vectors.npz")']
        return "\n".join(lines)

    # -- text ----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if not self.ranking:
            return f"Tuning({self.facts['task']}, nothing tried yet)"
        parts = [self._heading(), self._comparison(), self._table()]
        if self.importances:
            shares = [f"{labels()[name]} {share:.0%}" for name, share in self.importances.items()]
            parts.append(f"what mattered for good scores: {', '.join(shares)}")
        parts += [
            f"the best setting by validation as a command\n{indented(self.command)}",
            f"and in Python\n{indented(self.python)}",
        ]
        return "\n\n".join(parts)

    def _heading(self) -> str:
        facts = self.facts
        if facts["task"] == "link-prediction":
            how = f"{facts['held_out_edges']:,} of {facts['edges']:,} edges held out"
        else:
            how = f"{facts['labelled_nodes']:,} labelled nodes, {facts['classes']:,} classes"
        tried = counted(len(self.trials), "setting")
        limit = ""
        if self.default.setting["walks_per_node"] < space.DEFAULT["walks_per_node"]:
            most = self.default.setting["walks_per_node"]
            limit = f"\nfor the budget's sake with at most {counted(most, 'walk')} from every node"
        return (
            f"{facts['task']} on {self.source.name}: {tried} in {clock(self.elapsed)}, {how}{limit}"
        )

    def _comparison(self) -> str:
        metric = HEADS[self.facts["metric"]]
        rows = [["", "validation", self.facts["unseen"], "operator"]]
        named = [(f"best: no. {self.best.number}", self.best), ("default", self.default)]
        if self.best is self.default:
            named = [("best: the default", self.best)]
        for name, trial in named:
            final = self.final_of(trial)
            known = trial.score or 0.0 if final is None else self.validation_of(final)
            asked = "-" if final is None else spread(final.test)
            rows.append([name, f"{known:.2f}", asked, trial.way])
        if self.facts["task"] != "link-prediction":
            rows = [row[:-1] for row in rows]
        lines = [f"{metric}, in percent", *columns(rows)]
        final = self.final_of(self.best)
        if final is None:
            lines.append("Interrupted before the unseen part: validation flatters what it chose.")
            return "\n".join(lines)
        lines += [
            "Validation chose the setting, which flatters it. The search never looked at the "
            f"{self.facts['unseen']}:",
            "they tell what to expect. Both were trained anew for this, with "
            f"{counted(len(final.seeds), 'seed')}, and the classifier with all other data.",
            *self._verdict(),
        ]
        return "\n".join(lines)

    def _verdict(self) -> list[str]:
        """A sentence if the best setting is no better than the default."""
        gain = self.gain
        if gain is None or self.best is self.default:
            return []
        if gain <= 0:
            return ["There the default is no worse: keep it, whatever follows."]
        (best, default) = (self.final_of(trial) for trial in (self.best, self.default))
        assert best is not None
        assert default is not None
        if min(best.test) <= max(default.test):
            return ["The two overlap: the gain may be chance."]
        return []

    @property
    def gain(self) -> float | None:
        """How much better than the default the best is on the unseen part; None if not known."""
        best, default = self.final_of(self.best), self.final_of(self.default)
        return None if best is None or default is None else mean(best.test) - mean(default.test)

    def _table(self) -> str:
        rows = [
            ["no.", HEADS[self.facts["metric"]], "walk", "walks", "window", "rate", "smooth", "s"]
        ]
        for trial in self.ranking[:SHOWN]:
            setting = trial.setting
            rate = space.learning_rate(setting) or space.resolved_usual(setting)
            rows.append(
                [
                    f"{trial.number}",
                    f"{trial.score:.2f}",
                    space.in_words(setting),
                    f"{setting['walks_per_node']}",
                    f"{setting['window']}",
                    f"{rate:.2g}",
                    "yes" if setting["smooth"] else "no",
                    f"{trial.seconds:.1f}",
                ]
            )
        return "\n".join(
            [
                f"best of {len(self.trials)} in the search, by validation of one training each",
                *columns(rows, {2}),
            ]
        )

    # -- files ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `json.dumps` takes it."""
        best: dict[str, Any] = {}
        if self.ranking:
            best = {
                "best": self.best.number,
                "way": self.best.way,
                "gain": self.gain,
                "best_as_command": self.command,
                "best_as_python": self.python,
            }
        return {
            "format": FORMAT,
            **self.facts,
            "elapsed": self.elapsed,
            "finished": self.finished,
            **best,
            "importances": self.importances,
            "finals": [asdict(final) for final in self.finals],
            "trials": [asdict(trial) for trial in self.trials],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, whole or not at all."""
        with whole(check_target(path)) as stream:
            stream.write((json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tuning:
        """What a search has written, finished or not."""
        try:
            found = json.loads(Path(path).read_bytes())
            if found["format"] != FORMAT:
                raise KeyError
            trials = [Trial(**trial) for trial in found.pop("trials")]
            finals = [Final(**final) for final in found.pop("finals")]
            own = {name: found.pop(name) for name in ("importances", "elapsed", "finished")}
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path}: this is not what tuning writes") from None
        told = ("format", "best", "way", "gain", "best_as_command", "best_as_python")
        facts = {name: value for name, value in found.items() if name not in told}
        return cls(facts, trials, finals, **own)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw how the search went and what mattered: a matplotlib Figure.

        Parameters
        ----------
        path : path, optional
            Also write it to a file: .png, .svg or .pdf.
        """
        from ..plotting import save
        from .picture import picture

        figure = picture(self)
        if path is not None:
            save(figure, path)
        return figure


def labels() -> Mapping[str, str]:
    """What parameters are called in tables and pictures."""
    return {one.name: one.label for one in space.SPACE}


def spread(values: Sequence[float]) -> str:
    """Mean, and the standard deviation if there is one."""
    told = f"{mean(values):.2f}"
    return told if len(values) == 1 else f"{told} ± {stdev(values):.2f}"


def columns(rows: list[list[str]], to_the_left: Sequence[int] | set[int] = (0,)) -> list[str]:
    """Rows as lines, their cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in to_the_left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def indented(text: str) -> str:
    """Every line four blanks to the right."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
