"""What all methods that factorise a matrix of the graph share."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._util.checks import check_count
from ..._util.errors import InputError
from ..._util.machine import check_memory
from ...graph import Graph
from ..estimator import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self

Matrix = NDArray[Any]


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
        check_memory(
            self._bytes(graph, dimensions),
            f"{type(self).__name__} with dimensions={dimensions} on {graph.n_nodes:,} nodes",
        )
        found = self._vectors(graph, dimensions, rng, progress)
        vectors = np.zeros((graph.n_nodes, dimensions), np.float32)
        vectors[:, : found.shape[1]] = found  # a small graph has fewer dimensions: zeros follow
        linked = graph.degrees > 0
        linked[graph.indices] = True
        vectors[~linked] = 0  # isolated nodes: without what rounding left
        self.embedding_ = self._embedding(graph.ids, vectors, graph)
        return self

    def _check(self) -> None:
        """Raise InputError if a parameter of the method is invalid."""

    @abstractmethod
    def _bytes(self, graph: Graph, dimensions: int) -> int:
        """Estimate the memory that the method takes at least."""

    @abstractmethod
    def _vectors(
        self, graph: Graph, dimensions: int, rng: np.random.Generator, progress: bool
    ) -> Matrix:
        """Return vectors with at most so many dimensions."""


def space_bytes(n: int, rank: int, block: int, itemsize: int) -> int:
    """Estimate the memory that the search for `rank` leading eigenvectors takes."""
    return n * (3 * rank + 10 * block) * itemsize


def fix_signs(vectors: Matrix) -> Matrix:
    """Negate columns whose sum is negative: the sign of an eigenvector is arbitrary."""
    signs = np.where(vectors.sum(axis=0, dtype=np.float64) < 0, -1, 1)
    return np.asarray(vectors * signs.astype(vectors.dtype))
