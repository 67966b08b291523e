"""Walks in files and in memory: what is written comes back; what is no walk is a sentence."""

from __future__ import annotations

import gzip
import os
import pickle
import re
import tempfile
from contextlib import suppress
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
    read_walks,
    write_walks,
)
from reinforce2vec.files._walk_text import read_ids, read_text
from reinforce2vec.files.opening import opened
from reinforce2vec.files.stored_walks import check_rows
from reinforce2vec.files.walk_readers import walks_from
from reinforce2vec.files.walk_shards import write_shards

TEXT = ("walks.txt", "walks.txt.gz")
NAMES = (*TEXT, "walks.npz", "walks/")
GRAPHS = {
    "integers": karate_club(),
    "large and negative integers": Graph.from_edges([(-5, 2**60), (2**60, 7)]),
    "strings": Graph.from_edges([("new york", "łódź"), ("łódź", "東京"), ("東京", "#1 ")]),
    "isolated": Graph.from_edges([(3, 9)], nodes=[1, 3, 5]),
    "dead ends": Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], nodes=range(5), directed=True),
    "one node": Graph.from_edges([], nodes=["alone"]),
}


def sampler_of(graph, **options):
    options = {"length": 9, "per_node": 7, "seed": 4, "block_size": 10} | options
    return WalkSampler(graph, **options)


