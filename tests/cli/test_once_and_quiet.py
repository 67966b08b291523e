"""With --quiet, a command computes nothing just to print it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.command_line import checked, run
from reinforce2vec import Embedding, Graph, Reinforce2Vec

FEW = "--walks-per-node 2 --dimensions 4 --workers 1"
# Commands that print on stderr what they found.
TALKING = (
    f"embed edges.txt -o v.npz {FEW}",
    "embed edges.txt -o v.npz --method prone -d 4",
    "update old.r2v new.txt",
    "walk edges.txt -o w.txt --per-node 1",
    f"evaluate link-prediction edges.txt --seeds 1 {FEW}",
    "evaluate node-classification old.npz --labels labels.txt --seeds 1",
    "neighbors old.npz 1",
    "recommend old.npz edges.txt",
    "plot old.npz edges.txt --method pca -o map.png",
    "explore old.npz edges.txt --method pca -o page.html",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    circle = [(node, (node + step) % 30) for node in range(30) for step in (1, 2)]
    (tmp_path / "edges.txt").write_text("".join(f"{a} {b}\n" for a, b in circle))
    labels = [f"{node} {'odd' if node % 2 else 'even'}\n" for node in range(30)]
    (tmp_path / "labels.txt").write_text("".join(labels))
    Embedding(range(30), np.random.default_rng(0).normal(size=(30, 4))).save(tmp_path / "old.npz")
    model = Reinforce2Vec(dimensions=4, walks_per_node=2, workers=1)
    model.fit(circle, progress=False).save(tmp_path / "old.r2v")
    (tmp_path / "new.txt").write_text("30 1\n30 2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", TALKING)
def test_quiet_computes_nothing_that_is_only_printed(folder, monkeypatch, words):
    computed = []
    for kind, name in (
        (Graph, "__repr__"),
        (Embedding, "__repr__"),
    ):
        monkeypatch.setattr(kind, name, lambda *_, name=name: computed.append(name) or "")
    monkeypatch.setattr(Reinforce2Vec, "estimate_memory", lambda *_: computed.append("memory") or 0)
    checked(*words.split())
    assert computed  # not in vain
    computed.clear()
    result = run(*words.split(), "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert computed == []


@pytest.mark.slow
def test_a_quiet_demo_makes_only_its_files(folder, monkeypatch):
    def never(*_, **__):
        raise AssertionError("computed, but not printed")

    for name in ("walks.sample_walks", "evaluation.evaluate_link_prediction"):
        monkeypatch.setattr(f"reinforce2vec.{name}", never)
    result = run("demo", "--quiet", "-o", "demo", "--data-dir", ".")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (folder / "demo" / "groups-vectors.npz").exists()
