"""Maps: the nodes of an embedding as points in the plane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice, check_number
from .._util.errors import InputError
from .._util.hyperparameters import COLOURINGS
from .._util.progress import counted
from ..embedding import Embedding, project
from ..embedding.embedding import as_embedding
from ..embedding.matching import rows_among
from ..embedding.nearest import nearest_rows, neighbor_graph
from ..embedding.projection import project_method
from ..graph import Graph, edges_of, find_communities
from .classes import OTHER, Classes, Look, classes_of
from .legend import SMALL_TEXT, add_legend, wrapped
from .palette import LOOKS
from .style import (
    BLUE,
    FAINT,
    MARKS,
    PALE,
    TIME,
    TITLE_SIZE,
    clear_axes,
    draw_lines,
    drawable,
    new_figure,
    styled,
)

METHOD_NAMES = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP", "layout": "neighbour layout"}
_MANY_POINTS = 3000  # with more points, they become a bitmap in SVG and PDF
_MAX_SEARCHED_NODES = 100_000  # without a graph and labels, find communities up to here
_ONE_SHAPE = sum(look.shape == LOOKS[0].shape for look in LOOKS)  # classes that are all circles
_FEW_EDGES = 2000  # draw edges up to this number; more would hide the nodes

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


def embedding_map(
    embedding: Embedding | NDArray[Any],
    labels: Any = None,
    graph: Any = None,
    method: str = "auto",
    *,
    colour_by: str | None = None,
    title: str | None = None,
    width: float = 6.0,
    height: float = 4.5,
    seed: int = 0,
    positions: Any = None,
    axes: Any = None,
    progress: bool = True,
) -> Any:
    """Draw a map of an embedding: similar nodes lie close together, colours show their classes.

    A legend lists the classes. Up to 40 classes differ by colour and shape, as in
    :func:`reinforce2vec.explore`; of more, the smallest are hollow grey points.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors.
    labels : optional
        The class of each node: a list in row order, a dict {id: class}, a pandas Series, a matrix
        (nodes, classes) of 0 and 1, a table with ids, or the path of a file; see
        :func:`read_labels` for these. If a node has
        several classes, the largest is shown.
    graph : Graph, optional
        The graph, or anything that :meth:`Graph.from_any` takes, matched by ids. Nodes are sized
        by their degrees, and communities are found in it.
    method : {"auto", "pca", "tsne", "umap", "layout"}
        As for :func:`reinforce2vec.project`.
    colour_by : {"label", "community", "degree", "none"}, optional
        By default by label if there are labels, else by community: those of the graph, or without
        a graph those of a graph that links every node with the most similar ones. That takes long
        for very many nodes: with more than 100,000 nodes and neither labels nor a graph, all have
        one colour by default.
    title : str, optional
        Written above the map.
    width, height : float
        Size of the figure, in inches.
    seed : int, default 0
        Seed of the projection and the communities.
    positions : array (n_nodes, 2), optional
        Positions of the nodes, if they are known; `method` is then ignored.
    axes : matplotlib Axes, optional
        The axes to draw on; a new figure by default.
    progress : bool, default True
        Show progress on the terminal, if there is one, while similar nodes are searched.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import reinforce2vec as r2v
    >>> club = r2v.karate_club()
    >>> model = r2v.Reinforce2Vec(dimensions=16, walks_per_node=10).fit(club)
    >>> figure = r2v.plotting.embedding_map(model.embedding_, graph=club, method="pca")
    >>> figure.axes[0].get_xlabel()
    '34 nodes, 16 dimensions, by PCA, sized by degree (1 to 17), coloured by community'
    """
    embedding = as_embedding(embedding)
    wanted = check_drawing(colour_by, labels, graph, width, height, len(embedding))
    whole = None if graph is None else Graph.from_any(graph)
    rows = None if whole is None else rows_among(whole, embedding)
    caption = counted(len(embedding), "node")
    if positions is None:
        points = project(embedding, method, seed=seed, progress=progress).astype(np.float64)
        chosen = METHOD_NAMES[project_method(method, len(embedding))]
        caption += f", {counted(embedding.dimensions, 'dimension')}, by {chosen}"
    else:
        points = checked_positions(positions, len(embedding))
    degrees = None if whole is None or rows is None else degrees_of(whole, rows)
    classes = None
    if wanted == "label":
        classes = classes_of(labels, embedding)
    elif wanted == "community":
        classes = communities_of(embedding, whole, rows, seed, progress=progress)
    if classes is not None:
        classes = replace(
            classes, kind=drawable(classes.kind), names=[drawable(name) for name in classes.names]
        )
    areas = _node_areas(len(points), degrees, width * height, classes)
    if degrees is not None and degrees.any():
        caption += f", sized by degree ({degrees.min():,} to {degrees.max():,})"
    if wanted != "none":
        caption += f", coloured by {wanted if classes is None else classes.kind}"
    with styled():
        room = 0.97 * width * 72  # points
        if axes is None:
            axes = new_figure(width, height).add_subplot()
        else:
            room = axes.get_window_extent().width * 72 / axes.figure.dpi
        clear_axes(axes, title and wrapped(drawable(title), TITLE_SIZE, room))
        caption = wrapped(caption, SMALL_TEXT, room)
        axes.set_xlabel(caption, color=FAINT, fontsize=SMALL_TEXT, loc="left", parse_math=False)
        if whole is not None and rows is not None and whole.n_edges <= _FEW_EDGES:
            _draw_edges(axes, points, whole, rows)
        if classes is not None:
            below = 8 + 1.3 * SMALL_TEXT * (caption.count("\n") + 1)
            looks, rest = classes.looks()
            if rest is not None:
                _draw_nodes(axes, points, areas * 0.6, [rest], 1.5, hollow=True)
            _draw_nodes(axes, points, areas, looks)
            add_legend(axes, looks if rest is None else [*looks, rest], classes.kind, below)
        elif wanted == "degree" and degrees is not None:
            _draw_degrees(axes, points, areas, degrees)
        else:
            everyone = np.arange(len(points))
            _draw_nodes(axes, points, areas, [Look("", BLUE, "circle", everyone)])
    return axes.figure.figure  # also for axes of a subfigure


# -- what is drawn -------------------------------------------------------------------------------


def check_drawing(
    colour_by: str | None, labels: Any, graph: Any, width: float, height: float, n_nodes: int = 0
) -> str:
    """Return what to colour nodes by; InputError if it is missing, or for a wrong size."""
    unasked = "none" if graph is None and n_nodes > _MAX_SEARCHED_NODES else "community"
    wanted = colour_by or ("label" if labels is not None else unasked)
    check_choice("colour_by", wanted, COLOURINGS)
    if wanted == "label" and labels is None:
        raise InputError('colour_by="label" needs labels', settings=[("colour_by", "label")])
    if wanted == "degree" and graph is None:
        raise InputError('colour_by="degree" needs the graph', settings=[("colour_by", "degree")])
    check_number("width", width, least=1.5, most=100)
    check_number("height", height, least=1.5, most=100)
    return wanted


def checked_positions(positions: Any, n_nodes: int) -> _Floats:
    """Return positions as an array; InputError unless there is a finite pair for each node."""
    try:
        points = np.asarray(positions, np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.shape != (n_nodes, 2) or not np.isfinite(points).all():
        raise InputError(
            f"positions must be {n_nodes:,} pairs of finite numbers, one for each node"
        )
    return points


def degrees_of(graph: Graph, rows: _Rows) -> _Rows:
    """Return the degree of each node, in both directions; 0 for nodes that are not in the graph."""
    degrees = graph.degrees.copy()
    if graph.directed:
        degrees += np.bincount(graph.indices, minlength=graph.n_nodes)
    return np.where(rows < 0, 0, degrees[rows])


def communities_of(
    embedding: Embedding,
    graph: Graph | None,
    rows: _Rows | None,
    seed: int,
    nearest: tuple[NDArray[np.int32], NDArray[np.float32]] | None = None,
    progress: bool = True,
) -> Classes:
    """Find communities of the graph, or of a graph that links every node with similar ones.

    Similar nodes are searched unless `nearest` has them, as :func:`nearest_rows` returns them.
    """
    if graph is None or rows is None:
        nearest = nearest or nearest_rows(embedding.vectors, progress=progress)
        codes = find_communities(neighbor_graph(embedding, *nearest), seed=seed)
    else:
        codes = np.where(rows < 0, OTHER, find_communities(graph, seed=seed)[rows]).astype(np.int32)
    names = [str(number + 1) for number in range(int(codes.max()) + 1)]
    return Classes(codes, names, "community")


def _node_areas(
    n_nodes: int, degrees: _Rows | None, size: float, classes: Classes | None
) -> _Floats:
    """Return areas in square points: larger if there are fewer nodes, and for high degrees.

    Nodes whose shapes differ are larger, so that the shapes can be distinguished.
    """
    shaped = classes is not None and len(classes.names) > _ONE_SHAPE
    per_inch, least = (1200, 4.0) if shaped else (600, 1.2)
    middle = float(np.clip(per_inch * size / max(n_nodes, 1), least, 45))
    if degrees is None or not degrees.any():
        return np.full(n_nodes, middle)
    typical = max(1.0, float(np.median(degrees[degrees > 0])))
    return np.asarray(middle * np.clip(degrees / typical, 0.3, 12) ** 0.75)


# -- drawing -------------------------------------------------------------------------------------


def _draw_nodes(
    axes: Any,
    points: _Floats,
    areas: _Floats,
    looks: list[Look],
    layer: float = 2.0,
    hollow: bool = False,
) -> None:
    """Draw the points of some classes, large nodes below small ones: no class hides another."""
    n = len(points)
    colour, shape = np.empty(n, object), np.empty(n, object)
    for look in looks:
        colour[look.rows], shape[look.rows] = look.colour, look.shape
    order = np.random.default_rng(0).permutation(n)
    order = order[np.argsort(-areas[order], kind="stable")]
    for name in dict.fromkeys(look.shape for look in looks):
        rows = order[shape[order] == name]
        mark, share = MARKS[name]
        fill = colour[rows].tolist()
        how = _point_style(n) | {"c": fill}
        if hollow:
            how |= {"c": "none", "edgecolors": fill, "linewidths": 0.5}
        axes.scatter(*points[rows].T, s=areas[rows] * share, marker=mark, zorder=layer, **how)


def _draw_edges(axes: Any, points: _Floats, graph: Graph, rows: _Rows) -> None:
    """Draw the edges of a small graph, in the background."""
    number = np.full(graph.n_nodes, -1)
    number[rows[rows >= 0]] = np.flatnonzero(rows >= 0)
    ends = number[edges_of(graph)[0]]
    ends = ends[(ends >= 0).all(axis=1)]
    draw_lines(axes, points[ends], colors=PALE, linewidths=0.4, zorder=1)


def _point_style(n_nodes: int) -> dict[str, Any]:
    """Return the style of points: few have a rim; many are translucent and become a bitmap."""
    many = n_nodes > _MANY_POINTS
    return {
        "alpha": 0.65 if many else 0.9,
        "linewidths": 0.0 if many else 0.3,
        "edgecolors": "none" if many else "white",
        "rasterized": many,
    }


def _draw_degrees(axes: Any, points: _Floats, areas: _Floats, degrees: _Rows) -> None:
    """Draw nodes coloured by degree, on a logarithmic scale; high degrees are dark."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    order = np.argsort(degrees, kind="stable")
    look = _point_style(len(points)) | {"c": np.maximum(degrees[order], 1), "cmap": f"{TIME}_r"}
    look |= {"norm": LogNorm(1, max(2, degrees.max())), "zorder": 2}
    nodes = axes.scatter(*points[order].T, s=areas[order], **look)
    bar = axes.figure.colorbar(nodes, ax=axes, shrink=0.5, aspect=18, pad=0.01, anchor=(0, 1))
    bar.set_label("degree")
    bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if degrees.max() < 100 else (1,)))
    bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
