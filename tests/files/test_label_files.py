"""Labels of nodes in files and tables: which columns are read, and how they are matched."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.refusals import refusal
from reinforce2vec import Embedding, Graph, read_labels
from reinforce2vec.files.label_files import one_class


def people(*ids):
    return Embedding(ids, np.ones((len(ids), 1)))


THREE = people("bob", "ann", "cid")
CSV = "id,name,department,city\nann,Ann,x,Rome\nbob,Bob,y,Oslo\ncid,Cid,x,Rome\n"


@pytest.fixture
def read(tmp_path):
    """Read labels from a file with this text."""

    def read_text(text, nodes=THREE, **options):
        path = tmp_path / "labels.csv"
        path.write_text(text, newline="")
        return read_labels(path, nodes, **options)

    return read_text


def classes(labels):
    """The names of the classes of each node."""
    return [[labels.names[place] for place in np.flatnonzero(row)] for row in labels.matrix]


# -- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# people\nann red\n\nbob blue\nann green\nann blue\n",
        "ann\tred\r\nann\tgreen\r\nann\tblue\r\nbob\tblue\r\n",
        "\ufeffann;red\nann;green\nbob; blue\nann;blue\n",
        'id,label\n"ann","red"\n"ann",green\nann,blue\nbob,blue\n',
        "who,what\nann,red\nann,green\nann,blue\nbob,blue\n",
        "label|node\nred|ann\ngreen|ann\nblue|ann\nblue|bob\n",
    ],
)
def test_label_files_in_every_form(read, text):
    labels = read(text)
    assert labels.names == ["blue", "green", "red"]
    assert labels.matrix.tolist() == [[True, False, False], [True, True, True], [False] * 3]
    assert labels.strangers == []


@pytest.mark.parametrize(
    "text",
    [
        "ann,\nbob,blue\n",
        '"ann";\n"bob";blue\n',
        "ann\t\ncid\t\nbob\tblue\n",
        "ann||\nbob|blue|\n",
        "ann,,\nbob,blue,\n",
    ],
)
def test_the_first_node_may_have_no_label(read, text):
    assert classes(read(text, label=2)) == [["blue"], [], []]


@pytest.mark.parametrize(
    "text", ["ann red blue\nbob blue\n", "ann\tred\tblue\nbob\tblue\n", "ann,red,blue\nbob,blue,\n"]
)
def test_further_columns_are_classes_only_if_asked_for(read, text):
    message = refusal(read, text)
    assert "which column holds the labels? There are column 2, column 3: label=2 takes" in message
    assert 'label="all" takes all of them for classes' in message
    assert classes(read(text, label="all")) == [["blue"], ["blue", "red"], []]
    assert classes(read(text, label=2)) == [["blue"], ["red"], []]
    assert classes(read(text, label="2")) == [["blue"], ["red"], []]


def test_the_column_of_labels_has_a_known_name_or_is_named(read):
    labels = read(CSV)
    assert classes(labels) == [["y"], ["x"], ["x"]]
    assert labels.unused == ["name", "city"]
    assert classes(read(CSV, label="city")) == [["Oslo"], ["Rome"], ["Rome"]]
    assert classes(read(CSV, label=" City")) == [["Oslo"], ["Rome"], ["Rome"]]
    assert classes(read(CSV, label=4)) == [["Oslo"], ["Rome"], ["Rome"]]
    assert classes(read(CSV, label="name")) == [["Bob"], ["Ann"], ["Cid"]]
    assert "label 'town' is no column, or several; there are 'id', 'name'" in refusal(
        read, CSV, label="town"
    )


ROWS = {"id": [1, 2, 3], "user_id": [30, 20, 10], "label": ["x", "y", "z"]}


def test_of_several_columns_of_ids_the_one_with_nodes_is_taken(read):
    text = pandas.DataFrame(ROWS).to_csv(index=False)
    for source in (lambda *given, **how: read(text, *given, **how), from_frame(ROWS)):
        assert classes(source(people(10, 20, 30))) == [["z"], ["y"], ["x"]]
        assert classes(source(people(10, 20, 30, 3))) == [["z"], ["y"], ["x"], []]
        message = refusal(source, people(*range(1, 40)))  # the numbers of the rows are nodes too
        assert "which column holds the ids of nodes?" in message
        assert 'id="id" or id="user_id"' in message
        labels = source(people(1, 10, 20, 30), id="user_id")
        assert (classes(labels), labels.unused) == ([[], ["z"], ["y"], ["x"]], ["id"])
        assert classes(source(people(1, 10, 20, 30), id=1)) == [["x"], [], [], []]
        assert "id 'uid' is no column" in refusal(source, people(1), id="uid")
        assert "holds the ids" in refusal(source, people(1), id="label", label="label")


def from_frame(columns):
    return lambda *given, **how: read_labels(pandas.DataFrame(columns), *given, **how)


def test_equal_columns_of_ids_are_one():
    twice = from_frame({"id": [1, 2], "node": [1, 2], "label": ["x", "y"]})
    assert classes(twice(people(1, 2))) == [["x"], ["y"]]


def test_unknown_or_several_known_names_are_refused_with_the_choice(read):
    text = CSV.replace("department", "team")
    message = refusal(read, text)
    assert "which column holds the labels? There are 'name', 'team', 'city'" in message
    assert 'label="name" takes a single one' in message
    message = refusal(read, CSV.replace("city", "group"))
    assert 'label="department" takes a single one' in message


def test_quotes_are_those_of_edge_lists(read):
    text = 'id,label\n"bob","x, y"\n"a ""b""","two\nlines"\n#tag,"say ""hi"""\n'
    labels = read(text, people("bob", 'a "b"', "#tag"))
    assert classes(labels) == [["x, y"], ["two\nlines"], ['say "hi"']]
    message = refusal(read, 'ann,x\nbob,"y\n')
    assert "line 2: a double quote opens in this line and is never closed" in message
    assert "line 1: a double quote" in refusal(read, 'id,label,"x,y\nann,x\n')


