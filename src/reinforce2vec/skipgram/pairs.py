"""The pairs of a pass, sorted by their buckets."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._util.scratch import large_zeros

_Part = TypeVar("_Part", contravariant=True)

PAIR_BYTES = 8
BYTES_PER_PART = 5 * 8  # for each bucket of each part of a pass: counts and places


class PairFinder(Protocol[_Part]):
    """Finds the pairs of a part of the training: in some walks, or of some edges."""

    def count(self, part: _Part, counts: NDArray[np.int64]) -> Any:
        """Write how many pairs each bucket gets; return what `place` needs to find them again."""

    def place(self, found: Any, places: NDArray[np.int64], pairs: NDArray[np.uint64]) -> None:
        """Write each pair to the next place of its bucket."""


class PairSorter:
    """Sorts the pairs of a pass by their buckets.

    All parts are counted, then `assign` finds the place of each, then all are placed; threads may
    take the parts in any order. A pair is the number of its context, in the upper half of 64 bits,
    and that of its centre. Pairs of a bucket keep their order.

    Parameters
    ----------
    finder : PairFinder
        What finds the pairs.
    parts : list
        Parts of the pass.
    n_blocks : int
        Blocks of nodes.

    Attributes
    ----------
    pairs : uint64 array
        The pairs, bucket after bucket, and perhaps more room.
    bounds : int64 array
        Bucket (i, j) goes from bounds[i * n_blocks + j] to before the next bound.
    found : list
        What the finder has found in each part.
    """

    bounds: NDArray[np.int64]
    pairs: NDArray[np.uint64]

    def __init__(self, finder: PairFinder[_Part], parts: list[_Part], n_blocks: int) -> None:
        self.finder, self.parts = finder, parts
        self.counts = np.zeros((len(parts), n_blocks, n_blocks), np.int64)
        self.found: list[Any] = [None] * len(parts)

    def count(self, number: int) -> None:
        """Count the pairs of a part."""
        self.found[number] = self.finder.count(self.parts[number], self.counts[number])

    def assign(self, room: NDArray[np.uint64]) -> None:
        """Decide where pairs go: bucket by bucket, in each part by part; in `room`, if they fit."""
        by_bucket = self.counts.reshape(len(self.parts), -1).T
        ends = np.cumsum(by_bucket).reshape(by_bucket.shape)
        self.places = np.ascontiguousarray((ends - by_bucket).T).reshape(self.counts.shape)
        self.bounds = np.append(0, ends[:, -1])
        size = int(self.bounds[-1])
        self.pairs = room if len(room) >= size else large_zeros((size,), np.uint64)

    def place(self, number: int) -> None:
        """Write the pairs of a part to their places."""
        self.finder.place(self.found[number], self.places[number], self.pairs)
