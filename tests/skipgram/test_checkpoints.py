"""A training that is killed goes on where it was, and to the same end."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from contextlib import ExitStack
from functools import partial

import numpy as np
import pytest

from helpers.interrupts import Stopped, interrupt_at, stop_at
from helpers.limits import largest_file
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    Reinforce2Vec,
    karate_club,
    rmat,
    sample_walks,
)
from reinforce2vec.walks import WalkSampler

CLUB = karate_club()
OFTEN = 0  # seconds between checkpoints: after every chunk


# a model that learns fast and repeats; a row of its matrices is filled up with zeros
quick = partial(Reinforce2Vec, dimensions=10, walks_per_node=20, window=10, smooth=False, workers=1)


@pytest.fixture(scope="module")
def uninterrupted():
    return quick().fit(CLUB)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "training.checkpoint"


def same(a, b):
    """Whether two models learned the same, to the last bit."""
    return (
        a.embedding_.vectors.tobytes() == b.embedding_.vectors.tobytes()
        and a.embedding_.ids.tolist() == b.embedding_.ids.tolist()
        and a.loss_curve_.tobytes() == b.loss_curve_.tobytes()
        and a.n_tokens_ == b.n_tokens_
    )


def stop(learner, percent, file, **options):
    """Train up to so many hundredths and leave a checkpoint of just before."""
    options = {"checkpoint": file, "checkpoint_every": OFTEN} | options
    with pytest.raises(Stopped):
        learner.fit(CLUB, callbacks=[stop_at(percent)], **options)
    if percent > 1:  # else it is stopped before the first
        assert file.exists()


def walks_in(file):
    """How many walks a checkpoint has behind it."""
    moments = []
    quick().fit(CLUB, checkpoint=file, resume=True, callbacks=[moments.append])
    return moments[0].walks if moments else 34 * 20


@pytest.fixture
def no_work(monkeypatch):
    """Whatever would walk fails the test."""

    def never(*args, **options):
        raise AssertionError("work began")

    monkeypatch.setattr(WalkSampler, "fill", never)


# -- there and back ----------------------------------------------------------------------------


def test_a_checkpoint_changes_nothing(file, uninterrupted):
    assert same(quick().fit(CLUB, checkpoint=file), uninterrupted)
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("percent", [1, 37, 99])
def test_a_stopped_training_ends_in_the_same(file, uninterrupted, percent):
    stop(quick(), percent, file)
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


def test_a_training_may_be_stopped_again_and_again(file, uninterrupted):
    for percent in range(5, 100, 9):
        stop(quick(), percent, file, resume=True)
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


@pytest.mark.parametrize(
    "settings",
    [
        {"dimensions": 16},
        {"dimensions": 1},
        {"epochs": 3, "walks_per_node": 7},
        {"negatives": 20},
        {"subsample": 1e-3},
        {"seed": 2**64 - 1},
        {"walk": FirstOrderWalk()},
        {"learning_rate": 0.1 + 0.2 - 0.275},
    ],
    ids=str,
)
def test_whatever_the_settings_it_ends_in_the_same(file, settings):
    stop(quick(**settings), 40, file)
    resumed = quick(**settings).fit(CLUB, checkpoint=file, resume=True)
    assert same(resumed, quick(**settings).fit(CLUB))


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([("ann", "bob", 2.0), ("bob", "cid", 0.5), ("cid", "dee", 1.5)]),
        Graph.from_edges([((0, 1), None.__class__), ((0, 1), "\udcff")]),
        Graph.from_edges([], nodes=[1]),
    ],
    ids=repr,
)
def test_whatever_the_graph_it_ends_in_the_same(file, graph):
    with pytest.raises(Stopped):
        quick().fit(graph, checkpoint=file, checkpoint_every=OFTEN, callbacks=[stop_at(60)])
    assert file.exists()
    assert same(quick().fit(graph, checkpoint=file, resume=True), quick().fit(graph))


def test_without_a_file_resuming_begins_anew(file, uninterrupted):
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)
    assert file.exists()


def test_a_finished_training_has_its_result_at_once(file, uninterrupted, monkeypatch):
    quick().fit(CLUB, checkpoint=file)

    def never(*args):
        raise AssertionError("a walk was made")

    monkeypatch.setattr(WalkSampler, "fill", never)
    before = file.read_bytes()
    resumed = quick().fit(CLUB, checkpoint=str(file), resume=True)
    assert same(resumed, uninterrupted)
    assert file.read_bytes() == before


def test_a_resumed_model_grows_as_any_other(file, uninterrupted):
    stop(quick(), 50, file)
    resumed = quick().fit(CLUB, checkpoint=file, resume=True)
    whole = quick().fit(CLUB)
    for learner in (resumed, whole):
        learner.partial_fit([(1, "new")])
    assert same(resumed, whole)


def test_given_walks_can_be_resumed(file):
    walks = sample_walks(CLUB, per_node=20)
    options = {"checkpoint": file, "checkpoint_every": OFTEN}
    with pytest.raises(Stopped):
        quick(epochs=2).fit_walks(walks, ids=CLUB, callbacks=[stop_at(70)], **options)
    resumed = quick(epochs=2).fit_walks(walks, ids=CLUB, resume=True, **options)
    assert same(resumed, quick(epochs=2).fit_walks(walks, ids=CLUB))


@pytest.mark.parametrize("linked", [False, True])
def test_only_rows_of_a_cluster_are_removed_with_a_checkpoint(file, linked):
    """Not what else is beside it in a folder of that name, nor what a link leads to."""
    rows = file.with_name(f"{file.name}.rows")
    if linked:
        rows.symlink_to(file.with_name("other"))
    folders = [rows.resolve() / "thesis", rows.resolve() / "64-0123abcd"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "file").touch()
    quick().fit(CLUB, checkpoint=file)
    assert [folder.exists() for folder in folders] == [True, linked]


# -- another training --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def halfway(tmp_path_factory):
    file = tmp_path_factory.mktemp("halfway") / "training.checkpoint"
    stop(quick(), 50, file)
    return file


def test_an_existing_checkpoint_is_not_written_over(halfway, no_work):
    before = halfway.read_bytes()
    with pytest.raises(InputError, match=r"this checkpoint exists: resume from it .*, or remove"):
        quick().fit(CLUB, checkpoint=halfway)
    assert halfway.read_bytes() == before


def test_resuming_needs_a_checkpoint(no_work):
    with pytest.raises(InputError, match="resume=True needs checkpoint="):
        quick().fit(CLUB, resume=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("dimensions", 11),
        ("dimensions", 16),
        ("walk", FirstOrderWalk()),
        ("walk_length", 41),
        ("walks_per_node", 21),
        ("window", 9),
        ("negatives", 4),
        ("epochs", 2),
        ("learning_rate", 0.026),
        ("subsample", 0.001),
        ("seed", 1),
    ],
)
def test_a_checkpoint_of_other_parameters_is_refused(halfway, no_work, name, value):
    before = halfway.read_bytes()
    with pytest.raises(InputError, match=f"made with {name}=.*, not {name}=") as refusal:
        quick(**{name: value}).fit(CLUB, checkpoint=halfway, resume=True)
    assert str(halfway) in str(refusal.value)
    assert halfway.read_bytes() == before


def renamed(graph, ids):
    return Graph(graph.indptr, graph.indices, graph.weights, ids, graph.directed)


OTHER_GRAPHS = {
    "another graph": rmat(5),
    "another edge": Graph.from_any(
        [*zip(*np.nonzero(np.triu(CLUB.to_scipy().toarray())), strict=True), (0, 33)]
    ),
    "other ids": renamed(CLUB, CLUB.ids + 1),
    "ids as strings": renamed(CLUB, CLUB.ids.astype(str).astype(object)),
    "weights": Graph(CLUB.indptr, CLUB.indices, np.ones(len(CLUB.indices)), CLUB.ids),
    "directions": Graph(CLUB.indptr, CLUB.indices, None, CLUB.ids, directed=True),
}


@pytest.mark.parametrize("name", OTHER_GRAPHS)
def test_a_checkpoint_of_another_graph_is_refused(halfway, no_work, name):
    with pytest.raises(InputError, match="made on another graph or other walks"):
        quick().fit(OTHER_GRAPHS[name], checkpoint=halfway, resume=True)


def test_a_checkpoint_of_other_walks_is_refused(file, halfway):
    walks = sample_walks(CLUB, per_node=2)
    quick().fit_walks(walks, checkpoint=file)
    for other in (walks[::-1], walks[1:], walks[:, 1:]):
        with pytest.raises(InputError, match="another graph or other walks"):
            quick().fit_walks(other, checkpoint=file, resume=True)
    with pytest.raises(InputError, match="another graph or other walks"):
        quick().fit_walks(walks, ids=CLUB, checkpoint=file, resume=True)
    with pytest.raises(InputError, match="another graph or other walks"):
        quick().fit_walks(walks, checkpoint=halfway, resume=True)
    with pytest.raises(InputError, match="another graph or other walks"):
        quick().fit(CLUB, checkpoint=file, resume=True)


# -- damaged files -----------------------------------------------------------------------------


def resumed_or_refused(file, contents, uninterrupted):
    """Resume from some bytes: the right result or one sentence, nothing else."""
    file.write_bytes(contents)
    refusal = ""
    try:
        resumed = quick().fit(CLUB, checkpoint=file, resume=True)
    except InputError as error:
        refusal = str(error)
    if not refusal:
        assert same(resumed, uninterrupted)
        return "resumed"
    assert "\n" not in refusal
    assert str(file) in refusal
    assert file.read_bytes() == contents
    return "refused"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The bytes of a checkpoint."""
    file = tmp_path_factory.mktemp("finished") / "training.checkpoint"
    quick().fit(CLUB, checkpoint=file)
    return file.read_bytes()


