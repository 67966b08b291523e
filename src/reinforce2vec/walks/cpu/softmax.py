"""Numba kernels of DRRW with UCB: the softmax over mild scores.

All weights lie close together, so the next node is proposed and rarely refused, and how often a
walk has been somewhere is only looked up, sixteen nodes at a time, when a proposal asks for it.
Draws are exact, and they end: after as many refusals as weighing every neighbour would cost, every
neighbour is weighed.

What a walk remembers is `nodes` and `counts`, a row for each lane, padded to whole blocks with -1
and 0: with counts the distinct nodes and how often it has been there, and without (None) the
nodes as they came. `size` says how many entries of `nodes` hold one.
"""

from __future__ import annotations

import numpy as np

from ..._util.compiled import inlined, kernel
from ..._util.intrinsics import BLOCK, bits_set, fast_below, matches, prefetch
from ..._util.random import draw, left_over, unit
from ..scores import exponent, softmax_weight
from .neighbors import (
    WINDOW,
    arc_weight,
    draw_arc,
    find_arc_near,
    likely_window,
    row_bounds,
    shorter_row,
)
from .second_order import begin_walks, patience

PATIENT_TURNS = 64  # proposals of remembered nodes before every neighbour is weighed


@inlined
def times_seen(nodes, counts, lane, size, node):
    """How often a walk has been at a node: O(size / 16)."""
    if counts is not None:
        return np.int64(counts[lane, np.uint64(find_place(nodes, lane, size, node))])
    seen = 0
    for begin in range(0, size, BLOCK):
        seen += bits_set(matches(nodes, lane * nodes.shape[1] + begin, node))
    return seen


@inlined
def find_place(nodes, lane, size, node):
    """Where a node stands among the first `size`, and `size` if it does not."""
    for begin in range(0, size, BLOCK):
        equal = matches(nodes, lane * nodes.shape[1] + begin, node)
        if equal != 0:
            return begin + bits_set((equal & -equal) - 1)
    return np.int64(size)


@kernel
def weigh_neighbors(
    indptr, indices, weighing, here, nodes, counts, lane, size, n, key, gamma,
    scores, c_u, candidates,
):  # fmt: skip
    """Choose by weighing every neighbour: O(degree) look-ups."""
    begin, end = row_bounds(indptr, here)
    shift, total, share = 0.0, 0.0, 1.0
    while True:
        unvisited, seen_weight, fresh_weight, highest = 0, 0.0, 0.0, -np.inf
        for arc in range(begin, end):
            c = times_seen(nodes, counts, lane, size, indices[arc])
            weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(arc, weighing)
            if c == 0:
                unvisited += 1
                fresh_weight += weight
            else:
                seen_weight += weight
        if candidates > 0 and unvisited > 0:  # what the cap leaves of unvisited ones' weight
            share = min(candidates if end - begin > candidates else 1, unvisited) / unvisited
        total = seen_weight + share * fresh_weight
        if 0.0 < total < np.inf:
            break
        for arc in range(begin, end):  # weights out of range: measure them from the largest
            c = times_seen(nodes, counts, lane, size, indices[arc])
            highest = max(highest, exponent(scores, n, c_u, c))
        shift = highest
    left, there = unit(draw(key, gamma, n, (1 << 31) - 1)) * total, np.int32(-1)
    for arc in range(begin, end):
        there = indices[arc]
        c = times_seen(nodes, counts, lane, size, there)
        weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(arc, weighing)
        if c == 0:
            weight *= share
        if left < weight:
            break
        left -= weight
    return there


# -- every neighbour is a candidate --------------------------------------------------------------


