"""Link recommendation: for every node, the missing links that are most likely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice, check_count
from .._util.compiled import compiled
from .._util.errors import pandas_for
from .._util.html import html_table
from .._util.hyperparameters import LINK_SCORES
from .._util.ids import Ids
from .._util.logistic import fit_logistic
from .._util.progress import counted
from ..graph import Graph, edges_of
from ._exact_search import Floats, Rows, SimilaritySearch, contains_sorted
from .embedding import Embedding
from .matching import rows_in_embedding
from .nearest import best_targets, check_embedding, search_progress, selected_rows

_SAMPLE = 50_000  # edges, and as many pairs without an edge, to fit the regression on
_DIGITS = 9  # of a score after the decimal point, so that both ends of a pair get the same
_SHOWN = 10  # links in a notebook


# -- the public functions ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RecommendedLinks:
    """Recommended links; iterates over (source, target, score).

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
    """

    sources: Ids
    targets: Ids
    scores: Floats
    directed: bool

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
        pairs = zip(self.sources[order].tolist(), self.targets[order].tolist(), strict=True)
        first: dict[Any, int] = {}
        for place, pair in zip(order.tolist(), pairs, strict=True):
            first.setdefault(pair if self.directed else frozenset(pair), place)
        return self._at(list(first.values())[:k])

    def _at(self, places: Any) -> RecommendedLinks:
        return RecommendedLinks(
            self.sources[places], self.targets[places], self.scores[places], self.directed
        )

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row for each link: source, target and score."""
        columns = {"source": self.sources, "target": self.targets, "score": self.scores}
        return pandas_for("to_frame()").DataFrame(columns)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"RecommendedLinks({counted(len(self), f'{kind} link')})"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (str(source), str(target), score) for source, target, score in self._at(slice(_SHOWN))
        ]
        if len(self) > _SHOWN:
            rows.append(("…", "…", "…"))
        return html_table(["source", "target", "score"], rows, repr(self))


