"""Small tables in HTML, for objects that Jupyter notebooks display."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .ids import Ids

_SHOWN_IDS = 8
_SHOWN_LETTERS = 40  # of an id


def html_table(head: Sequence[str], rows: Iterable[Iterable[Any]], title: str = "") -> str:
    """Return a plain HTML table, below a title; a float is shown with four digits.

    Examples
    --------
    >>> html_table(["node", "cosine"], [["<ann>", 0.5]])
    '<table><tr><th>node</th><th>cosine</th></tr><tr><td>&lt;ann&gt;</td><td>0.5</td></tr></table>'
    """
    lines = [_row(head, "th")] if head else []
    lines += [_row(row, "td") for row in rows]
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}{''.join(lines)}</table>"


def _row(cells: Iterable[Any], tag: str) -> str:
    """Return a row of a table."""
    texts = (
        f"{cell:.4g}" if isinstance(cell, (float, np.floating)) else escape(str(cell))
        for cell in cells
    )
    return f"<tr>{''.join(f'<{tag}>{text}</{tag}>' for text in texts)}</tr>"


def first_ids(ids: Ids) -> str:
    """Return the first ids as text, long ones cut, with an ellipsis if there are more."""
    names = [str(node) for node in ids[:_SHOWN_IDS].tolist()]
    short = [
        name if len(name) <= _SHOWN_LETTERS else f"{name[: _SHOWN_LETTERS - 1]}…" for name in names
    ]
    return ", ".join(short + ["…"] * (len(ids) > _SHOWN_IDS))