def test_a_checkpoint_that_was_cut_off_is_refused(file, finished, uninterrupted):
    for size in {*range(0, len(finished), 97), *range(len(finished) - 60, len(finished))}:
        assert resumed_or_refused(file, finished[:size], uninterrupted) == "refused"


@pytest.mark.slow
def test_a_damaged_bit_never_changes_the_result(file, finished, uninterrupted):
    """It is found, but for bits that say nothing, such as the time of a file in an archive."""
    rng = random.Random(3)
    outcomes = []
    for _ in range(600):
        damaged = bytearray(finished)
        damaged[rng.randrange(len(finished))] ^= 1 << rng.randrange(8)
        outcomes.append(resumed_or_refused(file, bytes(damaged), uninterrupted))
    assert outcomes.count("refused") > 400


def test_other_files_are_refused(file, uninterrupted, tmp_path):
    uninterrupted.embedding_.save(tmp_path / "vectors.npz")
    np.savez(tmp_path / "pickled.npz", about=np.array([{}], object), allow_pickle=True)
    np.save(tmp_path / "array.npy", np.arange(5))
    others = [(tmp_path / name).read_bytes() for name in os.listdir(tmp_path)]
    for contents in (*others, b"", b"?", b"1 2\n2 3\n", b"PK\x05\x06" + bytes(18), bytes(10**5)):
        assert resumed_or_refused(file, contents, uninterrupted) == "refused"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
