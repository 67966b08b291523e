"""The graph that walks went along."""

from __future__ import annotations

import numpy as np

from ..files import StoredWalks
from ..graph import Graph

_AT_ONCE = 1 << 20  # nodes of walks
_STEP_BYTES = 48  # for each of these
_EDGE_BYTES = 64  # for each edge, while edges are collected or become a graph


def bytes_for_steps(walks: StoredWalks) -> int:
    """Estimate the memory of the graph that walks went along, at most."""
    steps = len(walks.nodes)
    edges = min(steps, len(walks.ids) ** 2 // 2)
    return _STEP_BYTES * min(steps, _AT_ONCE) + _EDGE_BYTES * edges


def graph_of_steps(walks: StoredWalks) -> Graph:
    """Return the undirected graph of all steps of some walks; a weight counts how often.

    >>> from ..files.walk_readers import walks_from
    >>> graph_of_steps(walks_from([["a", "b", "a"], ["c"]], None))
    Graph(3 nodes, 1 edge, undirected, weighted, 2 components, 1 isolated, 80 bytes)
    """
    n_nodes = len(walks.ids)
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for first in range(0, max(len(walks.nodes) - 1, 0), _AT_ONCE):
        nodes = np.asarray(walks.nodes[first : first + _AT_ONCE + 1], np.int64)
        here, there = nodes[:-1], nodes[1:]
        begins = walks.begins[
            slice(*np.searchsorted(walks.begins, (first + 1, first + len(nodes))))
        ]
        within = np.ones(len(here), bool)
        within[begins - first - 1] = False  # from the end of a walk to the next one
        within &= (here >= 0) & (there >= 0) & (here != there)
        low, high = np.minimum(here, there)[within], np.maximum(here, there)[within]
        some, times = np.unique(low * n_nodes + high, return_counts=True)
        keys, places = np.unique(np.concatenate([keys, some]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([counts, times])).astype(np.int64)
    ends = np.column_stack(np.divmod(keys, max(n_nodes, 1))).astype(np.int32)
    return Graph.from_numbered(ends, counts.astype(np.float64), walks.ids)
