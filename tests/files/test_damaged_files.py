"""Damaged, hostile and oversized binary files end in a sentence: no crash, no code, no bomb."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import re
import struct
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from helpers.refusals import refusal
from reinforce2vec import (
    Embedding,
    Graph,
    InputError,
    Reinforce2Vec,
    karate_club,
    read_graph,
)
from reinforce2vec.files import read_walks
from reinforce2vec.graph.fingerprint import fingerprint

MATRIX = scipy.sparse.csr_array(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0.0]]))


def outcome(read, path, key):
    """What is read, or None if a sentence refuses it; any other exception fails the test."""
    try:
        return key(read(path))
    except InputError:
        return None


# -- sparse matrices ---------------------------------------------------------------------------


def test_numbers_of_any_size_are_weights():
    for kind in (np.float16, np.longdouble, np.int8, bool):
        dense = MATRIX.toarray().astype(kind)
        assert Graph.from_any(dense).n_edges == 2
    with pytest.raises(InputError, match="real numbers, not complex64"):
        Graph.from_any(MATRIX.toarray().astype(np.complex64))


# -- archives ----------------------------------------------------------------------------------


def archive_of(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def npy(shape, kind="<f4", content=b""):
    stream = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + content


@pytest.mark.parametrize("shape", [(10**12, 3), (-1, -3), (2, 3), (10**9, 0)])
def test_arrays_that_announce_another_size_are_refused(tmp_path, shape):
    members = {"format": npy((), "<i8", bytes(8)), "ids": npy((1,), "<i8", bytes(8))}
    path = archive_of(tmp_path / "v.npz", **members, vectors=npy(shape, content=bytes(4)))
    assert outcome(Embedding.load, path, len) is None


def test_an_archive_larger_than_the_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    scipy.sparse.save_npz(path, scipy.sparse.csr_array((10**6, 10**6)))
    assert read_graph(path).n_nodes == 10**6
    monkeypatch.setattr("reinforce2vec._util.machine.available_bytes", lambda: 10**6)
    message = refusal(read_graph, path)  # indices have 4 or 8 bytes, by the version of SciPy
    assert re.search(r"needs about [48]\.0 MB of memory, and 1\.0 MB are free", message)
    text = b"%%MatrixMarket matrix coordinate pattern general\n100000000 100000000 0\n"
    (tmp_path / "g.mtx.gz").write_bytes(gzip.compress(text))
    assert "a graph of 100,000,000 nodes" in refusal(read_graph, tmp_path / "g.mtx.gz")


def test_a_damaged_name_hides_no_array(tmp_path):
    for name, make, read in [
        ("v.npz", Embedding([1], [[1, 2]], scales=(1, 1), info={"a": 1}).save, Embedding.load),
        ("g.npz", Graph.from_edges([("a", "b")], directed=True).save, read_graph),
    ]:
        path = tmp_path / name
        make(path)
        sound = path.read_bytes()
        for member in zipfile.ZipFile(path).namelist():
            place = sound.rindex(member.encode())  # in the directory at the end
            path.write_bytes(sound[:place] + b"x" + sound[place + 1 :])
            assert str(path) in refusal(read, path)


@pytest.fixture
def archive(tmp_path):
    """An archive of vectors, with an array that a file need not have."""
    path = tmp_path / "v.npz"
    Embedding(range(30), np.ones((30, 2)), scales=(1, 1)).save(path)
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


class Bomb:
    """Makes a file if it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_no_reader_unpickles(tmp_path):
    exploded = tmp_path / "exploded"
    hidden = np.array([Bomb(exploded)], object)
    pickled = pickle.dumps(Bomb(exploded))
    for name, read in [
        ("v.npz", Embedding.load),
        ("g.npz", read_graph),
        ("m.r2v", Reinforce2Vec.load),
        ("w.npz", read_walks),
        ("g.mat", read_graph),
        ("v.bin", Embedding.load),
        ("v.parquet", Embedding.load),
        ("g.graphml", read_graph),
    ]:
        path = tmp_path / name
        for content in (pickled, b"1 1\n" + pickled):
            path.write_bytes(content)
            assert outcome(read, path, len) is None
        for names in (("format", "vectors", "ids"), ("format", "shape", "data"), ("walks", "ids")):
            if name.endswith(("npz", "r2v")):
                with path.open("wb") as stream:
                    np.savez(stream, **dict.fromkeys(names, hidden))
                assert outcome(read, path, len) is None
    checkpoint = tmp_path / "c.npz"
    np.savez(checkpoint, about=hidden, visits=hidden)
    model = Reinforce2Vec(dimensions=8, workers=1, walks_per_node=1)
    assert "damaged" in refusal(model.fit, karate_club(), checkpoint=checkpoint, resume=True)
    assert not exploded.exists()


