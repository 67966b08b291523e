"""Graphs that need no file."""

from __future__ import annotations

import numpy as np

from .graph import Graph

# Zachary (1977), members 1 to 34: for each, the friends with a larger number.
_KARATE = {
    1: (2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32),
    2: (3, 4, 8, 14, 18, 20, 22, 31),
    3: (4, 8, 9, 10, 14, 28, 29, 33),
    4: (8, 13, 14),
    5: (7, 11),
    6: (7, 11, 17),
    7: (17,),
    9: (31, 33, 34),
    10: (34,),
    14: (34,),
    15: (33, 34),
    16: (33, 34),
    19: (33, 34),
    20: (34,),
    21: (33, 34),
    23: (33, 34),
    24: (26, 28, 30, 33, 34),
    25: (26, 28, 32),
    26: (32,),
    27: (30, 34),
    28: (34,),
    29: (32, 34),
    30: (33, 34),
    31: (33, 34),
    32: (33, 34),
    33: (34,),
}


def karate_club() -> Graph:
    """Zachary's karate club: 34 members, 78 friendships.

    Examples
    --------
    >>> from reinforce2vec import karate_club
    >>> karate_club().n_edges
    78
    """
    edges = [(member, friend) for member, friends in _KARATE.items() for friend in friends]
    return Graph.from_edges(edges, nodes=range(1, 35))


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    probabilities: tuple[float, float, float] = (0.57, 0.19, 0.19),
    directed: bool = False,
    seed: int = 0,
) -> Graph:
    """A random graph with the skewed degrees of real networks (R-MAT, as in Graph500).

    Parameters
    ----------
    scale : int
        The graph has 2**scale nodes, some of them isolated.
    edge_factor : int, default 16
        Edges drawn for each node; parallel ones are merged and self-loops dropped.
    probabilities : three floats
        Chances that an edge falls in the upper left, upper right and lower left quarter of the
        adjacency matrix, at every level of its recursive division.
    directed : bool, default False
        Whether edges have a direction.
    seed : int, default 0
        One seed, one graph.

    Examples
    --------
    >>> from reinforce2vec import rmat
    >>> rmat(10, seed=1).n_nodes
    1024
    """
    rng = np.random.default_rng(seed)
    n = 1 << scale
    upper_left, upper_right, lower_left = np.cumsum(probabilities)
    ends = np.zeros((n * edge_factor, 2), np.int32)
    for _ in range(scale):
        quarter = rng.random(len(ends), np.float32)
        ends *= 2
        ends[:, 0] += quarter >= upper_right
        ends[:, 1] += ((quarter >= upper_left) & (quarter < upper_right)) | (quarter >= lower_left)
    ends = rng.permutation(n).astype(np.int32)[ends]  # so that numbers say nothing about degrees
    return Graph.from_numbered(ends, None, np.arange(n, dtype=np.int64), directed=directed)
