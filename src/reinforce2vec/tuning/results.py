"""The result of a search: every trial and the test scores, as text and as JSON."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, stdev
from textwrap import indent
from typing import TYPE_CHECKING, Any

from .._util.errors import InputError
from .._util.progress import clock, counted
from ..evaluation.results import HEADS, MetricValues
from ..files.opening import opened
from ..files.targets import resolve_target
from ..files.writing import whole
from ..models.baselines import BASELINES
from . import space

if TYPE_CHECKING:
    from ..models import Reinforce2Vec

_FORMAT = "reinforce2vec tuning 1"
_SHOWN = 5  # settings in the table
DEFAULT_NAME = "default"
# what files have for readers; "importances" is of files of older versions
_DERIVED = {"best", "way", "gain", "best_as_command", "best_as_python", "better_baseline"}
_DERIVED |= {"importances"}


@dataclass(frozen=True, eq=False)
class GraphReference:
    """How the report refers to the graph: in a command, in Python, and by its name."""

    words: tuple[str, ...] = ("embed", "GRAPH", "-o", "vectors.npz")
    python: str = ""
    name: str = "the graph"


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
    setting: space.Setting
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


@dataclass(eq=False, repr=False)
class Tuning:
    """The result of :func:`tune`. Prints as a report.

    Attributes
    ----------
    facts : dict
        What was searched: graph, task, metric, dimensions, seed, budget and the like.
    trials : list of Trial
        Every setting that was tried, with its score on the validation part.
    finals : list of FinalRuns
        The best few and the default again, with other seeds, on the part that the search never
        used; empty if the search was interrupted.
    baselines : list of BaselineRun
        Other methods, with their own defaults, on both parts.
    finished : bool
        Whether the search ended by itself.
    """

    facts: dict[str, Any]
    trials: list[Trial] = field(default_factory=list)
    finals: list[FinalRuns] = field(default_factory=list)
    elapsed: float = 0.0
    finished: bool = False
    source: GraphReference = field(default_factory=GraphReference)
    baselines: list[BaselineRun] = field(default_factory=list)

    # -- the best ------------------------------------------------------------------------------

    @property
    def ranking(self) -> list[Trial]:
        """Trials that did not fail, the best score first."""
        done = [trial for trial in self.trials if trial.score is not None]
        return sorted(done, key=lambda trial: -(trial.score or 0.0))

    @property
    def best(self) -> Trial:
        """The best setting: by validation, over all seeds that it was trained with."""
        if not self.finals:
            if not self.ranking:
                raise InputError("no trial of this tuning has a score yet: tune again")
            return self.ranking[0]
        return self.trials[max(self.finals, key=self.validation_of).number]

    @property
    def default(self) -> Trial:
        """The default of :class:`Reinforce2Vec`, with as many walks as the budget allows."""
        tried = [trial for trial in self.trials if trial.name == DEFAULT_NAME]
        return max(tried, key=lambda trial: trial.setting["walks_per_node"])

    def validation_of(self, final: FinalRuns) -> float:
        """Return the mean validation score over the search and the final runs."""
        return mean([self.trials[final.number].score or 0.0, *final.validation])

    def final_of(self, trial: Trial) -> FinalRuns | None:
        """Return the final runs of a trial, if there are any."""
        return next((final for final in self.finals if final.number == trial.number), None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The best parameters of :class:`Reinforce2Vec`."""
        return space.parameters_of(self.best.setting, self.facts["dimensions"])

    def model(self, **changes: Any) -> Reinforce2Vec:
        """Return a model with the best parameters, to be fitted; `changes` override or add some."""
        from ..models import Reinforce2Vec

        return Reinforce2Vec(**(self.parameters | changes))

    @property
    def command(self) -> str:
        """The best setting as a command."""
        options = space.option_words(self.best.setting, self.facts["dimensions"])
        return shlex.join(["reinforce2vec", *self.source.words, *options])

    @property
    def better_baseline(self) -> BaselineRun | None:
        """The baseline to use instead: the best by validation, if it wins on the unseen part."""
        done = [run for run in self.baselines if run.validation is not None]
        final = self.final_of(self.best) if self.ranking else None
        if not done or final is None:
            return None
        run = max(done, key=lambda run: run.validation or 0.0)
        return run if (run.test or 0.0) > mean(final.test) else None

    def baseline_command(self, run: BaselineRun) -> str:
        """Return the command that uses a baseline."""
        options = ["--method", run.name, "--dimensions", str(self.facts["dimensions"])]
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
        parts = [self._heading(), self._comparison(), self._best_few()]
        better = self.better_baseline
        if better is not None:
            title = f"{better.label} has the higher score here; as a command"
            parts.append(f"{title}\n    {self.baseline_command(better)}")
        parts.append(f"the best setting by validation as a command\n    {self.command}")
        parts.append("and in Python\n" + indent(self.python, "    "))
        return "\n\n".join(parts)

    def _heading(self) -> str:
        facts = self.facts
        if facts["task"] == "link-prediction":
            how = f"{facts['held_out_edges']:,} of {facts['edges']:,} edges held out"
        else:
            how = f"{facts['labelled_nodes']:,} labelled nodes, {facts['classes']:,} classes"
        tried = counted(len(self.trials), "setting")
        most = self.default.setting["walks_per_node"]
        if most < space.DEFAULT_SETTING["walks_per_node"]:
            how += f"\nlimited by the budget to {counted(most, 'walk')} from every node"
        return f"{facts['task']} on {self.source.name}: {tried} in {clock(self.elapsed)}, {how}"

    def _comparison(self) -> str:
        unseen = self.facts["unseen"]
        rows = [["", "validation", unseen, "operator"]]
        named = {f"best: no. {self.best.number}": self.best, "default": self.default}
        if self.best is self.default:
            named = {"best: the default": self.best}
        for name, trial in named.items():
            final = self.final_of(trial)
            known = trial.score if final is None else self.validation_of(final)
            rows.append([name, _spread([known]), _spread(final.test if final else ()), trial.way])
        for run in self.baselines:
            scores = [() if score is None else (score,) for score in (run.validation, run.test)]
            rows.append([run.label, *map(_spread, scores), run.way])
        if self.facts["task"] != "link-prediction":
            rows = [row[:-1] for row in rows]
        notes = [f"{run.label} failed: {run.error}" for run in self.baselines if run.error]
        final = self.final_of(self.best)
        if final is None:
            notes.append(
                "Interrupted before the test: the validation score of the best is optimistic."
            )
        else:
            notes += [
                "The setting was chosen by its validation score, which is therefore optimistic. "
                f"The search never used the {unseen},",
                "so their score is the one to expect. For it, training was repeated with "
                f"{counted(len(final.seeds), 'seed')}, and the classifier used all other data.",
                *self._verdict(),
            ]
        return "\n".join([f"{HEADS[self.facts['metric']]}, in percent", *_columns(rows, 0), *notes])

    def _verdict(self) -> list[str]:
        """Return a sentence if the best setting is hardly better than the default."""
        best, default = self.final_of(self.best), self.final_of(self.default)
        if best is None or default is None or best is default:
            return []
        if mean(best.test) <= mean(default.test):
            return ["On these, the default is no worse: keep it, and ignore the setting below."]
        if min(best.test) <= max(default.test):
            return ["The scores of the two overlap: the gain may be due to chance."]
        return []

    @property
    def gain(self) -> float | None:
        """How much better than the default the best is on the unseen part; None if unknown."""
        best, default = self.final_of(self.best), self.final_of(self.default)
        return None if best is None or default is None else mean(best.test) - mean(default.test)

    def _best_few(self) -> str:
        rows = [
            ["no.", HEADS[self.facts["metric"]], "walk", "walks", "window", "rate", "smooth", "s"]
        ]
        for trial in self.ranking[:_SHOWN]:
            setting = trial.setting
            rate = space.learning_rate(setting) or space.default_rate(setting)
            walks, window = setting["walks_per_node"], setting["window"]
            smooth = "yes" if setting["smooth"] else "no"
            words = [f"{trial.number}", f"{trial.score:.2f}", space.walk_text(setting), f"{walks}"]
            rows.append([*words, f"{window}", f"{rate:.2g}", smooth, f"{trial.seconds:.1f}"])
        title = f"best of {len(self.trials)} in the search, by validation of one training each"
        return "\n".join([title, *_columns(rows, 2)])

    # -- files ---------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return everything, as `json.dumps` takes it."""
        best: dict[str, Any] = {}
        if self.ranking:
            better = self.better_baseline
            best = {
                "best": self.best.number,
                "way": self.best.way,
                "gain": self.gain,
                "best_as_command": self.command,
                "best_as_python": self.python,
                "better_baseline": better and better.name,
            }
        return {
            "format": _FORMAT,
            **self.facts,
            "elapsed": self.elapsed,
            "finished": self.finished,
            **best,
            **{
                name: [asdict(part) for part in getattr(self, name)]
                for name in ("finals", "baselines", "trials")
            },
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, whole or not at all."""
        with whole(resolve_target(path)) as stream:
            stream.write((json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tuning:
        """Read what a search has written, finished or not."""
        with opened(Path(path), compressed=False) as stream:
            content = stream.read()
        try:
            facts = json.loads(content)
            if facts.pop("format") != _FORMAT:
                raise ValueError("another format")
            tuning = cls(
                trials=[Trial(**trial) for trial in facts.pop("trials")],
                finals=[FinalRuns(**final) for final in facts.pop("finals")],
                baselines=[BaselineRun(**run) for run in facts.pop("baselines", [])],
                elapsed=facts.pop("elapsed"),
                finished=facts.pop("finished"),
                facts={name: value for name, value in facts.items() if name not in _DERIVED},
            )
            _check(tuning)
        except MemoryError:
            raise
        except Exception:  # JSON may hold anything where something else is expected
            raise InputError(f"{path}: this is not a file that tuning has written") from None
        return tuning


def _check(tuning: Tuning) -> None:
    """Raise an exception unless what was read from a file is what a search can go on from."""
    for place, trial in enumerate(tuning.trials):
        if trial.number != place or trial.setting.keys() - {part.name for part in space.SPACE}:
            raise ValueError(f"trial {place}")
        space.parameters_of(trial.setting, tuning.facts["dimensions"])
        trial.seconds + trial.at + (trial.score or 0.0)  # numbers, or a TypeError
    for final in tuning.finals:
        if not 0 < len(final.seeds) == len(final.validation) == len(final.test):
            raise ValueError(f"not a score for each seed of trial {final.number}")
    repr(tuning)  # uses all that a search knows
    json.dumps(tuning.to_dict(), allow_nan=False)


def _spread(values: Sequence[Any]) -> str:
    """Return the mean, and the standard deviation if there are several values."""
    if not values:
        return "-"
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def _columns(rows: Sequence[Sequence[str]], words: int) -> list[str]:
    """Return rows as lines, with their cells in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
