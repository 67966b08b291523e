"""The tasks that settings and baselines are scored on, with a validation and an unseen part."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from .._util.arrays import digest
from .._util.checks import check_choice, check_count
from .._util.errors import InputError
from .._util.hyperparameters import TASKS
from ..evaluation import classify_nodes, hold_out_edges, score_links
from ..evaluation.labels import as_indicators
from ..evaluation.results import MetricValues
from ..evaluation.splits import spare_fraction
from ..graph import Graph
from ..models.baselines import BASELINES
from .results import BaselineRun

_MOST_EDGES = 20_000  # held out by default: more make scoring slow and hardly more precise
VALIDATION, TEST = "validation", "test"
AUTO, _NONE = "auto", "none"
_ALWAYS = ("prone",)
_IF_SMALL = ("netmf", "grarep")  # of all pairs of nodes
_SMALL = 20_000  # nodes


class Task:
    """A task to score vectors on."""

    name: str
    metric: str
    graph: Graph  # the graph to embed
    unseen: str  # the name of the part that the search does not look at
    facts: dict[str, Any]  # what scores depend on beside the graph

    def score(self, vectors: Any, part: str) -> MetricValues:
        """Return scores of each way to use the vectors, on the validation or the test part."""
        raise NotImplementedError

    def best_way(self, scores: MetricValues) -> str:
        """Return the way to use vectors that scores best."""
        return str(max(scores, key=lambda way: scores[way][self.metric]))


class _LinkPredictionTask(Task):
    """Predict edges that were held out of the graph.

    Half of the pairs are unseen. Of the others, half train the classifier during the search and
    half are scored; at the end all of them train it.
    """

    name, metric, unseen = TASKS[0], "auc", "unseen pairs"

    def __init__(self, graph: Graph, fraction: float | None, seed: int) -> None:
        if fraction is None:
            fraction = spare_fraction(graph, min(0.5, _MOST_EDGES / max(graph.n_edges, 1)))
        self.split, self.seed = hold_out_edges(graph, fraction, seed), seed
        self.graph = self.split.graph
        self.facts = {"fraction": fraction, "held_out_edges": len(self.split.edges)}

    def score(self, vectors: Any, part: str) -> MetricValues:
        """Return AUC and average precision of each operator, in percent."""
        return score_links(vectors, self.split, seed=self.seed, part=part)


class _NodeClassificationTask(Task):
    """Classify nodes.

    Half of the labelled nodes are unseen. Of the others, half train the classifier during the
    search and half are scored; at the end all of them train it.
    """

    name, metric, unseen = TASKS[1], "micro", "unseen nodes"

    def __init__(self, graph: Graph, labels: Any, seed: int) -> None:
        self.graph, self.seed = graph, seed
        self.labels = as_indicators(labels, graph.n_nodes, graph)
        self.facts = {
            "labelled_nodes": int(self.labels.any(axis=1).sum()),
            "classes": self.labels.shape[1],
            "labels": digest(self.labels),
        }

    def score(self, vectors: Any, part: str) -> MetricValues:
        """Return micro and macro F1, in percent."""
        return {"vectors": classify_nodes(vectors, self.labels, seed=self.seed, part=part)}


def make_task(name: str, graph: Graph, labels: Any, fraction: float | None, seed: int) -> Task:
    """Return a task by its name; InputError if it lacks something."""
    check_count("seed", seed, 0)
    check_choice("task", name, TASKS)
    parameter, value = ("labels", labels) if name == TASKS[0] else ("fraction", fraction)
    if value is not None:
        raise InputError(f"{parameter} has no effect with the task {name}", parameter=parameter)
    if name == TASKS[0]:
        return _LinkPredictionTask(graph, fraction, seed)
    if labels is None:
        raise InputError(f"the task {name} needs labels: which classes nodes are in")
    task = _NodeClassificationTask(graph, labels, seed)
    if task.facts["labelled_nodes"] < 8:
        raise InputError("fewer than eight nodes with labels cannot be split into four parts")
    return task


# -- baselines: other methods, as they are -------------------------------------------------------


def chosen_baselines(method: str | Iterable[str], n_nodes: int) -> tuple[str, ...]:
    """Return the names of the baselines to try; InputError if there is no such method."""
    if method == AUTO:
        return _ALWAYS + (_IF_SMALL if n_nodes <= _SMALL else ())
    if method == _NONE:
        return ()
    names = [name.strip() for name in method.split(",")] if isinstance(method, str) else method
    return tuple(dict.fromkeys(check_choice("method", name, BASELINES) for name in names))


def run_baseline(name: str, task: Task, dimensions: int, seed: int) -> BaselineRun:
    """Compute the vectors of a baseline, and score them on both parts."""
    began = time.monotonic()
    try:
        model = BASELINES[name](dimensions=dimensions, seed=seed)
        vectors = model.fit(task.graph, progress=False).embedding_
        validation, test = (task.score(vectors, part) for part in (VALIDATION, TEST))
    except InputError as problem:  # too little memory, or a graph that does not suit it
        return BaselineRun(name, seconds=time.monotonic() - began, error=str(problem))
    way, metric = task.best_way(validation), task.metric
    seconds = time.monotonic() - began
    return BaselineRun(name, validation[way][metric], test[way][metric], way, test, seconds)
