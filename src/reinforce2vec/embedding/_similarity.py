"""Cosines of angles between vectors, the same to the last bit however they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import Vectors, row_blocks
from .._util.errors import InputError

BLOCK_BYTES = 1 << 24  # of cosines, or of vectors, to compute at a time
SOURCES_AT_A_TIME = 1024

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def row_products(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return scalar products of the rows of two matrices, in float64, without copying the matrices.

    By einsum, not by a matrix product, whose last bits depend on the position of a row: equal
    vectors must be equally similar.
    """
    products = np.empty(len(a))
    with np.errstate(invalid="ignore"):  # infinite vectors
        for rows in row_blocks(a):
            left, right = (part[rows].astype(np.float64, order="C") for part in (a, b))
            np.einsum("ij,ij->i", left, right, out=products[rows])
    return products


def norms(vectors: NDArray[Any]) -> Floats:
    """Return the Euclidean norms of vectors."""
    lengths: Floats = np.sqrt(row_products(vectors, vectors))
    return lengths


def cosines(products: Floats, lengths: Floats) -> Floats:
    """Return cosines from scalar products and products of norms; 0 where a norm is 0."""
    with np.errstate(invalid="ignore"):
        ratios = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths != 0)
    return np.clip(ratios, -1, 1)


def highest(values: Floats, k: int) -> Places:
    """Return places of the k highest values, highest first, equal ones in order; NaN is last."""
    ranks = np.where(np.isnan(values), np.inf, -values)
    rows = np.arange(len(ranks))
    if k < len(ranks):
        rows = np.flatnonzero(ranks <= np.partition(ranks, k - 1)[k - 1])
    best: Places = rows[np.argsort(ranks[rows], kind="stable")][:k]
    return best


def slices(size: int, step: int) -> Iterator[slice]:
    """Return slices of `step` items each, the last perhaps of fewer."""
    return (slice(first, min(first + step, size)) for first in range(0, size, step))


@dataclass(frozen=True, eq=False)
class SimilaritySearch:
    """A search for the best targets of each source; the score is the cosine plus a bonus.

    Attributes
    ----------
    vectors : float32 array (n, dimensions)
        Finite numbers.
    sources : int32 array
        Rows whose most similar rows are searched.
    targets : int32 array
        Rows that can be found, ascending.
    barred : callable
        Takes a slice or an array of numbers of sources and returns, as a sorted adjacency (begins,
        places), which targets each of them must not find; places count the targets from 0.
    bonus : float64 array, optional
        Added to the cosine, for each target.
    """

    vectors: Vectors
    sources: Rows
    targets: Rows
    barred: Callable[[Any], tuple[Places, Rows]]
    bonus: Floats | None = None

    @cached_property
    def lengths(self) -> Floats:
        """Norms of all vectors; InputError if one is not finite."""
        lengths = norms(self.vectors)
        bad = np.flatnonzero(~np.isfinite(lengths))
        if bad.size:
            raise InputError(
                f"the vector in row {bad[0]:,} (from 0) holds numbers that are not finite, so it "
                "has no neighbours"
            )
        return lengths

    def directions(self, rows: Rows) -> Vectors:
        """Return vectors scaled to length 1; those of zeros stay."""
        units = np.empty((len(rows), self.vectors.shape[1]), np.float32)
        for part in row_blocks(units):
            lengths = self.lengths[rows[part], None]
            units[part] = self.vectors[rows[part]] / np.where(lengths == 0, 1, lengths)
        return units

    def scores(self, rows: NDArray[Any], places: NDArray[Any]) -> Floats:
        """Return the score of each pair of a row and a target, in float64."""
        scores = np.empty(len(rows))
        for part in slices(len(rows), max(1, BLOCK_BYTES // (4 * self.vectors.shape[1]))):
            a, b = rows[part], self.targets[places[part]]
            products = row_products(self.vectors[b], self.vectors[a])
            scores[part] = cosines(products, self.lengths[b] * self.lengths[a])
        return scores if self.bonus is None else scores + self.bonus[places]

    def of_some(self, numbers: Places) -> SimilaritySearch:
        """Return the same search for some of the sources."""
        return replace(
            self, sources=self.sources[numbers], barred=lambda some: self.barred(numbers[some])
        )

    def fill_in(
        self, sources: slice, who: Places, places: Rows, best: Rows, scores: Floats
    ) -> None:
        """Score targets of some sources, and fill in the best of each; `who` is ascending."""
        exact = self.scores(self.sources[sources][who], places)
        order = np.lexsort((places, -exact, who))
        ranks = np.arange(len(who)) - np.searchsorted(who, who)
        within = ranks < best.shape[1]
        to = who[within] + sources.start, ranks[within]
        best[to], scores[to] = places[order][within], exact[order][within]
