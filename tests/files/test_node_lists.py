"""Nodes beside the edges: isolated ones, and the order of the rows, for files and tables alike."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from helpers.graphs import assert_same
from helpers.refusals import refusal
from reinforce2vec import Graph, read_graph

PAIRS = [("ann", "bob"), ("bob", "cid")]
NODES = ["dee", "bob", "ann", "eve"]
EXPECTED = Graph.from_edges(PAIRS, nodes=NODES)


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\nann,bob\nbob,cid\n")
    return path


@pytest.fixture
def write(tmp_path):
    def write(content, name="nodes.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("make", [list, np.array, tuple, iter, dict.fromkeys])
def test_lists_of_nodes_for_files_and_objects(edges, make):
    assert_same(read_graph(edges, nodes=make(NODES)), EXPECTED)
    assert_same(Graph.from_any(edges, nodes=make(NODES)), EXPECTED)
    assert_same(Graph.from_any(PAIRS, nodes=make(NODES)), EXPECTED)


def test_columns_of_tables(edges):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for nodes in (pandas.Series(NODES), pandas.Index(NODES), polars.Series(NODES)):
        assert_same(Graph.from_any(pandas.read_csv(edges), nodes=nodes), EXPECTED)
    assert_same(read_graph(edges, nodes=pyarrow.array(NODES)), EXPECTED)
    message = refusal(read_graph, edges, nodes=pandas.DataFrame({"id": NODES}))
    assert message == "nodes must be a list of node ids, not of type DataFrame"


@pytest.mark.parametrize(
    "content",
    [
        "dee\nbob\nann\neve\n",
        "# all of them\nid\ndee\nbob\n\nann\neve",
        "name,age\ndee,1\nbob,2\nann,3\neve,4\n",
        '"dee"\t1\nbob\t2\nann\t3\neve\t4\n',
    ],
)
def test_files_of_nodes(edges, write, content):
    assert_same(read_graph(edges, nodes=write(content)), EXPECTED)
    assert_same(read_graph(edges, nodes=str(write(content))), EXPECTED)
    packed = write(gzip.compress(content.encode()), "nodes.csv.gz")
    assert_same(Graph.from_any(PAIRS, nodes=packed), EXPECTED)


def test_a_name_with_blanks_is_one_node(write):
    path = write("New York,Paris\n", "edges.csv")
    graph = read_graph(path, nodes=write("Sao Paulo\nNew York\n"))
    assert graph.ids.tolist() == ["Sao Paulo", "New York", "Paris"]


def test_integers_stay_integers_if_all_of_them_are(write):
    path = write("1 2\n2 3\n", "edges.txt")
    assert read_graph(path, nodes=write("node\n7\n2\n")).ids.tolist() == [7, 2, 1, 3]
    assert read_graph(path, nodes=write("7\nx\n")).ids.tolist() == ["7", "x", "1", "2", "3"]
    assert read_graph(path, nodes=[9]).ids.dtype == np.int64
    words = write("a b\n", "words.txt")
    assert read_graph(words, nodes=write("7\n8\n")).ids.tolist() == ["7", "8", "a", "b"]


def test_a_byte_order_mark_is_removed_once(edges, write):
    mark = "\ufeff"
    twice = write(f"{mark}{mark}dee\n")
    assert read_graph(edges, nodes=twice).ids.tolist()[0] == f"{mark}dee"
    for comment in ("", "# nodes\n"):
        path = write(f"{mark}{comment}dee\n")
        assert read_graph(edges, nodes=path).ids.tolist()[0] == "dee"


def test_a_byte_order_mark_within_a_file_is_refused(edges, write):
    message = refusal(read_graph, edges, nodes=write("dee\n\ufeffeve\n"))
    assert "nodes.txt, line 2" in message
    assert "byte order mark" in message


def test_a_known_word_that_is_a_node_is_no_header(write):
    path = write("user,name\nname,item\n", "edges.csv")
    graph = read_graph(path, header=False, nodes=write("name\nlone\n"))
    assert graph.ids.tolist() == ["name", "lone", "user", "item"]


def test_nodes_of_another_kind_are_refused(edges, write):
    message = refusal(read_graph, edges, nodes=[1, 2])
    assert "are integers, but the ids of the edges are strings, such as 'ann'" in message
    assert "are strings, but" in refusal(Graph.from_any, [(1, 2)], nodes=["1"])
    assert "there is no such file" in refusal(read_graph, edges, nodes="none.txt")
    assert "line 2: expected a node id, found none" in refusal(
        read_graph, edges, nodes=write("ann,1\n,2\n")
    )
    assert "missing" in refusal(read_graph, edges, nodes=["ann", None])


def test_nodes_of_a_bipartite_graph_are_named_as_they_will_be(write):
    path = write("user,item\n1,1\n", "edges.csv")
    graph = read_graph(path, bipartite=True, nodes=["item:9", "user:1"])
    assert graph.ids.tolist() == ["item:9", "user:1", "item:1"]
    message = refusal(read_graph, path, bipartite=True, nodes=["9"])
    assert 'node \'9\' is neither "user:..." nor "item:..."' in message


def test_ids_may_begin_with_the_mark_of_a_comment(write):
    path = write("tag,other\nx,#b\n#b,#a\n", "edges.csv")
    for content in (
        "#c\n#b\n",
        "# all\n\n#c,1\n#b,2\n",
        "id\n#c\n#b\n",
        "\ufeff#\r\n#c\r\n#b\r\n",
    ):
        graph = read_graph(
            path, source="tag", target="other", bipartite=False, nodes=write(content)
        )
        assert graph.ids.tolist() == ["#c", "#b", "x", "#a"]
    message = refusal(read_graph, path, bipartite=False, nodes=write("# all\n#c\n# more\n"))
    assert 'line 3: this looks like a comment ("# more")' in message


def test_what_may_be_a_comment_or_an_id_is_refused(edges, write):
    message = refusal(read_graph, edges, nodes=write("# all\n#new\ndee\n"))
    assert 'line 2: this may be a comment or a node id ("#new")' in message
    assert "double quotes around an id" in message
    graph = read_graph(edges, nodes=write('# all\n"#new"\ndee\n'))
    assert graph.ids.tolist() == ["#new", "dee", "ann", "bob", "cid"]
    assert "comments=" not in refusal(read_graph, edges, nodes=write("ann\n# note\n"))
    assert "comments=" not in refusal(read_graph, edges, nodes=write("# note\n"))
