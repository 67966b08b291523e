"""Generated graphs for the benchmark of recommended links; each is one that defeats some scorer."""

from __future__ import annotations

import numpy as np
import scipy.spatial

import reinforce2vec as r2v


def _power_law(rng: np.random.Generator, size: int, exponent: float, most: float) -> np.ndarray:
    """Return random shares that sum to 1; none is more than `most` times the mean."""
    shares = rng.random(size) ** (-1 / (exponent - 1))
    shares = np.minimum(shares / shares.mean(), most)
    return shares / shares.sum()


def _drawn_in_groups(
    rng: np.random.Generator, groups: np.ndarray, shares: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """Return for each wanted group one of its members, drawn by their shares."""
    found = np.empty(len(group), np.int64)
    for one in range(groups.max() + 1):
        members, wanted = np.flatnonzero(groups == one), group == one
        weights = shares[members] / shares[members].sum()
        found[wanted] = rng.choice(members, int(wanted.sum()), p=weights)
    return found


def votes(n_nodes: int = 5000, n_votes: int = 80_000, seed: int = 0) -> r2v.Graph:
    """Directed: a third of the nodes gets votes, most by popularity, and many of one's own group.

    Voters rarely get votes, so that few paths of two steps lead from a voter to a candidate.
    """
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 12, n_nodes)
    popular = _power_law(rng, n_nodes, 2.0, 60)
    popular[rng.random(n_nodes) > 1 / 3] = 0
    popular /= popular.sum()
    voters = rng.choice(n_nodes, n_votes, p=_power_law(rng, n_nodes, 2.0, 40))
    chosen = rng.choice(n_nodes, n_votes, p=popular)
    own = rng.random(n_votes) < 0.6
    chosen[own] = _drawn_in_groups(rng, groups, popular, groups[voters[own]])
    ends = np.column_stack([voters, chosen])
    returned = ends[(rng.random(n_votes) < 0.05) & (popular[voters] > 0)][:, ::-1]
    return r2v.Graph.from_edges(
        np.concatenate([ends, returned]), nodes=range(n_nodes), directed=True
    )


def purchases(n_users: int = 3000, n_items: int = 1500, seed: int = 0) -> r2v.Graph:
    """Undirected, bipartite: users, numbered first, buy items of one or two groups they like."""
    rng = np.random.default_rng(seed)
    n_groups, count = 25, 40_000
    groups = rng.integers(0, n_groups, n_items)
    popular = _power_law(rng, n_items, 2.5, 40)
    liked = rng.integers(0, n_groups, (n_users, 2))
    users = rng.choice(n_users, count, p=_power_law(rng, n_users, 2.5, 20))
    items = rng.choice(n_items, count, p=popular)
    own = rng.random(count) < 0.8
    which = (rng.random(count) < 0.3).astype(np.int64)
    items[own] = _drawn_in_groups(rng, groups, popular, liked[users[own], which[own]])
    ends = np.column_stack([users, n_users + items])
    return r2v.Graph.from_edges(ends, nodes=range(n_users + n_items))


def citations(n_nodes: int = 4000, seed: int = 0) -> r2v.Graph:
    """Undirected and sparse: papers cite up to three earlier ones of their topic and their sources.

    About four neighbours a node, and few of them in common.
    """
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 40, n_nodes)
    by_topic: list[list[int]] = [[] for _ in range(40)]  # a paper as often as it is cited, plus one
    cited: list[list[int]] = []
    for paper in range(n_nodes):
        pool = by_topic[topics[paper]] if rng.random() < 0.9 else by_topic[rng.integers(0, 40)]
        found: list[int] = []
        for _ in range(rng.integers(1, 4) if pool else 0):
            one = pool[rng.integers(0, len(pool))]
            if found and cited[found[0]] and rng.random() < 0.4:
                one = cited[found[0]][rng.integers(0, len(cited[found[0]]))]
            if one not in found:
                found.append(one)
        cited.append(found)
        for one in found:
            by_topic[topics[one]].append(one)
        by_topic[topics[paper]].append(paper)
    ends = [(paper, one) for paper, those in enumerate(cited) for one in those]
    return r2v.Graph.from_edges(ends, nodes=range(n_nodes))


def proximity(n_nodes: int = 3000, seed: int = 0) -> r2v.Graph:
    """Undirected: points in a square; 40% of those that are close to each other are linked."""
    rng = np.random.default_rng(seed)
    points = rng.random((n_nodes, 2))
    close = scipy.spatial.cKDTree(points).query_pairs(0.035, output_type="ndarray")
    return r2v.Graph.from_edges(close[rng.random(len(close)) < 0.4], nodes=range(n_nodes))


def communities(n_nodes: int = 3000, seed: int = 0) -> r2v.Graph:
    """Undirected: 60 groups, 30% of the edges between them, degrees by a power law."""
    return r2v.planted_groups(n_nodes, 60, degree=10, mixing=0.3, seed=seed).graph


def grid(height: int = 50, width: int = 60, seed: int = 0) -> r2v.Graph:
    """Undirected: no two neighbours have a common neighbour. The same for every seed."""
    places = np.arange(height * width).reshape(height, width)
    across = np.column_stack([places[:, :-1].ravel(), places[:, 1:].ravel()])
    down = np.column_stack([places[:-1].ravel(), places[1:].ravel()])
    return r2v.Graph.from_edges(np.concatenate([across, down]))


GENERATED = {
    "votes": votes,
    "purchases": purchases,
    "citations": citations,
    "proximity": proximity,
    "communities": communities,
    "grid": grid,
}
