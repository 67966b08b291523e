"""Training on a GPU: on a real one where there is one, else on the emulated one."""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
import pytest

from helpers import emulator
from helpers.interrupts import Stopped
from helpers.literal_skipgram import literal_walk_training, make_walks
from helpers.packages import without_package
from reinforce2vec import (
    InputError,
    Reinforce2Vec,
    classify_nodes,
    karate_club,
    planted_groups,
    sample_walks,
)
from reinforce2vec._util import backend_choice
from reinforce2vec._util.cuda import device
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.skipgram.backends import begin
from reinforce2vec.skipgram.corpus import GivenWalks, SampledWalks
from reinforce2vec.skipgram.cuda import engine as training
from reinforce2vec.skipgram.state import Settings
from reinforce2vec.skipgram.trainer import Trainer
from reinforce2vec.walks import WalkSampler

N_NODES = 20_000  # so many that hardly a row is used twice at a time
H200 = device.Device((9, 0), 132, 2048, 233_472, 232_448)


@pytest.fixture(params=["tensor cores", "none"])
def gpu(cuda, request, monkeypatch):
    """A GPU that trains on one walk at a time and moves every row all of its way.

    It is as exact as its number says: tensor cores round factors to 10 bits, emulated ones do not.
    """
    monkeypatch.setattr(training, "CROWD", 0.0)
    monkeypatch.setattr(training, "TOGETHER", 1e9)
    if request.param == "none":
        monkeypatch.setattr(training, "_TENSOR_CAPABILITY", (99, 0))
    return 1e-3 if (cuda, request.param) == ("device", "tensor cores") else 2e-5


quick = partial(
    Reinforce2Vec,
    dimensions=10,
    walks_per_node=10,
    walk_length=10,
    window=10,
    smooth=False,
    backend="cuda",
)


# -- as defined ----------------------------------------------------------------------------------


def check_as_defined(walks, settings, exactness):
    """Training on the GPU against the literal one, whose batches and groups are the GPU's."""
    corpus = GivenWalks(walks_from(walks, np.arange(N_NODES)))
    state = begin(corpus, settings, 1)
    state.visits[:] = 1  # so that negatives come from all nodes
    rng, expected, n_walks = np.random.default_rng(1), [], len(walks) * settings.epochs
    for weights in state.scales:
        for matrix in weights[:2]:
            rows = rng.normal(size=(N_NODES, weights.dimensions))
            matrix[:, : weights.dimensions] = rows / weights.dimensions**0.25
        expected.append([matrix[:, : weights.dimensions].astype(float) for matrix in weights[:2]])
    sums = []
    for one, matrices in zip(settings.scales(), expected, strict=True):
        shape = training.shape_for(one, device.properties())
        sizes = (shape.contexts, shape.targets)
        sums.append(literal_walk_training(walks, *matrices, state.visits, one, n_walks, *sizes))
    Trainer(corpus, settings, state, 1, "cuda").run()
    for weights, exact in zip(state.scales, expected, strict=True):
        for matrix, wanted in zip(weights[:2], exact, strict=True):
            found, rest = np.split(matrix, [weights.dimensions], axis=1)
            np.testing.assert_allclose(found, wanted, rtol=5 * exactness, atol=exactness)
            assert not rest.any()
    losses, pairs = zip(*sums, strict=True)
    assert state.pairs.sum(axis=1).tolist() == list(pairs)
    np.testing.assert_allclose(state.losses.sum(axis=1), losses, rtol=exactness)


@pytest.mark.parametrize("dimensions", [1, 33, 100, 300])
def test_any_dimension_is_trained_as_defined(gpu, dimensions):
    walks = make_walks(n_nodes=N_NODES)
    check_as_defined(walks, Settings(dimensions, window=5), gpu)


@pytest.mark.parametrize("negatives", [1, 7, 20])
def test_any_number_of_negatives_is_trained_as_defined(gpu, negatives):
    walks = make_walks(n_nodes=N_NODES)
    check_as_defined(walks, Settings(16, window=5, negatives=negatives), gpu)


@pytest.mark.parametrize("window", [1, 15, 16, 2**31 - 1])
def test_any_window_is_trained_as_defined(gpu, window):
    check_as_defined(make_walks(n_nodes=N_NODES), Settings(16, window=window), gpu)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(48, window=(1, 10)),
        Settings(40, window=(1, 3, 20), seed=2**64 - 1),
        Settings(16, window=(2, 5), subsample=3e-5, epochs=2, negatives=7),
    ],
    ids=["usual", "three", "subsampled"],
)
def test_every_one_of_several_windows_is_trained_as_defined(gpu, settings):
    check_as_defined(make_walks(n_nodes=N_NODES), settings, gpu)


def test_subsampling_and_epochs_are_as_defined(gpu):
    walks = make_walks(n_nodes=N_NODES)
    settings = Settings(16, window=4, subsample=3e-5, epochs=2)
    check_as_defined(walks, settings, gpu)


def test_walks_longer_than_what_is_drawn_at_once_are_trained_as_defined(gpu):
    walks = np.random.default_rng(0).permutation(N_NODES)[:300].reshape(3, 100).astype(np.int32)
    check_as_defined(walks, Settings(8, window=10), gpu)


