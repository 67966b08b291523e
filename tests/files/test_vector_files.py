"""Embeddings come back from files as they were; what cannot be read or written is said."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import shutil
import struct
import sys
import zipfile
from collections import namedtuple
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.limits import largest_file
from helpers.refusals import refusal as refused
from reinforce2vec import Graph, InputError
from reinforce2vec._util import arrays as arrays_module
from reinforce2vec.embedding import Embedding
from reinforce2vec.files import _decimals, vector_files
from reinforce2vec.files.id_texts import EncodedIds
from reinforce2vec.files.vector_files import check_vectors_fit, check_vectors_path

SUFFIXES = tuple(s for s in vector_files._FORMATS if s != ".tsv")
TEXT = (".txt", ".vec", ".txt.gz", ".csv", ".csv.gz")
WORD2VEC = (".txt", ".vec", ".txt.gz", ".bin")
VECTORS = np.array([[1, 0.1], [-0.0, 1e-30], [3.5, -2e20]], np.float32)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("vectors")


def round_trip(path, ids, vectors):
    """What comes back, checked against what went in."""
    Embedding(ids, vectors).save(path)
    after = Embedding.load(path)
    assert after.vectors.dtype == np.float32
    if path.name.endswith(TEXT):
        np.testing.assert_array_equal(after.vectors, vectors)
        np.testing.assert_array_equal(
            np.signbit(after.vectors), np.signbit(vectors) & (vectors == vectors)
        )
    else:
        np.testing.assert_array_equal(bits(after.vectors), bits(vectors))
    return after.ids


def bits(vectors):
    return np.ascontiguousarray(vectors).view(np.uint32)


# -- there and back ----------------------------------------------------------------------------

any_vectors = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.uint32, shape).map(lambda numbers: numbers.view(np.float32))
)
integers = st.integers(-(2**63), 2**63 - 1)
words = st.text(st.characters(exclude_categories=["Cs"]))
tokens = words.filter(lambda word: word.split() == [word])


def named(data, vectors, names):
    size = len(vectors)
    return data.draw(st.lists(names, min_size=size, max_size=size, unique=True))


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(any_vectors, st.data())
@settings(max_examples=40)
def test_integers_and_all_floats_come_back(folder, suffix, vectors, data):
    ids = named(data, vectors, integers)
    after = round_trip(folder / f"vectors{suffix}", ids, vectors)
    assert after.dtype == np.int64
    assert after.tolist() == ids


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@given(any_vectors, st.data())
@settings(max_examples=40)
def test_all_strings_come_back(folder, suffix, vectors, data):
    ids = named(data, vectors, words)
    after = round_trip(folder / f"vectors{suffix}", ids, vectors)
    assert after.dtype == object
    assert after.tolist() == ids


@given(any_vectors, st.data())
@settings(max_examples=40)
def test_strings_that_are_no_text_come_back_from_npz(folder, vectors, data):
    ids = named(data, vectors, st.text(st.characters()))
    assert round_trip(folder / "vectors.npz", ids, vectors).tolist() == ids


@pytest.mark.parametrize("suffix", WORD2VEC)
@given(any_vectors, st.data())
@settings(max_examples=40)
def test_strings_without_whitespace_come_back_from_word2vec(folder, suffix, vectors, data):
    ids = named(data, vectors, tokens)
    ids[0] = "word" + "".join(ids)  # no integer
    assert round_trip(folder / f"vectors{suffix}", ids, vectors).tolist() == ids


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@given(any_vectors, st.data())
@settings(max_examples=40)
def test_all_strings_come_back_from_csv(folder, suffix, vectors, data):
    kept = words.filter(lambda word: not re.search("[\r\0]|\n\ufeff", word))
    ids = named(data, vectors, kept)
    ids[0] = "word" + "".join(ids).replace("\ufeff", "")  # no integer
    assert round_trip(folder / f"vectors{suffix}", ids, vectors).tolist() == ids


@pytest.mark.parametrize("suffix", [*TEXT, ".bin"])
def test_ids_in_text_are_integers_if_all_of_them_are(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    assert round_trip(path, ["12", "-3", "0"], VECTORS).tolist() == [12, -3, 0]
    for odd in ("007", "-0", "+1", "1.0", "٣", str(2**63), "9" * 5000):
        assert round_trip(path, ["12", "-3", odd], VECTORS).tolist() == ["12", "-3", odd]


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_other_formats_tell_strings_from_integers(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    assert round_trip(path, ["12", "-3", "0"], VECTORS).tolist() == ["12", "-3", "0"]


@pytest.mark.parametrize("suffix", [*WORD2VEC, ".npz"])
def test_names_that_were_not_utf8_come_back(tmp_path, suffix):
    name = b"caf\xe9".decode(errors="surrogateescape")
    path = tmp_path / f"vectors{suffix}"
    assert round_trip(path, [name, "b", "c"], VECTORS).tolist() == [name, "b", "c"]
    assert round_trip(path, [name, "1", "2"], VECTORS).tolist() == [name, "1", "2"]
    if suffix == ".txt":
        assert b"caf\xe9 1 0.1\n" in path.read_bytes()


@pytest.mark.parametrize("suffix", [*TEXT, ".bin", ".parquet"])
def test_other_ids_are_written_as_text(tmp_path, suffix):
    after = round_trip(tmp_path / f"vectors{suffix}", [3.5, (1,), "x"], VECTORS)
    assert after.tolist() == ["3.5", "(1,)", "x"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_views_are_written_like_copies(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(arrays_module, "BLOCK_BYTES", 200)
    wide = np.random.default_rng(0).normal(size=(300, 24)).astype(np.float32)
    contents = []
    for vectors in (wide[::2, 3:10], wide[::2, 3:10].copy()):
        path = tmp_path / f"vectors{suffix}"
        round_trip(path, range(150), vectors)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_cut_into_blocks_does_not_show(tmp_path, suffix, monkeypatch):
    ids = [f"{'long' * (i % 7)}{i}" for i in range(200)]
    vectors = np.random.default_rng(0).normal(size=(200, 7)).astype(np.float32)
    Embedding(ids, vectors).save(tmp_path / f"one{suffix}")
    monkeypatch.setattr(arrays_module, "BLOCK_BYTES", 100)
    monkeypatch.setattr(vector_files, "BLOCK_BYTES", 100)
    assert round_trip(tmp_path / f"many{suffix}", ids, vectors).tolist() == ids
    if suffix != ".parquet":  # its row groups are the blocks
        assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"many{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_nodes_come_back(tmp_path, suffix):
    Embedding([], np.empty((0, 3))).save(tmp_path / f"vectors{suffix}")
    assert Embedding.load(tmp_path / f"vectors{suffix}").vectors.shape == (0, 3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_one_embedding_makes_one_file(tmp_path, suffix):
    contents = []
    for name in ("a", "b"):
        Embedding(["x", "y", "z"], VECTORS).save(tmp_path / f"{name}{suffix}")
        contents.append((tmp_path / f"{name}{suffix}").read_bytes())
    assert contents[0] == contents[1]


def test_npz_files_are_dated_alike_and_hold_no_pickles(tmp_path):
    Embedding(["x", "y", "z"], VECTORS).save(tmp_path / "vectors.npz")
    with zipfile.ZipFile(tmp_path / "vectors.npz") as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with np.load(tmp_path / "vectors.npz", allow_pickle=False) as archive:
        assert {name: archive[name].dtype for name in archive} == {
            "format": np.int64,
            "vectors": np.float32,
            "ids": np.uint8,
            "begins": np.int64,
        }


def test_one_long_id_takes_the_room_of_one(tmp_path):
    ids = ["x" * 10**6, *map(str, range(999))]
    Embedding(ids, np.ones((1000, 2))).save(tmp_path / "vectors.npz")
    assert (tmp_path / "vectors.npz").stat().st_size < 1.1 * 10**6


def test_a_suffix_may_be_in_capitals(tmp_path):
    for suffix in SUFFIXES:
        round_trip(tmp_path / f"VECTORS{suffix.upper()}", [1, 2, 3], VECTORS)


# -- numbers in text ---------------------------------------------------------------------------


def spelled(numbers):
    class Sink:
        text = b""

        def write(self, data):
            self.text += bytes(data)

    sink = Sink()
    row = np.array([numbers], np.float32)
    _decimals.write_rows(sink, EncodedIds.of([b""]), row, ord(" "))
    return sink.text.decode().split()


def test_numbers_are_written_with_as_few_figures_as_they_need():
    shortest = ["0", "-0", "1", "-1", "0.1", "0.3", "0.33333334", "1000000", "16777216"]
    shortest += ["0.0001", "1e-5", "1.5e-5", "123456790", "1e9", "999999.94", "12345.678"]
    shortest += ["2.5e-7", "1e-14", "1e22", "-3.1415927", "nan", "inf", "-inf"]
    assert spelled([float(text) for text in shortest]) == shortest


def test_the_smallest_and_largest_numbers_take_nine_figures():
    numbers = [1.401298464324817e-45, 3.4028234663852886e38, 1.1754943508222875e-38]
    assert spelled(numbers) == ["1.40129846e-45", "3.40282347e38", "1.17549435e-38"]


@given(arrays(np.uint32, 50).map(lambda numbers: numbers.view(np.float32)))
def test_every_number_is_read_as_it_was(numbers):
    texts = spelled(numbers)
    read = np.array([float(text) for text in texts], np.float32)
    np.testing.assert_array_equal(read, numbers)
    assert max(map(len, texts)) < _decimals._WIDEST


@given(st.integers(-12, 12), arrays(np.float64, 50, elements=st.floats(1, 10)))
def test_ordinary_numbers_are_as_short_as_numpy_makes_them(power, numbers):
    numbers = (numbers * 10.0**power).astype(np.float32)
    for text, number in zip(spelled(numbers), numbers, strict=True):
        shortest = np.format_float_scientific(number, unique=True, trim="-")
        assert len(figures(text)) == len(figures(shortest))


def figures(text):
    return text.split("e")[0].replace(".", "").strip("0")


# -- the layouts of others ---------------------------------------------------------------------


def read_word2vec_text(data):
    """Words and vectors, by the definition of the format."""
    head, *lines = data.decode().split("\n")
    assert lines.pop() == ""
    n, dimensions = map(int, head.split(" "))
    fields = [line.split(" ") for line in lines]
    assert len(lines) == n
    assert {len(numbers) for _, *numbers in fields} == {dimensions}
    vectors = [[float(number) for number in numbers] for _, *numbers in fields]
    return [word for word, *_ in fields], np.array(vectors, np.float32)


def read_word2vec_binary(data):
    """Words and vectors, by the definition of the format: as word2vec's own distance.c reads it."""
    head, _, rest = data.partition(b"\n")
    n, dimensions = map(int, head.split())
    names, vectors = [], []
    for _ in range(n):
        word, _, rest = rest.partition(b" ")
        names.append(word.replace(b"\n", b"").decode())
        vectors.append(struct.unpack(f"<{dimensions}f", rest[: 4 * dimensions]))
        rest = rest[4 * dimensions :]
    assert rest == b"\n"
    return names, np.array(vectors, np.float32)


