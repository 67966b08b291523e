"""The contents of the page: the map, and the data of every node on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._util.errors import InputError
from .._util.ids import Ids
from .._util.progress import counted
from ..embedding import Embedding
from ..embedding.links import LinkRanking
from ..embedding.matching import without_info
from ..embedding.nearest import nearest_rows
from ..embedding.projection import Nearest, place_nodes, project_method
from ..files.node_tables import NodeTable, read_node_table
from ..graph import Graph
from ..plotting.classes import classes_of
from ..plotting.maps import METHOD_NAMES, checked_positions, communities_of
from ..plotting.palette import LOOKS, OTHERS, SCALE, SHAPES
from ._columns import Column, columns_of
from ._cost import cost_note
from ._details import Details
from ._edges import MapLinks, edges_on_map
from ._links import are_odds, missing_links, score_note
from ._packing import fixed_point
from ._typical import typical_of

FILE_NODES = 200_000  # in a file, which can still be sent around
SERVED_NODES = 2_000_000  # in memory of a browser
_ASKED_FROM = 20_000  # nodes; a server works out details of larger maps when they are asked for
_MOST_SEARCHED = 100_000  # nodes without a graph among which communities are searched for
_LISTED = 10  # nearest neighbours, and likely missing links, per node
_FARTHEST = 1e30  # position; squares of distances are of no use beyond
_OWN_NAMES = ("id", "x", "y", "community", "degree", "in_degree")  # in what the page saves

_Arrays = dict[str, NDArray[Any] | None]
_Rows = NDArray[np.int64]
ReportStep = Callable[[str], AbstractContextManager[None]]
"""Called with what is done next; returns a context manager that ends when it is done."""


def report_nothing(message: str) -> AbstractContextManager[None]:
    """Report nothing."""
    return nullcontext()


class Contents(NamedTuple):
    """The contents of a page."""

    header: dict[str, Any]
    arrays: _Arrays
    details: Details | None
    """Answers what the page asks; None if the page has it all."""
    ids: Ids
    """The nodes on the map."""
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
    columns: list[Column]  # labels first

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
            [column.part(rows) for column in self.columns],
        )


def gather_contents(
    embedding: Embedding,
    graph: Graph | None,
    labels: Any,
    columns: Any,
    *,
    title: str,
    method: str,
    seed: int,
    positions: Any,
    served: bool,
    progress: bool,
    step: ReportStep,
    tell: Callable[[str], object],
) -> Contents:
    """Collect everything that the page shows.

    Parameters
    ----------
    embedding : Embedding
        The vectors.
    graph : Graph or None
        Neighbours, degrees, communities and missing links come from it.
    labels : anything that :func:`classes_of` takes, or None
        The classes of the nodes.
    columns : NodeTable, or anything that :func:`read_node_table` takes, or None
        The user's columns.
    title : str
        Written above the map.
    method : {"auto", "pca", "tsne", "umap", "layout"}
        The projection of vectors to points.
    seed : int
        Seed of the map, of communities, and of the sample if there are too many nodes.
    positions : array (n_nodes, 2) or None
        Positions of the nodes, if they are known; `method` is then ignored.
    served : bool
        Whether a server can answer questions: then maps may be larger.
    progress : bool
        Show progress of the longest searches on the terminal, if there is one.
    step : callable
        Called with the name of each step.
    tell : callable
        Called with a text that says how long it will take, if long.
    """
    _check_vectors(embedding)
    notes: list[str] = []
    shown = _Shown(
        embedding,
        None if positions is None else _drawable(checked_positions(positions, len(embedding))),
        None if graph is None else MapLinks.of(embedding, graph),
        _given_columns(embedding, labels, columns, notes),
    )
    if shown.links is not None and (strangers := int(np.count_nonzero(shown.links.rows < 0))):
        notes.append(f"Not in the graph: {counted(strangers, 'node')} with a vector.")
    most = SERVED_NODES if served else FILE_NODES
    if len(embedding) > most:
        rows, which = _foremost_rows(shown, most, seed)
        notes.append(f"The map has {which} of {len(embedding):,}; neighbours are among these.")
        shown = shown.part(rows)
    method = project_method(method, len(shown.embedding))
    held = not (served and len(shown.embedding) > _ASKED_FROM)
    known = shown.positions is not None
    cost = cost_note(
        None if known else method, len(shown.embedding), held=held, linked=graph is not None
    )
    if cost:
        tell(cost)
    work = _Work(shown, method, seed, held, progress, step)
    arrays: _Arrays = {}
    arrays["x"], arrays["y"] = work.places().astype(np.float32).T
    shown = replace(shown, columns=[*shown.columns, *work.found_columns()])
    about: dict[str, Any] = {}
    ranking = work.ranking()
    if ranking is not None:
        about = {"link_note": score_note(ranking.score), "link_odds": are_odds(ranking.score)}
    details = None
    if held:
        arrays |= work.details(ranking)
        if work.kept_edges is not None:
            notes.append(
                f"Long lists of neighbours are cut: at least {work.kept_edges} are listed."
            )
    else:
        details = Details(shown.embedding, shown.links, ranking, _LISTED)
        about["asks"] = "details"
    with step("naming groups"):
        typical = _typical(shown.columns)
    described = []
    for number, column in enumerate(shown.columns):
        description, values = column.packed(number)
        described.append(description)
        arrays |= values
    header = {
        "title": title,
        "file_name": re.sub(r"[^\w.-]+", "-", title).strip("-.")[:60] or "map",
        "ids": [str(node) for node in shown.embedding.ids.tolist()],
        "columns": described,
        "typical": typical,
        "looks": [[look.light, look.dark, SHAPES.index(look.shape)] for look in LOOKS],
        "shapes": list(SHAPES),
        "others": [OTHERS.light, OTHERS.dark],
        "scale": list(SCALE),
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
    return Contents(header, arrays, details, shown.embedding.ids, method, notes)


def _check_vectors(embedding: Embedding) -> None:
    """Raise InputError if the vectors cannot be drawn."""
    if not len(embedding):
        raise InputError("the embedding has no nodes: there is nothing to see")
    if not np.isfinite(embedding.vectors).all():
        raise InputError("some vectors hold numbers that are not finite: they cannot be drawn")


def _drawable(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions; InputError if some are too large for the page, which has float32."""
    if np.abs(positions).max(initial=0) > _FARTHEST:
        raise InputError(f"positions must be from {-_FARTHEST:g} to {_FARTHEST:g}: scale them")
    return positions


