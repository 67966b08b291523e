"""Vectors for nodes that a model has not seen, which change nothing else."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from helpers.models import vectors_of
from reinforce2vec import (
    Embedding,
    Graph,
    InputError,
    Reinforce2Vec,
    karate_club,
)

CLUB = karate_club()


@pytest.fixture(scope="module")
def model():
    return Reinforce2Vec(dimensions=16, walks_per_node=5, workers=1).fit(CLUB)


def expected(model, neighbours, weights=None):
    """The mean by weight / √degree; each scale as long as the neighbours' is."""
    degrees = np.array([len(CLUB.neighbors(node)) for node in neighbours], float)
    shares = (np.ones(len(neighbours)) if weights is None else np.array(weights)) / degrees**0.5
    mean, first = shares @ model.embedding_[neighbours], 0
    for width in model.embedding_.scales:
        part = slice(first, first + width)
        lengths = np.linalg.norm(model.embedding_[neighbours][:, part], axis=1)
        mean[part] *= (shares @ lengths / shares.sum()) / np.linalg.norm(mean[part])
        first += width
    return mean


def test_a_new_node_is_between_its_neighbours(model):
    found = model.transform_nodes([("new", 34), (33, "new"), ("new", 9)])
    assert isinstance(found, Embedding)
    assert found.ids.tolist() == ["new"]
    assert found.scales == model.embedding_.scales
    np.testing.assert_allclose(found["new"], expected(model, [34, 33, 9]), atol=1e-6)
    assert np.linalg.norm(found["new"]) == pytest.approx(1, abs=1e-5)  # as all smoothed vectors


def test_weights_count(model):
    found = model.transform_nodes([("new", 34, 3.0), ("new", 9, 1.0)])
    np.testing.assert_allclose(found["new"], expected(model, [34, 9], [3, 1]), atol=1e-6)


def test_raw_vectors_are_as_long_as_those_of_neighbours():
    raw = Reinforce2Vec(dimensions=16, walks_per_node=5, workers=1, smooth=False).fit(CLUB)
    found = raw.transform_nodes([("new", 34), ("new", 9)])
    np.testing.assert_allclose(found["new"], expected(raw, [34, 9]), atol=1e-6)


def test_nothing_else_changes(model):
    before = [vectors_of(model).tobytes(), *(one.inputs.tobytes() for one in model._state.scales)]
    graph, embedding = model.graph_, model.embedding_
    model.transform_nodes([("new", 34), ("newer", "new")])
    assert model.graph_ is graph
    assert model.embedding_ is embedding
    after = [vectors_of(model).tobytes(), *(one.inputs.tobytes() for one in model._state.scales)]
    assert after == before


def test_nodes_behind_new_nodes_get_their_vectors_from_these(model):
    found = model.transform_nodes([("far", "farther"), ("near", "far"), (34, "near"), (33, "near")])
    assert found.ids.tolist() == ["far", "farther", "near"]
    for node in ("far", "farther"):
        np.testing.assert_allclose(found[node], found["near"], atol=1e-6)


def test_new_nodes_without_a_way_to_known_ones_are_named(model):
    with pytest.raises(InputError, match="no path leads from 'a', 'b' to a node of the model"):
        model.transform_nodes([("a", "b"), ("new", 34)])
    many = [(f"n{i}", f"n{i + 1}") for i in range(6)]
    with pytest.raises(InputError, match="from 'n0', 'n1', 'n2' and 4 more to a node"):
        model.transform_nodes(many)


def test_edges_between_known_nodes_have_no_effect_and_a_warning(model):
    with pytest.warns(UserWarning, match="2 edges between known nodes have no effect"):
        found = model.transform_nodes([(1, 2), (1, 30), ("new", 34), ("new", 9)])
    np.testing.assert_allclose(found["new"], expected(model, [34, 9]), atol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.transform_nodes([])) == 0


def test_directions_are_ignored():
    directed = Graph.from_edges([(a, b) for a in range(8) for b in range(a)], directed=True)
    model = Reinforce2Vec(dimensions=8, walks_per_node=5, workers=1).fit(directed)
    one, other = (
        model.transform_nodes(Graph.from_edges([pair, ("new", 3)], directed=True))["new"]
        for pair in (("new", 2), (2, "new"))
    )
    assert np.array_equal(one, other)
