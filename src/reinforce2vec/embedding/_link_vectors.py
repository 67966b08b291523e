"""What vectors say about links: cosines, and log-odds of an edge by them.

The vectors of an embedding have seen all edges, so that their cosines say more about known edges
than about new ones. Weights are therefore fitted to the cosines of diffused vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.compiled import compiled
from .._util.logistic import fit_logistic
from ..graph import Graph
from ..graph.matrices import undirected_adjacency, unit_rows
from ._exact_search import (
    Floats,
    Places,
    Rows,
    SimilaritySearch,
    contains_sorted,
    cosines,
    norms,
    row_products,
    slices,
)

_DIFFUSION_STEPS = 4
_LEAST_DIMENSIONS, _MOST_DIMENSIONS = 32, 256
_NUMBERS = 1 << 23  # in a matrix of diffused vectors, about
_LEAST_PAIRS = 30
_LEAST_AGREEMENT = 0.1  # correlation of cosines, below which vectors are not used
_QUANTILES = np.concatenate([np.linspace(0.02, 0.98, 49), [0.99, 0.995, 0.999]])
_PAIRS_AT_A_TIME = 1 << 16
_SAMPLE = 50_000  # edges, and as many pairs without an edge, to fit log-odds on


class LinkedTargets:
    """Excludes targets from the search of sources: themselves, and those they are linked to."""

    def __init__(self, graph: Graph, sources: Rows, targets: Rows) -> None:
        self._graph, self._sources = graph, sources
        self._places = np.full(graph.n_nodes, -1, np.int32)
        self._places[targets] = np.arange(len(targets), dtype=np.int32)

    def __call__(self, part: Any) -> tuple[Places, Rows]:
        """Return where those of each source begin, and their ascending places among targets."""
        rows = self._sources[part]
        begins = self._graph.indptr[rows]
        degrees = self._graph.indptr[rows + 1] - begins
        arcs = np.arange(degrees.sum()) + np.repeat(begins - np.cumsum(degrees) + degrees, degrees)
        who = np.concatenate([np.repeat(np.arange(len(rows)), degrees), np.arange(len(rows))])
        places = self._places[np.concatenate([self._graph.indices[arcs], rows])]
        order = np.lexsort((places, who))
        order = order[places[order] >= 0]
        counts = np.bincount(who[order], minlength=len(rows))
        return np.concatenate([[0], np.cumsum(counts)]), places[order]


class ScaleCosines:
    """Cosines of pairs of vectors, for each of the scales that are side by side in them."""

    def __init__(self, vectors: NDArray[Any], scales: tuple[int, ...]) -> None:
        self._parts = np.split(vectors, np.cumsum(scales)[:-1], axis=1)
        self._lengths = [norms(part) for part in self._parts]

    def __call__(self, a: NDArray[Any], b: NDArray[Any]) -> Floats:
        """Return a row for each pair and a column for each scale."""
        alike = np.empty((len(a), len(self._parts)))
        for pairs in slices(len(a), _PAIRS_AT_A_TIME):
            of, to = a[pairs], b[pairs]
            for column, (part, lengths) in enumerate(zip(self._parts, self._lengths, strict=True)):
                products = row_products(part[of], part[to])
                alike[pairs, column] = cosines(products, lengths[of] * lengths[to])
        return alike


def cosines_of(vectors: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return the cosines of pairs of rows."""
    return ScaleCosines(vectors, (vectors.shape[1],))(a, b)[:, 0]


