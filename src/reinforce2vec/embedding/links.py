"""Links that are likely missing: for every node, those that it is most likely to get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .._util.checks import check_choice, check_count
from .._util.errors import InputError, pandas_for
from .._util.html import html_table
from .._util.ids import Ids
from .._util.logistic import fit_logistic
from .._util.parameters import LINK_SCORES
from .._util.progress import counted
from ..graph import Graph, edges_of
from .embedding import Embedding
from .exact_search import Floats, Rows, Search, holds
from .nearest import asked_rows, best_targets, check_embedding, on_terminal

SAMPLE = 50_000  # edges, and as many pairs without one, that tell what makes an edge
DIGITS = 9  # of a score after the point, so that it is the same from both ends of a pair
SHOWN = 10  # links in a notebook


# -- for users ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RecommendedLinks:
    """Links that a graph has not and is likely to get: goes through (source, target, score).

    Attributes
    ----------
    sources : int64 or object array (m,)
        The nodes that were asked for, each as often as it has recommendations.
    targets : int64 or object array (m,)
        Whom they should be linked to, for each source the most likely first.
    scores : float64 array (m,)
        The higher, the more likely.
    directed : bool
        Whether a link says nothing about the way back.
    """

    sources: Ids
    targets: Ids
    scores: Floats
    directed: bool

    def __iter__(self) -> Iterator[tuple[Any, Any, float]]:
        """Go through (source, target, score)."""
        columns = (self.sources, self.targets, self.scores)
        return zip(*(column.tolist() for column in columns), strict=True)

    def __len__(self) -> int:
        return len(self.scores)

    def best(self, k: int) -> RecommendedLinks:
        """The k most likely of all, the most likely first; an undirected link once."""
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
        """A pandas DataFrame with a row for each link: source, target and score."""
        columns = {"source": self.sources, "target": self.targets, "score": self.scores}
        return pandas_for("to_frame()").DataFrame(columns)

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"RecommendedLinks({counted(len(self), f'{kind} link')})"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (str(source), str(target), score) for source, target, score in self._at(slice(SHOWN))
        ]
        if len(self) > SHOWN:
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
    """For every node, the nodes that it is most likely linked to and is not yet.

    Never the node itself nor a neighbour (on a directed graph, none that it points to already).

    Parameters
    ----------
    embedding : Embedding
        Vectors learned from the graph, all of them finite. Smoothed ones, see :func:`smooth`, give
        better recommendations.
    graph : Graph
        The links that are there; anything that :meth:`Graph.from_any` takes. Nodes are matched by
        their ids: one without a vector is left out, one that only has a vector has no links yet.
    k : int, default 10
        How many recommendations for each node.
    nodes : node id, or iterable of them, optional
        Who gets recommendations; by default every node with a vector.
    candidates : iterable of node ids, optional
        Who can be recommended; by default every node with a vector. Where users are linked to
        items, pass `nodes=users, candidates=items`: with `candidates` alone, items get items, too.
    score : {"odds", "cosine"}
        "odds": the logarithm of the odds that the pair is an edge, in a lot of as many edges as
        other pairs; by a logistic regression, on edges of the graph and pairs that are none, from
        the cosine of the two vectors and the logarithm of the degrees; of graphs whose edges these
        do not tell, the cosine. "cosine": the cosine alone, which does not prefer nodes with many
        links, and is right less often. Weights of edges are not looked at.
    method : {"auto", "exact", "approximate"}
        As for :func:`nearest_neighbors`.
    progress : bool, default True
        Show a line on the terminal, if there is one.

    Returns
    -------
    RecommendedLinks
        Goes through (source, target, score), for each source the most likely first. `best(k)` are
        the most likely of all; `to_frame()` makes a table.

    Notes
    -----
    Of edges that were taken out of the Facebook graph, ten recommendations from smoothed vectors
    find 3.4 by "odds" and 3.0 by "cosine", and from raw ones 3.1 and 2.2. Among friends, who have
    many friends in common, counting these (by resource allocation) finds 3.8; vectors also reach
    nodes that share no neighbour, such as users and items. See `benchmarks/recommendation.py`.

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
    there = in_rows_of(embedding, Graph.from_any(graph))
    sources = asked_rows(embedding, nodes)
    targets = np.sort(asked_rows(embedding, candidates))
    search = Search(embedding.vectors, sources, targets, Linked(there, sources, targets))
    odds = fitted(search, there) if score == "odds" else PLAIN
    popular = np.log1p(np.bincount(there.indices, minlength=there.n_nodes))  # as targets
    eager = np.log1p(there.degrees)  # as sources
    if odds.popularity:
        bonus = odds.popularity / odds.cosine * popular[targets]
        search = Search(embedding.vectors, sources, targets, search.barred, bonus)
    places, found = best_targets(search, k, method, on_terminal("links", progress))
    found = odds.cosine * found + odds.popularity * eager[sources, None] + odds.edge
    found = found.round(DIGITS)
    listed = places >= 0
    return RecommendedLinks(
        embedding.ids[np.repeat(sources, listed.sum(axis=1))],
        embedding.ids[targets[places[listed]]],
        found[listed],
        there.directed,
    )


