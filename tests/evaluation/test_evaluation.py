"""How good vectors are: link prediction and node classification, of any matrix."""

from __future__ import annotations

import json

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reinforce2vec import (
    Embedding,
    InputError,
    Reinforce2Vec,
    evaluate_link_prediction,
    evaluate_node_classification,
    hold_out_edges,
    karate_club,
    read_labels,
    rmat,
)
from reinforce2vec._util.logistic import fit_logistic, predict
from reinforce2vec.embedding.embedding import OPERATORS
from reinforce2vec.evaluation import classify_nodes, score_links, transfer_links
from reinforce2vec.evaluation._classifier import C_GRID
from reinforce2vec.evaluation.node_classification import _most_likely

FEW = {"dimensions": 8, "walks_per_node": 3, "walk_length": 10, "workers": 1}


def flat(scores):
    return [value for metrics in scores.values() for value in metrics.values()]


# -- link prediction -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def split():
    return hold_out_edges(rmat(9, edge_factor=6), 0.5, seed=3)


@pytest.fixture(scope="module")
def vectors(split):
    """Vectors that know something: the nodes' main axes in what is left, and noise."""
    axes = np.linalg.svd(split.graph.to_scipy().toarray())[0][:, :6]
    noise = np.random.default_rng(0).normal(size=(split.graph.n_nodes, 2))
    return np.column_stack([10 * axes, noise]).astype(np.float32)


def by_scikit_learn(vectors, known, known_truth, asked, asked_truth):
    scores = {}
    for name, operator in OPERATORS.items():
        classifier = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8, max_iter=5000))
        one, other = vectors if isinstance(vectors, tuple) else (vectors, vectors)
        classifier.fit(operator(one[known[:, 0]], one[known[:, 1]]), known_truth)
        features = operator(other[asked[:, 0]], other[asked[:, 1]])
        found = classifier.decision_function(features)
        scores[name] = {
            "auc": 100 * roc_auc_score(asked_truth, found),
            "ap": 100 * average_precision_score(asked_truth, found),
        }
    return scores


def pairs_of(split):
    pairs = np.concatenate([split.edges, split.non_edges])
    return pairs, np.arange(len(pairs)) < len(split.edges)


