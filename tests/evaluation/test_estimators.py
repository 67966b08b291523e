"""Estimators of the user's: compared on the same splits, and refused in clear sentences."""

from __future__ import annotations

import json
import sys

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
from reinforce2vec.evaluation.estimators import NamedEstimator, check_estimator
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
        check_estimator(path.format(module))
    assert sentence.format(module) in str(told.value)
    done = run("evaluate", "link-prediction", "edges.txt", "--estimator", path.format(module))
    assert done.exit_code == 2
    assert done.stderr == f"error: {told.value}\n"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Failing", r"^\w+:Failing failed: RuntimeError: no licence \(\w+\.py, line 30\)$"),
        ("Short", r"^\w+:Short: fit_transform must return vectors: expected a vector for each of"),
        ("make_nothing", r"^\w+:make_nothing: it has no method fit_transform\(graph\)"),
    ],
)
def test_what_fails_later_is_a_sentence_that_names_the_estimator(module, name, sentence):
    path = f"{module}:{name}"
    check_estimator(path)
    with pytest.raises(InputError, match=sentence):
        NamedEstimator(path, 4).fit_transform(karate_club())


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
