"""Nodes of an embedding and of a graph are matched by id, in one way and with one message."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Embedding, Graph, InputError, recommend_links, smooth
from reinforce2vec.embedding.matching import aligned_rows, rows_in_embedding, rows_in_graph
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