LAYOUTS = {
    ".txt": read_word2vec_text,
    ".vec": read_word2vec_text,
    ".txt.gz": lambda data: read_word2vec_text(gzip.decompress(data)),
    ".bin": read_word2vec_binary,
}


@pytest.mark.parametrize("suffix", LAYOUTS)
def test_word2vec_files_have_the_layout_that_others_expect(tmp_path, suffix):
    ids = ["łódź", "a,b;#", "x"]
    Embedding(ids, VECTORS).save(tmp_path / f"vectors{suffix}")
    names, vectors = LAYOUTS[suffix]((tmp_path / f"vectors{suffix}").read_bytes())
    assert names == ids
    np.testing.assert_array_equal(bits(vectors), bits(VECTORS))


def test_text_that_word2vec_and_fasttext_write_is_read(tmp_path):
    (tmp_path / "v.txt").write_bytes(b"2 3\n</s> 0.1 -2.000000 3e-1 \nb\xc3\xa9 1 NaN -inf \n")
    embedding = Embedding.load(tmp_path / "v.txt")
    assert embedding.ids.tolist() == ["</s>", "bé"]
    np.testing.assert_array_equal(
        embedding.vectors, np.array([[0.1, -2, 0.3], [1, np.nan, -np.inf]], np.float32)
    )


