"""Graph: an immutable sorted adjacency (CSR) with the users' own node ids."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.checks import check_choice
from .._util.errors import InputError, short_repr
from .._util.html import first_ids, html_table
from .._util.hyperparameters import DUPLICATES
from .._util.ids import Ids, Lookup
from .._util.progress import counted, readable_bytes
from .._util.threads import Threads, do_all
from ..files.columns import ColumnChoice
from ..files.converters import edges_from, type_name
from ..files.edge_tables import EdgeOptions
from ..files.edges import (
    Edges,
    check_id_type,
    check_nodes,
    checked_weights,
    number_pairs,
    with_id_type,
)
from ..files.graph_readers import read_edges
from ..files.graph_writers import write_graph
from ..files.node_lists import add_nodes
from ..files.opening import naming
from . import csr

_SMALLEST_SHARE = 1e-150  # the smallest weight allowed, as a share of the largest
_ARCS = 1 << 16  # that are counted at a time
_GRAPH_OPTIONS = ("self_loops", "duplicates", "id_type")  # others are for reading edges


@dataclass(frozen=True, repr=False, eq=False)
class Graph:
    """An immutable graph: nodes with ids of any kind, and edges that may have weights.

    Create one with :meth:`from_edges`, :meth:`from_any` or :func:`reinforce2vec.read_graph`. Nodes
    are numbered in the order in which the input names them; `ids` maps these row numbers back to
    the ids of the input. The adjacency is stored in compressed sparse rows (CSR).

    Attributes
    ----------
    indptr : int64 array (n_nodes + 1,)
        The neighbours of the node in row i are `indices[indptr[i]:indptr[i + 1]]`.
    indices : int32 array
        Row numbers of the neighbours, node after node, each node's in ascending order. An
        undirected edge occurs twice, once at each of its nodes.
    weights : float64 array or None
        One positive weight for each entry of `indices`; None if the graph is unweighted. A walk
        follows an edge of weight 2 twice as often as one of weight 1.
    ids : int64 or object array (n_nodes,)
        The node ids, in row order.
    directed : bool
        Whether edges have a direction. Walks follow them from source to target only.
    dropped_self_loops : int
        Number of edges from a node to itself that were left out.
    merged_edges : int
        Number of edges that repeat another one and were merged with it.
    notes : tuple of str
        What was decided when the graph was read: which columns were used, and what was left out.
    sides : tuple of two str, or None
        Of a graph that was read with `bipartite`, the kinds of its nodes: ("user", "item") if their
        ids begin with "user:" and "item:".

    Examples
    --------
    >>> from reinforce2vec import Graph
    >>> g = Graph.from_edges([("ann", "bob"), ("bob", "cid")], nodes=["ann", "bob", "cid", "dee"])
    >>> g
    Graph(4 nodes, 2 edges, undirected, unweighted, 2 components, 1 isolated, 88 bytes)
    >>> list(g.neighbors("bob"))
    ['ann', 'cid']
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    ids: Ids
    directed: bool = False
    dropped_self_loops: int = 0
    merged_edges: int = 0
    notes: tuple[str, ...] = ()
    sides: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for array in (self.indptr, self.indices, self.weights, self.ids):
            if array is not None:
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_without_directions", None)  # made again when needed
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __deepcopy__(self, memo: Any) -> Graph:
        return self  # it is immutable

    # -- creating graphs -----------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        weights: Any = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        directed: bool = False,
        self_loops: bool = False,
    ) -> Graph:
        """Create a graph from edges given as pairs of node ids.

        Parameters
        ----------
        edges : iterable of pairs or triples, or array (m, 2)
            The edges. Node ids may be anything hashable. Triples are (source, target, weight).
        weights : sequence of float, optional
            One positive, finite weight for each edge. Parallel edges are merged and their weights
            added; without weights, an edge that is given twice counts once.
        nodes : iterable of node ids, optional
            Nodes that come first, in this order, whether or not an edge names them. Use it to
            include isolated nodes, or to choose the order of the rows.
        directed : bool, default False
            Whether edges lead from their first node to their second only.
        self_loops : bool, default False
            Whether to keep edges from a node to itself. By default they are dropped and counted in
            `dropped_self_loops`.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            If an edge is not a pair of ids or a weight is not positive and finite; the message
            says which.

        Examples
        --------
        >>> Graph.from_edges([(1, 2), (2, 3), (3, 3)])
        Graph(3 nodes, 2 edges, undirected, unweighted, 1 component, 0 isolated, 72 bytes, \
1 self-loop dropped)
        """
        numbered = number_pairs(edges, weights, nodes)._replace(directed=directed)
        return cls._from(numbered, self_loops)

    @classmethod
    def from_numbered(
        cls,
        ends: NDArray[np.int32],
        weights: Any,
        ids: Ids,
        *,
        directed: bool = False,
        self_loops: bool = False,
        notes: tuple[str, ...] = (),
        sides: tuple[str, str] | None = None,
        repeated: int = 0,
    ) -> Graph:
        """Create a graph from an (m, 2) array of edges that are row numbers into `ids`.

        `repeated` is the number of edges that were merged before.
        """
        ends = np.ascontiguousarray(ends, np.int32)
        check_nodes(len(ids))
        if ends.size and not (ends.min() >= 0 and ends.max() < len(ids)):
            raise InputError(f"edges name rows outside of 0 to {len(ids) - 1:,}")
        if weights is not None:
            weights = checked_weights(weights, len(ends))
        mirror, self_loops = not directed, bool(self_loops)
        indptr, indices, summed, loops = _sorted_arcs(ends, weights, len(ids), mirror, self_loops)
        n_arcs, kept = len(indices), csr.merge_parallel(indptr, indices, summed)
        indices.resize(kept, refcheck=False)  # gives memory back without a copy
        if summed is not None and kept:
            summed.resize(kept, refcheck=False)
            _check_span(summed)
        again = n_arcs - kept
        if mirror and self_loops and again:  # a self-loop is one arc, other edges are two
            rows = np.repeat(np.arange(len(ids), dtype=np.int32), np.diff(indptr))
            again += loops - np.count_nonzero(rows == indices)
        again //= 2 if mirror else 1
        dropped = 0 if self_loops else loops
        merged = int(again) + repeated
        arrays = (indptr, indices, summed, ids.view())
        return cls(*arrays, bool(directed), dropped, merged, notes, sides)

    @classmethod
    def from_any(
        cls,
        data: Any,
        /,
        *,
        directed: bool | None = None,
        columns: Any = None,
        source: Hashable = None,
        target: Hashable = None,
        weight: Hashable = None,
        bipartite: bool | None = None,
        nodes: Any = None,
        **options: Any,
    ) -> Graph:
        """Create a graph from any supported object.

        Accepts networkx and igraph graphs, scipy sparse matrices, square arrays (adjacency
        matrices), tables of pandas, polars (also lazy ones), Arrow and DuckDB, PyTorch Geometric
        `Data`, edges as for :meth:`from_edges`, and paths of files. A Graph, or the graph of a
        Dataset, is returned as it is. None of these packages is required.

        Parameters
        ----------
        data : object
            The object that holds the graph.
        directed : bool, optional
            Whether edges have a direction. By default as the object itself says, and undirected if
            it does not say.
        columns, source, target, weight : optional
            The columns of a table, or of a file, that hold source, target and perhaps weight; see
            :func:`reinforce2vec.read_graph`. In a table with columns such as 0, 1 and 2, a number
            is a name.
        bipartite : bool, optional
            Whether sources and targets are nodes of two kinds; see
            :func:`reinforce2vec.read_graph`. The rows and columns of a matrix, which need not be
            square, become "row:0" and "column:0".
        nodes : list of ids, column of a table, or path, optional
            Nodes that come first, whether or not an edge names them.
        **options
            `weighted`: True requires weights, False ignores them, None (the default) uses them if
            there are any. `self_loops`, `duplicates` and `id_type`: see
            :func:`reinforce2vec.read_graph`; files also take its other options.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import scipy.sparse
        >>> Graph.from_any(scipy.sparse.csr_array([[0, 1, 0], [1, 0, 2], [0, 2, 0]]))
        Graph(3 nodes, 2 edges, undirected, weighted, 1 component, 0 isolated, 104 bytes)
        """
        choice = ColumnChoice.of(columns, source, target, weight)
        options |= {"directed": directed, "columns": choice, "bipartite": bipartite}
        return _graph_of(data, nodes, options)

    @classmethod
    def _from(cls, edges: Edges, self_loops: bool) -> Graph:
        options: dict[str, Any] = {
            "directed": edges.directed,
            "notes": edges.notes,
            "sides": edges.sides,
        }
        arrays = (edges.ends, edges.weights, edges.ids)
        return cls.from_numbered(*arrays, self_loops=self_loops, repeated=edges.merged, **options)

    # -- properties and look-ups ---------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.ids)

    @cached_property
    def n_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        if self.directed:
            return len(self.indices)
        count = 0
        for first in range(0, len(self.indices), _ARCS):  # all at once would take much memory
            last = min(first + _ARCS, len(self.indices))
            low, high = np.searchsorted(self.indptr, [first, last - 1], side="right")
            begins = self.indptr[low - 1 : high + 1].clip(first, last)
            rows = np.repeat(np.arange(low - 1, high), np.diff(begins))
            count += int(np.count_nonzero(rows <= self.indices[first:last]))
        return count

    @property
    def weighted(self) -> bool:
        """Whether the edges carry weights."""
        return self.weights is not None

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each node (out-edges, on a directed graph)."""
        return np.diff(self.indptr)

    @cached_property
    def n_components(self) -> int:
        """Number of connected components; directions are ignored."""
        towards = np.arange(self.n_nodes, dtype=np.int32)
        return int(csr.count_components(self.indptr, self.indices, not self.directed, towards))

    @cached_property
    def n_isolated(self) -> int:
        """Number of nodes without any edge."""
        linked = self.degrees > 0
        if self.directed:
            linked[self.indices] = True
        return int(np.count_nonzero(~linked))

    @property
    def nbytes(self) -> int:
        """Bytes of the adjacency and the ids; an id that is an object counts as a reference."""
        arrays = (self.indptr, self.indices, self.weights, self.ids)
        return sum(array.nbytes for array in arrays if array is not None)

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(self.ids, "the graph")

    def row(self, node: Hashable) -> int:
        """Return the row number of a node id; UnknownNode, a KeyError, if there is no such node."""
        return self._lookup.row(node)

    def rows(self, nodes: Iterable[Hashable]) -> NDArray[np.int32]:
        """Return the row numbers of several node ids."""
        return self._lookup.rows(nodes)

    def neighbors(self, node: Hashable) -> Ids:
        """Return the ids of a node's neighbours; on a directed graph, of those it points to."""
        row = self.row(node)
        neighbors: Ids = self.ids[self.indices[self.indptr[row] : self.indptr[row + 1]]]
        return neighbors

    @cached_property
    def alias(self) -> tuple[NDArray[Any], ...] | None:
        """Alias tables for draws by weight, see :func:`csr.alias_tables`; None if all are equal.

        The last of the arrays holds the weights as shares of the largest. Built once, at the first
        weighted walk; takes 20 bytes per arc and 16 per node.
        """
        if self.weights is None or self.weights.size == 0 or np.ptp(self.weights) == 0:
            return None
        shares = self.weights / self.weights.max()
        return (*csr.alias_tables(self.indptr, shares), shares)

    def to_undirected(self) -> Graph:
        """Return the graph without directions, with the same nodes in the same rows.

        Two edges in opposite directions become one, whose weight is the sum of theirs. It is made
        once and kept; a graph that is undirected is returned as it is.
        """
        return self._without_directions if self.directed else self

    @cached_property
    def _without_directions(self) -> Graph:
        ends, weights = edges_of(self)
        given = weights if self.weighted else None
        return Graph.from_numbered(ends, given, self.ids, self_loops=True, sides=self.sides)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file from which :func:`reinforce2vec.read_graph` reads it back.

        ==========================  ================================================================
        .npz                        everything; :func:`scipy.sparse.load_npz` reads the adjacency
        .csv .tsv                   one edge per line, below a header; ids as text
        .txt .edgelist .edges       the same without a header, separated by tabs
        .parquet                    columns source, target and perhaps weight; needs pyarrow
        ==========================  ================================================================

        Text may be compressed (.gz). Weights are exact. An isolated node is written as an edge to
        itself, which is dropped when the file is read. Only .npz holds whether the graph is
        directed, tells strings that look like integers from integers, and always keeps the order
        of the rows; the others keep it if the graph was itself read from a file. Ids that are
        neither integers nor strings become strings. Self-loops are dropped when they are read,
        unless `self_loops=True`. The file is written atomically.

        Parameters
        ----------
        path : path
            The file to write; its folder must exist.

        Raises
        ------
        InputError
            If the suffix is unknown, the folder cannot be written to, or the format cannot hold
            the graph.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from reinforce2vec import karate_club, read_graph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "club.csv")
        ...     karate_club().save(file)
        ...     read_graph(file)
        Graph(34 nodes, 78 edges, undirected, unweighted, 1 component, 0 isolated, 1.2 kB)
        """
        ends, weights = edges_of(self)
        write_graph(path, Edges(ends, weights if self.weighted else None, self.ids, self.directed))

    def to_scipy(self) -> Any:
        """Return the adjacency as a scipy CSR array of float64, rows and columns in `ids` order."""
        data = np.ones(len(self.indices)) if self.weights is None else self.weights
        shape = (self.n_nodes, self.n_nodes)
        return scipy.sparse.csr_array((data, self.indices, self.indptr), shape=shape)

    def __len__(self) -> int:
        return self.n_nodes

    def __contains__(self, node: Hashable) -> bool:
        return node in self._lookup

    def __repr__(self) -> str:
        facts = [
            counted(self.n_nodes, "node"),
            counted(self.n_edges, "edge"),
            _kind(self),
            counted(self.n_components, "component"),
            f"{self.n_isolated:,} isolated",
            readable_bytes(self.nbytes),
        ]
        if self.dropped_self_loops:
            facts.append(counted(self.dropped_self_loops, "self-loop") + " dropped")
        return f"Graph({', '.join(facts)})"

    def _repr_html_(self) -> str:
        return html_table([], graph_facts(self), "Graph")


def _sorted_arcs(
    ends: NDArray[np.int32], weights: Any, n_nodes: int, mirror: bool, keep_loops: bool
) -> tuple[Any, ...]:
    """Return sorted rows of neighbours, as arrays of a Graph, and the number of self-loops."""
    indptr = np.zeros(n_nodes + 1, np.int64)
    loops = csr.fill_offsets(ends, mirror, keep_loops, indptr)
    indices = np.empty(indptr[-1], np.int32)
    summed = None if weights is None else np.empty(indptr[-1], np.float64)
    csr.fill_rows(ends, weights, mirror, keep_loops, indptr[:-1].copy(), indices, summed)
    middle = int(np.searchsorted(indptr, indptr[-1] // 2))
    halves = ((0, middle), (middle, n_nodes))
    with Threads(2) as threads:
        do_all(threads, lambda rows: csr.sort_rows(indptr, indices, summed, *rows), halves)
    return indptr, indices, summed, loops


def _check_span(weights: NDArray[np.float64]) -> None:
    """Raise InputError for weights whose sums or ratios are no numbers."""
    if weights.max() == np.inf:
        raise InputError(
            "the weights of parallel edges add up to more than 1.8e308, the largest number: divide "
            "all weights by a common factor"
        )
    if not weights.min() > weights.max() * _SMALLEST_SHARE:
        raise InputError(
            f"edge weights span from {weights.min():g} to {weights.max():g}: more than 150 orders "
            "of magnitude are not supported"
        )


# -- from files and objects ----------------------------------------------------------------------


def _graph_of(data: Any, nodes: Any, options: dict[str, Any]) -> Graph:
    """Return the graph of an object or a file; see :meth:`Graph.from_any`."""
    held = data if isinstance(data, Graph) else getattr(data, "graph", None)
    if isinstance(held, Graph):  # or of a Dataset
        settings = options["columns"].given | {"bipartite": options["bipartite"], "nodes": nodes}
        names = [name for name, value in settings.items() if value not in (None, False)]
        if names:
            raise InputError(
                f"{', '.join(names)}: for tables and files, not for a {type(data).__name__}, which "
                "is a graph already"
            )
        return held
    is_file = isinstance(data, (str, os.PathLike))
    for name in options:
        if name not in (*_GRAPH_OPTIONS, *signature(read_edges).parameters):
            raise TypeError(f"from_any() got an unexpected keyword argument {name!r}")
        if not is_file and name not in (*_GRAPH_OPTIONS, *signature(EdgeOptions).parameters):
            raise InputError(f"{name}: only for files, not for a {type_name(data)}")
    self_loops, duplicates, id_type = (options.pop(name, None) for name in _GRAPH_OPTIONS)
    check_choice("duplicates", duplicates or "merge", DUPLICATES)
    check_id_type(id_type)
    edges = read_edges(data, **options) if is_file else edges_from(data, EdgeOptions(**options))
    name = str(data) if is_file else ""
    with naming(name):
        edges = with_id_type(edges, id_type)
    edges = add_nodes(edges, nodes)
    with naming(name):
        graph = Graph._from(edges, self_loops)
        if duplicates == "refuse" and graph.merged_edges:
            raise _repeated(graph.merged_edges, edges)
    return graph


def _repeated(count: int, edges: Edges) -> InputError:
    """Return the error for edges that repeat others, with an example."""
    ends = edges.ends if edges.directed else np.sort(edges.ends, axis=1)
    keys = ends[:, 0].astype(np.int64) * len(edges.ids) + ends[:, 1]
    order = np.argsort(keys, kind="stable")
    again = order[1:][np.diff(keys[order]) == 0]
    again = again[ends[again, 0] != ends[again, 1]]
    example = ""
    if again.size:  # not of a matrix, whose entries are merged already
        source, target = map(short_repr, edges.ids[edges.ends[again.min()]].tolist())
        example = f", such as that from {source} to {target}"
    return InputError(
        f"{counted(count, 'duplicate edge')}{example}: leave them out, or "
        'duplicates="merge" makes one edge of them',
        settings=[("duplicates", "merge")],
    )


def edges_of(
    graph: Graph, both_ways: bool = False
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the edges as row numbers (m, 2), and their weights, which are 1 if there are none.

    An undirected edge is returned once, or in both directions if `both_ways`.
    """
    sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    ends = np.column_stack([sources, graph.indices])
    weights = np.ones(len(ends)) if graph.weights is None else graph.weights
    if graph.directed or both_ways:
        return ends, weights
    once = ends[:, 0] <= ends[:, 1]
    return ends[once], weights[once]


