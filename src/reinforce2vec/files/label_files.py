"""Labels of nodes in text files and tables: which columns hold ids and classes, matched by ids."""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, python_setting, short_repr
from .._util.ids import NamedRows, is_missing
from .._util.machine import Advice, check_memory
from .._util.progress import counted
from ._lines import NUMBER, SHORT_INTEGER, SMALL_CHUNK_BYTES
from .columns import has_numbers
from .delimited import DelimitedText
from .id_texts import MISSING_SPELLINGS, marks_begin_ids
from .opening import naming, opened

# Names of columns, in lower case.
_ID_NAMES = (
    *("id", "node", "node_id", "nodeid", "vertex", "vertex_id", "user", "user_id", "userid"),
    *("key", "name", "username", "index"),
)
_LABEL_NAMES = (
    *("label", "labels", "class", "classes", "group", "groups", "category", "categories"),
    *("community", "communities", "department", "dept", "cluster", "topic", "subject", "field"),
)
_ALL = "all"
_MOST, _FEW = 0.9, 0.5  # shares of nodes in a column of ids, and in one of something else
_TABLES = {
    *(("pandas", "DataFrame"), ("pyarrow", "Table")),
    *(("polars", "DataFrame"), ("polars", "LazyFrame")),
}
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
    source : path, or table of pandas, polars or Arrow
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
    if isinstance(source, (str, os.PathLike)):
        return _from_file(Path(source), nodes, _Choice(label, id))
    if is_table(source):
        return _from_table(source, nodes, _Choice(label, id))
    raise InputError(f"labels are read from a file or a table, not from a {type(source).__name__}")


class _Choice(NamedTuple):
    """The columns that the user names, by names or by numbers from 1."""

    label: str | int | None
    id: str | int | None


# -- files -------------------------------------------------------------------------------------


def _from_file(path: Path, nodes: NamedRows, choice: _Choice) -> NamedLabels:
    """Read a text file."""
    as_id = parse_integer if nodes.ids.dtype == np.int64 else str
    with opened(path, path.suffix == ".gz") as stream:
        comments = "" if marks_begin_ids(nodes.ids) else None
        how: Any = {"comments": comments, "choice": False, "chunk_bytes": SMALL_CHUNK_BYTES}
        text = DelimitedText(stream, str(path), "labels", **how)
        heads = [[field.decode() for field in row] for row in text.heads]
        names = heads[0] if _is_header(heads, lambda word: as_id(word) in nodes, choice) else None
        chunks = list(text.chunks(names is not None))

    def lines() -> Iterator[tuple[int, list[str]]]:  # as bytes, they take a tenth of the memory
        return ((number, row) for number, row in text.rows_in(chunks) if any(row))

    width = 0
    for number, row in lines():
        if len(row) > width:
            width = max(width, max(place for place, field in enumerate(row, 1) if field))
        if names is not None and width > len(names):
            raise InputError(
                f"{path}, line {number}: this line has {width} columns, but the header names "
                f"{len(names)}"
            )
    known = range(1, width + 1) if names is None else names

    def ids_in(place: int) -> list[Any]:
        return [as_id(row[place]) for _, row in lines() if place < len(row)]

    with naming(str(path)):
        chosen = _choose_columns(known, choice, ids_in, nodes, has_names=names is not None)

    def pairs() -> Iterator[tuple[Any, list[Any]]]:
        last = max(min(chosen.labels), chosen.id)
        for number, row in lines():
            if len(row) <= last or not row[chosen.id]:
                shown = ", ".join(row)
                raise InputError(
                    f"{path}, line {number}: expected a node id and a label: {short_repr(shown)}"
                )
            classes = [row[place] for place in chosen.labels if place < len(row) and row[place]]
            yield as_id(row[chosen.id]), classes

    with naming(str(path)):
        labels = labels_by_id(pairs(), nodes)
    notes = (*decisions(text, names is not None), *_likely_missing(labels))
    return labels._replace(unused=chosen.unused, column=chosen.name, notes=notes)


def decisions(text: DelimitedText, header: bool) -> tuple[str, ...]:
    """Return what was decided when text was read, for reports."""
    skipped = (f"{counted(text.comments, 'comment')} skipped",) if text.comments else ()
    return ("a header" if header else "no header", text.separation, *skipped)


def _likely_missing(labels: NamedLabels) -> list[str]:
    """Return notes on classes that may be missing values."""
    return [
        f'the class "{name}", of {counted(int(labels.matrix[:, place].sum()), "node")}, may be a '
        "missing value"
        for place, name in enumerate(labels.names)
        if name in MISSING_SPELLINGS
    ]


