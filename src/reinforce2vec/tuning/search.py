"""The search: known settings first, then proposals of optuna, then the unseen part."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._util.checks import check_count
from .._util.errors import InputError
from .._util.progress import ProgressLine, clock
from ..evaluation.results import MetricValues
from ..files.targets import check_no_device
from ..files.writing import check_target, claimed
from ..graph import Dataset, Graph, karate_club
from ..graph.fingerprint import fingerprint
from ..models import Reinforce2Vec
from ._budget import SHARE_OF_THE_END, SearchClock, TimeEstimates, seconds_of
from ._objective import AUTO, TEST, VALIDATION, Task, chosen_baselines, make_task, run_baseline
from ._proposals import Proposals, import_optuna
from .results import DEFAULT_NAME, FinalRuns, GraphReference, Trial, Tuning
from .space import SPACE, Setting, Space, limited, parameters_of, starts

_USUAL_BUDGET = "10m"
_ATTEMPTS = 50  # proposals that are known already, after which the search ends
# proposals that take too long for the time left, likewise: quick ones are seldom good
_TOO_LONG = 5
_MOST_TRIALS = 1000  # with more, the best validation score is mostly luck
_PLANS = ((3, 3), (3, 2), (1, 2), (1, 1))  # finalists beside the default, and seeds
_LONGER = 4  # a baseline may take so many times as long as the one before it
_MORE_TO_SCORE = 1.5  # time of a training with both parts scored, relative to one part


class _OutOfTime(Exception):
    """A training takes so much longer than expected that the rest would not fit in the budget."""


def tune(
    graph: Any,
    task: str = "link-prediction",
    labels: Any = None,
    *,
    budget: str | float | None = None,
    trials: int | None = None,
    dimensions: int = 128,
    fraction: float | None = None,
    method: str | Iterable[str] = AUTO,
    seed: int = 0,
    workers: int | None = None,
    backend: str = "auto",
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = True,
    source: GraphReference | None = None,
) -> Tuning:
    """Search for hyperparameters of :class:`Reinforce2Vec` that suit a graph and a task.

    It searches the walk and its parameters, walks per node, window, learning rate and smoothing. It
    begins with the default and others that are known to be good, and continues with proposals of
    optuna (the extra `tune`). Held-out edges, or labelled nodes, are split: the search uses one
    part, and at the end the best few settings and the default are trained again, with other seeds,
    and scored on the other. So are some baselines: on some graphs one of them is better.

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
        Total time, such as "90s", "10m" or "1h30m", or seconds. 10 minutes by default, and no
        limit if `trials` is given. A training starts only if it can end in time; walks per node
        are limited so that it takes at most an eighth of the budget.
    trials : int, optional
        Number of settings to try, at most 1,000 by default. Without a budget one
        seed gives one result; with one it depends on the machine how far the search gets.
    dimensions : int, default 128
        Dimensions of a vector; not searched.
    fraction : float, optional
        Link prediction: share of the edges to hold out; by default half of them, but at most
        20,000 edges, and no more than a sparse graph can spare, of which a warning tells.
    method : str or iterable of str, default "auto"
        Baselines to compare with: names such as "prone" or "netmf,grarep", or "none". By default
        ProNE and, on graphs of up to 20,000 nodes, NetMF and GraRep. With a budget, one that may
        not end in time is left out.
    seed : int, default 0
        Seed of the search, of what is held out, and of training.
    workers, backend
        As for :class:`Reinforce2Vec`.
    output : path, optional
        A JSON file that is rewritten after every trial.
    resume : bool, default False
        Resume from `output`, if it exists. Time and trials spent before count.
    progress : bool, default True
        Show a line on the terminal, if there is one.
    source : GraphReference, optional
        How the report refers to the graph.

    Returns
    -------
    Tuning
        Prints as a report; `model()` has the best parameters. After Ctrl-C it holds what was found
        so far, and `finished` is False.

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
    limit = check_tuning(budget, trials)
    timer = SearchClock(limit)
    Reinforce2Vec(dimensions, workers=workers, backend=backend, seed=seed).check()
    if output is None and resume:
        raise InputError(
            "resume=True needs output=...: the file to resume from",
            settings=[("resume", True), ("output", ...)],
        )
    file = None if output is None else check_study_path(output, resume)
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
    with claimed(*([] if output is None else [output])):
        tuning = _begun(file, facts)
        tuning.source = GraphReference() if source is None else source
        tuning.facts |= {"budget": limit, "trials_asked": trials}
        timer.began -= tuning.elapsed
        return TuningSearch(
            chosen,
            tuning,
            timer,
            wanted=trials or _MOST_TRIALS,
            fixed={"workers": workers, "backend": backend},
            file=file,
            baselines=chosen_baselines(method, graph.n_nodes),
            line=ProgressLine(progress),
        ).run()


