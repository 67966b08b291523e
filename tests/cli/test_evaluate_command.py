"""The commands that evaluate: what they print, and how they fail."""

from __future__ import annotations

import json

import numpy as np
import pytest

from helpers.command_line import check, run
from reinforce2vec import (
    Dataset,
    Embedding,
    FirstOrderWalk,
    Reinforce2Vec,
    evaluate_link_prediction,
    evaluate_node_classification,
    karate_club,
    read_graph,
)

FEW = {"dimensions": 8, "walks_per_node": 3, "walk_length": 10, "workers": 1}
AS_OPTIONS = [f"--{name.replace('_', '-')}={value}" for name, value in FEW.items()]


@pytest.fixture
def folder(folder):
    """The karate club in edges.txt; vectors and labels of 60 points in two groups."""
    points = np.random.default_rng(0).normal(size=(60, 3)) + (np.arange(60) % 2)[:, None]
    Embedding(range(60), points).save(folder / "vectors.npz")
    lines = [f"{node} {'odd' if node % 2 else 'even'}\n" for node in range(60)]
    (folder / "labels.txt").write_text("".join(lines))
    return folder


@pytest.fixture
def ppi(monkeypatch):
    """A data set that is loaded without a file: the karate club, by its two halves."""
    club = karate_club()
    halves = np.arange(34)[:, None] % 2 == np.arange(2)
    asked = []

    def load(name, data_dir=None, *, progress=True):
        asked.append((name, data_dir and str(data_dir)))
        return Dataset(name, club, halves if name == "ppi" else None)

    monkeypatch.setattr("reinforce2vec.datasets.load_dataset", load)
    return asked


def links(*words):
    return run("evaluate", "link-prediction", *words, *AS_OPTIONS)


def nodes(*words):
    return run("evaluate", "node-classification", *words)


# -- link prediction -----------------------------------------------------------------------------


def test_links_of_a_file_are_those_of_the_library(folder):
    result = check(links("edges.txt", "--seeds", 2, "--walk", "first-order", "--fraction", 0.4))
    model = Reinforce2Vec(**FEW, walk=FirstOrderWalk())
    expected = evaluate_link_prediction(read_graph("edges.txt"), model, fraction=0.4, seeds=2)
    assert result.stdout == f"reinforce2vec\n{expected}\n"
    assert "hadamard" in result.stdout
    assert result.stderr.startswith("edges.txt: Graph(34 nodes")


def test_links_as_json(folder):
    result = check(links("edges.txt", "--protocol", "transfer", "--seeds", 1, "--json", "--quiet"))
    expected = evaluate_link_prediction(
        read_graph("edges.txt"), Reinforce2Vec(**FEW), protocol="transfer", seeds=1
    )
    told = json.loads(result.stdout)
    assert told["graph"] == "edges.txt"
    assert told["protocol"] == "transfer"
    assert told["mean"] == expected.mean
    assert told["settings"]["walks_per_node"] == 3
    assert (told["command"], told["nodes"]) == ("evaluate link-prediction", 34)
    assert result.stderr == ""


def test_links_of_a_data_set(folder, ppi):
    (folder / "here").mkdir()
    result = check(links("facebook", "--seeds", 1, "--data-dir", "here"))
    expected = evaluate_link_prediction(karate_club(), Reinforce2Vec(**FEW), seeds=1)
    assert result.stdout == f"reinforce2vec\n{expected}\n"
    assert ppi == [("facebook", "here")]


# -- node classification -------------------------------------------------------------------------


def test_nodes_of_a_file_are_those_of_the_library(folder):
    result = check(
        nodes("vectors.npz", "--labels", "labels.txt", "--train", "0.3,0.7", "--seeds", 2)
    )
    vectors = Embedding.load("vectors.npz")
    expected = evaluate_node_classification(
        vectors, (np.arange(60) % 2)[:, None] == [0, 1], train=[0.3, 0.7], seeds=2
    )
    assert result.stdout == f"{expected}\n"
    told = "labels.txt: 60 nodes in 2 classes; no header; separated by whitespace\n"
    assert told in result.stderr


