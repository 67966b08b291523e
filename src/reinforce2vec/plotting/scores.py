"""Scores of evaluations, with their spread: figures and tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import isnan
from typing import Any

import numpy as np

from .._util.errors import InputError
from ..evaluation.results import HEADS, Evaluation
from .style import COLOURS, MARKERS, drawable, new_figure, styled


def evaluation_scores(results: Any, metrics: Any = None) -> Any:
    """Draw scores of one or several evaluations, with the spread over their seeds.

    Scores for several shares of training nodes become curves with a band of one standard
    deviation; others dots with bars of one standard deviation.

    Parameters
    ----------
    results : Evaluation, or dict {name: Evaluation}
        What :func:`reinforce2vec.evaluate_link_prediction` or
        :func:`reinforce2vec.evaluate_node_classification` returned; several must be of one task.
    metrics : list of str, optional
        Which of "auc", "ap", "micro" and "macro" get a panel; by default all that were measured.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> import reinforce2vec as r2v
    >>> groups = r2v.planted_groups(200, 3)
    >>> vectors = r2v.Reinforce2Vec(walks_per_node=5).fit_transform(groups.graph)
    >>> found = r2v.evaluate_node_classification(vectors, groups.labels, train=[0.1, 0.5], seeds=2)
    >>> figure = r2v.plotting.evaluation_scores({"reinforced": found})
    >>> [panel.get_ylabel() for panel in figure.axes]
    ['micro-F1, %', 'macro-F1, %']
    """
    named = _named_results(results)
    ways, measured = _layout_of(named)
    shown = measured if metrics is None else list(metrics)
    for metric in shown:
        if metric not in measured:
            raise InputError(f"metrics are {', '.join(measured)}, there is no {metric!r}")
    curves = len(ways) > 1 and all(isinstance(way, (int, float)) for way in ways)
    height = 2.6 if curves else 0.9 + len(ways) * (0.12 + 0.17 * len(named))
    with styled():
        figure = new_figure(0.6 + 2.7 * len(shown), height)
        panels = figure.subplots(1, len(shown), squeeze=False, sharey=not curves)[0]
        for number, (panel, metric) in enumerate(zip(panels, shown, strict=True)):
            head = f"{HEADS.get(metric, metric)}, %"
            if curves:
                _draw_curves(panel, named, ways, metric)
                panel.set_ylabel(head)
            else:
                _draw_dots(panel, named, ways, metric)
                panel.set_xlabel(head)
                panel.tick_params(axis="y", length=0, labelleft=number == 0)
        if len(named) > 1 or "" not in named:
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


def evaluation_table(results: Any) -> str:
    """Return scores of one or several evaluations as a Markdown table, the best in bold.

    Parameters
    ----------
    results : Evaluation, or dict {name: Evaluation}
        As for :func:`evaluation_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> import reinforce2vec as r2v
    >>> sides = np.repeat([0, 1], 50)
    >>> vectors = {"good": sides[:, None] * 2.0 - 1, "none": np.ones((100, 1))}
    >>> found = {
    ...     name: r2v.evaluate_node_classification(one, sides, seeds=2)
    ...     for name, one in vectors.items()
    ... }
    >>> print(r2v.plotting.evaluation_table(found))
    |  |  | micro-F1 | macro-F1 |
    |---|---|---|---|
    | 50% | good | **100.0 ± 0.0** | **100.0 ± 0.0** |
    | 50% | none | 46.0 ± 2.8 | 31.5 ± 1.3 |
    """
    named = _named_results(results)
    ways, metrics = _layout_of(named)
    one = next(iter(named.values()))
    several = list(named) != [""]
    head = ["", *[""] * several, *(HEADS.get(name, name) for name in metrics)]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for way in ways:
        best = {name: max(each.mean[way][name] for each in named.values()) for name in metrics}
        for label, result in named.items():
            cells = [one.row_name(way), *[label] * several]
            for name in metrics:
                mean, spread = result.mean[way][name], result.spread[way][name]
                text = f"{mean:.1f}" + ("" if isnan(spread) else f" ± {spread:.1f}")
                cells.append(f"**{text}**" if len(named) > 1 and mean == best[name] else text)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _named_results(results: Any) -> dict[str, Evaluation]:
    """Return evaluations by name."""
    named = dict(results) if isinstance(results, Mapping) else {"": results}
    for one in named.values():
        if not isinstance(one, Evaluation):
            raise InputError(
                "expected what evaluate_link_prediction or evaluate_node_classification returned, "
                f"or a dict of such by name, not {one!r}"
            )
    if not named:
        raise InputError("there are no results to show")
    return {str(name): one for name, one in named.items()}


def _layout_of(named: Mapping[str, Evaluation]) -> tuple[list[Any], list[str]]:
    """Return the rows that all evaluations have in common, and the metrics."""
    means = [one.mean for one in named.values()]
    first = means[0]
    ways = [way for way in first if all(way in mean for mean in means)]
    metrics = list(next(iter(first.values())))
    if not ways or any(list(next(iter(mean.values()))) != metrics for mean in means):
        raise InputError("these results are of different tasks: compare those of one task")
    return ways, metrics


def _draw_curves(panel: Any, named: Mapping[str, Evaluation], ways: list[Any], metric: str) -> None:
    """Draw scores over shares of training nodes, one line for each result."""
    x = np.array([100 * float(way) for way in ways])
    for number, (name, result) in enumerate(named.items()):
        mean, spread = _series(result, ways, metric)
        look: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)]}
        panel.fill_between(x, mean - spread, mean + spread, alpha=0.18, linewidth=0, **look)
        look |= {"marker": MARKERS[number % len(MARKERS)], "markersize": 4, "linewidth": 1.4}
        panel.plot(x, mean, label=drawable(name), **look)
    panel.set_xlabel("training nodes, %")


def _draw_dots(panel: Any, named: Mapping[str, Evaluation], ways: list[Any], metric: str) -> None:
    """Draw scores as rows of dots, those of several results below each other."""
    step = 0.7 / len(named)
    for number, (name, result) in enumerate(named.items()):
        mean, spread = _series(result, ways, metric)
        places = np.arange(len(ways)) + (number - (len(named) - 1) / 2) * step
        look: dict[str, Any] = {
            "fmt": MARKERS[number % len(MARKERS)],
            "color": COLOURS[number % len(COLOURS)],
        }
        look |= {"markersize": 4.5, "elinewidth": 1.1, "capsize": 2}
        panel.errorbar(mean, places, xerr=spread, label=drawable(name), **look)
    one = next(iter(named.values()))
    panel.set_yticks(range(len(ways)), [one.row_name(way) for way in ways])
    panel.set_ylim(len(ways) - 0.5, -0.5)
    panel.grid(visible=False, axis="y")


def _series(result: Evaluation, ways: list[Hashable], metric: str) -> tuple[Any, Any]:
    """Return means and spreads; the spread of a single seed is 0."""
    mean = np.array([result.mean[way][metric] for way in ways])
    spread = np.array([result.spread[way][metric] for way in ways])
    return mean, np.nan_to_num(spread)
