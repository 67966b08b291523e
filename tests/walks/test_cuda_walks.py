"""Walks made on a GPU are those of the CPU, byte for byte.

Where there is no GPU, `emulator` runs the same CUDA sources on the CPU.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from helpers import toy_graphs
from helpers.real_data import load_real
from helpers.toy_graphs import TOY_GRAPHS
from helpers.walk_policies import PRESETS, VARIATIONS
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    ReinforcedWalk,
    SecondOrderWalk,
    WalkSampler,
    rmat,
    sample_walks,
)
from reinforce2vec._util import backend_choice
from reinforce2vec._util.cuda import device
from reinforce2vec.walks.cuda import walker as cuda_walks
from reinforce2vec.walks.cuda.walker import DeviceWalker, bytes_for_device
from reinforce2vec.walks.scores import exp, make_scores, softmax_weight

KERNELS = {
    "first_order": FirstOrderWalk(),
    "second_order": SecondOrderWalk(0.3, 4.0),
    "open": ReinforcedWalk.paper("js", "ucb"),
    "capped": ReinforcedWalk.released("js", "ucb"),
    "reinforced": ReinforcedWalk("vertex", "ucb"),
}
REMEMBERING = {
    "open": ReinforcedWalk.paper("kl", "ucb"),
    "capped": ReinforcedWalk.released("kl", "ucb"),
    "softmax": ReinforcedWalk("js", temperature=0.01),
    "capped-softmax": ReinforcedWalk("kl", candidates=2, temperature=0.01),
    "linear": ReinforcedWalk("vertex", "epsilon"),
    "greedy": ReinforcedWalk.released("js", "epsilon"),
}
EXTREMES = {  # weights that the tables do not hold, or that no floating-point number does
    "open": ReinforcedWalk("js", weight=1e6),
    "open-annealed": ReinforcedWalk("kl", weight=1e5, annealing="linear"),
    "capped": ReinforcedWalk.released("js", weight=1e6),
    "capped-repelled": ReinforcedWalk.released("kl", weight=1e4, candidates=2, attraction=0.01),
    "softmax-js": ReinforcedWalk("js", temperature=1e-3, annealing="linear"),
    "softmax-path-js": ReinforcedWalk.released("js", temperature=0.02, annealing="exponential"),
    "softmax-path-kl": ReinforcedWalk.released("kl", temperature=1e-5),
    "softmax-vertex": ReinforcedWalk("vertex", temperature=1e-3),
    "softmax-path-vertex": ReinforcedWalk("vertex", occupation="path", temperature=1e-3),
    "softmax-capped-vertex": ReinforcedWalk.released("vertex", candidates=1, temperature=0.01),
}


@pytest.fixture(autouse=True)
def gpu(cuda):
    """Every test here needs one."""
    return cuda


def assert_same(graph, walk, **options):
    options = {"per_node": 3, "seed": 5} | options
    ours = sample_walks(graph, walk, workers=1, backend="cpu", **options)
    theirs = sample_walks(graph, walk, backend="cuda", **options)
    differing = np.flatnonzero((ours != theirs).any(axis=1))
    assert differing.size == 0, (differing[0], ours[differing[0]], theirs[differing[0]])


# -- every walk, every graph ---------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_the_same_on_every_graph(preset):
    for make in TOY_GRAPHS.values():
        assert_same(make(), PRESETS[preset])


@pytest.mark.parametrize("variation", VARIATIONS)
def test_every_parameter_means_the_same(variation):
    for graph in (toy_graphs.weighted_hub(), toy_graphs.random_graph()):
        assert_same(graph, VARIATIONS[variation])


@pytest.mark.parametrize("extreme", EXTREMES)
def test_extreme_weights_are_the_same(extreme):
    for make in (toy_graphs.line, toy_graphs.star, toy_graphs.hub, toy_graphs.weighted_arcs):
        assert_same(make(), EXTREMES[extreme], length=60, per_node=2)


@pytest.mark.parametrize(
    "walk",
    [FirstOrderWalk(), *(SecondOrderWalk(p, q) for p in (0.1, 1, 10) for q in (0.1, 1, 10))],
    ids=str,
)
def test_walks_without_memory_are_the_same_on_every_graph(walk):
    for make in TOY_GRAPHS.values():
        assert_same(make(), walk)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 130, 300])
@pytest.mark.parametrize("kernel", KERNELS)
def test_walks_of_every_length_are_the_same(kernel, length):
    for graph in (toy_graphs.random_graph(), toy_graphs.weighted_arcs()):
        assert_same(graph, KERNELS[kernel], length=length, per_node=1)


@pytest.mark.parametrize("graph_name", ["clique", "weighted_arcs", "hub"])
@pytest.mark.parametrize("walk", REMEMBERING)
def test_long_memories_are_the_same(walk, graph_name):
    graph = TOY_GRAPHS[graph_name]()
    assert_same(graph, REMEMBERING[walk], length=1_500, starts=graph.ids[:3], per_node=1)


@pytest.mark.parametrize("walk", REMEMBERING)
def test_memories_longer_than_the_tables_are_the_same(walk):
    graph = toy_graphs.clique()
    assert_same(graph, REMEMBERING[walk], length=17_001, starts=[0], per_node=1)


def test_patience_ends_the_same():
    walk = ReinforcedWalk.released("js", candidates=1)  # mostly proposes nodes that are far away
    assert_same(toy_graphs.hub(), walk, length=200, per_node=1)


@pytest.mark.parametrize("directed", [False, True])
def test_a_weighted_hub_is_the_same(directed):
    graph = toy_graphs.large_weighted_hub(directed)
    for walk in (KERNELS["capped"], KERNELS["reinforced"], REMEMBERING["capped-softmax"]):
        assert_same(graph, walk, length=60, per_node=1)


def test_places_beyond_sixteen_bits_are_the_same():
    assert_same(toy_graphs.star(), PRESETS["paper-vertex-epsilon"], length=70_000, starts=[0])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_walks_on_a_skewed_graph_are_the_same(kernel, directed):
    graph = rmat(9, 12, directed=directed, seed=4)  # has isolated nodes, or dead ends
    assert_same(graph, KERNELS[kernel], per_node=1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_offsets_of_64_bits_give_the_same_walks(kernel, monkeypatch):
    monkeypatch.setattr(cuda_walks, "_is_wide", lambda graph: True)
    for graph in (toy_graphs.random_graph(), toy_graphs.weighted()):
        assert_same(graph, KERNELS[kernel])


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
def test_walks_on_tiny_graphs_are_the_same(graph):
    for walk in (*KERNELS.values(), *REMEMBERING.values()):
        assert_same(graph, walk, length=6)


@pytest.mark.study
@pytest.mark.parametrize("name", ["facebook", "ca-astroph", "blogcatalog", "ppi", "dblp"])
def test_walks_on_the_graphs_of_the_paper_are_the_same(name, gpu):
    graph = load_real(name).graph
    few = graph.ids[:: graph.n_nodes // 40]
    starts = None if gpu == "device" else few
    for walk in (*KERNELS.values(), *PRESETS.values()):
        assert_same(graph, walk, starts=starts, per_node=1)


# -- the equations -------------------------------------------------------------------------------

SCORE = r"""
extern "C" __global__ void score(SCORE_PARAMETERS, const double* x, double* powers, int count,
                                 double* weights, int counts) {
    const Scores scores = SCORES;
    for (int i = threadIdx.x; i < count; i += blockDim.x) powers[i] = exp_exact(x[i]);
    for (int i = threadIdx.x; i < decisions * counts * counts; i += blockDim.x)
        weights[i] = softmax_weight(scores, i / counts / counts, i / counts % counts, i % counts,
                                    0.0);
}
"""


@pytest.mark.parametrize("tabled", [True, False])
@pytest.mark.parametrize("path", [True, False])
@pytest.mark.parametrize("reward", ["vertex", "kl", "js"])
def test_scores_have_the_same_bits(reward, path, tabled):
    cp, decisions, counts = device.cupy(), 30, 31
    scores = make_scores(reward, path, 0.7, 1.5, np.full(decisions, 0.9), 20)
    if not tabled:
        scores = scores._replace(exploit_table=np.zeros((0, 0)), explore_table=np.zeros((0, 0)))
    x = np.random.default_rng(2).uniform(-720, 720, 2_000)
    powers, weights = cp.empty(x.size), cp.empty((decisions, counts, counts))
    source = (files("reinforce2vec.walks.cuda") / "scores.cu").read_text(encoding="utf-8")
    module = cp.RawModule(code=source + SCORE, options=("--std=c++17", "--fmad=false"))
    arguments = (*cuda_walks._arguments_of(scores), cp.asarray(x), powers, np.int32(x.size))
    module.get_function("score")((1,), (128,), (*arguments, weights, np.int32(counts)))
    np.testing.assert_array_equal(powers.get(), [exp(one) for one in x])
    np.testing.assert_array_equal(
        weights.get(),
        [
            [
                [softmax_weight(scores, n, c_u, c, 0.0) for c in range(counts)]
                for c_u in range(counts)
            ]
            for n in range(decisions)
        ],
    )


# -- who walks -----------------------------------------------------------------------------------


def test_seeds_of_64_bits_and_starts_are_the_same():
    graph = toy_graphs.random_graph()
    for seed in (0, 2**63, 2**64 - 1):
        assert_same(graph, ReinforcedWalk(), seed=seed, starts=[7, 3, 3, 49], per_node=50)


@pytest.mark.parametrize("walk", REMEMBERING)
def test_a_thread_forgets_a_walk_before_the_next(walk, monkeypatch):
    monkeypatch.setattr(cuda_walks, "_SCRATCH_BYTES", 40_000)
    for length in (20, 129):  # in shared memory, and not
        assert_same(toy_graphs.hub(), REMEMBERING[walk], length=length, per_node=5)


def test_no_more_threads_remember_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(cuda_walks, "_SCRATCH_BYTES", 1)
    sampler = WalkSampler(toy_graphs.line(), ReinforcedWalk("vertex"), backend="cuda", length=5)
    memory = cuda_walks._memory_for(sampler.task, device.properties())
    assert cuda_walks._threads_for(sampler.task, memory, device.properties()) == 1
    assert_same(toy_graphs.line(), ReinforcedWalk("vertex"), length=5)


def test_blocks_are_pieces_of_all_walks():
    graph = toy_graphs.random_graph()
    for backend in ("cpu", "cuda"):
        sampler = WalkSampler(graph, length=9, per_node=2, block_size=33, backend=backend)
        blocks = list(sampler)
        assert [len(block) for block in blocks] == [33, 33, 33, 1]
        np.testing.assert_array_equal(
            np.concatenate(blocks), sample_walks(graph, length=9, per_node=2, backend="cpu")
        )


def test_fill_takes_walks_from_the_middle_and_any_array():
    graph = toy_graphs.random_graph()
    sampler = WalkSampler(graph, length=8, per_node=4, backend="cuda")
    every = sample_walks(graph, length=8, per_node=4, backend="cpu")
    columns = np.full((8, 30), -7, np.int32)
    sampler.fill(57, columns.T)
    np.testing.assert_array_equal(columns.T, every[57:87])
    sampler.fill(0, np.empty((0, 8), np.int32))


def test_starts_count_as_they_are_when_walking_begins():
    graph = toy_graphs.random_graph()
    sampler = WalkSampler(graph, length=8, per_node=2, backend="cuda")
    sampler.starts = sampler.starts[::-1].copy()
    expected = WalkSampler(graph, length=8, per_node=2, backend="cpu")
    expected.starts = sampler.starts
    np.testing.assert_array_equal(sampler.sample(), expected.sample())


def test_no_walks_at_all():
    graph = toy_graphs.star()
    assert sample_walks(graph, per_node=0, backend="cuda").shape == (0, 40)
    assert sample_walks(Graph.from_edges([]), backend="cuda").shape == (0, 40)
    assert list(WalkSampler(graph, starts=[], backend="cuda")) == []


# -- progress, interrupts, room ------------------------------------------------------------------


def test_progress_is_reported_and_an_interrupt_ends_between_chunks(monkeypatch):
    monkeypatch.setattr(cuda_walks, "_BUFFER_BYTES", 40 * 100)
    reports = []
    options = {"length": 10, "per_node": 5, "backend": "cuda"}
    sample_walks(toy_graphs.random_graph(), progress=lambda *at: reports.append(at), **options)
    assert reports == [(100, 250), (200, 250), (250, 250)]

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_walks(toy_graphs.random_graph(), progress=interrupt, **options)


@pytest.mark.parametrize("graph_name", ["random_graph", "weighted_arcs"])
@pytest.mark.parametrize("length", [40, 130])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_estimate_is_what_the_gpu_holds(kernel, length, graph_name):
    graph = TOY_GRAPHS[graph_name]()
    sampler = WalkSampler(graph, KERNELS[kernel], length=length, backend="cuda")
    assert sampler.plan.kernel.value == kernel
    walker = DeviceWalker(sampler.task)
    held = (*walker._graph, *walker._starts, *walker._settings)
    held_bytes = sum(array.nbytes for array in held if not isinstance(array, np.generic))
    assert bytes_for_device(sampler.task) <= held_bytes <= bytes_for_device(sampler.task) + 64


def no_room(monkeypatch):
    monkeypatch.setattr(device, "free_bytes", lambda: 1_000)


def test_a_graph_that_does_not_fit_is_refused_with_the_figures(monkeypatch):
    no_room(monkeypatch)
    with pytest.raises(InputError, match=r'50 nodes needs .* kB .* 1.0 kB .* backend="cpu"'):
        sample_walks(toy_graphs.random_graph(), backend="cuda")


# -- which backend -------------------------------------------------------------------------------


def test_auto_takes_the_gpu_for_many_walks_unless_threads_are_named(monkeypatch):
    graph = toy_graphs.star()
    assert WalkSampler(graph).backend == "cpu"
    monkeypatch.setitem(backend_choice.LEAST_WORK, "walks", 8 * 80 * 40)
    assert WalkSampler(graph).backend == "cuda"
    assert WalkSampler(graph, per_node=79).backend == "cpu"
    assert WalkSampler(graph, workers=2).backend == "cpu"
    assert WalkSampler(graph, backend="cpu").backend == "cpu"


def test_auto_takes_the_cpu_where_the_gpu_has_no_room(monkeypatch):
    monkeypatch.setitem(backend_choice.LEAST_WORK, "walks", 0)
    no_room(monkeypatch)
    sampler = WalkSampler(toy_graphs.star(), length=6)
    np.testing.assert_array_equal(
        sampler.sample(), sample_walks(toy_graphs.star(), length=6, backend="cpu")
    )
    assert sampler.backend == "cpu"


def test_unknown_backends_are_refused():
    with pytest.raises(InputError, match="backend must be one of auto, cpu, cuda, ray, not 'gpu'"):
        WalkSampler(toy_graphs.star(), backend="gpu")
