"""Training: chunks of walks are made and trained on, one after the other, until all are done.

An engine does the work: the threads of this machine, or a GPU. Only the walks of one chunk are in
memory. On the CPU the result is the same to the last bit with any number of threads, however often
it was interrupted and resumed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .._util.arrays import read_only
from .._util.errors import InputError
from .._util.interrupts import held_back
from .._util.threads import Threads, in_turn
from .backends import make_engine
from .checkpoint import Origin
from .corpus import Corpus
from .engine import Chunk, Outcome, chunks
from .learning_rate import LEAST_RATE, narrow_rate
from .loss_check import DivergenceCheck
from .state import POINTS, Settings, State
from .weights import Matrix

_Chunks = Iterator[Chunk]

_MOST_WALKS = 2**62


@dataclass(frozen=True)
class Moment:
    """The progress of a training run; callbacks get one about a hundred times."""

    walks: int  #: walks trained on so far
    n_walks: int  #: walks in all, over all epochs
    tokens: int  #: nodes in these walks so far
    loss: float  #: mean loss of the latest pairs; NaN before the first
    losses: tuple[float, ...]  #: the same for each window
    learning_rate: float  #: learning rate of the next walk
    seconds: float  #: time spent on training so far
    _trainer: Trainer = field(repr=False)

    @property
    def vectors(self) -> Matrix:
        """The current vectors, read-only and perhaps a view: copy them to keep or change them.

        They are not smoothed.
        """
        self._trainer.engine.collect(outputs=False)
        return read_only(self._trainer.state.vectors)


class Trainer:
    """A training under way.

    Parameters
    ----------
    corpus : Corpus
        The walks.
    settings : Settings
        How to train.
    state : State
        Where to begin; training changes it.
    workers : int
        Threads, on the CPU.
    backend : {"cpu", "cuda", "ray"}
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
        if self.n_walks >= _MOST_WALKS:
            raise InputError(f"{self.n_walks:,} walks are above the limit of 2**62")
        self.engine = make_engine(corpus, settings, state, workers, backend)
        self._checks = [
            DivergenceCheck(
                one.negatives,
                one.learning_rate / narrow_rate(one.widest, settings.widest),  # as it is given
                self.n_walks,
                "walks",
                number,
            )
            for number, one in enumerate(settings.scales())
        ]

    def run(
        self,
        watch: Callable[[Moment], None] = lambda moment: None,
        checkpoint: tuple[Path, Origin] | None = None,
        every: float = 300.0,
        often: bool = False,
    ) -> None:
        """Train to the end; can be called once.

        Parameters
        ----------
        watch : callable
            Called after every chunk. If it raises an error, the state is saved before that ends
            the training.
        checkpoint : path and Origin, optional
            A file that the state is saved to: regularly, on an interrupt and at the end.
        every : float
            Seconds between two checkpoints.
        often : bool
            Whether to call `watch` a hundred times even on a GPU, which takes larger chunks.
        """
        ahead = 1 if often else 2  # callbacks may ask for the vectors of their moment
        with (
            closing(self.engine) as engine,
            held_back(saves=checkpoint is not None) as interrupt,
            Threads(min(engine.threads, ahead)) as threads,
        ):
            if checkpoint is not None:
                engine.check_saving(checkpoint[0])
            size = engine.chunk_walks
            if often and engine.resizable:
                size = min(size, max(1, self.n_walks // POINTS))
            if self.state.walks < self.n_walks:
                engine.train(Chunk(self.state.walks, 0))  # compiles walks before the clock runs
            before, began = self.state.seconds, time.monotonic()
            saved = began
            failures: list[BaseException] = []  # of `watch`: at most one
            while self.state.walks < self.n_walks and not interrupt.asked:

                def until_due(begin: int = self.state.walks, since: float = saved) -> _Chunks:
                    for chunk in chunks(self.corpus, begin, self.n_walks, size):
                        late = checkpoint is not None and time.monotonic() - since >= every
                        stopped = interrupt.asked or failures
                        if (late or stopped) and chunk.first > begin:
                            return
                        yield chunk

                for outcome in in_turn(threads, engine.train, until_due(), ahead):
                    self.state.seconds = before + time.monotonic() - began
                    self._settle(outcome)
                    if failures:
                        continue  # a chunk that was under way: the matrices have it already
                    try:
                        watch(self._moment())
                    except BaseException as error:
                        at_once = interrupt.asked and isinstance(error, KeyboardInterrupt)
                        if checkpoint is None or at_once:
                            raise
                        failures.append(error)
                try:
                    self._check_losses(slice(None), enough=0)
                    for check, finite in zip(self._checks, engine.finite(), strict=True):
                        check.check_finite(finite, self.state.walks)
                    if checkpoint is not None:
                        interrupt.unsaved = True  # as long as this may fail
                        engine.save(*checkpoint)
                        interrupt.unsaved, saved = False, time.monotonic()
                finally:
                    if failures:
                        raise failures[0]
            if self.state.walks == self.n_walks:
                engine.collect()

    def _settle(self, outcome: Outcome) -> None:
        """Add the outcome of a chunk to the state."""
        state, (first, size) = self.state, outcome.chunk
        state.walks = first + size
        state.tokens += outcome.tokens
        points = slice(outcome.point, outcome.point + outcome.losses.shape[1])
        state.losses[:, points] += outcome.losses
        state.pairs[:, points] += outcome.pairs
        for point in range(points.start, points.stop):
            self._check_losses(slice(point, point + 1))

    def _check_losses(self, points: slice, **options: int) -> None:
        """Raise Divergence if a scale has failed, by its loss over some points of the curve."""
        state = self.state
        losses, pairs = (some[:, points].sum(axis=1) for some in (state.losses, state.pairs))
        for check, loss, count in zip(self._checks, losses, pairs, strict=True):
            check.check_loss(float(loss), int(count), state.walks, **options)

    def _moment(self) -> Moment:
        state, rate = self.state, self.settings.scales()[-1].learning_rate
        left = 1.0 - state.walks / self.n_walks
        curve = state.loss_curve
        latest = np.atleast_1d(curve[-1]) if curve.size else np.full(len(state.scales), math.nan)
        return Moment(
            state.walks,
            self.n_walks,
            state.tokens,
            float(latest.mean()),
            tuple(latest.tolist()),
            rate * max(left, LEAST_RATE),
            state.seconds,
            self,
        )
