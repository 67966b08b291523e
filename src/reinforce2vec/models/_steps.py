"""The graph that walks went along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..files import StoredWalks
from ..graph import Graph

_AT_ONCE = 1 << 20  # nodes of walks
_STEP_BYTES = 34  # for each of these, while the edges of some steps are found
_KEPT_EDGE_BYTES = 24  # for each edge of the graph
_SHARE = 64  # one of so many possible edges is counted for an estimate
_MIX = np.uint64(0x9E3779B97F4A7C15)  # spreads the numbers of edges evenly


class _StepBytes(NamedTuple):
    """The memory of the graph that walks went along."""

    making: int
    kept: int


def bytes_for_steps(walks: StoredWalks, edges: int) -> _StepBytes:
    """Estimate the memory of the graph of so many edges, while it is made and afterwards."""
    nodes, steps = 16 * len(walks.ids), min(len(walks.nodes), _AT_ONCE)
    finding = _STEP_BYTES * steps
    if len(walks.nodes) > _AT_ONCE:  # steps of before, and the edges so far, are still there
        finding += 4 * steps + 80 * edges
    # fitted to peaks; of R-MAT walks with 0.87 edges a step, some steps have 0.47 new edges each
    merging = 18 * steps + 90 * edges + 48 * min(edges, steps // 2)
    making = max(finding, merging)
    return _StepBytes(making + nodes, _KEPT_EDGE_BYTES * edges + nodes)


def likely_edges(walks: StoredWalks) -> int:
    """Estimate how many different edges some walks went along: exact if they are short.

    Of all possible edges, those with one of _SHARE values of a hash are counted.
    """
    share = _SHARE if len(walks.nodes) > _AT_ONCE else 1
    found, waiting = np.empty(0, np.int64), list[NDArray[np.int64]]()
    for keys in _steps(walks, parts=4):
        hashed = keys.astype(np.uint64) * _MIX >> np.uint64(32)
        waiting.append(np.unique(keys[hashed % np.uint64(share) == 0]))
        if _many(waiting, found):
            found = np.unique(np.concatenate([found, *waiting]))
            waiting.clear()
    found = np.unique(np.concatenate([found, *waiting]))
    return min(share * (len(found) + 2 * int(len(found) ** 0.5)), len(walks.nodes))


def _many(waiting: list[NDArray[np.int64]], found: NDArray[np.int64]) -> bool:
    """Return whether to merge what waits: else all that was found is sorted again and again."""
    return 2 * sum(map(len, waiting)) >= len(found)


def _steps(walks: StoredWalks, parts: int = 1) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of the edges of all steps, of which the smaller end comes first."""
    n_nodes, at_once = len(walks.ids), max(1, _AT_ONCE // parts)
    for first in range(0, max(len(walks.nodes) - 1, 0), at_once):
        nodes = np.asarray(walks.nodes[first : first + at_once + 1], np.int64)
        here, there = nodes[:-1], nodes[1:]
        begins = walks.begins[
            slice(*np.searchsorted(walks.begins, (first + 1, first + len(nodes))))
        ]
        within = np.ones(len(here), bool)
        within[begins - first - 1] = False  # from the end of a walk to the next one
        within &= (here >= 0) & (there >= 0) & (here != there)
        yield np.minimum(here, there)[within] * n_nodes + np.maximum(here, there)[within]


def graph_of_steps(walks: StoredWalks) -> Graph:
    """Return the undirected graph of all steps of some walks; a weight counts how often.

    >>> from ..files.walk_readers import walks_from
    >>> graph_of_steps(walks_from([["a", "b", "a"], ["c"]], None))
    Graph(3 nodes, 1 edge, undirected, weighted, 2 components, 1 isolated, 80 bytes)
    """
    n_nodes = len(walks.ids)
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    some, times = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for steps in _steps(walks):
        for waiting, new in zip((some, times), np.unique(steps, return_counts=True), strict=True):
            waiting.append(new)
        if _many(some, keys):
            keys, counts = _merged([keys, *some], [counts, *times])
            some.clear()
            times.clear()
    keys, counts = _merged([keys, *some], [counts, *times])
    ends = np.column_stack(np.divmod(keys, max(n_nodes, 1))).astype(np.int32)
    return Graph.from_numbered(ends, counts.astype(np.float64), walks.ids)


def _merged(
    keys: list[NDArray[np.int64]], counts: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all keys in order, each with the sum of its counts."""
    every, places = np.unique(np.concatenate(keys), return_inverse=True)
    return every, np.bincount(places, np.concatenate(counts)).astype(np.int64)
