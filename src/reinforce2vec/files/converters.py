"""Edges from objects of other packages, which are recognised by their attributes.

No package is imported for this: whoever has such an object has imported its package. A new kind of
object is a function and an entry in the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, python_setting, short_repr
from .._util.ids import Ids, as_ids, is_missing, number_integers, number_objects
from .._util.machine import Advice, check_memory
from .._util.progress import counted
from ._lines import INTEGER
from ._parquet import import_arrow
from .columns import (
    BY_THE_RULE,
    ColumnChoice,
    EdgeColumns,
    Table,
    choose_columns,
    has_names,
    known_pairs,
)
from .edges import (
    DEFAULT_SIDES,
    Edges,
    check_nodes,
    checked_weights,
    number_pairs,
    refuse_masked,
    refuse_rounded,
    refuse_shared_ids,
    side_ids,
    split_sides,
)
from .id_texts import notes_of_ids
from .matrix_files import matrix_entries
from .opening import expecting

_ACCEPTED = (
    "a Graph or Dataset, a path, a networkx or igraph graph, a scipy sparse matrix, a square "
    "array, an (m, 2) array, a list of pairs or triples, a pandas, polars or Arrow table, a DuckDB "
    "relation, or a PyTorch Geometric Data"
)


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
        edges = Edges(
            ends, weights, ids, directed if self.directed is None else self.directed, notes
        )
        if self.bipartite:
            return split_sides(edges, sides or DEFAULT_SIDES)
        if sides is not None and self.bipartite is None:
            refuse_shared_ids(ends, ids, sides)
        return edges

    def refuse_for(self, what: str, *, bipartite: bool = False) -> None:
        """Raise InputError for options that edges without columns do not have."""
        for role, name in self.columns.given.items():
            raise InputError(
                f"{python_setting(role, name)} is for tables and edge lists, not for {what}",
                settings=[(role, name)],
            )
        if self.bipartite and not bipartite:
            raise InputError(
                f"bipartite=True is for tables, edge lists and matrices, not for {what}: its nodes "
                "have ids of their own",
                settings=[("bipartite", True)],
            )


def edges_from(source: Any, options: EdgeOptions) -> Edges:
    """Return the edges that an object holds; see :meth:`reinforce2vec.Graph.from_any`."""
    for recognises, convert in _CONVERTERS:
        if recognises(source):
            if convert not in _TABLES:
                options.refuse_for(f"a {type_name(source)}", bipartite=convert in _LISTS)
            return convert(source, options)
    raise InputError(f"cannot make a graph from a {type_name(source)}: expected {_ACCEPTED}")


def type_name(source: Any) -> str:
    """Return the type of an object as its users name it."""
    package = type(source).__module__.partition(".")[0]
    name = type(source).__qualname__
    return name if package == "builtins" else f"{package} {name}"


def _has(*names: str) -> Callable[[Any], bool]:
    """Return a function that tests whether an object has all of these attributes."""
    return lambda source: all(hasattr(source, name) for name in names)


def _usable_weights(weights: Any, ends: NDArray[np.int32], ids: Ids) -> NDArray[np.float64]:
    """Return weights as an array; InputError names the edge whose weight cannot be used."""

    def by_name(edge: int, weight: float) -> InputError:
        source, target = ids[ends[edge]].tolist()
        return InputError(
            f"the edge from {short_repr(source)} to {short_repr(target)} has the weight "
            f"{weight:g}: weights must be positive and finite (weighted=False leaves them out)",
            settings=[("weighted", False)],
        )

    return checked_weights(weights, len(ends), by_name)


def _ends_array(pairs: Iterable[Any], n_edges: int) -> NDArray[np.int32]:
    """Return pairs of row numbers as an (m, 2) array."""
    flat = (row for pair in pairs for row in pair)
    return np.fromiter(flat, np.int32, 2 * n_edges).reshape(-1, 2)


def fill_missing_weights(weights: list[Any]) -> list[Any] | None:
    """Return weights with 1 where an edge has none; None if no edge has a weight."""
    if all(weight is None for weight in weights):
        return None
    return [1.0 if weight is None else weight for weight in weights]


# -- networkx and igraph -----------------------------------------------------------------------


def _from_networkx(source: Any, options: EdgeOptions) -> Edges:
    """Convert a networkx graph: nodes in its own order, the edge attribute `weight`."""
    row = {node: number for number, node in enumerate(source.nodes)}
    _refuse_missing_ids(row)
    edges = list(source.edges(data="weight"))
    ends = _ends_array(((row[u], row[v]) for u, v, _ in edges), len(edges))
    weights = fill_missing_weights([weight for _, _, weight in edges])
    return options.edges(ends, weights, as_ids(list(row)), source.is_directed())


def _refuse_missing_ids(ids: Iterable[Any]) -> None:
    """Raise InputError if an id is None or NaN."""
    if any(map(is_missing, ids)):
        raise InputError("a node id is missing (None or NaN): every node needs one")


def _from_igraph(source: Any, options: EdgeOptions) -> Edges:
    """Convert an igraph graph: vertices by the attribute `name`, the edge attribute `weight`."""
    ids: Ids = np.arange(source.vcount(), dtype=np.int64)
    if "name" in source.vs.attributes():
        names = source.vs["name"]
        if len(set(names)) < len(names):
            raise InputError('two vertices of the igraph graph have the same "name"')
        _refuse_missing_ids(names)
        ids = as_ids(names)
    ends = _ends_array(source.get_edgelist(), source.ecount())
    weights = (
        fill_missing_weights(source.es["weight"]) if "weight" in source.es.attributes() else None
    )
    return options.edges(ends, weights, ids, source.is_directed())


# -- matrices and arrays -----------------------------------------------------------------------

_NODE_BYTES, _ENTRY_BYTES = 60, 100  # while a matrix becomes a graph


def edges_from_matrix(matrix: Any, options: EdgeOptions) -> Edges:
    """Convert an adjacency matrix: entry (i, j) is the weight of the edge from i to j.

    A zero is no edge. The entries (i, j) and (j, i) of a symmetric matrix are one undirected edge.
    Entries of another matrix are a list of edges; (i, j) and (j, i) are merged if the graph is
    undirected.
    """
    if len(matrix.shape) != 2 or (matrix.shape[0] != matrix.shape[1] and not options.bipartite):
        raise InputError(
            f"an adjacency matrix is square, not {shape_text(matrix.shape)}; bipartite=True reads "
            "rows and columns as nodes of two kinds",
            settings=[("bipartite", True)],
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix holds real numbers, not {matrix.dtype}")
    _check_size(matrix)
    with expecting("a sound adjacency matrix"):
        entries = matrix_entries(matrix)
    values = entries.values
    bad = np.flatnonzero(~((values >= 0) & (values < np.inf)))
    if bad.size:
        row, column = (int(axis[bad[0]]) for axis in entries[:2])
        raise InputError(
            f"row {row}, column {column} (counted from 0) of the adjacency matrix holds "
            f"{values[bad[0]]:g}: weights must be positive and finite"
        )
    weighted, notes = options.weighted, []
    if weighted is None:
        weighted = bool(np.any((values != 1) & (values != 0)))
        notes.append("weights from the values" if weighted else "no weights")
    if zeros := np.count_nonzero(values == 0):
        notes.append(f"{counted(int(zeros), 'zero')} left out")
    # a copy of our own, in which parallel entries are added
    adjacency = scipy.sparse.csr_array((values, entries[:2]), shape=matrix.shape)
    adjacency.sum_duplicates()
    adjacency.eliminate_zeros()
    if not weighted:
        adjacency.data[:] = 1
    listed = values != 0
    if not options.directed and not options.bipartite:
        if _is_symmetric(adjacency):
            adjacency = scipy.sparse.triu(adjacency)
            listed &= entries[0] <= entries[1]
        elif options.directed is None:
            notes.append("edges read as undirected: the matrix is not symmetric")
    edges = adjacency.tocoo()
    merged = int(np.count_nonzero(listed)) - edges.nnz
    ends = np.stack([edges.row, edges.col], axis=1).astype(np.int32, copy=False)
    weights = edges.data if weighted else None
    ids: Ids = np.arange(matrix.shape[0], dtype=np.int64)
    if options.bipartite:
        ends[:, 1] += matrix.shape[0]
        ids = np.concatenate(
            [side_ids(matrix.shape[0], "row"), side_ids(matrix.shape[1], "column")]
        )
    found = replace(options, bipartite=False).edges(ends, weights, ids, notes=tuple(notes))
    return found._replace(merged=merged)


def _check_size(matrix: Any) -> None:
    """Raise InputError if a matrix has too many nodes, or takes more memory than there is."""
    n_nodes = sum(matrix.shape) if matrix.shape[0] != matrix.shape[1] else matrix.shape[0]
    check_nodes(n_nodes)
    n_entries = matrix.nnz if scipy.sparse.issparse(matrix) else np.count_nonzero(matrix)
    check_matrix_memory(n_nodes, int(n_entries))


def check_matrix_memory(n_nodes: int, n_entries: int) -> None:
    """Raise InputError if the graph of an adjacency matrix takes more memory than there is."""
    check_memory(
        _NODE_BYTES * n_nodes + _ENTRY_BYTES * n_entries,
        f"a graph of {n_nodes:,} nodes, from a matrix with {n_entries:,} entries,",
        lambda missing: Advice("use a smaller graph or a larger machine"),
    )


def _is_symmetric(matrix: Any) -> bool:
    """Return whether a CSR array equals its transpose, up to rounding."""
    transposed = matrix.T.tocsr()
    return (
        np.array_equal(matrix.indptr, transposed.indptr)
        and np.array_equal(matrix.indices, transposed.indices)
        and np.allclose(matrix.data, transposed.data, rtol=1e-9, atol=0)
    )


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as text, such as "3 x 4"."""
    return " x ".join(f"{size:,}" for size in shape)


