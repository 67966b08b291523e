"""Vectors in files: every format keeps them; what cannot be written or read is one sentence."""

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
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.limits import largest_file
from helpers.refusals import refusal
from reinforce2vec import Graph, InputError
from reinforce2vec.embedding import Embedding
from reinforce2vec.files._decimals import write_rows
from reinforce2vec.files.id_texts import EncodedIds
from reinforce2vec.files.vector_files import check_vectors_fit, check_vectors_path

WORD2VEC = (".txt", ".vec", ".txt.gz", ".bin")
TEXT = (".txt", ".vec", ".txt.gz", ".csv", ".csv.gz")
FORMATS = (".npz", ".parquet", ".bin", *TEXT)
VECTORS = np.array([[1, 0.1], [-0.0, 1e-30], [3.5, -2e20]], np.float32)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("vectors")


def bits(vectors):
    return np.ascontiguousarray(vectors, np.float32).view(np.uint32)


def round_trip(path, ids, vectors):
    """The ids that come back, after a check of the vectors."""
    Embedding(ids, vectors).save(path)
    after = Embedding.load(path)
    if path.name.lower().endswith(TEXT):  # which has one spelling of all NaNs
        np.testing.assert_array_equal(after.vectors, vectors)
        known = vectors == vectors
        np.testing.assert_array_equal(np.signbit(after.vectors)[known], np.signbit(vectors)[known])
    else:
        np.testing.assert_array_equal(bits(after.vectors), bits(vectors))
    return after.ids


# -- there and back ----------------------------------------------------------------------------

any_vectors = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.uint32, shape).map(lambda numbers: numbers.view(np.float32))
)
words = st.text(st.characters(exclude_categories=["Cs"]))
STRINGS = {
    **dict.fromkeys(WORD2VEC, words.filter(lambda word: word.split() == [word])),
    **dict.fromkeys(
        (".csv", ".csv.gz"), words.filter(lambda word: not set(word) & {*"\r\0\ufeff"})
    ),
    ".parquet": words,
    ".npz": st.text(st.characters()),
}


@pytest.mark.parametrize("suffix", FORMATS)
@given(any_vectors, st.data())
@settings(max_examples=40)
def test_ids_and_all_floats_come_back(folder, suffix, vectors, data):
    for kind in (st.integers(-(2**63), 2**63 - 1), STRINGS[suffix]):
        ids = data.draw(st.lists(kind, min_size=len(vectors), max_size=len(vectors), unique=True))
        if isinstance(ids[0], str):
            ids[0] = "word" + "".join(ids)  # no integer
        after = round_trip(folder / f"vectors{suffix}", ids, vectors)
        assert after.tolist() == ids
        assert after.dtype == (object if isinstance(ids[0], str) else np.int64)


@pytest.mark.parametrize("suffix", FORMATS)
def test_strings_of_digits_are_integers_in_text_if_all_ids_are(tmp_path, suffix):
    path = tmp_path / f"VECTORS{suffix.upper()}"
    typed = suffix in (".npz", ".parquet")
    expected = ["12", "-3", "0"] if typed else [12, -3, 0]
    assert round_trip(path, ["12", "-3", "0"], VECTORS).tolist() == expected
    for odd in ("007", "-0", "+1", "1.0", "٣", str(2**63), "9" * 5000):
        assert round_trip(path, ["12", "-3", odd], VECTORS).tolist() == ["12", "-3", odd]
    if suffix != ".npz":
        assert round_trip(path, [3.5, (1,), "x"], VECTORS).tolist() == ["3.5", "(1,)", "x"]


@pytest.mark.parametrize("suffix", [*WORD2VEC, ".npz"])
def test_names_that_were_not_utf8_come_back(tmp_path, suffix):
    name = b"caf\xe9".decode(errors="surrogateescape")
    for ids in ([name, "b", "c"], [name, "1", "2"]):
        assert round_trip(tmp_path / f"v{suffix}", ids, VECTORS).tolist() == ids


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".bin", ".parquet", ".npz"])
def test_a_view_of_several_blocks_is_written_like_a_copy(tmp_path, suffix):
    wide = np.random.default_rng(0).normal(size=(2 * 9000, 130)).astype(np.float32)
    view, path = wide[::2, 1:-1], tmp_path / f"v{suffix}"
    contents = []
    for vectors in (view, view.copy()):
        ids = [f"{'long' * (i % 7)}{i}" for i in range(9000)]
        assert round_trip(path, ids, vectors).tolist() == ids
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_nodes_come_back(tmp_path, suffix):
    Embedding([], np.empty((0, 3))).save(tmp_path / f"v{suffix}")
    assert Embedding.load(tmp_path / f"v{suffix}").vectors.shape == (0, 3)


