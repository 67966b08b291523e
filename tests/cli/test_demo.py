"""The demo does the whole job, and tells it in figures that are computed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from helpers.command_line import checked
from helpers.packages import without_package
from reinforce2vec import Embedding, planted_groups, read_graph, sample_walks
from reinforce2vec.cli import _demo_steps as demo

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The story on smaller graphs, of which one is in Facebook's place, and where its files are."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "_NODES", 200)
        patch.setattr(demo, "_LONG", 1000)
        patch.setattr(demo, "_is_here", lambda name, data_dir: name == "facebook")
        patch.setattr(demo, "load_dataset", lambda *name, progress: planted_groups(120, 3))
        demo.run_demo(folder, lines.append)
    return "\n".join(lines), folder


def test_the_story_fits_a_screen(told):
    lines = told[0].splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines if "/" not in line) <= 100
    for name in demo._WALKS:
        (row,) = [line for line in lines if line.strip().startswith(name)]
        assert len(row) <= 60  # the columns stay in place on a narrow terminal
    assert len(next(line for line in lines if line.startswith("Walk "))) <= 60


def test_the_figures_are_computed(told):
    story, folder = told
    graph = read_graph(folder / "groups-edges.txt")
    walks = sample_walks(graph, demo._WALKS["first-order (DeepWalk)"], length=40, per_node=1)
    mean = np.mean([len(set(walk)) for walk in walks.tolist()])
    assert re.search(rf"first-order \(DeepWalk\) +{mean:.1f} ", story)
    right = float(re.search(r"nodes given: ([\d.]+)% right", story)[1])
    assert 40 < right <= 100  # of 6 groups, a sixth by guessing
    areas = [float(found) for found in re.findall(r"AUC ([\d.]+)", story)]
    assert len(areas) == 2
    assert all(55 < area <= 100 for area in areas)


def test_the_files_are_where_it_says(told):
    story, folder = told
    for name, n_nodes in (("groups", 200), ("facebook", 120)):
        vectors, picture, page = (
            folder / f"{name}-{what}" for what in ("vectors.npz", "map.png", "page.html")
        )
        for path in (vectors, picture, page):
            assert f"  {path}\n" in story
        assert len(Embedding.load(vectors)) == n_nodes
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_without_facebook_and_matplotlib_there_is_no_picture(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "_NODES", 150)
    monkeypatch.setattr(demo, "_LONG", 200)
    without_package(monkeypatch, "matplotlib")
    out, empty = tmp_path / "out", tmp_path / "empty"
    empty.mkdir()
    result = checked("demo", "-o", out, "--data-dir", empty, "--json")
    assert "Facebook" not in result.output
    assert "stuck" in result.stderr
    said = json.loads(result.stdout)["files"]
    assert said == [str(out / "groups-vectors.npz"), str(out / "groups-page.html")]
    found = {path.name for path in Path(out).iterdir()}
    assert found == {
        *("groups-edges.txt", "groups-labels.txt", "groups-vectors.npz", "groups-page.html")
    }


def test_a_file_in_place_of_the_folder_ends_in_a_sentence(tmp_path):
    (tmp_path / "out").write_text("")
    result = checked("demo", "--output", tmp_path / "out", code=2)
    assert result.stderr.startswith("error: ")
