"""Tables of results can be opened in a spreadsheet: ids are no formulas there."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from reinforce2vec.files.table_files import write_table

RUN = (
    '=cmd|"/C calc"!A0',
    "=1+1",
    "\t=1+1",
    "\r=1+1",
    " =HYPERLINK(1)",
    "+cmd|'x'!A0",
    "-2+3+cmd|'x'!A0",
    "@SUM(1)",
    "-1\n+SUM(1)",
    "-2+3",
    "+49-30-1",
    "＝1+1",
)
NOT_RUN = ("ann", "@ann", "-x", "+49 30 1234", "-12", "-1.5e-3", "a=b", "", "'=1", "node(1)", "a|b")


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
@pytest.mark.parametrize("kind", [object, str])
def test_a_formula_is_written_as_text_and_other_ids_as_they_are(tmp_path, suffix, delimiter, kind):
    ids = np.array([*RUN, *NOT_RUN], kind)
    scores = -np.arange(1.0, len(ids) + 1)
    write_table(tmp_path / f"table{suffix}", [{"node": ids, "score": scores}])
    with open(tmp_path / f"table{suffix}", newline="", encoding="utf-8") as stream:
        _, *rows = csv.reader(stream, delimiter=delimiter)
    assert [name for name, _ in rows] == [*(f"'{name}" for name in RUN), *NOT_RUN]
    assert rows[0][1] == "-1.0"


def test_parquet_files_hold_ids_as_they_are(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_table(tmp_path / "table.parquet", [{"node": np.array(RUN, object)}])
    assert parquet.read_table(tmp_path / "table.parquet")["node"].to_pylist() == [*RUN]