@kernel
def open_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas,
    scores, tops, floors, start_visits, nodes,
):  # fmt: skip
    """Little more than one draw a step.

    Relative to an unvisited node's, no weight exceeds tops[n] or is below floors[c_u]: under that
    share a proposal is kept without asking how often the walk has been there.
    """
    rows, length = walks.shape
    lanes = keys.size
    since = 0 if scores.path else 1  # the first step that counts
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        nodes[:] = -1
        for lane in range(width):
            start_visits[lane] = 1 - since
            if scores.path:
                nodes[lane, 0] = walks[base + lane, 0]
        for n in range(length - 1):
            for lane in range(width):
                here = walks[base + lane, n]
                there = np.int32(-1)
                if here >= 0:
                    begin, end = row_bounds(indptr, here)
                    degree = end - begin
                    if degree > 0:
                        c_u = start_visits[lane]
                        bits = draw(keys[lane], gammas[lane], n, 0)
                        keep = left_over(bits, degree)
                        if weighing is not None:
                            keep = unit(draw(keys[lane], gammas[lane], n, 1))
                        if keep * tops[n] < floors[np.uint64(c_u)]:
                            there = indices[np.uint64(draw_arc(begin, degree, weighing, bits))]
                        else:
                            there = open_step(
                                indptr, indices, weighing, here, nodes, lane, n + 1 - since, n,
                                keys[lane], gammas[lane], scores, c_u, tops[n],
                            )  # fmt: skip
                        start_visits[lane] = c_u + (there == walks[base + lane, 0])
                nodes[lane, n + 1 - since] = there
                walks[base + lane, n + 1] = there


@kernel
def open_step(indptr, indices, weighing, here, nodes, lane, size, n, key, gamma, scores, c_u, top):
    """Propose until a neighbour is kept; the first proposal is the one the caller looked at."""
    begin, end = row_bounds(indptr, here)
    for attempt in range(patience(end - begin)):
        bits = draw(key, gamma, n, 2 * attempt)
        there = indices[draw_arc(begin, end - begin, weighing, bits)]
        keep = left_over(bits, end - begin)
        if weighing is not None:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 2 * attempt + 1))
        c = times_seen(nodes, None, lane, size, there)
        if keep * top < softmax_weight(scores, n, c_u, c, 0.0):
            return there
    return weigh_neighbors(
        indptr, indices, weighing, here, nodes, None, lane, size, n, key, gamma, scores, c_u, 0
    )


# -- unvisited candidates are capped -------------------------------------------------------------


