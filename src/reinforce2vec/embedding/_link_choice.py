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

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph, edges_of
from ._exact_search import Floats, Places, Rows, SimilaritySearch
from ._link_paths import COUNTS, PairCounts, ShortPaths
from ._link_vectors import (
    LinkedTargets,
    ScaleCosines,
    Similarity,
    cosines_of,
    diffused_vectors,
    fit_odds,
    fit_similarity,
    fit_weights,
    linked,
)
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


# -- features of pairs -------------------------------------------------------------------------


class PairFacts:
    """Collects what a graph says about pairs of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._eager = np.log1p(graph.degrees)
        self._popular = np.log1p(np.bincount(graph.indices, minlength=graph.n_nodes))

    def __call__(self, a: NDArray[Any], b: NDArray[Any], counts: Floats) -> Floats:
        """Return a row for each pair, from the counts of the paths between them.

        Columns: these counts, logarithms of the degrees of source and target, and, on directed
        graphs only, whether the target is linked to the source.
        """
        mutual = np.zeros(len(a))
        if self._graph.directed:
            mutual += linked(self._graph.indptr, self._graph.indices, b, a)
        return np.column_stack([counts, self._eager[a], self._popular[b], mutual])


_EAGER, _POPULAR = len(COUNTS), len(COUNTS) + 1  # columns of these facts


@dataclass(frozen=True)
class CombinedScore:
    """Log-odds of a hidden edge among candidates, from all features of a pair."""

    floors: Floats  # low counts, beside which others are logarithms
    weights: Floats
    intercept: float
    similarity: Similarity | None

    def __call__(self, facts: Floats, cosines: Floats) -> Floats:
        """Return the score of pairs, from their facts and the cosine of each scale."""
        alike = None if self.similarity is None else self.similarity(cosines)
        features = _features(facts, self.floors, alike)
        return np.asarray(features @ self.weights + self.intercept)


def _features(facts: Floats, floors: Floats, alike: Floats | None) -> Floats:
    """Return a column for each feature: paths, degrees, the way back, and similarity if given."""
    counts, others = np.split(facts, [len(COUNTS)], axis=1)
    columns = [np.log1p(counts / floors), others]
    return np.column_stack(columns if alike is None else [*columns, alike])


def _fit(features: Floats, truth: NDArray[np.bool_], directed: bool) -> tuple[Floats, float]:
    """Return the weight of each feature and the intercept.

    Without directions, the degree of the source gets the weight of that of the target. It changes
    no order among the candidates of a source, and both ends of a pair get the same score.
    """
    weights, edge = fit_weights(features, truth)
    if not directed:
        difference = weights[_EAGER] - weights[_POPULAR]
        edge += float(difference * features[:, _EAGER].mean())
        weights[_EAGER] = weights[_POPULAR]
    return weights, edge


# -- edges that are hidden ---------------------------------------------------------------------


class _Trial(NamedTuple):
    """Candidates on a graph without some edges, and which of them are these edges."""

    who: Places  # number of the source
    source: Rows  # its row
    facts: Floats
    alike: Floats  # cosine of diffused vectors
    odds: Floats  # log-odds by these
    truth: NDArray[np.bool_]


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


def _trials(
    paths: ShortPaths, targets: Rows, is_target: NDArray[np.bool_]
) -> Iterator[tuple[_Trial, int]]:
    """Yield trials and the number of their hidden pairs, until enough edges were hidden."""
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
        left_paths = ShortPaths(left, paths.degree_limits)
        yield _trial(left_paths, arcs, sources, targets, is_target), len(arcs)
        n_hidden, n_sources = n_hidden + len(arcs), n_sources + len(sources)
        if n_hidden >= _ENOUGH_HIDDEN or n_sources >= most:
            return


def _trial(
    paths: ShortPaths, arcs: Rows, sources: Rows, targets: Rows, is_target: NDArray[np.bool_]
) -> _Trial:
    """Collect the candidates of sources on a graph from which arcs are hidden."""
    graph = paths.graph
    vectors = diffused_vectors(graph)
    search = SimilaritySearch(vectors, sources, targets, LinkedTargets(graph, sources, targets))
    nearest = best_targets(search, _CANDIDATES, "exact", lambda done, total: None)[0]
    extra = np.where(nearest >= 0, targets[nearest], -1).astype(np.int32)
    who, b, counts = _candidates(paths, sources, is_target, extra, COUNTS)
    a = sources[who]
    facts = PairFacts(graph)(a, b, counts)
    alike = cosines_of(vectors, a, b)
    odds = fit_odds(search, graph)
    score = odds.cosine * alike + odds.popularity * facts[:, _POPULAR]
    n = graph.n_nodes
    hidden = arcs[:, 0].astype(np.int64) * n + arcs[:, 1]
    return _Trial(who, a, facts, alike, score, np.isin(a.astype(np.int64) * n + b, hidden))


def _unlinked_pairs(paths: ShortPaths, is_target: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return both ends of pairs without an edge, but with short paths between them."""
    able = np.flatnonzero(paths.graph.degrees > 0)
    some = np.random.default_rng(0).permutation(able)[: _judged_sources(paths.graph) // 2]
    some = np.sort(some).astype(np.int32)
    nothing = np.empty((len(some), 0), np.int32)
    pairs = _candidates(paths, some, is_target, nothing, _SIMPLE)
    return some[pairs.who], pairs.rows


def _candidates(
    paths: ShortPaths, sources: Rows, is_target: NDArray[np.bool_], extra: Rows, by: tuple[str, ...]
) -> PairCounts:
    """Return all candidates of sources."""
    nobody = PairCounts(np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, len(COUNTS))))
    parts = [nobody, *paths.candidates(sources, is_target, extra, by, _CANDIDATES)]
    return PairCounts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


