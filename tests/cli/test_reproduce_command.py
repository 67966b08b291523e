"""The command `reproduce`: files where it says, sentences when something fails."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.command_line import run
from helpers.interrupts import wait_for_end
from reinforce2vec.cli.reproduce import _sorted_out
from reinforce2vec.experiments import reproduction, speed
from reinforce2vec.experiments.catalogue import EXPERIMENTS
from reinforce2vec.experiments.cells import write_cell
from reinforce2vec.experiments.scale import SMALL_SCALE

pytestmark = pytest.mark.study

SMALL = """
from reinforce2vec.experiments import reproduction, scale
reproduction.reproduce.__kwdefaults__["scale"] = scale.SMALL_SCALE
from reinforce2vec.cli.main import main
main()
"""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setitem(reproduction.reproduce.__kwdefaults__, "scale", SMALL_SCALE)


def reproduce(*words):
    return run("reproduce", *words)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A run of all experiments at the small scale."""
    out = tmp_path_factory.mktemp("all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(reproduction.reproduce.__kwdefaults__, "scale", SMALL_SCALE)
        patch.setattr(speed, "_WALKS", (2, 5))
        patch.setattr(speed, "_BASELINES", ("deepwalk", "prone"))
        result = reproduce("all", "wide", "speed", "--seeds", 1, "--output", out)
        again = reproduce("table-5", "--seeds", 2, "--output", out)
    assert result.exit_code == 0, result.output
    assert again.exit_code == 0, again.output
    assert "12 cells of 24 from an earlier run" in again.stderr
    return out, result


def test_it_says_where_the_results_are(everything):
    out, result = everything
    assert result.stdout.startswith(f"{out / 'results.md'}: all results, from ")


def test_every_experiment_has_its_files(everything):
    out, _ = everything
    contents = (out / "results.md").read_text()
    told = json.loads((out / "results.json").read_text())["experiments"]
    for name, experiment in EXPERIMENTS.items():
        if name not in told:
            continue
        assert f"- [{experiment.title}]({name}.md)\n" in contents
        assert (out / f"{name}.md").read_text().startswith(f"# {experiment.title}\n")
        assert (out / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert "<svg" in (out / f"{name}.svg").read_text()
        assert told[name]["tables"]
    assert {"table-4", "table-5", "table-7", "table-8", "figure-1", "figure-4"} <= told.keys()


def test_the_pictures_of_the_pages_are_there(everything):
    out, _ = everything
    text = "".join(page.read_text() for page in out.glob("*.md"))
    pictures = re.findall(r"!\[.*?\]\((.+?)\)", text)
    assert len(pictures) >= 9
    assert all((out / name).exists() for name in pictures)


def test_no_number_is_missing(everything):
    out, _ = everything
    told = json.loads((out / "results.json").read_text())["experiments"]
    tables = [table for experiment in told.values() for table in experiment["tables"]]
    assert tables
    for table in tables:
        assert table["rows"]
        for row in table["rows"]:
            assert None not in row.values(), (table["title"], row["label"])


def test_the_numbers_are_means_of_the_kept_cells(everything):
    out, _ = everything
    told = json.loads((out / "results.json").read_text())["experiments"]["table-5"]
    table = next(one for one in told["tables"] if "`transfer`, authors' code" in one["title"])
    row = next(row for row in table["rows"] if row["label"] == "reinforce2vec-d:KL, UCB")
    found = [
        json.loads(path.read_text())["scores"]["raw"]["transfer"]["l1"]["auc"]
        for path in sorted((out / "cells").glob("*facebook-released-kl-ucb-*.json"))
    ]
    assert row["Weighted-L1"]["values"] == found
    assert row["Weighted-L1"]["mean"] == pytest.approx(sum(found) / 2)
    assert row["Weighted-L1"]["paper"] == 98.3
    assert row["Weighted-L1"]["difference"] == pytest.approx(sum(found) / 2 - 98.3)


def test_a_page_names_the_seeds_that_its_cells_have(tmp_path):
    assert reproduce("figure-2", "table-5", "--seeds", 2, "--output", tmp_path).exit_code == 0
    told = json.loads((tmp_path / "results.json").read_text())["experiments"]
    for name, seeds, words in [("figure-2", [0], "*1 seed, "), ("table-5", [0, 1], "*2 seeds, ")]:
        assert words in (tmp_path / f"{name}.md").read_text()
        assert told[name]["seeds"] == seeds


def test_the_help_says_what_is_done_without_a_name():
    told = " ".join(reproduce("--help").stdout.split())
    assert "all of these, which takes about two hours for three seeds on two CPU cores" in told
    assert "Default: all." in told


def test_a_later_run_keeps_what_earlier_ones_have_told(tmp_path):
    told = json.loads(reproduce("figure-2", "--output", tmp_path, "--json").stdout)
    assert (told["command"], told["failures"]) == ("reproduce", {})
    assert told["files"] == [str(tmp_path / "results.md"), str(tmp_path / "results.json")]
    assert reproduce("figure-1", "--output", tmp_path, "--jobs", 1).exit_code == 0
    page = (tmp_path / "results.md").read_text()
    assert page.index("[Figure 1.") < page.index("[Figure 2.")
    assert len(json.loads((tmp_path / "results.json").read_text())["experiments"]) == 2


def test_without_matplotlib_the_tables_come_and_a_sentence_says_what_to_install(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = reproduce("figure-2", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert "pip install 'reinforce2vec[plots]'" in result.stderr
    assert "| VRRW" in (tmp_path / "figure-2.md").read_text()
    assert not list(tmp_path.glob("*.png"))


@pytest.fixture
def real(monkeypatch):
    """The data sets themselves, not graphs that stand in for them."""
    scale = SMALL_SCALE.__class__(steps=10)
    monkeypatch.setitem(reproduction.reproduce.__kwdefaults__, "scale", scale)


@pytest.mark.usefixtures("real")
def test_data_that_is_not_there_is_told_before_anything_is_computed(tmp_path):
    words = ["figure-1", "figure-2", "--output", tmp_path / "out", "--data-dir"]
    result = reproduce(*words, tmp_path / "data")
    assert result.exit_code == 1
    assert (
        result.stderr
        == f"error: {tmp_path / 'data'}: there is no such folder (--data-dir names it)\n"
    )
    (tmp_path / "data").mkdir()
    result = reproduce(*words, tmp_path / "data")
    assert result.exit_code == 1
    assert "there is no Homo_sapiens.mat in this folder, for ppi" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("real")
def test_what_is_finished_needs_no_data(tmp_path):
    (tmp_path / "cells").mkdir()
    for cell in EXPERIMENTS["figure-2"].cells(range(1), SMALL_SCALE.__class__(steps=10)):
        found = {"looked": [10], "nodes": [[2]], "frequencies": [[5, 5]]}
        write_cell(tmp_path / "cells", cell, {"scores": found})
    result = reproduce("figure-2", "--output", tmp_path, "--data-dir", tmp_path / "nowhere")
    assert result.exit_code == 0, result.output


@pytest.mark.usefixtures("real")
def test_cells_that_fail_are_told_and_shown_as_dashes(tmp_path, monkeypatch):
    (tmp_path / "data").write_text("not a folder")
    monkeypatch.setattr(reproduction, "_check_needed", lambda *given: None)
    result = reproduce("figure-2", "--output", tmp_path / "out", "--data-dir", tmp_path / "data")
    assert result.exit_code == 1
    assert "paths-ppi-" in result.stderr
    assert "6 cells failed" in result.stderr
    assert (tmp_path / "out" / "results.md").exists()


def test_an_unknown_name_and_a_file_for_a_folder_end_in_a_sentence(tmp_path):
    result = reproduce("table-6", "--output", tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: there is no experiment 'table-6'")
    (tmp_path / "out").write_text("")
    result = reproduce("figure-2", "--output", tmp_path / "out")
    assert result.exit_code == 2
    assert "expected a folder" in result.stderr


def test_an_interrupt_ends_everything_with_a_sentence(tmp_path):
    words = [sys.executable, "-c", SMALL, "reproduce", "table-8", "--seeds", "50", "--jobs", "2"]
    usual = signal.signal(signal.SIGINT, signal.SIG_DFL)  # nohup may have silenced it
    try:
        child = subprocess.Popen(
            [*words, "--output", str(tmp_path)],
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, usual)
    while child.poll() is None and not list(tmp_path.glob("cells/[!.]*.json")):
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)  # as Ctrl-C does: everyone gets it
    _, told = child.communicate(timeout=30)
    assert child.returncode == 130
    assert f"interrupted: finished parts are saved in {tmp_path}" in told
    assert "Traceback" not in told
    wait_for_end(child.pid)


def test_a_file_named_like_an_experiment_is_not_taken_for_a_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "speed").write_text("1 2\n")
    assert _sorted_out(["speed", "own.csv"]) == (["speed"], Path("own.csv"))
