"""Training on a Ray cluster: the bits of one machine, whatever happens to the workers."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import warnings
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from helpers.interrupts import Stopped, interrupt_at, stop_at
from reinforce2vec import Graph, InputError, Reinforce2Vec, rmat, sample_walks
from reinforce2vec.skipgram.engine import Chunk
from reinforce2vec.skipgram.state import blank_weights

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("ray_cluster")]

GRAPH = rmat(8, seed=1)  # four blocks
WEIGHTED = Graph.from_edges(
    [(f"a{i % 120}", f"b{(i * i) % 110}") for i in range(900)],
    weights=[1 + i % 3 for i in range(900)],
    directed=True,
)
quick = partial(
    Reinforce2Vec, dimensions=20, walks_per_node=4, walk_length=12, window=4, smooth=False
)


def same(a, b):
    """Whether two models learned the same, to the last bit."""
    return (
        a.embedding_.vectors.tobytes() == b.embedding_.vectors.tobytes()
        and a.loss_curve_.tobytes() == b.loss_curve_.tobytes()
        and a.n_tokens_ == b.n_tokens_
        and all(
            one.outputs.tobytes() == other.outputs.tobytes()
            for one, other in zip(a._state.scales, b._state.scales, strict=True)
        )
    )


@pytest.fixture(scope="module")
def undisturbed():
    return quick().fit(GRAPH)


# -- bits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 3, 4])
def test_the_result_is_that_of_one_machine(workers, undisturbed):
    model = quick(workers=workers, backend="ray").fit(GRAPH)
    assert same(model, undisturbed)
    assert model.backend_ == "ray"


def test_several_windows_subsampling_epochs_and_smoothing():
    settings = {"window": (1, 3), "subsample": 1e-2, "epochs": 2, "walks_per_node": 1}
    settings |= {"smooth": True}
    with_ray = quick(workers=3, backend="ray", **settings).fit(WEIGHTED)
    assert same(with_ray, quick(**settings).fit(WEIGHTED))


def test_given_walks():
    walks = sample_walks(GRAPH, length=10, per_node=4)
    with_ray = quick(workers=2, backend="ray").fit_walks(walks, ids=GRAPH)
    assert same(with_ray, quick().fit_walks(walks, ids=GRAPH))


def test_an_update():
    models = [quick(workers=2).fit(WEIGHTED) for _ in range(2)]
    for model, backend in zip(models, ("cpu", "ray"), strict=True):
        model.set_params(backend=backend)
        model.partial_fit([("new", "a1"), ("new", "b5"), ("newer", "new")])
    assert same(*models)


def test_callbacks_see_the_vectors_of_their_moment():
    seen = {"cpu": [], "ray": []}
    for backend, vectors in seen.items():

        def note(moment, vectors=vectors):
            if moment.walks % 7 == 0:
                vectors.append((moment.walks, moment.vectors.tobytes()))

        quick(workers=2, backend=backend, walks_per_node=1).fit(GRAPH, callbacks=[note])
    assert seen["cpu"] == seen["ray"]
    assert len(seen["ray"]) > 5


# -- checkpoints ---------------------------------------------------------------------------------

HERE, CLUSTER = {"backend": "cpu"}, {"backend": "ray"}


def test_a_training_is_resumed_elsewhere(tmp_path, undisturbed):
    """On a cluster, then on one machine, then on a cluster with other workers."""
    options = {"checkpoint": tmp_path / "run.npz", "checkpoint_every": 0, "resume": True}
    for percent, where in ((30, CLUSTER | {"workers": 2}), (60, HERE)):
        with pytest.raises(Stopped):
            quick(**where).fit(GRAPH, callbacks=[stop_at(percent)], **options)
    moments = []
    model = quick(**CLUSTER, workers=3)
    model.fit(GRAPH, callbacks=[moments.append], **options)
    assert same(model, undisturbed)
    assert moments[0].walks >= 0.5 * moments[0].n_walks


def test_only_the_latest_rows_are_kept_and_damaged_ones_refused(tmp_path):
    file = tmp_path / "run.npz"
    quick(workers=2, backend="ray").fit(GRAPH, checkpoint=file, checkpoint_every=0.5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.npz", "run.npz.rows"]
    (rows,) = (tmp_path / "run.npz.rows").iterdir()
    part = rows / "inputs0-1.npy"
    data = bytearray(part.read_bytes())
    data[-5] ^= 1
    part.write_bytes(data)
    for where in (HERE, CLUSTER | {"workers": 2}):
        with pytest.raises(InputError, match=r"inputs0-1\.npy: this part of the checkpoint is dam"):
            quick(**where).fit(GRAPH, checkpoint=file, resume=True)
    part.unlink()
    with pytest.raises(InputError, match="is missing"):
        quick().fit(GRAPH, checkpoint=file, resume=True)


def test_ctrl_c_leaves_a_checkpoint(tmp_path, interrupts, undisturbed):
    file = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        quick(workers=2, backend="ray").fit(GRAPH, checkpoint=file, callbacks=[interrupt_at(30)])
    assert same(quick().fit(GRAPH, checkpoint=file, resume=True), undisturbed)


# -- faults --------------------------------------------------------------------------------------


class Killer(threading.Thread):
    """Kills workers: after random times, or as soon as they write a checkpoint."""

    def __init__(self, cluster, kills, rows, seed=0):
        super().__init__(daemon=True)
        self.cluster, self.kills, self.rows = cluster, kills, rows
        self.random, self.done, self.ended = random.Random(seed), 0, threading.Event()

    def run(self):
        while self.done < self.kills and not self.ended.is_set():
            self.wait()
            workers = self.cluster.worker_processes("Worker")
            if workers:
                os.kill(self.random.choice(workers), signal.SIGKILL)
                self.done += 1
                while self.cluster.worker_processes("Worker") and not self.ended.wait(0.02):
                    pass  # until all are given up

    def wait(self):
        """Let some time pass; of four kills, one is in the middle of a checkpoint."""
        while not self.cluster.worker_processes("Worker") and not self.ended.wait(0.02):
            pass
        if self.done % 4 == 3:
            before = set(self.rows.glob("*")) if self.rows.exists() else set()
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline and not self.ended.wait(0.001):
                if self.rows.exists() and set(self.rows.glob("*")) - before:
                    return
        else:
            self.ended.wait(self.random.uniform(0.0, 1.2))


@contextmanager
def losses_expected():
    """Workers may be lost any number of times."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "workers of the Ray cluster were lost")
        yield


