"""Edges in tables of pandas, polars, Arrow and DuckDB, and how edges are to be read.

No package is imported for a table: whoever has one has imported its package. A table of another
package is a function that returns a `_Table`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, python_setting, short_repr
from .._util.ids import Ids, as_ids, number_integers, number_objects
from .._util.machine import check_memory
from .._util.progress import counted
from ._lines import INTEGER
from ._parquet import import_arrow
from .columns import BY_THE_RULE, ColumnChoice, Table, choose_columns, has_names
from .edges import (
    DEFAULT_SIDES,
    Edges,
    checked_weights,
    refuse_rounded,
    refuse_shared_ids,
    split_sides,
)
from .id_texts import notes_of_ids
from .opening import expecting

_HEAD = 100  # rows by which columns of numbers are recognised, as in text
_MANY = 1 << 16  # strings that are worth the time to import pyarrow
_BYTES_OF_STRING = 70  # of short ones, with a reference
_PLACE = " in Graph.from_any"  # which takes the options that a message names


@dataclass(frozen=True)
class EdgeOptions:
    """How edges are to be read; None: as the object or file itself says."""

    directed: bool | None = None
    weighted: bool | None = None
    columns: ColumnChoice = BY_THE_RULE
    bipartite: bool | None = None

    def edges(
        self,
        ends: NDArray[np.int32],
        weights: Any,
        ids: Ids,
        directed: bool = False,
        *,
        sides: tuple[str, str] | None = None,
        notes: tuple[str, ...] = (),
    ) -> Edges:
        """Return checked edges.

        Parameters
        ----------
        ends, weights, ids : as in Edges
            The edges.
        directed : bool
            What the object itself says.
        sides : tuple of str, optional
            Names of the columns of sources and targets.
        notes : tuple of str
            What to report.
        """
        if self.weighted is False:
            weights = None
        if self.weighted and weights is None:
            raise InputError(
                "weighted=True, but the edges carry no weights", settings=[("weighted", True)]
            )
        if weights is not None:
            weights = _usable_weights(weights, ends, ids)
        notes = (*notes, *notes_of_ids(ends, ids))
        directed = directed if self.directed is None else self.directed
        edges = Edges(ends, weights, ids, directed, notes)
        if self.bipartite:
            return split_sides(edges, sides or DEFAULT_SIDES)
        if sides is not None and self.bipartite is None:
            refuse_shared_ids(ends, ids, sides)
        return edges

    def refuse_for(self, what: str, *, bipartite: bool = False) -> None:
        """Raise InputError for options that edges without columns do not have."""
        settings = list(self.columns.given.items())
        if self.bipartite and not bipartite:
            settings.append(("bipartite", True))
        for setting in settings:
            raise InputError(
                f"{python_setting(*setting)} is for tables and edge lists, not for {what}",
                settings=[setting],
            )


def _usable_weights(weights: Any, ends: NDArray[np.int32], ids: Ids) -> NDArray[np.float64]:
    """Return weights as an array; InputError names the edge whose weight cannot be used."""

    def refusal(edge: int, weight: float) -> InputError:
        source, target = ids[ends[edge]].tolist()
        return InputError(
            f"the edge from {short_repr(source)} to {short_repr(target)} has the weight "
            f"{weight:g}: weights must be positive and finite (weighted=False leaves them out)",
            settings=[("weighted", False)],
        )

    return checked_weights(weights, len(ends), refusal)


# -- tables of other packages ------------------------------------------------------------------


class _Column(NamedTuple):
    """Values of a column, and which are missing. Strings of Arrow stay a column of Arrow."""

    values: Any
    missing: NDArray[np.bool_]

    def known(self) -> list[Any]:
        """Return the values that are not missing."""
        return list(_as_array(self.values)[~self.missing])


class _Table(NamedTuple):
    """A table of another package, of which only the columns that are used are read."""

    names: list[Any]
    type_of: Callable[[int], str]
    """What the type of a column says: "i" for integers, "f" for other numbers, "O" for objects."""
    read: Callable[[list[int], int | None], list[_Column]]
    """Returns columns at once: what computes a table again might order its rows in another way."""


def edges_from_pandas(frame: Any, options: EdgeOptions) -> Edges:
    """Convert a pandas DataFrame."""

    def type_of(place: int) -> str:
        values = frame.iloc[:, place]
        if values.dtype.kind != "O":
            return str(values.dtype.kind)
        known = values.dropna().head(_HEAD)  # a database's decimals are objects
        numbers = len(known) and all(
            isinstance(value, Number) and not isinstance(value, bool) for value in known
        )
        return "f" if numbers else "O"

    def read(places: list[int], rows: int | None) -> list[_Column]:
        columns = [frame.iloc[:rows, place] for place in places]
        return [_Column(column.to_numpy(), column.isna().to_numpy()) for column in columns]

    return _edges_from(_Table(list(frame.columns), type_of, read), options, _PLACE)


def edges_from_polars(frame: Any, options: EdgeOptions) -> Edges:
    """Convert a polars DataFrame, or a LazyFrame, of which only the used columns are collected."""
    lazy = frame.lazy()
    schema = lazy.collect_schema()
    names = schema.names()

    def type_of(place: int) -> str:
        dtype = schema[names[place]]
        return "i" if dtype.is_integer() else "f" if dtype.is_numeric() else "O"

    def read(places: list[int], rows: int | None) -> list[_Column]:
        part = lazy.select([names[place] for place in places])
        columns = (part if rows is None else part.head(rows)).collect().get_columns()
        with expecting("a table of numbers and strings"):
            return [_Column(column.to_numpy(), column.is_null().to_numpy()) for column in columns]

    return _edges_from(_Table(names, type_of, read), options, _PLACE)


def edges_from_duckdb(relation: Any, options: EdgeOptions) -> Edges:
    """Convert a DuckDB relation; the database computes only the columns that are used."""
    import_arrow("reading a DuckDB relation")

    def read(names: list[str]) -> Any:
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        return relation.project(", ".join(quoted)).to_arrow_table()

    schema = relation.limit(0).to_arrow_table().schema
    return edges_from_arrow(schema, read, options, _PLACE)


def edges_from_arrow_table(table: Any, options: EdgeOptions) -> Edges:
    """Convert a pyarrow Table."""
    return edges_from_arrow(table.schema, table.select, options, _PLACE)


def edges_from_arrow_stream(source: Any, options: EdgeOptions) -> Edges:
    """Convert anything that exports a stream of Arrow batches, which can be read only once."""
    pyarrow, _ = import_arrow("reading a stream of Arrow")
    with expecting("a table of edges"):
        table = pyarrow.RecordBatchReader.from_stream(source).read_all()
    return edges_from_arrow_table(table, options)


def edges_from_arrow(
    schema: Any, read: Callable[[list[str]], Any], options: EdgeOptions, place: str = ""
) -> Edges:
    """Convert a table with an Arrow schema; each distinct string is converted once.

    Parameters
    ----------
    schema : pyarrow.Schema
        Names and types of all columns.
    read : function
        Returns a pyarrow Table of the columns with the given names.
    options : EdgeOptions
        How to read it.
    place : str
        Where the user gives options, see :class:`Table`.
    """
    names = schema.names
    if len(set(names)) < len(names):
        raise InputError(f"two columns of the table have the same name: {', '.join(names)}")

    def type_of(place: int) -> str:
        text = str(schema.field(place).type)
        if text.startswith(("int", "uint")):
            return "i"
        return "f" if text.startswith(("float", "double", "halffloat", "decimal")) else "O"

    def read_columns(places: list[int], rows: int | None) -> list[_Column]:
        table = read([names[place] for place in places])
        with expecting("a table of numbers and of strings in UTF-8"):
            return [_arrow_column(table.column(name).slice(0, rows)) for name in table.column_names]

    return _edges_from(_Table(names, type_of, read_columns), options, place)


def _arrow_column(column: Any) -> _Column:
    """Return a column of Arrow, as an array unless it holds strings.

    Where a word of a dictionary is missing, `is_null` would not find it.
    """
    import pyarrow

    type_of_words = column.type
    if pyarrow.types.is_dictionary(column.type):
        type_of_words = column.type.value_type
        known = not any(chunk.dictionary.null_count for chunk in column.chunks)
        if not (known and _is_string(type_of_words)):
            column = column.cast(type_of_words)
    missing = column.is_null().to_numpy()
    return _Column(column if _is_string(type_of_words) else column.to_numpy(), missing)


def _as_array(values: Any) -> NDArray[Any]:
    """Return values as an array.

    Where a value of a dictionary is missing, `to_numpy` would return the last word of it.
    """
    if isinstance(values, np.ndarray):
        return values
    with expecting("a table of numbers and of strings in UTF-8"):
        array: NDArray[Any] = values.cast("large_string").to_numpy()
    return array


def _is_string(arrow_type: Any) -> bool:
    return str(arrow_type) in ("string", "large_string", "null")


# -- edges ---------------------------------------------------------------------------------------


def _edges_from(table: _Table, options: EdgeOptions, place: str) -> Edges:
    """Convert a table."""

    def numbers(column: int) -> NDArray[np.float64]:
        return np.array(table.read([column], _HEAD)[0].known(), np.float64)

    header = Table(
        table.names,
        lambda column: table.type_of(column) in "iuf",
        lambda column: _is_ascending(table.read([column], None)[0].values),
        has_names(table.names),
        numbers=numbers,
        place=place,
    )
    chosen = choose_columns(header, options.columns, options.weighted)
    columns = dict(zip(chosen.used, table.read(chosen.used, None), strict=True))
    for column in chosen.ids:
        _refuse_missing(columns[column].missing, table.names[column])
    ends = [_whole_numbers(columns[column].values, table.names[column]) for column in chosen.ids]
    codes, ids = _number(*ends)
    if ids.dtype == object and not options.bipartite:
        _refuse_two_kinds(ids, header.listed(chosen.ids))
    weights = None if chosen.weight is None else _as_array(columns[chosen.weight].values)
    return options.edges(
        codes.reshape(-1, 2), weights, ids, sides=header.sides(chosen), notes=chosen.notes
    )


def _is_ascending(values: Any) -> bool:
    """Return whether values are whole numbers from 0 on, each larger than the one before."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype.kind in "iu"
        and bool(np.all(values[:1] >= 0) and np.all(values[1:] > values[:-1]))
    )