def recommend_links(
    embedding: Embedding,
    graph: Any,
    k: int = 10,
    *,
    nodes: Any = None,
    candidates: Any = None,
    score: str = "odds",
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
        The existing links, or anything that :meth:`Graph.from_any` takes. Nodes are matched by id:
        nodes without a vector are ignored, and nodes that are not in the graph have no links yet.
    k : int, default 10
        Number of recommendations for each node.
    nodes : node id, or iterable of node ids, optional
        The nodes that get recommendations; by default all nodes with a vector.
    candidates : iterable of node ids, optional
        The nodes that can be recommended; by default all nodes with a vector. If users are linked
        to items, pass `nodes=users, candidates=items`: with `candidates` alone, items are also
        recommended to items.
    score : {"odds", "cosine"}
        "odds": the log-odds that the pair is an edge, in a sample with as many edges as other
        pairs. A logistic regression on edges and non-edges of the graph predicts it from the cosine
        similarity and the logarithms of the degrees. If these do not explain the edges of a graph,
        the cosine is used. "cosine": the cosine alone, which does not favour nodes with many links
        and is less accurate. Weights of edges have no effect.
    method : {"auto", "exact", "approximate"}
        As for :func:`nearest_neighbors`.
    progress : bool, default True
        Whether to show progress on the terminal, if there is one.

    Returns
    -------
    RecommendedLinks
        Iterates over (source, target, score), for each source the most likely first. `best(k)`
        returns the most likely links of all; `to_frame()` returns a table.

    Notes
    -----
    If edges are removed from the Facebook graph, ten recommendations from smoothed vectors recover
    3.4 of them with "odds" and 3.0 with "cosine"; from raw vectors, 3.1 and 2.2. Friends have many
    friends in common, so that counting these (resource allocation) recovers 3.8; vectors also reach
    nodes without a common neighbour, such as users and items. See `benchmarks/recommendation.py`.

    Examples
    --------
    >>> from reinforce2vec import Reinforce2Vec, karate_club, recommend_links
    >>> club = karate_club()
    >>> model = Reinforce2Vec(dimensions=16, walks_per_node=10, workers=1).fit(club)
    >>> links = recommend_links(model.embedding_, club, k=3)
    >>> links
    RecommendedLinks(102 undirected links)
    >>> any(target in club.neighbors(source) for source, target, _ in links)
    False
    """
    check_embedding(embedding)
    k = check_count("k", k, 1)
    check_choice("score", score, LINK_SCORES)
    there = _graph_in_rows_of(embedding, Graph.from_any(graph))
    sources = selected_rows(embedding, nodes)
    targets = np.sort(selected_rows(embedding, candidates))
    search = SimilaritySearch(
        embedding.vectors, sources, targets, _LinkedTargets(there, sources, targets)
    )
    odds = _fit_odds(search, there) if score == "odds" else _PLAIN
    popular = np.log1p(np.bincount(there.indices, minlength=there.n_nodes))  # as targets
    eager = np.log1p(there.degrees)  # as sources
    if odds.popularity:
        bonus = odds.popularity / odds.cosine * popular[targets]
        search = SimilaritySearch(embedding.vectors, sources, targets, search.barred, bonus)
    places, found = best_targets(search, k, method, search_progress("links", progress))
    found = odds.cosine * found + odds.popularity * eager[sources, None] + odds.edge
    found = found.round(_DIGITS)
    listed = places >= 0
    return RecommendedLinks(
        embedding.ids[np.repeat(sources, listed.sum(axis=1))],
        embedding.ids[targets[places[listed]]],
        found[listed],
        there.directed,
    )


# -- existing links ----------------------------------------------------------------------------


def _graph_in_rows_of(embedding: Embedding, graph: Graph) -> Graph:
    """Return the graph with the rows of the embedding; nodes without a vector are left out."""
    if np.array_equal(embedding.ids, graph.ids):
        return graph
    ends = rows_in_embedding(embedding, graph).astype(np.int32)[edges_of(graph)[0]]
    with_vectors = (ends >= 0).all(axis=1)
    return Graph.from_numbered(ends[with_vectors], None, embedding.ids, directed=graph.directed)


class _LinkedTargets:
    """Excludes targets from the search of sources: themselves, and those they are linked to."""

    def __init__(self, graph: Graph, sources: Rows, targets: Rows) -> None:
        self._graph, self._sources = graph, sources
        self._places = np.full(graph.n_nodes, -1, np.int32)
        self._places[targets] = np.arange(len(targets), dtype=np.int32)

    def __call__(self, part: slice) -> tuple[NDArray[np.int64], Rows]:
        """Return where those of each source begin, and their ascending places among targets."""
        rows = self._sources[part]
        begins = self._graph.indptr[rows]
        degrees = self._graph.indptr[rows + 1] - begins
        arcs = np.arange(degrees.sum()) + np.repeat(begins - np.cumsum(degrees) + degrees, degrees)
        who = np.concatenate([np.repeat(np.arange(len(rows)), degrees), np.arange(len(rows))])
        places = self._places[np.concatenate([self._graph.indices[arcs], rows])]
        order = np.lexsort((places, who))
        order = order[places[order] >= 0]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.bincount(who[order], minlength=len(rows)), out=offsets[1:])
        return offsets, places[order]


# -- log-odds of an edge -----------------------------------------------------------------------


class _Odds(NamedTuple):
    """Coefficients of the log-odds of an edge."""

    cosine: float  # of the cosine of the two vectors
    popularity: float  # of log(1 + degree), summed over both nodes
    edge: float  # the intercept


_PLAIN = _Odds(1.0, 0.0, 0.0)  # the cosine alone


def _fit_odds(search: SimilaritySearch, graph: Graph) -> _Odds:
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
    free = (others != unlinked) & ~_linked(graph.indptr, graph.indices, others, unlinked)
    if not free.any():
        return _PLAIN
    a = np.concatenate([tails, others[free]])
    b = np.concatenate([heads, unlinked[free]])
    alike = search.scores(a, np.searchsorted(search.targets, b))
    degrees = np.bincount(graph.indices, minlength=graph.n_nodes)
    popular = np.log1p(graph.degrees[a]) + np.log1p(degrees[b])
    truth = np.repeat([True, False], [len(arcs), int(free.sum())])
    (cosine, popularity), edge = _fit_logistic(np.column_stack([alike, popular]), truth)
    if 0 <= popularity <= cosine and cosine > 0:
        return _Odds(cosine, popularity, edge)
    share = float(popularity > 0)  # degrees count at most as much as the cosine
    (steepness,), edge = _fit_logistic((alike + share * popular)[:, None], truth)
    return _Odds(steepness, share * steepness, edge) if steepness > 0 else _PLAIN


def _fit_logistic(facts: Floats, truth: NDArray[np.bool_]) -> tuple[list[float], float]:
    """Return the coefficient of each feature of a pair, and the intercept."""
    weights, edge = fit_logistic(facts, truth[:, None], standardise=True)
    return weights[:, 0].tolist(), float(edge[0])


@compiled
def _linked(indptr: Any, indices: Any, sources: Any, targets: Any) -> Any:
    """Return which of the pairs are edges."""
    found = np.empty(len(sources), np.bool_)
    for i in range(len(sources)):
        found[i] = contains_sorted(indices, indptr[sources[i]], indptr[sources[i] + 1], targets[i])
    return found
