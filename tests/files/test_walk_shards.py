"""Walks in a folder: whole or not there, the same files with any number of workers."""

from __future__ import annotations

import errno
import json
import os
import pickle
import sys

import numpy as np
import pytest

from helpers.interrupts import Stopped, stop_at
from helpers.refusals import refusal
from reinforce2vec import (
    Graph,
    InputError,
    Reinforce2Vec,
    WalkSampler,
    karate_club,
    read_walks,
    write_walks,
)
from reinforce2vec.files import walk_shards
from reinforce2vec.files.locks import claimed

FORMATS = ("npy", "parquet")
CLUB = karate_club()
NAMED = Graph.from_edges([("new york", "łódź"), ("łódź", "東京"), ("東京", "a,b;#")], directed=True)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(walk_shards, "_SHARD_NODES", 100)


def sampler(graph=CLUB, **options):
    return WalkSampler(graph, **({"length": 9, "per_node": 3, "backend": "cpu"} | options))


def write(folder, shards="npy", **options):
    return write_walks(f"{folder}/", sampler(**options), shards=shards)


def contents(folder):
    """The bytes of every file of a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def change_manifest(folder, **changes):
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


# -- what is written ---------------------------------------------------------------------------


@pytest.mark.parametrize("shards", FORMATS)
@pytest.mark.parametrize("graph", [CLUB, NAMED], ids=["integers", "strings"])
def test_walks_come_back_as_from_a_single_file(tmp_path, graph, shards):
    steps = write(tmp_path / "walks", shards, graph=graph)
    assert steps == write_walks(tmp_path / f"one.{shards}", sampler(graph))
    found, one = read_walks(f"{tmp_path}/walks/"), read_walks(tmp_path / f"one.{shards}")
    assert len(contents(tmp_path / "walks")) > 3 or graph is NAMED
    np.testing.assert_array_equal(np.asarray(found.nodes), one.nodes)
    np.testing.assert_array_equal(found.begins, one.begins)
    np.testing.assert_array_equal(found.ids, one.ids)


@pytest.mark.parametrize("shards", FORMATS)
def test_the_files_are_the_same_with_any_number_of_workers(tmp_path, shards):
    for workers in (1, 2, 5):
        write(tmp_path / str(workers), shards, workers=workers, block_size=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "5")


def test_the_files_are_the_same_on_a_gpu(tmp_path, cuda):
    write(tmp_path / "cpu")
    write(tmp_path / "gpu", backend="cuda")
    assert contents(tmp_path / "cpu") == contents(tmp_path / "gpu")


def test_the_manifest_lists_first_count_size_and_digest(tmp_path):
    write(tmp_path / "walks")
    manifest = json.loads((tmp_path / "walks" / "manifest.json").read_text())
    assert (manifest["walks"], manifest["length"], manifest["kind"]) == (102, 9, "npy")
    assert [shard["first"] for shard in manifest["shards"]] == list(range(0, 102, 11))
    assert sum(shard["count"] for shard in manifest["shards"]) == 102
    for shard in manifest["shards"]:
        path = tmp_path / "walks" / shard["file"]
        assert np.load(path).shape == (shard["count"], 9)
        assert path.stat().st_size == shard["bytes"]
        assert shard["digest"][:16] in shard["file"]


def test_slices_go_across_shards(tmp_path):
    write(tmp_path / "walks")
    nodes = read_walks(f"{tmp_path}/walks/").nodes
    expected = sampler().sample().ravel()
    assert len(nodes) == nodes.shape[0] == expected.size
    for part in (slice(0, 0), slice(95, 405), slice(99, 100), slice(-3, None), slice(900, 10**9)):
        np.testing.assert_array_equal(nodes[part], expected[part])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(nodes))[:], expected)
    with pytest.raises(IndexError, match="step 1"):
        nodes[::2]


@pytest.mark.parametrize("shards", FORMATS)
def test_training_on_a_folder_gives_the_vectors_of_a_single_file(tmp_path, shards):
    write(tmp_path / "walks", shards)
    write_walks(tmp_path / f"one.{shards}", sampler())
    model = Reinforce2Vec(dimensions=8, seed=1, backend="cpu")
    given = model.fit_walks(tmp_path / f"one.{shards}").embedding_.vectors
    found = model.fit_walks(f"{tmp_path}/walks/").embedding_.vectors
    np.testing.assert_array_equal(found, given)


def test_a_training_that_began_on_a_file_goes_on_with_a_folder(tmp_path):
    write(tmp_path / "walks")
    write_walks(tmp_path / "one.npy", sampler())
    model = Reinforce2Vec(dimensions=8, seed=1, backend="cpu")
    saved = tmp_path / "run.npz"
    with pytest.raises(Stopped):
        model.fit_walks(
            tmp_path / "one.npy", checkpoint=saved, checkpoint_every=0, callbacks=[stop_at(10)]
        )
    assert saved.exists()
    resumed = model.fit_walks(f"{tmp_path}/walks/", checkpoint=saved, resume=True)
    whole = model.fit_walks(tmp_path / "one.npy")
    np.testing.assert_array_equal(resumed.embedding_.vectors, whole.embedding_.vectors)


def test_no_walks_make_a_set_without_shards(tmp_path):
    assert write(tmp_path / "walks", per_node=0) == 0
    assert json.loads((tmp_path / "walks" / "manifest.json").read_text())["shards"] == []
    assert "there are no walks" in refusal(read_walks, f"{tmp_path}/walks/")


# -- whole or not there ------------------------------------------------------------------------


class FailingSampler(WalkSampler):
    """Fails, or is interrupted, at the third shard."""

    def __init__(self, error, seed=0):
        super().__init__(CLUB, length=9, per_node=3, seed=seed, workers=2, backend="cpu")
        self.error = error

    def map_ranges(self, work, size, before=None):
        for number, result in enumerate(super().map_ranges(work, size, before)):
            if number == 2:
                raise self.error
            yield result


@pytest.mark.parametrize("error", [RuntimeError("no more"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing_behind(tmp_path, error):
    with pytest.raises(type(error)):
        write_walks(f"{tmp_path}/walks/", FailingSampler(error))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "walks").mkdir()
    with pytest.raises(type(error)):
        write_walks(tmp_path / "walks", FailingSampler(error))
    assert contents(tmp_path / "walks") == {}


def test_a_failure_leaves_an_older_set_as_it_was(tmp_path):
    write(tmp_path / "walks", seed=1)
    before = contents(tmp_path / "walks")
    with pytest.raises(RuntimeError):
        write_walks(tmp_path / "walks", FailingSampler(RuntimeError("no more"), seed=1))
    with pytest.raises(RuntimeError):
        write_walks(tmp_path / "walks", FailingSampler(RuntimeError("no more"), seed=2))
    assert contents(tmp_path / "walks") == before


@pytest.mark.parametrize("step", ["replace", "open"])
def test_a_disk_that_becomes_read_only_is_blamed_on_a_file_with_a_name(tmp_path, step, monkeypatch):
    write(tmp_path / "walks", seed=1)
    before, usual = contents(tmp_path / "walks"), os.open

    def refuse(path, *more, **options):
        raise OSError(errno.EROFS, "Read-only file system", os.fspath(path))

    def open_others(path, *more, **options):
        return (refuse if ".probe-" in os.fspath(path) else usual)(path, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, step, {"replace": refuse, "open": open_others}[step])
        patch.setattr(os, "unlink", refuse)
        with pytest.raises((OSError, InputError), match="Read-only") as caught:
            write(tmp_path / "walks", seed=2)
    assert "/." not in str(caught.value)
    write(tmp_path / "walks", seed=1)
    assert contents(tmp_path / "walks") == before


@pytest.mark.parametrize("shards", FORMATS)
def test_a_new_set_replaces_an_older_one_and_what_a_killed_run_left(tmp_path, shards):
    write(tmp_path / "walks", seed=1, graph=NAMED)
    digits = "0123456789abcdef"
    for name in (f"walks-000007-{digits}.npy", f".walks-000008-{digits}.npy.host.1.part"):
        (tmp_path / "walks" / name).write_bytes(b"unfinished")
    (tmp_path / "walks" / ".probe-0f").touch()
    write(tmp_path / "walks", shards, seed=2)
    write(tmp_path / "fresh", shards, seed=2)
    assert contents(tmp_path / "walks") == contents(tmp_path / "fresh")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
@pytest.mark.parametrize("shards", FORMATS)
def test_a_new_set_has_the_permissions_of_the_older_one(tmp_path, shards):
    write(tmp_path, shards)
    for path in tmp_path.iterdir():
        path.chmod(0o600)
    write(tmp_path, shards, seed=5)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_an_older_set_stays_valid_until_the_new_one_is_complete(tmp_path):
    write(tmp_path / "walks", seed=1)
    expected = sampler(seed=1).sample().ravel()
    write_shard = walk_shards._ShardWriter.__call__
    looked = []

    def watched(self, first, walks):
        result = write_shard(self, first, walks)
        np.testing.assert_array_equal(read_walks(tmp_path / "walks").nodes[:], expected)
        looked.append(first)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk_shards._ShardWriter, "__call__", watched)
        write(tmp_path / "walks", seed=2)
    assert len(looked) == 10
    assert (read_walks(tmp_path / "walks").nodes[:] != expected).any()


# -- refusals ----------------------------------------------------------------------------------


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "notes.txt").touch()
    assert "other files than walks, such as notes.txt" in refusal(write_walks, tmp_path, sampler())
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "walks").touch()
    message = refusal(write_walks, f"{tmp_path}/walks/", sampler())
    assert "this is a file, expected a folder" in message


def test_a_folder_in_a_folder_that_is_missing_is_refused(tmp_path):
    message = refusal(write_walks, f"{tmp_path}/missing/walks/", sampler())
    assert "make it first" in message


def test_a_name_without_slash_or_suffix_says_what_to_type(tmp_path):
    message = refusal(write_walks, tmp_path / "walks", sampler())
    assert message.endswith("or to a folder, whose name ends in a slash")


def test_formats_are_for_folders_alone_and_must_be_known(tmp_path):
    message = refusal(write_walks, tmp_path / "walks.npy", sampler(), shards="npy")
    assert "shards is for walks in a folder" in message
    message = refusal(write_walks, f"{tmp_path}/walks/", sampler(), shards="txt")
    assert "shards must be one of npy, parquet" in message


def test_ids_that_would_break_lines_are_refused_before_any_walk(tmp_path):
    graph = Graph.from_edges([("plain", "odd\nid")])
    assert ".parquet" in refusal(write_walks, f"{tmp_path}/walks/", sampler(graph))
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refusal(write_walks, f"{tmp_path}/walks/", sampler(), shards="parquet")
    assert "reinforce2vec[parquet]" in message
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_missing_or_has_no_manifest_is_refused(tmp_path):
    assert "there is no such folder" in refusal(read_walks, f"{tmp_path}/missing/")
    message = refusal(read_walks, tmp_path)
    assert "no manifest.json" in message
    assert "not written to the end" in message


def members_of(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return [*manifest["shards"], *([manifest["ids"]] if manifest["ids"] else [])]


@pytest.mark.parametrize("shards", FORMATS)
def test_every_damaged_file_is_found(tmp_path, shards):
    folder = tmp_path / "walks"
    write(folder, shards, per_node=1)
    for member in members_of(folder):
        path = folder / member["file"]
        intact = path.read_bytes()
        path.unlink()
        assert f"{member['file']}: this file is missing" in refusal(read_walks, folder)
        path.write_bytes(intact[:-1])
        assert f"{len(intact) - 1:,} bytes" in refusal(read_walks, folder)
        middle = len(intact) // 2
        path.write_bytes(intact[:middle] + bytes([intact[middle] ^ 1]) + intact[middle + 1 :])
        assert f"{member['file']}: this file is damaged" in refusal(read_walks, folder)
        path.write_bytes(intact)
    read_walks(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"walks": 101},
        {"kind": "txt"},
        {"kind": "parquet"},
        {"ids": None},
        {"length": 0},
        {"shards": 3},
        {"shards": [{"file": "walks.npy"}]},
    ],
    ids=str,
)
def test_a_manifest_that_makes_no_sense_is_refused(tmp_path, changes):
    write(tmp_path / "walks")
    change_manifest(tmp_path / "walks", **changes)
    message = refusal(read_walks, tmp_path / "walks")
    assert "manifest.json: this is not the manifest of walks, or it is damaged" in message


@pytest.mark.parametrize(
    "changes", [{"file": "../secret.npy"}, {"first": 1}, {"count": -1}, {"bytes": "many"}], ids=str
)
def test_an_entry_of_a_manifest_that_makes_no_sense_is_refused(tmp_path, changes):
    write(tmp_path / "walks")
    manifest = json.loads((tmp_path / "walks" / "manifest.json").read_text())
    first, *others = manifest["shards"]
    change_manifest(tmp_path / "walks", shards=[first | changes, *others])
    assert "or it is damaged" in refusal(read_walks, tmp_path / "walks")


def test_a_manifest_that_is_no_json_or_of_a_later_version_is_refused(tmp_path):
    write(tmp_path / "walks")
    change_manifest(tmp_path / "walks", version=2)
    assert "version 2 of the format" in refusal(read_walks, tmp_path / "walks")
    (tmp_path / "walks" / "manifest.json").write_bytes(b"\xff{")
    assert "or it is damaged" in refusal(read_walks, tmp_path / "walks")


def test_a_shard_of_another_shape_than_its_entry_is_refused(tmp_path):
    """Its digest is right: another program has written it."""
    folder = tmp_path / "walks"
    write(folder, per_node=1)
    change_manifest(folder, length=3)
    assert "expected a .npy file of (11, 3) row numbers" in refusal(read_walks, folder)


def test_a_file_that_goes_away_while_it_is_used_is_a_sentence(tmp_path):
    write(tmp_path / "walks", seed=1)
    nodes = read_walks(tmp_path / "walks").nodes
    write(tmp_path / "walks", seed=2)
    assert "there is no such file" in refusal(lambda: nodes[:])


def test_what_a_run_that_was_killed_at_its_check_left_is_removed(tmp_path):
    (tmp_path / ".walks.0123456789abcdef.part").touch()
    write(tmp_path / "walks")
    assert os.listdir(tmp_path) == ["walks"]


def test_a_second_run_into_one_folder_is_refused(tmp_path):
    write(tmp_path / "walks", seed=1)
    before = contents(tmp_path / "walks")
    with claimed(tmp_path / "walks" / "manifest.json"):
        with pytest.raises(InputError, match="another run is writing"):
            write(tmp_path / "walks", seed=2)
        assert before.items() <= contents(tmp_path / "walks").items()
    assert contents(tmp_path / "walks") == before
