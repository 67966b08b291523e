"""Which columns of a table are edges: one rule for text files, Parquet, and tables in memory."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse

from helpers.graphs import assert_same
from helpers.refusals import refusal
from reinforce2vec import Graph, read_graph

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


def read_csv(table, folder, **options):
    pandas.DataFrame(table).to_csv(folder / "edges.csv", index=False)
    return read_graph(folder / "edges.csv", **options)


def read_parquet(table, folder, **options):
    pandas.DataFrame(table).to_parquet(folder / "edges.parquet")
    return read_graph(folder / "edges.parquet", **options)


KINDS = {
    "csv": read_csv,
    "parquet": read_parquet,
    "pandas": lambda table, _, **options: Graph.from_any(pandas.DataFrame(table), **options),
    "polars": lambda table, _, **options: Graph.from_any(polars.DataFrame(table), **options),
    "lazy": lambda table, _, **options: Graph.from_any(polars.LazyFrame(table), **options),
    "arrow": lambda table, _, **options: Graph.from_any(pyarrow.table(table), **options),
}


@pytest.fixture(params=KINDS)
def read(request, tmp_path):
    """Makes a graph from columns, as a file or a table of one kind."""
    return lambda table, **options: KINDS[request.param](table, tmp_path, **options)


PAIRS = [("ann", "bob"), ("bob", "cid"), ("ann", "cid")]
FIRST, SECOND = ["ann", "bob", "ann"], ["bob", "cid", "cid"]
ENDS = {"source": FIRST, "target": SECOND}
NUMBERS = [3, 1, 2]
TIMES = [1_600_000_000, 1_600_000_060, 1_600_000_120]
PLAIN = Graph.from_edges(PAIRS)
FRIENDS = {"user": FIRST, "friend": SECOND}
WHOM = {"who": FIRST, "whom": SECOND}

# -- what is read ------------------------------------------------------------------------------

READ = [
    (None, {"time": TIMES, "src": FIRST, "dst": SECOND}, {}),
    (None, {"note": ["x", "y", "z"], "Target": SECOND, "SOURCE": FIRST}, {}),
    (None, WHOM, {}),
    (None, {**WHOM, "timestamp": TIMES}, {}),
    (NUMBERS, {**WHOM, "weight": NUMBERS}, {}),
    (None, {"id": NUMBERS, **FRIENDS}, {"source": "user", "target": "friend"}),
    (None, {**ENDS, "u": NUMBERS, "v": NUMBERS}, {"columns": "source,target"}),
    *((None, {name: [0, 1, 2], **WHOM}, {}) for name in ("Unnamed: 0", "index")),
    (None, {"index": [0, 4, 7], **ENDS}, {}),
    *(
        (NUMBERS, {name: NUMBERS, **ENDS, "count": NUMBERS}, {})
        for name in ("weight", "Weights", "w", "edge_weight")
    ),
    *((None, {**ENDS, name: TIMES}, {}) for name in ("timestamp", "year", "id", "type", "label")),
    (None, {"weight": NUMBERS, **ENDS}, {"weighted": False}),
    (NUMBERS, {**ENDS, "count": NUMBERS}, {"weight": "count"}),
    (NUMBERS, {**ENDS, "count": NUMBERS}, {"weighted": True}),
    (NUMBERS, {**ENDS, "count": NUMBERS}, {"columns": ("source", "target", "count")}),
    (NUMBERS, {**ENDS, "count": NUMBERS}, {"columns": "1, 2, 3"}),
    (None, {**ENDS, "count": NUMBERS}, {"columns": (1, "target")}),
    (None, {**ENDS, "count": NUMBERS}, {"weighted": False}),
    (NUMBERS, {**FRIENDS, "rating": NUMBERS, "timestamp": TIMES}, {"weight": "rating"}),
    (NUMBERS, {**FRIENDS, "rating": NUMBERS}, {"source": 1, "target": 2, "weight": 3}),
]


@pytest.mark.parametrize(("weights", "table", "options"), READ)
def test_what_is_read(read, weights, table, options):
    for directed in (True, False):
        graph = read(table, directed=directed, **options)
        assert_same(graph, Graph.from_edges(PAIRS, weights, directed=directed))


def test_numbers_beside_words_are_ids_if_their_name_says_so(read):
    assert read({"user": FIRST, "movie_id": [7, 8, 9], "timestamp": TIMES}).n_edges == 3
    assert read({"node": [1, 2, 3], "neighbor": [2, 3, 1], "year": [1, 2, 3]}).n_edges == 3
    assert read({"member": FIRST, "group": [7, 8, 9]}).n_edges == 3


def test_what_was_decided_is_in_the_report(read):
    notes = read({"id": NUMBERS, **ENDS, "weight": NUMBERS, "note": ["x", "y", "z"]}).notes
    chosen = 'nodes from "source" and "target"', 'weights from "weight"', 'left out "id", "note"'
    assert notes[:3] == chosen
    assert "no weights" in read(ENDS).notes


# -- what is refused ---------------------------------------------------------------------------

UNCLEAR = "which columns hold the two nodes of an edge? There are"
REFUSED = [
    ({"id": NUMBERS, **FRIENDS}, {}, 'name two.*source="user", target="friend"'),
    ({**ENDS, "u": NUMBERS, "v": NUMBERS}, {}, 'may be "source", "target" or "u", "v"'),
    ({"user": FIRST, "year": [2001, 2002, 2003], "rating": NUMBERS}, {}, UNCLEAR),
    ({"user": FIRST, "timestamp": TIMES, "amount": NUMBERS}, {}, UNCLEAR),
    ({"user": FIRST, "weight": NUMBERS, "amount": NUMBERS}, {}, UNCLEAR),
    ({"id": NUMBERS, "label": ["x", "y", "x"]}, {}, UNCLEAR),
    ({"id": NUMBERS, "score": [0.5, 4, 0.25]}, {}, UNCLEAR),
    ({"member": FIRST, "score": [0.5, 1, 0.25]}, {}, UNCLEAR),
    ({"index": [5, 3, 3], **WHOM}, {}, f'{UNCLEAR} "index", "who", "whom"'),
    ({"a": NUMBERS}, {}, "(two|2) columns.*found 1"),
    ({**ENDS, "count": NUMBERS}, {}, '"count" may hold weights: weight="count"'),
    ({**ENDS, "count": NUMBERS, "score": NUMBERS}, {}, '"count", "score" may hold'),
    ({**ENDS, "w": NUMBERS, "weight": NUMBERS}, {}, '"w", "weight" may hold'),
    ({**ENDS, "t": TIMES}, {}, '"t" may hold times or weights'),
    (ENDS, {"weighted": True}, "weight"),
    (ENDS, {"weight": "target", "weighted": False}, "exclude each other"),
    (ENDS, {"columns": (1, 2), "weight": 3}, "exclude each other"),
    (ENDS, {"weight": "counts"}, 'weight="counts": there is no such column.*"source", "target"'),
    (ENDS, {"weight": "\udcff"}, "no such column"),  # in no UTF-8
    (ENDS, {"columns": (1, 4)}, "no such column"),
    (ENDS, {"source": "target"}, 'source="target" needs target=... as well'),
    (ENDS, {"source": "target", "target": "target"}, "must be different columns"),
    (ENDS, {"columns": (1, 2), "weighted": True}, "names no column of weights"),
    *((ENDS, {"columns": one}, "two or three columns") for one in ((1,), "src", 5, (1, None))),
]


@pytest.mark.parametrize(("table", "options", "message"), REFUSED)
def test_what_is_refused(read, table, options, message):

    assert re.search(message.replace("?", r"\?"), refusal(read, table, **options))


# -- text without a header ---------------------------------------------------------------------


@pytest.fixture
def read_text(tmp_path):
    def read(text, **options):
        path = tmp_path / "edges.txt"
        path.write_text(text)
        return read_graph(path, **options)

    return read


@pytest.mark.parametrize(
    "third", [1289241911, 1289241911728.5, 1700000000123456, 1700000000123456789, 20240229, 1999]
)
def test_times_in_the_third_column_are_no_weights_in_silence(read_text, tmp_path, third):
    text = f"a b {third}\nb c {third}\n"
    assert "line 1: column 3 may hold times or weights: weight=3" in refusal(read_text, text)
    assert not read_text(text, weighted=False).weighted
    assert read_text(text, weight=3).weights[0] == third
    assert read_text(f"{text}c d 7\n").weighted
    rows = [["a", "b", third], ["b", "c", third]]
    numbered = pandas.DataFrame(rows, columns=["0", "1", "2"])
    numbered.to_parquet(tmp_path / "edges.parquet")
    sources = [
        pandas.DataFrame(rows),
        pandas.DataFrame([[a, b, Decimal(time)] for a, b, time in rows]),
        polars.DataFrame(rows, orient="row"),
        polars.LazyFrame(rows, orient="row"),
        pyarrow.Table.from_pandas(numbered, preserve_index=False),
        tmp_path / "edges.parquet",
    ]
    for source in sources:
        assert "may hold times or weights: weight=" in refusal(Graph.from_any, source)
        assert not Graph.from_any(source, weighted=False).weighted
    assert Graph.from_any(pandas.DataFrame([*rows, ["c", "d", 7]])).weighted


def test_numbers_of_rows_are_no_weights_in_silence(read_text):
    text = "".join(f"{i} {i * i + 7} {i}\n" for i in range(1, 20))
    assert "numbers of rows or weights" in refusal(read_text, text)
    assert not read_text(text, weighted=False).weighted


def test_four_columns_are_refused_with_the_choice_spelled_out(read_text):
    text = "6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n"
    assert "column 3, column 4 may hold weights: weight=3" in refusal(read_text, text)
    assert read_text(text, weight="3").weights.tolist() == [4, 2, 4, 2]
    assert "there is no such column" in refusal(read_text, text, weight=5)
    assert "there is no such column" in refusal(read_text, text, columns=("src", "dst"))
    assert not read_text("1 2 friend x\n").weighted
    assert UNCLEAR in refusal(read_text, "nr,user,friend\n5,ann,bob\n9,bob,cid\n")


def test_frames_without_names_are_read_as_files_without_a_header():
    text = [[1, 2, 0.5], [2, 3, 4.0]]
    assert Graph.from_any(pandas.DataFrame(text)).weights.tolist() == [0.5, 0.5, 4, 4]
    rows = polars.DataFrame(text, orient="row")
    assert rows.columns[0] == "column_0"
    assert Graph.from_any(rows).weighted
    two = pandas.DataFrame({0: [1, 2], 1: [2, 3]})
    assert "two columns of node ids, found 1" in refusal(Graph.from_any, two, weight=1)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_with_a_pandas_index(tmp_path, separator):
    for frame in map(pandas.DataFrame, (ENDS, WHOM)):
        frame.to_csv(tmp_path / "edges.csv", sep=separator)
        assert_same(read_graph(tmp_path / "edges.csv"), PLAIN)
        frame.iloc[1:].to_parquet(tmp_path / "edges.parquet")
        assert_same(read_graph(tmp_path / "edges.parquet"), Graph.from_edges(PAIRS[1:]))


def test_a_number_is_a_name_where_names_are_numbers_and_else_a_position():
    rows = [["x", "a", "b"], ["y", "b", "c"]]
    numbered = pandas.DataFrame(rows)
    written = pyarrow.table({str(name): numbered[name] for name in numbered})
    for table in (numbered, written, polars.DataFrame(rows, schema=["0", "1", "2"], orient="row")):
        assert Graph.from_any(table, columns=(1, 2)).ids.tolist() == ["a", "b", "c"]
        assert Graph.from_any(table, columns="0,1").ids.tolist() == ["x", "a", "y", "b"]
        message = refusal(Graph.from_any, table, columns=(1, 3))
        assert message.startswith("target=3: there is no such column: the columns are column 0, ")
    some = numbered.set_axis(["kind", "who", 2019], axis=1)
    graph = Graph.from_any(some, columns=("who", 2019), bipartite=False)
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert "no such column" in refusal(Graph.from_any, some, columns=(2, 3))
    names = numbered.set_axis(["kind", "who", "whom"], axis=1)
    assert Graph.from_any(names, columns=(2, 3)).ids.tolist() == ["a", "b", "c"]


# -- two kinds of nodes ------------------------------------------------------------------------

RATINGS = {"user": [1, 2, 3], "item": [1, 1, 7], "weight": [5, 4, 3]}


def test_equal_ids_of_two_kinds_are_two_nodes(read):
    graph = read(RATINGS, bipartite=True)
    pairs = [("user:1", "item:1"), ("user:2", "item:1"), ("user:3", "item:7")]
    assert_same(graph, Graph.from_edges(pairs, [5, 4, 3]))


def test_columns_that_share_ids_are_refused_unless_their_names_are_alike(read):
    message = refusal(read, RATINGS)
    assert '"user" and "item" share 1 id, such as 1: bipartite=True' in message
    assert read(RATINGS, bipartite=False).n_nodes == 4
    assert read(RATINGS | {"item": [101, 101, 107]}).n_nodes == 5
    for names in (("user", "friend"), ("gene_a", "gene_b"), ("Protein 1", "Protein 2"), ("a", "b")):
        assert read(dict(zip(names, ([1, 2], [2, 3]), strict=True))).n_nodes == 3
    for names in (("UserID", "MovieID"), ("customer_id", "products"), ("tag", "other")):
        columns = dict(zip(names, ([1, 2], [2, 3]), strict=True))
        first, second = names
        for options in ({}, {"source": first, "target": second}):
            assert "bipartite=True" in refusal(read, columns, **options)


def test_bipartite_without_names_and_where_it_has_no_meaning(read_text):
    graph = read_text("1 1\n2 1\n", bipartite=True)
    assert graph.ids.tolist() == ["source:1", "target:1", "source:2"]
    assert Graph.from_any([(1, 1)], bipartite=True).ids.tolist() == ["source:1", "target:1"]
    networkx = pytest.importorskip("networkx")
    path = networkx.path_graph(3)
    assert "not for a networkx Graph" in refusal(Graph.from_any, path, bipartite=True)
    assert "not for a networkx Graph" in refusal(Graph.from_any, path, source="a", target="b")
    assert "which is a graph already" in refusal(Graph.from_any, PLAIN, nodes=[1])


def test_rows_and_columns_of_a_matrix_are_two_kinds():
    dense = np.array([[0, 2, 0], [1, 0, 0]])
    pairs = [("row:0", "column:1"), ("row:1", "column:0")]
    nodes = ["row:0", "row:1", "column:0", "column:1", "column:2"]
    expected = Graph.from_edges(pairs, [2, 1], nodes=nodes)
    for matrix in (dense, scipy.sparse.csr_array(dense)):
        assert_same(Graph.from_any(matrix, bipartite=True), expected)
    message = refusal(Graph.from_any, scipy.sparse.csr_array(dense))
    assert "bipartite=True reads rows and columns" in message
    assert Graph.from_any(np.eye(3), bipartite=True).n_nodes == 6


def test_messages_of_tables_say_where_options_are_given():
    frame = pandas.DataFrame({"id": [1], "a": [1], "b": [2]})
    assert "name two in Graph.from_any: source=" in refusal(Graph.from_any, frame)
