"""The plain engine makes the walks of the fast one, byte for byte, and takes its place."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from reinforce2vec import (
    FirstOrderWalk,
    InputError,
    WalkSampler,
    karate_club,
    sample_walks,
)
from reinforce2vec._util import engine
from reinforce2vec.walks.cpu import walker as fast
from reinforce2vec.walks.plain import walker as plain

# -- which engine --------------------------------------------------------------------------------


@pytest.fixture
def unset(monkeypatch):
    """As in a new process in which the environment says nothing."""
    monkeypatch.delenv(engine.VARIABLE, raising=False)
    monkeypatch.setattr(engine, "_has_failed", False)
    return monkeypatch


def engine_of(sampler):
    sampler.sample()
    return type(sampler._walker)


@pytest.mark.parametrize(("name", "module"), [("fast", fast), ("plain", plain)])
def test_the_environment_names_the_engine(unset, name, module):
    unset.setenv(engine.VARIABLE, name)
    sampler = WalkSampler(karate_club(), backend="cpu", per_node=1, workers=2)
    assert engine_of(sampler) is module.Walker
    unset.delenv(engine.VARIABLE)
    np.testing.assert_array_equal(sampler.sample(), sample_walks(karate_club(), per_node=1))


def test_an_unknown_engine_is_refused(unset):
    unset.setenv(engine.VARIABLE, "turbo")
    with pytest.raises(InputError, match="REINFORCE2VEC_ENGINE must be one of fast, plain, not 't"):
        sample_walks(karate_club(), per_node=1, backend="cpu")


def break_fast_engine(monkeypatch):
    def fail_to_compile(*arguments):
        raise NotImplementedError("no such instruction\nmore about it")

    broken = {
        name: entry._replace(kernel=fail_to_compile)
        for name, entry in fast._IMPLEMENTATIONS.items()
    }
    monkeypatch.setattr(fast, "_IMPLEMENTATIONS", broken)


def test_the_plain_engine_takes_the_place_of_one_that_does_not_compile_with_one_warning(unset):
    expected = sample_walks(karate_club(), per_node=1, backend="cpu")
    break_fast_engine(unset)
    with pytest.warns(RuntimeWarning, match=r"Implemented.*: no such instruction\)") as caught:
        found = sample_walks(karate_club(), per_node=1, backend="cpu")
    assert len(caught) == 1
    np.testing.assert_array_equal(found, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sample_walks(karate_club(), FirstOrderWalk(), per_node=1, backend="cpu")


def test_a_fast_engine_that_is_named_is_not_replaced(unset):
    unset.setenv(engine.VARIABLE, "fast")
    break_fast_engine(unset)
    with pytest.raises(NotImplementedError, match="no such instruction"):
        sample_walks(karate_club(), per_node=1, backend="cpu")
    assert not engine.use_plain()


WITHOUT_COMPILER = """
import warnings
warnings.simplefilter("error")
import numba
assert numba.config.DISABLE_JIT
import numpy as np
import reinforce2vec as r2v
graphs = [
    r2v.karate_club(),
    r2v.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], [1.0, 2.0, 3.0, 0.5],
                         directed=True),
]
reinforced = r2v.ReinforcedWalk
for graph in graphs:
    for walk in (r2v.FirstOrderWalk(), r2v.SecondOrderWalk(0.3, 4), reinforced(),
                 reinforced.released(), reinforced("vertex", "epsilon"),
                 reinforced(temperature=0.01), reinforced.released("kl", "epsilon")):
        walks = r2v.sample_walks(graph, walk, length=10, per_node=1, seed=2**64 - 9, backend="cpu")
        print(walks.tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("named", ["plain", ""])
def test_walks_are_the_same_without_a_compiler(named):
    environment = os.environ | {engine.VARIABLE: named, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", WITHOUT_COMPILER]
    interpreted = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    assert interpreted.returncode == 0, interpreted.stderr
    environment["NUMBA_DISABLE_JIT"] = "0"
    environment[engine.VARIABLE] = "fast"
    command[-1] = WITHOUT_COMPILER.replace("assert numba", "assert not numba")
    compiled = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert interpreted.stdout == compiled.stdout
