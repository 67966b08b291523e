"""Columns of nodes in files and tables: any number of them, matched by ids."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._util.errors import InputError, excerpt, short_repr
from .._util.ids import NamedRows, is_missing
from .._util.progress import counted
from ._lines import NUMBER, SMALL_CHUNK_BYTES
from ._parquet import open_parquet
from .delimited import DelimitedText
from .id_texts import marks_begin_ids
from .label_files import (
    column_position,
    decisions,
    is_default_index,
    is_id_column,
    is_table,
    parse_integer,
    table_columns,
)
from .opening import expecting, naming, opened

_ACCEPTED = (
    "columns are read from a file (.csv, .tsv, .parquet), a table of pandas, polars or Arrow, or a "
    "dict {name: values}"
)
_REPEATED = 1.5  # times that a node is in a column of ids on average, at most, unless it is named


class NodeTable(NamedTuple):
    """Columns of nodes, in the order of the nodes."""

    names: list[str]
    columns: list[list[Any]]
    """The values of each column, a value for each node; None where a node has none."""
    notes: list[str]
    """What was decided while it was read, and what was left out."""


def read_node_table(source: Any, nodes: NamedRows, *, id: str | int | None = None) -> NodeTable:
    """Read columns of nodes, matched by ids; nodes that the source lacks have no values.

    Parameters
    ----------
    source : path, table of pandas, polars or Arrow, or dict
        A file is Parquet (.parquet) or delimited text, which may be compressed (.gz). A dict has a
        list in the order of the nodes, or a dict {id: value}, for each name; if one of the names
        is that of a column of ids, such as "id", and its list holds nodes, it is a table.
    nodes : Graph or Embedding
        The nodes, as rows.
    id : str or int, optional
        The column of the ids, by its name, or by its number from 1. By default one with a name such
        as id, node, user_id or name that holds nodes, else the one that holds most nodes; nodes
        that repeat count once.
    """
    if isinstance(source, (str, os.PathLike)):
        names, columns, decided = _read_file(Path(source), nodes, id)
        with naming(str(source)):
            table = _matched(names, columns, nodes, id)
        return table._replace(notes=[*table.notes, *decided])
    if isinstance(source, Mapping):
        names = [str(name) for name in source]
        if id is None and not any(_holds_ids(*one, nodes) for one in source.items()):
            notes: list[str] = []
            columns = [
                _in_row_order(name, source[key], nodes, notes)
                for name, key in zip(names, source, strict=True)
            ]
            return NodeTable(*_named_once(names, columns), notes)
        return _matched(names, [_listed(name, each) for name, each in source.items()], nodes, id)
    if not is_table(source):
        raise InputError(f"{_ACCEPTED}, not from a {type(source).__name__}")
    names, columns = table_columns(source)
    if hasattr(source, "iloc") and not is_default_index(source.index):
        names, columns = [source.index.name or "index", *names], [source.index.tolist(), *columns]
    return _matched(names, columns, nodes, id)


# -- sources -----------------------------------------------------------------------------------


def _read_file(
    path: Path, nodes: NamedRows, id: str | int | None
) -> tuple[list[Any], list[list[Any]], tuple[str, ...]]:
    """Return the names and values of the columns of a file, and what was decided."""
    if path.suffix == ".parquet":
        with opened(path, False) as stream, expecting("a Parquet file", str(path)):
            return *table_columns(open_parquet(stream).read()), ()
    with opened(path, path.suffix == ".gz") as stream:
        comments = "" if marks_begin_ids(nodes.ids) else None
        how: Any = {"comments": comments, "choice": False, "chunk_bytes": SMALL_CHUNK_BYTES}
        text = DelimitedText(stream, str(path), "columns", **how)
        heads = [[field.decode() for field in fields] for fields in text.heads]
        first = heads[0]
        known = id in first or any(map(is_id_column, first))
        has_names = known or _are_names(first, heads[1:], nodes)
        names = first if has_names else [f"column {number}" for number in range(1, len(first) + 1)]
        columns: list[list[Any]] = [[] for _ in names]
        for number, row in text.rows(has_names):
            if len(row) > len(names) and any(row[len(names) :]):
                raise InputError(
                    f"{path}, line {number}: this line has {counted(len(row), 'field')}, but the "
                    f"first has {len(names)}"
                )
            for column, value in zip_longest(columns, row[: len(names)]):
                column.append(value or None)
    return list(names), columns, decisions(text, has_names)


def _are_names(first: list[str], others: list[list[str]], nodes: NamedRows) -> bool:
    """Return whether the first line of a file names the columns: it holds no id.

    If ids are numbers, a number may be that of a node without a vector, unless a word stands above
    nodes.
    """
    numbered = nodes.ids.dtype == np.int64
    as_id = parse_integer if numbered else str
    ids = [as_id(word) for word in first]
    if any(_is_node(one, nodes) for one in ids):
        return False
    if not (numbered and any(isinstance(one, int) for one in ids)):
        return True
    below = [[as_id(row[place]) for row in others if place < len(row)] for place in range(len(ids))]
    return any(
        isinstance(one, str)
        and not NUMBER.fullmatch(one.encode())
        and bool(those)
        and all(_is_node(other, nodes) for other in those)
        for one, those in zip(ids, below, strict=True)
    )


def _holds_ids(name: Any, values: Any, nodes: NamedRows) -> bool:
    """Return whether a column of a dict is one of ids: by its name, and a list that holds nodes.

    A list of another length cannot be in row order.
    """
    if (
        not is_id_column(name)
        or isinstance(values, (str, Mapping))
        or not hasattr(values, "__iter__")
    ):
        return False
    listed = _listed(name, values)
    return len(listed) != len(nodes) or bool(_nodes_in(listed, nodes))


def _listed(name: Any, values: Any) -> list[Any]:
    """Return the values of a column of a dict as a list."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise InputError(
            f"expected a list of values in the column {short_repr(name)}, not {short_repr(values)}"
        )
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _in_row_order(name: str, values: Any, nodes: NamedRows, notes: list[str]) -> list[Any]:
    """Return the values of a column that is a list in row order, or a dict {id: value}.

    Appends to the notes what was left out.
    """
    if hasattr(values, "iloc") and not is_default_index(values.index):  # a Series of pandas
        values = dict(zip(values.index.tolist(), values.tolist(), strict=True))
    if isinstance(values, Mapping):
        strangers = [node for node in values if not _is_node(node, nodes)]
        if values and len(strangers) == len(values):
            raise _no_nodes(strangers, nodes, f"in the column {short_repr(name)}")
        if strangers:
            left = counted(len(strangers), "value")
            notes.append(
                f'left out {left} of "{excerpt(name)}" without a known node{_such_as(strangers)}'
            )
        return [values.get(node) for node in nodes.ids.tolist()]
    listed = _listed(name, values)
    if len(listed) != len(nodes):
        raise InputError(
            f"the column {short_repr(name)} has {counted(len(listed), 'value')}, expected one for "
            "each of "
            f"{counted(len(nodes), 'node')}; or give a dict {{id: value}}"
        )
    return listed