def check_tuning(
    budget: str | float | None, trials: int | None, method: str | Iterable[str] = AUTO
) -> float | None:
    """Return the budget in seconds; InputError if something is invalid, or optuna is missing."""
    chosen_baselines(method, n_nodes=0)
    if trials is not None:
        check_count("trials", trials, 2)
    if budget is None and trials is None:
        budget = _USUAL_BUDGET
    import_optuna()
    return None if budget is None else seconds_of(budget)


def check_study_path(output: str | os.PathLike[str], resume: bool) -> Path:
    """Return where the trials are written; InputError if that cannot work.

    The folder must be writable, which is tried out, and a file that exists must be resumed from.
    """
    path = check_target(output)
    check_no_device(path)
    if path.exists() and not resume:
        raise InputError(
            f"{output}: this file exists: resume from it (resume=True), or remove it to start "
            "again",
            settings=[("resume", True)],
        )
    return path


def _begun(file: Path | None, facts: dict[str, Any]) -> Tuning:
    """Return a search with nothing done, or the one in the file, if it is the same search."""
    if file is None or not file.exists():
        return Tuning(facts)
    tuning = Tuning.load(file)
    for name, value in facts.items():
        before = tuning.facts.get(name)
        if before != value:
            raise InputError(
                f"{file}: this search was for another graph or task: {name.replace('_', ' ')} was "
                f"{before} and is {value}. Use the same, or choose another file"
            )
    return tuning


