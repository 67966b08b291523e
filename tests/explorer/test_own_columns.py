"""The user's columns: what is read, recognised, shown, and typical of groups."""

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

from helpers.command_line import run
from helpers.page_contents import contents
from reinforce2vec import Embedding, Graph, InputError, explore
from reinforce2vec.explorer import make_page
from reinforce2vec.explorer._columns import columns_of
from reinforce2vec.explorer._typical import typical_of
from reinforce2vec.files.node_tables import NodeTable, read_node_table

PEOPLE = Embedding(["ann", "bob", "cid"], np.eye(3))
NUMBERED = Embedding([1, 2, 3], np.eye(3))
TEXT = "id,age,team\ncid,17,red\nann,42,blue\nzed,5,red\n"


def only_column(values, name="value"):
    """The column that values become."""
    return columns_of(NodeTable([name], [list(values)], []))[0]


# -- sources ---------------------------------------------------------------------------------------


def text_file(folder, text=TEXT, name="nodes.csv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def parquet_file(folder):
    parquet.write_table(pa.table(frame_of()), folder / "nodes.parquet")
    return folder / "nodes.parquet"


def frame_of():
    return {"id": ["cid", "ann", "zed"], "age": [17, 42, 5], "team": ["red", "blue", "red"]}


@pytest.mark.parametrize(
    "make",
    [
        text_file,
        lambda folder: str(text_file(folder)),
        lambda folder: text_file(folder, TEXT.replace(",", "\t"), "nodes.tsv"),
        lambda folder: text_file(folder, TEXT.replace(",", ";")),
        lambda folder: text_file(folder, name="nodes.csv.gz"),
        lambda folder: text_file(folder, TEXT.replace("id,age", "mail,age")),
        parquet_file,
        lambda _: pd.DataFrame(frame_of()),
        lambda _: pd.DataFrame(frame_of()).set_index("id"),
        lambda _: pl.DataFrame(frame_of()),
        lambda _: pa.table(frame_of()),
        lambda _: frame_of(),
        lambda _: {"age": {"ann": 42, "cid": 17}, "team": ["blue", None, "red"]},
        lambda _: {"age": pd.Series([42, 17], ["ann", "cid"]), "team": ["blue", None, "red"]},
    ],
)
def test_columns_come_from_anywhere_and_are_matched_by_ids(make, tmp_path):
    header, arrays = contents(PEOPLE, columns=make(tmp_path))
    assert [one["name"] for one in header["columns"]] == ["age", "team", "community"]
    assert [one["kind"] for one in header["columns"][:2]] == ["number", "category"]
    assert arrays["age"].tolist()[::2] == [42, 17]
    assert np.isnan(arrays["age"][1])
    names = [*header["team"]["names"], None]
    assert [names[code] for code in arrays["team"]] == ["blue", None, "red"]


def test_what_was_decided_is_told(tmp_path):
    table = read_node_table(text_file(tmp_path, TEXT + "ann,3,red\n,4,red\n"), PEOPLE)
    assert table.notes == [
        'nodes from "id"',
        "left out 2 lines without a known node (zed)",
        "1 line repeats a node: its first line counts",
        "no values for 1 node",
        "a header",
        "separated by commas",
    ]


def test_a_column_of_ids_that_fits_is_not_worth_a_word(tmp_path):
    whole = {"id": ["ann", "bob", "cid"], "age": [1, 2, 3]}
    assert [str(node) for node in PEOPLE.ids] == whole["id"]
    assert read_node_table(pd.DataFrame(whole), PEOPLE).notes == []
    other = pd.DataFrame({"who": whole["id"], "age": whole["age"]})
    assert read_node_table(other, PEOPLE).notes == ['nodes from "who"']


def test_python_is_told_too():
    frame = pd.DataFrame(frame_of())
    (note,) = make_page(PEOPLE, columns=frame, method="pca").notes
    assert note.startswith('Columns: nodes from "id"; left out 1 line without a known node (zed);')
    (note,) = make_page(PEOPLE, columns={"age": {"ann": 1, "x": 2, "y": 3}}, method="pca").notes
    assert note == 'Columns: left out 2 values of "age" without a known node (x, ...).'


HUNDRED = Embedding(range(100), np.eye(100))
AGES = [20 + row % 50 for row in range(100)]
NAMES = [f"person {row}" for row in range(100)]


def test_a_dict_of_lists_in_row_order_may_have_a_column_of_names():
    table = read_node_table({"name": NAMES, "age": AGES}, HUNDRED)
    assert table == NodeTable(["name", "age"], [NAMES, AGES], [])
    names = read_node_table({"name": {1: "Ann"}, "age": AGES}, HUNDRED)
    assert names.columns == [[None, "Ann", *[None] * 98], AGES]


def test_repeated_values_are_no_better_ids():
    people = [*range(60), *range(1000, 1100)]
    frame = pd.DataFrame({"person": people, "age": (AGES * 2)[:160]})
    table = read_node_table(frame, HUNDRED)
    assert table.names == ["age"]
    assert table.columns[0][:60] == AGES[:60]
    with pytest.raises(InputError, match="'age' holds most nodes, but repeats them; call the"):
        read_node_table(pd.DataFrame({"person": NAMES, "age": AGES}), HUNDRED)


def test_the_column_of_ids_can_be_named(tmp_path):
    text = "name,mail,age\nAnn A,ann,1\nBob B,bob,2\n"
    for choice in (None, "mail", 2, "2"):
        table = read_node_table(text_file(tmp_path, text), PEOPLE, id=choice)
        assert table.names == ["name", "age"]
        assert table.columns[0] == ["Ann A", "Bob B", None]


def test_a_file_without_names_has_numbered_columns(tmp_path):
    table = read_node_table(text_file(tmp_path, "1,x\n2,y\n"), NUMBERED)
    assert (table.names, table.columns) == (["column 2"], [["x", "y", None]])
    table = read_node_table(text_file(tmp_path, "500,red\n1,x\n"), NUMBERED)
    assert (table.names, table.columns) == (["column 2"], [["x", None, None]])
    assert "left out 1 line without a known node (500)" in table.notes
    table = read_node_table(text_file(tmp_path, "person,2019\n1,7\n2,8\n"), NUMBERED)
    assert (table.names, table.columns) == (["2019"], [["7", "8", None]])


def test_names_are_made_different():
    frame = pd.DataFrame([["ann", 1, 2, 3]], columns=["id", "a", "a", ""])
    assert read_node_table(frame, PEOPLE).names == ["a", "a (2)", "column 3"]


def test_names_that_the_page_has_itself_are_kept_apart():
    graph = [("ann", "bob")]
    header, arrays = contents(
        PEOPLE, graph, columns={"degree": [7, 8, 9], "community": list("xyz")}
    )
    assert [one["name"] for one in header["columns"]] == [
        *("degree (own)", "community (own)", "community", "degree"),
    ]
    assert header["degree (own)"]["title"] == "degree"
    given = {"x": [1, 2, 3], "id (own)": [1, 2, 3], "degree (own)": [4, 5, 6], "degree": [7, 8, 9]}
    table = NodeTable([*given, "id"], [*given.values(), [1, 2, 3]], [])
    header, _ = contents(PEOPLE, columns=table)
    assert [one["name"] for one in header["columns"]] == [
        *("x (own)", "id (own)", "degree (own)", "degree (own 2)", "id (own 2)", "community"),
    ]
    assert arrays["degree"].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("nowhere.csv", "there is no such file"),
        ({"age": [1, 2]}, r"'age' has 2 values, expected one for each of 3 nodes"),
        ({"age": "old"}, "expected a list of values in the column 'age'"),
        ({"age": {"x": 1}}, r"none of the ids in the column 'age' is a node: .* such as 'x'"),
        (
            {"id": ["x"], "age": [1]},
            r"is a node: they are such as 'x', expected",
        ),
        ({"id": ["ann"], "age": []}, "different numbers of values"),
        (pd.DataFrame({"id": []}), "found none"),
        (7, "columns are read from a file .* not from a int"),
    ],
)
def test_what_holds_no_columns_is_a_sentence(source, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=complaint):
        make_page(PEOPLE, columns=source, method="pca")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "the file is empty"),
        (b"id,age\nann,1,2\n", "line 2: this line has 3 columns"),
        (b'id,age\nann,"1\n', "never closed"),
        (b"\xff\xfe\x00\x01,\n", ""),
        (b"id,age\nzed,1\n", "none of the ids in the column 'id' is a node"),
        (b"PAR1", ""),
    ],
)
@pytest.mark.parametrize("name", ["nodes.csv", "nodes.parquet", "nodes.csv.gz"])
def test_hostile_files_end_in_a_sentence_that_names_them(content, complaint, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_node_table(path, PEOPLE)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    if name == "nodes.csv":
        assert complaint in str(caught.value)


# -- kinds -----------------------------------------------------------------------------------------


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
        (["2020-01-31T10:30:00.25+02:00"], "time"),
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


def test_whole_numbers_with_the_name_of_a_class_are_categories():
    column = only_column([3, 1, "10", None], "cluster")
    assert (column.kind, column.names, column.values.tolist()) == (
        *("category", ["1", "3", "10"]),
        [1, 0, 2, -1],
    )


def test_categories_are_in_the_order_that_people_expect():
    column = only_column(["group 10", "group 2", "10", "9", "a", "group 1", "²"])
    assert column.names == ["9", "10", "a", "group 1", "group 2", "group 10", "²"]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86_400),
        ("1970-02", 31 * 86_400),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01 02:00+02:00", 0),
        ("1969-12-31T19:00-0500", 0),
        ("1969-12-31", -86_400),
    ],
)
def test_times_are_seconds_since_1970(text, seconds):
    assert only_column([text]).values.tolist() == [seconds]


