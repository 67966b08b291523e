"""Walks that advance in turn, a `lane` each.

While one walk waits for memory, the others go on. A step has two stages, each a loop over the
lanes: `draw_ahead` draws the arc that is proposed first and prefetches it, then the kernel takes
the step and prefetches the row of the node that it leads to. Kernels allocate nothing and count no
references; see _util/compiled.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined
from ..._util.intrinsics import prefetch
from ..._util.random import below, draw, stream
from .neighbors import row_bounds


class Batch(NamedTuple):
    """Walks to make: number first, first + 1, ..., a row of `walks` each."""

    starts: NDArray[np.int32]  # walk k starts at starts[k % len(starts)]
    seed: np.uint64
    first: int
    walks: NDArray[np.int32]
    keys: NDArray[np.uint64]  # by lane: the random stream of the walk under way
    gammas: NDArray[np.uint64]
    bits: NDArray[np.uint64]  # and the first draw of its present step


class Decision(NamedTuple):
    """Where a walk goes next is to be decided."""

    here: int
    n: int  # number of the decision
    key: np.uint64  # the random stream of the walk
    gamma: np.uint64
    c_u: int  # how often the walk has been at its start


class Visited(NamedTuple):
    """The first `size` entries of the row of a lane: nodes that its walk has been at."""

    nodes: NDArray[np.int32]
    lane: int
    size: int


@inlined
def begin_walks(graph, batch, base, width):
    """Put `width` walks from row `base` on at their starts and give each its random stream."""
    for lane in range(width):
        k = batch.first + base + lane
        start = batch.starts[k % batch.starts.size]
        prefetch(graph.indptr, start)
        batch.walks[base + lane, 0] = start
        batch.keys[lane], batch.gammas[lane] = stream(batch.seed, k)


@inlined
def draw_ahead(graph, weighing, batch, base, width, n):
    """Make the first draw of each walk that goes on, and prefetch the arc that it proposes."""
    for lane in range(width):
        here = batch.walks[base + lane, n]
        if here >= 0:
            begin, end = row_bounds(graph.indptr, here)
            if begin < end:
                bits = draw(batch.keys[lane], batch.gammas[lane], n, 0)
                batch.bits[lane] = bits
                arc = begin + below(bits, end - begin)
                prefetch(graph.indices, arc)
                if weighing is not None:
                    prefetch(weighing[0], arc)
                    prefetch(weighing[1], arc)
