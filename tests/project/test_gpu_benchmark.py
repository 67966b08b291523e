"""The benchmark of the CUDA backend runs from end to end; pages are made of committed results."""

from __future__ import annotations

import importlib
import json

import numpy as np
import pytest

from helpers.paths import ROOT
from reinforce2vec import rmat

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def study(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu

    return gpu


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import gpu_report

    return gpu_report


@pytest.mark.slow
def test_every_part_runs_and_is_reported(study, page, cuda, tmp_path):
    for part in study.PARTS:
        study.run(part, study.TINY, tmp_path)
    found = {part: json.loads((tmp_path / f"{part}.json").read_text()) for part in study.PARTS}
    assert all(part["rows"] for part in found.values())
    text = page.report(found)
    for title in page.SECTIONS:
        assert f"## {title}" in text
    assert "Not run" not in text


def test_a_part_that_did_not_run_is_named(page):
    machine = {"date": "", "processor": "", "processors": 1, "python": "", "versions": {}}
    found = {"walks": {"machine": machine | {"commit": ""}, "rows": []}}
    assert "Not run: training, whole, huge" in page.report(found)


PAGES = [
    *("walks", "training", "quality", "neighbors", "recommendation", "reading", "first_run"),
    *("explorer", "scale", "race"),
]


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_made_of_the_committed_results(monkeypatch, name):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    results = json.loads((BENCHMARKS / "results" / f"{name}.json").read_text())
    page = (BENCHMARKS / "results" / f"{name}.md").read_text()
    assert importlib.import_module(name).render(results) == page


def test_a_page_without_a_script_names_the_commit_that_measured_it():
    for page in (BENCHMARKS / "results").glob("*.md"):
        if not (BENCHMARKS / f"{page.stem}.py").exists():
            assert "of commit e4b9ee8" in page.read_text(), page.name


def test_the_gpu_page_is_made_of_the_committed_results(page):
    found = json.loads((BENCHMARKS / "results" / "gpu.json").read_text())
    assert page.report(found) == (ROOT / "docs" / "gpu.md").read_text()


def test_a_row_has_the_median_and_the_range(page):
    rows = [{"graph": "BlogCatalog", "walk": "paper", "per_second": n * 1e6} for n in (3, 9, 4)]
    text = "\n".join(page.describe_walks({"walks": {"rows": rows}}))
    assert "| BlogCatalog | paper | 4 (3 – 9) |" in text


def test_a_graph_drawn_on_a_gpu_is_an_rmat_graph(study):
    found, expected = study.rmat_on_gpu(12, xp=np), rmat(12)
    adjacency = found.to_scipy()
    assert abs(adjacency - adjacency.T).nnz == 0
    assert not adjacency.diagonal().any()
    assert all((np.diff(row) > 0).all() for row in np.split(found.indices, found.indptr[1:-1]))
    assert found.n_edges == pytest.approx(expected.n_edges, rel=0.02)
    assert found.n_isolated == pytest.approx(expected.n_isolated, rel=0.1)
