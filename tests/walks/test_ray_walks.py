"""Walks made by processes of a Ray cluster are those of the CPU, byte for byte, whatever fails."""

from __future__ import annotations

import os
import pickle
import random
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from helpers import toy_graphs
from helpers.refusals import refusal
from helpers.walk_policies import KERNELS
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    WalkSampler,
    karate_club,
    rmat,
    sample_walks,
    write_walks,
)
from reinforce2vec._util.cluster import connection, resources
from reinforce2vec.files.walk_shards import write_shards

GRAPH = rmat(10)


@pytest.fixture
def ranges(ray_cluster, monkeypatch):
    """The module of tasks, which make few walks each."""
    from reinforce2vec.walks.ray import ranges

    monkeypatch.setattr(ranges, "_TASK_NODES", 1 << 12)
    return ranges


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


# -- the same walks ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("walk", KERNELS)
def test_walks_are_those_of_the_cpu_with_any_number_of_workers(ranges, walk):
    graph = toy_graphs.weighted_arcs() if walk != "capped" else GRAPH
    options = {"length": 20, "per_node": 40, "seed": 5}
    ours = sample_walks(graph, KERNELS[walk], backend="cpu", **options)
    for workers in (1, 2, 3, 4):
        theirs = sample_walks(graph, KERNELS[walk], backend="ray", workers=workers, **options)
        np.testing.assert_array_equal(theirs, ours)
        assert theirs.flags.writeable


def test_blocks_starts_and_directions_are_those_of_the_cpu(ranges):
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d")], directed=True)
    for direction in ("forward", "both"):
        for size in (1, 7, 1000):
            blocks = [
                list(
                    WalkSampler(
                        *(graph, FirstOrderWalk()),
                        length=300,
                        per_node=10,
                        starts=["c", "a", "c"],
                        block_size=size,
                        direction=direction,
                        backend=backend,
                    )
                )
                for backend in ("cpu", "ray")
            ]
            assert [block.shape for block in blocks[0]] == [block.shape for block in blocks[1]]
            np.testing.assert_array_equal(np.concatenate(blocks[0]), np.concatenate(blocks[1]))


def test_a_sampler_is_pickled_and_fills_arrays_in_this_process(ranges, monkeypatch):
    sampler = pickle.loads(pickle.dumps(WalkSampler(GRAPH, per_node=2, backend="ray")))
    monkeypatch.setattr(ranges, "connected", None)
    walks = np.empty((50, 40), np.int32)
    sampler.fill(10, walks)
    np.testing.assert_array_equal(walks, sample_walks(GRAPH, per_node=2, backend="cpu")[10:60])


# -- workers that work, and how many -----------------------------------------------------------


def record(folder, seconds=0.0):
    """Work that leaves the id of its process in a folder, and returns the walks."""

    def work(first, walks):
        (folder / str(os.getpid())).touch()
        began = time.time()
        time.sleep(seconds)
        return began, time.time(), walks

    return work


def test_what_the_work_raises_is_raised_here(ranges):
    def work(first, walks):
        if first >= 64:
            raise InputError("no walks from 64 on")

    sampler = WalkSampler(GRAPH, length=4, per_node=1, backend="ray")
    assert refusal(lambda: list(sampler.map_ranges(work, 32))) == "no walks from 64 on"


def test_no_task_goes_on_after_blocks_that_are_dropped(ranges, tmp_path):
    sampler = WalkSampler(GRAPH, length=4, per_node=4, backend="ray")
    results = sampler.map_ranges(record(tmp_path, 0.05), 64)
    next(results)
    results.close()
    for path in tmp_path.iterdir():
        path.unlink()
    time.sleep(0.3)
    assert list(tmp_path.iterdir()) == []


def test_a_graph_larger_than_the_object_store_is_refused(ranges, monkeypatch):
    monkeypatch.setattr(resources, "nodes", lambda ray: [{"object_store_memory": 10_000}])
    message = refusal(sample_walks, GRAPH, backend="ray")
    assert "of Ray's object store on every node, and 10.0 kB are free" in message
    assert "--object-store-memory" in message


