"""The points of the loss curve that the buckets of a pass belong to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .engine import Chunk
from .schedule import Order
from .state import POINTS

_Curve = tuple[NDArray[np.float64], NDArray[np.int64]]


def on_curve(
    order: Order,
    chunk: Chunk,
    n_walks: int,
    start: int,
    losses: NDArray[np.float64],
    pairs: NDArray[np.int64],
) -> _Curve:
    """Return losses and pairs from point `start` of the curve on.

    Given are those of the buckets of a pass over some of `n_walks` walks, in their order.
    """
    (first, size), n_rounds = chunk, int(order["round"][-1]) + 1
    begins = (first * n_rounds + size * number for number in range(n_rounds))
    points = np.array([POINTS * begin // (n_walks * n_rounds) for begin in begins])
    of_buckets = points[order["round"]] - start
    sums = np.bincount(of_buckets, losses).astype(np.float64)
    return sums, np.bincount(of_buckets, pairs).astype(np.int64)
