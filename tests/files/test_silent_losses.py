"""What strangers lost without a word: every item is one that was read wrong, or left out, once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.refusals import refusal
from reinforce2vec import (
    Embedding,
    Graph,
    WalkSampler,
    read_graph,
    read_labels,
    read_walks,
    write_walks,
)
from reinforce2vec.files.node_tables import read_node_table

# -- text --------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["NULL", "NaN", "N/A", "\\N", "none"])
def test_an_id_that_may_be_a_missing_value_is_in_the_report(write, word):
    graph = read_graph(write(f"source,target\nann,{word}\n{word},bob\nbob,cid\n", "edges.csv"))
    assert f'the id "{word}", of 2 edges, may be a missing value' in graph.notes


@pytest.mark.parametrize(
    ("word", "why"), [("NA", "missing"), ("NaN", "missing"), ("#2", "comment")]
)
def test_an_odd_line_among_nodes_is_no_node(write, word, why):
    nodes = write(f"7\n{word}\n", "nodes.txt")
    message = refusal(read_graph, write("1 2\n2 3\n"), nodes=nodes)
    assert message.startswith(f"{nodes}, line 2: ")
    assert why in message
    assert word in read_graph(write("a b\n"), nodes=nodes).ids


def test_a_class_that_may_be_a_missing_value_is_in_the_report(write):
    labels = read_labels(write("1,a\n2,NA\n3,NA\n", "l.csv"), Graph.from_edges([(1, 2), (2, 3)]))
    assert 'the class "NA", of 2 nodes, may be a missing value' in labels.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d0,d1,node\n1,2,5\n3,4,6\n", '"node" is no dimension'),
        ("node,pagerank,d0,d1\na,1,2,3\n", '"pagerank" is no dimension'),
        ("node,d0,d1,group\na,1,2,3\n", '"group" is no dimension'),
        ("d0,d1,d2,d3\n1,2,3,4\n5,6,7,8\n", "no column of node ids"),
        ("0,1,2,3\n0.5,2,3,4\n0.7,6,7,8\n", "no column of node ids"),
        ("node,d0,d1,d2\na,1,2,3\n,1,2,3\n", "line 3: expected a node id"),
    ],
)
def test_what_is_no_dimension_of_a_vector_is_refused(write, text, message):
    assert message in refusal(Embedding.load, write(text, "v.csv"))


def test_ids_of_vectors_have_no_blanks_around_them(write):
    text = 'node,d0,d1,d2\n a ,1,2,3\n" b",1,2,3\n'
    assert Embedding.load(write(text, "v.csv")).ids.tolist() == ["a", " b"]


def test_ids_with_returns_are_not_written_as_text(tmp_path):
    graph = Graph.from_edges([("a\r\nb", "a\nb"), ("x", "y")])
    for suffix in (".csv", ".tsv", ".txt", ".csv.gz"):
        assert "cannot be written as text" in refusal(graph.save, tmp_path / f"g{suffix}")
    graph.save(tmp_path / "g.npz")
    assert read_graph(tmp_path / "g.npz").ids.tolist() == graph.ids.tolist()


# -- lists of nodes, labels ------------------------------------------------------------------------


def test_what_is_decided_of_a_list_of_nodes_is_in_the_report(write):
    numbers = write("1,2\n2,3\n", "edges.csv")
    graph = read_graph(numbers, nodes=write("root\n1\n2\n3\n", "nodes.txt"))
    assert any('the first line, "root", taken for a header' in note for note in graph.notes)
    words = write("ann,bob\n", "words.csv")
    graph = read_graph(words, nodes=write("start\nann\nbob\n", "nodes.txt"))
    assert graph.ids.tolist() == ["start", "ann", "bob"]
    assert 'no header: "start" is a node' in graph.notes[-1]
    graph = read_graph(words, nodes=write("Smith, John\nann\n", "nodes.txt"))
    assert any("ids from the first column of several" in note for note in graph.notes)


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ("person,team,joined\nann,x,2001\ncid,y,2002\n", "ann"),
        ("person,joined,left\nann,2001-01-31,\ncid,2001-02-28,\n", "ann"),
        ("person,pay\nann,\ncid,1.5\n", "ann"),
        ("dee,unknown,2001\nann,1,2\n", "dee"),
        ("dee,NA\nann,1\n", "dee"),
        ("dee,\nann,1\n", "dee"),
        ("dee;;1\nann;;1\n", "dee"),
        ("dee dum,\nann,1\n", "dee dum"),
        ("ann,joined\ndee,2001\n", "ann"),  # a node with an edge is no name
    ],
)
def test_words_above_numbers_of_nodes_are_a_header(write, lines, first):
    graph = read_graph(write("ann,bob\n", "words.csv"), nodes=write(lines, "nodes.csv"))
    assert graph.ids[0] == first
    header = [note for note in graph.notes if "taken for a header" in note]
    assert bool(header) == ("person" in lines)


def test_labels_of_an_unknown_number_are_no_header(write):
    graph = Graph.from_edges([(1, 2)])
    labels = read_labels(write("99,a\n1,b\n2,a\n1,a\n2,b\n", "labels.csv"), graph)
    assert labels.strangers == [99]
    assert labels.notes == ("no header", "separated by commas")


def test_many_columns_of_labels_take_no_square_of_time(write):
    """With the square of their number it would take a minute."""
    graph = Graph.from_edges([("a", "b")])
    names = ",".join(f"c{number}" for number in range(90_000))
    row = ",x" * 90_000
    labels = read_labels(write(f"id,{names}\na{row}\nb{row}\n", "l.csv"), graph, label="all")
    assert labels.names == ["x"]


@pytest.mark.parametrize("number", ["01", "1.0", "+1", "9" * 20])
def test_a_number_in_another_form_names_no_column(write, number):
    graph = Graph.from_edges([(1, 2)])
    labels = read_labels(write(f"{number},a\n1,b\n2,a\n1,a\n2,b\n", "labels.csv"), graph)
    assert (len(labels.strangers), labels.notes[0]) == (1, "no header")
    table = read_node_table(write(f"{number},5\n1,6\n2,7\n", "columns.csv"), graph)
    assert table.columns == [["6", "7"]]
    assert "left out 1 line" in table.notes[1]
    isolated = write(f"{number}\n3\n", "nodes.txt")
    graph = read_graph(write("1,2\n", "edges.csv"), nodes=isolated)
    assert graph.ids.tolist() == [number, "3", "1", "2"]
    assert "text ids" in graph.notes
    assert "integer ids" not in graph.notes


def test_skipped_comments_are_told_of_every_text(write):
    graph = Graph.from_edges([("a", "b")])
    labels = read_labels(write("#a,x\n# note\nb,y\na,y\n", "labels.csv"), graph)
    assert labels.notes == ("no header", "separated by commas", "2 comments skipped")
    table = read_node_table(write("# note\nid;age\na;1\n", "columns.csv"), graph)
    assert table.notes[-3:] == ["a header", "separated by semicolons", "1 comment skipped"]
    nodes = write("# note\nc\n", "nodes.txt")
    graph = read_graph(write("a,b\n", "edges.csv"), nodes=nodes)
    assert graph.notes[-1] == f"{nodes}: 1 comment skipped"


def test_ids_and_classes_that_are_no_names_are_refused():
    graph = Graph.from_edges([("a", "b")])
    for value in ({"x": 1}, [["x"]]):
        table = pd.DataFrame({"id": ["a", "b"], "label": [value, value]})
        assert "classes must be hashable" in refusal(read_labels, table, graph)
    table = pd.DataFrame({"id": [["a"], ["b"]], "label": ["x", "y"]})
    assert "ids and classes must be hashable" in refusal(read_labels, table, graph)


# -- walks -----------------------------------------------------------------------------------------


def test_what_is_decided_of_walks_is_in_the_report_and_can_be_given(write):
    walks = read_walks(write("1 2\n2 3\n", "walks.txt"))
    assert walks.notes == ("separated by spaces", "integer ids")
    assert read_walks(write("1 2\n2\t3\n", "walks.txt")).notes == ("separated by tabs", "text ids")
    path = write("1 2\n2 3\n", "walks.txt")
    given = read_walks(path, delimiter="\t", id_type="str")
    assert (given.ids.tolist(), given.notes) == (["1 2", "2 3"], ())
    assert read_walks(path, delimiter=" ", id_type="str").ids.tolist() == ["1", "2", "3"]
    assert "is not an integer" in refusal(read_walks, path, delimiter="\t", id_type="int")
    assert "a tab or spaces" in refusal(read_walks, path, delimiter=",")


def test_ids_in_a_file_with_a_matrix_of_walks_are_told_too(tmp_path):
    sampler = WalkSampler(Graph.from_edges([(1, 2)]), per_node=1, length=2)
    write_walks(tmp_path / "walks.npz", sampler)
    walks = read_walks(tmp_path / "walks.npz")
    assert walks.notes == ("integer ids",)
    assert read_walks(tmp_path / "walks.npz", id_type="str").ids.tolist() == ["1", "2"]
    assert "is for walks in text" in refusal(read_walks, tmp_path / "walks.npz", delimiter=" ")


def test_a_comment_among_walks_makes_no_nodes(write):
    path = write("# made today\na b\n", "walks.txt")
    assert 'delimiter=" " takes it for an id' in refusal(read_walks, path)
    assert "#" in read_walks(path, delimiter=" ").ids.tolist()


# -- vectors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["label", "time", "Class"])
def test_a_column_of_labels_is_no_dimension(write, name):
    path = write(f"node,{name},d0,d1\na,3,1,2\n", "v.csv")
    assert f'"{name}" is no dimension' in refusal(Embedding.load, path)
    assert Embedding.load(write("node,x,y\na,3,1\n", "v.csv"))["a"].tolist() == [3, 1]


def test_dimensions_in_another_order_are_refused(write):
    path = write("node,d1,d0\na,3,1\n", "v.csv")
    assert "not in its place" in refusal(Embedding.load, path)


# -- objects ---------------------------------------------------------------------------------------


def test_weights_that_differ_by_direction_are_refused():
    data = SimpleNamespace(
        edge_index=np.array([[0, 1], [1, 0]]),
        edge_weight=np.array([5.0, 1.0]),
        num_nodes=2,
        is_undirected=lambda: True,
    )
    assert "both ways have different weights" in refusal(Graph.from_any, data)
    assert Graph.from_any(data, directed=True).weights.tolist() == [5, 1]
    data.edge_weight = np.array([5.0, 5.0])
    assert Graph.from_any(data).weights.tolist() == [5, 5]


def test_text_weights_of_tables_are_those_of_files():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": ["1_0", "2"]})
    assert "weights must be numbers" in refusal(Graph.from_any, frame)
    frame["weight"] = ["1e1", "2"]
    assert sorted(Graph.from_any(frame).weights.tolist()) == [2, 2, 10, 10]


def test_missing_names_of_nodes_are_refused():
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    graph = networkx.Graph([(1, float("nan"))])
    assert "a node id is missing" in refusal(Graph.from_any, graph)
    graph = igraph.Graph([(0, 1)], vertex_attrs={"name": ["a", None]})
    assert "a node id is missing" in refusal(Graph.from_any, graph)


def test_new_edges_without_a_known_node_are_warned_of():
    from reinforce2vec import Reinforce2Vec

    ring = [(f"000{k}", f"000{(k + 1) % 5}") for k in range(5)]
    model = Reinforce2Vec(8, walks_per_node=1, workers=1).fit(ring, progress=False)
    with pytest.warns(UserWarning, match="its ids are such as '0000', .* such as 'x'"):
        model.partial_fit([("x", "y")])


# -- GraphML, walks, tables ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "\ufeffx"])
def test_walks_of_ids_that_text_cannot_hold_are_refused(tmp_path, name):
    sampler = WalkSampler(Graph.from_edges([(name, "b")]), length=3, per_node=1)
    for name in ("w.txt", "w/"):
        assert "cannot be written as text" in refusal(write_walks, f"{tmp_path}/{name}", sampler)


def test_walks_of_single_nodes_with_blanks_come_back(tmp_path):
    sampler = WalkSampler(Graph.from_edges([("New York", "x")]), length=1, per_node=1)
    assert "blanks" in refusal(write_walks, tmp_path / "w.txt", sampler)
    write_walks(tmp_path / "w.npz", sampler)
    assert read_walks(tmp_path / "w.npz").ids.tolist() == ["New York", "x"]


def test_names_of_a_table_that_do_not_fit_into_memory_are_refused(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"source": ["a", "b", "a"], "target": ["b", "c", "c"]})
    assert Graph.from_any(table).ids.tolist() == ["a", "b", "c"]
    monkeypatch.setattr("reinforce2vec._util.machine.available_bytes", lambda: 100)
    assert "the names of 3 nodes" in refusal(Graph.from_any, table)