# -- links that are there ----------------------------------------------------------------------


def in_rows_of(embedding: Embedding, graph: Graph) -> Graph:
    """The graph with the embedding's nodes, in its rows; what has no vector is left out."""
    if np.array_equal(embedding.ids, graph.ids):
        return graph
    rows = [embedding.row(node) if node in embedding else -1 for node in graph.ids.tolist()]
    if all(row < 0 for row in rows):
        names = [repr(ids[:1].tolist()[0]) for ids in (graph.ids, embedding.ids) if len(ids)]
        like = f": those of the graph are named like {names[0]}, those of the embedding like "
        raise InputError(
            "no node of the graph has a vector" + (like + names[1] if len(names) == 2 else "")
        )
    ends = np.array(rows, np.int32)[edges_of(graph)[0]]
    with_vectors = (ends >= 0).all(axis=1)
    return Graph.from_numbered(ends[with_vectors], None, embedding.ids, directed=graph.directed)


class Linked:
    """Tells which targets some sources must not find: themselves, and whom they are linked to."""

    def __init__(self, graph: Graph, sources: Rows, targets: Rows) -> None:
        self._graph, self._sources = graph, sources
        self._places = np.full(graph.n_nodes, -1, np.int32)
        self._places[targets] = np.arange(len(targets), dtype=np.int32)

    def __call__(self, part: slice) -> tuple[NDArray[np.int64], Rows]:
        """Where those of each source begin, and their places among the targets, ascending."""
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


# -- what makes an edge ------------------------------------------------------------------------


class Odds(NamedTuple):
    """What the log odds of an edge are made of."""

    cosine: float  # times the cosine of the two vectors
    popularity: float  # times log(1 + degree) of both nodes
    edge: float  # and this


PLAIN = Odds(1.0, 0.0, 0.0)  # the cosine alone


def fitted(search: Search, graph: Graph) -> Odds:
    """Learn from the graph what edges to targets have that other pairs have not.

    Does not depend on who looks, so that a node gets the same alone and among all. What makes no
    sense is not believed: unlikeness does not link, nor does a low degree, nor does the logarithm
    of a degree count for more than the cosine. The rest is then learned anew, and where even that
    makes no sense, the cosine alone is left.
    """
    rng = np.random.default_rng(0)
    is_target = np.zeros(graph.n_nodes, bool)
    is_target[search.targets] = True
    arcs = np.flatnonzero(is_target[graph.indices])
    arcs = arcs if len(arcs) <= SAMPLE else np.sort(rng.choice(arcs, SAMPLE, replace=False))
    tails = np.searchsorted(graph.indptr, arcs, side="right") - 1
    heads = graph.indices[arcs]
    others = rng.choice(np.unique(tails), len(arcs)) if len(arcs) else tails
    unlinked = rng.choice(search.targets, len(arcs)) if len(arcs) else heads
    free = (others != unlinked) & ~linked(graph.indptr, graph.indices, others, unlinked)
    if not free.any():
        return PLAIN
    a = np.concatenate([tails, others[free]])
    b = np.concatenate([heads, unlinked[free]])
    alike = search.scores(a, np.searchsorted(search.targets, b))
    degrees = np.bincount(graph.indices, minlength=graph.n_nodes)
    popular = np.log1p(graph.degrees[a]) + np.log1p(degrees[b])
    truth = np.repeat([True, False], [len(arcs), int(free.sum())])
    (cosine, popularity), edge = fit(np.column_stack([alike, popular]), truth)
    if 0 <= popularity <= cosine and cosine > 0:
        return Odds(cosine, popularity, edge)
    share = float(popularity > 0)  # as much as a cosine counts, at most
    (steepness,), edge = fit((alike + share * popular)[:, None], truth)
    return Odds(steepness, share * steepness, edge) if steepness > 0 else PLAIN


def fit(facts: Floats, truth: NDArray[np.bool_]) -> tuple[list[float], float]:
    """What each fact about a pair adds to the log odds that it is an edge, and what is left."""
    weights, edge = fit_logistic(facts, truth[:, None], standardise=True)
    return weights[:, 0].tolist(), float(edge[0])


@njit(cache=True, nogil=True)
def linked(indptr: Any, indices: Any, sources: Any, targets: Any) -> Any:
    """Which of the pairs are edges."""
    found = np.empty(len(sources), np.bool_)
    for i in range(len(sources)):
        found[i] = holds(indices, indptr[sources[i]], indptr[sources[i] + 1], targets[i])
    return found