@kernel
def capped_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas,
    scores, tops, candidates, start_visits, nodes, counts, sizes, places,
    lists, offers, sought, windows, lefts,
):  # fmt: skip
    """At most `candidates` unvisited neighbours are weighed, and every visited one.

    The next node is an unvisited neighbour or a remembered node that is a neighbour: together the
    unvisited ones weigh as much as the cap allows, and a remembered node is proposed with the
    largest weight, tops[n], and kept with its own. About two proposals and one look-up of an edge
    a step.

    The lanes make their proposals in rounds, and a round goes by stages, each a loop over the
    lanes it concerns: `lists` hold these, gathered without a branch. So hardly a branch depends
    on chance, and what a stage asks for is in the cache when the next one looks at it.
    """
    rows, length = walks.shape
    lanes = keys.size
    undecided, fresh, recalled, weighed = lists[0], lists[1], lists[2], lists[3]
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        nodes[:] = -1
        counts[:] = 0
        for lane in range(width):
            sizes[lane] = start_visits[lane] = 1 if scores.path else 0
            if scores.path:
                nodes[lane, 0], counts[lane, 0] = walks[base + lane, 0], 1
        for n in range(length - 1):
            top = tops[n]
            n_undecided, n_fresh, n_weighed = 0, 0, 0
            for lane in range(width):
                here = walks[base + lane, n]
                offers[lane] = -1
                if here < 0:
                    continue
                begin, end = row_bounds(indptr, here)
                if begin == end:
                    continue
                if weighing is None and enough_unvisited(
                    indices, begin, end, nodes, lane, sizes[lane], candidates
                ):
                    undecided[n_undecided] = lane
                    n_undecided += 1
                else:
                    weighed[n_weighed] = lane
                    n_weighed += 1
            turn = 0
            while n_undecided + n_fresh > 0:
                for i in range(n_undecided):
                    lane = undecided[i]
                    bits = draw(keys[lane], gammas[lane], n, 2 * turn)
                    lefts[lane] = unit(bits) * (candidates + sizes[lane] * top) - candidates
                n_recalled = 0
                for i in range(n_undecided):
                    lane = undecided[i]
                    fresh[n_fresh] = lane
                    recalled[n_recalled] = lane
                    n_fresh += lefts[lane] < 0.0
                    n_recalled += lefts[lane] >= 0.0
                n_undecided = 0

                for i in range(n_fresh):
                    lane = fresh[i]
                    begin, end = row_bounds(indptr, walks[base + lane, n])
                    bits = draw(keys[lane], gammas[lane], n, 2 * turn + 1)
                    windows[lane] = begin + fast_below(bits, end - begin)
                    prefetch(indices, windows[lane])

                n_kept = 0
                for i in range(n_recalled):
                    lane = recalled[i]
                    left = lefts[lane] / top
                    place = min(np.int64(left), sizes[lane] - 1)
                    c = np.int64(counts[lane, np.uint64(place)])
                    weight = softmax_weight(scores, n, start_visits[lane], c, 0.0)
                    kept = (left - place) * top < weight
                    offers[lane] = nodes[lane, np.uint64(place)]
                    places[lane] = place
                    undecided[n_undecided] = lane
                    n_undecided += not kept
                    recalled[n_kept] = lane
                    n_kept += kept
                for i in range(n_kept):
                    lane = recalled[i]
                    row, entry = shorter_row(indptr, directed, walks[base + lane, n], offers[lane])
                    sought[0, lane], sought[1, lane] = row, entry
                    windows[lane] = likely_window(indptr, indices, row, entry)
                    for block in range(0, WINDOW, BLOCK):
                        prefetch(indices, windows[lane] + block)
                for i in range(n_kept):
                    lane = recalled[i]
                    row, entry = sought[0, lane], sought[1, lane]
                    missed = find_arc_near(indptr, indices, row, entry, windows[lane]) < 0
                    undecided[n_undecided] = lane
                    n_undecided += missed

                still = 0
                for i in range(n_fresh):
                    lane = fresh[i]
                    there = indices[np.uint64(windows[lane])]
                    offers[lane] = there
                    places[lane] = sizes[lane]
                    fresh[still] = lane
                    still += find_place(nodes, lane, sizes[lane], there) < sizes[lane]
                n_fresh = still
                turn += 1
                if turn >= PATIENT_TURNS:
                    for i in range(n_undecided):
                        weighed[n_weighed] = undecided[i]
                        n_weighed += 1
                    n_undecided = 0

            for i in range(n_weighed):
                lane = weighed[i]
                there = weigh_neighbors(
                    indptr, indices, weighing, walks[base + lane, n], nodes, counts, lane,
                    sizes[lane], n, keys[lane], gammas[lane], scores, start_visits[lane],
                    candidates,
                )  # fmt: skip
                offers[lane] = there
                places[lane] = find_place(nodes, lane, sizes[lane], there)
            for lane in range(width):
                there = offers[lane]
                walks[base + lane, n + 1] = there
                if there >= 0:
                    prefetch(indptr, there)
                    start_visits[lane] += there == walks[base + lane, 0]
                    place = np.uint64(places[lane])
                    nodes[lane, place] = there
                    counts[lane, place] += 1
                    sizes[lane] += counts[lane, place] == 1


@inlined
def enough_unvisited(indices, begin, end, nodes, lane, size, candidates):
    """Whether a row has more arcs than the cap, and as many to unvisited nodes."""
    if end - begin <= candidates:
        return False
    unvisited = end - begin - size  # no fewer
    if unvisited >= candidates:
        return True
    unvisited = 0
    for arc in range(begin, end):
        unvisited += find_place(nodes, lane, size, indices[arc]) == size
        if unvisited == candidates:
            return True
    return False
