"""Long walks: how their occupation vectors converge, and among how many nodes they end."""

from __future__ import annotations

import numpy as np

from ..graph import Graph
from ..walks import divergences, occupation, sample_walks, stuck_set
from ..walks.policy import Walk
from .cells import CellScores

_N_WALKS = 20  # from different nodes; results are medians over them
_LAST_STEPS = 100  # steps over which nodes are counted
_POINTS = 60  # steps at which the walk is inspected
_FEW_NODES = 10  # up to so many nodes, whole occupation vectors are kept
_DEGREE = 20  # least degree of starts, so that walks do not start in a dead end


def look_at_paths(graph: Graph, walk: Walk, steps: int, seed: int) -> CellScores:
    """Sample long walks from random nodes, and return what happened to them.

    Returns
    -------
    dict
        "looked": steps at which nodes were counted; "frequencies": for each of them, how often
        each node was visited in the last hundred steps of the first walk, the most frequent first;
        "nodes": the number of distinct nodes, for each walk; "steps": inspected steps; "moved":
        at these, the median JS distance between w(n) and w(n+1), over the path; "occupation": at
        these, w(n) of the first walk, on graphs of up to ten nodes, where it starts at node 0.
    """
    rng = np.random.default_rng(seed)
    central = np.flatnonzero(graph.degrees >= min(_DEGREE, np.median(graph.degrees)))
    rows = rng.choice(central, _N_WALKS, replace=central.size < _N_WALKS)
    if graph.n_nodes <= _FEW_NODES:
        rows[0] = 0
    starts = graph.ids[rows].tolist()
    walks = sample_walks(
        graph, walk, length=steps + 1, per_node=1, seed=seed, starts=starts, workers=1
    )
    looked = sorted({max(1, steps // 100), max(1, steps // 10), steps})
    ends = {step: [stuck_set(path, step, _LAST_STEPS)[1] for path in walks] for step in looked}
    places = np.unique(np.geomspace(1, steps - 1, _POINTS).astype(np.int64))
    places = np.union1d(places, [10**power for power in range(1, len(str(steps - 1)))])
    moved = np.stack([divergences(path, graph.n_nodes, "js", "path")[places] for path in walks])
    found: CellScores = {
        "looked": looked,
        "frequencies": [ends[step][0].tolist() for step in looked],
        "nodes": [[len(counts) for counts in ends[step]] for step in looked],
        "steps": places.tolist(),
        "moved": np.median(moved, axis=0).tolist(),
    }
    if graph.n_nodes <= _FEW_NODES:
        found["occupation"] = occupation(walks[0], graph.n_nodes, places.tolist()).tolist()
    return found
