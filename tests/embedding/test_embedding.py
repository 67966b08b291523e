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
from reinforce2vec._util import arrays as arrays_module
from reinforce2vec.embedding import Embedding
from reinforce2vec.embedding.embedding import OPERATORS

NAMES = ["ann", "bob", "cid", "dee"]
VECTORS = np.array([[1, 0], [3, 4], [0, 2], [-1, 0]], np.float32)


@pytest.fixture
def people():
    return Embedding(NAMES, VECTORS)


@pytest.fixture
def small_blocks(monkeypatch):
    """Parts of two rows, so that a few rows are several parts."""
    monkeypatch.setattr(arrays_module, "BLOCK_BYTES", 16)


# -- what it holds -----------------------------------------------------------------------------


def test_it_says_what_it_holds(people):
    assert (people.n_nodes, len(people), people.dimensions) == (4, 4, 2)
    assert people.ids.tolist() == NAMES
    assert repr(Embedding(range(34), np.zeros((34, 64)))) == (
        "Embedding(34 nodes, 64 dimensions, 8.7 kB)"
    )
    assert repr(Embedding([7], [[1]])) == "Embedding(1 node, 1 dimension, 4 bytes)"


def test_ids_of_a_graph_are_taken_as_they_are():
    graph = karate_club()
    embedding = Embedding(graph.ids, np.zeros((34, 2)))
    assert embedding.ids.dtype == np.int64
    assert np.shares_memory(embedding.ids, graph.ids)


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


def test_a_float32_array_is_not_copied_and_stays_writable():
    wide = np.zeros((4, 6), np.float32)
    embedding = Embedding(NAMES, wide[:, :2])
    assert np.shares_memory(embedding.vectors, wide)
    assert wide.flags.writeable
    ids = np.arange(4)
    assert Embedding(ids, wide).ids.flags.writeable is False
    assert ids.flags.writeable


def test_other_numbers_become_float32():
    assert Embedding(NAMES, VECTORS.astype(np.float64)).vectors.dtype == np.float32
    assert Embedding(NAMES, VECTORS.astype(np.int8).tolist()).vectors.dtype == np.float32


def test_it_cannot_be_changed_through_its_arrays(people):
    with pytest.raises(ValueError, match="read-only"):
        people.vectors[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        people.ids[0] = "eve"
    with pytest.raises(ValueError, match="read-only"):
        people["ann"][0] = 5
    assert VECTORS.flags.writeable


def test_what_is_not_finite_may_stand_in_it():
    assert np.isnan(Embedding(["a"], [[np.nan, np.inf]])["a"][0])


def test_an_embedding_may_be_empty():
    nothing = Embedding([], np.zeros((0, 3)))
    assert repr(nothing) == "Embedding(0 nodes, 3 dimensions, 0 bytes)"
    assert nothing.most_similar([1, 2, 3]) == []


def test_pickles_keep_everything(people):
    wide = Embedding(NAMES, np.hstack([VECTORS, VECTORS])[:, ::2])
    for before in (people, wide):
        after = pickle.loads(pickle.dumps(before))
        assert after.ids.tolist() == before.ids.tolist()
        np.testing.assert_array_equal(after.vectors, before.vectors)
        assert not after.vectors.flags.writeable
        assert not after.ids.flags.writeable


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
        ([1, 2, 3, True], VECTORS, "True occurs twice"),
        ([[1], [2], [3], [4]], VECTORS, "hashable"),
        (np.arange(8).reshape(4, 2), VECTORS, "hashable"),
        ("abcd", VECTORS, "must be a list of node ids"),
        (4, VECTORS, "must be a list of node ids"),
    ],
)
def test_what_does_not_fit_together_is_refused(ids, vectors, words):
    assert words in refused(Embedding, ids, vectors)


# -- looking up --------------------------------------------------------------------------------


def test_a_node_gives_a_vector_and_several_give_a_matrix(people):
    np.testing.assert_array_equal(people["bob"], [3, 4])
    for several in (["cid", "ann"], ("cid", "ann"), np.array(["cid", "ann"])):
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


def test_a_column_of_a_table_is_several_nodes(people):
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(["dee", "ann"], index=[5, 6])
    np.testing.assert_array_equal(people[column], VECTORS[[3, 0]])


