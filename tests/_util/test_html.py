"""Tables for notebooks."""

from __future__ import annotations

from helpers.html import Table
from reinforce2vec._util.html import html_table


def test_a_table_has_numbers_to_the_right_and_an_escaped_head():
    page = html_table(["<node>", "cosine"], [["ann", 0.123456], ["bob", 1.0]], "near & far")
    assert Table(page).rows == [["<node>", "cosine"], ["ann", "0.1235"], ["bob", "1"]]
    assert page.count('text-align:right">') == 3
    assert "near &amp; far" in page
    assert Table(html_table(["a", "b"], [])).rows == [["a", "b"]]
