"""The demo does the whole job, and reports figures that are computed."""

from __future__ import annotations

import json
import re

import pytest

from helpers.command_line import checked
from helpers.packages import without_package
from reinforce2vec import Embedding

pytestmark = pytest.mark.slow


def test_the_demo_reports_scores_and_writes_its_files(tmp_path):
    result = checked("demo", "-o", tmp_path / "new" / "folder", "--data-dir", tmp_path)
    assert 40 < float(re.search(r"known: ([\d.]+)% right", result.stdout)[1]) <= 100
    assert 55 < float(re.search(r"AUC ([\d.]+)", result.stdout)[1]) <= 100
    vectors, page, picture = (
        tmp_path / "new" / "folder" / f"groups-{name}"
        for name in ("vectors.npz", "page.html", "map.png")
    )
    assert all(f"  {path}\n" in result.stdout for path in (vectors, page, picture))
    assert len(Embedding.load(vectors)) == 1000
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_without_matplotlib_there_is_no_picture(tmp_path, monkeypatch):
    without_package(monkeypatch, "matplotlib")
    result = checked("demo", "-o", tmp_path / "out", "--data-dir", tmp_path, "--json")
    assert "no exploration: 40 steps visit" in result.stderr
    files = [str(tmp_path / "out" / f"groups-{name}") for name in ("vectors.npz", "page.html")]
    assert json.loads(result.stdout)["files"] == files
    written = [str(tmp_path / "out" / "groups-edges.txt"), *files]
    assert sorted(map(str, (tmp_path / "out").iterdir())) == sorted(written)


def test_a_file_in_place_of_the_folder_ends_in_a_sentence(tmp_path):
    (tmp_path / "out").write_text("")
    result = checked("demo", "--output", tmp_path / "out", code=2)
    assert result.stderr.startswith("error: ")
