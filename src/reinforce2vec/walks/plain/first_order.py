"""DeepWalk's walk: the next node is any neighbour, by edge weight."""

from __future__ import annotations

from ..._util.compiled import compiled
from ..._util.random import draw
from .memory import begin_path
from .neighbors import degree_of, draw_neighbor


@compiled
def first_order_walks(graph, paths, settings, memory):
    """Take the steps of every walk. One draw a step."""
    for row in range(len(paths.walks)):
        key, gamma = begin_path(paths, row)
        path = paths.walks[row]
        for n in range(path.size - 1):
            here = path[n]
            if degree_of(graph, here) == 0:
                break
            path[n + 1] = draw_neighbor(graph, here, draw(key, gamma, n, 0))
