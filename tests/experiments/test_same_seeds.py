"""evaluate and reproduce use the same seeds: a cell of one can be checked with the other."""

from __future__ import annotations

import json

import pytest

from helpers.command_line import checked
from reinforce2vec import (
    FirstOrderWalk,
    evaluate_link_prediction,
    evaluate_node_classification,
)
from reinforce2vec.experiments.cells import LINK_PREDICTION, NODE_CLASSIFICATION, Cell
from reinforce2vec.experiments.methods import EmbeddingMethod
from reinforce2vec.experiments.scale import SMALL_SCALE
from reinforce2vec.experiments.scoring import _data_of, compute

METHOD = EmbeddingMethod(
    "small", "small", "Reinforce2Vec", {"walks_per_node": 2, "walk": FirstOrderWalk()}
)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_cell_of_link_prediction_is_what_evaluate_finds(seed):
    cell = Cell(LINK_PREDICTION, "facebook", METHOD, seed, SMALL_SCALE)
    reproduced = compute(cell, None, [])["scores"]["raw"]
    graph = _data_of("facebook", SMALL_SCALE.planted, None).graph
    model = METHOD.make(SMALL_SCALE.dimensions, 0)
    for protocol in ("shared", "transfer"):
        found = evaluate_link_prediction(
            graph, model, protocol=protocol, seeds=[seed], progress=False
        )
        scores = {
            operator: {metric: reproduced[protocol][operator][metric] for metric in ("auc", "ap")}
            for operator in found.mean
        }
        assert found.mean == scores


@pytest.mark.parametrize("seed", [0, 3])
def test_a_cell_of_node_classification_is_what_evaluate_finds(monkeypatch, seed):
    cell = Cell(NODE_CLASSIFICATION, "ppi", METHOD, seed, SMALL_SCALE)
    reproduced = compute(cell, None, [])["scores"]["raw"]["0.5"]
    data = _data_of("ppi", SMALL_SCALE.planted, None)
    vectors = METHOD.make(SMALL_SCALE.dimensions, seed).fit_transform(data.graph, progress=False)
    numbers = [100 * seed + number for number in range(SMALL_SCALE.shuffles)]
    found = evaluate_node_classification(vectors, data.labels, seeds=numbers, progress=False)
    wanted = [{metric: run[metric] for metric in ("micro", "macro")} for run in reproduced]
    assert [run[0.5] for run in found.scores] == wanted

    monkeypatch.setattr("reinforce2vec.datasets.load_dataset", lambda *_, **__: data)
    words = f"evaluate node-classification ppi --seed {seed} --seeds {SMALL_SCALE.shuffles} --json"
    options = f"--walks-per-node 2 --walk first-order -d {SMALL_SCALE.dimensions} --workers 1"
    result = checked(*words.split(), *options.split())
    assert [run["0.5"] for run in json.loads(result.stdout)["scores"]] == wanted