def test_a_type_of_arrow_is_not_unpickled(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    exploded = tmp_path / "exploded"
    about = {
        "ARROW:extension:name": "arrow.py_extension_type",
        "ARROW:extension:metadata": pickle.dumps(Bomb(exploded)),
    }
    fields = [pyarrow.field(name, pyarrow.int64(), metadata=about) for name in ("source", "target")]
    table = pyarrow.table([[1, 2], [2, 3]], schema=pyarrow.schema(fields))
    parquet.write_table(table, tmp_path / "g.parquet")
    outcome(read_graph, tmp_path / "g.parquet", len)
    assert not exploded.exists()


# -- Parquet -----------------------------------------------------------------------------------


def test_a_damaged_byte_of_parquet_is_noticed(tmp_path):
    pytest.importorskip("pyarrow")
    graph = Graph.from_edges([(f"n{k}", f"m{k * 7 % 9}", k + 0.5) for k in range(30)])
    vectors = np.arange(60, dtype=np.float32).reshape(30, 2)
    embedding = Embedding(range(30), vectors, scales=(1, 1), info={"method": "x"})
    graph.save(tmp_path / "g.parquet")
    embedding.save(tmp_path / "v.parquet")
    for name, read, key in [
        ("g", read_graph, fingerprint),
        ("v", Embedding.load, lambda e: (e.ids.tolist(), e.vectors.tolist(), e.scales, e.info)),
    ]:
        path = tmp_path / f"{name}.parquet"
        sound, expected = path.read_bytes(), key(read(path))
        rng = random.Random(2)
        for _ in range(25):
            damaged = bytearray(sound)
            damaged[rng.randrange(len(sound))] ^= 1 << rng.randrange(8)
            path.write_bytes(damaged)
            assert outcome(read, path, key) in (None, expected)


def test_a_damaged_byte_before_the_footer_of_parquet_is_noticed_at_once(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "v.parquet"
    Embedding(range(30), np.ones((30, 2))).save(path)
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
    assert all(message.startswith(f"{path}: ") for message in refusals)


def test_strings_of_parquet_that_are_not_utf8_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    odd = pyarrow.array([b"\xff\xfe", b"a"]).view(pyarrow.string())
    for target in (pyarrow.array(["b", "c"]), odd, pyarrow.array([1, 2])):
        table = pyarrow.table({"source": odd, "target": target})
        parquet.write_table(table, tmp_path / "g.parquet")
        assert outcome(read_graph, tmp_path / "g.parquet", len) is None
        with pytest.raises(InputError):
            Graph.from_any(table)


def test_a_missing_value_is_not_the_last_word_of_a_dictionary(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ends = {"source": ["a", "b", "c"], "target": ["b", "c", "a"]}
    missing = pyarrow.DictionaryArray.from_arrays([0, 1, 1], pyarrow.array(["x", None]))
    tables = {
        "weights": ends | {"weight": pyarrow.array(["1", None, "2"])},
        "dictionary": ends | {"weight": pyarrow.array([1.0, None, 2.0]).dictionary_encode()},
        "word": ends | {"target": missing},
        "two types": {"source": missing, "target": [1, 2, 3]},
    }
    for what, columns in tables.items():
        table = pyarrow.table(columns)
        refusal(Graph.from_any, table)
        if what in ("word", "two types"):
            continue  # which cannot be written
        parquet.write_table(table, tmp_path / "g.parquet")
        refusal(read_graph, tmp_path / "g.parquet")


# -- checkpoints and models --------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A checkpoint, and the arrays in it."""
    path = tmp_path_factory.mktemp("checkpoint") / "c.npz"
    new_model().fit(karate_club(), checkpoint=path)
    with np.load(path) as archive:
        return dict(archive)


def new_model():
    return Reinforce2Vec(dimensions=8, window=2, workers=1, walks_per_node=2, epochs=2)


CRAFTED = {
    "fewer rows": lambda a: a | {"inputs0": a["inputs0"][:3], "outputs0": a["outputs0"][:3]},
    "fewer outputs": lambda a: a | {"outputs0": a["outputs0"][:3]},
    "fewer nodes": lambda a: a | {n: a[n][:3] for n in ("visits", "inputs0", "outputs0")},
    "narrow rows": lambda a: a | {"inputs0": a["inputs0"][:, :8]},
    "other numbers": lambda a: a | {"inputs0": a["inputs0"].astype(np.float64)},
    "turned": lambda a: a | {"inputs0": np.asfortranarray(a["inputs0"])},
    "visits as floats": lambda a: a | {"visits": a["visits"] + 0.5},
    "visits below 0": lambda a: a | {"visits": -a["visits"]},
    "few losses": lambda a: a | {"losses": a["losses"][:, :2], "pairs": a["pairs"][:, :2]},
    "dimensions": lambda a: a | {"about": described(a, dimensions=[16])},
    "no dimensions": lambda a: a | {"about": described(a, dimensions=[])},
    "walks": lambda a: a | {"about": described(a, walks=-1)},
    "rates": lambda a: a | {"about": described(a, rates=["much"])},
}


def described(arrays, **changes):
    about = json.loads(arrays["about"].tobytes()) | changes
    return np.frombuffer(json.dumps(about).encode(), np.uint8)


@pytest.mark.parametrize("what", CRAFTED)
def test_crafted_checkpoints_are_refused(tmp_path, checkpoint, what):
    path = tmp_path / "c.npz"
    np.savez(path, **CRAFTED[what](checkpoint))
    told = refusal(new_model().fit, karate_club(), checkpoint=path, resume=True)
    assert "not a checkpoint of reinforce2vec, or a damaged one" in told
