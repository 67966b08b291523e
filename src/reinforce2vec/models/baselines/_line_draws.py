"""Numba kernels that draw the edges of LINE; `_line_edges.py` explains how."""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import below, draw, left_over, stream
from ...skipgram.rules import TRAINING

SHARING = 8  # edges, at most, that are drawn for one centre
_DRAWN_AT_ONCE = 64  # centres: cache misses overlap


@compiled
def draw_edges(first, last, seed, edges, drawn):
    """Draw centres number first to last and edges that lead to each; return how many edges.

    The draws of a centre are a function of its number.
    """
    centres = np.empty(_DRAWN_AT_ONCE, np.int64)
    size = 0
    for begin in range(first, last, _DRAWN_AT_ONCE):
        count = min(_DRAWN_AT_ONCE, last - begin)
        for at in range(count):
            key, gamma = stream(seed ^ TRAINING, begin + at)
            bits = draw(key, gamma, 0, 0)
            centres[at] = _draw_by_weight(0, len(edges.chances[0]), edges.chances, bits)
        for at in range(count):
            key, gamma = stream(seed ^ TRAINING, begin + at)
            row = edges.indptr[centres[at]]
            degree = edges.indptr[centres[at] + 1] - row
            for i in range(min(degree, SHARING)):
                arc = _draw_by_weight(row, degree, edges.weighing, draw(key, gamma, 0, 1 + i))
                source = np.uint64(edges.indices[arc])
                drawn[size] = source << np.uint64(32) | np.uint64(centres[at])
                size += 1
    return size


@compiled
def _draw_by_weight(begin, size, tables, bits):
    """Return one of `size` entries from `begin` on, drawn with alias tables or, without, evenly."""
    entry = begin + below(bits, size)
    if tables is not None and left_over(bits, size) >= tables[0][entry]:
        entry = begin + tables[1][entry]
    return entry


@compiled
def count_edges(drawn, of, counts):
    """Add to `counts` the pairs by the blocks of source and centre."""
    for pair in drawn:
        counts[of[pair >> np.uint64(32)], of[np.uint32(pair)]] += 1


@compiled
def place_edges(drawn, of, places, pairs):
    """Write pairs to the next places of their buckets."""
    for pair in drawn:
        i, j = of[pair >> np.uint64(32)], of[np.uint32(pair)]
        pairs[places[i, j]] = pair
        places[i, j] += 1