INFO = {"method": "HOPE", "settings": {"beta": 0.5, "window": [1, 10]}, "directed": True}


@pytest.mark.parametrize("suffix", FORMATS)
def test_npz_and_parquet_keep_what_is_known_of_vectors(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    Embedding([1, 2, 3], VECTORS, scales=(1, 1), info=INFO).save(path)
    loaded, kept = Embedding.load(path), suffix in (".npz", ".parquet")
    assert loaded.info == (INFO if kept else {})
    assert loaded.scales == ((1, 1) if kept else (2,))


def test_npz_files_are_dated_alike_and_hold_no_pickles(tmp_path):
    path = tmp_path / "vectors.npz"
    Embedding(["x" * 10**6, *map(str, range(999))], np.ones((1000, 2)), info=INFO).save(path)
    assert path.stat().st_size < 1.1 * 10**6  # one long id takes the room of one
    with zipfile.ZipFile(path) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    with np.load(path, allow_pickle=False) as archive:
        kinds = {name: archive[name].dtype.str[1:] for name in archive}
        assert json.loads(archive["info"].tobytes()) == INFO
    expected = {"format": "i8", "vectors": "f4", "ids": "u1", "begins": "i8", "info": "u1"}
    assert kinds == expected


# -- numbers in text ---------------------------------------------------------------------------


def spelled(numbers):
    stream = io.BytesIO()
    write_rows(stream, EncodedIds.of([b""]), np.array([numbers], np.float32), ord(" "))
    return stream.getvalue().decode().split()


def test_numbers_are_written_with_as_few_figures_as_they_need():
    shortest = ["0", "-0", "1", "-1", "0.1", "0.3", "0.33333334", "1000000", "16777216"]
    shortest += ["0.0001", "1e-5", "1.5e-5", "123456790", "1e9", "999999.94", "12345.678"]
    shortest += ["2.5e-7", "1e-14", "1e22", "-3.1415927", "nan", "inf", "-inf"]
    shortest += ["1.40129846e-45", "3.40282347e38", "1.17549435e-38"]  # always with nine
    assert spelled([float(text) for text in shortest]) == shortest


@given(st.integers(-12, 12), arrays(np.float64, 50, elements=st.floats(1, 10)))
def test_ordinary_numbers_are_as_short_as_numpy_makes_them(power, numbers):
    def figures(text):
        return len(text.split("e")[0].replace(".", "").strip("0"))

    numbers = (numbers * 10.0**power).astype(np.float32)
    for text, number in zip(spelled(numbers), numbers, strict=True):
        assert np.float32(text) == number
        assert figures(text) == figures(np.format_float_scientific(number, trim="-"))


# -- the layouts of others ---------------------------------------------------------------------


def parse_word2vec_text(data):
    """Words and vectors, by the definition of the format."""
    head, *lines = data.decode().removesuffix("\n").split("\n")
    fields = [line.split(" ") for line in lines]
    assert head == f"{len(lines)} {len(fields[0]) - 1}"
    return [word for word, *_ in fields], [list(map(float, numbers)) for _, *numbers in fields]


def parse_word2vec_binary(data):
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
    return names, vectors


@pytest.mark.parametrize("suffix", WORD2VEC)
def test_word2vec_files_have_the_layout_that_others_expect(tmp_path, suffix):
    ids = ["łódź", "a,b;#", "x"]
    Embedding(ids, VECTORS).save(tmp_path / f"v{suffix}")
    data = (tmp_path / f"v{suffix}").read_bytes()
    parse = parse_word2vec_binary if suffix == ".bin" else parse_word2vec_text
    names, vectors = parse(gzip.decompress(data) if suffix == ".txt.gz" else data)
    assert names == ids
    np.testing.assert_array_equal(bits(np.array(vectors, np.float32)), bits(VECTORS))


@pytest.mark.parametrize(("suffix", "binary"), [(".vec", False), (".bin", True)])
def test_gensim_loads_word2vec_files(tmp_path, suffix, binary):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    Embedding(["ann", "ö", "12"], VECTORS).save(tmp_path / f"v{suffix}")
    loaded = models.KeyedVectors.load_word2vec_format(tmp_path / f"v{suffix}", binary=binary)
    assert loaded.index_to_key == ["ann", "ö", "12"]
    assert np.array_equal(loaded.vectors, VECTORS)


@pytest.mark.parametrize(
    ("name", "content", "ids", "vectors"),
    [
        ("v.txt", b"2 2\n</s> 0.1 -2.00 \nb\xc3\xa9 NaN -inf \n", ["</s>", "bé"], [0.1, -2, None]),
        ("v.txt", b"2 1\na 1e39\nb -1e400\n", ["a", "b"], [np.inf, -np.inf]),
        ("v.vec", b"1 2\r\nann 1 2\r\n", ["ann"], [1, 2]),
        ("v.vec", b"1 2\nann 1 2", ["ann"], [1, 2]),
        ("v.vec", b"\xef\xbb\xbf1 2\nann 1 2\n\n \n", ["ann"], [1, 2]),
        ("v.bin", b"2 1\na \x00\x00\x80\x3fb \x00\x00\x00\x40", ["a", "b"], [1, 2]),  # of gensim
    ],
)
def test_word2vec_files_of_others_are_read(tmp_path, name, content, ids, vectors):
    (tmp_path / name).write_bytes(content)
    embedding = Embedding.load(tmp_path / name)
    assert embedding.ids.tolist() == ids
    for number, expected in zip(embedding.vectors.ravel().tolist(), vectors, strict=False):
        assert np.isnan(number) if expected is None else number == np.float32(expected)


def test_ids_in_binary_files_may_be_longer_than_what_is_read_at_a_time(tmp_path):
    ids = ["a" * 100_000, "b", "c" * 8_192]
    assert round_trip(tmp_path / "v.bin", ids, VECTORS).tolist() == ids


def test_the_projector_gets_vectors_and_labels_and_nothing_reads_them(tmp_path):
    Embedding(["new york", "łódź", "x"], VECTORS).save(tmp_path / "cities.v1.tsv")
    assert sorted(os.listdir(tmp_path)) == ["cities.v1.metadata.tsv", "cities.v1.tsv"]
    assert (tmp_path / "cities.v1.metadata.tsv").read_bytes().decode() == "new york\nłódź\nx\n"
    assert (tmp_path / "cities.v1.tsv").read_text() == "1\t0.1\n-0\t1e-30\n3.5\t-2e20\n"
    assert ".parquet" in refusal(Embedding.load, tmp_path / "cities.v1.tsv")


# -- CSV -----------------------------------------------------------------------------------------


def test_csv_is_what_other_programs_read_and_edge_lists_hold(tmp_path):
    odd = ["a,b", 'say "hi"', "", "two\nlines", "#1", " x ", "a;b", "%", "a|b", "in side"]
    embedding = Embedding(odd, np.arange(20, dtype=np.float32).reshape(10, 2) / 7)
    embedding.save(tmp_path / "v.csv")
    with (tmp_path / "v.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["node", "d0", "d1"]
    assert [row[0] for row in rows] == odd
    assert np.array_equal(np.array([row[1:] for row in rows], np.float32), embedding.vectors)
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(tmp_path / "v.csv", index_col="node", keep_default_na=False)
    pandas.testing.assert_frame_equal(frame.astype(np.float32), embedding.to_frame())
    plain = [node for node in odd if node]
    Graph.from_edges([(a, a) for a in plain], self_loops=True).save(tmp_path / "e.csv")
    fields = re.findall(r'^("(?:[^"]|"")*"|[^,\n]*),', (tmp_path / "e.csv").read_text(), re.M)
    assert all(f"{field}," in (tmp_path / "v.csv").read_text() for field in fields[1:])


@pytest.mark.parametrize(
    "text",
    [
        "node,d0,d1,d2\nann,1,0.5,0\nbob,2,3,4\n",
        "ann,1,0.5,0\nbob,2,3,4",
        "\ufeffid,x,y,z\r\n\r\nann,1,0.5,0\r\nbob,2,3,4\r\n",
        ",0,1,2\nann,1,0.5,0\nbob,2,3,4\n",  # as pandas writes a matrix
        '"node","0","1","2"\n"ann","1","0.5","0"\n"bob","2","3","4"\n',
        "ann, 1, 0.5, 0\nbob, 2, 3, 4\n",
        ",node,d0,d1,d2\n7,ann,1,0.5,0\n0,bob,2,3,4\n",  # and its index before ids
        'Unnamed: 0,id,d0,d1,d2\n0,"ann",1,0.5,0\n2,bob,2,3,4\n',
    ],
)
def test_csv_of_others_is_read(tmp_path, text):
    (tmp_path / "v.csv").write_text(text, encoding="utf-8", newline="")
    embedding = Embedding.load(tmp_path / "v.csv")
    assert embedding.ids.tolist() == ["ann", "bob"]
    assert embedding.vectors.tolist() == [[1, 0.5, 0], [2, 3, 4]]


def test_csv_without_a_header_may_begin_with_any_node(tmp_path):
    (tmp_path / "v.csv").write_text("ann,0,1,2\nbob,2,3,4\n")
    assert Embedding.load(tmp_path / "v.csv").ids.tolist() == ["ann", "bob"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("node,d0\nann,1\nbob\n", "v.csv, line 3: expected 1 number, found 0"),
        ("node,d0\nann,1,2\n", "v.csv, line 2: expected 1 number, found 2"),
        ('node,d0\n"two\nlines",1\nbob,x\n', 'v.csv, line 4: expected a number, found "x"'),
        ('node,d0\n"ann,1\nbob,2\n', "v.csv, line 2: a double quote"),
        ("node,d0\nann,1\n,2\n", "v.csv, line 3: expected a node id"),
        ("index,node,d0\n1,5,0.5\n0.5,6,0.5\n", "v.csv, line 3: expected a node id"),
        ("ann 1 2\n", "v.csv, line 1: expected a node id and numbers"),
        ("node,x\n", "there is only one line"),
        ("node,x\n1,2\n1,3\n", "node 1 occurs twice"),
        ("d0,d1,d2\n1,2,3\n4,5,6\n", "no column of node ids"),
        ("0,1,2,3\n.5,1,2,3\n.25,1,2,3\n", "no column of node ids"),
        ("node,d1,d0\n1,2,3\n", '"d1" is no dimension'),
        ("node,d0,d1,d2,label\n1,2,3,4,5\n", '"label" is no dimension'),
        ("node,d0,year\n1,2,2020\n", '"year" is no dimension'),
        ("source,target\n1,2\n3,4\n", "may be a list of edges"),
        ("a,To,Weight\n1,2,0.5\n", "may be a list of edges"),
        ("node,Edge_Weight\n1,2\n", "may be a list of edges"),
        ("1,2,0.5\n2,3,1\n", "may be a list of edges"),
        ('node,d0\r\n"two\nlines",1\r\n', "carriage returns"),
    ],
)
def test_csv_that_holds_no_vectors_is_refused(tmp_path, text, complaint):
    (tmp_path / "v.csv").write_text(text, newline="")
    assert complaint in refusal(Embedding.load, tmp_path / "v.csv")


def test_a_dash_is_csv_on_standard_output(tmp_path, capfdbinary):
    embedding = Embedding(["a,b", "c", "łódź"], VECTORS)
    embedding.save("-")
    embedding.save(tmp_path / "v.csv")
    assert capfdbinary.readouterr().out == (tmp_path / "v.csv").read_bytes()


# -- refusals before the work, and whole or not at all -----------------------------------------

IDS = np.array([1, 2, 3])


def test_a_sound_output_passes_and_leaves_no_trace(tmp_path):
    for suffix in (*FORMATS, ".tsv"):
        path = tmp_path / f"{'x' * (230)}{suffix}"
        assert check_vectors_path(path) == check_vectors_path(str(path)) == path.resolve()
        check_vectors_fit(str(path), IDS, 64)
        check_vectors_fit(path, np.array(["a", "b"], object), 64)
        assert os.listdir(tmp_path) == []
        link = tmp_path / f"link{suffix}"
        link.symlink_to(tmp_path / "real")
        Embedding(IDS, VECTORS).save(link)
        assert link.is_symlink()
        for file in tmp_path.iterdir():
            file.unlink()


def test_outputs_that_cannot_be_are_refused(tmp_path, monkeypatch):
    for action in (check_vectors_path, Embedding([1], [[1]]).save, Embedding.load):
        message = refusal(action, tmp_path / "vectors.doc")
        assert all(suffix in message for suffix in ("vectors.doc", *FORMATS))
    assert "does not exist" in refusal(check_vectors_path, tmp_path / "nowhere" / "v.txt")
    (tmp_path / "v.metadata.tsv").mkdir()
    assert "v.metadata.tsv: this is a folder" in refusal(check_vectors_path, tmp_path / "v.tsv")
    assert "name too long" in refusal(check_vectors_path, tmp_path / f"{'x' * 252}.txt")
    with largest_file(0):
        assert "File too large" in refusal(check_vectors_path, tmp_path / "v.txt")
    with largest_file(10_000):
        assert "10.0 kB at most" in refusal(check_vectors_fit, tmp_path / "v.npz", IDS, 10**4)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "v.parquet").write_bytes(b"PAR1")
    for action in (check_vectors_path, Embedding.load):
        assert "reinforce2vec[parquet]" in refusal(action, tmp_path / "v.parquet")


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_full_disk_is_refused_by_a_size_that_is_about_that_of_the_file(
    tmp_path, suffix, monkeypatch
):
    path, vectors = tmp_path / f"v{suffix}", np.random.default_rng(0).normal(size=(500, 64))
    Embedding(range(500), vectors).save(path)
    usage = namedtuple("usage", "total used free")

    def with_free(free):
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 0, free))

    with_free(int(1.4 * path.stat().st_size))
    check_vectors_fit(path, np.arange(500), 64)
    with_free(int(0.9 * path.stat().st_size))
    message = refusal(check_vectors_fit, path, np.arange(500), 64)
    assert "the disk of" in message
    assert message == refusal(Embedding(range(500), vectors).save, path)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_failed_writing_leaves_what_there_was(tmp_path, suffix, old):
    path = tmp_path / f"v{suffix}"
    vectors = Embedding(range(300), np.random.default_rng(0).normal(size=(300, 64)))
    vectors.save(path)  # what has to be compiled is kept in files, too: first without the limit
    path.unlink()
    if old:
        Embedding(["old", "older"], VECTORS[:2]).save(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with largest_file(8000), pytest.raises(OSError, match=r"File too large|Error writing"):
        vectors.save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("suffixes", "ids"),
    [
        *((WORD2VEC, odd) for odd in ("new york", "a\n", "\ta", "a\xa0b", "a\u3000", " ", "")),
        *(((".tsv",), odd) for odd in ("", "  ", "a\tb", "a\nb", "a\r", "\0")),
        *(((".csv",), odd) for odd in ("a\rb", "a\0", "x\n\ufeff", "caf\udce9")),
        *(((".npz",), odd) for odd in ((1, 2), 1.5, 2**70, 5, None, b"x")),
        ((".parquet",), "caf\udce9"),
        (FORMATS[1:], "x\ud800"),
    ],
)
def test_ids_that_a_format_does_not_keep_are_refused_in_advance(tmp_path, suffixes, ids):
    listed = np.empty(2, object)
    listed[:] = ["plain", ids]
    for suffix in suffixes:
        path = tmp_path / f"v{suffix}"
        message = refusal(check_vectors_fit, path, listed, 2)
        assert message == refusal(Embedding(listed, np.zeros((2, 2))).save, path)
        assert repr(ids) in message
        alike = Embedding([1, "1"], np.zeros((2, 2)))
        assert "'1'" in refusal(alike.save, path) or suffix == ".npz"
        assert os.listdir(tmp_path) == []


