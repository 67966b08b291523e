"""Splits for link prediction: held-out edges, and as many pairs without an edge."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from .._util.checks import check_count, check_number
from .._util.errors import InputError, line_of_user, python_setting
from .._util.progress import counted
from ..graph import Graph, edges_of

_Pairs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EdgeSplit:
    """A graph without some of its edges, these edges, and pairs without an edge.

    Attributes
    ----------
    graph : Graph
        The remaining graph: the same nodes in the same rows, and as many components.
    edges : int64 array (m, 2)
        The held-out edges, as row numbers.
    non_edges : int64 array (m, 2)
        Distinct pairs of distinct nodes without an edge in the whole graph, as row numbers.
    """

    graph: Graph
    edges: _Pairs
    non_edges: _Pairs


_USUAL_FRACTION = 0.5


def hold_out_edges(graph: Graph, fraction: float | None = None, seed: int = 0) -> EdgeSplit:
    """Hold out edges of a graph, to be predicted from the rest, and draw as many non-edges.

    The remaining graph has the same components: it keeps a random spanning tree of each, and the
    held-out edges are drawn from all others. Self-loops stay. On a directed graph, edges and
    non-edges are ordered pairs, and components are those of the graph without directions.

    Parameters
    ----------
    graph : Graph
        Anything else that :meth:`Graph.from_any` takes is converted.
    fraction : float, optional
        Share of the edges to hold out. By default half of them, or as many as a sparse graph can
        spare: with fewer edges its components would fall apart. A warning says so.
    seed : int, default 0
        The same seed gives the same split.

    Returns
    -------
    EdgeSplit

    Raises
    ------
    InputError
        If removing so many edges would split a component, as removing any edge of a tree does; or
        if there are fewer non-edges.

    Examples
    --------
    >>> from reinforce2vec import hold_out_edges, karate_club
    >>> split = hold_out_edges(karate_club(), fraction=0.5)
    >>> split.graph.n_edges, split.graph.n_components
    (39, 1)
    >>> split.edges.shape, split.non_edges.shape
    ((39, 2), (39, 2))
    """
    graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
    if fraction is None:
        fraction = spare_fraction(graph)
    fraction = check_number("fraction", fraction, above=0.0, most=1.0)
    rng = np.random.default_rng(check_count("seed", seed, 0))
    n_nodes = graph.n_nodes
    rows, weights = edges_of(graph)
    ends = rows.astype(np.int64)  # a pair is numbered by a product that needs 64 bits
    proper = np.flatnonzero(ends[:, 0] != ends[:, 1])
    edges = ends[proper]
    how_many = int(fraction * len(edges))
    removable = _outside_forest(edges, n_nodes, rng)
    if how_many < 1 or how_many > len(removable):
        raise _no_such_split(fraction, len(edges), len(removable))
    chosen = np.sort(rng.choice(removable, how_many, replace=False))
    kept = np.delete(np.arange(len(ends)), proper[chosen])
    residual = Graph.from_numbered(
        rows[kept],
        weights[kept] if graph.weighted else None,
        graph.ids,
        directed=graph.directed,
        self_loops=True,
    )
    non_edges = _draw_non_edges(edges, n_nodes, how_many, graph.directed, rng)
    return EdgeSplit(residual, edges[chosen], non_edges)


def _no_such_split(fraction: float, n_edges: int, n_removable: int) -> InputError:
    """Return the error for a share that cannot be held out."""
    possible = {0: "none", 1: "1"}.get(n_removable, f"1 to {n_removable:,}")
    return InputError(
        f"{python_setting('fraction', fraction)} of {counted(n_edges, 'edge')} is "
        f"{int(fraction * n_edges):,}, but {possible} can be held out without disconnecting the "
        "graph",
        parameter="fraction",
        value=fraction,
        settings=[("fraction", fraction)],
    )


def spare_fraction(graph: Graph, most: float = _USUAL_FRACTION) -> float:
    """Return the share of the edges to hold out where none was given.

    It is `most`, or the largest share, in whole percents if possible, that leaves every component
    connected; a warning then says so. InputError if no edge can be held out.
    """
    n_edges = int(np.count_nonzero(np.diff(edges_of(graph)[0], axis=1)))
    spare = n_edges - (graph.n_nodes - graph.n_components)  # a spanning forest stays
    if not n_edges:
        raise InputError("the graph has no edges to hold out")
    if spare < 1:
        raise InputError(
            "no edge can be held out: the graph has no cycle, so that without any one of its "
            f"{counted(n_edges, 'edge')} it would fall apart"
        )
    if int(most * n_edges) <= spare:
        return most
    share = float(np.nextafter(spare / n_edges, 1))  # so that this share is `spare` edges
    percents = int(100 * share) / 100
    if int(percents * n_edges) >= 1:
        share = percents
    warnings.warn(
        f"the graph is too sparse to hold out {most:.0%} of its edges and stay connected: "
        f"{100 * share:.3g}% of them are held out",
        stacklevel=line_of_user(),
    )
    return share


def split_seeds(seed: int) -> tuple[int, int]:
    """Return the seeds of the two splits, and of the vectors of each, of a run with a seed.

    >>> split_seeds(3)
    (6, 7)

    The protocol `shared` uses the first one. Every evaluation of link prediction, also that of the
    paper's tables, takes them from here, so that they can be compared.
    """
    return 2 * seed, 2 * seed + 1


def shuffle_seed(seed: int, number: int) -> int:
    """Return the seed of a shuffle of labelled nodes, for vectors that were trained with a seed.

    :func:`evaluate_node_classification` uses these seeds.
    """
    return 100 * seed + number


def _outside_forest(edges: _Pairs, n_nodes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the edges outside a random spanning forest (Kruskal's over shuffled edges)."""
    order = rng.permutation(len(edges))
    places = np.empty(len(edges))
    places[order] = np.arange(1, len(edges) + 1)  # 0 would be no edge
    ends = edges.astype(np.int32).T  # the oldest SciPy we allow takes no others
    matrix = csr_array((places, tuple(ends)), shape=(n_nodes, n_nodes))
    in_forest = minimum_spanning_tree(matrix).data.astype(np.int64) - 1
    return np.sort(np.delete(order, in_forest))