@pytest.mark.parametrize("text", ["1 2\r\nann 1 2\r\n", "1 2\nann 1 2", "1 2\nann 1 2\n\n \n"])
def test_line_ends_of_all_kinds_are_read(tmp_path, text):
    (tmp_path / "v.vec").write_bytes(text.encode())
    assert Embedding.load(tmp_path / "v.vec")["ann"].tolist() == [1, 2]


def test_numbers_beyond_float32_are_read_as_infinite(tmp_path):
    (tmp_path / "v.txt").write_text("2 1\na 1e39\nb -1e400\n")
    assert Embedding.load(tmp_path / "v.txt").vectors.tolist() == [[np.inf], [-np.inf]]


def test_binary_files_of_gensim_have_no_line_breaks(tmp_path):
    (tmp_path / "v.bin").write_bytes(b"2 1\na \x00\x00\x80\x3fb \x0a\x20\x0a\x20")
    embedding = Embedding.load(tmp_path / "v.bin")
    assert embedding.ids.tolist() == ["a", "b"]
    np.testing.assert_array_equal(bits(embedding.vectors), [[0x3F800000], [0x200A200A]])


def test_the_projector_gets_vectors_and_labels(tmp_path):
    Embedding(["new york", "łódź", "x"], VECTORS).save(tmp_path / "cities.v1.tsv")
    assert sorted(os.listdir(tmp_path)) == ["cities.v1.metadata.tsv", "cities.v1.tsv"]
    assert (tmp_path / "cities.v1.metadata.tsv").read_bytes().decode() == "new york\nłódź\nx\n"
    assert (tmp_path / "cities.v1.tsv").read_text() == "1\t0.1\n-0\t1e-30\n3.5\t-2e20\n"


