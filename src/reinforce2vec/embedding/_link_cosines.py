"""Cosines as a feature of links: those of an embedding, and those of vectors made for the purpose.

The vectors of an embedding have seen all edges, so that their cosines say more about known edges
than about new ones. Weights are therefore fitted to the cosines of diffused vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..graph import Graph
from ..graph.matrices import undirected_adjacency, unit_rows
from ._angles import cosines, norms, row_products
from ._exact_search import Floats, Rows, slices

_DIFFUSION_STEPS = 4
_LEAST_DIMENSIONS, _MOST_DIMENSIONS = 32, 256
_NUMBERS = 1 << 23  # in a matrix of diffused vectors, about
_LEAST_PAIRS = 30
_LEAST_AGREEMENT = 0.1  # correlation of cosines, below which vectors are not used
_QUANTILES = np.concatenate([np.linspace(0.02, 0.98, 49), [0.99, 0.995, 0.999]])
_PAIRS_AT_A_TIME = 1 << 16


class ScaleCosines:
    """Cosines of pairs of vectors, for each of the scales that are side by side in them."""

    def __init__(self, vectors: NDArray[Any], scales: tuple[int, ...]) -> None:
        ends = np.cumsum(scales).tolist()
        self._parts = [vectors[:, end - size : end] for end, size in zip(ends, scales, strict=True)]
        self._lengths = [norms(part) for part in self._parts]

    def __call__(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return a row for each pair and a column for each scale."""
        found = np.empty((len(a), len(self._parts)))
        for pairs in slices(len(a), _PAIRS_AT_A_TIME):
            one, other = a[pairs], b[pairs]
            for column, (part, lengths) in enumerate(zip(self._parts, self._lengths, strict=True)):
                products = row_products(part[one], part[other])
                found[pairs, column] = cosines(products, lengths[one] * lengths[other])
        return found


def diffused_vectors(graph: Graph) -> NDArray[np.float32]:
    """Return vectors that random vectors become as they spread along edges, for some steps.

    The sum of the directions after each step; Chen et al. (2019), FastRP.
    """
    dimensions = min(max(_NUMBERS // max(graph.n_nodes, 1), _LEAST_DIMENSIONS), _MOST_DIMENSIONS)
    steps = undirected_adjacency(graph).astype(np.float32)
    steps.data[:] = 1
    degrees = np.maximum(np.diff(steps.indptr), 1).astype(np.float32)
    steps = scipy.sparse.diags_array(1 / degrees) @ steps
    rng = np.random.default_rng(0)
    spread = rng.standard_normal((graph.n_nodes, dimensions), np.float32)
    total = np.zeros_like(spread)
    for _ in range(_DIFFUSION_STEPS):
        spread = steps @ spread
        total += unit_rows(spread.copy())
    return total


@dataclass(frozen=True)
class _Similarity:
    """The cosines of an embedding as a feature: what they say about that of diffused vectors."""

    scales: Floats  # factor of the cosine of each scale
    given: Floats  # the weighted sum of these cosines, ascending,
    meant: Floats  # and the cosine of diffused vectors that it stands for

    def __call__(self, cosines: Floats) -> Floats:
        """Return the feature of pairs, from a column of cosines for each scale."""
        alike = cosines @ self.scales
        found = np.interp(alike, self.given, self.meant)
        above = alike > self.given[-1]  # goes on as steeply as from the median
        middle = (len(self.given) - 1) // 2
        slope = (self.meant[-1] - self.meant[middle]) / (self.given[-1] - self.given[middle])
        found[above] += (alike[above] - self.given[-1]) * slope
        return np.asarray(found)


def fit_similarity(
    graph: Graph, a: Rows, b: Rows, cosines_of: ScaleCosines, meant: Floats
) -> _Similarity | None:
    """Compare an embedding with diffused vectors, on pairs without an edge; None if they disagree.

    Parameters
    ----------
    graph : Graph
        The whole graph.
    a, b : int32 arrays
        Rows of pairs without an edge in it.
    cosines_of : callable
        The cosines of the embedding.
    meant : float64 array
        Cosines of diffused vectors, for such pairs of the graph from which edges are hidden.
    """
    if min(len(a), len(meant)) < _LEAST_PAIRS:
        return None
    own = cosines_of(a, b)
    diffused = diffused_vectors(graph)
    other = ScaleCosines(diffused, (diffused.shape[1],))(a, b)[:, 0]
    centred = own - own.mean(axis=0)
    factors = np.linalg.lstsq(centred, other - other.mean(), rcond=None)[0]
    factors = np.maximum(factors, 0)
    alike = own @ factors
    if alike.std() == 0 or other.std() == 0 or np.ptp(meant) == 0:
        return None
    if np.corrcoef(alike, other)[0, 1] < _LEAST_AGREEMENT:
        return None
    given, expected = _means_by_rank(alike, other)
    stood = np.interp(alike, given, expected)
    if np.ptp(expected) == 0 or stood.std() == 0:
        return None
    # as spread out as cosines of diffused vectors are on the graph without the hidden edges
    scaled = meant.mean() + (expected - stood.mean()) * (meant.std() / stood.std())
    return _Similarity(factors, given, scaled)


def _means_by_rank(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return means of x and of y, over groups of pairs that are next to each other in x.

    Both ascend: a group whose mean of y is lower than one before gets that one's.
    """
    order = np.argsort(x, kind="stable")
    ends = np.unique((_QUANTILES * len(x)).astype(np.int64))
    groups = [part for part in np.split(order, ends) if len(part)]
    given, expected = (np.array([of[part].mean() for part in groups]) for of in (x, y))
    given, places = np.unique(given, return_index=True)
    return given, np.maximum.accumulate(expected[places])
