"""Graphs held by other packages' objects, told by what the objects can do.

No package is imported for this: whoever has such an object has imported its package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids, as_ids, number_integers, number_objects
from .edge_lists import NAME_PAIRS
from .edges import Edges, checked_weights, number_pairs

ACCEPTED = (
    "a Graph or Dataset, a path, a networkx or igraph graph, a scipy sparse matrix, a square "
    "array, an (m, 2) array, a list of pairs or triples, a pandas, polars or pyarrow table, or a "
    "PyTorch Geometric Data"
)


@dataclass(frozen=True)
class Wishes:
    """What the user says about the graph; None leaves it to the object."""

    directed: bool | None = None
    weighted: bool | None = None

    def edges(self, ends: NDArray[np.int32], weights: Any, ids: Ids, directed: bool) -> Edges:
        """Numbered edges, checked, of an object that is or is not directed by itself."""
        if self.weighted is False:
            weights = None
        if self.weighted and weights is None:
            raise InputError(
                "weighted=True, but the edges carry no weights", settings=[("weighted", True)]
            )
        if weights is not None:
            weights = usable_weights(weights, ends, ids)
        return Edges(ends, weights, ids, directed if self.directed is None else self.directed)


def edges_from(source: Any, wishes: Wishes) -> Edges:
    """The edges that an object holds; see :meth:`reinforce2vec.Graph.from_any`."""
    for recognises, convert in CONVERTERS:
        if recognises(source):
            return convert(source, wishes)
    raise InputError(f"cannot make a graph from a {kind(source)}: expected {ACCEPTED}")


def kind(source: Any) -> str:
    """The type of an object as its users name it."""
    package = type(source).__module__.partition(".")[0]
    name = type(source).__qualname__
    return name if package == "builtins" else f"{package} {name}"


def has(*names: str) -> Callable[[Any], bool]:
    """A test for objects with all of these attributes."""
    return lambda source: all(hasattr(source, name) for name in names)


def usable_weights(weights: Any, ends: NDArray[np.int32], ids: Ids) -> NDArray[np.float64]:
    """Weights as an array; one that is not positive and finite is named with its edge."""

    def by_name(edge: int, weight: float) -> InputError:
        source, target = ids[ends[edge]].tolist()
        return InputError(
            f"the edge from {source!r} to {target!r} has the weight {weight:g}: "
            "weights must be positive and finite (weighted=False leaves them out)",
            settings=[("weighted", False)],
        )

    return checked_weights(weights, len(ends), by_name)


def numbered(pairs: Iterable[Any], n_edges: int) -> NDArray[np.int32]:
    """Pairs of row numbers as an (m, 2) array."""
    flat = (row for pair in pairs for row in pair)
    return np.fromiter(flat, np.int32, 2 * n_edges).reshape(-1, 2)


def filled(weights: list[Any]) -> list[Any] | None:
    """An attribute's values, 1 where an edge has none; None if no edge has one."""
    if all(weight is None for weight in weights):
        return None
    return [1.0 if weight is None else weight for weight in weights]


# -- networkx and igraph -----------------------------------------------------------------------


def from_networkx(source: Any, wishes: Wishes) -> Edges:
    """Nodes in the graph's own order, the edge attribute `weight`."""
    row = {node: number for number, node in enumerate(source.nodes)}
    edges = list(source.edges(data="weight"))
    ends = numbered(((row[u], row[v]) for u, v, _ in edges), len(edges))
    weights = filled([weight for _, _, weight in edges])
    return wishes.edges(ends, weights, as_ids(list(row)), source.is_directed())


def from_igraph(source: Any, wishes: Wishes) -> Edges:
    """Vertices by their attribute `name` if there is one, the edge attribute `weight`."""
    ids: Ids = np.arange(source.vcount(), dtype=np.int64)
    if "name" in source.vs.attributes():
        names = source.vs["name"]
        if len(set(names)) < len(names):
            raise InputError('two vertices of the igraph graph have the same "name"')
        ids = as_ids(names)
    ends = numbered(source.get_edgelist(), source.ecount())
    weights = filled(source.es["weight"]) if "weight" in source.es.attributes() else None
    return wishes.edges(ends, weights, ids, source.is_directed())


