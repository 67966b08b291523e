"""Analysing a walk: where its time went, how fast that settled, where it got stuck.

A path is one row of :func:`reinforce2vec.sample_walks`: row numbers X(0), X(1), ..., with -1
after a walk that ended early. Step n is the move to X(n); the start X(0) is step 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice
from .._util.compiled import compiled
from .._util.errors import InputError, short_repr
from .._util.hyperparameters import PARAMETERS
from . import scores as scoring

_DIVERGENCES = ("kl", "js")


def occupation(
    path: Any, n_nodes: int, steps: Sequence[int] | None = None, occupation: str = "graph"
) -> NDArray[np.float64]:
    """Return the share of a walk's time spent at each node: the paper's occupation vector w(n).

    Parameters
    ----------
    path : array of int
        One walk, as row numbers.
    n_nodes : int
        Number of nodes N of the graph.
    steps : sequence of int, optional
        After which steps n to look; by default after the last one only.
    occupation : {"graph", "path"}
        "graph": w_i = (1 + visits at steps 1 to n) / (n + N), so that every node counts once from
        the start and X(0) is not counted. "path": w_i = visits at steps 0 to n / (n + 1).

    Returns
    -------
    float64 array (len(steps), n_nodes)
        One vector for each of the steps; each sums to 1.

    Examples
    --------
    >>> from reinforce2vec import occupation
    >>> occupation([0, 1, 0, 2], n_nodes=4, steps=[0, 3], occupation="path")
    array([[1.  , 0.  , 0.  , 0.  ],
           [0.5 , 0.25, 0.25, 0.  ]])
    >>> occupation([0, 1, 0, 1], n_nodes=5)
    array([[0.25 , 0.375, 0.125, 0.125, 0.125]])
    """
    nodes = _checked_path(path, n_nodes)
    by_path = PARAMETERS["occupation"].check(occupation) == "path"
    wanted = _checked_steps([len(nodes) - 1] if steps is None else steps, len(nodes) - 1)
    begin = 0 if by_path else 1
    # each visit goes to the first wanted step that sees it; later ones see it through the sum
    order = np.argsort(wanted, kind="stable")
    seen_from = np.searchsorted(wanted[order], np.arange(begin, len(nodes)))
    cells = seen_from * n_nodes + nodes[begin:]
    size = len(wanted) * n_nodes
    visits = np.bincount(cells[cells < size], minlength=size).reshape(len(wanted), n_nodes)
    counts = np.empty((len(wanted), n_nodes))
    counts[order] = np.cumsum(visits, axis=0)
    if not by_path:
        counts += 1
    total = wanted + (1 if by_path else n_nodes)
    counts /= total[:, None]
    return counts


def divergences(
    path: Any, n_nodes: int, reward: str = "js", occupation: str = "graph"
) -> NDArray[np.float64]:
    """Return how far each step of a walk moved its occupation vector: D(w(n), w(n+1)).

    A walk has converged where these fall to 0. Each takes O(1) time, by the closed form that
    the walks themselves use.

    Parameters
    ----------
    path : array of int
        One walk, as row numbers.
    n_nodes : int
        Number of nodes of the graph.
    reward : {"js", "kl"}
        Jensen-Shannon or Kullback-Leibler divergence, in nats.
    occupation : {"graph", "path"}
        Which occupation vector, as in :func:`occupation`. With "path", "js" is the square root of
        the divergence (the JS distance), as in :class:`ReinforcedWalk`.

    Returns
    -------
    float64 array (steps,)
        Entry n belongs to the step from X(n) to X(n+1).

    Examples
    --------
    >>> from reinforce2vec import divergences
    >>> divergences([0, 1, 0, 1, 0], n_nodes=3, reward="kl").round(4)
    array([0.0566, 0.0499, 0.0201, 0.019 ])
    """
    nodes = _checked_path(path, n_nodes)
    check_choice("reward", reward, _DIVERGENCES)
    by_path = PARAMETERS["occupation"].check(occupation) == "path"
    n_steps = len(nodes) - 1
    if n_steps == 0:
        return np.empty(0)
    scores = scoring.make_scores(reward, by_path, 1.0, 1.0, np.zeros(n_steps), n_nodes)
    visits = np.zeros(n_nodes, np.int64)
    if by_path:
        visits[nodes[0]] = 1
    moved = np.empty(n_steps)
    _follow(scores, nodes, visits, moved)
    return moved


def stuck_set(
    path: Any, after: int | None = None, last: int = 100
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes among which a walk moves at its end: where it got stuck, if they are few.

    Parameters
    ----------
    path : array of int
        One walk, as row numbers.
    after : int, optional
        The step up to which to look; by default the walk's last.
    last : int, default 100
        How many steps back from there to count.

    Returns
    -------
    nodes : int64 array
        Row numbers of the nodes met in those steps, the most frequent first.
    counts : int64 array
        How often each of them was met.

    Examples
    --------
    >>> from reinforce2vec import stuck_set
    >>> nodes, counts = stuck_set([5, 3, 4, 1, 2, 1, 2, 1], last=5)
    >>> nodes.tolist(), counts.tolist()
    ([1, 2], [3, 2])
    """
    nodes = _checked_path(path, None)
    end = int(_checked_steps([len(nodes) - 1 if after is None else after], len(nodes) - 1)[0])
    if last < 1:
        raise InputError(f"last must be at least 1, not {last!r}")
    met, counts = np.unique(nodes[max(0, end - last + 1) : end + 1], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return met[order], counts[order].astype(np.int64)


@compiled
def _follow(scores, nodes, visits, moved):  # type: ignore[no-untyped-def]
    """Fill `moved` with the divergence of every step; O(1) a step, no memory of its own."""
    for n in range(moved.size):
        following = nodes[n + 1]
        moved[n] = max(0.0, scoring.divergence(scores, n, visits[following]))
        visits[following] += 1


def _checked_path(path: Any, n_nodes: int | None) -> NDArray[np.int64]:
    """Return a path as an array without its padding; InputError if it is not one walk."""
    nodes = np.asarray(path)
    if nodes.ndim == 1 and nodes.dtype.kind in "iu":
        nodes = nodes.astype(np.int64)
        size = int((nodes < 0).argmax()) if nodes.min(initial=0) < 0 else len(nodes)
        nodes, padding = nodes[:size], nodes[size:]
        most = np.inf if n_nodes is None else n_nodes
        if size and (padding == -1).all() and nodes.max() < most:
            return nodes
    below = "" if n_nodes is None else f" below {n_nodes}"
    raise InputError(
        f"a path is one walk: a 1-D array of row numbers{below}, at least one, and then perhaps "
        f"-1, not {short_repr(path)}"
    )


def _checked_steps(steps: Any, last: int) -> NDArray[np.int64]:
    """Return step numbers as an array; InputError if one is no step of the walk."""
    wanted = np.asarray(steps)
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
        raise InputError("steps are integers, given in a list or a 1-D array")
    wanted = wanted.astype(np.int64)
    outside = wanted[(wanted < 0) | (wanted > last)]
    if outside.size:
        raise InputError(f"the walk has the steps 0 to {last}, there is no step {outside[0]}")
    return wanted
