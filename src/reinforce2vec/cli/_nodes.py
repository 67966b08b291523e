"""Nodes that are named on the command line, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import SEARCH_METHODS
from . import _options as options
from ._options import SEARCH

if TYPE_CHECKING:
    from ..embedding import Embedding

SearchMethod = Annotated[
    str,
    options.choice(
        "exact compares with every node. approximate uses an index; if it finds less than 95% of "
        "the neighbours of a sample, the search is exact after all. It saves time for all "
        "nodes of graphs well beyond 100,000 nodes. Needs usearch: pip install "
        "'reinforce2vec[approximate]'. auto is exact, unless the work is large and usearch is "
        "installed.",
        *SEARCH_METHODS,
        group=SEARCH,
    ),
]

K = Annotated[
    int,
    typer.Option(
        *("-k", "--k"),
        metavar="N",
        min=1,
        help="How many for each node.",
        rich_help_panel=SEARCH,
    ),
]


def named_nodes(words: Iterable[str], embedding: Embedding) -> list[Any]:
    """Return nodes by their names in text; InputError, with close names, if there is none."""
    integers = embedding.ids.dtype != object
    nodes = []
    for word in words:
        number = integers and word.removeprefix("-").isdecimal()
        node: Any = int(word) if number else word
        if node not in embedding:
            raise InputError(f"node {word!r} has no vector{_close_names(word, embedding)}")
        nodes.append(node)
    return nodes


def _close_names(word: str, embedding: Embedding) -> str:
    """Return what the user may have meant, for the end of a message."""
    if embedding.ids.dtype != object:
        if not len(embedding):
            return ""
        return f": ids are integers, from {embedding.ids.min()} to {embedding.ids.max()}"
    names = [name for name in embedding if isinstance(name, str)]
    same = [name for name in names if name.casefold() == word.casefold()]
    # comparing with every name takes long; most typing errors leave the first letter alone
    likely = [name for name in names if name[:1] == word[:1] and abs(len(name) - len(word)) <= 2]
    close = (same + get_close_matches(word, likely, n=3))[:3]
    return f": did you mean {' or '.join(close)}?" if close else ""


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print columns of text, the last one to the right."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for *cells, last in lines:
        texts = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        typer.echo("  ".join([*texts, last.rjust(widths[-1])]))