# -- matrices and arrays -----------------------------------------------------------------------


def from_matrix(matrix: Any, wishes: Wishes) -> Edges:
    """Entry (i, j) is the weight of the edge from i to j; a zero is no edge.

    An undirected graph takes each entry of a symmetric matrix pair once; the entries of another
    matrix are a list of edges, of which (i, j) and (j, i) are merged.
    """
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square, not {times(matrix.shape)}")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix holds real numbers, not {matrix.dtype}")
    entries = scipy.sparse.coo_array(matrix)
    values = np.asarray(entries.data, np.float64)
    bad = np.flatnonzero(~((values >= 0) & (values < np.inf)))
    if bad.size:
        row, column = (int(axis[bad[0]]) for axis in (entries.row, entries.col))
        raise InputError(
            f"row {row}, column {column} (counted from 0) of the adjacency matrix holds "
            f"{values[bad[0]]:g}: weights must be positive and finite"
        )
    weighted = wishes.weighted
    if weighted is None:
        weighted = bool(np.any((values != 1) & (values != 0)))
    # parallel entries are added, in a copy of our own
    adjacency = scipy.sparse.csr_array((values, (entries.row, entries.col)), shape=matrix.shape)
    adjacency.sum_duplicates()
    adjacency.eliminate_zeros()
    if not weighted:
        adjacency.data[:] = 1
    if not wishes.directed and is_symmetric(adjacency):
        adjacency = scipy.sparse.triu(adjacency)
    edges = adjacency.tocoo()
    ends = np.stack([edges.row, edges.col], axis=1).astype(np.int32, copy=False)
    weights = edges.data if weighted else None
    return wishes.edges(ends, weights, np.arange(matrix.shape[0], dtype=np.int64), directed=False)


def is_symmetric(matrix: Any) -> bool:
    """Whether a CSR array equals its transpose, up to rounding."""
    transposed = matrix.T.tocsr()
    return (
        np.array_equal(matrix.indptr, transposed.indptr)
        and np.array_equal(matrix.indices, transposed.indices)
        and np.allclose(matrix.data, transposed.data, rtol=1e-9, atol=0)
    )


def times(shape: Sequence[int]) -> str:
    """A shape as a person writes it."""
    return " x ".join(f"{size:,}" for size in shape)


def from_array(source: Any, wishes: Wishes) -> Edges:
    """A square array is an adjacency matrix, an (m, 2) array a list of edges."""
    array = as_array(source)
    if array.shape == (2, 2):
        raise InputError(
            "a 2 x 2 array may be an adjacency matrix or two edges: give a scipy sparse matrix, or "
            "use Graph.from_edges"
        )
    if array.ndim == 2 and array.shape[1] == 2:
        return from_pairs(array, wishes)
    if array.ndim == 2 and array.shape[0] == array.shape[1]:
        return from_matrix(array, wishes)
    raise InputError(
        f"expected a square adjacency matrix or an (m, 2) array of edges, got the shape "
        f"{times(array.shape)}"
    )


def from_pairs(source: Any, wishes: Wishes) -> Edges:
    """Pairs or triples of ids as :meth:`Graph.from_edges` takes them."""
    edges = source if isinstance(source, np.ndarray) else list(source)
    triples = not isinstance(edges, np.ndarray) and any(
        isinstance(edge, Sequence) and len(edge) == 3 for edge in edges
    )
    if wishes.weighted and not triples:
        raise InputError(
            "weighted=True, but the edges are pairs: expected triples with a weight",
            settings=[("weighted", True)],
        )
    if wishes.weighted is False and triples:
        edges = [edge[:2] for edge in edges]
    return number_pairs(edges, None, None)._replace(directed=bool(wishes.directed))


# -- tables ------------------------------------------------------------------------------------