# -- matching by ids ---------------------------------------------------------------------------


def _matched(
    names: Sequence[Any], columns: list[list[Any]], nodes: NamedRows, id: str | int | None
) -> NodeTable:
    """Return the columns beside the one of ids, in the order of the nodes."""
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise InputError("the columns have different numbers of values")
    as_id = _id_reader(nodes)
    place = _ids_among(names, columns, nodes, id)
    rows = np.full(len(nodes), -1, np.int64)
    strangers: list[Any] = []
    repeated = 0
    for number, value in enumerate(columns[place]):
        node = as_id(value)
        if is_missing(node) or not _is_node(node, nodes):
            strangers.append(node)
        elif rows[row := nodes.row(node)] >= 0:
            repeated += 1
        else:
            rows[row] = number
    if (rows < 0).all():
        raise _no_nodes(columns[place], nodes, f"in the column {short_repr(str(names[place]))}")
    notes = []
    if strangers:
        lines = counted(len(strangers), "line")
        notes.append(f"left out {lines} without a known node{_such_as(strangers)}")
    if repeated:
        repeat = "line repeats" if repeated == 1 else "lines repeat"
        notes.append(f"{repeated:,} {repeat} a node: its first line counts")
    if without := int(np.count_nonzero(rows < 0)):
        notes.append(f"no values for {counted(without, 'node')}")
    if id is None and (notes or not is_id_column(names[place])):  # else there is no doubt
        notes.insert(0, f'nodes from "{excerpt(str(names[place]))}"')
    others = [number for number in range(len(names)) if number != place]
    values = [
        [None if row < 0 else columns[number][row] for row in rows.tolist()] for number in others
    ]
    return NodeTable(*_named_once([names[number] for number in others], values), notes)


def _ids_among(
    names: Sequence[Any], columns: list[list[Any]], nodes: NamedRows, id: str | int | None
) -> int:
    """Return which column holds the ids: a known name that holds nodes, else most nodes."""
    if not columns or not columns[0]:
        raise InputError("expected columns of nodes, found none")
    if id is not None:
        return column_position(names, "id", id)
    found = [_nodes_in(column, nodes) for column in columns]
    distinct = [len(counts) for counts in found]
    known = [place for place in range(len(names)) if is_id_column(names[place]) and found[place]]
    place = max(known or range(len(names)), key=lambda place: (distinct[place], -place))
    if not known and sum(found[place].values()) > _REPEATED * distinct[place]:
        raise InputError(
            f"no column is one of ids: {short_repr(str(names[place]))} holds most nodes, but "
            'repeats them; call the column of ids "id", or give a dict of lists in the order of '
            "the nodes"
        )
    return place


def _nodes_in(values: list[Any], nodes: NamedRows) -> Counter[Any]:
    """Return how often each node is among some values."""
    return Counter(one for one in map(_id_reader(nodes), values) if _is_node(one, nodes))


def _id_reader(nodes: NamedRows) -> Callable[[Any], Any]:
    """Return the function that makes an id of a value."""
    return parse_integer if nodes.ids.dtype == np.int64 else lambda value: value


def _such_as(strangers: list[Any]) -> str:
    """Return an example of ids that are no nodes, in brackets; nothing if all are missing."""
    shown = [excerpt(str(one)) for one in strangers if not is_missing(one)]
    return f" ({shown[0]}{', ...' if len(shown) > 1 else ''})" if shown else ""


def _is_node(value: Any, nodes: NamedRows) -> bool:
    try:
        return value in nodes
    except TypeError:  # not hashable
        return False


def _no_nodes(values: list[Any], nodes: NamedRows, where: str) -> InputError:
    """Return the error for ids none of which is a node."""
    return InputError(
        f"none of the ids {where} is a node: they are such as {short_repr(values[0])}, expected "
        f"ids such as {short_repr(nodes.ids[:1].tolist()[0])}"
    )


def _named_once(
    names: Sequence[Any], columns: list[list[Any]]
) -> tuple[list[str], list[list[Any]]]:
    """Return names that are all different and not empty, and the columns."""
    given: dict[str, int] = {}  # how often each name was given, with a number or without
    for number, name in enumerate(names, 1):
        plain = text = str(name).strip() or f"column {number}"
        while text in given:
            given[plain] += 1
            text = f"{plain} ({given[plain]})"
        given[text] = 1
    return list(given), columns