def parse_integer(word: Any) -> Any:
    """Return an id as an integer, if it is the text of one."""
    short = isinstance(word, str) and SHORT_INTEGER.fullmatch(word.encode(errors="replace"))
    return int(word) if short else word


def _is_header(heads: list[list[str]], is_node: Callable[[str], bool], choice: _Choice) -> bool:
    """Return whether the first line names the columns: it has known names, or only nodes below."""
    first = heads[0]
    if is_node(first[0]):
        return False
    if not {*choice}.isdisjoint(first) or any(map(is_known_column, first)):
        return True
    if NUMBER.fullmatch(first[0].encode()):
        return False  # an id of no node, perhaps 01
    return len(heads) > 1 and all(is_node(row[0]) for row in heads[1:])


# -- tables ------------------------------------------------------------------------------------


def is_table(labels: Any) -> bool:
    """Return whether labels are a table of pandas, polars or Arrow."""
    kinds = [(kind.__module__.split(".")[0], kind.__name__) for kind in type(labels).__mro__]
    return not _TABLES.isdisjoint(kinds)


def _from_table(table: Any, nodes: NamedRows, choice: _Choice) -> NamedLabels:
    """Return the labels in a table with ids."""
    names, columns = table_columns(table)
    index = None
    if hasattr(table, "iloc") and not is_default_index(table.index):
        index = table.index.tolist()
    if index is not None and not any(str(name).lower() in _ID_NAMES for name in names):
        names, columns = [table.index.name or "index", *names], [index, *columns]
    chosen = _choose_columns(names, choice, columns.__getitem__, nodes)
    pairs = [
        (node, [one for place in chosen.labels for one in classes_in(columns[place][row])])
        for row, node in enumerate(columns[chosen.id])
    ]
    return labels_by_id(pairs, nodes)._replace(unused=chosen.unused, column=chosen.name)


