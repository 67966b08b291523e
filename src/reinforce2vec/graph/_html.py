"""HTML of a graph or a data set, which Jupyter notebooks display."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._util.html import Markup, drawing, first_ids, html_table
from .._util.progress import counted, readable_bytes

if TYPE_CHECKING:
    from .dataset import Dataset
    from .graph import Graph

_BAR, _HEIGHT = 10, 32  # pixels of a histogram


def graph_html(graph: Graph) -> str:
    """Return a table of a graph's size, connectivity and degrees."""
    return html_table([], _graph_facts(graph), "Graph")


def _graph_facts(graph: Graph) -> list[tuple[str, str]]:
    """Return the rows of the table; one pass over the degrees."""
    counts = np.bincount(graph.degrees, minlength=1)
    arrows = "directed" if graph.directed else "undirected"
    facts = [
        ("nodes", f"{graph.n_nodes:,}"),
        ("edges", f"{graph.n_edges:,}"),
        ("kind", f"{arrows}, {'weighted' if graph.weighted else 'unweighted'}"),
        ("components", f"{graph.n_components:,}"),
        ("isolated", f"{graph.n_isolated:,}"),
        ("memory", readable_bytes(graph.nbytes)),
    ]
    if graph.dropped_self_loops:
        facts.append(("dropped", counted(graph.dropped_self_loops, "self-loop")))
    if graph.n_nodes:
        middle = [(graph.n_nodes + 1) // 2, graph.n_nodes // 2 + 1]
        median = np.searchsorted(np.cumsum(counts), middle).mean()
        mean, largest = len(graph.indices) / graph.n_nodes, len(counts) - 1
        text = f"mean {mean:.4g}, median {median:.4g}, largest {largest:,}<br>"
        name = "out-degrees" if graph.directed else "degrees"
        facts.append((name, Markup(text + _histogram(counts))))
        facts.append(("ids", first_ids(graph.ids)))
    return facts


def _histogram(counts: NDArray[np.int64]) -> Markup:
    """Draw how many nodes have a degree of 0, 1, 2 to 3, 4 to 7 and so on; log scales."""
    begins = [0, *(1 << power for power in range(max(len(counts) - 1, 0).bit_length()))]
    sums = np.add.reduceat(counts, begins)
    ends = [*begins[1:], len(counts)]
    heights = np.log1p(sums) / np.log1p(sums.max()) * (_HEIGHT - 2)
    bars = []
    for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        degrees = f"{begin:,}" if end - begin == 1 else f"{begin:,} to {end - 1:,}"
        label = f"degree {degrees}: {counted(int(sums[place]), 'node')}"
        bars.append(
            f'<rect x="{place * _BAR}" y="{_HEIGHT - heights[place]:.1f}" width="{_BAR - 1}" '
            f'height="{heights[place]:.1f}"><title>{label}</title></rect>'
        )
    return drawing(len(begins) * _BAR, _HEIGHT, "histogram of degrees, log scales", bars)


def dataset_html(dataset: Dataset) -> str:
    """Return a table of a data set: its graph, and the sizes of its classes."""
    facts = _graph_facts(dataset.graph)
    if dataset.labels is not None:
        sizes = np.asarray(dataset.labels.sum(axis=0)).ravel()
        labelled = int(np.count_nonzero(np.asarray(dataset.labels.any(axis=1))))
        text = f"{len(sizes):,}, of {sizes.min():,} to {sizes.max():,} nodes"
        facts.append(("classes", f"{text}; {counted(labelled, 'node')} labelled"))
    facts.extend((name, text) for name, text in (("about", dataset.description),) if text)
    return html_table([], facts, f"Dataset {dataset.name!r}")
