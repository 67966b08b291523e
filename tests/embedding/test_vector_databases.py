"""Databases find the same neighbours in our files and tables, by the lines of the documentation."""

from __future__ import annotations

import re

import numpy as np
import polars
import pytest

from reinforce2vec import Embedding, karate_club

RNG = np.random.default_rng(0)
CLUB = Embedding(karate_club().ids, RNG.normal(size=(34, 16)))
NAMED = Embedding([f"person {node}" for node in CLUB], CLUB.vectors)


@pytest.fixture(params=[CLUB, NAMED], ids=["integers", "strings"])
def embedding(request):
    return request.param


def nearest(embedding, k=3):
    """A node, and the nodes that are most similar to it."""
    node = embedding.ids.tolist()[5]
    return node, [other for other, _ in embedding.most_similar(node, k)]


def test_duckdb_searches_files_and_tables(tmp_path, embedding):
    duckdb = pytest.importorskip("duckdb")
    embedding.save(tmp_path / "vectors.parquet")
    node, expected = nearest(embedding)
    table = embedding.to_arrow()
    query = """
        select other.node, {compare}(one.vector, other.vector) as cosine
        from {table} one, {table} other
        where one.node = $node and other.node <> $node order by cosine desc limit 3
    """
    with duckdb.connect() as database:
        database.register("arrow", table)
        for source, compare in (
            (f"'{tmp_path / 'vectors.parquet'}'", "list_cosine_similarity"),
            ("arrow", "array_cosine_similarity"),
        ):
            found = database.execute(
                query.format(table=source, compare=compare), {"node": node}
            ).fetchall()
            assert [other for other, _ in found] == expected
            assert found[0][1] == pytest.approx(embedding.similarity(node, expected[0]), abs=1e-5)


def test_what_duckdb_writes_is_read_back(tmp_path, embedding):
    duckdb = pytest.importorskip("duckdb")
    ours, theirs = tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    embedding.save(ours)
    with duckdb.connect() as database:
        database.execute(f"copy (select node, vector from '{ours}') to '{theirs}'")
    back = Embedding.load(theirs)
    assert back.ids.tolist() == embedding.ids.tolist()
    assert np.array_equal(back.vectors, embedding.vectors)


def test_polars_reads_and_writes_arrays(tmp_path, embedding):
    embedding.save(tmp_path / "vectors.parquet")
    frame = polars.read_parquet(tmp_path / "vectors.parquet")
    assert frame.schema["vector"] == polars.Array(polars.Float32, 16)
    assert frame["node"].to_list() == embedding.ids.tolist()
    frame.write_parquet(tmp_path / "again.parquet")
    assert np.array_equal(Embedding.load(tmp_path / "again.parquet").vectors, embedding.vectors)


def test_lancedb_finds_the_column_of_vectors_by_itself(tmp_path, embedding):
    lancedb = pytest.importorskip("lancedb", reason="too large for the extra of the tests")
    table = lancedb.connect(tmp_path / "lance").create_table("nodes", embedding.to_arrow())
    node, expected = nearest(embedding)
    found = table.search(embedding[node]).distance_type("cosine").limit(4).to_list()
    assert [row["node"] for row in found] == [node, *expected]


def test_a_printed_list_is_the_text_of_a_vector_in_pgvector():
    numbers = Embedding(["x"], [[0.1, -1e-30, 3e20, 0, -2]])
    text = str(numbers.vectors.tolist()[0])
    number = r"-?\d+(\.\d+)?(e[+-]\d+)?"
    assert re.fullmatch(rf"\[{number}(, {number})*\]", text)
    read = np.array([float(field) for field in text.strip("[]").split(",")], np.float32)
    assert np.array_equal(read, numbers.vectors[0])