def test_csv_is_what_other_programs_read(tmp_path):
    odd = ["a,b", 'say "hi"', "", "two\nlines", "#1", " x "]
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2) / 7
    embedding = Embedding(odd, vectors)
    embedding.save(tmp_path / "v.csv")
    assert (tmp_path / "v.csv").read_bytes().startswith(b'node,d0,d1\n"a,b",0,0.14285715\n')
    with (tmp_path / "v.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["node", "d0", "d1"]
    assert [row[0] for row in rows] == odd
    assert np.array_equal(np.array([row[1:] for row in rows], np.float32), vectors)
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(tmp_path / "v.csv", index_col="node", keep_default_na=False)
    pandas.testing.assert_frame_equal(frame.astype(np.float32), embedding.to_frame())


@pytest.mark.parametrize(
    "text",
    [
        "node,d0,d1,d2\nann,1,0.5,0\nbob,2,3,4\n",
        "ann,1,0.5,0\nbob,2,3,4",
        "\ufeffid,x,y,z\r\n\r\nann,1,0.5,0\r\nbob,2,3,4\r\n",
        ",0,1,2\nann,1,0.5,0\nbob,2,3,4\n",  # as pandas writes a matrix
        '"node","0","1","2"\n"ann","1","0.5","0"\n"bob","2","3","4"\n',
        "ann, 1, 0.5, 0\nbob, 2, 3, 4\n",
    ],
)
def test_csv_of_others_is_read(tmp_path, text):
    (tmp_path / "v.csv").write_text(text, encoding="utf-8", newline="")
    embedding = Embedding.load(tmp_path / "v.csv")
    assert embedding.ids.tolist() == ["ann", "bob"]
    assert embedding.vectors.tolist() == [[1, 0.5, 0], [2, 3, 4]]


def test_ids_are_quoted_in_csv_as_in_edge_lists(tmp_path):
    """So that a file of vectors can name the nodes of a graph."""
    odd = ["a;b", "#1", " x ", "%", "\ufeffy", "a|b", "tab\tbed", "plain", "in side"]
    Embedding(odd, np.ones((9, 1))).save(tmp_path / "v.csv")
    Graph.from_edges([(a, a) for a in odd], self_loops=True).save(tmp_path / "e.csv")
    vectors, edges = ((tmp_path / name).read_text().splitlines() for name in ("v.csv", "e.csv"))
    fields = [line.removesuffix(",1") for line in vectors[1:]]
    assert fields == [f'"{text}"' for text in odd[:-2]] + odd[-2:]
    assert edges[1:] == [f"{field},{field}" for field in fields]
    assert Embedding.load(tmp_path / "v.csv").ids.tolist() == odd


@pytest.mark.parametrize("name", ["node", "id"])
@pytest.mark.parametrize("index", ["", "Unnamed: 0", "index"])
def test_csv_with_a_pandas_index_is_read_without_it(tmp_path, index, name):
    pandas = pytest.importorskip("pandas")
    columns = {name: [40, 20, 30], "d0": VECTORS[:, 0], "d1": VECTORS[:, 1]}
    for ids in ([40, 20, 30], ["x", "a,b", 'say "hi"']):
        frame = pandas.DataFrame(columns | {name: ids}).iloc[[0, 2]]
        frame.to_csv(tmp_path / "v.csv", index_label=index)
        embedding = Embedding.load(tmp_path / "v.csv")
        assert embedding.ids.tolist() == [ids[0], ids[2]]
        np.testing.assert_array_equal(embedding.vectors, VECTORS[[0, 2]])
    (tmp_path / "v.csv").write_text(f"{index},{name},d0\n1,5,0.5\n0.5,6,0.5\n")
    message = refused(Embedding.load, tmp_path / "v.csv")
    assert "v.csv, line 3: expected a node id" in message


def test_csv_without_a_header_may_begin_with_any_node(tmp_path):
    (tmp_path / "v.csv").write_text("ann,0,1,2\nbob,2,3,4\n")
    assert Embedding.load(tmp_path / "v.csv").ids.tolist() == ["ann", "bob"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("node,d0\nann,1\nbob\n", "v.csv, line 3: expected 1 number, found 0"),
        ("node,d0\nann,1,2\n", "v.csv, line 2: expected 1 number, found 2"),
        ('node,d0\n"two\nlines",1\nbob,x\n', 'v.csv, line 4: expected a number, found "x"'),
        ('node,d0\n"ann,1\nbob,2\n', "v.csv, line 2: a double quote opens"),
        ("ann 1 2\n", "v.csv, line 1: expected a node id and numbers, separated by commas"),
        ("node,x\n", "v.csv: expected vectors, but there is only one line"),
        ("node,x\n1,2\n1,3\n", "node 1 occurs twice among the ids"),
        ("node,x\nann,bob\n", 'v.csv, line 2: expected a number, found "bob"'),
        ("source,target\n1,2\n3,4\n", "expected vectors, but this may be a list of edges"),
        ("a,To,Weight\n1,2,0.5\n", "expected vectors, but this may be a list of edges"),
        ("caller,callee,d0\n1,2,3\n", "expected vectors, but this may be a list of edges"),
        ("u,V\n1,2\n3,4\n", "expected vectors, but this may be a list of edges"),
        ("node,Edge_Weight\n1,2\n", "expected vectors, but this may be a list of edges"),
        ("1,2\n2,3\n", "expected vectors, but this may be a list of edges"),
        ("1,2,0.5\n2,3,1\n", "may be a list of edges: name the columns node, d0, d1"),
    ],
)
def test_csv_that_holds_no_vectors_is_refused(tmp_path, text, complaint):
    (tmp_path / "v.csv").write_text(text)
    assert complaint in refused(Embedding.load, tmp_path / "v.csv")


def test_a_dash_is_csv_on_standard_output(tmp_path, capfdbinary):
    embedding = Embedding(["a,b", "c", "łódź"], VECTORS)
    embedding.save("-")
    embedding.save(tmp_path / "v.csv")
    assert capfdbinary.readouterr().out == (tmp_path / "v.csv").read_bytes()