def contents(folder):
    """The bytes of all files below a folder, by name."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def lists(walks):
    """Walks as lists of ids, by the rule that says where a walk ends."""
    assert (walks.nodes.dtype, walks.begins.dtype) == (np.int32, np.int64)
    assert isinstance(walks.nodes[:], np.ndarray)
    assert (walks.begins[0], walks.begins[-1]) == (0, len(walks.nodes))
    ids, nodes = walks.ids.tolist(), np.asarray(walks.nodes).tolist()
    assert len(set(ids)) == len(ids)
    listed = []
    for begin, end in zip(walks.begins[:-1], walks.begins[1:], strict=True):
        rows = [*nodes[begin:end], -1]
        listed.append([ids[row] for row in rows[: rows.index(-1)]])
    return listed


def expected(sampler):
    ids = sampler.graph.ids.tolist()
    return [[ids[node] for node in walk if node >= 0] for walk in sampler.sample().tolist()]


# -- what is written comes back ----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_what_was_written_is_read(tmp_path, graph, name):
    sampler, path = sampler_of(graph), f"{tmp_path}/{name}"
    steps = write_walks(path, sampler)
    walks = read_walks(path)
    assert lists(walks) == expected(sampler)
    assert steps == sum(len(walk) - 1 for walk in lists(walks))
    assert walks.ids.dtype == graph.ids.dtype
    assert name in TEXT or walks.ids.tolist() == graph.ids.tolist()
    for array in (walks.nodes, walks.begins, walks.ids):
        assert not isinstance(array, np.ndarray) or not array.flags.writeable
    again = pickle.loads(pickle.dumps(walks))
    np.testing.assert_array_equal(again.nodes[2:], walks.nodes[2:])
    before = contents(tmp_path)
    write_walks(path, sampler_of(graph, block_size=11, workers=2))
    assert contents(tmp_path) == before  # one seed, one file, however cut


def test_other_programs_read_what_was_written(tmp_path):
    sampler = sampler_of(GRAPHS["strings"])
    for name in ("walks.txt", "WALKS.TXT.GZ", "walks.npz"):
        write_walks(tmp_path / name, sampler)
    text = "".join("\t".join(walk) + "\n" for walk in expected(sampler)).encode()
    assert (tmp_path / "walks.txt").read_bytes() == text
    assert gzip.decompress((tmp_path / "WALKS.TXT.GZ").read_bytes()) == text
    with np.load(tmp_path / "walks.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["walks"], sampler.sample())


def test_ids_that_text_cannot_hold_are_refused_there_and_come_back_from_npz(tmp_path):
    for odd in ("odd\tid", "odd\n", "odd\r", "", "\ufeffid", "odd\0"):
        sampler = sampler_of(Graph.from_edges([("plain", odd)]))
        for name in (*TEXT, "walks/"):
            message = refusal(write_walks, f"{tmp_path}/{name}", sampler)
            assert repr(odd) in message
            assert ".npz" in message
        assert os.listdir(tmp_path) == []
        write_walks(tmp_path / "walks.npz", sampler)
        assert lists(read_walks(tmp_path / "walks.npz")) == expected(sampler)
        (tmp_path / "walks.npz").unlink()


@pytest.mark.parametrize("name", NAMES)
def test_ids_of_other_kinds_become_text_unless_they_read_alike(tmp_path, name):
    write_walks(f"{tmp_path}/{name}", sampler_of(Graph.from_edges([((1, 2), "x"), ("x", 3.5)])))
    assert {*read_walks(f"{tmp_path}/{name}").ids} == {"(1, 2)", "x", "3.5"}
    alike = sampler_of(Graph.from_edges([(1, "1"), ("1", "a")]))
    assert "'1'" in refusal(write_walks, f"{tmp_path}/{name}", alike)


@pytest.mark.parametrize("name", NAMES)
def test_no_walks_are_written_and_refused_by_the_reader(tmp_path, name):
    path = f"{tmp_path}/{name}"
    assert write_walks(path, sampler_of(karate_club(), per_node=0)) == 0
    assert refusal(read_walks, path) == f"{path.rstrip('/')}: there are no walks"


# -- whole or not at all -----------------------------------------------------------------------


class FailingSampler(WalkSampler):
    """Yields one block, then fails."""

    def __init__(self, error):
        super().__init__(karate_club(), length=9, per_node=3, block_size=50)
        self.error = error

    def __iter__(self):
        yield next(super().__iter__())
        raise self.error

    def map_ranges(self, work, size, before=None):
        yield from super().map_ranges(work, size, before)
        raise self.error


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_leaves_what_was_there(tmp_path, name, error):
    path = f"{tmp_path}/{name}"
    for seed in (0, 1):  # with the same walks, and with others
        before = contents(tmp_path)
        with pytest.raises(type(error)):
            write_walks(path, FailingSampler(error))
        assert contents(tmp_path) == before
        assert before or os.listdir(tmp_path) == []
        write_walks(path, WalkSampler(karate_club(), length=9, per_node=3, seed=seed))
    before = contents(tmp_path)
    with pytest.raises(type(error)):
        write_walks(path, FailingSampler(error))
    assert contents(tmp_path) == before


def test_outputs_are_checked_before_any_walk(tmp_path):
    class Untouched(WalkSampler):
        def __iter__(self):
            raise AssertionError("a walk was made before the output was checked")

        map_ranges = __iter__

    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "file").touch()
    for name, shards, message in [
        ("walks.doc", None, ".txt .txt.gz .npz"),
        ("walks", None, "slash"),
        ("nowhere/walks.txt", None, "does not exist"),
        ("nowhere/walks/", None, "does not exist"),
        ("folder.txt", None, "this is a folder"),
        ("file/", None, "this is a file"),
        ("", None, "other files than walks, such as file"),
        ("walks.npz", "npy", "shards is for walks in a folder"),
        ("walks/", "txt", "shards must be one of npy"),
    ]:
        sampler = Untouched(karate_club(), length=3, per_node=1)
        assert message in refusal(write_walks, f"{tmp_path}/{name}", sampler, shards=shards)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.txt"]
    with pytest.raises(InputError, match="takes a WalkSampler"):
        write_walks(tmp_path / "walks.txt", np.zeros((2, 3), np.int32))


# -- text --------------------------------------------------------------------------------------

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
    words = [str(node) for walk in walks for node in walk]
    if all(
        re.fullmatch("0|-?[1-9][0-9]*", word) and -(2**63) <= int(word) < 2**63 for word in words
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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "walks.txt")
        path.write_bytes(f"{newline}x\ty{newline}{text}".encode())
        read = lists(read_text(path, False, None, chunk_bytes))
        assert read == [["x", "y"], *([str(v) for v in w] for w in walks)]
        path.write_bytes(text.encode())
        assert lists(read_text(path, False, "\t", chunk_bytes)) == as_in_text(walks)


def test_spaces_separate_where_there_is_no_tab_in_the_file(write):
    assert lists(read_walks(write("1 2  3\n\n 2 1 \r\n3"))) == [[1, 2, 3], [2, 1], [3]]
    path = write("new york\n" * 5 + "new york\t paris \n")
    assert lists(read_text(path, False, None, 4)) == [["new york"]] * 5 + [["new york", " paris "]]
    assert lists(read_walks(write('#a\t"b\n%\tc"\n'))) == [["#a", '"b'], ["%", 'c"']]


def test_walks_of_single_nodes_with_blanks_are_refused_in_text(tmp_path):
    sampler = WalkSampler(Graph.from_edges([("New York", "x")]), length=1, per_node=1)
    assert "blanks" in refusal(write_walks, tmp_path / "w.txt", sampler)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", ": there are no walks"),
        (" \n\n\r\n", ": there are no walks"),
        ("1\t2\n\n1\t\t2\n", ", line 3: "),
        ("1\t2\n2\t\n", ", line 2: "),
        ("1\t2\n\t2\n", ", line 2: "),
        ("1\t2\n3\0\n", ", line 2: "),
        (b"1\n2\xff", ", line 2: "),
        ("# made by x\n1 2\n", ': "#" stands where a node id'),
    ],
)
def test_damaged_text_is_refused_with_file_and_line(write, content, message):
    path = write(content)
    assert refusal(read_walks, path).startswith(f"{path}{message}")


def test_damaged_gzip_is_refused(write):
    packed = gzip.compress(b"1\t2\n" * 1000)
    assert "ends too early" in refusal(read_walks, write(packed[:-20], "walks.txt.gz"))
    assert "not a valid gzip file" in refusal(read_walks, write("1\t2\n", "walks.txt.gz"))


@pytest.mark.parametrize("chunk_bytes", [1, 1000])
@pytest.mark.parametrize(
    ("content", "line"),
    [("a\n\nb\n", 2), ("a\nb\nc\nb\n", 4), ("1\n2\n2\n", 3), ("a\nb\0\nc\n", 2)],
)
def test_a_file_of_ids_has_one_a_line_each_once(write, content, line, chunk_bytes):
    path = write(content)
    with opened(path, False) as stream:
        assert f"{path}, line {line}: " in refusal(read_ids, stream, path, chunk_bytes)
    path = write("7\r\n-8\r\n9")
    with opened(path, False) as stream:
        assert read_ids(stream, path, chunk_bytes).tolist() == [7, -8, 9]


@pytest.mark.parametrize("name", [*TEXT, "walks.npz"])
def test_a_missing_file_a_folder_and_an_empty_file_are_refused(tmp_path, name):
    path = tmp_path / name
    assert refusal(read_walks, path) == f"{path}: there is no such file"
    path.touch()
    assert refusal(read_walks, path).startswith(f"{path}: ")
    path.unlink()
    path.mkdir()
    assert refusal(read_walks, path) == f"{path}: this is a folder, expected a file"
    assert ".npz" in refusal(read_walks, tmp_path / "walks.npy")


# -- .npz --------------------------------------------------------------------------------------


@pytest.fixture
def save(tmp_path):
    """Save a matrix and ids as an archive; returns its path."""

    def _save(walks, ids=(7, 8, 9), pack=np.savez, **more):
        pack(tmp_path / "walks.npz", walks=walks, ids=np.asarray(ids), **more)
        return tmp_path / "walks.npz"

    return _save


def test_a_matrix_stays_on_disk(save):
    walks = read_walks(save(np.array([[0, 1, 2], [2, -1, -1]], np.int32)))
    assert not isinstance(walks.nodes, np.ndarray)
    assert walks.nodes[1:].tolist() == [1, 2, 2, -1, -1]
    assert walks.begins.tolist() == [0, 3, 6]
    assert lists(walks) == [[7, 8, 9], [9]]


@pytest.mark.parametrize("change", ["shorter", "other nodes", "another file"])
def test_a_matrix_that_changes_while_it_is_used_is_refused(save, change):
    path = save(np.zeros((500, 7), np.int32))
    walks = read_walks(path)
    content = path.read_bytes()
    if change == "shorter":
        os.truncate(path, 200)
    elif change == "other nodes":
        path.write_bytes(content.replace(bytes(8), b"\xff\xff\xff\x7f" + bytes(4), 1))
        os.utime(path, ns=(0, 0))  # whatever the resolution of the clock
    else:
        path.rename(path.with_name("older.npz"))
        path.write_bytes(content)
    with pytest.raises(InputError, match="this file has changed since it was opened"):
        Reinforce2Vec(dimensions=8, workers=1).fit_walks(walks)


@pytest.mark.parametrize(
    ("walks", "options"),
    [
        (np.zeros((2, 3)), {}),
        (np.zeros((2, 3), np.int64), {}),
        (np.zeros((2, 3), np.int32, "F"), {}),
        (np.zeros((2, 3), np.int32), {"pack": np.savez_compressed}),
        (np.zeros(3, np.int32), {}),
        (np.array([[None]]), {}),
        (np.zeros((2, 3), np.int32), {"ids": [0.5]}),
        (np.zeros((2, 3), np.int32), {"ids": [1, 1]}),
        (np.zeros((2, 3), np.int32), {"ids": [[1], [2]]}),
        (np.zeros((2, 3), np.int32), {"ids": ["a"]}),
        (np.zeros((2, 3), np.int32), {"ids": [97, 98], "begins": [0, 1]}),
        (np.zeros((4, 0), np.int32), {}),
        (np.array([[0, 1], [2, 3]], np.int32), {}),
        (np.array([[0], [-2]], np.int32), {}),
        (np.array([[0, -1, 1]], np.int32), {}),
    ],
)
def test_archives_that_hold_no_walks_are_refused(save, walks, options):
    path = save(walks, **options)
    assert refusal(read_walks, path).startswith(f"{path}: ")


def test_every_damaged_byte_of_an_archive_is_noticed(save):
    path = save(np.arange(40, dtype=np.int32).reshape(20, 2) % 3)
    content = path.read_bytes()
    walks = lists(read_walks(path))
    for place in range(len(content)):
        damaged = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        path.write_bytes(damaged)
        with suppress(InputError):
            assert lists(read_walks(path)) == walks  # times, and versions of the program
    for end in (0, 1, 40, len(content) - 1):
        path.write_bytes(content[:end])
        assert str(path) in refusal(read_walks, path)
    path.write_bytes(content)
    np.savez(path, vectors=np.zeros((2, 3)), ids=np.arange(2))
    assert "walks" in refusal(read_walks, path)


# -- memory ------------------------------------------------------------------------------------


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
    at_once=st.integers(1, 40),
)
def test_any_walks_in_a_matrix(walks, dtype, order, at_once):
    matrix = np.full((len(walks), 9), -1, dtype, order)
    for row, walk in zip(matrix, walks, strict=True):
        row[: len(walk)] = walk
    assert lists(walks_from(matrix)) == walks
    named = walks_from(matrix, list("abcdefghij"))
    assert lists(named) == [["abcdefghij"[node] for node in walk] for walk in walks]
    check_rows(matrix, 10, at_once=at_once)
    matrix[-1, 0] = 10
    message = refusal(check_rows, matrix, 10, 5, at_once)
    assert message.startswith(f"walk {len(walks) + 4} (counted from 0) names row 10, ")


def test_paths_and_stored_walks_have_ids_of_their_own(write):
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
    graph = Graph.from_edges([("ann", "bob"), ("bob", 0.5)])
    named = walks_from(np.array([[0, 1], [2, -1]]), graph)
    assert lists(named) == lists(walks_from(lists(named), graph)) == [["ann", "bob"], [0.5]]
    assert named.ids is graph.ids


@pytest.mark.parametrize(
    "walks",
    [
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
    taken = walks_from([np.array([5, 3]), [np.int64(3), 4]], np.array([3, 4, 5]))
    assert (taken.nodes.tolist(), taken.ids.dtype) == ([2, 0, 0, 1], np.int64)


@pytest.mark.parametrize(
    ("walks", "ids", "message"),
    [
        ([], None, "there are no walks"),
        (np.zeros((0, 3), int), None, "there are no walks"),
        ([["a"], []], None, "walk 1 (counted from 0) is empty"),
        (np.array([[0], [-1]]), None, "walk 1 (counted from 0) is empty"),
        (np.array([0, 1]), None, "shape (2,)"),
        (np.array([[0.0, 1.0]]), None, "float64"),
        (np.array([[True]]), None, "bool"),
        ([[0, 0.5]], None, "float 0.5"),
        ([np.array([0.0, 1.0])], None, "float 0.0"),
        ([[1, None]], None, "a node id is missing"),
        ([[1, [2]]], None, "hashable"),
        ([1, 2], None, "walk 0 (counted from 0) is of type int"),
        (["ab", "c"], None, "walk 0 (counted from 0) is of type str"),
        ([[1], {2}], None, "walk 1 (counted from 0) is of type set"),
        (7, None, "not int"),
        (karate_club(), None, "not Graph"),
        (np.array([[0, 5, -1], [0, -1, 5]]), None, "walk 1 (counted from 0) is empty, or goes on"),
        (np.array([[0, 1], [0, -7]]), None, "walk 1 (counted from 0) names row -7"),
        (np.array([[0, 2]]), ["a", "b"], "walk 0 (counted from 0) names row 2"),
        (np.array([[2**31]]), None, "walks.tolist()"),
        (np.array([[2**64 - 1]], np.uint64), ["a"], "names row 18446744073709551615"),
        ([["a"], ["b", "c"]], ["a", "b"], "walk 1 (counted from 0) names 'c'"),
        ([[1], [2, 3]], [1, 2], "walk 1 (counted from 0) names 3"),
        ([["a"]], ["a", "b", "a"], "'a' is there twice"),
        ([["a"]], "a", "not str"),
        ([["a"]], 3, "not int"),
        (np.array([[0]]), [None], "a node id is missing"),
    ],
)
def test_what_is_no_walk_is_refused(walks, ids, message):
    assert message in refusal(walks_from, walks, ids)


def test_slices_go_across_files(tmp_path):
    sampler = sampler_of(karate_club(), per_node=3)
    write_shards(tmp_path, sampler, 100)
    nodes, whole = read_walks(tmp_path).nodes, sampler.sample().ravel()
    assert len(nodes) == nodes.shape[0] == whole.size
    for part in (slice(0, 0), slice(95, 405), slice(99, 100), slice(-3, None), slice(900, 10**9)):
        np.testing.assert_array_equal(nodes[part], whole[part])
        assert nodes[part].dtype == np.int32
    with pytest.raises(IndexError, match="step 1"):
        nodes[::2]
