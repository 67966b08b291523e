"""Which setting to try next, by optuna, which no other module imports."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._util import errors
from .space import SearchedParameter, Setting, Space

_FAILED = 0.0  # the score of a training that diverged
_STARTUP = 10  # trials before the search learns from them
_STUBBORN = 10  # attempts after which proposals are random: the sampler may repeat itself


def import_optuna() -> Any:
    """Import optuna; InputError, with what to install, if it is missing."""
    return errors.import_package("optuna", "tuning", "tune")


@contextmanager
def _calm(optuna: Any) -> Iterator[None]:
    """Silence its log, and warnings that its conditional sampler may change."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


class Proposals:
    """A study: it records the scores of settings, and proposes others.

    Proposals depend on the seed and the recorded scores alone: a search that was killed and resumed
    gets the same ones.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self.optuna, self.space, self.seed = import_optuna(), space, seed
        with _calm(self.optuna):
            self.study = self.optuna.create_study(direction="maximize")

    def add(self, setting: Setting, score: float | None) -> None:
        """Record the score of a setting; None if its training failed."""
        chosen = [one for one in self.space if one.name in setting]
        with _calm(self.optuna):
            self.study.add_trial(
                self.optuna.create_trial(
                    params={one.name: self._encoded(one, setting[one.name]) for one in chosen},
                    distributions={one.name: self._distribution(one) for one in chosen},
                    value=_FAILED if score is None else score,
                )
            )

    def propose(self, attempt: int = 0) -> Setting:
        """Return a setting that may be good; each attempt gives another one."""
        known = len(self.study.get_trials(deepcopy=False, states=self._states("COMPLETE")))
        (drawn,) = np.random.SeedSequence([self.seed, known, attempt]).generate_state(1)
        samplers, seed = self.optuna.samplers, int(drawn)
        with _calm(self.optuna):
            if attempt < _STUBBORN:
                self.study.sampler = samplers.TPESampler(
                    seed=seed, multivariate=True, group=True, n_startup_trials=_STARTUP
                )
            else:
                self.study.sampler = samplers.RandomSampler(seed=seed)
            trial = self.study.ask()
            setting: Setting = {}
            for one in self.space:
                if one.applies(setting):
                    setting[one.name] = self._suggested(trial, one)
            self.study.tell(trial, state=self._states("FAIL")[0])  # until its score is added
        return setting

    def _states(self, *names: str) -> tuple[Any, ...]:
        return tuple(getattr(self.optuna.trial.TrialState, name) for name in names)

    # optuna gets ordered values by their places, so that it knows which are close

    def _distribution(self, one: SearchedParameter) -> Any:
        if one.ordered:
            return self.optuna.distributions.IntDistribution(0, len(one.values) - 1)
        return self.optuna.distributions.CategoricalDistribution(one.values)

    def _encoded(self, one: SearchedParameter, value: Any) -> Any:
        return one.values.index(value) if one.ordered else value

    def _suggested(self, trial: Any, one: SearchedParameter) -> Any:
        if one.ordered:
            return one.values[trial.suggest_int(one.name, 0, len(one.values) - 1)]
        return trial.suggest_categorical(one.name, one.values)
