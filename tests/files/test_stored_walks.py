"""Stored walks are taken as they are, or a sentence says what is wrong with them and where."""

from __future__ import annotations

import gzip
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.refusals import refusal
from reinforce2vec import (
    Graph,
    InputError,
    Reinforce2Vec,
    WalkSampler,
    karate_club,
    write_walks,
)
from reinforce2vec.files import (
    StoredWalks,
    _walk_parquet,
    _walk_text,
    read_walks,
    stored_walks,
    walk_readers,
)
from reinforce2vec.files.walk_readers import walks_from

SUFFIXES = (".txt", ".txt.gz", ".npy", ".parquet")


@pytest.fixture
def save(tmp_path):
    """Save a matrix, and ids beside it unless they are None; returns its path."""

    def _save(matrix, ids="a\nb\nc\n"):
        np.save(tmp_path / "walks.npy", matrix)
        if ids is not None:
            (tmp_path / "walks.ids.txt").write_text(ids, encoding="utf-8")
        return tmp_path / "walks.npy"

    return _save


@pytest.fixture
def save_table(tmp_path):
    """Save columns as a Parquet file and return its path."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def _save(**columns):
        parquet.write_table(pyarrow.table(columns), tmp_path / "walks.parquet")
        return tmp_path / "walks.parquet"

    return _save


def lists(walks):
    """Walks as lists of ids, by the rule that says where a walk ends."""
    assert (walks.nodes.dtype, walks.begins.dtype) == (np.int32, np.int64)
    assert len(walks.nodes.shape) == walks.begins.ndim == 1
    assert isinstance(walks.nodes[:], np.ndarray)
    assert (walks.begins[0], walks.begins[-1]) == (0, len(walks.nodes))
    ids = walks.ids.tolist()
    assert len(set(ids)) == len(ids)
    found = []
    for begin, end in zip(walks.begins[:-1], walks.begins[1:], strict=True):
        rows = [*walks.nodes[begin:end].tolist(), -1]
        found.append([ids[row] for row in rows[: rows.index(-1)]])
    return found


# -- what was written comes back ---------------------------------------------------------------

GRAPHS = {
    "integers": karate_club(),
    "large and negative integers": Graph.from_edges([(-5, 2**60), (2**60, 7)]),
    "strings": Graph.from_edges([("new york", "łódź"), ("łódź", "東京"), ("東京", "#1 ")]),
    "isolated": Graph.from_edges([(3, 9)], nodes=[1, 3, 5]),
    "dead ends": Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], nodes=range(5), directed=True),
    "one node": Graph.from_edges([], nodes=["alone"]),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", GRAPHS)
def test_what_write_walks_writes_is_read(tmp_path, name, suffix):
    graph = GRAPHS[name]
    sampler = WalkSampler(graph, length=9, per_node=7, seed=4, block_size=10)
    write_walks(tmp_path / f"walks{suffix}", sampler)
    walks = read_walks(tmp_path / f"walks{suffix}")
    ids = graph.ids.tolist()
    assert lists(walks) == [
        [ids[node] for node in walk if node >= 0] for walk in sampler.sample().tolist()
    ]
    assert walks.ids.dtype == graph.ids.dtype
    for array in (walks.nodes, walks.begins, walks.ids):
        assert not isinstance(array, np.ndarray) or not array.flags.writeable


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".parquet"])
def test_ids_are_numbered_as_they_come_and_a_matrix_keeps_its_rows(tmp_path, suffix):
    graph = Graph.from_edges([(5, 4), (4, 3)])
    sampler = WalkSampler(graph, length=4, per_node=1, starts=[3])
    write_walks(tmp_path / f"walks{suffix}", sampler)
    assert read_walks(tmp_path / f"walks{suffix}").ids[:2].tolist() == [3, 4]
    write_walks(tmp_path / "walks.npy", sampler)
    assert read_walks(tmp_path / "walks.npy").ids.tolist() == [5, 4, 3]


texts = st.text(
    st.characters(exclude_characters="\t\n\r\0\ufeff", exclude_categories=["Cs"]), min_size=1
)
integers = st.integers(-(2**63), 2**63 - 1)


def walks_of(ids):
    return st.lists(ids, min_size=1, max_size=5, unique=True).flatmap(
        lambda known: st.lists(
            st.lists(st.sampled_from(known), min_size=1, max_size=9), min_size=1, max_size=12
        )
    )


def as_in_text(walks):
    """Walks as text holds them: integers if all ids are written as integers."""
    if all(
        re.fullmatch("0|-?[1-9][0-9]*", str(node)) and -(2**63) <= int(node) < 2**63
        for walk in walks
        for node in walk
    ):
        return [[int(node) for node in walk] for walk in walks]
    return walks


@given(
    walks=walks_of(integers) | walks_of(texts) | walks_of(st.sampled_from(["1", "-0", "07", "x"])),
    newline=st.sampled_from(["\n", "\r\n", "\n\n"]),
    chunk_bytes=st.integers(1, 60),
)
def test_any_walks_in_text(walks, newline, chunk_bytes):
    text = newline.join("\t".join(map(str, walk)) for walk in walks)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_walk_text, "CHUNK_BYTES", chunk_bytes)
        path = Path(folder, "walks.txt")
        path.write_bytes(f"{newline}x\ty{newline}{text}".encode())
        assert lists(read_walks(path)) == [["x", "y"], *([str(v) for v in w] for w in walks)]
        if "\t" in text:
            path.write_bytes(text.encode())
            assert lists(read_walks(path)) == as_in_text(walks)


@given(walks=walks_of(integers) | walks_of(texts | st.just("")))
def test_any_walks_in_lists(walks):
    taken = walks_from(walks)
    assert lists(taken) == walks
    named = list(dict.fromkeys(node for walk in walks for node in walk))
    assert taken.ids.tolist() == named
    known = ["other", *named[::-1]]
    looked_up = walks_from(walks, known)
    assert lists(looked_up) == walks
    assert looked_up.ids.tolist() == known


@given(
    walks=walks_of(st.integers(0, 9)),
    dtype=st.sampled_from([np.int8, np.int32, np.int64, ">i4"]),
    order=st.sampled_from("CF"),
)
def test_any_walks_in_a_matrix(walks, dtype, order):
    matrix = np.full((len(walks), 9), -1, dtype, order)
    for row, walk in zip(matrix, walks, strict=True):
        row[: len(walk)] = walk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_walks, "CHECKED_NODES", 20)
        assert lists(walks_from(matrix)) == walks
        named = walks_from(matrix, list("abcdefghij"))
        assert lists(named) == [["abcdefghij"[node] for node in walk] for walk in walks]


# -- text --------------------------------------------------------------------------------------


def test_spaces_separate_where_there_is_no_tab(write):
    assert lists(read_walks(write("1 2  3\n\n 2 1 \r\n3"))) == [[1, 2, 3], [2, 1], [3]]


def test_one_tab_anywhere_makes_spaces_part_of_ids(write, monkeypatch):
    monkeypatch.setattr(_walk_text, "CHUNK_BYTES", 4)
    content = "new york\n" * 5 + "new york\t paris \n"
    expected = [["new york"]] * 5 + [["new york", " paris "]]
    assert lists(read_walks(write(content))) == expected
    assert lists(read_walks(write(gzip.compress(content.encode()), "walks.txt.gz"))) == expected


def test_a_word_late_in_the_file_makes_all_ids_strings(write, monkeypatch):
    monkeypatch.setattr(_walk_text, "CHUNK_BYTES", 50)
    content = "".join(f"{i} {i * i}\n" for i in range(300)) + "ann 3\n"
    walks = lists(read_walks(write(content)))
    assert walks == [line.split() for line in content.splitlines()]


def test_very_long_and_very_short_walks(write):
    walks = [[0], list(range(200_000)), [7], [5, 5]]
    content = "\n".join("\t".join(map(str, walk)) for walk in walks)
    assert lists(read_walks(write(content))) == walks


def test_neither_comments_nor_quotes_are_known(write):
    assert lists(read_walks(write('#a\t"b\n%\tc"\n'))) == [["#a", '"b'], ["%", 'c"']]


def test_a_suffix_may_be_in_capitals(write):
    assert lists(read_walks(str(write("1\t2", "WALKS.TXT")))) == [[1, 2]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": there are no walks"),
        (" \n\n\r\n", ": there are no walks"),
        ("1\t2\n\n1\t\t2\n", ", line 3: expected node ids separated by single tabs, but one is"),
        ("1\t2\n2\t\n", ", line 2: expected node ids separated by single tabs, but one is empty"),
        ("1\t2\n\t2\n", ", line 2: expected node ids separated by single tabs, but one is empty"),
        ("1\t2\n3\0\n", ", line 2: expected text in UTF-8, but this line holds a NUL byte"),
        (b"1\n2\xff", ", line 2: expected text in UTF-8, but this line is not UTF-8"),
    ],
)
def test_damaged_text_is_refused_with_file_and_line(write, content, message):
    path = write(content)
    assert refusal(read_walks, path).startswith(f"{path}{message}")


def test_damaged_gzip_is_refused(write):
    whole = gzip.compress(b"1\t2\n" * 1000)
    message = refusal(read_walks, write(whole[:-20], "walks.txt.gz"))
    assert message.endswith("walks.txt.gz: the compressed file ends too early; is it complete?")
    assert "not a valid gzip file" in refusal(read_walks, write("1\t2\n", "walks.txt.gz"))


# -- files of all kinds ------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_a_folder_and_an_empty_file_are_refused(tmp_path, suffix):
    path = tmp_path / f"walks{suffix}"
    assert refusal(read_walks, path) == f"{path}: there is no such file"
    path.touch()
    assert refusal(read_walks, path).startswith(f"{path}: ")
    path.unlink()
    path.mkdir()
    assert refusal(read_walks, path) == f"{path}: this is a folder, expected a file"


def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path):
    message = refusal(read_walks, tmp_path / "walks.doc")
    assert "walks.doc" in message
    assert all(suffix in message for suffix in SUFFIXES)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_without_walks_is_refused(tmp_path, suffix):
    path = tmp_path / f"walks{suffix}"
    write_walks(path, WalkSampler(karate_club(), length=9, per_node=0))
    assert refusal(read_walks, path) == f"{path}: there are no walks"


# -- NumPy -------------------------------------------------------------------------------------


def test_a_matrix_stays_on_disk(save):
    walks = read_walks(save(np.array([[0, 1, 2], [2, -1, -1]], np.int32)))
    assert not isinstance(walks.nodes, np.ndarray)
    assert walks.nodes[1:].tolist() == [1, 2, 2, -1, -1]
    assert walks.begins.tolist() == [0, 3, 6]


@pytest.mark.parametrize("change", ["shorter", "other nodes", "another file"])
def test_a_matrix_that_changes_while_it_is_used_is_refused(save, change):
    path = save(np.zeros((500, 7), np.int32))
    walks = read_walks(path)
    content = path.read_bytes()
    if change == "shorter":
        os.truncate(path, 200)
    elif change == "other nodes":
        path.write_bytes(content[:-4] + b"\xff\xff\xff\x7f")
        os.utime(path, ns=(0, 0))  # whatever the resolution of the clock
    else:
        path.rename(path.with_name("older.npy"))
        path.write_bytes(content)
    with pytest.raises(InputError, match="this file has changed since it was opened"):
        Reinforce2Vec(dimensions=8, workers=1).fit_walks(walks)


def test_other_integers_are_converted(save):
    path = save(np.array([[0, 1, 2], [2, -1, -1]]), "7\r\n-8\r\n9")
    assert lists(read_walks(path)) == [[7, -8, 9], [9]]


def test_ids_stand_beside_the_file_that_a_link_leads_to(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "walks.npy"
    link.symlink_to(tmp_path / "elsewhere" / "real.npy")
    write_walks(link, WalkSampler(karate_club(), length=3, per_node=1))
    assert len(read_walks(link).ids) == 34


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), "an array of walks holds row numbers, not float64: use integers"),
        (np.zeros((2, 3), bool), "an array of walks holds row numbers, not bool: use integers"),
        (np.zeros(3, np.int32), "an array of walks has the shape (n, length), not (3,)"),
        (np.zeros((1, 2, 3), int), "an array of walks has the shape (n, length), not (1, 2, 3)"),
        (np.array([[0, 1], [2, 3]]), "walk 1 (counted from 0) names row 3, but walks.ids.txt has"),
        (np.array([[0], [-2]]), "walk 1 (counted from 0) holds -2: row numbers begin at 0"),
        (np.array([[0], [-1]]), "walk 1 (counted from 0) is empty"),
        (np.zeros((4, 0), int), "walk 0 (counted from 0) is empty"),
        (np.array([[0, -1, 1]]), "walk 0 (counted from 0) goes on after a -1"),
        (np.array([[None]]), "not a valid .npy file of numbers: it holds object, expected numbers"),
    ],
)
def test_matrices_that_hold_no_walks_are_refused(save, matrix, message):
    path = save(matrix)
    assert refusal(read_walks, path).startswith(f"{path}: {message}")


def test_bad_walks_are_found_in_any_block(save, monkeypatch):
    for module in (stored_walks, walk_readers):
        monkeypatch.setattr(module, "CHECKED_NODES", 30)
    matrix = np.zeros((1000, 7), np.int32)
    matrix[777, 3] = 5
    assert "walk 777 (counted from 0) names row 5, but" in refusal(read_walks, save(matrix))


def test_cut_and_foreign_matrices_are_refused(save, write):
    content = save(np.zeros((50, 7), np.int32)).read_bytes()
    for foreign in (content[:-1], content[:40], b"\x80\x04N.", b"PK\x03\x04"):
        message = refusal(read_walks, write(foreign, "walks.npy"))
        assert "walks.npy: not a valid .npy file of numbers: " in message


def test_a_missing_file_of_ids_is_named(save):
    path = save(np.zeros((2, 3), np.int32), None)
    message = refusal(read_walks, path)
    assert f"{path.with_suffix('.ids.txt')} is missing" in message
    assert "write_walks" in message


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("", "walks.npy: walk 0 (counted from 0) names row 0, but walks.ids.txt has 0 ids"),
        ("a\nb\n", "walks.npy: walk 0 (counted from 0) names row 2, but walks.ids.txt has 2 ids"),
        ("a\n\nb\n", "walks.ids.txt, line 2: expected one node id a line, each once, found an em"),
        ("a\nb\nc\nb\n", "walks.ids.txt, line 4: expected one node id a line, each once, found on"),
        ("1\n2\n2\n", "walks.ids.txt, line 3: expected one node id a line, each once, found one"),
        ("a\nb\0\nc\n", "walks.ids.txt, line 2: expected text in UTF-8, but this line holds a NUL"),
    ],
)
@pytest.mark.parametrize("chunk_bytes", [1, 1000])
def test_bad_files_of_ids_are_refused(save, monkeypatch, ids, message, chunk_bytes):
    monkeypatch.setattr(_walk_text, "CHUNK_BYTES", chunk_bytes)
    assert message in refusal(read_walks, save(np.array([[0, 1, 2]]), ids))


# -- Parquet -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    ["list_(string)", "large_list(large_string)", "list_(string, 2)", "list_(dictionary)"],
)
def test_lists_of_strings_of_any_kind(save_table, monkeypatch, kind):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(_walk_parquet, "_BATCH_WALKS", 2)
    walks = [["a\n", "łódź"], ["", "1"], ["1", "a\n"], ["", ""], ["x", "y"]]
    kinds = {
        "list_(string)": pyarrow.list_(pyarrow.string()),
        "large_list(large_string)": pyarrow.large_list(pyarrow.large_string()),
        "list_(string, 2)": pyarrow.list_(pyarrow.string(), 2),
        "list_(dictionary)": pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
    }
    path = save_table(walk=pyarrow.array(walks, kinds[kind]), other=range(5))
    read = read_walks(path)
    assert lists(read) == walks
    assert read.ids.tolist() == ["a\n", "łódź", "", "1", "x", "y"]


@pytest.mark.parametrize("kind", ["int8", "uint32", "int64"])
def test_lists_of_integers_of_any_kind(save_table, monkeypatch, kind):
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(_walk_parquet, "_BATCH_WALKS", 2)
    walks = [[5, 3], [1], [3, 3, 3], [7], [5]]
    column = pyarrow.array(walks, pyarrow.list_(getattr(pyarrow, kind)()))
    read = read_walks(save_table(walk=column))
    assert lists(read) == walks
    assert read.ids.dtype == np.int64


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [1], "target": [2]}, 'expected one column "walk" of lists of node ids, found'),
        ({"walk": [1, 2]}, 'expected a column "walk" of lists of integers or strings, found int64'),
        ({"walk": [[0.5]]}, 'expected a column "walk" of lists of integers or strings, found list'),
        ({"walk": [[[1]]]}, 'expected a column "walk" of lists of integers or strings, found list'),
        ({"walk": [[1], [2], []]}, "walk 2 (counted from 0) is empty"),
        ({"walk": [["a"], ["a"], None]}, "walk 2 (counted from 0) is empty"),
        ({"walk": [["a"], ["a"], ["b", None]]}, "walk 2 (counted from 0) holds a null"),
    ],
)
def test_tables_that_hold_no_walks_are_refused(save_table, monkeypatch, columns, message):
    monkeypatch.setattr(_walk_parquet, "_BATCH_WALKS", 2)
    path = save_table(**columns)
    assert refusal(read_walks, path).startswith(f"{path}: {message}")


def test_integers_beyond_64_bits_are_refused(save_table):
    pyarrow = pytest.importorskip("pyarrow")
    path = save_table(walk=pyarrow.array([[2**63]], pyarrow.list_(pyarrow.uint64())))
    assert "not a Parquet file of walks: Integer value 9223372036854775808" in refusal(
        read_walks, path
    )


def test_damaged_tables_are_refused(save_table):
    path = save_table(walk=[["a", "b"]] * 1000)
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    assert "walks.parquet: not a Parquet file: " in refusal(read_walks, path)
    path.write_bytes(content[:4] + bytes(40) + content[44:])
    assert refusal(read_walks, path).startswith(f"{path}: ")


def test_strings_that_are_not_utf_8_are_refused(save_table):
    pyarrow = pytest.importorskip("pyarrow")
    ends = pyarrow.py_buffer(np.array([0, 1, 2], np.int32))
    broken = pyarrow.StringArray.from_buffers(2, ends, pyarrow.py_buffer(b"a\xff"))
    path = save_table(walk=pyarrow.ListArray.from_arrays([0, 2], broken))
    assert "walks.parquet: not a Parquet file of walks: Invalid UTF8" in refusal(read_walks, path)


def test_parquet_without_pyarrow_says_how_to_get_it(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "reinforce2vec[parquet]" in refusal(read_walks, write("", "walks.parquet"))


# -- memory ------------------------------------------------------------------------------------


def test_paths_are_read_and_stored_walks_are_left_as_they_are(write):
    path = write("ann\tbob\n")
    walks = walks_from(path)
    assert lists(walks) == lists(walks_from(str(path))) == [["ann", "bob"]]
    assert walks_from(walks) is walks
    for taken in (path, walks):
        assert "these have their own" in refusal(walks_from, taken, ["ann", "bob"])


def test_a_matrix_is_not_copied_and_can_still_be_written_to():
    matrix = np.array([[0, 1], [3, -1]], np.int32)
    walks = walks_from(matrix)
    assert np.shares_memory(walks.nodes, matrix)
    assert not walks.nodes.flags.writeable
    assert matrix.flags.writeable
    assert walks.ids.tolist() == [0, 1, 2, 3]


def test_a_graph_names_rows_and_finds_ids():
    graph = Graph.from_edges([("ann", "bob"), ("bob", 0.5)])
    sampler = WalkSampler(graph, length=4, per_node=2)
    walks = walks_from(sampler.sample(), graph)
    assert walks.ids is graph.ids
    assert walks.nodes.reshape(-1, 4).tolist() == sampler.sample().tolist()
    again = walks_from(lists(walks), graph)
    assert again.ids is graph.ids
    assert again.nodes.tolist() == walks.nodes.tolist()


@pytest.mark.parametrize(
    "walks",
    [
        [["a", "b"], ["c"]],
        (("a", "b"), ("c",)),
        iter([["a", "b"], ["c"]]),
        [np.array(["a", "b"]), np.array(["c"])],
        np.array([["a", "b"], ["c"]], object),
    ],
)
def test_lists_may_be_any_sequences(walks):
    taken = walks_from(walks)
    assert lists(taken) == [["a", "b"], ["c"]]
    assert all(type(node) is str for node in taken.ids)


def test_integers_of_numpy_are_integers():
    taken = walks_from([np.array([5, 3]), [np.int64(3), 4]], np.array([3, 4, 5]))
    assert taken.nodes.tolist() == [2, 0, 0, 1]
    assert taken.ids.dtype == np.int64


@pytest.mark.parametrize(
    ("walks", "ids", "message"),
    [
        ([], None, "there are no walks"),
        (np.zeros((0, 3), int), None, "there are no walks"),
        ([["a"], []], None, "walk 1 (counted from 0) is empty"),
        (np.array([[0], [-1]]), None, "walk 1 (counted from 0) is empty"),
        (np.array([0, 1]), None, "an array of walks has the shape (n, length), not (2,)"),
        (np.array([[0.0, 1.0]]), None, "holds row numbers, not float64: use integers"),
        ([[0, 0.5]], None, "node ids are integers or strings, but one is the float 0.5"),
        ([np.array([0.0, 1.0])], None, "but one is the float 0.0"),
        ([[1, None]], None, "a node id is missing"),
        ([[1, [2]]], None, "node ids must be hashable"),
        ([1, 2], None, "walk 0 (counted from 0) is of type int: expected a list of node ids"),
        (["ab", "c"], None, "walk 0 (counted from 0) is of type str: expected a list of node ids"),
        ([[1], {2}], None, "walk 1 (counted from 0) is of type set: expected a list of node ids"),
        (7, None, "or the path of a file, not int"),
        (karate_club(), None, "or the path of a file, not Graph"),
        (np.array([[0, 5, -1], [0, -1, 5]]), None, "walk 1 (counted from 0) goes on after a -1"),
        (np.array([[0, 1], [0, -7]]), None, "walk 1 (counted from 0) holds -7: row numbers begin"),
        (np.array([[0, 2]]), ["a", "b"], "walk 0 (counted from 0) names row 2, but there are 2 id"),
        (np.array([[2**31]]), None, "if these are node ids, pass walks.tolist()"),
        (np.array([[2**64 - 1]], np.uint64), ["a"], "names row 18446744073709551615, but there"),
        ([["a"], ["b", "c"]], ["a", "b"], "walk 1 (counted from 0) names 'c', which is not among"),
        ([[1], [2, 3]], [1, 2], "walk 1 (counted from 0) names 3, which is not among the ids"),
        ([["a"]], ["a", "b", "a"], "ids must differ, but 'a' is there twice"),
        ([["a"]], "a", "ids are a list of node ids or a Graph, not str"),
        ([["a"]], 3, "ids are a list of node ids or a Graph, not int"),
        (np.array([[0]]), [None], "a node id is missing"),
    ],
)
def test_what_is_no_walk_is_refused(walks, ids, message):
    assert message in refusal(walks_from, walks, ids)


def test_stored_walks_hold_what_they_say():
    walks = StoredWalks(np.array([0, 1, -1, 1], np.int32), np.array([0, 3, 4]), np.array([7, 8]))
    assert lists(walks) == [[7, 8], [8]]