def test_ids_may_begin_with_the_mark_of_a_comment(read):
    assert classes(read("#a x\n#b y\n", people("#a", "#b"))) == [["x"], ["y"]]


def test_a_line_that_lacks_something_is_reported(read):
    assert "line 3: expected a node id and a label" in refusal(read, "ann x\n\nbob\n")
    assert "line 2: this line has 3 columns, but the header names 2" in refusal(
        read, "id label\nann x y\n"
    )
    assert "line 3: this looks like a comment" in refusal(read, "ann x\nbob y\n# note on it\n")
    assert "comments=" not in refusal(read, "# x\n")
    assert "expected labels, but the file is empty" in refusal(read, "\n")
    assert "found one column" in refusal(read, "ann\nbob\n")


def test_an_empty_field_is_no_class(read):
    assert classes(read("id,label\nann,\nbob,x\n")) == [["x"], [], []]


def test_strangers_are_left_out_and_listed(read):
    labels = read("ann x\nzed y\nbob x\nzed z\n")
    assert labels.strangers == ["zed"]
    assert labels.names == ["x"]
    message = refusal(read, "1 x\n2 y\n", people(10, 11))
    assert "they are such as 1, expected ids such as 10" in message


def test_labels_in_compressed_files_and_parquet(tmp_path):
    graph = Graph.from_edges([(1, 2), (2, 3)])
    path = tmp_path / "labels.txt.gz"
    path.write_bytes(gzip.compress(b"node group\n3 a\n1 b\n"))
    assert classes(read_labels(path, graph)) == [["b"], [], ["a"]]
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(in_arrow({"node": [3, 1], "group": ["a", "b"]}), tmp_path / "l.parquet")
    assert classes(read_labels(tmp_path / "l.parquet", graph)) == [["b"], [], ["a"]]


