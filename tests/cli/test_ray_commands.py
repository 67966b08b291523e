"""Commands with --backend ray: which cluster they use, and how they are refused."""

from __future__ import annotations

import json
import re

import pytest

from helpers.command_line import run
from reinforce2vec import Embedding
from reinforce2vec._util.cluster import connection
from reinforce2vec.cli._run import FAILURE, USAGE

COMMANDS = {
    "embed": ("embed", "edges.txt", "-o", "out.npz"),
    "walk": ("walk", "edges.txt", "-o", "out.txt"),
    "update": ("update", "model.r2v", "edges.txt"),
    "tune": ("tune", "edges.txt"),
    "evaluate link-prediction": ("evaluate", "link-prediction", "edges.txt"),
    "evaluate node-classification": (
        *("evaluate", "node-classification", "edges.txt", "--labels", "labels.txt"),
        *("--method", "prone"),
    ),
}


def sentence(result, code):
    """The error of a command, which is one line."""
    assert result.exit_code == code, result.output
    assert re.match(r"error: .*\n\Z", result.stderr), result.stderr
    return result.stderr.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_an_address_without_ray_is_refused_before_anything_is_read(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for file in ("edges.txt", "model.r2v"):
        (tmp_path / file).touch()  # whoever reads one finds that it is empty
    for more in ((), ("--backend", "cpu")):
        result = run(*COMMANDS[name], "--address", "auto", *more)
        assert sentence(result, USAGE) == "error: --address needs --backend ray"


def test_every_command_with_a_backend_has_an_address():
    for name, words in COMMANDS.items():
        assert "--address" in run(*name.split(), "--help").stdout, words


TRAINING = ("embed", "edges.txt", "-o", "out.npz", "-d", "4", "--walks-per-node", "2")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("localhost:1", "no Ray cluster answers at the --address 'localhost:1' "),
        ("somewhere", "--address must be auto or HOST:PORT, .* not 'somewhere'"),
        ("ray://localhost:10001", "--address must be auto or HOST:PORT, "),
    ],
)
def test_an_address_without_a_cluster_is_one_sentence(folder, address, words):
    pytest.importorskip("ray", reason="Ray is not installed, or not made for this Python")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "is_connected", lambda: False)
        result = run(*TRAINING, "--backend", "ray", "--address", address, "--quiet")
    assert re.search(words, sentence(result, FAILURE))
    assert not (folder / "out.npz").exists()


def test_a_missing_ray_is_named_by_the_option(folder, monkeypatch):
    monkeypatch.setattr(connection, "find_spec", lambda name: None)
    result = run(*TRAINING, "--backend", "ray", "--quiet")
    assert "error: --backend ray needs Ray, which is not installed: " in result.stderr


@pytest.mark.slow
def test_a_command_uses_the_cluster(folder, ray_cluster):
    result = run(*TRAINING, "--backend", "ray", "--workers", "2", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["backend"] == "ray"
    assert "2 Ray workers" in result.stderr
    assert len(Embedding.load("out.npz")) == 34
