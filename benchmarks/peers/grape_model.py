"""GRAPE: graphs of ensmallen, and DeepWalk with skip-gram of embiggen.

The meaning of its parameters, from its source and confirmed by its times: `iterations` walks start
at every node in each of `epochs`; the window is never shrunk; and the negatives are drawn once per
centre, not per context, so that at the same window and negatives it updates about 22 rows per token
where word2vec updates about 59.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from embiggen.embedders.ensmallen_embedders.deepwalk_skipgram import DeepWalkSkipGramEnsmallen
from ensmallen import Graph


def read_edges(path: str, separator: str, **facts: object) -> Graph:
    """Read a file with two columns of node numbers."""
    return Graph.from_csv(
        name="graph",
        edge_path=path,
        edge_list_separator=separator,
        edge_list_header=False,
        sources_column_number=0,
        destinations_column_number=1,
        directed=False,
        verbose=False,
        **facts,
    )


def graph_of(indptr: np.ndarray, indices: np.ndarray) -> Graph:
    """Return the graph of a CSR matrix without isolated nodes, the others in their order."""
    degrees = np.diff(indptr)
    number = np.cumsum(degrees > 0) - 1
    edges = pd.DataFrame({"from": np.repeat(number, degrees), "to": number[indices]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.tsv"
        edges.to_csv(path, sep="\t", header=False, index=False)
        graph = read_edges(
            str(path),
            "\t",
            numeric_node_ids=True,
            edge_list_numeric_node_ids=True,
            number_of_nodes=int(np.count_nonzero(degrees)),
            number_of_edges=len(indices),
            edge_list_is_complete=True,
            edge_list_is_sorted=True,
            edge_list_is_correct=True,
            edge_list_may_contain_duplicates=False,
        )
    assert graph.get_number_of_directed_edges() == len(indices)
    return graph


def deepwalk(graph: Graph, options: SimpleNamespace, dimensions: int, seed: int) -> np.ndarray:
    """Return vectors of the graph's nodes, by `walks` walks of `length` nodes from each."""
    model = DeepWalkSkipGramEnsmallen(
        embedding_size=dimensions,
        epochs=1,
        walk_length=options.length,
        iterations=options.walks,
        window_size=options.window,
        number_of_negative_samples=options.negatives,
        learning_rate=0.025,
        max_neighbours=graph.get_number_of_nodes(),  # all of them: exact walks
        random_state=seed,
        verbose=False,
    )
    central, *_ = model.fit_transform(graph, return_dataframe=False).get_all_node_embedding()
    return central