def _from_array(source: Any, options: EdgeOptions) -> Edges:
    """Convert an array: a square one is an adjacency matrix, an (m, 2) one a list of edges."""
    array = _as_array(source)
    if array.shape == (2, 2):
        raise InputError(
            "a 2 x 2 array may be an adjacency matrix or two edges: give a scipy sparse matrix, or "
            "use Graph.from_edges"
        )
    if array.ndim == 2 and array.shape[1] == 2:
        return _from_pairs(array, options)
    if array.ndim == 2 and (array.shape[0] == array.shape[1] or options.bipartite):
        return edges_from_matrix(array, options)
    raise InputError(
        f"expected a square adjacency matrix or an (m, 2) array of edges, got the shape "
        f"{shape_text(array.shape)}"
    )


def _from_pairs(source: Any, options: EdgeOptions) -> Edges:
    """Convert pairs or triples of ids as :meth:`Graph.from_edges` takes them."""
    edges = source if isinstance(source, np.ndarray) else list(source)
    triples = not isinstance(edges, np.ndarray) and any(
        isinstance(edge, Sequence) and len(edge) == 3 for edge in edges
    )
    if options.weighted and not triples:
        raise InputError(
            "weighted=True, but the edges are pairs: expected triples with a weight",
            settings=[("weighted", True)],
        )
    if options.weighted is False and triples:
        edges = [edge[:2] for edge in edges]
    numbered = number_pairs(edges, None, None)._replace(directed=bool(options.directed))
    return split_sides(numbered, DEFAULT_SIDES) if options.bipartite else numbered


