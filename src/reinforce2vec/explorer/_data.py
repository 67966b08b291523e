"""The contents of the page: the map, and the data of every node on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._util.errors import InputError
from .._util.progress import counted
from ..embedding import Embedding, project, recommend_links
from ..embedding.matching import without_info
from ..embedding.nearest import nearest_rows
from ..embedding.projection import project_method
from ..graph import Graph
from ..plotting.classes import classes_of
from ..plotting.maps import METHOD_NAMES, checked_positions, communities_of
from ._edges import MapLinks, edges_on_map
from ._packing import fixed_point, pack

_MAP_NODES = 100_000  # a browser draws so many smoothly
_LISTED = 10  # nearest neighbours, and likely missing links, per node
_COUNT_NAMES = {  # scores of links that are no log-odds
    "allocation": "common neighbours (resource allocation)",
    "adamic-adar": "common neighbours (Adamic-Adar)",
    "common": "common neighbours",
    "three-steps": "paths of three steps",
}

_Arrays = dict[str, NDArray[Any] | None]
_Rows = NDArray[np.int64]
ReportStep = Callable[[str], AbstractContextManager[None]]
"""Called with what is done next; returns a context manager that ends when it is done."""


def report_nothing(message: str) -> AbstractContextManager[None]:
    """Report nothing."""
    return nullcontext()


class _Contents(NamedTuple):
    """The contents of a page."""

    data: bytes
    """Header and arrays, packed."""
    n_nodes: int
    """Number of nodes on the map."""
    method: str
    """The projection."""
    notes: list[str]
    """Sentences about what was left out."""


@dataclass(frozen=True)
class _Shown:
    """The nodes on the map, and what the user gave for them."""

    embedding: Embedding
    positions: NDArray[np.float64] | None  # if they were given
    links: MapLinks | None
    labels: NDArray[np.int32] | None  # the class of each node, -1 for none
    sets: list[tuple[int, ...]] | None  # all classes of each node, where some have several

    def part(self, rows: _Rows) -> _Shown:
        """Return the same for some of the nodes."""
        return _Shown(
            Embedding(
                self.embedding.ids[rows],
                self.embedding.vectors[rows],
                scales=self.embedding.scales,
            ),
            None if self.positions is None else self.positions[rows],
            None if self.links is None else self.links.part(rows),
            None if self.labels is None else self.labels[rows],
            None if self.sets is None else [self.sets[row] for row in rows.tolist()],
        )


def gather_contents(
    embedding: Embedding,
    graph: Graph | None,
    labels: Any,
    *,
    title: str,
    method: str,
    seed: int,
    positions: Any,
    progress: bool,
    step: ReportStep,
) -> _Contents:
    """Collect everything that the page shows.

    Parameters
    ----------
    embedding : Embedding
        The vectors.
    graph : Graph or None
        Neighbours, degrees, communities and missing links come from it.
    labels : anything that :func:`classes_of` takes, or None
        The classes of the nodes.
    title : str
        Written above the map.
    method : {"auto", "pca", "tsne", "umap"}
        The projection of vectors to points.
    seed : int
        Seed of the map, of communities, and of the sample if there are too many nodes.
    positions : array (n_nodes, 2) or None
        Positions of the nodes, if they are known; `method` is then ignored.
    progress : bool
        Show progress of the longest searches on the terminal, if there is one.
    step : callable
        Called with the name of each step.
    """
    _check_vectors(embedding)
    classes = None if labels is None else classes_of(labels, embedding)
    shown = _Shown(
        embedding,
        None if positions is None else checked_positions(positions, len(embedding)),
        None if graph is None else MapLinks.of(embedding, graph),
        None if classes is None else classes.codes,
        None if classes is None else classes.sets,
    )
    notes = []
    if shown.links is not None and (strangers := int(np.count_nonzero(shown.links.rows < 0))):
        notes.append(f"Not in the graph: {counted(strangers, 'node')} with a vector.")
    if len(embedding) > _MAP_NODES:
        rows, which = _foremost_rows(shown, seed)
        notes.append(f"The map has {which} of {len(embedding):,}; neighbours are among these.")
        shown = shown.part(rows)
    method = project_method(method, len(shown.embedding))
    arrays, about, kept = _node_arrays(shown, method, seed, progress, step)
    if kept is not None:
        notes.append(f"Long lists of neighbours are cut: at least {kept} are listed.")
    sets = None
    if shown.sets is not None:
        arrays["label_set"], sets = _distinct_sets(shown.sets)
    header = {
        "title": title,
        "file_name": re.sub(r"[^\w.-]+", "-", title).strip("-.")[:60] or "map",
        "ids": [str(node) for node in shown.embedding.ids.tolist()],
        "label_names": None if classes is None else classes.names,
        "label_sets": sets,
        "listed": min(_LISTED, len(shown.embedding)),
        "nodes": len(embedding),
        "edges": None if graph is None else graph.n_edges,
        "directed": graph is not None and graph.directed,
        "dimensions": embedding.dimensions,
        "method": None if positions is not None else METHOD_NAMES[method],
        "notes": notes,
        "version": __version__,
        **about,
    }
    with step("packing the page"):
        return _Contents(pack(header, arrays), len(shown.embedding), method, notes)


def _check_vectors(embedding: Embedding) -> None:
    """Raise InputError if the vectors cannot be drawn."""
    if not len(embedding):
        raise InputError("the embedding has no nodes: there is nothing to see")
    if not np.isfinite(embedding.vectors).all():
        raise InputError("some vectors hold numbers that are not finite: they cannot be drawn")


def _foremost_rows(shown: _Shown, seed: int) -> tuple[_Rows, str]:
    """Return as many rows as a map holds, by degree or as a sample, and a text that says which."""
    if shown.links is not None:
        order = np.argsort(-shown.links.degrees, kind="stable")
        return np.sort(order[:_MAP_NODES]), f"the {_MAP_NODES:,} nodes of highest degree"
    nodes = np.random.default_rng(seed).choice(len(shown.embedding), _MAP_NODES, replace=False)
    return np.sort(nodes), f"a random {_MAP_NODES:,} nodes"


def _node_arrays(
    shown: _Shown, method: str, seed: int, progress: bool, step: ReportStep
) -> tuple[_Arrays, dict[str, Any], int | None]:
    """Return all arrays of the page, what the header says about them, and the edges kept per node.

    The last is None if no edges were left out.
    """
    embedding, links = shown.embedding, shown.links
    arrays: _Arrays = {"label": shown.labels}
    if shown.positions is None:
        with step(f"placing {counted(len(embedding), 'node')} by {METHOD_NAMES[method]}"):
            arrays["x"], arrays["y"] = project(embedding, method, seed=seed).T
    else:
        arrays["x"], arrays["y"] = shown.positions.T
    nearest = nearest_rows(embedding.vectors, k=_LISTED, progress=progress)
    arrays |= {"nearest": nearest[0], "cosines": fixed_point(nearest[1], 3)}
    with step("looking for communities"):
        graph, rows = (None, None) if links is None else (links.graph, links.rows)
        arrays["community"] = communities_of(embedding, graph, rows, seed, nearest).codes
    if links is None:
        return arrays, {}, None
    missing = _missing_links(embedding, links, progress)
    arrays |= {"missing": missing.rows, "scores": fixed_point(missing.scores, 2)}
    edges, kept = edges_on_map(links)
    arrays |= {"degree": links.degrees, "in_degree": links.inward} | edges
    header = {"link_note": missing.note, "link_odds": missing.are_odds}
    return arrays, header, kept


class _MissingLinks(NamedTuple):
    """For each node the likeliest missing links and their scores, padded with -1 and NaN."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]
    """Log-odds, or percent of the highest score."""
    are_odds: bool
    note: str
    """What the scores are."""


