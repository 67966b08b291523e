"""Which columns of a table are edges: one rule for text files, Parquet, and tables in memory."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse

from helpers.graphs import assert_same
from helpers.refusals import refusal
from reinforce2vec import Graph, InputError, read_graph

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


def read_csv(columns, folder, **options):
    path = folder / "edges.csv"
    pandas.DataFrame(columns).to_csv(path, index=False)
    return read_graph(path, **options)


def read_parquet(columns, folder, **options):
    path = folder / "edges.parquet"
    pandas.DataFrame(columns).to_parquet(path)
    return read_graph(path, **options)


KINDS = {
    "csv": read_csv,
    "parquet": read_parquet,
    "pandas": lambda columns, _, **options: Graph.from_any(pandas.DataFrame(columns), **options),
    "polars": lambda columns, _, **options: Graph.from_any(polars.DataFrame(columns), **options),
    "lazy": lambda columns, _, **options: Graph.from_any(polars.LazyFrame(columns), **options),
    "arrow": lambda columns, _, **options: Graph.from_any(pyarrow.table(columns), **options),
}


@pytest.fixture(params=KINDS)
def read(request, tmp_path):
    """Makes a graph from columns, as a file or a table of one kind."""
    return lambda columns, **options: KINDS[request.param](columns, tmp_path, **options)


PAIRS = [("ann", "bob"), ("bob", "cid"), ("ann", "cid")]
ENDS = {"source": ["ann", "bob", "ann"], "target": ["bob", "cid", "cid"]}
NUMBERS = [3, 1, 2]
TIMES = [1_600_000_000, 1_600_000_060, 1_600_000_120]
PLAIN, WEIGHTED = Graph.from_edges(PAIRS), Graph.from_edges(PAIRS, NUMBERS)


def columns_named(first, second, **more):
    return {first: ENDS["source"], second: ENDS["target"], **more}


# -- ids ---------------------------------------------------------------------------------------


def test_known_names_decide_wherever_they_stand(read):
    assert_same(read({"time": TIMES, **columns_named("src", "dst")}), PLAIN)
    swapped = {"Target": ENDS["target"], "note": ["x", "y", "z"], "SOURCE": ENDS["source"]}
    directed = read(swapped, directed=True)
    assert_same(directed, Graph.from_edges(PAIRS, directed=True))


def test_two_columns_need_no_names(read):
    assert_same(read(columns_named("who", "whom")), PLAIN)
    assert_same(read(columns_named("who", "whom", weight=NUMBERS)), WEIGHTED)
    assert_same(read(columns_named("who", "whom", timestamp=TIMES)), PLAIN)


def test_three_columns_without_known_names_are_refused_with_the_choice_spelled_out(read):
    columns = {"id": [1, 2, 3], **columns_named("user", "friend")}
    message = refusal(read, columns)
    assert (
        'which columns hold the two nodes of an edge? There are "id", "user", "friend"' in message
    )
    assert 'source="user", target="friend"' in message
    graph = read(columns, source="user", target="friend")
    assert_same(graph, PLAIN)
    assert graph.notes[:3] == ('nodes from "user" and "friend"', "no weights", 'left out "id"')


def test_two_known_pairs_are_ambiguous(read):
    columns = {**ENDS, "u": [1, 2, 3], "v": [4, 5, 6]}
    message = refusal(read, columns)
    assert '"source", "target" or "u", "v"' in message
    assert_same(read(columns, source="source", target="target", weighted=False), PLAIN)
    assert read(columns, source="u", target="v").ids.tolist() == [1, 4, 2, 5, 3, 6]


@pytest.mark.parametrize(
    "columns",
    [
        {"user": ENDS["source"], "year": [2001, 2002, 2003], "rating": NUMBERS},
        {"user": ENDS["source"], "timestamp": TIMES, "amount": NUMBERS},
        {"user": ENDS["source"], "weight": NUMBERS, "amount": NUMBERS},
        {"id": NUMBERS, "label": ["x", "y", "x"]},
        {"id": NUMBERS, "name": ENDS["source"]},
        {"id": NUMBERS, "score": [0.5, 4, 0.25]},
        {"member": ENDS["source"], "score": [0.5, 1, 0.25]},
        {"member": [1, 2, 3], "score": [0.5, 1, 0.25]},
    ],
)
def test_two_columns_that_may_be_something_else_are_refused(read, columns):
    message = refusal(read, columns)
    assert "which columns hold the two nodes of an edge? There are" in message
    first, *_, last = columns
    assert read(columns, source=first, target=last, weighted=False, bipartite=False).n_edges == 3


def test_numbers_beside_words_are_ids_if_their_name_says_so(read):
    ratings = {"user": ENDS["source"], "movie_id": [7, 8, 9], "timestamp": TIMES}
    assert read(ratings).n_edges == 3
    assert read({"node": [1, 2, 3], "neighbor": [2, 3, 1], "year": [1, 2, 3]}).n_edges == 3
    assert read({"member": ENDS["source"], "group": [7, 8, 9]}).n_edges == 3


def test_a_pandas_index_is_no_id(read):
    for name in ("Unnamed: 0", "index"):
        assert_same(read({name: [0, 1, 2], **columns_named("who", "whom")}), PLAIN)
        assert_same(read({name: [0, 4, 7], **ENDS}), PLAIN)
    message = refusal(read, {"index": [5, 3, 3], **columns_named("who", "whom")})
    assert 'There are "index", "who", "whom"' in message


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_files_with_a_pandas_index(tmp_path, separator):
    path = tmp_path / "edges.csv"
    for names in (("source", "target"), ("who", "whom")):
        pandas.DataFrame(columns_named(*names)).to_csv(path, sep=separator)
        assert_same(read_graph(path), PLAIN)
        pandas.DataFrame(columns_named(*names)).iloc[1:].to_parquet(tmp_path / "edges.parquet")
        rest = read_graph(tmp_path / "edges.parquet")
        assert_same(rest, Graph.from_edges(PAIRS[1:]))


# -- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["weight", "Weights", "w", "edge_weight"])
def test_weights_by_name(read, name):
    graph = read({name: NUMBERS, **ENDS, "count": NUMBERS})
    assert_same(graph, WEIGHTED)
    assert f'weights from "{name}"' in graph.notes
    assert 'left out "count"' in graph.notes
    assert_same(read({name: NUMBERS, **ENDS}, weighted=False), PLAIN)


@pytest.mark.parametrize("name", ["timestamp", "time", "year", "id", "type", "label"])
def test_numbers_that_are_known_to_be_something_else_are_no_weights(read, name):
    graph = read({**ENDS, name: TIMES})
    assert_same(graph, PLAIN)
    assert f'left out "{name}"' in graph.notes


def test_numbers_that_may_be_weights_are_refused_with_the_choice_spelled_out(read):
    columns = {**ENDS, "count": NUMBERS, "note": ["x", "y", "z"]}
    message = refusal(read, columns)
    assert '"count" may hold weights: weight="count" makes' in message
    assert "weighted=False leaves numbers out" in message
    assert_same(read(columns, weight="count"), WEIGHTED)
    assert_same(read(columns, weighted=True), WEIGHTED)
    assert_same(read(columns, weighted=False), PLAIN)
    assert '"count", "score" may hold' in refusal(read, {**columns, "score": NUMBERS})
    assert '"w", "weight" may hold' in refusal(read, {**ENDS, "w": NUMBERS, "weight": NUMBERS})


def test_a_named_weight_leaves_two_columns(read):
    columns = columns_named("user", "friend", rating=NUMBERS, timestamp=TIMES)
    assert 'There are "user", "friend", "rating", "timestamp"' in refusal(read, columns)
    assert_same(read(columns, weight="rating"), WEIGHTED)
    assert "exclude each other" in refusal(read, columns, weight="rating", weighted=False)


def test_columns_that_are_not_there(read):
    message = refusal(read, {**ENDS, "count": NUMBERS}, weight="counts")
    assert 'weight="counts": there is no such column: the columns are' in message
    assert '"source", "target", "count"' in message
    assert "there is no such column" in refusal(read, ENDS, weight="\udcff")  # in no UTF-8
    assert 'source="target" needs target=... as well' in refusal(read, ENDS, source="target")
    message = refusal(read, ENDS, source="target", target="target")
    assert "must be different columns" in message


# -- text without a header ---------------------------------------------------------------------


@pytest.fixture
def read_text(tmp_path):
    def read(text, **options):
        path = tmp_path / "edges.txt"
        path.write_text(text)
        return read_graph(path, **options)

    return read


def test_the_third_column_of_three_is_the_weight(read_text):
    graph = read_text("1 2 0.5\n2 3 4\n")
    assert graph.weights.tolist() == [0.5, 0.5, 4, 4]
    assert "weights from column 3" in graph.notes
    assert "no weights" in read_text("1 2\n2 3\n").notes


@pytest.mark.parametrize("times", [(1289241911, 1289241942), (1289241911728, 1289241942004)])
def test_times_in_the_third_column_are_refused_with_the_choice_spelled_out(read_text, times):
    text = f"1 2 {times[0]}\n2 3 {times[1]}\n"
    message = refusal(read_text, text)
    assert "line 1: column 3 may hold times or weights: weight=3 makes" in message
    assert not read_text(text, weighted=False).weighted
    assert read_text(text, weight=3).weights[0] == times[0]
    assert read_text(f"{text}3 4 7\n").weighted


def test_four_columns_are_refused_with_the_choice_spelled_out(read_text):
    text = "6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n"
    message = refusal(read_text, text)
    assert "column 3, column 4 may hold weights: weight=3 makes" in message
    assert read_text(text, weight=3).weights.tolist() == [4, 2, 4, 2]
    assert read_text(text, weight="3").weights.tolist() == [4, 2, 4, 2]
    graph = read_text(text, source=2, target=1, directed=True, weighted=False)
    assert graph.ids.tolist() == [2, 6, 5]
    assert "there is no such column" in refusal(read_text, text, weight=5)
    assert not read_text("1 2 friend x\n").weighted


def test_columns_of_a_file_with_a_header_also_go_by_numbers(read_text):
    text = "user,friend,count\nann,bob,3\nbob,cid,1\nann,cid,2\n"
    assert_same(read_text(text, source=1, target=2, weight=3), WEIGHTED)


def test_a_bad_weight_names_its_line_and_column(read_text):
    message = refusal(read_text, "weight,source,target\n1,a,b\n,b,c\n")
    assert message.endswith('line 3: column 1 is empty (",b,c")')
    message = refusal(read_text, "source,target,note,weight\na,b,x,-1\n")
    assert "line 2: expected a positive weight in column 4, found" in message


def test_words_above_numbers_are_a_header_in_any_column(read_text):
    text = "nr,user,friend\n5,ann,bob\n9,bob,cid\n"
    assert 'There are "nr", "user", "friend"' in refusal(read_text, text)
    assert_same(
        read_text("user,item\nann,tea\nbob,tea\n"),
        Graph.from_edges([("ann", "tea"), ("bob", "tea")]),
    )


def test_a_header_of_unknown_words_above_words_is_warned_of(read_text):
    edges = "".join(f"n{i},n{i + 1}\n" for i in range(20))
    with pytest.warns(UserWarning, match='"alpha" and "beta" are in no other line'):
        assert read_text("alpha,beta\n" + edges).n_nodes == 23
    assert read_text("alpha,beta\n" + edges, header=True, bipartite=False).n_nodes == 21
    assert read_text("alpha,beta\n" + edges, header=False).n_nodes == 23  # warnings are errors
    assert read_text(edges).n_nodes == 21


def test_integers_beside_whole_decimals_are_refused(read_text):
    for text in ("95,123.0\n123,95.0\n", "source,target\n95,1\n96,123.0\n"):
        message = refusal(read_text, text)
        edge = 'edge 1 ("95" and "123.0")' if text[0] == "9" else 'edge 2 ("96" and "123.0")'
        assert f'{edge}: the id "123.0" may be a missing value, a decimal' in message
        assert 'such as "95": write all ids alike' in message
    assert read_text("1.0,2.0\n2.0,3.0\n").n_nodes == 3
    assert read_text("1,2.0\nv1,2.1\n").n_nodes == 4


@pytest.mark.parametrize("word", ["NaN", "nan", "NA", "<NA>", "null", "None"])
def test_a_missing_id_among_integers_is_refused(read_text, word):
    message = refusal(read_text, f"source,target\n1,2\n2,3\n{word},1\n2,{word}\n")
    assert f'edge 3 ("{word}" and "1"): the id "{word}" may be a missing value' in message
    assert read_text(f"a,b\nb,c\nc,{word}\n").n_nodes == 4


def test_a_header_that_lacks_a_name_is_refused(read_text):
    message = refusal(read_text, "source,target\n1,ann,bob\n2,bob,cid\n")  # as R writes row names
    assert "line 1: the header names 2 columns, but lines below have 3" in message


def test_frames_without_names_are_read_as_files_without_a_header():
    text = [[1, 2, 0.5], [2, 3, 4.0]]
    assert Graph.from_any(pandas.DataFrame(text)).weights.tolist() == [0.5, 0.5, 4, 4]
    rows = polars.DataFrame(text, orient="row")
    assert rows.columns[0] == "column_0"
    assert Graph.from_any(rows).weighted


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
    assert Graph.from_any(some, columns=("who", 2019), bipartite=False).ids.tolist() == [
        "a",
        "b",
        "c",
    ]
    assert "no such column" in refusal(Graph.from_any, some, columns=(2, 3))
    names = numbered.set_axis(["kind", "who", "whom"], axis=1)
    assert Graph.from_any(names, columns=(2, 3)).ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("times", [(1289241911, 1289241942), (1289241911728.5, 1289241942004.0)])
def test_times_in_the_third_column_of_frames_without_names(times, tmp_path):
    rows = [["a", "b", times[0]], ["b", "c", times[1]]]
    numbered = pandas.DataFrame(rows, columns=["0", "1", "2"])
    numbered.to_parquet(tmp_path / "edges.parquet")
    table = pyarrow.Table.from_pandas(numbered, preserve_index=False)
    sources = [
        pandas.DataFrame(rows),
        pandas.DataFrame([[a, b, Decimal(time)] for a, b, time in rows]),
        polars.DataFrame(rows, orient="row"),
        polars.LazyFrame(rows, orient="row"),
        table,
        tmp_path / "edges.parquet",
    ]
    for source in sources:
        assert "may hold times or weights: weight=" in refusal(Graph.from_any, source)
        assert not Graph.from_any(source, weighted=False).weighted
    assert "times or weights" in refusal(Graph.from_any, table.to_reader())
    assert not Graph.from_any(table.to_reader(), weighted=False).weighted
    assert Graph.from_any(pandas.DataFrame([*rows, ["c", "d", 7]])).weighted


# -- what has no columns -----------------------------------------------------------------------


def test_columns_are_refused_where_there_are_none(tmp_path):
    networkx = pytest.importorskip("networkx")
    message = refusal(Graph.from_any, networkx.path_graph(3), weight="w")
    assert message == 'weight="w" is for tables and edge lists, not for a networkx Graph'
    assert "not for a list" in refusal(Graph.from_any, [(1, 2)], source="a", target="b")
    path = tmp_path / "g.graphml"
    networkx.write_graphml(networkx.path_graph(3), path)
    assert "not for a .graphml file" in refusal(read_graph, path, source="a", target="b")
    assert "which is a graph already" in refusal(Graph.from_any, PLAIN, nodes=[1])


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
        assert "bipartite=True" in refusal(read, columns)
        first, second = names
        assert "bipartite=True" in refusal(read, columns, source=first, target=second)


def test_bipartite_without_names_and_where_it_has_no_meaning(read_text):
    assert read_text("1 1\n2 1\n", bipartite=True).ids.tolist() == [
        *("source:1", "target:1", "source:2")
    ]
    assert Graph.from_any([(1, 1)], bipartite=True).ids.tolist() == ["source:1", "target:1"]
    networkx = pytest.importorskip("networkx")
    assert "not for a networkx Graph" in refusal(
        Graph.from_any, networkx.path_graph(3), bipartite=True
    )


def test_rows_and_columns_of_a_matrix_are_two_kinds():
    dense = np.array([[0, 2, 0], [1, 0, 0]])
    expected = Graph.from_edges(
        [("row:0", "column:1"), ("row:1", "column:0")],
        [2, 1],
        nodes=["row:0", "row:1", "column:0", "column:1", "column:2"],
    )
    for matrix in (dense, scipy.sparse.csr_array(dense)):
        assert_same(Graph.from_any(matrix, bipartite=True), expected)
    assert "bipartite=True reads rows and columns" in refusal(
        Graph.from_any, scipy.sparse.csr_array(dense)
    )
    assert Graph.from_any(np.eye(3), bipartite=True).n_nodes == 6


def test_messages_of_tables_say_where_options_are_given():
    frame = pandas.DataFrame({"id": [1], **{"a": [1], "b": [2]}})
    with pytest.raises(InputError, match=re.escape("name two in Graph.from_any: source=")):
        Graph.from_any(frame)
