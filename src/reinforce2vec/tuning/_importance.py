"""Importances of hyperparameters, from an additive model of the scores of trials.

Ours, and not optuna's, because PED-ANOVA gave smoothing 0% where it was the main effect, and fANOVA
needs scikit-learn.

PED-ANOVA compares the very best trials with the others that the search chose. A parameter that the
search settled early hardly differs there; with 20 to 40 trials the shares also change much from
sample to sample. fANOVA agrees with the model here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .space import SearchedParameter, Setting, Space

_ENOUGH_TRIALS = 20  # from which on shares are more than chance
_ENOUGH_EXPLAINED = 0.15  # of the variance of a trial left out; chance has it in 5% of searches
_PENALTY = 3.0  # of the ridge regression, whose target has variance 1
_FAR_BELOW = 0.5  # so many times as far below the lower quartile as the best is above it

_Floats = NDArray[np.float64]


def importances(
    space: Space, settings: Sequence[Setting], scores: Sequence[float | None]
) -> dict[str, float]:
    """Return the share of each parameter in the variance of scores, the largest first.

    A ridge regression estimates how much a value of a parameter adds, all else being equal: along a
    parabola for ordered values, each by itself for others. A parameter's share is the variance of
    that over its values. Scores far below most others are raised to a lowest one. Parameters that
    only some walks have are left out. The result is empty for fewer than 20 trials, and if the
    regression does not predict trials that it has not seen.

    Parameters
    ----------
    space : Space
        The parameters.
    settings : sequence of dict
        The trials.
    scores : sequence of float or None
        Their scores; None for a training that failed.
    """
    known = np.array([score for score in scores if score is not None])
    if len(known) < _ENOUGH_TRIALS or known.min() == known.max():
        return {}
    low = lowest_that_counts(known, _FAR_BELOW)
    worth = np.array([low if score is None else max(score, low) for score in scores])
    if worth.min() == worth.max():  # most settings are equally good
        return {}
    target = (worth - worth.mean()) / worth.std()
    common = [one for one in space if one.when is None]
    parts = [
        _coded(one)[[one.values.index(setting[one.name]) for setting in settings]] for one in common
    ]
    effects, explained = _ridge(np.hstack(parts), target)
    if explained < _ENOUGH_EXPLAINED:
        return {}
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    shares = {
        one.name: float((_coded(one) @ own).var())
        for one, own in zip(common, np.split(effects, ends), strict=True)
    }
    total = sum(shares.values())
    ordered = sorted(shares, key=lambda name: -shares[name])
    return {name: shares[name] / total for name in ordered}


def _coded(one: SearchedParameter) -> _Floats:
    """Return a row for each value: its place on a line and a parabola, or a column of its own."""
    if not one.ordered:
        return np.eye(len(one.values))
    place = np.linspace(-1.0, 1.0, len(one.values))
    return np.column_stack([place, 1.5 * place**2 - 0.5])


def lowest_that_counts(scores: _Floats, far: float) -> float:
    """Return a score so far below most others that lower ones count the same."""
    quartile, best = np.quantile(scores, [0.25, 1.0])
    return float(max(scores.min(), quartile - far * (best - quartile)))


def _ridge(matrix: _Floats, target: _Floats) -> tuple[_Floats, float]:
    """Return coefficients, and the share of variance explained with each row left out in turn."""
    inverse = np.linalg.inv(matrix.T @ matrix + _PENALTY * np.eye(matrix.shape[1]))
    effects = inverse @ (matrix.T @ target)
    leverage = np.einsum("ij,jk,ik->i", matrix, inverse, matrix)
    missed = (target - matrix @ effects) / (1.0 - leverage)
    return effects, 1.0 - float(np.square(missed).mean())
