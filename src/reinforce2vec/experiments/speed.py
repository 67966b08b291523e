"""Quality against seconds of embedding: ours with more and more walks, and the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ..plotting.style import RED
from . import paper
from .cells import (
    FULL,
    LINK_PREDICTION,
    LINK_TIMING,
    NODE_CLASSIFICATION,
    NODE_TIMING,
    TABLES,
    Cell,
)
from .comparisons import PAPERS_PROTOCOL, legend, widened
from .figures import Curve, Panel, curve_plot, method_styles
from .methods import EmbeddingMethod, compared, default_method
from .scale import Scale
from .tables import Table, TableEntry
from .views import Picture, Results, View, best_links, group_entry

_SEED = 0  # that is timed; the time does not depend on it
_THREADS = 2
_WALKS = (2, 5, 10, 20, 40)
_BASELINES = ("deepwalk", "line", "prone", "netmf", "hope", "grarep")


class _Point(NamedTuple):
    """The quality of some vectors, and the seconds that it took to make them."""

    label: str
    seconds: float
    quality: TableEntry


def speed_cells(seeds: Sequence[int], scale: Scale) -> list[Cell]:
    """Return cells of our default with several amounts of walks, and of the baselines.

    Those of `wide` are the same cells. Seconds come from others, which run one at a time.
    """
    wider = widened(scale)
    return [
        cell
        for task, graph in _places(wider)
        for method in (*_ours().values(), *_others(wider))
        for cell in (
            *_quality_cells(task, graph, method, seeds, wider),
            _timing_cell(task, graph, method, wider),
        )
    ]


def speed(results: Results, seeds: Sequence[int], scale: Scale) -> View:
    """Show quality against seconds, and the seconds that it takes to reach the paper's number."""
    wider = widened(scale)
    view = View(
        notes=[
            legend(seeds),
            f"{wider.dimensions} dimensions. Seconds are those of one embedding with {_THREADS} "
            "threads, one at a time; reading the graph, compiling and scoring do not count. "
            "Smoothed vectors take the seconds of the smoothing, too. AUC is that of protocol "
            f"`{PAPERS_PROTOCOL}`, with the operator that validation chose.",
        ]
    )
    ours, others = _ours(), _others(wider)
    styles = method_styles([method.group for method in others])
    reached = Table("Seconds to reach the paper's number", ["method"])
    rows: dict[str, list[Any]] = {}
    panels = []
    for task, graph in _places(wider):
        measure = "AUC" if task == LINK_PREDICTION else "micro F1"
        title, target = wider.title(graph), _published(task, graph)
        find = partial(_points, task, graph, seeds=seeds, scale=wider, results=results)
        named = {
            "reinforce2vec, default": [
                point._replace(label=f"{walks} walks per node")
                for walks, method in ours.items()
                for point in find(method)[-1:]
            ],
            **{method.label: find(method) for method in others},
        }
        looks = [{"colour": RED, "width": 2.0}, *styles]
        curves = [
            Curve(
                label,
                [point.seconds for point in points],
                [point.quality for point in points],
                **look,
            )
            for (label, points), look in zip(named.items(), looks, strict=True)
        ]
        panels.append(
            Panel(
                f"{title}: {measure}",
                "seconds",
                f"{measure}, %",
                curves,
                logarithmic=True,
                level=target,
            )
        )
        view.tables.append(_quality_table(f"{title}: {measure} and seconds", named))
        if target is not None:
            reached.columns.append(f"{title}, {measure} {target:.1f}")
            for label, points in named.items():
                rows.setdefault(label, []).append(_time_to_reach(points, target))
    for label, entries in rows.items():
        reached.add(label, entries)
    reached.note = "The paper's number is that of reinforce2vec, with its best operator."
    view.tables.insert(0, reached)
    caption = (
        "Quality against seconds of embedding, raw and smoothed; the dotted line is the paper's "
        "number."
    )
    view.pictures.append(Picture("speed", caption, partial(curve_plot, panels)))
    return view


def _places(scale: Scale) -> list[tuple[str, str]]:
    """Return tasks and graphs."""
    return [
        *((LINK_PREDICTION, graph) for graph in scale.link_graphs),
        *((NODE_CLASSIFICATION, graph) for graph in scale.classification_graphs),
    ]


def _ours() -> dict[int, EmbeddingMethod]:
    """Return our default by walks per node."""
    usual = default_method()
    return {
        walks: usual
        if walks == usual.parameters["walks_per_node"]
        else default_method(f"default-{walks}", walks_per_node=walks)
        for walks in _WALKS
    }


def _others(scale: Scale) -> list[EmbeddingMethod]:
    """Return the baselines, and the user's estimator if there is one."""
    return [one for one in compared(scale) if one.name in _BASELINES or one.group == "own"]


def _quality_cells(
    task: str, graph: str, method: EmbeddingMethod, seeds: Sequence[int], scale: Scale
) -> list[Cell]:
    """Return the cells that score vectors: those of `wide`."""
    scope = FULL if task == LINK_PREDICTION else TABLES
    return [Cell(task, graph, method, seed, scale, scope) for seed in seeds]


def _timing_cell(task: str, graph: str, method: EmbeddingMethod, scale: Scale) -> Cell:
    """Return the cell that times the embedding."""
    timing = LINK_TIMING if task == LINK_PREDICTION else NODE_TIMING
    return Cell(timing, graph, method, _SEED, replace(scale, threads=_THREADS))


def _points(
    task: str,
    graph: str,
    method: EmbeddingMethod,
    *,
    seeds: Sequence[int],
    scale: Scale,
    results: Results,
) -> list[_Point]:
    """Return raw and smoothed vectors of a method, as far as it has them."""
    found = results.by_seed(_quality_cells(task, graph, method, seeds, scale))
    seconds = results.scores(_timing_cell(task, graph, method, scale)) or {}
    points = []
    for kind in seconds:
        if task == LINK_PREDICTION:
            quality = best_links({"": found}, PAPERS_PROTOCOL, (kind,)).values["auc"]
        else:
            quality = group_entry(list(found.values()), kind, "micro")
        if quality is not None:
            points.append(_Point(kind, seconds[kind], quality))
    return points


def _published(task: str, graph: str) -> float | None:
    """Return the paper's number for reinforce2vec on a graph; None if it has none."""
    if task == LINK_PREDICTION:
        return max(paper.TABLE_4.get(graph, {}).get("reinforce2vec", {}).values(), default=None)
    return paper.TABLE_7.get(graph, {}).get("reinforce2vec", {}).get("micro")


def _time_to_reach(points: Sequence[_Point], target: float) -> str | None:
    """Return the least seconds of vectors that are as good as the paper's, and of which."""
    if not points:
        return None
    good = [point for point in points if point.quality.mean >= target]
    if not good:
        return f"not reached: {max(point.quality.mean for point in points):.1f}"
    first = min(good, key=lambda point: point.seconds)
    return f"{first.seconds:.2f} ({first.label})"


def _quality_table(title: str, named: dict[str, list[_Point]]) -> Table:
    """Return all points of a graph, with their seconds."""
    table = Table(title, ["method", "seconds", "quality"])
    for label, points in named.items():
        for point in points:
            seconds = f"{point.seconds:.2f}"
            table.add(f"{label}, {point.label}", [seconds, point.quality])
    return table
