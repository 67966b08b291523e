"""Training: chunks of walks are made and trained on by every thread, in turns, until all are done.

While one thread makes walks others train, and no more walks are in memory than the threads have at
hand. Threads change the same matrices without locks: seldom the same row at once, and a lost
update is a little noise. With one thread the result is the same to the last bit, however often it
was interrupted and resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..files import row_blocks
from ..interrupts import held_back
from ..threads import in_turn
from . import kernels
from .corpus import Corpus
from .labels import GROUP_LABELS
from .noise import Visits, keep_chances, noise_table
from .simd import LANES, MOST_TARGETS, SLOTS
from .weights import Matrix, Weights, aligned, new_weights, row_size

CHUNK_TOKENS = 1 << 15  # what a thread takes at a time: some ten milliseconds of work
USUAL_WORK = 128 * 6  # numbers in a token's targets, beyond which it takes fewer tokens
POINTS = 100  # of the loss curve, at most
MOST_LOSS = 2.0  # times the loss of vectors that know nothing, beyond which training has failed
MOST_WALKS = 2**62
SAFE_RATE = 0.025  # word2vec's
BOLD_RATE = 0.05  # larger ones can diverge where walks turn in small circles
MANY_TOKENS = 3200  # for each node, from which on the safe rate is the best one
ENOUGH_PAIRS = 1000  # from which on a mean loss says something


class Settings(NamedTuple):
    """How to train."""

    dimensions: int = 64
    window: int = 10
    negatives: int = 5
    epochs: int = 1
    learning_rate: float = 0.025
    subsample: float = 0.0
    seed: int = 0


def usual_rate(tokens: float) -> float:
    """The learning rate to begin with, if there are so many tokens for each node.

    The fewer, the larger, since a vector has to get as far in fewer steps; docs/results.md has the
    measurements.

    >>> [usual_rate(40 * walks) for walks in (1, 20, 80, 1000)]
    [0.05, 0.05, 0.025, 0.025]
    """
    return min(max(SAFE_RATE * math.sqrt(MANY_TOKENS / max(tokens, 1)), SAFE_RATE), BOLD_RATE)


@dataclass
class State:
    """How far training is: all that is needed to go on."""

    weights: Weights
    visits: Visits
    walks: int = 0
    tokens: int = 0
    seconds: float = 0.0
    losses: NDArray[np.float64] = field(default_factory=lambda: np.zeros(POINTS))
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(POINTS, np.int64))

    @property
    def loss_curve(self) -> NDArray[np.float64]:
        """Mean loss of a pair and its negatives, over each hundredth of the training so far."""
        some = self.pairs > 0
        curve: NDArray[np.float64] = self.losses[some] / self.pairs[some]
        return curve


class Moment(NamedTuple):
    """What a callback is told, about a hundred times in a training."""

    walks: int  #: walks trained on so far
    n_walks: int  #: walks in all, over all epochs
    tokens: int  #: nodes in these walks so far
    loss: float  #: mean loss of the latest pairs; NaN before the first
    learning_rate: float  #: of the walk that comes next
    seconds: float  #: spent on training so far
    vectors: Matrix  #: the vectors as they are now, a view: copy what you keep


class Chunk(NamedTuple):
    """Some walks: the number of the first, and how many."""

    first: int
    size: int


class Outcome(NamedTuple):
    """What training on some walks brought."""

    chunk: Chunk
    tokens: int
    pairs: int
    loss: float


Chunks = Iterator[Chunk]


def chunks(corpus: Corpus, first: int, last: int, tokens: int = CHUNK_TOKENS) -> Chunks:
    """Walks first to last in chunks of about so many tokens, none of them over two epochs."""
    size = max(1, min(tokens // corpus.mean_length, corpus.n_walks // POINTS))
    while first < last:
        position = first % corpus.n_walks
        count = min(size - position % size, corpus.n_walks - position, last - first)
        yield Chunk(first, count)
        first += count


def begin(corpus: Corpus, settings: Settings, workers: int) -> State:
    """The state before the first walk: new weights, and visits counted in a pilot round."""
    visits = np.zeros(corpus.n_nodes, np.int64)
    with ThreadPoolExecutor(workers) as threads:
        pilot = chunks(corpus, 0, corpus.n_pilot)
        taken = in_turn(threads, lambda chunk: corpus.take(*chunk), pilot, 2 * workers)
        for nodes, _ in taken:
            kernels.count_nodes(nodes, visits)
    return State(new_weights(corpus.n_nodes, settings.dimensions, settings.seed), visits)


class Trainer:
    """A training under way.

    Parameters
    ----------
    corpus : Corpus
        The walks.
    settings : Settings
        How to train.
    state : State
        Where to begin; it is changed as training goes on.
    workers : int
        Threads.
    """

    def __init__(self, corpus: Corpus, settings: Settings, state: State, workers: int) -> None:
        self.corpus, self.settings, self.state, self.workers = corpus, settings, state, workers
        self.n_walks = corpus.n_walks * settings.epochs
        if self.n_walks >= MOST_WALKS:
            raise InputError(f"{self.n_walks:,} walks are more than anybody can train on")
        self.noise = noise_table(state.visits)
        self.keep = keep_chances(state.visits, settings.subsample)
        targets = settings.negatives + 1
        self.groups = -(-targets // MOST_TARGETS)
        self.group = (0,) * -(-targets // self.groups)
        work = row_size(settings.dimensions) * targets
        self.chunk_tokens = CHUNK_TOKENS * USUAL_WORK // max(work, USUAL_WORK)

    def run(
        self,
        watch: Callable[[Moment], None] = lambda moment: None,
        save: Callable[[], None] | None = None,
        every: float = 300.0,
    ) -> None:
        """Train to the end.

        Parameters
        ----------
        watch : callable
            Told how it goes, after every chunk.
        save : callable, optional
            Called while nothing is under way: every so often, on an interrupt and at the end.
        every : float
            Seconds between two calls of `save`.
        """
        if self.state.walks < self.n_walks:
            self._train(Chunk(self.state.walks, 0))  # compiled before the clock runs
        began = saved = time.monotonic()
        before = self.state.seconds
        with held_back() as interrupt, ThreadPoolExecutor(self.workers) as threads:
            while self.state.walks < self.n_walks and not interrupt.asked:

                def until_due(begin: int = self.state.walks, since: float = saved) -> Chunks:
                    for chunk in chunks(self.corpus, begin, self.n_walks, self.chunk_tokens):
                        late = save is not None and time.monotonic() - since >= every
                        if (late or interrupt.asked) and chunk.first > begin:
                            return
                        yield chunk

                for outcome in in_turn(threads, self._train, until_due(), 2 * self.workers):
                    self.state.seconds = before + time.monotonic() - began
                    self._settle(outcome)
                    watch(self._moment())
                self._check_loss(self.state.losses.sum(), self.state.pairs.sum())
                self._check_vectors()
                if save is not None:
                    save()
                    saved = time.monotonic()

    def _train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them; what a thread does."""
        settings, weights = self.settings, self.state.weights
        nodes, begins = self.corpus.take(*chunk)
        around = 2 * min(settings.window, self.corpus.longest) + 2
        brought = kernels.train_walks(
            nodes, begins, chunk.first, self.n_walks, np.uint64(settings.seed),
            weights.inputs, weights.outputs, self.noise, self.keep,
            settings.window, settings.negatives, settings.learning_rate, self.group,
            np.empty(self.corpus.longest, np.int64), np.empty(around, np.int64),
            np.empty(kernels.AHEAD * self.groups * len(self.group), np.int64),
            aligned(self.groups * GROUP_LABELS), aligned(kernels.BATCH * SLOTS), aligned(2 * LANES),
        )  # fmt: skip
        return Outcome(chunk, *brought)

    def _settle(self, outcome: Outcome) -> None:
        """Write down what some walks brought."""
        state, (first, size) = self.state, outcome.chunk
        point = first * POINTS // self.n_walks
        state.walks = first + size
        state.tokens += outcome.tokens
        state.losses[point] += outcome.loss
        state.pairs[point] += outcome.pairs
        if state.pairs[point] >= ENOUGH_PAIRS:
            self._check_loss(state.losses[point], state.pairs[point])

    def _check_loss(self, loss: float, pairs: int) -> None:
        guessing = (self.settings.negatives + 1) * math.log(2)
        if not loss <= MOST_LOSS * guessing * pairs:
            raise self._diverged(
                f"the loss is {loss / pairs:.3g}, where guessing has {guessing:.3g}"
            )

    def _check_vectors(self) -> None:
        for matrix in (self.state.weights.inputs, self.state.weights.outputs):
            if not all(np.isfinite(matrix[rows]).all() for rows in row_blocks(matrix)):
                raise self._diverged("vectors are not finite")

    def _diverged(self, sign: str) -> InputError:
        rate = self.settings.learning_rate
        return InputError(
            f"training failed after {self.state.walks:,} of {self.n_walks:,} walks: {sign}. A "
            f"learning_rate of {rate:g} is too large: try {min(rate / 5, SAFE_RATE):g}"
        )

    def _moment(self) -> Moment:
        state, rate = self.state, self.settings.learning_rate
        left = 1.0 - state.walks / self.n_walks
        curve = state.loss_curve
        return Moment(
            state.walks,
            self.n_walks,
            state.tokens,
            float(curve[-1]) if curve.size else math.nan,
            rate * max(left, kernels.LEAST_RATE),
            state.seconds,
            state.weights.vectors,
        )
