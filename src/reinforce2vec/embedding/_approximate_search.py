"""Approximate search for the most similar rows of a matrix, by an HNSW index of usearch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import errors
from .._util.machine import available_cpus
from .._util.progress import Report
from ._exact_search import (
    SOURCES_AT_A_TIME,
    Floats,
    Places,
    Rows,
    SimilaritySearch,
    score_all_targets,
    search_exactly,
    slices,
)

_CONNECTIVITY = 16  # links of a node in the index
_WIDTH = 128  # nodes that a search keeps as candidates at first (ef)
_COST = 500  # a candidate takes as much time as so many nodes in a block of products
_ENOUGH = 0.95  # recall to reach
_SAMPLE = 256  # sources to measure the recall with


def search_approximately(
    search: SimilaritySearch, k: int, best: Rows, scores: Floats, report: Report
) -> None:
    """Fill in the best targets that an index finds; search exactly if it finds too few."""
    n_targets = len(search.targets)
    index = _build_index(search, lambda done: report(done, n_targets + len(best)))

    def report_rest(done: int, total: int) -> None:
        report(n_targets + done, n_targets + total)

    if _widen_search(index, search, k):
        _search_index(index, search, k, best, scores, report_rest)
    else:
        search_exactly(search, k, best, scores, report_rest)


def _build_index(search: SimilaritySearch, report: Callable[[int], None]) -> Any:
    """Build an index of the targets that searches by scalar products.

    Such an index works well for vectors of equal length. So a bonus becomes an additional dimension
    of a target, followed by one that makes all targets equally long; sources have 1 and 0 there.
    """
    usearch = errors.import_package("usearch.index", "an approximate search", "approximate")
    bonus = search.bonus
    index = usearch.Index(
        ndim=search.vectors.shape[1] + (0 if bonus is None else 2),
        metric=usearch.MetricKind.IP,
        dtype=usearch.ScalarKind.F32,
        connectivity=_CONNECTIVITY,
        expansion_add=_WIDTH,
        expansion_search=_WIDTH,
    )
    for places in slices(len(search.targets), SOURCES_AT_A_TIME):
        units = search.directions(search.targets[places])
        if bonus is not None:
            squares = np.square(units).sum(axis=1) + np.square(bonus[places])
            lacking = np.sqrt(np.maximum(1 + np.square(bonus).max() - squares, 0))
            units = np.column_stack([units, bonus[places], lacking]).astype(np.float32)
        keys = np.arange(places.start, places.stop, dtype=np.uint64)
        index.add(keys, units, threads=available_cpus())
        report(places.stop)
    return index


def _widen_search(index: Any, search: SimilaritySearch, k: int) -> bool:
    """Double the candidates of a search until the recall of a sample is high enough.

    Vectors without structure are hard to find with an index: return False if an exact search would
    take no longer.
    """
    numbers = np.unique(np.linspace(0, len(search.sources) - 1, _SAMPLE).astype(np.int64))
    sample = search.of_some(numbers)
    places, exact = np.full((len(numbers), k), -1, np.int32), np.full((len(numbers), k), np.nan)
    search_exactly(sample, k, places, exact, lambda done, total: None)
    wanted = _ENOUGH * np.count_nonzero(places >= 0)
    least = np.where(np.isnan(exact), np.inf, exact).min(axis=1, keepdims=True)
    while True:
        near = np.full(exact.shape, np.nan)
        _search_index(index, sample, k, places, near, lambda done, total: None)
        # a target whose score equals the lowest of the best, up to rounding, counts as well
        if np.count_nonzero(near >= least - 1e-9) >= wanted:
            return True
        if 2 * _COST * index.expansion_search > len(search.targets):
            return False
        index.expansion_search *= 2


def _search_index(
    index: Any, search: SimilaritySearch, k: int, best: Rows, scores: Floats, report: Report
) -> None:
    """Fill in what the index finds, without barred targets, in the order of exact scores."""
    n_targets = len(search.targets)
    for sources in slices(len(best), SOURCES_AT_A_TIME):
        rows = search.sources[sources]
        units = search.directions(rows)
        if search.bonus is not None:
            units = np.pad(units, ((0, 0), (0, 2)))
            units[:, -2] = 1
        begins, barred = search.barred(sources)
        pairs = _matches(index, units, k + np.diff(begins), n_targets)
        bars = np.repeat(np.arange(len(units)), np.diff(begins)) * n_targets + barred
        who, places = np.divmod(np.setdiff1d(pairs, bars), n_targets)
        search.fill_in(sources, who, places.astype(np.int32), best, scores)
        nowhere = sources.start + np.flatnonzero(search.lengths[rows] == 0)
        score_all_targets(search, nowhere, k, best, scores)
        report(sources.stop, len(best))


def _matches(index: Any, units: NDArray[np.float32], wanted: Places, n_targets: int) -> Places:
    """Return pairs of sources and targets that an index finds, as source x n_targets + target.

    At least `wanted` for each source; sources that want about as many are searched together.
    """
    sizes = np.minimum(1 << np.ceil(np.log2(wanted)).astype(np.int64), n_targets)
    pairs = []
    for size in np.unique(sizes).tolist():
        numbers = np.flatnonzero(sizes == size)
        numbers = np.resize(numbers, max(2, len(numbers)))  # usearch answers one alone differently
        answer = index.search(units[numbers], size, threads=available_cpus())
        valid = np.arange(size) < np.asarray(answer.counts)[:, None]
        pairs.append((numbers[:, None] * n_targets + answer.keys.astype(np.int64))[valid])
    return np.concatenate(pairs)