# -- files that cannot be read -----------------------------------------------------------------


def unreadable(path, content):
    """The sentence with which a file is refused; it names the file."""
    path.write_bytes(content)
    message = refusal(Embedding.load, path)
    assert message.startswith(str(path))
    return message


@pytest.mark.parametrize("suffix", FORMATS)
def test_missing_and_empty_files_and_folders_are_named(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    assert refusal(Embedding.load, path) == f"{path}: there is no such file"
    assert "the file is empty" in unreadable(path, b"")
    path.unlink()
    path.mkdir()
    assert "this is a folder" in refusal(Embedding.load, path)


@pytest.mark.parametrize("suffix", [".npz", ".txt.gz", ".bin", ".parquet"])
def test_a_file_that_was_cut_short_is_refused(tmp_path, suffix):
    path = tmp_path / f"v{suffix}"
    Embedding(["ann", "bob", "cid"], VECTORS).save(path)
    content = path.read_bytes().rstrip(b"\n")
    for cut in range(1, len(content), 1 + len(content) // 60):
        unreadable(path, content[:-cut])


@pytest.mark.parametrize("suffix", FORMATS)
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
    assert all(str(node).encode() in content for node in ids)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FORMATS)
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
    "2 2\nann 1 2\nann 3 4\n": ": node 'ann' occurs twice",
}


