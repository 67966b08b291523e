"""Numba kernel of DRRW with UCB: the softmax over mild scores, with the path as only memory.

All weights lie close together, so the next node is proposed and rarely refused, and how often a
walk has been somewhere is only counted, sixteen nodes at a time, when a proposal asks for it. The
draws are exact, and they end: after as many refusals as weighing every neighbour would cost,
every neighbour is weighed.
"""

from __future__ import annotations

import numpy as np

from .compiled import inlined, kernel
from .kernels import begin_walks, patience
from .neighbors import (
    BLOCK,
    WINDOW,
    arc_weight,
    bits_set,
    draw_arc,
    find_arc_near,
    likely_window,
    matches,
    prefetch,
    row_bounds,
    shorter_row,
)
from .random import below, draw, left_over, unit
from .scores import exponent, softmax_weight

PATIENT_TURNS = 64  # proposals of steps of the path before every neighbour is weighed


@inlined
def begin_paths(walks, base, width, since, paths, start_visits):
    """Empty the paths but for their starts."""
    paths[:] = -1
    for lane in range(width):
        paths[lane, 0] = walks[base + lane, 0]
        start_visits[lane] = 1 - since


@kernel
def open_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas,
    scores, tops, floors, start_visits, paths,
):  # fmt: skip
    """Every neighbour is a candidate. Little more than one draw a step.

    Relative to an unvisited node's, no weight exceeds tops[n] or is below floors[c_u]: between
    the two a proposal is kept without asking how often the walk has been there. Each row of
    `paths` has room for a walk and is padded to whole blocks.
    """
    rows, length = walks.shape
    lanes = keys.size
    since = 0 if scores.path else 1  # the first step that counts
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        begin_paths(walks, base, width, since, paths, start_visits)
        for n in range(length - 1):
            for lane in range(width):
                here = paths[lane, n]
                there = np.int32(-1)
                if here >= 0:
                    begin = indptr[here]
                    degree = indptr[here + 1] - begin
                    if degree > 0:
                        c_u = start_visits[lane]
                        bits = draw(keys[lane], gammas[lane], n, 0)
                        keep = left_over(bits, degree)
                        if weighing is not None:
                            keep = unit(draw(keys[lane], gammas[lane], n, 1))
                        if keep * tops[n] < floors[c_u]:
                            there = indices[draw_arc(begin, degree, weighing, bits)]
                        else:
                            there = open_step(
                                indptr, indices, weighing, here, paths, lane, since, n,
                                keys[lane], gammas[lane], scores, c_u, tops[n],
                            )  # fmt: skip
                        start_visits[lane] = c_u + (there == paths[lane, 0])
                paths[lane, n + 1] = there
                walks[base + lane, n + 1] = there


@kernel
def capped_walks(
    indptr, indices, weighing, directed, starts, seed, first, walks, keys, gammas,
    scores, tops, candidates, start_visits, paths, lists, offers, places, lefts,
):  # fmt: skip
    """At most `candidates` unvisited neighbours are weighed, and every visited one.

    The next node is an unvisited neighbour or a step of the path that is a neighbour; together
    the unvisited ones weigh as much as the cap allows, and a node seen c times is proposed c
    times and kept with its weight over c * top. About two proposals and one look-up of an edge a
    step.

    The lanes make their proposals in rounds, and a round goes by stages, each a loop over the
    lanes it concerns: `lists` hold these, gathered without a branch. So hardly a branch depends
    on chance, and what a stage asks for is in the cache when the next one looks at it.
    """
    rows, length = walks.shape
    lanes = keys.size
    since = 0 if scores.path else 1  # the first step that counts
    undecided, fresh, recalled = lists[0], lists[1], lists[2]
    for base in range(0, rows, lanes):
        width = min(lanes, rows - base)
        begin_walks(starts, seed, first, walks, base, width, keys, gammas)
        begin_paths(walks, base, width, since, paths, start_visits)
        for n in range(length - 1):
            top, steps = tops[n], n + 1 - since
            total = candidates + steps * top
            n_undecided, n_fresh = 0, 0
            for lane in range(width):
                here = paths[lane, n]
                offers[lane] = -1
                if here < 0:
                    continue
                begin, end = row_bounds(indptr, here)
                if begin == end:
                    continue
                if weighing is None and enough_unvisited(
                    indptr, indices, here, paths, lane, since, n, candidates
                ):
                    undecided[n_undecided] = lane
                    n_undecided += 1
                else:
                    offers[lane] = weigh_neighbors(
                        indptr, indices, weighing, here, paths, lane, since, n,
                        keys[lane], gammas[lane], scores, start_visits[lane], candidates,
                    )  # fmt: skip
            turn = 0
            while n_undecided + n_fresh > 0:
                for i in range(n_undecided):
                    lane = undecided[i]
                    bits = draw(keys[lane], gammas[lane], n, 2 * turn)
                    lefts[lane] = unit(bits) * total - candidates
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
                    begin, end = row_bounds(indptr, paths[lane, n])
                    bits = draw(keys[lane], gammas[lane], n, 2 * turn + 1)
                    places[lane] = begin + below(bits, end - begin)
                    prefetch(indices, places[lane])

                n_kept = 0
                for i in range(n_recalled):
                    lane = recalled[i]
                    left = lefts[lane] / top
                    step = min(np.int64(left), steps - 1)
                    there = paths[lane, np.uint64(since + step)]
                    offers[lane] = there
                    c = times_seen(paths, lane, since, n, there)
                    weight = softmax_weight(scores, n, start_visits[lane], c, 0.0)
                    kept = (left - step) * c * top < weight
                    undecided[n_undecided] = lane
                    n_undecided += not kept
                    recalled[n_kept] = lane
                    n_kept += kept
                for i in range(n_kept):
                    lane = recalled[i]
                    row, entry = shorter_row(indptr, directed, paths[lane, n], offers[lane])
                    places[lane] = likely_window(indptr, indices, row, entry)
                    for block in range(0, WINDOW, BLOCK):
                        prefetch(indices, places[lane] + block)
                for i in range(n_kept):
                    lane = recalled[i]
                    row, entry = shorter_row(indptr, directed, paths[lane, n], offers[lane])
                    missed = find_arc_near(indptr, indices, row, entry, places[lane]) < 0
                    undecided[n_undecided] = lane
                    n_undecided += missed

                still = 0
                for i in range(n_fresh):
                    lane = fresh[i]
                    there = indices[np.uint64(places[lane])]
                    offers[lane] = there
                    fresh[still] = lane
                    still += times_seen(paths, lane, since, n, there) > 0
                n_fresh = still
                turn += 1
                if turn >= PATIENT_TURNS:
                    for i in range(n_undecided):
                        lane = undecided[i]
                        offers[lane] = weigh_neighbors(
                            indptr, indices, weighing, paths[lane, n], paths, lane, since, n,
                            keys[lane], gammas[lane], scores, start_visits[lane], candidates,
                        )  # fmt: skip
                    n_undecided = 0
            for lane in range(width):
                there = offers[lane]
                paths[lane, n + 1] = there
                walks[base + lane, n + 1] = there
                start_visits[lane] += there == paths[lane, 0]
                if there >= 0:
                    prefetch(indptr, there)


