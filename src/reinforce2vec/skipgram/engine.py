"""What an engine is: it makes walks and trains on them, chunk by chunk.

`backends` finds the one to use: `cpu` and `plain` train on the threads of this machine, `cuda` on a
GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .checkpoint import Origin, write_checkpoint
from .corpus import Corpus
from .state import State


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

    state: State  # that is trained
    threads: int  # that may call `train` at once
    chunk_walks: int  # walks in a chunk
    resizable: bool  # whether chunks may have any other size

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them."""

    def collect(self, outputs: bool = True) -> None:
        """Copy the matrices, as they are now, to the state; without `outputs` the inputs alone."""

    def finite(self) -> list[bool]:
        """Return whether every number of the matrices is finite, for each scale."""

    def check_saving(self, path: Path) -> None:
        """Raise InputError if no checkpoint can be written to this path."""
        return

    def save(self, path: Path, origin: Origin) -> None:
        """Write a checkpoint."""
        self.collect()
        write_checkpoint(path, self.state, origin)

    def close(self) -> None:
        """Free all memory; what was not collected is lost."""


def chunks(corpus: Corpus, first: int, last: int, size: int) -> Iterator[Chunk]:
    """Split the walks from `first` to before `last` into chunks, each of a single epoch."""
    while first < last:
        position = first % corpus.n_walks
        count = min(size - position % size, corpus.n_walks - position, last - first)
        yield Chunk(first, count)
        first += count