@pytest.mark.parametrize("text", BAD_TEXT)
def test_errors_in_text_name_the_line(tmp_path, text):
    for name, content in (("v.txt", text.encode()), ("v.txt.gz", gzip.compress(text.encode()))):
        assert BAD_TEXT[text] in unreadable(tmp_path / name, content)
        assert "gzip" in unreadable(tmp_path / "w.txt.gz", text.encode())


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\x93NUMPY", "line 1: expected the number"),
        (b"2 1\na 1234\nb 12", "ends within vector 2"),
        (b"2 1\na 1234\nb", "ends within vector 2"),
        (b"1 1\na 1234\nb 1234\n", "but the file has more"),
        (b"9 300\na 1234\n", "than a file of this size can hold"),
        (b"2 1\na 1234\na 1234\n", "'a' occurs twice"),
    ],
)
def test_errors_in_binary_files_count_the_vectors(tmp_path, content, complaint):
    assert complaint in unreadable(tmp_path / "v.bin", content)


SOUND = {"format": 1, "ids": np.arange(2), "vectors": np.ones((2, 3), np.float32)}
BAD_ARRAYS = {
    "the arrays format, vectors": {"format": None},
    "format 2, expected 1": {"format": 2},
    "not a matrix of float32": {"vectors": np.ones((2, 3))},
    "matrix of float32": {"vectors": np.ones(2, np.float32)},
    "ids": {"ids": None},
    "not one for each vector": {"ids": np.arange(3)},
    "one for each vector": {"ids": np.array(["ann", "bob"])},
    "do not fit together": {"ids": np.zeros(9, np.uint8), "begins": np.array([0, 4, 5])},
    "fit together": {"ids": np.zeros(9, np.int64), "begins": np.array([0, 4, 9])},
    "utf-8": {"ids": np.full(9, 255, np.uint8), "begins": np.array([0, 4, 9])},
    "numbers or texts": {"ids": np.array(["ann", "bob"], object)},
    "0 occurs twice": {"ids": np.zeros(2, np.int64)},
    "shape (2, 0)": {"vectors": np.ones((2, 0), np.float32)},
    "no JSON object": {"info": np.frombuffer(b"[1]", np.uint8)},
}


