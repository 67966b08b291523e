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
    planted_groups,
)
from reinforce2vec.models import features

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
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


def test_nodes_are_classified_by_where_they_are():
    scores = cross_val_score(classifier(), NODES, GROUPS, cv=3)
    assert scores.min() > 0.8
    shuffled = np.random.default_rng(0).permutation(GROUPS)
    assert cross_val_score(classifier(), NODES, shuffled, cv=3).mean() < 0.55


def test_a_pipeline_predicts_for_single_nodes():
    half = NODES[::2]
    fitted = classifier().fit(half, GROUPS[::2])
    assert np.mean(fitted.predict(NODES[1::2]) == GROUPS[1::2]) > 0.8
    assert fitted.predict([int(NODES[0])]).shape == (1,)


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


def test_a_fitted_pipeline_travels_in_a_pickle():
    fitted = classifier().fit(NODES, GROUPS)
    copy = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copy.predict_proba(NODES), fitted.predict_proba(NODES))


def test_other_models_and_kinds_of_graphs_do_as_well():
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    assert NodeFeatures(pairs, HOPE(dimensions=2)).fit_transform(["d", "a"]).shape == (2, 2)


def test_features_of_tables_stand_beside_other_columns():
    table = pandas.DataFrame({"node": NODES, "age": np.arange(150.0)}, index=NODES + 1000)
    both = make_column_transformer(
        (NodeFeatures(GRAPH, MODEL), "node"), (StandardScaler(), ["age"])
    )
    assert both.fit_transform(table).shape == (150, 9)
    assert both.get_feature_names_out()[0] == "nodefeatures__nodefeatures0"
    shown = both.set_output(transform="pandas").fit_transform(table[:5])
    assert shown.index.tolist() == table.index[:5].tolist()
    assert list(shown.columns) == both.get_feature_names_out().tolist()
    again = NodeFeatures(GRAPH, MODEL).fit(table[["node"]]).transform(table[["node"]])
    assert np.array_equal(again[:5], shown.iloc[:, :8])


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


def test_a_fitted_model_transforms_nodes():
    learned = clone(MODEL).fit(GRAPH)
    assert np.array_equal(learned.transform([5, 3]), learned.embedding_[[5, 3]])
    for everyone in (GRAPH, DATA, learned.embedding_, range(150)):
        assert np.array_equal(learned.transform(everyone), learned.embedding_.vectors)
    assert learned.transform([]).shape == (0, 8)


def test_a_model_gives_tables_where_asked_for():
    table = clone(MODEL).set_output(transform="pandas").fit_transform(GRAPH)
    assert table.shape == (150, 8)
    assert list(table.columns[:2]) == ["reinforce2vec0", "reinforce2vec1"]
    assert isinstance(clone(MODEL).set_output().fit_transform(GRAPH), np.ndarray)


@pytest.mark.parametrize("step", [MODEL, HOPE(dimensions=4), NodeFeatures(GRAPH, MODEL)], ids=repr)
def test_scikit_learn_takes_it_for_one_of_its_own(step):
    pytest.importorskip("sklearn", minversion="1.6")
    tags = importlib.import_module("sklearn.utils").get_tags(step)
    assert tags.transformer_tags is not None
    assert not tags.input_tags.two_d_array
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(step)
    check_is_fitted(clone(step).fit(GRAPH))


def test_pipelines_show_it_in_notebooks():
    pipeline = classifier()
    page = pipeline._repr_html_()
    assert "NodeFeatures" in page
    assert "Reinforce2Vec" in page
    assert "fitted" in pipeline.fit(NODES, GROUPS)._repr_html_()
