"""Nearest neighbours: the nodes with the highest cosine similarity."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice, check_count
from .._util.errors import InputError, UnknownNode, pandas_for, short_repr
from .._util.html import html_table
from .._util.hyperparameters import SEARCH_METHODS
from .._util.ids import Ids
from .._util.progress import Report, counted, terminal_progress
from ..graph import Graph
from ._approximate_search import search_approximately
from ._exact_search import Floats, Places, Rows, SimilaritySearch, rounding_margin, search_exactly
from .embedding import Embedding, are_several, checked_vectors

# "auto" is exact for up to so many multiplications, and for so small a share of nodes that building
# an index would take longer.
_EXACT_UP_TO = 10**12
_FEW = 1 / 8
_FAINT = 1e-30  # length of vectors whose products in float32 may be lost
_FAINTEST = 1e-6  # weight of a link between nodes that are not similar at all
_SHOWN = 3  # nodes in a notebook


# -- the public functions ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors(Mapping[Any, list[tuple[Any, float]]]):
    """Nearest neighbours of some nodes: a mapping from node ids to lists of (id, cosine).

    Attributes
    ----------
    ids : int64 or object array (n_nodes,)
        Ids of all nodes of the embedding.
    sources : int32 array (m,)
        Row numbers, into `ids`, of the nodes whose neighbours these are.
    rows : int32 array (m, k)
        Row numbers of the neighbours of each, the most similar first; -1 where there are fewer
        than k. At most as many columns as there are nodes.
    cosines : float32 array (m, k)
        Their cosine similarities; NaN where there are fewer than k.
    """

    ids: Ids
    sources: Rows
    rows: Rows
    cosines: NDArray[np.float32]

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {node: place for place, node in enumerate(self.ids[self.sources].tolist())}

    def __getitem__(self, node: Hashable) -> list[tuple[Any, float]]:
        try:
            place = self._places[node]
        except (KeyError, TypeError):
            raise UnknownNode(f"node {short_repr(node)} is not among the selected nodes") from None
        listed = self.rows[place] >= 0
        nodes = self.ids[self.rows[place, listed]].tolist()
        return list(zip(nodes, self.cosines[place, listed].tolist(), strict=True))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the nodes whose neighbours these are."""
        return iter(self.ids[self.sources].tolist())

    def __len__(self) -> int:
        return len(self.sources)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row for each pair: node, neighbor and cosine."""
        return pandas_for("to_frame()").DataFrame(self.columns())

    def columns(self, part: slice = slice(None)) -> dict[str, NDArray[Any]]:
        """Return the columns of that table; of some of the nodes, if `part` is given."""
        rows = self.rows[part]
        listed = rows >= 0
        return {
            "node": self.ids[np.repeat(self.sources[part], listed.sum(axis=1))],
            "neighbor": self.ids[rows[listed]],
            "cosine": self.cosines[part][listed],
        }

    def __repr__(self) -> str:
        return f"Neighbors({counted(len(self), 'node')}, {self.rows.shape[1]} for each)"

    def _repr_html_(self) -> str:
        columns = self.columns(slice(_SHOWN))
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return html_table(list(columns), rows, repr(self))


def nearest_neighbors(
    embedding: Embedding,
    nodes: Any = None,
    k: int = 10,
    method: str = "auto",
    *,
    progress: bool = True,
) -> Neighbors:
    """Return the nodes with the highest cosine similarity, for many nodes at once.

    Parameters
    ----------
    embedding : Embedding
        The vectors; all numbers must be finite.
    nodes : node id, or iterable of node ids, optional
        The nodes whose neighbours to find; by default all nodes.
    k : int, default 10
        Number of neighbours for each.
    method : {"auto", "exact", "approximate"}
        "exact" compares with every node and agrees with :meth:`Embedding.most_similar`.
        "approximate" searches an HNSW index of the package usearch
        (`pip install 'reinforce2vec[approximate]'`), which misses some neighbours, not always the
        same ones. If a sample shows that more than 5% are missed, the search is exact after all.
        Cosines and their order are always correct.
        "auto" is approximate if usearch is installed, at least an eighth of the nodes are selected,
        and selected nodes × nodes × dimensions exceeds 10¹² (for example, all of 125,000 nodes with
        64 dimensions); else exact.
    progress : bool, default True
        Whether to show progress on the terminal, if there is one.

    Returns
    -------
    Neighbors
        A mapping: `found[node]` is a list of (id, cosine), the most similar first, equally similar
        ones in row order. `found.to_frame()` returns a table; `found.rows` and `found.cosines` are
        arrays.

    Examples
    --------
    >>> from reinforce2vec import Embedding, nearest_neighbors
    >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.8, 0.6], [0, 2]])
    >>> found = nearest_neighbors(people, k=1)
    >>> found
    Neighbors(3 nodes, 1 for each)
    >>> [(node, found[node][0][0]) for node in found]
    [('ann', 'bob'), ('bob', 'ann'), ('cid', 'bob')]
    """
    check_embedding(embedding)
    sources = selected_rows(embedding, nodes)
    rows, cosines = nearest_rows(embedding.vectors, sources, k, method=method, progress=progress)
    return Neighbors(embedding.ids, sources, rows, cosines)


def check_embedding(embedding: Any) -> None:
    """Raise InputError if this is not an Embedding, or a vector is not finite."""
    if not isinstance(embedding, Embedding):
        raise InputError(
            f"expected an Embedding, not a {type(embedding).__name__}: a model has it in "
            ".embedding_, and Embedding(ids, vectors) creates one from an array"
        )
    bad = np.flatnonzero(~np.isfinite(embedding.vectors).all(axis=1))
    if bad.size:
        raise InputError(
            f"the vector of node {short_repr(embedding.ids.tolist()[bad[0]])} holds numbers that "
            "are not finite, so it has no neighbours"
        )


def selected_rows(embedding: Embedding, nodes: Any) -> Rows:
    """Return row numbers of a node, of several, each once, or of all nodes for None."""
    if nodes is None:
        return np.arange(len(embedding), dtype=np.int32)
    rows = embedding.rows(nodes if are_several(nodes, embedding) else [nodes])
    return rows[np.sort(np.unique(rows, return_index=True)[1])]


# -- what other modules use --------------------------------------------------------------------


def nearest_rows(
    vectors: Any, rows: Any = None, k: int = 10, *, method: str = "auto", progress: bool = True
) -> tuple[Rows, NDArray[np.float32]]:
    """Return the rows of a matrix with the highest cosine similarity to some of its rows.

    Parameters
    ----------
    vectors : array (n, dimensions)
        Finite numbers, as float32. A row of zeros has the cosine 0 with every other.
    rows : int array (m,), optional
        The rows whose neighbours to find; by default all.
    k, method, progress
        As for :func:`nearest_neighbors`.

    Returns
    -------
    rows : int32 array (m, min(k, n))
        The most similar first, equally similar ones in order, without the row itself; -1 where
        there are fewer than k.
    cosines : float32 array (m, min(k, n))
        NaN where there are fewer than k.

    Examples
    --------
    >>> nearest_rows([[1, 0], [0, 2], [3, 4]], k=2)[0]
    array([[2, 1],
           [2, 0],
           [1, 0]], dtype=int32)
    """
    matrix = checked_vectors(vectors)
    k = check_count("k", k, 1)
    sources = np.arange(len(matrix)) if rows is None else np.asarray(rows)
    if sources.size and not (sources.min() >= 0 and sources.max() < len(matrix)):
        raise InputError(f"rows must be from 0 to {len(matrix) - 1:,}")
    search = _search_among(matrix, sources.astype(np.int32))
    places, cosines = best_targets(
        search, k, method, terminal_progress("neighbours", "nodes", progress)
    )
    return places, cosines.astype(np.float32)


class RowSearch:
    """A search for the most similar rows of single rows of a matrix, which is prepared once.

    Parameters
    ----------
    vectors : array (n, dimensions)
        As for :func:`nearest_rows`, which finds the same.

    Examples
    --------
    >>> RowSearch([[1, 0], [0, 2], [3, 4]]).nearest(0, 2)[0].tolist()
    [2, 1]
    """

    def __init__(self, vectors: Any) -> None:
        matrix = checked_vectors(vectors)
        self._search = _search_among(matrix, np.empty(0, np.int32))
        lengths = self._search.lengths
        self._scales = np.where(lengths == 0, 1, lengths).astype(np.float32)
        self._faint = (lengths > 0) & (lengths < _FAINT)

    def nearest(self, row: int, k: int) -> tuple[Places, Floats]:
        """Return the k most similar other rows, the most similar first, and their cosines."""
        vectors = self._search.vectors
        k = min(k, len(vectors) - 1)
        if not k:
            return np.empty(0, np.int64), np.empty(0)
        unit = self._search.directions(np.array([row], np.int32))[0]
        with np.errstate(over="ignore", invalid="ignore"):
            rough = vectors @ unit / self._scales
        doubtful = self._faint | ~np.isfinite(rough)
        rough[doubtful] = rough[row] = -np.inf
        least = np.partition(rough, -k)[-k] - 2 * rounding_margin(self._search)
        chosen = doubtful | (rough >= least)
        chosen[row] = False
        places = np.flatnonzero(chosen)
        cosines = self._search.scores(np.full(len(places), row), places)
        order = np.lexsort((places, -cosines))[:k]
        return places[order], cosines[order]


def _search_among(vectors: NDArray[np.float32], sources: Rows) -> SimilaritySearch:
    """Return the search of some rows of a matrix for others among all rows."""

    def itself(part: Any) -> tuple[Places, Rows]:
        return np.arange(len(sources[part]) + 1, dtype=np.int64), sources[part]

    return SimilaritySearch(vectors, sources, np.arange(len(vectors), dtype=np.int32), itself)


def best_targets(
    search: SimilaritySearch, k: int, method: str, report: Report
) -> tuple[Rows, Floats]:
    """Return the k best targets of each source: their places, best first, and their scores.

    Equally good ones are in the order of places. Where there are fewer than k, -1 and NaN follow;
    there are at most as many columns as targets.
    Memory besides the result: a copy of the targets' vectors and some blocks; for an approximate
    search, twice that.
    """
    n_sources, n_targets = len(search.sources), len(search.targets)
    method = search_method(method, n_sources, n_targets, search.vectors.shape[1])
    k = min(k, n_targets)
    places = np.full((n_sources, k), -1, np.int32)
    scores = np.full(places.shape, np.nan)
    if places.size:
        fill_in = search_exactly if method == "exact" else search_approximately
        fill_in(search, k, places, scores, report)
    report(len(places), len(places))
    return places, scores


def search_method(method: str, n_sources: int, n_targets: int, dimensions: int) -> str:
    """Return the method that is used, which `method` names unless it is "auto"."""
    check_choice("method", method, SEARCH_METHODS)
    if method != "auto":
        return method
    large = n_sources * n_targets * dimensions > _EXACT_UP_TO
    pays = large and n_sources >= _FEW * n_targets and find_spec("usearch") is not None
    return "approximate" if pays else "exact"


def neighbor_graph(embedding: Embedding, rows: Rows, cosines: NDArray[np.float32]) -> Graph:
    """Return a graph that links every node with those that :func:`nearest_rows` found for it.

    Undirected: two nodes are linked if one of them is among the most similar of the other. The
    weight of a link is the cosine, or 0.000001 where that is less.

    Examples
    --------
    >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.8, 0.6], [0, 2]])
    >>> graph = neighbor_graph(people, *nearest_rows(people.vectors, k=1))
    >>> list(graph.neighbors("bob"))
    ['ann', 'cid']
    """
    listed = rows >= 0
    sources = np.repeat(np.arange(len(rows), dtype=np.int32), listed.sum(axis=1))
    ends = np.sort(np.column_stack([sources, rows[listed]]), axis=1)
    once = np.unique(ends[:, 0].astype(np.int64) * len(rows) + ends[:, 1], return_index=True)[1]
    weights = np.maximum(cosines[listed][once].astype(np.float64), _FAINTEST)
    return Graph.from_numbered(ends[once], weights, embedding.ids)
