"""Experiments: cells are kept, settings chosen by validation, and tables tell the truth."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import wait
from dataclasses import replace

import numpy as np
import pytest

from helpers.interrupts import wait_for_end
from reinforce2vec import (
    InputError,
    Reinforce2Vec,
    ReinforcedWalk,
    __version__,
    divergences,
    occupation,
)
from reinforce2vec._util.cuda import device
from reinforce2vec.experiments import paper
from reinforce2vec.experiments._processes import JobProcesses
from reinforce2vec.experiments.catalogue import EXPERIMENTS, experiments_named
from reinforce2vec.experiments.cells import (
    HEADLINE,
    LINK_PREDICTION,
    LINK_TIMING,
    NODE_CLASSIFICATION,
    NODE_TIMING,
    PATHS,
    TABLES,
    VALIDATION_ONLY,
    Cell,
    all_needed,
    cell_path,
    read_cell,
    write_cell,
)
from reinforce2vec.experiments.choosing import Candidate, best_candidate, link_candidates
from reinforce2vec.experiments.costs import cost_of
from reinforce2vec.experiments.methods import EmbeddingMethod, _parameter_text, compared, variant
from reinforce2vec.experiments.reproduction import reproduce
from reinforce2vec.experiments.running import _grouped, library_commit, run_cells
from reinforce2vec.experiments.scale import PAPER_SCALE, SMALL_SCALE
from reinforce2vec.experiments.scoring import compute
from reinforce2vec.experiments.sweeps import Sweep, SweepSetting
from reinforce2vec.experiments.tables import Table, TableEntry, table_entry
from reinforce2vec.experiments.toy import toy_graph, toy_walk
from reinforce2vec.experiments.views import Results, best_groups, best_links

WALK = variant("released", "js", "ucb", SMALL_SCALE)


def link_cell(seed=0, **changes):
    return replace(Cell(LINK_PREDICTION, "facebook", WALK, seed, SMALL_SCALE), **changes)


def group_cell(seed=0, **changes):
    return replace(Cell(NODE_CLASSIFICATION, "ppi", WALK, seed, SMALL_SCALE), **changes)


# -- what a cell computes ------------------------------------------------------------------------


def test_a_link_cell_has_both_protocols_for_raw_and_smoothed_vectors():
    scores = compute(link_cell(), None, [])["scores"]
    for kind in ("raw", "smoothed"):
        for operator in paper.OPERATOR_NAMES:
            assert scores[kind]["shared"][operator].keys() == {"auc", "ap", "validation"}
            assert scores[kind]["transfer"][operator].keys() == {"auc", "ap"}
    assert scores["raw"] != scores["smoothed"]


def test_a_classification_cell_has_every_fraction_and_shuffle():
    scores = compute(group_cell(), None, [])["scores"]
    for kind in ("raw", "smoothed"):
        assert sorted(map(float, scores[kind])) == [part / 10 for part in range(1, 10)]
        assert len(scores[kind]["0.5"]) == SMALL_SCALE.shuffles
        assert len(scores[kind]["0.1"]) == SMALL_SCALE.more_shuffles
        assert "validation_micro" in scores[kind]["0.5"][0]
        assert "validation_micro" not in scores[kind]["0.1"][0]
        tuned = [share for share in scores[kind] if "tuned_micro" in scores[kind][share][0]]
        assert sorted(tuned) == ["0.1", "0.5", "0.9"]  # a cell with C by validation, bounded


def test_smaller_scopes_have_the_same_scores_of_less():
    full = compute(link_cell(), None, [])["scores"]
    headline = compute(link_cell(scope=HEADLINE), None, [])["scores"]
    assert headline == {kind: {"shared": full[kind]["shared"]} for kind in full}
    validation = compute(link_cell(scope=VALIDATION_ONLY), None, [])["scores"]
    assert validation["raw"]["shared"]["l2"] == {
        "validation": full["raw"]["shared"]["l2"]["validation"]
    }
    full = compute(group_cell(), None, [])["scores"]
    tables = compute(group_cell(scope=TABLES), None, [])["scores"]
    assert tables == {
        kind: {share: full[kind][share] for share in ("0.5", "0.1", "0.9")} for kind in full
    }
    assert compute(group_cell(scope=HEADLINE), None, [])["scores"].keys() == {"raw", "smoothed"}


@pytest.mark.parametrize("cell", [link_cell(), group_cell()])
def test_one_description_one_result(cell):
    first = compute(cell, None, [])["scores"]
    assert compute(cell, None, [])["scores"] == first
    assert compute(replace(cell, seed=1), None, [])["scores"] != first


@pytest.mark.parametrize("make_cell", [link_cell, group_cell])
def test_a_method_that_smooths_is_not_smoothed_again(make_cell):
    smoothing = replace(WALK, parameters=WALK.parameters | {"smooth": True}, smooths=True)
    scores = compute(make_cell(method=smoothing), None, [])["scores"]
    assert scores.keys() == {"smoothed"}
    assert scores["smoothed"] == compute(make_cell(), None, [])["scores"]["smoothed"]


def test_a_cell_tells_the_seconds_of_its_embedding_apart():
    found = compute(group_cell(seed=4321), None, [])  # no other test's: vectors are kept
    assert 0 < found["fit_seconds"] <= found["seconds"] + 0.01
    assert found["smooth_seconds"] > 0


@pytest.mark.parametrize("task", [LINK_TIMING, NODE_TIMING])
def test_a_timing_has_seconds_for_raw_and_smoothed_vectors(task):
    scores = compute(group_cell(task=task, scale=replace(SMALL_SCALE, threads=2)), None, [])[
        "scores"
    ]
    assert 0 < scores["raw"] < scores["smoothed"]


def test_our_default_is_described_by_all_of_its_settings():
    method = next(one for one in compared(PAPER_SCALE) if one.name == "default")
    assert method.make(32, 1).get_params(deep=False) == Reinforce2Vec(
        dimensions=32, seed=1, workers=1, backend="cpu"
    ).get_params(deep=False)
    assert {"walks_per_node", "window", "smooth", "walk"} <= method.settings().keys()
    assert method.smooths == Reinforce2Vec().smooth


def test_pilots_choose_by_validation_alone():
    node2vec = next(one for one in compared(SMALL_SCALE) if one.choices)
    cell = Cell(LINK_PREDICTION, "facebook", node2vec, 0, SMALL_SCALE)
    pilots = cell.needs()
    assert [pilot.scope for pilot in pilots] == [VALIDATION_ONLY] * 4
    assert [pilot.method.parameters["walks_per_node"] for pilot in pilots] == [1] * 4
    assert len({pilot.name for pilot in pilots}) == 4
    low, high = ({"raw": {"shared": {"l2": {"validation": one}}}} for one in (60.0, 70.0))
    found = compute(cell, None, [low, low, high, low])
    assert found["chosen"] == "p2-q0.5"
    alone = replace(cell, method=node2vec.chosen(2))
    assert compute(alone, None, [])["scores"] == found["scores"]


# -- names and files -----------------------------------------------------------------------------


def test_a_cell_is_found_again_by_its_description(tmp_path):
    write_cell(tmp_path, link_cell(), {"scores": {"a": 1.5}})
    assert read_cell(tmp_path, link_cell())["scores"] == {"a": 1.5}
    assert read_cell(tmp_path, link_cell(seed=1)) is None
    other = replace(WALK, parameters=WALK.parameters | {"learning_rate": 0.1})
    assert cell_path(tmp_path, link_cell(method=other)) == cell_path(tmp_path, link_cell())
    assert read_cell(tmp_path, link_cell(method=other)) is None


def test_estimates_grow_with_the_work():
    deepwalk, fewer = (
        next(one for one in compared(PAPER_SCALE) if one.name == name)
        for name in ("deepwalk", "deepwalk-10")
    )
    cell = Cell(NODE_CLASSIFICATION, "ppi", deepwalk, 0, PAPER_SCALE)
    for less in (
        replace(cell, method=fewer),
        replace(cell, scope=TABLES),
        replace(cell, scope=HEADLINE),
        replace(cell, scale=replace(PAPER_SCALE, dimensions=32)),
    ):
        assert cost_of(less) < cost_of(cell)
    assert cost_of(replace(cell, graph="dblp")) > 5 * cost_of(cell)


def test_the_backend_of_a_run_is_a_gpu_only_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(device, "why_not", lambda: "there is no GPU")
    with pytest.raises(InputError, match="there is no GPU"):
        reproduce(["figure-2"], tmp_path, backend="cuda", scale=SMALL_SCALE)
    with pytest.raises(InputError, match="backend must be"):
        reproduce(["figure-2"], tmp_path, backend="gpu", scale=SMALL_SCALE)
    cells = EXPERIMENTS["figure-2"].cells(range(1), SMALL_SCALE)
    (tmp_path / "cells").mkdir()
    for cell in cells:
        found = {"looked": [10], "nodes": [[2]], "frequencies": [[5, 5]]}
        write_cell(tmp_path / "cells", cell, {"scores": found})
    reproduce(["figure-2"], tmp_path, backend="auto", scale=SMALL_SCALE)
    told = json.loads((tmp_path / "results.json").read_text())["experiments"]["figure-2"]
    assert told["backend"] == "cpu"
    monkeypatch.setattr(device, "why_not", lambda: None)
    reproduce(["figure-2"], tmp_path, backend="auto", scale=SMALL_SCALE)
    told = json.loads((tmp_path / "results.json").read_text())["experiments"]["figure-2"]
    assert told["backend"] == "cuda"


def test_a_report_of_finished_cells_needs_no_gpu(tmp_path, monkeypatch):
    """Cells may be computed on one machine and shown on another."""
    monkeypatch.setattr(device, "why_not", lambda: "there is no GPU")
    (tmp_path / "cells").mkdir()
    for cell in EXPERIMENTS["figure-2"].cells([0], SMALL_SCALE):
        write_cell(tmp_path / "cells", cell, compute(cell, None, []))
    outcome = reproduce(["figure-2"], tmp_path, seeds=1, backend="cuda", scale=SMALL_SCALE)
    assert outcome.results
    assert (tmp_path / "results.md").exists()


@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("make_cell", [link_cell, group_cell])
def test_a_cell_of_a_gpu_has_about_the_same_scores(make_cell):
    hope = next(method for method in compared(SMALL_SCALE) if method.name == "hope")
    cell = make_cell(method=hope, scope=HEADLINE)
    scores, found = (
        compute(replace(cell, scale=replace(SMALL_SCALE, backend=backend)), None, [])["scores"]
        for backend in ("cpu", "cuda")
    )
    if cell.task == LINK_PREDICTION:
        for operator, one in scores["smoothed"]["shared"].items():
            assert found["smoothed"]["shared"][operator] == pytest.approx(one, abs=1.0)
    else:
        for one, other in zip(scores["smoothed"]["0.5"], found["smoothed"]["0.5"], strict=True):
            assert other == pytest.approx(one, abs=3.0)


def test_cells_of_a_gpu_are_other_cells(tmp_path):
    gpu = link_cell(scale=replace(SMALL_SCALE, backend="cuda"))
    assert gpu.description()["backend"] == "cuda"
    assert cell_path(tmp_path, gpu) != cell_path(tmp_path, link_cell())
    path = Cell(PATHS, "ppi", WALK, 0, SMALL_SCALE)  # walks alone are the same everywhere
    on_gpu = replace(path, scale=gpu.scale)
    assert (on_gpu.name, on_gpu.description()) == (path.name, path.description())


def test_a_cell_is_reused_whatever_commit_it_comes_from(tmp_path):
    write_cell(tmp_path, link_cell(), {"scores": {"a": 1.5}, "commit": "of-another-day"})
    assert read_cell(tmp_path, link_cell())["commit"] == "of-another-day"
    cells = [link_cell(), link_cell(seed=1), link_cell(seed=2)]
    told = {cell.name: {"commit": "b" if cell.seed else "a"} for cell in cells}
    assert Results(told).commits(cells) == ["a", "b"]


def test_the_commit_is_that_of_the_source_or_the_version(monkeypatch):
    monkeypatch.delenv("REINFORCE2VEC_COMMIT", raising=False)
    assert re.fullmatch(rf"[0-9a-f]{{7,}}|{re.escape(__version__)}", library_commit())
    monkeypatch.setenv("REINFORCE2VEC_COMMIT", "abc123")
    assert library_commit() == "abc123"
    monkeypatch.delenv("REINFORCE2VEC_COMMIT")
    monkeypatch.setenv("PATH", "")  # no git
    assert library_commit() == __version__


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"description": {}}'])
def test_a_damaged_file_is_told_from_another_cell(tmp_path, damage):
    cell_path(tmp_path, link_cell()).write_text(damage)
    with pytest.raises(ValueError):  # noqa: PT011
        read_cell(tmp_path, link_cell())


@pytest.mark.parametrize("scale", [PAPER_SCALE, SMALL_SCALE])
def test_different_cells_have_different_files(tmp_path, scale):
    described = {}
    for experiment in EXPERIMENTS.values():
        for cell in all_needed(experiment.cells(range(2), scale)):
            told = described.setdefault(cell_path(tmp_path, cell), cell.description())
            assert told == cell.description()
            assert cost_of(cell) > 0
    assert len(described) > len(EXPERIMENTS)


def test_a_walk_is_spelled_by_what_is_not_its_default():
    assert _parameter_text(ReinforcedWalk.paper("js", "ucb")) == "ReinforcedWalk()"
    assert (
        _parameter_text(ReinforcedWalk("kl", weight=0.5)) == "ReinforcedWalk(reward=kl, weight=0.5)"
    )


def test_the_methods_say_the_papers_amount_of_training():
    model = variant("paper", "js", "ucb", PAPER_SCALE).make(64, seed=3)
    wanted = {
        "walks_per_node": 80, "walk_length": 40, "window": 10, "negatives": 5, "epochs": 1,
        "learning_rate": 0.025, "dimensions": 64, "seed": 3, "workers": 1, "smooth": False,
        "subsample": 0.0, "backend": "cpu",
    }  # fmt: skip
    assert wanted.items() <= model.get_params().items()
    assert len({method.name for method in compared(PAPER_SCALE)}) == len(compared(PAPER_SCALE))


# -- running -------------------------------------------------------------------------------------

# Cells of three kinds: with pilots, with a method that does not exist, and plain.
PLAIN = [group_cell(seed, scope=HEADLINE) for seed in range(3)]
NODE2VEC = next(one for one in compared(SMALL_SCALE) if one.choices)
TUNED = Cell(LINK_PREDICTION, "facebook", NODE2VEC, 0, SMALL_SCALE, HEADLINE)


def test_cells_of_all_seeds_share_vectors_that_need_no_seed():
    hope = next(method for method in compared(SMALL_SCALE) if method.name == "hope")
    assert not hope.seeded
    cells = [group_cell(seed, method=hope) for seed in range(3)]
    assert _grouped(cells) == [cells]
    assert _grouped(PLAIN) == [[cell] for cell in PLAIN]
    links = [link_cell(seed, method=hope) for seed in range(2)]  # the graph has a seed
    assert _grouped(links) == [[cell] for cell in links]


@pytest.mark.slow
def test_what_is_finished_is_kept_and_what_fails_is_told(tmp_path, capsys):
    broken = link_cell(method=EmbeddingMethod("broken", "broken", parameters={"walk_length": 0}))
    said = []
    outcome = run_cells([*PLAIN, TUNED, broken], tmp_path, jobs=2, say=said.append)
    assert list(outcome.failures) == [broken.name]
    assert "walk_length must be an integer of at least 1" in outcome.failures[broken.name]
    assert set(outcome.results) == {cell.name for cell in [*PLAIN, TUNED, *TUNED.needs()]}
    assert outcome.results[TUNED.name]["chosen"] in dict(TUNED.method.choices)
    # the same as without processes
    assert outcome.results[PLAIN[1].name]["scores"] == compute(PLAIN[1], None, [])["scores"]

    times = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    damaged = cell_path(tmp_path, PLAIN[0])
    damaged.write_text(damaged.read_text()[:100])
    again = run_cells([*PLAIN, TUNED], tmp_path, jobs=1, say=said.append)
    assert again.computed == 1
    assert len(said) == 1
    assert f"{damaged}: damaged" in said[0]
    assert {name: one["scores"] for name, one in again.results.items()} == {
        name: one["scores"] for name, one in outcome.results.items()
    }
    changed = {p.name for p in tmp_path.iterdir() if p.stat().st_mtime_ns != times[p.name]}
    assert changed == {damaged.name}


@pytest.mark.slow
def test_a_killed_process_costs_its_own_cell_alone(tmp_path):
    def kill_one():
        while not list(tmp_path.glob("[!.]*.json")):
            time.sleep(0.01)
        multiprocessing.active_children()[0].kill()

    killer = threading.Thread(target=kill_one)
    killer.start()
    cells = [group_cell(seed) for seed in range(8)]
    outcome = run_cells(cells, tmp_path, jobs=2)
    killer.join()
    assert len(outcome.failures) <= 1  # none if the process had just finished a cell
    assert all("try fewer --jobs" in reason for reason in outcome.failures.values())
    assert {*outcome.results, *outcome.failures} == {cell.name for cell in cells}
    assert run_cells(cells, tmp_path, jobs=2).computed == len(outcome.failures)
    assert not multiprocessing.active_children()


def results_of(processes, function, *jobs):
    futures = processes.submit(function, jobs)
    wait(futures)
    return [result for _, result in processes.finished(futures, 0)]


@pytest.mark.slow
def test_a_process_that_dies_is_replaced_and_the_other_goes_on():
    with JobProcesses(2) as processes:
        other = processes.submit(time.sleep, [(2,)])
        died = results_of(processes, signal.raise_signal, (signal.SIGKILL,), (signal.SIGKILL,))
        assert ["was killed" in result.failure for result in died] == [True, True]
        assert results_of(processes, math.sqrt, (4.0,), (9.0,)) == [(2.0, None), (3.0, None)]
        wait(other)
        assert [result for _, result in processes.finished(other, 0)] == [(None, None)]


def test_a_process_that_dies_without_a_job_is_replaced():
    with JobProcesses(1) as processes:
        results_of(processes, math.sqrt, (4.0,))
        [child] = multiprocessing.active_children()
        child.kill()
        child.join()
        [first] = results_of(processes, math.sqrt, (4.0,))  # may be lost if it came too soon
        assert first.value == 2.0 or "was killed" in first.failure
        assert results_of(processes, math.sqrt, (9.0,)) == [(3.0, None)]


def test_a_failure_says_what_and_where():
    with JobProcesses(1) as processes:
        found = results_of(processes, json.loads, ("{",), ("{}",))
        assert found[0].failure.startswith("JSONDecodeError: Expecting property name")
        assert re.search(r"\(decoder\.py, line \d+\)$", found[0].failure)
        assert found[1] == ({}, None)
        [missing] = results_of(processes, os.stat, ("/no/such/file",))
        assert missing.failure == "[Errno 2] No such file or directory: '/no/such/file'"


def test_processes_have_one_thread_and_end_in_the_middle_of_a_job(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with JobProcesses(2) as processes:
        processes.submit(time.sleep, [(10**6,)])  # this test hangs if it is not ended
        [one] = results_of(processes, os.getenv, ("OMP_NUM_THREADS",))
        assert one.value == "1"
        numpy_first = "import numpy, threadpoolctl; assert all("
        numpy_first += "one['num_threads'] == 1 for one in threadpoolctl.threadpool_info())"
        assert results_of(processes, exec, (numpy_first,)) == [(None, None)]
    assert os.environ["OMP_NUM_THREADS"] == "2"
    assert not multiprocessing.active_children()
    with JobProcesses(1, threads=3) as processes:
        assert results_of(processes, os.getenv, ("OMP_NUM_THREADS",))[0].value == "3"


SCRIPT = """
from pathlib import Path
from reinforce2vec.experiments.reproduction import reproduce
from reinforce2vec.experiments.scale import SMALL_SCALE
reproduce(["figure-2", "table-8"], Path({out!r}), seeds=1, jobs=1, scale=SMALL_SCALE)
"""


GROUP_CELLS = EXPERIMENTS["table-8"].cells(range(1), SMALL_SCALE)


def start(out):
    script = SCRIPT.format(out=str(out))
    return subprocess.Popen([sys.executable, "-c", script], start_new_session=True)


def scores_in(folder):
    return {
        path.name: json.loads(path.read_text())["scores"]
        for path in (folder / "cells").glob("[!.]*.json")
    }


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    out = tmp_path / "out"
    run = start(out)
    while run.poll() is None and len(scores_in(out)) < 3:
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    wait_for_end(run.pid)
    kept = {path: path.stat().st_mtime_ns for path in (out / "cells").glob("[!.]*.json")}
    finished = scores_in(out)
    assert 3 <= len(finished) < 18
    assert not (out / "results.md").exists()
    assert start(out).wait() == 0
    found = scores_in(out)
    assert len(found) == 18
    assert finished.items() <= found.items()
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items())
    assert (out / "results.md").exists()
    # the scores are those of a run that nobody killed
    cells = {cell_path(out, cell).name: cell for cell in GROUP_CELLS}
    name = max(cells.keys() - finished.keys())
    assert compute(cells[name], None, [])["scores"] == found[name]


# -- choosing ------------------------------------------------------------------------------------


def test_the_best_is_the_best_in_validation_not_in_the_test():
    good, lucky = Candidate("good", 90.0, {"auc": 80.0}), Candidate("lucky", 80.0, {"auc": 99.0})
    assert best_candidate([lucky, good]) is good
    assert best_candidate([]) is None


def links(validation, test, transfer):
    return {
        "raw": {
            "shared": {"l2": {"auc": test, "ap": test, "validation": validation}},
            "transfer": {"l2": {"auc": transfer, "ap": transfer}},
        }
    }


def test_the_best_links_are_chosen_for_each_seed():
    found = {
        "a": {0: links(90, 70, 60), 1: links(80, 99, 98)},
        "b": {0: links(80, 99, 98), 1: links(90, 72, 62)},
    }
    choice = best_links(found, "shared", ["raw"])
    assert choice.values["auc"].values == (70, 72)
    assert choice.summary() == "a, raw, l2 (1 of 2); b, raw, l2 (1 of 2)"
    assert best_links(found, "transfer", ["raw"]).values["auc"].values == (60, 62)
    assert len(link_candidates("a", found["a"][0], "shared", ["raw"])) == 1


def test_the_best_groups_are_chosen_for_each_shuffle():
    def shuffles(*pairs):
        return {
            "raw": {
                "0.5": [
                    {"micro": test, "macro": test / 2, "validation_micro": validation}
                    for validation, test in pairs
                ]
            }
        }

    found = {"a": {0: shuffles((9, 20), (5, 99))}, "b": {0: shuffles((5, 99), (9, 30))}}
    choice = best_groups(found, ["raw"], {"micro": 24.0})
    assert choice.values["micro"].values == (25,)
    assert choice.values["micro"].difference == 1
    assert choice.values["macro"].values == (12.5,)


# -- tables --------------------------------------------------------------------------------------


def test_an_entry_tells_ours_the_papers_and_the_difference():
    assert str(TableEntry((96.0, 98.0), 96.5)) == "97.0 ± 1.4 (96.5, +0.5)"
    assert str(TableEntry((97.04,))) == "97.0"
    assert TableEntry((1.0,)).spread is None
    assert math.isclose(TableEntry((96.0, 98.0)).spread, math.sqrt(2))
    assert table_entry([]) is None


def test_a_table_shows_a_dash_for_what_is_missing_and_the_best_bold():
    table = Table("AUC", ["method", "l1"])
    table.add("a", [TableEntry((90.0,))])
    table.add("b", [TableEntry((95.0,), 94.0)])
    table.add("c", [None])
    text = table.markdown()
    assert "| a | 90.0 |" in text
    assert "| b | **95.0 (94.0, +1.0)** |" in text
    assert "| c | – |" in text
    assert table.data()["rows"][1]["l1"]["paper"] == 94.0


def test_a_table_has_the_best_by_the_digits_shown_in_bold_and_no_empty_column():
    table = Table("AUC, `shared`", ["walk", "1", "5", "80"])
    for label, tied, best in (("a", 99.12, 98.0), ("b", 99.14, 99.04), ("c", 99.1, 98.96)):
        table.add(label, [TableEntry((tied,)), TableEntry((best,)), None])
    assert table.markdown().splitlines() == [
        "## AUC, shared",
        "",
        "| walk | 1 | 5 |",
        "| --- | --- | --- |",
        "| a | 99.1 | 98.0 |",
        "| b | 99.1 | **99.0** |",
        "| c | 99.1 | **99.0** |",
    ]


def test_the_papers_tables_agree_with_one_another():
    """DRRW with JS and UCB is reinforce2vec, and has the same numbers wherever it stands."""
    assert paper.TABLE_5["js", "ucb"] == paper.TABLE_4["facebook"]["reinforce2vec"]
    assert paper.TABLE_8["js", "ucb"] == paper.TABLE_7["ppi"]["reinforce2vec"]
    assert len(paper.TABLE_5) == len(paper.TABLE_8) == 9


def test_the_papers_gains_follow_from_its_numbers():
    for graph, gain in (("facebook", 2.2), ("ca-astroph", 4.1)):
        rows = dict(paper.TABLE_4[graph])
        ours = max(rows.pop("reinforce2vec").values())
        others = max(score for row in rows.values() for score in row.values())
        assert 100 * (ours / others - 1) == pytest.approx(gain, abs=0.06)
    for graph, gain in (("blogcatalog", 3.1), ("ppi", 4.7), ("dblp", 1.0)):
        rows = {name: row["micro"] for name, row in paper.TABLE_7[graph].items()}
        ours = rows.pop("reinforce2vec")
        assert 100 * (ours / max(rows.values()) - 1) == pytest.approx(gain, abs=0.16)


# -- sweeps --------------------------------------------------------------------------------------


def test_a_sweep_takes_the_best_choice_by_validation():
    settings = tuple(
        SweepSetting("first-order", {"learning_rate": rate}, walks, f"rate {rate}")
        for walks in (1, 5)
        for rate in (0.1, 0.2)
    )
    sweep = Sweep("budget", "Budget", settings, ("facebook",), "walks")
    cells = sweep.cells([0], SMALL_SCALE)
    assert len({cell.name for cell in cells}) == 4

    def scores(validation, test):
        one = links(validation, test, test)
        return {"raw": one["raw"], "smoothed": one["raw"]}

    told = [scores(80, 70), scores(70, 99), scores(60, 98), scores(90, 75)]
    results = {cell.name: {"scores": one} for cell, one in zip(cells, told, strict=True)}
    view = sweep.view(Results(results), [0], SMALL_SCALE)
    row = view.tables[0].data()["rows"][0]
    assert row["label"] == "first-order"
    assert (row["1"]["mean"], row["5"]["mean"]) == (70, 75)
    assert view.more["chosen"]["facebook, first-order"]["5"] == "first-order, rate 0.2, raw, l2"


# -- the toy example -----------------------------------------------------------------------------


def test_the_toy_walk_is_the_captions_and_follows_the_equations():
    steps = toy_walk()
    path = [*steps[-1].path, steps[-1].following]
    assert path[:4] == [1, 3, 4, 3]
    assert [step.tied for step in steps[:3]] == [True, True, False]
    rows = np.array(path) - 1
    for reward in ("kl", "js"):  # the closed form of the library agrees with the literal sums
        told = [step.divergences[reward][step.following] for step in steps]
        assert np.allclose(divergences(rows, 5, reward), told, rtol=1e-12, atol=1e-15)
    shares = occupation(rows, 5, list(range(len(steps))))
    assert np.allclose(shares, [step.occupation for step in steps])
    assert toy_graph().n_edges == 5


def test_paths_without_exploration_end_between_two_nodes():
    method = EmbeddingMethod(
        "stuck", "stuck", "", {"walk": ReinforcedWalk.released("vertex", "none")}
    )
    scores = compute(Cell(PATHS, "ppi", method, 0, SMALL_SCALE), None, [])["scores"]
    assert scores["looked"] == [2, 20, 200]
    assert scores["nodes"][-1] == [2] * 20
    assert scores["frequencies"][-1] == [50, 50]
    assert scores["moved"][-1] < scores["moved"][0]


# -- names ---------------------------------------------------------------------------------------


def test_experiments_are_chosen_by_name_each_once():
    assert [one.name for one in experiments_named(["table-8", "figure-2", "table-8"])] == [
        "table-8",
        "figure-2",
    ]
    papers = ["table-4", "table-5", "table-7", "table-8", *(f"figure-{i}" for i in range(1, 5))]
    assert [one.name for one in experiments_named([])] == papers
    assert experiments_named(["all"]) == experiments_named([])
    with pytest.raises(InputError, match="no experiment 'table-9': choose from table-4"):
        experiments_named(["table-9"])
