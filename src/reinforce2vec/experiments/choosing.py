"""Settings chosen by validation scores, never by test pairs or labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .cells import LINK_PREDICTION, CellScores

VECTOR_KINDS = ("raw", "smoothed")


class Candidate(NamedTuple):
    """A setting with its scores on the validation and on the test part."""

    setting: str
    validation: float
    test: dict[str, float]


def pilot_score(task: str, scores: CellScores) -> float:
    """Return the validation score by which one of several pilots is chosen."""
    if task == LINK_PREDICTION:
        return float(max(one["validation"] for one in scores["raw"]["shared"].values()))
    (shuffles,) = scores["raw"].values()
    return float(np.mean([one["validation_micro"] for one in shuffles]))


def best_candidate(candidates: Iterable[Candidate]) -> Candidate | None:
    """Return the candidate with the best validation score, the first of equals; None of none."""
    listed = list(candidates)
    return max(listed, key=lambda one: one.validation) if listed else None


def link_candidates(
    label: str, scores: CellScores, protocol: str, kinds: Iterable[str] = VECTOR_KINDS
) -> list[Candidate]:
    """Return a candidate for each operator on raw and on smoothed vectors.

    Validation pairs are training pairs of the residual graph that trains the classifier, in both
    protocols.
    """
    return [
        Candidate(
            f"{label}, {kind}, {operator}",
            scores[kind]["shared"][operator]["validation"],
            {name: found[name] for name in ("auc", "ap")},
        )
        for kind in kinds
        if kind in scores
        for operator, found in scores[kind][protocol].items()
    ]


def group_candidates(
    label: str, scores: CellScores, shuffle: int, kinds: Iterable[str] = VECTOR_KINDS
) -> list[Candidate]:
    """Return candidates of raw and smoothed vectors, at the tables' fraction, for one shuffle."""
    found = []
    for kind in kinds:
        if kind not in scores:
            continue
        one = next(iter(scores[kind].values()))[shuffle]
        test = {name: one[name] for name in ("micro", "macro")}
        found.append(Candidate(f"{label}, {kind}", one["validation_micro"], test))
    return found
