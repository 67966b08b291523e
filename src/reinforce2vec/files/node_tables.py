"""Tables of nodes: the one reader for labels and for the user's columns, matched by ids.

A table is a file of delimited text or Parquet, or one of pandas, polars, Arrow or DuckDB.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .._util.errors import InputError, excerpt, short_repr
from .._util.ids import NamedRows, is_missing
from .._util.progress import counted
from ._lines import NUMBER, SHORT_INTEGER, SMALL_CHUNK_BYTES
from ._parquet import import_arrow, open_parquet
from .columns import has_numbers
from .delimited import open_text
from .id_texts import marks_begin_ids
from .opening import expecting, naming, opened

# Names of columns, in lower case.
_ID_NAMES = (
    *("id", "node", "node_id", "nodeid", "vertex", "vertex_id", "user", "user_id", "userid"),
    *("key", "name", "username", "index"),
)
_LABEL_NAMES = (
    *("label", "labels", "class", "classes", "group", "groups", "category", "categories"),
    *("community", "communities", "department", "dept", "cluster", "topic", "subject", "field"),
)
_TABLES = (
    *(("pandas", "DataFrame"), ("pyarrow", "Table"), ("duckdb", "DuckDBPyRelation")),
    *(("polars", "DataFrame"), ("polars", "LazyFrame")),
)
_REPEATED = 1.5  # times that a node is in a column of ids on average, at most, unless it is named


class RawTable(NamedTuple):
    """A table of nodes as it was read."""

    names: list[Any]
    """Names of the columns; numbers from 1 where a file has none."""
    columns: list[list[Any]]
    """Their values; None where a line of text ends before a column."""
    lines: Sequence[int] = ()
    """The numbers of the lines of text."""
    has_names: bool = True
    notes: tuple[str, ...] = ()
    """What was decided while text was read."""


def read_table(source: Any, nodes: NamedRows, content: str, chosen: Iterable[Any] = ()) -> RawTable:
    """Read a file or a table; `chosen` are names of columns that the user gives.

    An index of pandas is the first column, unless it numbers the rows.
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if path.suffix == ".parquet":
            with opened(path, False) as stream, expecting("a Parquet file", str(path)):
                return RawTable(*table_columns(open_parquet(stream).read()))
        with opened(path, path.suffix == ".gz") as stream:
            return _read_text(stream, str(path), nodes, content, set(chosen))
    if not is_table(source):
        raise InputError(
            f"{content} are read from a file (.csv, .tsv, .parquet), or a table of pandas, polars, "
            f"Arrow or DuckDB, not from a {type(source).__name__}"
        )
    names, columns = table_columns(source)
    if hasattr(source, "iloc") and not is_default_index(source.index):
        names, columns = [source.index.name or "index", *names], [source.index.tolist(), *columns]
    return RawTable(names, columns)


def _read_text(
    stream: BinaryIO, name: str, nodes: NamedRows, content: str, chosen: set[Any]
) -> RawTable:
    """Read delimited text; equal fields are one string, so that classes take little memory."""
    comments = "" if marks_begin_ids(nodes.ids) else None
    how: Any = {"comments": comments, "chunk_bytes": SMALL_CHUNK_BYTES}
    text = open_text(stream, name, content, **how)
    heads = [[field.decode() for field in row] for row in text.heads]
    has_names = _begins_with_names(heads, nodes, chosen, content == "labels")
    names: list[Any] = heads[0] if has_names else []
    columns: list[list[Any]] = [[] for _ in names]
    lines, fields = array("q"), dict[str, str]()
    for line, row in text.rows(has_names):
        width = max((place for place, field in enumerate(row, 1) if field), default=0)
        if has_names and width > len(names):
            raise InputError(
                f"{name}, line {line}: this line has {width} columns, but the header names "
                f"{len(names)}"
            )
        if width:  # else delimiters alone, as spreadsheets write them
            if not has_names:
                columns += [[None] * len(lines) for _ in range(len(columns), len(row))]
            for column, field in zip_longest(columns, row[: len(columns)]):
                column.append(field and fields.setdefault(field, field))
            lines.append(line)
    while columns and not (has_names or any(columns[-1])):
        columns.pop()  # of delimiters at the ends of lines
    skipped = (f"{counted(text.comments, 'comment')} skipped",) if text.comments else ()
    notes = ("a header" if has_names else "no header", text.dialect.separation, *skipped)
    return RawTable(names or [*range(1, len(columns) + 1)], columns, lines, has_names, notes)


def _begins_with_names(
    heads: list[list[str]], nodes: NamedRows, chosen: set[Any], strict: bool
) -> bool:
    """Return whether the first line of a text names the columns: known names, or no node.

    Numbers are names only above nodes, and so is any unknown word, if this is to be `strict`.
    """
    first, *others = heads
    as_id = id_reader(nodes)

    def is_node(word: str) -> bool:
        return as_id(word) in nodes

    if is_node(first[0]):
        return False
    if any(word in chosen or is_known_column(word) for word in first):
        return True
    numbers = [NUMBER.fullmatch(word.encode()) is not None for word in first]
    above_nodes = bool(others) and all(is_node(row[0]) for row in others)
    wider = any(len(row) > len(first) for row in others)
    named = not (numbers[0] or wider or any(map(is_node, first)))
    return named and (above_nodes or not (strict or any(numbers)))