def _foremost_rows(shown: _Shown, most: int, seed: int) -> tuple[_Rows, str]:
    """Return as many rows as a map holds, by degree or as a sample, and a text that says which."""
    if shown.links is not None:
        order = np.argsort(-shown.links.degrees, kind="stable")
        return np.sort(order[:most]), f"the {most:,} nodes of highest degree"
    nodes = np.random.default_rng(seed).choice(len(shown.embedding), most, replace=False)
    return np.sort(nodes), f"a random {most:,} nodes"


def _given_columns(
    embedding: Embedding, labels: Any, columns: Any, notes: list[str]
) -> list[Column]:
    """Return the labels, if there are any, and the user's columns.

    Appends to the notes how columns were read, unless the caller has read them.
    """
    given = []
    if labels is not None:
        classes = classes_of(labels, embedding)
        given.append(
            Column("label", "Label", "category", classes.codes, classes.names, classes.sets)
        )
    if columns is not None:
        table = columns
        if not isinstance(columns, NodeTable):
            table = read_node_table(columns, embedding)
            notes += [f"Columns: {'; '.join(table.notes)}."] if table.notes else []
        given += columns_of(table, (*_OWN_NAMES, *(column.name for column in given)))
    return given


def _typical(columns: list[Column]) -> dict[str, dict[int, str]]:
    """Return what is typical of communities, and of labels that are only numbers."""
    groups = {column.name: column for column in columns if column.facts.get("own")}
    community = groups.get("community")
    label = next((column for column in columns if column.name == "label"), None)
    others = [column for column in columns if column not in groups.values()]
    found = {}
    if community is not None:
        found["community"] = typical_of(community.values, others)
    if label is not None and all(name.isdecimal() for name in label.names):
        others = [column for column in others if column is not label]
        found["label"] = typical_of(label.values, others)
    return {name: texts for name, texts in found.items() if texts}