def _missing_links(embedding: Embedding, links: MapLinks, progress: bool) -> _MissingLinks:
    """Recommend links for each node on the map."""
    found = recommend_links(without_info(embedding), links.graph, _LISTED, progress=progress)
    own = embedding.rows(found.sources.tolist())
    place = np.arange(len(own)) - np.searchsorted(own, own)  # sources come in the order of rows
    rows = np.full((len(embedding), min(_LISTED, len(embedding))), -1, np.int32)
    scores = np.full(rows.shape, np.nan)
    rows[own, place] = embedding.rows(found.targets.tolist())
    scores[own, place] = found.scores
    if found.scorer not in _COUNT_NAMES:
        return _MissingLinks(rows, scores, True, "by the log-odds of being an edge")
    scores *= 100 / max(float(found.scores.max(initial=0.0)), 1e-300)
    note = f"by {_COUNT_NAMES[found.scorer]}, in percent of the highest on the map"
    return _MissingLinks(rows, scores, False, note)


def _distinct_sets(
    sets: list[tuple[int, ...]],
) -> tuple[NDArray[np.int32], list[tuple[int, ...]]]:
    """Return the number of each node's set of classes, and the sets by number."""
    numbers: dict[tuple[int, ...], int] = {}
    codes = [numbers.setdefault(each, len(numbers)) for each in sets]
    return np.array(codes, np.int32), list(numbers)
