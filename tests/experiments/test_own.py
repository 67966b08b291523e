"""A graph and an estimator of the user's: another column, another row, and clear sentences."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import replace

import numpy as np
import pytest

from helpers.command_line import check, run
from reinforce2vec import (
    InputError,
    evaluate_link_prediction,
    evaluate_node_classification,
    karate_club,
    read_graph,
)
from reinforce2vec.evaluation.estimators import NamedEstimator, checked_estimator
from reinforce2vec.experiments import reproduction
from reinforce2vec.experiments.catalogue import EXPERIMENTS
from reinforce2vec.experiments.cells import HEADLINE, LINK_PREDICTION, NODE_CLASSIFICATION, Cell
from reinforce2vec.experiments.graphs import own_graph
from reinforce2vec.experiments.methods import compared
from reinforce2vec.experiments.running import run_cells
from reinforce2vec.experiments.scale import SMALL_SCALE
from reinforce2vec.experiments.scoring import compute
from reinforce2vec.files.label_files import read_labels

MODULE = """
import numpy as np
from reinforce2vec import Embedding


class Noise:
    def __init__(self, dimensions=4, seed=0):
        self.dimensions, self.seed = dimensions, seed

    def fit_transform(self, graph):
        return np.random.default_rng(self.seed).normal(size=(graph.n_nodes, self.dimensions))


class Reversed(Noise):
    def fit_transform(self, graph):
        return Embedding(graph.ids[::-1], super().fit_transform(graph)[::-1])


def make_noise(seed):
    return Noise(3, seed)


class Short(Noise):
    def fit_transform(self, graph):
        return super().fit_transform(graph)[1:]


class Failing:
    def fit_transform(self, graph):
        raise RuntimeError("no licence\\nfound")


class Nothing:
    pass


class Greedy:
    def __init__(self, model, dimensions=4):
        pass

    fit_transform = None


def make_nothing():
    return None


