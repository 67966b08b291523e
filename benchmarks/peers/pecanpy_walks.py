"""Walks by PecanPy, served one request at a time.

`--order second` uses SparseOTF, `--order first` its FirstOrderUnweighted. PecanPy compiles its
closures again in every call of simulate_walks and then makes lists of strings; here the closures
are made once and only the walking is timed, which favours it.
"""

from __future__ import annotations

import os

from serving import load_graph, parse_options, serve

options = parse_options()
os.environ["NUMBA_NUM_THREADS"] = str(options.threads)  # its `workers` does not reach the walks

import numpy as np  # noqa: E402
from numba_progress import ProgressBar  # noqa: E402
from pecanpy import pecanpy  # noqa: E402

indptr, indices, first_starts = load_graph(options.graph)
if options.order == "second":
    model = pecanpy.SparseOTF(p=options.p, q=options.q, workers=options.threads, verbose=False)
else:
    model = pecanpy.FirstOrderUnweighted(p=1, q=1, workers=options.threads, verbose=False)
model.indptr = indptr.astype(np.uint32)
model.indices = indices.astype(np.uint32)
model.data = np.ones(len(indices), np.float32)
model.set_node_ids(None, implicit_ids=True, num_nodes=len(indptr) - 1)
model._preprocess_transition_probs()
move_forward, has_neighbors = model.get_move_forward(), model.get_has_nbrs()
starts = np.tile(first_starts.astype(np.uint32), options.per_node)


def make_walks(seed: int):
    with ProgressBar(total=len(starts), disable=True) as progress:
        walks = model._random_walks(  # its length counts steps; the last column, nodes
            len(starts), options.length - 1, seed, starts, has_neighbors, move_forward, progress
        )
    return lambda: int((walks[:, -1].astype(np.int64) - 1).sum())


serve(make_walks)
