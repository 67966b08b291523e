"""The committed pages of results are what the library makes of the committed scores."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from helpers.paths import ROOT
from reinforce2vec.experiments.catalogue import EXPERIMENTS
from reinforce2vec.experiments.scale import PAPER_SCALE
from reinforce2vec.experiments.views import Results

FOLDER = ROOT / "docs" / "results"
KNOWN = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))["experiments"]


@pytest.fixture(scope="module")
def results():
    return Results(json.loads((FOLDER / "cells.json").read_text(encoding="utf-8")))


# the kept scores of figure 1 are rounded, and its table has more digits
@pytest.mark.parametrize("name", [name for name in KNOWN if name != "figure-1"])
def test_a_page_has_the_tables_of_the_committed_scores(results, name):
    scale = replace(PAPER_SCALE, backend=KNOWN[name].get("backend", "cpu"))
    view = EXPERIMENTS[name].view(results, KNOWN[name]["seeds"], scale)
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert view.tables
    assert all(table.markdown() in page for table in view.tables)
    assert all(f"\n{note}\n" in page for note in view.notes)


@pytest.mark.parametrize("name", KNOWN)
def test_a_page_is_for_strangers(name):
    """A page of its own with a title, headings in words, and no names of internal settings."""
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {EXPERIMENTS[name].title}\n")
    assert re.findall(r"^## \w", page, re.MULTILINE)
    assert not re.findall(r"^## .*`", page, re.MULTILINE)
    one_seed = page.split("\n")[2].startswith("*1 seed,")
    assert not (one_seed and "over seeds" in page and " ± " not in page.partition("\n## ")[2])
    assert not re.search(r"\b(?:paper|released) reading\b|p[\d.]+-q[\d.]+|cells computed", page)
    assert f"]({name}.md)" in (FOLDER / "results.md").read_text(encoding="utf-8")