@inlined
def times_seen(paths, lane, since, n, node):
    """How often a node stands in a path from step `since` to n."""
    seen = since * -(paths[lane, 0] == node)
    for block in range(n // BLOCK + 1):
        seen += bits_set(matches(paths, lane * paths.shape[1] + block * BLOCK, node))
    return seen


@kernel
def open_step(indptr, indices, weighing, here, paths, lane, since, n, key, gamma, scores, c_u, top):
    """Propose until a neighbour is kept; the first proposal is the one the caller looked at."""
    begin, degree = indptr[here], indptr[here + 1] - indptr[here]
    for attempt in range(patience(degree)):
        bits = draw(key, gamma, n, 2 * attempt)
        there = indices[draw_arc(begin, degree, weighing, bits)]
        keep = left_over(bits, degree)
        if weighing is not None:  # the alias table used up what was left of the draw
            keep = unit(draw(key, gamma, n, 2 * attempt + 1))
        c = times_seen(paths, lane, since, n, there)
        if keep * top < softmax_weight(scores, n, c_u, c, 0.0):
            return there
    return weigh_neighbors(
        indptr, indices, weighing, here, paths, lane, since, n, key, gamma, scores, c_u, 0
    )


@inlined
def enough_unvisited(indptr, indices, here, paths, lane, since, n, candidates):
    """Whether a node has more neighbours than the cap and as many unvisited ones."""
    begin, degree = indptr[here], indptr[here + 1] - indptr[here]
    if degree - (n + 1 - since) >= candidates and degree > candidates:
        return True
    if degree <= candidates:
        return False
    unvisited = 0
    for arc in range(begin, begin + degree):
        unvisited += times_seen(paths, lane, since, n, indices[arc]) == 0
        if unvisited == candidates:
            return True
    return False


@kernel
def weigh_neighbors(
    indptr, indices, weighing, here, paths, lane, since, n, key, gamma, scores, c_u, candidates
):
    """Choose by weighing every neighbour: O(degree)."""
    begin, degree = indptr[here], indptr[here + 1] - indptr[here]
    unvisited = 0
    shift = 0.0  # of the exponents, where they are too large for the tables
    for arc in range(begin, begin + degree):
        c = times_seen(paths, lane, since, n, indices[arc])
        unvisited += c == 0
        if scores.explore_table.size == 0:
            e = exponent(scores, n, c_u, c)
            shift = e if arc == begin else max(shift, e)
    share = 1.0  # of its weight that an unvisited neighbour keeps under the cap
    if candidates > 0 and unvisited > 0:
        share = min(candidates if degree > candidates else 1, unvisited) / unvisited
    total, left, there = 0.0, 0.0, np.int32(-1)
    for choosing in range(2):
        for arc in range(begin, begin + degree):
            there = indices[arc]
            c = times_seen(paths, lane, since, n, there)
            weight = softmax_weight(scores, n, c_u, c, shift) * arc_weight(arc, weighing)
            if c == 0:
                weight *= share
            if choosing == 0:
                total += weight
            elif left < weight:
                break
            else:
                left -= weight
        left = unit(draw(key, gamma, n, (1 << 31) - 1)) * total
    return there
