"""Walks by GRAPE (ensmallen), served one request at a time.

First-order walks, from every node with a neighbour (GRAPE starts none elsewhere). No option of
this version was found to make them faster; the number of threads is rayon's to read.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from serving import load_graph, parse_options, serve

options = parse_options()
os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # read when ensmallen is imported

import numpy as np  # noqa: E402
from ensmallen import Graph  # noqa: E402

indptr, indices, _ = load_graph(options.graph)
degrees = np.diff(indptr)
number = np.cumsum(degrees > 0) - 1  # isolated nodes left out
sources = np.repeat(number, degrees)
n_nodes = int(np.count_nonzero(degrees))

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "edges.tsv"
    np.savetxt(path, np.column_stack([sources, number[indices]]), fmt="%d", delimiter="\t")
    graph = Graph.from_csv(
        name="graph",
        edge_path=str(path),
        edge_list_separator="\t",
        edge_list_header=False,
        sources_column_number=0,
        destinations_column_number=1,
        numeric_node_ids=True,
        edge_list_numeric_node_ids=True,
        number_of_nodes=n_nodes,
        number_of_edges=len(indices),
        edge_list_is_complete=True,
        edge_list_is_sorted=True,
        edge_list_is_correct=True,
        edge_list_may_contain_duplicates=False,
        directed=False,
        verbose=False,
    )
assert graph.get_number_of_directed_edges() == len(indices)


def make_walks(seed: int):
    walks = graph.complete_walks(
        walk_length=options.length, iterations=options.per_node, random_state=seed
    )
    assert walks.shape[1] == options.length
    return lambda: walks.shape[0] * (walks.shape[1] - 1)


serve(make_walks)
