"""HTML of an embedding, which Jupyter notebooks display."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._util.html import Markup, drawing, html_table, short_id
from .._util.progress import readable_bytes

if TYPE_CHECKING:
    from .embedding import Embedding

_SHOWN_ROWS = 5
_SHOWN_NUMBERS = 32  # of a vector
_MEASURED = 100_000  # vectors whose norms are computed
_STRIPE = 5, 14  # pixels of a number
_NEGATIVE, _POSITIVE = "#0072b2", "#d55e00"  # blue and vermilion, safe for colour-blind readers


def embedding_html(embedding: Embedding) -> str:
    """Return tables of an embedding's size, the norms of its vectors, and the first of them."""
    first = embedding.vectors[:_SHOWN_ROWS, :_SHOWN_NUMBERS]
    largest = np.abs(first[np.isfinite(first)]).max(initial=0)
    facts = [
        ("nodes", f"{embedding.n_nodes:,}"),
        ("dimensions", f"{embedding.dimensions:,}"),
        ("memory", readable_bytes(embedding.vectors.nbytes)),
        *_lengths(embedding.vectors),
    ]
    names = [short_id(node) for node in embedding.ids[:_SHOWN_ROWS].tolist()]
    rows = [(name, _stripes(row, float(largest))) for name, row in zip(names, first, strict=True)]
    if embedding.n_nodes > _SHOWN_ROWS:
        rows.append(("…", Markup()))
    head = f"first {_SHOWN_NUMBERS} numbers" if embedding.dimensions > _SHOWN_NUMBERS else "vector"
    return html_table([], facts, "Embedding") + html_table(["node", head], rows)


def _lengths(vectors: NDArray[np.float32]) -> list[tuple[str, str]]:
    """Return the row about the norms of the vectors; of many, of evenly chosen ones."""
    step = max(1, -(-len(vectors) // _MEASURED))
    chosen = vectors[::step]
    if len(chosen) == 0:
        return []
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.sqrt(np.einsum("ij,ij->i", chosen, chosen, dtype=np.float64))
        text = f"mean {found.mean():.4g}, {found.min():.4g} to {found.max():.4g}"
    return [("lengths", text if step == 1 else f"{text} (of {len(chosen):,} vectors)")]


def _stripes(vector: NDArray[np.float32], largest: float) -> Markup:
    """Draw the numbers of a vector as stripes: blue below zero, vermilion above, pale near zero."""
    width, height = _STRIPE
    shapes = []
    for place, number in enumerate(vector.tolist()):
        if not np.isfinite(number) or number == 0:
            continue
        shapes.append(
            f'<rect x="{place * width}" width="{width}" height="{height}" '
            f'fill="{_POSITIVE if number > 0 else _NEGATIVE}" '
            f'opacity="{abs(number) / largest:.2f}"/>'
        )
    label = "first numbers " + " ".join(f"{number:.2g}" for number in vector[:4].tolist())
    return drawing(len(vector) * width, height, label, shapes)
