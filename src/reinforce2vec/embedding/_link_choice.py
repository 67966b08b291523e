"""The choice of a scorer of links, by edges that are hidden once more from the graph.

Counts of paths between two nodes do not contain the edge between them, so they can be judged on
edges that are removed for the purpose. Vectors cannot: they have seen those edges in training, and
nothing removes that. On a graph of users and items, the cosine finds most of such edges among its
first ten, and hardly any new ones. So the weight of the cosine is fitted to vectors that are made
from the remaining graph alone, by diffusion of random vectors, which takes a second and finds about
as many hidden edges as trained vectors do. The cosine of the real vectors then takes the place of
theirs, if the two agree on pairs without an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.logistic import fit_logistic
from ..graph import Graph, edges_of
from ._exact_search import Floats, Rows, SimilaritySearch
from ._link_cosines import ScaleCosines, diffused_vectors, fit_similarity
from ._link_odds import fit_odds, linked
from ._link_paths import COUNTS, PairCounts, ShortPaths
from ._linked_targets import LinkedTargets
from .nearest import best_targets

_SIMPLE = ("allocation", "adamic-adar", "common", "three-steps")
"""Scorers that are counts of paths."""
_HIDDEN_SHARE, _MOST_HIDDEN = 0.1, 20_000  # edges that are hidden at a time
_LEAST_HIDDEN = 30  # pairs, with fewer of which nothing can be learned
_ENOUGH_HIDDEN, _ROUNDS = 1000, 10  # on small graphs, edges are hidden several times
_MOST_SOURCES, _LEAST_SOURCES = 1000, 300  # whose recommendations are judged
_WORK = 1 << 29  # edges to follow for all of them, about
_JUDGED = 10  # recommendations for each
_CANDIDATES = 50  # of each kind for each source
_FLOOR = 0.1  # times a low count, is added to counts before their logarithms are taken


# -- pairs and their features ------------------------------------------------------------------


class _LinkPairs(NamedTuple):
    """Pairs that may be linked, and what is known about them besides the vectors."""

    counts: Floats  # of paths, see COUNTS
    eager: Floats  # logarithms of the degrees of sources
    popular: Floats  # and of targets
    mutual: Floats  # whether the target is linked to the source: on directed graphs only


class PairFacts:
    """Collects what a graph says about pairs of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._eager = np.log1p(graph.degrees)
        self._popular = np.log1p(np.bincount(graph.indices, minlength=graph.n_nodes))

    def __call__(self, a: NDArray[Any], b: NDArray[Any], counts: Floats) -> _LinkPairs:
        """Return pairs of rows, given the counts of the paths between them."""
        mutual = np.zeros(len(a))
        if self._graph.directed:
            mutual += linked(self._graph.indptr, self._graph.indices, b, a)
        return _LinkPairs(counts, self._eager[a], self._popular[b], mutual)


@dataclass(frozen=True)
class CombinedScore:
    """Log-odds of a hidden edge among candidates, from all features of a pair."""

    floors: Floats  # low counts, beside which others are logarithms
    weights: Floats
    intercept: float
    similarity: Callable[[Floats], Floats] | None

    def __call__(self, pairs: _LinkPairs, cosines: Floats) -> Floats:
        """Return the score of pairs, from their features and the cosine of each scale."""
        alike = None if self.similarity is None else self.similarity(cosines)
        features = _features(pairs, self.floors, alike)
        return np.asarray(features @ self.weights + self.intercept)


def _features(pairs: _LinkPairs, floors: Floats, alike: Floats | None) -> Floats:
    """Return a column for each feature: paths, degrees, the way back, and similarity if given."""
    columns = [np.log1p(pairs.counts / floors), pairs.eager, pairs.popular, pairs.mutual]
    return np.column_stack(columns if alike is None else [*columns, alike])


def _fit_weights(features: Floats, truth: NDArray[np.bool_], directed: bool) -> tuple[Any, float]:
    """Return the weight of each feature and the intercept.

    Without directions, the degree of the source gets the weight of that of the target. It changes
    no order among the candidates of a source, and both ends of a pair get the same score.
    """
    weights, intercept = fit_logistic(features, truth[:, None], standardise=True)
    found, edge = weights[:, 0].copy(), float(intercept[0])
    if not directed:
        eager, popular = len(COUNTS), len(COUNTS) + 1
        edge += float((found[eager] - found[popular]) * features[:, eager].mean())
        found[eager] = found[popular]
    return found, edge


# -- edges that are hidden ---------------------------------------------------------------------