instance = Noise()
"""


@pytest.fixture
def module(folder, monkeypatch):
    """The name of a module of estimators in the current folder, removed afterwards."""
    name = "estimators_of_a_user"
    (folder / f"{name}.py").write_text(MODULE)
    (folder / "broken_of_a_user.py").write_text("import nothing_of_this_name\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield name
    sys.modules.pop(name, None)


def own_method(path, scale=SMALL_SCALE):
    [method] = [
        one
        for one in compared(replace(scale, own_estimator=checked_estimator(path)))
        if one.group == "own"
    ]
    return method


# -- estimators ----------------------------------------------------------------------------------


def test_a_class_gets_dimensions_and_seed(module):
    model = NamedEstimator(f"{module}:Noise", 6, seed=3)
    vectors = model.fit_transform(karate_club())
    expected = np.random.default_rng(3).normal(size=(34, 6))
    assert np.array_equal(vectors, expected.astype(np.float32))
    assert vectors.dtype == np.float32


def test_a_factory_gets_what_it_has_parameters_for(module):
    assert NamedEstimator(f"{module}:make_noise", 6, 1).fit_transform(karate_club()).shape == (
        34,
        3,
    )


def test_an_embedding_is_matched_by_ids(module):
    club = karate_club()
    noise, turned = (
        NamedEstimator(f"{module}:{name}", 4, 1).fit_transform(club)
        for name in ("Noise", "Reversed")
    )
    assert np.array_equal(noise, turned)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("Noise", "Noise: expected a Python path such as mypackage.models:MyModel"),
        ("{}:", "expected a Python path"),
        ("{}:Missing", "the module {} has no Missing"),
        ("{}.more:Noise", "there is no module {}.more, neither in the current folder"),
        ("nowhere_of_a_user:A", "there is no module nowhere_of_a_user, neither in the current"),
        ("broken_of_a_user:A", "broken_of_a_user cannot be imported: No module named 'nothing_of"),
        ("{}:instance", "expected a class, or a function that returns a model, not a Noise"),
        ("{}:Nothing", "{}:Nothing: it has no method fit_transform(graph)"),
        ("{}:Greedy", "its parameter model has no default; only dimensions and seed are passed"),
    ],
)
def test_what_cannot_be_an_estimator_is_told_at_once(module, path, sentence):
    with pytest.raises(InputError) as told:
        checked_estimator(path.format(module))
    assert sentence.format(module) in str(told.value)
    done = run("evaluate", "link-prediction", "edges.txt", "--estimator", path.format(module))
    assert done.exit_code == 2
    assert done.stderr == f"error: {told.value}\n"
    done = run("reproduce", "table-4", "--estimator", path.format(module))
    assert (done.exit_code, done.stderr) == (2, f"error: {told.value}\n")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Failing", r"^\w+:Failing failed: RuntimeError: no licence \(\w+\.py, line 30\)$"),
        ("Short", r"^\w+:Short: fit_transform must return vectors: expected a vector for each of"),
        ("make_nothing", r"^\w+:make_nothing: it has no method fit_transform\(graph\)"),
    ],
)
def test_what_fails_later_is_a_sentence_that_names_the_estimator(module, name, sentence):
    path = checked_estimator(f"{module}:{name}").path
    with pytest.raises(InputError, match=sentence):
        NamedEstimator(path, 4).fit_transform(karate_club())


def test_an_edited_estimator_is_another_cell(module, folder):
    first = own_method(f"{module}:Noise")
    source = folder / f"{module}.py"
    source.write_text(source.read_text() + "# edited\n")
    second = own_method(f"{module}:Noise")
    assert first.name != second.name
    assert first.settings() != second.settings()
    assert first.label == second.label == f"{module}:Noise"


@pytest.mark.slow
def test_an_estimator_that_fails_costs_its_own_cells(module, tmp_path):
    good, bad = (
        Cell(LINK_PREDICTION, "facebook", own_method(f"{module}:{name}"), 0, SMALL_SCALE, HEADLINE)
        for name in ("Noise", "Failing")
    )
    outcome = run_cells([bad, good], tmp_path / "cells", jobs=1)
    assert outcome.failures.keys() == {bad.name}
    assert outcome.failures[bad.name].startswith(f"{module}:Failing failed: RuntimeError")
    assert outcome.results[good.name]["scores"] == compute(good, None, [])["scores"]


# -- graphs --------------------------------------------------------------------------------------


def test_a_graph_with_labels_is_in_both_tasks_and_without_them_in_one():
    club = karate_club()
    labels = {node: node % 2 for node in club.ids.tolist()}
    with own_graph(club, labels, "My club.csv") as own:
        scale = replace(SMALL_SCALE, own_graph=own)
        assert own.name == f"own-my-club.csv-{own.fingerprint[:8]}"
        assert scale.link_graphs[-1] == scale.classification_graphs[-1] == own.name
        assert scale.title(own.name) == "My club.csv"
        method = next(one for one in compared(scale) if one.name == "hope")
        cells = [Cell(task, own.name, method, 0, scale) for task in (LINK_PREDICTION, "paths")]
        assert all(cell.description()["fingerprint"] == own.fingerprint for cell in cells)
        cell = Cell(NODE_CLASSIFICATION, own.name, method, 0, scale)
        assert {"raw", "smoothed"} == compute(cell, None, [])["scores"].keys()
        dataset = own.read()
        assert dataset.labels.shape == (34, 2)
    with own_graph(club, title="My club.csv") as alone:
        scale = replace(SMALL_SCALE, own_graph=alone)
        assert alone.name in scale.link_graphs
        assert alone.name not in scale.classification_graphs
        assert alone.fingerprint != own.fingerprint
    with pytest.raises(InputError, match="labels"), own_graph(club, [None] * 34):
        pass


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such locks")
def test_the_graph_of_a_killed_run_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = os.fork()
    if not child:
        try:
            with own_graph(karate_club()):
                os._exit(9)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    with own_graph(karate_club()) as own:
        (live,) = tmp_path.iterdir()
        assert live != left
        assert live.stat().st_mode & 0o777 == 0o700
        with own_graph(karate_club()):
            assert own.read().graph.n_nodes == 34  # that of a run that goes on is left
    assert list(tmp_path.iterdir()) == []


# -- the commands --------------------------------------------------------------------------------

FEW = ["-d", 8, "--walks-per-node", 2, "--walk-length", 10, "--workers", 1]


def test_evaluate_compares_on_the_same_splits(module, labelled):
    words = ["evaluate", "link-prediction", "edges.txt", "--seeds", 2, *FEW]
    path = f"{module}:Noise"
    told = check(run(*words, "--estimator", path)).stdout
    ours, own = told.split(f"\n\n{path}\n")
    assert ours == check(run(*words)).stdout.rstrip("\n")
    assert ours.startswith("reinforce2vec\n")
    model = NamedEstimator(path, 8)
    expected = evaluate_link_prediction(read_graph("edges.txt"), model, seeds=2, progress=False)
    found = json.loads(check(run(*words, "--estimator", path, "--json")).stdout)
    assert found["estimator"]["path"] == path
    assert own.startswith("link prediction, shared protocol")
    assert found["estimator"]["mean"] == expected.mean


def test_evaluate_classifies_the_nodes_of_a_graph(module, labelled):
    words = ["evaluate", "node-classification", "edges.txt", "--labels", "labels.txt", *FEW]
    told = json.loads(check(run(*words, "--estimator", f"{module}:Noise", "--json")).stdout)
    assert told["graph"] == "edges.txt"
    assert told["nodes"] == 34
    graph = read_graph("edges.txt")
    vectors = NamedEstimator(f"{module}:Noise", 8).fit_transform(graph)
    sides = read_labels("labels.txt", graph).matrix
    expected = evaluate_node_classification(vectors, sides, seeds=range(5), progress=False)
    assert told["estimator"]["mean"]["0.5"] == expected.mean[0.5]
    assert told["mean"]["0.5"] != expected.mean[0.5]
    assert run(*words).exit_code == 2  # without an estimator these are vectors


@pytest.mark.study
def test_a_graph_and_an_estimator_are_a_column_and_a_row(module, labelled, monkeypatch):
    monkeypatch.setitem(reproduction.reproduce.__kwdefaults__, "scale", SMALL_SCALE)
    own = ["edges.txt", "--labels", "labels.txt"]
    words = ["reproduce", "table-7", "--seeds", 1, "--output", "out", *own, "--estimator"]
    check(run(*words, f"{module}:Noise"))
    tables = json.loads((labelled / "out/results.json").read_text())["experiments"]["table-7"]
    first = tables["tables"][0]
    rows = {row["label"]: row for row in first["rows"]}
    assert rows[f"{module}:Noise"].keys() == rows["DeepWalk"].keys()
    assert "edges.txt micro" in rows["DeepWalk"]
    assert all(entry is not None for row in first["rows"] for entry in row.values())
    best = next(one for one in tables["tables"] if one["title"].startswith("The best setting"))
    assert module not in best["note"]
    kept = {path: path.stat().st_mtime_ns for path in (labelled / "out/cells").iterdir()}
    done = run(*words, f"{module}:Failing")
    assert done.exit_code == 1
    told = [line for line in done.stderr.splitlines() if "Failing failed" in line]
    assert len(told) == 1
    assert " and 3 other cells: " in told[0]
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items())


def test_what_belongs_to_a_graph_needs_one(folder):
    for words in (["--labels", "labels.txt"], ["--directed"]):
        done = run("reproduce", "table-4", *words)
        assert done.exit_code == 2
        assert "is for a graph of your own and has no effect with the data sets" in done.stderr


def test_all_tables_that_compare_methods_have_the_graph():
    with own_graph(karate_club(), {0: 1, 33: 2}) as own:
        scale = replace(SMALL_SCALE, own_graph=own)
        for name in ("table-4", "table-7", "figure-3", "wide", "speed"):
            assert own.name in {cell.graph for cell in EXPERIMENTS[name].cells([0], scale)}