@pytest.mark.parametrize("resume", [False, True])
def test_a_pipe_is_refused_and_not_waited_for(file, no_work, resume):
    os.mkfifo(file)
    with pytest.raises(InputError, match="a device or a pipe, from which nothing can be resumed"):
        quick().fit(CLUB, checkpoint=file, resume=resume)


# -- where nothing can be written --------------------------------------------------------------


@pytest.mark.parametrize("resume", [False, True])
def test_a_full_disk_is_an_error_before_the_work(file, no_work, monkeypatch, resume):
    usage = shutil.disk_usage(file.parent)._replace(free=10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InputError, match=r"but the disk of .* has 1\.0 MB left: make room"):
        quick(dimensions=10**4).fit(CLUB, checkpoint=file, resume=resume)
    with pytest.raises(InputError, match="make room"):
        quick(dimensions=10**5).fit_walks([[1, 2]], checkpoint=file, resume=resume)
    assert not list(file.parent.iterdir())


SOME = 500  # bytes of a checkpoint for which there is room on a disk that is nearly full


def test_a_disk_that_fills_up_leaves_the_checkpoint_before(file, uninterrupted):
    disk, filled = ExitStack(), []

    def fill_up(moment):
        if 2 * moment.walks >= moment.n_walks and not filled:
            filled.append(moment)
            disk.enter_context(largest_file(SOME))

    with disk, pytest.raises(OSError, match="File too large"):
        quick().fit(CLUB, checkpoint=file, checkpoint_every=OFTEN, callbacks=[fill_up])
    assert os.listdir(file.parent) == [file.name]
    assert file.stat().st_size > SOME
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


