"""Small graphs that many tests walk on, each made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import networkx
import numpy as np

from reinforce2vec import Graph


@cache
def paper_toy() -> Graph:
    """The example of the paper's first figure; node v has row number v - 1."""
    return Graph.from_edges([(1, 3), (1, 5), (2, 4), (3, 4), (4, 5)], nodes=range(1, 6))


@cache
def star() -> Graph:
    return Graph.from_edges([(0, leaf) for leaf in range(1, 8)])


@cache
def clique() -> Graph:
    return Graph.from_any(networkx.complete_graph(6))


@cache
def line() -> Graph:
    return Graph.from_any(networkx.path_graph(6))


@cache
def bipartite() -> Graph:
    return Graph.from_any(networkx.complete_bipartite_graph(3, 4))


@cache
def dead_ends() -> Graph:
    """Directed, with a cycle to stay in, two ways out and a node that nothing points to."""
    edges = [(0, 1), (1, 2), (2, 0), (2, 1), (0, 3), (3, 0), (1, 4), (3, 5), (6, 0), (6, 2)]
    return Graph.from_edges(edges, directed=True)


@cache
def weighted() -> Graph:
    """Weights spread over three orders of magnitude."""
    return _with_weights(networkx.gnm_random_graph(12, 33, seed=5), directed=False)


@cache
def weighted_arcs() -> Graph:
    """Directed and weighted, each direction with a weight of its own; node 12 is a dead end."""
    arcs = networkx.gnm_random_graph(12, 60, seed=5, directed=True)
    arcs.add_edge(3, 12)
    return _with_weights(arcs, directed=True)


@cache
def hub() -> Graph:
    """A hub of degree 60, more than any cap on candidates, whose leaves form a ring."""
    ring = [(leaf, leaf % 60 + 1) for leaf in range(1, 61)]
    return Graph.from_edges([(0, leaf) for leaf in range(1, 61)] + ring)


@cache
def weighted_hub() -> Graph:
    unweighted = networkx.from_edgelist(
        [(0, leaf) for leaf in range(1, 31)] + [(leaf, leaf % 30 + 1) for leaf in range(1, 31)]
    )
    return _with_weights(unweighted, directed=False)


@cache
def large_weighted_hub(directed: bool = False) -> Graph:
    """A hub of degree 80 and a ring of leaves, with weights over nine orders of magnitude."""
    leaves = np.arange(1, 81)
    spokes = np.column_stack([np.zeros_like(leaves), leaves])
    ends = [spokes, np.column_stack([leaves, leaves % 80 + 1])]
    if directed:
        ends.append(spokes[:, ::-1])
    edges = np.concatenate(ends)
    weights = 10.0 ** np.random.default_rng(6).uniform(-4.5, 4.5, len(edges))
    return Graph.from_edges(edges, weights, directed=directed)


@cache
def random_graph() -> Graph:
    """50 nodes with degrees from 1 to about 20, two of them with self-loops."""
    drawn = networkx.barabasi_albert_graph(50, 3, seed=1)
    drawn.add_edges_from([(0, 0), (7, 7)])
    drawn.remove_edges_from(list(drawn.edges(49))[1:])
    return Graph.from_any(drawn, self_loops=True)


N_GROUPS, GROUP = 10, 30  # groups of a planted partition, and nodes of each


def planted_partition(seed: int = 4, directed: bool = False) -> networkx.Graph:
    """Ten groups of 30; a node has about 9 neighbours in its own and 3 in the others."""
    return networkx.planted_partition_graph(
        N_GROUPS, GROUP, 0.3, 0.01, seed=seed, directed=directed
    )


def _with_weights(drawn: networkx.Graph, directed: bool) -> Graph:
    edges = list(drawn.edges)
    weights = 10.0 ** np.random.default_rng(8).uniform(-1.5, 1.5, len(edges))
    return Graph.from_edges(edges, weights, nodes=range(len(drawn)), directed=directed)


TOY_GRAPHS: dict[str, Callable[[], Graph]] = {
    make.__name__: make
    for make in (
        paper_toy,
        star,
        clique,
        line,
        bipartite,
        dead_ends,
        weighted,
        weighted_arcs,
        hub,
        weighted_hub,
        random_graph,
    )
}
