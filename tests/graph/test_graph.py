"""Graph: what it keeps, what it says, what it refuses."""

import pickle
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.sparse.csgraph import connected_components

from helpers.html import facts
from helpers.memory import peak_of
from reinforce2vec import (
    Dataset,
    FirstOrderWalk,
    Graph,
    InputError,
    ReinforcedWalk,
    karate_club,
    planted_groups,
    sample_walks,
)


def test_ids_stand_in_the_order_of_the_input():
    graph = Graph.from_edges([("c", "a"), ("b", "c")], nodes=["z", "a"])
    assert graph.ids.tolist() == ["z", "a", "c", "b"]
    assert graph.n_isolated == 1
    assert list(graph.neighbors("c")) == ["a", "b"]


def test_rows_are_sorted_and_free_of_duplicates():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 200, (20_000, 2))
    weights = rng.random(20_000) + 0.1
    for directed in (False, True):
        graph = Graph.from_edges(edges, weights, directed=directed, self_loops=True)
        expected: dict[tuple[int, int], float] = {}
        for (a, b), weight in zip(edges.tolist(), weights, strict=True):
            for arc in {(a, b)} if directed else {(a, b), (b, a)}:
                expected[arc] = expected.get(arc, 0.0) + weight
        found = {}
        for row, node in enumerate(graph.ids.tolist()):
            arcs = slice(graph.indptr[row], graph.indptr[row + 1])
            assert (np.diff(graph.indices[arcs]) > 0).all()
            neighbors = graph.ids[graph.indices[arcs]].tolist()
            found |= dict(zip([(node, n) for n in neighbors], graph.weights[arcs], strict=True))
        assert found.keys() == expected.keys()
        assert all(found[arc] == pytest.approx(expected[arc]) for arc in found)


def test_any_hashable_is_an_id():
    ids = [1, "1", (2, 3), frozenset({4}), 2.5]
    graph = Graph.from_edges([(a, b) for a in ids for b in ids if a != b])
    assert graph.ids.tolist() == ids
    assert graph.row((2, 3)) == 2
    assert "1" in graph
    assert "2" not in graph


def test_pairs_may_be_lists_tuples_and_arrays():
    for edges in ([[1, 2]], [(1, 2)], [np.array([1, 2])], np.array([[1.0, 2.0]])):
        assert Graph.from_edges(edges).ids.tolist() == [1, 2]
    assert Graph.from_edges(nx.path_graph(3).edges()).n_edges == 2
    assert Graph.from_edges([("a", "b", 2.0)]).weights.tolist() == [2.0, 2.0]


def test_counting_edges_takes_little_memory():
    rng = np.random.default_rng(0)
    pairs = np.column_stack(np.triu_indices(600))  # many edges of each node, and self-loops
    pairs = rng.permutation(pairs)[:150_000]
    graph = Graph.from_edges(pairs, nodes=range(700), self_loops=True)
    counted = []
    assert peak_of(lambda: counted.append(graph.n_edges)) < 5 * len(graph.indices)
    assert counted == [150_000]


def test_it_cannot_be_changed():
    graph = Graph.from_edges([(1, 2)], [0.5])
    for copy in (graph, pickle.loads(pickle.dumps(graph))):
        for array in (copy.indptr, copy.indices, copy.weights, copy.ids):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        with pytest.raises(AttributeError):
            copy.directed = True


def test_the_callers_arrays_stay_theirs():
    ends, ids = np.array([[0, 1]], np.int32), np.arange(2)
    graph = Graph.from_numbered(ends, None, ids)
    assert ends.flags.writeable
    assert ids.flags.writeable
    ends[0, 0] = 1
    assert graph.indices.tolist() == [1, 0]


def test_repr_tells_what_there_is():
    graph = Graph.from_edges([(1, 2), (2, 3), (3, 3), (5, 5)], nodes=[9], directed=True)
    assert repr(graph).startswith(
        "Graph(5 nodes, 2 edges, directed, unweighted, 3 components, 2 isolated, "
    )
    assert repr(graph).endswith("2 self-loops dropped)")


