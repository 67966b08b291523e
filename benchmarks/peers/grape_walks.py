"""Walks by GRAPE (ensmallen), served one request at a time.

First-order walks, from every node with a neighbour (GRAPE starts none elsewhere). We found no
option of this version that makes them faster; rayon reads the number of threads from its variable.
"""

from __future__ import annotations

import os

from serving import load_graph, parse_options, serve

options = parse_options()
os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # read when ensmallen is imported

from grape_graph import ensmallen_graph  # noqa: E402

indptr, indices, _ = load_graph(options.graph)
graph = ensmallen_graph(indptr, indices)


def make_walks(seed: int):
    walks = graph.complete_walks(
        walk_length=options.length, iterations=options.per_node, random_state=seed
    )
    assert walks.shape[1] == options.length
    return lambda: walks.shape[0] * (walks.shape[1] - 1)


serve(make_walks)
