"""Several windows: each is trained as by itself, on the same walks, with dimensions of its own.

That each is trained as defined is held in test_skipgram_exact.py, that threads which wait now and
then change nothing in test_threads.py, and the GPU in test_cuda_training.py.
"""

from __future__ import annotations

import pickle
import re
import warnings
from functools import cache, partial

import numpy as np
import pytest

from helpers.interrupts import Stopped, stop_at
from helpers.memory import least_peak_of
from helpers.models import vectors_of
from helpers.toy_graphs import planted_partition
from reinforce2vec import (
    FirstOrderWalk,
    InputError,
    Reinforce2Vec,
    karate_club,
    rmat,
    sample_walks,
)
from reinforce2vec._util.engine import ENGINES, VARIABLE
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.models import reinforce2vec, training
from reinforce2vec.skipgram import checkpoint, host, schedule
from reinforce2vec.skipgram.state import POINTS, Settings

CLUB = karate_club()
WINDOWS = (1, 10)

# a model with two windows that learns fast and repeats; its vectors are as they were trained
quick = partial(
    Reinforce2Vec, dimensions=24, walks_per_node=5, window=WINDOWS, smooth=False, workers=1
)


@pytest.fixture(params=ENGINES)
def engine(request, monkeypatch):
    """Both engines of the CPU."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


@cache
def some_blocks():
    return rmat(9, 8)


def everything(model):
    """All that a training leaves: the two matrices of each window, losses and pairs, as bytes."""
    state = model._state
    matrices = [matrix.tobytes() for weights in state.scales for matrix in weights[:2]]
    return *matrices, state.losses.tobytes(), state.pairs.tobytes(), vectors_of(model).tobytes()


# -- shares of the dimensions ------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 7, 2**64 - 1])
def test_every_window_has_a_seed_of_its_own_and_the_first_has_that_of_the_model(seed):
    seeds = [one.seed for one in Settings(64, (1, 2, 5, 10), seed=seed).scales()]
    assert seeds[0] == seed
    assert len(set(seeds)) == 4
    assert all(0 <= one < 2**64 for one in seeds)
    np.array(seeds, np.uint64)  # fits


# -- as by itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("windows", [(1, 10), (2, 3, 12)], ids=str)
@pytest.mark.parametrize("subsample", [0.0, 1e-2])
@pytest.mark.parametrize("graph", [CLUB, some_blocks()], ids=len)
def test_each_window_is_trained_as_by_itself(engine, windows, subsample, graph, monkeypatch):
    """At its rate, in passes that are as long as those of all windows together."""
    few = {"epochs": 2, "subsample": subsample, "learning_rate": 0.03, "seed": 5}
    walks = sample_walks(graph, FirstOrderWalk(), length=20, per_node=2, seed=3)
    together = quick(window=windows, **few).fit_walks(walks, ids=graph)
    size, scales = pass_of(walks, graph, together), together._settings().scales()
    names = ("dimensions", "learning_rate", "seed")
    monkeypatch.setattr(host, "pass_walks", lambda *options: size)
    assert len(together._state.scales) == len(windows)
    for number, (one, window) in enumerate(zip(scales, windows, strict=True)):
        own = few | {name: getattr(one, name) for name in names} | {"window": window}
        alone = quick(**own).fit_walks(walks, ids=graph)
        ours, theirs = together._state.scales[number], alone._state.scales[0]
        assert ours.inputs.tobytes() == theirs.inputs.tobytes()
        assert ours.outputs.tobytes() == theirs.outputs.tobytes()
        assert together._state.losses[number].tobytes() == alone._state.losses.tobytes()
        assert together._state.pairs[number].tobytes() == alone._state.pairs.tobytes()
        assert together.n_tokens_ == alone.n_tokens_
        if number:  # the seed matters
            other = quick(**own | {"seed": 5}).fit_walks(walks, ids=graph)
            assert not np.array_equal(vectors_of(other), vectors_of(alone))


def pass_of(walks, graph, model):
    """How many walks make a pass of a training on these walks."""
    given = model._corpus(walks_from(walks, graph))
    return host.pass_walks(given, model._settings(given), np.count_nonzero(model._state.visits))


def test_the_default_is_two_windows_smoothed():
    model = Reinforce2Vec(workers=1).fit(CLUB)
    assert [weights.dimensions for weights in model._state.scales] == [32, 96]
    assert vectors_of(model).shape == (34, 128)
    assert model.n_tokens_ == 34 * 20 * 40


# -- threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"smooth": True}, {"subsample": 1e-2}], ids=str)
def test_any_number_of_threads_gives_the_same_bytes(engine, changes, monkeypatch):
    monkeypatch.setattr(schedule, "_FEWEST_PASSES", 20)
    train = partial(quick, walks_per_node=2, walk_length=10, **changes)
    one, *others = (
        everything(train(workers=workers).fit(some_blocks())) for workers in (1, 2, 3, 8, 16)
    )
    assert others == [one] * 4


def test_the_seed_matters_for_each_window():
    one, other = (quick(seed=seed).fit(CLUB)._state.scales for seed in (0, 1))
    for ours, theirs in zip(one, other, strict=True):
        assert not np.isclose(ours.vectors, theirs.vectors).all(axis=1).any()


# -- walks -------------------------------------------------------------------------------------


def test_subsampling_for_one_window_leaves_the_walks_of_the_next_as_they_are():
    """Each skips visits by a seed of its own, so that none sees the gaps of another."""
    walks = np.array([[0, 1] * 50 + [2]] * 10)
    model = quick(subsample=1e-9).fit_walks(walks)
    assert model.n_tokens_ == walks.size  # skipped ones are tokens all the same
    assert not model._state.pairs.any()
    whole = quick(subsample=10.0).fit_walks(walks)
    assert everything(whole) == everything(quick().fit_walks(walks))
    assert (walks == [[0, 1] * 50 + [2]] * 10).all()


# -- losses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("window", [(1, 10), (1, 4, 10)], ids=str)
def test_callbacks_are_told_the_loss_of_each_window(engine, window, workers):
    moments, seen = [], []

    def note(moment):
        moments.append(moment)
        seen.append(moment.vectors.copy())

    model = quick(window=window, workers=workers).fit(CLUB, callbacks=[note])
    assert 50 <= len(moments) <= 100
    for moment in moments:
        assert type(moment.losses) is tuple
        assert len(moment.losses) == len(window)
        assert all(type(loss) is float and loss > 0 for loss in moment.losses)
        assert len(set(moment.losses)) == len(window)
        assert moment.loss == pytest.approx(sum(moment.losses) / len(window), rel=1e-12)
    assert moments[-1].losses == tuple(model.loss_curve_[-1])
    assert np.array_equal(seen[-1], vectors_of(model))
    assert not np.array_equal(seen[0], seen[-1])


@pytest.mark.parametrize("walks_per_node", [1, 20])
@pytest.mark.parametrize("window", [(1, 10), (1, 4, 10)], ids=str)
def test_the_loss_curve_has_a_column_for_each_window(walks_per_node, window):
    model = quick(walks_per_node=walks_per_node, window=window).fit(CLUB)
    assert model.loss_curve_.shape == (min(POINTS, 34 * walks_per_node), len(window))
    assert np.isfinite(model.loss_curve_).all()
    assert model._state.losses.shape == model._state.pairs.shape == (len(window), POINTS)


def test_the_loss_of_each_window_begins_at_that_of_guessing_and_falls():
    model = quick(walks_per_node=20, learning_rate=0.005).fit(planted_partition())
    for curve in model.loss_curve_.T:
        # a negative that is the centre itself does not count
        assert curve[0] == pytest.approx(6 * np.log(2), rel=0.02)
        begin, middle, end = (part.mean() for part in np.split(curve[10:], 3))
        assert begin > middle > end


# -- learning rates that are too large -----------------------------------------------------------


@pytest.mark.parametrize("spoiled", [0, 1])
def test_a_window_that_diverges_is_noticed_among_others_that_do_not(spoiled):
    """Numbers that no walk reads again are made infinite, in the end."""

    def spoil(moment):
        if moment.walks == moment.n_walks:
            moment._trainer.state.scales[spoiled].outputs[:] = np.inf

    with pytest.raises(InputError, match="vectors are not finite"):
        quick(learning_rate=0.01).fit(CLUB, callbacks=[spoil])


@pytest.fixture
def large_rate(monkeypatch):
    """A default learning rate that is too large for the club: twice for each window."""
    monkeypatch.setattr(reinforce2vec, "usual_rate", lambda tokens: 0.6)


AGAIN = "training began again, since the learning rate"


def rates_of(model):
    return [
        one.learning_rate for one in model._settings()._replace(rates=model._state.rates).scales()
    ]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_default_rate_that_is_too_large_is_halved_for_the_windows_that_need_it(
    engine, large_rate, workers
):
    with pytest.warns(UserWarning, match=AGAIN) as warned:
        model = quick(workers=workers).fit(CLUB)
    said = [
        re.findall(r"rate (\S+) of window (\d+) was too large", str(one.message)) for one in warned
    ]
    assert [one for (one,) in said] == [("1.2", "1"), ("0.6", "1"), ("0.6", "10"), ("0.3", "10")]
    assert {one.filename for one in warned} == {__file__}
    assert rates_of(model) == [0.3, 0.15]
    assert model.learning_rate_ == 0.15
    assert model.n_tokens_ == 34 * 5 * 40
    given = quick(learning_rate=0.15).fit(CLUB)  # its narrow window has twice that, too
    assert everything(model) == everything(given)


def test_a_training_that_began_again_goes_on_at_its_rates(large_rate, tmp_path):
    file = tmp_path / "training.checkpoint"
    with pytest.warns(UserWarning, match=AGAIN):
        expected = everything(quick().fit(CLUB))

    def stop_late(moment):
        slow = moment._trainer.settings.scales()[-1].learning_rate == 0.15
        if slow and 2 * moment.walks >= moment.n_walks:
            raise Stopped

    options = {"checkpoint": file, "checkpoint_every": 0}
    with pytest.warns(UserWarning, match=AGAIN), pytest.raises(Stopped):
        quick(workers=3).fit(CLUB, callbacks=[stop_late], **options)
    resumed = quick(workers=2).fit(CLUB, resume=True, **options)  # without another warning
    assert rates_of(resumed) == [0.3, 0.15]
    assert everything(resumed) == expected


def test_new_edges_are_learned_at_a_rate_that_works_too(monkeypatch):
    monkeypatch.setattr(reinforce2vec, "usual_rate", lambda tokens: 2.4)  # a quarter is too much
    model = quick(learning_rate=0.01).fit(CLUB).set_params(learning_rate=None)
    with pytest.warns(UserWarning, match=AGAIN):
        model.partial_fit([("new", 34), ("new", 33), (5, 30), (12, 20)])
    assert np.isfinite(vectors_of(model)).all()
    assert len(model.embedding_) == 35
    narrow, wide = rates_of(model)
    assert narrow < 4.8
    assert wide < 2.4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit([("newer", 34), ("newer", 33), (6, 30), (13, 20)])
    assert rates_of(model) == [narrow, wide]


def test_a_rate_that_stays_too_large_is_an_error_after_some_halvings(monkeypatch):
    monkeypatch.setattr(reinforce2vec, "usual_rate", lambda tokens: 1e9)
    with (
        pytest.warns(UserWarning, match=AGAIN) as warned,
        pytest.raises(InputError, match=r"learning_rate of \S+ is too large"),
    ):
        quick().fit(CLUB)
    assert len(warned) == training.MOST_HALVINGS


def test_a_failed_training_can_be_told_by_another_process():
    with pytest.raises(InputError) as failure:
        quick(learning_rate=1e5).fit(CLUB)
    copy = pickle.loads(pickle.dumps(failure.value))
    assert str(copy) == str(failure.value)
    assert copy.parameter == "learning_rate"
    assert isinstance(copy, InputError)


# -- checkpoints -------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    return tmp_path / "training.checkpoint"


def stop(model, percent, file, graph=CLUB):
    """Train up to so many hundredths and leave a checkpoint of just before."""
    with pytest.raises(Stopped):
        model.fit(graph, checkpoint=file, checkpoint_every=0, callbacks=[stop_at(percent)])
    assert file.exists()


@pytest.mark.parametrize("percent", [3, 50, 98])
@pytest.mark.parametrize("smoothed", [False, True])
def test_a_stopped_training_goes_on_with_another_number_of_threads(engine, file, percent, smoothed):
    few = {"window": (1, 4, 10), "subsample": 1e-2, "epochs": 2, "smooth": smoothed}
    expected = everything(quick(**few).fit(CLUB))
    stop(quick(workers=2, **few), percent, file)
    resumed = quick(workers=5, **few).fit(CLUB, checkpoint=file, resume=True)
    assert everything(resumed) == expected


def test_a_checkpoint_has_the_matrices_of_each_window(file):
    model = quick().fit(CLUB, checkpoint=file)
    with np.load(file) as arrays:
        for number, weights in enumerate(model._state.scales):
            for name in ("inputs", "outputs"):
                assert np.array_equal(arrays[f"{name}{number}"], getattr(weights, name))
        assert not {"inputs2", "outputs2"} & set(arrays)
        assert arrays["losses"].shape == arrays["pairs"].shape == (2, POINTS)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1, 10), 10),
        (10, (1, 10)),
        ((1, 10), (2, 10)),
        ((1, 10), (1, 9)),
        ((1, 10), (1, 5, 10)),
        ((1, 5, 10), (1, 10)),
    ],
    ids=str,
)
def test_a_checkpoint_of_other_windows_is_refused(file, before, after):
    stop(quick(window=before), 50, file)
    kept = file.read_bytes()
    with pytest.raises(InputError, match=r"made with window=.*, not window=") as refusal:
        quick(window=after).fit(CLUB, checkpoint=file, resume=True)
    assert refusal.value.parameter == "window"
    assert file.read_bytes() == kept


@pytest.mark.parametrize(("before", "after"), [(10, (10,)), ((10,), 10), ((1, 10), [1, 10])])
def test_the_same_windows_may_be_written_in_another_way(file, before, after):
    stop(quick(window=before), 50, file)
    resumed = quick(window=after).fit(CLUB, checkpoint=file, resume=True)
    assert everything(resumed) == everything(quick(window=before).fit(CLUB))


@pytest.mark.parametrize("version", [1, 4, 6])
def test_a_checkpoint_of_another_version_is_refused(file, version, monkeypatch):
    monkeypatch.setattr(checkpoint, "_FORMAT", version)
    stop(quick(), 50, file)
    monkeypatch.undo()
    with pytest.raises(
        InputError, match=r"by another version of reinforce2vec.*: resume with that"
    ):
        quick().fit(CLUB, checkpoint=file, resume=True)


# -- growing -----------------------------------------------------------------------------------


def test_each_window_grows_by_itself_with_any_number_of_threads(engine):
    edges = [("new", 34), ("new", 33), (1, 30)]

    def grown(before, after):
        model = quick(workers=before, subsample=1e-2).fit(CLUB)
        return everything(model.set_params(workers=after).partial_fit(edges))

    one, *others = (grown(*workers) for workers in ((1, 1), (1, 3), (2, 1), (8, 16)))
    assert others == [one] * 3


def test_new_nodes_begin_at_the_mean_of_their_neighbours_in_every_window():
    """With a learning rate of almost nothing they are still there at the end."""
    model = quick().fit([("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0)])
    before = [[matrix.copy() for matrix in weights[:2]] for weights in model._state.scales]
    model.set_params(learning_rate=1e-12).partial_fit([("new", "a", 3.0), ("new", "b", 1.0)])
    assert model.embedding_.ids.tolist() == ["a", "b", "c", "d", "new"]
    assert vectors_of(model).shape == (5, 24)
    for old, weights in zip(before, model._state.scales, strict=True):
        for matrix, after in zip(old, weights[:2], strict=True):
            np.testing.assert_allclose(after[:4], matrix, rtol=1e-4, atol=1e-6)
            mean = 0.75 * matrix[0] + 0.25 * matrix[1]
            np.testing.assert_allclose(after[4], mean, rtol=1e-4, atol=1e-6)


def test_updates_take_new_seeds_in_every_window():
    model = quick(walks_per_node=50, learning_rate=1e-9).fit(CLUB)
    one, other = (model.partial_fit([edge]).loss_curve_ for edge in ((1, 30), (1, 27)))
    for ours, theirs in zip(one.T, other.T, strict=True):
        assert not np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("dimensions", "window", "message"),
    [
        (24, 10, "24 dimensions of 2 windows, not 24 of 1"),
        (24, (1, 5, 10), "24 dimensions of 2 windows, not 24 of 3"),
        (32, (1, 10), "24 dimensions of 2 windows, not 32 of 2"),
    ],
)
def test_other_shares_of_the_dimensions_cannot_grow(dimensions, window, message):
    model = quick().fit(CLUB)
    before = model.embedding_
    with pytest.raises(InputError, match=f"{message}: reset dimensions and window, or call fit"):
        model.set_params(dimensions=dimensions, window=window).partial_fit([(1, "new")])
    assert model.embedding_ is before
    model.set_params(dimensions=24, window=(1, 10)).partial_fit([(1, "new")])
    assert len(model.embedding_) == 35


# -- memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [10, (1, 10), (1, 3, 10)], ids=str)
@pytest.mark.parametrize(
    "changes", [{}, {"subsample": 1e-3}, {"smooth": True}, {"workers": 3}], ids=str
)
def test_the_estimate_covers_what_is_taken(window, changes):
    """Of memory that numpy has; kernels take a little more, for each thread."""
    graph = rmat(13, 4, seed=1)
    model = quick(dimensions=64, walks_per_node=3, walk_length=20, window=window, **changes)
    model.fit(graph)  # compiles
    peak = least_peak_of(model.fit, graph)
    estimate = model.estimate_memory(graph)
    threads = model.workers * (host._BYTES_PER_THREAD + 20 * host._BYTES_PER_STEP)
    assert peak <= estimate
    assert estimate - threads <= 1.7 * peak
