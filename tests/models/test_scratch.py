"""Matrices in a scratch folder: the vectors are the same, and memory does not grow with them."""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.command_line import run_python
from helpers.interrupts import Stopped, stop_at
from helpers.limits import largest_file
from reinforce2vec import InputError, Reinforce2Vec, rmat, sample_walks
from reinforce2vec._util import machine, scratch
from reinforce2vec.models import _memory, training
from reinforce2vec.models.cpu import smoothing
from reinforce2vec.skipgram import pairs

GRAPH = rmat(8, seed=3)
NEW = [("new", 1), ("new", 2), ("newer", "new"), (3, 200)]
quick = partial(Reinforce2Vec, dimensions=40, walks_per_node=4, walk_length=10, workers=2)
KINDS = [
    {},
    {"smooth": False},
    {"smooth": False, "window": 5},
    {"window": (1, 3, 9), "subsample": 1e-2},
]
EACH_KIND = pytest.mark.parametrize("changes", KINDS, ids=str)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")


def same(a, b):
    """Whether two models have the same vectors and matrices, to the last bit."""
    matrices = [
        [one.tobytes() for weights in found._state.scales for one in weights[:2]]
        for found in (a, b)
    ]
    return (
        matrices[0] == matrices[1]
        and a.embedding_.vectors.tobytes() == b.embedding_.vectors.tobytes()
        and a.loss_curve_.tobytes() == b.loss_curve_.tobytes()
    )


def mapped(array):
    """Whether an array is a mapped file."""
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return isinstance(array, np.memmap)


def all_mapped(found):
    """Whether the matrices and the vectors of a model are mapped files."""
    matrices = [one for weights in found._state.scales for one in weights[:2]]
    return all(mapped(one) for one in [*matrices, found.embedding_.vectors])


# -- the same result -----------------------------------------------------------------------------


@EACH_KIND
def test_a_scratch_folder_changes_no_bit(tmp_path, changes):
    usual, found = quick(**changes), quick(**changes, scratch=tmp_path)
    assert same(found.fit(GRAPH), usual.fit(GRAPH))
    assert all_mapped(found)
    assert not mapped(usual.embedding_.vectors)
    assert found.embedding_.info == usual.embedding_.info
    for one in (usual, found):
        one.partial_fit(NEW)
    assert same(found, usual)
    assert all_mapped(found)


@pytest.mark.parametrize("module", [pairs, smoothing], ids=lambda one: one.__name__)
def test_pairs_and_signals_are_files_too(tmp_path, monkeypatch, module):
    made = []

    def zeros(*given):
        made.append(scratch.large_zeros(*given))
        return made[-1]

    monkeypatch.setattr(module, "large_zeros", zeros)
    quick(scratch=tmp_path).fit(GRAPH)
    assert made
    assert all(map(mapped, made))


def test_given_walks_are_trained_in_a_scratch_folder(tmp_path):
    walks = sample_walks(GRAPH, length=10, per_node=4)
    found = quick(scratch=tmp_path).fit_walks(walks)
    assert same(found, quick().fit_walks(walks))
    assert all_mapped(found)


@pytest.mark.parametrize("before", [True, False])
def test_a_checkpoint_is_resumed_with_or_without_a_scratch_folder(tmp_path, before):
    first, second = (quick(scratch=tmp_path if yes else None) for yes in (before, not before))
    file = tmp_path / "run.npz"
    with pytest.raises(Stopped):
        first.fit(GRAPH, checkpoint=file, checkpoint_every=0, callbacks=[stop_at(50)])
    second.fit(GRAPH, checkpoint=file, resume=True)
    assert same(second, quick().fit(GRAPH))
    assert all_mapped(second) is not before


# -- files -----------------------------------------------------------------------------------------


def test_files_have_no_names_and_end_with_the_arrays(tmp_path):
    seen = []
    found = quick(scratch=tmp_path).fit(
        GRAPH, callbacks=[lambda _: seen.append(os.listdir(tmp_path))]
    )
    assert seen
    assert not any(seen)
    vectors = found.embedding_.vectors.copy()
    kept = found.embedding_
    del found
    shutil.rmtree(tmp_path)  # it is empty: the files have no names
    assert np.array_equal(kept.vectors, vectors)


def test_a_full_disk_is_an_error_that_names_the_folder(tmp_path):
    with largest_file(10_000), pytest.raises(InputError, match=r"no file of [\d.]+ kB") as caught:
        quick(scratch=tmp_path).fit(GRAPH)
    assert str(caught.value).startswith(f"{tmp_path}: ")
    assert os.listdir(tmp_path) == []


