"""Metrics: area under the ROC curve, average precision, and F1.

They are ours because evaluation must work without scikit-learn; tests compare them with its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def auc(truth: NDArray[Any], scores: NDArray[Any]) -> float:
    """Return the area under the ROC curve, in percent; ties count half.

    Examples
    --------
    >>> import numpy as np
    >>> auc(np.array([1, 0, 1, 0]), np.array([0.9, 0.5, 0.5, 0.1]))
    87.5
    """
    hits, counts = _by_score(truth, scores)
    misses = counts - hits
    below = np.cumsum(misses[::-1])[::-1] - misses  # scores fall, so these come after
    won = float(hits @ below + hits @ misses / 2)
    return 100 * won / (float(hits.sum()) * float(misses.sum()))


def average_precision(truth: NDArray[Any], scores: NDArray[Any]) -> float:
    """Return the average precision, in percent.

    Items with the same score count as retrieved together, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> average_precision(np.array([1, 0, 0, 1]), np.array([0.9, 0.5, 0.4, 0.1]))
    75.0
    """
    hits, counts = _by_score(truth, scores)
    precision = np.cumsum(hits) / np.cumsum(counts)
    return 100 * float(hits @ precision) / float(hits.sum())


def f1_scores(truth: NDArray[Any], found: NDArray[Any]) -> tuple[float, float]:
    """Return micro and macro F1 of boolean matrices (rows, classes), in percent.

    A class that is neither present nor predicted has F1 0, as in the published tables.

    Examples
    --------
    >>> import numpy as np
    >>> truth, found = np.array([[1, 0], [1, 0], [0, 1]]), np.array([[1, 0], [0, 1], [1, 0]])
    >>> [round(score, 2) for score in f1_scores(truth, found)]
    [33.33, 25.0]
    """
    truth, found = np.asarray(truth, bool), np.asarray(found, bool)
    right = 2.0 * (truth & found).sum(axis=0)
    named = truth.sum(axis=0) + found.sum(axis=0)
    by_class = np.divide(right, named, out=np.zeros_like(right), where=named > 0)
    micro = right.sum() / max(named.sum(), 1)
    return 100 * float(micro), 100 * float(by_class.mean())


def _by_score(truth: NDArray[Any], scores: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return positives, and all items, of each distinct score, the highest first."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    begins = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    hits = np.add.reduceat(np.asarray(truth, np.float64)[order], begins)
    return hits, np.diff(np.append(begins, len(order))).astype(np.float64)
