"""The walks to train on: sampled when they are needed, or given.

A corpus has `n_walks` in an epoch over `n_nodes` nodes. `take(first, count)` returns some of them
as flat node numbers and the offsets where walks begin; the last offset is where the last one ends.
A walk ends at the next offset or at its first -1.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import digest
from ..files import StoredWalks
from ..graph.fingerprint import fingerprint
from ..walks import WalkSampler
from ..walks.directions import mean_length
from ..walks.plan import graph_of_walks
from ._preparation import shuffle

if TYPE_CHECKING:
    from ..walks.cuda.walker import DeviceWalker

BYTES_PER_WEIGHTED_ARC = 20
_PILOT_STEPS = 1 << 20  # whose visits are counted before training, at least

_TRIED = 200  # steps of the walks whose length is estimated
_AT_ONCE = 1 << 18  # walks whose sizes are summed

_Taken = tuple[NDArray[np.int32], NDArray[np.int64]]
_OfSizes = Callable[[NDArray[np.int64]], NDArray[Any]]


class Corpus(Protocol):
    """Walks to train on."""

    n_walks: int
    n_nodes: int
    longest: int
    mean_length: int

    @property
    def nbytes(self) -> int:
        """Memory of what the walks are made from, or of the walks."""

    def largest_sum(self, walks: int, of: _OfSizes) -> float:
        """About the largest sum of a function of sizes, over so many walks in a row."""

    @property
    def n_pilot(self) -> int:
        """How many walks, from the first on, are sampled to estimate the visits of nodes."""

    def take(self, first: int, count: int) -> _Taken:
        """Return walks number first, first + 1, ...; epochs follow each other."""

    def fingerprint(self) -> str:
        """Return a digest of all that the walks depend on, except their number in an epoch."""


class SampledWalks:
    """Walks of a sampler whose starts are shuffled; every epoch has new ones.

    Nodes with similar numbers are often close in the graph, and training on one corner of the graph
    after the other gives worse vectors.
    """

    def __init__(self, sampler: WalkSampler) -> None:
        self._given, self.graph = sampler, sampler.graph
        self.copied_bytes, self.copying_bytes = sampler.copied_bytes, sampler.copying_bytes
        self.direction = sampler.direction
        self.n_walks, self.n_nodes = sampler.n_walks, sampler.graph.n_nodes
        self.longest = self.mean_length = sampler.length
        self._preparing = Lock()

    @cached_property
    def sampler(self) -> WalkSampler:
        """The sampler, its starts shuffled; not before the first use: estimates need no starts."""
        self._given.starts = self._given.starts.copy()
        shuffle(self._given.starts, np.uint64(self._given.seed))
        return self._given

    def __getstate__(self) -> dict[str, Any]:
        sampler = copy(self.sampler)  # its starts and the tables are made once for all processes
        sampler.graph = graph_of_walks(self.graph)
        state = self.__dict__ | {"_given": sampler, "sampler": sampler, "graph": sampler.graph}
        del state["_preparing"]
        state.pop("device_walker", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._preparing = Lock()

    @property
    def nbytes(self) -> int:
        """Memory of the graph, the starts and the tables to draw neighbours by weight."""
        arcs = len(self.graph.indices) if self.graph.weighted else 0
        return self.graph.nbytes + 4 * len(self._given.starts) + BYTES_PER_WEIGHTED_ARC * arcs

    @cached_property
    def likely_length(self) -> float:
        """Mean nodes of a walk, as a trial estimates it; one from an isolated node has one."""
        starts, tried = self._given.starts, min(self.longest, _TRIED)
        if not len(starts):
            return 1.0
        if not self.graph.directed:  # only walks from isolated nodes end
            linked = np.count_nonzero(self.graph.degrees[starts]) / len(starts)
            return 1 + (self.longest - 1) * linked
        return mean_length(self.graph, tried, starts) * (self.longest / tried)

    def largest_sum(self, walks: int, of: _OfSizes) -> float:
        """Return the sum of as many walks of full length as have the likely number of nodes."""
        full = max(1.0, walks * self.likely_length / self.longest)
        return float(full * of(np.full(1, self.longest))[0])

    @property
    def n_pilot(self) -> int:
        """One walk from each start, or more if the graph is small."""
        return min(self.n_walks, max(len(self._given.starts), _PILOT_STEPS // self.longest))

    def take(self, first: int, count: int) -> _Taken:
        """Sample the walks."""
        with self._preparing:  # not by every thread: the tables may be as large as the graph
            sampler, _ = self.sampler, self.graph.alias
        walks = np.empty((count, self.longest), np.int32)
        sampler.fill(first, walks)
        return walks.ravel(), np.arange(0, walks.size + 1, self.longest)

    @cached_property
    def device_walker(self) -> DeviceWalker:
        """The sampler's counterpart on a GPU."""
        from ..walks.cuda.walker import DeviceWalker

        return DeviceWalker(self.sampler.task)

    def fingerprint(self) -> str:
        """Return a digest of graph and starts."""
        return fingerprint(self.graph, self.sampler.starts)


class GivenWalks:
    """Walks in memory or in a mapped file; every epoch has the same ones."""

    def __init__(self, stored: StoredWalks) -> None:
        self.stored = stored
        sizes = np.diff(stored.begins)
        self.n_walks, self.n_nodes = len(sizes), len(stored.ids)
        self.longest = int(sizes.max(initial=1))
        self.n_tokens = int(sizes.sum())
        self.mean_length = max(1, self.n_tokens // max(self.n_walks, 1))
        self.n_edges: int | None = None  # that walks went along, as far as anyone has counted them

    def largest_sum(self, walks: int, of: _OfSizes) -> float:
        """Return the largest sum of a function of sizes, over so many walks in a row."""
        if self.longest * self.n_walks == self.n_tokens:
            return float(of(np.full(1, self.longest))[0] * walks)
        begins, others = self.stored.begins, self.n_walks - walks
        now = largest = float(of(np.diff(begins[: walks + 1])).sum())
        for first in range(0, others, _AT_ONCE):
            left = begins[first : min(first + _AT_ONCE, others) + 1]
            right = begins[first + walks : first + walks + len(left)]
            sums = now + np.cumsum(of(np.diff(right)) - of(np.diff(left)))
            now, largest = float(sums[-1]), max(largest, float(sums.max()))
        return largest

    @property
    def nbytes(self) -> int:
        """Memory of the walks, if they are in memory."""
        return int(4 * self.stored.begins[-1] + self.stored.begins.nbytes)

    @property
    def n_pilot(self) -> int:
        """All walks."""
        return self.n_walks

    def take(self, first: int, count: int) -> _Taken:
        """Copy the walks, perhaps from a file."""
        first %= self.n_walks
        begins = self.stored.begins[first : first + count + 1]
        return np.array(self.stored.nodes[begins[0] : begins[-1]]), begins - begins[0]

    def fingerprint(self) -> str:
        """Return a digest of the walks and the ids."""
        return digest(self.stored.nodes, self.stored.begins, self.stored.ids)
