"""The user's columns: where they come from, what is recognised, and what is typical of groups."""

from __future__ import annotations

import datetime
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from helpers.page_contents import contents
from reinforce2vec import Embedding, Graph, InputError
from reinforce2vec.explorer._columns import columns_of, typical_of
from reinforce2vec.files.node_tables import NodeTable

PEOPLE = Embedding(["ann", "bob", "cid"], np.eye(3))
TEXT = "id,age,team\ncid,17,red\nann,42,blue\nzed,5,red\n"
FRAME = {"id": ["cid", "ann", "zed"], "age": [17, 42, 5], "team": ["red", "blue", "red"]}


def only_column(values, name="value"):
    """The column that values become."""
    return columns_of(NodeTable([name], [list(values)], []))[0]


def text_file(folder, text=TEXT, name="nodes.csv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def parquet_file(folder):
    parquet.write_table(pa.table(FRAME), folder / "nodes.parquet")
    return folder / "nodes.parquet"


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: str(text_file(folder)),
        lambda folder: text_file(folder, TEXT.replace(",", "\t"), "nodes.tsv"),
        lambda folder: text_file(folder, name="nodes.csv.gz"),
        lambda folder: text_file(folder, TEXT.replace("id,age", "mail,age")),
        parquet_file,
        lambda _: pd.DataFrame(FRAME),
        lambda _: pd.DataFrame(FRAME).set_index("id"),
        lambda _: pl.DataFrame(FRAME),
        lambda _: pa.table(FRAME),
        lambda _: FRAME,
        lambda _: {"age": {"ann": 42, "cid": 17}, "team": ["blue", None, "red"]},
        lambda _: {"age": pd.Series([42, 17], ["ann", "cid"]), "team": ["blue", None, "red"]},
    ],
)
def test_columns_come_from_anywhere_and_are_matched_by_ids(make, tmp_path):
    header, arrays = contents(PEOPLE, columns=make(tmp_path))
    assert [column["name"] for column in header["columns"]] == ["age", "team", "community"]
    assert [column["kind"] for column in header["columns"][:2]] == ["number", "category"]
    assert arrays["age"].tolist()[::2] == [42, 17]
    assert np.isnan(arrays["age"][1])
    names = [*header["team"]["names"], None]
    assert [names[code] for code in arrays["team"]] == ["blue", None, "red"]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("nowhere.csv", "nowhere.csv"),
        ({"age": [1, 2]}, "'age' has 2 values"),
        ({"age": "old"}, "'age'"),
        ({"age": {"x": 1}}, "'age' is a node.*'x'"),
        ({"id": ["x"], "age": [1]}, "is a node.*'x'"),
        (pd.DataFrame({"id": []}), "none"),
        (7, "int"),
    ],
)
def test_what_holds_no_columns_is_a_sentence(source, complaint):
    with pytest.raises(InputError, match=complaint):
        contents(PEOPLE, columns=source)


def test_what_was_left_out_is_told():
    header, _ = contents(PEOPLE, columns=pd.DataFrame(FRAME))
    assert "left out 1 line without a known node (zed)" in header["notes"][0]


def test_names_that_the_page_has_itself_are_kept_apart():
    columns = {"degree": [7, 8, 9], "community": list("xyz")}
    header, arrays = contents(PEOPLE, [("ann", "bob")], columns=columns)
    names = [column["name"] for column in header["columns"]]
    assert names == ["degree (own)", "community (own)", "community", "degree"]
    assert header["degree (own)"]["title"] == "degree"
    assert arrays["degree"].tolist() == [1, 1, 0]
    names = ["x", "id (own)", "degree (own)", "degree", "id"]
    header, _ = contents(PEOPLE, columns=NodeTable(names, [[1, 2, 3]] * 5, []))
    given = [column["name"] for column in header["columns"][:-1]]
    assert given == ["x (own)", "id (own)", "degree (own)", "degree (own 2)", "id (own 2)"]


# -- kinds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, None], "number"),
        (["1", " -2.5e3 ", "NA"], "number"),
        ([Decimal("1.5"), np.int8(3), float("nan")], "number"),
        ([True, False, None], "category"),
        (["a", "b", ""], "category"),
        (["1", "x", "2"], "category"),
        (["2020-01-31", "1999-12-01", None], "time"),
        (["2020-01-31T10:30:00Z", "2020-01-31 10:30"], "time"),
        ([datetime.date(2020, 1, 31), None], "time"),
        ([datetime.datetime(2020, 1, 31, tzinfo=datetime.timezone.utc)], "time"),
        ([pd.Timestamp("2020-01-31"), pd.NaT], "time"),
        ([np.datetime64("2020-01-31")], "time"),
        (["2020-13-45", "2020-01-01"], "category"),  # no such month
        ([f"text {number}" for number in range(100)], "text"),
        ([f"group {number % 70}" for number in range(1000)], "category"),
        ([[1, 2], {"x": 1}, ("a",)], "category"),
        (["12345678901234567890", "1"], "category"),  # a float would change it
        ([10**400, 1], "category"),
        (["1_000", "2"], "category"),
        (["00012", "20095"], "category"),  # postcodes
        (["0", "0.5", "-0.25", ".5", "10"], "number"),
        ([np.datetime64("400000-01-01")], "category"),  # no browser knows such dates
        ([b"\xff", b"x"], "category"),
    ],
)
def test_kinds_are_recognised_by_the_values(values, kind):
    assert only_column(values).kind == kind


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-02", 31 * 86_400),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01 02:00+02:00", 0),
        ("1970-01-01 02:00+02", 0),
        ("1969-12-31T19:00-0500", 0),
        ("1969-12-31", -86_400),
    ],
)
def test_times_are_seconds_since_1970(text, seconds):
    assert only_column([text]).values.tolist() == [seconds]


