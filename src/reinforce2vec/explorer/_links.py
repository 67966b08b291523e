"""Likely missing links in the page: which, and how their scores are shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..embedding.links import LinkRanking

_COUNT_NAMES = {  # scores of links that are no log-odds
    "allocation": "common neighbours (resource allocation)",
    "adamic-adar": "common neighbours (Adamic-Adar)",
    "common": "common neighbours",
    "three-steps": "paths of three steps",
}

_Floats = NDArray[np.float64]


class _MissingLinks(NamedTuple):
    """For each node the likeliest missing links and their scores, padded with -1 and NaN."""

    rows: NDArray[np.int32]
    scores: _Floats


def are_odds(scorer: str) -> bool:
    """Return whether a scorer gives log-odds."""
    return scorer not in _COUNT_NAMES


def score_note(scorer: str) -> str:
    """Return what the page says about the scores."""
    if are_odds(scorer):
        return "by the log-odds of being an edge"
    return f"by {_COUNT_NAMES[scorer]}, in percent of the highest of the node"


def missing_links(
    ranking: LinkRanking, sources: NDArray[np.int32], k: int, method: str, progress: bool
) -> _MissingLinks:
    """Return the links for some rows, as the page shows them: log-odds, or percent."""
    found, scores, which = ranking.best(sources, k, method, progress)
    place = np.arange(len(which)) - np.searchsorted(which, which)  # they come in order of sources
    rows = np.full((len(sources), min(k, len(ranking.targets))), -1, np.int32)
    values = np.full(rows.shape, np.nan)
    rows[which, place], values[which, place] = found, scores
    if not are_odds(ranking.score):
        highest = np.nanmax(values, axis=1, initial=1e-300, keepdims=True)
        values *= 100 / highest
    return _MissingLinks(rows, values)
