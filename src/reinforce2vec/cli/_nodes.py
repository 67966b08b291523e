"""Nodes that are named on the command line, and tables of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.errors import InputError, short_repr
from ._run import Run

if TYPE_CHECKING:
    from ..files.table_files import Columns

_BLOCK = 1 << 16  # rows that are written at a time


def _named_node(word: str, embedding: r2v.Embedding, where: str = "") -> Any:
    """Return a node by its name in text; InputError, with close names, if there is none."""
    number = embedding.ids.dtype != object and word.removeprefix("-").isdecimal()
    node: Any = int(word) if number and len(word) <= 20 else word  # no longer one fits in 64 bits
    if node not in embedding:
        close = _close_names(word, embedding)
        raise InputError(f"{where}node {short_repr(word)} has no vector{close}")
    return node


def _close_names(word: str, embedding: r2v.Embedding) -> str:
    """Return what the user may have meant, for the end of a message."""
    if embedding.ids.dtype != object:
        if not len(embedding):
            return ""
        return f": ids are integers, from {embedding.ids.min()} to {embedding.ids.max()}"
    # comparing with every name takes long; most typing errors leave the first letter alone
    names = [name for name in embedding if isinstance(name, str)]
    likely = [name for name in names if name[:1] == word[:1] and abs(len(name) - len(word)) <= 2]
    same = [name for name in names if name.casefold() == word.casefold()]
    close = (same + get_close_matches(word, likely, n=3))[:3]
    return f": did you mean {' or '.join(close)}?" if close else ""


def nodes_in_file(run: Run, path: Path, embedding: r2v.Embedding) -> list[Any]:
    """Return the nodes that a file names, as `--nodes` reads them; "-" is standard input."""
    from ..files.node_lists import read_node_list
    from ..files.opening import opened

    if str(path) == "-":
        words, lines, notes = read_node_list(sys.stdin.buffer, "standard input", embedding.ids)
    else:
        with opened(path, path.suffix == ".gz") as stream:
            words, lines, notes = read_node_list(stream, str(path), embedding.ids)
    for note in notes:
        run.report(note)
    return [
        _named_node(word, embedding, f"{path}, line {line}: ")
        for word, line in zip(words, lines, strict=True)
    ]


def selected_nodes(run: Run, embedding: r2v.Embedding) -> list[Any] | None:
    """Return the nodes that arguments and --ids name; None if there are neither."""
    given = run.given
    if not given.names and given.ids is None:
        return None
    named = [_named_node(word, embedding) for word in given.names or ()]
    return named if given.ids is None else named + nodes_in_file(run, given.ids, embedding)


# -- tables --------------------------------------------------------------------------------------


def check_table(run: Run, *reads: Path | None) -> None:
    """Raise InputError if the table of --output, if there is one, cannot be written."""
    if run.given.output is not None:
        from ..files.table_files import check_table_path

        check_table_path(run.given.output)
        run.writes(run.given.output, reads=[run.given.vectors, *reads])


def write_rows(run: Run, columns: Callable[[slice], Columns], rows: int) -> None:
    """Write a table in parts, at least one."""
    from ..files.table_files import write_table

    parts = (slice(first, first + _BLOCK) for first in range(0, max(rows, 1), _BLOCK))
    with run.status(f"writing {run.given.output}"):
        write_table(run.given.output, map(columns, parts))
