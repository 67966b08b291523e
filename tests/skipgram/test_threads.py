"""One seed, one result: threads never change a bit of it, whenever they run.

Buckets and parts of walks wait for random times here, so that threads meet in orders that an idle
machine would not show. The times differ from run to run, and may: only results are compared.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from functools import cache, partial

import networkx
import numpy as np
import pytest

from helpers.interrupts import Stopped, interrupt_at, stop_at
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
from reinforce2vec.skipgram import pairs, passes, plain, schedule
from reinforce2vec.skipgram.cpu import engine as fast
from reinforce2vec.skipgram.schedule import blocks_for
from reinforce2vec.walks import sampler

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

    def a_few_buckets(home, at_most, lanes, *options):
        """Train one to five buckets, from any lane on; the executor calls again for the others."""
        found.wait("bucket")
        home = random.randrange(len(lanes.begins) - 1)
        return train_buckets(home, random.randint(1, 5), lanes, *options)

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


@pytest.mark.slow
def test_threads_give_the_same_bytes_on_many_blocks(engine, delays):
    check_same(lambda workers: everything(quick(workers=workers).fit(many_blocks())))
    assert len(delays.threads) > 5


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


def test_threads_give_the_same_bytes_on_a_graph_of_one_block(engine, delays):
    club = networkx.karate_club_graph()
    check_same(lambda workers: everything(quick(workers=workers).fit(club)), WORKERS)


def test_callbacks_do_not_change_a_bit(engine, delays):
    moments = []

    def train(workers):
        callbacks = [lambda moment: moments.append(moment.vectors.copy())] * (workers % 2)
        return everything(quick(workers=workers).fit(some_blocks(), callbacks=callbacks))

    check_same(train, [2, 3, 4])
    assert len(moments) > 20


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


def test_a_grown_graph_may_be_trained_with_another_number_of_threads(engine):
    def grown(before, after):
        model = quick(workers=before).fit(some_blocks())
        return everything(model.set_params(workers=after).partial_fit([("new", 0), ("new", 7)]))

    assert grown(1, 4) == grown(3, 1) == grown(2, 2)


@pytest.mark.parametrize("order", ["first", "second", "both"])
@pytest.mark.parametrize("make", [some_blocks, weighted, directed])
def test_line_gives_the_same_bytes_with_any_number_of_threads(engine, delays, make, order):
    model = partial(LINE, dimensions=9, order=order, samples=4000, negatives=7)
    check_same(lambda workers: model(workers=workers).fit_transform(make()).tobytes(), [2, 5])


@pytest.mark.slow
@pytest.mark.parametrize("order", ["first", "second"])
def test_line_gives_the_same_bytes_on_many_blocks(engine, delays, order):
    model = partial(LINE, dimensions=8, order=order, samples=20_000)
    check_same(lambda workers: model(workers=workers).fit_transform(many_blocks()).tobytes())


@pytest.mark.parametrize("tokens", [1, 100, 1 << 20])
def test_it_does_not_matter_into_how_many_parts_the_walks_of_a_pass_are_split(
    engine, tokens, monkeypatch
):
    expected = everything(quick(workers=1, epochs=2).fit(some_blocks()))
    monkeypatch.setattr(pairs, "_PART_TOKENS", tokens)
    for workers in (1, 3):
        assert everything(quick(workers=workers, epochs=2).fit(some_blocks())) == expected


# -- a shuffled schedule -------------------------------------------------------------------------


@pytest.fixture
def shuffled(monkeypatch):
    """The buckets of every round in a random order."""
    usual, seen = passes.rounds, []

    def shuffled_rounds(*options):
        found = usual(*options)
        for some in found:
            random.shuffle(some)
        seen.append(found)
        return found

    monkeypatch.setattr(passes, "rounds", shuffled_rounds)
    return seen


def test_the_order_within_rounds_does_not_matter(engine, delays, request):
    """The sum of losses alone may differ, in its last bits: losses are added in the order."""
    expected = quick(workers=1).fit(some_blocks())
    line = LINE(dimensions=9, samples=4000, workers=1).fit_transform(some_blocks())
    seen = request.getfixturevalue("shuffled")
    for workers in (1, 2, 5):
        model = quick(workers=workers).fit(some_blocks())
        assert everything(model)[:-1] == everything(expected)[:-1]
        np.testing.assert_allclose(model.loss_curve_, expected.loss_curve_, rtol=1e-12)
        again = LINE(dimensions=9, samples=4000, workers=workers).fit_transform(some_blocks())
        assert again.tobytes() == line.tobytes()
    assert seen[0] != seen[3]


def test_another_order_of_rounds_would_be_noticed(engine, monkeypatch):
    """Else the tests above would show nothing."""
    expected = everything(quick(workers=1).fit(some_blocks()))
    usual = passes.rounds
    monkeypatch.setattr(passes, "rounds", lambda *options: usual(*options)[::-1])
    assert everything(quick(workers=1).fit(some_blocks())) != expected


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


def test_an_interrupted_training_may_go_on_with_another_number_of_threads(
    engine, delays, interrupts, tmp_path
):
    expected = everything(quick(workers=1).fit(some_blocks()))
    path, percents = tmp_path / "checkpoint", sorted(random.sample(range(5, 45), 4))
    for percent, workers in zip(percents, (2, 7, 1, 4), strict=True):
        with pytest.raises(KeyboardInterrupt):
            quick(workers=workers).fit(
                some_blocks(), checkpoint=path, resume=True, callbacks=[interrupt_at(percent)]
            )
    resumed = quick(workers=3).fit(some_blocks(), checkpoint=path, resume=True)
    assert everything(resumed) == expected, percents


TRAIN = """
import sys
from reinforce2vec import Reinforce2Vec, rmat
from reinforce2vec.skipgram import schedule

