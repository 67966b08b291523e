"""Figures of scores. matplotlib is imported only when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..plotting.style import (
    BLACK,
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    MARKERS,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    STYLE,
    YELLOW,
    matplotlib,
)
from .tables import TableEntry
from .toy import TOY_EDGES, ToyStep

_LOOK: dict[Any, Any] = {**STYLE, "savefig.bbox": "tight"}  # legends are below the axes
_TOY_PLACES = {1: (0.0, 1.0), 3: (0.0, 0.0), 4: (1.0, 0.0), 5: (1.0, 1.0), 2: (1.9, 0.0)}


def pyplot() -> Any:
    """Return pyplot, set to draw to files; InputError, with what to install, if it is missing."""
    package = matplotlib()
    import matplotlib.pyplot as plt

    plt.rcParams.update(package.rcParamsDefault)
    package.use("Agg")
    plt.rcParams.update(_LOOK)
    return plt


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
    """Return colour, dashes and width for methods by their groups; reinforced walks stand out."""
    hues = {
        "baseline": (ORANGE, SKY, GREEN, PURPLE, GREY, BLACK, YELLOW),
        "paper": (BLUE,),
        "ours": (RED,),
        "own": (BLACK,),
    }
    styles, met = [], dict.fromkeys(hues, 0)
    for group in groups:
        turn, place = divmod(met[group], len(hues[group]))
        met[group] += 1
        width = 1.1 if group == "baseline" else 2.0
        styles.append({"colour": hues[group][place], "dashed": turn % 2 == 1, "width": width})
    return styles


def colours(labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each label."""
    return {label: COLOURS[number % len(COLOURS)] for number, label in enumerate(labels)}


# -- tables as pictures --------------------------------------------------------------------------


