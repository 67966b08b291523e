"""What training learns, and that it ends well whatever it is given."""

from __future__ import annotations

import math
from functools import partial

import networkx
import numpy as np
import pytest
from scipy.stats import chisquare

from helpers.models import vectors_of
from helpers.toy_graphs import GROUP, N_GROUPS, planted_partition
from reinforce2vec import (
    FirstOrderWalk,
    Graph,
    InputError,
    Reinforce2Vec,
    ReinforcedWalk,
    karate_club,
    rmat,
    write_walks,
)
from reinforce2vec._util.random import stream
from reinforce2vec.skipgram import corpus
from reinforce2vec.skipgram.cpu import kernels
from reinforce2vec.skipgram.rules import POWER, keep_chances, noise_table, target_groups
from reinforce2vec.walks import WalkSampler

ALPHA = 1e-6 / 4  # what each of the chi-square tests below is held against: see there


# a model that learns fast and repeats; its vectors are as they were trained
quick = partial(Reinforce2Vec, dimensions=32, walks_per_node=20, window=10, smooth=False, workers=1)


def check_sound(model, n_nodes):
    """All attributes are there, of the right shape and finite."""
    assert vectors_of(model).shape == (n_nodes, model.dimensions)
    assert vectors_of(model).dtype == np.float32
    assert np.isfinite(vectors_of(model)).all()
    assert np.isfinite(model.loss_curve_).all()
    assert len(model.loss_curve_) <= 100
    assert model.n_tokens_ >= n_nodes


# -- what is learned ---------------------------------------------------------------------------


LABELS = np.repeat(np.arange(N_GROUPS), GROUP)


