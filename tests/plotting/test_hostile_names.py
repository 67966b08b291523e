"""Text of users is drawn as it is: no formula, no markup, no warning about a missing glyph."""

from __future__ import annotations

import re

import matplotlib
import matplotlib.figure
import numpy as np
import pytest

import reinforce2vec as r2v
from reinforce2vec.plotting import (
    embedding_map,
    evaluation_scores,
    occupation_over_time,
    save,
    stuck_set,
    walk_path,
)
from reinforce2vec.plotting.classes import Classes

HOSTILE = (
    "$$",
    r"$\frac{",
    "a_{b}$x$",
    "<script>alert(1)</script>&amp;",
    "]]><x/>",
    "nul\0 bell\a escape\x1b[31m",
    "line\nline\r\nline\ttab",
    "\u202eright to left",
    "עברית ordinary العربية",
    "emoji 🦜 and 漢字",
    "lone \ud800 surrogate",
    "_begins with an underscore",
    "long " * 2000,
    "",
    " ",
)
SUFFIXES = (".png", ".svg", ".pdf")
# XML 1.0 allows neither these, nor any other way of writing them
NOT_IN_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@pytest.fixture
def saved(tmp_path):
    """Save a figure in all formats, and return its SVG."""

    def saving(figure):
        for suffix in SUFFIXES:
            save(figure, tmp_path / f"figure{suffix}", dpi=30)
        text = (tmp_path / "figure.svg").read_text(encoding="utf-8")
        assert not NOT_IN_XML.search(text)
        assert "<script" not in text
        return text

    return saving


def test_a_map_with_hostile_classes_and_title_is_drawn(saved):
    labels = [HOSTILE[row % len(HOSTILE)] or "none" for row in range(60)]
    positions = np.random.default_rng(0).normal(size=(60, 2))
    saved(embedding_map(np.eye(60), labels, positions=positions, title=r"$$ \x {"))


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_drawn_at_its_nodes(saved, text):
    """One class, so that its name is on the map, and in title and legend of others."""
    positions = np.random.default_rng(0).normal(size=(20, 2))
    saved(embedding_map(np.eye(20), ["x" + text] * 20, positions=positions, title=text))


def test_a_hostile_column_is_drawn_in_caption_and_legend(saved):
    positions = np.random.default_rng(0).normal(size=(20, 2))
    classes = Classes(np.arange(20, dtype=np.int32), list("abcdefghijklmnopqrst"), "$$\a")
    saved(embedding_map(np.eye(20), classes, positions=positions))


def test_axes_that_were_made_elsewhere_show_text_as_it_is(saved):
    figure = matplotlib.figure.Figure()
    positions = np.random.default_rng(0).normal(size=(9, 2))
    axes = figure.add_subplot()
    embedding_map(np.eye(9), ["$$"] * 9, positions=positions, title="$$", axes=axes)
    saved(figure)


def test_figures_of_walks_show_hostile_names(saved):
    club = r2v.karate_club()
    paths = {name: [0, 1, 2, 0, 1] for name in HOSTILE}
    few = dict(list(paths.items())[:3])
    for figure in (walk_path(club, few), stuck_set(club, few)):
        saved(figure)
    saved(walk_path(club, paths["$$"], title="$$"))
    ids = [HOSTILE[row % len(HOSTILE)] for row in range(34)]
    saved(occupation_over_time(few, 34, ids=ids))


def test_figures_of_scores_show_hostile_names(saved):
    sides = np.repeat([0, 1], 20)
    found = r2v.evaluate_node_classification(sides[:, None] * 2.0 - 1, sides, seeds=2)
    figure = evaluation_scores(dict.fromkeys(("$$", "_hidden", "nul\0", "<b>"), found))
    saved(figure)
    (legend,) = figure.legends
    names = [text.get_text().lstrip("\u200b") for text in legend.get_texts()]
    assert names == ["$$", "_hidden", r"nul\x00", "<b>"]


def test_figures_of_others_keep_their_formulas(tmp_path):
    figure = matplotlib.figure.Figure()
    axes = figure.add_subplot()
    axes.plot([1, 10], [1, 1000])
    axes.set_yscale("log")
    axes.set_title("$x^2$")
    save(figure, tmp_path / "figure.svg")
    assert all(text.get_parse_math() for text in (axes.title, *axes.get_yticklabels()))