# -- tables ------------------------------------------------------------------------------------

_AT_ONCE = 1 << 16  # strings that Arrow converts
_BYTES_OF_STRING = 70  # of short ones, with a reference
_HEAD = 100  # rows by which columns of numbers are recognised, as in text
_PLACE = " in Graph.from_any"  # which takes the options that a message names


def _from_pandas(table: Any, options: EdgeOptions) -> Edges:
    """Convert a pandas DataFrame."""

    def is_number(column: int) -> bool:
        values = table.iloc[:, column]
        if values.dtype.kind != "O":
            return values.dtype.kind in "iuf"
        known = values.dropna().head(100).tolist()  # a database's decimals are objects
        return bool(known) and all(
            isinstance(value, Number) and not isinstance(value, bool) for value in known
        )

    header = Table(
        list(table.columns),
        is_number,
        lambda column: _is_ascending(table.iloc[:, column].to_numpy()),
        has_names(table.columns),
        is_integer=lambda column: table.iloc[:, column].dtype.kind in "iu",
        numbers=lambda column: _as_floats(table.iloc[:_HEAD, column].dropna()),
        place=_PLACE,
    )
    chosen = choose_columns(header, options.columns, options.weighted)
    used = {place: table.iloc[:, place] for place in chosen.used}
    for place in chosen.ids:
        _refuse_missing(used[place].isna().to_numpy(), header.names[place])
    arrays = {place: values.to_numpy() for place, values in used.items()}
    return _from_columns(arrays, header, chosen, options)