def test_a_tuple_is_a_node_where_one_has_that_name():
    embedding = Embedding(["a", "b", ("a", "b"), ("b",)], VECTORS)
    np.testing.assert_array_equal(embedding["a", "b"], VECTORS[2])
    np.testing.assert_array_equal(embedding["b", "a"], VECTORS[[1, 0]])
    np.testing.assert_array_equal(embedding[[("a", "b"), "b"]], VECTORS[[2, 1]])


def test_nodes_are_found_or_refused(people):
    assert "ann" in people
    assert "eve" not in people
    assert people.row("cid") == 2
    np.testing.assert_array_equal(people.rows(["dee", "ann"]), [3, 0])
    for ask in (people.row, people.__getitem__, people.most_similar):
        assert refused(ask, "eve") == "node 'eve' is not in the embedding"
    assert "node 'eve'" in refused(people.rows, ["ann", "eve"])
    assert "node 'eve'" in refused(people.__getitem__, ["ann", "eve"])
    assert "node 7" in refused(people.__getitem__, 7)


def test_the_graph_finds_nodes_in_the_same_way():
    graph = Graph.from_edges([("ann", "bob")])
    assert refused(graph.row, "eve") == "node 'eve' is not in the graph"
    assert refused(graph.row, []) == "node [] is not in the graph"
    np.testing.assert_array_equal(graph.rows(np.array(["bob", "ann"])), [1, 0])


# -- which nodes are alike ---------------------------------------------------------------------


def test_the_nearest_come_first_without_the_node_itself(people):
    found = people.most_similar("ann")
    assert [node for node, _ in found] == ["bob", "cid", "dee"]
    assert [cosine for _, cosine in found] == pytest.approx([0.6, 0, -1])
    assert people.most_similar("ann", k=1) == found[:1]
    assert people.most_similar("ann", k=np.int64(2)) == found[:2]


def test_a_vector_is_compared_with_every_node(people):
    for vector in ([0, 9], np.array([0, 9]), np.array([0, 9.0], np.float32)):
        found = people.most_similar(vector, k=2)
        assert [node for node, _ in found] == ["cid", "bob"]
        assert [cosine for _, cosine in found] == pytest.approx([1, 0.8])


def test_ids_come_back_as_python_objects():
    ((node, cosine),) = Embedding([5, 6], [[1, 0], [1, 1]]).most_similar(5)
    assert type(node) is int
    assert type(cosine) is float


def test_equally_similar_nodes_come_in_row_order(small_blocks):
    vector = np.random.default_rng(0).normal(size=64)
    embedding = Embedding(range(101), np.tile(vector, (101, 1)))
    assert [node for node, _ in embedding.most_similar(50, 7)] == [0, 1, 2, 3, 4, 5, 6]
    assert [node for node, _ in embedding.most_similar(2, 3)] == [0, 1, 3]
    assert len({cosine for _, cosine in embedding.most_similar(50, 100)}) == 1


def test_a_zero_vector_is_similar_to_none():
    embedding = Embedding(list("abc"), [[0, 0], [1, 0], [-1, 0]])
    assert embedding.most_similar("a") == [("b", 0.0), ("c", 0.0)]
    assert embedding.most_similar("b") == [("a", 0.0), ("c", -1.0)]
    assert embedding.similarity("a", "b") == embedding.similarity("a", "a") == 0


def test_what_is_not_a_number_comes_last():
    embedding = Embedding(list("abcd"), [[1, 1], [np.nan, 0], [-1, -1], [np.inf, 1]])
    assert [node for node, _ in embedding.most_similar("a", 1)] == ["c"]
    assert [node for node, _ in embedding.most_similar("a")] == ["c", "b", "d"]
    assert len(embedding.most_similar("b")) == 3


def test_long_and_short_vectors_have_angles_too():
    embedding = Embedding(list("abc"), [[3e38, 3e38], [1e-45, 1e-45], [-3e38, 0]])
    assert embedding.similarity("a", "b") == pytest.approx(1)
    assert dict(embedding.most_similar("b")) == pytest.approx({"a": 1, "c": -np.sqrt(0.5)})


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
    found = Embedding(range(len(vectors)), vectors).most_similar(row, k)
    others = np.delete(cosines, row)
    assert len({node for node, _ in found} - {row}) == len(found) == min(k, len(others))
    np.testing.assert_allclose(
        [cosine for _, cosine in found], np.sort(others)[::-1][:k], atol=1e-12
    )
    np.testing.assert_allclose(
        [cosine for _, cosine in found], cosines[[node for node, _ in found]], atol=1e-12
    )


