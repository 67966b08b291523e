"""Nodes that are named on the command line, and tables of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import SEARCH_METHODS
from . import _options as options
from ._messages import report
from ._options import OUTPUT, SEARCH

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..files.table_files import Columns

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

IdsFile = Annotated[
    Path | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        help="Nodes in a file, an id a line or in the first column, in addition to those named; - "
        "reads standard input.",
        rich_help_panel=SEARCH,
    ),
]

TableOutput = Annotated[
    Path | None,
    typer.Option(
        *("--output", "-o"),
        metavar="FILE",
        help="Write a table, .csv, .tsv or .parquet, instead of printing it; - is CSV on stdout.",
        rich_help_panel=OUTPUT,
    ),
]


def _named_node(word: str, embedding: Embedding, where: str = "") -> Any:
    """Return a node by its name in text; InputError, with close names, if there is none."""
    number = embedding.ids.dtype != object and word.removeprefix("-").isdecimal()
    node: Any = int(word) if number and len(word) <= 20 else word  # no longer one fits in 64 bits
    if node not in embedding:
        raise InputError(f"{where}node {word!r} has no vector{_close_names(word, embedding)}")
    return node


def nodes_in_file(path: Path, embedding: Embedding, quiet: bool) -> list[Any]:
    """Return the nodes that a file names, as `--nodes` reads them; "-" is standard input."""
    from ..files.node_lists import read_node_list
    from ..files.opening import opened

    if str(path) == "-":
        words, lines, notes = read_node_list(sys.stdin.buffer, "standard input", embedding.ids)
    else:
        with opened(path, path.suffix == ".gz") as stream:
            words, lines, notes = read_node_list(stream, str(path), embedding.ids)
    for note in notes:
        report(note, quiet)
    return [
        _named_node(word, embedding, f"{path}, line {line}: ")
        for word, line in zip(words, lines, strict=True)
    ]


def selected_nodes(
    words: Sequence[str] | None, ids: Path | None, embedding: Embedding, quiet: bool
) -> list[Any] | None:
    """Return the nodes that arguments and a file name; None if there are neither."""
    if not words and ids is None:
        return None
    named = [_named_node(word, embedding) for word in words or ()]
    return named if ids is None else named + nodes_in_file(ids, embedding, quiet)


_BLOCK = 1 << 16  # rows that are written at a time


def row_parts(columns: Callable[[slice], Columns], rows: int) -> Iterator[Columns]:
    """Yield the columns of a table for some of its rows after another; at least once."""
    for first in range(0, max(rows, 1), _BLOCK):
        yield columns(slice(first, first + _BLOCK))


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
