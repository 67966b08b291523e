"""The pairs of a pass, sorted by their buckets."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._util.scratch import large_zeros
from ._preparation import count_nodes
from .corpus import Corpus
from .engine import Chunk, chunks
from .rules import WindowTask

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


_PART_TOKENS = 1 << 14  # whose pairs a thread finds at a time: about a millisecond of work


def part_walks(corpus: Corpus) -> int:
    """Return how many walks a thread takes at a time; the result does not depend on it."""
    return max(1, _PART_TOKENS // corpus.mean_length)


def count_visits(corpus: Corpus, first: int, last: int) -> NDArray[np.int64]:
    """Return how often walks from number `first` to before `last` visit each node."""
    visits = np.zeros(corpus.n_nodes, np.int64)
    for chunk in chunks(corpus, first, last, part_walks(corpus)):
        count_nodes(corpus.take(*chunk)[0], visits)
    return visits


class _Walks(NamedTuple):
    """Some walks: the number of the first, their nodes, and where each begins."""

    first: int
    nodes: NDArray[np.int32]
    begins: NDArray[np.int64]
    tokens: int  # nodes in the walks, before subsampling


class PassWalks:
    """The walks of a pass, part by part: made for the first scale, and kept for the others."""

    def __init__(self, corpus: Corpus, chunk: Chunk, threads: int = 1) -> None:
        first, size = chunk
        part = min(part_walks(corpus), -(-size // threads) or 1)  # all threads get some
        self.corpus = corpus
        self.parts = list(chunks(corpus, first, first + size, part)) or [chunk]
        self.made: list[_Walks | None] = [None] * len(self.parts)

    def part(self, number: int) -> _Walks:
        """Return a part; a thread that takes a part for a scale is the only one that has it."""
        walks = self.made[number]
        if walks is None:
            chunk = self.parts[number]
            nodes, begins = self.corpus.take(*chunk)
            walks = _Walks(chunk.first, nodes, begins, int(np.count_nonzero(nodes >= 0)))
            self.made[number] = walks
        return walks

    def tokens(self) -> int:
        """Return how many nodes all walks have, once all were made."""
        return sum(walks.tokens for walks in self.made if walks)


class WalkPairs:
    """Finds the pairs of walks.

    Parameters
    ----------
    walks : PassWalks
        The walks.
    task : WindowTask
        Which pairs they have.
    of : uint8 array
        The block of each node.
    kernels : module
        `cpu.engine` or `plain`.
    places : int32 array, optional
        Other numbers of the nodes, by which `of` and the pairs name them; the last one is -1.
    """

    def __init__(
        self,
        walks: PassWalks,
        task: WindowTask,
        of: NDArray[np.uint8],
        kernels: ModuleType,
        places: NDArray[np.int32] | None = None,
    ) -> None:
        self.walks, self.task, self.of, self.kernels = walks, task, of, kernels
        self.places = places

    def count(self, part: int, counts: NDArray[np.int64]) -> _Walks:
        """Make some walks, unless they are there, and count their pairs by bucket."""
        walks = self.walks.part(part)
        if self.task.keep is not None:
            walks = walks._replace(nodes=walks.nodes.copy())
            self.kernels.skip_visits(walks.nodes, walks.begins, walks.first, self.task)
        if self.places is not None:
            walks = walks._replace(nodes=self.places[walks.nodes])
        self.kernels.count_pairs(
            walks.nodes, walks.begins, walks.first, self.task, self.of, counts, self._room()
        )
        return walks

    def place(self, found: _Walks, places: NDArray[np.int64], pairs: NDArray[np.uint64]) -> None:
        """Write each pair to the next place of its bucket."""
        self.kernels.place_pairs(
            found.nodes, found.begins, found.first, self.task, self.of, places, pairs, self._room()
        )

    def _room(self) -> NDArray[np.uint8]:
        return np.empty(self.walks.corpus.longest, np.uint8)