@pytest.mark.parametrize("window", [5, 20])
@pytest.mark.parametrize("n_nodes", [2, 5, 30])
def test_small_vocabularies_are_trained_much_as_on_the_cpu(gpu, n_nodes, window):
    """Rows are read a little ahead, so that one used again at once is a little old."""
    walks = make_walks(60, 20, n_nodes)
    losses = [
        Reinforce2Vec(8, window=window, workers=1, backend=backend, learning_rate=0.05)
        .fit_walks(walks)
        .loss_curve_.mean()
        for backend in ("cpu", "cuda")
    ]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


# -- how it is set up ----------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [1, 32, 64, 100, 128, 256, 512, 1000, 3000])
@pytest.mark.parametrize("negatives", [1, 5, 20, 3000])
@pytest.mark.parametrize("window", [1, 10, 15, 16, 10**6])
def test_every_shape_fits_a_gpu(dimensions, negatives, window):
    settings = Settings(dimensions, window=window, negatives=negatives)
    shape = training.shape_for(settings, H200)
    assert shape.width >= dimensions
    assert shape.tensor or shape.contexts * shape.targets <= 32
    assert shape.contexts <= 8
    assert shape.targets * shape.groups >= negatives + 1 > shape.targets * (shape.groups - 1)
    assert not shape.tensor or shape.slots
    assert shape.targets <= 8
    assert shape.slots in (0, 2 * window + 1)
    assert shape.slots <= 32
    assert 1 <= shape.ahead <= 32
    assert 1 <= shape.blocks <= 12
    assert shape.blocks * (shape.shared_bytes + 1024) <= H200.shared_bytes


def test_how_many_walks_hold_a_row_follows_from_its_visits():
    settings = Settings(128)
    shape = training.shape_for(settings, H200)
    visits = np.full(10**6, 100)
    visits[7] = 10**6
    inputs, outputs = training.alone(visits, settings, shape, 1000)
    assert 1 / inputs[7] == pytest.approx(1000 * 21 * visits[7] / visits.sum())
    assert 1 / outputs[7] > 1000 * 2 * visits[7] / visits.sum()
    for alone in (inputs, outputs):
        assert (np.delete(alone, 7) > 1).all()


def test_a_row_that_many_walks_hold_moves_by_a_share(cuda, monkeypatch):
    """With next to no learning rate to share, hardly anything moves."""
    monkeypatch.setattr(training, "CROWD", 100.0)
    monkeypatch.setattr(training, "TURNS", 1)
    moved = []
    for together in (0.1, 1e-9):
        monkeypatch.setattr(training, "TOGETHER", together)
        learned = quick(learning_rate=0.05).fit(karate_club())
        moved.append(np.abs(learned._state.scales[0].outputs).max())
    assert moved[1] < 1e-5 < 1e-2 < moved[0]


@pytest.mark.parametrize("window", [10, (1, 4, 10)], ids=str)
def test_training_begins_with_the_same_vectors_and_visits_as_on_the_cpu(cuda, window):
    graph, settings = planted_groups(300, seed=1).graph, Settings(50, window=window, seed=3)
    states = []
    for backend in ("cpu", "cuda"):
        corpus = SampledWalks(WalkSampler(graph, length=10, per_node=2, seed=3, backend="cpu"))
        state = begin(corpus, settings, 1, backend)
        Trainer(corpus, settings, state, 1, backend).engine.collect()
        states.append(state)
    assert np.array_equal(states[0].visits, states[1].visits)
    for ours, theirs in zip(states[0].scales, states[1].scales, strict=True):
        assert ours.inputs.tobytes() == theirs.inputs.tobytes()
        assert ours.outputs.tobytes() == theirs.outputs.tobytes()


# -- the estimator -------------------------------------------------------------------------------


@pytest.mark.slow
def test_planted_groups_are_found(cuda):
    groups = planted_groups(120, 3, degree=12, mixing=0.1, seed=0)
    learned = quick(dimensions=16, walks_per_node=10, walk_length=20, window=5).fit(groups.graph)
    assert learned.backend_ == "cuda"
    assert learned.n_tokens_ == 120 * 10 * 20
    assert learned.loss_curve_[-1] < 0.9 * learned.loss_curve_[0]
    assert classify_nodes(learned.embedding_.vectors, groups.labels)["micro"] > 80


def test_walks_that_are_there_already_are_trained_on(cuda):
    walks = sample_walks(karate_club(), per_node=10, length=10)
    on_cpu, on_gpu = (
        quick(backend=backend, workers=1, learning_rate=0.05).fit_walks(walks, ids=karate_club())
        for backend in ("cpu", "cuda")
    )
    assert on_cpu.n_tokens_ == on_gpu.n_tokens_ == walks.size
    assert on_gpu.loss_curve_.mean() == pytest.approx(on_cpu.loss_curve_.mean(), rel=0.05)


