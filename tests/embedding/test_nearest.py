"""Nearest neighbours: the same as by looking at every pair, however they are searched."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from reinforce2vec import Embedding, InputError, nearest_neighbors
from reinforce2vec.embedding import _approximate_search as indexing
from reinforce2vec.embedding import _exact_search as searching
from reinforce2vec.embedding import nearest
from reinforce2vec.embedding.nearest import RowSearch, nearest_rows, neighbor_graph


def literal(vectors, k):
    """All cosines at once in float64; the row itself left out, ties by row number."""
    k = min(k, len(vectors))
    exact = np.asarray(vectors, np.float32).astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    units = exact / np.where(lengths == 0, 1, lengths)
    cosines = np.round(units @ units.T, 12)  # so that equal vectors are equally similar here, too
    rows, found = np.full((len(exact), k), -1), np.full((len(exact), k), np.nan)
    for row, similar in enumerate(cosines):
        others = np.delete(np.arange(len(exact)), row)
        best = others[np.argsort(-similar[others], kind="stable")][:k]
        rows[row, : len(best)], found[row, : len(best)] = best, similar[best]
    return rows, found


def clouds(n=300, dimensions=8, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, dimensions))
    return centres[rng.integers(0, 12, n)] + 0.3 * rng.normal(size=(n, dimensions))


def many_equals():
    """Groups of equal vectors, larger than a shortlist, beside zeros and vectors apart."""
    rng = np.random.default_rng(1)
    groups = np.repeat([[1, 2, 0], [-2, 1, 1]], 40, axis=0)
    return np.concatenate([groups, np.zeros((5, 3)), clouds(15, 3)])[rng.permutation(100)]


VECTORS = {
    "clouds": clouds(200),
    "few directions": np.random.default_rng(2).integers(-1, 2, (100, 2)),
    "many equals": many_equals(),
    "one dimension": np.random.default_rng(4).normal(size=(80, 1)),
    "tiny": 1e-40 * clouds(40),
    "huge": 1e37 * clouds(40),
    "all zeros": np.zeros((4, 2)),
    "two": [[1, 0], [-1, 0]],
    "one": [[3, 4]],
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("block_bytes", [1 << 24, 1 << 15, 1 << 9])
def test_exact_neighbours_are_those_of_looking_at_every_pair(monkeypatch, name, block_bytes):
    monkeypatch.setattr(searching, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(searching, "_SPARE", 8)
    rows, cosines = nearest_rows(VECTORS[name], k=7)
    expected, similar = literal(VECTORS[name], 7)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_allclose(cosines, similar, atol=1e-6)
    assert rows.dtype == np.int32
    assert cosines.dtype == np.float32


def test_neighbours_that_rounding_cannot_tell_apart_are_those_of_the_embedding():
    """Cosines differ in the ninth digit and beyond, which float32 does not hold."""
    vectors = 1 + 1e-4 * np.random.default_rng(3).normal(size=(400, 5))
    embedding = Embedding(range(400), vectors)
    rows, cosines = nearest_rows(embedding.vectors, [0, 7, 399], k=9)
    for row, others, similar in zip([0, 7, 399], rows.tolist(), cosines, strict=True):
        nodes, expected = zip(*embedding.most_similar(row, k=9), strict=True)
        assert others == list(nodes)
        assert similar.tolist() == np.float32(expected).tolist()


def test_more_neighbours_than_there_are_end_in_nothing():
    rows, cosines = nearest_rows(clouds(5), k=10**15)
    assert (np.sort(rows[:, :4]) == [[o for o in range(5) if o != r] for r in range(5)]).all()
    assert (rows[:, 4:] == -1).all()
    assert np.isnan(cosines[:, 4:]).all()
    assert rows.shape == cosines.shape == (5, 5)
    assert nearest_rows(np.empty((0, 3)), k=2)[0].shape == (0, 0)


@pytest.mark.parametrize("equal", [1, 20])
def test_vectors_that_differ_in_their_last_bits_are_looked_at_in_batches(monkeypatch, equal):
    """Shortlists are too short for them all, and even float64 hardly tells them apart."""
    rng, taken = np.random.default_rng(5), []
    vectors = np.repeat(1 + 1e-7 * rng.integers(-2, 3, (700 // equal, 6)), equal, axis=0)
    embedding = Embedding(range(len(vectors)), vectors)
    scores_of_all = searching._scores_of_all_targets
    monkeypatch.setattr(
        searching, "_scores_of_all_targets", lambda *given: taken.append(1) or scores_of_all(*given)
    )
    rows, cosines = nearest_rows(embedding.vectors, k=9)
    assert 0 < len(taken) <= len(vectors) / 8
    for row in (0, 350, 699):
        nodes, expected = zip(*embedding.most_similar(row, k=9), strict=True)
        assert rows[row].tolist() == list(nodes)
        assert cosines[row].tolist() == np.float32(expected).tolist()


def test_some_rows_have_the_neighbours_they_have_among_all():
    rows, _ = nearest_rows(clouds(), k=5)
    some, _ = nearest_rows(clouds(), [200, 3], k=5)
    np.testing.assert_array_equal(some, rows[[200, 3]])


# -- with ids ------------------------------------------------------------------------------------


@pytest.fixture
def people():
    return Embedding(["ann", "bob", "cid", "dee"], [[1, 0], [0.8, 0.6], [0, 2], [-1, 0.1]])


@pytest.mark.parametrize("scale", [1, 1e-42, 3e37])
def test_single_rows_have_the_neighbours_they_have_among_all(scale):
    vectors = np.random.default_rng(0).integers(-2, 3, (60, 4)).astype(np.float32)
    vectors[::3] *= np.float32(scale)
    rows, cosines = nearest_rows(vectors, k=70, method="exact", progress=False)
    search = RowSearch(vectors)
    for row in range(60):
        for k in (1, 5, 70):
            found, values = search.nearest(row, k)
            known = min(k, 59)
            assert found.tolist() == rows[row, :known].tolist()
            assert np.array_equal(values.astype(np.float32), cosines[row, :known])


def test_neighbours_by_id(people):
    found = nearest_neighbors(people, k=2)
    assert list(found) == ["ann", "bob", "cid", "dee"]
    assert len(found) == 4
    for node in people:
        alike = people.most_similar(node, k=2)
        assert [other for other, _ in found[node]] == [other for other, _ in alike]
    assert repr(found) == "Neighbors(4 nodes, 2 for each)"
    assert "eve" not in found
    with pytest.raises(KeyError, match="'eve' is not among the selected nodes"):
        found["eve"]


@pytest.mark.parametrize("nodes", ["cid", ["cid"], ("cid",), np.array(["cid"]), ["cid", "cid"]])
def test_neighbours_of_one(people, nodes):
    found = nearest_neighbors(people, nodes, k=9)
    assert list(found) == ["cid"]
    assert [node for node, _ in found["cid"]] == ["bob", "dee", "ann"]


def test_neighbours_as_a_table_and_in_a_notebook(people):
    table = nearest_neighbors(people, ["ann", "dee"], k=5).to_frame()
    assert table["node"].tolist() == ["ann"] * 3 + ["dee"] * 3
    assert table["neighbor"].tolist() == ["bob", "cid", "dee", "cid", "bob", "ann"]
    assert table["cosine"][0] == pytest.approx(0.8)
    assert "<td" in nearest_neighbors(people)._repr_html_()


def test_a_neighbour_graph_has_every_link_once(people):
    graph = neighbor_graph(people, *nearest_rows(people.vectors, k=1))
    assert graph.n_edges == 3
    assert {frozenset((a, b)) for a in people for b in graph.neighbors(a)} == {
        *(frozenset(pair) for pair in (("ann", "bob"), ("bob", "cid"), ("cid", "dee"))),
    }
    weights = graph.to_scipy().toarray()
    assert weights[0, 1] == pytest.approx(0.8)  # not twice as much, though each chose the other
    two = Embedding(["a", "b"], [[1, 0], [-1, 0]])
    opposite = neighbor_graph(two, *nearest_rows(two.vectors))
    assert opposite.weights.tolist() == [1e-6, 1e-6]


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


def test_an_approximate_search_looks_as_far_as_it_must(monkeypatch):
    """Vectors without any order are hard to find."""
    pytest.importorskip("usearch")
    vectors = np.random.default_rng(0).normal(size=(3000, 32))
    _, cosines = nearest_rows(vectors, k=10)
    monkeypatch.setattr(indexing, "_WIDTH", 16)

    def recall():
        return np.mean(nearest_rows(vectors, k=10, method="approximate")[1] >= cosines[:, -1:])

    assert recall() == 1  # by looking at all after all
    reported = []
    monkeypatch.setattr(
        nearest, "search_progress", lambda *_: lambda done, total: reported.append(done / total)
    )
    recall()
    assert reported == sorted(reported)  # how far it is never goes back
    assert reported[-2:] == [1, 1]
    assert len(set(reported)) > 3
    monkeypatch.setattr(indexing, "_COST", 1)
    assert 0.9 < recall() < 1  # by looking farther
    monkeypatch.setattr(indexing, "_ENOUGH", 0)
    assert recall() < 0.9


def test_auto_is_approximate_where_many_look_and_the_work_is_large(monkeypatch):
    pytest.importorskip("usearch")
    taken = []
    monkeypatch.setattr(nearest, "search_approximately", lambda *_: taken.append("approximate"))
    monkeypatch.setattr(nearest, "search_exactly", lambda *_: taken.append("exact"))
    nearest_rows(clouds(100))
    monkeypatch.setattr(nearest, "_EXACT_UP_TO", 1000)
    nearest_rows(clouds(100))
    nearest_rows(clouds(100), [1, 2])
    monkeypatch.setitem(sys.modules, "usearch", None)
    nearest_rows(clouds(100))
    assert taken == ["exact", "approximate", "exact", "exact"]


def test_without_usearch_an_approximate_search_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(InputError, match=r"needs usearch.*'reinforce2vec\[approximate\]'"):
        nearest_rows(clouds(10), method="approximate")


# -- what cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused(bad):
    vectors = clouds(10)
    vectors[4, 2] = bad
    with pytest.raises(InputError, match=r"row 4 .* not finite"):
        nearest_rows(vectors)
    with pytest.raises(InputError, match="of node 'e' holds numbers that are not finite"):
        nearest_neighbors(Embedding(list("abcdefghij"), vectors))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"k": 0}, "k must be an integer of at least 1"),
        ({"method": "fast"}, "method must be one of auto, exact, approximate, not 'fast'"),
        ({"nodes": ["ann", "eve"]}, "node 'eve' is not in the embedding"),
        ({"embedding": [[1, 2]]}, "expected an Embedding, not a list"),
    ],
)
def test_wrong_arguments_are_refused(people, changes, sentence):
    with pytest.raises(InputError, match=sentence):
        nearest_neighbors(**({"embedding": people} | changes))


def test_rows_that_are_not_there_are_refused():
    with pytest.raises(InputError, match="rows must be from 0 to 9"):
        nearest_rows(clouds(10), [10])
