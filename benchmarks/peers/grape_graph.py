"""Convert the arrays of a CSR matrix to a graph of GRAPE (ensmallen)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from ensmallen import Graph


def ensmallen_graph(indptr: np.ndarray, indices: np.ndarray) -> Graph:
    """Return the graph without its isolated nodes, the others numbered in their order."""
    degrees = np.diff(indptr)
    number = np.cumsum(degrees > 0) - 1
    edges = pd.DataFrame({"from": np.repeat(number, degrees), "to": number[indices]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.tsv"
        edges.to_csv(path, sep="\t", header=False, index=False)
        graph = Graph.from_csv(
            name="graph",
            edge_path=str(path),
            edge_list_separator="\t",
            edge_list_header=False,
            sources_column_number=0,
            destinations_column_number=1,
            numeric_node_ids=True,
            edge_list_numeric_node_ids=True,
            number_of_nodes=int(np.count_nonzero(degrees)),
            number_of_edges=len(indices),
            edge_list_is_complete=True,
            edge_list_is_sorted=True,
            edge_list_is_correct=True,
            edge_list_may_contain_duplicates=False,
            directed=False,
            verbose=False,
        )
    assert graph.get_number_of_directed_edges() == len(indices)
    return graph