class _Work:
    """What is computed for a page; each of the searches is made once."""

    def __init__(
        self,
        shown: _Shown,
        method: str,
        seed: int,
        held: bool,
        progress: bool,
        step: ReportStep,
    ) -> None:
        self._shown, self._method, self._seed, self._held = shown, method, seed, held
        self._progress, self._step = progress, step
        self._rough: Nearest | None = None  # the neighbours that a layout was made with
        self.kept_edges: int | None = None  # how many every node keeps at least, if some are cut

    def places(self) -> NDArray[Any]:
        """Return the positions of the nodes."""
        shown = self._shown
        if shown.positions is not None:
            return shown.positions
        name = METHOD_NAMES[self._method]
        with self._step(f"placing {counted(len(shown.embedding), 'node')} by {name}"):
            points, self._rough = place_nodes(
                shown.embedding, self._method, self._seed, progress=self._progress
            )
        return points

    @cached_property
    def _nearest(self) -> Nearest:
        """The most similar nodes of each: those that the page lists."""
        with self._step("looking for the most similar nodes"):
            vectors = self._shown.embedding.vectors
            return nearest_rows(vectors, k=_LISTED, progress=self._progress)

    def found_columns(self) -> list[Column]:
        """Return communities, and degrees if there is a graph."""
        embedding, links = self._shown.embedding, self._shown.links
        columns = []
        if links is not None or self._rough is not None or len(embedding) <= _MOST_SEARCHED:
            nearest = None if links is not None else self._rough or self._nearest
            with self._step("looking for communities"):
                graph, rows = (None, None) if links is None else (links.graph, links.rows)
                codes = communities_of(embedding, graph, rows, self._seed, nearest).codes
            names = [str(number + 1) for number in range(int(codes.max()) + 1)]
            facts = {"own": True, "numbered": True}
            columns.append(Column("community", "Community", "category", codes, names, facts=facts))
        if links is not None:
            counts = {"degree": ("Degree", links.degrees)}
            if links.inward is not None:
                counts["in_degree"] = ("In-degree", links.inward)
            columns += [
                Column(name, title, "number", count.astype(np.float64), facts={"own": True})
                for name, (title, count) in counts.items()
            ]
        return columns

    def ranking(self) -> LinkRanking | None:
        """Return how missing links are ranked; None without a graph."""
        links = self._shown.links
        if links is None:
            return None
        with self._step("learning which links are likely"):
            return LinkRanking.of(without_info(self._shown.embedding), links.graph)

    def details(self, ranking: LinkRanking | None) -> _Arrays:
        """Return what the page shows of every node, as arrays."""
        shown = self._shown
        rows, cosines = self._nearest
        arrays: _Arrays = {"nearest": rows, "cosines": fixed_point(cosines, 3)}
        if shown.links is None or ranking is None:
            return arrays
        arrays["linked"] = shown.links.are_linked(rows)
        everyone = np.arange(len(shown.embedding), dtype=np.int32)
        with self._step("looking for likely links"):
            missing = missing_links(ranking, everyone, _LISTED, "auto", self._progress)
        arrays |= {"missing": missing.rows, "scores": fixed_point(missing.scores, 2)}
        edges, self.kept_edges = edges_on_map(shown.links)
        return arrays | edges
