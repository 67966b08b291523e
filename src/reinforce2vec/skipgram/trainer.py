"""Training: chunks of walks are made and trained on, in turns, until all are done.

An engine does it: the threads of this machine, or a graphics card. While one thread makes walks
others train, and no more walks are in memory than the threads have at hand. Threads change the
same matrices without locks: seldom the same row at once, and a lost update is a little noise. With
one thread the result is the same to the last bit, however often it was interrupted and resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from .._util.errors import InputError
from .._util.interrupts import held_back
from .._util.threads import in_turn
from .corpus import Corpus
from .cpu import kernels
from .engine import CHUNK_TOKENS, Chunk, CpuEngine, Engine, Outcome, chunk_size, chunks
from .state import POINTS, Settings, State
from .weights import Matrix, blank_weights, new_weights

Chunks = Iterator[Chunk]

MOST_LOSS = 2.0  # times the loss of vectors that know nothing, beyond which training has failed
MOST_WALKS = 2**62
SAFE_RATE = 0.025  # word2vec's
BOLD_RATE = 0.05  # larger ones can diverge where walks turn in small circles
MANY_TOKENS = 3200  # for each node, from which on the safe rate is the best one
ENOUGH_PAIRS = 1000  # from which on a mean loss says something


def usual_rate(tokens: float) -> float:
    """The learning rate to begin with, if there are so many tokens for each node.

    The fewer, the larger, since a vector has to get as far in fewer steps; docs/results.md has the
    measurements.

    >>> [usual_rate(40 * walks) for walks in (1, 20, 80, 1000)]
    [0.05, 0.05, 0.025, 0.025]
    """
    return min(max(SAFE_RATE * math.sqrt(MANY_TOKENS / max(tokens, 1)), SAFE_RATE), BOLD_RATE)


@dataclass(frozen=True)
class Moment:
    """What a callback is told, about a hundred times in a training."""

    walks: int  #: walks trained on so far
    n_walks: int  #: walks in all, over all epochs
    tokens: int  #: nodes in these walks so far
    loss: float  #: mean loss of the latest pairs; NaN before the first
    learning_rate: float  #: of the walk that comes next
    seconds: float  #: spent on training so far
    _trainer: Trainer = field(repr=False)

    @property
    def vectors(self) -> Matrix:
        """The vectors as they are now, a view: copy what you keep."""
        self._trainer.engine.collect(outputs=False)
        return self._trainer.state.weights.vectors


def begin(corpus: Corpus, settings: Settings, workers: int, backend: str = "cpu") -> State:
    """The state before the first walk: new weights, and visits counted in a pilot round."""
    if backend == "cuda":
        from .cuda.engine import count_visits

        blank = blank_weights(corpus.n_nodes, settings.dimensions)
        return State(blank, count_visits(corpus, settings), blank=True)
    visits = np.zeros(corpus.n_nodes, np.int64)
    with ThreadPoolExecutor(workers) as threads:
        pilot = chunks(corpus, 0, corpus.n_pilot, chunk_size(corpus, CHUNK_TOKENS))
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
        Threads, on the CPU.
    backend : "cpu" or "cuda"
        Where to train.
    """

    def __init__(
        self,
        corpus: Corpus,
        settings: Settings,
        state: State,
        workers: int,
        backend: str = "cpu",
    ) -> None:
        self.corpus, self.settings, self.state = corpus, settings, state
        self.n_walks = corpus.n_walks * settings.epochs
        if self.n_walks >= MOST_WALKS:
            raise InputError(f"{self.n_walks:,} walks are more than anybody can train on")
        self.engine: Engine
        if backend == "cuda":
            from .cuda.engine import CudaEngine

            self.engine = CudaEngine(corpus, settings, state)
        else:
            self.engine = CpuEngine(corpus, settings, state, workers)

    def run(
        self,
        watch: Callable[[Moment], None] = lambda moment: None,
        save: Callable[[], None] | None = None,
        every: float = 300.0,
        often: bool = False,
    ) -> None:
        """Train to the end; can be called once.

        Parameters
        ----------
        watch : callable
            Told how it goes, after every chunk.
        save : callable, optional
            Called while nothing is under way: every so often, on an interrupt and at the end.
        every : float
            Seconds between two calls of `save`.
        often : bool
            Whether `watch` wants to be told a hundred times, where a card takes larger chunks.
        """
        with (
            closing(self.engine) as engine,
            held_back() as interrupt,
            ThreadPoolExecutor(engine.threads) as threads,
        ):
            size = engine.chunk_walks
            if often:
                size = min(size, max(1, self.n_walks // POINTS))
            if self.state.walks < self.n_walks:
                engine.train(Chunk(self.state.walks, 0))  # compiled before the clock runs
            before, began = self.state.seconds, time.monotonic()
            saved = began
            while self.state.walks < self.n_walks and not interrupt.asked:

                def until_due(begin: int = self.state.walks, since: float = saved) -> Chunks:
                    for chunk in chunks(self.corpus, begin, self.n_walks, size):
                        late = save is not None and time.monotonic() - since >= every
                        if (late or interrupt.asked) and chunk.first > begin:
                            return
                        yield chunk

                for outcome in in_turn(threads, engine.train, until_due(), 2 * engine.threads):
                    self.state.seconds = before + time.monotonic() - began
                    self._settle(outcome)
                    watch(self._moment())
                self._check_loss(self.state.losses.sum(), self.state.pairs.sum())
                if not engine.finite():
                    raise self._diverged("vectors are not finite")
                engine.collect()
                if save is not None:
                    save()
                    saved = time.monotonic()

    def _settle(self, outcome: Outcome) -> None:
        """Write down what some walks brought."""
        state, (first, size) = self.state, outcome.chunk
        state.walks = first + size
        state.tokens += outcome.tokens
        for point, (loss, pairs) in enumerate(
            zip(outcome.losses, outcome.pairs, strict=True), outcome.point
        ):
            state.losses[point] += loss
            state.pairs[point] += pairs
            if state.pairs[point] >= ENOUGH_PAIRS:
                self._check_loss(state.losses[point], state.pairs[point])

    def _check_loss(self, loss: float, pairs: int) -> None:
        guessing = (self.settings.negatives + 1) * math.log(2)
        if not loss <= MOST_LOSS * guessing * pairs:
            raise self._diverged(
                f"the loss is {loss / pairs:.3g}, where guessing has {guessing:.3g}"
            )

    def _diverged(self, sign: str) -> InputError:
        rate = self.settings.learning_rate
        return InputError(
            f"training failed after {self.state.walks:,} of {self.n_walks:,} walks: {sign}. A "
            f"learning_rate of {rate:g} is too large: try {min(rate / 5, SAFE_RATE):g}",
            parameter="learning_rate",
            value=rate,
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
            self,
        )
