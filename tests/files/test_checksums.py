"""What is damaged, hidden or announced in archives and Parquet files is noticed, wherever it is."""

from __future__ import annotations

import struct
import zipfile

import numpy as np
import pytest

from helpers.refusals import refusal
from reinforce2vec import Embedding, Graph, InputError, read_graph

VECTORS = np.arange(60, dtype=np.float32).reshape(30, 2)


@pytest.fixture
def archive(tmp_path):
    """An archive of vectors, with an array that a file need not have."""
    path = tmp_path / "v.npz"
    Embedding(range(30), VECTORS, scales=(1, 1)).save(path)
    return path


def test_an_array_that_the_directory_does_not_name_is_noticed(archive):
    with zipfile.ZipFile(archive, "a") as members:
        members.filelist.remove(members.NameToInfo.pop("scales.npy"))
        members._didModify = True  # so that the directory is written again
    assert "none of its arrays" in refusal(Embedding.load, archive)


def test_compression_that_numpy_does_not_use_is_refused(archive):
    with zipfile.ZipFile(archive) as members:
        contents = {name: members.read(name) for name in members.namelist()}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_LZMA) as members:
        for name, content in contents.items():
            members.writestr(name, content)
    assert "compressed in a way that numpy does not use" in refusal(Embedding.load, archive)


def test_more_bytes_than_a_member_can_hold_are_refused_before_they_are_read(archive):
    content = bytearray(archive.read_bytes())
    entry = content.index(b"PK\x01\x02")  # of the directory
    struct.pack_into("<I", content, entry + 24, 10**9)
    archive.write_bytes(content)
    assert "announces more bytes than it can hold" in refusal(Embedding.load, archive)


def test_a_damaged_byte_before_the_footer_of_parquet_is_noticed_at_once(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "v.parquet"
    Embedding(range(30), VECTORS).save(path)
    sound = path.read_bytes()
    footer = len(sound) - 8 - int.from_bytes(sound[-8:-4], "little")
    for place in range(4, footer, 7):  # headers of pages, too, of which Parquet has no checksum
        damaged = bytearray(sound)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        assert refusal(Embedding.load, path).endswith("its data are damaged")


def test_a_damaged_name_hides_no_column_of_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "g.parquet"
    Graph.from_edges([("a", "b"), ("b", "c")], [2, 3]).save(path)
    sound, refusals = path.read_bytes(), []
    for place in range(len(sound)):
        if sound.startswith(b"weight", place):
            path.write_bytes(sound[:place] + b"height" + sound[place + 6 :])
            try:
                assert sorted(read_graph(path).weights.tolist()) == [2, 2, 3, 3]
            except InputError as refused:
                refusals.append(str(refused))
    assert len(refusals) > 1
    assert all(one.startswith(f"{path}: ") for one in refusals)