def _from_polars(table: Any, options: EdgeOptions) -> Edges:
    """Convert a polars DataFrame, or a LazyFrame, of which only the used columns are collected."""
    lazy = table.lazy()
    schema = lazy.collect_schema()
    names = schema.names()

    def values(columns: Sequence[int]) -> list[Any]:
        found = lazy.select([names[column] for column in columns]).collect()
        return list(found.get_columns())

    def numbers(column: int) -> NDArray[np.float64]:
        found = lazy.select(names[column]).head(_HEAD).collect()
        return _as_floats(found.get_columns()[0].drop_nulls())

    header = Table(
        names,
        lambda column: bool(schema[names[column]].is_numeric()),
        lambda column: _is_ascending(values([column])[0].to_numpy()),
        has_names(names),
        is_integer=lambda column: bool(schema[names[column]].is_integer()),
        numbers=numbers,
        place=_PLACE,
    )
    chosen = choose_columns(header, options.columns, options.weighted)
    used = dict(zip(chosen.used, values(chosen.used), strict=True))
    for place in chosen.ids:
        _refuse_missing(used[place].is_null().to_numpy(), names[place])
    with expecting("a table of numbers and strings"):
        arrays = {place: column.to_numpy() for place, column in used.items()}
    return _from_columns(arrays, header, chosen, options)


def _from_columns(
    columns: dict[int, NDArray[Any]], header: Table, chosen: EdgeColumns, options: EdgeOptions
) -> Edges:
    """Convert columns that are arrays; ids are integers or anything hashable."""
    ids: Ids
    sides = [_whole_numbers(columns[place], header.names[place]) for place in chosen.ids]
    if all(side.dtype == np.int64 for side in sides):
        codes, ids = number_integers(np.stack(sides, axis=1).ravel())
    else:
        pairs = list(zip(*(side.tolist() for side in sides), strict=True))
        codes, ids = number_objects((), pairs)
        if not options.bipartite:
            _refuse_two_kinds(ids, header.listed(chosen.ids))
    weights = None if chosen.weight is None else columns[chosen.weight]
    return options.edges(
        codes.reshape(-1, 2), weights, ids, sides=header.sides(chosen), notes=chosen.notes
    )


def _refuse_two_kinds(ids: Ids, columns: str) -> None:
    """Raise InputError if ids are integers and strings that look like integers: 1 and "2"."""
    listed = ids.tolist()
    words = [node for node in listed if isinstance(node, str)]
    numbers = (node for node in listed if type(node) is int)
    if words and all(INTEGER.fullmatch(word.encode(errors="replace")) for word in words):
        for number in numbers:
            raise InputError(
                f"the node ids in {columns} are integers, such as {number}, but also strings of "
                f"digits, such as {short_repr(words[0])}: write both alike"
            )


def _whole_numbers(column: NDArray[Any], name: Any) -> NDArray[Any]:
    """Return a column as integers if its values are whole numbers, else as it is."""
    if column.dtype.kind == "f":
        _refuse_missing(np.isnan(column), name)
    if column.dtype.kind in "mM" and any(type(time) is int for time in column.tolist()):
        raise InputError(
            f'the node ids in column "{excerpt(str(name))}" are times that Python cannot hold '
            "(nanoseconds, or years beyond 9999): convert them to text"
        )
    if column.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):
            whole = column.astype(np.int64)
        if np.array_equal(whole, column):
            refuse_rounded(column, f'column "{excerpt(str(name))}"')
            return whole
    if column.dtype == object and all(map(_is_whole_decimal, column)):  # those of a database
        return as_ids([int(number) for number in column])
    return column


