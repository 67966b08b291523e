"""The command that makes vectors: what it writes, what it says, how it fails and goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from helpers.command_line import MAIN, check, interrupted, run, run_python, started
from helpers.interrupts import Stopped, stop_at
from reinforce2vec import (
    Embedding,
    FirstOrderWalk,
    Reinforce2Vec,
    ReinforcedWalk,
    __version__,
    read_graph,
)
from reinforce2vec.files.writing import claimed
from reinforce2vec.models import reinforce2vec as model

FEW = {"dimensions": 8, "walks_per_node": 3, "walk_length": 10, "workers": 1}
CHECKPOINT = ("--checkpoint", "training.checkpoint")
_GUESSES = ["no weights", "separated by whitespace", "no header", "integer ids"]


def as_options(settings):
    return [word for name, value in settings.items() for word in (f"--{name}", str(value))]


def few(**changes):
    return as_options({name.replace("_", "-"): value for name, value in (FEW | changes).items()})


def embed(*words, output="vectors.npz"):
    """Run the command on edges.txt, for a short while."""
    return run("embed", "edges.txt", "-o", output, *few(), *words)


@pytest.fixture
def untrained(monkeypatch):
    """No training may begin."""

    def never(*args, **options):
        raise AssertionError("a training began")

    monkeypatch.setattr(model, "begin", never)


# -- what it writes ----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".npz", ".txt", ".csv.gz", ".bin", ".parquet"])
def test_the_vectors_are_those_of_the_library_in_every_format(folder, suffix):
    check(embed(output=f"vectors{suffix}"))
    expected = Reinforce2Vec(**FEW).fit("edges.txt").embedding_
    written = Embedding.load(f"vectors{suffix}")
    assert written.ids.tolist() == expected.ids.tolist()
    assert np.array_equal(written.vectors, expected.vectors)
    assert set(os.listdir(folder)) == {"edges.txt", f"vectors{suffix}"}


def test_a_dash_is_csv_on_standard_output_and_nothing_else(folder):
    result = check(embed(output="-"))
    check(embed(output="vectors.csv"))
    assert result.stdout == (folder / "vectors.csv").read_text()
    assert result.stdout.startswith("node,d0,d1,")
    assert "edges.txt: Graph(" in result.stderr
    assert "-: 34 nodes" in result.stderr
    assert sorted(os.listdir(folder)) == ["edges.txt", "vectors.csv"]
    assert "-o - and --json both" in check(embed("--json", output="-"), 2).stderr


@pytest.fixture
def made(monkeypatch):
    """The model that a command makes, and what it is asked to do; it learns nothing."""
    calls = {}

    def fit(learner, graph, **options):
        calls.update(model=learner, graph=graph, **options)
        learner.embedding_ = Embedding(graph.ids, np.zeros((len(graph.ids), learner.dimensions)))
        learner.n_tokens_, learner.seconds_, learner.loss_curve_ = 1, 1.0, np.ones(1)
        learner.backend_ = "cpu"
        return learner

    monkeypatch.setattr(model.Reinforce2Vec, "fit", fit)
    monkeypatch.setattr(model.Reinforce2Vec, "fit_walks", fit)
    return calls


def test_without_options_the_model_is_the_default_one(folder, made):
    check(run("embed", "edges.txt", "-o", "vectors.npz"))
    expected = Reinforce2Vec(walk=ReinforcedWalk()).get_params()
    assert made["model"].get_params() == expected
    assert (made["checkpoint"], made["checkpoint_every"], made["resume"]) == (None, 300, False)
    assert made["graph"].n_edges == 78


def test_every_option_reaches_the_model(folder, made):
    settings = {
        "dimensions": 12,
        "walks_per_node": 3,
        "walk_length": 11,
        "window": 4,
        "negatives": 7,
        "epochs": 2,
        "learning_rate": 0.01,
        "subsample": 0.125,
        "seed": 9,
        "workers": 3,
        "backend": "cpu",
        "direction": "both",
    }
    options = as_options({name.replace("_", "-"): value for name, value in settings.items()})
    words = ["--checkpoint", "c", "--checkpoint-every", "1.5", "--resume", "--walk", "first-order"]
    words += ["--smooth", "--scratch", "."]
    check(run("embed", "edges.txt", "-o", "vectors.npz", *options, *words, "--quiet"))
    more = {"walk": FirstOrderWalk(), "smooth": True, "scratch": Path(".")}
    assert made["model"].get_params() == settings | more
    assert str(made["checkpoint"]) == "c"
    assert (made["checkpoint_every"], made["resume"], made["progress"]) == (1.5, True, False)


@pytest.mark.parametrize(
    ("typed", "window"),
    [("1,10", (1, 10)), ("5", 5), ("1,2,30", (1, 2, 30)), (" 1, 4 ", (1, 4)), ("07", 7)],
)
def test_windows_are_typed_with_commas(folder, made, typed, window):
    for words in (["--window", typed], [f"--window={typed}"]):
        check(embed(*words))
        assert made["model"].window == window
        assert type(made["model"].window) is type(window)


def test_a_preset_has_the_settings_of_its_name(folder, made):
    check(run("embed", "edges.txt", "-o", "vectors.npz", "--preset", "paper"))
    expected = Reinforce2Vec.paper(walk=ReinforcedWalk())
    assert made["model"].get_params() == expected.get_params()
    assert type(made["model"].window) is int


@pytest.mark.parametrize("first", [True, False])
def test_an_option_overrides_the_preset_wherever_it_stands(folder, made, first):
    changes = ["--window", "2,4", "--dimensions", "12", "--smooth", "--learning-rate", "0.5"]
    preset = ["--preset", "paper"]
    words = [*preset, *changes] if first else [*changes, *preset]
    check(run("embed", "edges.txt", "-o", "vectors.npz", *words))
    given = {"window": (2, 4), "dimensions": 12, "smooth": True, "learning_rate": 0.5}
    expected = Reinforce2Vec.paper(walk=ReinforcedWalk(), **given)
    assert made["model"].get_params() == expected.get_params()


@pytest.mark.parametrize("suffix", [".txt", ".npz"])
def test_walks_teach_what_they_teach_the_library(folder, suffix):
    file = f"walks{suffix}"
    check(run("walk", "edges.txt", "-o", file, "--length", "10", "--per-node", "3"))
    check(run("embed", "--walks", file, "-o", "vectors.npz", "-d", "8", "--workers", "1"))
    expected = Reinforce2Vec(8, workers=1).fit_walks(file).embedding_
    written = Embedding.load("vectors.npz")
    assert written.ids.tolist() == expected.ids.tolist()
    assert np.array_equal(written.vectors, expected.vectors)


def test_an_older_file_is_replaced_at_the_end_only(folder):
    (folder / "vectors.npz").write_text("older")
    check(embed("--learning-rate", "1e30"), 1)
    assert (folder / "vectors.npz").read_text() == "older"
    check(embed())
    assert len(Embedding.load("vectors.npz")) == 34


# -- what it says ------------------------------------------------------------------------------


NUMBER = r"[\d.,]+( million)?"
CLOSING = (
    rf"vectors\.npz: 34 nodes, 8 dimensions; 1,020 tokens in [\d.]+ s \({NUMBER} tokens/s\), "
    r"peak memory [\d.]+ [MG]B"
)


def test_three_lines_on_stderr_sum_up(folder):
    result = check(embed())
    assert result.stdout == ""
    graph, guesses, memory, vectors = result.stderr.splitlines()
    assert guesses == f"edges.txt: {'; '.join(_GUESSES)}"
    assert graph.startswith("edges.txt: Graph(34 nodes, 78 edges, undirected, unweighted")
    assert re.fullmatch(r"training needs about [\d.]+ MB of memory", memory)
    assert re.fullmatch(CLOSING, vectors)


def test_of_walks_it_says_how_many(folder):
    (folder / "walks.txt").write_text("1\t2\t3\n2\t1\n")
    result = check(run("embed", "--walks", "walks.txt", "-o", "vectors.npz", "-d", "8"))
    walks, memory, vectors = result.stderr.splitlines()
    assert walks == "walks.txt: StoredWalks(2 walks, 3 nodes); separated by tabs; integer ids"
    assert memory.startswith("training needs about ")
    assert vectors.startswith("vectors.npz: 3 nodes, 8 dimensions; 5 tokens in ")


@pytest.mark.parametrize(
    "words", [["--walk-length", "9"], ["--walk", "first-order"], ["--p", "2"], ["--directed"]]
)
def test_what_says_nothing_to_walks_is_refused(folder, words):
    (folder / "walks.txt").write_text("1\t2\t3\n2\t1\n")
    result = check(run("embed", "--walks", "walks.txt", "-o", "vectors.npz", *words), 2)
    assert words[0] in result.stderr


def test_json_tells_what_was_learned_and_how(folder):
    result = check(embed("--json", "--quiet", output="vectors.tsv"))
    assert result.stderr == ""
    told = json.loads(result.stdout)
    model = Reinforce2Vec(**FEW).fit("edges.txt")
    walk = {"kind": "reinforced", **asdict(ReinforcedWalk())}
    rate = {"learning_rate": model.learning_rate_, "direction": "forward"}  # as they were used
    windows = {"window": [1, 10]}
    assert told.pop("settings") == model.get_params(deep=False) | {"walk": walk} | windows | rate
    assert told.pop("tokens_per_second") == pytest.approx(told["tokens"] / told.pop("seconds"))
    assert told.pop("peak_memory") > 10**7
    assert [os.path.basename(file) for file in told.pop("files")] == [
        "vectors.tsv",
        "vectors.metadata.tsv",
    ]
    assert told == {
        "command": "embed",
        "version": __version__,
        "graph": "edges.txt",
        "nodes": 34,
        "edges": 78,
        "directed": False,
        "weighted": False,
        "notes": _GUESSES,
        "dropped_self_loops": 0,
        "merged_edges": 0,
        "method": "reinforce2vec",
        "dimensions": 8,
        "tokens": model.n_tokens_,
        "loss": model.loss_curve_[-1].tolist(),  # of each window
        "backend": "cpu",
    }


def test_json_of_walks_that_teach_nothing(folder):
    (folder / "walks.txt").write_text("1\n2\n")
    result = check(run("embed", "--walks", "walks.txt", "-o", "v.npz", "-d", "2", "--json"))
    told = json.loads(result.stdout)
    assert (told["walks"], told["nodes"], told["loss"]) == ("walks.txt", 2, None)
    assert "nothing was learned" in result.stderr


# -- how it fails ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("-o v.npz", 2, "error: give either GRAPH or --walks FILE"),
        ("edges.txt --walks w.txt -o v.npz", 2, "error: give either GRAPH or"),
        ("edges.txt", 2, "--output"),
        ("edges.txt -o link.txt", 2, "choose another name"),
        ("--walks w.txt -o w.txt", 2, "choose another name"),
        ("edges.txt -o v.npz --checkpoint v.npz", 2, "choose another name"),
        ("edges.txt -o v.npz --checkpoint edges.txt", 2, "choose another name"),
        ("edges.txt -o v.npz --checkpoint no/c", 2, "does not exist"),
        ("edges.txt -o v.npz --resume", 2, "error: --resume needs --checkpoint FILE"),
        ("edges.txt -o v.npz --p 2", 2, "error: --p is for --walk second-order"),
        ("edges.txt -o v.npz --temperature 0", 2, "--temperature must be a number"),
        ("edges.txt -o v.npz --window 10,1", 2, "error: --window must be an integer"),
        ("edges.txt -o - --json", 2, "-o - and --json both"),
        ("broken.txt -o v.npz", 1, "broken.txt, line 2"),
        ("edges.txt -o v.npz --learning-rate 50", 1, "A --learning-rate of 50 is too"),
        ("names.txt -o v.txt --delimiter \\t", 1, "'new york'"),
        ("names.txt -o v.bin --delimiter \\t", 1, "'new york'"),
        ("edges.txt -o v.npz --negatives 1000000000000", 1, "needs about"),
    ],
)
def test_mistakes_end_in_a_sentence_and_an_exit_code(folder, words, code, message):
    (folder / "broken.txt").write_text("1 2\n3\n")
    (folder / "w.txt").write_text("1\t2\n")
    (folder / "names.txt").write_text("new york\told town\n")
    (folder / "link.txt").symlink_to("edges.txt")
    before = sorted(os.listdir(folder))
    result = check(run("embed", *words.split()), code)
    assert message in result.stderr
    assert len(result.stderr.partition("error: ")[2].splitlines()) <= 2
    assert sorted(os.listdir(folder)) == before


def test_what_is_read_is_not_written_over_by_the_file_beside_the_output(folder):
    (folder / "v.metadata.tsv").write_text("a\tb\nb\tc\n")
    check(run("embed", "v.metadata.tsv", "-o", "v.tsv", *few()), 2)
    assert (folder / "v.metadata.tsv").read_text() == "a\tb\nb\tc\n"
    check(run("walk", "edges.txt", "-o", "w.npz", "--length", "5", "--per-node", "1"))
    before = (folder / "w.npz").read_bytes()
    check(run("embed", "--walks", "w.npz", "-o", "w.npz", *few()), 2)
    assert (folder / "w.npz").read_bytes() == before


def test_what_cannot_be_written_is_refused_before_the_graph_is_read(unreadable, monkeypatch):
    for output in ("nowhere/v.npz", "v.doc", "edges.txt"):
        check(embed(output=output), 2)
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    result = check(embed(), 2)
    assert "no permission to write to the folder" in result.stderr


# -- interrupted, and resumed ------------------------------------------------------------------


@pytest.fixture
def stopped(folder):
    """A folder with the checkpoint of a training that was stopped halfway."""
    options = {"checkpoint": CHECKPOINT[1], "checkpoint_every": 0, "callbacks": [stop_at(50)]}
    with pytest.raises(Stopped):
        Reinforce2Vec(**FEW).fit(read_graph("edges.txt"), **options)
    return folder


def test_a_resumed_command_writes_the_same_file(stopped):
    check(embed(*CHECKPOINT, "--resume"))
    assert sorted(os.listdir(stopped)) == ["edges.txt", "vectors.npz"]
    resumed = (stopped / "vectors.npz").read_bytes()
    check(embed())
    assert (stopped / "vectors.npz").read_bytes() == resumed


def test_without_resume_a_checkpoint_is_not_written_over(stopped):
    before = (stopped / "training.checkpoint").read_bytes()
    result = check(embed(*CHECKPOINT), 2)
    assert "this checkpoint exists: resume from it (--resume), or remove it" in result.stderr
    assert (stopped / "training.checkpoint").read_bytes() == before


def test_a_checkpoint_of_a_run_that_goes_on_is_left_to_it(stopped):
    with claimed(CHECKPOINT[1]):
        for resume in ([], ["--resume"]):
            result = check(embed(*CHECKPOINT, *resume), 2)
            assert "another run is writing to it" in result.stderr
            assert "remove" not in result.stderr


def test_a_checkpoint_of_something_else_is_refused(stopped):
    for words, told in (
        (("--seed", "8"), "made with --seed 0, not --seed 8"),
        (("--window", "10"), "made with --window 1,10, not --window 10: use the same"),
    ):
        result = check(embed(*CHECKPOINT, "--resume", *words), 1)
        assert told in result.stderr.splitlines()[-1]
    (stopped / "edges.txt").write_text("1 2\n2 3\n")
    result = check(embed(*CHECKPOINT, "--resume"), 1)
    assert "another graph" in result.stderr.splitlines()[-1]
    (stopped / "training.checkpoint").write_bytes(b"PK")
    result = check(embed(*CHECKPOINT, "--resume"), 1)
    assert "not a checkpoint of reinforce2vec, or a damaged one" in result.stderr.splitlines()[-1]
    assert sorted(os.listdir(stopped)) == ["edges.txt", "training.checkpoint"]


def test_a_checkpoint_stays_when_the_vectors_cannot_be_written(folder, monkeypatch):
    """Nothing that was learned is lost: the next command needs no training."""

    def full(*args, **options):
        raise OSError(28, "No space left on device", "vectors.npz")

    with monkeypatch.context() as changes:
        changes.setattr(Embedding, "save", full)
        result = check(embed(*CHECKPOINT), 1)
    assert result.stderr.splitlines()[-1] == "error: vectors.npz: No space left on device"
    assert sorted(os.listdir(folder)) == ["edges.txt", "training.checkpoint"]
    check(embed(*CHECKPOINT, "--resume"))
    assert sorted(os.listdir(folder)) == ["edges.txt", "vectors.npz"]


HALFWAY = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup may have silenced it
from reinforce2vec import Reinforce2Vec

fit = Reinforce2Vec.fit

def wait(moment):
    if 2 * moment.walks >= moment.n_walks:
        print("halfway", flush=True)
        sys.stdin.readline()

Reinforce2Vec.fit = lambda *given, **options: fit(*given, **options, callbacks=[wait])
"""


