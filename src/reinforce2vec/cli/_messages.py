"""What commands print: messages that end between words, and tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from textwrap import fill
from typing import Any, TextIO

import typer

from .._util.progress import ProgressLine
from .._util.terminal import columns, is_rich, on_one_line, printable, styled

_STYLES = {"error": "red", "interrupted": "yellow", "warning": "yellow", "note": "cyan"}


def print_last(message: str) -> None:
    """Print why a command ends, in place of its progress line."""
    ProgressLine().clear()
    print_line(message)


def print_line(text: str) -> None:
    """Print a message on stderr, if that is still open."""
    if sys.stderr is not None:  # None: the shell has closed it
        with suppress(OSError):
            print_text(text, sys.stderr)


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print lines, on stdout by default; on a terminal, they end between words."""
    place = sys.stdout if stream is None else stream
    typer.echo(for_people(text, place), file=place, color=True)


def for_people(text: str, stream: TextIO | None) -> str:
    """Return a message as a terminal shows it: its lines end between words.

    Control characters are spelled out. The word before the colon of an error or a warning has a
    colour.
    """
    text = printable(text)
    if stream is not None and stream.isatty():
        width = max(columns(), 20)
        how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
        lines = (
            line if len(line) <= width else fill(line, width, subsequent_indent="  ", **how)
            for line in text.split("\n")
        )
        text = "\n".join(lines)
    word, colon, rest = text.partition(":")
    return f"{styled(word + colon, _STYLES.get(word, 'plain'), stream)}{rest}"


def print_table(
    head: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    title: str = "",
    left: Iterable[int] = (0,),
    stream: TextIO | None = None,
) -> None:
    """Print columns of text under a head: with rich on a terminal, else as aligned text.

    The columns `left` begin at the left, as words do; the others end at the right, as numbers do.
    """
    place = sys.stdout if stream is None else stream
    lines = [[on_one_line(cell) for cell in row] for row in (head, *rows)]
    if title:
        print_text(title, place)
    if is_rich(place):
        _print_rich(lines, set(left), place)
        return
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip(), file=place)


def _print_rich(lines: list[list[str]], left: set[int], place: TextIO) -> None:
    """Print a table in which text wraps."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles: Any = None if os.environ.get("NO_COLOR") else "auto"  # rich would still print bold
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for number, name in enumerate(lines[0]):
        if number in left:
            table.add_column(Text(name), overflow="fold")
        else:
            table.add_column(Text(name), justify="right", style="cyan", overflow="fold")
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    Console(file=place, highlight=False, color_system=styles).print(table)