def _is_whole_decimal(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and value == int(value)


def _as_floats(values: Iterable[Any]) -> NDArray[np.float64]:
    """Return numbers, a database's decimals too, as an array."""
    return np.array(list(values), np.float64)


def _is_ascending(values: NDArray[Any]) -> bool:
    """Return whether values are whole numbers from 0 on, each larger than the one before."""
    return values.dtype.kind in "iu" and bool(
        np.all(values[:1] >= 0) and np.all(values[1:] > values[:-1])
    )


def _refuse_missing(missing: NDArray[np.bool_], name: Any) -> None:
    """Raise InputError for the first row whose node id is missing."""
    if missing.any():
        raise InputError(
            f"row {int(np.argmax(missing)):,} (counted from 0): the node id in column "
            f'"{excerpt(str(name))}" is missing'
        )


# -- Arrow -------------------------------------------------------------------------------------


def _from_arrow_table(table: Any, options: EdgeOptions) -> Edges:
    """Convert a pyarrow Table."""
    return edges_from_arrow(table.schema, table.select, options, _PLACE)


def _from_duckdb(relation: Any, options: EdgeOptions) -> Edges:
    """Convert a DuckDB relation; the database computes only the columns that are used."""
    import_arrow("reading a DuckDB relation")

    def read(names: list[str]) -> Any:
        quoted = ['"' + name.replace('"', '""') + '"' for name in names]
        return relation.project(", ".join(quoted)).to_arrow_table()

    return edges_from_arrow(relation.limit(0).to_arrow_table().schema, read, options, _PLACE)


def _from_arrow_stream(source: Any, options: EdgeOptions) -> Edges:
    """Convert anything that exports a stream of Arrow batches, which can be read only once."""
    pyarrow, _ = import_arrow(f"reading a {type_name(source)}")
    with expecting("a table of edges", f"this {type_name(source)}"):
        reader = pyarrow.RecordBatchReader.from_stream(source)
    schema = reader.schema
    named = options.columns.source is not None or known_pairs(schema.names)
    if not (named and has_names(schema.names)):
        return _from_arrow_table(reader.read_all(), options)  # the rule looks at the values

    def read(names: list[str]) -> Any:
        batches = [batch.select(names) for batch in reader]
        return pyarrow.Table.from_batches(
            batches, pyarrow.schema([schema.field(name) for name in names])
        )

    return edges_from_arrow(schema, read, options, _PLACE)


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
    header = Table(
        names,
        lambda column: _is_arrow_number(schema.field(column).type),
        lambda column: _is_ascending(_decoded(read([names[column]]).column(0)).to_numpy()),
        has_names(names),
        is_integer=lambda column: "int" in str(schema.field(column).type),
        numbers=lambda column: _as_floats(
            read([names[column]]).column(0).slice(0, _HEAD).drop_null().to_pylist()
        ),
        place=place,
    )
    chosen = choose_columns(header, options.columns, options.weighted)
    table = read([names[column] for column in chosen.used])
    columns = {column: _with_known_words(table[names[column]]) for column in chosen.used}
    for column in chosen.ids:
        _refuse_missing(columns[column].is_null().to_numpy(), names[column])
    first, second = (columns[column] for column in chosen.ids)
    if first.type != second.type or _is_arrow_number(first.type):
        with expecting("a table of numbers and of strings in UTF-8"):
            arrays = {column: _decoded(values).to_numpy() for column, values in columns.items()}
        return _from_columns(arrays, header, chosen, options)
    with expecting(f"a column of node ids, but one of {first.type}", header.spelled(chosen.source)):
        codes, ids = _number_strings(first, second)
    weights = None if chosen.weight is None else _decoded(columns[chosen.weight]).to_numpy()
    return options.edges(
        codes.reshape(-1, 2), weights, ids, sides=header.sides(chosen), notes=chosen.notes
    )


def _is_dictionary(column: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_dictionary(column.type))


def _decoded(column: Any) -> Any:
    """Return a pyarrow column without a dictionary.

    With one, `to_numpy` returns the last word of the dictionary where a value is missing.
    """
    return column.cast(column.type.value_type) if _is_dictionary(column) else column


def _with_known_words(column: Any) -> Any:
    """Return a pyarrow column whose `is_null` finds all missing values.

    Those that are missing words of a dictionary are not found.
    """
    if _is_dictionary(column) and any(one.dictionary.null_count for one in column.chunks):
        return _decoded(column)
    return column


def _number_strings(first: Any, second: Any) -> tuple[NDArray[np.int32], Ids]:
    """Number the ids of two pyarrow columns of one type; codes alternate between the columns."""
    import pyarrow

    both = pyarrow.chunked_array([*first.chunks, *second.chunks], first.type)
    if not _is_dictionary(first):
        both = both.dictionary_encode()
    both = both.unify_dictionaries()
    parts = [np.asarray(chunk.indices, np.int64) for chunk in both.chunks]
    flat = np.concatenate([np.empty(0, np.int64), *parts]).reshape(2, -1).T.ravel()
    codes, order = number_integers(flat)
    words = both.chunk(0).dictionary if both.num_chunks else pyarrow.array([], first.type)
    check_memory(
        _BYTES_OF_STRING * len(order) + words.nbytes,
        f"the names of {counted(len(order), 'node')}",
        place="further memory",
    )
    ids = np.empty(len(order), object)
    with expecting("a table of node ids in UTF-8"):
        for begin in range(0, len(order), _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            ids[some] = words.take(pyarrow.array(order[some])).to_pylist()
    return codes, ids


def _is_arrow_number(arrow_type: Any) -> bool:
    """Return whether an arrow type is one of numbers, by its name."""
    numbers = ("int", "uint", "float", "double", "halffloat", "decimal")
    return str(arrow_type).startswith(numbers)


# -- PyTorch Geometric -------------------------------------------------------------------------


def _from_geometric(source: Any, options: EdgeOptions) -> Edges:
    """Convert a PyTorch Geometric Data.

    It has `edge_index`, perhaps `num_nodes`, and perhaps `edge_weight` or a flat `edge_attr`.
    """
    index = _as_array(source.edge_index)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise InputError(
            f"edge_index has the shape (2, m) and holds integers, got {shape_text(index.shape)} of "
            f"{index.dtype}"
        )
    named = getattr(source, "num_nodes", None)
    n = int(index.max(initial=-1)) + 1 if named is None else int(named)
    if index.size and (index.min() < 0 or index.max() >= n):
        raise InputError(f"edge_index holds numbers outside 0 to {n - 1:,}, the nodes' numbers")
    weights = _geometric_weights(source)
    ends = np.ascontiguousarray(index.T, np.int32)
    says = getattr(source, "is_undirected", None)
    both_ways = says is not None and bool(says())
    if both_ways and not options.directed:
        if weights is not None:
            _check_symmetric(ends, weights)
        once = ends[:, 0] <= ends[:, 1]
        ends, weights = ends[once], None if weights is None else weights[once]
    return options.edges(
        ends, weights, np.arange(n, dtype=np.int64), directed=says is not None and not both_ways
    )


def _check_symmetric(ends: NDArray[np.int32], weights: NDArray[Any]) -> None:
    """Raise InputError if edges that lead both ways have different weights."""
    there, back = (
        weights[np.lexsort((weights, one, other))] for one, other in (ends.T, ends.T[::-1])
    )
    if not np.array_equal(there, back):
        raise InputError(
            "edges that lead both ways have different weights: pass directed=True, or make the "
            "weights equal",
            settings=[("directed", True)],
        )


def _geometric_weights(source: Any) -> NDArray[Any] | None:
    """Return edge_weight, or else edge_attr if that is one number an edge, or else None."""
    for name in ("edge_weight", "edge_attr"):
        values = getattr(source, name, None)
        if values is not None and _as_array(values).ndim == 1:
            return _as_array(values)
    return None


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array of what may be a tensor, on another device, with a gradient."""
    refuse_masked(values, "edges")
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


# -- which converter for which object ----------------------------------------------------------


def _is_list_of_edges(source: Any) -> bool:
    """Return whether an object can be iterated over as edges."""
    return isinstance(source, Iterable) and not isinstance(source, (Mapping, bytes))


_Converter = Callable[[Any, EdgeOptions], Edges]
_CONVERTERS: list[tuple[Callable[[Any], bool], _Converter]] = [
    (_has("nodes", "edges", "is_directed", "is_multigraph"), _from_networkx),
    (_has("vcount", "ecount", "get_edgelist", "vs", "es"), _from_igraph),
    (scipy.sparse.issparse, edges_from_matrix),
    (_has("edge_index"), _from_geometric),
    (_has("iloc", "columns"), _from_pandas),
    (_has("collect_schema", "lazy"), _from_polars),
    (_has("fetchnumpy", "project", "columns"), _from_duckdb),
    (_has("column_names", "combine_chunks"), _from_arrow_table),
    (_has("__arrow_c_stream__"), _from_arrow_stream),
    (_has("__array__", "shape"), _from_array),
    (_is_list_of_edges, _from_pairs),
]
_TABLES = (_from_pandas, _from_polars, _from_duckdb, _from_arrow_table, _from_arrow_stream)
_LISTS = (edges_from_matrix, _from_array, _from_pairs)  # without names of columns
