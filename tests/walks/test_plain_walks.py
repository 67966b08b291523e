"""The plain engine makes the walks of the fast one, byte for byte, and takes its place."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_walks_exact import PRESETS, VARIATIONS

from helpers import toy_graphs
from helpers.toy_graphs import TOY_GRAPHS
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    ReinforcedWalk,
    SecondOrderWalk,
    WalkSampler,
    karate_club,
    rmat,
    sample_walks,
)
from reinforce2vec._util import engine
from reinforce2vec.walks.cpu import walker as fast
from reinforce2vec.walks.plain import walker as plain
from reinforce2vec.walks.plan import Kernel

EXTREMES = {  # weights that the tables do not hold, or that no floating-point number does
    "open": ReinforcedWalk("js", weight=1e6),
    "open, annealed": ReinforcedWalk("kl", weight=1e5, annealing="linear"),
    "capped": ReinforcedWalk.released("js", weight=1e6),
    "capped, repelled": ReinforcedWalk.released("kl", weight=1e4, candidates=2, attraction=0.01),
    "softmax": ReinforcedWalk("js", temperature=1e-3, annealing="linear"),
    "softmax on the path": ReinforcedWalk.released("kl", temperature=1e-5),
    "softmax of visits": ReinforcedWalk("vertex", temperature=1e-3),
    "softmax, capped": ReinforcedWalk("kl", candidates=2, temperature=0.01),
    "softmax of visits, capped": ReinforcedWalk.released("vertex", candidates=1, temperature=0.01),
}
KERNELS = {
    Kernel.FIRST_ORDER: FirstOrderWalk(),
    Kernel.SECOND_ORDER: SecondOrderWalk(0.3, 4.0),
    Kernel.OPEN: ReinforcedWalk.paper("js", "ucb"),
    Kernel.CAPPED: ReinforcedWalk.released("js", "ucb"),
    Kernel.REINFORCED: ReinforcedWalk("vertex", "ucb"),
}


ON_A_HUB = (
    ReinforcedWalk.released("js"),
    ReinforcedWalk.released("kl", candidates=500),
    ReinforcedWalk.released("js", weight=1e6),  # all proposals are refused
    ReinforcedWalk("js", candidates=5, attraction=1e-3),
    ReinforcedWalk("vertex", candidates=3),
    ReinforcedWalk("vertex"),
    ReinforcedWalk.released("js", temperature=1e-3),
)


def both(graph, walk, length=40, first=0, count=None, **options):
    """The same walks by both engines."""
    sampler = WalkSampler(graph, walk, length=length, backend="cpu", **options)
    for module in (fast, plain):
        walks = np.full((sampler.n_walks if count is None else count, length), -7, np.int32)
        module.Walker(sampler.task).fill(first, walks)
        yield walks


def assert_same(graph, walk, **options):
    expected, found = both(graph, walk, **({"per_node": 3, "seed": 5} | options))
    np.testing.assert_array_equal(found, expected)


# -- the same walks ------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_the_same_on_every_graph(preset):
    for make in TOY_GRAPHS.values():
        assert_same(make(), PRESETS[preset])


@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_parameter_means_the_same(variation):
    for graph in (toy_graphs.weighted_hub(), toy_graphs.random_graph(), toy_graphs.weighted_arcs()):
        assert_same(graph, VARIATIONS[variation])


@pytest.mark.parametrize("extreme", EXTREMES)
def test_extreme_weights_are_the_same(extreme):
    for make in (toy_graphs.line, toy_graphs.star, toy_graphs.hub, toy_graphs.weighted_arcs):
        assert_same(make(), EXTREMES[extreme], length=60)


@pytest.mark.parametrize("p", [0.1, 1, 10])
@pytest.mark.parametrize("q", [0.1, 1, 10])
def test_second_order_walks_are_the_same_on_every_graph(p, q):
    for make in TOY_GRAPHS.values():
        assert_same(make(), SecondOrderWalk(p, q))


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.value)
def test_walks_on_a_skewed_graph_are_the_same(kernel, directed):
    graph = rmat(9, 12, directed=directed, seed=4)  # has isolated nodes, or dead ends
    assert WalkSampler(graph, KERNELS[kernel]).plan.kernel is kernel
    for length in (1, 2, 40, 200):
        assert_same(graph, KERNELS[kernel], length=length, per_node=1)


def test_a_long_memory_is_the_same():
    for walk in (*EXTREMES.values(), ReinforcedWalk.released("js", "epsilon")):
        assert_same(toy_graphs.clique(), walk, length=1_500, per_node=1)


def test_proposals_end_the_same():
    walk = ReinforcedWalk.released("js", candidates=1)  # mostly proposes nodes that are far away
    assert_same(toy_graphs.hub(), walk, length=200, per_node=1)


def test_a_weighted_hub_is_the_same():
    for directed in (False, True):
        graph = toy_graphs.large_weighted_hub(directed)
        for walk in ON_A_HUB:
            assert_same(graph, walk, length=60, per_node=1)


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=40))
    weights = None
    if draw(st.booleans()):
        weight = st.floats(1e-3, 1e3)
        weights = draw(st.lists(weight, min_size=len(edges), max_size=len(edges)))
    return Graph.from_edges(
        edges, weights, nodes=range(nodes), directed=draw(st.booleans()), self_loops=True
    )


@settings(max_examples=60)
@given(
    graph=graphs(),
    walk=st.sampled_from([*PRESETS.values(), *EXTREMES.values(), *KERNELS.values()]),
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 2**40),
)
def test_walks_on_any_graph_are_the_same(graph, walk, seed, first):
    assert_same(graph, walk, length=20, seed=seed, first=first, count=2 * graph.n_nodes)


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


def test_the_fast_engine_is_the_default(unset):
    assert engine_of(WalkSampler(karate_club(), backend="cpu", per_node=1)) is fast.Walker


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


def test_the_plain_engine_takes_the_place_of_one_that_cannot_be_imported(unset):
    unset.setitem(sys.modules, "reinforce2vec.walks.cpu.walker", None)
    sampler = WalkSampler(karate_club(), backend="cpu", per_node=1)
    with pytest.warns(RuntimeWarning, match="the fast engine does not compile on this machine"):
        assert engine_of(sampler) is plain.Walker


def test_a_fast_engine_that_is_named_is_not_replaced(unset):
    unset.setenv(engine.VARIABLE, "fast")
    break_fast_engine(unset)
    with pytest.raises(NotImplementedError, match="no such instruction"):
        sample_walks(karate_club(), per_node=1, backend="cpu")
    assert not engine.use_plain()


def test_no_memory_is_no_reason_to_fall_back(unset):
    def attempt():
        raise MemoryError

    with pytest.raises(MemoryError):
        engine.fast_engine_compiles(attempt)
    assert not engine.use_plain()


def test_an_error_while_walking_is_no_reason_to_fall_back(unset):
    sampler = WalkSampler(karate_club(), backend="cpu", per_node=1)
    unset.setattr(fast.Walker, "fill", fill_or_fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        sampler.sample()
    assert not engine.use_plain()


def fill_or_fail(walker, first, walks):
    if len(walks):
        raise RuntimeError("out of luck")


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
