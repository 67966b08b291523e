"""Nodes of an embedding, of a graph and of another embedding are matched by id."""

from __future__ import annotations

import pickle
import warnings
from copy import deepcopy as clone

import numpy as np
import pytest

import reinforce2vec
from reinforce2vec import (
    HOPE,
    LINE,
    Embedding,
    Graph,
    InputError,
    Reinforce2Vec,
    SecondOrderWalk,
    align,
    explore,
    karate_club,
    planted_groups,
    recommend_links,
    smooth,
)
from reinforce2vec.embedding.matching import (
    aligned_rows,
    graph_mismatch,
    rows_among,
)
from reinforce2vec.graph import edges_of
from reinforce2vec.plotting import embedding_map

GRAPH = Graph.from_edges([("a", "b"), ("b", "c")])


def vectors_of(*names):
    return Embedding(names, np.eye(len(names), 4, dtype=np.float32))


def test_rows_of_one_in_the_other_are_minus_one_where_it_lacks_a_node():
    embedding = vectors_of("c", "x", "a")
    assert rows_among(embedding, GRAPH).tolist() == [2, -1, 0]
    assert rows_among(GRAPH, embedding).tolist() == [2, -1, 0]
    assert rows_among(GRAPH, vectors_of("x", "b")).tolist() == [-1, 1]
    same = vectors_of("c", "b", "a")
    assert same.ids[aligned_rows(same, GRAPH)].tolist() == GRAPH.ids.tolist()
    for others in (vectors_of("c", "b", "x"), vectors_of("c", "b", "a", "x")):
        with pytest.raises(InputError, match="both need the same nodes"):
            aligned_rows(others, GRAPH)


@pytest.mark.parametrize("use", [recommend_links, smooth, embedding_map])
def test_without_a_common_node_every_use_says_the_same(use):
    with pytest.raises(InputError, match=r"no node of the embedding is in the graph.*'a' and 1"):
        use(vectors_of(1, 2, 3), graph=GRAPH)
    with pytest.raises(InputError, match="no node of the embedding is in the graph"):
        rows_among(vectors_of("a"), Graph.from_edges([]))


# -- is it the graph of the vectors? -----------------------------------------------------------

EDGES = karate_club()
MODEL = Reinforce2Vec(dimensions=4, walks_per_node=2, workers=1, smooth=False)


def pairs_of(graph):
    return graph.ids[edges_of(graph)[0]].tolist()


@pytest.mark.parametrize("model", [MODEL, HOPE(dimensions=4), LINE(dimensions=4, samples=1)])
def test_models_say_what_vectors_were_learned_from(model):
    graph = Graph.from_edges(pairs_of(EDGES), directed=True)
    info = clone(model).fit(graph).embedding_.info
    assert info["method"] == type(model).__name__
    assert info["settings"]["dimensions"] == 4
    assert "workers" not in info["settings"]
    assert info["version"] == reinforce2vec.__version__
    assert (info["directed"], info["weighted"]) == (True, False)
    assert (info["nodes"], info["edges"]) == (34, 78)


def test_what_is_known_follows_the_model():
    model = clone(MODEL).set_params(walk=SecondOrderWalk(p=0.5), window=(1, 5)).fit(EDGES)
    before = model.embedding_
    assert before.info["settings"]["walk"] == {"kind": "second-order", "p": 0.5, "q": 1.0}
    assert before.info["settings"]["window"] == [1, 5]
    assert pickle.loads(pickle.dumps(model)).embedding_.info == before.info
    assert smooth(before, EDGES).info == {**before.info, "smoothed": True}
    model.partial_fit([("new", 1)])
    after = model.embedding_.info
    assert (after["nodes"], after["edges"]) == (35, 79)
    assert after["graph"] != before.info["graph"]
    walked = clone(MODEL).fit_walks([[1, 2, 3], [3, 2, 1]]).embedding_
    assert "graph" not in walked.info
    assert graph_mismatch(walked, Graph.from_edges([(1, 2), (2, 3)])) is None


