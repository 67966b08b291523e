"""Walks by PecanPy, served one request at a time.

`order` "second" uses SparseOTF with p = 0.5 and q = 2, "first" its FirstOrderUnweighted. PecanPy
compiles its closures again in every call of simulate_walks and then makes lists of strings; here
the closures are made once and only the walking is timed, which favours it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba_progress import ProgressBar
from pecanpy import pecanpy
from serving import load_graph, options, serve

indptr, indices, first_starts = load_graph()
second = options.order == "second"
make = pecanpy.SparseOTF if second else pecanpy.FirstOrderUnweighted
p, q = (0.5, 2.0) if second else (1, 1)
model = make(p=p, q=q, workers=options.threads, verbose=False)
model.indptr = indptr.astype(np.uint32)
model.indices = indices.astype(np.uint32)
model.data = np.ones(len(indices), np.float32)
model.set_node_ids(None, implicit_ids=True, num_nodes=len(indptr) - 1)
model._preprocess_transition_probs()
move_forward, has_neighbors = model.get_move_forward(), model.get_has_nbrs()
starts = np.tile(first_starts.astype(np.uint32), options.walks)


def make_walks(seed: int) -> Callable[[], dict]:
    with ProgressBar(total=len(starts), disable=True) as progress:
        walks = model._random_walks(  # its length counts steps; the last column, nodes
            len(starts), options.length - 1, seed, starts, has_neighbors, move_forward, progress
        )
    return lambda: {"steps": int((walks[:, -1].astype(np.int64) - 1).sum())}


serve(make_walks)