def is_table(source: Any) -> bool:
    """Return whether an object is a table of pandas, polars, Arrow or DuckDB."""
    kinds = [(kind.__module__, kind.__name__) for kind in type(source).__mro__]
    return any((module.split(".")[0].strip("_"), name) in _TABLES for module, name in kinds)


def table_columns(table: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return the names and the values of the columns of a table."""
    if hasattr(table, "collect") and not hasattr(table, "get_columns"):
        table = table.collect()  # of polars, lazy
    if hasattr(table, "iloc"):
        names = table.columns.tolist()
        return names, [table.iloc[:, place].tolist() for place in range(len(names))]
    if hasattr(table, "get_columns"):
        return list(table.columns), [column.to_list() for column in table.get_columns()]
    if not hasattr(table, "column_names"):
        table = import_arrow("reading a DuckDB relation")[0].table(table)
    return list(table.column_names), [column.to_pylist() for column in table.columns]


def is_default_index(index: Any) -> bool:
    """Return whether an index is the default that pandas makes."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


# -- columns and ids -----------------------------------------------------------------------------


def is_known_column(name: Any) -> bool:
    """Return whether the name of a column says that it holds ids or classes."""
    return is_id_column(name) or is_label_column(name)


def is_id_column(name: Any) -> bool:
    """Return whether the name of a column says that it holds ids."""
    return str(name).strip().lower() in _ID_NAMES


def is_label_column(name: Any) -> bool:
    """Return whether the name of a column says that it holds classes."""
    return str(name).strip().lower() in _LABEL_NAMES


def column_position(names: Sequence[Any], role: str, column: str | int) -> int:
    """Return the position of the column that the user names for a role."""
    plain = [str(name).strip().lower() for name in names]
    spellings: list[tuple[list[Any], Any]] = [(list(names), column)]
    for listed, name in [*spellings, (plain, str(column).strip().lower())]:
        if listed.count(name) == 1:
            return listed.index(name)
    number = str(column)
    is_position = re.fullmatch(r"[1-9][0-9]{0,8}", number) and not has_numbers(names)
    if is_position and number not in plain and int(number) <= len(names):
        return int(number) - 1
    some = ", ".join(map(short_repr, names[:10]))
    raise InputError(
        f"{role} {short_repr(column)} is no column, or several; there are {some}",
        parameter=role,
        value=column,
    )


def id_reader(nodes: NamedRows) -> Callable[[Any], Any]:
    """Return the function that makes an id of a value: of text integers, if all ids are."""

    def integer(word: Any) -> Any:
        short = isinstance(word, str) and SHORT_INTEGER.fullmatch(word.encode(errors="replace"))
        return int(word) if short else word

    return integer if nodes.ids.dtype == np.int64 else lambda value: value


def rows_of(values: Iterable[Any], nodes: NamedRows) -> list[int]:
    """Return the row of the node that each value names; -1 for values that are no nodes."""
    as_id = id_reader(nodes)

    def row(value: Any) -> int:
        try:
            node = as_id(value)
            return nodes.row(node) if node in nodes else -1
        except TypeError:  # not hashable
            return -1

    return [row(value) for value in values]


def no_nodes(values: Sequence[Any], nodes: NamedRows, what: str) -> InputError:
    """Return the error for ids none of which is a node."""
    such = f"are such as {short_repr(values[0])}" if len(values) else "are none"
    return InputError(
        f"none of {what} is a node: they {such}, expected ids such as "
        f"{short_repr(nodes.ids[:1].tolist()[0])}"
    )


# -- the user's columns ------------------------------------------------------------------------


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
    source : path, table of pandas, polars, Arrow or DuckDB, or dict
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
    if isinstance(source, Mapping):
        if id is None and not any(_holds_ids(name, source[name], nodes) for name in source):
            notes: list[str] = []
            columns = [_in_row_order(name, source[name], nodes, notes) for name in source]
            return NodeTable(_different(list(source)), columns, notes)
        table = RawTable(list(source), [_listed(name, source[name]) for name in source])
        return _matched(table, nodes, id)
    table = read_table(source, nodes, "columns", [] if id is None else [id])
    with naming(str(source) if isinstance(source, (str, os.PathLike)) else ""):
        return _matched(table, nodes, id)


def _holds_ids(name: Any, values: Any, nodes: NamedRows) -> bool:
    """Return whether a column of a dict is one of ids: by its name, and a list that holds nodes.

    A list of another length cannot be in row order.
    """
    if not is_id_column(name) or isinstance(values, Mapping):
        return False
    listed = _listed(name, values)
    return len(listed) != len(nodes) or max(rows_of(listed, nodes), default=-1) >= 0


def _listed(name: Any, values: Any) -> list[Any]:
    """Return the values of a column of a dict as a list."""
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise InputError(
            f"expected a list of values in the column {short_repr(name)}, not {short_repr(values)}"
        )
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _in_row_order(name: Any, values: Any, nodes: NamedRows, notes: list[str]) -> list[Any]:
    """Return the values of a column that is a list in row order, or a dict {id: value}.

    Appends to the notes what was left out.
    """
    if hasattr(values, "iloc") and not is_default_index(values.index):  # a Series of pandas
        values = dict(zip(values.index.tolist(), values.tolist(), strict=True))
    if isinstance(values, Mapping):
        strangers = [node for node in values if node not in nodes]
        if values and len(strangers) == len(values):
            raise no_nodes(strangers, nodes, f"the ids in the column {short_repr(name)}")
        if strangers:
            left = counted(len(strangers), "value")
            such = _such_as(strangers)
            notes.append(f'left out {left} of "{excerpt(str(name))}" without a known node{such}')
        return [values.get(node) for node in nodes.ids.tolist()]
    listed = _listed(name, values)
    if len(listed) != len(nodes):
        raise InputError(
            f"the column {short_repr(name)} has {counted(len(listed), 'value')}, expected one for "
            f"each of {counted(len(nodes), 'node')}; or give a dict {{id: value}}"
        )
    return listed


def _matched(table: RawTable, nodes: NamedRows, id: str | int | None) -> NodeTable:
    """Return the columns beside the one of ids, in the order of the nodes."""
    names, columns = table.names, table.columns
    if not table.has_names:
        names = [f"column {number}" for number in names]
    if len({len(column) for column in columns}) > 1:
        raise InputError("the columns have different numbers of values")
    place, rows = _ids_among(names, columns, nodes, id)
    values = columns[place]
    first = {row: number for number, row in reversed([*enumerate(rows)])}
    strangers = [value for value, row in zip(values, rows, strict=True) if row < 0]
    first.pop(-1, None)
    if not first:
        raise no_nodes(values, nodes, f"the ids in the column {short_repr(str(names[place]))}")
    notes = []
    if strangers:
        such = _such_as([value for value in strangers if value != "" and not is_missing(value)])
        notes.append(f"left out {counted(len(strangers), 'line')} without a known node{such}")
    if repeated := len(rows) - len(strangers) - len(first):
        repeat = "line repeats" if repeated == 1 else "lines repeat"
        notes.append(f"{repeated:,} {repeat} a node: its first line counts")
    if len(first) < len(nodes):
        notes.append(f"no values for {counted(len(nodes) - len(first), 'node')}")
    if id is None and (notes or not is_id_column(names[place])):  # else there is no doubt
        notes.insert(0, f'nodes from "{excerpt(str(names[place]))}"')
    others = [number for number in range(len(names)) if number != place]
    of_nodes = [first.get(row) for row in range(len(nodes))]
    if table.lines:  # an empty field of text is no value
        columns = [[value or None for value in column] for column in columns]
    matched = [
        [None if number is None else columns[other][number] for number in of_nodes]
        for other in others
    ]
    return NodeTable(
        _different([names[other] for other in others]), matched, [*notes, *table.notes]
    )


def _ids_among(
    names: Sequence[Any], columns: list[list[Any]], nodes: NamedRows, id: str | int | None
) -> tuple[int, list[int]]:
    """Return which column holds the ids, a known name that holds nodes or else most nodes, and the
    rows of its nodes.
    """
    if not columns or not columns[0]:
        raise InputError("expected columns of nodes, found none")
    if id is not None:
        place = column_position(names, "id", id)
        return place, rows_of(columns[place], nodes)
    rows = [rows_of(column, nodes) for column in columns]
    distinct = [len({*each} - {-1}) for each in rows]
    known = [place for place, name in enumerate(names) if is_id_column(name) and distinct[place]]
    place = max(known or range(len(names)), key=lambda place: (distinct[place], -place))
    total = len(rows[place]) - rows[place].count(-1)
    if not known and total > _REPEATED * distinct[place]:
        raise InputError(
            f"no column is one of ids: {short_repr(str(names[place]))} holds most nodes, but "
            'repeats them; call the column of ids "id", or give a dict of lists in the order of '
            "the nodes"
        )
    return place, rows[place]


def _such_as(strangers: Sequence[Any]) -> str:
    """Return an example of ids that are no nodes, in brackets."""
    more = ", ..." if len(strangers) > 1 else ""
    return f" ({excerpt(str(strangers[0]))}{more})" if strangers else ""


def _different(names: Sequence[Any]) -> list[str]:
    """Return names that are all different and not empty."""
    uses: dict[str, int] = {}  # of each name, with a number or without
    for number, name in enumerate(names, 1):
        plain = text = str(name).strip() or f"column {number}"
        while text in uses:
            uses[plain] += 1
            text = f"{plain} ({uses[plain]})"
        uses[text] = 1
    return list(uses)
