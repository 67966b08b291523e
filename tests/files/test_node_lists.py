"""Nodes beside the edges: isolated ones, and the order of the rows, for files and tables alike."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from helpers.graphs import assert_same
from helpers.refusals import refusal
from reinforce2vec import Graph, read_graph

PAIRS = [("ann", "bob"), ("bob", "cid")]
NODES = ["dee", "bob", "ann", "eve"]
EXPECTED = Graph.from_edges(PAIRS, nodes=NODES)


@pytest.fixture
def write(tmp_path):
    def write(content, name="nodes.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def edges(write):
    return write("source,target\nann,bob\nbob,cid\n", "edges.csv")


@pytest.mark.parametrize("make", [list, np.array, tuple, iter, dict.fromkeys])
def test_lists_of_nodes_for_files_and_objects(edges, make):
    assert_same(read_graph(edges, nodes=make(NODES)), EXPECTED)
    assert_same(Graph.from_any(PAIRS, nodes=make(NODES)), EXPECTED)


def test_columns_of_tables(edges):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for nodes in (pandas.Series(NODES), pandas.Index(NODES), polars.Series(NODES)):
        assert_same(Graph.from_any(pandas.read_csv(edges), nodes=nodes), EXPECTED)
    assert_same(read_graph(edges, nodes=pyarrow.array(NODES)), EXPECTED)
    message = refusal(read_graph, edges, nodes=pandas.DataFrame({"id": NODES}))
    assert "DataFrame" in message


@pytest.mark.parametrize(
    "content",
    [
        "dee\nbob\nann\neve\n",
        "# all of them\nid\ndee\nbob\n\nann\neve",
        "name,age\ndee,1\nbob,2\nann,3\neve,4\n",
        '"dee"\t1\nbob\t2\nann\t3\neve\t4\n',
        "\ufeffdee\r\nbob\r\nann\r\neve\r\n",
        "\ufeff# nodes\ndee\nbob\nann\neve\n",
    ],
)
def test_files_of_nodes(edges, write, content):
    assert_same(read_graph(edges, nodes=str(write(content))), EXPECTED)
    packed = write(gzip.compress(content.encode()), "nodes.csv.gz")
    assert_same(Graph.from_any(PAIRS, nodes=packed), EXPECTED)


@pytest.mark.parametrize(
    ("edges", "nodes", "ids"),
    [
        ("New York,Paris\n", "Sao Paulo\nNew York\n", ["Sao Paulo", "New York", "Paris"]),
        ("1,2\n2,3\n", "node\n7\n2\n", [7, 2, 1, 3]),
        ("1,2\n2,3\n", "7\nx\n", ["7", "x", "1", "2", "3"]),
        ("a,b\n", "7\n8\n", ["7", "8", "a", "b"]),
        ("name,user\nuser,item\n", "name\nlone\n", ["name", "lone", "user", "item"]),
        ("x,#b\n#b,#a\n", "#c\n#b\n", ["#c", "#b", "x", "#a"]),
        ("x,#b\n#b,#a\n", "# all\n\n#c,1\n#b,2\n", ["#c", "#b", "x", "#a"]),
        ("x,#b\n#b,#a\n", "id\n#c\n#b\n", ["#c", "#b", "x", "#a"]),
        ("x,#b\n#b,#a\n", "\ufeff#\r\n#c\r\n#b\r\n", ["#c", "#b", "x", "#a"]),
        ("ann,bob\n", '# all\n"#new"\ndee\n', ["#new", "dee", "ann", "bob"]),
        ("ann,bob\n", "\ufeff\ufeffdee\n", ["\ufeffdee", "ann", "bob"]),
    ],
)
def test_ids_in_files_are_those_of_edges(write, edges, nodes, ids):
    graph = read_graph(write(edges, "edges.csv"), header=False, nodes=write(nodes))
    assert graph.ids.tolist() == ids


@pytest.mark.parametrize(
    ("nodes", "complaint"),
    [
        ("ann,1\n,2\n", "nodes.txt, line 2: expected a node id"),
        ("dee\n\ufeffeve\n", "nodes.txt, line 2: .*byte order mark"),
        ("# all\n#new\ndee\n", 'nodes.txt, line 2: .*comment or a node id .*"#new"'),
        ("ann\n# note\n", "nodes.txt, line 2: .*comment"),
        ("# note\n", "nodes.txt: "),
        ("dee\0\n", "nodes.txt, line 1: .*NUL"),
        (' "\n"7"""', "nodes.txt, line 1: .*double quotes"),
    ],
)
def test_what_may_be_no_node_is_refused(edges, write, nodes, complaint):
    message = refusal(read_graph, edges, nodes=write(nodes))
    assert re.search(complaint, message), message
    assert "comments=" not in message  # which is for edges


def test_a_comment_among_ids_that_look_like_comments_is_refused(write):
    path = write("x,#b\n#b,#a\n", "edges.csv")
    message = refusal(read_graph, path, nodes=write("# all\n#c\n# more\n"))
    assert 'line 3: this looks like a comment ("# more")' in message


def test_missing_ids_among_integers_are_refused(write):
    path = write("1 2\n2 3\n", "edges.txt")
    for odd in ("nan", "NULL", "#3"):
        assert "nodes.txt, line 2" in refusal(read_graph, path, nodes=write(f"4\n{odd}\n"))


def test_nodes_of_another_kind_are_refused(edges):
    message = refusal(read_graph, edges, nodes=[1, 2])
    assert "are integers, but the ids of the edges are strings, such as 'ann'" in message
    assert "are strings, but" in refusal(Graph.from_any, [(1, 2)], nodes=["1"])
    assert "there is no such file" in refusal(read_graph, edges, nodes="none.txt")
    assert "missing" in refusal(read_graph, edges, nodes=["ann", None])


def test_nodes_of_a_bipartite_graph_are_named_as_they_will_be(write):
    path = write("user,item\n1,1\n", "edges.csv")
    graph = read_graph(path, bipartite=True, nodes=["item:9", "user:1"])
    assert graph.ids.tolist() == ["item:9", "user:1", "item:1"]
    message = refusal(read_graph, path, bipartite=True, nodes=["9"])
    assert 'node \'9\' is neither "user:..." nor "item:..."' in message
