"""Temporary folders are removed after their program, whenever that is killed."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from reinforce2vec._util import locks
from reinforce2vec._util.locks import HAS_LOCKS, temporary_folder

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