class Columns(NamedTuple):
    """The columns of a table that matter, by name."""

    ids: tuple[Any, Any]
    weight: Any = None

    @property
    def used(self) -> list[Any]:
        """All of them."""
        return [*self.ids, *([] if self.weight is None else [self.weight])]


def edge_columns(
    names: Sequence[Any], is_numeric: Callable[[Any], bool], weighted: bool | None
) -> Columns:
    """Choose columns: ids by known names or the first two, a weight by name or the third."""
    if len(names) < 2:
        raise InputError(
            f"expected a table with two columns of node ids, found {len(names)}: "
            f"{', '.join(map(str, names))}"
        )
    if len(set(names)) < len(names):
        raise InputError(
            f"two columns of the table have the same name: {', '.join(map(str, names))}"
        )
    known = {str(name).strip().lower(): name for name in names}
    ids = next(
        ((known[a], known[b]) for a, b in NAME_PAIRS if a in known and b in known),
        (names[0], names[1]),
    )
    weight = known.get("weight")
    if weight is None and len(names) > 2 and names[2] not in ids:
        weight = names[2] if is_numeric(names[2]) else None
    if weighted is False:
        weight = None
    return Columns(ids, weight)


def from_pandas(table: Any, wishes: Wishes) -> Edges:
    """A pandas DataFrame."""

    def is_numeric(name: Any) -> bool:
        return table[name].dtype.kind in "iuf"

    chosen = edge_columns(list(table.columns), is_numeric, wishes.weighted)
    for name in chosen.ids:
        refuse_missing(table[name].isna().to_numpy(), name)
    return from_columns({name: table[name].to_numpy() for name in chosen.used}, chosen, wishes)


def from_polars(table: Any, wishes: Wishes) -> Edges:
    """A polars DataFrame."""

    def is_numeric(name: Any) -> bool:
        return bool(table[name].dtype.is_numeric())

    chosen = edge_columns(table.columns, is_numeric, wishes.weighted)
    for name in chosen.ids:
        refuse_missing(table[name].is_null().to_numpy(), name)
    return from_columns({name: table[name].to_numpy() for name in chosen.used}, chosen, wishes)


def from_arrow(table: Any, wishes: Wishes) -> Edges:
    """A pyarrow Table; of columns of strings, each distinct one is looked at once."""
    chosen = arrow_columns(table.schema, wishes.weighted)
    for name in chosen.ids:
        refuse_missing(table[name].is_null().to_numpy(), name)
    first, second = (table[name] for name in chosen.ids)
    if first.type != second.type or is_arrow_number(first.type):
        arrays = {name: table[name].to_numpy() for name in chosen.used}
        return from_columns(arrays, chosen, wishes)
    codes, ids = numbered_words(first, second)
    weights = None if chosen.weight is None else table[chosen.weight].to_numpy()
    return wishes.edges(codes.reshape(-1, 2), weights, ids, directed=False)


def numbered_words(first: Any, second: Any) -> tuple[NDArray[np.int32], Ids]:
    """Number the ids of two pyarrow columns of one type, first and second side by side."""
    import pyarrow

    both = pyarrow.chunked_array([*first.chunks, *second.chunks], first.type)
    if not pyarrow.types.is_dictionary(first.type):
        both = both.dictionary_encode()
    both = both.unify_dictionaries()
    words = both.chunk(0).dictionary.to_pylist() if both.num_chunks else []
    parts = [np.asarray(chunk.indices, np.int64) for chunk in both.chunks]
    flat = np.concatenate([np.empty(0, np.int64), *parts]).reshape(2, -1).T.ravel()
    codes, order = number_integers(flat)
    return codes, as_ids([words[code] for code in order.tolist()])


def arrow_columns(schema: Any, weighted: bool | None) -> Columns:
    """Choose columns of a pyarrow table by its schema."""
    return edge_columns(
        schema.names, lambda name: is_arrow_number(schema.field(name).type), weighted
    )


