"""A training of Reinforce2Vec: it begins or resumes, and tries again where that helps."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._util.cluster.waiting import WorkersLost
from .._util.errors import InputError, line_of_user
from .._util.progress import readable, terminal_progress
from ..skipgram import Moment
from ..skipgram.backends import begin
from ..skipgram.checkpoint import Origin, read_checkpoint
from ..skipgram.corpus import Corpus, SampledWalks
from ..skipgram.state import POINTS, Settings, State, carry_over
from ..skipgram.trainer import Divergence, Trainer

Callback = Callable[[Moment], object]

MOST_HALVINGS = 7  # of the default learning rate
MOST_LOSSES = 5  # of workers, without a new checkpoint


class RunOptions(NamedTuple):
    """The options of a call of `fit`, as the user passed them."""

    progress: bool
    callbacks: Any
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: float
    resume: bool


class Checkpoint(NamedTuple):
    """Where the state of a training is saved, what it depends on, and how often."""

    path: Path
    origin: Origin
    seconds: float


class Training:
    """A training on a corpus, to its end.

    Parameters
    ----------
    corpus, settings, backend
        What is trained on, how, and where.
    checkpoint : Checkpoint, optional
        Where the state is saved, and read from if the file exists.
    may_slow_down : bool
        Whether the learning rate is halved where it is too large.
    before : State, optional
        The training that this one continues, of the first nodes of the graph.

    Attributes
    ----------
    settings : Settings
        The settings, with the learning rates of the latest attempt.
    """

    def __init__(
        self,
        corpus: Corpus,
        settings: Settings,
        backend: str,
        *,
        checkpoint: Checkpoint | None = None,
        may_slow_down: bool = True,
        before: State | None = None,
    ) -> None:
        self.corpus, self.settings, self.backend = corpus, settings, backend
        self.checkpoint, self.may_slow_down, self.before = checkpoint, may_slow_down, before
        self._halvings = self._losses = self._began = 0
        self._resumed = self._saved()
        if self._resumed is not None:
            self.settings = settings._replace(rates=self._resumed.rates)

    def run(self, workers: int, progress: bool, callbacks: list[Callback]) -> State:
        """Train to the end; return the state.

        If a window diverges with the default learning rate, training begins again with half of it.
        If workers of a cluster are lost, it goes on from the last checkpoint.
        """
        while True:
            try:
                return self._attempt(workers, progress, callbacks)
            except WorkersLost as loss:
                self._after_loss(loss)
            except Divergence as failure:
                if not self.may_slow_down or self._halvings == MOST_HALVINGS:
                    raise
                self._slow_down(failure.scale)

    def _attempt(self, workers: int, progress: bool, callbacks: list[Callback]) -> State:
        """Train until the end or a failure; the state and its memory end with a failure."""
        state = self._resumed or self._begin(workers)
        self._resumed = None
        state.rates = self.settings.rates
        if state.walks != self._began:
            self._began, self._losses = state.walks, 0
        trainer = Trainer(self.corpus, self.settings, state, workers, self.backend)
        watch, often = _watcher(trainer, progress, callbacks), bool(callbacks)
        if self.checkpoint is None:
            trainer.run(watch, often=often)
        else:
            path, origin, every = self.checkpoint
            trainer.run(watch, (path, origin), every, often)
        return state

    def _begin(self, workers: int) -> State:
        """Return the state before the first walk."""
        if self.before is None:
            return begin(self.corpus, self.settings, workers, self.backend)
        assert isinstance(self.corpus, SampledWalks)
        state = begin(self.corpus, self.settings, workers)  # matrices that can be filled here
        carry_over(self.before, state, self.corpus.graph, len(self.before.visits))
        return state

    def _saved(self) -> State | None:
        """Return the state of the checkpoint, if there is one."""
        if self.checkpoint is None or not self.checkpoint.path.exists():
            return None
        path, origin, _ = self.checkpoint
        here = self.backend != "ray"  # whose workers read their rows themselves
        return read_checkpoint(path, origin, self.settings, self.corpus.n_nodes, matrices=here)

    def _after_loss(self, loss: WorkersLost) -> None:
        """Prepare another attempt, from the last checkpoint."""
        self._losses += 1
        if self._losses == MOST_LOSSES:
            since = "since the last checkpoint" if self.checkpoint else "in a row"
            raise InputError(
                f"workers of the Ray cluster were lost {MOST_LOSSES} times {since} ({loss}); Ray's "
                "logs on its nodes may say why"
            ) from None
        goes_on = "goes on from the last checkpoint" if self.checkpoint else "begins again"
        warnings.warn(
            f"workers of the Ray cluster were lost ({loss}): training {goes_on}",
            stacklevel=line_of_user(),
        )
        saved = self._saved()
        if saved is not None and saved.rates == self.settings.rates:  # else it was too fast
            self._resumed = saved

    def _slow_down(self, scale: int) -> None:
        """Prepare another attempt, from the beginning, with half of a window's learning rate."""
        self._halvings += 1
        failed = self.settings.scales()[scale]
        warnings.warn(
            f"training began again, since the learning rate {failed.learning_rate:g} of window "
            f"{failed.window} was too large for this graph: half of it is used",
            stacklevel=line_of_user(),
        )
        self.settings = self.settings.slower(scale)


def _watcher(
    trainer: Trainer, progress: bool, callbacks: list[Callback]
) -> Callable[[Moment], None]:
    """Return what reports progress to the terminal, and a hundred times to the callbacks."""
    state, tokens, seconds = trainer.state, trainer.state.tokens, trainer.state.seconds
    losses: tuple[float, ...] = ()
    reported = state.walks * POINTS // max(trainer.n_walks, 1)

    def details() -> str:
        speed = (state.tokens - tokens) / max(state.seconds - seconds, 1e-9)
        known = [f"{loss:.3f}" for loss in losses if not np.isnan(loss)]
        return f"{readable(speed)} tokens/s" + (f"  loss {' '.join(known)}" if known else "")

    report = terminal_progress("training", "", progress, more=details)

    def watch(moment: Moment) -> None:
        nonlocal losses, reported
        losses = moment.losses
        report(moment.walks, moment.n_walks)
        point = moment.walks * POINTS // moment.n_walks
        if point > reported:
            reported = point
            for callback in callbacks:
                callback(moment)

    return watch