def test_callbacks_see_the_vectors_as_they_are(cuda, monkeypatch):
    monkeypatch.setattr(training, "_LEAST_CHUNK", 1)
    seen = []
    learned = quick().fit(
        karate_club(), callbacks=[lambda moment: seen.append((moment, moment.vectors.copy()))]
    )
    assert len(seen) >= 20
    assert [moment.walks for moment, _ in seen] == sorted({moment.walks for moment, _ in seen})
    assert not np.array_equal(seen[0][1], seen[-1][1])
    assert np.array_equal(seen[-1][1], learned.embedding_.vectors)
    assert seen[-1][0].tokens == learned.n_tokens_


@pytest.mark.slow
def test_a_rate_that_is_too_large_is_told(cuda):
    with pytest.raises(InputError, match="learning_rate of 500 is too large"):
        quick(learning_rate=500.0, walks_per_node=50).fit(karate_club())


@pytest.mark.parametrize(("first", "then"), [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_checkpoints_move_between_backends(cuda, first, then, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "_LEAST_CHUNK", 1)
    path = tmp_path / "checkpoint"

    def stop(moment):
        if moment.walks >= moment.n_walks / 2:
            raise Stopped

    options = {"checkpoint": path, "checkpoint_every": 0}
    with pytest.raises(Stopped):
        quick(backend=first).fit(karate_club(), callbacks=[stop], **options)
    seen = []
    learned = quick(backend=then).fit(
        karate_club(), resume=True, callbacks=[lambda moment: seen.append(moment.walks)], **options
    )
    assert learned.backend_ == then
    assert min(seen) > 100  # of 340 walks, these were not made again
    assert learned.n_tokens_ == 3400
    whole = quick(backend="cpu", workers=1).fit(karate_club())
    assert learned.loss_curve_.mean() == pytest.approx(whole.loss_curve_.mean(), rel=0.05)


# -- which backend -------------------------------------------------------------------------------


def test_auto_takes_the_gpu_when_it_pays(cuda, monkeypatch):
    assert quick(backend="auto").fit(karate_club()).backend_ == "cpu"
    monkeypatch.setitem(backend_choice.LEAST_WORK, "training", 1)
    assert quick(backend="auto").fit(karate_club()).backend_ == "cuda"
    assert quick(backend="auto", workers=1).fit(karate_club()).backend_ == "cpu"
    assert quick(backend="cpu").fit(karate_club()).backend_ == "cpu"


def test_what_does_not_fit_on_the_gpu_is_refused_with_figures(cuda, monkeypatch):
    monkeypatch.setattr(device, "free_bytes", lambda: 1000)
    message = r'needs about .* of GPU memory, and 1.0 kB are free: use backend="cpu"'
    with pytest.raises(InputError, match=message):
        quick().fit(karate_club())
    monkeypatch.setitem(backend_choice.LEAST_WORK, "training", 1)
    assert quick(backend="auto").fit(karate_club()).backend_ == "cpu"


@pytest.mark.parametrize("window", [10, (1, 10), (1, 3, 10)], ids=str)
@pytest.mark.parametrize("subsample", [0.0, 1e-3])
def test_the_estimate_covers_what_is_taken(cuda, window, subsample):
    """But for small things, such as counters."""
    cp = device.cupy()
    graph, settings = planted_groups(2000, seed=1).graph, Settings(64, window, subsample=subsample)
    corpus = SampledWalks(WalkSampler(graph, length=10, per_node=2, backend="cpu"))
    engine = training.TrainingEngine(corpus, settings, begin(corpus, settings, 1, "cuda"))
    held = {
        id(part): part
        for one in (engine, *engine.scales)
        for part in (*vars(one).values(), *getattr(one, "alone", ()))
        if isinstance(part, cp.ndarray)
    }
    taken = sum(part.nbytes for part in held.values())
    taken += training.bytes_for_device(corpus.sampler.task)
    if subsample and len(settings.windows) > 1:
        taken += engine.room.nbytes  # a copy, while a window is trained
    assert 0.9 * training.bytes_for(corpus, settings) < taken
    assert taken <= training.bytes_for(corpus, settings) + 10_000


@pytest.fixture
def forgotten():
    device.why_not.cache_clear()
    yield
    device.why_not.cache_clear()


def test_without_cupy_a_sentence_says_what_to_install(forgotten, monkeypatch):
    without_package(monkeypatch, "cupy")
    with pytest.raises(InputError, match=r"CuPy.*pip install 'reinforce2vec\[cuda\]'"):
        quick().fit(karate_club())
    assert quick(backend="auto").fit(karate_club()).backend_ == "cpu"


@pytest.mark.parametrize(
    ("name", "found", "message"),
    [
        ("getDeviceCount", lambda: 0, "needs a GPU, and CuPy finds none"),
        ("getDeviceCount", lambda: 1 / 0, "a GPU that CuPy can use: division by zero"),
    ],
)
def test_without_a_device_a_sentence_says_so(forgotten, monkeypatch, name, found, message):
    monkeypatch.setitem(sys.modules, "cupy", emulator)
    monkeypatch.setattr(emulator.cuda.runtime, name, found)
    with pytest.raises(InputError, match=message):
        sample_walks(karate_club(), backend="cuda")
