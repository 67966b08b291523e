"""The walks' equations, taken literally: slow, in whole vectors, without closed forms.

The fast samplers are held against this page. It shares no code with them: occupation vectors are
built entry by entry, their divergences come from scipy, and the candidates' share of the released
reading is its expectation. Notation: the path is X(0), ..., X(n); N nodes; u = X(0).
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.special import softmax
from scipy.stats import entropy

from reinforce2vec import FirstOrderWalk, SecondOrderWalk

OUT_OF_REACH = -1e9  # a score so low that its softmax is 0
TIE = 1e-12  # rewards nearer than this are equal: equal ones differ by rounding alone


def next_probabilities(graph, walk, paths, length):
    """P(X(n+1) = x) for every node x, after each of the paths X(0), ..., X(n).

    Parameters
    ----------
    graph, walk
        Where and how to walk.
    paths : int array (paths, n + 1)
        Row numbers of the nodes, a path in each row.
    length : int
        Nodes in a whole walk: annealing depends on it.

    Returns
    -------
    float array (paths, N)
        A row of zeros after a path that ends in a dead end.
    """
    adjacency = graph.to_scipy().toarray().astype(float)
    edges = adjacency[paths[:, -1]]
    if isinstance(walk, FirstOrderWalk):
        return normalised(edges)
    if isinstance(walk, SecondOrderWalk):
        return normalised(edges * second_order_bias(walk, adjacency, paths))
    weight = exploration_weight(walk, paths.shape[1] - 1, length)
    if walk.exploration == "ucb":
        scores = ucb_scores(walk, edges, paths, weight) / walk.temperature
        weights = edges * softmax(np.where(edges > 0, scores, OUT_OF_REACH), axis=1)
        weights *= attraction(walk, edges, paths)
        return normalised(weights * share_of_candidates(walk, edges, paths))
    return weight * normalised(edges) + (1 - weight) * exploit(walk, edges, paths)


def normalised(weights):
    """Each row over its sum; a row of zeros stays one."""
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, where=total > 0, out=np.zeros_like(weights))


def second_order_bias(walk, adjacency, paths):
    """node2vec: coming from t, 1/p for t itself, 1 where t has an edge to x, else 1/q."""
    if paths.shape[1] == 1:
        return 1.0
    before = paths[:, -2]
    bias = np.where(adjacency[before] > 0, 1.0, 1 / walk.q)
    bias[np.arange(len(paths)), before] = 1 / walk.p
    return bias


# -- reinforced walks ----------------------------------------------------------------------------


def exploration_weight(walk, n, length):
    """ε or α at decision n of the length - 1 decisions of a walk."""
    if walk.exploration == "none":
        return 0.0
    default = 0.5 if walk.exploration == "epsilon" else 1.0
    first = default if walk.weight is None else walk.weight
    done = n / max(length - 2, 1)
    return first * {"constant": 1.0, "linear": 1 - done, "exponential": 0.01**done}[walk.annealing]


def visits(walk, paths, n_nodes):
    """How often each node stands in what a walk remembers: on the graph X(0) does not count."""
    return times_in(paths if walk.occupation == "path" else paths[:, 1:], n_nodes)


def times_in(paths, n_nodes):
    """How often each node stands in each path."""
    cells = paths + n_nodes * np.arange(len(paths))[:, None]
    counts = np.bincount(cells.ravel(), minlength=n_nodes * len(paths))
    return counts.reshape(len(paths), n_nodes)


def occupation(walk, counts):
    """The occupation vector that belongs to these visits."""
    local_time = counts if walk.occupation == "path" else 1 + counts
    return local_time / local_time.sum(axis=1, keepdims=True)


def rewards(walk, edges, paths):
    """Q of every neighbour; what stands at other nodes means nothing."""
    c = visits(walk, paths, edges.shape[1])
    row, x = np.nonzero(edges)
    if walk.reward == "vertex" or row.size == 0:
        return 1.0 + c
    Q = np.zeros_like(edges)
    moved = c[row]
    moved[np.arange(len(row)), x] += 1
    w, w_x = occupation(walk, c[row]), occupation(walk, moved)
    if walk.reward == "kl":
        Q[row, x] = 1 - entropy(w, w_x, axis=1)
    else:
        distance = jensenshannon(w, w_x, axis=1)
        Q[row, x] = 1 - (distance if walk.occupation == "path" else distance**2)
    return Q


def ucb_scores(walk, edges, paths, alpha):
    """s = Q + α U of every neighbour."""
    Q = rewards(walk, edges, paths)
    if walk.reward == "vertex" and walk.occupation == "path":
        return Q + alpha * 0.9**Q
    local_time = 1 + visits(walk, paths, edges.shape[1])
    of_start = np.take_along_axis(local_time, paths[:, :1], axis=1)
    return Q + alpha * np.sqrt(np.log(of_start) / local_time)


def attraction(walk, edges, paths):
    """What the weight of a visited node is multiplied by."""
    return np.where(visits(walk, paths, edges.shape[1]) > 0, walk.attraction, 1.0)


def share_of_candidates(walk, edges, paths):
    """In what share of draws a neighbour is weighed: a visited one always."""
    shares = np.ones_like(edges)
    if walk.candidates is None:
        return shares
    unvisited = (edges > 0) & (visits(walk, paths, edges.shape[1]) == 0)
    many = np.count_nonzero(edges, axis=1) > walk.candidates
    number = np.count_nonzero(unvisited, axis=1)
    weighed = np.minimum(np.where(many, walk.candidates, 1), number)
    shares *= np.where(unvisited, (weighed / np.maximum(number, 1))[:, None], 1.0)
    return shares


def exploit(walk, edges, paths):
    """Where the walk goes when it does not explore."""
    Q = rewards(walk, edges, paths)
    if walk.reward == "vertex" and walk.occupation == "graph":
        weights = edges * Q * attraction(walk, edges, paths)
        return normalised(weights * share_of_candidates(walk, edges, paths))
    Q = np.where(edges > 0, Q, OUT_OF_REACH)
    best = Q.max(axis=1, keepdims=True) - Q <= TIE
    if walk.occupation == "path":  # an unvisited one before a visited one
        unvisited = best & (visits(walk, paths, edges.shape[1]) == 0)
        best = np.where(unvisited.any(axis=1, keepdims=True), unvisited, best)
    return normalised(edges * best)