class _Trial(NamedTuple):
    """Candidates on a graph without some edges, and which of them are these edges."""

    who: NDArray[np.int64]  # number of the source
    source: Rows  # its row
    pairs: _LinkPairs
    alike: Floats  # cosine of diffused vectors
    odds: Floats  # log-odds by these
    truth: NDArray[np.bool_]
    n_hidden: int  # pairs, also those that are no candidates


def _judged_sources(graph: Graph) -> int:
    """Return how many sources to judge: fewer on a large graph, where each takes longer."""
    return min(max(_WORK // max(len(graph.indices), 1), _LEAST_SOURCES), _MOST_SOURCES)


def _hide_edges(graph: Graph, round_number: int) -> tuple[Graph, NDArray[np.int32]] | None:
    """Return the graph without some edges, and these; every node keeps one of each kind."""
    rng = np.random.default_rng([1, round_number])
    ends = edges_of(graph)[0]
    order = rng.permutation(len(ends))
    shuffled = ends[order]
    removable = shuffled[:, 0] != shuffled[:, 1]
    firsts = np.full((2, graph.n_nodes), len(ends))  # place of each node as source and as target
    for column in (0, 1):  # where a node occurs several times, its last value is kept
        firsts[column, shuffled[::-1, column]] = np.arange(len(ends))[::-1]
    kept_places = (firsts if graph.directed else firsts.min(axis=0)).ravel()
    removable[kept_places[kept_places < len(ends)]] = False
    count = min(int(_HIDDEN_SHARE * len(ends)) + 1, _MOST_HIDDEN)
    hidden = order[np.flatnonzero(removable)[:count]]
    if not hidden.size:
        return None
    kept = np.delete(ends, hidden, axis=0)
    left = Graph.from_numbered(kept, None, graph.ids, directed=graph.directed, self_loops=True)
    return left, ends[hidden]


def _trials(paths: ShortPaths, targets: Rows, is_target: NDArray[np.bool_]) -> Iterator[_Trial]:
    """Yield trials until enough edges were hidden."""
    n_hidden = n_sources = 0
    most = _judged_sources(paths.graph)
    for number in range(_ROUNDS):
        divided = _hide_edges(paths.graph, number)
        if divided is None:
            return
        left, arcs = divided
        if not left.directed:
            arcs = np.concatenate([arcs, arcs[:, ::-1]])
        arcs = arcs[is_target[arcs[:, 1]]]
        sources = np.unique(arcs[:, 0])
        room = most - n_sources
        if len(sources) > room:
            rng = np.random.default_rng([2, number])
            sources = np.sort(rng.choice(sources, room, replace=False))
        arcs = arcs[np.isin(arcs[:, 0], sources)]
        if not len(arcs):
            return
        yield _trial(ShortPaths(left, paths.degree_limits), arcs, sources, targets, is_target)
        n_hidden, n_sources = n_hidden + len(arcs), n_sources + len(sources)
        if n_hidden >= _ENOUGH_HIDDEN or n_sources >= most:
            return


def _trial(
    paths: ShortPaths, arcs: Rows, sources: Rows, targets: Rows, is_target: NDArray[np.bool_]
) -> _Trial:
    """Collect the candidates of sources on a graph from which arcs are hidden."""
    graph = paths.graph
    vectors = diffused_vectors(graph)
    barred = LinkedTargets(graph, sources, targets)
    search = SimilaritySearch(vectors, sources, targets, barred)
    nearest = best_targets(search, _CANDIDATES, "exact", lambda done, total: None)[0]
    extra = np.where(nearest >= 0, targets[nearest], -1).astype(np.int32)
    found = _joined(paths.candidates(sources, is_target, extra, COUNTS, _CANDIDATES))
    a, b = sources[found.who], found.rows
    pairs = PairFacts(graph)(a, b, found.counts)
    alike = ScaleCosines(vectors, (vectors.shape[1],))(a, b)[:, 0]
    odds = fit_odds(search, graph)
    n = graph.n_nodes
    hidden = arcs[:, 0].astype(np.int64) * n + arcs[:, 1]
    return _Trial(
        *(found.who, a, pairs, alike),
        odds.cosine * alike + odds.popularity * pairs.popular,
        np.isin(a.astype(np.int64) * n + b, hidden),
        len(arcs),
    )


def _unlinked_pairs(paths: ShortPaths, is_target: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return both ends of pairs without an edge, but with short paths between them."""
    graph = paths.graph
    able = np.flatnonzero(graph.degrees > 0)
    some = np.random.default_rng(0).permutation(able)[: _judged_sources(graph) // 2]
    some = np.sort(some).astype(np.int32)
    none = np.empty((len(some), 0), np.int32)
    pairs = _joined(paths.candidates(some, is_target, none, _SIMPLE, _CANDIDATES))
    return some[pairs.who], pairs.rows


def _joined(parts: Iterable[PairCounts]) -> PairCounts:
    listed = list(parts)
    if not listed:
        none = np.empty(0, np.int64)
        return PairCounts(none, none.astype(np.int32), np.empty((0, len(COUNTS))))
    return PairCounts(*(np.concatenate(column) for column in zip(*listed, strict=True)))


# -- the choice --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ScorerChoice:
    """The scorer that finds most hidden edges, and the share that each one finds."""

    name: str
    combined: CombinedScore | None
    shares: dict[str, float]


def choose_scorer(paths: ShortPaths, cosines_of: ScaleCosines, targets: Rows) -> _ScorerChoice:
    """Choose the scorer for the links of a graph.

    From the simplest on, a scorer takes the place of the one before if it finds more hidden edges,
    by more than the standard error of the difference; the combination of all comes last. Where too
    few edges can be hidden, it is the log-odds by the vectors. Independent of the sources, so that
    a node gets the same recommendations alone and among all.
    """
    is_target = np.zeros(paths.graph.n_nodes, bool)
    is_target[targets] = True
    trials = list(_trials(paths, targets, is_target))
    n_hidden = sum(trial.n_hidden for trial in trials)
    if n_hidden < _LEAST_HIDDEN or not any(trial.truth.any() for trial in trials):
        return _ScorerChoice("odds", None, {})
    trials = [trial for trial in trials if len(trial.who)]
    begins = np.cumsum([0, *(int(trial.who[-1]) + 1 for trial in trials)])
    who = np.concatenate([t.who + begin for t, begin in zip(trials, begins[:-1], strict=True)])
    pairs = _LinkPairs(*map(np.concatenate, zip(*(trial.pairs for trial in trials), strict=True)))
    alike, odds, truth, source = (
        np.concatenate([getattr(trial, name) for trial in trials])
        for name in ("alike", "odds", "truth", "source")
    )
    reached = pairs.counts.any(axis=1)
    others = _unlinked_pairs(paths, is_target)
    similarity = fit_similarity(paths.graph, *others, cosines_of, alike[reached])
    floors = np.array([_low(column) for column in pairs.counts.T])
    directed = paths.graph.directed
    features = _features(pairs, floors, None if similarity is None else alike)
    weights, intercept = _fit_weights(features, truth, directed)
    if similarity is not None and weights[-1] <= 0:  # unlike nodes are not linked for that
        similarity, features = None, features[:, :-1]
        weights, intercept = _fit_weights(features, truth, directed)

    counted = {name: pairs.counts[:, COUNTS.index(name)] for name in _SIMPLE}
    # a count that is 0 for all hidden edges, as that of common neighbours of users and items,
    # orders nothing: what it seems to find is found by the ties
    scores = {name: column for name, column in counted.items() if column[truth].any()}
    if similarity is not None:
        scores["odds"] = odds
    scores["combined"] = np.zeros(len(truth))
    folds = np.random.default_rng(3).integers(0, 2, paths.graph.n_nodes)[source]
    for fold in np.unique(folds) if np.ptp(folds) else ():  # weights are judged on other sources
        fitted, edge = _fit_weights(features[folds != fold], truth[folds != fold], directed)
        scores["combined"][folds == fold] = features[folds == fold] @ fitted + edge
    tie = np.zeros(len(truth)) if similarity is None else alike
    hits = {name: _hits(who, score, tie, truth) for name, score in scores.items()}
    shares = {name: float(those.sum()) / n_hidden for name, those in hits.items()}
    chosen, *rest = hits  # the simplest first
    for name in rest:
        gain = hits[name] - hits[chosen]
        if gain.sum() > np.sqrt(len(gain)) * gain.std():
            chosen = name
    return _ScorerChoice(chosen, CombinedScore(floors, weights, intercept, similarity), shares)


def _low(counts: Floats) -> float:
    """Return a low count of those that are not 0."""
    positive = counts[counts > 0]
    return _FLOOR * float(np.quantile(positive, 0.1)) if positive.size else 1.0


def _hits(
    who: NDArray[np.int64], score: Floats, tie: Floats, truth: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return for each source how many of its first candidates are hidden edges.

    Candidates with the same score are ordered by `tie`, the highest first.
    """
    order = np.lexsort((-tie, -score, who))
    rank = np.arange(len(who)) - np.searchsorted(who, who)
    first = order[rank < _JUDGED]
    return np.bincount(who[first], truth[first], who[-1] + 1).astype(np.int64)
