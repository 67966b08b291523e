"""Which parameters mattered: an additive model of the scores of trials.

optuna's own measures were tried and left alone. PED-ANOVA asks what tells the very best trials
from the others that the search chose, and so gives nothing to a parameter that the search settled
early, such as smoothing; with 20 to 40 trials its shares change wildly from sample to sample.
fANOVA agrees with what is here, but needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .space import Parameter, Setting, Space

ENOUGH_TRIALS = 20  # from which on shares are more than chance
ENOUGH_EXPLAINED = 0.15  # of the variance of a trial left out; chance has it in 5% of searches
PENALTY = 3.0  # of the ridge regression, whose target has variance 1
FAR_BELOW = 0.5  # so many times as far below the lower quartile as the best is above it

Floats = NDArray[np.float64]


def importances(
    space: Space, settings: Sequence[Setting], scores: Sequence[float | None]
) -> dict[str, float]:
    """The share of each parameter in how scores differ, the largest first.

    A ridge regression says how much a value of a parameter adds, all else being equal: along a
    curve for ordered values, each by itself for others. A parameter's share is the variance of that
    over its values. Scores far below most others count as bad, not as worse. Parameters that only
    some walks have are left out. Nothing is told of fewer than 20 trials, nor if the regression
    cannot foretell the score of a trial that it has not seen.

    Parameters
    ----------
    space : Space
        The parameters.
    settings : sequence of dict
        What was tried.
    scores : sequence of float or None
        What it was worth; None is bad.
    """
    known = np.array([score for score in scores if score is not None])
    if len(known) < ENOUGH_TRIALS or known.min() == known.max():
        return {}
    low = lowest_that_counts(known, FAR_BELOW)
    worth = np.array([low if score is None else max(score, low) for score in scores])
    if worth.min() == worth.max():  # most settings are equally good
        return {}
    target = (worth - worth.mean()) / worth.std()
    common = [one for one in space if one.when is None]
    parts = [
        coded(one)[[one.values.index(setting[one.name]) for setting in settings]] for one in common
    ]
    effects, explained = ridge(np.hstack(parts), target)
    if explained < ENOUGH_EXPLAINED:
        return {}
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    shares = {
        one.name: float((coded(one) @ own).var())
        for one, own in zip(common, np.split(effects, ends), strict=True)
    }
    total = sum(shares.values())
    ordered = sorted(shares, key=lambda name: -shares[name])
    return {name: shares[name] / total for name in ordered}


def coded(one: Parameter) -> Floats:
    """A row for each value: its place on a line and on a parabola, or a column of its own."""
    if not one.ordered:
        return np.eye(len(one.values))
    place = np.linspace(-1.0, 1.0, len(one.values))
    return np.column_stack([place, 1.5 * place**2 - 0.5])


def lowest_that_counts(scores: Floats, far: float) -> float:
    """A score so far below most others that it does not matter how far."""
    quartile, best = np.quantile(scores, [0.25, 1.0])
    return float(max(scores.min(), quartile - far * (best - quartile)))


def ridge(matrix: Floats, target: Floats) -> tuple[Floats, float]:
    """Coefficients, and the share of variance explained when each row in turn is left out."""
    inverse = np.linalg.inv(matrix.T @ matrix + PENALTY * np.eye(matrix.shape[1]))
    effects = inverse @ (matrix.T @ target)
    leverage = np.einsum("ij,jk,ik->i", matrix, inverse, matrix)
    missed = (target - matrix @ effects) / (1.0 - leverage)
    return effects, 1.0 - float(np.square(missed).mean())