def signalled(number, *words):
    """What the command says when it gets a signal halfway."""
    command = ["embed", "edges.txt", "-o", "vectors.npz", *words]
    with started(*command, code=HALFWAY + MAIN) as process:
        assert process.stdout.readline() == "halfway\n"
        return interrupted(process, number)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_a_checkpoint_from_which_it_goes_on(folder, number):
    said = signalled(getattr(signal, number), *few(), *CHECKPOINT)
    kept = "progress is saved in training.checkpoint"
    assert said == f"interrupted: {kept}: repeat the command with --resume"
    assert sorted(os.listdir(folder)) == ["edges.txt", "training.checkpoint"]
    check(embed(*CHECKPOINT, "--resume"))
    expected = Reinforce2Vec(**FEW).fit(read_graph("edges.txt")).embedding_
    assert np.array_equal(Embedding.load("vectors.npz").vectors, expected.vectors)
    assert sorted(os.listdir(folder)) == ["edges.txt", "vectors.npz"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_without_a_checkpoint_a_signal_leaves_nothing(folder):
    assert signalled(signal.SIGINT, *few()) == "interrupted: no unfinished file is left"
    assert sorted(os.listdir(folder)) == ["edges.txt"]


@pytest.mark.parametrize(
    ("words", "told", "used"),
    [
        ([], "have about 2.2 of 40 nodes, so they go both ways (--direction forward", "both"),
        (["--direction", "forward"], "of 40 nodes: --direction both makes longer ones", "forward"),
        (["--direction", "both"], "of 40 nodes; they go both ways", "both"),
    ],
)
def test_walks_of_a_directed_graph_are_told(folder, words, told, used):
    (folder / "edges.txt").write_text("a b\nb c\nc d\na d\n")
    command = ("embed", "edges.txt", "-o", "v.npz", "--directed", "--dimensions", "4", "--json")
    result = check(run(*command, *words))
    assert told in result.stderr
    facts = json.loads(result.stdout)
    assert facts["settings"]["direction"] == used
    assert facts["notes"] == [*_GUESSES[:3], "text ids"]


def test_a_resumed_command_says_whether_there_is_a_checkpoint(folder):
    first = check(embed(*CHECKPOINT, "--resume")).stderr
    assert first.startswith("training.checkpoint: nothing to resume yet, training begins\n")
    (folder / "training.checkpoint").touch()
    again = check(embed(*CHECKPOINT, "--resume"), 1).stderr
    assert again.startswith("resuming from training.checkpoint\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
def test_a_signal_that_is_ignored_stays_so():
    """As nohup ignores SIGHUP: a terminal that is closed does not end the command."""
    code = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from reinforce2vec.cli.main import main
sys.argv = ["reinforce2vec", "--version"]
try:
    main()
except SystemExit:
    print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, end=" ")
    print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
"""
    assert run_python(code).splitlines()[-1] == "True False"
