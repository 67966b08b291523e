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
from helpers.walk_policies import KERNELS, PRESETS, REMEMBERING
from reinforce2vec import (
    InputError,
    WalkSampler,
    sample_walks,
)
from reinforce2vec._util import backend_choice
from reinforce2vec._util.cuda import device
from reinforce2vec.walks.cuda import walker as cuda_walks
from reinforce2vec.walks.cuda.walker import DeviceWalker, bytes_for_device
from reinforce2vec.walks.scores import exp, make_scores, softmax_weight


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


@pytest.mark.parametrize("kernel", KERNELS)
def test_offsets_of_64_bits_give_the_same_walks(kernel, monkeypatch):
    monkeypatch.setattr(cuda_walks, "_is_wide", lambda graph: True)
    for graph in (toy_graphs.random_graph(), toy_graphs.weighted()):
        assert_same(graph, KERNELS[kernel])


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


@pytest.mark.parametrize("walk", REMEMBERING)
def test_a_thread_forgets_a_walk_before_the_next(walk, monkeypatch):
    monkeypatch.setattr(cuda_walks, "_SCRATCH_BYTES", 40_000)
    for length in (20, 129):  # in shared memory, and not
        assert_same(toy_graphs.hub(), REMEMBERING[walk], length=length, per_node=5)


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
