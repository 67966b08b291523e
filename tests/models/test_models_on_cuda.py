"""What users of backend="cuda" live with: memory, interrupts, copies, errors."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import numpy as np
import pytest

from helpers import emulator
from helpers.interrupts import Stopped, interrupt_at, stop_at
from reinforce2vec import (
    Graph,
    InputError,
    ProNE,
    Reinforce2Vec,
    ReinforcedWalk,
    karate_club,
    planted_groups,
    smooth,
)
from reinforce2vec._util import arrays, backend_choice
from reinforce2vec._util.cuda import device
from reinforce2vec.models import smoothing
from reinforce2vec.models._memory import smoothing_bytes_on_gpu
from reinforce2vec.skipgram.checkpoint import read_checkpoint
from reinforce2vec.skipgram.corpus import SampledWalks
from reinforce2vec.skipgram.cuda import engine as training

CLUB = karate_club()


quick = partial(
    Reinforce2Vec,
    dimensions=10,
    walks_per_node=6,
    walk_length=10,
    window=3,
    smooth=False,
    negatives=2,
    backend="cuda",
)


def used():
    """Bytes that are alive on the GPU."""
    return device.cupy().get_default_memory_pool().used_bytes()


# -- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothed", [False, True])
def test_after_a_training_nothing_is_left_on_the_gpu(cuda, smoothed):
    before, seen = used(), []
    learned = quick(smooth=smoothed).fit(CLUB, callbacks=[lambda moment: seen.append(used())])
    assert min(seen) > before
    assert used() <= before
    learned.partial_fit([("new", 34)])
    assert used() <= before


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt])
def test_after_an_error_in_a_callback_nothing_is_left_on_the_gpu(cuda, error):
    before, seen = used(), []

    def fail(moment):
        seen.append(used())
        raise error

    learner = quick()
    with pytest.raises(error) as kept:  # which holds on to every frame
        learner.fit(CLUB, callbacks=[fail])
    assert min(seen) > before
    assert used() <= before
    assert kept.value is not None
    assert not hasattr(learner, "embedding_")


def test_smoothing_leaves_nothing_on_the_gpu(cuda):
    before = used()
    smooth(np.eye(34, dtype=np.float32), CLUB, backend="cuda")
    assert used() <= before


# -- a GPU that is nearly full ------------------------------------------------------------------


@pytest.fixture
def leave(cuda, monkeypatch):
    """Make the GPU so small that so many bytes are left, for all that is asked to be free."""
    if cuda == "device":
        pytest.skip("nobody knows how much a GPU has left to the last byte")
    rounding = 60 * emulator.UNIT
    monkeypatch.setattr(device, "RESERVE", rounding)
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 16 * emulator.UNIT)
    monkeypatch.setitem(backend_choice.LEAST_WORK, "training", 1)
    return lambda free: monkeypatch.setattr(emulator, "MEMORY", used() + free + rounding)


def bytes_to_learn(learner, graph):
    corpus = SampledWalks(learner._sampler(graph))
    return training.bytes_for(corpus, learner._settings(corpus))


@pytest.mark.parametrize("walk", [None, ReinforcedWalk("vertex"), ReinforcedWalk.released()])
@pytest.mark.parametrize("weighted", [False, True])
def test_auto_takes_a_gpu_that_has_exactly_what_is_needed(leave, walk, weighted):
    graph = planted_groups(300, seed=1).graph
    if weighted:
        graph = Graph.from_any(graph.to_scipy() * 2.5)
    learner = quick(backend="auto", walk=walk, dimensions=40, walks_per_node=1, walk_length=5)
    needed = bytes_to_learn(learner, graph)
    leave(needed)
    assert learner.fit(graph).backend_ == "cuda"
    leave(needed - 1)
    assert learner.fit(graph).backend_ == "cpu"


def test_auto_smooths_where_it_learns(leave):
    learner = quick(backend="auto", smooth=True)
    needed = max(bytes_to_learn(learner, CLUB), smoothing_bytes_on_gpu(CLUB, 10))
    leave(needed)
    assert learner.fit(CLUB).backend_ == "cuda"
    leave(needed - 1)
    assert learner.fit(CLUB).backend_ == "cpu"


def test_a_gpu_with_room_for_training_but_not_for_smoothing_is_refused_before_it_begins(leave):
    graph, seen = planted_groups(3000, degree=40, seed=1).graph, []
    learner = quick(smooth=True, walks_per_node=1, walk_length=2)
    trains, smooths = bytes_to_learn(learner, graph), smoothing_bytes_on_gpu(graph, 10)
    assert trains < smooths
    leave((trains + smooths) // 2)
    with pytest.raises(InputError, match=r'of GPU memory, .* use backend="cpu"'):
        learner.fit(graph, callbacks=[seen.append])
    assert seen == []
    assert learner.set_params(smooth=False).fit(graph).backend_ == "cuda"


# -- several at once -----------------------------------------------------------------------------


# -- callbacks and interrupts --------------------------------------------------------------------


def test_an_interrupt_leaves_a_checkpoint_from_which_it_goes_on(cuda, interrupts, tmp_path):
    file, before, seen = tmp_path / "training.checkpoint", used(), []
    learner = quick()
    with pytest.raises(KeyboardInterrupt):
        learner.fit(CLUB, checkpoint=file, callbacks=[interrupt_at(40)])
    assert used() <= before
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert not hasattr(learner, "embedding_")
    learned = quick().fit(
        CLUB, checkpoint=file, resume=True, callbacks=[lambda moment: seen.append(moment.walks)]
    )
    assert 0.4 <= seen[0] / (34 * 6) < 0.6
    assert learned.n_tokens_ == 34 * 6 * 10
    whole = quick().fit(CLUB)
    assert learned.loss_curve_.mean() == pytest.approx(whole.loss_curve_.mean(), rel=0.02)


def test_a_checkpoint_holds_the_matrices_of_its_moment(cuda, tmp_path):
    file, seen, learner = tmp_path / "training.checkpoint", [], quick()
    options = {"checkpoint": file, "checkpoint_every": 0}
    with pytest.raises(Stopped):
        learner.fit(
            CLUB,
            callbacks=[lambda now: seen.append((now.walks, now.vectors.copy())), stop_at(50)],
            **options,
        )
    corpus = SampledWalks(learner._sampler(CLUB))
    settings = learner._settings(corpus)
    state = read_checkpoint(file, learner._origin(corpus, settings), settings, CLUB.n_nodes)
    walks, vectors = seen[-1]  # an error of a callback leaves a checkpoint
    assert state.walks == walks
    np.testing.assert_array_equal(state.vectors, vectors)
    assert not np.array_equal(vectors, seen[0][1])
    assert state.scales[0].outputs.any()


# -- copies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy], ids=["pickle", "deep"]
)
def test_a_copy_of_a_model_has_the_vectors_and_goes_on(cuda, copied):
    learned = quick().fit(CLUB)
    before = learned.embedding_.vectors.copy()
    twin = copied(learned)
    assert twin.backend == twin.backend_ == "cuda"
    assert twin.get_params() == learned.get_params()
    np.testing.assert_array_equal(twin.embedding_.vectors, before)
    twin.partial_fit([("new", 34)])
    assert len(twin.embedding_) == 35
    np.testing.assert_array_equal(learned.embedding_.vectors, before)


@pytest.mark.parametrize(("first", "then"), [("cpu", "cuda"), ("cuda", "cpu")])
def test_a_model_learns_new_edges_on_the_other_backend(cuda, first, then):
    learner = quick(backend=first, workers=1).fit(CLUB)
    before, hub = learner.embedding_.vectors.copy(), CLUB.rows([34])[0]
    learner.set_params(backend=then).partial_fit([("new", 34), ("new", 33)])
    assert learner.backend_ == then
    after = learner.embedding_.vectors
    assert not np.array_equal(after[hub], before[hub])
    towards = after[:34] @ after[34] / np.linalg.norm(after[:34], axis=1)
    assert towards[hub] > np.median(towards)
    # old vectors are where they were, but for a short training from three nodes
    moved = np.linalg.norm(after[:34] - before, axis=1)
    assert moved.mean() < 0.5 * np.linalg.norm(before, axis=1).mean()
    learner.set_params(backend=first).partial_fit([("newer", "new")])
    assert learner.backend_ == first
    assert len(learner.embedding_) == 36


# -- walks ---------------------------------------------------------------------------------------


# -- vectors as long as on the CPU ---------------------------------------------------------------


def learned_from(graph, **changes):
    """Vectors of the CPU and of the GPU."""
    options = {"walk_length": 10, "walks_per_node": 80, "window": 10, "smooth": False} | changes
    return (
        Reinforce2Vec(8, workers=1, backend=backend, **options).fit(graph).embedding_.vectors
        for backend in ("cpu", "cuda")
    )


@pytest.mark.slow
def test_a_star_has_vectors_as_long_as_on_the_cpu(cuda, monkeypatch):
    """Every walk holds the row of the hub, but no more than once."""
    monkeypatch.setattr(training, "TURNS", 1)  # several walks in flight
    star = Graph.from_edges([(0, leaf) for leaf in range(1, 41)])
    ours, theirs = (
        np.linalg.norm(vectors, axis=1)
        for vectors in learned_from(star, walks_per_node=10, learning_rate=0.01)
    )
    near = 0.2 if cuda == "device" else 0.05  # emulated walks do not disturb each other
    assert theirs[0] == pytest.approx(ours[0], rel=near)
    assert theirs[1:].mean() == pytest.approx(ours[1:].mean(), rel=near)


def test_smoothed_vectors_are_those_that_smoothing_makes(cuda):
    plain = quick().fit(CLUB)
    smoothed = quick(smooth=True).fit(CLUB)
    assert smoothed.backend_ == "cuda"
    np.testing.assert_allclose(np.linalg.norm(smoothed.embedding_.vectors, axis=1), 1, atol=1e-6)
    vectors = smoothed._state.vectors
    np.testing.assert_allclose(
        smoothed.embedding_.vectors, smooth(vectors, CLUB, backend="cpu"), atol=1e-5
    )
    assert vectors.shape == plain.embedding_.vectors.shape


def test_prone_stays_on_the_cpu(cuda, monkeypatch):
    """Its results repeat to the last bit, whatever the machine has."""
    monkeypatch.setitem(backend_choice.LEAST_WORK, "smoothing", 0)

    def never(graph):
        raise AssertionError("ProNE went to the GPU")

    monkeypatch.setattr(smoothing, "DeviceLinks", never)
    assert ProNE(dimensions=4).fit(CLUB).embedding_.vectors.shape == (34, 4)
