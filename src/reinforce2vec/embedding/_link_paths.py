"""Candidates for new links by short paths, and how many paths lead to each of them.

Paths of two steps lead from a node to the neighbours of its neighbours. Paths of three steps go to
a neighbour, back along an edge to another node that points to it, and on to a third: source → a ← b
→ target. Without directions these are all paths of three edges; on a graph of users and items they
lead from a user to what users with the same items have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import compiled, kernel
from .._util.machine import available_cpus
from .._util.threads import Threads, in_turn
from ..graph import Graph, edges_of
from ._exact_search import Floats, Places, Rows, slices

COUNTS = ("common", "adamic-adar", "allocation", "three-steps", "spread")
"""What is counted for a pair. The last is "three-steps" with roots of degrees."""
_SOURCES = 256  # at a time
_WORK = 1 << 34  # edges to follow for all nodes of a graph, about
_LEAST_WORK = 1 << 14  # edges to follow for one node, on average, however many there are


class PairCounts(NamedTuple):
    """Pairs of a source and a candidate, and the counts of paths between them."""

    who: Places  # number of the source, ascending
    rows: Rows  # of the candidate
    counts: Floats  # one column for each of COUNTS


@dataclass(frozen=True, eq=False)
class ShortPaths:
    """The paths of two and three steps of a graph.

    Nodes of a very high degree are not counted as the middle of a path where that would take too
    long: `degree_limits` are the highest degrees of middles, of two and of three steps. Those paths
    say least, since all counts but "common" divide by degrees. Time for one source: at most two
    looks at every edge. Memory: 73 bytes per node and thread.
    """

    graph: Graph
    degree_limits: tuple[int, int]

    @classmethod
    def of(cls, graph: Graph, most_work: int = 1 << 20) -> ShortPaths:
        """Return the paths of a graph, with limits that bound the work for all nodes.

        `most_work` is how many edges to follow for a node, on average.
        """
        return cls(graph, _degree_limits(graph, most_work))

    @cached_property
    def _adjacency(self) -> tuple[Any, ...]:
        """Return the edges from each node, and those to each node."""
        graph = back = self.graph
        if graph.directed:
            turned = edges_of(graph)[0][:, ::-1]
            back = Graph.from_numbered(turned, None, graph.ids, directed=True, self_loops=True)
        return graph.indptr, graph.indices, back.indptr, back.indices

    @cached_property
    def _shares(self) -> Floats:
        """Return what a path counts through each node.

        Columns: as the middle of two steps by Adamic and Adar and by resource allocation (0 both:
        not counted), as the first and as the second middle of three steps, each twice.
        """
        outward, inward, both = _degrees(self.graph)
        two, three = (both <= limit for limit in self.degree_limits)
        shares = np.zeros((len(both), 6))
        shares[two, 0] = 1 / np.log(np.maximum(both[two], 2))
        shares[two, 1] = 1 / np.maximum(both[two], 1)
        shares[three, 2] = 1 / np.maximum(inward[three], 1)
        shares[three, 4] = 1 / np.maximum(outward[three], 1)
        shares[:, 3], shares[:, 5] = np.sqrt(shares[:, 2]), np.sqrt(shares[:, 4])
        return shares

    def candidates(
        self,
        sources: Rows,
        is_target: NDArray[np.bool_],
        extra: Rows,
        by: tuple[str, ...],
        most: int,
        three_steps: bool = True,
    ) -> Iterator[PairCounts]:
        """Yield the candidates of sources, some sources at a time, in order.

        A node itself and the nodes that it is linked to are no candidates.

        Parameters
        ----------
        sources : int32 array (m,)
            The nodes to start from.
        is_target : bool array (n_nodes,)
            Which nodes may be candidates.
        extra : int32 array (m, any)
            More candidates of each source, whatever paths lead there; -1 for none. On a directed
            graph, nodes that point to the source are added.
        by : tuple of str
            Counts of which the highest `most` of each source are candidates.
        most : int
            See `by`.
        three_steps : bool, default True
            Whether to follow paths of three steps; else their counts are 0.
        """
        columns = np.array([COUNTS.index(name) for name in by], np.int64)
        shares = self._shares.copy()
        if not three_steps:
            shares[:, 2:] = 0
        paths = *self._adjacency, shares
        directed = self.graph.directed
        room = most * (len(columns) + directed) + extra.shape[1]

        def search(part: slice) -> PairCounts:
            rows = np.empty((part.stop - part.start, room), np.int32)
            counts = np.empty((*rows.shape, len(COUNTS)))
            wanted = columns, most, extra[part], directed
            sizes = _find_candidates(paths, sources[part], is_target, wanted, rows, counts)
            listed = np.arange(room) < sizes[:, None]
            return PairCounts(np.nonzero(listed)[0] + part.start, rows[listed], counts[listed])

        with Threads(available_cpus()) as threads:
            parts = slices(len(sources), _SOURCES)
            yield from in_turn(threads, search, parts, 2 * available_cpus())


def _degrees(graph: Graph) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return for each node the edges from it, to it, and of both kinds."""
    outward = graph.degrees
    if not graph.directed:
        return outward, outward, outward
    inward = np.bincount(graph.indices, minlength=graph.n_nodes)
    return outward, inward, outward + inward


