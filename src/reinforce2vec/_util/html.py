"""Small tables in HTML, for objects that Jupyter notebooks display.

Text and lines have the colour of the page's text, and nothing has a background, so that tables are
legible on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .ids import Ids

_SHOWN_IDS = 8
_SHOWN_LETTERS = 40  # of an id


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def html_table(head: Sequence[Any], rows: Iterable[Sequence[Any]], title: str = "") -> str:
    """Return a small HTML table: numbers aligned right, all else aligned left and escaped.

    Parameters
    ----------
    head : sequence
        Names of the columns; empty for a table without a header.
    rows : iterable of sequences
        The cells. A float is shown with four digits, a :class:`Markup` is not escaped.
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
    sides = ["right" if _is_number(cell) else "left" for cell in (body[0] if body else head)]
    lines = ['<table style="width:auto;margin:0.3em 0;color:inherit;font-size:inherit">']
    if title:
        lines.insert(0, f"<div><b>{_as_html(title)}</b></div>")
    if head:
        lines.append(f"<thead>{_html_row(head, sides, 'th')}</thead>")
    lines += ["<tbody>", *(_html_row(row, sides, "td") for row in body), "</tbody></table>"]
    return "\n".join(lines)


def _html_row(cells: Sequence[Any], sides: Sequence[str], tag: str) -> str:
    """Return a row of a table."""
    shown = (
        f'<{tag} style="text-align:{side}">{_as_html(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"


def _is_number(cell: Any) -> bool:
    """Return whether a cell is a number, which is aligned right."""
    return isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool)


def _as_html(cell: Any) -> str:
    """Return the content of a cell."""
    if isinstance(cell, Markup):
        return cell
    if isinstance(cell, (float, np.floating)):
        return f"{cell:.4g}"
    return escape(str(cell))


def short_id(node: Any) -> str:
    """Return a node id as text, cut if it is long."""
    text = str(node)
    return text if len(text) <= _SHOWN_LETTERS else f"{text[: _SHOWN_LETTERS - 1]}…"


def first_ids(ids: Ids) -> str:
    """Return the first ids as text, with an ellipsis if there are more."""
    names = [short_id(node) for node in ids[:_SHOWN_IDS].tolist()]
    return ", ".join(names + ["…"] * (len(ids) > _SHOWN_IDS))


def drawing(width: int, height: int, label: str, shapes: Iterable[str]) -> Markup:
    """Return a small inline picture in the colour of the text."""
    return Markup(
        f'<svg width="{width}" height="{height}" role="img" aria-label="{escape(label)}" '
        f'fill="currentColor" style="vertical-align:middle;opacity:0.85">{"".join(shapes)}</svg>'
    )
