"""Methods by name: the estimators of the library, with the files and JSON of embed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reinforce2vec as r2v
from helpers.command_line import check, checked, run
from reinforce2vec import Embedding, FirstOrderWalk, SecondOrderWalk
from reinforce2vec._util.hyperparameters import BASELINE_METHODS, METHODS
from reinforce2vec.models.baselines import BASELINES, Smoothed

FEW = ("--dimensions", 8)
MADE = {
    "prone": r2v.ProNE(8),
    "netmf": r2v.NetMF(8),
    "grarep": r2v.GraRep(8),
    "hope": r2v.HOPE(8),
    "line": r2v.LINE(8),
    "spectral": r2v.Spectral(8),
    "deepwalk": r2v.Reinforce2Vec(8, FirstOrderWalk(), window=10, smooth=False),
    "node2vec": r2v.Reinforce2Vec(8, SecondOrderWalk(), window=10, smooth=False),
}


def embedded(*words, output="vectors.npz"):
    checked("embed", "edges.txt", "-o", output, *FEW, *words)
    return Embedding.load(output)


def test_every_method_is_tested():
    assert MADE.keys() | {"reinforce2vec"} == METHODS.keys()
    assert BASELINES.keys() == set(BASELINE_METHODS) == MADE.keys() - {"deepwalk", "node2vec"}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("suffix", [".npz", ".txt"])
def test_the_vectors_are_those_of_the_estimator(folder, name, suffix):
    found = embedded("--method", name, output=f"vectors{suffix}")
    expected = MADE[name].fit("edges.txt").embedding_
    assert found.ids.tolist() == expected.ids.tolist()
    assert np.array_equal(found.vectors, expected.vectors)


def test_options_of_a_method_reach_it(folder):
    seven = {"seed": 7}
    for words, model in (
        ("netmf --window 3 --negatives 2", r2v.NetMF(8, 3, 2, **seven)),
        ("line --negatives 3 --learning-rate 0.05 --workers 1", r2v.LINE(
            8, negatives=3, learning_rate=0.05, workers=1, **seven)),
        ("prone --no-smooth", r2v.ProNE(8, smooth=False, **seven)),
        ("node2vec --p 0.5 --q 2 --walks-per-node 2 --smooth", r2v.Reinforce2Vec(
            8, SecondOrderWalk(0.5, 2), window=10, walks_per_node=2, **seven)),
        ("deepwalk --preset paper", r2v.Reinforce2Vec.paper(
            dimensions=8, walk=FirstOrderWalk(), **seven)),
    ):  # fmt: skip
        found = embedded("--method", *words.split(), "--seed", 7)
        assert np.array_equal(found.vectors, model.fit_transform("edges.txt")), words


def test_a_preset_counts_more_than_a_method(folder):
    words = ("--preset", "best", "--method", "deepwalk")
    told = json.loads(checked("embed", "edges.txt", "-o", "v.npz", *FEW, *words, "--json").stdout)
    assert told["settings"]["window"] == [1, 20]
    assert told["settings"]["walk"]["kind"] == "first-order"
    assert told["settings"]["smooth"] is False


def test_smoothing_is_for_all(folder):
    found = embedded("--method", "netmf", "--smooth", "--workers", 1)
    raw = r2v.NetMF(8).fit("edges.txt").embedding_
    expected = r2v.smooth(raw, r2v.read_graph("edges.txt"), workers=1)
    assert np.array_equal(found.vectors, expected.vectors)
    model = Smoothed("netmf", {"dimensions": 8}, workers=1)
    assert np.array_equal(model.fit_transform("edges.txt"), expected.vectors)
    assert np.array_equal(embedded("--method", "netmf", "--no-smooth").vectors, raw.vectors)


def test_json_has_the_same_form(folder):
    ours, other = (
        json.loads(checked("embed", "edges.txt", "-o", "v.npz", *FEW, *words, "--json").stdout)
        for words in ((), ("--method", "hope"))
    )
    assert ours.keys() == other.keys()
    assert (ours["method"], other["method"]) == ("reinforce2vec", "hope")
    assert other["settings"] == {"dimensions": 8, "beta": 0.01, "seed": 0}
    assert other["tokens"] is other["loss"] is other["tokens_per_second"] is None
    words = ("--method", "netmf", "--smooth", "--json")
    told = json.loads(checked("embed", "edges.txt", "-o", "v.npz", *FEW, *words).stdout)
    assert told["settings"]["smooth"] is True
    assert told["settings"]["dimensions"] == 8


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--method netmf --walks-per-node 5", "--walks-per-node is for other methods"),
        ("--method prone --window 5", "--window is for other methods"),
        ("--method hope --workers 1", "--workers is for other methods"),
        ("--method hope --backend cpu", "--backend is for training and smoothing"),
        ("--method hope --checkpoint c.npz", "--checkpoint is for methods that train on walks"),
        ("--method netmf --window 1,10", "--method netmf has a single window, not 1,10"),
        ("--method deepwalk --walk second-order", "--walk is for --method reinforce2vec"),
    ],
)
def test_options_that_a_method_does_not_have_are_refused(folder, words, sentence):
    told = check(run("embed", "edges.txt", "-o", "v.npz", *words.split()), 2).stderr
    assert sentence in told
    assert not (folder / "v.npz").exists()


# -- evaluated -----------------------------------------------------------------------------------


def test_links_are_predicted_by_any_method(folder):
    words = ("evaluate", "link-prediction", "edges.txt", "--seeds", 2, *FEW)
    told = json.loads(checked(*words, "--method", "netmf", "--json").stdout)
    result = r2v.evaluate_link_prediction(r2v.read_graph("edges.txt"), r2v.NetMF(8), seeds=2)
    assert told["mean"] == result.mean
    assert told["method"] == "netmf"
    smoothed = json.loads(checked(*words, "--method", "netmf", "--smooth", "--json").stdout)
    assert smoothed["mean"] != told["mean"]
    checked(*words, "--method", "netmf", "--backend", "cpu")  # of the classifier


def test_nodes_are_classified_by_any_method(labelled):
    words = ("evaluate", "node-classification", "edges.txt", "--labels", "labels.txt", *FEW)
    told = json.loads(checked(*words, "--method", "prone", "--json").stdout)
    assert told["method"] == "prone"
    assert told["settings"]["smooth"] is True
    (labelled / "mine.py").write_text(
        "import numpy as np\n"
        "class Mine:\n"
        "    def __init__(self, dimensions): self.dimensions = dimensions\n"
        "    def fit_transform(self, graph): return np.ones((graph.n_nodes, self.dimensions))\n"
    )
    both = checked(*words, "--method", "prone", "--estimator", "mine:Mine").stdout
    assert both.startswith("prone\n")
    assert "\nmine:Mine\n" in both