def test_links_of_another_graph_are_recommended_with_a_warning(tmp_path):
    clone(MODEL).fit(EDGES).embedding_.save(tmp_path / "v.npz")
    loaded = Embedding.load(tmp_path / "v.npz")
    pairs = pairs_of(EDGES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for same in (EDGES, pairs, pairs[::-1], [(b, a) for a, b in pairs]):
            recommend_links(loaded, same, 2)
        explore(loaded, EDGES, export=tmp_path / "map.html", method="pca")
    directed = Graph.from_edges(pairs, directed=True)
    strange = Embedding(EDGES.ids, np.eye(34), info={"graph": 5, "directed": "x", "nodes": [1]})
    for embedding, graph, message in [
        (loaded, directed, "read it with directed=False"),
        (clone(MODEL).fit(directed).embedding_, EDGES, "read it with directed=True"),
        (loaded, [(a, b, 2.0) for a, b in pairs], "read it with weighted=False"),
        (loaded, pairs[1:], "another graph"),
        (strange, EDGES, "another graph"),
    ]:
        with pytest.warns(UserWarning, match=message) as caught:
            recommend_links(embedding, graph, 2)
        assert [warning.filename for warning in caught] == [__file__]
        with pytest.warns(UserWarning, match=message) as caught:
            explore(embedding, graph, export=tmp_path / "map.html", method="pca")
        assert [warning.filename for warning in caught] == [__file__]


# -- other vectors -----------------------------------------------------------------------------

RNG = np.random.default_rng(0)


def rotation(size):
    return np.linalg.qr(RNG.normal(size=(size, size)))[0]


def unit(embedding):
    return embedding.vectors / np.linalg.norm(embedding.vectors, axis=1)[:, None]


def some(n=60, dimensions=8, **settings):
    return Embedding(range(n), RNG.normal(size=(n, dimensions)), **settings)


def test_a_rotation_is_undone_and_others_are_rotated_along():
    old = some()
    turned, order = old.vectors @ rotation(8), RNG.permutation(60)[:40]
    for ids, rows in ((range(60), np.arange(60)), ([*order, 101, 102], [*order, 3, 4])):
        new = Embedding(np.array(ids), turned[rows], info={"method": "new"})
        aligned = align(new, old)
        assert aligned.ids.tolist() == new.ids.tolist()
        assert aligned.info == {"method": "new"}
        np.testing.assert_allclose(aligned.vectors, old.vectors[rows], atol=1e-5)


def test_each_scale_is_rotated_by_itself():
    old = some(scales=(2, 6))
    turned = np.hstack([old.vectors[:, :2] @ rotation(2), old.vectors[:, 2:] @ rotation(6)])
    aligned = align(Embedding(old.ids, turned, scales=(2, 6)), old)
    assert aligned.scales == (2, 6)
    np.testing.assert_allclose(aligned.vectors, old.vectors, atol=1e-5)
    mixed = Embedding(old.ids, old.vectors @ rotation(8), scales=(2, 6))
    assert np.abs(align(mixed, old).vectors - old.vectors).max() > 0.1  # no such rotation does it
    whole = align(Embedding(old.ids, mixed.vectors, scales=(4, 4)), old)
    np.testing.assert_allclose(whole.vectors, old.vectors, atol=1e-5)


@pytest.mark.parametrize("smooth", [False, True])
def test_two_fits_become_comparable_and_keep_their_cosines(smooth):
    groups = planted_groups(300, 5, degree=15, seed=3).graph
    old, new = (
        Reinforce2Vec(32, seed=seed, workers=1, smooth=smooth).fit(groups).embedding_
        for seed in (1, 2)
    )
    aligned = align(new, old)
    assert np.median((unit(old) * unit(new)).sum(axis=1)) < 0.3
    assert np.median((unit(old) * unit(aligned)).sum(axis=1)) > 0.8
    np.testing.assert_allclose(unit(aligned) @ unit(aligned).T, unit(new) @ unit(new).T, atol=1e-5)


def test_what_cannot_be_aligned_is_refused():
    few = Embedding([*range(5), *range(100, 120)], RNG.normal(size=(25, 8)))
    for new, message in [
        (some(dimensions=4), "of 4 and of 8 dimensions"),
        (few, "5 nodes in common"),
        (Embedding(["a", "b"], np.ones((2, 8))), "0 nodes in common"),
        (np.ones((3, 2)), "two Embeddings"),
    ]:
        with pytest.raises(InputError, match=message):
            align(new, some())
    assert len(align(some(3), some())) == 3  # all of its nodes are common
