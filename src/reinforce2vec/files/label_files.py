"""Labels of nodes in files and tables: which columns hold ids and classes, matched by ids."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, python_setting, short_repr
from .._util.ids import NamedRows, is_missing
from .._util.machine import Advice, check_memory
from .._util.progress import counted
from .id_texts import MISSING_SPELLINGS
from .node_tables import (
    RawTable,
    column_position,
    id_reader,
    is_id_column,
    is_label_column,
    no_nodes,
    read_table,
    rows_of,
)
from .opening import naming

_ALL = "all"
_MOST, _FEW = 0.9, 0.5  # shares of nodes in a column of ids, and in one of something else
_MANY = 1000  # classes: so many have several nodes each
_SEVERAL = (list, tuple, set, frozenset, np.ndarray)


class NamedLabels(NamedTuple):
    """Which classes each node is in, and the names of the classes."""

    matrix: NDArray[np.bool_]
    """(n_nodes, classes)"""
    names: list[str]
    """Names of the classes, in alphabetical order."""
    strangers: list[Any]
    """Ids with labels that are not among the nodes; their labels were ignored."""
    unused: list[str] = []  # noqa: RUF012
    """Names of columns that hold neither ids nor classes."""
    column: str | None = None
    """Name of the column that holds the classes; None if it has none, or there are several."""
    notes: tuple[str, ...] = ()
    """What was decided when a file was read, such as whether it has a header."""

    @property
    def display(self) -> NDArray[np.int32]:
        """One class of each node, to colour it by, as in :func:`one_class`."""
        return one_class(self.matrix)


def one_class(matrix: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return one class for each row of a matrix (nodes, classes); -1 for a row without classes.

    Of several classes it is the one with the most nodes, and of equally large ones the first.

    Examples
    --------
    >>> one_class(np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]], bool))
    array([ 2,  2, -1], dtype=int32)
    """
    chosen = np.full(len(matrix), -1, np.int32)
    for number in np.argsort(-matrix.sum(axis=0), kind="stable"):
        chosen[(chosen < 0) & matrix[:, number]] = number
    return chosen


def read_labels(
    source: Any,
    nodes: NamedRows,
    *,
    label: str | int | None = None,
    id: str | int | None = None,
) -> NamedLabels:
    """Read which classes nodes are in, from a file or a table with ids and classes.

    Everything that takes labels takes such a file or table itself; use this function to name the
    columns. Nodes are matched by ids: those that are not in the file or table have no class, and
    what is there of other nodes is left out.

    Parameters
    ----------
    source : path, or table of pandas, polars, Arrow or DuckDB
        A text file has a node and its class a line, separated by tabs, commas, semicolons, bars or
        whitespace; it may be compressed (.gz), begin with the names of its columns, and have fields
        in double quotes as edge lists have. A node in several classes has several lines. A table
        has a column of ids or, with pandas, an index of ids.
    nodes : Graph or Embedding
        The nodes, as rows.
    label : str or int, optional
        The column of the classes, by its name, or by its number from 1; "all" if every column but
        the ids holds classes, as in lines `id class class`. By default the only column beside the
        ids, or the only one with a name such as label, class, group or category.
    id : str or int, optional
        The column of the ids, likewise. By default the only one with a name such as id, node,
        user_id or name; of several, the only one that holds nodes; without such names the first.

    Returns
    -------
    NamedLabels
        A tuple: a boolean matrix (nodes, classes), the names of the classes, ids that are not among
        the nodes, and the columns that were not used.

    Raises
    ------
    InputError
        If columns are ambiguous, or none of the nodes is known.

    Examples
    --------
    >>> import pandas, reinforce2vec as r2v
    >>> staff = pandas.DataFrame({"id": ["ann", "bob"], "team": ["x", "y"], "age": [40, 50]})
    >>> graph = r2v.Graph.from_edges([("bob", "ann"), ("bob", "cid")])
    >>> labels = r2v.read_labels(staff, graph, label="team")
    >>> labels.names, labels.matrix.astype(int).tolist()
    (['x', 'y'], [[0, 1], [1, 0], [0, 0]])
    """
    table = read_table(source, nodes, "labels", [label, id])
    is_file = isinstance(source, (str, os.PathLike))
    with naming(str(source) if is_file else ""):
        return _labels_in(table, nodes, label, id, str(source))


def _labels_in(
    table: RawTable, nodes: NamedRows, label: str | int | None, id: str | int | None, name: str
) -> NamedLabels:
    """Return the labels in a table; `name` is that of the file, if it is one."""
    names, columns = table.names, table.columns
    of_ids, chosen = _choose_columns(table, nodes, label, id)
    if table.lines:
        of_text = columns[of_ids], columns[min(chosen)]
        for line, node, word in zip(table.lines, *of_text, strict=True):
            if not node or word is None:
                raise InputError(f"{name}, line {line}: expected a node id and a label")
    as_id = id_reader(nodes)
    classes = zip(*(columns[place] for place in chosen), strict=True)
    pairs = (
        (as_id(node), [one for value in values for one in classes_in(value) if one != ""])
        for node, values in zip(columns[of_ids], classes, strict=True)
    )
    labels = labels_by_id(pairs, nodes)
    missing = [
        f'the class "{name}", of {counted(int(labels.matrix[:, place].sum()), "node")}, may be a '
        "missing value"
        for place, name in enumerate(labels.names)
        if table.lines and name in MISSING_SPELLINGS
    ]
    labels = labels._replace(notes=(*table.notes, *missing))
    if not table.has_names:
        return labels
    used = {of_ids, *chosen}
    unused = [str(name) for place, name in enumerate(names) if place not in used]
    column = str(names[chosen[0]]) if len(chosen) == 1 else None
    return labels._replace(unused=unused, column=column)


