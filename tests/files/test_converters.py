"""Other packages' objects become the graphs they hold."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from functools import partial

import numpy as np
import pytest
import scipy.sparse

from helpers import refusals
from helpers.graphs import assert_same
from reinforce2vec import Graph, planted_groups

from_any = Graph.from_any
refusal = partial(refusals.refusal, from_any)


# -- what needs no package ---------------------------------------------------------------------


def test_graphs_data_sets_and_paths(tmp_path):
    graph = Graph.from_edges([(1, 2)])
    assert from_any(graph) is graph
    blocks = planted_groups(50, 2, degree=6)
    assert from_any(blocks) is blocks.graph
    path = tmp_path / "e.txt"
    path.write_text("a:b\n")
    assert from_any(str(path), delimiter=":", directed=True).directed
    assert from_any(path, delimiter=":").ids.tolist() == ["a", "b"]


def test_lists_and_arrays_of_edges():
    pairs = [("a", "b"), ("b", "c")]
    assert_same(from_any(pairs), Graph.from_edges(pairs))
    assert_same(from_any(np.array(pairs[:1])), Graph.from_edges(pairs[:1]))
    assert_same(from_any(iter(pairs), directed=True), Graph.from_edges(pairs, directed=True))
    triples = [("a", "b", 2.0), ("b", "c", 3.0)]
    assert_same(from_any(triples), Graph.from_edges(pairs, [2.0, 3.0]))
    assert_same(from_any(triples, weighted=False), Graph.from_edges(pairs))
    numbers = [[5, 7], [7, 9], [5, 9]]
    assert_same(from_any(np.array(numbers)), Graph.from_edges(numbers))
    assert "weighted=True" in refusal(pairs, weighted=True)
    assert "expected a pair" in refusal([("a", "b"), ("a",)])
    assert "may be an adjacency matrix or two edges" in refusal(np.eye(2))
    assert "3 x 4" in refusal(np.ones((3, 4)))
    assert "delimiter" in refusal([(1, 2)], delimiter=",")
    assert "weight" in refusal([(1, 2)], weight="w")
    assert "bipartite" in refusal(pytest.importorskip("networkx").Graph(), bipartite=True)


@pytest.mark.parametrize("source", [3, None, {"a": ["b"]}, b"a b", object()])
def test_anything_else_is_answered_with_what_is_accepted(source):
    message = refusal(source)
    assert message.startswith(f"cannot make a graph from a {type(source).__name__}: expected")
    assert "networkx" in message


# -- matrices ----------------------------------------------------------------------------------

SYMMETRIC = np.array([[0, 2, 0, 0], [2, 0, 3, 0], [0, 3, 4, 0], [0, 0, 0, 0]], float)
ONE_WAY = np.array([[0, 2, 0], [1, 0, 5], [0, 0, 0]], float)
FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("format", FORMATS)
def test_sparse_matrices_of_every_format(format):
    expected = Graph.from_edges([(0, 1), (1, 2), (2, 2)], [2.0, 3.0, 4.0], nodes=range(4))
    for make in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
        graph = from_any(make(SYMMETRIC).asformat(format))
        assert_same(graph, expected)
        assert graph.dropped_self_loops == 1


def test_symmetric_matrices_count_each_edge_once_and_others_list_edges():
    graph = from_any(SYMMETRIC, self_loops=True)
    assert np.array_equal(graph.to_scipy().toarray(), SYMMETRIC)
    rounded = SYMMETRIC.copy()
    rounded[0, 1] = np.nextafter(2, 3)
    assert from_any(rounded).weights[0] == pytest.approx(2)
    assert_same(from_any(ONE_WAY), Graph.from_edges([(0, 1), (1, 2)], [3.0, 5.0]))
    directed = from_any(ONE_WAY, directed=True)
    assert directed.directed
    assert np.array_equal(directed.to_scipy().toarray(), ONE_WAY)
    assert from_any(SYMMETRIC, directed=True, self_loops=True).to_scipy().sum() == SYMMETRIC.sum()
    sides = from_any(scipy.sparse.csr_array(np.ones((2, 3))), bipartite=True)
    assert sides.ids.tolist() == ["row:0", "row:1", "column:0", "column:1", "column:2"]


def test_weights_of_a_matrix_are_used_where_they_say_something():
    ones = (SYMMETRIC > 0).astype(int)
    assert not from_any(ones).weighted
    assert not from_any(ones.astype(bool)).weighted
    assert from_any(ones, weighted=True).weights.tolist() == [1.0] * 4
    assert not from_any(SYMMETRIC, weighted=False).weighted


def test_explicit_zeros_are_no_edges_parallel_entries_add_up_and_the_matrix_is_left_alone():
    matrix = scipy.sparse.coo_array(([1, 1, 0, 1], ([0, 1, 1, 0], [1, 0, 2, 1])), shape=(3, 3))
    graph = from_any(matrix)
    assert graph.n_edges == 1
    assert not graph.weighted
    assert matrix.data.tolist() == [1, 1, 0, 1]
    matrix = scipy.sparse.coo_array(([200, 100], ([0, 0], [1, 1])), shape=(2, 2), dtype=np.uint8)
    assert from_any(matrix).weights.tolist() == [300.0, 300.0]
    small = scipy.sparse.csr_array(SYMMETRIC)
    before = small.copy()
    from_any(small, weighted=False)
    assert (small != before).nnz == 0


@pytest.mark.parametrize(("value", "word"), [(-1, "-1"), (np.nan, "nan"), (np.inf, "inf")])
def test_entries_that_are_no_weights_are_named(value, word):
    matrix = SYMMETRIC.copy()
    matrix[2, 1] = value
    for source in (matrix, scipy.sparse.csc_array(matrix)):
        message = refusal(source)
        assert "row 2, column 1" in message
        assert f"holds {word}:" in message


def test_matrices_that_are_no_adjacency():
    assert "square, not 2 x 3" in refusal(scipy.sparse.csr_array(np.ones((2, 3))))
    assert "not complex128" in refusal(np.ones((3, 3), complex))
    assert "not object" in refusal(np.full((3, 3), "a", object))


# -- networkx and igraph -----------------------------------------------------------------------


def test_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("b", "a"), ("a", "c")])
    graph.add_node("alone")
    expected = Graph.from_edges([("b", "a"), ("a", "c")], nodes=["b", "a", "c", "alone"])
    assert_same(from_any(graph), expected)
    graph["a"]["c"]["weight"] = 2.5
    assert sorted(from_any(graph).weights.tolist()) == [1.0, 1.0, 2.5, 2.5]
    assert not from_any(graph, weighted=False).weighted
    graph["a"]["c"]["weight"] = -2
    assert "the edge from 'a' to 'c' has the weight -2" in refusal(graph)
    graph["a"]["c"]["weight"] = "much"
    assert "weights must be numbers" in refusal(graph)
    assert "missing" in refusal(networkx.Graph([(1.5, float("nan"))]))
    several = networkx.MultiDiGraph([(5, 3), (5, 3), (3, 5)])
    assert_same(from_any(several), Graph.from_edges([(5, 3), (3, 5)], directed=True))
    several.add_edge(5, 3, weight=2.0)
    assert from_any(several).weights.tolist() == [4.0, 1.0]
    assert from_any(several, directed=False).weights.tolist() == [5.0, 5.0]
    assert "carry no weights" in refusal(networkx.path_graph(3), weighted=True)


def test_igraph():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (0, 1)], directed=True)
    expected = Graph.from_edges([(0, 1), (1, 2)], nodes=range(4), directed=True)
    assert_same(from_any(graph), expected)
    graph.vs["name"] = ["a", "b", "c", "d"]
    graph.es["weight"] = [1.0, 2.0, None]
    assert from_any(graph).ids.tolist() == ["a", "b", "c", "d"]
    assert from_any(graph).weights.tolist() == [2.0, 2.0]
    graph.vs["name"] = ["a", "b", "a", "d"]
    assert "same" in refusal(graph)
    graph.vs["name"] = ["a", "b", None, "d"]
    assert "missing" in refusal(graph)


# -- tables: every kind of one passes the same tests -------------------------------------------


def in_pandas(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def in_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def lazy(columns):
    return in_polars(columns).lazy()


def in_arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def in_chunks(columns):
    table = in_arrow(columns)
    parts = [table.slice(row, 1) for row in range(len(table))]
    return pytest.importorskip("pyarrow").concat_tables([table.slice(0, 0), *parts])


def of_dictionaries(columns):
    """Each chunk has words of its own."""
    pyarrow = pytest.importorskip("pyarrow")
    parts = [
        pyarrow.table({name: pyarrow.array([value]).dictionary_encode() for name, value in row})
        for row in (
            [(name, values[place]) for name, values in columns.items()]
            for place in range(len(next(iter(columns.values()))))
        )
    ]
    return pyarrow.concat_tables(parts) if parts else in_arrow(columns)


def in_duckdb(columns):
    return pytest.importorskip("duckdb").from_arrow(in_arrow(columns))


class Stream:
    """Anything that exports Arrow's stream of batches."""

    def __init__(self, columns):
        self.table = in_arrow(columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


TABLES = [in_pandas, in_polars, lazy, in_arrow, in_chunks, in_duckdb, Stream]
every_table = pytest.mark.parametrize("table", TABLES)


@pytest.mark.parametrize("table", [*TABLES, of_dictionaries])
def test_tables_of_words(table):
    pairs = [("b", "a"), ("a", "c")]
    columns = {"year": [1, 2], "Target": ["a", "c"], "Source": ["b", "a"], "note": ["x", "y"]}
    assert_same(from_any(table(columns), directed=True), Graph.from_edges(pairs, directed=True))
    weighted = {**columns, "Weight": [0.5, 2.0]}
    assert_same(from_any(table(weighted)), Graph.from_edges(pairs, [0.5, 2]))
    assert not from_any(table(weighted), weighted=False).weighted


@every_table
def test_many_words_are_numbered_like_a_few(table):
    rng = np.random.default_rng(0)
    ends = [[f"node {number}" for number in rng.integers(0, 5000, 70_000)] for _ in range(2)]
    if table is in_chunks:
        pytest.skip("takes long")
    graph = from_any(table({"u": ends[0], "v": ends[1]}))
    assert_same(graph, Graph.from_edges(list(zip(*ends, strict=True))))


@every_table
def test_ids_of_all_kinds(table):
    columns = {"one": [7, 3, 7], "two": [3, 9, 9]}
    numbers = from_any(table(columns), bipartite=False)
    assert_same(numbers, Graph.from_edges([(7, 3), (3, 9), (7, 9)]))
    assert "such as 3: bipartite=True" in refusal(table(columns))
    assert "carry no weights" in refusal(table(columns), weighted=True)
    mixed = from_any(table({"u": [1, 2], "v": ["a", "b"]}))
    assert mixed.ids.tolist() == [1, "a", 2, "b"]
    assert from_any(table({"u": [1.0, 2.0], "v": [2, 3]})).ids.dtype == np.int64
    digits = {"source": [5, 7], "target": ["7", "123"]}
    message = refusal(table(digits))
    assert "integers, such as 5, but also strings of digits, such as '7'" in message
    assert from_any(table(digits), bipartite=True).n_nodes == 4
    assert from_any(table(digits | {"target": ["7", "a"]})).n_nodes == 4
    whole = [Decimal("1.00"), Decimal(2)], [Decimal(2), Decimal(10)]
    assert from_any(table({"u": whole[0], "v": whole[1]})).ids.tolist() == [1, 2, 10]


@every_table
def test_tables_that_cannot_be_used(table):
    assert 'found 1: "u"' in refusal(table({"u": [1]}))
    for missing in ([1, None], ["a", None], [1.5, None]):
        for columns in ({"u": [1, 2], "v": missing}, {"u": ["x", "y"], "v": missing}):
            assert 'row 1 (counted from 0): the node id in column "v"' in refusal(table(columns))
    bad = {"u": [1, 2], "v": [2, 3]}
    assert "from 2 to 3 has the weight 0" in refusal(table({**bad, "weight": [1.0, 0.0]}))
    refusal(table({**bad, "weight": [1.0, None]}))
    refusal(table({**bad, "weight": ["1", None]}))
    if table is not in_duckdb:  # whose columns have types
        assert from_any(table({"u": [], "v": []})).n_nodes == 0


def test_columns_of_pandas_with_odd_names_and_types():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({0: ["a", "b"], 1: ["b", "c"], 2: [0.5, 2]})
    expected = Graph.from_edges([("a", "b"), ("b", "c")], [0.5, 2])
    assert_same(from_any(frame), expected)
    assert_same(from_any(frame.astype({0: "category", 1: "category"})), expected)
    mixed = pandas.DataFrame({"u": [1, "2"], "v": [3, "1"]}, dtype=object)  # as it reads parts
    assert "write both alike" in refusal(mixed)
    assert "same name" in refusal(frame.set_axis(["u", "u", "w"], axis=1))
    large = pandas.DataFrame({"u": [Decimal(2**70), 2], "v": [2, 10]}, dtype=object)
    assert from_any(large).ids.tolist() == [2**70, 2, 10]
    times = pandas.to_datetime(["2024-01-01", "2024-01-02"]).astype("datetime64[ns]")
    assert "to text" in refusal(pandas.DataFrame({"source": times, "target": [1, 2]}))


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
def test_floats_that_may_be_rounded_are_no_ids(kind):
    limit = 2.0 ** (np.finfo(kind).nmant + 1)
    pairs = np.array([[limit, 1], [1, 2], [2, 3]], kind)
    assert "may be rounded" in refusal(pairs)
    table = pytest.importorskip("pandas").DataFrame(pairs, columns=["source", "target"])
    assert 'column "source" holds node ids as' in refusal(table)
    assert from_any(table - 1).ids.tolist() == [limit - 1, 0, 1, 2]


# -- tables that are computed or read when they are needed -------------------------------------

COLUMNS = {
    "time": [10, 20, 30],
    "src": ["ann", "bob", "ann"],
    "dst": ["bob", "cid", "cid"],
    "weight": [1.5, 2.0, 0.25],
}
GRAPH = Graph.from_edges([("ann", "bob", 1.5), ("bob", "cid", 2.0), ("ann", "cid", 0.25)])


def test_only_the_columns_that_are_used_are_computed():
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    collected = []

    def watched(column):
        collected.append(column.name)
        return column

    frame = polars.LazyFrame(COLUMNS).with_columns(
        polars.col(name).map_batches(watched, return_dtype=kind)
        for name, kind in polars.DataFrame(COLUMNS).schema.items()
    )
    assert_same(from_any(frame), GRAPH)
    assert sorted(collected) == ["dst", "src", "weight"]
    query = 'select 1 as u, 2 as v, error(\'never computed\')::varchar as "a ""note"""'
    assert from_any(duckdb.sql(query)).n_edges == 1
    decimals = duckdb.sql("select 'a' as source, 'b' as target, 1.5 as weight")  # a DECIMAL
    assert from_any(decimals).weights.tolist() == [1.5, 1.5]


def test_record_batches_and_streams(monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    batch = pyarrow.RecordBatch.from_pydict(COLUMNS)
    assert_same(from_any(batch), GRAPH)
    parts = [batch.slice(0, 1), batch.slice(1)]
    assert_same(from_any(pyarrow.RecordBatchReader.from_batches(batch.schema, parts)), GRAPH)
    numbered = Stream({"index": [0, 1, 2], "who": [5, 6, 5], "whom": [6, 7, 7]})
    assert from_any(numbered, bipartite=False).ids.tolist() == [5, 6, 7]
    message = refusal(Stream({"a": [1], "b": [2], "c": [3]}))
    assert 'in Graph.from_any: source="a", target="b"' in message
    assert "not a table of edges" in refusal(pyarrow.chunked_array([[1]]))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert "reinforce2vec[parquet]" in refusal(numbered)


@pytest.fixture
def database(tmp_path):
    connection = sqlite3.connect(tmp_path / "edges.db")
    connection.execute("create table edges (time integer, src text, dst text, weight real)")
    rows = zip(*COLUMNS.values(), strict=True)
    connection.executemany("insert into edges values (?, ?, ?, ?)", rows)
    connection.commit()
    yield connection
    connection.close()


def test_databases(database, tmp_path):
    rows = database.execute("select src, dst, weight from edges order by time")
    assert_same(from_any(rows), GRAPH)
    pandas, sqlalchemy = pytest.importorskip("pandas"), pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'edges.db'}")
    for connection in (database, engine):
        assert_same(from_any(pandas.read_sql("select * from edges", connection)), GRAPH)
    engine.dispose()


# -- PyTorch Geometric -------------------------------------------------------------------------


class Tensor:
    """What matters of a torch tensor."""

    def __init__(self, values, ready=False):
        self.values, self.ready = np.array(values), ready

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.values, ready=True)

    def __array__(self, dtype=None, copy=None):
        assert self.ready, "still on its device"
        return self.values


