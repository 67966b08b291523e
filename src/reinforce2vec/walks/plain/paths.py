"""Where walks start, and the random numbers that are theirs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import compiled
from ..._util.random import stream


class Paths(NamedTuple):
    """Walks to make: number first, first + 1, ..., a row of `walks` each."""

    starts: NDArray[np.int32]  # walk k starts at starts[k % len(starts)]
    seed: np.uint64
    first: int
    walks: NDArray[np.int32]


@compiled
def begin_path(paths, row):
    """Put a walk at its start; return its random stream, a key and a gamma.

    The rest of the path is -1, which stays where a walk ends early.
    """
    number = paths.first + row
    paths.walks[row, :] = -1
    paths.walks[row, 0] = paths.starts[number % paths.starts.size]
    return stream(paths.seed, number)
