"""An embedding keeps ids and vectors together, and answers by id."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.refusals import refusal as refused
from reinforce2vec import Graph, InputError, karate_club
from reinforce2vec.embedding import Embedding
from reinforce2vec.embedding.embedding import OPERATORS

NAMES = ["ann", "bob", "cid", "dee"]
VECTORS = np.array([[1, 0], [3, 4], [0, 2], [-1, 0]], np.float32)


@pytest.fixture
def people():
    return Embedding(NAMES, VECTORS)


# -- what it holds -----------------------------------------------------------------------------


def test_it_says_what_it_holds(people):
    assert (people.n_nodes, len(people), people.dimensions) == (4, 4, 2)
    assert people.ids.tolist() == list(people) == NAMES
    large = Embedding(range(34), np.zeros((34, 64)))
    assert repr(large) == "Embedding(34 nodes, 64 dimensions, 8.7 kB)"
    assert repr(Embedding([7], [[1]])) == "Embedding(1 node, 1 dimension, 4 bytes)"
    assert len(large._repr_html_()) < 5000
    page = Embedding(["<script>alert(1)</script>", "b"], [[1], [2]])._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    "ids",
    [
        NAMES,
        (4, 3, 2, 1),
        range(4),
        np.array(NAMES),
        np.array([1, 2, 3, 4], np.int32),
        np.array([2**64 - 1, 2, 3, 4], np.uint64),
        [(1, 2), (1, 3), (2, 3), (0, 0)],
        [1, "1", 1.5, (1,)],
    ],
)
def test_ids_may_be_anything_hashable(ids):
    listed = list(ids.tolist() if isinstance(ids, np.ndarray) else ids)
    embedding = Embedding(ids, VECTORS)
    assert embedding.ids.tolist() == listed
    assert [embedding.row(node) for node in listed] == [0, 1, 2, 3]
    assert embedding.ids.dtype == Graph.from_edges([], nodes=listed).ids.dtype


def test_arrays_of_the_right_type_are_not_copied_and_stay_writable():
    wide, ids = np.zeros((4, 6), np.float32), np.arange(4)
    embedding = Embedding(ids, wide[:, :2])
    assert np.shares_memory(embedding.vectors, wide)
    assert np.shares_memory(embedding.ids, ids)
    assert wide.flags.writeable
    assert ids.flags.writeable
    for array in (embedding.vectors, embedding.ids, embedding[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 5
    assert Embedding(NAMES, VECTORS.astype(np.float64)).vectors.dtype == np.float32
    assert Embedding(NAMES, VECTORS.astype(np.int8).tolist()).vectors.dtype == np.float32
    assert np.isnan(Embedding(["a"], [[np.nan, np.inf]])["a"][0])


def test_pickles_keep_everything():
    info = {"walk": {"kind": "first-order"}, "seed": np.int64(3), "more": {"window": (1, 10)}}
    wide = np.hstack([VECTORS, VECTORS])[:, 1:]
    before = Embedding(NAMES, wide, scales=[1, np.int64(2)], info=info)
    after = pickle.loads(pickle.dumps(before))
    assert after.ids.tolist() == NAMES
    np.testing.assert_array_equal(after.vectors, wide)
    assert not after.vectors.flags.writeable
    assert before.scales == after.scales == (1, 2)
    assert before.info == after.info == info | {"more": {"window": [1, 10]}}
    with pytest.raises(TypeError):
        before.info["seed"] = 4


@pytest.mark.parametrize(
    ("ids", "vectors", "words"),
    [
        (NAMES[:3], VECTORS, "each of 3 node ids, got 4"),
        (NAMES, VECTORS[0], "shape (2,)"),
        (NAMES, VECTORS[:, :0], "shape (4, 0)"),
        (NAMES, [[1], [2, 3], [4], [5]], "must be numbers"),
        (NAMES, [["x"]] * 4, "must be numbers"),
        (["ann", "bob", "ann", "dee"], VECTORS, "'ann' occurs twice"),
        (np.array([5, 6, 7, 6]), VECTORS, "6 occurs twice"),
        ([1, 2, 3, True], VECTORS, "occurs twice"),
        ([[1], [2], [3], [4]], VECTORS, "hashable"),
        (np.arange(8).reshape(4, 2), VECTORS, "hashable"),
        ("abcd", VECTORS, "must be a list of node ids"),
        (4, VECTORS, "must be a list of node ids"),
    ],
)
def test_what_does_not_fit_together_is_refused(ids, vectors, words):
    assert words in refused(Embedding, ids, vectors)


@pytest.mark.parametrize("scales", [[1, 2], [2, 0], [], 2])
def test_wrong_scales_are_refused(scales, tmp_path):
    assert "scales" in refused(Embedding, NAMES, VECTORS, scales=scales)
    file = tmp_path / "a.npz"
    Embedding(NAMES, VECTORS, scales=(1, 1)).save(file)
    assert Embedding.load(file).scales == (1, 1)
    np.savez(file, **(dict(np.load(file)) | {"scales": np.array(scales)}))
    with pytest.raises(InputError, match=r"a\.npz"):
        Embedding.load(file)


# -- looking up --------------------------------------------------------------------------------


def test_a_node_gives_a_vector_and_several_give_a_matrix(people):
    pandas = pytest.importorskip("pandas")
    np.testing.assert_array_equal(people["bob"], [3, 4])
    names = ["cid", "ann"]
    for several in (names, tuple(names), np.array(names), pandas.Series(names, index=[5, 6])):
        matrix = people[several]
        np.testing.assert_array_equal(matrix, [[0, 2], [1, 0]])
        assert matrix.flags.writeable
    assert people[[]].shape == (0, 2)


def test_integers_are_ids_not_row_numbers():
    embedding = Embedding([30, 10, 20, 0], VECTORS)
    np.testing.assert_array_equal(embedding[10], VECTORS[1])
    np.testing.assert_array_equal(embedding[np.int32(10)], VECTORS[1])
    np.testing.assert_array_equal(embedding[np.array([0, 30])], VECTORS[[3, 0]])
    np.testing.assert_array_equal(embedding[range(0, 40, 10)], VECTORS[[3, 1, 2, 0]])


def test_a_tuple_is_a_node_where_one_has_that_name():
    embedding = Embedding(["a", "b", ("a", "b"), ("b",)], VECTORS)
    np.testing.assert_array_equal(embedding["a", "b"], VECTORS[2])
    np.testing.assert_array_equal(embedding["b", "a"], VECTORS[[1, 0]])
    np.testing.assert_array_equal(embedding[[("a", "b"), "b"]], VECTORS[[2, 1]])
    np.testing.assert_array_equal(embedding.edge_features([(("a", "b"), "a")]), [[0, 0]])


def test_nodes_are_found_or_refused(people):
    graph = Graph.from_edges([("ann", "bob")])
    assert ("ann" in people, "eve" in people, people.row("cid")) == (True, False, 2)
    np.testing.assert_array_equal(people.rows(["dee", "ann"]), [3, 0])
    np.testing.assert_array_equal(graph.rows(np.array(["bob", "ann"])), [1, 0])
    for ask in (people.row, people.__getitem__, people.most_similar):
        assert refused(ask, "eve") == "node 'eve' is not in the embedding"
    assert refused(graph.row, "eve") == "node 'eve' is not in the graph"
    assert refused(graph.row, []) == "node [] is not in the graph"
    assert "node 'eve'" in refused(people.rows, ["ann", "eve"])
    assert "node 'eve'" in refused(people.__getitem__, ["ann", "eve"])
    with pytest.raises(KeyError, match="node 7"):
        people[7]


# -- which nodes are alike ---------------------------------------------------------------------


def test_the_nearest_come_first_without_the_node_itself(people):
    alike = people.most_similar("ann")
    assert alike == [("bob", pytest.approx(0.6)), ("cid", 0), ("dee", -1)]
    assert people.most_similar("ann", k=1) == alike[:1]
    assert people.most_similar("ann", k=np.int64(2)) == alike[:2]
    assert people.similarity("ann", "bob") == alike[0][1]
    assert people.similarity("ann", "ann") == 1
    for vector in ([0, 9], np.array([0, 9]), np.array([0, 9.0], np.float32)):
        assert people.most_similar(vector, 2) == [("cid", 1), ("bob", pytest.approx(0.8))]
    ((node, cosine),) = Embedding([5, 6], [[1, 0], [1, 1]]).most_similar(5)
    assert (type(node), type(cosine)) == (int, float)
    assert Embedding([], np.zeros((0, 3))).most_similar([1, 2, 3]) == []


def test_equally_similar_nodes_come_in_row_order():
    vectors = np.tile(np.random.default_rng(0).normal(size=1024), (2101, 1))  # in several blocks
    embedding = Embedding(range(2101), vectors)
    assert [node for node, _ in embedding.most_similar(50, 7)] == [0, 1, 2, 3, 4, 5, 6]
    assert [node for node, _ in embedding.most_similar(2, 3)] == [0, 1, 3]
    assert len({cosine for _, cosine in embedding.most_similar(50, 2100)}) == 1


def test_odd_vectors_have_angles_too():
    zeros = Embedding(list("abc"), [[0, 0], [1, 0], [-1, 0]])
    assert zeros.most_similar("a") == [("b", 0.0), ("c", 0.0)]
    assert zeros.most_similar("b") == [("a", 0.0), ("c", -1.0)]
    assert zeros.similarity("a", "b") == zeros.similarity("a", "a") == 0
    infinite = Embedding(list("abcd"), [[1, 1], [np.nan, 0], [-1, -1], [np.inf, 1]])
    assert [node for node, _ in infinite.most_similar("a")] == ["c", "b", "d"]
    extreme = Embedding(list("abc"), [[3e38, 3e38], [1e-45, 1e-45], [-3e38, 0]])
    assert dict(extreme.most_similar("b")) == pytest.approx({"a": 1, "c": -np.sqrt(0.5)})


def matrices(max_rows):
    return st.tuples(st.integers(1, max_rows), st.integers(1, 5)).flatmap(
        lambda shape: arrays(np.float32, shape, elements=st.integers(-3, 3).map(float))
    )


@given(matrices(30), st.integers(1, 40), st.data())
def test_most_similar_is_what_sorting_all_cosines_gives(vectors, k, data):
    row = data.draw(st.integers(0, len(vectors) - 1))
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1)) * np.sqrt((exact[row] ** 2).sum())
    cosines = np.divide(exact @ exact[row], lengths, out=np.zeros_like(lengths), where=lengths > 0)
    alike = Embedding(range(len(vectors)), vectors).most_similar(row, k)
    others, values = np.delete(cosines, row), [cosine for _, cosine in alike]
    assert len({node for node, _ in alike} - {row}) == len(alike) == min(k, len(others))
    np.testing.assert_allclose(values, np.sort(others)[::-1][:k], atol=1e-12)
    np.testing.assert_allclose(values, cosines[[node for node, _ in alike]], atol=1e-12)


def test_the_layout_in_memory_changes_no_answer():
    vectors = np.random.default_rng(1).normal(size=(50, 24)).astype(np.float32)
    padded = np.zeros((50, 32), np.float32)
    padded[:, :24] = vectors
    layouts = (vectors, np.asfortranarray(vectors), padded[:, :24])
    answers = [Embedding(range(50), layout).most_similar(3) for layout in layouts]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("k", [0, 2.5, True, "3", None])
def test_a_senseless_number_of_neighbours_is_refused(people, k):
    assert "k must be an integer of at least 1" in refused(people.most_similar, "ann", k)


@pytest.mark.parametrize("vector", [[1, 2, 3], [[1, 2]], ["ann"], np.zeros((2, 1)), []])
def test_a_vector_of_another_shape_is_refused(people, vector):
    assert "a vector of 2 numbers" in refused(people.most_similar, vector)


# -- edges -------------------------------------------------------------------------------------

EXPECTED = {
    "hadamard": [[3, 0], [0, 8]],
    "average": [[2, 2], [1.5, 3]],
    "l1": [[2, 4], [3, 2]],
    "l2": [[4, 16], [9, 4]],
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_edge_features_combine_two_vectors(people, operator):
    pairs = [("ann", "bob"), ["cid", "bob"]]
    forms = (pairs, np.array(pairs), np.array(pairs, object), iter(pairs), map(np.array, pairs))
    for form in forms:
        features = people.edge_features(form, operator)
        assert features.dtype == np.float32
        np.testing.assert_array_equal(features, EXPECTED[operator])
    for nothing in ([], (), np.empty((0, 2), int), iter(())):
        assert people.edge_features(nothing, operator).shape == (0, 2)


def test_many_pairs_are_made_in_parts():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 1024)).astype(np.float32)
    rows = rng.integers(0, 50, (2500, 2))
    features = Embedding(range(50), vectors).edge_features(rows)
    np.testing.assert_array_equal(features, vectors[rows[:, 0]] * vectors[rows[:, 1]])


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("ann", "bob"), ("ann",)], "pair 1"),
        ([("ann", "bob", "cid")], "pair 0"),
        (["ab"], "pair 0"),
        (np.zeros(4), "pair 0"),
        (np.zeros((2, 3)), "pair 0"),
        ("ab", "pairs of node ids"),
        (5, "pairs of node ids"),
        ([("ann", "eve")], "node 'eve'"),
    ],
)
def test_what_is_not_a_pair_of_nodes_is_refused(people, pairs, words):
    assert words in refused(people.edge_features, pairs)
    assert "'concat'" in refused(people.edge_features, [("ann", "bob")], "concat")


# -- arrays and tables -------------------------------------------------------------------------


def test_numpy_gets_the_vectors(people):
    own = Embedding([1, 2], np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2])
    copy = own.to_numpy()
    assert copy.flags.c_contiguous
    copy[:] = -1
    np.testing.assert_array_equal(own.vectors, [[0, 2, 4], [6, 8, 10]])
    assert np.shares_memory(np.asarray(people), people.vectors)
    assert not np.asarray(people).flags.writeable
    assert np.array(people).flags.writeable
    assert np.asarray(people, np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.vstack([people, people])[-1], people.vectors[-1])
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.asarray(people, copy=False).dtype == np.float32
        with pytest.raises(ValueError, match="copy"):
            np.asarray(people, np.float64, copy=False)


@pytest.mark.parametrize("ids", [NAMES, [4, 3, 2, 1], [(1, 2), (3, 4), "x", 5]])
def test_to_frame_is_indexed_by_id(ids):
    pytest.importorskip("pandas")
    frame = Embedding(ids, VECTORS).to_frame()
    assert frame.index.name == "node"
    assert frame.index.tolist() == ids
    assert frame.columns.tolist() == ["d0", "d1"]
    assert (frame.dtypes == np.float32).all()
    np.testing.assert_array_equal(frame.to_numpy(), VECTORS)


def test_to_frame_without_pandas_says_how_to_get_it(people, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "reinforce2vec[frames]" in refused(people.to_frame)


def test_ids_of_a_graph_are_taken_as_they_are():
    graph = karate_club()
    assert np.shares_memory(Embedding(graph.ids, np.zeros((34, 2))).ids, graph.ids)
