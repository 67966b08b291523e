"""The command that walks: what it writes, what it says, how it fails; and how commands end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

import reinforce2vec
from helpers.command_line import check, checked, run
from helpers.interrupts import interrupt_when
from helpers.limits import largest_file
from reinforce2vec import (
    Embedding,
    FirstOrderWalk,
    ReinforcedWalk,
    SecondOrderWalk,
    read_graph,
    sample_walks,
)


def walk(*words):
    return run("walk", "edges.txt", "-o", "walks.txt", "--length", "7", "--per-node", "3", *words)


def lines_of(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


# -- what it writes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ([], ReinforcedWalk()),
        (["--reading", "released", "--reward", "kl"], ReinforcedWalk.released("kl")),
        (
            ["--exploration", "epsilon", "--exploration-weight", "0.2"],
            ReinforcedWalk("js", "epsilon", 0.2),
        ),
        (["--walk", "first-order"], FirstOrderWalk()),
        (["--walk", "second-order", "--p", "0.25", "--q", "4"], SecondOrderWalk(0.25, 4)),
    ],
)
def test_the_walks_are_those_of_the_library(folder, options, policy):
    result = walk("--seed", "5", *options)
    assert result.exit_code == 0, result.output
    graph = read_graph("edges.txt")
    walks = sample_walks(graph, policy, length=7, per_node=3, seed=5)
    assert lines_of(folder / "walks.txt") == graph.ids[walks].astype(str).tolist()


def test_options_on_how_to_read_reach_the_reader(folder):
    (folder / "arcs.data").write_text("from;to;strength\na;b;1\nb;c;2\nc;c;3\n")
    options = ["--format", "csv", "--delimiter", ";", "--header", "--weighted", "--self-loops"]
    result = run("walk", "arcs.data", "-o", "walks.txt", "--directed", *options)
    assert result.exit_code == 0, result.output
    assert "3 edges, directed, weighted" in result.stderr
    assert lines_of(folder / "walks.txt")[0][:4] == ["a", "b", "c", "c"]


# -- which walk the options mean ---------------------------------------------------------------


def test_options_override_the_reading(folder):
    words = ("--reading", "released", "--candidates", 3, "--annealing", "linear", "--json")
    settings = json.loads(check(walk(*words)).stdout)["settings"]["walk"]
    released = ReinforcedWalk.released(candidates=3, annealing="linear")
    assert settings == {"kind": "reinforced", **asdict(released)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--p 1", "--p is for --walk second-order"),
        ("--walk first-order --reading paper", "--reading is for --walk reinforced"),
        ("--walk second-order --reward js", "--reward is for --walk reinforced"),
        ("--walk lazy", "--walk"),
        ("--reading mine", "--reading"),
        ("--reward best", "--reward"),
        ("--candidates 0", "--candidates"),
        ("--exploration-weight -1", "--exploration-weight must be"),
        ("--exploration epsilon --exploration-weight 2", "--exploration-weight"),
    ],
)
def test_options_that_make_no_sense_are_refused(folder, words, message):
    assert message in check(walk(*words.split()), 2).stderr


# -- what it says ------------------------------------------------------------------------------


def test_three_lines_on_stderr_sum_up(folder):
    result = walk()
    assert result.stdout == ""
    graph, guesses, walks = result.stderr.splitlines()
    assert graph.startswith("edges.txt: Graph(34 nodes, 78 edges, undirected, unweighted")
    assert guesses == "edges.txt: no weights; separated by whitespace; no header; integer ids"
    assert walks.startswith("walks.txt: 102 walks, 612 steps in ")
    assert walks.endswith("steps/s)")


def test_the_version():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (
        0,
        f"reinforce2vec {reinforce2vec.__version__}\n",
    )


def test_json_tells_what_was_written_and_how(folder):
    result = walk("--json", "--walk", "second-order", "--p", "2", "--workers", "1", "--quiet")
    told = json.loads(result.stdout)
    assert result.stderr == ""
    seconds = told["seconds"]
    assert told["tokens_per_second"] == pytest.approx(714 / seconds)
    assert told["peak_memory"] > 10**7
    assert {name: told[name] for name in ("command", "version", "files", "graph")} == {
        "command": "walk",
        "version": reinforce2vec.__version__,
        "files": ["walks.txt"],
        "graph": "edges.txt",
    }
    assert {name: told[name] for name in ("nodes", "edges", "walks", "tokens", "backend")} == {
        "nodes": 34,
        "edges": 78,
        "walks": 102,
        "tokens": 714,
        "backend": "cpu",
    }
    assert told["settings"] == {
        "walk": {"kind": "second-order", "p": 2.0, "q": 1.0},
        "length": 7,
        "per_node": 3,
        "direction": "forward",
        "seed": 0,
        "workers": 1,
        "backend": "auto",
    }


# -- how it fails ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("edges.txt -o w.txt --format doc", 2, "error: unknown format 'doc'"),
        ("edges.txt -o w.txt --delimiter ;;", 2, "error: --delimiter"),
        ("edges.txt -o edges.txt", 2, "choose another name"),
        ("edges.txt", 2, "--output"),
        ("vectors.npz -o w.txt", 1, "these are vectors of nodes, expected a graph"),
        ("nan.txt -o w.txt", 1, "nan.txt, line 2"),
        ("edges.txt -o .", 2, "error: .: this folder holds other files than walks"),
        ("edges.txt -o walks", 2, "to a folder, whose name ends in a slash"),
        ("edges.txt -o walks.npz --shards npy", 2, "--shards is for walks in a folder"),
    ],
)
def test_mistakes_end_in_a_sentence_and_an_exit_code(folder, words, code, message):
    (folder / "nan.txt").write_text("1 2 0.5\n2 3 nan\n")
    Embedding([1, 2], np.ones((2, 3))).save("vectors.npz")
    before = sorted(os.listdir(folder))
    assert message in check(run("walk", *words.split()), code).stderr
    assert sorted(os.listdir(folder)) == before


def test_a_file_that_cannot_be_written_ends_in_a_sentence(folder):
    check(walk())
    (folder / "walks.txt").unlink()
    with largest_file(1000):
        result = check(walk(), 1)
    assert result.stderr.splitlines()[-1] == f"error: {folder / 'walks.txt'}: File too large"
    assert os.listdir(folder) == ["edges.txt"]


def test_an_interrupt_is_reported_in_a_line(folder, interrupts):
    with interrupt_when(lambda: any(file.stat().st_size for file in folder.glob(".*.part"))):
        result = run("walk", "edges.txt", "-o", "walks.txt", "--per-node", 10**7)
    check(result, 130)
    assert result.stderr.splitlines()[-1].startswith("interrupted")


# -- without a terminal, and as a module -------------------------------------------------------


def command(*words, **settings):
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "reinforce2vec", *words], text=True, check=False, **settings
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="streams are closed otherwise there")
def test_the_work_is_done_though_nobody_listens(folder):
    words = ("walk", "edges.txt", "-o", "walks.txt", "--per-node", "40")
    result = command(*words, preexec_fn=lambda: os.close(2), stdout=subprocess.PIPE)
    assert (result.returncode, result.stdout) == (0, "")
    assert len(lines_of(folder / "walks.txt")) == 1360


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk to write to")
@pytest.mark.parametrize("words", [["embed", "--help"], ["datasets", "--json"]], ids=" ".join)
def test_a_result_that_cannot_be_printed_ends_in_a_sentence(words):
    with open("/dev/full", "w") as full:
        result = command(*words, stdout=full, stderr=subprocess.PIPE)
    assert (result.returncode, result.stderr) == (1, "error: No space left on device\n")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_names_that_a_terminal_cannot_show_are_no_failure_of_their_own(encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    result = command("evaluate", "東京", env=environment, stderr=subprocess.PIPE, encoding="utf-8")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


def test_short_walks_of_a_directed_graph_are_told(folder):
    (folder / "edges.txt").write_text("a b\nb c\nc d\na d\n")
    command = ("walk", "edges.txt", "-o", "walks.txt", "--directed")
    forward = run(*command)
    assert "have 2.2 of 40 nodes on average: --direction both" in forward.stderr
    both = run(*command, "--direction", "both")
    assert "on average" not in both.stderr
    assert {len(line) for line in lines_of(folder / "walks.txt")} == {40}
    refused = run(*command, "--direction", "back")
    assert refused.exit_code == 2
    assert "invalid value for '--direction'" in refused.stderr


# -- a folder of shards ------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--shards", "npy"]])
def test_a_folder_gets_shards_and_can_be_trained_on(folder, words):
    result = checked(*WALK_TO_FOLDER, *words, "--json")
    told = json.loads(result.stdout)
    assert told["files"] == ["walks/"]
    manifest = json.loads((folder / "walks" / "manifest.json").read_text())
    assert manifest["walks"] == told["walks"] == 34 * 3
    assert [shard["file"].rpartition(".")[2] for shard in manifest["shards"]] == ["npy"]
    checked("walk", "edges.txt", "-o", "one.npz", "--length", "7", "--per-node", "3")
    for source in ("walks/", "walks", "one.npz"):
        output = f"{source.strip('/')}.npz"
        checked("embed", "--walks", source, "-o", output, "--dimensions", "8", "--seed", "1")
    one = Embedding.load("one.npz.npz").vectors
    np.testing.assert_array_equal(Embedding.load("walks.npz").vectors, one)


WALK_TO_FOLDER = ("walk", "edges.txt", "-o", "walks/", "--length", "7", "--per-node", "3")


def test_a_command_on_ray_writes_the_same_folder(folder, ray_cluster):
    checked(*WALK_TO_FOLDER)
    on_cpu = {path.name: path.read_bytes() for path in (folder / "walks").iterdir()}
    result = checked(*WALK_TO_FOLDER, "--backend", "ray", "--workers", "2", "--json")
    assert json.loads(result.stdout)["backend"] == "ray"
    assert {path.name: path.read_bytes() for path in (folder / "walks").iterdir()} == on_cpu
