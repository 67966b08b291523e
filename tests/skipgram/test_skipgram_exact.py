"""The trained matrices of both engines against a literal implementation of skip-gram in float64."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import binding

from helpers.literal_skipgram import literal_block_training, make_walks
from reinforce2vec._util.engine import ENGINES, VARIABLE
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.skipgram import schedule, trainer
from reinforce2vec.skipgram.backends import begin
from reinforce2vec.skipgram.corpus import GivenWalks
from reinforce2vec.skipgram.state import Settings
from reinforce2vec.skipgram.trainer import Trainer

N_NODES = 30  # of the walks that make_walks makes


@pytest.fixture(params=ENGINES, autouse=True)
def engine(request, monkeypatch):
    """Every test is held by both engines of the CPU."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


def trained_both_ways(walks, settings, n_nodes=N_NODES, scale=1.0):
    """The trained state; and of each window the matrices, losses and pairs by the definition."""
    corpus = GivenWalks(walks_from(walks, np.arange(n_nodes)))
    state = begin(corpus, settings, 1)
    rng, expected = np.random.default_rng(1), []
    for weights in state.scales:  # large enough to be away from the straight part of σ
        for matrix in weights[:2]:
            rows = scale * rng.normal(size=(n_nodes, weights.dimensions))
            matrix[:, : weights.dimensions] = rows
        expected.append([matrix[:, : weights.dimensions].astype(float) for matrix in weights[:2]])
    trainer = Trainer(corpus, settings, state, 1)
    curves = [
        literal_block_training(walks, *matrices, state.visits, one, trainer.engine.chunk_walks)
        for one, matrices in zip(settings.scales(), expected, strict=True)
    ]
    trainer.run()
    return state, expected, *(np.stack(one) for one in zip(*curves, strict=True))


def check_same(walks, settings, **options):
    state, expected, losses, pairs = trained_both_ways(walks, settings, **options)
    for weights, exact in zip(state.scales, expected, strict=True):
        for matrix, wanted in zip(weights[:2], exact, strict=True):
            found, rest = np.split(matrix, [weights.dimensions], axis=1)
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-5)
            assert not rest.any()
    np.testing.assert_array_equal(state.pairs, pairs)
    np.testing.assert_allclose(state.losses, losses, rtol=1e-5, atol=1e-5)
    return state


@pytest.mark.parametrize("dimensions", [1, 16, 17, 100, 1000])
def test_any_dimension_is_trained_as_defined(dimensions):
    scale = 2 / dimensions**0.5
    check_same(make_walks(), Settings(dimensions, window=4, learning_rate=0.05), scale=scale)


@pytest.mark.parametrize("negatives", [1, 5, 6, 11, 12, 20])
def test_any_number_of_negatives_is_trained_as_defined(negatives):
    check_same(make_walks(), Settings(20, negatives=negatives, learning_rate=0.05), scale=0.4)


@pytest.mark.parametrize("window", [1, 7, 15, 1000])
def test_any_window_is_trained_as_defined(window):
    check_same(make_walks(), Settings(20, window=window), scale=0.4)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(20, window=(1, 10)),
        Settings(20, window=(1, 3, 1000), seed=2**64 - 1),
        Settings(20, window=(1, 4), subsample=1e-2, epochs=2, negatives=7),
        Settings(2, window=(2, 4, 5)),
    ],
    ids=["usual", "three", "subsampled", "more than dimensions"],
)
def test_every_one_of_several_windows_is_trained_as_defined(settings):
    state = check_same(make_walks(), settings, scale=0.4)
    assert len(state.scales) == len(settings.windows) > 1
    assert (np.diff(state.pairs.sum(axis=1)) > 0).all()  # the wider the window, the more pairs


@pytest.mark.parametrize("subsample", [1e-3, 1e-2, 0.1])
def test_subsampling_is_as_defined(subsample):
    check_same(make_walks(), Settings(20, subsample=subsample), scale=0.4)


def test_epochs_go_over_the_walks_again_at_a_rate_that_keeps_falling():
    check_same(make_walks(), Settings(20, epochs=3), scale=0.4)


def test_long_walks_are_trained_as_defined():
    check_same(make_walks(2, 197), Settings(8, window=3), scale=0.4)


