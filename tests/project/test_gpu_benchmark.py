"""The study of the CUDA backend runs from end to end, and its page says what it found."""

from __future__ import annotations

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


def test_every_part_runs_and_is_told(study, page, cuda, tmp_path):
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


@pytest.mark.parametrize(("seconds", "word"), [(0.2, "yes"), (0.4, "**no**")])
def test_what_was_not_reached_is_said(page, seconds, word):
    rows = [{"graph": "BlogCatalog", "seconds": seconds + change} for change in (-0.05, 0, 0.05)]
    lines = page.tell_targets({"whole": {"rows": rows}})
    (line,) = (line for line in lines if line.startswith("| BlogCatalog, graph to vectors"))
    assert line.endswith(f"| {word} |")
    assert ("Not reached:" in lines) == (word == "**no**")


def test_a_graph_drawn_on_a_card_is_an_rmat_graph(study):
    found, expected = study.rmat_on_card(12, xp=np), rmat(12)
    adjacency = found.to_scipy()
    assert abs(adjacency - adjacency.T).nnz == 0
    assert not adjacency.diagonal().any()
    assert all((np.diff(row) > 0).all() for row in np.split(found.indices, found.indptr[1:-1]))
    assert found.n_edges == pytest.approx(expected.n_edges, rel=0.02)
    assert found.n_isolated == pytest.approx(expected.n_isolated, rel=0.1)
