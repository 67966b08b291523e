"""What notebooks show of graphs, vectors and results: small tables, in the page's own colours.

Text and lines take the colour of the page's text, and nothing has a background, so that tables
read well on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .ids import Ids
from .progress import counted, readable_bytes

if TYPE_CHECKING:
    from ..datasets import Dataset
    from ..embedding.embedding import Embedding
    from ..graph.graph import Graph

SHOWN_IDS, SHOWN_ROWS = 8, 5  # of a graph, of an embedding
SHOWN_NUMBERS = 32  # of a vector
SHOWN_LETTERS = 40  # of an id
MEASURED = 100_000  # vectors whose lengths are looked at
BAR, HEIGHT = 10, 32  # pixels of a histogram
STRIPE = 5, 14  # pixels of a number
NEGATIVE, POSITIVE = "#0072b2", "#d55e00"  # blue and vermilion, which everybody can tell apart


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def html_table(head: Sequence[Any], rows: Iterable[Sequence[Any]], title: str = "") -> str:
    """A small table in HTML: columns of numbers to the right, all else to the left and escaped.

    Parameters
    ----------
    head : sequence
        Names of the columns; with none there is no line of names.
    rows : iterable of sequences
        The cells. A float is shown with four digits, a :class:`Markup` as it is.
    title : str
        A line above the table.

    Examples
    --------
    >>> print(html_table(["node", "cosine"], [["<ann>", 0.5]]))
    <table style="width:auto;margin:0.3em 0;color:inherit;font-size:inherit">
    <thead><tr><th style="text-align:left">node</th><th style="text-align:right">cosine</th></tr>\
</thead>
    <tbody>
    <tr><td style="text-align:left">&lt;ann&gt;</td><td style="text-align:right">0.5</td></tr>
    </tbody></table>
    """
    body = [list(row) for row in rows]
    sides = ["right" if is_number(cell) else "left" for cell in (body[0] if body else head)]
    lines = ['<table style="width:auto;margin:0.3em 0;color:inherit;font-size:inherit">']
    if title:
        lines.insert(0, f"<div><b>{as_html(title)}</b></div>")
    if head:
        lines.append(f"<thead>{html_row(head, sides, 'th')}</thead>")
    lines += ["<tbody>", *(html_row(row, sides, "td") for row in body), "</tbody></table>"]
    return "\n".join(lines)


def html_row(cells: Sequence[Any], sides: Sequence[str], tag: str) -> str:
    """A row of a table."""
    shown = (
        f'<{tag} style="text-align:{side}">{as_html(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, which stands to the right."""
    return isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool)


def as_html(cell: Any) -> str:
    """What stands in a cell."""
    if isinstance(cell, Markup):
        return cell
    if isinstance(cell, (float, np.floating)):
        return f"{cell:.4g}"
    return escape(str(cell))


def name_of(node: Any) -> str:
    """A node id, cut if it is long."""
    text = str(node)
    return text if len(text) <= SHOWN_LETTERS else f"{text[: SHOWN_LETTERS - 1]}…"


def first_names(ids: Ids) -> str:
    """The first ids, and whether there are more."""
    names = [name_of(node) for node in ids[:SHOWN_IDS].tolist()]
    return ", ".join(names + ["…"] * (len(ids) > SHOWN_IDS))


# -- graphs ------------------------------------------------------------------------------------


def graph_html(graph: Graph) -> str:
    """A graph: how large, how linked, and how evenly."""
    return html_table([], graph_facts(graph), "Graph")


def graph_facts(graph: Graph) -> list[tuple[str, str]]:
    """What there is to know about a graph at first sight; a pass over its degrees."""
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
        facts.append((name, Markup(text + histogram(counts))))
        facts.append(("ids", first_names(graph.ids)))
    return facts


