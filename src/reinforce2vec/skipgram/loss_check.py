"""Whether a training has failed: a learning rate that is too large makes the loss explode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .._util.errors import InputError
from .learning_rate import SAFE_RATE

_MOST_LOSS = 2.0  # times the loss of vectors that know nothing: beyond, training has failed
_ENOUGH_PAIRS = 1000  # from which on a mean loss is reliable


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
