"""The figure of a search: scores over time, importances, and scores by parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..evaluation.results import HEADS
from ..plotting.style import BLACK, BLUE, FAINT, GREY, INK, ORANGE, drawable, new_figure, styled
from ._importance import lowest_that_counts
from ._trials import Trial
from .space import SPACE, SearchedParameter, spelled

_FAR_BELOW = 1.5  # lower scores are drawn at the bottom: a few must not compress the others
_PANELS = 3  # parameters that scores are drawn against
_FIRST = ("smooth", "walk", "rate")  # which, if importances are unknown
_KINDS = ((False, "not smoothed", BLUE, "o"), (True, "smoothed", ORANGE, "D"))
_Values = NDArray[np.float64]


class SearchStory(NamedTuple):
    """What the figure shows of a search."""

    trials: Sequence[Trial]
    default: Trial
    best: Trial
    importances: Mapping[str, float]  # may be empty
    metric: str
    title: str


def search_figure(story: SearchStory) -> Any:
    """Return the figure: how the search went, what mattered, and scores by parameter."""
    with styled():
        figure = new_figure(7.2, 4.9)
        upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.15))
        if story.importances:
            left, right = upper.subplots(1, 2, width_ratios=(2, 1))
            _draw_progress(left, story)
            _draw_shares(right, story)
        else:
            _draw_progress(upper.subplots(), story)
        chosen = list(story.importances or _FIRST)[:_PANELS]
        axes = lower.subplots(1, _PANELS, sharey=True)
        for axis, name in zip(axes, chosen, strict=True):
            _draw_scores(axis, story, next(one for one in SPACE if one.name == name))
        axes[0].set_ylabel(f"{HEADS[story.metric]}, validation, %")
        handles = dict(zip(*axes[0].get_legend_handles_labels()[::-1], strict=True))
        lower.legend(
            handles.values(), handles.keys(), ncols=len(handles), loc="outside lower center"
        )
    return figure


def _draw_progress(axis: Any, story: SearchStory) -> None:
    """Draw every trial, and the best so far, over the minutes."""
    done = [trial for trial in story.trials if trial.score is not None]
    minutes = np.array([trial.at for trial in done]) / 60
    scores = np.array([trial.score for trial in done])
    low = lowest_that_counts(scores, _FAR_BELOW)
    _draw_points(axis, minutes, scores, [trial.setting["smooth"] for trial in done], low)
    best = np.maximum.accumulate(scores)
    axis.step(minutes, np.maximum(best, low), color=BLACK, where="post", linewidth=1.4)
    default = story.default.score or 0.0
    name = "default" if default >= low else f"default: {default:.2f}"  # below the axis
    axis.axhline(max(default, low), color=GREY, linestyle="--", linewidth=1.2, zorder=1)
    above, below = (2, "bottom"), (-2, "top")
    for height, text, colour, (away, anchor) in (
        (best[-1], "best so far", INK, above),
        (default, name, FAINT, below if default >= low else above),
    ):
        axis.annotate(
            text, (1, max(height, low)), (-2, away), xycoords=("axes fraction", "data"), zorder=5,
            textcoords="offset points", ha="right", va=anchor, fontsize=7.5, color=colour,
        )  # fmt: skip
    axis.set_xlim(0, minutes[-1] * 1.02)
    axis.set_ylim(*_limits(scores, low))
    axis.set_xlabel("minutes")
    axis.set_ylabel(f"{HEADS[story.metric]}, validation, %")
    axis.set_title(drawable(story.title))


def _draw_shares(axis: Any, story: SearchStory) -> None:
    """Draw a bar for each parameter, the most important on top."""
    labels = {one.name: one.label for one in SPACE}
    names, shares = list(story.importances), list(story.importances.values())
    places = np.arange(len(names))
    axis.barh(places, shares, color=BLUE, height=0.65)
    for place, share in zip(places, shares, strict=True):
        axis.text(share, place, f" {share:.0%}", va="center", fontsize=7.5)
    axis.set_yticks(places, [labels[name] for name in names])
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlim(0, 1.18 * max(shares))
    axis.set_xticks([])
    axis.grid(visible=False)
    axis.spines["bottom"].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.set_title("importance")


def _draw_scores(axis: Any, story: SearchStory, parameter: SearchedParameter) -> None:
    """Draw scores by the values of one parameter."""
    done = [trial for trial in story.trials if trial.score is not None]
    scores = np.array([trial.score for trial in done])
    low = lowest_that_counts(scores, _FAR_BELOW)
    values = [trial.setting[parameter.name] for trial in done]
    shown = [value for value in parameter.values if value in values]
    at = np.array([shown.index(value) for value in values], float)
    _draw_points(axis, at + _jitter(at), scores, [trial.setting["smooth"] for trial in done], low)
    best = done.index(story.best)
    axis.plot(
        *(at[best] + _jitter(at)[best], scores[best], "*"),
        color=BLACK, markersize=10, markeredgecolor="white", zorder=6, label="best", linestyle="",
    )  # fmt: skip
    own: dict[str, dict[Any, str]] = {
        "smooth": {False: "no", True: "yes"},
        "walk": {"released": "\nreleased"},  # beside long names
    }
    words = own.get(parameter.name, {})
    named = [words.get(value, spelled(value)).replace("-", "-\n") for value in shown]
    axis.set_xticks(range(len(shown)), named, fontsize=7 if parameter.name == "walk" else 8)
    axis.set_xlim(-0.6, len(shown) - 0.4)
    axis.set_ylim(*_limits(scores, low))
    axis.grid(visible=False, axis="x")
    times = ", times the usual" if parameter.name == "rate" else ""
    axis.set_title(f"{parameter.label}{times}")


def _draw_points(axis: Any, x: _Values, scores: _Values, smoothed: list[bool], low: float) -> None:
    """Draw trials as points; those far below the others are triangles at the bottom."""
    smooth, below = np.array(smoothed), scores < low
    for kind, label, colour, marker in _KINDS:
        for group, style in ((~below, marker), (below, "v")):
            which = (smooth == kind) & group
            axis.scatter(
                x[which], np.maximum(scores[which], low), s=16, marker=style, color=colour,
                alpha=0.8, linewidth=0, label=label if style == marker else None, zorder=3,
            )  # fmt: skip
    if below.any():  # in the legend of its own, in no colour
        axis.scatter([], [], s=16, marker="v", color=GREY, linewidth=0, label="below the axis")


def _limits(scores: _Values, low: float) -> tuple[float, float]:
    """Return the range of the axis of scores."""
    room = 0.08 * max(float(scores.max()) - low, 1e-3)
    return low - room, float(scores.max()) + 1.5 * room


def _jitter(at: _Values) -> _Values:
    """Return small steps to the sides, so that points at one place do not overlap."""
    moved = np.zeros(len(at))
    for place in np.unique(at):
        here = np.flatnonzero(at == place)
        moved[here] = 0.22 * np.sin(2.4 * np.arange(len(here)))
    return moved