def test_kills_at_random_moments(ray_cluster, tmp_path, undisturbed, monkeypatch):
    from reinforce2vec.models import training

    monkeypatch.setattr(training, "MOST_LOSSES", 100)
    file = tmp_path / "run.npz"
    killer = Killer(ray_cluster, 4, tmp_path / "run.npz.rows")
    killer.start()
    rounds = 0
    with losses_expected():
        while killer.done < killer.kills:
            rounds += 1
            assert rounds < 20
            file.unlink(missing_ok=True)
            model = quick(workers=2, backend="ray")
            model.fit(GRAPH, checkpoint=file, checkpoint_every=0.2, resume=True)
            assert same(model, undisturbed)
    killer.ended.set()
    killer.join()


def test_a_node_is_removed_and_another_added(ray_cluster, tmp_path, undisturbed):
    node = ray_cluster.add_node()
    changed = []

    def change(moment):
        if not changed and 3 * moment.walks > moment.n_walks:
            changed.append(ray_cluster.add_node())
            ray_cluster.remove_node(node)

    with losses_expected():
        model = quick(workers=6, backend="ray")  # on all three nodes, if they fit
        options = {"checkpoint": tmp_path / "run.npz", "checkpoint_every": 0.2}
        model.fit(GRAPH, callbacks=[change], **options)
    assert changed
    assert same(model, undisturbed)
    ray_cluster.remove_node(changed[0])


def test_workers_that_always_fail_are_not_tried_for_ever(ray_cluster, monkeypatch):
    from reinforce2vec.models import training

    monkeypatch.setattr(training, "MOST_LOSSES", 2)

    def kill(moment):
        for process in ray_cluster.worker_processes("Worker"):
            os.kill(process, signal.SIGKILL)

    with losses_expected(), pytest.raises(InputError, match="were lost 2 times in a row"):
        quick(workers=2, backend="ray").fit(GRAPH, callbacks=[kill])


def test_a_call_out_of_turn_is_refused():
    from reinforce2vec.skipgram.ray.worker import OutOfTurn, Plan, Turn, Worker
    from reinforce2vec.skipgram.ring import make_ring, tables_of
    from reinforce2vec.skipgram.schedule import dealt

    model = quick()
    corpus = model._corpus(GRAPH)
    settings = model._settings(corpus)
    blocks, ring = dealt(np.ones(GRAPH.n_nodes, np.int64), 0), make_ring(4, 1)
    worker = Worker()
    worker.prepare(0, Plan(settings, 100, ring, [tables_of(blocks, ring)], None), corpus, 0)
    worker.fill()
    chunk = Chunk(0, 10)
    with pytest.raises(OutOfTurn):  # not the first call of a pass
        worker.take_pairs(Turn(0, 1), 0, None)
    with pytest.raises(OutOfTurn):  # another pass
        worker.find_pairs(Turn(10, 0), 0, Chunk(10, 10), Chunk(10, 10))
    worker.find_pairs(Turn(0, 0), 0, chunk, chunk)
    with pytest.raises(OutOfTurn):  # twice
        worker.find_pairs(Turn(0, 0), 0, chunk, chunk)
    worker.take_pairs(Turn(0, 1), 0, None)
    for number in range(len(ring.visits)):
        with pytest.raises(OutOfTurn):  # one left out
            worker.train(Turn(0, 3 + number), 0, number, None, False)
        worker.train(Turn(0, 2 + number), 0, number, None, False)
    worker.find_pairs(Turn(10, 0), 0, Chunk(10, 10), Chunk(10, 10))


# -- memory --------------------------------------------------------------------------------------


def test_too_much_memory_is_refused_before_training(monkeypatch):
    model = quick(dimensions=10**8, workers=2, backend="ray")
    with pytest.raises(InputError, match=r"training 256 nodes .* needs about 102\.4 GB"):
        model.fit(GRAPH)  # the driver could not take the vectors
    with monkeypatch.context() as patch:
        patch.setattr("reinforce2vec._util.cluster.connection.is_local", lambda: True)
        with pytest.raises(InputError, match=r"by 2 workers needs about [\d.]+ GB of memory"):
            model.fit(GRAPH)
    monkeypatch.setattr("reinforce2vec.skipgram.ray.engine.roomy_weights", blank_weights)
    with pytest.raises(InputError, match=r"by (1|2) of 2 workers on a machine needs about"):
        model.set_params(dimensions=10**7).fit(GRAPH)