def _kind(graph: Graph) -> str:
    directions = "directed" if graph.directed else "undirected"
    return f"{directions}, {'weighted' if graph.weighted else 'unweighted'}"


def graph_facts(graph: Graph) -> list[tuple[str, str]]:
    """Return what notebooks show of a graph."""
    facts = [
        ("nodes", f"{graph.n_nodes:,}"),
        ("edges", f"{graph.n_edges:,}"),
        ("kind", _kind(graph)),
        ("components", f"{graph.n_components:,}"),
        ("isolated", f"{graph.n_isolated:,}"),
        ("memory", readable_bytes(graph.nbytes)),
    ]
    if graph.dropped_self_loops:
        facts.append(("dropped", counted(graph.dropped_self_loops, "self-loop")))
    if graph.n_nodes:
        degrees, name = graph.degrees, "out-degrees" if graph.directed else "degrees"
        middle = f"mean {degrees.mean():.4g}, median {np.median(degrees):.4g}"
        facts += [(name, f"{middle}, largest {degrees.max():,}"), ("ids", first_ids(graph.ids))]
    return facts


def bytes_without_directions(graph: Graph) -> tuple[int, int]:
    """Estimate the memory of :meth:`Graph.to_undirected`, while it is made and afterwards.

    None where it was made before, since the graph keeps it.
    """
    if not graph.directed or "_without_directions" in vars(graph):
        return 0, 0
    arcs, nodes = len(graph.indices), 16 * graph.n_nodes
    making, kept = (46, 24) if graph.weighted else (36, 8)
    return making * arcs + nodes, kept * arcs + nodes


def induced_graph(graph: Graph, rows: NDArray[Any]) -> Graph:
    """Return the graph of some nodes, in this order, without directions, weights and loops."""
    number = np.full(graph.n_nodes, -1, np.int32)
    number[rows] = np.arange(len(rows))
    ends = number[edges_of(graph)[0]]
    return Graph.from_numbered(ends[(ends >= 0).all(axis=1)], None, graph.ids[rows])
