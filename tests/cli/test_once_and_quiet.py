"""A command tries out its output files once, and with --quiet computes nothing just to print it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from helpers.command_line import checked, run
from reinforce2vec import Embedding, Graph, Reinforce2Vec
from reinforce2vec.files import writing

FEW = "--walks-per-node 2 --dimensions 4 --workers 1"
# Commands, and the files that they write.
WRITING = {
    f"embed edges.txt -o v.npz {FEW}": {"v.npz"},
    f"embed edges.txt -o v.tsv {FEW}": {"v.tsv"},
    f"embed edges.txt -o v.npz --checkpoint run.npz {FEW}": {"v.npz", "run.npz"},
    f"embed edges.txt -o v.npz --model m.r2v {FEW}": {"v.npz", "m.r2v"},
    "embed edges.txt -o v.npz --method prone -d 4": {"v.npz"},
    "update old.r2v new.txt -o v.npz": {"v.npz", "old.r2v"},
    "update old.r2v new.txt --model m.r2v": {"m.r2v"},
    "walk edges.txt -o w.txt --per-node 1": {"w.txt"},
    "walk edges.txt -o w.npz --per-node 1": {"w.npz"},
    "tune edges.txt --trials 2 -d 4 -o t.json": {"t.json"},
    "recommend old.npz edges.txt -o links.tsv": {"links.tsv"},
    "plot old.npz --method pca -o map.png": {"map.png"},
    "explore old.npz edges.txt --method pca -o page.html": {"page.html"},
}
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


@pytest.mark.parametrize("words", WRITING)
def test_an_output_is_tried_out_once(folder, monkeypatch, words):
    probed, probe = Counter(), writing._probe

    def count(target, path):
        probed[target.name] += 1
        probe(target, path)

    monkeypatch.setattr(writing, "_probe", count)
    checked(*words.split())
    assert probed == dict.fromkeys(WRITING[words], 1)
    assert all((folder / name).exists() for name in WRITING[words] - {"run.npz"})


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
    assert (result.exit_code, result.output) == (0, "")
    assert (folder / "demo" / "groups-vectors.npz").exists()
