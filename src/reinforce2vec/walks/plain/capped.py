"""DRRW with UCB and mild scores, with a cap on the unvisited candidates.

The next node is drawn from the softmax of weighing.py, in which all unvisited neighbours together
weigh as much as `candidates` of them. Nearly always there are at least as many. Then a proposal is
drawn from a mixture: unvisited neighbours have the weight `candidates`, and every remembered node
the weight tops[n], which none exceeds at decision n; a remembered node is kept with its own weight,
if it is a neighbour. On a weighted graph weighing.py draws, unless most neighbours may be
remembered.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import compiled
from ..._util.random import draw, unit
from ..plan import MOST_PROPOSALS
from ..scores import softmax_weight
from .memory import begin_path, forget, place_of, remember
from .neighbors import degree_of, draw_neighbor, find_arc
from .weighing import draw_by_remembered, few_remembered, weigh_neighbors


@compiled
def capped_walks(graph, paths, settings, memory):
    """Take the steps of every walk. About two proposals and a look-up of an edge a step."""
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
    scores, candidates, top = settings.scores, settings.candidates, settings.tops[n]
    distinct = memory.distinct[0]
    turn = 0
    if not graph.weighted and _enough_unvisited(graph, here, candidates, memory):
        while turn < MOST_PROPOSALS:
            left = unit(draw(key, gamma, n, 2 * turn)) * (candidates + distinct * top) - candidates
            if left < 0.0:
                return _unvisited_neighbor(graph, here, n, key, gamma, turn, memory)
            left /= top
            place = min(np.int64(left), distinct - 1)
            weight = softmax_weight(scores, n, c_u, memory.counts[place], 0.0)
            there = memory.nodes[place]
            if (left - place) * top < weight and find_arc(graph, here, there) >= 0:
                return there
            turn += 1
    if graph.weighted and few_remembered(graph, here, memory):
        for place in range(distinct):
            memory.weights[place] = softmax_weight(scores, n, c_u, memory.counts[place], 0.0)
        there = draw_by_remembered(graph, here, n, key, gamma, 0, 1.0, candidates, memory)
        if there >= 0:
            return there
    return weigh_neighbors(graph, here, n, key, gamma, scores, c_u, candidates, memory)


@compiled
def _enough_unvisited(graph, here, candidates, memory):
    """Return whether a node has more arcs than the cap, and as many to unvisited nodes."""
    if degree_of(graph, here) <= candidates:
        return False
    unvisited = 0
    for arc in range(graph.indptr[here], graph.indptr[here + 1]):
        if place_of(memory, graph.indices[arc]) == memory.distinct[0]:
            unvisited += 1
    return unvisited >= candidates


@compiled
def _unvisited_neighbor(graph, here, n, key, gamma, turn, memory):
    """Draw neighbours until one is unvisited; the caller knows that there is one."""
    while True:
        there = draw_neighbor(graph, here, draw(key, gamma, n, 2 * turn + 1))
        if place_of(memory, there) == memory.distinct[0]:
            return there
        turn += 1
