"""The demo tells its whole story, with figures that are computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from reinforce2vec import Embedding, FirstOrderWalk, demo, karate_club, sample_walks
from reinforce2vec.cli import app


@pytest.fixture(autouse=True)
def small_speed_graph(monkeypatch):
    monkeypatch.setattr(demo, "SPEED_SCALE", 8)


def test_the_story_fits_a_screen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    demo.tell(Path("new", "folder"), told.append)
    lines = "\n".join(told).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for name in demo.KINDS:
        assert any(line.startswith(name) for line in lines)


def test_the_figures_are_computed(tmp_path):
    told = []
    demo.tell(tmp_path, told.append)
    walks = sample_walks(karate_club(), FirstOrderWalk(), length=40, per_node=80)
    mean = np.mean([len(set(walk)) for walk in walks.tolist()])
    assert any(line.startswith("first-order") and f" {mean:.2f} " in line for line in told)


def test_the_command_leaves_the_files_where_it_says(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    walks, vectors, text = (
        tmp_path / "out" / name
        for name in ("karate-walks.txt", "karate-vectors.npz", "karate-vectors.txt")
    )
    for path in (walks, vectors, text):
        assert str(path) in result.stdout
    assert len(walks.read_text().splitlines()) == 34 * 80
    assert np.array_equal(Embedding.load(vectors).vectors, Embedding.load(text).vectors)


def test_the_vectors_know_how_the_club_split(tmp_path):
    told = []
    demo.tell(tmp_path, told.append)
    right = int(re.search(r"walks: (\d+) of the", "\n".join(told)).group(1))
    assert right >= 28  # of 34; half of them by guessing


def test_a_file_in_place_of_the_folder_ends_in_a_sentence(tmp_path):
    (tmp_path / "out").write_text("")
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert result.stderr.startswith("error: ")