# -- what is known of vectors ------------------------------------------------------------------

INFO = {"method": "HOPE", "settings": {"beta": 0.5, "window": [1, 10]}, "directed": True}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_some_formats_keep_what_is_known_of_vectors(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    Embedding([1, 2, 3], VECTORS, scales=(1, 1), info=INFO).save(path)
    loaded = Embedding.load(path)
    kept = suffix in (".npz", ".parquet")
    assert loaded.info == (INFO if kept else {})
    assert loaded.scales == ((1, 1) if kept else (2,))


def test_what_is_known_of_vectors_is_no_pickle(tmp_path):
    Embedding([1, 2, 3], VECTORS, info=INFO).save(tmp_path / "v.npz")
    with np.load(tmp_path / "v.npz", allow_pickle=False) as archive:
        assert json.loads(archive["info"].tobytes()) == INFO
        arrays = dict(archive)
    arrays["info"] = np.frombuffer(b"[1]", np.uint8)
    np.savez(tmp_path / "v.npz", **arrays)
    assert "no JSON object" in refused(Embedding.load, tmp_path / "v.npz")


def test_parquet_with_lists_of_any_kind_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for number in (pyarrow.float32(), pyarrow.float64()):
        for lists in (pyarrow.list_, pyarrow.large_list):
            vectors = pyarrow.array(VECTORS.tolist(), lists(number))
            table = pyarrow.table({"node": [7, 8, 9], "vector": vectors})
            parquet.write_table(table, tmp_path / "v.parquet")
            assert np.array_equal(Embedding.load(tmp_path / "v.parquet").vectors, VECTORS)


def test_parquet_has_two_columns(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    Embedding([7, 8, 9], VECTORS).save(tmp_path / "v.parquet")
    table = parquet.read_table(tmp_path / "v.parquet")
    assert [(field.name, str(field.type).split("<")[0]) for field in table.schema] == [
        ("node", "int64"),
        ("vector", "fixed_size_list"),
    ]
    assert table["node"].to_pylist() == [7, 8, 9]
    assert table["vector"].to_pylist() == VECTORS.tolist()


# -- whole or not at all -----------------------------------------------------------------------


MANY = np.random.default_rng(0).normal(size=(300, 64))  # more than the room for a file below


def fail_to_save(path):
    """Save vectors where a file cannot grow so large."""
    vectors = Embedding(range(300), MANY)
    # what has to be compiled is kept in files too: first without the limit
    vectors.save(path.with_name(path.name.replace("vectors", "warm")))
    for file in path.parent.glob("warm*"):
        file.unlink()
    with largest_file(8000), pytest.raises(OSError, match=r"File too large|Error writing"):
        vectors.save(path)


def contents(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failed_writing_leaves_nothing(tmp_path, suffix):
    fail_to_save(tmp_path / f"vectors{suffix}")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failed_writing_leaves_an_older_file_as_it_was(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    Embedding(["old", "older"], VECTORS[:2]).save(path)
    before = contents(tmp_path)
    fail_to_save(path)
    assert contents(tmp_path) == before


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for suffix in SUFFIXES:
        link = tmp_path / f"vectors{suffix}"
        link.symlink_to(tmp_path / "elsewhere" / f"real{suffix}")
        assert round_trip(link, [1, 2, 3], VECTORS).tolist() == [1, 2, 3]
        assert link.is_symlink()


# -- refusals before the work ------------------------------------------------------------------

IDS = np.array([1, 2, 3])


def objects(*ids):
    return Embedding(ids, np.zeros((len(ids), 1))).ids


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_sound_output_passes_and_leaves_no_trace(tmp_path, suffix):
    path = tmp_path / f"vectors{suffix}"
    assert check_vectors_path(path) == check_vectors_path(str(path)) == path.resolve()
    check_vectors_fit(str(path), IDS, 64)
    check_vectors_fit(path, objects("a", "b"), 64)
    assert os.listdir(tmp_path) == []


def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path):
    for action in (check_vectors_path, Embedding([1], [[1]]).save, Embedding.load):
        message = refused(action, tmp_path / "vectors.doc")
        assert "vectors.doc" in message
        assert all(suffix in message for suffix in SUFFIXES)
    assert "written to" in refused(check_vectors_fit, "vectors", IDS, 2)


def test_a_missing_folder_is_refused(tmp_path):
    assert "does not exist: make it" in refused(check_vectors_path, tmp_path / "nowhere" / "v.txt")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "v.txt").mkdir()
    (tmp_path / "v.metadata.tsv").mkdir()
    assert "this is a folder" in refused(check_vectors_path, tmp_path / "v.txt")
    assert "v.metadata.tsv: this is a folder" in refused(check_vectors_path, tmp_path / "v.tsv")


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "no permission" in refused(check_vectors_path, tmp_path / "v.txt")


def test_a_disk_that_takes_nothing_is_refused(tmp_path):
    with largest_file(0):
        message = refused(check_vectors_path, tmp_path / "v.txt")
    assert message.endswith(f"cannot write to the folder {tmp_path.resolve()}: File too large")
    assert os.listdir(tmp_path) == []


def test_a_name_that_is_too_long_is_refused(tmp_path):
    """By the system, and not by what hidden files beside it are called."""
    check_vectors_path(tmp_path / f"{'x' * 251}.txt")
    assert "name too long" in refused(check_vectors_path, tmp_path / f"{'x' * 252}.txt")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_refused(tmp_path, suffix, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 1000, 1000))
    path = tmp_path / f"vectors{suffix}"
    message = refused(check_vectors_fit, path, np.arange(1000), 128)
    assert "the disk of" in message
    assert "1.0 kB left" in message
    assert message == refused(Embedding(range(1000), np.zeros((1000, 128))).save, path)
    assert check_vectors_path(path) == path.resolve()
    check_vectors_fit(path, np.arange(2), 2)


def test_a_limit_on_the_size_of_files_is_noticed_before_the_work(tmp_path):
    with largest_file(10_000):
        message = refused(check_vectors_fit, tmp_path / "v.npz", np.arange(1000), 128)
        check_vectors_fit(tmp_path / "v.npz", np.arange(2), 2)
    assert "this process may write files of 10.0 kB at most: raise that limit" in message


@pytest.mark.parametrize("scale", [1, 0.3, 0.03])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_estimated_size_is_about_that_of_the_file(tmp_path, suffix, scale):
    vectors = scale * np.random.default_rng(0).normal(size=(500, 64))
    path = tmp_path / f"vectors{suffix}"
    Embedding(range(500), vectors).save(path)
    estimate = vector_files._FORMATS[suffix].size(500, 64)
    assert 0.75 * estimate < path.stat().st_size < 1.05 * estimate


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    (tmp_path / "v.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "writing a .parquet file needs" in refused(check_vectors_path, tmp_path / "v.parquet")
    assert "reinforce2vec[parquet]" in refused(Embedding.load, tmp_path / "v.parquet")


def unwritable(path, *ids):
    """The sentence by which ids are refused, in advance and at writing alike."""
    message = refused(check_vectors_fit, path, objects(*ids), 2)
    assert message == refused(Embedding(ids, np.zeros((len(ids), 2))).save, path)
    assert os.listdir(path.parent) == []
    return message


@pytest.mark.parametrize("suffix", WORD2VEC)
@pytest.mark.parametrize("odd", ["new york", "a\n", "\ta", "a\xa0b", "a\u3000", " "])
def test_ids_with_whitespace_are_refused_in_word2vec_files(tmp_path, suffix, odd):
    message = unwritable(tmp_path / f"v{suffix}", "plain", odd)
    assert f"{odd!r} holds whitespace" in message
    assert ".npz, .parquet or .csv" in message


@pytest.mark.parametrize("suffix", WORD2VEC)
def test_empty_ids_are_refused_in_word2vec_files(tmp_path, suffix):
    assert "'' is empty" in unwritable(tmp_path / f"v{suffix}", "plain", "")


@pytest.mark.parametrize("odd", ["", "  ", "a\tb", "a\nb", "a\r"])
def test_ids_that_are_no_line_are_refused_in_tsv(tmp_path, odd):
    message = unwritable(tmp_path / "v.tsv", "plain", odd)
    assert repr(odd) in message
    assert ".npz, .parquet or .csv" in message


@pytest.mark.parametrize("odd", [(1, 2), 1.5, 2**70, 5, None, b"x"])
def test_ids_of_other_kinds_are_refused_in_npz(tmp_path, odd):
    message = unwritable(tmp_path / "v.npz", "plain", odd)
    assert repr(odd) in message
    assert "name every node by a string" in message


@pytest.mark.parametrize("suffix", [suffix for suffix in SUFFIXES if suffix != ".npz"])
def test_ids_that_read_alike_are_refused_in_text(tmp_path, suffix):
    assert "two node ids read '1'" in unwritable(tmp_path / f"v{suffix}", 1, "1")


@pytest.mark.parametrize("suffix", [suffix for suffix in SUFFIXES if suffix != ".npz"])
def test_what_utf8_cannot_express_is_refused_in_text(tmp_path, suffix):
    assert r"'\ud800', which UTF-8 cannot" in unwritable(tmp_path / f"v{suffix}", "a", "x\ud800")


def test_parquet_refuses_names_that_were_not_utf8(tmp_path):
    assert r"'caf\udce9'" in unwritable(tmp_path / "v.parquet", "a", "caf\udce9")


# -- files that cannot be read -----------------------------------------------------------------


def unreadable(path, content):
    """The one sentence that is said of a file; it names the file."""
    path.write_bytes(content)
    message = refused(Embedding.load, path)
    assert message.startswith(str(path))
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_and_empty_files_and_folders_are_named(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    assert refused(Embedding.load, path) == f"{path}: there is no such file"
    assert unreadable(path, b"") == f"{path}: expected vectors, but the file is empty"
    path.unlink()
    path.mkdir()
    assert refused(Embedding.load, path) == f"{path}: this is a folder, expected a file"


@pytest.mark.parametrize("suffix", [".npz", ".txt.gz", ".bin", ".parquet"])
@given(cut=st.integers(1, 200))
@settings(max_examples=60)
def test_a_file_that_was_cut_short_is_refused(folder, suffix, cut):
    whole = folder / f"whole{suffix}"
    Embedding(["ann", "bob", "cid"], VECTORS).save(whole)
    content = whole.read_bytes().rstrip(b"\n")
    unreadable(folder / f"cut{suffix}", content[: max(0, len(content) - cut)] or b"?")


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(st.binary(min_size=1))
@settings(max_examples=60)
@example(b",\0\n\0,0\n")
def test_bytes_of_any_kind_are_refused_or_hold_the_ids(folder, suffix, content):
    path = folder / f"any{suffix}"
    path.write_bytes(content)
    ids, message = [], str(path)
    try:
        ids = Embedding.load(path).ids  # a few bytes are a whole table by chance
    except InputError as error:
        message = str(error)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert all(str(one).encode() in content for one in ids)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
@settings(max_examples=100)
def test_a_wrong_byte_gives_a_sentence_or_an_embedding(folder, suffix, place, value):
    path = folder / f"wrong{suffix}"
    Embedding(["ann", "bob", "cid"], VECTORS).save(path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] = value
    path.write_bytes(content)
    with suppress(InputError):
        assert isinstance(Embedding.load(path), Embedding)


BAD_TEXT = {
    "ann 1 2\n": ", line 1: expected the number of vectors and their dimensions, found",
    "2\nann 1\n": ", line 1: expected the number of vectors",
    "1 0\nann\n": ", line 1: expected the number of vectors",
    "2 -3\nann 1\n": ", line 1: expected the number of vectors",
    "9999999999999 99999999999\nann 1\n": ", line 1: it announces 9,999,999,999,999 vectors",
    "1 2\nann 1\n": ", line 2: expected 2 numbers, found 1",
    "1 1\nann 1 2\n": ", line 2: expected 1 number, found 2",
    "1 1\nann \x1c\n": ', line 2: expected a number, found "\\x1c"',
    "2 2\nann 1 2\nbob 3 x7\n": ', line 3: expected a number, found "x7"',
    "2 2\nann 1 2\nbob 3 1_0\n": ', line 3: expected a number, found "1_0"',
    "3 2\nann 1 2\n\nbob 3 4\n": ", line 3: expected 2 numbers, found 0",
    "2 1\nann\n\n": ", line 2: expected 1 number, found 0",
    "2 2\nann 1 2\n 3 4\n": ", line 3: expected a node id",
    "3 2\nann 1 2\nbob 3 4\n": ": line 1 announces 3 vectors, but the file has 2",
    "1 2\nann 1 2\nbob 3 4\n": ": line 1 announces 1 vectors, but the file has more",
    "2 2\nann 1 2\nann 3 4\n": ": node 'ann' occurs twice among the ids",
    "2 2\nnew york 1 2\nx 3 4\n": ", line 2: expected 2 numbers, found 3",
}


@pytest.mark.parametrize("text", BAD_TEXT)
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_errors_in_text_name_the_line(tmp_path, monkeypatch, text, block):
    monkeypatch.setattr(vector_files, "BLOCK_BYTES", block)
    path = tmp_path / "v.txt"
    assert unreadable(path, text.encode()).startswith(str(path) + BAD_TEXT[text])
    packed = tmp_path / "v.txt.gz"
    message = unreadable(packed, gzip.compress(text.encode()))
    assert message.startswith(str(packed) + BAD_TEXT[text])


def test_a_damaged_gzip_file_is_refused(tmp_path):
    assert "not a valid gzip file" in unreadable(tmp_path / "v.txt.gz", b"1 1\nann 1\n")
    packed = gzip.compress(b"1 1\nann 1\n")
    assert "is it complete?" in unreadable(tmp_path / "v.txt.gz", packed[:-3])


def test_errors_in_binary_files_count_the_vectors(tmp_path):
    path = tmp_path / "v.bin"
    assert "line 1: expected the number" in unreadable(path, b"\x93NUMPY")
    assert "ends within vector 2" in unreadable(path, b"2 1\na 1234\nb 12")
    assert "ends within vector 2" in unreadable(path, b"2 1\na 1234\nb")
    assert "but the file has more" in unreadable(path, b"1 1\na 1234\nb 1234\n")
    assert "than a file of this size can hold" in unreadable(path, b"9 300\na 1234\n")
    assert "'a' occurs twice" in unreadable(path, b"2 1\na 1234\na 1234\n")


@pytest.mark.parametrize("suffix", TEXT[:2])
def test_a_byte_order_mark_before_vectors_is_left_out(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    path.write_text("2 1\nann 1\nbob 2\n", encoding="utf-8-sig")
    assert Embedding.load(path).ids.tolist() == ["ann", "bob"]


class CutOff(io.FileIO):
    """A file that another program truncates while it is read."""

    def readinto(self, buffer):
        count = super().readinto(buffer)
        if self.tell() > 8000:  # after the first block
            os.truncate(self.name, 20_000)
        return count


def test_a_binary_file_that_is_cut_off_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "v.bin"
    Embedding(range(100), np.ones((100, 100))).save(path)  # 400 bytes for each vector

    @contextmanager
    def opened(path, compressed):
        with io.BufferedReader(CutOff(path), 8000) as stream:
            yield stream

    monkeypatch.setattr(vector_files, "opened", opened)
    assert refused(Embedding.load, path) == (
        f"{path}: line 1 announces 100 vectors, but the file ends within vector 50"
    )


def test_ids_in_binary_files_may_be_longer_than_what_is_read_at_a_time(tmp_path):
    ids = ["a" * 100_000, "b", "c" * 8_192]
    assert round_trip(tmp_path / "v.bin", ids, VECTORS).tolist() == ids


SOUND = {"format": 1, "ids": np.arange(2), "vectors": np.ones((2, 3), np.float32)}
BAD_ARRAYS = {
    "the arrays format, vectors": {"format": None},
    "format 2, expected 1": {"format": 2},
    "not a matrix of float32": {"vectors": np.ones((2, 3))},
    "matrix of float32": {"vectors": np.ones(2, np.float32)},
    "vectors": {"vectors": None},
    "ids": {"ids": None},
    "not one for each vector": {"ids": np.arange(3)},
    "one for each vector": {"ids": np.array(["ann", "bob"])},
    "do not fit together": {"ids": np.zeros(9, np.uint8), "begins": np.array([0, 4, 5])},
    "fit together": {"ids": np.zeros(9, np.int64), "begins": np.array([0, 4, 9])},
    "utf-8": {"ids": np.full(9, 255, np.uint8), "begins": np.array([0, 4, 9])},
    "expected an array of numbers": {"ids": np.array(["ann", "bob"], object)},
    "0 occurs twice": {"ids": np.zeros(2, np.int64)},
    "shape (2, 0)": {"vectors": np.ones((2, 0), np.float32)},
}


@pytest.mark.parametrize("words", BAD_ARRAYS)
def test_foreign_arrays_are_refused(tmp_path, words):
    path = tmp_path / "v.npz"
    arrays = {**SOUND, **BAD_ARRAYS[words]}
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    assert words in refused(Embedding.load, path)


def test_a_matrix_or_a_pickle_in_place_of_an_archive_is_refused(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    assert "not a zip file" in unreadable(tmp_path / "v.npz", (tmp_path / "v.npy").read_bytes())
    assert "not a zip file" in unreadable(tmp_path / "v.npz", b"\x80\x04N.")


def test_vectors_that_do_not_fit_in_memory_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        for name, array in SOUND.items():
            with archive.open(f"{name}.npy", "w") as member:
                if name == "vectors":
                    header = {"descr": "<f4", "fortran_order": False, "shape": (2**40, 2**18)}
                    np.lib.format.write_array_header_1_0(member, header)
                else:
                    np.lib.format.write_array(member, np.asarray(array))
    assert "an array of shape (1099511627776, 262144)" in refused(
        Embedding.load, tmp_path / "v.npz"
    )


def test_foreign_tables_are_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pairs = pyarrow.list_(pyarrow.float32(), 2)
    path = tmp_path / "v.parquet"
    for columns, complaint in [
        ({"node": ["a"]}, 'its column "vector" is missing'),
        ({"vector": pyarrow.array([[1, 2]], pairs)}, 'its column "node" is missing'),
        ({"node": ["a"], "vector": [1.5]}, 'its column "vector" is double'),
        ({"node": ["a"], "vector": [["x"]]}, 'its column "vector" is list<'),
        ({"node": ["a", "b"], "vector": [[1.5], [1.5, 2]]}, "not all have as many numbers"),
        (
            {"node": ["a"], "vector": pyarrow.array([[]], pyarrow.list_(pyarrow.float32()))},
            "no numbers",
        ),
        ({"node": [1.5], "vector": pyarrow.array([[1, 2]], pairs)}, 'its column "node" is double'),
        ({"node": ["a"], "vector": pyarrow.array([None], pairs)}, ": "),  # versions differ
        ({"node": ["a"], "vector": pyarrow.array([[1, None]], pairs)}, "it has missing values"),
        (
            {"node": pyarrow.array([None], "string"), "vector": pyarrow.array([[1, 2]], pairs)},
            "it has missing values",
        ),
    ]:
        parquet.write_table(pyarrow.table(columns), path)
        message = refused(Embedding.load, path)
        assert message.startswith(f"{path}: not a Parquet file of nodes and vectors")
        assert complaint in message


@pytest.mark.parametrize(("suffix", "binary"), [(".txt", False), (".vec", False), (".bin", True)])
def test_gensim_loads_word2vec_files(tmp_path, suffix, binary):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    path = tmp_path / f"vectors{suffix}"
    Embedding(["ann", "bob", "cid", "ö", "12"], vectors).save(path)
    loaded = models.KeyedVectors.load_word2vec_format(path, binary=binary)
    assert loaded.index_to_key == ["ann", "bob", "cid", "ö", "12"]
    assert np.array_equal(loaded.vectors, vectors)
