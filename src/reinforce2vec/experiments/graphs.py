"""The graphs of the experiments: the paper's data sets, and one of the user's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple

import numpy as np

from .._util.errors import InputError
from .._util.temporary import temporary_folder
from ..evaluation.labels import as_indicators
from ..files.id_texts import ids_as_arrays, ids_from_arrays
from ..graph import Dataset, Graph
from ..graph.fingerprint import fingerprint

_USUAL = (0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9)
# Training fractions of the labelled nodes; the first is that of the paper's tables.
_FRACTIONS: dict[str, tuple[float, ...]] = {
    "blogcatalog": _USUAL,
    "ppi": _USUAL,
    "dblp": (0.05, 0.01, 0.02, 0.03, 0.04, 0.06, 0.07, 0.08, 0.09),
}
LINK_GRAPHS = ("facebook", "ca-astroph")
CLASSIFICATION_GRAPHS = tuple(_FRACTIONS)
TITLES = {
    "facebook": "Facebook",
    "ca-astroph": "ca-AstroPh",
    "blogcatalog": "BlogCatalog",
    "ppi": "PPI",
    "dblp": "DBLP",
}


class GraphSize(NamedTuple):
    """How large a graph is, for estimates of time."""

    nodes: int
    edges: int
    classes: int = 0


SIZES = {
    "facebook": GraphSize(4_039, 88_234),
    "ca-astroph": GraphSize(17_903, 196_972),
    "blogcatalog": GraphSize(10_312, 333_983, 39),
    "ppi": GraphSize(3_890, 37_845, 50),
    "dblp": GraphSize(51_264, 127_968, 60),
}


@dataclass(frozen=True)
class OwnGraph:
    """A graph of the user's, another column of the tables; plain data, which can be sent.

    Parameters
    ----------
    name : str
        In file names; it ends with the beginning of the fingerprint.
    title : str
        In tables and pictures.
    file : str
        Where worker processes read it from, while the experiments run.
    fingerprint : str
        A digest of the graph and its labels.
    nodes, edges, classes : int
        Its size; without classes there is no node classification.
    """

    name: str
    title: str
    file: str
    fingerprint: str
    nodes: int
    edges: int
    classes: int = 0

    def read(self) -> Dataset:
        """Return the graph and its labels."""
        with np.load(self.file, allow_pickle=False) as held:
            ids = ids_from_arrays(held["ids"], held["begins"]) if "begins" in held else held["ids"]
            weights, labels = held.get("weights"), held.get("labels")
            directed = bool(held["directed"])
            graph = Graph(held["indptr"], held["indices"], weights, ids, directed)
        return Dataset(self.title, graph, labels)

    @property
    def size(self) -> GraphSize:
        """How large it is."""
        return GraphSize(self.nodes, self.edges, self.classes)


@contextmanager
def own_graph(graph: Any, labels: Any = None, title: str = "your graph") -> Iterator[OwnGraph]:
    """Keep a graph, and labels of its nodes, in a file for worker processes within the block.

    Parameters
    ----------
    graph : Graph
        Anything else that :meth:`Graph.from_any` takes is converted.
    labels : optional
        As for :func:`evaluate_node_classification`; a dict {node: class} is matched by ids.
    title : str
        In tables and pictures.
    """
    whole = graph if isinstance(graph, Graph) else Graph.from_any(graph)
    if labels is None:
        matrix, classes = None, 0
        told = fingerprint(whole)
    else:
        matrix = as_indicators(labels, whole.n_nodes, whole)
        if not matrix.any():
            raise InputError("labels: no node of the graph has a label")
        classes = matrix.shape[1]
        told = fingerprint(whole, matrix)
    slug = re.sub(r"[^a-z0-9.]+", "-", title.lower()).strip("-.") or "graph"
    with temporary_folder(gettempdir(), ".reinforce2vec.graph-") as folder:
        file = Path(folder, "graph.npz")
        np.savez(file, **_arrays_of(whole, matrix))
        size = (whole.n_nodes, whole.n_edges, classes)
        yield OwnGraph(f"own-{slug}-{told[:8]}", title, str(file), told, *size)


def _arrays_of(graph: Graph, labels: Any) -> dict[str, Any]:
    """Return a graph and its labels as arrays for a file, in which nothing is pickled."""
    try:
        ids = ids_as_arrays(graph.ids, Path("graph.npz"))
    except InputError:  # neither integers nor texts: the scores do not depend on them
        ids = {"ids": np.arange(graph.n_nodes)}
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "directed": graph.directed, **ids}
    more = {"weights": graph.weights, "labels": labels}
    return arrays | {name: array for name, array in more.items() if array is not None}


def fractions_of(graph: str) -> tuple[float, ...]:
    """Return training fractions of a graph; the first is that of the paper's tables."""
    return _FRACTIONS.get(graph, _USUAL)


def table_fractions(graph: str) -> tuple[float, ...]:
    """Return the three of them in our tables, the first that of the paper's: 50%, 10% and 90%."""
    fractions = fractions_of(graph)
    return fractions[0], min(fractions), max(fractions)