class Data:
    """What matters of a torch_geometric.data.Data."""

    def __init__(self, edge_index, num_nodes=None, undirected=False, **attributes):
        self.edge_index = Tensor(edge_index)
        self.num_nodes = num_nodes
        self.is_undirected = lambda: undirected
        for name, values in attributes.items():
            setattr(self, name, Tensor(values))


BOTH_WAYS = [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]


def test_geometric_data_says_whether_it_is_undirected():
    graph = from_any(Data([[0, 1], [1, 2]], num_nodes=4))
    assert_same(graph, Graph.from_edges([(0, 1), (1, 2)], nodes=range(4), directed=True))
    assert from_any(Data([[0, 1], [1, 0]])).n_nodes == 2
    assert not from_any(Data([[0, 1], [1, 2]]), directed=False).directed


def test_geometric_edges_that_stand_twice_count_once():
    weights = [2.0, 2.0, 3.0, 3.0, 4.0]
    for name in ("edge_weight", "edge_attr"):
        data = Data(BOTH_WAYS, undirected=True, **{name: weights})
        expected = Graph.from_edges([(0, 1), (1, 2), (2, 2)], [2.0, 3.0, 4.0], self_loops=True)
        assert_same(from_any(data, self_loops=True), expected)
        assert from_any(data, directed=True).weights.tolist() == [2.0, 2.0, 3.0, 3.0]
    assert not from_any(Data(BOTH_WAYS, undirected=True, edge_attr=[[1.0, 2.0]] * 5)).weighted


def test_geometric_data_that_cannot_be_used():
    assert "edge_index has the shape (2, m)" in refusal(Data([[0, 1, 2]]))
    assert "outside 0 to 1" in refusal(Data([[0, 1], [1, 2]], num_nodes=2))
    assert "each of the 2 edges" in refusal(Data([[0, 1], [1, 2]], edge_weight=[1.0]))
    uneven = Data(BOTH_WAYS, undirected=True, edge_weight=[1.0, 2.0, 3.0, 3.0, 4.0])
    assert "different weights" in refusal(uneven)
