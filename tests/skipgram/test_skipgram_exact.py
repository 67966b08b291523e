"""The trained matrices of both engines against a literal implementation of skip-gram in float64."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from helpers.literal_skipgram import literal_training, make_walks
from reinforce2vec._util.engine import ENGINES, VARIABLE
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.skipgram import loss_check
from reinforce2vec.skipgram.backends import begin
from reinforce2vec.skipgram.corpus import GivenWalks
from reinforce2vec.skipgram.rules import DRAWN_AT_ONCE
from reinforce2vec.skipgram.state import Settings
from reinforce2vec.skipgram.trainer import Trainer

N_NODES = 30  # of the walks that make_walks makes


@pytest.fixture(params=ENGINES, autouse=True)
def engine(request, monkeypatch):
    """Every test is held by both engines of the CPU."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


def trained_both_ways(walks, settings, n_nodes=N_NODES, scale=1.0):
    corpus = GivenWalks(walks_from(walks, np.arange(n_nodes)))
    state = begin(corpus, settings, 1)
    rng = np.random.default_rng(1)
    for matrix in state.weights[:2]:  # large enough to be away from the straight part of σ
        matrix[:, : settings.dimensions] = scale * rng.normal(size=(n_nodes, settings.dimensions))
    expected = [matrix[:, : settings.dimensions].astype(float) for matrix in state.weights[:2]]
    n_walks = len(walks) * settings.epochs
    loss, pairs = literal_training(walks, *expected, state.visits, settings, n_walks)
    Trainer(corpus, settings, state, 1).run()
    return state, expected, loss, pairs


def check_same(walks, settings, **options):
    state, expected, loss, pairs = trained_both_ways(walks, settings, **options)
    for matrix, exact in zip(state.weights[:2], expected, strict=True):
        np.testing.assert_allclose(matrix[:, : settings.dimensions], exact, rtol=1e-4, atol=2e-5)
        assert not matrix[:, settings.dimensions :].any()
    assert state.pairs.sum() == pairs
    assert state.losses.sum() == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("dimensions", [1, 2, 15, 16, 17, 64, 100, 128, 1000])
def test_any_dimension_is_trained_as_defined(dimensions):
    scale = 2 / dimensions**0.5
    check_same(make_walks(), Settings(dimensions, window=4, learning_rate=0.05), scale=scale)


@pytest.mark.parametrize("negatives", [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 20])
def test_any_number_of_negatives_is_trained_as_defined(negatives):
    check_same(make_walks(), Settings(20, negatives=negatives, learning_rate=0.05), scale=0.4)


@pytest.mark.parametrize("window", [1, 2, 7, 14, 15, 1000])
def test_any_window_is_trained_as_defined(window):
    check_same(make_walks(), Settings(20, window=window), scale=0.4)


@pytest.mark.parametrize("subsample", [1e-3, 1e-2, 0.1])
def test_subsampling_is_as_defined(subsample):
    check_same(make_walks(), Settings(20, subsample=subsample), scale=0.4)


def test_epochs_go_over_the_walks_again_at_a_rate_that_keeps_falling():
    check_same(make_walks(), Settings(20, epochs=3), scale=0.4)


def test_walks_longer_than_what_is_drawn_at_once_are_trained_as_defined():
    check_same(make_walks(2, 3 * DRAWN_AT_ONCE + 5), Settings(8, window=3), scale=0.4)


@pytest.mark.parametrize("n_nodes", [1, 2, 3])
def test_small_vocabularies_repeat_contexts_and_targets_and_are_trained_as_defined(n_nodes):
    walks = make_walks(4, 8, n_nodes)
    check_same(walks, Settings(10, window=3, learning_rate=0.02), n_nodes=n_nodes, scale=0.3)


def test_saturated_scores_have_the_loss_of_their_definition(monkeypatch):
    monkeypatch.setattr(loss_check, "_MOST_LOSS", np.inf)  # it would be taken for a failure
    state, _, loss, _ = trained_both_ways(
        make_walks(3), Settings(16, learning_rate=1e-6), scale=2.0
    )
    assert loss > 10 * state.pairs.sum()  # scores are large indeed
    assert state.losses.sum() == pytest.approx(loss, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["fast"], indirect=True)
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names x86 processors")
@pytest.mark.parametrize(
    ("width", "processor", "features"),
    [(8, "haswell", "+avx,+avx2,+fma"), (4, "nehalem", "+sse4.2")],
)
def test_narrower_vector_registers_train_as_defined(width, processor, features, tmp_path):
    tests = f"{__file__}::test_any_dimension_is_trained_as_defined"
    kind = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": features}
    env = {**os.environ, **kind, "NUMBA_CACHE_DIR": str(tmp_path)}
    for words in (
        ["-c", f"from reinforce2vec.skipgram.cpu.simd import WIDTH; assert WIDTH == {width}"],
        ["-m", "pytest", "-p", "no:cacheprovider", f"{tests}[fast-17]", f"{tests}[fast-64]"],
    ):
        subprocess.run([sys.executable, *words], env=env, check=True)
