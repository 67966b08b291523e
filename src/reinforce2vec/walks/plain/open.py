"""DRRW with UCB and mild scores, with every neighbour a candidate.

The next node is drawn from the softmax of weighing.py. Neighbours are proposed by edge weight, and
one seen c times is kept with its weight over tops[n], which no weight exceeds at decision n.
"""

from __future__ import annotations

from ..._util.compiled import compiled
from ..._util.random import draw, left_over, unit
from ..scores import softmax_weight
from .memory import begin_path, forget, remember, visits
from .neighbors import degree_of, draw_neighbor, patience
from .weighing import weigh_neighbors


@compiled
def open_walks(graph, paths, settings, memory):
    """Take the steps of every walk. Little more than one draw a step."""
    for row in range(len(paths.walks)):
        key, gamma = begin_path(paths, row)
        path = paths.walks[row]
        start = path[0]
        c_u = 0  # how often the walk has been at its start
        forget(memory)
        if settings.scores.path:
            remember(memory, start)
            c_u = 1
        for n in range(path.size - 1):
            if degree_of(graph, path[n]) == 0:
                break
            there = _step(graph, path[n], n, key, gamma, settings, c_u, memory)
            path[n + 1] = there
            remember(memory, there)
            if there == start:
                c_u += 1


@compiled
def _step(graph, here, n, key, gamma, settings, c_u, memory):
    scores = settings.scores
    for attempt in range(patience(graph, here)):
        bits = draw(key, gamma, n, 2 * attempt)
        there = draw_neighbor(graph, here, bits)
        keep = left_over(bits, degree_of(graph, here))
        if graph.weighted:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 2 * attempt + 1))
        c = visits(memory, there)
        if keep * settings.tops[n] < softmax_weight(scores, n, c_u, c, 0.0):
            return there
    return weigh_neighbors(graph, here, n, key, gamma, scores, c_u, 0, memory)
