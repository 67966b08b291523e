"""`explore`: an embedding as an interactive map, in the browser or in a notebook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from .._util.checks import check_count
from .._util.ids import Ids
from .._util.progress import waiting
from ..embedding.embedding import as_embedding
from ..embedding.matching import warn_of_mismatch
from ..files.targets import check_space, resolve_target
from ..files.writing import check_target, whole
from ..graph import Graph
from ._contents import PageRequest, gather_contents
from ._links import Details
from ._page import as_text, pack, page_with
from .notebook import MapView, in_notebook
from .server import PageServer


def explore(
    embedding: Any,
    graph: Any = None,
    labels: Any = None,
    export: str | os.PathLike[str] | None = None,
    *,
    columns: Any = None,
    method: str = "auto",
    title: str | None = None,
    seed: int = 0,
    positions: Any = None,
    port: int = 0,
    browser: bool | None = None,
) -> Any:
    """Visualize an embedding as an interactive map: in a notebook in place, else in the browser.

    The page finds nodes by ids and columns, shows neighbours and likely missing links of a node,
    colours, sizes and filters nodes by any column, community or degree, and saves a selection. A
    page that is served holds up to 2,000,000 nodes, one in a file or a notebook 200,000; of larger
    graphs those of highest degree are shown. Nothing is downloaded.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors.
    graph : Graph, optional
        The graph, or anything that :meth:`Graph.from_any` takes, matched by ids. There is a warning
        if :attr:`Embedding.info` names another one.
    labels : optional
        The class of each node: a list in row order, a dict {id: class}, a matrix (nodes, classes)
        of 0 and 1, or anything that :func:`read_labels` takes.
    export : path, optional
        Write the page to this file instead of showing it.
    columns : optional
        Any number of columns: a CSV, TSV or Parquet file, or a table of pandas, polars or Arrow,
        with ids; or a dict of lists in row order, or of dicts {id: value}. Numbers, dates,
        categories and texts are recognised. Communities are named by what is typical in them.
    method : {"auto", "pca", "tsne", "umap", "layout"}
        The projection, as for :func:`reinforce2vec.project`.
    title : str, optional
        Written above the map.
    seed : int, default 0
        Seed of the map and the communities.
    positions : array (n_nodes, 2), optional
        Positions of the nodes, if they are known.
    port : int, default 0
        Serve the page at this port of this machine, also in a notebook; 0 takes a free one.
    browser : bool, optional
        True opens the page in the browser, False only serves it; by default as said above.

    Returns
    -------
    MapView, PageServer or Path
        In a notebook a :class:`MapView`, which has the `selection`. Elsewhere a
        :class:`PageServer`, which serves until it is closed or Python ends; a script calls its
        `wait()`. With `export`, the path.

    Examples
    --------
    >>> from reinforce2vec import Embedding, explore
    >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.8, 0.6], [0, 2]])
    >>> explore(people, columns={"age": [42, None, 17]}, export="people.html")  # doctest: +SKIP
    """
    if export is not None:
        check_target(export)  # before the work
    in_place = export is None and browser is None and not port and in_notebook()
    how: dict[str, Any] = {"columns": columns, "method": method, "title": title}
    how |= {"seed": seed, "positions": positions, "served": export is None and not in_place}
    page = make_page(embedding, graph, labels, **how)
    if export is not None:
        return write_page(export, page)
    if in_place:
        return MapView(page.html, page.ids)
    server = serve_page(page, port)
    if browser is not False:
        server.open()
    return server


class Page(NamedTuple):
    """The page, and facts about it."""

    html: bytes
    data: bytes | None
    """What a page that is served fetches; None for one that holds its data."""
    details: Details | None
    """Answers what a large page that is served asks."""
    ids: Ids
    """The nodes on the map."""
    method: str
    """The projection."""
    notes: list[str]
    """Sentences about what was left out."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes on the map."""
        return len(self.ids)

    @property
    def size(self) -> int:
        """Size in bytes, with what it fetches at first."""
        return len(self.html) + len(self.data or b"")


def make_page(embedding: Any, graph: Any = None, labels: Any = None, **options: Any) -> Page:
    """Make the page of :func:`explore`, with the options of a :class:`PageRequest`.

    A page that is `served` is for :func:`serve_page` alone.
    """
    embedding = as_embedding(embedding)
    if graph is not None:
        graph = Graph.from_any(graph)
        warn_of_mismatch(embedding, graph, stacklevel=3)
    wanted = PageRequest(embedding, graph, labels, **options)
    check_count("seed", wanted.seed, 0)
    header, arrays, details, shown = gather_contents(wanted)
    facts = details, shown.embedding.ids, shown.method, header["notes"]
    with waiting("packing the page", wanted.progress):
        data = pack(header, arrays, planes=not wanted.served)
        if wanted.served:
            return Page(page_with(header["title"], source="data"), data, *facts)
        return Page(page_with(header["title"], as_text(data)), None, *facts)


def serve_page(page: Page, port: int = 0) -> PageServer:
    """Serve a page to this machine."""
    return PageServer(page.html, port, data=page.data, details=page.details)


def write_page(path: str | os.PathLike[str], page: Page) -> Path:
    """Write a page to a file, which appears when it is complete."""
    target = resolve_target(path)
    check_space(target, len(page.html))
    with whole(target) as stream:
        stream.write(page.html)
    return Path(path)