def diffused_vectors(graph: Graph) -> NDArray[np.float32]:
    """Return vectors that random vectors become as they spread along edges, for some steps.

    The sum of the directions after each step; Chen et al. (2019), FastRP.
    """
    dimensions = min(max(_NUMBERS // max(graph.n_nodes, 1), _LEAST_DIMENSIONS), _MOST_DIMENSIONS)
    steps = undirected_adjacency(graph).astype(np.float32)
    steps.data[:] = 1
    degrees = np.maximum(np.diff(steps.indptr), 1).astype(np.float32)
    steps = scipy.sparse.diags_array(1 / degrees) @ steps
    spread = np.random.default_rng(0).standard_normal((graph.n_nodes, dimensions), np.float32)
    total = np.zeros_like(spread)
    for _ in range(_DIFFUSION_STEPS):
        spread = steps @ spread
        total += unit_rows(spread.copy())
    return total


@dataclass(frozen=True)
class Similarity:
    """The cosines of an embedding as a feature: what they say about that of diffused vectors."""

    scales: Floats  # factor of the cosine of each scale
    own: Floats  # the weighted sum of these cosines, ascending,
    meant: Floats  # and the cosine of diffused vectors that it stands for

    def __call__(self, cosines: Floats) -> Floats:
        """Return the feature of pairs, from a column of cosines for each scale."""
        alike = cosines @ self.scales
        feature = np.interp(alike, self.own, self.meant)
        above = alike > self.own[-1]  # goes on as steeply as from the median
        middle = (len(self.own) - 1) // 2
        slope = (self.meant[-1] - self.meant[middle]) / (self.own[-1] - self.own[middle])
        feature[above] += (alike[above] - self.own[-1]) * slope
        return np.asarray(feature)


def fit_similarity(
    graph: Graph, a: Rows, b: Rows, own_cosines: ScaleCosines, meant: Floats
) -> Similarity | None:
    """Compare an embedding with diffused vectors, on pairs without an edge; None if they disagree.

    Parameters
    ----------
    graph : Graph
        The whole graph.
    a, b : int32 arrays
        Rows of pairs without an edge in it.
    own_cosines : callable
        The cosines of the embedding.
    meant : float64 array
        Cosines of diffused vectors, for such pairs of the graph from which edges are hidden.
    """
    if min(len(a), len(meant)) < _LEAST_PAIRS:
        return None
    own = own_cosines(a, b)
    diffused = cosines_of(diffused_vectors(graph), a, b)
    centred = own - own.mean(axis=0)
    factors = np.linalg.lstsq(centred, diffused - diffused.mean(), rcond=None)[0]
    factors = np.maximum(factors, 0)
    alike = own @ factors
    if alike.std() == 0 or diffused.std() == 0 or np.ptp(meant) == 0:
        return None
    if np.corrcoef(alike, diffused)[0, 1] < _LEAST_AGREEMENT:
        return None
    levels, expected = _means_by_rank(alike, diffused)
    stood = np.interp(alike, levels, expected)
    if np.ptp(expected) == 0 or stood.std() == 0:
        return None
    # as spread out as cosines of diffused vectors are on the graph without the hidden edges
    scaled = meant.mean() + (expected - stood.mean()) * (meant.std() / stood.std())
    return Similarity(factors, levels, scaled)


def _means_by_rank(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return means of x and of y, over groups of pairs that are next to each other in x.

    Both ascend: a group whose mean of y is lower than one before gets that one's.
    """
    order = np.argsort(x, kind="stable")
    ends = np.unique((_QUANTILES * len(x)).astype(np.int64))
    groups = [part for part in np.split(order, ends) if len(part)]
    means, expected = (np.array([of[part].mean() for part in groups]) for of in (x, y))
    means, places = np.unique(means, return_index=True)
    return means, np.maximum.accumulate(expected[places])


# -- log-odds ----------------------------------------------------------------------------------


class OddsOfEdges(NamedTuple):
    """Coefficients of the log-odds of an edge."""

    cosine: float = 1.0  # of the cosine of the two vectors
    popularity: float = 0.0  # of log(1 + degree), summed over both nodes
    edge: float = 0.0  # the intercept


COSINE_ALONE = OddsOfEdges()


def fit_odds(search: SimilaritySearch, graph: Graph) -> OddsOfEdges:
    """Fit the log-odds of an edge to a sample of the graph's edges to targets, and of non-edges.

    Independent of the sources, so that a node gets the same recommendations alone and among all.
    Implausible coefficients are not used: the cosine must count, degrees must not count negatively,
    nor more than the cosine. If they do, a regression with fixed shares is fitted instead, and if
    even that is implausible, the cosine alone is the score.
    """
    rng = np.random.default_rng(0)
    is_target = np.zeros(graph.n_nodes, bool)
    is_target[search.targets] = True
    arcs = np.flatnonzero(is_target[graph.indices])
    if not len(arcs):
        return COSINE_ALONE
    arcs = arcs if len(arcs) <= _SAMPLE else np.sort(rng.choice(arcs, _SAMPLE, replace=False))
    tails = np.searchsorted(graph.indptr, arcs, side="right") - 1
    others = rng.choice(np.unique(tails), len(arcs))
    unlinked = rng.choice(search.targets, len(arcs))
    free = (others != unlinked) & ~linked(graph.indptr, graph.indices, others, unlinked)
    if not free.any():
        return COSINE_ALONE
    a = np.concatenate([tails, others[free]])
    b = np.concatenate([graph.indices[arcs], unlinked[free]])
    alike = search.scores(a, np.searchsorted(search.targets, b))
    degrees = np.bincount(graph.indices, minlength=graph.n_nodes)
    popular = np.log1p(graph.degrees[a]) + np.log1p(degrees[b])
    truth = np.repeat([True, False], [len(arcs), int(free.sum())])
    (cosine, popularity), edge = fit_weights(np.column_stack([alike, popular]), truth)
    if 0 <= popularity <= cosine and cosine > 0:
        return OddsOfEdges(float(cosine), float(popularity), edge)
    share = float(popularity > 0)  # degrees count at most as much as the cosine
    (steepness,), edge = fit_weights((alike + share * popular)[:, None], truth)
    if steepness <= 0:
        return COSINE_ALONE
    return OddsOfEdges(float(steepness), float(share * steepness), edge)


def fit_weights(features: Floats, truth: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Return the coefficient of each feature of a pair, and the intercept, of log-odds."""
    weights, intercept = fit_logistic(features, truth[:, None], standardise=True)
    return weights[:, 0].copy(), float(intercept[0])


@compiled
def linked(indptr: Any, indices: Any, sources: Any, targets: Any) -> Any:
    """Return which of the pairs are edges."""
    edges = np.empty(len(sources), np.bool_)
    for i in range(len(sources)):
        edges[i] = contains_sorted(indices, indptr[sources[i]], indptr[sources[i] + 1], targets[i])
    return edges
