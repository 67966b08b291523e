"""The command `plot` draws what it says, where it says."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from matplotlib.image import imread

from helpers.command_line import checked
from reinforce2vec import Embedding


@pytest.fixture
def place(labelled):
    """A folder with vectors, edges and labels of the karate club."""
    vectors = np.random.default_rng(0).normal(size=(34, 8))
    Embedding(range(1, 35), vectors).save("vectors.npz")
    return labelled


def test_a_picture_of_labels_and_degrees(place):
    words = ("--labels", "labels.txt", "edges.txt", "--method", "pca")
    result = checked("plot", "vectors.npz", *words, "-o", "map.png", "--width", 3, "--height", 2)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == "map.png: 34 nodes by PCA, coloured by label"
    assert "34 nodes in 2 classes" in result.stderr
    assert imread("map.png").shape[:2] == (600, 900)


def test_labels_are_called_as_their_column_and_it_is_told_which_of_several_counts(place):
    lines = [f"{node},{'ab'[node % 2]}\n" for node in range(1, 35)]
    (place / "teams.csv").write_text("id,team\n" + "".join([*lines, "1,a\n", "3,a\n"]))
    words = ("--labels", "teams.csv", "--method", "pca", "-o", "map.svg")
    *_, note, last = checked("plot", "vectors.npz", *words).stderr.splitlines()
    several = "2 nodes with several labels"
    assert note == f"note: {several}: the one with the most nodes gives the colour"
    assert last == "map.svg: 34 nodes by PCA, coloured by team"


@pytest.mark.parametrize("colour_by", ["label", "community", "degree", "none"])
def test_colours_are_chosen(place, colour_by):
    words = ["plot", "vectors.npz", "-o", "map.svg", "--labels", "labels.txt"]
    words += ["edges.txt", "--method", "pca", "--json", "--quiet"]
    result = checked(*words, "--colour-by", colour_by)
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert told["colour_by"] == colour_by
    assert told["files"] == ["map.svg"]
    assert told["method"] == "PCA"
    written = (place / "map.svg").read_text()
    assert written.startswith("<?xml")


def test_very_many_vectors_alone_have_one_colour_unless_asked(place, monkeypatch):
    monkeypatch.setattr("reinforce2vec.plotting.maps._MAX_SEARCHED_NODES", 33)
    words = ("vectors.npz", "-o", "map.svg", "--method", "pca", "--json")
    result = checked("plot", *words)
    assert json.loads(result.stdout)["colour_by"] == "none"
    assert result.stderr.splitlines()[-1] == "map.svg: 34 nodes by PCA, one colour"
    given = checked("plot", *words, "edges.txt")
    assert json.loads(given.stdout)["colour_by"] == "community"
    asked = checked("plot", *words, "--colour-by", "community")
    assert json.loads(asked.stdout)["colour_by"] == "community"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["-o", "map.gif"], 2, "map.gif: pictures are written to files that end in"),
        (["--colour-by", "label"], 2, "--colour-by label needs labels"),
        (["--colour-by", "degree"], 2, "--colour-by degree needs the graph"),
        (["--directed"], 2, "--directed is for a graph"),
        (["--width", "0"], 2, "--width must be"),
        (["labels.txt", "--method", "pca"], 1, "no node of the embedding"),
    ],
)
def test_mistakes_are_told_in_a_sentence(place, words, code, told):
    if "labels.txt" in words:
        (place / "labels.txt").write_text("ann bob\n")
    result = checked("plot", "vectors.npz", *words, code=code)
    assert told in result.stderr
    assert not list(place.glob("*.png"))


def test_without_matplotlib_it_is_told_what_to_install(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'reinforce2vec[plots]'" in checked("plot", "vectors.npz", code=2).stderr
