"""What an engine is: it makes walks and trains on them, chunk by chunk.

`backends` finds the one to use: `cpu` and `plain` train on the threads of this machine, `cuda` on a
GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus


class Chunk(NamedTuple):
    """Some walks: the number of the first, and how many."""

    first: int
    size: int


class Outcome(NamedTuple):
    """The result of training on a chunk."""

    chunk: Chunk
    tokens: int
    point: int  # the first point of the loss curve that the walks belong to
    losses: NDArray[np.float64]  # of each scale, at this point and those that follow
    pairs: NDArray[np.int64]


class Engine(Protocol):
    """Makes walks and trains on them."""

    threads: int  # that may call `train` at once
    chunk_walks: int  # walks in a chunk
    resizable: bool  # whether chunks may have any other size

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them."""

    def collect(self, outputs: bool = True) -> None:
        """Copy the matrices, as they are now, to the state; without `outputs` the inputs alone."""

    def finite(self) -> list[bool]:
        """Return whether every number of the matrices is finite, for each scale."""

    def close(self) -> None:
        """Free all memory; what was not collected is lost."""


def chunks(corpus: Corpus, first: int, last: int, size: int) -> Iterator[Chunk]:
    """Split the walks from `first` to before `last` into chunks, each of a single epoch."""
    while first < last:
        position = first % corpus.n_walks
        count = min(size - position % size, corpus.n_walks - position, last - first)
        yield Chunk(first, count)
        first += count
