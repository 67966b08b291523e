"""Figures of scores. matplotlib is imported only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..plotting.palette import LOOKS
from ..plotting.style import (
    BLACK,
    BLUE,
    COLOURS,
    FAINT,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    RED,
    SKY,
    YELLOW,
    drawable,
    new_figure,
    styled,
)
from .tables import TableEntry
from .toy import TOY_EDGES, ToyStep

_MAX_BANDS = 6  # curves of a panel; bands of more hide each other
_FEW_PLACES = 8  # each place of a logarithmic axis has a tick
_OUTLIER = 0.65  # a curve is left out if the others have this share of its panel's range, or less
_TOGETHER = 0.005  # lines of shares of time that end closer than this have one label
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
_TOY_PLACES = {1: (0.0, 1.0), 3: (0.0, 0.0), 4: (1.0, 0.0), 5: (1.0, 1.0), 2: (1.9, 0.0)}


class Dots(NamedTuple):
    """A panel of dots: a row for each label, with ours, ours smoothed, and the paper's score."""

    title: str
    labels: Sequence[str]
    raw: Sequence[TableEntry | None]
    smoothed: Sequence[TableEntry | None]


class Curve(NamedTuple):
    """A line: positions, scores with their spread over seeds, and its style."""

    label: str
    x: Sequence[float]
    y: Sequence[TableEntry | None]
    colour: str
    dashed: bool = False
    width: float = 1.4
    hollow: bool = False  # its markers


class Panel(NamedTuple):
    """Some curves, and the paper's points or its level."""

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve]
    points: Sequence[tuple[float, float]] = ()
    logarithmic: bool = False
    level: float | None = None


def method_styles(groups: Sequence[str]) -> list[dict[str, Any]]:
    """Return the style of the curve of each method, by their groups; reinforced walks stand out.

    No two have the same colour. Baselines are thin and have hollow markers.
    """
    more = [look.light for look in LOOKS]
    baselines = iter((ORANGE, SKY, GREEN, more[10], GREY, YELLOW, more[9], more[11]))
    reinforced = iter((BLUE, more[15], RED, BLACK, more[18], more[17], more[13]))
    styles = []
    for number, group in enumerate(groups):
        thin = group == "baseline"
        colour = next(baselines if thin else reinforced, more[number % len(more)])
        styles.append({"colour": colour, "width": 1.0 if thin else 1.8, "hollow": thin})
    return styles


