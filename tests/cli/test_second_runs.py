"""A command refuses to write to a file that another run is writing to."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from helpers.command_line import run
from reinforce2vec import Embedding, Reinforce2Vec
from reinforce2vec._util.locks import HAS_LOCKS
from reinforce2vec.files.writing import claimed

pytestmark = pytest.mark.skipif(not HAS_LOCKS, reason="the system has no locks")

FEW = "--walks-per-node 2 --dimensions 4 --workers 1"
# Commands, and the file that another run is writing to.
WRITING = {
    f"embed edges.txt -o v.npz {FEW}": "v.npz",
    f"embed edges.txt -o v.tsv {FEW}": "v.tsv",
    f"embed edges.txt -o v.npz --model m.r2v {FEW}": "m.r2v",
    f"embed edges.txt -o v.npz --checkpoint run.npz {FEW}": "run.npz",
    "embed edges.txt -o v.npz --method prone -d 4": "v.npz",
    "update old.r2v new.txt": "old.r2v",
    "update old.r2v new.txt -o v.npz": "v.npz",
    "update old.r2v new.txt --model m.r2v": "m.r2v",
    "walk edges.txt -o w.txt --per-node 1": "w.txt",
    "walk edges.txt -o w.npz --per-node 1": "w.npz",
    "walk edges.txt -o walks/ --per-node 1": "walks/manifest.json",
    "explore old.npz edges.txt --method pca -o page.html": "page.html",
    "tune edges.txt --trials 2 -d 4 -o t.json": "t.json",
    "demo -o out": "out/groups-vectors.npz",
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The files that the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    circle = [(node, (node + step) % 30) for node in range(30) for step in (1, 2)]
    (folder / "edges.txt").write_text("".join(f"{a} {b}\n" for a, b in circle))
    Embedding(range(30), np.random.default_rng(0).normal(size=(30, 4))).save(folder / "old.npz")
    model = Reinforce2Vec(dimensions=4, walks_per_node=2, workers=1)
    model.fit(circle, progress=False).save(folder / "old.r2v")
    (folder / "new.txt").write_text("30 1\n30 2\n")
    return folder


@pytest.mark.parametrize("words", WRITING)
def test_a_second_run_is_refused_and_writes_nothing(inputs, tmp_path, monkeypatch, words):
    for path in inputs.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    target = Path(WRITING[words])
    target.parent.mkdir(exist_ok=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with claimed(target):
        ended = run(*words.split())
        assert "another run is writing to it" in ended.stderr
        assert ended.exit_code in (1, 2)
    left = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert left == before
    assert target.parent == Path() or os.listdir(target.parent) == []
