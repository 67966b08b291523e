"""`explore`: an embedding as an interactive map in the browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple, overload

from .._util.checks import check_count
from ..embedding.embedding import as_embedding
from ..embedding.matching import warn_of_mismatch
from ..files.writing import check_space, check_target, resolve_target, whole
from ..graph import Graph
from ._data import ReportStep, gather_contents, report_nothing
from ._page import page_with
from .server import PageServer


@overload
def explore(
    embedding: Any,
    graph: Any = ...,
    labels: Any = ...,
    export: None = ...,
    *,
    method: str = ...,
    title: str | None = ...,
    seed: int = ...,
    positions: Any = ...,
    port: int = ...,
    browser: bool = ...,
) -> PageServer: ...


@overload
def explore(
    embedding: Any,
    graph: Any = ...,
    labels: Any = ...,
    *,
    export: str | os.PathLike[str],
    method: str = ...,
    title: str | None = ...,
    seed: int = ...,
    positions: Any = ...,
) -> Path: ...


def explore(
    embedding: Any,
    graph: Any = None,
    labels: Any = None,
    export: str | os.PathLike[str] | None = None,
    *,
    method: str = "auto",
    title: str | None = None,
    seed: int = 0,
    positions: Any = None,
    port: int = 0,
    browser: bool = True,
) -> PageServer | Path:
    """Visualize an embedding as an interactive map in the browser.

    The page finds nodes by their ids; for a node it shows the nearest neighbours, the neighbours in
    the graph and the likeliest missing links; it colours nodes by label, community or degree, and
    saves a selection of them. The page is self-contained: nothing is downloaded. Maps hold up to
    100,000 nodes; of larger graphs those of highest degree are shown.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors.
    graph : Graph, optional
        The graph, or anything that :meth:`Graph.from_any` takes, matched by ids. If
        :attr:`Embedding.info` says that the vectors are those of another one, there is a warning.
    labels : optional
        The class of each node: a list in row order, a dict {id: class}, a pandas Series, a matrix
        (nodes, classes) of 0 and 1, a table with ids, or the path of a file; see
        :func:`read_labels` for these.
    export : path, optional
        Write the page to this file instead of serving it.
    method : {"auto", "pca", "tsne", "umap"}
        The projection, as for :func:`reinforce2vec.project`.
    title : str, optional
        Written above the map.
    seed : int, default 0
        Seed of the map and the communities.
    positions : array (n_nodes, 2), optional
        Positions of the nodes, if they are known, as :func:`reinforce2vec.project` returns them.
    port : int, default 0
        The port of the page, on this machine only; 0 takes a free one.
    browser : bool, default True
        Open the page in the browser.

    Returns
    -------
    PageServer
        Serves the page until it is closed or Python ends; a script calls its `wait()` to keep it
        open. With `export`, the path of the file instead.

    Examples
    --------
    >>> import pathlib, tempfile, urllib.request
    >>> from reinforce2vec import Embedding, explore
    >>> people = Embedding(["ann", "bob", "cid"], [[1, 0], [0.8, 0.6], [0, 2]])
    >>> friends = [("ann", "bob"), ("bob", "cid")]
    >>> with explore(people, friends, browser=False) as server:
    ...     print(urllib.request.urlopen(server.url).status)
    200
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "people.html")
    ...     explore(people, friends, export=file) == file
    True
    """
    if export is not None:
        check_target(export)  # before the work
    options: dict[str, Any] = {"method": method, "title": title, "seed": seed}
    page = make_page(embedding, graph, labels, positions=positions, **options)
    if export is not None:
        return write_page(export, page)
    server = PageServer(page.html, port)
    if browser:
        server.open()
    return server


class Page(NamedTuple):
    """The page, and facts about it."""

    html: bytes
    data: bytes | None
    """What a page that is served fetches; None for one that holds its data."""
    details: Details | None
    """Answers what a large page that is served asks."""
    n_nodes: int
    """Number of nodes on the map."""
    method: str
    """The projection."""
    notes: list[str]
    """Sentences about what was left out."""


def make_page(
    embedding: Any,
    graph: Any = None,
    labels: Any = None,
    *,
    method: str = "auto",
    title: str | None = None,
    seed: int = 0,
    positions: Any = None,
    progress: bool = True,
    step: ReportStep = report_nothing,
) -> Page:
    """Make the page of :func:`explore`."""
    embedding = as_embedding(embedding)
    if graph is not None:
        graph = Graph.from_any(graph)
        warn_of_mismatch(embedding, graph, stacklevel=3)
    title = title or "Map of an embedding"
    contents = gather_contents(
        embedding,
        graph,
        labels,
        title=title,
        method=method,
        seed=check_count("seed", seed, 0),
        positions=positions,
        progress=progress,
        step=step,
    )
    return Page(page_with(title, contents.data), *contents[1:])


def write_page(path: str | os.PathLike[str], page: Page) -> Path:
    """Write a page to a file, which appears when it is complete."""
    target = resolve_target(path)
    check_space(target, len(page.html))
    with whole(target) as stream:
        stream.write(page.html)
    return Path(path)
