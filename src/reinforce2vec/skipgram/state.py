"""The settings of a training, and its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph import Graph
from .noise import Visits
from .weights import Weights

POINTS = 100  # of the loss curve, at most


class Settings(NamedTuple):
    """The hyperparameters of a training; see :class:`Reinforce2Vec`."""

    dimensions: int = 64
    window: int = 10
    negatives: int = 5
    epochs: int = 1
    learning_rate: float = 0.025
    subsample: float = 0.0
    seed: int = 0


@dataclass
class State:
    """The state of a training: all that is needed to resume it."""

    weights: Weights
    visits: Visits
    walks: int = 0
    tokens: int = 0
    seconds: float = 0.0
    losses: NDArray[np.float64] = field(default_factory=lambda: np.zeros(POINTS))
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(POINTS, np.int64))
    blank: bool = False  #: whether the engine has to fill the weights first

    @property
    def loss_curve(self) -> NDArray[np.float64]:
        """Mean loss of a pair and its negatives, over each hundredth of the training so far."""
        some = self.pairs > 0
        curve: NDArray[np.float64] = self.losses[some] / self.pairs[some]
        return curve


def carry_over(old: State, new: State, graph: Graph, n_old: int) -> None:
    """Start a training where another ended; nodes from row n_old on at their neighbours' mean."""
    new.visits[:n_old] += old.visits
    links = graph.to_scipy()
    if graph.directed:
        links = links + links.T
    links = scipy.sparse.csr_array(links[n_old:, :n_old])
    sums = np.asarray(links.sum(axis=1)).ravel()
    placed = np.flatnonzero(sums > 0)
    for before, after in zip(old.weights[:2], new.weights[:2], strict=True):
        after[:n_old] = before
        after[n_old + placed] = (links[placed] @ before) / sums[placed, None]
