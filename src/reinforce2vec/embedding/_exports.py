"""Converts embeddings to objects of other packages: PyTorch Geometric, networkx, gensim.

These packages are imported only when their objects are created.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.errors import InputError
from ..files.id_texts import ids_as_text
from ..graph import Graph, edges_of

if TYPE_CHECKING:
    from .embedding import Embedding


def _import_package(module: str, purpose: str) -> Any:
    """Return a module of a package that is in none of our extras; InputError if it is missing."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(
            f"{purpose} needs {package}, which is not installed: pip install {package}"
        ) from None


def geometric_data(embedding: Embedding, graph: Any) -> Any:
    """Return a torch_geometric.data.Data with the vectors as node features, in the same order."""
    torch = _import_package("torch", "to_pyg()")
    data = _import_package("torch_geometric.data", "to_pyg()").Data(
        x=torch.from_numpy(embedding.to_numpy()),
        num_nodes=embedding.n_nodes,
        ids=embedding.ids.tolist(),
    )
    if graph is not None:
        graph = Graph.from_any(graph)
        ends, weights = edges_of(graph, both_ways=True)
        index = embedding.rows(graph.ids)[ends.T].astype(np.int64)
        data.edge_index = torch.from_numpy(index)
        if graph.weighted:
            data.edge_weight = torch.from_numpy(weights.astype(np.float32))
    return data


def networkx_graph(embedding: Embedding, graph: Any, name: str) -> Any:
    """Return a networkx graph, perhaps a copy, with the vectors as an attribute of its nodes."""
    networkx = _import_package("networkx", "to_networkx()")
    if graph is None:
        whole = networkx.Graph()
        whole.add_nodes_from(embedding)
    elif isinstance(graph, networkx.Graph):
        whole = graph.copy()
    else:
        graph = Graph.from_any(graph)
        whole = networkx.DiGraph() if graph.directed else networkx.Graph()
        whole.add_nodes_from(graph.ids.tolist())
        ends, weights = edges_of(graph)
        whole.add_edges_from(graph.ids[ends].tolist())
        if graph.weighted:
            pairs = map(tuple, graph.ids[ends].tolist())
            pairs_weights = dict(zip(pairs, weights.tolist(), strict=True))
            networkx.set_edge_attributes(whole, pairs_weights, "weight")
    rows = embedding.rows(whole.nodes)
    vectors = dict(zip(whole.nodes, embedding.vectors[rows], strict=True))
    networkx.set_node_attributes(whole, vectors, name)
    return whole


def keyed_vectors(embedding: Embedding) -> Any:
    """Return gensim's KeyedVectors; ids become text, as in the files that gensim reads."""
    models = _import_package("gensim.models", "to_gensim()")
    keys = ids_as_text(embedding.ids, Path("to_gensim()"))
    vectors = models.KeyedVectors(embedding.dimensions)
    if keys:
        vectors.add_vectors(keys, embedding.vectors)
    return vectors
