"""A graph as arrays, drawing a neighbour and finding an edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import read_only
from ..._util.compiled import compiled
from ..._util.random import below
from ...graph import Graph
from ...graph.csr import draw_by_weight


class Adjacency(NamedTuple):
    """A graph: the arcs of node v are those at positions indptr[v] to indptr[v + 1] - 1."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]  # by arc: where it leads; ascending within a node's arcs
    weighted: bool
    # empty if the graph is not weighted
    threshold: NDArray[np.float64]  # by arc: the alias tables to draw from a node's arcs
    alias: NDArray[np.int32]
    total: NDArray[np.float64]  # by node: sum of the weights of its arcs
    largest: NDArray[np.float64]  # by node: the largest of them
    weights: NDArray[np.float64]  # by arc


def adjacency_of(graph: Graph) -> Adjacency:
    """Return a graph's arrays."""
    if graph.alias is None:
        none = read_only(np.zeros(0))
        tables = (none, read_only(np.zeros(0, np.int32)), none, none, none)
        return Adjacency(graph.indptr, graph.indices, False, *tables)
    return Adjacency(graph.indptr, graph.indices, True, *map(read_only, graph.alias))


@compiled
def degree_of(graph, node):
    """Return the number of a node's arcs."""
    return graph.indptr[node + 1] - graph.indptr[node]


@compiled
def draw_neighbor(graph, node, bits):
    """Return a neighbour drawn by edge weight from 64 random bits."""
    begin, degree = graph.indptr[node], degree_of(graph, node)
    if graph.weighted:
        arc = draw_by_weight(begin, degree, graph.threshold, graph.alias, bits)
    else:
        arc = begin + below(bits, degree)
    return graph.indices[arc]


@compiled
def find_arc(graph, source, target):
    """Return the position of the arc source -> target, or -1. Binary search."""
    low, end = graph.indptr[source], graph.indptr[source + 1]
    high = end
    while low < high:
        middle = (low + high) // 2
        if graph.indices[middle] < target:
            low = middle + 1
        else:
            high = middle
    if low < end and graph.indices[low] == target:
        return low
    return np.int64(-1)


@compiled
def arc_weight(graph, arc):
    """Return the weight of one arc."""
    return graph.weights[arc] if graph.weighted else 1.0


@compiled
def row_weight(graph, node):
    """Return the sum of the weights of a node's arcs."""
    return graph.total[node] if graph.weighted else np.float64(degree_of(graph, node))


@compiled
def largest_weight(graph, node):
    """Return the largest weight of a node's arcs."""
    return graph.largest[node] if graph.weighted else 1.0


@compiled
def patience(graph, node):
    """Return how many proposals to try before weighing every neighbour: about what that costs."""
    return 8 + degree_of(graph, node) // 8
