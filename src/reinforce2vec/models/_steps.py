"""The graph that walks went along."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..files import StoredWalks
from ..graph import Graph

_AT_ONCE = 1 << 20  # nodes of walks
_STEP_BYTES = 34  # for each of these, while the edges of some steps are found
_KEPT_EDGE_BYTES = 24  # for each edge of the graph
_SHARE = 64  # one of so many possible edges is counted for an estimate
_MIX = np.uint64(0x9E3779B97F4A7C15)  # spreads the numbers of edges evenly


_Keys = NDArray[np.int64]  # numbers of edges


def bytes_for_steps(walks: StoredWalks, edges: int) -> tuple[int, int]:
    """Estimate the memory of the graph of so many edges, while it is made and afterwards."""
    nodes, steps = 16 * len(walks.ids), min(len(walks.nodes), _AT_ONCE)
    finding = _STEP_BYTES * steps
    if len(walks.nodes) > _AT_ONCE:  # steps of before, and the edges so far, are still there
        finding += 4 * steps + 80 * edges
    # fitted to peaks; of R-MAT walks with 0.87 edges a step, some steps have 0.47 new edges each
    merging = 18 * steps + 90 * edges + 48 * min(edges, steps // 2)
    return nodes + max(finding, merging), nodes + _KEPT_EDGE_BYTES * edges


def likely_edges(walks: StoredWalks) -> int:
    """Estimate how many different edges some walks went along: exact if they are short.

    Of all possible edges, those with one of _SHARE values of a hash are counted.
    """
    share = _SHARE if len(walks.nodes) > _AT_ONCE else 1
    sample = len(_counted(_steps(walks, parts=4), share)[0])
    return min(share * (sample + 2 * int(sample**0.5)), len(walks.nodes))


def _counted(steps: Iterator[_Keys], share: int = 1) -> tuple[_Keys, _Keys]:
    """Return the edges of all steps, or those of a share of the hashes, and how often they come."""
    edges = np.empty(0, np.int64), np.empty(0, np.int64)
    waiting = list[tuple[_Keys, _Keys]]()
    for keys in steps:
        if share > 1:
            hashed = keys.astype(np.uint64) * _MIX >> np.uint64(32)
            keys = keys[hashed % np.uint64(share) == 0]
        waiting.append(np.unique(keys, return_counts=True))
        # not sooner, else all edges are sorted again and again
        if 2 * sum(len(some) for some, _ in waiting) >= len(edges[0]):
            edges = _merged([edges, *waiting])
            waiting.clear()
    return _merged([edges, *waiting])


def _merged(parts: list[tuple[_Keys, _Keys]]) -> tuple[_Keys, _Keys]:
    """Return all keys in order, each with the sum of its counts."""
    keys, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    every, places = np.unique(keys, return_inverse=True)
    return every, np.bincount(places, counts, len(every)).astype(np.int64)


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
    keys, counts = _counted(_steps(walks))
    ends = np.column_stack(np.divmod(keys, max(len(walks.ids), 1))).astype(np.int32)
    return Graph.from_numbered(ends, counts.astype(np.float64), walks.ids)