def test_nodes_of_a_data_set_are_embedded(folder, ppi):
    result = check(nodes("ppi", "--seeds", 2, "--seed", 9, *AS_OPTIONS, "--json"))
    vectors = Reinforce2Vec(**FEW, seed=9).fit_transform(karate_club())
    halves = np.arange(34)[:, None] % 2 == np.arange(2)
    expected = evaluate_node_classification(vectors, halves, seeds=[900, 901])
    told = json.loads(result.stdout)
    assert told["seeds"] == [900, 901]
    assert told["mean"] == {"0.5": expected.mean[0.5]}
    assert told["dataset"] == "ppi"
    assert told["settings"]["seed"] == 9


def test_vectors_are_put_in_the_order_of_a_data_set(folder, ppi):
    ids, points = karate_club().ids, np.random.default_rng(0).normal(size=(34, 3))
    Embedding(ids[::-1].tolist(), points[::-1]).save("club.txt")
    result = check(nodes("club.txt", "--labels", "ppi", "--seeds", 2))
    halves = np.arange(34)[:, None] % 2 == np.arange(2)
    assert result.stdout == f"{evaluate_node_classification(points, halves, seeds=2)}\n"


def test_the_column_of_labels_is_chosen_with_an_option(folder):
    before = check(nodes("vectors.npz", "--labels", "labels.txt")).stdout
    words = [line.split() for line in (folder / "labels.txt").read_text().splitlines()]
    rows = [f'{node},"town, {node}",{label}\n' for node, label in words]
    (folder / "staff.csv").write_text("id,address,team\n" + "".join(rows))
    result = check(nodes("vectors.npz", "--labels", "staff.csv"), code=1)
    assert "which column holds the labels? There are 'address', 'team'" in result.stderr
    assert "--label address takes a single one, and --label all takes all of them" in result.stderr
    for column in ("team", "3"):
        result = check(nodes("vectors.npz", "--labels", "staff.csv", "--label", column))
        assert result.stdout == before
        assert "left out address" in result.stderr
    result = check(nodes("ppi", "--label", "team"), code=2)
    assert "--label is for a file of labels and has no effect" in result.stderr
    result = check(nodes("ppi", "--id", "user"), code=2)
    assert "--id is for a file of labels and has no effect" in result.stderr


def test_labels_of_nodes_without_a_vector_are_left_out_and_told(folder):
    before = nodes("vectors.npz", "--labels", "labels.txt").stdout
    for line, said in (("77 unknown\n", "1 node"), ("nobody odd\n", "2 nodes")):
        with (folder / "labels.txt").open("a") as file:
            file.write(line)
        result = check(nodes("vectors.npz", "--labels", "labels.txt"))
        shown = "77" if said == "1 node" else "77, ..."
        assert f"left out {said} without a vector ({shown})" in result.stderr
        assert result.stdout == before


# -- what cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["link-prediction", "edges.txt", "--protocol", "x"], "invalid value for '--protocol'"),
        (["link-prediction", "edges.txt", "--p", "2"], "--p is for --walk second-order"),
        (["link-prediction", "edges.txt", "--data-dir", "."], "--data-dir is for a data set and"),
        (["link-prediction", "facebook", "--directed"], "has no effect with the data set facebook"),
        (["node-classification", "vectors.npz"], "vectors need --labels"),
        (["node-classification", "ppi", "--labels", "labels.txt"], "has labels of its own"),
        (
            ["node-classification", "vectors.npz", "--labels", "labels.txt", "--window", "3"],
            "--window is for a data set and has no effect with vectors.npz",
        ),
        (["node-classification", "ppi", "--train", "50"], "--train must be numbers between 0 and"),
        (["node-classification", "ppi", "--train", "a,b"], "as 0.1,0.5,0.9, not 'a,b'"),
    ],
)
def test_misunderstandings_are_told_before_anything_is_read(folder, ppi, words, sentence):
    result = check(run("evaluate", *words), code=2)
    assert sentence in result.stderr
    assert result.stdout == ""
    assert ppi == []


@pytest.mark.parametrize("ids", [range(60), range(1, 34)])
def test_vectors_of_another_data_set_are_told_with_both_sizes(folder, ppi, ids):
    Embedding(ids, np.ones((len(ids), 2))).save("others.npz")
    result = check(nodes("others.npz", "--labels", "ppi"), code=1)
    wrong = f"vectors for the data set ppi: the embedding has {len(ids)} nodes and the graph 34"
    assert wrong in result.stderr
