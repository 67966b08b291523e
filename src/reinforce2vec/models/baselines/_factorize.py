"""What all methods that factorise a matrix of the graph share."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.checks import check_count
from ..._util.errors import InputError
from ..._util.machine import Advice, available_cpus, check_memory, largest_below
from ...graph import Graph
from ...graph.graph import bytes_without_directions
from ...graph.matrices import with_moderate_weights
from ..estimator import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self

Matrix = NDArray[Any]

_WIDEST_SPAN = 1e36  # sum of all weights over the smallest, for what is computed in float32
_BLAS_BYTES = 32 << 20  # for each thread: room that BLAS takes for itself once, and keeps


class Factorization(Estimator):
    """An estimator that factorises a matrix; the seed changes the last digits only."""

    seeded = False  # whether another seed gives another result
    dimensions: int
    seed: int

    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> Self:
        """Compute vectors for the nodes of a graph.

        Parameters
        ----------
        graph : Graph
            The graph; anything else that :meth:`Graph.from_any` accepts is converted.
        y : None
            Ignored; scikit-learn compatibility.
        progress : bool, default True
            Show a progress line if the output is a terminal.

        Returns
        -------
        self
        """
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        dimensions = check_count("dimensions", self.dimensions, 1)
        rng = np.random.default_rng(check_count("seed", self.seed, 0))
        self._check()
        if graph.n_nodes == 0:
            raise InputError("the graph has no nodes, so there is nothing to learn")
        needed = self._least_bytes(graph, dimensions)
        check_memory(
            needed + min(needed, available_cpus() * _BLAS_BYTES),  # it takes less for small work
            f"{type(self).__name__} with dimensions={dimensions} on {graph.n_nodes:,} nodes",
            partial(self._advice, graph),
        )
        found = self._vectors(graph, dimensions, rng, progress)
        vectors = found
        if found.shape[1] < dimensions or found.dtype != np.float32:
            vectors = np.zeros((graph.n_nodes, dimensions), np.float32)
            vectors[:, : found.shape[1]] = found  # a small graph has fewer: zeros follow
        linked = graph.degrees > 0
        linked[graph.indices] = True
        vectors[~linked] = 0  # isolated nodes: without what rounding left
        self.embedding_ = self._embedding(graph.ids, vectors, graph)
        return self

    def estimate_memory(self, graph: Any) -> int:
        """Estimate the bytes that :meth:`fit` takes beside the graph."""
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        dimensions = check_count("dimensions", self.dimensions, 1)
        self._check()
        return self._bytes(graph, dimensions)

    def _check(self) -> None:
        """Raise InputError if a parameter of the method is invalid."""

    def _advice(self, graph: Graph, missing: int) -> Advice:
        """Return which dimensions would fit, or what else is to blame."""
        free = self._least_bytes(graph, self.dimensions) - missing
        fitting = largest_below(
            self.dimensions, lambda some: self._least_bytes(graph, some) <= free
        )
        if fitting:
            settings = (("dimensions", self.dimensions), ("dimensions", fitting))
            return Advice(f"dimensions={fitting} would fit", settings)
        return Advice(
            f"even dimensions=1 would not fit: {type(self).__name__} needs a smaller graph or a "
            "larger machine; Reinforce2Vec takes less",
            (("dimensions", self.dimensions),),
        )

    def _least_bytes(self, graph: Graph, dimensions: int) -> int:
        """Estimate the memory that the method cannot do without."""
        return self._bytes(graph, dimensions)

    @abstractmethod
    def _bytes(self, graph: Graph, dimensions: int) -> int:
        """Estimate the memory that the method takes where there is enough."""

    @abstractmethod
    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        """Return vectors with at most so many dimensions."""


def check_span(graph: Graph, method: str) -> None:
    """Raise InputError if shares of a node's weight are too small for numbers of 32 bits."""
    weights = with_moderate_weights(graph).weights
    if weights is not None and weights.size and weights.sum() > _WIDEST_SPAN * weights.min():
        raise InputError(
            f"{method} works with numbers of 32 bits, for which the edge weights differ too much: "
            f"the largest is {weights.max() / weights.min():.1g} times the smallest, and their sum "
            f"may be {_WIDEST_SPAN:.0g} times that"
        )


def space_bytes(n: int, rank: int, block: int, itemsize: int) -> int:
    """Estimate the memory that the search for `rank` leading eigenvectors takes."""
    most = 2 * rank + 5 * block
    if n <= most:  # the whole matrix
        return 6 * 8 * n * n
    passing = max(6 * block, 2 * rank + 4 * block)  # a pass, or a restart: measured
    return n * (most + passing) * itemsize + 6 * 8 * most**2


def first_pass_bytes(n: int, block: int, itemsize: int) -> int:
    """Estimate the part of it that is touched by the first product."""
    return 7 * n * block * itemsize


class Links(NamedTuple):
    """The undirected graph that a method factorises: its arcs, and bytes beside the given graph."""

    arcs: int
    making: int
    kept: int


def undirected_links(graph: Graph) -> Links:
    """Return how large a graph without directions is."""
    arcs = len(graph.indices) * (2 if graph.directed else 1)
    return Links(arcs, *bytes_without_directions(graph))


def fix_signs(vectors: Matrix) -> Matrix:
    """Negate columns whose sum is negative: the sign of an eigenvector is arbitrary."""
    signs = np.where(vectors.sum(axis=0, dtype=np.float64) < 0, -1, 1)
    return np.asarray(vectors * signs.astype(vectors.dtype))
