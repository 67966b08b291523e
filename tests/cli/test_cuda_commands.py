"""Commands with --backend cuda: what they write, and how they are refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from helpers.command_line import run
from helpers.packages import without_package
from reinforce2vec import (
    Embedding,
)
from reinforce2vec._util.cuda import device
from reinforce2vec.cli._run import USAGE

COMMANDS = {
    "walk": ("walk", "edges.txt", "-o", "out.txt", "--length", "7", "--per-node", "3"),
    "embed": (
        *("embed", "edges.txt", "-o", "out.npz", "--dimensions", "8"),
        *("--walk-length", "10", "--walks-per-node", "3"),
    ),
}


@pytest.fixture
def without_cupy(monkeypatch):
    device.why_not.cache_clear()
    without_package(monkeypatch, "cupy")
    yield
    device.why_not.cache_clear()


def check_refused(result, words, folder):
    assert result.exit_code == USAGE, result.output
    assert re.search(words, result.stderr)
    assert [path.name for path in folder.iterdir()] == ["edges.txt"]


@pytest.mark.parametrize("name", COMMANDS)
def test_without_cupy_a_command_ends_in_a_sentence_before_the_graph_is_read(
    unreadable, without_cupy, name
):
    result = run(*COMMANDS[name], "--backend", "cuda")
    check_refused(result, r"^error: .*CuPy.*pip install 'reinforce2vec\[cuda\]'$", unreadable)
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_backend_is_refused_before_the_graph_is_read(unreadable, name):
    result = run(*COMMANDS[name], "--backend", "nonsense")
    check_refused(result, "^error: invalid value for '--backend': 'nonsense' ", unreadable)


def test_the_card_writes_the_walks_of_the_cpu(folder, cuda):
    written = []
    for backend in ("cpu", "cuda"):
        assert run(*COMMANDS["walk"], "--backend", backend).exit_code == 0
        written.append((folder / "out.txt").read_text())
    assert written[0] == written[1]
    assert len(written[0].splitlines()) == 34 * 3


@pytest.mark.parametrize("more", [(), ("--smooth",)], ids=["plain", "smooth"])
def test_vectors_of_the_card_are_written_and_it_is_said_where_they_were_learned(folder, cuda, more):
    result = run(*COMMANDS["embed"], "--backend", "cuda", *more)
    assert result.exit_code == 0, result.output
    assert "on the GPU" in result.stderr
    found = Embedding.load("out.npz")
    assert found.vectors.shape == (34, 8)
    assert np.isfinite(found.vectors).all()
    assert np.ptp(found.vectors) > 0.1
