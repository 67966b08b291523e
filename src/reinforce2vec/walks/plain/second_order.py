"""node2vec's walk: the next node depends on the last two.

Coming from t, a neighbour x weighs 1/p if it is t, 1 if t has an edge to x, and 1/q otherwise: this
is the bias α(t, x) of the node2vec paper. The edge weight multiplies it.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import draw, left_over, unit
from .memory import begin_path
from .neighbors import arc_weight, degree_of, draw_neighbor, find_arc, patience, row_weight


@compiled
def second_order_walks(graph, paths, settings, memory):
    """Take the steps of every walk. About one draw and one look-up of an edge a step."""
    for row in range(len(paths.walks)):
        key, gamma = begin_path(paths, row)
        path = paths.walks[row]
        for n in range(path.size - 1):
            here = path[n]
            if degree_of(graph, here) == 0:
                break
            if n == 0:
                path[1] = draw_neighbor(graph, here, draw(key, gamma, 0, 0))
            else:
                path[n + 1] = _step(graph, path[n - 1], here, n, key, gamma, settings)


@compiled
def _bias(graph, before, there, settings):
    """Return α: 1/p for turning back, 1 for a neighbour of `before`, 1/q for any other node."""
    if there == before:
        return 1.0 / settings.p
    return 1.0 if find_arc(graph, before, there) >= 0 else 1.0 / settings.q


@compiled
def _step(graph, before, here, n, key, gamma, settings):
    """Propose neighbours by edge weight, and keep each with its bias over the largest bias.

    The largest bias is that of neighbours other than `before`. If 1/p is larger still, what it
    exceeds the largest by is a proposal of its own.
    """
    turn_back, most = 1.0 / settings.p, max(1.0, 1.0 / settings.q)
    base = row_weight(graph, here) * most
    extra = 0.0
    if turn_back > most:
        arc = find_arc(graph, here, before)
        if arc >= 0:
            extra = (turn_back - most) * arc_weight(graph, arc)
    for attempt in range(patience(graph, here)):
        if extra > 0.0 and unit(draw(key, gamma, n, 3 * attempt + 1)) * (base + extra) >= base:
            return before
        bits = draw(key, gamma, n, 3 * attempt)
        there = draw_neighbor(graph, here, bits)
        keep = left_over(bits, degree_of(graph, here))
        if graph.weighted:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 3 * attempt + 2))
        if keep * most < _bias(graph, before, there, settings):
            return there
    return _weigh_all(graph, before, here, n, key, gamma, settings)


@compiled
def _weigh_all(graph, before, here, n, key, gamma, settings):
    """Choose by weighing every neighbour."""
    total = 0.0
    for arc in range(graph.indptr[here], graph.indptr[here + 1]):
        total += _bias(graph, before, graph.indices[arc], settings) * arc_weight(graph, arc)
    left = unit(draw(key, gamma, n, 3 * patience(graph, here))) * total
    there = np.int32(-1)
    for arc in range(graph.indptr[here], graph.indptr[here + 1]):
        there = graph.indices[arc]
        weight = _bias(graph, before, there, settings) * arc_weight(graph, arc)
        if left < weight:
            break
        left -= weight
    return there
