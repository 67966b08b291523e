"""Text files that are hostile, damaged or odd: a right result or a sentence, in time and memory."""

from __future__ import annotations

import gzip
import io
import os
import threading
from contextlib import suppress

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from helpers.memory import peak_of
from helpers.refusals import refusal
from reinforce2vec import (
    Embedding,
    Graph,
    WalkSampler,
    evaluate_node_classification,
    karate_club,
    read_graph,
    read_labels,
    read_walks,
    write_walks,
)
from reinforce2vec._util import machine
from reinforce2vec._util.terminal import printable
from reinforce2vec.files.delimited import open_text
from reinforce2vec.files.edge_lists import read_edge_list
from reinforce2vec.files.node_tables import read_node_table
from reinforce2vec.files.opening import opened


@pytest.fixture
def read(tmp_path):
    """Read a graph from a file with these bytes or this text."""

    def read_text(content, name="edges.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_graph(path, **options)

    return read_text


# -- time that grows with the size ---------------------------------------------------------------
# Each of these took minutes when the time grew with the square of the size.


def test_a_long_token_of_digits_is_read_at_once(read):
    assert "left out column 3" in read(f"a b {'1' * 100_000}x\n").notes
    assert "expected a positive weight" in refusal(read, f"a b 1\na b {'1' * 5_000_000}\n")
    assert "expected a positive weight" in refusal(read, f"a b 1\na b 0.{'1' * 5_000_000}\n")


@pytest.mark.parametrize("line", [b"\n", b"#\n", b"#a #\n", b"  \r\n"])
def test_the_beginning_of_a_file_is_looked_at_once(line):
    text = open_text(io.BytesIO(line * 200_000 + b"1 2\n"), "x", "edges", chunk_bytes=1 << 12)
    assert text.heads == [[b"1", b"2"]]
    assert text.where == "x, line 200001"
    assert text.comments == (200_000 if line.startswith(b"#") else 0)


@pytest.mark.parametrize("line", ["x\n", '""\n'])
def test_quotes_around_an_id_that_never_close_are_refused_at_once(tmp_path, line):
    path = tmp_path / "v.csv"
    path.write_text('node,d0,d1,d2\na,1,2,3\n"' + line * 500_000)
    assert "line 3: a double quote opens" in refusal(Embedding.load, path)


def test_quotes_are_not_read_to_the_end_of_a_large_file():
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size):
            self.given += size
            assert self.given < 1 << 24
            return b"a,b\n" * (size // 4) if self.given > size else b'a,b\n"c,d\n'.ljust(size)

    message = refusal(read_edge_list, Endless(), "edges.txt")
    assert message.startswith("edges.txt, line 2: a double quote opens in this line and is never")


def test_blank_lines_after_few_lines_of_data_are_not_looked_at_again(read):
    assert read("1 2\n" + "\n" * 6_000_000 + "2 3\n", "edges.txt").n_edges == 2


@pytest.mark.parametrize("labels", [list, dict, "file"])
def test_a_class_for_each_node_is_refused(tmp_path, labels):
    n = 20_000
    vectors = Embedding(np.arange(n), np.ones((n, 1), np.float32))
    given = {i: f"name {i}" for i in range(n)}
    if labels is list:
        given = list(given.values())
    elif labels == "file":
        given = tmp_path / "labels.csv"
        given.write_text("".join(f"{i},name {i}\n" for i in range(n)))
    message = refusal(evaluate_node_classification, vectors, given)
    assert "there are 20,000 classes for 20,000 nodes, fewer than two nodes in a class" in message


def test_few_nodes_may_have_a_class_each():
    graph = Graph.from_edges([("a", "b")])
    table = pandas.DataFrame({"id": ["a", "b"], "label": ["x", "y"]})
    assert read_labels(table, graph).names == ["x", "y"]


# -- memory --------------------------------------------------------------------------------------


@pytest.fixture
def free(monkeypatch):
    """Let the machine have as many free bytes as a list says, one after another, then the last."""

    def have(*sizes):
        left = list(sizes)
        monkeypatch.setattr(
            machine, "available_bytes", lambda: left.pop(0) if len(left) > 1 else left[0]
        )

    return have


def bomb(path, line, size=10 << 20):
    path.write_bytes(gzip.compress(line * (size // len(line)), 1))
    return path


def test_a_compressed_file_is_refused_before_it_fills_the_memory(tmp_path, free):
    path = bomb(tmp_path / "edges.txt.gz", b"1 2\n")
    free(1 << 34, 1 << 20)
    message = refusal(read_graph, path)
    assert str(path) in message
    assert "memory" in message
    free(1 << 34, 1 << 20)
    with opened(path, True) as stream, pytest.raises(ValueError, match="unpacks to more than"):
        stream.read()
    bomb(path, b"1 " + b"x" * 1000 + b"\n")
    free(1 << 34, 1 << 20)
    graph = Graph.from_edges([(1, 2)])
    assert "unpacks to more than the memory" in refusal(read_labels, path, graph)
    free(1 << 34, 1 << 20)
    assert "unpacks to more than the memory" in refusal(read_node_table, path, graph)


def test_a_graph_that_will_not_fit_is_refused_while_it_is_read(read, free):
    free(1 << 27)
    message = refusal(read, "1 2\n" * (3 << 20), "edges.txt")
    assert "a graph of more than" in message
    assert "of further memory" in message


def test_labels_are_kept_small(tmp_path):
    """As strings, lines of four bytes would take 60 times their size."""
    path = tmp_path / "labels.txt"
    path.write_text("1 2\n" * 50_000)
    graph = Graph.from_edges([(1, 2)])
    assert read_labels(path, graph).matrix.tolist() == [[True], [False]]
    assert peak_of(read_labels, path, graph) < 4_000_000


def test_more_classes_than_memory_are_refused(free):
    graph = Graph.from_edges([(i, i + 1) for i in range(99)])
    table = pandas.DataFrame({"id": range(100), "label": [i // 2 for i in range(100)]})
    free(1000)
    assert "a matrix of 100 nodes and 50 classes needs about" in refusal(read_labels, table, graph)


def test_lines_with_very_many_columns_are_refused(read):
    for delimiter in (",", " ", "\t", '"",'):
        assert "more than 100,000 columns" in refusal(read, f"1{delimiter}" * 200_000 + "\n")
    start = '"1",' + "1," * 90_000  # each of which once took a look at all of the line
    assert "left out" in str(read(start + "1" * 8_000_000 + "\n", weighted=False).notes)


# -- bytes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_other_encodings_are_refused(read, encoding):
    message = refusal(read, "source,target\nä,b\n".encode(encoding))
    assert ("UTF-16" if encoding == "utf-16" else "UTF-8") in message


def test_a_compressed_file_without_its_suffix_is_recognised(read):
    assert "this is a gzip file" in refusal(read, gzip.compress(b"a,b\n"))


def test_line_ends_of_old_macs_make_no_long_line(read):
    many = "".join(f"{i},{i + 1}\r" for i in range(700_000))
    assert read(many).n_edges == 700_000


def test_ids_of_very_many_digits_are_text(read, tmp_path):
    digits = "1" * 5000
    assert read(f"{digits} 2\n", "edges.txt").ids.tolist() == [digits, "2"]
    assert "which columns" in refusal(read, f"index,a,b\n{digits},2,3\n")
    graph = Graph.from_edges([(1, 2)])
    (tmp_path / "labels.txt").write_text(f"1 a\n{digits} b\n")
    assert read_labels(tmp_path / "labels.txt", graph).strangers == [digits]
    (tmp_path / "nodes.txt").write_text(f"1\n{digits}\n")
    assert read("1 2\n", "edges.txt", nodes=tmp_path / "nodes.txt").ids.tolist()[1] == digits


def test_nul_in_a_path_is_refused(tmp_path):
    graph = Graph.from_edges([(1, 2)])
    path = f"{tmp_path}/a\0b.txt"
    for use in (read_graph, graph.save, lambda path: read_labels(path, graph)):
        assert "cannot hold a NUL character" in refusal(use, path)


# -- files that are no plain files ---------------------------------------------------------------


def read_and_change(path, content):
    with opened(path, False) as stream:
        stream.read(4)
        path.write_bytes(content)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "edges.txt"
    for change in (b"", b"1 2\n2 3\n3 4\n"):
        path.write_bytes(b"1 2\n2 3\n")
        assert "changed while it was read" in refusal(read_and_change, path, change)
    with opened(path, False) as stream:
        stream.read(4)
        new = tmp_path / "new"
        new.write_bytes(b"5 6\n")
        new.replace(path)  # which leaves the open file as it was


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no such device")
@pytest.mark.parametrize("suffix", ["txt", "txt.gz", "npz"])
def test_a_device_without_an_end_is_refused(suffix):
    message = "/dev/zero: this is a device without an end, expected a file"
    assert refusal(read_graph, "/dev/zero", format=suffix) == message


def test_a_fifo_is_read(tmp_path):
    path = tmp_path / "edges.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("source,target\na,b\n",))
    writer.start()
    assert read_graph(path).ids.tolist() == ["a", "b"]
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_walks_that_stay_on_disk_are_not_read_from_a_fifo(tmp_path):
    path = tmp_path / "walks.npz"
    write_walks(path, WalkSampler(karate_club(), per_node=1, length=4))
    content = path.read_bytes()
    path.unlink()
    os.mkfifo(path)

    def write():
        with suppress(BrokenPipeError):  # the reader may be gone by then
            path.write_bytes(content)

    writer = threading.Thread(target=write)
    writer.start()
    message = refusal(read_walks, path)
    writer.join()
    assert message.startswith(f"{path}: this is a pipe")


# -- messages ------------------------------------------------------------------------------------


def test_messages_have_no_control_characters(read):
    evil = "\x1b]0owned\x07\x9b31m\u202e"
    for text in (f"a b 1\na b {evil}\n", f"{evil}\n", f"source,target\na,b\n{evil},\n"):
        message = refusal(read, text)
        assert message == printable(message)
        assert "\\x1b]0owned\\x07" in message
    assert printable("a\tb\nc\x1b[2J\x00\u2066") == "a\tb\nc\\x1b[2J\\x00\\u2066"


# -- arrays of odd types -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, ">f4", ">i2", np.longdouble, np.uint8])
def test_numbers_of_any_type_make_a_graph(kind):
    matrix = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
    assert Graph.from_any(matrix.astype(kind)).weights.tolist() == [1, 1, 2, 2]
    graph = Graph.from_edges(matrix[:, :2].astype(kind), np.array([1, 2, 3]).astype(kind))
    assert graph.ids.tolist() == [0, 1, 2]


@pytest.mark.parametrize("weights", [[1j], np.array(["2020-01-01"], "M8[s]"), [[1], [2, 3]]])
def test_what_is_no_number_is_no_weight(weights):
    assert "weights must be numbers" in refusal(Graph.from_edges, [(1, 2)], weights)


def test_masked_values_are_refused():
    weights = np.ma.array([1.0, 2.0], mask=[False, True])
    assert "masked" in refusal(Graph.from_edges, [(1, 2), (2, 3)], weights)
    edges = np.ma.array([[1, 2], [2, 3]], mask=[[False, False], [False, True]])
    assert "masked" in refusal(Graph.from_edges, edges)
    assert "masked" in refusal(Graph.from_any, edges)
    square = np.ma.array(np.full((3, 3), 9.0), mask=np.eye(3))
    assert "masked" in refusal(Graph.from_any, square)


def test_lists_are_no_ids():
    table = pyarrow.table({"source": [[1], [2]], "target": [[1], [2]]})
    assert "must be hashable" in refusal(Graph.from_any, table)


# -- guesses are told, and can be decided --------------------------------------------------------


def test_the_type_of_ids_can_be_chosen(read):
    assert read("1,2\n").ids.tolist() == [1, 2]
    assert read("1,2\n", id_type="str").ids.tolist() == ["1", "2"]
    assert "'007' is not an integer" in refusal(read, "1,2\n2,007\n", id_type="int")
    assert "id_type must be one of int, str" in refusal(read, "1,2\n", id_type="float")
    table = pandas.DataFrame({"source": ["1", "2"], "target": ["2", "3"]})
    assert Graph.from_any(table, id_type="int").ids.tolist() == [1, 2, 3]
    assert Graph.from_any([(1, 2)], id_type="str").ids.tolist() == ["1", "2"]
    assert "the same as text" in refusal(Graph.from_any, [(1, "1")], id_type="str")


def test_edges_that_repeat_can_be_refused(read):
    text = "a,b\nb,a\nc,c\n"
    assert read(text).merged_edges == 1
    message = refusal(read, text, duplicates="refuse")
    assert "1 duplicate edge, such as that from 'b' to 'a'" in message
    assert read(text, duplicates="refuse", directed=True).n_edges == 2
    assert "duplicates must be one of merge, refuse" in refusal(read, text, duplicates="drop")


# -- messages ----------------------------------------------------------------------------------


def test_messages_quote_little_of_a_file_on_one_line(tmp_path):
    long = "x" * 5000
    graph = Graph.from_edges([("ann", "bob")])
    texts = {
        "edges.csv": f"{long},{long}b,{long}c\n1,2,3\n",
        "labels.csv": f"{long},x\n{long}b,y\n",
        "columns.csv": f"id,{long},{long}b\nann,1,2\n",
    }
    readers = {
        "edges.csv": read_graph,
        "labels.csv": lambda path: read_labels(path, graph),
        "columns.csv": lambda path: read_labels(path, graph),
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.write_text(text)
        message = refusal(readers[name], path)
        assert str(path) in message
        assert len(message) < 1000
    assert refusal(read_graph, "a\nb.csv") == "a\\nb.csv: there is no such file"


def test_comments_of_node_lists_are_text(tmp_path):
    (tmp_path / "edges.csv").write_text("1,2\n")
    (tmp_path / "nodes.txt").write_bytes(b"# \0\n3\n")
    message = refusal(read_graph, tmp_path / "edges.csv", nodes=tmp_path / "nodes.txt")
    assert message.startswith(f"{tmp_path / 'nodes.txt'}, line 1: ")


def test_a_line_of_a_compressed_file_is_limited(tmp_path):
    with gzip.open(tmp_path / "edges.csv.gz", "wb", 1) as file:
        for _ in range(80):
            file.write(b"a" * (1 << 20))
    assert "more than 32 MB" in refusal(read_graph, tmp_path / "edges.csv.gz")


@pytest.mark.parametrize("row", ["x,5 6,7", "x,,5,6,7", "x,5,6", 'x,5,-0""1,7', "x,5\r6,7"])
def test_a_field_of_csv_is_one_number(tmp_path, row):
    path = tmp_path / "vectors.csv"
    path.write_bytes(f"node,d0,d1,d2\ny,1,2,3\n{row}\n".encode())
    assert f"{path}, line 3: expected" in refusal(Embedding.load, path)
    path.write_text('node,d0,d1,d2\ny,"1", 2 ,"3"\n')
    assert Embedding.load(path).vectors.tolist() == [[1, 2, 3]]


def test_a_table_of_edges_that_will_not_fit_is_refused_before_it_is_read(tmp_path, free):
    path = tmp_path / "edges.parquet"
    pyarrow.parquet.write_table(
        pyarrow.table({"source": np.ones(10_000, int), "target": np.ones(10_000, int)}), path
    )
    free(500_000)
    assert refusal(read_graph, path).startswith(f"{path}: a table of 10,000 rows needs about")
