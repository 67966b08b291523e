"""Every engine makes the walks of the fast one, byte for byte: the plain one, and the GPU.

Where there is no GPU, `emulator` runs the same CUDA sources on the CPU.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import toy_graphs
from helpers.toy_graphs import TOY_GRAPHS
from helpers.walk_policies import EXTREMES, KERNELS, PRESETS, REMEMBERING, VARIATIONS
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    ReinforcedWalk,
    SecondOrderWalk,
    WalkSampler,
    rmat,
    sample_walks,
)
from reinforce2vec.walks.plain import walker as plain

ON_A_HUB = (
    ReinforcedWalk.released("js"),
    ReinforcedWalk.released("kl", candidates=500),
    ReinforcedWalk.released("js", weight=1e6),  # all proposals are refused
    ReinforcedWalk("js", candidates=5, attraction=1e-3),
    ReinforcedWalk("vertex", candidates=3),
    ReinforcedWalk("vertex"),
    ReinforcedWalk.released("js", temperature=1e-3),
)


@pytest.fixture(params=["plain", "cuda"])
def engine(request):
    if request.param == "cuda":
        request.getfixturevalue("cuda")
    return request.param


def assert_same(engine, graph, walk, first=0, **options):
    options = {"per_node": 3, "seed": 5} | options
    sampler = WalkSampler(graph, walk, workers=1, backend="cpu", **options)
    expected = np.empty((sampler.n_walks, sampler.length), np.int32)
    sampler.fill(first, expected)
    if engine == "cuda":
        made = sample_walks(graph, walk, backend="cuda", **options)
    else:
        made = np.full_like(expected, -7)
        plain.Walker(sampler.task).fill(first, made)
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_the_same_on_every_graph(engine, preset):
    for make in TOY_GRAPHS.values():
        assert_same(engine, make(), PRESETS[preset])


@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_parameter_means_the_same(engine, variation):
    for graph in (toy_graphs.weighted_hub(), toy_graphs.random_graph(), toy_graphs.weighted_arcs()):
        assert_same(engine, graph, VARIATIONS[variation])


@pytest.mark.parametrize("extreme", EXTREMES)
def test_extreme_weights_are_the_same(engine, extreme):
    for make in (toy_graphs.line, toy_graphs.star, toy_graphs.hub, toy_graphs.weighted_arcs):
        assert_same(engine, make(), EXTREMES[extreme], length=60, per_node=2)


@pytest.mark.parametrize(
    "walk",
    [FirstOrderWalk(), *(SecondOrderWalk(p, q) for p in (0.1, 10) for q in (0.1, 10))],
    ids=str,
)
def test_walks_without_memory_are_the_same_on_every_graph(engine, walk):
    for make in TOY_GRAPHS.values():
        assert_same(engine, make(), walk)


@pytest.mark.parametrize("length", [1, 2, 4, 300])
@pytest.mark.parametrize("kernel", KERNELS)
def test_walks_of_every_length_are_the_same(engine, kernel, length):
    for graph in (toy_graphs.random_graph(), toy_graphs.weighted_arcs()):
        assert_same(engine, graph, KERNELS[kernel], length=length, per_node=1)


@pytest.mark.parametrize("graph_name", ["clique", "weighted_arcs", "hub"])
@pytest.mark.parametrize("walk", REMEMBERING)
def test_long_memories_are_the_same(engine, walk, graph_name):
    graph = TOY_GRAPHS[graph_name]()
    assert_same(engine, graph, REMEMBERING[walk], length=1_500, starts=graph.ids[:3], per_node=1)


def test_patience_ends_the_same(engine):
    walk = ReinforcedWalk.released("js", candidates=1)  # mostly proposes nodes that are far away
    assert_same(engine, toy_graphs.hub(), walk, length=200, per_node=1)


@pytest.mark.parametrize("directed", [False, True])
def test_a_weighted_hub_is_the_same(engine, directed):
    graph = toy_graphs.large_weighted_hub(directed)
    for walk in (*ON_A_HUB, *REMEMBERING.values()):
        assert_same(engine, graph, walk, length=60, per_node=1)


def test_places_beyond_sixteen_bits_are_the_same(cuda):
    assert_same(
        "cuda", toy_graphs.star(), PRESETS["paper-vertex-epsilon"], length=70_000, starts=[0]
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_walks_on_a_skewed_graph_are_the_same(engine, kernel, directed):
    graph = rmat(9, 12, directed=directed, seed=4)  # has isolated nodes, or dead ends
    assert_same(engine, graph, KERNELS[kernel], per_node=1)


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([], nodes=[7]),
        Graph.from_edges([(1, 2)]),
        Graph.from_edges([(1, 1)], self_loops=True),
        Graph.from_edges([(1, 2), (2, 3)], [1.0, 1.0], nodes=[0]),
        Graph.from_edges([(1, 2), (2, 3)], [1.0, 9.0], nodes=[0, 4], directed=True),
    ],
    ids=["one node", "one edge", "one self-loop", "equal weights", "arcs"],
)
def test_walks_on_tiny_graphs_are_the_same(engine, graph):
    for walk in (*KERNELS.values(), *REMEMBERING.values()):
        assert_same(engine, graph, walk, length=6)


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
    assert_same("plain", graph, walk, length=20, seed=seed, first=first, per_node=2)