def histogram(counts: NDArray[np.int64]) -> Markup:
    """Bars of how many nodes have a degree of 0, 1, 2 to 3, 4 to 7 and so on; log scales."""
    begins = [0, *(1 << power for power in range(max(len(counts) - 1, 0).bit_length()))]
    sums = np.add.reduceat(counts, begins)
    ends = [*begins[1:], len(counts)]
    heights = np.log1p(sums) / np.log1p(sums.max()) * (HEIGHT - 2)
    bars = []
    for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        degrees = f"{begin:,}" if end - begin == 1 else f"{begin:,} to {end - 1:,}"
        label = f"degree {degrees}: {counted(int(sums[place]), 'node')}"
        bars.append(
            f'<rect x="{place * BAR}" y="{HEIGHT - heights[place]:.1f}" width="{BAR - 1}" '
            f'height="{heights[place]:.1f}"><title>{label}</title></rect>'
        )
    return drawing(len(begins) * BAR, HEIGHT, "histogram of degrees, log scales", bars)


def drawing(width: int, height: int, label: str, shapes: Iterable[str]) -> Markup:
    """A small picture within the text, in its colour."""
    return Markup(
        f'<svg width="{width}" height="{height}" role="img" aria-label="{escape(label)}" '
        f'fill="currentColor" style="vertical-align:middle;opacity:0.85">{"".join(shapes)}</svg>'
    )


# -- vectors -----------------------------------------------------------------------------------


def embedding_html(embedding: Embedding) -> str:
    """An embedding: how large, how long its vectors, and what the first of them look like."""
    first = embedding.vectors[:SHOWN_ROWS, :SHOWN_NUMBERS]
    largest = np.abs(first[np.isfinite(first)]).max(initial=0)
    facts = [
        ("nodes", f"{embedding.n_nodes:,}"),
        ("dimensions", f"{embedding.dimensions:,}"),
        ("memory", readable_bytes(embedding.vectors.nbytes)),
        *lengths(embedding.vectors),
    ]
    names = [name_of(node) for node in embedding.ids[:SHOWN_ROWS].tolist()]
    rows = [(name, stripes(row, float(largest))) for name, row in zip(names, first, strict=True)]
    if embedding.n_nodes > SHOWN_ROWS:
        rows.append(("…", Markup()))
    head = f"first {SHOWN_NUMBERS} numbers" if embedding.dimensions > SHOWN_NUMBERS else "vector"
    return html_table([], facts, "Embedding") + html_table(["node", head], rows)


def lengths(vectors: NDArray[np.float32]) -> list[tuple[str, str]]:
    """How long the vectors are; of many, evenly chosen ones."""
    step = max(1, -(-len(vectors) // MEASURED))
    chosen = vectors[::step]
    if len(chosen) == 0:
        return []
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.sqrt(np.einsum("ij,ij->i", chosen, chosen, dtype=np.float64))
        text = f"mean {found.mean():.4g}, {found.min():.4g} to {found.max():.4g}"
    return [("lengths", text if step == 1 else f"{text} (of {len(chosen):,} vectors)")]


def stripes(vector: NDArray[np.float32], largest: float) -> Markup:
    """The numbers of a vector as stripes: blue below zero, vermilion above, pale near it."""
    width, height = STRIPE
    shapes = []
    for place, number in enumerate(vector.tolist()):
        if not np.isfinite(number) or number == 0:
            continue
        shapes.append(
            f'<rect x="{place * width}" width="{width}" height="{height}" '
            f'fill="{POSITIVE if number > 0 else NEGATIVE}" '
            f'opacity="{abs(number) / largest:.2f}"/>'
        )
    label = "first numbers " + " ".join(f"{number:.2g}" for number in vector[:4].tolist())
    return drawing(len(vector) * width, height, label, shapes)


# -- data sets ---------------------------------------------------------------------------------


def dataset_html(dataset: Dataset) -> str:
    """A data set: its graph, and how many nodes are in how many classes."""
    facts = graph_facts(dataset.graph)
    if dataset.labels is not None:
        sizes = np.asarray(dataset.labels.sum(axis=0)).ravel()
        labelled = int(np.count_nonzero(np.asarray(dataset.labels.any(axis=1))))
        text = f"{len(sizes):,}, of {sizes.min():,} to {sizes.max():,} nodes"
        facts.append(("classes", f"{text}; {counted(labelled, 'node')} labelled"))
    facts.extend((name, text) for name, text in (("about", dataset.description),) if text)
    return html_table([], facts, f"Dataset {dataset.name!r}")
