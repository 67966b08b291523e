"""The fuzzer finds what is wrong, and what it once found stays mended."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from random import Random

import pytest

from helpers.paths import ROOT
from reinforce2vec import Graph, InputError

FUZZ = ROOT / "reliability" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzzing():
    """The fuzzer's modules."""
    pytest.importorskip("resource")
    sys.path.insert(0, str(ROOT / "reliability"))
    try:
        from fuzzing import runs, targets

        yield type("Fuzzing", (), {"runs": runs, "targets": targets})
    finally:
        sys.path.remove(str(ROOT / "reliability"))


def test_every_saved_input_ends_in_a_right_result_or_a_sentence():
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, FUZZ, "--replay", "--workers", "2"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings" in done.stdout


def ending_of(fuzzing, folder, read, target="edges"):
    """How a valid file ends with a reader that is broken."""
    broken = replace(fuzzing.targets.TARGETS[target], read=read)
    case = next(case for case in broken.cases() if case.main == "graph.csv")
    return fuzzing.runs.execute(broken, case, case.write(folder), used=False)


def lines_of(path):
    return [line.split(",") for line in path.read_text().splitlines()[1:]]


def test_a_valid_file_ends_in_a_result(fuzzing, tmp_path):
    right = fuzzing.targets.TARGETS["edges"].read
    assert ending_of(fuzzing, tmp_path, right).kind == "result"


def raise_key_error(path):
    raise KeyError("weight")


def refuse_without_a_name(path):
    raise InputError("this file is wrong")


def drop_an_edge(path):
    return Graph.from_edges([line[:2] for line in lines_of(path)[1:]])


def invent_an_edge(path):
    return Graph.from_edges([*(line[:2] for line in lines_of(path)), ["0", "99"]])


def warn_as_numpy_does(path):
    warnings.warn("overflow encountered in add", RuntimeWarning, stacklevel=1)
    raise InputError(f"{path}: too large")


def take_much_memory(path):
    _ = b"x" * (200 << 20)
    raise InputError(f"{path}: too large")


@pytest.mark.parametrize(
    ("read", "kind"),
    [
        (raise_key_error, "exception"),
        (refuse_without_a_name, "message"),
        (drop_an_edge, "wrong"),
        (invent_an_edge, "wrong"),
        (warn_as_numpy_does, "warning"),
        pytest.param(
            take_much_memory,
            "memory",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc"),
        ),
    ],
)
def test_a_broken_reader_is_found(fuzzing, tmp_path, read, kind):
    assert ending_of(fuzzing, tmp_path, read).kind == kind


def test_one_seed_makes_one_sequence_of_inputs(fuzzing):
    target = fuzzing.targets.TARGETS["edges"]
    cases = target.cases()

    def changed(seed):
        random = Random(seed)
        return [
            fuzzing.targets.mutated(random.choice(cases), cases[0], target, random)[0].name
            for _ in range(50)
        ]

    assert changed(1) == changed(1) != changed(2)
