"""Where training happens: on the threads of this machine (cuda/training.py: on a graphics card)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .corpus import Corpus
from .cpu import kernels
from .cpu.lanes import GROUP_LABELS
from .cpu.simd import LANES, MOST_TARGETS, SLOTS
from .noise import keep_chances, noise_table
from .state import POINTS, Settings, State
from .weights import aligned, row_size

CHUNK_TOKENS = 1 << 15  # what a thread takes at a time: some ten milliseconds of work
USUAL_WORK = 128 * 6  # numbers in a token's targets, beyond which it takes fewer tokens


class Chunk(NamedTuple):
    """Some walks: the number of the first, and how many."""

    first: int
    size: int


class Outcome(NamedTuple):
    """What training on some walks brought."""

    chunk: Chunk
    tokens: int
    point: int  # the first hundredth of the training that they belong to
    losses: NDArray[np.float64]  # for it, and for those that follow
    pairs: NDArray[np.int64]


class Engine(Protocol):
    """What makes walks and trains on them."""

    threads: int  # that may call `train` at once
    chunk_walks: int  # to be trained on at a time

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them."""

    def collect(self, outputs: bool = True) -> None:
        """Bring the matrices, as they are now, into the state; perhaps the inputs alone."""

    def finite(self) -> bool:
        """Whether every number of the matrices is."""

    def close(self) -> None:
        """Give everything back; what was not collected is lost."""


def chunks(corpus: Corpus, first: int, last: int, size: int) -> Iterator[Chunk]:
    """Walks first to last, up to so many at a time, never of two epochs at once."""
    while first < last:
        position = first % corpus.n_walks
        count = min(size - position % size, corpus.n_walks - position, last - first)
        yield Chunk(first, count)
        first += count


def chunk_size(corpus: Corpus, tokens: int) -> int:
    """Walks of about so many tokens, but no more than a hundredth of an epoch."""
    return max(1, min(tokens // corpus.mean_length, corpus.n_walks // POINTS))


class CpuEngine:
    """Threads that train on chunks of walks, each on its own; see skipgram/kernels.py."""

    def __init__(self, corpus: Corpus, settings: Settings, state: State, workers: int) -> None:
        self.corpus, self.settings, self.state, self.threads = corpus, settings, state, workers
        self.n_walks = corpus.n_walks * settings.epochs
        self.noise = noise_table(state.visits)
        self.keep = keep_chances(state.visits, settings.subsample)
        targets = settings.negatives + 1
        self.groups = -(-targets // MOST_TARGETS)
        self.group = (0,) * -(-targets // self.groups)
        work = row_size(settings.dimensions) * targets
        tokens = CHUNK_TOKENS * USUAL_WORK // max(work, USUAL_WORK)
        self.chunk_walks = chunk_size(corpus, tokens)

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them, in the calling thread."""
        settings, weights = self.settings, self.state.weights
        nodes, begins = self.corpus.take(*chunk)
        around = 2 * min(settings.window, self.corpus.longest) + 2
        tokens, pairs, loss = kernels.train_walks(
            nodes, begins, chunk.first, self.n_walks, np.uint64(settings.seed),
            weights.inputs, weights.outputs, self.noise, self.keep,
            settings.window, settings.negatives, settings.learning_rate, self.group,
            np.empty(self.corpus.longest, np.int64), np.empty(around, np.int64),
            np.empty(kernels.AHEAD * self.groups * len(self.group), np.int64),
            aligned(self.groups * GROUP_LABELS), aligned(kernels.BATCH * SLOTS), aligned(2 * LANES),
        )  # fmt: skip
        point = chunk.first * POINTS // self.n_walks
        return Outcome(chunk, tokens, point, np.array([loss]), np.array([pairs]))

    def collect(self, outputs: bool = True) -> None:
        """The matrices of the state are trained where they are."""

    def finite(self) -> bool:
        """Whether every number of the matrices is."""
        return self.state.weights.finite()

    def close(self) -> None:
        """There is nothing to give back."""