def colours(labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each label."""
    return {label: COLOURS[number % len(COLOURS)] for number, label in enumerate(labels)}


# -- tables as pictures --------------------------------------------------------------------------


@styled()
def dot_plot(panels: Sequence[Dots], x_label: str, across: int = 2) -> Any:
    """Draw rows of dots, one panel beside the other."""
    rows = -(-len(panels) // across)
    across = min(across, len(panels))
    height = 0.9 + 0.24 * max(len(panel.labels) for panel in panels)
    figure = new_figure(1.9 + 3.3 * across, height * rows + 0.5, layout=None)
    axes = figure.subplots(rows, across, squeeze=False, sharey="row")
    kinds = (("raw", "ours", BLUE, "o", 0.0), ("smoothed", "ours, smoothed", ORANGE, "D", 0.22))
    for axis, panel in zip(axes.flat, panels, strict=False):
        places = np.arange(len(panel.labels))
        for name, label, colour, marker, below in kinds:
            for place, one in zip(places, getattr(panel, name), strict=True):
                if one is None:
                    continue
                spread = None if one.spread is None else [one.spread]
                axis.errorbar(
                    [one.mean], [place + below], xerr=spread, fmt=marker, color=colour,
                    markersize=4.5, elinewidth=1, label=label,
                )  # fmt: skip
        for place, one in zip(places, panel.raw, strict=True):
            if one is not None and one.paper is not None:
                axis.plot(
                    one.paper, place, "|", color=BLACK, markersize=10, markeredgewidth=1.6,
                    label="published", zorder=4,
                )  # fmt: skip
        axis.set_yticks(places, [_plain(label) for label in panel.labels])
        axis.set_ylim(len(places) - 0.4, -0.6)
        axis.set_title(_plain(panel.title))
        axis.set_xlabel(_plain(x_label))
        axis.tick_params(axis="y", length=0)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    _legend_below(figure, axes)
    return figure


# -- curves --------------------------------------------------------------------------------------


@styled()
def curve_plot(
    panels: Sequence[Panel], across: int = 3, size: tuple[float, float] = (3.5, 2.9)
) -> Any:
    """Draw lines with the spread over seeds as a band, and the paper's points."""
    rows = -(-len(panels) // across)
    across = min(across, len(panels))
    figure = new_figure(size[0] * across, size[1] * rows, layout=None)
    axes = figure.subplots(rows, across, squeeze=False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        shown, apart = _without_outliers(panel.curves)
        for number, curve in enumerate(panel.curves):
            if curve in shown:
                _draw_curve(axis, curve, number, band=len(panel.curves) <= _MAX_BANDS)
        if apart:
            ranges = (f"{one.label} {_range_of(one)}" for one in apart)
            axis.set_title("lower: " + ", ".join(ranges), loc="right", fontsize=7, color=FAINT)
        if panel.points:
            axis.plot(
                *np.transpose(panel.points), "*", color=BLACK, markersize=11, label="published",
                markeredgecolor="white", markeredgewidth=0.7, zorder=5,
            )  # fmt: skip
        if panel.level is not None:
            axis.axhline(panel.level, color=BLACK, linestyle=":", linewidth=1.2, label="published")
        if panel.logarithmic:
            axis.set_xscale("log")
            places = sorted(
                {
                    x
                    for curve in panel.curves
                    for x, y in zip(curve.x, curve.y, strict=True)
                    if y is not None
                }
            )
            plain_ticks(axis.xaxis, places if len(places) < _FEW_PLACES else ())
        axis.set_title(_plain(panel.title))
        axis.set_xlabel(_plain(panel.x_label))
        axis.set_ylabel(_plain(panel.y_label))
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    _legend_below(figure, axes, [curve.label for panel in panels for curve in panel.curves])
    return figure


def _draw_curve(axis: Any, curve: Curve, number: int, band: bool) -> None:
    """Draw one line; the spread over seeds as a band, if it is wanted."""
    there = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if y is not None]
    if not there:
        return
    x = np.array([place for place, _ in there])
    mean = np.array([one.mean for _, one in there])
    spread = np.array([one.spread or 0.0 for _, one in there])
    few = len(x) < 15
    axis.plot(
        x, mean, color=curve.colour, linewidth=curve.width, label=curve.label,
        linestyle="--" if curve.dashed else "-" if few else _DASHES[number % len(_DASHES)],
        marker=MARKERS[number % len(MARKERS)] if few else "", markersize=3.5,
        markerfacecolor="white" if curve.hollow or curve.dashed else curve.colour,
        markeredgewidth=0.8,
    )  # fmt: skip
    if band and spread.any():
        axis.fill_between(
            x, mean - spread, mean + spread, color=curve.colour, alpha=0.18, linewidth=0
        )


def _without_outliers(curves: Sequence[Curve]) -> tuple[list[Curve], list[Curve]]:
    """Return the curves to draw, and those so much lower that they would squeeze the others.

    Their ranges are written above the panel.
    """
    shown = [curve for curve in curves if _means(curve)]
    apart: list[Curve] = []
    while len(shown) > 2:
        lowest = min(shown, key=lambda curve: max(_means(curve)))
        rest = [curve for curve in shown if curve is not lowest]
        if _extent(rest) > _OUTLIER * _extent(shown):
            break
        shown = rest
        apart.append(lowest)
    return shown, apart


def _means(curve: Curve) -> list[float]:
    return [one.mean for one in curve.y if one is not None]


def _extent(curves: Sequence[Curve]) -> float:
    """Return the length of the y-axis that curves need."""
    values = [value for curve in curves for value in _means(curve)]
    return max(values) - min(values)


def _range_of(curve: Curve) -> str:
    return f"{min(_means(curve)):.1f} to {max(_means(curve)):.1f}"


def plain_ticks(axis: Any, places: Sequence[float] = ()) -> None:
    """Label a logarithmic axis with plain numbers: at these places, or at powers of ten."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    if places:
        axis.set_ticks(list(places))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _plain(text: str) -> str:
    """Return text without the marks of Markdown."""
    return drawable(text.replace("`", ""))


def _legend_below(figure: Any, axes: Any, order: Sequence[str] = ()) -> None:
    """Add one legend for all panels, each label once, first those of an order."""
    found: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    width = figure.get_size_inches()[0]
    figure.tight_layout()
    found = {label: found[label] for label in (*order, *found) if label in found}
    if found:
        longest = max(map(len, found))
        columns = max(1, min(len(found), int(width / (0.5 + 0.075 * longest))))
        figure.legend(
            found.values(), found.keys(), ncols=columns, loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
        )  # fmt: skip


# -- walks ---------------------------------------------------------------------------------------


@styled()
def toy_plot(
    steps: Sequence[ToyStep], settled: dict[str, tuple[list[int], list[list[float]]]]
) -> Any:
    """Draw the toy graph, its occupation vector after each of the first steps, and over time."""
    across = max(len(steps) + 1, 2)
    figure = new_figure(2.1 * across, 5.4)
    above, below = figure.subfigures(2, 1)
    panels = above.subplots(1, across, width_ratios=[1.2, *[1.0] * (across - 1)])
    _draw_toy_graph(panels[0])
    for axis, step in zip(panels[1:], steps, strict=False):
        _draw_toy_step(axis, step)
        axis.sharey(panels[1])
    panels[1].set_ylabel("share of time w(n)")
    handles, labels = panels[1].get_legend_handles_labels()
    above.legend(handles, labels, ncols=len(labels), loc="outside upper right")
    panels = below.subplots(1, max(len(settled), 1), sharey=True, squeeze=False)[0]
    for axis, (title, (x, vectors)) in zip(panels, settled.items(), strict=False):
        _draw_settling(axis, x, vectors)
        axis.set_title(title)
    panels[0].set_ylabel("share of time w(n)")
    return figure


def _draw_toy_step(axis: Any, step: ToyStep) -> None:
    """Draw the shares of time of the five nodes before a move, and the scores of neighbours."""
    here, nearby = step.path[-1], step.divergences["kl"]
    kinds = {
        "the walk is here": (BLUE, [here]),
        "neighbours, with their scores Q; the next node in bold": (ORANGE, list(nearby)),
        "other nodes": (GREY, [node for node in range(1, 6) if node not in (here, *nearby)]),
    }
    for label, (colour, nodes) in kinds.items():
        heights = [step.occupation[node - 1] for node in nodes]
        axis.bar(nodes, heights, color=colour, width=0.7, label=label)
    for node, moved in nearby.items():
        axis.text(
            node, step.occupation[node - 1] + 0.012, f"{1 - moved:.4f}", ha="center", va="bottom",
            fontsize=7.5, weight="bold" if node == step.following else "normal", rotation=90,
        )  # fmt: skip
    axis.set_ylim(0, 0.52)
    axis.set_xticks(range(1, 6))
    axis.tick_params(axis="x", length=0)
    axis.grid(visible=False, axis="x")
    axis.set_title("path " + "→".join(map(str, step.path)))
    axis.set_xlabel("node; next: " + str(step.following) + (" (a tie)" if step.tied else ""))


def _draw_settling(axis: Any, x: Sequence[int], vectors: Sequence[Sequence[float]]) -> None:
    """Draw the share of time of each node over time, the nodes at the end of their lines."""
    ends: list[tuple[float, list[int]]] = []  # lines that end together have one label
    for node in np.argsort(vectors[-1], kind="stable").tolist():
        high = float(vectors[-1][node])
        if ends and high - ends[-1][0] < _TOGETHER:
            ends[-1][1].append(node)
        else:
            ends.append((high, [node]))
    for node, shares in enumerate(np.transpose(vectors)):
        axis.plot(x, shares, color=COLOURS[node], linewidth=2.6 - 0.35 * node)  # none is hidden
    heights = _spread_out([high for high, _ in ends], 0.035)
    for (_, nodes), high in zip(ends, heights, strict=True):
        label = ("nodes " if len(nodes) > 1 else "node ") + ", ".join(
            str(node + 1) for node in sorted(nodes)
        )
        axis.annotate(
            label, (1.0, high), xycoords=axis.get_yaxis_transform(), xytext=(3, 0),
            textcoords="offset points", va="center", fontsize=8,
            color=COLOURS[nodes[0]] if len(nodes) == 1 else BLACK,
        )  # fmt: skip
    axis.set_xscale("log")
    axis.set_xlim(x[0], x[-1] * 1.02)
    plain_ticks(axis.xaxis)
    axis.set_ylim(0, 0.55)
    axis.set_xlabel("step n")


def _spread_out(heights: Sequence[float], gap: float) -> list[float]:
    """Return heights for labels near the given ones, no two closer than the gap."""
    placed: dict[int, float] = {}
    lowest = -np.inf
    for number in np.argsort(heights, kind="stable").tolist():
        lowest = placed[number] = max(heights[number], lowest + gap)
    return [placed[number] for number in range(len(heights))]


def _draw_toy_graph(axis: Any) -> None:
    """Draw the five nodes, and the edges that the caption names."""
    for a, b in TOY_EDGES:
        x, y = zip(_TOY_PLACES[a], _TOY_PLACES[b], strict=True)
        axis.plot(x, y, color=GREY, linewidth=1.5, zorder=1)
    for node, place in _TOY_PLACES.items():
        axis.scatter(*place, s=330, color="white", edgecolor=BLUE, linewidth=1.6, zorder=2)
        axis.text(*place, str(node), ha="center", va="center", zorder=3)
    axis.set_xlim(-0.4, 2.3)
    axis.set_ylim(-0.5, 1.5)
    axis.set_aspect("equal")
    axis.axis("off")
    axis.set_title("the graph")


@styled()
def stuck_plot(frequencies: dict[str, dict[int, list[int]]]) -> Any:
    """Draw how often each node was visited in the last hundred steps, a panel for each walk."""
    across = min(3, len(frequencies))
    rows = -(-len(frequencies) // across)
    figure = new_figure(3.4 * across, 2.5 * rows, layout=None)
    axes = figure.subplots(rows, across, squeeze=False, sharex=True, sharey=True)
    for axis, (title, steps) in zip(axes.flat, frequencies.items(), strict=False):
        for place, ((step, counts), colour, marker) in enumerate(
            zip(steps.items(), (SKY, ORANGE, BLUE), "o^s", strict=False)
        ):
            axis.plot(
                np.arange(1, len(counts) + 1), counts, color=colour, marker=marker, markersize=3,
                linewidth=1.3, label=f"after {step:,} steps",
            )  # fmt: skip
            axis.text(
                0.97, 0.95 - 0.11 * place, f"{len(counts)} node{'s' * (len(counts) > 1)}",
                color=colour, fontsize=8, ha="right", va="top", transform=axis.transAxes,
            )  # fmt: skip
        axis.set_xscale("log")
        axis.set_yscale("log")
        plain_ticks(axis.xaxis)
        plain_ticks(axis.yaxis)
        axis.set_title(title)
    for axis in axes[-1]:
        axis.set_xlabel("node, the most frequent first")
    for axis in axes[:, 0]:
        axis.set_ylabel("visits in the last 100 steps")
    for axis in axes.flat[len(frequencies) :]:
        axis.set_visible(False)
    _legend_below(figure, axes)
    return figure
