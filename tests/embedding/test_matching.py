"""Nodes of an embedding and of a graph are matched by id, in one way and with one message."""

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
    explore,
    karate_club,
    recommend_links,
    smooth,
)
from reinforce2vec.embedding.matching import (
    aligned_rows,
    graph_mismatch,
    rows_in_embedding,
    rows_in_graph,
)
from reinforce2vec.graph import edges_of
from reinforce2vec.plotting import embedding_map

GRAPH = Graph.from_edges([("a", "b"), ("b", "c")])


def vectors_of(*names):
    return Embedding(names, np.eye(len(names), 4, dtype=np.float32))


def test_rows_of_one_in_the_other_are_minus_one_where_it_lacks_a_node():
    embedding = vectors_of("c", "x", "a")
    assert rows_in_embedding(embedding, GRAPH).tolist() == [2, -1, 0]
    assert rows_in_graph(embedding, GRAPH).tolist() == [2, -1, 0]
    assert rows_in_graph(vectors_of("x", "b"), GRAPH).tolist() == [-1, 1]


def test_rows_are_aligned_only_if_all_nodes_are_the_same():
    embedding = vectors_of("c", "b", "a")
    assert embedding.ids[aligned_rows(embedding, GRAPH)].tolist() == GRAPH.ids.tolist()
    with pytest.raises(InputError, match="3 nodes and the graph 3, node 'a' only in the graph"):
        aligned_rows(vectors_of("c", "b", "x"), GRAPH)
    with pytest.raises(InputError, match="4 nodes and the graph 3, all of them in the embedding"):
        aligned_rows(vectors_of("c", "b", "a", "x"), GRAPH)


@pytest.mark.parametrize(
    "use",
    [
        lambda embedding: recommend_links(embedding, GRAPH),
        lambda embedding: smooth(embedding, GRAPH),
        lambda embedding: embedding_map(embedding, graph=GRAPH),
    ],
    ids=["links", "smoothing", "plotting"],
)
def test_without_a_common_node_every_use_says_the_same(use):
    with pytest.raises(InputError) as caught:
        use(vectors_of(1, 2, 3))
    assert str(caught.value) == (
        "no node of the embedding is in the graph: nodes of the embedding are named like 1, those "
        "of the graph like 'a'"
    )


def test_an_empty_graph_has_no_example_of_a_name():
    with pytest.raises(InputError) as caught:
        rows_in_embedding(vectors_of("a"), Graph.from_edges([]))
    assert str(caught.value) == "no node of the embedding is in the graph"


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


def test_settings_are_those_that_make_the_model_again():
    walk = SecondOrderWalk(p=0.5)
    info = clone(MODEL).set_params(walk=walk, window=(1, 5)).fit(EDGES).embedding_.info
    assert info["settings"]["walk"] == {"kind": "second-order", "p": 0.5, "q": 1.0}
    assert info["settings"]["window"] == [1, 5]


def test_what_is_known_follows_the_model():
    model = clone(MODEL).fit(EDGES)
    before = model.embedding_
    assert pickle.loads(pickle.dumps(model)).embedding_.info == before.info
    assert smooth(before, EDGES).info == {**before.info, "smoothed": True}
    model.partial_fit([("new", 1)])
    after = model.embedding_.info
    assert (after["nodes"], after["edges"]) == (35, 79)
    assert after["graph"] != before.info["graph"]
    walked = clone(MODEL).fit_walks([[1, 2, 3], [3, 2, 1]]).embedding_
    assert "graph" not in walked.info
    assert walked.info["method"] == "Reinforce2Vec"
    assert graph_mismatch(walked, Graph.from_edges([(1, 2), (2, 3)])) is None


def test_links_of_another_graph_are_recommended_with_a_warning(tmp_path):
    embedding = clone(MODEL).fit(EDGES).embedding_
    embedding.save(tmp_path / "v.npz")
    loaded = Embedding.load(tmp_path / "v.npz")
    pairs = pairs_of(EDGES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for same in (EDGES, pairs, pairs[::-1], [(b, a) for a, b in pairs]):
            recommend_links(loaded, same, 2)
        explore(loaded, EDGES, export=tmp_path / "map.html", method="pca")
    directed = Graph.from_edges(pairs, directed=True)
    for embedded, graph, message in [
        (loaded, directed, "learned from an undirected graph.*read it with directed=False"),
        (clone(MODEL).fit(directed).embedding_, EDGES, "from a directed graph.*directed=True"),
        (loaded, [(a, b, 2.0) for a, b in pairs], "an unweighted graph.*with weighted=False"),
        (loaded, pairs[1:], "of 34 nodes and 78 edges, while this one has 34 nodes and 77 edges"),
        (loaded, [*pairs[1:], (17, 34)], "another graph with as many nodes and edges"),
    ]:
        with pytest.warns(UserWarning, match=message) as caught:
            recommend_links(embedded, graph, 2)
        assert [warning.filename for warning in caught] == [__file__]
        with pytest.warns(UserWarning, match=message) as caught:
            explore(embedded, graph, export=tmp_path / "map.html", method="pca")
        assert [warning.filename for warning in caught] == [__file__]


def test_what_others_wrote_about_vectors_is_no_error():
    odd = Embedding(EDGES.ids, np.eye(34), info={"graph": 5, "directed": "x", "nodes": [1]})
    assert "as many nodes" in str(graph_mismatch(odd, EDGES))