def accuracy(vectors, labels):
    """How many nodes are classified rightly after a tenth of them, equally many of each group."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    shown = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        shown[members[: len(members) // 10]] = True
    scaled = vectors / vectors.std()
    classifier = linear_model.LogisticRegression(max_iter=1000).fit(scaled[shown], labels[shown])
    return classifier.score(scaled[~shown], labels[~shown])


@pytest.mark.parametrize(
    "walk",
    [None, ReinforcedWalk.released(), FirstOrderWalk()],
    ids=["default", "released", "first-order"],
)
def test_planted_groups_are_found_from_a_tenth_of_the_labels(walk):
    model = quick(walk=walk).fit(planted_partition())
    assert accuracy(vectors_of(model), LABELS) > 0.95


# -- the loss ----------------------------------------------------------------------------------


@pytest.mark.parametrize("negatives", [1, 5, 20])
def test_the_loss_begins_at_that_of_guessing_and_falls(negatives):
    model = quick(negatives=negatives, learning_rate=0.005).fit(planted_partition())
    guessing = (negatives + 1) * math.log(2)
    # a negative that is the centre itself does not count, which happens once in some hundred draws
    assert model.loss_curve_[0] == pytest.approx(guessing, rel=0.02)
    begin, middle, end = (part.mean() for part in np.split(model.loss_curve_[10:], 3))
    assert guessing > begin > middle > end
    assert end < 0.97 * guessing


# -- negatives and subsampling -----------------------------------------------------------------


VISITS = [
    np.array([1]),
    np.array([5, 5]),
    np.array([0, 7, 0, 1, 0]),
    np.arange(1, 200),
    (1e12 / np.arange(1, 3000) ** 2).astype(np.int64),
    np.random.default_rng(3).integers(0, 3, 1001),
]


@pytest.mark.parametrize("visits", VISITS, ids=len)
def test_the_noise_table_holds_visits_to_the_power_of_three_quarters(visits):
    """Every entry is decoded, so this is exact but for the rounding of 32 bits."""
    table = noise_table(visits)
    chances = (table >> np.uint64(32)) / 2.0**32
    others = (table & np.uint64(0xFFFFFFFF)).astype(np.int64)
    drawn = chances + np.bincount(others, 1 - chances, len(visits))
    expected = visits**POWER / (visits**POWER).sum() * len(visits)
    np.testing.assert_allclose(drawn, expected, rtol=1e-6, atol=1e-6)
    assert not drawn[visits == 0].any()


@pytest.mark.parametrize("visits", VISITS[1:5], ids=len)
def test_negatives_are_drawn_by_visits_to_the_power_of_three_quarters(visits):
    """Chi-square: four exact samplers fail one of these tests once in a million times.

    The nodes are a block between two others.
    """
    n, negatives, n_batches = len(visits), 50, 2000
    begins = np.array([0, 3, 3 + n, 5 + n])
    noise = noise_table(np.concatenate([[1, 1, 1], visits, [9, 9]]), begins)
    members = np.random.default_rng(2).permutation(begins[-1]).astype(np.int32)
    key, gamma = map(np.uint64, stream(np.uint64(12), 3))
    (n_groups, size), room = target_groups(negatives), kernels.new_batch_room(negatives)
    bucket = kernels.DrawnFrom(key, gamma, noise, members, np.uint64(3), np.uint64(n))
    drawn = np.empty((n_batches, n_groups * 8), np.int32)
    for batch, targets in enumerate(drawn):
        kernels.draw_targets(bucket, batch, negatives, room._replace(batches=targets), 0)
    drawn = drawn.reshape(n_batches, n_groups, 8)[:, :, :size].reshape(n_batches, -1)
    places = np.argsort(members)[drawn[:, 1 : negatives + 1]] - 3  # the first is for the centre
    assert 0 <= places.min() <= places.max() < n
    counts = np.bincount(places.ravel(), minlength=n)
    assert counts.sum() == n_batches * negatives
    assert not counts[visits == 0].any()
    expected = visits**POWER / (visits**POWER).sum() * counts.sum()
    frequent = expected >= 20
    counts = np.append(counts[frequent], counts[~frequent].sum())
    expected = np.append(expected[frequent], expected[~frequent].sum())
    some = expected > 0
    assert chisquare(counts[some], expected[some]).pvalue > ALPHA


@pytest.mark.parametrize("threshold", [1e-5, 1e-3, 0.1])
def test_chances_to_keep_a_visit_are_word2vecs(threshold):
    visits = np.array([0, 1, 10, 1000, 100_000])
    shares = visits[1:] / visits.sum()
    expected = [min(1, math.sqrt(threshold / f) + threshold / f) for f in shares]
    np.testing.assert_allclose(keep_chances(visits, threshold)[1:], expected, rtol=1e-6)
    assert keep_chances(visits, 0.0) is None


def test_subsampling_skips_visits_of_frequent_nodes_only():
    walks = np.array([[0, 1] * 50 + [2]] * 10)
    kept = quick(subsample=1e-9).fit_walks(walks)
    assert kept.n_tokens_ == walks.size  # skipped ones are tokens all the same
    assert kept._state.pairs.sum() == 0
    whole = quick(subsample=10.0).fit_walks(walks)
    assert np.array_equal(vectors_of(whole), vectors_of(quick().fit_walks(walks)))


# -- whatever it is given ----------------------------------------------------------------------


SMALL_GRAPHS = {
    "one node": Graph.from_edges([], nodes=["alone"]),
    "one node with itself": Graph.from_edges([(0, 0)], self_loops=True),
    "isolated nodes": Graph.from_edges([], nodes=range(7)),
    "two nodes": Graph.from_edges([("a", "b")]),
    "two nodes and an isolated one": Graph.from_edges([("a", "b")], nodes=["c", "b"]),
    "dead ends": Graph.from_edges([(0, 1), (0, 2), (3, 1)], directed=True),
    "weights far apart": Graph.from_edges([(0, 1, 1e-100), (1, 2, 1e40), (2, 3, 1.0)]),
}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dimensions": 1},
        {"dimensions": 1000, "walks_per_node": 2},
        {"walk_length": 1},
        {"walk_length": 2, "window": 1000},
        {"window": 10**30, "walk_length": 5},
        {"negatives": 20},
        {"negatives": 1},
        {"subsample": 1e-5},
        {"walks_per_node": 1, "epochs": 3},
        {"workers": 2},
        {"walk": ReinforcedWalk.released()},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", SMALL_GRAPHS)
def test_the_smallest_graphs_end_in_finite_vectors(name, settings):
    graph = SMALL_GRAPHS[name]
    model = quick(**settings).fit(graph)
    check_sound(model, graph.n_nodes)
    assert list(model.embedding_.ids) == list(graph.ids)


@pytest.mark.parametrize(
    "nothing", [[], Graph.from_edges([]), networkx.Graph()], ids=["list", "Graph", "networkx"]
)
def test_a_graph_without_nodes_is_refused(nothing):
    with pytest.raises(InputError, match="no nodes"):
        quick().fit(nothing)


@pytest.mark.parametrize("rate", [1, 100, 1e30, 1e300])
@pytest.mark.parametrize("graph", [karate_club(), planted_partition()], ids=len)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_learning_rate_that_is_too_large_is_named(graph, rate, workers):
    with pytest.raises(InputError, match=r"learning_rate of \S+ is too large: try 0\.0"):
        quick(learning_rate=rate, workers=workers).fit(graph)


# -- one seed, one result ----------------------------------------------------------------------


def test_visits_are_counted_on_a_pilot_round_of_large_graphs(monkeypatch):
    monkeypatch.setattr(corpus, "_PILOT_STEPS", 1)
    graph = rmat(8)
    model = quick(walks_per_node=3, walk_length=10).fit(graph)
    walks = sampler_of(graph, None, per_node=1, length=10).sample()
    assert np.array_equal(model._state.visits, np.bincount(walks[walks >= 0], minlength=256))


# -- walks that are there already --------------------------------------------------------------


def sampler_of(graph, walk, **options):
    """Walks in the order in which `fit` takes them: their starts shuffled."""
    return corpus.SampledWalks(WalkSampler(graph, walk, **options)).sampler


@pytest.fixture(scope="module")
def club_walks():
    return sampler_of(karate_club(), FirstOrderWalk(), per_node=20, seed=5).sample()


@pytest.fixture(scope="module")
def expected():
    return vectors_of(quick(walk=FirstOrderWalk(), seed=5).fit(karate_club()))


def test_walks_in_an_array_teach_what_the_graph_teaches(club_walks, expected):
    model = quick(seed=5).fit_walks(club_walks, ids=karate_club())
    assert np.array_equal(vectors_of(model), expected)
    assert model.embedding_.ids.tolist() == list(range(1, 35))
    assert model.graph_ is None


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".npz"])
def test_files_teach_the_same(tmp_path, suffix, club_walks, expected):
    path = tmp_path / f"walks{suffix}"
    write_walks(path, sampler_of(karate_club(), FirstOrderWalk(), per_node=20, seed=5))
    models = [quick(seed=5).fit_walks(walks) for walks in (path, str(path))]
    assert vectors_of(models[0]).tobytes() == vectors_of(models[1]).tobytes()
    if suffix == ".npz":
        assert models[0].embedding_.ids.tolist() == list(range(1, 35))
        assert np.array_equal(vectors_of(models[0]), expected)
    else:  # nodes are numbered in the order in which walks come to them
        lists = quick(seed=5).fit_walks(karate_club().ids[club_walks].tolist())
        assert models[0].embedding_.ids.tolist() == lists.embedding_.ids.tolist()
        assert np.array_equal(vectors_of(models[0]), vectors_of(lists))


@pytest.mark.parametrize(
    ("walks", "options", "message"),
    [
        ([], {}, "no walks"),
        (np.empty((0, 5), np.int32), {}, "no walks"),
        ([[]], {}, "empty"),
        (np.array([[0.5]]), {}, "integers"),
        (np.array([[0, 7]]), {"ids": ["a", "b"]}, "names row 7"),
        ([["a", "c"]], {"ids": ["a", "b"]}, "'c'"),
        ("missing.txt", {}, "there is no such file"),
        (karate_club(), {}, "not Graph"),
    ],
)
def test_walks_that_cannot_be_used_are_refused(walks, options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        quick().fit_walks(walks, **options)
