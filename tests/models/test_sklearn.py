"""Models and node features inside scikit-learn: pipelines, cross-validation, grid search."""

from __future__ import annotations

import importlib
import pickle

import numpy as np
import pandas
import polars
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
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
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


def test_a_pipeline_hands_on_the_labels_of_nodes():
    both = FeatureUnion([("walks", clone(MODEL)), ("hope", HOPE(dimensions=2))])
    pipeline = make_pipeline(both, StandardScaler()).set_output(transform="pandas")
    table = pipeline.fit_transform(edge_table())
    assert table.index.tolist() == PEOPLE
    assert list(table.columns)[::9] == ["walks__reinforce2vec0", "hope__hope1"]
    assert pipeline.transform(edge_table()).index.tolist() == PEOPLE


def test_tables_may_be_those_of_polars():
    pipeline = make_pipeline(clone(MODEL), StandardScaler()).set_output(transform="polars")
    table = pipeline.fit_transform(edge_table())
    assert isinstance(table, polars.DataFrame)
    assert table.shape == (4, 8)
    model = clone(MODEL).set_output(transform="polars")
    assert np.array_equal(model.fit_transform(edge_table()), model.embedding_.vectors)
    assert model.transform(["ann"]).columns == [f"reinforce2vec{i}" for i in range(8)]


def test_the_choice_of_scikit_learn_holds_for_all():
    with sklearn.config_context(transform_output="pandas"):
        assert HOPE(dimensions=2).fit_transform(edge_table()).index.tolist() == PEOPLE
        own = HOPE(dimensions=2).set_output(transform="default")
        assert isinstance(own.fit_transform(edge_table()), np.ndarray)
        scores = cross_val_score(classifier(), NODES, GROUPS, cv=3)
        assert scores.min() > 0.8
    assert isinstance(HOPE(dimensions=2).fit_transform(edge_table()), np.ndarray)


def test_rows_of_samples_keep_their_labels():
    features = NodeFeatures(edge_table(), MODEL).set_output(transform="pandas")
    samples = pandas.Series(["dan", "ann", "dan"], index=["x", "y", "z"])
    assert features.fit_transform(samples).index.tolist() == ["x", "y", "z"]
    assert features.transform(samples.tolist()).index.tolist() == [0, 1, 2]
    unions = make_column_transformer((features, 0), ("passthrough", [1]))
    array = np.array([["dan", 1], ["ann", 2]], object)
    assert unions.set_output(transform="pandas").fit_transform(array).shape == (2, 9)


def test_a_transformed_graph_has_a_row_for_each_of_its_nodes():
    model = clone(MODEL).fit(edge_table())
    for graph in (edge_table(), edge_table()[:2], [("bob", "ann")], [["bob", "ann"]]):
        names = Graph.from_any(graph).ids.tolist()
        assert np.array_equal(model.transform(graph), model.embedding_[names])
    pairs = clone(MODEL).fit([((0, 1), (1, 1)), ((1, 1), (2, 2))])
    assert np.array_equal(pairs.transform([(1, 1)]), pairs.embedding_[[(1, 1)]])


# -- parameters of the walk --------------------------------------------------------------------


def test_parameters_of_the_walk_are_searched():
    model = clone(MODEL).set_params(walk=SecondOrderWalk(), walks_per_node=2)
    steps = [("features", NodeFeatures(GRAPH, model)), ("classify", LogisticRegression())]
    settings = {"features__model__walk__p": [0.5, 2.0], "features__model__walk__q": [3.0]}
    search = GridSearchCV(Pipeline(steps), settings, cv=3).fit(NODES, GROUPS)
    walk = search.best_estimator_.named_steps["features"].model.walk
    assert walk == SecondOrderWalk(search.best_params_["features__model__walk__p"], 3.0)
    assert model.walk == SecondOrderWalk()


def test_a_walk_is_replaced_and_not_changed():
    walk = ReinforcedWalk()
    one, other = Reinforce2Vec(walk=walk), Reinforce2Vec(walk=walk)
    one.set_params(walk__weight=0.3, walk__reward="kl")
    assert one.walk == ReinforcedWalk("kl", weight=0.3)
    assert other.walk is walk
    assert walk == ReinforcedWalk()
    assert one.get_params()["walk__weight"] == 0.3
    assert "walk__weight" not in one.get_params(deep=False)


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


def test_pipelines_show_it_in_notebooks():
    pipeline = classifier()
    page = pipeline._repr_html_()
    assert "NodeFeatures" in page
    assert "Reinforce2Vec" in page
    assert "fitted" in pipeline.fit(NODES, GROUPS)._repr_html_()


@pytest.mark.parametrize(
    ("graph", "shown"),
    [
        (edge_table(), "source target"),
        (polars.from_pandas(edge_table()), "source ┆ target"),
        (np.eye(3), "array([[1., 0., 0.]"),
        ([("a", "b")] * 1000, "[('a', 'b'), ('a', 'b'), "),
        (GRAPH, "Graph(150 nodes"),
    ],
    ids=["pandas", "polars", "numpy", "list", "graph"],
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
