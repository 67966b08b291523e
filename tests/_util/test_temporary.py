"""Temporary folders are removed after their program, whenever that is killed."""

from __future__ import annotations

import multiprocessing
import os
import tempfile

import pytest

from reinforce2vec._util import locks
from reinforce2vec._util.locks import HAS_LOCKS, temporary_folder
from reinforce2vec.cli import warm_up

pytestmark = pytest.mark.skipif(not HAS_LOCKS, reason="Windows has no locks")


def in_killed_process(work):
    """Do some work in a process that ends at once when it calls what is passed to it."""
    process = multiprocessing.get_context("fork").Process(target=work, args=(lambda: os._exit(9),))
    process.start()
    process.join()
    assert process.exitcode == 9


@pytest.mark.parametrize(("module", "step"), [(locks.tempfile, "mkdtemp"), (locks, "lock")])
def test_a_folder_is_removed_that_was_made_just_before_a_kill(tmp_path, module, step):
    usual = getattr(module, step)

    def work(kill):
        setattr(module, step, lambda *given, **named: (usual(*given, **named), kill()))
        with temporary_folder(str(tmp_path), "some-"):
            pass

    in_killed_process(work)
    assert len(os.listdir(tmp_path)) == 1
    with temporary_folder(str(tmp_path), "some-") as folder:
        assert os.listdir(tmp_path) == [os.path.basename(folder)]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("answer", [False, True])
def test_a_folder_that_another_program_removes_at_once_is_made_again(tmp_path, answer, monkeypatch):
    usual, calls = locks.lock, []

    def lock(*given, **named):
        calls.append(given)
        if len(calls) > 1:
            return usual(*given, **named)
        os.rmdir(next(tmp_path.iterdir()))
        return answer

    monkeypatch.setattr(locks, "lock", lock)
    with temporary_folder(str(tmp_path), "some-") as folder:
        assert os.path.isdir(folder)
    assert os.listdir(tmp_path) == []


def test_a_killed_warm_up_leaves_a_folder_that_the_next_one_removes(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def work(kill):
        warm_up._write_inputs = lambda folder: kill()
        warm_up.warm_up(None)

    in_killed_process(work)
    (left,) = os.listdir(tmp_path)
    with temporary_folder(str(tmp_path), ".reinforce2vec.warm-up-"):
        assert left not in os.listdir(tmp_path)
