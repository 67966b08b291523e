"""Edges from objects of other packages, which are recognised by their attributes.

No package is imported for this: whoever has such an object has imported its package. A new kind of
object is a function and an entry in the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids, as_ids, is_missing
from .._util.machine import Advice, check_memory
from .._util.progress import counted
from .edge_tables import (
    EdgeOptions,
    edges_from_arrow_stream,
    edges_from_arrow_table,
    edges_from_duckdb,
    edges_from_pandas,
    edges_from_polars,
)
from .edges import (
    DEFAULT_SIDES,
    Edges,
    check_nodes,
    number_pairs,
    refuse_masked,
    side_ids,
    split_sides,
)
from .matrix_files import matrix_entries
from .opening import expecting

_ACCEPTED = (
    "a Graph or Dataset, a path, a networkx or igraph graph, a scipy sparse matrix, a square "
    "array, an (m, 2) array, a list of pairs or triples, a pandas, polars or Arrow table, a DuckDB "
    "relation, or a PyTorch Geometric Data"
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


# -- networkx and igraph -----------------------------------------------------------------------


def _from_networkx(source: Any, options: EdgeOptions) -> Edges:
    """Convert a networkx graph: nodes in its own order, the edge attribute `weight`."""
    ids = _known_ids(list(source.nodes))
    row = {node: number for number, node in enumerate(source.nodes)}
    edges = list(source.edges(data="weight"))
    ends = _ends_array(((row[u], row[v]) for u, v, _ in edges), len(edges))
    weights = fill_missing_weights([weight for _, _, weight in edges])
    return options.edges(ends, weights, ids, source.is_directed())


def _from_igraph(source: Any, options: EdgeOptions) -> Edges:
    """Convert an igraph graph: vertices by the attribute `name`, the edge attribute `weight`."""
    ids: Ids = np.arange(source.vcount(), dtype=np.int64)
    if "name" in source.vs.attributes():
        ids = _known_ids(source.vs["name"])
        if len(set(ids.tolist())) < len(ids):
            raise InputError('two vertices of the igraph graph have the same "name"')
    ends = _ends_array(source.get_edgelist(), source.ecount())
    weights = source.es["weight"] if "weight" in source.es.attributes() else []
    return options.edges(ends, fill_missing_weights(weights), ids, source.is_directed())


def _known_ids(ids: list[Any]) -> Ids:
    """Return node ids as an array; InputError if one is None or NaN."""
    if any(map(is_missing, ids)):
        raise InputError("a node id is missing (None or NaN): every node needs one")
    return as_ids(ids)


def _ends_array(pairs: Iterable[Any], n_edges: int) -> NDArray[np.int32]:
    """Return pairs of row numbers as an (m, 2) array."""
    flat = (row for pair in pairs for row in pair)
    return np.fromiter(flat, np.int32, 2 * n_edges).reshape(-1, 2)


def fill_missing_weights(weights: list[Any]) -> list[Any] | None:
    """Return weights with 1 where an edge has none; None if no edge has a weight."""
    if all(weight is None for weight in weights):
        return None
    return [1.0 if weight is None else weight for weight in weights]


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
            f"an adjacency matrix is square, not {_shape_text(matrix.shape)}; bipartite=True reads "
            "rows and columns as nodes of two kinds",
            settings=[("bipartite", True)],
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"an adjacency matrix holds real numbers, not {matrix.dtype}")
    n_rows, n_columns = matrix.shape
    n_nodes = n_rows + n_columns if options.bipartite else n_rows
    check_nodes(n_nodes)
    n_entries = matrix.nnz if scipy.sparse.issparse(matrix) else np.count_nonzero(matrix)
    _check_matrix_memory(n_nodes, int(n_entries))
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
    ends = np.stack([edges.row, edges.col], axis=1).astype(np.int32, copy=False)
    ids: Ids = np.arange(n_rows, dtype=np.int64)
    if options.bipartite:
        ends[:, 1] += n_rows
        ids = np.concatenate([side_ids(n_rows, "row"), side_ids(n_columns, "column")])
    converted = replace(options, bipartite=False).edges(
        ends, edges.data if weighted else None, ids, notes=tuple(notes)
    )
    return converted._replace(merged=int(np.count_nonzero(listed)) - edges.nnz)


def _check_matrix_memory(n_nodes: int, n_entries: int) -> None:
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


def _shape_text(shape: Sequence[int]) -> str:
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
        f"{_shape_text(array.shape)}"
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


# -- PyTorch Geometric -------------------------------------------------------------------------


def _from_geometric(source: Any, options: EdgeOptions) -> Edges:
    """Convert a PyTorch Geometric Data.

    It has `edge_index`, perhaps `num_nodes`, and perhaps `edge_weight` or a flat `edge_attr`.
    """
    index = _as_array(source.edge_index)
    if index.ndim != 2 or index.shape[0] != 2 or index.dtype.kind not in "iu":
        raise InputError(
            "edge_index has the shape (2, m) and holds integers, got "
            f"{_shape_text(index.shape)} of {index.dtype}"
        )
    n_nodes = getattr(source, "num_nodes", None)
    n_nodes = int(index.max(initial=-1)) + 1 if n_nodes is None else int(n_nodes)
    if index.size and (index.min() < 0 or index.max() >= n_nodes):
        raise InputError(
            f"edge_index holds numbers outside 0 to {n_nodes - 1:,}, the nodes' numbers"
        )
    attributes = [getattr(source, name, None) for name in ("edge_weight", "edge_attr")]
    arrays = [_as_array(values) for values in attributes if values is not None]
    weights = next((values for values in arrays if values.ndim == 1), None)
    ends = np.ascontiguousarray(index.T, np.int32)
    says = getattr(source, "is_undirected", None)
    both_ways = says is not None and bool(says())
    if both_ways and not options.directed:
        once = ends[:, 0] <= ends[:, 1]
        if weights is not None:
            _check_symmetric(ends, weights)
            weights = weights[once]
        ends = ends[once]
    ids = np.arange(n_nodes, dtype=np.int64)
    return options.edges(ends, weights, ids, directed=says is not None and not both_ways)


def _check_symmetric(ends: NDArray[np.int32], weights: NDArray[Any]) -> None:
    """Raise InputError if edges that lead both ways have different weights."""
    forth, back = (
        weights[np.lexsort((weights, first, second))] for first, second in (ends.T, ends.T[::-1])
    )
    if not np.array_equal(forth, back):
        raise InputError(
            "edges that lead both ways have different weights: pass directed=True, or make the "
            "weights equal",
            settings=[("directed", True)],
        )


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array of what may be a tensor, on another device, with a gradient."""
    refuse_masked(values, "edges")
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray(values)