def _refuse_missing(missing: NDArray[np.bool_], name: Any) -> None:
    """Raise InputError for the first row whose node id is missing."""
    if missing.any():
        raise InputError(
            f"row {int(np.argmax(missing)):,} (counted from 0): the node id in column "
            f'"{excerpt(str(name))}" is missing'
        )


def _whole_numbers(values: Any, name: Any) -> Any:
    """Return node ids as integers if they are whole numbers, else as they are."""
    if not isinstance(values, np.ndarray):
        return values
    column = f'column "{excerpt(str(name))}"'
    if values.dtype.kind == "f":
        _refuse_missing(np.isnan(values), name)
    if values.dtype.kind in "mM" and any(type(time) is int for time in values.tolist()):
        raise InputError(
            f"the node ids in {column} are times that Python cannot hold (nanoseconds, or years "
            "beyond 9999): convert them to text"
        )
    if values.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):
            whole = values.astype(np.int64)
        if np.array_equal(whole, values):
            refuse_rounded(values, column)
            return whole
    if values.dtype == object and all(map(_is_whole_decimal, values)):  # those of a database
        return as_ids([int(number) for number in values])
    return values


def _is_whole_decimal(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and value == int(value)


def _number(first: Any, second: Any) -> tuple[NDArray[np.int32], Ids]:
    """Number the ids of two columns; codes alternate between the columns."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.dtype == second.dtype == np.int64:
            return number_integers(np.stack([first, second], axis=1).ravel())
        first, second = _as_words(first), _as_words(second)
    are_words = not (isinstance(first, np.ndarray) or isinstance(second, np.ndarray))
    if are_words and first.type == second.type:
        return _number_strings(first, second)
    columns = [_as_array(column).tolist() for column in (first, second)]
    return number_objects((), list(zip(*columns, strict=True)))


def _as_words(values: NDArray[Any]) -> Any:
    """Return many strings as a column of Arrow, if there is pyarrow, which numbers them sooner."""
    if values.dtype == object and len(values) > _MANY:
        with suppress(ImportError, ValueError, TypeError, NotImplementedError):  # other objects
            import pyarrow

            words = pyarrow.chunked_array([values])
            if _is_string(words.type):
                return words
    return values


def _number_strings(first: Any, second: Any) -> tuple[NDArray[np.int32], Ids]:
    """Number the ids of two columns of Arrow of one type."""
    import pyarrow

    both = pyarrow.chunked_array([*first.chunks, *second.chunks], first.type)
    with expecting("a table of node ids in UTF-8"):
        # what is encoded here has one dictionary already: to unify it took seven times as long
        is_dictionary = pyarrow.types.is_dictionary(both.type)
        both = both.unify_dictionaries() if is_dictionary else both.dictionary_encode()
    parts = [np.asarray(chunk.indices, np.int64) for chunk in both.chunks]
    flat = np.concatenate([np.empty(0, np.int64), *parts]).reshape(2, -1).T.ravel()
    codes, order = number_integers(flat)
    words = both.chunk(0).dictionary if both.num_chunks else pyarrow.array([], pyarrow.string())
    check_memory(
        _BYTES_OF_STRING * len(order) + words.nbytes,
        f"the names of {counted(len(order), 'node')}",
        place="further memory",
    )
    ids = np.empty(len(order), object)
    with expecting("a table of node ids in UTF-8"):
        ids[:] = words.take(pyarrow.array(order)).to_pylist()
    return codes, ids


def _refuse_two_kinds(ids: Ids, columns: str) -> None:
    """Raise InputError if ids are integers and strings that look like integers: 1 and "2"."""
    words = [node for node in ids.tolist() if isinstance(node, str)]
    numbers = [] if len(words) == len(ids) else [node for node in ids if type(node) is int]
    if (
        words
        and numbers
        and all(INTEGER.fullmatch(word.encode(errors="replace")) for word in words)
    ):
        raise InputError(
            f"the node ids in {columns} are integers, such as {numbers[0]}, but also strings of "
            f"digits, such as {short_repr(words[0])}: write both alike"
        )