def test_gaps_stay_gaps_and_columns_without_values_are_left_out():
    column = only_column([None, "n/a", 3, float("inf")])
    assert np.isnan(column.values[[0, 1, 3]]).all()
    assert columns_of(NodeTable(["empty"], [[None, "", "NaN"]], [])) == []


def test_numbers_are_stored_as_small_as_is_exact():
    header, arrays = contents(
        NUMBERED,
        columns={"whole": [1, 2, 300], "half": [0.5, None, 2], "fine": [0.1, 0.2, 0.3]},
    )
    kinds = [arrays[name].dtype.str[1:] for name in ("whole", "half", "fine")]
    assert kinds == ["u2", "f4", "f8"]
    assert (header["half"]["low"], header["half"]["high"]) == (0.5, 2)
    assert arrays["fine"].tolist() == [0.1, 0.2, 0.3]


def test_a_logarithmic_scale_is_for_skewed_positive_numbers():
    def scale(values):
        return only_column(values).packed(0)[0]["log"]

    assert scale([1, 2, 3, 10_000])
    assert not scale([1, 2, 3, 4])
    assert not scale([-1, 2, 3, 10_000])
    assert not scale([0] * 90 + [1] * 10)
    assert not scale([1] * 90 + [1000] * 10)
    assert scale([0] * 90 + [1, 2, 3, 4, 9, 10_000])


