"""Sizes of the experiments: the paper's, or a small one that runs in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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

    def training(self) -> dict[str, Any]:
        """Return the paper's training parameters, all explicit, so that defaults do not matter."""
        return {
            "walk_length": self.walk_length,
            "walks_per_node": self.walks_per_node,
            "window": self.window,
            "negatives": 5,
            "epochs": 1,
            "learning_rate": 0.025,
        }


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
    planted=100,
)
