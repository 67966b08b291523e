"""Fields of delimited text: chosen columns, quotes and comments."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec.files.edge_lists import _Layout

COMMA, WHITESPACE = ord(","), 0


def chosen(text, columns, delimiter):
    """The chosen fields of every line."""
    data = text.encode()
    bounds = np.zeros((text.count("\n"), 2 * len(columns)), np.int32)
    layout = _Layout(delimiter, columns)
    rows, problem, *_ = layout.find_fields(np.frombuffer(data, np.uint8), bounds)
    assert problem == 0
    return [[data[a:b].decode() for a, b in row.reshape(-1, 2).tolist()] for row in bounds[:rows]]


@pytest.mark.parametrize("delimiter", [COMMA, WHITESPACE])
@pytest.mark.parametrize("columns", [(0, 1), (1, 0), (2, 3), (3, 0, 2), (1, 3, 0), (4, 2)])
def test_columns_are_found_in_any_order(columns, delimiter):
    rows = [[f"r{row}c{column}" for column in range(5)] for row in range(3)]
    text = "".join(("," if delimiter else "  ").join(row) + "\n" for row in rows)
    assert chosen(text, columns, delimiter) == [[row[column] for column in columns] for row in rows]


def test_columns_that_are_not_wanted_may_be_empty_or_quoted():
    assert chosen(',a,"x, y",b\n,c,,d\n', (1, 3), COMMA) == [["a", "b"], ["c", "d"]]
    assert _Layout(COMMA).fields(b',a,"x, y",\n') == [b"", b"a", b"x, y", b""]
    assert _Layout(WHITESPACE).fields(b"  a\tb  c \n") == [b"a", b"b", b"c"]
