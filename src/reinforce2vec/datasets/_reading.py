"""Reads graphs and labels from the published files of data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .._util.errors import InputError
from ..files.matrix_files import matrix_entries, read_matlab
from ..files.opening import expecting, opened
from ..graph import Graph, induced_graph, read_graph
from ..graph.dataset import Labels

# -- graphs ------------------------------------------------------------------------------------


def whole_graph(path: Path) -> Graph:
    """Read an edge list, nodes in the order of their ids."""
    graph = _read_edge_list(path)
    return _subgraph(graph, np.arange(graph.n_nodes))


def largest_component(path: Path) -> Graph:
    """Read the largest connected component of an edge list."""
    graph = _read_edge_list(path)
    component = connected_components(graph.to_scipy(), directed=False)[1]
    return _subgraph(
        graph, np.flatnonzero(component == np.bincount(component, minlength=1).argmax())
    )


def matrix_network(path: Path) -> Graph:
    """Read the matrix `network` (nodes x nodes) of a MATLAB file."""
    return read_graph(path, format="mat", directed=False, weighted=False)


def _read_edge_list(path: Path) -> Graph:
    """Read an edge list with integer ids; self-loops are kept, since they name nodes too."""
    format = "txt.gz" if path.suffix == ".gz" else "txt"
    graph = read_graph(path, format=format, weighted=False, self_loops=True)
    if graph.n_nodes and graph.ids.dtype != np.int64:
        raise InputError(f"{path}: expected integers as node ids, found {graph.ids[0]!r}")
    return graph


def _subgraph(graph: Graph, rows: NDArray[Any]) -> Graph:
    """Return the subgraph of some nodes, in ascending order of their ids, without self-loops."""
    return induced_graph(graph, rows[np.argsort(graph.ids[rows])])


# -- labels ------------------------------------------------------------------------------------


def matrix_groups(path: Path, graph: Graph) -> Labels:
    """Read the matrix `group` (nodes x classes) of a MATLAB file."""
    with opened(path, False) as stream, expecting("labels", str(path)):
        held = read_matlab(stream, "group")
        entries = matrix_entries(held)
        labels: Labels = np.zeros(held.shape, np.bool_)
        labels[entries.rows, entries.columns] = entries.values > 0
    return labels


def lines_of_classes(path: Path, graph: Graph) -> Labels:
    """Read text with a line for each class, which lists the nodes in it."""
    with opened(path, path.suffix == ".gz") as stream:
        lines = stream.read().splitlines()
    labels = np.zeros((graph.n_nodes, len(lines)), np.bool_)
    for number, line in enumerate(lines):
        try:
            labels[graph.rows([int(word) for word in line.split()]), number] = True
        except (InputError, ValueError) as error:
            raise InputError(f"{path}: line {number + 1:,}: {error}") from None
    return labels
