"""The search itself: known settings first, then what optuna proposes, then the unseen part."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from .._util.checks import check_count
from .._util.errors import InputError
from .._util.progress import clock as as_clock
from .._util.progress import write_over
from ..evaluation.results import MetricValues
from ..files.writing import check_target
from ..graph import Dataset, Graph, karate_club
from ..graph.fingerprint import fingerprint
from ..models import Reinforce2Vec
from .budget import SHARE_OF_THE_END, Clock, Pace, seconds_of
from .importance import importances
from .objective import TEST, VALIDATION, Task, make_task
from .proposals import Proposals, import_optuna
from .results import DEFAULT, Final, Source, Trial, Tuning
from .space import SPACE, Setting, Space, limited, parameters_of, starts

USUAL_BUDGET = "10m"
ATTEMPTS = 50  # proposals that are known already, after which the search ends
TOO_LONG = (
    5  # proposals that take too long for what is left, likewise: what is quick is seldom good
)
MOST_TRIALS = 1000  # beyond which a search picks what was lucky
PLANS = ((3, 3), (3, 2), (1, 2), (1, 1))  # finalists beside the default, and seeds
MORE_TO_SCORE = 1.5  # what a training takes when both parts are scored, times one part


class OutOfTime(Exception):
    """A training takes so much longer than expected that the rest would not be done in time."""


def tune(
    graph: Any,
    task: str = "link-prediction",
    labels: Any = None,
    *,
    budget: str | float | None = None,
    trials: int | None = None,
    dimensions: int = 64,
    fraction: float | None = None,
    seed: int = 0,
    workers: int | None = None,
    backend: str = "auto",
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    source: Source | None = None,
) -> Tuning:
    """Search for the parameters of :class:`Reinforce2Vec` that suit a graph and a task.

    It searches the walk and its parameters, walks per node, window, learning rate and smoothing. It
    begins with the default and others that are known to be good, and goes on with optuna's (the
    extra `tune`). Held-out edges, or labelled nodes, are parted: the search looks at one part, and
    at the end the best few settings and the default are trained anew, with other seeds, and scored
    on the other.

    Parameters
    ----------
    graph : Graph or Dataset
        Anything else that :meth:`Graph.from_any` takes is converted.
    task : {"link-prediction", "node-classification"}
        What the vectors are for. Scores are the area under the ROC curve, with the operator that
        validates best, or micro F1.
    labels : as for :func:`evaluate_node_classification`, optional
        Which classes a node is in; a Dataset has its own.
    budget : str or float, optional
        Time for all of it, such as "90s", "10m" or "1h30m", or seconds. 10 minutes by default,
        and no limit if `trials` is given. No training is begun that would not end in time, and
        walks are so few that one takes an eighth of it at most.
    trials : int, optional
        End the search after so many settings, 1,000 by default. With `workers=1` and no budget,
        one seed gives one result; with a budget it depends on the machine how far the search gets.
    dimensions : int, default 64
        Numbers in a vector; not searched.
    fraction : float, optional
        Link prediction: share of the edges to hold out; by default half of them, but at most
        20,000 edges.
    seed : int, default 0
        Of the search, of what is held out, and of trainings.
    workers, backend
        As for :class:`Reinforce2Vec`.
    output : path, optional
        A JSON file that is written anew after every trial.
    resume : bool, default False
        Go on from `output`, if it is there. Time and trials spent before count.
    progress : bool, default True
        Show a line on the terminal, if there is one.
    source : Source, optional
        What the report calls the graph, and how its command and its Python read it.

    Returns
    -------
    Tuning
        Prints as a report; `model()` has the best parameters. On Ctrl-C: what was found so far, its
        `finished` False.

    Examples
    --------
    >>> from reinforce2vec import planted_groups, tune
    >>> groups = planted_groups(60, 2, degree=8)
    >>> found = tune(groups, "node-classification", trials=3, dimensions=8, workers=1)
    >>> len(found.trials), found.best.score >= found.default.score
    (3, True)
    >>> model = found.model(seed=7)
    """
    if isinstance(graph, Dataset) and task == "node-classification" and labels is None:
        labels = graph.labels
    graph = Graph.from_any(graph)
    if trials is not None:
        check_count("trials", trials, 2)
    if budget is None and trials is None:
        budget = USUAL_BUDGET
    limit = None if budget is None else seconds_of(budget)
    clock = Clock(limit)
    import_optuna()  # if there is none, this is the time to say so
    Reinforce2Vec(dimensions, workers=workers, backend=backend, seed=seed).check()
    file = check_output(output, resume)
    chosen = make_task(task, graph, labels, fraction, seed)
    facts = {
        "task": chosen.name,
        "metric": chosen.metric,
        "unseen": chosen.unseen,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "directed": graph.directed,
        "fingerprint": fingerprint(graph, direction=False),
        "dimensions": int(dimensions),
        "seed": int(seed),
        **chosen.facts,
    }
    found = begun(file, facts)
    found.source = Source() if source is None else source
    found.facts |= {"budget": limit, "trials_asked": trials}
    clock.began -= found.elapsed
    fixed = {"workers": workers, "backend": backend}
    return Search(chosen, found, clock, trials or MOST_TRIALS, fixed, file, Line(progress)).run()


def check_output(output: str | os.PathLike[str] | None, resume: bool) -> Path | None:
    """Where the trials go; InputError if others are there and this is not to go on from them."""
    if output is None:
        if resume:
            raise InputError("resume=True needs output=PATH: what to go on from")
        return None
    path = check_target(output)
    if path.exists() and not resume:
        raise InputError(
            f"{output}: this file exists: go on from it (resume=True, or --resume), or remove it "
            "to start anew"
        )
    return path


def begun(file: Path | None, facts: dict[str, Any]) -> Tuning:
    """A search with nothing done, or what is in the file, if that is the same search."""
    if file is None or not file.exists():
        return Tuning(facts)
    found = Tuning.load(file)
    for name, value in facts.items():
        before = found.facts.get(name)
        if before != value:
            raise InputError(
                f"{file}: this search was for another graph or task: {name.replace('_', ' ')} was "
                f"{before} and is {value}. Go on with the same, or choose another file"
            )
    return found


class Search:
    """A search under way."""

    def __init__(
        self,
        task: Task,
        found: Tuning,
        clock: Clock,
        trials: int,
        fixed: dict[str, Any],
        file: Path | None,
        line: Line,
    ) -> None:
        self.task, self.found, self.clock, self.wanted = task, found, clock, trials
        self.fixed, self.file, self.line = fixed, file, line
        self.pace = Pace(task.graph.n_nodes)
        self.proposals = Proposals(SPACE, found.facts["seed"])
        self.searching = True

    def run(self) -> Tuning:
        """Search to the end, or until Ctrl-C."""
        spent = self.clock.left < self.kept_for_the_end or not self.wants_more()
        if self.found.finished and spent:
            return self.found
        self.found.finished = False
        try:
            self.search(self.prepare())
            if not self.found.finals:
                self.finish()
            self.found.finished = True
        except KeyboardInterrupt:
            if not self.found.ranking:
                raise
        finally:
            self.line.show("")
        tried = self.found.trials
        self.found.importances = importances(
            SPACE, [trial.setting for trial in tried], [trial.score for trial in tried]
        )
        self.keep()
        return self.found

    # -- before --------------------------------------------------------------------------------

    def prepare(self) -> Space:
        """The space, as far as the budget allows; what was tried before is told."""
        self.line.show("preparing (at its first use, training is compiled)")
        space = SPACE
        if self.clock.limit is not None:
            (choices,) = (one.values for one in SPACE if one.name == "walks_per_node")
            first = starts(SPACE)[DEFAULT]
            self.measure(first | {"walks_per_node": choices[0]})
            most = self.pace.most_walks(first, choices, self.clock.limit)
            before = [trial.setting["walks_per_node"] for trial in self.found.trials]
            space = limited(max([most, *before]))
        self.proposals = Proposals(space, self.found.facts["seed"])
        for trial in self.found.trials:
            self.proposals.tell(trial.setting, trial.score)
        return space

    def measure(self, setting: Setting) -> None:
        """Find out how fast the machine is, compiling aside."""
        parameters = parameters_of(setting, self.found.facts["dimensions"]) | self.fixed
        Reinforce2Vec(**parameters).fit(karate_club(), progress=False)
        self.embed(setting, self.found.facts["seed"], (VALIDATION,))

    # -- the search ----------------------------------------------------------------------------

    def search(self, space: Space) -> None:
        """Try the first settings, then what is proposed, until time or trials are spent."""
        for name, setting in starts(space).items():
            known = any(trial.setting == setting for trial in self.found.trials)
            needed = not self.found.trials  # the first is the default, which others are held to
            if not known and (needed or (self.wants_more() and self.fits(setting))):
                self.try_out(setting, name)
        while self.wants_more():
            proposed = self.proposed()
            if proposed is None or not self.try_out(proposed):
                return

    def wants_more(self) -> bool:
        """Whether trials are left."""
        return len(self.found.trials) < self.wanted

    def fits(self, setting: Setting) -> bool:
        """Whether a setting can be tried in the time that is left; two are in any case."""
        left = self.clock.left - self.kept_for_the_end
        return len(self.found.trials) < 2 or self.pace.expected(setting) <= left

    @property
    def kept_for_the_end(self) -> float:
        """Seconds that the search leaves to the scoring of what it found."""
        if self.clock.limit is None:
            return 0.0
        asked = [self.found.default, self.found.ranking[0]] if self.found.ranking else []
        needed = MORE_TO_SCORE * sum(trial.seconds for trial in asked)
        return max(needed, SHARE_OF_THE_END * self.clock.limit)

    def proposed(self) -> Setting | None:
        """A setting that is new and fits in the time left; None if none comes."""
        known = [trial.setting for trial in self.found.trials]
        too_long = 0
        for attempt in range(ATTEMPTS):
            setting = self.proposals.ask(attempt)
            if setting in known:
                continue
            if self.fits(setting):
                return setting
            too_long += 1
            if too_long == TOO_LONG:
                break
        return None

    def try_out(self, setting: Setting, name: str = "") -> bool:
        """Train and score; False if time ran out before it was done."""
        number, began = len(self.found.trials), self.clock.elapsed
        score: float | None = None
        way, error, scores = "", "", {}
        try:
            (scores,) = self.embed(setting, self.found.facts["seed"], (VALIDATION,))
            way, score = self.best_way(scores)
        except OutOfTime:
            return False
        except InputError as problem:
            if not self.found.trials:
                raise
            error = str(problem)  # a learning rate that is too large
        at = self.clock.elapsed
        trial = Trial(number, setting, name, score, way, scores, at - began, at, error)
        self.found.trials.append(trial)
        self.found.elapsed, self.found.finals = at, []  # those of an earlier end knew less
        self.proposals.tell(setting, score)
        self.keep()
        return True

    def best_way(self, scores: MetricValues) -> tuple[str, float]:
        """The way to use vectors that scores best, and its score."""
        by_way = {way: found[self.task.metric] for way, found in scores.items()}
        best = max(by_way, key=lambda way: by_way[way])
        return best, by_way[best]

    def embed(self, setting: Setting, seed: int, parts: tuple[str, ...]) -> list[MetricValues]:
        """Train with a setting and score some parts."""
        parameters = parameters_of(setting, self.found.facts["dimensions"])
        model = Reinforce2Vec(**parameters, **self.fixed, seed=seed)
        began = time.monotonic()
        model.fit(self.task.graph, progress=False, callbacks=[self.watch])
        scores = [self.task.score(model.embedding_, part) for part in parts]
        beside = time.monotonic() - began - model.seconds_
        self.pace.add(setting, model.seconds_, beside / len(parts))
        return scores

    def watch(self, moment: Any) -> None:
        """Keep the line on the terminal true; end a training that takes far too long."""
        self.line.show(self.told())
        late = self.clock.left < self.kept_for_the_end / 2
        if late and self.searching and self.found.trials:
            raise OutOfTime

    def told(self) -> str:
        """How it stands, in a line."""
        words = ["the best few again"]
        if self.searching:
            of = "" if self.wanted == MOST_TRIALS else f" of {self.wanted}"
            words = [f"trial {len(self.found.trials) + 1}{of}"]
        if self.found.ranking:
            words.append(f"best {self.found.ranking[0].score:.2f}")
            words.append(f"default {self.found.default.score:.2f}")
        if self.clock.limit is not None:
            words.append(f"{as_clock(max(self.clock.left, 0))} left")
        return f"tuning: {', '.join(words)}"

    # -- the last word -------------------------------------------------------------------------

    def finish(self) -> None:
        """Train the best few and the default anew, and score them on the unseen part."""
        first = self.found.facts["seed"] + 1
        others = [trial for trial in self.found.ranking if trial is not self.found.default]
        most, rounds = self.plan(others)
        seeds = [first + turn for turn in range(rounds)]
        asked = [self.found.default, *others[:most]]
        finals = {trial.number: Final(trial.number, seeds, [], [], []) for trial in asked}
        self.searching = False
        for seed in seeds:
            for number in list(finals):
                try:
                    self.ask_again(finals[number], seed)
                except InputError:
                    if number == self.found.default.number:
                        raise
                    del finals[number]  # it was luck that it did not diverge before
        self.found.finals = list(finals.values())
        self.found.elapsed = self.clock.elapsed

    def ask_again(self, final: Final, seed: int) -> None:
        """Train a setting with another seed, and score both parts."""
        trial, metric = self.found.trials[final.number], self.task.metric
        validation, test = self.embed(trial.setting, seed, (VALIDATION, TEST))
        final.validation.append(validation[trial.way][metric])
        final.test.append(test[trial.way][metric])
        final.scores.append(test)

    def plan(self, others: list[Trial]) -> tuple[int, int]:
        """How many settings beside the default, and how many seeds, in the time left."""
        for most, rounds in PLANS:
            asked = [self.found.default, *others[:most]]
            needed = rounds * sum(trial.seconds for trial in asked)
            if MORE_TO_SCORE * needed <= self.clock.left:
                return most, rounds
        return PLANS[-1]

    def keep(self) -> None:
        """Write the file."""
        if self.file is not None:
            self.found.save(self.file)


class Line:
    """A line on the terminal, if there is one."""

    def __init__(self, wanted: bool) -> None:
        self.out = sys.stderr if wanted and sys.stderr is not None and sys.stderr.isatty() else None
        self.shown = ""

    def show(self, text: str) -> None:
        """Put this in place of what was there."""
        if self.out is not None and text != self.shown:
            self.shown = text
            write_over(self.out, text)