# -- which converter for which object ----------------------------------------------------------


def _has(*names: str) -> Callable[[Any], bool]:
    """Return a function that tests whether an object has all of these attributes."""
    return lambda source: all(hasattr(source, name) for name in names)


def _is_list_of_edges(source: Any) -> bool:
    """Return whether an object can be iterated over as edges."""
    return isinstance(source, Iterable) and not isinstance(source, (Mapping, bytes))


_Converter = Callable[[Any, EdgeOptions], Edges]
_CONVERTERS: list[tuple[Callable[[Any], bool], _Converter]] = [
    (_has("nodes", "edges", "is_directed", "is_multigraph"), _from_networkx),
    (_has("vcount", "ecount", "get_edgelist", "vs", "es"), _from_igraph),
    (scipy.sparse.issparse, edges_from_matrix),
    (_has("edge_index"), _from_geometric),
    (_has("iloc", "columns"), edges_from_pandas),
    (_has("collect_schema", "lazy"), edges_from_polars),
    (_has("fetchnumpy", "project", "columns"), edges_from_duckdb),
    (_has("column_names", "combine_chunks"), edges_from_arrow_table),
    (_has("__arrow_c_stream__"), edges_from_arrow_stream),
    (_has("__array__", "shape"), _from_array),
    (_is_list_of_edges, _from_pairs),
]
_TABLES = tuple(convert for _, convert in _CONVERTERS[4:9])
_LISTS = (edges_from_matrix, _from_array, _from_pairs)  # without names of columns
