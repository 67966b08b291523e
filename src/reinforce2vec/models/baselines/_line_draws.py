"""Numba kernels that draw the edges of LINE; `_line_edges.py` explains how."""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import below, draw, stream
from ...graph.csr import draw_by_weight
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
            threshold, alias = edges.chances
            centres[at] = draw_by_weight(0, len(threshold), threshold, alias, bits)
        for at in range(count):
            key, gamma = stream(seed ^ TRAINING, begin + at)
            row = edges.indptr[centres[at]]
            degree = edges.indptr[centres[at] + 1] - row
            for i in range(min(degree, SHARING)):
                arc = _draw_arc(row, degree, edges.weighing, draw(key, gamma, 0, 1 + i))
                source = np.uint64(edges.indices[arc])
                drawn[size] = source << np.uint64(32) | np.uint64(centres[at])
                size += 1
    return size


@compiled
def _draw_arc(begin, degree, weighing, bits):
    """Return an arc of a row, drawn by weight or, without tables, evenly."""
    if weighing is None:
        return begin + below(bits, degree)
    return draw_by_weight(begin, degree, weighing[0], weighing[1], bits)


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
