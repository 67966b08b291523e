"""What to try next: the only module that knows optuna."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._util import errors
from .space import Parameter, Setting, Space

FAILED = 0.0  # what a training that diverged is worth
STARTUP = 10  # trials before the search learns from them
STUBBORN = 10  # attempts after which it guesses: it may propose what is known again and again


def import_optuna() -> Any:
    """The package; InputError, with what to install, if it is missing."""
    try:
        import optuna
    except ImportError:
        raise errors.missing("optuna", "tune", "tuning") from None
    return optuna


@contextmanager
def calm(optuna: Any) -> Iterator[None]:
    """Without its log, and without warnings that its conditional sampler may still change."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


class Proposals:
    """A study: it is told what settings were worth, and proposes others.

    What it proposes depends on the seed and on what it was told, and on nothing else: a search that
    was killed and goes on proposes what it would have proposed.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self.optuna, self.space, self.seed = import_optuna(), space, seed
        with calm(self.optuna):
            self.study = self.optuna.create_study(direction="maximize")

    def tell(self, setting: Setting, score: float | None) -> None:
        """What a setting was worth; None if its training failed."""
        chosen = [one for one in self.space if one.name in setting]
        with calm(self.optuna):
            self.study.add_trial(
                self.optuna.create_trial(
                    params={one.name: self._as_told(one, setting[one.name]) for one in chosen},
                    distributions={one.name: self._distribution(one) for one in chosen},
                    value=FAILED if score is None else score,
                )
            )

    def ask(self, attempt: int = 0) -> Setting:
        """A setting that may be good; each attempt gives another one."""
        told = len(self.study.get_trials(deepcopy=False, states=self._states("COMPLETE")))
        (drawn,) = np.random.SeedSequence([self.seed, told, attempt]).generate_state(1)
        samplers, seed = self.optuna.samplers, int(drawn)
        with calm(self.optuna):
            if attempt < STUBBORN:
                self.study.sampler = samplers.TPESampler(
                    seed=seed, multivariate=True, group=True, n_startup_trials=STARTUP
                )
            else:
                self.study.sampler = samplers.RandomSampler(seed=seed)
            trial = self.study.ask()
            setting: Setting = {}
            for one in self.space:
                if one.applies(setting):
                    setting[one.name] = self._suggested(trial, one)
            self.study.tell(trial, state=self._states("FAIL")[0])  # until it is told a score
        return setting

    def _states(self, *names: str) -> tuple[Any, ...]:
        return tuple(getattr(self.optuna.trial.TrialState, name) for name in names)

    # optuna knows ordered values by their places, so that it can tell near from far

    def _distribution(self, one: Parameter) -> Any:
        if one.ordered:
            return self.optuna.distributions.IntDistribution(0, len(one.values) - 1)
        return self.optuna.distributions.CategoricalDistribution(one.values)

    def _as_told(self, one: Parameter, value: Any) -> Any:
        return one.values.index(value) if one.ordered else value

    def _suggested(self, trial: Any, one: Parameter) -> Any:
        if one.ordered:
            return one.values[trial.suggest_int(one.name, 0, len(one.values) - 1)]
        return trial.suggest_categorical(one.name, one.values)
