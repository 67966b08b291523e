"""Tables that people have today: lazy ones, streams of Arrow batches, and databases."""

from __future__ import annotations

import sqlite3

import pytest

from helpers.graphs import assert_same
from helpers.refusals import refusal
from reinforce2vec import Graph, Reinforce2Vec

pyarrow = pytest.importorskip("pyarrow")
COLUMNS = {
    "time": [10, 20, 30],
    "src": ["ann", "bob", "ann"],
    "dst": ["bob", "cid", "cid"],
    "weight": [1.5, 2.0, 0.25],
}
GRAPH = Graph.from_edges([("ann", "bob", 1.5), ("bob", "cid", 2.0), ("ann", "cid", 0.25)])


def test_a_lazy_frame_of_polars_collects_the_columns_that_are_used():
    polars = pytest.importorskip("polars")
    collected = []

    def watched(column):
        collected.append(column.name)
        return column

    lazy = polars.LazyFrame(COLUMNS).with_columns(
        polars.col(name).map_batches(watched, return_dtype=kind)
        for name, kind in polars.DataFrame(COLUMNS).schema.items()
    )
    assert_same(Graph.from_any(lazy), GRAPH)
    assert sorted(collected) == ["dst", "src", "weight"]


def test_record_batches_and_readers():
    batch = pyarrow.RecordBatch.from_pydict(COLUMNS)
    assert_same(Graph.from_any(batch), GRAPH)
    reader = pyarrow.RecordBatchReader.from_batches(
        batch.schema, [batch.slice(0, 1), batch.slice(1)]
    )
    assert_same(Graph.from_any(reader), GRAPH)
    columns = {"index": [0, 1, 2], "who": [5, 6, 5], "whom": [6, 7, 7]}
    numbered = pyarrow.RecordBatch.from_pydict(columns)
    numbered = pyarrow.RecordBatchReader.from_batches(numbered.schema, [numbered])
    assert Graph.from_any(numbered).ids.tolist() == [5, 6, 7]


class Stream:
    """Anything that exports Arrow's stream of batches."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_anything_with_the_stream_interface_of_arrow(monkeypatch):
    assert_same(Graph.from_any(Stream(pyarrow.table(COLUMNS))), GRAPH)
    message = refusal(Graph.from_any, Stream(pyarrow.table({"a": [1], "b": [2], "c": [3]})))
    assert 'in Graph.from_any: source="a", target="b"' in message
    assert "not a table of edges" in refusal(Graph.from_any, Stream(pyarrow.chunked_array([[1]])))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    message = refusal(Graph.from_any, Stream(None))
    assert "pip install 'reinforce2vec[parquet]'" in message


# -- databases ---------------------------------------------------------------------------------


def test_duckdb_relations():
    duckdb = pytest.importorskip("duckdb")
    edges = duckdb.from_arrow(pyarrow.table(COLUMNS))
    assert_same(Graph.from_any(edges), GRAPH)
    decimals = duckdb.sql("select 'a' as source, 'b' as target, 1.5 as weight")  # a DECIMAL
    assert Graph.from_any(decimals).weights.tolist() == [1.5, 1.5]
    failing = duckdb.sql(
        'select 1 as u, 2 as v, error(\'never computed\')::varchar as "a ""note"""'
    )
    assert Graph.from_any(failing).n_edges == 1
    assert Reinforce2Vec(dimensions=4, walks_per_node=1).fit(edges).embedding_.ids.tolist() == [
        *("ann", "bob", "cid")
    ]


@pytest.fixture
def database(tmp_path):
    connection = sqlite3.connect(tmp_path / "edges.db")
    connection.execute("create table edges (time integer, src text, dst text, weight real)")
    connection.executemany(
        "insert into edges values (?, ?, ?, ?)", zip(*COLUMNS.values(), strict=True)
    )
    yield connection
    connection.close()


def test_rows_of_sqlite(database):
    rows = database.execute("select src, dst, weight from edges order by time")
    assert_same(Graph.from_any(rows), GRAPH)


def test_sql_through_pandas(database):
    pandas = pytest.importorskip("pandas")
    assert_same(Graph.from_any(pandas.read_sql("select * from edges", database)), GRAPH)


def test_sql_through_sqlalchemy(database, tmp_path):
    pandas, sqlalchemy = pytest.importorskip("pandas"), pytest.importorskip("sqlalchemy")
    database.commit()
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'edges.db'}")
    assert_same(Graph.from_any(pandas.read_sql("select * from edges", engine)), GRAPH)
    engine.dispose()
