"""Generators of graphs: a small real one, and random ones of any size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_count, check_number
from .._util.errors import InputError
from .dataset import Dataset
from .graph import Graph

# Zachary (1977): each member, and the friends with a larger number.
_KARATE = (
    "1 2 3 4 5 6 7 8 9 11 12 13 14 18 20 22 32; 2 3 4 8 14 18 20 22 31; "
    "3 4 8 9 10 14 28 29 33; 4 8 13 14; 5 7 11; 6 7 11 17; 7 17; 9 31 33 34; 10 34; 14 34; "
    "15 33 34; 16 33 34; 19 33 34; 20 34; 21 33 34; 23 33 34; 24 26 28 30 33 34; 25 26 28 32; "
    "26 32; 27 30 34; 28 34; 29 32 34; 30 33 34; 31 33 34; 32 33 34; 33 34"
)


def karate_club() -> Graph:
    """Return Zachary's karate club: 34 members, 78 friendships.

    Node ids are the members' numbers, 1 to 34.

    Returns
    -------
    Graph

    Examples
    --------
    >>> from reinforce2vec import karate_club
    >>> karate_club().n_edges
    78
    """
    rows = [[int(member) for member in row.split()] for row in _KARATE.split(";")]
    edges = [(member, friend) for member, *friends in rows for friend in friends]
    return Graph.from_edges(edges, nodes=range(1, 35))


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    probabilities: tuple[float, float, float] = (0.57, 0.19, 0.19),
    directed: bool = False,
    seed: int = 0,
) -> Graph:
    """Return a random graph with the skewed degrees of real networks (R-MAT, as in Graph500).

    Parameters
    ----------
    scale : int
        The graph has 2**scale nodes, some of them isolated.
    edge_factor : int, default 16
        Number of edges drawn per node; parallel edges are merged and self-loops dropped.
    probabilities : three floats
        Probabilities that an edge falls into the upper left, upper right and lower left quarter of
        the adjacency matrix, at every level of its recursive division.
    directed : bool, default False
        Whether edges have a direction.
    seed : int, default 0
        Seed of the random numbers: one seed, one graph.

    Returns
    -------
    Graph

    Examples
    --------
    >>> from reinforce2vec import rmat
    >>> rmat(10, seed=1).n_nodes
    1024
    """
    rng = np.random.default_rng(check_count("seed", seed, 0))
    n = 1 << check_count("scale", scale, 0, 30)
    check_count("edge_factor", edge_factor, 0)
    upper_left, upper_right, lower_left = np.cumsum(probabilities)
    ends = np.zeros((n * edge_factor, 2), np.int32)
    for _ in range(scale):
        quarter = rng.random(len(ends), np.float32)
        ends *= 2
        ends[:, 0] += quarter >= upper_right
        ends[:, 1] += ((quarter >= upper_left) & (quarter < upper_right)) | (quarter >= lower_left)
    ends = rng.permutation(n).astype(np.int32)[ends]  # so that numbers do not reveal degrees
    return Graph.from_numbered(ends, None, np.arange(n, dtype=np.int64), directed=directed)


def planted_groups(
    n_nodes: int = 1000,
    n_groups: int = 5,
    *,
    degree: float = 20.0,
    mixing: float = 0.2,
    exponent: float = 2.5,
    seed: int = 0,
) -> Dataset:
    """Return a random graph with known communities, and the group of each node as labels.

    The degree-corrected stochastic block model: the popularities of nodes follow a power law, and
    an edge joins two nodes with a probability proportional to the product of their popularities.
    There are no self-loops and no parallel edges; nodes of low popularity may have no edge.

    Parameters
    ----------
    n_nodes : int, default 1000
        Number of nodes. Their ids are 0, 1, ..., in an order that does not depend on the groups.
    n_groups : int, default 5
        Number of groups, of equal size as far as possible.
    degree : float, default 20
        Mean number of neighbours of a node.
    mixing : float, default 0.2
        Share of the edges that join different groups; with 1 - 1 / n_groups edges do not depend on
        the groups.
    exponent : float, default 2.5
        Exponent of the power law of degrees, above 2: the smaller it is, the larger the share of
        edges that a few nodes have. No node is linked to all of its group.
    seed : int, default 0
        Seed of the random numbers: one seed, one graph.

    Returns
    -------
    Dataset
        The graph; `labels` have one column for each group.

    Examples
    --------
    >>> from reinforce2vec import planted_groups
    >>> planted_groups(500, 4, seed=1)
    Dataset('planted groups', 500 nodes, 5,000 edges, 4 classes)
    """
    check_count("n_groups", n_groups, 1)
    check_count("n_nodes", n_nodes, 2 * n_groups)
    check_number("degree", degree, above=0)
    check_number("mixing", mixing, least=0, most=1)
    check_number("exponent", exponent, above=2)
    rng = np.random.default_rng(check_count("seed", seed, 0))
    group = np.arange(n_nodes) * n_groups // n_nodes
    popularity = _popularities(rng, group, exponent, max(1, n_nodes / n_groups / 2 / degree))
    wanted = round(n_nodes * degree / 2)
    leaving = round(wanted * mixing)
    inner = _distinct_edges(rng, popularity, group, wanted - leaving, within=True)
    outer = _distinct_edges(rng, popularity, group, leaving, within=False)
    number = rng.permutation(n_nodes).astype(np.int32)
    labels = np.zeros((n_nodes, n_groups), np.bool_)
    labels[number, group] = True
    ends = number[np.concatenate([inner, outer])]
    graph = Graph.from_numbered(ends, None, np.arange(n_nodes, dtype=np.int64))
    return Dataset("planted groups", graph, labels)


def _popularities(
    rng: np.random.Generator, group: NDArray[np.int64], exponent: float, most: float
) -> NDArray[np.float64]:
    """Draw the share of its group's edges that each node has."""
    popularity = rng.random(len(group)) ** (-1 / (exponent - 1))
    popularity /= popularity.mean()
    np.minimum(popularity, most, out=popularity)
    return popularity / np.bincount(group, popularity)[group]


