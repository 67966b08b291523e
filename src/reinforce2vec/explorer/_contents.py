"""The contents of the page: the map, and the data of every node on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._util.errors import InputError
from .._util.progress import counted, waiting
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
from ._columns import Column, columns_of, typical_of
from ._links import MAP_EDGES, Details, MapLinks, missing_links, score_facts
from ._page import fixed_point

_MOST_SEARCHED = 100_000  # nodes without a graph among which communities are searched for
_LISTED = 10  # nearest neighbours, and likely missing links, per node
_FARTHEST = 1e30  # position; squares of distances are of no use beyond
_OWN_NAMES = ("id", "x", "y", "community", "degree", "in_degree")  # in what the page saves
_Arrays = dict[str, NDArray[Any] | None]
_Rows = NDArray[np.int64]


class Limits(NamedTuple):
    """How much a page holds."""

    in_file: int = 200_000  # nodes in a file, which can still be sent around
    served: int = 2_000_000  # nodes in the memory of a browser
    held: int = 20_000  # nodes up to which a served page holds details; it asks for those of more
    edges: int = MAP_EDGES


@dataclass(frozen=True)
class PageRequest:
    """What a page is to show: what :func:`explore` takes, and how it is shown.

    A page that is `served` can ask its server about nodes. With `progress`, steps are shown on the
    terminal, and what they will cost if that is much.
    """

    embedding: Embedding
    graph: Graph | None = None
    labels: Any = None
    columns: Any = None
    method: str = "auto"
    title: str | None = None
    seed: int = 0
    positions: Any = None
    served: bool = False
    progress: bool = True
    limits: Limits = field(default_factory=Limits)


def gather_contents(
    wanted: PageRequest,
) -> tuple[dict[str, Any], _Arrays, Details | None, _ShownNodes]:
    """Return what the page shows: its header, its arrays, what answers it, and the nodes on it.

    What answers it is None if the page has it all.
    """
    notes: list[str] = []
    shown = _shown_nodes(wanted, notes)
    links, ranking, details = shown.links, None, None
    arrays: _Arrays = {}
    arrays["x"], arrays["y"] = shown.places().astype(np.float32).T
    columns = [*shown.columns, *shown.own_columns()]
    if links is not None:
        with waiting("learning which links are likely", wanted.progress):
            ranking = LinkRanking.of(without_info(shown.embedding), links.graph)
    if wanted.served and len(shown.embedding) > wanted.limits.held:
        details = Details(shown.embedding, links, ranking, _LISTED)
    else:
        arrays |= shown.details(ranking, notes)
    header = _header(shown, notes)
    header |= {"asks": "details"} if details else {}
    header |= score_facts(ranking.score) if ranking else {}
    with waiting("naming groups", wanted.progress):
        header["typical"] = _typical(columns)
    header["columns"] = []
    for number, column in enumerate(columns):
        description, values = column.packed(number)
        header["columns"].append(description)
        arrays |= values
    return header, arrays, details, shown


def _header(shown: _ShownNodes, notes: list[str]) -> dict[str, Any]:
    """Return what the page says of the whole map."""
    wanted = shown.wanted
    graph, title = wanted.graph, wanted.title or "Map of an embedding"
    return {
        "title": title,
        "file_name": re.sub(r"[^\w.-]+", "-", title).strip("-.")[:60] or "map",
        "ids": [str(node) for node in shown.embedding.ids.tolist()],
        "looks": [[look.light, look.dark, SHAPES.index(look.shape)] for look in LOOKS],
        "shapes": list(SHAPES),
        "others": [OTHERS.light, OTHERS.dark],
        "scale": list(SCALE),
        "listed": min(_LISTED, len(shown.embedding)),
        "nodes": len(wanted.embedding),
        "edges": None if graph is None else graph.n_edges,
        "directed": graph is not None and graph.directed,
        "dimensions": wanted.embedding.dimensions,
        "method": None if shown.positions is not None else METHOD_NAMES[shown.method],
        "notes": notes,
        "version": __version__,
    }


# -- what is shown -----------------------------------------------------------------------------


def _shown_nodes(wanted: PageRequest, notes: list[str]) -> _ShownNodes:
    """Return the nodes on the map; appends to the notes how columns were read, and who is not."""
    embedding = wanted.embedding
    if not len(embedding):
        raise InputError("the embedding has no nodes: there is nothing to see")
    if not np.isfinite(embedding.vectors).all():
        raise InputError("some vectors hold numbers that are not finite: they cannot be drawn")
    positions = None
    if wanted.positions is not None:
        positions = checked_positions(wanted.positions, len(embedding))
        if np.abs(positions).max() > _FARTHEST:  # the page has float32
            raise InputError(f"positions must be from {-_FARTHEST:g} to {_FARTHEST:g}: scale them")
    links = None if wanted.graph is None else MapLinks.of(embedding, wanted.graph)
    shown = _ShownNodes(wanted, embedding, positions, links, _user_columns(wanted, notes))
    if links is not None and (strangers := int(np.count_nonzero(links.rows < 0))):
        notes.append(f"Not in the graph: {counted(strangers, 'node')} with a vector.")
    most = wanted.limits.served if wanted.served else wanted.limits.in_file
    if len(embedding) <= most:
        return shown
    if links is not None:
        rows = np.argsort(-links.degrees, kind="stable")[:most]
        which = f"the {most:,} nodes of highest degree"
    else:
        rows = np.random.default_rng(wanted.seed).choice(len(embedding), most, replace=False)
        which = f"a random {most:,} nodes"
    notes.append(f"The map has {which} of {len(embedding):,}; neighbours are among these.")
    return shown.part(np.sort(rows))


def _user_columns(wanted: PageRequest, notes: list[str]) -> list[Column]:
    """Return the labels, if there are any, and the user's columns.

    Appends to the notes how columns were read, unless the caller has read them.
    """
    columns = []
    if wanted.labels is not None:
        classes = classes_of(wanted.labels, wanted.embedding)
        facts: Any = {"names": classes.names, "sets": classes.sets}
        columns.append(Column("label", "Label", "category", classes.codes, **facts))
    table = wanted.columns
    if table is None:
        return columns
    if not isinstance(table, NodeTable):
        table = read_node_table(table, wanted.embedding)
        notes += [f"Columns: {'; '.join(table.notes)}."] if table.notes else []
    return columns + columns_of(table, (*_OWN_NAMES, *(column.name for column in columns)))


def _typical(columns: list[Column]) -> dict[str, dict[int, str]]:
    """Return what is typical of communities, and of labels that are only numbers."""
    others = [column for column in columns if not column.facts.get("own")]
    typical = {}
    for column in columns:
        numbered = all(name.isdecimal() for name in column.names)
        if column.name == "community" or (column.name == "label" and numbered):
            apart = [other for other in others if other is not column]
            typical[column.name] = typical_of(column.values, apart)
    return {name: texts for name, texts in typical.items() if texts}


# -- what is computed --------------------------------------------------------------------------


@dataclass
class _ShownNodes:
    """The nodes on the map, what the user gave for them, and what is computed of them."""

    wanted: PageRequest
    embedding: Embedding
    positions: NDArray[np.float64] | None  # if they were given
    links: MapLinks | None
    columns: list[Column]  # labels first
    _rough: Nearest | None = None  # the neighbours that a layout was made with
    _exact: Nearest | None = None  # those that the page lists

    def part(self, rows: _Rows) -> _ShownNodes:
        """Return the same for some of the nodes."""
        ids, vectors = self.embedding.ids[rows], self.embedding.vectors[rows]
        return _ShownNodes(
            self.wanted,
            Embedding(ids, vectors, scales=self.embedding.scales),
            None if self.positions is None else self.positions[rows],
            None if self.links is None else self.links.part(rows),
            [column.part(rows) for column in self.columns],
        )

    @property
    def method(self) -> str:
        """The projection."""
        return project_method(self.wanted.method, len(self.embedding))

    def places(self) -> NDArray[Any]:
        """Return the positions of the nodes."""
        if self.positions is not None:
            return self.positions
        what = f"placing {counted(len(self.embedding), 'node')} by {METHOD_NAMES[self.method]}"
        with waiting(what, self.wanted.progress):
            points, self._rough = place_nodes(
                self.embedding, self.method, self.wanted.seed, progress=self.wanted.progress
            )
        return points

    def _nearest(self) -> Nearest:
        if self._exact is None:
            with waiting("looking for the most similar nodes", self.wanted.progress):
                vectors = self.embedding.vectors
                self._exact = nearest_rows(vectors, k=_LISTED, progress=self.wanted.progress)
        return self._exact

    def own_columns(self) -> list[Column]:
        """Return communities, and degrees if there is a graph."""
        embedding, links = self.embedding, self.links
        columns = []
        if links is not None or self._rough is not None or len(embedding) <= _MOST_SEARCHED:
            nearest = None if links is not None else self._rough or self._nearest()
            with waiting("looking for communities", self.wanted.progress):
                graph, rows = (None, None) if links is None else (links.graph, links.rows)
                classes = communities_of(embedding, graph, rows, self.wanted.seed, nearest)
            facts: Any = {"names": classes.names, "facts": {"own": True, "numbered": True}}
            columns.append(Column("community", "Community", "category", classes.codes, **facts))
        counts = [] if links is None else [("Degree", links.degrees), ("In-degree", links.inward)]
        for title, count in counts:
            if count is not None:
                name, values = title.lower().replace("-", "_"), count.astype(np.float64)
                columns.append(Column(name, title, "number", values, facts={"own": True}))
        return columns

    def details(self, ranking: LinkRanking | None, notes: list[str]) -> _Arrays:
        """Return what the page shows of every node, as arrays; appends to the notes what is cut."""
        links = self.links
        rows, cosines = self._nearest()
        arrays: _Arrays = {"nearest": rows, "cosines": fixed_point(cosines, 3)}
        if links is None or ranking is None:
            return arrays
        arrays["linked"] = links.are_linked(rows)
        everyone = np.arange(len(rows), dtype=np.int32)
        with waiting("looking for likely links", self.wanted.progress):
            how = _LISTED, "auto", self.wanted.progress
            missing, scores = missing_links(ranking, everyone, *how)
        arrays |= {"missing": missing, "scores": fixed_point(scores, 2)}
        edges, kept = links.packed(self.wanted.limits.edges)
        if kept is not None:
            notes.append(f"Long lists of neighbours are cut: at least {kept} are listed.")
        return arrays | edges