def is_arrow_number(arrow_type: Any) -> bool:
    """Whether an arrow type is one of integers or floats, by its name."""
    return str(arrow_type).startswith(("int", "uint", "float", "double", "halffloat"))


def refuse_missing(missing: NDArray[np.bool_], name: Any) -> None:
    """Stop at the first row whose node id is missing."""
    if missing.any():
        raise InputError(
            f'row {int(np.argmax(missing)):,} (counted from 0): the node id in column "{name}" is '
            "missing"
        )


def from_columns(columns: dict[Any, NDArray[Any]], chosen: Columns, wishes: Wishes) -> Edges:
    """Columns of ids as arrays, integers or anything hashable."""
    ids: Ids
    sides = [whole_numbers(columns[name], name) for name in chosen.ids]
    if all(side.dtype == np.int64 for side in sides):
        codes, ids = number_integers(np.stack(sides, axis=1).ravel())
    else:
        pairs = list(zip(*(side.tolist() for side in sides), strict=True))
        codes, ids = number_objects((), pairs)
    weights = None if chosen.weight is None else columns[chosen.weight]
    return wishes.edges(codes.reshape(-1, 2), weights, ids, directed=False)


def whole_numbers(column: NDArray[Any], name: Any) -> NDArray[Any]:
    """A column as 64-bit integers where its values are that, else as it is."""
    if column.dtype.kind == "f":
        refuse_missing(np.isnan(column), name)
    if column.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):
            whole = column.astype(np.int64)
        if np.array_equal(whole, column):
            return whole
    return column


# -- PyTorch Geometric -------------------------------------------------------------------------


def from_geometric(source: Any, wishes: Wishes) -> Edges:
    """Data with `edge_index`, perhaps `num_nodes`, and `edge_weight` or a flat `edge_attr`."""
    index = as_array(source.edge_index)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise InputError(
            f"edge_index has the shape (2, m) and holds integers, got {times(index.shape)} of "
            f"{index.dtype}"
        )
    named = getattr(source, "num_nodes", None)
    n = int(index.max(initial=-1)) + 1 if named is None else int(named)
    if index.size and (index.min() < 0 or index.max() >= n):
        raise InputError(f"edge_index holds numbers outside 0 to {n - 1:,}, the nodes' numbers")
    weights = geometric_weights(source)
    ends = np.ascontiguousarray(index.T, np.int32)
    says = getattr(source, "is_undirected", None)
    both_ways = says is not None and bool(says())
    if both_ways and not wishes.directed:
        once = ends[:, 0] <= ends[:, 1]
        ends, weights = ends[once], None if weights is None else weights[once]
    return wishes.edges(
        ends, weights, np.arange(n, dtype=np.int64), directed=says is not None and not both_ways
    )


def geometric_weights(source: Any) -> NDArray[Any] | None:
    """The weights of a Data: its edge_weight, or its edge_attr if that is one number an edge."""
    for name in ("edge_weight", "edge_attr"):
        values = getattr(source, name, None)
        if values is not None and as_array(values).ndim == 1:
            return as_array(values)
    return None


def as_array(values: Any) -> NDArray[Any]:
    """An array of what may be a tensor, on another device, with a gradient."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


# -- who takes what ----------------------------------------------------------------------------


def is_list_of_edges(source: Any) -> bool:
    """Whether an object can be gone through as edges."""
    return isinstance(source, Iterable) and not isinstance(source, (Mapping, bytes))


CONVERTERS: list[tuple[Callable[[Any], bool], Callable[[Any, Wishes], Edges]]] = [
    (has("nodes", "edges", "is_directed", "is_multigraph"), from_networkx),
    (has("vcount", "ecount", "get_edgelist", "vs", "es"), from_igraph),
    (scipy.sparse.issparse, from_matrix),
    (has("edge_index"), from_geometric),
    (has("columns", "iloc"), from_pandas),
    (has("columns", "get_column"), from_polars),
    (has("column_names", "combine_chunks"), from_arrow),
    (has("__array__", "shape"), from_array),
    (is_list_of_edges, from_pairs),
]
