"""Sizes of the experiments: the paper's, or a small one that runs in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..evaluation.estimators import OwnEstimator
from .graphs import CLASSIFICATION_GRAPHS, LINK_GRAPHS, SIZES, TITLES, GraphSize, OwnGraph


@dataclass(frozen=True)
class Scale:
    """Sizes and amounts shared by all experiments; the defaults are the paper's.

    Parameters
    ----------
    dimensions, walks_per_node, walk_length, window : int
        The paper's d, R, L and C.
    pilot_walks : int
        Walks per node in the short trainings that choose node2vec's p and q.
    choices : tuple of float
        Values to choose p and q from.
    shuffles, more_shuffles : int
        Random splits of the labelled nodes, at the tables' fraction and at the others.
    steps : int
        Steps of long walks.
    planted : int
        Nodes of a generated graph that replaces every data set; 0: the data sets themselves.
    backend : {"cpu", "cuda"}
        Where methods and classifiers that can use a GPU run.
    threads : int
        If not 0, cells are computed one after the other, with so many threads, so that their times
        can be compared; else several at a time, with one thread each.
    own_graph : OwnGraph, optional
        Another column of the tables that compare methods.
    own_estimator : OwnEstimator, optional
        Another row of them.
    """

    dimensions: int = 64
    walks_per_node: int = 80
    walk_length: int = 40
    window: int = 10
    pilot_walks: int = 5
    choices: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    shuffles: int = 5
    more_shuffles: int = 1
    steps: int = 10_000
    planted: int = 0
    backend: str = "cpu"
    threads: int = 0
    own_graph: OwnGraph | None = None
    own_estimator: OwnEstimator | None = None

    def training(self) -> dict[str, Any]:
        """Return the paper's training parameters, all explicit, so that defaults do not matter."""
        return {
            "walk_length": self.walk_length,
            "walks_per_node": self.walks_per_node,
            "window": self.window,
            "negatives": 5,
            "epochs": 1,
            "learning_rate": 0.025,
            "subsample": 0.0,
            "smooth": False,
        }

    def title(self, graph: str) -> str:
        """Return the title of a graph in tables and pictures."""
        own = self.own_graph
        return own.title if own is not None and graph == own.name else TITLES[graph]

    def size(self, graph: str) -> GraphSize:
        """Return how large a graph is."""
        own = self.own_graph
        if own is not None and graph == own.name:
            return own.size
        return GraphSize(self.planted, 4 * self.planted, 4) if self.planted else SIZES[graph]

    @property
    def link_graphs(self) -> tuple[str, ...]:
        """The graphs of link prediction."""
        own = self.own_graph
        return LINK_GRAPHS if own is None else (*LINK_GRAPHS, own.name)

    @property
    def classification_graphs(self) -> tuple[str, ...]:
        """The graphs of node classification."""
        own = self.own_graph
        if own is None or not own.classes:
            return CLASSIFICATION_GRAPHS
        return (*CLASSIFICATION_GRAPHS, own.name)


PAPER_SCALE = Scale()
SMALL_SCALE = Scale(
    dimensions=8,
    walks_per_node=2,
    walk_length=10,
    window=3,
    pilot_walks=1,
    choices=(0.5, 2.0),
    shuffles=2,
    more_shuffles=1,
    steps=200,
    planted=200,
)