# -- the choice --------------------------------------------------------------------------------


def choose_scorer(
    paths: ShortPaths, own_cosines: ScaleCosines, targets: Rows
) -> tuple[str, CombinedScore | None]:
    """Choose the scorer for the links of a graph; also return the combination of all.

    From the simplest on, a scorer takes the place of the one before if it finds more hidden edges,
    by more than the standard error of the difference; the combination of all comes last. Where too
    few edges can be hidden, it is the log-odds by the vectors. Independent of the sources, so that
    a node gets the same recommendations alone and among all.
    """
    is_target = np.zeros(paths.graph.n_nodes, bool)
    is_target[targets] = True
    trials = list(_trials(paths, targets, is_target))
    n_hidden = sum(count for _, count in trials)
    if n_hidden < _LEAST_HIDDEN or not any(trial.truth.any() for trial, _ in trials):
        return "odds", None
    trial = _joined([trial for trial, _ in trials if len(trial.who)])
    combined, features = _combine(paths, own_cosines, is_target, trial)
    counts = {name: trial.facts[:, COUNTS.index(name)] for name in _SIMPLE}
    # a count that is 0 for all hidden edges, as that of common neighbours of users and items,
    # orders nothing: what it seems to find is found by the ties
    scores = {name: column for name, column in counts.items() if column[trial.truth].any()}
    if combined.similarity is not None:
        scores["odds"] = trial.odds
    scores["combined"] = _judged(features, trial, paths.graph)
    tie = np.zeros(len(trial.truth)) if combined.similarity is None else trial.alike
    hits = {name: _hits(trial, score, tie) for name, score in scores.items()}
    chosen, *rest = hits  # the simplest first
    for name in rest:
        gain = hits[name] - hits[chosen]
        if gain.sum() > np.sqrt(len(gain)) * gain.std():
            chosen = name
    return chosen, combined


def _joined(trials: list[_Trial]) -> _Trial:
    """Return several trials as one, with sources of its own for each."""
    begins = np.cumsum([0, *(int(trial.who[-1]) + 1 for trial in trials)]).tolist()
    apart = [t._replace(who=t.who + begin) for t, begin in zip(trials, begins[:-1], strict=True)]
    return _Trial(*(np.concatenate(column) for column in zip(*apart, strict=True)))


def _combine(
    paths: ShortPaths, own_cosines: ScaleCosines, is_target: NDArray[np.bool_], trial: _Trial
) -> tuple[CombinedScore, Floats]:
    """Fit the combination of all features to hidden edges; return it and the features."""
    graph, facts = paths.graph, trial.facts
    reached = facts[:, : len(COUNTS)].any(axis=1)
    pairs = _unlinked_pairs(paths, is_target)
    similarity = fit_similarity(graph, *pairs, own_cosines, trial.alike[reached])
    floors = np.array([_low(column) for column in facts.T[: len(COUNTS)]])
    features = _features(facts, floors, None if similarity is None else trial.alike)
    weights, intercept = _fit(features, trial.truth, graph.directed)
    if similarity is not None and weights[-1] <= 0:  # unlike nodes are not linked for that
        similarity, features = None, features[:, :-1]
        weights, intercept = _fit(features, trial.truth, graph.directed)
    return CombinedScore(floors, weights, intercept, similarity), features


def _low(counts: Floats) -> float:
    """Return a low count of those that are not 0."""
    positive = counts[counts > 0]
    return _FLOOR * float(np.quantile(positive, 0.1)) if positive.size else 1.0


def _judged(features: Floats, trial: _Trial, graph: Graph) -> Floats:
    """Return scores by all features, whose weights were fitted to the edges of other sources."""
    scores = np.zeros(len(features))
    folds = np.random.default_rng(3).integers(0, 2, graph.n_nodes)[trial.source]
    for fold in np.unique(folds) if np.ptp(folds) else ():
        others = folds != fold
        weights, edge = _fit(features[others], trial.truth[others], graph.directed)
        scores[~others] = features[~others] @ weights + edge
    return scores


def _hits(trial: _Trial, score: Floats, tie: Floats) -> Places:
    """Return for each source how many of its first candidates are hidden edges.

    Candidates with the same score are ordered by `tie`, the highest first.
    """
    who = trial.who
    order = np.lexsort((-tie, -score, who))
    rank = np.arange(len(who)) - np.searchsorted(who, who)
    first = order[rank < _JUDGED]
    return np.bincount(who[first], trial.truth[first], who[-1] + 1).astype(np.int64)
