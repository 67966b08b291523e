"""Models and node features inside scikit-learn: pipelines, cross-validation, grid search."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pandas
import pytest

from reinforce2vec import (
    HOPE,
    FirstOrderWalk,
    Graph,
    InputError,
    NodeFeatures,
    Reinforce2Vec,
    ReinforcedWalk,
    SecondOrderWalk,
    planted_groups,
)
from reinforce2vec.models import features

pytest.importorskip("sklearn")

import sklearn
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

DATA = planted_groups(150, 3, seed=1)
GRAPH, NODES, GROUPS = DATA.graph, DATA.graph.ids, DATA.labels.argmax(axis=1)
MODEL = Reinforce2Vec(dimensions=8, walks_per_node=5, walk_length=20, workers=1)


def classifier():
    steps = [("features", NodeFeatures(GRAPH, MODEL)), ("classify", LogisticRegression())]
    return Pipeline(steps)


@pytest.fixture
def trainings(monkeypatch):
    """A list that gets the window of every training; nothing is remembered at first."""
    monkeypatch.setattr(features, "_cache", type(features._cache)())
    windows, fit = [], Reinforce2Vec.fit

    def counted(self, *args, **options):
        windows.append(self.window)
        return fit(self, *args, **options)

    monkeypatch.setattr(Reinforce2Vec, "fit", counted)
    return windows


# -- node features -----------------------------------------------------------------------------


def test_features_are_the_vectors_that_the_model_learns_from_the_whole_graph():
    some = NODES[[7, 3, 90]]
    found = NodeFeatures(GRAPH, MODEL).fit_transform(some)
    assert found.dtype == np.float32
    assert np.array_equal(found, clone(MODEL).fit(GRAPH).embedding_[some])
    assert not hasattr(MODEL, "embedding_")


@pytest.mark.slow
def test_a_grid_search_reaches_the_parameters_of_model_and_classifier(trainings):
    settings = {
        "features__model__window": [1, 5],
        "features__model__walk": [FirstOrderWalk(), None],
        "features__model__learning_rate": [1e-9, 0.05],  # the first one learns nothing
        "classify__C": [0.1, 1.0],
    }
    search = GridSearchCV(classifier(), settings, cv=3).fit(NODES, GROUPS)
    assert search.best_score_ > 0.8
    assert search.best_params_["features__model__learning_rate"] == 0.05
    best = search.best_estimator_.named_steps["features"].model
    assert best.window == search.best_params_["features__model__window"]
    # once for each setting of the model, whatever the folds and the classifiers
    assert sorted(trainings) == [1, 1, 1, 1, 5, 5, 5, 5]
    assert MODEL.window == (1, 10)


def test_another_graph_is_learned_anew(trainings):
    NodeFeatures(GRAPH, MODEL).fit()
    NodeFeatures(pickle.loads(pickle.dumps(GRAPH)), clone(MODEL)).fit()
    assert len(trainings) == 1
    renamed = Graph.from_numbered(
        np.column_stack([np.repeat(np.arange(150), GRAPH.degrees), GRAPH.indices]), None, NODES + 1
    )
    NodeFeatures(renamed, MODEL).fit()
    assert len(trainings) == 2


def test_the_latest_vectors_are_cache_as_far_as_there_is_room(trainings, monkeypatch):
    monkeypatch.setattr(features, "_CACHE_BYTES", 2 * 150 * 8 * 4)
    for window in (1, 2, 1, 3, 1, 2):
        NodeFeatures(GRAPH, clone(MODEL).set_params(window=window)).fit()
    assert trainings == [1, 2, 3, 2]
    monkeypatch.setattr(features, "_CACHE_BYTES", 0)
    for window in (5, 5):
        NodeFeatures(GRAPH, clone(MODEL).set_params(window=window)).fit()
    assert trainings == [1, 2, 3, 2, 5]


def test_a_clone_shares_the_graph_and_has_a_model_of_its_own():
    fitted = NodeFeatures(GRAPH, MODEL).fit()
    copy = clone(fitted)
    assert copy.graph is GRAPH
    assert copy.model is not MODEL
    assert copy.get_params()["model__dimensions"] == 8
    assert not hasattr(copy, "embedding_")
    copy.set_params(model__dimensions=4)
    assert (copy.fit_transform(NODES[:2]).shape, MODEL.dimensions) == ((2, 4), 8)


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="is not fitted yet: call fit first"):
        NodeFeatures(GRAPH, MODEL).transform([1])
    with pytest.raises(InputError, match=r"model must be a model such as Reinforce2Vec\(\)"):
        NodeFeatures(GRAPH, Reinforce2Vec).fit()
    fitted = NodeFeatures(GRAPH, MODEL).fit()
    with pytest.raises(InputError, match="node 'nobody' is not in the embedding"):
        fitted.transform(["nobody"])
    with pytest.raises(InputError, match=r"one node id a row, not an array of shape \(3, 2\)"):
        fitted.transform(np.zeros((3, 2), int))
    with pytest.raises(InputError, match="expected a list of node ids, not 'ann'"):
        fitted.transform("ann")
    with pytest.raises(InputError, match="Reinforce2Vec has no parameter 'windows'"):
        fitted.set_params(model__windows=3)
    with pytest.raises(InputError, match="no parameter 'graph__window'; it has graph, model"):
        fitted.set_params(graph__window=3)
    with pytest.raises(InputError, match='transform must be "default" or "pandas" or "polars"'):
        fitted.set_output(transform="matrix")


# -- a model whose samples are the nodes of a graph --------------------------------------------


def test_a_model_is_the_first_step_of_a_pipeline_that_is_given_a_graph():
    groups = make_pipeline(clone(MODEL), StandardScaler(), KMeans(3, n_init=5, random_state=0))
    found = groups.fit_predict(GRAPH)
    assert adjusted_rand_score(GROUPS, found) > 0.6
    assert np.array_equal(groups.predict(GRAPH), found)
    assert np.array_equal(groups.predict(NODES[:4]), found[:4])


def edge_table():
    """A graph whose rows are labelled 1000, 1001, ..., and have nothing to do with its nodes."""
    ends = [("ann", "bob"), ("bob", "cid"), ("cid", "dan"), ("dan", "ann"), ("ann", "cid")]
    return pandas.DataFrame(ends, index=range(1000, 1005), columns=["source", "target"])


PEOPLE = ["ann", "bob", "cid", "dan"]


@pytest.mark.parametrize("source", [edge_table, lambda: edge_table().to_numpy().tolist()])
def test_rows_of_tables_are_labelled_by_nodes(source):
    model = clone(MODEL)
    table = model.set_output(transform="pandas").fit_transform(source())
    assert table.index.tolist() == PEOPLE
    assert table.index.name == "node"
    assert list(table.columns) == [f"reinforce2vec{i}" for i in range(8)]
    assert np.array_equal(table.to_numpy(), model.embedding_.vectors)
    pandas.testing.assert_frame_equal(model.transform(source()), table)
    some = pandas.Series(["cid", "ann"], index=[7, 8])
    for nodes in (["cid", "ann"], some, some.to_frame(), iter(["cid", "ann"])):
        assert model.transform(nodes).index.tolist() == ["cid", "ann"]
    again = clone(model).fit_transform(source())
    assert again.index.tolist() == PEOPLE
    assert isinstance(clone(MODEL).set_output().fit_transform(source()), np.ndarray)


def test_the_choice_of_scikit_learn_holds_for_all():
    with sklearn.config_context(transform_output="pandas"):
        assert HOPE(dimensions=2).fit_transform(edge_table()).index.tolist() == PEOPLE
        own = HOPE(dimensions=2).set_output(transform="default")
        assert isinstance(own.fit_transform(edge_table()), np.ndarray)
        scores = cross_val_score(classifier(), NODES, GROUPS, cv=3)
        assert scores.min() > 0.8
    assert isinstance(HOPE(dimensions=2).fit_transform(edge_table()), np.ndarray)


# -- parameters of the walk --------------------------------------------------------------------


def test_parameters_of_the_walk_are_searched():
    model = clone(MODEL).set_params(walk=SecondOrderWalk(), walks_per_node=2)
    steps = [("features", NodeFeatures(GRAPH, model)), ("classify", LogisticRegression())]
    settings = {"features__model__walk__p": [0.5, 2.0], "features__model__walk__q": [3.0]}
    search = GridSearchCV(Pipeline(steps), settings, cv=3).fit(NODES, GROUPS)
    walk = search.best_estimator_.named_steps["features"].model.walk
    assert walk == SecondOrderWalk(search.best_params_["features__model__walk__p"], 3.0)
    assert model.walk == SecondOrderWalk()


def test_the_default_walk_has_parameters_as_well():
    model = Reinforce2Vec()
    assert model.get_params()["walk__reward"] == "js"
    assert model.set_params(walk__reward="kl").walk == ReinforcedWalk("kl")
    assert Reinforce2Vec().walk is None
    changes = {"walk__p": 4.0, "walk": SecondOrderWalk()}  # in any order
    assert model.set_params(**changes).walk == SecondOrderWalk(p=4.0)
    with pytest.raises(InputError, match="SecondOrderWalk has no parameter 'weight'; it has p, q"):
        model.set_params(walk__weight=1.0)
    with pytest.raises(InputError, match="ReinforcedWalk has no parameter 'p'; it has reward, "):
        Reinforce2Vec().set_params(walk__p=1.0)
    with pytest.raises(InputError, match="no parameter 'walk__p'"):
        Reinforce2Vec(walk=FirstOrderWalk()).set_params(walk__p=1.0)


# -- as one of its own -------------------------------------------------------------------------


@pytest.mark.parametrize("step", [MODEL, HOPE(dimensions=4), NodeFeatures(GRAPH, MODEL)], ids=repr)
def test_scikit_learn_takes_it_for_one_of_its_own(step):
    pytest.importorskip("sklearn", minversion="1.6")
    tags = importlib.import_module("sklearn.utils").get_tags(step)
    assert tags.transformer_tags is not None
    assert not tags.input_tags.two_d_array
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(step)
    check_is_fitted(clone(step).fit(GRAPH))


@pytest.mark.parametrize(
    ("graph", "shown"),
    [
        (edge_table(), "source target"),
        ([("a", "b")] * 1000, "[('a', 'b'), ('a', 'b'), "),
        (GRAPH, "Graph(150 nodes"),
    ],
    ids=["pandas", "list", "graph"],
)
def test_pipelines_with_graphs_of_all_kinds_are_shown(graph, shown):
    pipeline = make_pipeline(NodeFeatures(graph, MODEL), LogisticRegression())
    for changes in ({}, {"print_changed_only": False}, {"display": "text"}):
        with sklearn.config_context(**changes):
            text = " ".join(repr(pipeline).split())
            assert shown in text
            assert len(text) < 2000
    assert "NodeFeatures" in pipeline._repr_html_()
    assert "NodeFeatures" in clone(pipeline)._repr_html_()
    assert pipeline.get_params()["nodefeatures__graph"] is graph
