"""The learning rate: where it begins by default, and where it ends."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SAFE_RATE = 0.025  # word2vec's
_BOLD_RATE = 0.05  # larger ones can diverge where walks turn in small circles
_MANY_TOKENS = 3200  # for each node, from which on the safe rate is the best one
_MOST_TIMES = 2.0  # the learning rate of the widest window
LEAST_RATE = 1e-4  # where it ends, as a share of the first one


def narrow_rate(window: int, widest: int) -> float:
    """Return how many times the learning rate of the widest window a narrower one has.

    It has fewer pairs to learn from; benchmarks/defaults.py has the measurements.

    >>> narrow_rate(1, 10), narrow_rate(10, 10)
    (2.0, 1.0)
    """
    return min(math.sqrt((widest + 1) / (window + 1)), _MOST_TIMES)


def usual_rate(tokens: float) -> float:
    """Return the default learning rate for so many tokens (nodes in walks) for each node.

    The fewer tokens, the larger the rate, since a vector has to get as far in fewer steps;
    docs/results.md has the measurements.

    >>> [usual_rate(40 * walks) for walks in (1, 20, 80, 1000)]
    [0.05, 0.05, 0.025, 0.025]
    """
    return min(max(SAFE_RATE * math.sqrt(_MANY_TOKENS / max(tokens, 1)), SAFE_RATE), _BOLD_RATE)


def falling_rates(
    rate: float, total: int, first: int, size: int, n_rounds: int
) -> NDArray[np.float32]:
    """Return the learning rate in each round of a pass: from `rate` it falls to almost 0.

    The pass has `size` walks of `total`, from number `first` on.
    """
    progress = (first + size * np.arange(n_rounds) / n_rounds) / total
    with np.errstate(over="ignore"):  # of a rate so large that training will fail
        return (rate * np.maximum(1 - progress, LEAST_RATE)).astype(np.float32)