def test_similarity_is_the_cosine(people):
    assert people.similarity("ann", "bob") == pytest.approx(0.6)
    assert people.similarity("ann", "ann") == 1
    assert people.similarity("ann", "dee") == -1
    assert dict(people.most_similar("bob"))["cid"] == people.similarity("bob", "cid")


def test_the_layout_in_memory_changes_no_answer():
    vectors = np.random.default_rng(1).normal(size=(50, 24)).astype(np.float32)
    padded = np.zeros((50, 32), np.float32)
    padded[:, :24] = vectors
    answers = [
        Embedding(range(50), layout).most_similar(3)
        for layout in (vectors, np.asfortranarray(vectors), padded[:, :24])
    ]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None])
def test_a_senseless_number_of_neighbours_is_refused(people, k):
    assert "k must be an integer of at least 1" in refused(people.most_similar, "ann", k)


@pytest.mark.parametrize("vector", [[1, 2, 3], [[1, 2]], ["ann"], np.zeros((2, 1)), []])
def test_a_vector_of_another_shape_is_refused(people, vector):
    with pytest.raises(InputError, match="a vector of 2 numbers"):
        people.most_similar(vector)


# -- edges -------------------------------------------------------------------------------------

EXPECTED = {
    "hadamard": [[3, 0], [0, 8]],
    "average": [[2, 2], [1.5, 3]],
    "l1": [[2, 4], [3, 2]],
    "l2": [[4, 16], [9, 4]],
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_edge_features_combine_two_vectors(people, operator, small_blocks):
    pairs = [("ann", "bob"), ["cid", "bob"]]
    features = people.edge_features(pairs, operator)
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features, EXPECTED[operator])
    for other in (np.array(pairs), np.array(pairs, object), iter(pairs), map(np.array, pairs)):
        np.testing.assert_array_equal(people.edge_features(other, operator), features)


def test_many_pairs_are_made_in_parts(people, small_blocks):
    rows = np.random.default_rng(0).integers(0, 4, (101, 2))
    features = people.edge_features([(NAMES[a], NAMES[b]) for a, b in rows])
    np.testing.assert_array_equal(features, VECTORS[rows[:, 0]] * VECTORS[rows[:, 1]])


@pytest.mark.parametrize("pairs", [[], (), np.empty((0, 2), int), iter(())])
def test_no_pairs_have_no_features(people, pairs):
    assert people.edge_features(pairs).shape == (0, 2)


def test_pairs_of_tuples_are_pairs_of_nodes():
    embedding = Embedding([(0, 1), (2, 3)], VECTORS[:2])
    np.testing.assert_array_equal(embedding.edge_features([((0, 1), (2, 3))]), [[3, 0]])


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("ann", "bob"), ("ann",)], "pair 1 (counted from 0) is ('ann',)"),
        ([("ann", "bob", "cid")], "pair 0"),
        (["ab"], "pair 0 (counted from 0) is 'ab'"),
        ("ab", "expected pairs of node ids"),
        (5, "expected pairs of node ids"),
        (np.zeros(4), "shape (m, 2), not (4,)"),
        (np.zeros((2, 3)), "shape (m, 2), not (2, 3)"),
        ([("ann", "eve")], "node 'eve' is not in the embedding"),
    ],
)
def test_what_is_not_a_pair_of_nodes_is_refused(people, pairs, words):
    assert words in refused(people.edge_features, pairs)


def test_an_unknown_operator_is_refused_with_the_known_ones(people):
    message = refused(people.edge_features, [("ann", "bob")], "concat")
    assert "'concat'" in message
    assert all(operator in message for operator in OPERATORS)


# -- arrays and tables -------------------------------------------------------------------------


def test_to_numpy_gives_an_array_of_ones_own():
    wide = np.arange(12, dtype=np.float32).reshape(2, 6)
    embedding = Embedding([1, 2], wide[:, ::2])
    own = embedding.to_numpy()
    assert own.flags.c_contiguous
    own[:] = -1
    np.testing.assert_array_equal(embedding.vectors, [[0, 2, 4], [6, 8, 10]])


