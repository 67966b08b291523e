"""What all methods that factorise a matrix of the graph share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.checks import check_count
from ..._util.errors import InputError
from ..._util.machine import available_cpus, check_dimensions
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

        def bytes_for(dimensions: int) -> int:
            needed = self._bytes(graph, dimensions, keep=False)
            return needed + min(needed, available_cpus() * _BLAS_BYTES)  # less for small work

        what = f"{type(self).__name__} on {graph.n_nodes:,} nodes"
        check_dimensions(dimensions, bytes_for, what)
        vectors = self._vectors(graph, dimensions, rng, progress)
        if vectors.shape[1] < dimensions or vectors.dtype != np.float32:
            narrow, vectors = vectors, np.zeros((graph.n_nodes, dimensions), np.float32)
            vectors[:, : narrow.shape[1]] = narrow  # a small graph has fewer: zeros follow
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
        return self._bytes(graph, dimensions, keep=True)

    def _check(self) -> None:
        """Raise InputError if a parameter of the method is invalid."""

    @abstractmethod
    def _bytes(self, graph: Graph, dimensions: int, keep: bool) -> int:
        """Estimate the memory beside the graph; `keep` the blocks of a matrix, if there are any."""

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