# -- interrupts --------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_leaves_a_checkpoint_of_all_that_was_done(
    file, uninterrupted, interrupts, workers
):
    learner = quick(workers=workers)
    with pytest.raises(KeyboardInterrupt):
        learner.fit(CLUB, checkpoint=file, callbacks=[interrupt_at(40)])
    assert os.listdir(file.parent) == [file.name]
    assert not hasattr(learner, "embedding_")
    assert 0.4 <= walks_in(file) / (34 * 20) < 0.6
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


def test_an_interrupt_that_comes_twice_at_once_leaves_a_checkpoint(file, uninterrupted, interrupts):
    with pytest.raises(KeyboardInterrupt):
        quick().fit(CLUB, checkpoint=file, callbacks=[interrupt_at(40, times=2)])
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


def test_an_interrupt_at_the_very_end_loses_nothing(file, uninterrupted, interrupts):
    with pytest.raises(KeyboardInterrupt):
        quick().fit(CLUB, checkpoint=file, callbacks=[interrupt_at(100)])
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


def test_after_an_interrupt_a_checkpoint_that_cannot_be_written_is_told(file, interrupts):
    stop(quick(), 20, file)
    before = file.read_bytes()
    with largest_file(SOME), pytest.raises(OSError, match="File too large"):
        quick().fit(CLUB, checkpoint=file, resume=True, callbacks=[interrupt_at(40)])
    assert file.read_bytes() == before


def test_interrupts_that_are_ignored_stay_so(interrupts, uninterrupted):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert same(quick().fit(CLUB, callbacks=[interrupt_at(40)]), uninterrupted)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_interrupts_go_to_whoever_asked_for_them(interrupts, uninterrupted):
    heard = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        assert same(quick().fit(CLUB, callbacks=[interrupt_at(40)]), uninterrupted)
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == [signal.SIGINT]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_ends_a_script_leaves_a_checkpoint(file, uninterrupted, number):
    """The default of these signals is to end the process at once, with what it had done."""
    number = getattr(signal, number)

    def raise_it(moment):
        if 2 * moment.walks >= moment.n_walks:
            signal.raise_signal(number)
            signal.raise_signal(number)  # as a terminal does that is closed

    child = os.fork()
    if not child:
        signal.signal(number, signal.SIG_DFL)
        try:
            quick().fit(CLUB, checkpoint=file, callbacks=[raise_it], progress=False)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -number
    assert walks_in(file) >= 34 * 20 / 2
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("error", [Stopped, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_callback_leaves_a_checkpoint_of_all_that_was_done(
    file, uninterrupted, error, workers
):
    seen = []

    def fail(moment):
        seen.append(moment.walks)
        if 2 * moment.walks >= moment.n_walks:
            raise error

    with pytest.raises(error):
        quick(workers=workers).fit(CLUB, checkpoint=file, callbacks=[fail])
    assert os.listdir(file.parent) == [file.name]
    assert walks_in(file) >= seen[-1]
    assert same(quick().fit(CLUB, checkpoint=file, resume=True), uninterrupted)


def test_a_second_training_into_one_checkpoint_is_refused(file, uninterrupted):
    refusals = []

    def try_it(moment):
        with pytest.raises(InputError, match="another run is writing") as refusal:
            quick().fit(CLUB, checkpoint=file, resume=True)
        refusals.append(refusal)

    options = {"checkpoint": file, "checkpoint_every": OFTEN}
    assert same(quick().fit(CLUB, callbacks=[try_it], **options), uninterrupted)
    assert refusals
    assert os.listdir(file.parent) == [file.name]


# -- other processes ---------------------------------------------------------------------------


KILLS, MOMENTS = 8, 6


def large():
    return Reinforce2Vec(dimensions=20, walks_per_node=10, walk_length=20, workers=1)
