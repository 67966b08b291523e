"""The command `plot` draws what it says, where it says."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from reinforce2vec import Embedding
from reinforce2vec.cli.main import app
from reinforce2vec.files.label_files import one_class, read_named_labels


@pytest.fixture
def place(folder, monkeypatch):
    """A folder with vectors, edges and labels of the karate club."""
    monkeypatch.chdir(folder)
    vectors = np.random.default_rng(0).normal(size=(34, 8))
    Embedding(range(1, 35), vectors).save("vectors.npz")
    return folder


def run(*words, code=0):
    result = CliRunner().invoke(app, ["plot", *map(str, words)])
    assert result.exit_code == code, result.output
    return result


def test_a_picture_of_labels_and_degrees(place):
    words = ("--labels", "labels.txt", "--graph", "edges.txt", "--method", "pca")
    result = run("vectors.npz", *words, "-o", "map.png", "--width", 3, "--height", 2)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == "map.png: 34 nodes by PCA, coloured by label"
    assert "34 nodes in 2 classes" in result.stderr
    assert imread("map.png").shape[:2] == (600, 900)


def test_the_picture_is_named_like_the_vectors(place):
    run("vectors.npz", "--method", "pca")
    assert imread("vectors.png").shape[:2] == (1350, 1800)


@pytest.mark.parametrize("colour_by", ["label", "community", "degree", "none"])
def test_colours_are_chosen(place, colour_by):
    words = ["--labels", "labels.txt", "--graph", "edges.txt", "--method", "pca", "--json"]
    result = run("vectors.npz", "-o", "map.svg", *words, "--quiet", "--colour-by", colour_by)
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
    result = run(*words)
    assert json.loads(result.stdout)["colour_by"] == "none"
    assert result.stderr.splitlines()[-1] == "map.svg: 34 nodes by PCA, one colour"
    assert json.loads(run(*words, "--graph", "edges.txt").stdout)["colour_by"] == "community"
    asked = run(*words, "--colour-by", "community")
    assert json.loads(asked.stdout)["colour_by"] == "community"


def test_a_title_is_written(place):
    run("vectors.npz", "-o", "a.svg", "--method", "pca", "--title", "A club of 1977")
    assert "A club of 1977" in (place / "a.svg").read_text()  # as a comment beside the letters


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["-o", "map.gif"], 2, "map.gif: pictures go to files that end in one of .png .svg .pdf"),
        (["-o", "nowhere/map.png"], 2, "does not exist"),
        (["--method", "mds"], 2, "--method must be one of auto, pca, tsne, umap"),
        (["--colour-by", "age"], 2, "--colour-by must be one of label, community"),
        (["--colour-by", "label"], 2, "--colour-by label needs labels"),
        (["--colour-by", "degree"], 2, "--colour-by degree needs the graph"),
        (["--directed"], 2, "--directed is for a graph"),
        (["--width", "0"], 2, "--width must be"),
        (["--labels", "absent.txt"], 1, "absent.txt"),
        (["--graph", "labels.txt", "--method", "pca"], 1, "no node of the embedding"),
    ],
)
def test_mistakes_are_told_in_a_sentence(place, words, code, told):
    if "labels.txt" in words:
        (place / "labels.txt").write_text("ann bob\n")
    result = run("vectors.npz", *words, code=code)
    assert told in result.stderr
    assert not list(place.glob("*.png"))


def test_without_matplotlib_it_is_told_what_to_install(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'reinforce2vec[plots]'" in run("vectors.npz", code=2).stderr


# -- labels with names ---------------------------------------------------------------------------


def test_labels_keep_their_names(tmp_path):
    embedding = Embedding(["a", "b", "c", "d"], np.eye(4))
    file = tmp_path / "labels.txt"
    file.write_text("a y x\nb x\nc z\nstranger x\n")
    labels = read_named_labels(file, embedding)
    assert labels.names == ["x", "y", "z"]
    assert labels.strangers == ["stranger"]
    assert labels.matrix.tolist() == [
        *([True, True, False], [True, False, False]),
        *([False, False, True], [False, False, False]),
    ]
    assert labels.display.tolist() == [0, 0, 2, -1]


def test_of_equally_large_classes_the_first_is_shown():
    assert one_class(np.array([[0, 1, 1], [1, 0, 0]], bool)).tolist() == [1, 0]