def test_very_long_texts_are_cut():
    column = only_column(["x" * 10_000 + str(number) for number in range(100)])
    assert column.kind == "category"  # all the same once they are cut
    assert len(column.names[0]) == 2000


def test_nothing_in_a_column_is_read_as_html():
    evil = "</script><script>alert(1)</script>"
    html = make_page(PEOPLE, columns={evil: [evil, "b", "c"]}, method="pca").html
    assert b"alert(1)" not in html


# -- what is typical of groups -----------------------------------------------------------------


def test_groups_are_named_by_what_is_typical_of_them():
    groups = np.repeat(np.arange(3, dtype=np.int32), 40)
    field = ["biology"] * 40 + ["law"] * 40 + ["art", "music"] * 20
    everywhere = ["x"] * 120
    text = [f"the {word} of node {number}" for number, word in enumerate(
        ["cells"] * 40 + ["courts"] * 40 + ["common"] * 40
    )]  # fmt: skip
    table = NodeTable(["field", "all", "text"], [field, everywhere, text], [])
    found = typical_of(groups, columns_of(table))
    assert set(found[0].split(", ")) == {"biology", "cells"}
    assert set(found[1].split(", ")) == {"law", "courts"}
    assert "x" not in found[2].split(", ")
    assert "the" not in str(found)


def test_a_word_is_in_a_name_once():
    groups = np.repeat(np.arange(2, dtype=np.int32), 40)
    field = ["Chemistry"] * 40 + ["law"] * 40
    text = [f"{field[row].lower()} number{row}" for row in range(80)]
    table = NodeTable(["field", "text"], [field, text], [])
    found = typical_of(groups, columns_of(table))
    assert [name.lower() for name in found.values()] == ["chemistry", "law"]


def test_without_anything_typical_groups_keep_their_numbers():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 4, 400).astype(np.int32)
    table = NodeTable(["dice"], [rng.integers(0, 6, 400).astype(str).tolist()], [])
    assert typical_of(groups, columns_of(table)) == {}
    assert typical_of(np.full(400, -1, np.int32), columns_of(table)) == {}


def test_the_page_names_communities_by_the_columns():
    two = [(a, b) for first in (0, 12) for a in range(first, first + 12) for b in range(first, a)]
    embedding = Embedding(range(24), np.repeat(np.eye(2), 12, axis=0) + np.eye(24, 2) / 9)
    columns = {"city": ["Rome"] * 12 + ["Oslo"] * 12}
    header, arrays = contents(embedding, Graph.from_edges(two), columns=columns)
    names = {arrays["community"][0]: "Rome", arrays["community"][12]: "Oslo"}
    assert header["typical"] == {"community": {str(code): name for code, name in names.items()}}


# -- the command -----------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.save("vectors.npz")
    text_file(tmp_path)
    return tmp_path


def test_the_command_reads_columns(people):
    words = ("vectors.npz", "--columns", "nodes.csv", "-o", "map.html", "--method", "pca")
    result = run("explore", *words)
    assert result.exit_code == 0, result.output
    assert 'nodes.csv: 2 columns of nodes; nodes from "id"; left out 1 line' in result.stderr
    result = run("explore", *words, "--id", "nothing")
    assert result.exit_code == 1
    assert "nothing" in result.stderr
    assert "there are 'id', 'age', 'team'" in result.stderr


def test_the_id_column_needs_a_file(people):
    result = run("explore", "vectors.npz", "--id", "x", "-o", "map.html")
    assert result.exit_code == 2
    assert "--id is for --labels or --columns" in result.stderr


def test_explore_takes_columns(people):
    assert explore(PEOPLE, columns="nodes.csv", export="map.html", method="pca").exists()