@pytest.fixture
def five_blocks(monkeypatch):
    """Walks whose 30 nodes make five blocks: so many that a pass has several walks.

    Their number is a prime: else a round may begin just where a point of the loss curve does, and
    the rounding of numbers decides to which its loss belongs.
    """
    monkeypatch.setattr(schedule, "_LEAST_NODES", N_NODES // 5)
    monkeypatch.setattr(schedule, "_FEWEST_PASSES", 20)
    walks = make_walks(251, 12)
    assert schedule.blocks_for(len(np.unique(walks[walks >= 0]))) == 5
    return walks


@pytest.mark.parametrize(
    "settings",
    [
        Settings(20),
        Settings(20, window=3, seed=2**64 - 1),
        Settings(7, window=2, negatives=13),
        Settings(20, window=3, epochs=3),
        Settings(20, window=3, subsample=1e-2),
        Settings(20, window=3, subsample=1e-2, epochs=2, negatives=1),
        Settings(20, window=(1, 3)),
        Settings(20, window=(1, 2, 4), subsample=1e-2, epochs=2),
    ],
    ids=["usual", "seed", "groups", "epochs", "subsampled", "both", "windows", "all"],
)
def test_several_blocks_are_trained_as_defined(five_blocks, settings):
    check_same(five_blocks, settings, scale=0.4)


def test_passes_that_do_not_end_with_an_epoch_are_trained_as_defined(five_blocks):
    check_same(five_blocks[:233], Settings(8, window=2, epochs=2), scale=0.4)


def test_blocks_with_nodes_that_are_in_no_walk_are_trained_as_defined(five_blocks):
    check_same(five_blocks, Settings(8, window=2), n_nodes=36, scale=0.4)


@pytest.mark.parametrize("n_nodes", [1, 2, 3])
def test_small_vocabularies_repeat_contexts_and_targets_and_are_trained_as_defined(n_nodes):
    walks = make_walks(4, 8, n_nodes)
    check_same(walks, Settings(10, window=3, learning_rate=0.02), n_nodes=n_nodes, scale=0.3)


def test_saturated_scores_have_the_loss_of_their_definition(monkeypatch):
    monkeypatch.setattr(trainer, "_MOST_LOSS", np.inf)  # it would be taken for a failure
    state, _, losses, pairs = trained_both_ways(
        make_walks(3), Settings(16, learning_rate=1e-6), scale=2.0
    )
    assert losses.sum() > 10 * pairs.sum()  # scores are large indeed
    np.testing.assert_allclose(state.losses, losses, rtol=1e-5)


# -- other CPUs ----------------------------------------------------------------------------------

FEATURES = binding.get_host_cpu_features()
X86 = platform.machine() in ("x86_64", "AMD64")
HASWELL = ("haswell", "+avx,+avx2,+fma")


def compiled_for(processor, features, cache):
    """The environment of a process whose machine code is that of another CPU."""
    kind = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}
    return {**os.environ, **kind, "NUMBA_CACHE_DIR": str(cache)}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["fast"], indirect=True)
@pytest.mark.skipif(not X86, reason="names x86 processors")
@pytest.mark.parametrize(
    ("width", "processor", "features"), [(8, *HASWELL), (4, "nehalem", "+sse4.2")]
)
def test_narrower_vector_registers_train_as_defined(width, processor, features, tmp_path):
    tests = f"{__file__}::test_any_dimension_is_trained_as_defined"
    for words in (
        ["-c", f"from reinforce2vec.skipgram.cpu.simd import WIDTH; assert WIDTH == {width}"],
        ["-m", "pytest", "-p", "no:cacheprovider", f"{tests}[fast-17]", f"{tests}[fast-100]"],
    ):
        env = compiled_for(processor, features, tmp_path)
        subprocess.run([sys.executable, *words], env=env, check=True)


TRAIN = """
import sys
import numpy as np
from reinforce2vec import LINE, Reinforce2Vec, rmat
from reinforce2vec.skipgram.cpu.simd import WIDTH

graph, found = rmat(9), {"width": WIDTH}
for dimensions, negatives in ((5, 1), (16, 5), (50, 13), (128, 5)):
    few = {"walks_per_node": 3, "walk_length": 20, "negatives": negatives}
    model = Reinforce2Vec(dimensions, window=10, smooth=False, **few).fit(graph)
    found[f"inputs {dimensions}"], found[f"outputs {dimensions}"] = model._state.scales[0][:2]
    found[f"losses {dimensions}"] = model.loss_curve_
found["line"] = LINE(dimensions=30, samples=50_000).fit_transform(graph)
np.savez(sys.argv[1], **found)
"""


def trained_elsewhere(path, env):
    """What a process of its own trains, by names."""
    subprocess.run([sys.executable, "-c", TRAIN, str(path)], env=env, check=True)
    with np.load(path) as found:
        return dict(found)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["fast"], indirect=True)
@pytest.mark.skipif(
    not (X86 and FEATURES.get("fma") and FEATURES.get("avx512f")),
    reason="needs a CPU with FMA and AVX-512, to compare with AVX2",
)
def test_registers_of_half_the_width_train_the_same_bytes(tmp_path):
    whole = trained_elsewhere(tmp_path / "whole.npz", dict(os.environ))
    env = compiled_for(*HASWELL, tmp_path)
    half = trained_elsewhere(tmp_path / "half.npz", env)
    assert (whole.pop("width"), half.pop("width")) == (16, 8)
    assert whole.keys() == half.keys()
    for name, array in whole.items():
        assert array.tobytes() == half[name].tobytes(), name
