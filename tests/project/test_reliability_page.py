"""The page of promises names tests that exist, and figures that were measured."""

from __future__ import annotations

import importlib
import re

import pytest

from helpers.paths import ROOT

PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_the_figures_are_the_recorded_ones(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "making")
    table = importlib.import_module("reliability").markdown_table()
    assert table in PAGE, "run docs/making/reliability.py"
    assert table.count("\n") > 5


@pytest.mark.parametrize("path", sorted(set(re.findall(r"tests/[\w/]+\.py", PAGE + SECURITY))))
def test_the_tests_that_hold_a_promise_exist(path):
    assert "def test_" in (ROOT / path).read_text(encoding="utf-8")


def test_every_trial_has_a_script_and_stands_on_the_page(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "making")
    trials = importlib.import_module("reliability").TRIALS
    results = {path.stem for path in (ROOT / "reliability" / "results").glob("*.json")}
    assert results <= set(trials)
    for script in re.findall(r"`(reliability/\w+\.py)", PAGE):
        assert (ROOT / script).exists()