def test_without_ray_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(connection, "find_spec", lambda name: None)
    message = refusal(sample_walks, karate_club(), backend="ray")
    assert message == (
        "backend=\"ray\" needs Ray, which is not installed: pip install 'reinforce2vec[ray]'"
    )


# -- shards ------------------------------------------------------------------------------------


def test_files_of_a_folder_are_those_of_the_cpu(ranges, tmp_path):
    graph = Graph.from_edges([(f"a{i}", f"b{i % 7}") for i in range(50)])
    for name, options in {
        "cpu": {"backend": "cpu"},
        "1": {"backend": "ray", "workers": 1},
        "3": {"backend": "ray", "workers": 3},
        "all": {"backend": "ray"},
    }.items():
        sampler = WalkSampler(graph, length=20, per_node=30, **options)
        steps = write_shards(f"{tmp_path / name}/", sampler, 4000)
        assert steps == 57 * 30 * 19
    expected = contents(tmp_path / "cpu")
    assert len(expected) > 9
    for name in ("1", "3", "all"):
        assert contents(tmp_path / name) == expected


def test_a_folder_that_a_node_does_not_see_is_refused(ranges, tmp_path):
    class Elsewhere(WalkSampler):
        """Its workers see none of the files of this process."""

        def map_ranges(self, work, size, before=None):
            for path in (tmp_path / "walks").iterdir():
                path.unlink()
            return super().map_ranges(work, size, before)

    sampler = Elsewhere(GRAPH, length=4, per_node=1, backend="ray")
    message = refusal(write_walks, f"{tmp_path}/walks/", sampler)
    assert "use a folder of a file system that they share" in message
    assert "on the node 127.0.0.1 of the Ray cluster" in message
    assert not (tmp_path / "walks").exists()


# -- faults ------------------------------------------------------------------------------------


@contextmanager
def killing(folder, most, every):
    """Kill, within the block, random processes among those that have left their id in a folder."""
    left, killed, rng = threading.Event(), [], random.Random(3)

    def kill():
        while len(killed) < most and not left.wait(rng.uniform(0.2, 1.8) * every):
            alive = [path for path in folder.iterdir() if Path("/proc", path.name).exists()]
            if alive:
                chosen = rng.choice(alive)
                chosen.unlink()
                os.kill(int(chosen.name), signal.SIGKILL)
                killed.append(chosen.name)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield killed
    finally:
        left.set()
        killer.join()


@pytest.mark.slow
def test_killed_workers_change_nothing(ranges, tmp_path):
    sampler = WalkSampler(GRAPH, length=40, per_node=60, backend="ray")
    with killing(tmp_path, most=6, every=0.15) as killed:
        parts = [walks for *_, walks in sampler.map_ranges(record(tmp_path, 0.02), 512)]
    assert len(killed) >= 4
    expected = sample_walks(GRAPH, length=40, per_node=60, backend="cpu")
    np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.slow
def test_a_node_that_is_lost_changes_nothing(ranges, ray_cluster):
    def work(first, walks):
        import ray

        time.sleep(0.03)
        return ray.get_runtime_context().get_node_id(), walks

    sampler = WalkSampler(GRAPH, length=40, per_node=60, backend="ray")
    expected = sample_walks(GRAPH, length=40, per_node=60, backend="cpu")
    node, lost = ray_cluster.add_node(), False
    for _ in range(50):  # until the node takes part, which takes seconds on a busy machine
        parts = []
        for place, walks in sampler.map_ranges(work, 512):
            parts.append(walks.copy())
            if place == node.node_id and not lost:
                lost = True
                ray_cluster.remove_node(node)
        np.testing.assert_array_equal(np.concatenate(parts), expected)
        if lost:
            break
    assert lost
