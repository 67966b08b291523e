"""The outcome of a pass: the losses of its buckets, by the points of the loss curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .engine import Chunk, Outcome
from .schedule import Order
from .state import POINTS

_OfBuckets = tuple[NDArray[np.float64], NDArray[np.int64]]  # losses, and pairs


def outcome_of(
    chunk: Chunk, n_walks: int, tokens: int, order: Order, scales: Sequence[_OfBuckets]
) -> Outcome:
    """Return the outcome of a pass over some of `n_walks` walks.

    `scales` has losses and pairs of the buckets for each scale, in the `order` of the pass.
    """
    (first, size), n_rounds = chunk, int(order["round"][-1]) + 1
    begins = (first * n_rounds + size * number for number in range(n_rounds))
    points = np.array([POINTS * begin // (n_walks * n_rounds) for begin in begins])
    of_buckets, start = (points - points[0])[order["round"]], int(points[0])
    losses = [np.bincount(of_buckets, of_scale).astype(np.float64) for of_scale, _ in scales]
    pairs = [np.bincount(of_buckets, of_scale).astype(np.int64) for _, of_scale in scales]
    return Outcome(chunk, tokens, start, np.stack(losses), np.stack(pairs))
