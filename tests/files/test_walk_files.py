"""Walks written to files come back as they were; a failed writing leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import sys

import numpy as np
import pytest

from helpers.refusals import refusal
from reinforce2vec import Graph, InputError, WalkSampler, karate_club, write_walks
from reinforce2vec.files import _walk_encoding

SUFFIXES = (".txt", ".txt.gz", ".npy", ".parquet")


def read_back(path, ids):
    """The walks of a file as lists of ids."""
    if path.name.endswith(".npy"):
        names = path.with_suffix(".ids.txt").read_text(encoding="utf-8").split("\n")
        assert names.pop() == ""
        walks = np.load(path, allow_pickle=False)
        assert walks.dtype == np.int32
        lists = [[names[node] for node in walk if node >= 0] for walk in walks.tolist()]
    elif path.name.endswith(".parquet"):
        parquet = pytest.importorskip("pyarrow.parquet")
        return parquet.read_table(path)["walk"].to_pylist()
    else:
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        lines = text.decode().split("\n")
        assert lines.pop() == ""
        lists = [line.split("\t") for line in lines]
    if ids.dtype == np.int64:
        lists = [[int(node) for node in walk] for walk in lists]
    return lists


def expected(sampler):
    ids = sampler.graph.ids.tolist()
    return [[ids[node] for node in walk if node >= 0] for walk in sampler.sample().tolist()]


GRAPHS = {
    "integers": karate_club(),
    "large and negative integers": Graph.from_edges([(-5, 2**60), (2**60, 7)]),
    "strings": Graph.from_edges([("new york", "łódź"), ("łódź", "東京"), ("東京", "a,b;#")]),
    "dead ends": Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], nodes=range(5), directed=True),
    "one node": Graph.from_edges([], nodes=["alone"]),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", GRAPHS)
def test_walks_come_back_as_they_were(tmp_path, name, suffix):
    graph = GRAPHS[name]
    sampler = WalkSampler(graph, length=9, per_node=7, seed=4, block_size=10)
    path = tmp_path / f"walks{suffix}"
    steps = write_walks(path, sampler)
    walks = expected(sampler)
    assert read_back(path, graph.ids) == walks
    assert steps == sum(len(walk) - 1 for walk in walks)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_cut_into_blocks_and_parts_does_not_show(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(_walk_encoding, "_TEXT_BYTES", 100)
    sampler = WalkSampler(GRAPHS["strings"], length=9, per_node=7, block_size=11)
    write_walks(tmp_path / f"walks{suffix}", sampler)
    assert read_back(tmp_path / f"walks{suffix}", sampler.graph.ids) == expected(sampler)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_walks_make_an_empty_file(tmp_path, suffix):
    sampler = WalkSampler(GRAPHS["strings"], length=9, per_node=0)
    assert write_walks(tmp_path / f"walks{suffix}", sampler) == 0
    assert read_back(tmp_path / f"walks{suffix}", sampler.graph.ids) == []


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".npy"])
def test_one_seed_makes_one_file(tmp_path, suffix):
    contents = []
    for name in ("a", "b"):
        path = tmp_path / f"{name}{suffix}"
        write_walks(path, WalkSampler(karate_club(), length=9, per_node=3, seed=1))
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]


def test_matrices_can_be_mapped_into_memory(tmp_path):
    sampler = WalkSampler(karate_club(), length=9, per_node=3, block_size=5)
    write_walks(tmp_path / "walks.npy", sampler)
    mapped = np.load(tmp_path / "walks.npy", mmap_mode="r")
    np.testing.assert_array_equal(mapped, sampler.sample())


def test_other_ids_are_written_as_text(tmp_path):
    graph = Graph.from_edges([((1, 2), "x"), ("x", 3.5)])
    write_walks(tmp_path / "walks.txt", WalkSampler(graph, length=5, per_node=2))
    lists = read_back(tmp_path / "walks.txt", graph.ids)
    assert {node for walk in lists for node in walk} == {"(1, 2)", "x", "3.5"}


def test_a_suffix_may_be_in_capitals(tmp_path):
    write_walks(tmp_path / "WALKS.TXT", WalkSampler(karate_club(), length=3, per_node=1))
    assert len((tmp_path / "WALKS.TXT").read_text().splitlines()) == 34


# -- whole or not at all -----------------------------------------------------------------------


class FailingSampler(WalkSampler):
    """Yields one block, then fails."""

    def __init__(self, error):
        super().__init__(karate_club(), length=9, per_node=3, block_size=50)
        self.error = error

    def __iter__(self):
        yield next(super().__iter__())
        raise self.error


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), ValueError("oops")])
def test_a_failed_writing_leaves_nothing(tmp_path, suffix, error):
    with pytest.raises(type(error)):
        write_walks(tmp_path / f"walks{suffix}", FailingSampler(error))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failed_writing_leaves_an_older_file_as_it_was(tmp_path, suffix):
    path = tmp_path / f"walks{suffix}"
    write_walks(path, WalkSampler(karate_club(), length=4, per_node=1))
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    with pytest.raises(KeyboardInterrupt):
        write_walks(path, FailingSampler(KeyboardInterrupt()))
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "walks.txt").symlink_to(tmp_path / "elsewhere" / "real.txt")
    write_walks(tmp_path / "walks.txt", WalkSampler(karate_club(), length=3, per_node=1))
    assert (tmp_path / "walks.txt").is_symlink()
    assert len((tmp_path / "elsewhere" / "real.txt").read_text().splitlines()) == 34


# -- refusals, before any walk is made ---------------------------------------------------------


class UntouchedSampler(WalkSampler):
    """Fails the test if a walk is made."""

    def __iter__(self):
        raise AssertionError("a walk was made before the output was checked")


def refused(path, graph=None):
    sampler = UntouchedSampler(karate_club() if graph is None else graph, length=3, per_node=1)
    return refusal(write_walks, path, sampler)


def test_an_unknown_suffix_is_refused_with_the_known_ones(tmp_path):
    message = refused(tmp_path / "walks.doc")
    assert "walks.doc" in message
    assert all(suffix in message for suffix in SUFFIXES)


def test_a_missing_folder_is_refused(tmp_path):
    assert "does not exist" in refused(tmp_path / "nowhere" / "walks.txt")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "walks.txt").mkdir()
    assert "this is a folder" in refused(tmp_path / "walks.txt")


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "no permission" in refused(tmp_path / "walks.txt")


@pytest.mark.parametrize("letter", ["\t", "\n", "\r"])
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".npy"])
def test_ids_that_would_break_lines_are_refused_in_text(tmp_path, suffix, letter):
    graph = Graph.from_edges([("plain", f"odd{letter}id")])
    message = refused(tmp_path / f"walks{suffix}", graph)
    assert ".parquet" in message
    assert "odd" in message
    assert os.listdir(tmp_path) == []


def test_ids_that_would_break_lines_survive_in_parquet(tmp_path):
    graph = Graph.from_edges([("plain", "odd\tid\n")])
    sampler = WalkSampler(graph, length=4, per_node=2)
    write_walks(tmp_path / "walks.parquet", sampler)
    assert read_back(tmp_path / "walks.parquet", graph.ids) == expected(sampler)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_ids_that_read_alike_are_refused(tmp_path, suffix):
    graph = Graph.from_edges([(1, "1"), ("1", "a")])
    assert "'1'" in refused(tmp_path / f"walks{suffix}", graph)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_ids_that_utf8_cannot_express_are_refused(tmp_path, suffix):
    graph = Graph.from_edges([("plain", "odd\ud800id")])
    assert r"'odd\ud800id'" in refused(tmp_path / f"walks{suffix}", graph)
    assert os.listdir(tmp_path) == []


def test_a_folder_in_place_of_the_ids_is_refused(tmp_path):
    (tmp_path / "walks.ids.txt").mkdir()
    assert "walks.ids.txt: this is a folder" in refused(tmp_path / "walks.npy")


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "reinforce2vec[parquet]" in refused(tmp_path / "walks.parquet")


def test_only_a_sampler_can_be_written(tmp_path):
    with pytest.raises(InputError, match="takes a WalkSampler"):
        write_walks(tmp_path / "walks.txt", np.zeros((2, 3), np.int32))
