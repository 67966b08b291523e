"""The work of skip-gram: contexts and multiply-adds of a token, a node in a walk."""

from __future__ import annotations

import numpy as np

LENGTH, WINDOW, NEGATIVES = 40, 10, 5


def contexts_per_token() -> float:
    """Return the expected contexts of a token; each window is drawn from 1 to `WINDOW`."""
    at, reach = np.arange(LENGTH)[:, None], np.arange(1, WINDOW + 1)
    return float((np.minimum(at, reach) + np.minimum(LENGTH - 1 - at, reach)).mean())


def multiply_adds_per_token(dimensions: int) -> float:
    """Return the count: a dot product and two updates per context and per negative."""
    return 3 * dimensions * (NEGATIVES + 1) * contexts_per_token()