@pytest.mark.parametrize("part", ["test", "validation"])
def test_shared_scores_are_those_of_scikit_learn(split, vectors, part):
    pairs, truth = pairs_of(split)
    order = np.random.default_rng(8).permutation(len(pairs))
    known, asked = np.split(order, 2)
    if part == "validation":
        known, asked = known[: len(known) // 2], known[len(known) // 2 :]
    expected = by_scikit_learn(vectors, pairs[known], truth[known], pairs[asked], truth[asked])
    scores = score_links(vectors, split, seed=8, part=part)
    assert list(scores) == list(OPERATORS)
    assert flat(scores) == pytest.approx(flat(expected), abs=0.02)
    assert scores["hadamard"]["auc"] > 60


def test_transfer_scores_are_those_of_scikit_learn(split, vectors):
    other = hold_out_edges(rmat(9, edge_factor=6), 0.5, seed=4)
    turned = vectors[:, ::-1].copy()
    expected = by_scikit_learn((vectors, turned), *pairs_of(split), *pairs_of(other))
    scores = transfer_links(vectors, split, turned, other)
    assert flat(scores) == pytest.approx(flat(expected), abs=0.02)


def test_validation_does_not_look_at_test_pairs(split, vectors):
    """Other test pairs, same validation scores."""
    pairs, truth = pairs_of(split)
    asked = np.random.default_rng(0).permutation(len(pairs))[len(pairs) // 2 :]
    changed = pairs.copy()
    changed[asked] = changed[asked][:, ::-1] // 2
    other = type(split)(split.graph, changed[truth], changed[~truth])
    before, after = (score_links(vectors, one, part="validation") for one in (split, other))
    assert before == after
    assert score_links(vectors, split) != score_links(vectors, other)


def test_operators_can_be_chosen(split, vectors):
    scores = score_links(vectors, split, operators=["l2"])
    assert scores == {"l2": score_links(vectors, split)["l2"]}


def test_vectors_that_tell_nothing_score_50(split):
    same = np.ones((split.graph.n_nodes, 3), np.float32)
    assert {metrics["auc"] for metrics in score_links(same, split).values()} == {50.0}


def test_link_prediction_of_a_model_is_that_of_its_copies():
    club = karate_club()
    model = Reinforce2Vec(**FEW, seed=77)
    result = evaluate_link_prediction(club, model, seeds=[2, 5])
    assert result.seeds == (2, 5)
    for seed, scores in zip(result.seeds, result.scores, strict=True):
        split = hold_out_edges(club, 0.5, 2 * seed)
        vectors = Reinforce2Vec(**FEW, seed=2 * seed).fit_transform(split.graph)
        assert scores == score_links(vectors, split, seed=seed)
    assert model.seed == 77
    assert not hasattr(model, "embedding_")


def test_transfer_embeds_two_independent_splits_for_each_seed():
    seen = []

    def embed(graph):
        seen.append(graph)
        return np.random.default_rng(len(seen)).normal(size=(graph.n_nodes, 4))

    result = evaluate_link_prediction(karate_club(), embed, protocol="transfer", seeds=2)
    splits = [hold_out_edges(karate_club(), 0.5, seed) for seed in range(4)]
    for graph, split in zip(seen, splits, strict=True):
        assert np.array_equal(graph.indices, split.graph.indices)
    vectors = [np.random.default_rng(number).normal(size=(34, 4)) for number in (3, 4)]
    expected = transfer_links(vectors[0], splits[2], vectors[1], splits[3])
    assert result.scores[1] == expected


def test_what_has_fit_transform_is_a_model_whosever_it_is():
    class Degrees:
        def fit_transform(self, graph):
            return np.column_stack([graph.degrees, np.sqrt(graph.degrees)])

    model, function = (
        evaluate_link_prediction(karate_club(), embed, fraction=0.3, seeds=1)
        for embed in (Degrees(), Degrees().fit_transform)
    )
    assert model.scores == function.scores
    assert model.fraction == 0.3


def test_an_embedding_of_a_function_is_matched_by_ids():
    def embed(graph):
        return np.random.default_rng(0).normal(size=(graph.n_nodes, 4)).astype(np.float32)

    def shuffled(graph):
        order = np.random.default_rng(1).permutation(graph.n_nodes)
        return Embedding(graph.ids[order], embed(graph)[order])

    def others(graph):
        return Embedding(graph.ids + 1, embed(graph))

    for protocol in ("shared", "transfer"):
        one, other = (
            evaluate_link_prediction(karate_club(), function, protocol=protocol, seeds=1)
            for function in (embed, shuffled)
        )
        assert one.scores == other.scores
        with pytest.raises(InputError, match="34 nodes and the graph 34, node 1 only in the graph"):
            evaluate_link_prediction(karate_club(), others, protocol=protocol)


# -- node classification -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def groups():
    """Points around 5 places; a point has the label of its place and perhaps another."""
    rng = np.random.default_rng(9)
    group = rng.integers(0, 5, 300)
    labels = (np.arange(5) == group[:, None]) | (rng.random((300, 5)) < 0.15)
    points = (rng.normal(size=(5, 6))[group] + 0.7 * rng.normal(size=(300, 6))).astype(np.float32)
    return points, labels


def f1_by_scikit_learn(points, labels, known, asked):
    classifier = OneVsRestClassifier(LogisticRegression(tol=1e-8, max_iter=5000))
    classifier.fit(points[known], labels[known])
    likely = classifier.predict_proba(points[asked])
    found = np.zeros_like(labels[asked])
    for row, truth in enumerate(labels[asked]):
        found[row, np.argsort(-likely[row], kind="stable")[: truth.sum()]] = True
    return {
        kind: 100 * f1_score(labels[asked], found, average=kind, zero_division=0)
        for kind in ("micro", "macro")
    }


@pytest.mark.parametrize("part", ["test", "validation"])
@pytest.mark.parametrize("train", [0.1, 0.5, 0.9])
def test_f1_is_that_of_scikit_learn(groups, train, part):
    points, labels = groups
    known, asked = np.split(np.random.default_rng(4).permutation(300), [int(train * 300)])
    if part == "validation":
        known, asked = np.split(known, [len(known) // 2])
    expected = f1_by_scikit_learn(points, labels, known, asked)
    assert classify_nodes(points, labels, train=train, seed=4, part=part) == pytest.approx(expected)


def test_nodes_without_labels_count_for_nothing(groups):
    points, labels = groups
    scores = classify_nodes(points, labels, seed=1)
    strangers = np.full((50, 6), 1e3, np.float32)
    more = np.vstack([strangers, points]), np.vstack([np.zeros((50, 5)), labels])
    assert classify_nodes(*more, seed=1) == scores


def test_labels_in_every_form(groups):
    points, labels = groups
    single = labels.argmax(axis=1)
    expected = classify_nodes(points, np.arange(5) == single[:, None])
    names = np.array(["ant", "bee", "cat", "dog", "elk"])[single]
    forms = [single, names, names.tolist(), np.eye(5)[single], Embedding(range(300), points)]
    for form in forms[:-1]:
        assert classify_nodes(points, form) == expected
    assert classify_nodes(points, scipy.sparse.csr_matrix(np.eye(5)[single])) == expected
    assert classify_nodes(forms[-1], single) == expected


@pytest.mark.parametrize("nothing", [None, np.nan, pandas.NA])
def test_none_and_nan_are_no_class(groups, nothing):
    points, labels = groups
    single = labels.argmax(axis=1)
    expected = classify_nodes(points, np.arange(1, 5) == single[:, None])
    words = [f"class {number}" if number else nothing for number in single]
    forms = [words, np.array(words, object), pandas.Series(words), [[word] for word in words]]
    forms.append(np.where(single > 0, single, np.nan))
    for form in forms:
        assert classify_nodes(points, form) == expected


def test_labels_by_id_are_matched_with_those_of_the_embedding(groups):
    points, labels = groups
    single = labels.argmax(axis=1)
    expected = evaluate_node_classification(points, single, seeds=1).scores
    ids = [f"n{number}" for number in range(300)]
    embedding = Embedding(ids, points)
    back = slice(None, None, -1)
    forms = [
        dict(zip(ids[back], single[back], strict=True)) | {"stranger": 7},
        {node: [number] for node, number in zip(ids, single, strict=True)},
        pandas.Series(single[back], ids[back]),
        pandas.DataFrame(np.eye(5)[single][back], ids[back]),
        pandas.DataFrame({"id": ids[back], "label": single[back]}),
        pandas.DataFrame({"age": single * 0 + 7, "group": single, "user": ids}),
        pandas.DataFrame({"kind": single[back]}, ids[back]),
        polars.DataFrame({"node": ids[back], "class": single[back]}),
        polars.DataFrame(np.eye(5)[single]),
        read_labels(pandas.DataFrame({"id": ids, "a": single, "b": ids}), embedding, label="a"),
    ]
    for form in forms:
        assert evaluate_node_classification(embedding, form, seeds=1).scores == expected
    half = {node: number for node, number in zip(ids, single, strict=True) if number > 1}
    known = np.where(single > 1, single, np.nan)
    assert classify_nodes(embedding, half) == classify_nodes(points, known)


def test_labels_by_other_ids_are_refused(groups):
    points, labels = groups
    single = labels.argmax(axis=1)
    embedding = Embedding(range(1, 301), points)
    with pytest.raises(InputError, match="such as 'n0', expected ids such as 1"):
        evaluate_node_classification(
            embedding, pandas.Series(single, [f"n{number}" for number in range(300)])
        )
    with pytest.raises(InputError, match="such as '1', vectors have ids such as 1"):
        evaluate_node_classification(embedding, {"1": "a", "2": "b"})
    for by_id in ({1: "a", 2: "b"}, pandas.DataFrame({"id": [1, 2], "label": ["a", "b"]})):
        with pytest.raises(InputError, match="give an Embedding"):
            evaluate_node_classification(points, by_id)


def test_a_default_index_is_not_taken_for_an_order_of_rows(groups):
    points, labels = groups
    single = labels.argmax(axis=1)
    words = Embedding([f"n{number}" for number in range(300)], points)
    for embedding in (words, Embedding(range(1, 301), points), Embedding(range(299), points[:299])):
        for form in (pandas.Series(single), pandas.DataFrame(np.eye(5)[single])):
            with pytest.raises(
                InputError, match=r"the default index 0, 1, 2.*set the ids as their"
            ):
                evaluate_node_classification(embedding, form)


def test_a_file_of_labels_is_read_by_what_takes_labels(groups, tmp_path):
    points, labels = groups
    single = labels.argmax(axis=1)
    embedding = Embedding([f"n{number}" for number in range(300)], points)
    frame = pandas.DataFrame({"id": embedding.ids, "label": single})
    frame[::-1].to_csv(tmp_path / "labels.csv", index=False)
    assert classify_nodes(embedding, tmp_path / "labels.csv") == classify_nodes(points, single)
    frame.assign(group=1, label=single).to_csv(tmp_path / "more.csv", index=False)
    with pytest.raises(InputError, match="label="):
        classify_nodes(embedding, str(tmp_path / "more.csv"))


def test_as_many_labels_are_predicted_as_there_are():
    scores = np.array([[0.1, 0.9, 0.5], [3.0, 2.0, 2.0], [-1.0, -2.0, -3.0]])
    found = _most_likely(scores, np.array([1, 2, 0]))
    assert found.tolist() == [[False, True, False], [True, True, False], [False] * 3]


def test_evaluation_of_nodes_is_a_run_for_each_seed_and_share(groups):
    result = evaluate_node_classification(*groups, train=[0.2, 0.6], seeds=3)
    for seed in range(3):
        for share in (0.2, 0.6):
            one = classify_nodes(*groups, train=share, seed=seed)
            assert result.scores[seed][share] == one
    assert evaluate_node_classification(*groups, train=0.6, seeds=[1]).scores == (
        {0.6: result.scores[1][0.6]},
    )


# -- choosing C, and where ------------------------------------------------------------------------


def refit_by_hand(groups, train, seed, part):
    """The C of the grid with the best micro F1 on half of the training nodes, and its scores."""
    points, labels = groups
    known, asked = np.split(np.random.default_rng(seed).permutation(300), [int(train * 300)])
    if part == "validation":
        known, asked = np.split(known, [len(known) // 2])
    inner, held = np.split(known, [len(known) // 2])

    def scores(c, learn, score):
        found = predict(points[score], *fit_logistic(points[learn], labels[learn], c))
        likely = _most_likely(found, labels[score].sum(axis=1))
        return f1_score(labels[score], likely, average=None, zero_division=0), f1_score(
            labels[score], likely, average="micro", zero_division=0
        )

    values = [scores(c, inner, held)[1] for c in C_GRID]
    best = C_GRID[int(np.argmax(values))]
    by_class, micro = scores(best, known, asked)
    return {"micro": 100 * micro, "macro": 100 * by_class.mean(), "c": best}


@pytest.mark.parametrize("part", ["test", "validation"])
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_c_of_nodes_is_chosen_within_the_training_nodes(groups, part, scale):
    scaled = (groups[0] * np.float32(scale), groups[1])
    for seed in range(3):
        found = classify_nodes(*scaled, train=0.4, seed=seed, part=part, c="validation")
        assert found == pytest.approx(refit_by_hand(scaled, 0.4, seed, part))


@pytest.mark.parametrize("part", ["test", "validation"])
def test_c_of_links_is_chosen_within_the_training_pairs(split, vectors, part):
    pairs, truth = pairs_of(split)
    order = np.random.default_rng(8).permutation(len(pairs))
    known, asked = np.split(order, 2)
    if part == "validation":
        known, asked = np.split(known, [len(known) // 2])
    inner, held = np.split(known, [len(known) // 2])
    features = OPERATORS["hadamard"](vectors[pairs[:, 0]], vectors[pairs[:, 1]])

    def area(c, learn, score):
        fitted = fit_logistic(features[learn], truth[learn][:, None], c, standardise=True)
        return roc_auc_score(truth[score], predict(features[score], *fitted)[:, 0])

    best = C_GRID[int(np.argmax([area(c, inner, held) for c in C_GRID]))]
    found = score_links(vectors, split, seed=8, part=part, operators=["hadamard"], c="validation")[
        "hadamard"
    ]
    assert found["c"] == best
    assert found["auc"] == pytest.approx(100 * area(best, known, asked))


def test_c_of_transferred_links_is_chosen_without_the_other_split(split, vectors):
    other = hold_out_edges(rmat(9, edge_factor=6), 0.5, seed=4)
    for test_split in (other, split):
        found = transfer_links(
            vectors, split, vectors, test_split, operators=["l2"], c="validation"
        )["l2"]
        given = transfer_links(vectors, split, vectors, test_split, operators=["l2"], c=found["c"])[
            "l2"
        ]
        assert found["auc"] == pytest.approx(given["auc"], abs=1e-3)
        assert found["c"] in C_GRID


def test_what_was_chosen_is_in_the_scores_and_not_in_the_table(groups, split, vectors):
    result = evaluate_node_classification(*groups, train=[0.2, 0.6], seeds=2, c="validation")
    for seed in range(2):
        one = classify_nodes(*groups, train=0.6, seed=seed, c="validation")
        assert result.scores[seed][0.6] == one
        assert one["c"] in C_GRID
    assert list(result.mean[0.6]) == list(result.spread[0.6]) == ["micro", "macro"]
    assert str(result).splitlines()[1].split() == ["micro-F1", "macro-F1"]
    assert json.loads(json.dumps(result.to_dict()))["scores"][0]["0.6"]["c"] in C_GRID

    def embed(graph):
        return np.linalg.svd(graph.to_scipy().toarray())[0][:, :6]

    for protocol in ("shared", "transfer"):
        links = evaluate_link_prediction(
            karate_club(), embed, protocol=protocol, fraction=0.4, seeds=1, c="validation"
        )
        assert {found["c"] for found in links.scores[0].values()} <= set(C_GRID)
        assert list(links.mean["l1"]) == ["auc", "ap"]
        given = evaluate_link_prediction(
            karate_club(), embed, protocol=protocol, fraction=0.4, seeds=1, c=0.003
        )
        assert "c" not in given.scores[0]["l1"]


@pytest.mark.parametrize("c", [0, -1.0, np.inf, "best", None, [1.0]])
def test_a_c_that_cannot_be(groups, split, vectors, c):
    calls = (
        lambda: classify_nodes(*groups, c=c),
        lambda: evaluate_node_classification(*groups, c=c),
        lambda: score_links(vectors, split, c=c),
        lambda: transfer_links(vectors, split, vectors, split, c=c),
        lambda: evaluate_link_prediction(karate_club(), lambda graph: pytest.fail("made"), c=c),
    )
    for call in calls:
        with pytest.raises(InputError, match='c must be a number above 0, or "validation"'):
            call()


def test_too_little_to_choose_c_from():
    points, labels = np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]
    with pytest.raises(
        InputError, match="leaves 1 to train on and 3 to score: each needs at least"
    ):
        classify_nodes(points, labels, train=0.25, c="validation")
    assert classify_nodes(points, labels, train=0.25)["micro"] >= 0
    star = [(0, node) for node in range(1, 6)] + [(1, 2), (3, 4), (4, 5)]
    split = hold_out_edges(star, 0.26)  # two edges and two other pairs
    seed = next(
        seed
        for seed in range(20)
        if np.random.default_rng(seed).permutation(4)[2:].tolist() == [0, 2]
    )  # that tests an edge and another pair
    assert score_links(np.ones((6, 2)), split, seed=seed)["l1"]["auc"] == 50
    with pytest.raises(InputError, match="the 1 validation pairs are all edges or all non-edges"):
        score_links(np.ones((6, 2)), split, seed=seed, c="validation")


def test_a_gpu_gives_the_same_scores(cuda, groups, split, vectors):
    there = {"backend": "cuda"}
    for c in (1.0, "validation"):
        here, on_gpu = (
            evaluate_node_classification(*groups, train=[0.2, 0.6], seeds=2, c=c, backend=backend)
            for backend in ("cpu", "cuda")
        )
        for one, other in zip(here.scores, on_gpu.scores, strict=True):
            assert flat(other) == pytest.approx(flat(one), abs=0.5)
        expected = flat(score_links(vectors, split, c=c))
        assert flat(score_links(vectors, split, c=c, **there)) == pytest.approx(expected, abs=0.05)
        both = vectors, split, vectors, split
        expected = flat(transfer_links(*both, c=c))
        assert flat(transfer_links(*both, c=c, **there)) == pytest.approx(expected, abs=0.05)
    assert classify_nodes(*groups, **there) == pytest.approx(classify_nodes(*groups), abs=0.5)


# -- results -------------------------------------------------------------------------------------


def test_a_result_has_mean_and_spread_and_is_a_table(groups):
    result = evaluate_node_classification(*groups, train=[0.25, 0.5], seeds=4)
    values = [scores[0.25]["micro"] for scores in result.scores]
    assert result.mean[0.25]["micro"] == pytest.approx(np.mean(values))
    assert result.spread[0.25]["micro"] == pytest.approx(np.std(values, ddof=1))
    lines = str(result).splitlines()
    assert "4 seeds" in lines[0]
    assert lines[1].split() == ["micro-F1", "macro-F1"]
    assert lines[2].startswith(f"25%  {np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}  ")
    assert len({len(line) for line in lines[1:]}) == 1
    assert repr(result) == str(result)


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_result_goes_into_json_and_back(seeds):
    result = evaluate_link_prediction(
        karate_club(), lambda graph: graph.to_scipy().toarray(), seeds=seeds
    )
    told = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert told["protocol"] == "shared"
    assert told["fraction"] == 0.5
    assert told["seeds"] == list(range(seeds))
    assert told["scores"] == list(result.scores)
    assert told["mean"] == result.mean
    assert told["spread"] == (result.spread if seeds > 1 else None)
    assert ("±" in str(result)) == (seeds > 1)


# -- what cannot be ------------------------------------------------------------------------------


def with_nan(array):
    spoilt = np.array(array, np.float64)
    spoilt[2, 1] = np.nan
    return spoilt


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda points: points[:-1], "expected a vector for each of 34 nodes"),
        (lambda points: points[:, 0], "must be a matrix with a row for each node"),
        (with_nan, "vectors must be finite; that of row 2 (from 0) is not"),
        (lambda points: [["a"], ["b", "c"]], "vectors must be numbers"),
    ],
)
def test_vectors_that_cannot_be_scored(change, sentence):
    split = hold_out_edges(karate_club())
    with pytest.raises(InputError) as error:
        score_links(change(np.ones((34, 3))), split)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.zeros(5), "expected labels for each of 6 nodes, got 5"),
        (np.full((6, 2), 3), "matrix (nodes, classes) of 0 and 1"),
        (np.zeros((6, 2, 2)), "matrix (nodes, classes) of 0 and 1"),
        (np.zeros((6, 2)), "leaves 0 to train on and 0 to score"),
        ([1, {"a": 2}, 3, 4, 5, 6], "labels must be a class, or a list of classes, for each node"),
        ("abcdef", "labels must be a class, or a list of classes, for each node"),
        (np.arange(6)[:, None], "a column of classes: give a flat array, as labels.ravel()"),
        (["a"] * 6, "nothing to predict: every node with a label is in the same class"),
        (["a", "a", None, "a", "a", None], "every node with a label is in the same class"),
        (np.ones((6, 2)), "every node with a label is in all 2 classes"),
        (np.eye(2)[[0] * 6], "every node with a label is in the same class"),
    ],
)
def test_labels_that_cannot_be(labels, sentence):
    with pytest.raises(InputError) as error:
        classify_nodes(np.ones((6, 3)), labels)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"protocol": "half"}, "protocol must be one of shared, transfer, not 'half'"),
        ({"seeds": 0}, "seeds must be an integer of at least 1, not 0"),
        ({"seeds": []}, "seeds must name at least one seed"),
        ({"seeds": [1, -2]}, "seeds must be an integer of at least 0, not -2"),
        ({"fraction": 0.9}, "can be held out"),
    ],
)
def test_evaluations_that_cannot_be(options, sentence):
    with pytest.raises(InputError) as error:
        evaluate_link_prediction(karate_club(), lambda graph: np.ones((34, 2)), **options)
    assert sentence in str(error.value)


# -- in notebooks -------------------------------------------------------------------------------


# -- the paper's graphs --------------------------------------------------------------------------