def test_numpy_gets_the_vectors_and_iteration_the_ids():
    people = Embedding(NAMES, VECTORS)
    assert np.shares_memory(np.asarray(people), people.vectors)
    assert np.asarray(people).dtype == np.float32
    assert not np.asarray(people).flags.writeable
    assert np.array(people).flags.writeable
    assert np.asarray(people, np.float64).dtype == np.float64
    np.testing.assert_array_equal(np.vstack([people, people])[-1], people.vectors[-1])
    np.testing.assert_array_equal(np.linalg.norm(people, axis=1).shape, (4,))
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.asarray(people, copy=False).dtype == np.float32
        with pytest.raises(ValueError, match="copy"):
            np.asarray(people, np.float64, copy=False)
    assert (list(people), len(people), NAMES[0] in people) == (NAMES, 4, True)


def test_a_table_of_arrow_has_lists_of_fixed_size():
    pyarrow = pytest.importorskip("pyarrow")
    people = Embedding(NAMES, VECTORS, info={"method": "x"})
    table = people.to_arrow()
    size = people.dimensions
    assert table.schema.types == [pyarrow.string(), pyarrow.list_(pyarrow.float32(), size)]
    assert table["node"].to_pylist() == NAMES
    assert table["vector"].to_pylist() == people.vectors.tolist()
    assert b"reinforce2vec" in table.schema.metadata
    assert Embedding([3, 1, 2, 4], VECTORS).to_arrow()["node"].to_pylist() == [3, 1, 2, 4]


def test_what_is_known_of_vectors_is_read_only_and_travels():
    info = {"walk": {"kind": "first-order"}, "seed": np.int64(3), "more": {"window": (1, 10)}}
    people = Embedding(NAMES, VECTORS, info=info)
    assert people.info["walk"] == {"kind": "first-order"}
    assert (people.info["seed"], people.info["more"]) == (3, {"window": [1, 10]})
    with pytest.raises(TypeError):
        people.info["seed"] = 4
    assert pickle.loads(pickle.dumps(people)).info == people.info
    assert Embedding(NAMES, VECTORS).info == {}


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


def test_going_through_it_gives_the_ids():
    assert list(Embedding(["ann", "bob"], np.zeros((2, 3)))) == ["ann", "bob"]


def test_an_unknown_node_is_a_key_error_too():
    with pytest.raises(KeyError) as unknown:
        Embedding([1, 2], np.zeros((2, 3)))[3]
    assert str(unknown.value) == "node 3 is not in the embedding"


# -- scales ------------------------------------------------------------------------------------


def test_scales_are_kept(tmp_path):
    matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert Embedding(NAMES, matrix).scales == (3,)
    both = Embedding(NAMES, matrix, scales=[1, np.int64(2)])
    assert both.scales == (1, 2)
    assert repr(both) == repr(Embedding(NAMES, matrix))
    assert pickle.loads(pickle.dumps(both)).scales == (1, 2)
    for name, kept in {"a.npz": (1, 2), "a.txt": (3,), "a.bin": (3,)}.items():
        both.save(tmp_path / name)
        loaded = Embedding.load(tmp_path / name)
        assert loaded.scales == kept
        assert np.array_equal(loaded.vectors, matrix)
    Embedding(NAMES, matrix).save(tmp_path / "one.npz")
    assert "scales" not in np.load(tmp_path / "one.npz")
    assert Embedding.load(tmp_path / "one.npz").scales == (3,)


@pytest.mark.parametrize(
    ("scales", "sentence"),
    [
        ([1, 2], "scales must add up to the 2 dimensions of the vectors, not to 3"),
        ([2, 0], "every item of scales must be an integer of at least 1, not 0"),
        ([], "scales must add up to the 2 dimensions of the vectors, not to 0"),
        (2, "scales must be a list of numbers of columns, not 2"),
    ],
)
def test_wrong_scales_are_refused(scales, sentence):
    with pytest.raises(InputError, match=sentence):
        Embedding(NAMES, VECTORS, scales=scales)


def test_a_file_with_wrong_scales_is_refused(tmp_path):
    file = tmp_path / "a.npz"
    Embedding(NAMES, VECTORS, scales=(1, 1)).save(file)
    arrays = dict(np.load(file))
    for scales in (np.array([1, 2]), np.array([1.0, 1.0])):
        np.savez(file, **(arrays | {"scales": scales}))
        with pytest.raises(InputError, match=r"a\.npz"):
            Embedding.load(file)