def test_to_scipy_can_be_computed_with():
    star = Graph.from_edges([(0, i) for i in range(1, 201)])
    assert (star.to_scipy() @ star.to_scipy())[0, 0] == 200


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (None, {}, "edges are pairs of node ids, not a NoneType"),
        ("ab", {}, "edges are pairs of node ids, not a str"),
        ({("a", "b"): 2.0}, {}, "edges are pairs of node ids, not a dict"),
        (["ab", "bc"], {}, r"edge 0 \(counted from 0\) is 'ab': expected a pair"),
        ([(1, 2), (3,)], {}, r"edge 1 \(counted from 0\) is \(3,\)"),
        (nx.path_graph(3), {}, "use Graph.from_any"),
        (pd.DataFrame({"u1": [1], "u2": [2]}), {}, "use Graph.from_any"),
        (np.zeros((2, 3)), {}, r"shape \(m, 2\), not \(2, 3\)"),
        (np.array([[0.5, 1.0]]), {}, "integer node ids"),
        ([(1, None)], {}, "a node id is missing"),
        ([(1, float("nan"))], {}, "a node id is missing"),
        ([([1], [2])], {}, "must be hashable"),
        ([(1, 2)], {"nodes": 34}, "nodes must be a list of node ids"),
        ([(1, 2)], {"weights": [1, 2]}, "one weight for each of the 1 edges"),
        ([(1, 2)], {"weights": ["x"]}, "weights must be numbers"),
        ([(1, 2)], {"weights": [-1]}, r"edge 0 \(counted from 0\) has weight -1"),
        ([(1, 2)], {"weights": [np.inf]}, "has weight inf"),
        ([(1, 2), (1, 2)], {"weights": [1e308, 1e308]}, "add up to more than 1.8e308"),
        ([(1, 2), (2, 3)], {"weights": [1e-200, 1.0]}, "150 orders of magnitude"),
    ],
)
def test_what_is_refused(edges, options, message):
    with pytest.raises(InputError, match=message):
        Graph.from_edges(edges, **options)


def test_rows_outside_of_the_graph_are_refused():
    for ends in ([[0, -1]], [[0, 2]]):
        with pytest.raises(InputError, match="outside of 0 to 1"):
            Graph.from_numbered(np.array(ends, np.int32), None, np.arange(2))


def test_large_weights_are_weighed_like_small_ones():
    """Their sum overflows; their shares do not."""
    shares = np.array([1.0, 2.0, 3.0, 0.5])
    edges = [(0, i) for i in range(1, 5)]
    walks = [FirstOrderWalk(), ReinforcedWalk.released(), ReinforcedWalk("vertex", "ucb", 9.0)]
    for walk in walks:
        small, large = (
            sample_walks(Graph.from_edges(edges, weights), walk, length=30, per_node=50)
            for weights in (shares, shares * 2.0**1020)
        )
        np.testing.assert_array_equal(small, large)


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


# -- in notebooks ------------------------------------------------------------------------------


def test_a_notebook_shows_sizes_and_degrees_of_graphs_and_data_sets():
    club = karate_club()
    shown = facts(club)
    assert (shown["nodes"], shown["edges"], shown["kind"]) == ("34", "78", "undirected, unweighted")
    assert shown["degrees"] == "mean 4.588, median 3, largest 17"
    assert shown["ids"] == "1, 2, 3, 4, 5, 6, 7, 8, …"
    shown = facts(Graph.from_edges([("a", "b", 2.0), ("c", "c", 1.0)], directed=True))
    assert shown["kind"] == "directed, weighted"
    assert shown["out-degrees"].startswith("mean 0.3333, median 0, largest 1")
    assert (shown["dropped"], shown["components"], shown["isolated"]) == ("1 self-loop", "2", "1")
    assert facts(Graph.from_edges([]))["nodes"] == "0"
    groups = planted_groups(60, 3, degree=6)
    assert facts(groups)["classes"] == "3, of 20 to 20 nodes; 60 nodes labelled"
    assert "classes" not in facts(Dataset("club", club))


def test_names_on_pages_are_escaped_and_cut_and_have_no_colours_of_their_own():
    wicked, long = "<script>alert(1)</script>", "x" * 1000
    for thing in (Graph.from_edges([(wicked, long)]), Dataset(wicked, karate_club(), None, wicked)):
        page = thing._repr_html_()
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert long not in page
        assert not re.search(r"#[0-9a-f]{6}|background|color:(?!inherit)", page)


# -- options -----------------------------------------------------------------------------------


def test_unknown_options_are_those_of_from_any_itself():
    for data in ("graph.txt", [(1, 2)]):
        with pytest.raises(TypeError, match=r"from_any\(\) .* 'typo'"):
            Graph.from_any(data, typo=1)
