"""One seed, one result: threads never change a bit of it, whenever they run.

Buckets and parts of walks wait for random times here, so that threads meet in orders that an idle
machine would not show. The times differ from run to run, and may: only results are compared.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from functools import cache, partial

import networkx
import numpy as np
import pytest

from helpers.interrupts import Stopped, stop_at
from reinforce2vec import (
    LINE,
    FirstOrderWalk,
    Graph,
    InputError,
    Reinforce2Vec,
    rmat,
    sample_walks,
)
from reinforce2vec._util.engine import ENGINES, VARIABLE
from reinforce2vec.models.baselines._line_training import EdgePairs
from reinforce2vec.skipgram import pairs, plain, schedule
from reinforce2vec.skipgram.cpu import engine as fast
from reinforce2vec.skipgram.schedule import blocks_for

WORKERS = [2, 3, 5, 8, 16]
LONGEST_DELAY = 2e-4  # seconds

# a model with many blocks that learns little and fast
quick = partial(
    Reinforce2Vec, dimensions=8, walks_per_node=1, walk_length=10, window=10, smooth=False
)


@pytest.fixture(autouse=True)
def few_passes(monkeypatch):
    """Trainings of 20 passes: more take longer and show no more."""
    monkeypatch.setattr(schedule, "_FEWEST_PASSES", 20)


@pytest.fixture(params=ENGINES)
def engine(request, monkeypatch):
    """Both engines of the CPU."""
    monkeypatch.setenv(VARIABLE, request.param)
    return request.param


class Broken(Exception):
    """What a thread raises that is told to fail."""


class Delays:
    """Lets threads wait, before buckets ("bucket") and before they find pairs ("pairs").

    `fail(kind, number)` lets the wait of that number fail instead.
    """

    def __init__(self):
        self.threads = set()
        self.lock = threading.Lock()
        self.left = {}

    def fail(self, kind, number):
        self.left = {kind: number}

    def wait(self, kind):
        self.threads.add(threading.get_ident())
        with self.lock:
            self.left[kind] = self.left.get(kind, 0) - 1
            fails = self.left[kind] == 0
        if fails:
            raise Broken
        if random.random() < 0.3:
            time.sleep(random.uniform(0, LONGEST_DELAY))

    def before(self, function, kind):
        def run(*options):
            self.wait(kind)
            return function(*options)

        return run


@pytest.fixture
def delays(monkeypatch):
    """Every thread waits now and then."""
    found = Delays()
    train_buckets = fast.train_buckets

    def a_few_buckets(home, at_most, board, *options):
        """Train one to five buckets, from any lane on; the executor calls again for the others."""
        found.wait("bucket")
        home = random.randrange(len(board.lanes.begins) - 1)
        return train_buckets(home, random.randint(1, 5), board, *options)

    monkeypatch.setattr(fast, "train_buckets", a_few_buckets)
    monkeypatch.setattr(plain, "_train_bucket", found.before(plain._train_bucket, "bucket"))
    for kernels in (fast, plain):
        for name in ("count_pairs", "place_pairs"):
            monkeypatch.setattr(kernels, name, found.before(getattr(kernels, name), "pairs"))
    for name in ("count", "place"):
        monkeypatch.setattr(EdgePairs, name, found.before(getattr(EdgePairs, name), "pairs"))
    return found


def everything(model):
    """All that a training leaves: the two matrices of each window and the losses, as bytes."""
    matrices = [matrix.tobytes() for weights in model._state.scales for matrix in weights[:2]]
    return *matrices, model.loss_curve_.tobytes()


def check_same(train, workers=WORKERS):
    """Any number of threads gives the same; `train` is called with each and returns bytes."""
    expected = train(1)
    for count in workers:
        assert train(count) == expected, f"{count} threads"
    return expected


@cache
def many_blocks():
    graph = rmat(12)
    assert blocks_for(graph.n_nodes) == blocks_for(10**9)  # the most there are
    return graph


@cache
def some_blocks():
    """As quick to train on as can be with several blocks: there are 9."""
    return rmat(9, 8)


@cache
def weighted():
    rng = np.random.default_rng(4)
    return Graph.from_edges(rng.integers(0, 400, (1500, 2)), rng.exponential(size=1500) + 0.01)


@cache
def directed():
    arcs = networkx.gnm_random_graph(400, 1200, seed=2, directed=True)
    graph = Graph.from_any(arcs)
    assert not graph.degrees.all()  # dead ends
    return graph


# -- any number of threads -----------------------------------------------------------------------


@pytest.mark.slow
def test_threads_give_the_same_bytes_as_they_come(engine):
    """Without delays: two CPUs or more, and more threads than CPUs."""
    size = {"fast": (3, 20), "plain": (1, 10)}[engine]  # the plain engine is slow
    train = partial(quick, walks_per_node=size[0], walk_length=size[1])
    check_same(lambda workers: everything(train(workers=workers).fit(many_blocks())))


SETTINGS = {
    "usual": {},
    "subsampled": {"subsample": 1e-3},
    "epochs": {"epochs": 2},
    "one dimension": {"dimensions": 1},
    "odd dimensions": {"dimensions": 37},
    "one negative": {"negatives": 1},
    "13 negatives": {"negatives": 13},
    "a narrow window": {"window": 1},
    "a wide window": {"window": 100},
    "two windows": {"window": (1, 10)},
    "three windows": {"window": (1, 3, 8), "subsample": 1e-2, "epochs": 2},
    "another walk": {"walk": FirstOrderWalk()},
    "a large seed": {"seed": 2**64 - 3},
    "everything": {"subsample": 1e-2, "epochs": 3, "dimensions": 19, "negatives": 7, "window": 4},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_threads_give_the_same_bytes_whatever_the_settings(engine, delays, name):
    settings = SETTINGS[name]
    train = partial(quick, **settings)
    check_same(lambda workers: everything(train(workers=workers).fit(some_blocks())), [2, 5])


@pytest.mark.parametrize("make", [weighted, directed])
def test_threads_give_the_same_bytes_whatever_the_graph(engine, delays, make):
    graph = make()
    assert blocks_for(graph.n_nodes) > 4
    check_same(lambda workers: everything(quick(workers=workers).fit(graph)), [3, 16])


def test_threads_give_the_same_bytes_from_given_walks(engine, delays):
    graph = directed()
    walks = sample_walks(graph, length=12, per_node=1)
    assert (walks < 0).any()
    lists = [walk[walk >= 0].tolist() for walk in walks]
    for given in (walks, lists):
        model = partial(quick, epochs=2, subsample=1e-2)
        check_same(lambda workers: everything(model(workers=workers).fit_walks(given)), [2, 5])  # noqa: B023


def test_a_grown_graph_is_the_same_with_any_number_of_threads(engine, delays):
    rng = np.random.default_rng(1)
    new = [(f"new {k % 90}", int(node)) for k, node in enumerate(rng.integers(0, 512, 200))]

    def train(workers):
        model = quick(workers=workers).fit(some_blocks())
        before = everything(model)
        after = everything(model.partial_fit(new))
        assert before != after
        return before, after

    check_same(train, [2, 5])


@pytest.mark.parametrize("order", ["first", "second", "both"])
@pytest.mark.parametrize("make", [some_blocks, weighted, directed])
def test_line_gives_the_same_bytes_with_any_number_of_threads(engine, delays, make, order):
    model = partial(LINE, dimensions=9, order=order, samples=4000, negatives=7)
    check_same(lambda workers: model(workers=workers).fit_transform(make()).tobytes(), [2, 5])


@pytest.mark.parametrize("tokens", [1, 100, 1 << 20])
def test_it_does_not_matter_into_how_many_parts_the_walks_of_a_pass_are_split(
    engine, tokens, monkeypatch
):
    expected = everything(quick(workers=1, epochs=2).fit(some_blocks()))
    monkeypatch.setattr(pairs, "_PART_TOKENS", tokens)
    for workers in (1, 3):
        assert everything(quick(workers=workers, epochs=2).fit(some_blocks())) == expected


# -- ends and new beginnings ---------------------------------------------------------------------


@pytest.mark.parametrize("percent", [3, 41, 97])
def test_a_stopped_training_may_go_on_with_another_number_of_threads(
    engine, delays, percent, tmp_path
):
    settings = {"subsample": 1e-2, "epochs": 2}
    expected = everything(quick(workers=1, **settings).fit(some_blocks()))
    for before, after in ((1, 5), (3, 2), (16, 1)):
        options = {"checkpoint": tmp_path / f"{before}", "checkpoint_every": 0}
        with pytest.raises(Stopped):
            quick(workers=before, **settings).fit(
                some_blocks(), callbacks=[stop_at(percent)], **options
            )
        model = quick(workers=after, **settings).fit(some_blocks(), resume=True, **options)
        assert everything(model) == expected


@pytest.mark.parametrize("number", [1, 2, 200])
@pytest.mark.parametrize("workers", [1, 2, 8])
def test_an_error_in_one_thread_ends_the_training(engine, delays, number, workers, monkeypatch):
    """With this error: others neither wait for its buckets forever nor fail in other ways."""
    trainings = quick(workers=workers).fit, LINE(samples=4000, workers=workers).fit
    for train in trainings:
        train(some_blocks())  # compiles
    monkeypatch.setattr(fast, "compile_kernels", lambda settings: None)  # it is not to fail
    before = threading.active_count()
    for train in trainings:
        for kind in ("bucket", "pairs"):
            delays.fail(kind, min(number, 30) if kind == "pairs" else number)
            with pytest.raises(Broken):
                train(some_blocks())
            assert threading.active_count() == before


def test_a_training_after_one_that_failed_is_as_any_other(engine, delays):
    expected = everything(quick(workers=1).fit(some_blocks()))
    delays.fail("bucket", 100)
    model = quick(workers=4)
    with pytest.raises(Broken):
        model.fit(some_blocks())
    assert everything(model.fit(some_blocks())) == expected


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_a_thread_that_does_not_start_ends_the_run_with_a_sentence(engine, allowed, monkeypatch):
    runs = [
        lambda: quick(workers=8, smooth=True).fit(some_blocks()),
        lambda: LINE(4, samples=1000, workers=8).fit(some_blocks()),
    ]
    start = threading.Thread.start
    for run in runs:
        expected = run().embedding_.vectors.tobytes()
        left = iter(range(allowed))

        def refuse(thread, left=left):
            if next(left, None) is None:
                raise RuntimeError("can't start new thread")
            start(thread)

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            with pytest.raises(
                InputError, match=r"not let this process start \d threads .*: set w"
            ):
                run()
        assert run().embedding_.vectors.tobytes() == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_trains_the_same():
    expected = quick(workers=4).fit(some_blocks()).embedding_.vectors.tobytes()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(120)  # ends a child that hangs
        try:
            found = quick(workers=4).fit(some_blocks()).embedding_.vectors.tobytes()
            os._exit(0 if found == expected else 3)
        finally:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
