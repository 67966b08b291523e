"""Log-odds of an edge from the cosine of two vectors and the degrees of the two nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import compiled
from .._util.logistic import fit_logistic
from ..graph import Graph
from ._exact_search import Floats, SimilaritySearch, contains_sorted

_SAMPLE = 50_000  # edges, and as many pairs without an edge, to fit the regression on


class OddsOfEdges(NamedTuple):
    """Coefficients of the log-odds of an edge."""

    cosine: float  # of the cosine of the two vectors
    popularity: float  # of log(1 + degree), summed over both nodes
    edge: float  # the intercept


COSINE_ALONE = OddsOfEdges(1.0, 0.0, 0.0)


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
    arcs = arcs if len(arcs) <= _SAMPLE else np.sort(rng.choice(arcs, _SAMPLE, replace=False))
    tails = np.searchsorted(graph.indptr, arcs, side="right") - 1
    heads = graph.indices[arcs]
    others = rng.choice(np.unique(tails), len(arcs)) if len(arcs) else tails
    unlinked = rng.choice(search.targets, len(arcs)) if len(arcs) else heads
    free = (others != unlinked) & ~linked(graph.indptr, graph.indices, others, unlinked)
    if not free.any():
        return COSINE_ALONE
    a = np.concatenate([tails, others[free]])
    b = np.concatenate([heads, unlinked[free]])
    alike = search.scores(a, np.searchsorted(search.targets, b))
    degrees = np.bincount(graph.indices, minlength=graph.n_nodes)
    popular = np.log1p(graph.degrees[a]) + np.log1p(degrees[b])
    truth = np.repeat([True, False], [len(arcs), int(free.sum())])
    (cosine, popularity), edge = _fit_logistic(np.column_stack([alike, popular]), truth)
    if 0 <= popularity <= cosine and cosine > 0:
        return OddsOfEdges(cosine, popularity, edge)
    share = float(popularity > 0)  # degrees count at most as much as the cosine
    (steepness,), edge = _fit_logistic((alike + share * popular)[:, None], truth)
    return OddsOfEdges(steepness, share * steepness, edge) if steepness > 0 else COSINE_ALONE


def _fit_logistic(facts: Floats, truth: NDArray[np.bool_]) -> tuple[list[float], float]:
    """Return the coefficient of each feature of a pair, and the intercept."""
    weights, edge = fit_logistic(facts, truth[:, None], standardise=True)
    return weights[:, 0].tolist(), float(edge[0])


@compiled
def linked(indptr: Any, indices: Any, sources: Any, targets: Any) -> Any:
    """Return which of the pairs are edges."""
    found = np.empty(len(sources), np.bool_)
    for i in range(len(sources)):
        found[i] = contains_sorted(indices, indptr[sources[i]], indptr[sources[i] + 1], targets[i])
    return found
