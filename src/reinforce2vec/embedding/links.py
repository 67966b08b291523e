"""Link recommendation: for every node, the missing links that are most likely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice, check_count
from .._util.errors import pandas_for
from .._util.html import html_table
from .._util.hyperparameters import LINK_SCORES
from .._util.ids import Ids
from .._util.progress import counted, terminal_progress
from ..graph import Graph, edges_of
from ._exact_search import Floats, Places, Rows, SimilaritySearch
from ._link_choice import CombinedScore, PairFacts, choose_scorer
from ._link_paths import COUNTS, PairCounts, ShortPaths
from ._link_vectors import COSINE_ALONE, LinkedTargets, OddsOfEdges, ScaleCosines, fit_odds
from .embedding import Embedding
from .matching import rows_among, warn_of_mismatch
from .nearest import best_targets, check_embedding, selected_rows

_DIGITS = 9  # of a score after the decimal point, so that both ends of a pair get the same
_SPARE = 40  # candidates of each kind in addition to k
_SHOWN = 10  # links in a notebook


# -- the public functions ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RecommendedLinks:
    """Recommended links; iterates over (source, target, score).

    `best(k)` returns the most likely links of all; `to_frame()` returns a table. The scores:

    - "allocation", "adamic-adar", "common": common neighbours of the two nodes, each divided by its
      degree, by the logarithm of its degree, or just counted (resource allocation, Adamic and
      Adar's index). On a directed graph, nodes between source and target.
    - "three-steps": paths of three steps, source → a ← b → target, each divided by the degrees of a
      and b. They lead from users to items.
    - "odds": log-odds by a logistic regression on the cosine of the two vectors and their degrees.
      If these do not explain the edges of a graph, the cosine is used.
    - "combined": log-odds by a logistic regression on all counts, degrees and cosines (of each of
      the `scales` of the embedding), fitted to hidden edges. "auto" uses it if it finds more than
      the best of the others by more than a standard error. If there are too few edges to hide,
      "odds" is used.
    - "cosine": the cosine alone, which does not favour nodes with many links. "auto" never uses it.

    Weights of edges have no effect. Targets with the same score are ordered by cosine.

    Candidates are the k + 40 best by each count of paths and by cosine, and on a directed graph
    nodes that point to the source. On large graphs, nodes of very high degree are not counted as
    the middle of a path: such paths say little, and would take most of the time. The limit depends
    on the graph alone. See `benchmarks/recommendation.py` for the scores on ten graphs.

    Attributes
    ----------
    sources : int64 or object array (m,)
        The nodes that get recommendations, each repeated for each of them.
    targets : int64 or object array (m,)
        The recommended nodes, for each source the most likely first.
    scores : float64 array (m,)
        The higher, the more likely.
    directed : bool
        Whether links have a direction, from source to target.
    scorer : str
        What the scores are, as the parameter `score` of :func:`recommend_links` names it: what
        "auto" chose.
    """

    sources: Ids
    targets: Ids
    scores: Floats
    directed: bool
    scorer: str

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        """Iterate over (source, target, score)."""
        columns = (self.sources, self.targets, self.scores)
        return zip(*(column.tolist() for column in columns), strict=True)

    def __len__(self) -> int:
        return len(self.scores)

    def best(self, k: int) -> RecommendedLinks:
        """Return the k most likely links, the most likely first; an undirected link only once."""
        k = check_count("k", k, 1)
        order = np.argsort(-self.scores, kind="stable")[: 2 * k]  # a link is there twice at most
        first: dict[Any, int] = {}
        for place, (source, target, _) in zip(order.tolist(), self._at(order), strict=True):
            pair = source, target
            first.setdefault(pair if self.directed else frozenset(pair), place)
        return self._at(list(first.values())[:k])

    def _at(self, places: Any) -> RecommendedLinks:
        sources, targets, scores = self.sources[places], self.targets[places], self.scores[places]
        return replace(self, sources=sources, targets=targets, scores=scores)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row for each link: source, target and score."""
        return pandas_for("to_frame()").DataFrame(self.columns())

    def columns(self, part: slice = slice(None)) -> dict[str, NDArray[Any]]:
        """Return the columns of that table; of some of the links, if `part` is given."""
        columns = {"source": self.sources, "target": self.targets, "score": self.scores}
        return {name: column[part] for name, column in columns.items()}

    def __repr__(self) -> str:
        noun = "directed link" if self.directed else "undirected link"
        return f"RecommendedLinks({counted(len(self), noun)} by {self.scorer})"

    def _repr_html_(self) -> str:
        return html_table(list(self.columns()), self._at(slice(_SHOWN)), repr(self))


def recommend_links(
    embedding: Embedding,
    graph: Any,
    k: int = 10,
    *,
    nodes: Any = None,
    candidates: Any = None,
    score: str = "auto",
    method: str = "auto",
    progress: bool = True,
) -> RecommendedLinks:
    """Recommend new links: for every node, the nodes that it is most likely to be linked to.

    A node itself and its neighbours are never recommended (on a directed graph, those it already
    points to).

    Parameters
    ----------
    embedding : Embedding
        Vectors learned from the graph; all numbers must be finite. Smoothed vectors, see
        :func:`smooth`, give better recommendations.
    graph : Graph
        The existing links, or anything that :meth:`Graph.from_any` takes, matched by ids: nodes
        without a vector are ignored. There is a warning if :attr:`Embedding.info` names another.
    k : int, default 10
        Number of recommendations for each node.
    nodes : node id, or iterable of node ids, optional
        The nodes that get recommendations; by default all nodes with a vector.
    candidates : iterable of node ids, optional
        The nodes that can be recommended; by default all nodes with a vector. If users are linked
        to items, pass `nodes=users, candidates=items`.
    score : str, default "auto"
        How likely a link is, see :class:`RecommendedLinks`. "auto" hides some edges of the graph
        once more, and uses whichever score finds most of them.
    method : {"auto", "exact", "approximate"}
        As for :func:`nearest_neighbors`.
    progress : bool, default True
        Whether to show progress on the terminal, if there is one.

    Returns
    -------
    RecommendedLinks
        Iterates over (source, target, score), for each source the most likely first.

    Examples
    --------
    >>> from reinforce2vec import Reinforce2Vec, karate_club, recommend_links
    >>> club = karate_club()
    >>> model = Reinforce2Vec(dimensions=16, walks_per_node=10, workers=1).fit(club)
    >>> recommend_links(model.embedding_, club, k=3)
    RecommendedLinks(102 undirected links by odds)
    """
    check_embedding(embedding)
    k = check_count("k", k, 1)
    check_choice("score", score, LINK_SCORES)
    graph = Graph.from_any(graph)
    warn_of_mismatch(embedding, graph, stacklevel=2)
    sources = selected_rows(embedding, nodes)
    ranking = LinkRanking.of(embedding, graph, score, selected_rows(embedding, candidates))
    rows, scores, which = ranking.best(sources, k, method, progress)
    ids = embedding.ids
    return RecommendedLinks(ids[sources[which]], ids[rows], scores, graph.directed, ranking.score)


@dataclass(frozen=True)
class LinkRanking:
    """How possible links are ranked, worked out once to answer many questions.

    Attributes
    ----------
    vectors : float32 array
        The vectors.
    graph : Graph
        The existing links, with the rows of the vectors.
    targets : int32 array
        Rows that can be recommended, ascending.
    score : str
        The score, as for :func:`recommend_links`, but not "auto".
    """

    vectors: NDArray[np.float32]
    graph: Graph
    targets: Rows
    score: str
    _paths: ShortPaths | None
    _own_cosines: ScaleCosines
    _combined: CombinedScore | None  # if the score is "combined"

    @classmethod
    def of(
        cls, embedding: Embedding, graph: Graph, score: str = "auto", targets: Rows | None = None
    ) -> LinkRanking:
        """Choose the score and fit it."""
        graph = _graph_in_rows_of(embedding, graph)
        targets = selected_rows(embedding, None) if targets is None else np.sort(targets)
        paths = None if score in ("odds", "cosine") else ShortPaths.of(graph)
        own_cosines = ScaleCosines(embedding.vectors, embedding.scales)
        combined = None
        if paths is not None and score in ("auto", "combined"):
            best, combined = choose_scorer(paths, own_cosines, targets)
            score = best if score == "auto" or combined is None else score
            combined = combined if score == "combined" else None
        paths = None if score == "odds" else paths
        return cls(embedding.vectors, graph, targets, score, paths, own_cosines, combined)

    def best(self, sources: Rows, k: int, method: str, progress: bool) -> _Best:
        """Return rows of the best targets of some rows, scores, and the numbers of the sources."""
        barred = LinkedTargets(self.graph, sources, self.targets)
        search = SimilaritySearch(self.vectors, sources, self.targets, barred)
        if self._paths is None:
            return self._best_by_vectors(search, k, method, progress)
        most = k + _SPARE
        places = best_targets(
            search, most, method, terminal_progress("nearest", "nodes", progress)
        )[0]
        nearest = np.where(places >= 0, self.targets[places], -1).astype(np.int32)
        is_target = np.zeros(self.graph.n_nodes, bool)
        is_target[self.targets] = True
        by = (self.score,) if self._combined is None else COUNTS
        parts = self._paths.candidates(sources, is_target, nearest, by, most, "three-steps" in by)
        report = terminal_progress("links", "nodes", progress)
        facts = PairFacts(self.graph)
        best: list[_Best] = [(np.empty(0, np.int32), np.empty(0), np.empty(0, np.int64))]
        for part in parts:
            best.append(self._best_of(part, sources, k, facts))
            if len(part.who):
                report(int(part.who[-1]) + 1, len(sources))
        report(len(sources), len(sources))
        rows, scores, who = zip(*best, strict=True)
        return np.concatenate(rows), np.concatenate(scores), np.concatenate(who)

    def _best_of(self, part: PairCounts, sources: Rows, k: int, facts: PairFacts) -> _Best:
        """Return the k best candidates of sources: of equal ones by cosine, then by row."""
        a, b = sources[part.who], part.rows
        cosines = self._own_cosines(a, b)
        if self._combined is None:
            scores = part.counts[:, COUNTS.index(self.score)]
        else:
            scores = self._combined(facts(a, b, part.counts), cosines)
        scores = scores.round(_DIGITS)
        order = np.lexsort((b, -cosines.mean(axis=1).round(_DIGITS), -scores, part.who))
        ranks = np.arange(len(order)) - np.searchsorted(part.who, part.who)
        first = order[ranks < k]
        return b[first], scores[first], part.who[first]

    @cached_property
    def _odds(self) -> OddsOfEdges:
        if self.score == "cosine":
            return COSINE_ALONE
        nobody = np.empty(0, np.int32)
        barred = LinkedTargets(self.graph, nobody, self.targets)
        return fit_odds(SimilaritySearch(self.vectors, nobody, self.targets, barred), self.graph)

    def _best_by_vectors(
        self, search: SimilaritySearch, k: int, method: str, progress: bool
    ) -> _Best:
        """Return the best of all targets by the odds."""
        graph, odds, targets = self.graph, self._odds, self.targets
        eager = np.log1p(graph.degrees)[search.sources, None]
        if odds.popularity:
            popular = np.log1p(np.bincount(graph.indices, minlength=graph.n_nodes))  # as targets
            search = replace(search, bonus=odds.popularity / odds.cosine * popular[targets])
        places, scores = best_targets(
            search, k, method, terminal_progress("links", "nodes", progress)
        )
        scores = (odds.cosine * scores + odds.popularity * eager + odds.edge).round(_DIGITS)
        listed = places >= 0
        return targets[places[listed]], scores[listed], np.nonzero(listed)[0]


_Best = tuple[Rows, Floats, Places]


def _graph_in_rows_of(embedding: Embedding, graph: Graph) -> Graph:
    """Return the graph with the rows of the embedding; nodes without a vector are left out."""
    if np.array_equal(embedding.ids, graph.ids):
        return graph
    ends = rows_among(embedding, graph).astype(np.int32)[edges_of(graph)[0]]
    with_vectors = (ends >= 0).all(axis=1)
    return Graph.from_numbered(ends[with_vectors], None, embedding.ids, directed=graph.directed)
