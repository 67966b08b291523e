"""Dataset: a graph and the labels of its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._util.html import html_table
from .._util.progress import counted
from .graph import Graph, graph_facts

Labels = NDArray[np.bool_]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """A graph, the labels of its nodes, and where it comes from.

    Attributes
    ----------
    name : str
        The name that :func:`load_dataset` takes.
    graph : Graph
        The graph.
    labels : bool array (n_nodes, classes) or None
        Which classes each node is in, rows in the order of `graph.ids`; None if there are no
        labels.
    description : str
        What the nodes and edges are, and what was left out of the published files.
    citation : str
        The publication to cite.
    """

    name: str
    graph: Graph
    labels: Labels | None = None
    description: str = ""
    citation: str = ""

    def __post_init__(self) -> None:
        if self.labels is not None:
            self.labels.flags.writeable = False

    def __repr__(self) -> str:
        facts = [counted(self.graph.n_nodes, "node"), counted(self.graph.n_edges, "edge")]
        labels = self.labels
        facts.append("no labels" if labels is None else counted(labels.shape[1], "class"))
        return f"Dataset({self.name!r}, {', '.join(facts)})"

    def _repr_html_(self) -> str:
        facts = graph_facts(self.graph)
        if self.labels is not None:
            sizes, labelled = self.labels.sum(axis=0), np.count_nonzero(self.labels.any(axis=1))
            text = f"{len(sizes):,}, of {sizes.min():,} to {sizes.max():,} nodes"
            facts.append(("classes", f"{text}; {counted(int(labelled), 'node')} labelled"))
        if self.description:
            facts.append(("about", self.description))
        return html_table([], facts, f"Dataset {self.name!r}")