def _draw_non_edges(
    edges: _Pairs, n_nodes: int, how_many: int, directed: bool, rng: np.random.Generator
) -> _Pairs:
    """Draw distinct pairs of distinct nodes that are no edges, all sets of them equally likely.

    Pairs are drawn until enough are new and no edges. Where edges are so many that this would take
    long, all pairs are listed: they are then at most four times as many as the edges.
    """
    taken = np.sort(edges[:, 0] * n_nodes + edges[:, 1])
    n_pairs = n_nodes * (n_nodes - 1) // (1 if directed else 2)
    n_free = n_pairs - len(edges)
    if n_free == 0:
        raise InputError(
            "the graph has no pair of nodes without an edge, which link prediction needs"
        )
    if how_many > n_free:
        raise InputError(
            f"the graph has {counted(n_free, 'pair')} of nodes without an edge, and "
            f"{how_many:,} are needed, one for each edge held out: choose a smaller fraction"
        )
    if n_pairs <= 4 * len(edges):
        first, second = np.divmod(np.arange(n_nodes * n_nodes), n_nodes)
        pairs = first != second if directed else first < second
        pairs[taken] = False
        found = np.flatnonzero(pairs)
    else:
        found = np.empty(0, np.int64)
        while len(found) < how_many:
            ends = rng.integers(0, n_nodes, (2 * (how_many - len(found)) + 16, 2))
            if not directed:
                ends.sort(axis=1)
            drawn = (ends[:, 0] * n_nodes + ends[:, 1])[ends[:, 0] != ends[:, 1]]
            at = np.minimum(np.searchsorted(taken, drawn), len(taken) - 1)
            found = np.union1d(found, drawn[taken[at] != drawn])
    chosen = rng.choice(found, how_many, replace=False)
    return np.column_stack(np.divmod(chosen, n_nodes))
