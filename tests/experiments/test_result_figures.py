"""Figures of the results can be read: series differ, ticks are plain, every colour is explained."""

from __future__ import annotations

import json
from dataclasses import replace

import matplotlib.text
import pytest
from matplotlib.colors import to_hex
from matplotlib.legend import Legend

from helpers.paths import ROOT
from reinforce2vec.experiments.catalogue import EXPERIMENTS
from reinforce2vec.experiments.figures import Curve, Panel, curve_plot, method_styles
from reinforce2vec.experiments.report import draw_picture
from reinforce2vec.experiments.scale import PAPER_SCALE
from reinforce2vec.experiments.tables import table_entry
from reinforce2vec.experiments.views import Picture, Results

STORED = ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def drawn():
    """The figures of the documentation, drawn again from the scores that are kept with it."""
    if not STORED.exists():
        pytest.skip("only the repository has the results")
    cells = json.loads((STORED / "cells.json").read_text())
    known = json.loads((STORED / "results.json").read_text())["experiments"]
    figures = {}
    for name in ("figure-1", "figure-3", "budget"):
        scale = replace(PAPER_SCALE, backend=known[name].get("backend", "cpu"))
        view = EXPERIMENTS[name].view(Results(cells), known[name]["seeds"], scale)
        figures |= {picture.name: picture.draw() for picture in view.pictures}
    for figure in figures.values():
        figure.draw_without_rendering()
    return figures


def series_of(axes):
    """How each line of some axes looks: colour, dashes, marker and its fill."""
    return [
        (
            to_hex(line.get_color()),
            str(line._unscaled_dash_pattern),
            line.get_marker(),
            to_hex(line.get_markerfacecolor()),
        )
        for line in axes.lines
        if line.get_label()[0] != "_"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure-1", "figure-1-convergence", "figure-3", "budget"])
def test_no_two_series_look_alike_and_text_has_no_marks_of_markdown(drawn, name):
    for axes in drawn[name].axes:
        series = series_of(axes)
        assert len(set(series)) == len(series)
    for text in drawn[name].findobj(matplotlib.text.Text):
        assert "`" not in text.get_text()
        assert "$" not in text.get_text()  # powers of ten


@pytest.mark.slow
def test_no_two_of_the_methods_of_figure_3_have_the_same_colour(drawn):
    (legend,) = drawn["figure-3"].legends
    colours = [line.get_color() for line in legend.get_lines()]
    labels = [text.get_text() for text in legend.get_texts()]
    by_label = dict(zip(labels, colours, strict=True))
    by_label.pop("published")
    assert len(set(by_label.values())) == len(by_label) == 14


@pytest.mark.slow
def test_ticks_of_logarithmic_axes_are_plain_numbers(drawn):
    def ticks(axis):
        return {text.get_text() for text in axis.get_ticklabels() if text.get_text()}

    assert {"1", "10", "100", "1,000", "10,000"} <= ticks(drawn["figure-1"].axes[-1].xaxis)
    assert {"0.1", "0.001"} <= ticks(drawn["figure-1-convergence"].axes[0].yaxis)
    assert [ticks(axes.xaxis) for axes in drawn["budget"].axes] == [
        {"1", "5", "10", "20"},
        {"1", "5", "10", "20", "40", "80"},
        {"1", "5", "10", "20"},
    ]


@pytest.mark.slow
def test_each_colour_of_the_toy_example_is_explained(drawn):
    figure = drawn["figure-1"]
    bars = {to_hex(bar.get_facecolor()) for axes in figure.axes for bar in axes.patches}
    keys = {
        to_hex(key.get_facecolor()) for one in figure.findobj(Legend) for key in one.get_patches()
    }
    assert bars == keys
    assert len(bars) == 3
    for axes in figure.axes[-3:]:  # lines have labels at their ends
        named = " ".join(text.get_text() for text in axes.texts)
        assert all(str(node) in named for node in range(1, 6))


def curve(label, *values):
    return Curve(label, range(len(values)), [table_entry([value]) for value in values], "#000000")


def test_a_curve_far_below_all_others_is_named_above_the_panel():
    curves = [curve("one", 70, 72), curve("other", 71, 74), curve("low", 10.04, 12)]
    (axes,) = curve_plot([Panel("a graph", "x", "y", curves)]).axes
    assert [line.get_label() for line in axes.lines] == ["one", "other"]
    assert axes.get_title(loc="right") == "lower: low 10.0 to 12.0"
    (axes,) = curve_plot([Panel("a graph", "x", "y", [*curves, curve("middle", 30, 50)])]).axes
    assert len(axes.lines) == 4


def test_styles_do_not_repeat_for_many_methods():
    styles = method_styles(["baseline"] * 8 + ["paper"] * 2 + ["ours"] * 4 + ["own"])
    assert len({style["colour"] for style in styles}) == 15


def test_drawing_changes_no_settings_of_matplotlib(tmp_path):
    before = dict(matplotlib.rcParams)
    curves = [Curve("one", [1, 2], [table_entry([50.0]), table_entry([60.0])], "k")]
    panels = [Panel("a graph", "x", "y", curves)]
    draw_picture(tmp_path, Picture("a", "caption", lambda: curve_plot(panels)))
    assert (tmp_path / "a.png").exists()
    assert dict(matplotlib.rcParams) == before