def test_categories_are_in_the_order_that_people_expect():
    column = only_column(["group 10", "group 2", "10", "9", "a", "group 1", "²"])
    assert column.names == ["9", "10", "a", "group 1", "group 2", "group 10", "²"]
    column = only_column([3, 1, "10", None], "cluster")  # numbers that name classes
    assert (column.kind, column.names) == ("category", ["1", "3", "10"])
    assert column.values.tolist() == [1, 0, 2, -1]


def test_odd_values_are_gaps_or_cut():
    column = only_column([None, "n/a", 3, float("inf")])
    assert np.isnan(column.values[[0, 1, 3]]).all()
    assert columns_of(NodeTable(["empty"], [[None, "", "NaN"]], [])) == []
    column = only_column(["x" * 10_000 + str(number) for number in range(100)])
    assert column.kind == "category"  # all the same once they are cut
    assert len(column.names[0]) == 2000


def test_numbers_are_stored_as_small_as_is_exact():
    columns = {"whole": [1, 2, 300], "half": [0.5, None, 2], "fine": [0.1, 0.2, 0.3]}
    header, arrays = contents(PEOPLE, columns=columns)
    assert [arrays[name].dtype.str[1:] for name in columns] == ["u2", "f4", "f8"]
    assert (header["half"]["low"], header["half"]["high"]) == (0.5, 2)
    assert arrays["fine"].tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("values", "skewed"),
    [
        ([1, 2, 3, 10_000], True),
        ([0] * 90 + [1, 2, 3, 4, 9, 10_000], True),
        ([1, 2, 3, 4], False),
        ([-1, 2, 3, 10_000], False),
        ([0] * 90 + [1] * 10, False),
        ([1] * 90 + [1000] * 10, False),
    ],
)
def test_a_logarithmic_scale_is_for_skewed_positive_numbers(values, skewed):
    assert only_column(values).packed(0)[0]["log"] == skewed


# -- what is typical of groups -----------------------------------------------------------------


def typical(groups, **columns):
    table = NodeTable(list(columns), [list(values) for values in columns.values()], [])
    return typical_of(np.asarray(groups, np.int32), columns_of(table))


def test_groups_are_named_by_what_is_typical_of_them():
    field = ["biology"] * 40 + ["law"] * 40 + ["art", "music"] * 20
    words = ["cells"] * 40 + ["courts"] * 40 + ["common"] * 40
    text = [f"the {word} of node {number}" for number, word in enumerate(words)]
    names = typical(np.repeat(range(3), 40), field=field, everywhere=["x"] * 120, text=text)
    assert set(names[0].split(", ")) == {"biology", "cells"}
    assert set(names[1].split(", ")) == {"law", "courts"}
    assert "x" not in names[2].split(", ")
    assert "the" not in str(names)
    field = ["Chemistry"] * 40 + ["law"] * 40  # a word is in a name once
    text = [f"{field[row].lower()} number{row}" for row in range(80)]
    names = typical(np.repeat(range(2), 40), field=field, text=text)
    assert [name.lower() for name in names.values()] == ["chemistry", "law"]


def test_without_anything_typical_groups_keep_their_numbers():
    rng = np.random.default_rng(0)
    dice = rng.integers(0, 6, 400).astype(str)
    assert typical(rng.integers(0, 4, 400), dice=dice) == {}
    assert typical(np.full(400, -1), dice=dice) == {}


def test_the_page_names_communities_by_the_columns():
    two = [(a, b) for first in (0, 12) for a in range(first, first + 12) for b in range(first, a)]
    embedding = Embedding(range(24), np.repeat(np.eye(2), 12, axis=0) + np.eye(24, 2) / 9)
    columns = {"city": ["Rome"] * 12 + ["Oslo"] * 12}
    header, arrays = contents(embedding, Graph.from_edges(two), columns=columns)
    names = {arrays["community"][0]: "Rome", arrays["community"][12]: "Oslo"}
    assert header["typical"] == {"community": {str(code): name for code, name in names.items()}}
