"""What notebooks show of graphs, vectors and results: true, escaped, small, and cheap."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from statistics import median
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from reinforce2vec import (
    Dataset,
    Embedding,
    Graph,
    evaluate_node_classification,
    karate_club,
    planted_groups,
    rmat,
)
from reinforce2vec._util.html import html_table
from reinforce2vec.embedding import _html as embedding_html
from reinforce2vec.graph import _html as graph_html

CLUB = karate_club()


class Table(HTMLParser):
    """The text of a page's table, cell by cell, without its pictures' labels."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if {"td", "th"} & set(self.open) and "title" not in self.open:
            self.rows[-1][-1] += data


def facts(thing):
    return {name: text.strip() for name, text in Table(thing._repr_html_()).rows}


def picture(page):
    """The first picture of a page, as XML."""
    found = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert found is not None
    return ElementTree.fromstring(found.group())


# -- graphs ------------------------------------------------------------------------------------


def test_a_graph_is_shown_with_its_size_and_degrees():
    assert facts(CLUB) == {
        "nodes": "34",
        "edges": "78",
        "kind": "undirected, unweighted",
        "components": "1",
        "isolated": "0",
        "memory": "1.2 kB",
        "degrees": "mean 4.588, median 3, largest 17",
        "ids": "1, 2, 3, 4, 5, 6, 7, 8, …",
    }


@pytest.mark.parametrize("n_nodes", [9, 10])
def test_the_median_is_that_of_all_degrees(n_nodes):
    star = Graph.from_edges([(0, 1), (0, 2), (0, 3), (1, 2)], nodes=range(n_nodes))
    assert f"median {median(star.degrees.tolist()):g}," in facts(star)["degrees"]


def test_directions_weights_and_dropped_loops_are_told():
    shown = facts(Graph.from_edges([("a", "b", 2.0), ("c", "c", 1.0)], directed=True))
    assert shown["kind"] == "directed, weighted"
    assert shown["out-degrees"].startswith("mean 0.3333, median 0, largest 1")
    assert shown["dropped"] == "1 self-loop"
    assert (shown["components"], shown["isolated"]) == ("2", "1")


def test_bars_count_nodes_by_degree():
    bars = [bar[0].text for bar in picture(CLUB._repr_html_())]
    assert bars == [
        *("degree 0: 0 nodes", "degree 1: 1 node", "degree 2 to 3: 17 nodes"),
        *("degree 4 to 7: 11 nodes", "degree 8 to 15: 3 nodes", "degree 16 to 17: 2 nodes"),
    ]
    heights = [float(bar.get("height")) for bar in picture(CLUB._repr_html_())]
    assert heights[0] == 0
    assert heights[2] == max(heights) == graph_html._HEIGHT - 2
    assert heights[1] < heights[5] < heights[4] < heights[3] < heights[2]


def test_a_graph_without_nodes_or_edges_is_shown_too():
    assert facts(Graph.from_edges([]))["nodes"] == "0"
    assert facts(Graph.from_edges([], nodes=[7]))["degrees"] == "mean 0, median 0, largest 0"


@pytest.mark.parametrize("directed", [False, True])
def test_components_are_those_that_scipy_finds(directed):
    rng = np.random.default_rng(0)
    for n_edges in range(0, 120, 7):
        edges = rng.integers(0, 60, (n_edges, 2))
        graph = Graph.from_numbered(edges, None, np.arange(60), directed=directed, self_loops=True)
        assert graph.n_components == connected_components(graph.to_scipy(), connection="weak")[0]
    line = np.random.default_rng(1).permutation(5000)
    pairs = np.column_stack([line[:-1], line[1:]])
    assert Graph.from_edges(pairs, directed=directed).n_components == 1


# -- vectors -----------------------------------------------------------------------------------


def test_an_embedding_is_shown_with_its_size_and_first_vectors():
    people = Embedding(["ann", "bob"], [[3, -4, 0, float("nan")], [1, 0, 0, 0]])
    shown = facts(people)
    assert (shown["nodes"], shown["dimensions"], shown["memory"]) == ("2", "4", "32 bytes")
    stripes = picture(people._repr_html_())
    assert [stripe.get("fill") for stripe in stripes] == [
        embedding_html._POSITIVE,
        embedding_html._NEGATIVE,
    ]
    assert [stripe.get("opacity") for stripe in stripes] == ["0.75", "1.00"]
    assert [stripe.get("x") for stripe in stripes] == ["0", "5"]


def test_lengths_are_those_of_the_vectors():
    assert facts(Embedding([1, 2], [[3, 4], [0, 1]]))["lengths"] == "mean 3, 1 to 5"
    assert "lengths" not in facts(Embedding([], np.empty((0, 2))))


def test_of_many_vectors_some_are_measured_and_few_shown(monkeypatch):
    monkeypatch.setattr(embedding_html, "_MEASURED", 10)
    shown = facts(Embedding(range(101), np.ones((101, 100))))
    assert shown["lengths"] == "mean 10, 10 to 10 (of 10 vectors)"
    assert list(shown)[-7:] == ["node", "0", "1", "2", "3", "4", "…"]
    assert shown["node"] == "first 32 numbers"


# -- all of them -------------------------------------------------------------------------------


def test_names_are_escaped_and_cut():
    wicked, long = "<script>alert(1)</script>", "x" * 1000
    for thing in (
        Graph.from_edges([(wicked, long)]),
        Embedding([wicked, long], [[1], [2]]),
        Dataset(wicked, CLUB, None, wicked),
    ):
        page = thing._repr_html_()
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert long not in page


def test_a_table_has_numbers_to_the_right_and_an_escaped_head():
    page = html_table(["<node>", "cosine"], [["ann", 0.123456], ["bob", 1.0]], "near & far")
    assert Table(page).rows == [["<node>", "cosine"], ["ann", "0.1235"], ["bob", "1"]]
    assert page.count('text-align:right">') == 3
    assert "near &amp; far" in page
    assert Table(html_table(["a", "b"], [])).rows == [["a", "b"]]


def test_pages_have_no_colours_of_their_own_but_those_of_stripes():
    pages = [CLUB._repr_html_(), planted_groups(60, 3, degree=6)._repr_html_()]
    assert not any(re.search(r"#[0-9a-f]{6}|background|color:(?!inherit)", page) for page in pages)


def test_a_data_set_is_shown_with_its_classes():
    data = planted_groups(60, 3, degree=6)
    assert facts(data)["classes"] == "3, of 20 to 20 nodes; 60 nodes labelled"
    assert facts(data)["nodes"] == "60"
    assert "classes" not in facts(Dataset("club", CLUB))


def test_an_evaluation_is_shown_as_the_table_that_is_printed():
    data = planted_groups(60, 3, degree=6)
    found = evaluate_node_classification(
        data.labels + np.eye(60, 3), data.labels, train=(0.3, 0.5), seeds=2, progress=False
    )
    page = found._repr_html_()
    head, *rows = Table(page).rows
    assert head == ["", "micro-F1", "macro-F1"]
    assert [row[0] for row in rows] == ["30%", "50%"]
    printed = str(found)
    assert all(cell in printed for row in rows for cell in row)
    assert printed.splitlines()[0] in page


def test_pages_are_small():
    large = Embedding(range(1000), np.random.default_rng(0).normal(size=(1000, 128)))
    assert len(large._repr_html_()) < 20_000
    assert len(rmat(12)._repr_html_()) < 4_000