@dataclass
class TuningSearch:
    """A running search."""

    task: Task
    tuning: Tuning
    clock: SearchClock
    wanted: int  # trials
    fixed: dict[str, Any]  # parameters of all models
    file: Path | None
    baselines: tuple[str, ...]
    line: ProgressLine

    def __post_init__(self) -> None:
        self.estimates = TimeEstimates(self.task.graph.n_nodes)
        self.proposals = Proposals(SPACE, self.tuning.facts["seed"])
        self.searching = True

    def run(self) -> Tuning:
        """Search to the end, or until Ctrl-C."""
        spent = self.clock.left < self.kept_for_the_end or not self.wants_more()
        if self.tuning.finished and spent:
            return self.tuning
        self.tuning.finished = False
        try:
            self.search(self.prepare())
            if not self.tuning.finals:
                self.finish()
            self.tuning.finished = True
        except KeyboardInterrupt:
            if not self.tuning.ranking:
                raise
        finally:
            self.line.clear()
        self.keep()
        return self.tuning

    # -- before --------------------------------------------------------------------------------

    def prepare(self) -> Space:
        """Return the space that the budget allows; give earlier trials to the proposals."""
        self.line.show("preparing")
        space = SPACE
        if self.clock.limit is not None:
            (choices,) = (one.values for one in SPACE if one.name == "walks_per_node")
            first = starts(SPACE)[DEFAULT_NAME]
            quick = first | {"walks_per_node": choices[0]}
            parameters = parameters_of(quick, self.tuning.facts["dimensions"]) | self.fixed
            Reinforce2Vec(**parameters).fit(karate_club(), progress=False)  # compiles
            self.embed(quick, self.tuning.facts["seed"], (VALIDATION,))
            most = self.estimates.most_walks(first, choices, self.clock.limit)
            before = [trial.setting["walks_per_node"] for trial in self.tuning.trials]
            space = limited(max([most, *before]))
        self.proposals = Proposals(space, self.tuning.facts["seed"])
        for trial in self.tuning.trials:
            self.proposals.add(trial.setting, trial.score)
        return space

    # -- the search ----------------------------------------------------------------------------

    def search(self, space: Space) -> None:
        """Try the first settings, then proposals, until time or trials are spent."""
        for name, setting in starts(space).items():
            known = any(trial.setting == setting for trial in self.tuning.trials)
            # the first is the default, which others are compared with
            needed = not self.tuning.trials or (self.wants_more() and self.fits(setting))
            if needed and not known:
                self.try_out(setting, name)
        while self.wants_more():
            proposed = self.proposed()
            if proposed is None or not self.try_out(proposed):
                return

    def wants_more(self) -> bool:
        """Return whether trials are left."""
        return len(self.tuning.trials) < self.wanted

    def fits(self, setting: Setting) -> bool:
        """Return whether a setting fits in the time left; the first two always do."""
        left = self.clock.left - self.kept_for_the_end
        return len(self.tuning.trials) < 2 or self.estimates.expected(setting) <= left

    @property
    def kept_for_the_end(self) -> float:
        """Seconds that the search leaves to the final runs."""
        if self.clock.limit is None:
            return 0.0
        finalists = [self.tuning.default, self.tuning.ranking[0]] if self.tuning.ranking else []
        needed = _MORE_TO_SCORE * sum(trial.seconds for trial in finalists)
        return max(needed, SHARE_OF_THE_END * self.clock.limit)

    def proposed(self) -> Setting | None:
        """Return a new setting that fits in the time left; None if there is none."""
        known = [trial.setting for trial in self.tuning.trials]
        too_long = 0
        for attempt in range(_ATTEMPTS):
            setting = self.proposals.propose(attempt)
            if setting in known:
                continue
            if self.fits(setting):
                return setting
            too_long += 1
            if too_long == _TOO_LONG:
                break
        return None

    def try_out(self, setting: Setting, name: str = "") -> bool:
        """Train and score; False if time ran out before it was done."""
        number, began = len(self.tuning.trials), self.clock.elapsed
        score: float | None = None
        way, error, scores = "", "", {}
        try:
            (scores,) = self.embed(setting, self.tuning.facts["seed"], (VALIDATION,))
            way = self.task.best_way(scores)
            score = scores[way][self.task.metric]
        except _OutOfTime:
            return False
        except InputError as problem:
            if not self.tuning.trials:
                raise
            error = str(problem)  # a learning rate that is too large
        at = self.clock.elapsed
        trial = Trial(number, setting, name, score, way, scores, at - began, at, error)
        self.tuning.trials.append(trial)
        self.tuning.elapsed, self.tuning.finals = at, []  # earlier final runs are out of date
        self.proposals.add(setting, score)
        self.keep()
        return True

    def embed(self, setting: Setting, seed: int, parts: tuple[str, ...]) -> list[MetricValues]:
        """Train with a setting and return its scores on some parts."""
        parameters = parameters_of(setting, self.tuning.facts["dimensions"])
        model = Reinforce2Vec(**parameters, **self.fixed, seed=seed)
        began = time.monotonic()
        model.fit(self.task.graph, progress=False, callbacks=[self.watch])
        scores = [self.task.score(model.embedding_, part) for part in parts]
        beside = time.monotonic() - began - model.seconds_
        self.estimates.add(setting, model.seconds_, beside / len(parts))
        return scores

    def watch(self, moment: Any) -> None:
        """Update the line on the terminal; end a training that takes far too long."""
        done, limit = len(self.tuning.trials), self.clock.limit
        if self.line.due():
            words = [f"trial {done + 1}" if self.searching else "the best few again"]
            share = done / self.wanted
            if self.tuning.ranking:
                words.append(f"best {self.tuning.ranking[0].score:.2f}")
            if limit is not None:
                words.append(f"{clock(max(self.clock.left, 0))} left")
                share = 1 - self.clock.left / limit
            self.line.show(f"tuning: {', '.join(words)}", share)
        late = self.clock.left < self.kept_for_the_end / 2
        if late and self.searching and done:
            raise _OutOfTime

    # -- final runs -------------------------------------------------------------------------

    def compare(self) -> None:
        """Score baselines on both parts, as far as they fit in the time left."""
        known, expected = {run.name for run in self.tuning.baselines}, 0.0
        for name in self.baselines:
            if name in known or self.clock.left - self.kept_for_the_end / 2 < expected:
                continue
            self.line.show(f"tuning: {name}")
            facts = self.tuning.facts
            run = run_baseline(name, self.task, facts["dimensions"], facts["seed"])
            self.tuning.baselines.append(run)
            expected = _LONGER * run.seconds

    def finish(self) -> None:
        """Train the best few and the default again, and score them on the unseen part."""
        self.searching = False
        self.compare()
        first = self.tuning.facts["seed"] + 1
        default = self.tuning.default
        others = [trial for trial in self.tuning.ranking if trial is not default]
        for most, rounds in _PLANS:  # the last if none fits in the time left
            finalists = [default, *others[:most]]
            needed = rounds * sum(trial.seconds for trial in finalists)
            if _MORE_TO_SCORE * needed <= self.clock.left:
                break
        seeds = list(range(first, first + rounds))
        finals = {trial.number: FinalRuns(trial.number, seeds, [], [], []) for trial in finalists}
        for seed in seeds:
            for number in list(finals):
                try:
                    self.train_again(finals[number], seed)
                except InputError:
                    if number == default.number:
                        raise
                    del finals[number]  # it was luck that it did not diverge before
        self.tuning.finals = list(finals.values())
        self.tuning.elapsed = self.clock.elapsed

    def train_again(self, final: FinalRuns, seed: int) -> None:
        """Train a setting with another seed, and score both parts."""
        trial, metric = self.tuning.trials[final.number], self.task.metric
        validation, test = self.embed(trial.setting, seed, (VALIDATION, TEST))
        final.validation.append(validation[trial.way][metric])
        final.test.append(test[trial.way][metric])
        final.scores.append(test)

    def keep(self) -> None:
        """Write the file."""
        if self.file is not None:
            self.tuning.save(self.file)
