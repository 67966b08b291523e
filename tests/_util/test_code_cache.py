"""Compiled code is read where it is, saved where that is possible, and else compiled in memory."""

from __future__ import annotations

import json
import os
import stat
import time
from itertools import product

import pytest

from helpers.containers import copy_of_package, run_as_nobody, set_writable
from reinforce2vec._util import code_cache
from reinforce2vec._util.compiled import compiled

# Calls one small function, and prints what happened to its code.
CODE = """
import json
import os
import tempfile

tempfile.tempdir = os.environ["TMPDIR"]  # and no other, as where nothing can be written
import numpy as np
from reinforce2vec._util.code_cache import tally
from reinforce2vec.skipgram._preparation import count_nodes

visits = np.zeros(3, np.int64)
count_nodes(np.array([0, 2, 2], np.int32), visits)
assert visits.tolist() == [1, 0, 2]
print(json.dumps({"compiled": tally.compiled, "loaded": tally.loaded}))
"""
pytestmark = pytest.mark.slow  # every test starts Python several times
COMPILED, LOADED = {"compiled": 1, "loaded": 0}, {"compiled": 0, "loaded": 1}


@pytest.fixture
def site(tmp_path):
    """A folder with the package, which cannot be written to; and no compiled code."""
    site = copy_of_package(tmp_path / "site")
    set_writable(site, False)
    yield site
    set_writable(site, True)


@pytest.fixture
def place(tmp_path):
    """The folder for temporary files."""
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(0o1777)
    yield place
    place.chmod(0o755)


def run(site, place, **settings):
    """Return what happened to the function, and the warnings."""
    cwd = place.parent / "cwd"
    cwd.mkdir(exist_ok=True)
    settings = {"TMPDIR": str(place)} | settings
    done = run_as_nobody(CODE, site=site, folder=cwd, **settings)
    assert done.returncode == 0, done.stderr
    assert not list(cwd.iterdir())  # not even a folder named ~
    return json.loads(done.stdout), done.stderr


def test_a_warm_cache_is_used_by_those_who_cannot_write_to_it(site, place):
    set_writable(site, True)
    assert run(site, place) == (COMPILED, "")
    set_writable(site, False)
    place.chmod(0o555)
    assert run(site, place) == (LOADED, "")
    assert not list(place.iterdir())


def test_a_change_of_another_module_compiles_again(site, place):
    """The function may call one that has changed."""
    set_writable(site, True)
    run(site, place)
    with (site / "reinforce2vec" / "skipgram" / "rules.py").open("a") as file:
        file.write("\n# changed\n")
    assert run(site, place) == (COMPILED, "")


def test_temporary_files_are_private_and_found_again(site, place):
    for expected in (COMPILED, LOADED):
        assert run(site, place) == (expected, "")
    (folder,) = place.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def planted_for_all(folder):
    folder.chmod(0o777)


def planted_by_another(folder):
    os.chown(folder, 12345, 12345)


def planted_as_a_link(folder):
    real = folder.rename(folder.with_name("real"))
    folder.symlink_to(real, target_is_directory=True)


def test_code_that_another_user_may_have_put_there_is_not_run(site, place):
    planted = [planted_for_all, planted_as_a_link]
    if os.geteuid() == 0:  # only root can make files of others
        planted.append(planted_by_another)
    seen = set()
    for plant in planted:
        assert run(site, place) == (COMPILED, "")  # into a new folder
        (folder,) = set(place.iterdir()) - seen
        plant(folder)
        seen = set(place.iterdir())
    for expected in (COMPILED, LOADED):
        assert run(site, place) == (expected, "")


def test_a_folder_that_others_can_rename_is_not_used(site, place):
    place.chmod(0o777)  # without the bit that keeps others from renaming
    counts, said = run(site, place)
    assert counts == COMPILED
    assert "there is no folder to save compiled code in" in said
    assert not list(place.iterdir())


def test_without_any_folder_code_is_compiled_in_memory(site, place):
    place.chmod(0o555)
    counts, said = run(site, place)
    assert counts == COMPILED
    assert said.count("there is no folder to save compiled code in") == 1
    assert "NUMBA_CACHE_DIR" in said


def test_a_full_disk_is_a_warning(site, place, tmp_path):
    def no_large_files():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    cache = tmp_path / "cache"
    counts, said = run(site, place, NUMBA_CACHE_DIR=str(cache), limit=no_large_files)
    assert counts == COMPILED
    assert said.count("compiled code cannot be saved in") == 1
    assert "File too large; this run goes on" in said
    assert run(site, place, NUMBA_CACHE_DIR=str(cache)) == (COMPILED, "")


def test_damaged_files_are_compiled_again(site, place, tmp_path):
    cache = tmp_path / "cache"
    run(site, place, NUMBA_CACHE_DIR=str(cache))
    for suffix, keep in product((".nbi", ".nbc"), (0, 30)):
        (damaged,) = cache.rglob(f"*{suffix}")
        damaged.write_bytes(damaged.read_bytes()[:keep])
        assert run(site, place, NUMBA_CACHE_DIR=str(cache)) == (COMPILED, ""), (suffix, keep)
    assert run(site, place, NUMBA_CACHE_DIR=str(cache)) == (LOADED, "")


def test_unfinished_files_of_processes_that_were_killed_are_removed(tmp_path, monkeypatch):
    folders = code_cache.Places((str(tmp_path),), str(tmp_path))
    monkeypatch.setattr(code_cache, "places", lambda directory: folders)
    left, live, other = (tmp_path / f"f.{name}" for name in ("nbc.tmp.01", "nbi.tmp.23", "tmp.4"))
    for path, hours in ((left, 2), (live, 0), (other, 2)):
        path.touch()
        os.utime(path, ns=2 * (time.time_ns() - hours * 3600 * 10**9,))

    @compiled
    def triple(number):
        return 3 * number

    assert triple(4) == 12
    assert [path.exists() for path in (left, live, other)] == [False, True, True]


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root has all groups"
)
def test_a_folder_that_a_group_can_write_to_is_not_ours(tmp_path):
    from reinforce2vec._util.code_cache import _is_ours

    assert _is_ours(tmp_path)
    os.chown(tmp_path, -1, 12345)
    assert _is_ours(tmp_path)
    tmp_path.chmod(0o775)
    assert not _is_ours(tmp_path)
    os.chown(tmp_path, -1, os.getuid())  # the group of the user alone
    assert _is_ours(tmp_path)
