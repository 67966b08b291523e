"""Exact search for the most similar rows of a matrix: all scalar products, in blocks.

Our own takes 0.66 ms of CPU time per node among 99,995 nodes; scikit-learn's brute force takes 1.1
to 2.6 times as long, numpy 4.6 to 5.1 times (benchmarks/results/neighbors.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import Vectors, row_blocks
from .._util.compiled import compiled
from .._util.errors import InputError
from .._util.machine import available_cpus
from .._util.progress import Report
from .._util.threads import Threads, do_all
from ._angles import cosines, highest, norms, row_products

_BLOCK_BYTES = 1 << 24  # of cosines, or of vectors, to compute at a time
SOURCES_AT_A_TIME = 1024
_SPARE = 256  # places on a shortlist in addition to 2 k
_ROUNDING = 2.0**-24  # relative rounding error of a float32
_CROWD = 16  # as many sources with the same vector are processed together
_CACHED_BYTES = 1 << 19  # of vectors in float64, which fit in the cache of a core

Rows = NDArray[np.int32]
Floats = NDArray[np.float64]
_Barred = Callable[[slice], tuple[NDArray[np.int64], Rows]]


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
        Takes a slice of the sources and returns, as a sorted adjacency (begins, places), which
        targets each of them must not find; places count the targets from 0.
    bonus : float64 array, optional
        Added to the cosine, for each target.
    """

    vectors: Vectors
    sources: Rows
    targets: Rows
    barred: _Barred
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
        found = np.empty(len(rows))
        for part in slices(len(rows), max(1, _BLOCK_BYTES // (4 * self.vectors.shape[1]))):
            a, b = rows[part], self.targets[places[part]]
            products = row_products(self.vectors[b], self.vectors[a])
            found[part] = cosines(products, self.lengths[b] * self.lengths[a])
        return found if self.bonus is None else found + self.bonus[places]

    def of_some(self, numbers: NDArray[np.int64]) -> SimilaritySearch:
        """Return the same search for some of the sources."""

        def barred(part: slice) -> tuple[NDArray[np.int64], Rows]:
            each = [self.barred(slice(one, one + 1))[1] for one in numbers[part].tolist()]
            return np.cumsum([0, *map(len, each)], dtype=np.int64), np.concatenate(each)

        return SimilaritySearch(
            self.vectors, self.sources[numbers], self.targets, barred, self.bonus
        )


def slices(size: int, step: int) -> Iterator[slice]:
    """Return slices of `step` items each, the last perhaps of fewer."""
    return (slice(first, min(first + step, size)) for first in range(0, size, step))


def fill_in_order(
    search: SimilaritySearch,
    sources: slice,
    who: NDArray[np.int64],
    found: Rows,
    best: Rows,
    scores: Floats,
) -> None:
    """Score the targets found for each source, and fill in the best ones; `who` is ascending."""
    exact = search.scores(search.sources[sources][who], found)
    order = np.lexsort((found, -exact, who))
    ranks = np.arange(len(who)) - np.searchsorted(who, who)
    within = ranks < best.shape[1]
    to = who[within] + sources.start, ranks[within]
    best[to], scores[to] = found[order][within], exact[order][within]


# -- exactly -----------------------------------------------------------------------------------


class _Shortlists(NamedTuple):
    """For each source, the targets that may be among its best, by products in float32."""

    best: NDArray[np.float32]  # the k best products, as a heap with the least of them first
    counts: NDArray[np.int64]  # how many are on the list; -1 if there was no room for all
    products: NDArray[np.float32]
    places: Rows

    @classmethod
    def empty(cls, n_sources: int, k: int, room: int) -> _Shortlists:
        """Return empty lists with room for `room` targets of each source."""
        return cls(
            np.full((n_sources, k), -np.inf, np.float32),
            np.zeros(n_sources, np.int64),
            np.empty((n_sources, room), np.float32),
            np.empty((n_sources, room), np.int32),
        )

    def add(
        self,
        threads: Threads,
        products: NDArray[np.float32],
        first_place: int,
        bonus: NDArray[np.float32] | None,
        barred: tuple[NDArray[np.int64], Rows],
        slack: float,
    ) -> None:
        """Add those of some targets that may be among the best."""

        def add_to(rows: slice) -> None:
            places = first_place, rows.start, rows.stop
            _extend_shortlists(products, *places, bonus, *barred, np.float32(slack), *self)

        do_all(threads, add_to, slices(len(products), -(-len(products) // available_cpus())))


def search_exactly(
    search: SimilaritySearch, k: int, best: Rows, scores: Floats, report: Report
) -> None:
    """Fill in the best of all targets.

    Products in float32 give a shortlist for each source: all targets that may be among the best,
    given rounding errors. These are then scored in float64. So the result depends neither on the
    size of blocks nor on the order of sums in a product.
    """
    n_targets = len(search.targets)
    k = min(k, n_targets)
    room = min(n_targets, 2 * k + _SPARE)
    step = max(1, min(SOURCES_AT_A_TIME, len(best), _BLOCK_BYTES // (8 * room)))
    width = max(1, min(n_targets, _BLOCK_BYTES // (4 * step)))
    units = search.directions(search.targets)
    bonus = None if search.bonus is None else search.bonus.astype(np.float32)
    slack = rounding_margin(search)
    block = np.empty(step * width, np.float32)
    with Threads(available_cpus()) as threads:
        for sources in slices(len(best), step):
            looking = search.directions(search.sources[sources])
            barred = search.barred(sources)
            lists = _Shortlists.empty(len(looking), k, room)
            for columns in slices(n_targets, width):
                shape = len(looking), columns.stop - columns.start
                products = block[: shape[0] * shape[1]].reshape(shape)
                np.matmul(looking, units[columns].T, out=products)
                lists.add(threads, products, columns.start, bonus, barred, slack)
            listed = np.arange(room) < lists.counts[:, None]
            who = np.nonzero(listed)[0]
            fill_in_order(search, sources, who, lists.places[listed], best, scores)
            overfull = sources.start + np.flatnonzero(lists.counts < 0)
            score_all_targets(search, overfull, k, best, scores)
            report(sources.stop, len(best))


def rounding_margin(search: SimilaritySearch) -> float:
    """Return how much smaller a product in float32 may be than one that is not better.

    Twice the largest rounding error: every number of the two vectors, every product and every sum
    is rounded once.
    """
    most = 0.0 if search.bonus is None else float(np.abs(search.bonus).max())
    return float(2 * (search.vectors.shape[1] + 4) * _ROUNDING * (1 + most))


@compiled
def _extend_shortlists(
    products: Any,
    first_place: int,
    first: int,
    last: int,
    bonus: Any,
    begins: Any,
    barred: Any,
    slack: Any,
    best: Any,
    counts: Any,
    listed_products: Any,
    listed_places: Any,
) -> None:
    """Add targets to the shortlists of the sources from `first` to before `last`.

    One comparison for each product, and little else once the lists hold good targets.
    """
    room = listed_products.shape[1]
    for i in range(first, last):
        count, threshold = counts[i], best[i, 0] - slack
        for j in range(products.shape[1] if count >= 0 else 0):
            place, product = first_place + j, products[i, j]
            if bonus is not None:
                product += bonus[place]
            if product < threshold or contains_sorted(barred, begins[i], begins[i + 1], place):
                continue
            if count == room:
                count = _shorten(listed_products[i], listed_places[i], count, threshold)
                if count == room:
                    count = -1
                    break
            listed_products[i, count], listed_places[i, count] = product, place
            count += 1
            if product > best[i, 0]:
                _replace_least(best[i], product)
                threshold = best[i, 0] - slack
        if count > 0:
            count = _shorten(listed_products[i], listed_places[i], count, threshold)
        counts[i] = count


@compiled
def _replace_least(heap: Any, number: Any) -> None:
    """Replace the least number of a heap, its first; the children of i are 2 i + 1 and 2 i + 2."""
    place, child = 0, 1
    while child < len(heap):
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= number:
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = number


@compiled
def contains_sorted(numbers: Any, begin: int, end: int, wanted: int) -> bool:
    """Return whether a number is in the ascending part numbers[begin:end]; binary search."""
    while begin < end:
        middle = (begin + end) // 2
        if numbers[middle] == wanted:
            return True
        if numbers[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return False


@compiled
def _shorten(products: Any, places: Any, count: int, threshold: Any) -> int:
    """Remove the targets below the threshold from a list; return how many are left."""
    kept = 0
    for i in range(count):
        if products[i] >= threshold:
            products[kept], places[kept] = products[i], places[i]
            kept += 1
    return kept


# -- sources with too many equally good targets for a shortlist --------------------------------


def score_all_targets(
    search: SimilaritySearch, numbers: NDArray[np.int64], k: int, best: Rows, scores: Floats
) -> None:
    """Fill in the best targets of some sources by computing all their scores in float64."""
    if not numbers.size:
        return
    vectors = search.vectors[search.sources[numbers]]
    _, alike, sizes = np.unique(vectors, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(alike.ravel(), kind="stable")
    groups = np.split(numbers[order], np.cumsum(sizes)[:-1])
    for members in groups:
        if len(members) >= _CROWD:
            _fill_equal_sources(search, members, k, best, scores)
    others = [members for members in groups if len(members) < _CROWD]
    if others:
        _fill_each_source(search, np.sort(np.concatenate(others)), k, best, scores)


def _fill_equal_sources(
    search: SimilaritySearch, members: NDArray[np.int64], k: int, best: Rows, scores: Floats
) -> None:
    """Fill in the best targets of sources with the same vector, whose scores are the same."""
    found = _scores_of_all_targets(search, search.sources[members[:1]])[0]
    barred = [search.barred(slice(number, number + 1))[1] for number in members.tolist()]
    order = highest(found, k + max(map(len, barred)))
    for number, those in zip(members.tolist(), barred, strict=True):
        free = order[~np.isin(order, those)][:k]
        best[number, : len(free)], scores[number, : len(free)] = free, found[free]


def _fill_each_source(
    search: SimilaritySearch, numbers: NDArray[np.int64], k: int, best: Rows, scores: Floats
) -> None:
    """Fill in the best targets of sources with different vectors, some at a time."""
    looking = search.of_some(numbers)

    def fill_in(some: slice) -> None:
        found = _scores_of_all_targets(search, looking.sources[some])
        begins, barred = looking.barred(some)
        free = len(search.targets) - np.diff(begins)
        found[np.repeat(np.arange(len(found)), np.diff(begins)), barred] = np.nan  # comes last
        for number, those, most in zip(numbers[some].tolist(), found, free.tolist(), strict=True):
            order = highest(those, k)[:most]
            best[number, : len(order)], scores[number, : len(order)] = order, those[order]

    cpus = available_cpus()
    step = max(8, _BLOCK_BYTES // (8 * len(search.targets) * cpus))
    with Threads(cpus) as threads:
        do_all(threads, fill_in, slices(len(numbers), step))


def _scores_of_all_targets(search: SimilaritySearch, rows: Rows) -> Floats:
    """Return scores of some rows with all targets, equal to those of `scores` to the last bit.

    So not by a matrix product, see :func:`row_products`, but by the same sums, over blocks of
    targets that fit in the cache of a core.
    """
    found = np.empty((len(rows), len(search.targets)))
    looking = search.vectors[rows].astype(np.float64)
    for places in slices(len(search.targets), max(1, _CACHED_BYTES // looking[0].nbytes)):
        block = search.targets[places]
        products = np.einsum("ik,jk->ij", looking, search.vectors[block].astype(np.float64))
        lengths = search.lengths[block] * search.lengths[rows, None]
        found[:, places] = cosines(products, lengths)
    return found if search.bonus is None else found + search.bonus
