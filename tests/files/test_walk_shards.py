"""Walks in a folder: whole or not there, the same files with any number of workers."""

from __future__ import annotations

import errno
import hashlib
import json
import os

import numpy as np
import pytest

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
from reinforce2vec.files.walk_shards import write_shards
from reinforce2vec.files.writing import claimed

CLUB = karate_club()
NAMED = Graph.from_edges([("new york", "łódź"), ("łódź", "東京"), ("東京", "a,b;#")], directed=True)


def sampler(graph=CLUB, **options):
    return WalkSampler(graph, **({"length": 9, "per_node": 3, "backend": "cpu"} | options))


def write(folder, **options):
    return write_shards(f"{folder}/", sampler(**options), 100)


def contents(folder):
    """The bytes of every file of a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def change_manifest(folder, **changes):
    (folder / "manifest.json").write_text(json.dumps(manifest_of(folder) | changes))


# -- what is written ---------------------------------------------------------------------------


@pytest.mark.parametrize("graph", [CLUB, NAMED], ids=["integers", "strings"])
def test_walks_come_back_and_train_as_from_a_single_file(tmp_path, graph):
    steps = write(tmp_path / "walks", graph=graph)
    assert steps == write_walks(tmp_path / "one.npz", sampler(graph))
    folder, one = read_walks(f"{tmp_path}/walks/"), read_walks(tmp_path / "one.npz")
    np.testing.assert_array_equal(np.asarray(folder.nodes), one.nodes)
    np.testing.assert_array_equal(folder.begins, one.begins)
    np.testing.assert_array_equal(folder.ids, one.ids)
    model = Reinforce2Vec(dimensions=8, seed=1, backend="cpu")
    vectors = [
        model.fit_walks(walks).embedding_.vectors
        for walks in (f"{tmp_path}/walks/", tmp_path / "one.npz")
    ]
    np.testing.assert_array_equal(*vectors)


def test_the_files_are_the_same_with_any_number_of_workers_and_with_older_versions(tmp_path):
    for workers in (1, 2, 5):
        write(tmp_path / str(workers), workers=workers, block_size=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "5")
    files = hashlib.sha256(
        b"".join(content for _, content in sorted(contents(tmp_path / "1").items()))
    )
    assert files.hexdigest()[:16] == "c12f580c84ef44c2"


def test_the_files_are_the_same_on_a_gpu(tmp_path, cuda):
    write(tmp_path / "cpu")
    write(tmp_path / "gpu", backend="cuda")
    assert contents(tmp_path / "cpu") == contents(tmp_path / "gpu")


def test_the_manifest_lists_first_count_size_and_digest(tmp_path):
    write(tmp_path / "walks")
    manifest = manifest_of(tmp_path / "walks")
    assert (manifest["walks"], manifest["length"], manifest["kind"]) == (102, 9, "npy")
    assert [shard["first"] for shard in manifest["shards"]] == list(range(0, 102, 11))
    assert sum(shard["count"] for shard in manifest["shards"]) == 102
    for shard in manifest["shards"]:
        path = tmp_path / "walks" / shard["file"]
        assert np.load(path, mmap_mode="r").shape == (shard["count"], 9)
        assert path.stat().st_size == shard["bytes"]
        assert shard["digest"][:16] in shard["file"]


# -- whole or not there ------------------------------------------------------------------------


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


def test_a_new_set_replaces_an_older_one_and_what_a_killed_run_left(tmp_path):
    write(tmp_path / "walks", seed=1, graph=NAMED)
    digits = "0123456789abcdef"
    for name in (
        f"walks-000007-{digits}.npy",
        f"walks-000007-{digits}.parquet",  # of an older version
        f".walks-000008-{digits}.npy.host.1.part",
        ".probe-0f",
    ):
        (tmp_path / "walks" / name).write_bytes(b"unfinished")
    (tmp_path / ".walks.0123456789abcdef.part").touch()
    write(tmp_path / "walks", seed=2)
    write(tmp_path / "fresh", seed=2)
    assert contents(tmp_path / "walks") == contents(tmp_path / "fresh")
    (tmp_path / ".new.0123456789abcdef.part").touch()  # of a run that was killed at its check
    write(tmp_path / "new")
    assert ".new.0123456789abcdef.part" not in os.listdir(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
def test_a_new_set_has_the_permissions_of_the_older_one(tmp_path):
    write(tmp_path)
    for path in tmp_path.iterdir():
        path.chmod(0o600)
    write(tmp_path, seed=5)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_an_older_set_stays_valid_until_the_new_one_is_complete(tmp_path):
    write(tmp_path / "walks", seed=1)
    expected = sampler(seed=1).sample().ravel()
    looked = []

    class Watched(WalkSampler):
        def map_ranges(self, work, size, before=None):
            for result in super().map_ranges(work, size, before):
                nodes = read_walks(tmp_path / "walks").nodes
                np.testing.assert_array_equal(nodes[:], expected)
                looked.append(result)
                yield result

    write_shards(tmp_path / "walks", Watched(CLUB, length=9, per_node=3, seed=2), 100)
    assert len(looked) == 10
    new = read_walks(tmp_path / "walks").nodes
    assert (new[:] != expected).any()
    write(tmp_path / "walks", seed=1)
    assert "there is no such file" in refusal(lambda: new[:])


def test_a_second_run_into_one_folder_is_refused(tmp_path):
    write(tmp_path / "walks", seed=1)
    before = contents(tmp_path / "walks")
    with claimed(tmp_path / "walks" / "manifest.json"):
        with pytest.raises(InputError, match="another run is writing"):
            write(tmp_path / "walks", seed=2)
        assert before.items() <= contents(tmp_path / "walks").items()
    assert contents(tmp_path / "walks") == before


# -- refusals ----------------------------------------------------------------------------------


def test_every_damaged_file_is_noticed(tmp_path):
    folder = tmp_path / "walks"
    write(folder, per_node=1)
    manifest = manifest_of(folder)
    for member in [*manifest["shards"], manifest["ids"]]:
        path = folder / member["file"]
        intact = path.read_bytes()
        path.unlink()
        assert f"{member['file']}: this file is missing" in refusal(read_walks, folder)
        path.write_bytes(intact[:-1])
        assert f"{len(intact):,} bytes" in refusal(read_walks, folder)
        middle = len(intact) // 2
        path.write_bytes(intact[:middle] + bytes([intact[middle] ^ 1]) + intact[middle + 1 :])
        assert f"{member['file']}: this file is damaged" in refusal(read_walks, folder)
        path.write_bytes(intact)
    read_walks(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"version": 2},
        {"walks": 101},
        {"kind": "parquet"},
        {"ids": None},
        {"length": 0},
        {"length": 3},
        {"shards": 3},
        {"shards": [{"file": "walks.npy"}]},
        {"file": "../secret.npy"},
        {"first": 1},
        {"count": -1},
        {"bytes": "many"},
    ],
    ids=str,
)
def test_a_manifest_that_makes_no_sense_is_refused(tmp_path, changes):
    folder = tmp_path / "walks"
    write(folder)
    manifest = manifest_of(folder)
    if not {*changes} <= {*manifest}:
        changes = {"shards": [manifest["shards"][0] | changes, *manifest["shards"][1:]]}
    change_manifest(folder, **changes)
    assert str(folder) in refusal(read_walks, folder)
    (folder / "manifest.json").write_bytes(b"\xff{")
    assert "manifest.json: " in refusal(read_walks, folder)
    for path in (f"{tmp_path}/missing/", tmp_path):
        assert "no manifest.json" in refusal(read_walks, path)
