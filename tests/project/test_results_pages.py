"""The tables of the paper: the committed pages are made of the committed scores, and all runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from helpers.paths import ROOT

PAPER, FOLDER = ROOT / "paper", ROOT / "docs" / "results"
NAMES = sorted(
    path.stem for path in FOLDER.glob("*.md") if path.stem not in ("results", "defaults")
)


@pytest.fixture(scope="module")
def paper():
    """The module that makes the pages, and the committed scores."""
    pytest.importorskip("pandas")
    sys.path.insert(0, str(PAPER))
    try:
        spec = spec_from_file_location("paper_pages", PAPER / "__main__.py")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module, module.read_cells(PAPER / "cells.jsonl")
    finally:
        sys.path.remove(str(PAPER))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_made_of_the_committed_scores(paper, name):
    module, records = paper
    run = module.run_of(module.EXPERIMENTS[name])
    page = module.EXPERIMENTS[name].page(records, run)
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert module.page_text(name, page, records, run, list(page.pictures)) == text
    data = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(module.table_data(page))) == data[name]
    assert all((FOLDER / f"{picture}.png").exists() for picture in page.pictures)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_for_strangers(name):
    """Headings in words, and no names of internal settings."""
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \w", page, re.MULTILINE)
    assert not re.findall(r"^## .*`", page, re.MULTILINE)
    assert not re.search(r"\b(?:paper|released) reading\b|p[\d.]+-q[\d.]+|@", page)
    assert f"]({name}.md)" in (FOLDER / "results.md").read_text(encoding="utf-8")


@pytest.mark.study
def test_everything_runs_on_tiny_graphs_and_goes_on_where_it_was(tmp_path):
    words = [sys.executable, PAPER, "--small", "--seeds", "1", "--jobs", "2", "--backend", "cpu"]
    words += ["--out", tmp_path / "out", "--cells", tmp_path / "cells.jsonl"]
    names = ["table-4", "table-7", "table-8", "figure-1", "figure-4", "family"]
    first = subprocess.run([*words, *names], capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    for name in names:
        assert (tmp_path / "out" / f"{name}.md").read_text().startswith("# ")
    cells = (tmp_path / "cells.jsonl").read_text()
    (tmp_path / "cells.jsonl").write_text(cells[: len(cells) - 40])  # killed in its last line
    pages = {path: path.read_text() for path in (tmp_path / "out").glob("*.md")}
    again = subprocess.run([*words, *names], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("/1 ") == 1  # one cell was computed again
    assert {path: path.read_text() for path in pages} == pages
