"""The memory of a graph without its directions, see :meth:`Graph.to_undirected`."""

from __future__ import annotations

from typing import NamedTuple

from .graph import Graph


class _UndirectedBytes(NamedTuple):
    """The memory of a directed graph without its directions."""

    making: int
    kept: int


def bytes_without_directions(graph: Graph) -> _UndirectedBytes:
    """Estimate the memory of :meth:`Graph.to_undirected`, while it is made and afterwards.

    None where it was made before, since the graph keeps it.
    """
    if not graph.directed or "_without_directions" in vars(graph):
        return _UndirectedBytes(0, 0)
    arcs, nodes = len(graph.indices), 16 * graph.n_nodes
    making, kept = (46, 24) if graph.weighted else (36, 8)
    return _UndirectedBytes(making * arcs + nodes, kept * arcs + nodes)
