"""The plain engine of training: the same vectors as the fast one's, up to rounding.

Both add the same float32 numbers in different orders, so single numbers differ by about 1e-7 of the
largest, and more after a long training. TOLERANCE, of the largest number of all vectors, holds for
all settings below; another draw of a single negative changes vectors a hundred times as much.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from helpers.toy_graphs import weighted
from reinforce2vec import (
    LINE,
    FirstOrderWalk,
    Graph,
    Reinforce2Vec,
    karate_club,
    rmat,
    sample_walks,
)
from reinforce2vec._util import engine
from reinforce2vec._util.engine import VARIABLE
from reinforce2vec.skipgram.cpu import engine as fast

TOLERANCE = 1e-4
CLUB = karate_club()
WALKS = sample_walks(CLUB, FirstOrderWalk(), length=20, per_node=5)


@pytest.fixture
def both(monkeypatch):
    """A function that calls another one with each engine, and returns the two results."""

    def call(function):
        found = []
        for name in ("fast", "plain"):
            monkeypatch.setenv(VARIABLE, name)
            found.append(function())
        return found

    return call


# vectors as they were trained, of one window
plainly = partial(Reinforce2Vec, window=10, smooth=False, workers=1)


def trained(**settings):
    return plainly(**settings).fit_walks(WALKS, ids=CLUB)


def check_close(one, other):
    assert one.shape == other.shape
    assert one.dtype == other.dtype == np.float32
    np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE * np.abs(one).max())


def directed():
    pairs = [(f"n{a}", f"n{b}") for a, b in np.random.default_rng(3).integers(0, 40, (150, 2))]
    return Graph.from_edges(pairs, directed=True, nodes=["alone"])


@pytest.mark.parametrize(
    ("graph", "settings"),
    [
        (CLUB, {"dimensions": 64}),
        (CLUB, {"dimensions": 37, "window": 3, "negatives": 13, "epochs": 2}),
        (CLUB, {"dimensions": 1, "negatives": 1, "window": 1}),
        (CLUB, {"dimensions": 40, "window": (1, 4, 10)}),
        (rmat(7, 6, seed=2), {"dimensions": 16, "subsample": 1e-3, "seed": 2**64 + 5}),
        (rmat(9, 6, seed=2), {"dimensions": 20, "negatives": 7, "window": 4}),
        (weighted(), {"dimensions": 24, "learning_rate": 0.1}),
        (directed(), {"dimensions": 10}),
    ],
    ids=[
        "usual",
        "odd sizes",
        "smallest",
        "windows",
        "subsampled",
        "blocks",
        "weighted",
        "directed",
    ],
)
def test_vectors_are_those_of_the_fast_engine(graph, settings, both):
    walks = sample_walks(graph, FirstOrderWalk(), length=20, per_node=5)
    one, other = both(lambda: plainly(**settings).fit_walks(walks, ids=graph))
    check_close(one.embedding_.vectors, other.embedding_.vectors)
    np.testing.assert_allclose(one.loss_curve_, other.loss_curve_, rtol=1e-4)
    assert one.n_tokens_ == other.n_tokens_
    assert one.learning_rate_ == other.learning_rate_


@pytest.mark.parametrize(
    "graph",
    [CLUB, weighted(), directed(), rmat(9, 6)],
    ids=["club", "weighted", "directed", "blocks"],
)
@pytest.mark.parametrize("negatives", [5, 7])
def test_line_finds_the_vectors_of_the_fast_engine(graph, negatives, both):
    settings = {"dimensions": 11, "negatives": negatives, "samples": 3000, "workers": 1}
    one, other = both(lambda: LINE(**settings).fit(graph).embedding_.vectors)
    check_close(one, other)


def test_any_number_of_threads_repeats_to_the_last_bit(monkeypatch):
    monkeypatch.setenv(VARIABLE, "plain")
    graph = rmat(8, 6)
    for model in (Reinforce2Vec(16, walks_per_node=2), LINE(samples=1000)):
        one, *others = (
            model.set_params(workers=workers).fit_transform(graph).tobytes()
            for workers in (1, 1, 3, 3)
        )
        assert others == [one] * 3


# -- which engine is used ------------------------------------------------------------------------


@pytest.fixture
def broken(monkeypatch):
    """A fast engine that does not compile, in a process that has not found that out yet."""

    def fail(settings):
        raise TypeError("unknown instruction\nwith details")

    monkeypatch.setattr(fast, "compile_kernels", fail)
    monkeypatch.setattr(engine, "_has_failed", False)
    monkeypatch.delenv(VARIABLE, raising=False)


def test_an_engine_that_does_not_compile_is_replaced_with_one_warning(broken, monkeypatch):
    with pytest.warns(RuntimeWarning, match=r"TypeError: unknown instruction\)"):
        first = trained()
    second = trained()  # warnings are errors
    monkeypatch.setenv(VARIABLE, "plain")
    expected = trained().embedding_.vectors
    assert np.array_equal(first.embedding_.vectors, expected)
    assert np.array_equal(second.embedding_.vectors, expected)


PROGRAM = """
import sys
import numpy as np
from reinforce2vec import LINE, Reinforce2Vec, karate_club

few = {"dimensions": 8, "walks_per_node": 1, "walk_length": 8, "smooth": False, "workers": 1}
club = karate_club()
vectors = Reinforce2Vec(**few).fit(club).embedding_.vectors
line = LINE(dimensions=8, samples=200, workers=1).fit(club).embedding_.vectors
np.save(sys.argv[1], [vectors, line])
"""


@pytest.mark.slow
def test_everything_runs_without_a_compiler_too(tmp_path):
    """Python and numba add in different orders."""
    found = []
    for name, changes in (("python", {"NUMBA_DISABLE_JIT": "1"}), ("numba", {VARIABLE: "plain"})):
        path = tmp_path / f"{name}.npy"
        command = [sys.executable, "-W", "error", "-c", PROGRAM, str(path)]
        subprocess.run(command, env={**os.environ, **changes}, check=True)
        found.append(np.load(path))
    check_close(*found)