def test_the_disk_is_checked_before_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "begin", None)  # nothing begins
    usage = SimpleNamespace(free=100_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(
        InputError, match=r"needs about [\d.]+ kB in .* the disk has 100\.0 kB left"
    ):
        quick(scratch=tmp_path).fit(GRAPH)


@EACH_KIND
def test_the_estimate_of_the_disk_covers_the_files(tmp_path, monkeypatch, changes):
    """Files that exist at the same time take no more than was checked, and not far less."""
    held, most, asked = {}, [0], []

    def reserve(file, size, before=scratch._reserve):
        before(file, size)
        held[os.fstat(file.fileno()).st_ino] = size
        alive = {os.fstat(int(one)).st_ino for one in os.listdir("/proc/self/fd") if _is_file(one)}
        most[0] = max(most[0], sum(size for inode, size in held.items() if inode in alive))

    monkeypatch.setattr(scratch, "_reserve", reserve)
    monkeypatch.setattr(
        _memory, "check_free_space", lambda folder, needed, what: asked.append(needed)
    )
    quick(**changes, scratch=tmp_path).fit(rmat(12, seed=1))
    assert asked[0] / 2 < most[0] <= asked[0]


def _is_file(descriptor):
    try:
        return os.fstat(int(descriptor)).st_size > 0
    except OSError:  # that of the listing itself
        return False


# -- backends --------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["cuda", "ray"])
def test_other_backends_are_refused(tmp_path, backend):
    learner = quick(scratch=tmp_path, backend=backend)
    for attempt in (learner.check, lambda: learner.fit(GRAPH)):
        with pytest.raises(InputError, match=f'backend="{backend}"'):
            attempt()


# -- memory ----------------------------------------------------------------------------------------


@EACH_KIND
def test_estimates_leave_out_the_files(tmp_path, monkeypatch, changes):
    graph = rmat(15, seed=1)
    usual, found = (quick(**changes, dimensions=128, scratch=one) for one in (None, tmp_path))
    matrices = 2 * 4 * 128 * graph.n_nodes
    assert found.estimate_memory(graph) < usual.estimate_memory(graph) - matrices
    monkeypatch.setattr(machine, "available_bytes", lambda: matrices)
    with pytest.raises(InputError, match="needs about"):
        usual.fit(graph)
    corpus = found._corpus(graph)
    found._check_memory(corpus, found._settings(corpus), "cpu")
    monkeypatch.setattr(_memory, "is_in_memory", lambda folder: True)  # tmpfs
    assert found.estimate_memory(graph) == usual.estimate_memory(graph)


@LINUX
def test_a_folder_in_memory_is_known(tmp_path, monkeypatch):
    number = os.stat(tmp_path).st_dev
    mounts = tmp_path / "mounts"
    line = "36 35 {} / /tmp rw,nosuid shared:2 - {} none rw\n"
    monkeypatch.setattr(scratch, "_MOUNTS", mounts)
    for kind, known in (("tmpfs", True), ("ext4", False)):
        here = f"{os.major(number)}:{os.minor(number)}"
        mounts.write_text(line.format("0:999", "tmpfs") + line.format(here, kind))
        assert scratch.is_in_memory(tmp_path) is known
    mounts.unlink()
    assert not scratch.is_in_memory(tmp_path)


LIMITED = """
import resource, sys, threading
from pathlib import Path
from reinforce2vec import Reinforce2Vec, rmat

threading.stack_size(1 << 20)  # stacks count, too
source, folder, spare = sys.argv[1], sys.argv[2] or None, int(sys.argv[3])
subsample = 0.0 if source.isdigit() else 1e-6  # few pairs of many walks
model = Reinforce2Vec(
    128, walks_per_node=1, walk_length=6, window=(1, 2), subsample=subsample, workers=1,
    scratch=folder,
)
model.fit_walks([[0, 1, 2]])  # what is compiled takes memory of its own
model.fit(rmat(6, seed=0))
graph = rmat(int(source), seed=0) if source.isdigit() else None
taken = next(
    int(line.split()[1])
    for line in Path("/proc/self/status").read_text().splitlines()
    if line.startswith("VmData")
)
limit = 1024 * taken + spare
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    model.fit(graph) if graph else model.fit_walks(source)
    print("done", *model.embedding_.vectors[:3, 5])
except MemoryError:
    print("no memory")
"""


@LINUX
def test_matrices_beyond_the_memory_that_a_process_may_take(tmp_path):
    """RLIMIT_DATA counts memory and no mapped files; the matrices and vectors exceed it."""
    spare = 40 << 20  # matrices: 2**16 nodes, 2 * 128 numbers of 4 bytes, are 64 MiB
    assert run_python(LIMITED, 16, "", spare) == "no memory\n"
    found = run_python(LIMITED, 16, tmp_path, spare)
    assert found.startswith("done")
    assert found == run_python(LIMITED, 16, "", 1 << 30)
    assert os.listdir(tmp_path) == []


@LINUX
def test_memory_does_not_grow_with_stored_walks(tmp_path):
    """Walks in a .npz file are read in blocks, also to smooth along them."""
    walks = np.tile(np.arange(1000, dtype=np.int32), (24_000, 1))  # along 999 edges
    np.savez(tmp_path / "walks.npz", walks=walks, ids=np.arange(1000))
    spare = 64 << 20
    assert walks.nbytes > 1.4 * spare
    found = run_python(LIMITED, tmp_path / "walks.npz", tmp_path, spare)
    assert found.startswith("done")
