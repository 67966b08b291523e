"""Numba kernel of DRRW with UCB and mild scores, with a cap on the unvisited candidates.

At most `candidates` unvisited neighbours are weighed, and every visited one. The next node is an
unvisited neighbour or a remembered node that is a neighbour: together the unvisited ones weigh as
much as the cap allows, and a remembered node is proposed with the largest weight, tops[n], and kept
with its own. About two proposals and one look-up of an edge a step. On a weighted graph the edges
to all remembered nodes are looked up (weighing.py), unless there are fewer neighbours to weigh.

The lanes make their proposals in rounds, and a round goes by stages, each a loop over the lanes it
concerns: the lists of `_CappedScratch` hold these, filled without a branch. So hardly a branch
depends on chance, and what a stage prefetches is in the cache when the next one reads it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.compiled import inlined, kernel
from ..._util.intrinsics import BLOCK, prefetch
from ..._util.random import below, draw, unit
from ..plan import MOST_PROPOSALS
from ..scores import softmax_weight
from .neighbors import (
    WINDOW,
    Arcs,
    Batch,
    Decision,
    Visited,
    begin_walks,
    find_arc_near,
    likely_window,
    row_bounds,
    shorter_row,
)
from .weighing import draw_by_remembered, few_remembered, find_place, padded, weigh_neighbors


class _CappedScratch(NamedTuple):
    """What each lane remembers of its walk, and the state of a round."""

    start_visits: NDArray[np.int64]
    nodes: NDArray[np.int32]  # distinct ones, in the order of the first visits
    counts: NDArray[np.int32]  # how often each was visited
    sizes: NDArray[np.int64]  # how many they are
    # lists of lanes, with one more entry: they are written to before it is known whether to count
    undecided: NDArray[np.uint32]  # those that make a new proposal in the next turn
    fresh: NDArray[np.uint32]  # those that draw an unvisited neighbour
    recalled: NDArray[np.uint32]  # those that draw a remembered node
    weighed: NDArray[np.uint32]  # those that weigh every neighbour
    # by lane: the proposal
    offers: NDArray[np.int32]  # its node
    places: NDArray[np.int64]  # where that stands in `nodes`
    lefts: NDArray[np.float64]  # where the draw fell, beyond the unvisited ones' weight
    rows: NDArray[np.int32]  # in whose row its edge is looked up
    entries: NDArray[np.int32]  # and for which entry
    windows: NDArray[np.int64]  # and where first; or the position of the arc that was drawn
    weights: NDArray[np.float64]  # of the remembered nodes of one lane, on a weighted graph


def make_capped_scratch(lanes: int, length: int) -> _CappedScratch:
    """Allocate scratch memory for `lanes` walks."""
    return _CappedScratch(
        start_visits=np.empty(lanes, np.int64),
        nodes=np.empty((lanes, padded(length)), np.int32),
        counts=np.empty((lanes, padded(length)), np.int32),
        sizes=np.empty(lanes, np.int64),
        undecided=np.empty(lanes + 1, np.uint32),
        fresh=np.empty(lanes + 1, np.uint32),
        recalled=np.empty(lanes + 1, np.uint32),
        weighed=np.empty(lanes + 1, np.uint32),
        offers=np.empty(lanes, np.int32),
        places=np.empty(lanes, np.int64),
        lefts=np.empty(lanes, np.float64),
        rows=np.empty(lanes, np.int32),
        entries=np.empty(lanes, np.int32),
        windows=np.empty(lanes, np.int64),
        weights=np.empty(length, np.float64),
    )


class _Step(NamedTuple):
    """The step that `width` walks take, from row `base` on: decision n of each."""

    graph: Arcs
    batch: Batch
    scratch: _CappedScratch
    base: int
    width: int
    n: int


@kernel
def capped_walks(graph, weighing, batch, settings, scratch):
    """Take steps in rounds of proposals; see the head of this file."""
    rows, length = batch.walks.shape
    lanes = batch.keys.size
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(graph, batch, base, width)
        _begin_memories(batch, base, width, settings, scratch)
        for n in range(length - 1):
            step = _Step(graph, batch, scratch, base, width, n)
            n_undecided, n_weighed = _who_proposes(step, weighing, settings.candidates)
            n_weighed = _propose(step, settings, n_undecided, n_weighed)
            _weigh(step, weighing, settings, n_weighed)
            _take_steps(step)


@inlined
def _begin_memories(batch, base, width, settings, scratch):
    """Forget the walks before; with occupation "path" the start counts as visited."""
    scratch.nodes[:] = -1
    scratch.counts[:] = 0
    for lane in range(width):
        scratch.sizes[lane] = scratch.start_visits[lane] = 1 if settings.scores.path else 0
        if settings.scores.path:
            scratch.nodes[lane, 0], scratch.counts[lane, 0] = batch.walks[base + lane, 0], 1


@inlined
def _here(step, lane):
    """Return the node at which a walk is."""
    return step.batch.walks[step.base + lane, step.n]


@inlined
def _who_proposes(step, weighing, candidates):
    """List the lanes that make proposals and those that weigh every neighbour; count both."""
    graph, scratch = step.graph, step.scratch
    n_undecided, n_weighed = 0, 0
    for lane in range(step.width):
        here = _here(step, lane)
        scratch.offers[lane] = -1
        if here < 0:
            continue
        begin, end = row_bounds(graph.indptr, here)
        if begin == end:
            continue
        visited = Visited(scratch.nodes, lane, scratch.sizes[lane])
        if weighing is None and _enough_unvisited(graph.indices, begin, end, visited, candidates):
            scratch.undecided[n_undecided] = lane
            n_undecided += 1
        else:
            scratch.weighed[n_weighed] = lane
            n_weighed += 1
    return n_undecided, n_weighed


@inlined
def _enough_unvisited(indices, begin, end, visited, candidates):
    """Return whether a row has more arcs than the cap, and as many to unvisited nodes."""
    if end - begin <= candidates:
        return False
    unvisited = end - begin - visited.size  # no fewer
    if unvisited >= candidates:
        return True
    unvisited = 0
    for arc in range(begin, end):
        unvisited += find_place(visited, indices[arc]) == visited.size
        if unvisited == candidates:
            return True
    return False


@inlined
def _propose(step, settings, n_undecided, n_weighed):
    """Let the undecided lanes propose until each has an offer, or weighs every neighbour.

    Return how many do the latter. Lanes that met a visited neighbour draw another one, at once.
    """
    graph, scratch = step.graph, step.scratch
    n_fresh, turn = 0, 0
    while n_undecided + n_fresh > 0:
        n_fresh, n_recalled = _draw_kinds(step, settings, turn, n_undecided, n_fresh)
        _draw_neighbors(step, turn, n_fresh)
        n_undecided, n_kept = _draw_remembered(settings, scratch, step.n, n_recalled)
        _prefetch_rows(step, n_kept)
        n_undecided = _refuse_strangers(graph, scratch, n_kept, n_undecided)
        n_fresh = _refuse_visited(graph, scratch, n_fresh)
        turn += 1
        if turn >= MOST_PROPOSALS:
            for i in range(n_undecided):
                scratch.weighed[n_weighed] = scratch.undecided[i]
                n_weighed += 1
            n_undecided = 0
    return n_weighed


@inlined
def _draw_kinds(step, settings, turn, n_undecided, n_fresh):
    """Draw whether an unvisited neighbour is proposed or a remembered node; count both."""
    batch, scratch, n = step.batch, step.scratch, step.n
    undecided, fresh, recalled = scratch.undecided, scratch.fresh, scratch.recalled
    lefts = scratch.lefts
    candidates, top = settings.candidates, settings.tops[n]
    for i in range(n_undecided):
        lane = undecided[i]
        bits = draw(batch.keys[lane], batch.gammas[lane], n, 2 * turn)
        lefts[lane] = unit(bits) * (candidates + scratch.sizes[lane] * top) - candidates
    n_recalled = 0
    for i in range(n_undecided):
        lane = undecided[i]
        fresh[n_fresh] = lane
        recalled[n_recalled] = lane
        n_fresh += lefts[lane] < 0.0
        n_recalled += lefts[lane] >= 0.0
    return n_fresh, n_recalled


@inlined
def _draw_neighbors(step, turn, n_fresh):
    """Draw an arc for each lane that proposes an unvisited neighbour, and prefetch its end."""
    graph, batch, scratch = step.graph, step.batch, step.scratch
    for i in range(n_fresh):
        lane = scratch.fresh[i]
        begin, end = row_bounds(graph.indptr, _here(step, lane))
        bits = draw(batch.keys[lane], batch.gammas[lane], step.n, 2 * turn + 1)
        scratch.windows[lane] = begin + below(bits, end - begin)
        prefetch(graph.indices, scratch.windows[lane])


@inlined
def _draw_remembered(settings, scratch, n, n_recalled):
    """Propose remembered nodes, and keep each with its weight; count who is undecided, and kept."""
    undecided, recalled = scratch.undecided, scratch.recalled
    top = settings.tops[n]
    n_undecided, n_kept = 0, 0
    for i in range(n_recalled):
        lane = recalled[i]
        left = scratch.lefts[lane] / top
        place = min(np.int64(left), scratch.sizes[lane] - 1)
        c = np.int64(scratch.counts[lane, np.uint64(place)])
        weight = softmax_weight(settings.scores, n, scratch.start_visits[lane], c, 0.0)
        kept = (left - place) * top < weight
        scratch.offers[lane] = scratch.nodes[lane, np.uint64(place)]
        scratch.places[lane] = place
        undecided[n_undecided] = lane
        n_undecided += not kept
        recalled[n_kept] = lane
        n_kept += kept
    return n_undecided, n_kept


@inlined
def _prefetch_rows(step, n_kept):
    """Prefetch where the edges to remembered nodes should stand."""
    graph, scratch = step.graph, step.scratch
    for i in range(n_kept):
        lane = scratch.recalled[i]
        row, entry = shorter_row(graph, _here(step, lane), scratch.offers[lane])
        scratch.rows[lane], scratch.entries[lane] = row, entry
        scratch.windows[lane] = likely_window(graph, row, entry)
        for block in range(0, WINDOW, BLOCK):
            prefetch(graph.indices, scratch.windows[lane] + block)


@inlined
def _refuse_strangers(graph, scratch, n_kept, n_undecided):
    """Refuse remembered nodes that are no neighbours; count who is undecided."""
    for i in range(n_kept):
        lane = scratch.recalled[i]
        row, entry = scratch.rows[lane], scratch.entries[lane]
        missed = find_arc_near(graph, row, entry, scratch.windows[lane]) < 0
        scratch.undecided[n_undecided] = lane
        n_undecided += missed
    return n_undecided


@inlined
def _refuse_visited(graph, scratch, n_fresh):
    """Refuse neighbours that were visited; count those that have to draw another."""
    still = 0
    for i in range(n_fresh):
        lane = scratch.fresh[i]
        there = graph.indices[np.uint64(scratch.windows[lane])]
        scratch.offers[lane] = there
        scratch.places[lane] = scratch.sizes[lane]
        scratch.fresh[still] = lane
        visited = Visited(scratch.nodes, lane, scratch.sizes[lane])
        still += find_place(visited, there) < scratch.sizes[lane]
    return still


@inlined
def _weigh(step, weighing, settings, n_weighed):
    """Choose by weighing every neighbour, or on a weighted graph every remembered node."""
    graph, batch, scratch = step.graph, step.batch, step.scratch
    for i in range(n_weighed):
        lane = scratch.weighed[i]
        key, gamma, c_u = batch.keys[lane], batch.gammas[lane], scratch.start_visits[lane]
        decision = Decision(_here(step, lane), step.n, key, gamma, c_u)
        visited = Visited(scratch.nodes, lane, scratch.sizes[lane])
        there = np.int32(-1)
        if weighing is not None:
            there = _draw_by_remembered(graph, weighing, decision, visited, settings, scratch)
        if there < 0:
            scores, candidates = settings.scores, settings.candidates
            there = weigh_neighbors(
                graph, weighing, decision, visited, scratch.counts, scores, candidates
            )
        scratch.offers[lane] = there
        scratch.places[lane] = find_place(visited, there)


@inlined
def _draw_by_remembered(graph, weighing, decision, visited, settings, scratch):
    """Draw by the edges to remembered nodes; -1 if they are many, or all proposals were refused."""
    begin, end = row_bounds(graph.indptr, decision.here)
    if not few_remembered(end - begin, visited.size):
        return np.int32(-1)
    for place in range(visited.size):
        c = np.int64(scratch.counts[visited.lane, np.uint64(place)])
        weight = softmax_weight(settings.scores, decision.n, decision.c_u, c, 0.0)
        scratch.weights[place] = weight
    weights, candidates = scratch.weights, settings.candidates
    return draw_by_remembered(graph, weighing, decision, 0, visited, weights, 1.0, candidates)


@inlined
def _take_steps(step):
    """Go to the nodes that were chosen, and remember them."""
    graph, batch, scratch, base = step.graph, step.batch, step.scratch, step.base
    for lane in range(step.width):
        there = scratch.offers[lane]
        batch.walks[base + lane, step.n + 1] = there
        if there >= 0:
            prefetch(graph.indptr, there)
            scratch.start_visits[lane] += there == batch.walks[base + lane, 0]
            place = np.uint64(scratch.places[lane])
            scratch.nodes[lane, place] = there
            scratch.counts[lane, place] += 1
            scratch.sizes[lane] += scratch.counts[lane, place] == 1
