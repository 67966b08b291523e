"""Figures, drawn from the numbers of the tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from cells import TOY_EDGES

BLUE, ORANGE, GREY, BLACK = "#015aab", "#a96c07", "#80868b", "#1c131a"
COLOURS = (BLUE, ORANGE, "#11966b", "#8e4d73", "#0398e0", "#a83201", BLACK, "#9d9202")
MORE_COLOURS = (*COLOURS, "#790003", "#e95670", "#d362c5", "#7957d5", "#6e024d", GREY)
MARKERS = "osD^vP*X"
TOY_PLACES = {1: (0.0, 1.0), 3: (0.0, 0.0), 4: (1.0, 0.0), 5: (1.0, 1.0), 2: (1.9, 0.0)}
STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "axes.prop_cycle": plt.cycler(color=MORE_COLOURS),
}


def save(folder: Path, name: str, kind: str, data: tuple[Any, ...]) -> None:
    """Draw a figure of a kind, and write it."""
    with plt.rc_context(STYLE):
        figure = DRAWN[kind](*data)
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=160, bbox_inches="tight", metadata={"Software": None})
        plt.close(figure)


def dots(panels: dict[str, dict[str, pd.Series]], x_label: str, across: int) -> Any:
    """Draw rows of dots: ours, raw and smoothed, with their spread, and the paper's scores."""
    rows = -(-len(panels) // across)
    labels = list(
        dict.fromkeys(
            label for kinds in panels.values() for one in kinds.values() for label in one.index
        )
    )
    height = 0.9 + 0.24 * len(labels)
    figure, axes = plt.subplots(
        rows, across, figsize=(1.9 + 3.3 * across, height * rows), squeeze=False, sharey=True
    )
    looks = {"raw": ("ours", BLUE, "o", 0.0), "smoothed": ("ours, smoothed", ORANGE, "D", 0.22)}
    for axis, (title, kinds) in zip(axes.flat, panels.items(), strict=False):
        for kind, (label, colour, marker, below) in looks.items():
            for place, entry in ((labels.index(k), entry) for k, entry in kinds[kind].items()):
                if entry is None:
                    continue
                look = {"fmt": marker, "color": colour, "markersize": 4.5, "elinewidth": 1}
                axis.errorbar([entry.mean], [place + below], xerr=entry.spread, label=label, **look)
                if entry.paper is not None:
                    axis.plot(
                        entry.paper, place, "|", color=BLACK, markersize=10, label="published"
                    )
        axis.set_yticks(range(len(labels)), labels)
        axis.set_ylim(len(labels) - 0.4, -0.6)
        axis.set_title(title)
        axis.set_xlabel(x_label)
    return _finished(figure, axes, len(panels))


def curves(panels: Sequence[tuple[Any, ...]], across: int, logarithmic: bool) -> Any:
    """Draw a row of a table as a line with its spread as a band, and the paper's points."""
    rows = -(-len(panels) // across)
    across = min(across, len(panels))
    figure, axes = plt.subplots(rows, across, figsize=(3.5 * across, 2.9 * rows), squeeze=False)
    for axis, (title, x_label, y_label, x, frame, points) in zip(axes.flat, panels, strict=False):
        shown, apart = _without_outliers(frame)
        for number, (label, row) in enumerate(frame.iterrows()):
            entries = [(place, one) for place, one in zip(x, row, strict=True) if one is not None]
            if label not in shown or not entries:
                continue
            places = [place for place, _ in entries]
            mean = np.array([one.mean for _, one in entries])
            spread = np.array([one.spread for _, one in entries])
            look = {"color": MORE_COLOURS[number % len(MORE_COLOURS)], "linewidth": 1.4}
            look |= {"marker": MARKERS[number % len(MARKERS)], "markersize": 3.5}
            axis.plot(places, mean, label=label, **look)
            if len(frame) <= 6 and spread.any():
                band = {"color": look["color"], "alpha": 0.18, "linewidth": 0}
                axis.fill_between(places, mean - spread, mean + spread, **band)
        for place, value in points:
            axis.plot(place, value, "*", color=BLACK, markersize=9, label="published", zorder=5)
        axis.set_title(
            title + "".join(f"\n{line}" for line in apart), fontsize=8 if apart else None
        )
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        if logarithmic:
            axis.set_xscale("log")
            _plain_ticks(axis.xaxis, x)
    return _finished(figure, axes, len(panels))


def _without_outliers(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the rows to draw, and the ranges of those so low that they would squeeze others."""
    means = {label: [one.mean for one in row if one is not None] for label, row in frame.iterrows()}
    shown, apart = {label: values for label, values in means.items() if values}, []
    while len(shown) > 2:
        lowest = min(shown, key=lambda label: max(shown[label]))
        rest = {label: values for label, values in shown.items() if label != lowest}
        if _extent(rest) > 0.65 * _extent(shown):
            break
        apart.append(f"{lowest} {min(shown[lowest]):.1f} to {max(shown[lowest]):.1f}")
        shown = rest
    return list(shown), apart


def _extent(rows: dict[str, list[float]]) -> float:
    values = [value for row in rows.values() for value in row]
    return max(values) - min(values)


def _plain_ticks(axis: Any, places: Sequence[float] = ()) -> None:
    """Label a logarithmic axis with plain numbers: at these places, or at powers of ten."""
    if places:
        axis.set_ticks(list(places))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _finished(figure: Any, axes: Any, count: int) -> Any:
    """Hide empty panels, and add one legend for all below, each label once."""
    for axis in axes.flat[count:]:
        axis.set_visible(False)
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.tight_layout()
    width, longest = figure.get_size_inches()[0], max(map(len, handles), default=1)
    columns = max(1, min(len(handles), int(width / (0.5 + 0.075 * longest))))
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
    figure.legend(handles.values(), handles.keys(), ncols=columns, **place)
    return figure


# -- walks ---------------------------------------------------------------------------------------


def toy(steps: Sequence[Any], settled: dict[str, tuple[list[int], list[list[float]]]]) -> Any:
    """Draw the toy graph, its occupation vector before each of the first moves, and over time."""
    across = len(steps) + 1
    figure = plt.figure(figsize=(2.1 * across, 5.4), layout="constrained")
    above, below = figure.subfigures(2, 1)
    panels = above.subplots(1, across)
    _draw_toy_graph(panels[0])
    for axis, step in zip(panels[1:], steps, strict=True):
        _draw_toy_step(axis, step)
    panels[1].set_ylabel("share of time w(n)")
    handles, labels = panels[1].get_legend_handles_labels()
    above.legend(handles, labels, ncols=len(labels), loc="outside upper right")
    panels = below.subplots(1, max(len(settled), 1), sharey=True, squeeze=False)[0]
    for axis, (title, (x, vectors)) in zip(panels, settled.items(), strict=False):
        for node, shares in enumerate(np.transpose(vectors)):
            look = {"color": COLOURS[node], "linewidth": 2.6 - 0.35 * node}  # none is hidden
            axis.plot(x, shares, label=f"node {node + 1}", **look)
        axis.set_xscale("log")
        _plain_ticks(axis.xaxis)
        axis.set_ylim(0, 0.55)
        axis.set_xlabel("step n")
        axis.set_title(title)
    panels[0].set_ylabel("share of time w(n)")
    panels[0].legend(fontsize=8)
    return figure


def _draw_toy_graph(axis: Any) -> None:
    for ends in TOY_EDGES:
        axis.plot(*zip(*(TOY_PLACES[end] for end in ends), strict=True), color=GREY, zorder=1)
    for node, place in TOY_PLACES.items():
        axis.scatter(*place, s=330, color="white", edgecolor=BLUE, linewidth=1.6, zorder=2)
        axis.text(*place, str(node), ha="center", va="center", zorder=3)
    axis.set_xlim(-0.4, 2.3)
    axis.set_ylim(-0.5, 1.5)
    axis.set_aspect("equal")
    axis.axis("off")
    axis.set_title("the graph")


def _draw_toy_step(axis: Any, step: Any) -> None:
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
        weight = "bold" if node == step.following else "normal"
        look = {"ha": "center", "fontsize": 7.5, "rotation": 90, "weight": weight}
        axis.text(node, step.occupation[node - 1] + 0.012, f"{1 - moved:.4f}", **look)
    axis.set_ylim(0, 0.52)
    axis.set_xticks(range(1, 6))
    axis.set_title("path " + "→".join(map(str, step.path)))
    axis.set_xlabel("node; next: " + str(step.following) + (" (a tie)" if step.tied else ""))


def convergence(moving: dict[str, tuple[list[int], list[float]]]) -> Any:
    """Draw how far a step moves the occupation vector, on logarithmic scales."""
    figure, axes = plt.subplots(figsize=(6.5, 3.8), squeeze=False)
    axis = axes[0, 0]
    for label, (x, y) in moving.items():
        axis.plot(x, y, label=label, linewidth=1.4)
    for direction in ("x", "y"):
        getattr(axis, f"set_{direction}scale")("log")
        _plain_ticks(getattr(axis, f"{direction}axis"))
    axis.set_title("PPI: how far a step moves w(n)")
    axis.set_xlabel("step n")
    axis.set_ylabel("JS distance of w(n) and w(n+1)")
    return _finished(figure, axes, 1)


def stuck(frequencies: dict[str, dict[int, list[int]]]) -> Any:
    """Draw how often each node was visited in the last hundred steps, a panel for each walk."""
    rows = -(-len(frequencies) // 3)
    figure, axes = plt.subplots(
        rows, 3, figsize=(10.2, 2.5 * rows), squeeze=False, sharex=True, sharey=True
    )
    for axis, (title, steps) in zip(axes.flat, frequencies.items(), strict=False):
        for place, (step, counts) in enumerate(steps.items()):
            look = {"color": COLOURS[(4, 1, 0)[place]], "marker": "o^s"[place], "markersize": 3}
            axis.plot(np.arange(1, len(counts) + 1), counts, label=f"after {step:,} steps", **look)
            text = f"{len(counts)} node{'s' * (len(counts) > 1)}"
            spot = {"ha": "right", "va": "top", "fontsize": 8, "transform": axis.transAxes}
            axis.text(0.97, 0.95 - 0.11 * place, text, color=look["color"], **spot)
        for direction in ("x", "y"):
            getattr(axis, f"set_{direction}scale")("log")
            _plain_ticks(getattr(axis, f"{direction}axis"))
        axis.set_title(title)
    for axis in axes[-1]:
        axis.set_xlabel("node, the most frequent first")
    for axis in axes[:, 0]:
        axis.set_ylabel("visits in the last 100 steps")
    return _finished(figure, axes, len(frequencies))


DRAWN = {"dots": dots, "curves": curves, "toy": toy, "convergence": convergence, "stuck": stuck}
