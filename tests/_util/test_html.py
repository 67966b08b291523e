"""What notebooks show of graphs, data sets and vectors: a plain table, true and escaped."""

from __future__ import annotations

import numpy as np

from helpers.html import Table, facts
from reinforce2vec import Dataset, Embedding, Graph, karate_club, planted_groups
from reinforce2vec._util.html import html_table


def test_a_table_is_escaped():
    page = html_table(["<node>", "cosine"], [["ann", 0.123456], ["bob", 1.0]], "near & far")
    assert Table(page).rows == [["<node>", "cosine"], ["ann", "0.1235"], ["bob", "1"]]
    assert "near &amp; far" in page


def test_a_graph_is_shown_with_its_size_and_degrees():
    assert facts(karate_club()) == {
        "nodes": "34",
        "edges": "78",
        "kind": "undirected, unweighted",
        "components": "1",
        "isolated": "0",
        "memory": "1.2 kB",
        "degrees": "mean 4.588, median 3, largest 17",
        "ids": "1, 2, 3, 4, 5, 6, 7, 8, …",
    }
    loop = facts(Graph.from_edges([("a", "b", 2.0), ("c", "c", 1.0)], directed=True))
    assert (loop["kind"], loop["dropped"]) == ("directed, weighted", "1 self-loop")
    assert (loop["components"], loop["isolated"]) == ("2", "1")
    assert facts(Graph.from_edges([]))["nodes"] == "0"


def test_data_sets_and_vectors_are_shown():
    classes = facts(planted_groups(60, 3, degree=6))["classes"]
    assert classes == "3, of 20 to 20 nodes; 60 nodes labelled"
    people = Embedding(["<ann>", "bob"], np.ones((2, 4)))
    rows = Table(people._repr_html_()).rows
    assert rows[1:] == [["<ann>", *4 * ["1"]], ["bob", *4 * ["1"]]]


def test_names_are_escaped_and_cut():
    wicked, long = "<script>alert(1)</script>", "x" * 1000
    for thing in (
        Graph.from_edges([(wicked, long)]),
        Dataset(wicked, karate_club(), None, wicked),
    ):
        page = thing._repr_html_()
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert long not in page