def classes_in(value: Any) -> list[Any]:
    """Return the classes that a value names: one, several in a list, or none."""
    several = value if isinstance(value, _SEVERAL) else [value]
    return [one for one in several if not is_missing(one)]


# -- columns -------------------------------------------------------------------------------------


def _choose_columns(
    table: RawTable, nodes: NamedRows, label: str | int | None, id: str | int | None
) -> tuple[int, list[int]]:
    """Return which column holds the ids, and which hold classes."""
    names = table.names
    named = None if label is None or label == _ALL else column_position(names, "label", label)
    of_ids = _find_ids(table, nodes, named) if id is None else column_position(names, "id", id)
    others = [place for place in range(len(names)) if place != of_ids]
    if not others:
        raise InputError("expected a column of node ids and one of labels, found one column")
    if named == of_ids:
        raise InputError(
            f"the column {short_repr(names[of_ids])} holds the ids of nodes, expected labels",
            parameter="label",
            value=label,
        )
    if named is not None:
        return of_ids, [named]
    if label == _ALL or len(others) == 1:
        return of_ids, others
    known = [place for place in others if table.has_names and is_label_column(names[place])]
    if len(known) == 1:
        return of_ids, known
    shown = [short_repr(names[i]) if table.has_names else f"column {names[i]}" for i in others]
    listed = ", ".join(shown[:10]) + (f" and {len(shown) - 10} more" if shown[10:] else "")
    settings = [("label", names[(known or others)[0]]), ("label", _ALL)]
    single, every = (python_setting(*setting) for setting in settings)
    raise InputError(
        f"which column holds the labels? There are {listed}: {single} takes a single one, and "
        f"{every} takes all of them for classes",
        settings=settings,
    )


def _find_ids(table: RawTable, nodes: NamedRows, of_labels: int | None) -> int:
    """Return the only column with a name of ids, or the only such one that has nodes, or the first.

    A "name" may be a class, if the user says so.
    """
    likely: list[int] = []
    for place, name in enumerate(table.names):
        is_new = all(table.columns[place] != table.columns[other] for other in likely)
        if place != of_labels and table.has_names and is_id_column(name) and is_new:
            likely.append(place)
    if len(likely) < 2:
        return (likely or [0])[0]
    rows = [rows_of(table.columns[place], nodes) for place in likely]
    shares = [1 - each.count(-1) / max(1, len(each)) for each in rows]
    (second, _), (first, best) = sorted(zip(shares, likely, strict=True))[-2:]
    if second == 0 or (first >= _MOST and second < _FEW):
        return best
    settings = [
        ("id", table.names[place]) for place, share in zip(likely, shares, strict=True) if share
    ]
    spelled = " or ".join(python_setting(*setting) for setting in settings)
    raise InputError(
        f"which column holds the ids of nodes? Several may: pass {spelled}", settings=settings
    )


# -- matching by ids ---------------------------------------------------------------------------


def labels_by_id(pairs: Iterable[tuple[Any, list[Any]]], nodes: NamedRows) -> NamedLabels:
    """Return the classes of nodes, from pairs of an id and its classes; ids may come repeatedly."""
    known = ClassPairs()
    strangers: dict[Any, None] = {}
    any_known = False
    try:
        for node, classes in pairs:
            if node in nodes:
                any_known = True
                known.add(nodes.row(node), classes)
            else:
                strangers[node] = None
    except TypeError as error:
        raise InputError(f"ids and classes must be hashable: {error}") from None
    if not any_known:
        raise no_nodes(list(strangers), nodes, "the ids with labels")
    names, matrix = known.indicators(len(nodes))
    return NamedLabels(matrix, [str(name) for name in names], list(strangers))


class ClassPairs:
    """Rows of nodes and the classes that they are in, 16 bytes for each such pair."""

    def __init__(self) -> None:
        """Make an empty list."""
        self._numbers: dict[Any, int] = {}  # of classes, in the order in which they came
        self._rows, self._classes = array("q"), array("q")

    def add(self, row: int, classes: Iterable[Any]) -> None:
        """Put a node into classes; TypeError if one is not hashable."""
        for name in classes:
            self._rows.append(row)
            self._classes.append(self._numbers.setdefault(name, len(self._numbers)))

    def indicators(self, n_nodes: int) -> tuple[list[Any], NDArray[np.bool_]]:
        """Return the classes, sorted if possible, and which nodes are in them.

        InputError if there are so many that they cannot be classes, or do not fit into the memory.
        """
        names = list(self._numbers)
        with suppress(TypeError):
            names.sort()
        rows, classes = map(np.asarray, (self._rows, self._classes))
        labelled = len(np.unique(rows))
        if len(names) > _MANY and 2 * len(names) > len(rows):
            raise InputError(
                f"there are {len(names):,} classes for {counted(labelled, 'node')}, fewer than two "
                "nodes in a class: these may be names or numbers; expected classes that many nodes "
                "share"
            )
        check_memory(
            n_nodes * len(names),
            f"a matrix of {counted(n_nodes, 'node')} and {len(names):,} classes",
            lambda _: Advice("use labels with fewer classes"),
        )
        places = np.empty(len(names), np.int64)
        places[[self._numbers[name] for name in names]] = np.arange(len(names))
        matrix = np.zeros((n_nodes, len(names)), bool)
        matrix[rows, places[classes]] = True
        return names, matrix