def table_columns(table: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return the names and the values of the columns of a table."""
    if hasattr(table, "collect") and not hasattr(table, "get_columns"):
        table = table.collect()  # of polars, lazy
    if hasattr(table, "iloc"):
        names = table.columns.tolist()
        return names, [table.iloc[:, place].tolist() for place in range(len(names))]
    if hasattr(table, "get_columns"):
        return list(table.columns), [column.to_list() for column in table.get_columns()]
    return list(table.column_names), [column.to_pylist() for column in table.columns]


def is_known_column(name: Any) -> bool:
    """Return whether the name of a column says that it holds ids or classes."""
    return is_id_column(name) or is_label_column(name)


def is_id_column(name: Any) -> bool:
    """Return whether the name of a column says that it holds ids."""
    return str(name).strip().lower() in _ID_NAMES


def is_label_column(name: Any) -> bool:
    """Return whether the name of a column says that it holds classes."""
    return str(name).strip().lower() in _LABEL_NAMES


def is_default_index(index: Any) -> bool:
    """Return whether an index is the default that pandas makes."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def classes_in(value: Any) -> list[Any]:
    """Return the classes that a value names: one, several in a list, or none."""
    several = value if isinstance(value, _SEVERAL) else [value]
    return [one for one in several if not is_missing(one)]


# -- columns -------------------------------------------------------------------------------------


class _Columns(NamedTuple):
    """Positions of the columns of ids and of classes, and the names of all others."""

    id: int
    labels: list[int]
    unused: list[str]
    name: str | None  # of the column of classes


def _choose_columns(
    names: Sequence[Any],
    choice: _Choice,
    ids_in: Callable[[int], list[Any]],
    nodes: NamedRows,
    *,
    has_names: bool = True,
) -> _Columns:
    """Return which columns to use; `names` are numbers from 1 where a file has no header.

    `ids_in` returns the values of a column.
    """
    label = choice.label
    plain = [str(name).strip().lower() if has_names else "" for name in names]
    if choice.id is not None:
        of_ids = column_position(names, "id", choice.id)
    else:
        likely = [place for place, name in enumerate(plain) if name in _ID_NAMES]
        left = likely
        if label is not None and label != _ALL:  # "name" may be a class, if the user says so
            named = column_position(names, "label", label)
            left = [place for place in likely if place != named]
        of_ids = _choose_ids(names, left, ids_in, nodes) if left else 0
        if len(left) < len(likely) and not any(node in nodes for node in ids_in(of_ids)):
            of_ids = named  # these are the ids, no classes
    others = [place for place in range(len(names)) if place != of_ids]
    known = [place for place in others if plain[place] in _LABEL_NAMES]
    if not others:
        raise InputError("expected a column of node ids and one of labels, found one column")
    if label == _ALL:
        chosen = others
    elif label is not None:
        chosen = [column_position(names, "label", label)]
        if chosen == [of_ids]:
            raise InputError(
                f"the column {short_repr(names[of_ids])} holds the ids of nodes, expected labels",
                parameter="label",
                value=label,
            )
    elif len(others) == 1 or len(known) == 1:
        chosen = known or others
    else:
        raise _ambiguous(names, others, (known or others)[0], has_names)
    used = {*chosen}
    unused = [str(names[place]) for place in others if place not in used]
    if not has_names:
        return _Columns(of_ids, chosen, [], None)
    return _Columns(of_ids, chosen, unused, str(names[chosen[0]]) if len(chosen) == 1 else None)


def _choose_ids(
    names: Sequence[Any],
    likely: list[int],
    ids_in: Callable[[int], list[Any]],
    nodes: NamedRows,
) -> int:
    """Return which of the columns with names of ids holds the ids: the only one that has nodes."""
    if len(likely) == 1:
        return likely[0]
    columns = {place: ids_in(place) for place in likely}
    likely = [
        place
        for number, place in enumerate(likely)
        if not any(columns[place] == columns[earlier] for earlier in likely[:number])
    ]
    shares = {
        place: sum(node in nodes for node in columns[place]) / max(len(columns[place]), 1)
        for place in likely
    }
    best = max(likely, key=shares.__getitem__)
    rest = max((share for place, share in shares.items() if place != best), default=0)
    if rest == 0 or (shares[best] >= _MOST and rest < _FEW):
        return best
    settings = [("id", names[place]) for place in likely if shares[place]]
    spelled = " or ".join(python_setting(*setting) for setting in settings)
    raise InputError(
        f"which column holds the ids of nodes? Several may: pass {spelled}",
        settings=settings,
    )


def _ambiguous(names: Sequence[Any], others: list[int], likely: int, has_names: bool) -> InputError:
    """Return the error for several columns that may hold the labels, with the choice."""
    spelled = [
        short_repr(names[place]) if has_names else f"column {names[place]}" for place in others
    ]
    listed = ", ".join(spelled[:10]) + (f" and {len(spelled) - 10} more" if spelled[10:] else "")
    settings = [("label", names[likely]), ("label", _ALL)]
    one, every = (python_setting(*setting) for setting in settings)
    return InputError(
        f"which column holds the labels? There are {listed}: {one} takes a single one, and {every} "
        "takes all of them for classes",
        settings=settings,
    )


def column_position(names: Sequence[Any], role: str, column: str | int) -> int:
    """Return the position of the column that the user names for a role."""
    plain = [str(name).strip().lower() for name in names]
    spelled: list[tuple[list[Any], Any]] = [(list(names), column)]
    spelled.append((plain, str(column).strip().lower()))
    for listed, wanted in spelled:
        if listed.count(wanted) > 1:
            raise InputError(
                f"{role} {short_repr(column)}: several columns have this name",
                parameter=role,
                value=column,
            )
        if wanted in listed:
            return listed.index(wanted)
    number = str(column)
    is_position = re.fullmatch(r"[1-9][0-9]{0,8}", number) and not has_numbers(names)
    if is_position and int(number) <= len(names):
        return int(number) - 1
    some = ", ".join(map(short_repr, names[:10]))
    raise InputError(
        f"{role} {short_repr(column)} is no column; there are {some}",
        parameter=role,
        value=column,
    )


# -- matching by ids ---------------------------------------------------------------------------


def labels_by_id(pairs: Iterable[tuple[Any, list[Any]]], nodes: NamedRows) -> NamedLabels:
    """Return the classes of nodes, from pairs of an id and its classes; ids may come repeatedly."""
    found = ClassPairs()
    strangers: dict[Any, None] = {}
    any_known = False
    for node, classes in pairs:
        try:
            if node in nodes:
                any_known = True
                found.add(nodes.row(node), classes)
            else:
                strangers[node] = None
        except TypeError:
            raise InputError(
                "ids and classes must be hashable, like numbers and strings: here are the id "
                f"{short_repr(node)} and the classes {short_repr(classes)}"
            ) from None
    if not any_known:
        such = f"ids such as {short_repr(next(iter(strangers)))}" if strangers else "no ids"
        raise InputError(
            f"none of the nodes with labels is known: they have {such}, expected ids such as "
            f"{short_repr(nodes.ids[:1].tolist()[0])}"
        )
    names, matrix = found.indicators(len(nodes))
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