model = Reinforce2Vec(
    8, walks_per_node=4, walk_length=10, window=(1, 10), smooth=False, workers=int(sys.argv[2])
)
def say(moment):
    print(moment.walks, flush=True)
schedule._FEWEST_PASSES = 20
model.fit(rmat(9, 8), checkpoint=sys.argv[1], checkpoint_every=0, resume=True, callbacks=[say])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals that kill")
def test_a_killed_training_may_go_on_with_another_number_of_threads(tmp_path):
    """Killed at random moments until it ends: each process is to make some progress first."""
    path, rng, ends = tmp_path / "checkpoint", random.Random(4), []
    for workers in (2, 5, 1, 16, 3, 8):
        command = [sys.executable, "-c", TRAIN, str(path), str(workers)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            for _ in range(rng.randint(2, 4)):
                assert process.stdout.readline(), process.stderr.read()
            time.sleep(rng.uniform(0, 0.01))
            process.kill()
            process.communicate(timeout=60)
        finally:
            process.kill()
        ends.append(process.returncode)
    assert os.path.exists(path)
    model = partial(quick, walks_per_node=4, window=(1, 10))
    assert -signal.SIGKILL in ends
    resumed = model(workers=4).fit(some_blocks(), checkpoint=path, resume=True)
    assert everything(resumed) == everything(model(workers=1).fit(some_blocks()))


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_while_a_thread_makes_a_plan_does_not_wait_for_it(monkeypatch):
    begun, go_on, plan_for = threading.Event(), threading.Event(), sampler.plan_for

    def slow(*options):
        begun.set()
        go_on.wait(120)
        return plan_for(*options)

    def plan():
        return sampler.WalkSampler(some_blocks()).plan

    monkeypatch.setattr(sampler, "plan_for", slow)
    thread = threading.Thread(target=plan)
    thread.start()
    begun.wait()
    monkeypatch.setattr(sampler, "plan_for", plan_for)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)  # ends a child that hangs
        try:
            plan()
            os._exit(0)
        finally:
            os._exit(4)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
