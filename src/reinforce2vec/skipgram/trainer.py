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
from typing import Any

import numpy as np

from .._util.arrays import read_only
from .._util.errors import InputError
from .._util.interrupts import Interrupt, held_back
from .._util.threads import Threads, in_turn
from .backends import make_engine
from .checkpoint import Origin
from .corpus import Corpus
from .engine import Chunk, Outcome, chunks
from .rules import LEAST_RATE, SAFE_RATE, narrow_rate
from .state import POINTS, Matrix, Settings, State

_MOST_WALKS = 2**62
_MOST_LOSS = 2.0  # times the loss of vectors that know nothing: beyond, training has failed
_ENOUGH_PAIRS = 1000  # from which on a mean loss is reliable


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


class Divergence(InputError):
    """A training that has failed; `scale` is the number of the window that has."""

    def __init__(self, message: str, scale: int = 0, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.scale = scale

    def data(self) -> dict[str, Any]:
        """Return what the error carries beside its message, to build another one from it."""
        return super().data() | {"scale": self.scale}


@dataclass(frozen=True)
class DivergenceCheck:
    """Raises Divergence if a training diverges.

    Parameters
    ----------
    negatives : int
        Negatives for each pair.
    learning_rate : float
        The first learning rate.
    total : int
        What is trained on in all.
    unit : str
        What that is: "walks", "edges".
    scale : int
        Which of several windows it is.
    """

    negatives: int
    learning_rate: float
    total: int
    unit: str
    scale: int = 0

    def check_loss(self, loss: float, pairs: int, done: int, enough: int = _ENOUGH_PAIRS) -> None:
        """Raise if the loss of some pairs, `enough` at least, is too large or not a number."""
        guessing = (self.negatives + 1) * math.log(2)
        if pairs >= enough and not loss <= _MOST_LOSS * guessing * pairs:
            raise self._error(
                f"the loss is {loss / pairs:.3g}, where random guessing has {guessing:.3g}", done
            )

    def check_finite(self, finite: bool, done: int) -> None:
        """Raise if the vectors are not finite."""
        if not finite:
            raise self._error("vectors are not finite", done)

    def _error(self, symptom: str, done: int) -> Divergence:
        rate = self.learning_rate
        return Divergence(
            f"training failed after {done:,} of {self.total:,} {self.unit}: {symptom}. A "
            f"learning_rate of {rate:g} is too large: try {min(rate / 5, SAFE_RATE):g}",
            self.scale,
            parameter="learning_rate",
            value=rate,
        )


class _Watcher:
    """Calls a callback; if the training is saved, the callback's first error waits for that."""

    def __init__(self, watch: Callable[[Moment], None], interrupt: Interrupt, saves: bool) -> None:
        self.watch, self.interrupt, self.saves = watch, interrupt, saves
        self.error: BaseException | None = None

    @property
    def stops(self) -> bool:
        """Whether to train no further chunk."""
        return self.interrupt.asked or self.error is not None

    def look(self, moment: Callable[[], Moment]) -> None:
        """Call the callback, unless it has failed."""
        if self.error is not None:
            return
        try:
            self.watch(moment())
        except BaseException as error:
            at_once = self.interrupt.asked and isinstance(error, KeyboardInterrupt)
            if at_once or not self.saves:
                raise
            self.error = error


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
        saves, state = checkpoint is not None, self.state
        ahead = 1 if often else 2  # callbacks may ask for the vectors of their moment
        with (
            closing(self.engine) as engine,
            held_back(saves=saves) as interrupt,
            Threads(min(engine.threads, ahead)) as threads,
        ):
            if checkpoint is not None:
                engine.check_saving(checkpoint[0])
            if state.walks < self.n_walks:
                engine.train(Chunk(state.walks, 0))  # compiles walks before the clock runs
            watcher = _Watcher(watch, interrupt, saves)
            clock = time.monotonic() - state.seconds
            while state.walks < self.n_walks and not interrupt.asked:
                due = time.monotonic() + every if saves else math.inf
                until_due = self._chunks(often, watcher, due)
                for outcome in in_turn(threads, engine.train, until_due, ahead):
                    state.seconds = time.monotonic() - clock
                    self._settle(outcome)  # of a chunk that was under way, too: it is trained
                    watcher.look(self._moment)
                try:
                    self._check_losses(slice(None), enough=0)
                    for check, finite in zip(self._checks, engine.finite(), strict=True):
                        check.check_finite(finite, state.walks)
                    if checkpoint is not None:
                        interrupt.unsaved = True  # as long as this may fail
                        engine.save(*checkpoint)
                        interrupt.unsaved = False
                finally:
                    if watcher.error is not None:
                        raise watcher.error
            if state.walks == self.n_walks:
                engine.collect()

    def _chunks(self, often: bool, watcher: _Watcher, due: float) -> Iterator[Chunk]:
        """Yield the next chunks, at least one, until a checkpoint is due or training stops."""
        size, begin = self.engine.chunk_walks, self.state.walks
        if often and self.engine.resizable:
            size = min(size, max(1, self.n_walks // POINTS))
        for chunk in chunks(self.corpus, begin, self.n_walks, size):
            if chunk.first > begin and (watcher.stops or time.monotonic() >= due):
                return
            yield chunk

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
