"""What a setting is worth: two tasks, each with a part to search on and a part to stay unseen."""

from __future__ import annotations

from typing import Any, Protocol

from .._util.arrays import digest
from .._util.checks import check_choice, check_count
from .._util.errors import InputError
from .._util.progress import counted
from ..evaluation import classify_nodes, hold_out_edges, score_links
from ..evaluation.labels import as_indicators
from ..evaluation.results import MetricValues
from ..graph import Graph

MOST_EDGES = 20_000  # held out by default: more make scoring slow and say little more
VALIDATION, TEST = "validation", "test"


class Task(Protocol):
    """What vectors are for."""

    name: str
    metric: str
    graph: Graph  # what is embedded
    unseen: str  # what the search does not look at, in words
    facts: dict[str, Any]  # what scores depend on beside the graph

    def score(self, vectors: Any, part: str) -> MetricValues:
        """Scores of each way to use the vectors, on the part to search on or the unseen one."""


class LinkPrediction:
    """Edges that were taken out of the graph are told from pairs that were none.

    Half of the pairs are unseen. Of the others, half train a classifier of pairs in the search and
    half are what it is asked; at the end all of them train it.
    """

    name, metric, unseen = "link-prediction", "auc", "unseen pairs"

    def __init__(self, graph: Graph, fraction: float | None, seed: int) -> None:
        if fraction is None:
            fraction = min(0.5, MOST_EDGES / max(graph.n_edges, 1))
        self.split, self.seed = hold_out_edges(graph, fraction, seed), seed
        self.graph = self.split.graph
        self.facts = {"fraction": fraction, "held_out_edges": len(self.split.edges)}

    def score(self, vectors: Any, part: str) -> MetricValues:
        """AUC and average precision of each operator, in percent."""
        return score_links(vectors, self.split, seed=self.seed, part=part)


class NodeClassification:
    """Labels of nodes are told from their vectors.

    Half of the labelled nodes are unseen. Of the others, half train in the search and half are
    what it is asked; at the end all of them train.
    """

    name, metric, unseen = "node-classification", "micro", "unseen nodes"

    def __init__(self, graph: Graph, labels: Any, seed: int) -> None:
        self.graph, self.seed = graph, seed
        self.labels = as_indicators(labels, graph.n_nodes, graph.ids)
        self.facts = {
            "labelled_nodes": int(self.labels.any(axis=1).sum()),
            "classes": self.labels.shape[1],
            "labels": digest(self.labels),
        }

    def score(self, vectors: Any, part: str) -> MetricValues:
        """Micro and macro F1, in percent."""
        return {"vectors": classify_nodes(vectors, self.labels, seed=self.seed, part=part)}


TASKS = (LinkPrediction.name, NodeClassification.name)


def make_task(name: str, graph: Graph, labels: Any, fraction: float | None, seed: int) -> Task:
    """A task by its name; InputError if it lacks something."""
    check_count("seed", seed, 0)
    check_choice("task", name, TASKS)
    if name == LinkPrediction.name:
        if labels is not None:
            raise InputError(f"labels are for the task {TASKS[1]} and say nothing to {name}")
        return LinkPrediction(graph, fraction, seed)
    if fraction is not None:
        raise InputError(f"fraction is for the task {TASKS[0]} and says nothing to {name}")
    if labels is None:
        raise InputError(f"the task {name} needs labels: which classes nodes are in")
    task = NodeClassification(graph, labels, seed)
    if task.facts["labelled_nodes"] < 8:
        known = counted(task.facts["labelled_nodes"], "node")
        raise InputError(f"{known} with labels cannot be parted in four: eight are needed at least")
    return task