def test_labels_may_have_blanks_where_fields_are_separated_otherwise(read):
    labels = read("ann lee\tmachine learning\nbob\tlogic\n", people("ann lee", "bob"))
    assert labels.matrix.tolist() == [[False, True], [True, False]]


def test_of_equally_large_classes_the_first_is_shown():
    assert one_class(np.array([[0, 1, 1], [1, 0, 0]], bool)).tolist() == [1, 0]
    assert one_class(np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist() == [2, 2, -1]


texts = st.text(
    st.one_of(st.sampled_from('ab01 "",;\n#%é北'), st.characters(codec="utf-8")),
    min_size=1,
    max_size=6,
).filter(lambda text: not set(text) & set("\0\r\ufeff") and text == text.strip(" \t\n"))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.dictionaries(
        texts.filter(lambda text: text != "node"), st.tuples(texts, texts), min_size=1, max_size=8
    ),
    delimiter=st.sampled_from(",;\t"),
)
def test_whatever_the_csv_module_writes_comes_back(tmp_path, table, delimiter):
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["node", "town", "label"])
        writer.writerows([node, town, label] for node, (town, label) in table.items())
    ids = sorted(table, key=hash)
    nodes = Embedding(ids, np.ones((len(ids), 1)))
    for label, place in ((None, 1), ("town", 0), (2, 0)):
        labels = read_labels(tmp_path / "labels.csv", nodes, label=label)
        assert classes(labels) == [[table[node][place]] for node in ids]


# -- tables ------------------------------------------------------------------------------------

TABLE = {"team": ["x", "y", "x"], "user": ["ann", "bob", "zed"], "city": ["Rome", "Oslo", None]}


def test_a_number_is_a_name_where_names_of_columns_are_numbers():
    table = pandas.DataFrame([["ann", "red", "old"], ["bob", "blue", "new"]])
    nodes = people("ann", "bob")
    assert classes(read_labels(table, nodes, id=0, label=1)) == [["red"], ["blue"]]
    assert "label 3 is no column, or several; there are 0, 1, 2" in refusal(
        read_labels, table, nodes, id=0, label=3
    )


FRAME = pandas.DataFrame(TABLE)


def in_polars(table):
    return pytest.importorskip("polars").DataFrame(table)


def in_arrow(table):
    return pytest.importorskip("pyarrow").table(table)


def in_duckdb(table):
    return pytest.importorskip("duckdb").from_arrow(in_arrow(table))


@pytest.mark.parametrize(
    "made",
    [pandas.DataFrame, in_polars, lambda table: in_polars(table).lazy(), in_arrow, in_duckdb],
)
def test_tables_follow_the_rule_of_files(made):
    source = made(TABLE)
    assert "There are 'team', 'city'" in refusal(read_labels, source, THREE)
    labels = read_labels(source, THREE, label="team")
    assert classes(labels) == [["y"], ["x"], []]
    assert (labels.strangers, labels.unused) == (["zed"], ["city"])
    assert classes(read_labels(source, THREE, label="all")) == [["Oslo", "y"], ["Rome", "x"], []]


def test_an_index_of_ids_is_the_column_of_ids():
    frame = FRAME.set_index("user")
    assert classes(read_labels(frame[["team"]], THREE)) == [["y"], ["x"], []]
    assert classes(read_labels(frame, THREE, label="city")) == [["Oslo"], ["Rome"], []]
    assert "not from a list" in refusal(read_labels, ["x"], THREE)


def test_many_classes_that_nodes_share_are_classes(write):
    graph = Graph.from_edges([(node, node + 1) for node in range(1199)])
    pairs = [(node, (node * 7 + shift) % 1100) for node in range(1200) for shift in range(3)]
    path = write("".join(f"{node} {name}\n" for node, name in pairs), "labels.txt")
    assert len(read_labels(path, graph).names) == 1100
