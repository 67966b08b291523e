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
from ._exact_search import Floats, Rows, slices

COUNTS = ("common", "adamic-adar", "allocation", "three-steps", "spread")
"""What is counted for a pair. The last is "three-steps" with roots of degrees."""
_SOURCES = 256  # at a time
_WORK = 1 << 34  # edges to follow for all nodes of a graph, about
_LEAST_WORK, _MOST_WORK = 1 << 14, 1 << 20  # edges to follow for one node, on average


class PairCounts(NamedTuple):
    """Pairs of a source and a candidate, and the counts of paths between them."""

    who: NDArray[np.int64]  # number of the source, ascending
    rows: Rows  # of the candidate
    counts: Floats  # one column for each of COUNTS


@dataclass(frozen=True, eq=False)
class ShortPaths:
    """The paths of two and three steps of a graph.

    Nodes of a very high degree are not counted as the middle of a path where that would take too
    long: `degree_limits` are the highest degrees of middles, of two and of three steps. Those paths
    say least, since all counts but "common" divide by degrees. Time for one source: at most two
    looks at every edge. Memory: 84 bytes per node and thread.
    """

    graph: Graph
    degree_limits: tuple[int, int]

    @classmethod
    def of(cls, graph: Graph) -> ShortPaths:
        """Return the paths of a graph, with limits that bound the work for all nodes."""
        return cls(graph, _degree_limits(graph))

    @cached_property
    def _backward(self) -> tuple[NDArray[np.int64], Rows]:
        """Return the edges to each node, as a sorted adjacency."""
        graph = self.graph
        if not graph.directed:
            return graph.indptr, graph.indices
        turned = Graph.from_numbered(
            edges_of(graph)[0][:, ::-1], None, graph.ids, directed=True, self_loops=True
        )
        return turned.indptr, turned.indices

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
        graph, back = self.graph, self._backward

        def search(part: slice) -> PairCounts:
            room = most * (len(columns) + graph.directed) + extra.shape[1]
            rows = np.empty((part.stop - part.start, room), np.int32)
            counts = np.empty((*rows.shape, len(COUNTS)))
            found = _find_candidates(
                *(graph.indptr, graph.indices, *back, self._shares, graph.directed),
                *(sources[part], is_target, extra[part], columns, most, three_steps),
                *(rows, counts),
            )
            listed = np.arange(room) < found[:, None]
            return PairCounts(np.nonzero(listed)[0] + part.start, rows[listed], counts[listed])

        with Threads(available_cpus()) as threads:
            yield from in_turn(
                threads, search, slices(len(sources), _SOURCES), 2 * available_cpus()
            )


def _degrees(graph: Graph) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return for each node the edges from it, to it, and of both kinds."""
    outward = graph.degrees
    if not graph.directed:
        return outward, outward, outward
    inward = np.bincount(graph.indices, minlength=graph.n_nodes)
    return outward, inward, outward + inward


def _degree_limits(graph: Graph) -> tuple[int, int]:
    """Return the highest degrees of the middles of two and of three steps.

    They are powers of two with which the paths of a node are, on average, no more than it may
    follow; nodes count as the middles of as many paths as they have edges to and from them.
    """
    outward, inward, both = _degrees(graph)
    n_nodes, most = graph.n_nodes, int(both.max(initial=1))
    budget = min(max(_WORK // max(n_nodes, 1), _LEAST_WORK), _MOST_WORK)
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
def _find_candidates(
    indptr: Any,
    indices: Any,
    back_indptr: Any,
    back_indices: Any,
    shares: Any,
    directed: bool,
    sources: Any,
    is_target: Any,
    extra: Any,
    columns: Any,
    most: int,
    three_steps: bool,
    rows: Any,
    counts: Any,
) -> Any:
    """Fill in the candidates of each source and their counts; return how many each has."""
    n = len(indptr) - 1
    near = np.zeros((n, 3))  # counts of two steps,
    far = np.zeros((n, 2))  # of three steps,
    halfway = np.zeros((n, 2))  # and of two of the three
    near_nodes, far_nodes = np.empty(n, np.int32), np.empty(n, np.int32)
    halfway_nodes = np.empty(n, np.int32)
    barred = np.full(n, -1, np.int32)  # the last source that cannot be linked to a node
    listed = np.full(n, -1, np.int32)  # the last source of which a node is a candidate
    free, values = np.empty(n, np.int32), np.empty(n)
    found = np.zeros(len(sources), np.int64)
    for i in range(len(sources)):
        u = sources[i]
        n_near, n_far, n_halfway, n_free, count = 0, 0, 0, 0, 0
        barred[u] = i
        for j in range(indptr[u], indptr[u + 1]):
            barred[indices[j]] = i
        for j in range(indptr[u], indptr[u + 1]):
            a = indices[j]
            if a == u:
                continue
            if shares[a, 1] > 0:
                numbers = (1.0, shares[a, 0], shares[a, 1])
                n_near = _spread(indptr, indices, a, numbers, near, near_nodes, n_near)
            if three_steps and shares[a, 2] > 0:
                n_halfway = _spread(
                    *(back_indptr, back_indices, a, (shares[a, 2], shares[a, 3])),
                    *(halfway, halfway_nodes, n_halfway),
                )
        for j in range(n_halfway):
            b = halfway_nodes[j]
            if b != u and shares[b, 4] > 0:
                by_degree, by_root = halfway[b, 0] * shares[b, 4], halfway[b, 1] * shares[b, 5]
                n_far = _spread(indptr, indices, b, (by_degree, by_root), far, far_nodes, n_far)
            halfway[b, 0] = halfway[b, 1] = 0
        for column in columns:
            places, sums = (near_nodes[:n_near], near) if column < 3 else (far_nodes[:n_far], far)
            at = column if column < 3 else column - 3
            n_free = 0
            for v in places:
                if barred[v] != i and is_target[v]:
                    free[n_free], values[n_free] = v, sums[v, at]
                    n_free += 1
            least = 0.0
            if n_free > most:
                least = np.partition(values[:n_free], n_free - most)[n_free - most]
            equal = most  # places for candidates with the least count
            for j in range(n_free):
                equal -= values[j] > least
            for j in range(n_free):
                v = free[j]
                if values[j] < least or (values[j] == least and equal <= 0):
                    continue
                equal -= values[j] == least
                if listed[v] != i:
                    listed[v] = i
                    rows[i, count] = v
                    count += 1
        for v in extra[i]:
            if v >= 0 and is_target[v] and barred[v] != i and listed[v] != i:
                listed[v] = i
                rows[i, count] = v
                count += 1
        if directed:
            begin = back_indptr[u]
            for j in range(begin, min(begin + most, back_indptr[u + 1])):
                v = back_indices[j]
                if is_target[v] and barred[v] != i and listed[v] != i:
                    listed[v] = i
                    rows[i, count] = v
                    count += 1
        for j in range(count):
            counts[i, j, :3] = near[rows[i, j]]
            counts[i, j, 3:] = far[rows[i, j]]
        for j in range(n_near):
            near[near_nodes[j]] = 0
        for j in range(n_far):
            far[far_nodes[j]] = 0
        found[i] = count
    return found


@kernel
def _spread(
    indptr: Any, indices: Any, a: int, numbers: Any, sums: Any, nodes: Any, n_nodes: int
) -> int:
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
