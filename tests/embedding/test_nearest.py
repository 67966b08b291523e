"""Nearest neighbours: the same as by looking at every pair, however they are searched."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from helpers.packages import without_package
from reinforce2vec import Embedding, InputError, nearest_neighbors
from reinforce2vec.embedding.nearest import RowSearch, nearest_rows, neighbor_graph, search_method


def clouds(n=300, dimensions=8, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, dimensions))
    return centres[rng.integers(0, 12, n)] + 0.3 * rng.normal(size=(n, dimensions))


def many_equals():
    """Groups of equal vectors, larger than a shortlist, beside zeros and vectors apart."""
    rng = np.random.default_rng(1)
    groups = np.repeat([[1, 2, 0], [-2, 1, 1]], 400, axis=0)
    return np.concatenate([groups, np.zeros((5, 3)), clouds(15, 3)])[rng.permutation(820)]


VECTORS = {
    "clouds, in several blocks": clouds(4500),
    "few directions": np.random.default_rng(2).integers(-1, 2, (900, 2)),
    "many equals": many_equals(),
    "that float32 cannot tell apart": 1 + 1e-4 * np.random.default_rng(3).normal(size=(400, 5)),
    "that float64 hardly tells apart": 1
    + 1e-7 * np.random.default_rng(5).integers(-2, 3, (700, 6)),
    "one dimension": np.random.default_rng(4).normal(size=(80, 1)),
    "tiny": 1e-40 * clouds(40),
    "huge": 1e37 * clouds(40),
    "all zeros": np.zeros((4, 2)),
    "two": [[1, 0], [-1, 0]],
    "one": [[3, 4]],
}


@pytest.mark.parametrize("name", VECTORS)
def test_neighbours_are_those_of_looking_at_every_pair(name):
    vectors = np.asarray(VECTORS[name], np.float32)
    n = len(vectors)
    rows, cosines = nearest_rows(vectors, k=7, method="exact", progress=False)
    assert (rows.dtype, cosines.dtype) == (np.int32, np.float32)
    assert rows.shape == cosines.shape == (n, min(7, n))
    embedding, search = Embedding(range(n), vectors), RowSearch(vectors)
    sample = np.linspace(0, n - 1, min(n, 40)).astype(int)
    some, _ = nearest_rows(vectors, sample, k=7, method="exact", progress=False)
    for place, row in enumerate(sample.tolist()):
        expected = embedding.most_similar(row, 7)
        there = len(expected)
        assert rows[row, :there].tolist() == [node for node, _ in expected]
        assert cosines[row, :there].tolist() == np.float32([c for _, c in expected]).tolist()
        assert (rows[row, there:] == -1).all()
        assert np.isnan(cosines[row, there:]).all()
        assert some[place].tolist() == rows[row].tolist()
        alone, values = search.nearest(row, 7)
        assert alone.tolist() == rows[row, :there].tolist()
        assert values.astype(np.float32).tolist() == cosines[row, :there].tolist()


def test_more_neighbours_than_there_are_end_in_nothing():
    rows, cosines = nearest_rows(clouds(5), k=10**15)
    assert (np.sort(rows[:, :4]) == [[o for o in range(5) if o != r] for r in range(5)]).all()
    assert (rows[:, 4:] == -1).all()
    assert np.isnan(cosines[:, 4:]).all()
    assert nearest_rows(np.empty((0, 3)), k=2)[0].shape == (0, 0)


# -- with ids ------------------------------------------------------------------------------------


@pytest.fixture
def people():
    return Embedding(["ann", "bob", "cid", "dee"], [[1, 0], [0.8, 0.6], [0, 2], [-1, 0.1]])


def test_neighbours_by_id(people):
    neighbors = nearest_neighbors(people, k=2)
    assert list(neighbors) == ["ann", "bob", "cid", "dee"]
    for node in people:
        alike = people.most_similar(node, k=2)
        assert [other for other, _ in neighbors[node]] == [other for other, _ in alike]
    assert repr(neighbors) == "Neighbors(4 nodes, 2 for each)"
    assert "<td" in neighbors._repr_html_()
    assert "eve" not in neighbors
    with pytest.raises(KeyError, match="'eve'"):
        neighbors["eve"]
    table = nearest_neighbors(people, ["ann", "dee"], k=5).to_frame()
    assert table["node"].tolist() == ["ann"] * 3 + ["dee"] * 3
    assert table["neighbor"].tolist() == ["bob", "cid", "dee", "cid", "bob", "ann"]
    assert table["cosine"][0] == pytest.approx(0.8)


@pytest.mark.parametrize("nodes", ["cid", ["cid"], ("cid",), np.array(["cid"]), ["cid", "cid"]])
def test_neighbours_of_one(people, nodes):
    neighbors = nearest_neighbors(people, nodes, k=9)
    assert list(neighbors) == ["cid"]
    assert [node for node, _ in neighbors["cid"]] == ["bob", "dee", "ann"]


def test_a_neighbour_graph_has_every_link_once(people):
    graph = neighbor_graph(people, *nearest_rows(people.vectors, k=1))
    links = {frozenset((a, b)) for a in people for b in graph.neighbors(a)}
    assert links == {frozenset(pair) for pair in zip(people, list(people)[1:], strict=False)}
    assert graph.n_edges == 3
    # not twice as much, though each chose the other
    assert graph.to_scipy().toarray()[0, 1] == pytest.approx(0.8)
    two = Embedding(["a", "b"], [[1, 0], [-1, 0]])
    assert neighbor_graph(two, *nearest_rows(two.vectors)).weights.tolist() == [1e-6, 1e-6]


# -- approximate ---------------------------------------------------------------------------------


def test_approximate_neighbours_are_most_of_the_nearest():
    pytest.importorskip("usearch")
    vectors = np.concatenate([clouds(800, 16), np.zeros((2, 16))])
    exact, cosines = nearest_rows(vectors, k=10)
    rows, similar = nearest_rows(vectors, k=10, method="approximate")
    assert np.mean([np.isin(a, b).mean() for a, b in zip(exact, rows, strict=True)]) >= 0.9
    assert (rows != np.arange(len(rows))[:, None]).all()
    assert (np.diff(similar, axis=1) <= 0).all()
    assert (similar <= cosines).all()
    np.testing.assert_array_equal(rows[-2:], exact[-2:])  # zeros are near to nothing in particular
    alone, _ = nearest_rows(vectors, [5], k=1000, method="approximate")
    assert len(set(alone[0, :801].tolist()) - {-1}) > 700


def test_an_approximate_search_looks_as_far_as_it_must():
    """Vectors without any order are hard to find."""
    pytest.importorskip("usearch")
    vectors = np.random.default_rng(0).normal(size=(3000, 32))
    _, cosines = nearest_rows(vectors, k=10)
    _, similar = nearest_rows(vectors, k=10, method="approximate")
    assert (similar >= cosines[:, -1:]).mean() > 0.95


def test_auto_is_approximate_where_many_look_and_the_work_is_large(monkeypatch):
    pytest.importorskip("usearch")
    assert search_method("auto", 10**6, 10**6, 64) == "approximate"
    assert search_method("auto", 10**5, 10**6, 64) == "exact"  # few look
    assert search_method("auto", 10**5, 10**5, 64) == "exact"
    assert search_method("exact", 10**6, 10**6, 64) == "exact"
    without_package(monkeypatch, "usearch")
    assert search_method("auto", 10**6, 10**6, 64) == "exact"
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(InputError, match=r"usearch.*'reinforce2vec\[approximate\]'"):
        nearest_rows(clouds(10), method="approximate")


# -- what cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(bad):
    vectors = clouds(10)
    vectors[4, 2] = bad
    with pytest.raises(InputError, match=r"row 4 .* not finite"):
        nearest_rows(vectors)
    with pytest.raises(InputError, match=r"node 'e' .* not finite"):
        nearest_neighbors(Embedding(list("abcdefghij"), vectors))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": 0}, "k must be an integer of at least 1"),
        ({"method": "fast"}, "method must be .*'fast'"),
        ({"nodes": ["ann", "eve"]}, "node 'eve'"),
        ({"embedding": [[1, 2]]}, "an Embedding, not a list"),
    ],
)
def test_wrong_arguments_are_refused(people, changes, sentence):
    with pytest.raises(InputError, match=sentence):
        nearest_neighbors(**({"embedding": people} | changes))
    with pytest.raises(InputError, match="rows must be from 0 to 9"):
        nearest_rows(clouds(10), [10])
