"""Matching an embedding and a graph: which row of one belongs to which row of the other, by id.

Also whether the vectors were learned from this graph, as far as their file says.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, short_repr
from .._util.ids import NamedRows
from ..graph import Graph
from ..graph.fingerprint import content_digest
from ._exact_search import Places
from .embedding import Embedding, as_numbers


def as_matrix(vectors: Any, graph: Graph | None = None) -> NDArray[Any]:
    """Return vectors as a matrix of float32 or float64; an Embedding's in the graph's order.

    InputError if a number is not finite or the rows do not fit the graph.
    """
    matrix = vectors
    if isinstance(vectors, Embedding):
        matrix = vectors.vectors if graph is None else vectors.vectors[aligned_rows(vectors, graph)]
    if getattr(matrix, "dtype", None) not in (np.float32, np.float64):
        matrix = as_numbers(matrix, np.float64)
    matrix = as_numbers(matrix)
    if 0 in matrix.shape or (graph is not None and len(matrix) != graph.n_nodes):
        wanted = "node" if graph is None else f"of {graph.n_nodes:,} nodes"
        raise InputError(f"expected a vector for each {wanted}, got shape {matrix.shape}")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise InputError(f"vectors must be finite; that of row {bad[0]:,} (from 0) is not")
    return matrix


def aligned_rows(embedding: Embedding, graph: Graph) -> Any:
    """Return rows of the embedding in the order of the graph's nodes; both need the same nodes."""
    if np.array_equal(embedding.ids, graph.ids):
        return slice(None)
    rows = rows_in_embedding(embedding, graph)
    missing = np.flatnonzero(rows < 0)
    if missing.size or len(embedding) != graph.n_nodes:
        detail = "all of them in the embedding"
        if missing.size:
            detail = f"node {short_repr(graph.ids.item(missing[0]))} only in the graph"
        raise InputError(
            f"the embedding has {len(embedding):,} nodes and the graph {graph.n_nodes:,}, "
            f"{detail}: both need the same nodes"
        )
    return rows


def rows_in_embedding(embedding: Embedding, graph: Graph) -> Places:
    """Return the row of each node of the graph in the embedding; -1 for a node without a vector."""
    return _rows_among(embedding, graph)


def rows_in_graph(embedding: Embedding, graph: Graph) -> Places:
    """Return the row of each node of the embedding in the graph; -1 for a node not in the graph."""
    return _rows_among(graph, embedding)


def _rows_among(among: NamedRows, nodes: NamedRows) -> Places:
    """Match nodes by id; InputError if the embedding and the graph have no node in common."""
    each = (among.row(node) if node in among else -1 for node in nodes.ids.tolist())
    rows = np.fromiter(each, np.int64, len(nodes))
    if (rows < 0).all():
        examples = sorted(short_repr(ids.item(0)) for ids in (nodes.ids, among.ids) if len(ids))
        raise InputError(
            f"no node of the embedding is in the graph; ids are such as {' and '.join(examples)}"
        )
    return rows


# -- is it the graph of the vectors? -----------------------------------------------------------


def graph_mismatch(embedding: Embedding, graph: Graph) -> InputError | None:
    """Return what to say if the vectors were learned from another graph, by :attr:`info`.

    None if they were not, or if nothing is known. The message carries the settings that it names,
    so that commands can name their options.
    """
    info = embedding.info
    if "graph" not in info or info["graph"] == content_digest(graph):
        return None
    for setting in ("directed", "weighted"):
        learned, present = info.get(setting), getattr(graph, setting)
        if isinstance(learned, bool) and learned != present:
            before, now = (
                f"a {setting}" if flag else f"an un{setting}" for flag in (learned, present)
            )
            return InputError(
                f"the vectors were learned from {before} graph, but this is {now} one: read it "
                f"with {setting}={learned}",
                settings=[(setting, learned)],
            )
    return InputError(
        "the vectors were learned from another graph: learn vectors from this graph, or pass the "
        "one they were learned from"
    )


def without_info(embedding: Embedding) -> Embedding:
    """Return the same vectors for a graph that was compared with them already: no more warnings."""
    return Embedding(embedding.ids, embedding.vectors, scales=embedding.scales)


def warn_of_mismatch(embedding: Embedding, graph: Graph, stacklevel: int) -> None:
    """Warn if the vectors were learned from another graph."""
    mismatch = graph_mismatch(embedding, graph)
    if mismatch is not None:
        warnings.warn(str(mismatch), stacklevel=stacklevel + 1)