def dot_plot(panels: Sequence[Dots], x_label: str, across: int = 2) -> Any:
    """Draw rows of dots, one panel beside the other."""
    plt = pyplot()
    rows = -(-len(panels) // across)
    across = min(across, len(panels))
    height = 0.9 + 0.24 * max(len(panel.labels) for panel in panels)
    figure, axes = plt.subplots(
        rows, across, figsize=(1.9 + 3.3 * across, height * rows + 0.5), squeeze=False, sharey="row"
    )
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
        axis.set_yticks(places, panel.labels)
        axis.set_ylim(len(places) - 0.4, -0.6)
        axis.set_title(panel.title)
        axis.set_xlabel(x_label)
        axis.tick_params(axis="y", length=0)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    _legend_below(figure, axes)
    return figure


# -- curves --------------------------------------------------------------------------------------


def curve_plot(
    panels: Sequence[Panel], across: int = 3, size: tuple[float, float] = (3.5, 2.9)
) -> Any:
    """Draw lines with the spread over seeds as a band, and the paper's points."""
    plt = pyplot()
    rows = -(-len(panels) // across)
    across = min(across, len(panels))
    figure, axes = plt.subplots(
        rows, across, figsize=(size[0] * across, size[1] * rows), squeeze=False
    )
    for axis, panel in zip(axes.flat, panels, strict=False):
        for number, curve in enumerate(panel.curves):
            there = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if y is not None]
            if not there:
                continue
            x = np.array([place for place, _ in there])
            mean = np.array([one.mean for _, one in there])
            spread = np.array([one.spread or 0.0 for _, one in there])
            axis.plot(
                x, mean, color=curve.colour, linestyle="--" if curve.dashed else "-",
                marker=MARKERS[number % len(MARKERS)] if len(x) < 15 else "", markersize=3.5,
                linewidth=curve.width, label=curve.label,
            )  # fmt: skip
            if spread.any():
                axis.fill_between(
                    x, mean - spread, mean + spread, color=curve.colour, alpha=0.18, linewidth=0
                )
        if panel.points:
            axis.plot(
                *np.transpose(panel.points),
                "*",
                color=BLACK,
                markersize=9,
                label="published",
                zorder=5,
            )
        if panel.level is not None:
            axis.axhline(panel.level, color=BLACK, linestyle=":", linewidth=1.2, label="published")
        if panel.logarithmic:
            axis.set_xscale("log")
        axis.set_title(panel.title)
        axis.set_xlabel(panel.x_label)
        axis.set_ylabel(panel.y_label)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    _legend_below(figure, axes)
    return figure


def _legend_below(figure: Any, axes: Any) -> None:
    """Add one legend for all panels, each label once."""
    found: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    width = figure.get_size_inches()[0]
    figure.tight_layout()
    if found:
        longest = max(map(len, found))
        columns = max(1, min(len(found), int(width / (0.5 + 0.075 * longest))))
        figure.legend(
            found.values(), found.keys(), ncols=columns, loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
        )  # fmt: skip


# -- walks ---------------------------------------------------------------------------------------


def toy_plot(
    steps: Sequence[ToyStep], settled: dict[str, tuple[list[int], list[list[float]]]]
) -> Any:
    """Draw the toy graph, its occupation vector after each of the first steps, and over time."""
    plt = pyplot()
    across = max(len(steps) + 1, 2)
    figure = plt.figure(figsize=(2.3 * across, 5.6))
    grid = figure.add_gridspec(2, 1, hspace=0.55)
    top = grid[0].subgridspec(1, across, wspace=0.35)
    _draw_toy_graph(figure.add_subplot(top[0]))
    for place, step in enumerate(steps, start=1):
        axis = figure.add_subplot(top[place])
        tint = [ORANGE if node in step.divergences["kl"] else SKY for node in range(1, 6)]
        tint[step.path[-1] - 1] = BLUE
        axis.bar(range(1, 6), step.occupation, color=tint, width=0.7)
        for node, moved in step.divergences["kl"].items():
            high = step.occupation[node - 1]
            weight = "bold" if node == step.following else "normal"
            axis.text(
                node, high + 0.01, f"{1 - moved:.4f}", ha="center", fontsize=6.5, weight=weight
            )
        axis.set_ylim(0, 0.52)
        axis.set_xlim(0.1, 5.9)
        axis.set_xticks(range(1, 6))
        axis.grid(visible=False)
        axis.set_title("→".join(map(str, step.path)), fontsize=9)
        axis.set_xlabel(f"node; next: {step.following}" + (" (a tie)" if step.tied else ""))
        if place == 1:
            axis.set_ylabel("w(n), and Q above neighbours")
    bottom = grid[1].subgridspec(1, max(len(settled), 1), wspace=0.25)
    for place, (title, (x, vectors)) in enumerate(settled.items()):
        axis = figure.add_subplot(bottom[place])
        heights = _spread_out([float(share) for share in vectors[-1]], 0.035)
        for node, (shares, colour, high) in enumerate(
            zip(np.transpose(vectors), COLOURS, heights, strict=False), start=1
        ):
            axis.plot(x, shares, color=colour, linewidth=1.4)
            axis.text(x[-1] * 1.2, high, str(node), color=colour, va="center", fontsize=8)
        axis.set_xscale("log")
        axis.set_ylim(0, 0.55)
        axis.set_title(title)
        axis.set_xlabel("step n")
        if place == 0:
            axis.set_ylabel("w(n) of each node")
    return figure


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
    axis.set_title("the toy graph")


def stuck_plot(frequencies: dict[str, dict[int, list[int]]]) -> Any:
    """Draw how often each node was visited in the last hundred steps, a panel for each walk."""
    plt = pyplot()
    across = min(3, len(frequencies))
    rows = -(-len(frequencies) // across)
    figure, axes = plt.subplots(
        rows, across, figsize=(3.4 * across, 2.5 * rows), squeeze=False, sharex=True, sharey=True
    )
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
        axis.set_title(title)
    for axis in axes[-1]:
        axis.set_xlabel("node, the most frequent first")
    for axis in axes[:, 0]:
        axis.set_ylabel("visits in the last 100 steps")
    for axis in axes.flat[len(frequencies) :]:
        axis.set_visible(False)
    _legend_below(figure, axes)
    return figure