@pytest.mark.parametrize("complaint", BAD_ARRAYS)
def test_foreign_arrays_are_refused(tmp_path, complaint):
    arrays = {**SOUND, **BAD_ARRAYS[complaint]}
    stream = io.BytesIO()
    np.savez(stream, **{name: array for name, array in arrays.items() if array is not None})
    assert complaint in unreadable(tmp_path / "v.npz", stream.getvalue())


# -- Parquet -----------------------------------------------------------------------------------


def test_parquet_has_two_columns_and_takes_lists_of_any_kind(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "v.parquet"
    Embedding([7, 8, 9], VECTORS).save(path)
    written = parquet.read_table(path)
    types = [(field.name, str(field.type).split("<")[0]) for field in written.schema]
    assert types == [("node", "int64"), ("vector", "fixed_size_list")]
    assert written["vector"].to_pylist() == VECTORS.tolist()
    for number in (pyarrow.float32(), pyarrow.float64()):
        for lists in (pyarrow.list_, pyarrow.large_list):
            vectors = pyarrow.array(VECTORS.tolist(), lists(number))
            parquet.write_table(pyarrow.table({"node": [7, 8, 9], "vector": vectors}), path)
            assert np.array_equal(Embedding.load(path).vectors, VECTORS)


def test_foreign_tables_are_refused(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pairs = pyarrow.list_(pyarrow.float32(), 2)
    pair, empty = pyarrow.array([[1, 2]], pairs), pyarrow.list_(pyarrow.float32())
    path = tmp_path / "v.parquet"
    for columns, complaint in [
        ({"node": ["a"]}, '"vector" is missing'),
        ({"vector": pair}, '"node" is missing'),
        ({"node": ["a"], "vector": [1.5]}, '"vector" is double'),
        ({"node": ["a"], "vector": [["x"]]}, '"vector" is list<'),
        ({"node": ["a", "b"], "vector": [[1.5], [1.5, 2]]}, "not all have as many numbers"),
        ({"node": ["a"], "vector": pyarrow.array([[]], empty)}, "no numbers"),
        ({"node": [1.5], "vector": pair}, '"node" is double'),
        ({"node": ["a"], "vector": pyarrow.array([None], pairs)}, ": "),  # versions differ
        ({"node": ["a"], "vector": pyarrow.array([[1, None]], pairs)}, "missing values"),
        ({"node": pyarrow.array([None], "string"), "vector": pair}, "missing values"),
    ]:
        parquet.write_table(pyarrow.table(columns), path)
        message = refusal(Embedding.load, path)
        assert message.startswith(f"{path}: not a Parquet file of nodes and vectors")
        assert complaint in message
