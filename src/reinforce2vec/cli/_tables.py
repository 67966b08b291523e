"""Tables that commands print: with rich on a terminal, as aligned text in files and pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TextIO

import typer

from .._util.terminal import is_rich, on_one_line
from ._messages import for_people

_GAP = 3  # characters between two columns of such a table


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print lines on stdout; on a terminal, they end between words."""
    place = sys.stdout if stream is None else stream
    typer.echo(for_people(text, place), file=place, color=True)


def print_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    left: Collection[int] | None = None,
    stream: TextIO | None = None,
) -> None:
    """Print columns of text under a head.

    Parameters
    ----------
    head, rows : sequences of str
        The names of the columns, and the cells.
    title : str
        A line above the table.
    left : collection of int, optional
        Which columns begin at the left, as words do; all but the last by default. The others end
        at the right, as numbers do.
    stream : file, optional
        Where to print; standard output by default.
    """
    place = sys.stdout if stream is None else stream
    words = range(len(head) - 1) if left is None else left
    rows = [[on_one_line(cell) for cell in row] for row in rows]
    if title:
        print_text(title, place)
    if is_rich(place):
        _print_rich(head, rows, words, place)
        return
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for cells in lines:
        texts = [
            cell.ljust(width) if number in words else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        typer.echo("  ".join(texts).rstrip(), file=place)


def _print_rich(
    head: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[int], place: TextIO
) -> None:
    """Print a table in which text wraps; if the words are too long for that, a list of rows."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles: Any = None if os.environ.get("NO_COLOR") else "auto"  # rich would still print bold
    console = Console(file=place, highlight=False, color_system=styles)
    needed = [max(map(_longest, column)) for column in zip(head, *rows, strict=True)]
    if sum(needed) + _GAP * (len(head) - 1) > console.width:
        _print_records(head, rows, place)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for number, name in enumerate(head):
        is_words = number in words
        table.add_column(
            Text(name),
            justify="left" if is_words else "right",
            style="" if is_words else "cyan",
            min_width=needed[number],
            no_wrap=not is_words,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def _longest(cell: str) -> int:
    """Return the length of the longest word of a cell."""
    return max(map(len, cell.split()), default=0)


def _print_records(head: Sequence[str], rows: Iterable[Sequence[str]], place: TextIO) -> None:
    """Print each cell on a line of its own, after the name of its column."""
    for row in rows:
        for name, cell in zip(head, row, strict=True):
            text = for_people(f"{name}: {cell}" if name else cell, place)
            typer.echo(text, file=place, color=True)
        typer.echo(file=place)
