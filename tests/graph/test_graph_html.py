"""What notebooks show of graphs and data sets: true, escaped, and in the notebook's colours."""

from __future__ import annotations

import re
from statistics import median

import pytest

from helpers.html import facts, picture
from reinforce2vec import (
    Dataset,
    Graph,
    karate_club,
    planted_groups,
    rmat,
)
from reinforce2vec.graph import _html

CLUB = karate_club()


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
    assert heights[2] == max(heights) == _html._HEIGHT - 2
    assert heights[1] < heights[5] < heights[4] < heights[3] < heights[2]


def test_a_graph_without_nodes_or_edges_is_shown_too():
    assert facts(Graph.from_edges([]))["nodes"] == "0"
    assert facts(Graph.from_edges([], nodes=[7]))["degrees"] == "mean 0, median 0, largest 0"


def test_a_data_set_is_shown_with_its_classes():
    data = planted_groups(60, 3, degree=6)
    assert facts(data)["classes"] == "3, of 20 to 20 nodes; 60 nodes labelled"
    assert facts(data)["nodes"] == "60"
    assert "classes" not in facts(Dataset("club", CLUB))


def test_names_are_escaped_and_cut():
    wicked, long = "<script>alert(1)</script>", "x" * 1000
    for thing in (Graph.from_edges([(wicked, long)]), Dataset(wicked, CLUB, None, wicked)):
        page = thing._repr_html_()
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert long not in page


def test_pages_have_no_colours_of_their_own():
    pages = [CLUB._repr_html_(), planted_groups(60, 3, degree=6)._repr_html_()]
    assert not any(re.search(r"#[0-9a-f]{6}|background|color:(?!inherit)", page) for page in pages)


def test_a_page_is_small():
    assert len(rmat(12)._repr_html_()) < 4_000