def _distinct_edges(
    rng: np.random.Generator,
    popularity: NDArray[np.float64],
    group: NDArray[np.int64],
    wanted: int,
    within: bool,
) -> NDArray[np.int64]:
    """Draw distinct edges within groups, or between them, by the popularity of their ends."""
    n_nodes, n_groups = len(group), int(group[-1]) + 1
    inner = int(sum(size * (size - 1) // 2 for size in np.bincount(group).tolist()))
    pairs = inner if within else n_nodes * (n_nodes - 1) // 2 - inner
    if wanted > pairs / 2:
        raise InputError(
            f"{wanted:,} edges {'within' if within else 'between'} groups are too many for "
            f"{pairs:,} pairs of nodes: at most half of the pairs can be linked; choose a "
            "smaller degree, or larger groups"
        )
    reach = np.cumsum(popularity)  # the nodes of group g lie between g and g + 1
    edges = np.empty(0, np.int64)  # smaller end * n_nodes + larger end, in the order drawn
    while len(edges) < wanted:
        missing = wanted - len(edges)
        count = missing + missing // 4 + 16  # some will be duplicates
        first = np.searchsorted(reach, rng.random(count) * n_groups).clip(max=n_nodes - 1)
        if within:
            point = group[first] + rng.random(count)
        else:
            point = rng.random(count) * (n_groups - 1)
            point += point >= group[first]
        second = np.searchsorted(reach, point).clip(max=n_nodes - 1)
        fitting = (first != second) & ((group[first] == group[second]) == within)
        first, second = first[fitting], second[fitting]
        drawn = np.minimum(first, second) * n_nodes + np.maximum(first, second)
        edges = np.concatenate([edges, drawn])
        edges = edges[np.sort(np.unique(edges, return_index=True)[1])[:wanted]]
    return np.column_stack(np.divmod(edges, n_nodes))