def _degree_limits(graph: Graph, most_work: int) -> tuple[int, int]:
    """Return the highest degrees of the middles of two and of three steps.

    They are powers of two with which the paths of a node are, on average, no more than it may
    follow; nodes count as the middles of as many paths as they have edges to and from them.
    """
    outward, inward, both = _degrees(graph)
    n_nodes, most = graph.n_nodes, int(both.max(initial=1))
    budget = min(max(_WORK // max(n_nodes, 1), _LEAST_WORK), most_work)
    if len(graph.indices) <= budget:  # a search looks at no edge twice
        return most, most
    sources = np.repeat(np.arange(n_nodes), outward)
    limits = []
    for steps in (2, 3):
        limit = 1 << most.bit_length()
        while limit > 2:
            onward: Floats = np.where(both <= limit, outward, 0).astype(np.float64)
            if steps == 3:  # edges of all nodes that point to a node
                onward = np.bincount(graph.indices, onward[sources], n_nodes).astype(np.float64)
                onward[both > limit] = 0
            if (onward @ inward) <= budget * n_nodes:
                break
            limit //= 2
        limits.append(limit)
    return limits[0], limits[1]


@compiled
def _find_candidates(paths, sources, is_target, wanted, rows, counts):
    """Fill in the candidates of each source and their counts; return how many each has."""
    indptr, indices, back_indptr, back_indices, _ = paths
    columns, most, extra, directed = wanted
    n = len(indptr) - 1
    near, near_nodes = np.zeros((n, 3)), np.empty(n, np.int32)  # counts of two steps,
    far, far_nodes = np.zeros((n, 2)), np.empty(n, np.int32)  # of three steps,
    halfway, halfway_nodes = np.zeros((n, 2)), np.empty(n, np.int32)  # and of two of the three
    free = is_target.copy()  # nodes that a source can be linked to
    listed = np.full(n, -1, np.int32)  # the last source of which a node is a candidate
    sizes = np.zeros(len(sources), np.int64)
    for i in range(len(sources)):
        u = sources[i]
        linked = indices[indptr[u] : indptr[u + 1]]
        free[u] = False
        free[linked] = False
        n_near = _count_two_steps(paths, u, near, near_nodes)
        n_far = _count_three_steps(paths, u, far, far_nodes, halfway, halfway_nodes)
        count = 0
        for column in columns:
            nodes = near_nodes[:n_near] if column < 3 else far_nodes[:n_far]
            nodes = nodes[free[nodes]]
            values = near[:, column][nodes] if column < 3 else far[:, column - 3][nodes]
            count = _list(nodes[_foremost(values, most)], i, free, listed, rows[i], count)
        count = _list(extra[i], i, free, listed, rows[i], count)
        if directed:
            end = min(back_indptr[u] + most, back_indptr[u + 1])
            count = _list(back_indices[back_indptr[u] : end], i, free, listed, rows[i], count)
        for j in range(count):
            counts[i, j, :3] = near[rows[i, j]]
            counts[i, j, 3:] = far[rows[i, j]]
        for v in near_nodes[:n_near]:
            near[v] = 0
        for v in far_nodes[:n_far]:
            far[v] = 0
        free[u] = is_target[u]
        free[linked] = is_target[linked]
        sizes[i] = count
    return sizes


@kernel
def _count_two_steps(paths, u, sums, nodes):
    """Count the paths of two steps from a node; list their ends, and return how many these are."""
    indptr, indices, _, _, shares = paths
    n_nodes = 0
    for a in indices[indptr[u] : indptr[u + 1]]:
        if a != u and shares[a, 1] > 0:
            numbers = (1.0, shares[a, 0], shares[a, 1])
            n_nodes = _spread(indptr, indices, a, numbers, sums, nodes, n_nodes)
    return n_nodes


@kernel
def _count_three_steps(paths, u, sums, nodes, halfway, halfway_nodes):
    """Count the paths of three steps from a node; list their ends, and return how many."""
    indptr, indices, back_indptr, back_indices, shares = paths
    n_nodes = n_halfway = 0
    for a in indices[indptr[u] : indptr[u + 1]]:
        if a != u and shares[a, 2] > 0:
            numbers = (shares[a, 2], shares[a, 3])
            n_halfway = _spread(
                back_indptr, back_indices, a, numbers, halfway, halfway_nodes, n_halfway
            )
    for b in halfway_nodes[:n_halfway]:
        if b != u and shares[b, 4] > 0:
            numbers = (halfway[b, 0] * shares[b, 4], halfway[b, 1] * shares[b, 5])
            n_nodes = _spread(indptr, indices, b, numbers, sums, nodes, n_nodes)
        halfway[b] = 0
    return n_nodes


@kernel
def _spread(indptr, indices, a, numbers, sums, nodes, n_nodes):
    """Add a tuple of numbers to the sums of all neighbours of a node; list those without before.

    Returns how many are listed.
    """
    for m in range(indptr[a], indptr[a + 1]):
        v = np.uint32(indices[m])
        if sums[v, 0] == 0:
            nodes[n_nodes] = v
            n_nodes += 1
        for column in range(len(numbers)):
            sums[v, column] += numbers[column]
    return n_nodes


@compiled
def _foremost(values, most):
    """Return which values are among the `most` highest; of equal ones, the first."""
    least = 0.0
    if len(values) > most:
        least = np.partition(values, len(values) - most)[len(values) - most]
    above, equal = values > least, values == least
    return above | (equal & (np.cumsum(equal) <= most - above.sum()))


@kernel
def _list(nodes, i, free, listed, rows, count):
    """Append nodes that a source can be linked to and that are not listed; return how many are."""
    for v in nodes:
        if v >= 0 and free[v] and listed[v] != i:
            listed[v] = i
            rows[count] = v
            count += 1
    return count
