"""Figures of walks: the path over the graph, the share of time at nodes, the stuck set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_count
from .._util.errors import InputError
from .._util.progress import counted
from ..graph import Graph, edges_of, induced_graph
from ..walks import occupation
from ..walks import stuck_set as nodes_of_stuck_set
from ._places import MAX_LAYOUT_NODES, layout, turned_wide
from .maps import checked_positions
from .style import (
    COLOURS,
    FAINT,
    INK,
    PALE,
    RED,
    TIME,
    clear_axes,
    draw_lines,
    drawable,
    new_figure,
    styled,
)

_PANEL = 2.7  # inches
_MAX_ARCS = 600  # steps drawn one by one; of longer paths, the last ones
_N_POINTS = 200  # steps of a path at which shares are computed
_MAX_NEIGHBOURS = 150  # neighbours of a path shown of a large graph

_Places = NDArray[np.float64]
_Rows = NDArray[np.int64]


def walk_path(
    graph: Any,
    path: Any,
    *,
    positions: Any = None,
    title: str | None = None,
    axes: Any = None,
) -> Any:
    """Draw a walk over its graph: lighter steps are later, and nodes are sized by visits.

    Parameters
    ----------
    graph : Graph
        The graph, or anything that :meth:`Graph.from_any` takes. With more than 1,000 nodes, the
        part around the path is shown.
    path : array of int, or dict {name: array}
        A walk, as row numbers: a row of :func:`reinforce2vec.sample_walks`. Several walks get a
        panel each.
    positions : array (n_nodes, 2), optional
        Positions of the nodes; by default their distances approximate graph distances.
    title : str, optional
        Written above a single walk.
    axes : matplotlib Axes, optional
        The axes to draw a single walk on, without a colour bar; a new figure by default.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import reinforce2vec as r2v
    >>> club = r2v.karate_club()
    >>> walks = {
    ...     name: r2v.sample_walks(club, walk, length=200, per_node=1, starts=[1])[0]
    ...     for name, walk in [("explores", r2v.ReinforcedWalk()),
    ...                        ("does not", r2v.ReinforcedWalk("js", "none"))]
    ... }
    >>> figure = r2v.plotting.walk_path(club, walks)
    >>> [panel.get_title(loc="left") for panel in figure.axes[:2]]
    ['explores', 'does not']
    """
    whole, paths = Graph.from_any(graph), _named_paths(path, title)
    part, rows, places = _drawn_part(whole, list(paths.values()), positions)
    with styled() as matplotlib:
        panels = (
            [axes] if axes is not None else _row_of_panels(len(paths), _panel_height(places) + 0.7)
        )
        if len(panels) != len(paths):
            raise InputError("axes are for a single walk: several get panels of their own")
        for panel, (name, nodes) in zip(panels, paths.items(), strict=True):
            clear_axes(panel, drawable(name))
            _draw_graph(panel, part, places)
            _draw_path(panel, places, np.searchsorted(rows, nodes))
        if axes is None:
            last = max(len(nodes) for nodes in paths.values()) - 1
            scale = matplotlib.colors.Normalize(0, max(1, last))
            look = {"orientation": "horizontal", "aspect": 30, "pad": 0.02}
            look["shrink"] = min(0.5, 2 / (_PANEL * len(paths)))
            steps = matplotlib.cm.ScalarMappable(scale, TIME)
            bar = panels[0].figure.colorbar(steps, ax=panels, **look)
            bar.set_label("step")
            bar.outline.set_visible(False)
    return panels[0].figure.figure


def occupation_over_time(
    paths: Any, n_nodes: int, *, top: int = 6, ids: Any = None, title: str | None = None
) -> Any:
    """Draw the share of time a walk has spent at its most visited nodes, over its steps.

    Parameters
    ----------
    paths : array of int, or dict {name: array}
        A walk, as row numbers, or several, which get a panel each.
    n_nodes : int
        Number of nodes of the graph.
    top : int, default 6
        How many of the most visited nodes have a colour, at most 7.
    ids : sequence, optional
        Names of the nodes, such as `graph.ids`; by default row numbers.
    title : str, optional
        Written above a single walk.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import reinforce2vec as r2v
    >>> club = r2v.karate_club()
    >>> path = r2v.sample_walks(club, length=200, per_node=1, starts=[1])[0]
    >>> figure = r2v.plotting.occupation_over_time(path, 34, ids=club.ids)
    >>> figure.axes[0].get_ylabel()
    'share of time'
    """
    named = _named_paths(paths, title)
    n_nodes = check_count("n_nodes", n_nodes, 1)
    top = min(check_count("top", top, 1), len(COLOURS) - 1)
    with styled():
        panels = _row_of_panels(len(named), _PANEL, share=True)
        colours: dict[int, str] = {}  # a node has the same in all panels
        for panel, (name, nodes) in zip(panels, named.items(), strict=True):
            _draw_occupation(panel, nodes, n_nodes, top, ids, colours)
            panel.set_title(drawable(name))
        panels[0].set_ylabel("share of time")
    return panels[0].figure


def stuck_set(graph: Any, paths: Any, *, last: int = 100, positions: Any = None) -> Any:
    """Draw where walks get stuck: the nodes of their last steps, and how many they visit over time.

    Parameters
    ----------
    graph : Graph
        The graph, or anything that :meth:`Graph.from_any` takes.
    paths : array of int, or dict {name: array}
        A walk, as row numbers, or several, to be compared.
    last : int, default 100
        Over how many steps nodes are counted. A walk that visits few nodes is stuck.
    positions : array (n_nodes, 2), optional
        Positions of the nodes; by default their distances approximate graph distances.

    Returns
    -------
    matplotlib Figure
        A panel of the graph for each walk, and one in which they are compared.

    Examples
    --------
    >>> import reinforce2vec as r2v
    >>> club = r2v.karate_club()
    >>> walk = r2v.ReinforcedWalk("js", "none")
    >>> path = r2v.sample_walks(club, walk, length=500, per_node=1, starts=[1])[0]
    >>> figure = r2v.plotting.stuck_set(club, {"does not explore": path})
    >>> figure.axes[-1].get_ylabel()
    'nodes met in 100 steps'
    """
    whole, named = Graph.from_any(graph), _named_paths(paths, None)
    last = check_count("last", last, 1)
    part, rows, places = _drawn_part(whole, list(named.values()), positions)
    with styled():
        height = _panel_height(places) + 0.4
        figure = new_figure(max(_PANEL * len(named), 4.0), height + 2.3)
        grid = figure.add_gridspec(2, len(named), height_ratios=[height, 2.0])
        for number, (name, nodes) in enumerate(named.items()):
            panel = figure.add_subplot(grid[0, number])
            clear_axes(panel, drawable(name))
            _draw_graph(panel, part, places)
            _draw_stuck(panel, places, rows, nodes, last, COLOURS[number % len(COLOURS)])
        panel = figure.add_subplot(grid[1, :])
        _draw_distinct(panel, named, last)
        if len(named) > 1:
            handles, labels = panel.get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=min(len(named), 4))
    return figure


# -- what is drawn -------------------------------------------------------------------------------


def _named_paths(paths: Any, title: str | None) -> dict[str, _Rows]:
    """Return walks by name, each without its padding."""
    if not isinstance(paths, Mapping):
        paths = {title or "": paths}
    if not paths:
        raise InputError("there is no walk to draw")
    named = {}
    for name, path in paths.items():
        nodes = np.asarray(path)
        nodes_of_stuck_set(nodes)  # raises InputError for what is no path
        named[str(name)] = nodes[nodes >= 0].astype(np.int64)
    return named


def _drawn_part(graph: Graph, paths: list[_Rows], positions: Any) -> tuple[Graph, _Rows, _Places]:
    """Return what is drawn of a graph: all of it, or of a large one the part around the paths.

    The part comes as a graph, the rows of its nodes in the whole graph, ascending, and positions.
    """
    highest = max(int(nodes.max()) for nodes in paths)
    if highest >= graph.n_nodes:
        raise InputError(
            f"a path visits row {highest:,}, but the graph has {graph.n_nodes:,} nodes: is it of "
            "another graph?"
        )
    rows: _Rows = np.arange(graph.n_nodes)
    if graph.n_nodes > MAX_LAYOUT_NODES:
        rows = _around(graph, np.unique(np.concatenate(paths)))
    part = induced_graph(graph, rows)
    if positions is not None:
        return part, rows, checked_positions(positions, graph.n_nodes)[rows]
    return part, rows, turned_wide(layout(part))


def _around(graph: Graph, visited: _Rows) -> _Rows:
    """Return visited nodes and some neighbours: those with the most edges to them."""
    links = np.bincount(graph.to_scipy()[visited].indices, minlength=graph.n_nodes)
    links[visited] = 0
    most = max(0, min(_MAX_NEIGHBOURS, MAX_LAYOUT_NODES - len(visited)))
    nearby = np.argsort(-links, kind="stable")[:most]
    return np.union1d(visited, nearby[links[nearby] > 0]).astype(np.int64)


def _panel_height(places: _Places) -> float:
    """Return the height of a panel in inches, so that the graph fills it."""
    extent = np.ptp(places, axis=0)
    return _PANEL * float(np.clip((extent[1] + 1e-9) / (extent[0] + 1e-9), 0.4, 1.2))


def _row_of_panels(count: int, height: float, share: bool = False) -> list[Any]:
    """Return axes side by side in a new figure."""
    figure = new_figure(max(_PANEL * count, 3.6), height)
    return list(figure.subplots(1, count, squeeze=False, sharey=share)[0])


# -- drawing -------------------------------------------------------------------------------------


def _draw_graph(panel: Any, graph: Graph, places: _Places) -> None:
    """Draw the graph itself, in the background."""
    width = float(np.clip(40 / max(graph.n_edges, 1) ** 0.5, 0.2, 0.8))
    draw_lines(panel, places[edges_of(graph)[0]], colors=PALE, linewidths=width, zorder=1)
    panel.scatter(*places.T, s=_node_area(len(places)), color=PALE, linewidths=0, zorder=1.5)


def _node_area(n_nodes: int) -> float:
    """Return the area of a node that was not visited, in square points."""
    return float(np.clip(700 / n_nodes, 1.5, 22))


def _draw_path(panel: Any, places: _Places, nodes: _Rows) -> None:
    """Draw steps as arcs coloured by time, nodes sized by their visits, and the start."""
    from matplotlib.patheffects import withStroke

    steps = np.arange(1, len(nodes))[-_MAX_ARCS:]
    if steps.size:
        width = float(np.clip(20 / len(steps) ** 0.5, 0.8, 1.6))
        look = {"cmap": TIME, "alpha": 0.75, "capstyle": "round", "linewidths": width, "zorder": 2}
        arcs = draw_lines(panel, _bend(places[nodes[steps - 1]], places[nodes[steps]]), **look)
        arcs.set_array(steps)
        arcs.set_clim(0, len(nodes) - 1)
    met, visits = np.unique(nodes, return_counts=True)
    area = _node_area(len(places))
    sizes = area * (1 + 7 * visits / max(visits.max(), 6))  # nodes with few visits stay small
    look = {"color": "white", "edgecolors": INK, "linewidths": 0.9, "zorder": 3}
    panel.scatter(*places[met].T, s=sizes, **look)
    start = places[nodes[0]]
    panel.scatter(*start, s=area * 3 + 12, color=RED, linewidths=0, zorder=4)
    look = {"ha": "center", "fontsize": 7.5, "color": RED, "zorder": 5}
    look["path_effects"] = [withStroke(linewidth=2.5, foreground="white")]
    panel.annotate("start", start, xytext=(0, 7), textcoords="offset points", **look)


def _bend(begin: _Places, end: _Places) -> _Places:
    """Return arcs of eight segments, each bent a little differently: none hides another."""
    bend = np.random.default_rng(0).uniform(0.06, 0.24, len(begin))
    along = end - begin
    aside = np.column_stack([-along[:, 1], along[:, 0]]) * bend[:, None]
    share = np.linspace(0, 1, 9)[None, :, None]
    arcs = begin[:, None] + along[:, None] * share + aside[:, None] * (4 * share * (1 - share))
    return np.asarray(arcs)


def _draw_occupation(
    panel: Any, nodes: _Rows, n_nodes: int, top: int, ids: Any, colours: dict[int, str]
) -> None:
    """Draw shares of time, stacked: the most visited nodes in colours, all others pale."""
    last = len(nodes) - 1
    steps = np.unique(np.linspace(0, last, _N_POINTS).astype(np.int64))
    shares = occupation(nodes, n_nodes, steps.tolist(), "path")
    chosen = np.argsort(-shares[-1], kind="stable")[:top]
    chosen = chosen[shares[-1, chosen] > 0]
    rest = np.maximum(1 - shares[:, chosen].sum(axis=1), 0)
    for row in chosen.tolist():
        colours.setdefault(row, COLOURS[len(colours) % len(COLOURS)])
    names = [drawable(row if ids is None else ids[row]) for row in chosen.tolist()]
    names = [f"node {name}" if place == 0 else name for place, name in enumerate(names)]
    tints = [*(colours[row] for row in chosen.tolist()), PALE]
    layers = [*shares[:, chosen].T, rest]
    panel.stackplot(steps, *layers, linewidth=0.4, edgecolor="white", colors=tints)
    height, look = 0.0, {"textcoords": "offset points", "va": "center", "fontsize": 8}
    for name, layer in zip([*names, "others"], layers, strict=True):
        if layer[-1] > 0.04:  # less leaves no room for text
            middle = (1.0, height + layer[-1] / 2)
            where = panel.get_yaxis_transform()
            panel.annotate(name, middle, xycoords=where, xytext=(3, 0), **look)
        height += layer[-1]
    panel.set_xlim(0, max(last, 1))
    panel.set_ylim(0, 1)
    panel.set_xlabel("step")
    panel.grid(visible=False)


def _draw_stuck(
    panel: Any, places: _Places, rows: _Rows, nodes: _Rows, last: int, colour: str
) -> None:
    """Draw nodes of the last steps, sized by their visits, and those visited before."""
    area, look = _node_area(len(places)), {"linewidths": 0.7}
    met = places[np.searchsorted(rows, np.unique(nodes))]
    panel.scatter(*met.T, s=area * 1.6, color="white", edgecolors=FAINT, zorder=2, **look)
    stuck, counts = nodes_of_stuck_set(nodes, last=last)
    sizes = area * (1.6 + 8 * counts / counts.max())
    spots = places[np.searchsorted(rows, stuck)]
    panel.scatter(*spots.T, s=sizes, color=colour, edgecolors="white", zorder=3, **look)
    note = f"last {min(last, len(nodes)):,} steps: {counted(len(stuck), 'node')}"
    panel.set_xlabel(note, fontsize=8, loc="left")


def _draw_distinct(panel: Any, paths: dict[str, _Rows], last: int) -> None:
    """Draw how many distinct nodes the last steps visited, over time."""
    for number, (name, nodes) in enumerate(paths.items()):
        ends = np.unique(np.linspace(min(last, len(nodes)), len(nodes), _N_POINTS).astype(np.int64))
        counts = [len(np.unique(nodes[max(0, end - last) : end])) for end in ends]
        look = {"color": COLOURS[number % len(COLOURS)], "linestyle": ("-", "--", "-.")[number % 3]}
        panel.plot(ends - 1, counts, linewidth=1.6, label=drawable(name), **look)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("step")
    panel.set_ylabel(f"nodes met in {last:,} steps")
