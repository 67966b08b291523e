"""Points in the plane: whatever the vectors, near ones lie close together."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from helpers.packages import with_package, without_package
from reinforce2vec import Embedding, project
from reinforce2vec._util.errors import InputError
from reinforce2vec.embedding import projection
from reinforce2vec.embedding.projection import project_method, projection_seconds

pytestmark = pytest.mark.slow  # UMAP compiles for ten seconds


@pytest.fixture(params=["pca", "tsne", "umap", "layout"])
def method(request):
    if request.param == "umap":
        pytest.importorskip("umap")
    return request.param


def clouds(n=60, dimensions=8, seed=0):
    """Three groups of vectors that point different ways, of all lengths."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    vectors = np.eye(dimensions)[group] * 4 + rng.normal(scale=0.3, size=(n, dimensions))
    return vectors * rng.uniform(0.1, 10, (n, 1)), group


def test_groups_stay_together(method):
    vectors, group = clouds()
    points = project(vectors, method)
    assert points.shape == (60, 2)
    assert points.dtype == np.float32
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (group[apart.argmin(axis=1)] == group).mean() > 0.95


def test_one_seed_one_picture(method):
    vectors, _ = clouds()
    assert np.array_equal(project(vectors, method, seed=4), project(vectors, method, seed=4))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_a_few_nodes_are_placed_too(method, n):
    vectors = np.random.default_rng(0).normal(size=(n, 4))
    points = project(vectors, method)
    assert points.shape == (n, 2)
    assert np.isfinite(points).all()
    assert len(np.unique(points, axis=0)) == n


def test_equal_vectors_are_placed_too(method):
    assert not project(np.ones((9, 3)), method).any()
    halves = np.repeat(np.eye(3)[:2], 6, axis=0)
    points = project(halves, method)
    assert np.isfinite(points).all()
    assert points[:6].mean(axis=0) != pytest.approx(points[6:].mean(axis=0))


def test_a_single_dimension_makes_a_line():
    assert project([[1.0], [-2.0], [3.0]], "pca")[:, 1].tolist() == [0, 0, 0]


def test_pca_is_that_of_scikit_learn_on_vectors_of_length_one():
    decomposition = pytest.importorskip("sklearn.decomposition")
    vectors, _ = clouds()
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    theirs = decomposition.PCA(2, svd_solver="full").fit_transform(directions)
    ours = project(vectors, "pca")
    assert np.allclose(np.abs(ours), np.abs(theirs), atol=1e-5)


def test_directions_have_a_fixed_sign():
    vectors, _ = clouds()
    points = project(vectors, "pca")
    mirrored = project(vectors * np.array([-1, 1, -1, 1, 1, 1, -1, 1]), "pca")
    assert np.allclose(points, mirrored, atol=1e-5)
    assert (points[np.abs(points).argmax(axis=0), [0, 1]] > 0).all()


def test_lengths_do_not_count_and_rows_of_zeros_are_no_error():
    vectors, _ = clouds()
    longer = vectors * np.linspace(1, 50, 60)[:, None]
    assert np.allclose(project(vectors, "pca"), project(longer, "pca"), atol=1e-5)
    vectors[3] = 0
    assert np.isfinite(project(vectors, "pca")).all()


def test_an_embedding_is_left_as_it_is():
    vectors, _ = clouds()
    embedding = Embedding(range(60), vectors)
    before = embedding.to_numpy()
    assert np.array_equal(project(embedding, "pca"), project(before, "pca"))
    assert np.array_equal(before, embedding.vectors)


@pytest.mark.parametrize("method", ["tsne", "layout"])
def test_seeds_may_be_large(method):
    if method == "tsne":
        pytest.importorskip("sklearn")
    vectors = np.random.default_rng(0).normal(size=(12, 3))
    assert np.isfinite(project(vectors, method, seed=2**64)).all()


def test_which_method_auto_is(monkeypatch):
    with_package(monkeypatch, "sklearn")
    assert project_method("auto", 10_000) == "tsne"
    assert project_method("auto", 10_001) == "layout"
    assert project_method("tsne", 4) == "pca"
    assert project_method("tsne", 10_001) == "tsne"
    without_package(monkeypatch, "sklearn")
    assert project_method("auto", 100) == "layout"
    assert project_method("auto", 4) == "pca"


def test_what_a_map_costs_grows_with_the_nodes_and_is_least_for_pca(monkeypatch):
    monkeypatch.setattr(projection, "available_cpus", lambda: 4)
    for method in ("pca", "tsne", "umap", "layout"):
        assert projection_seconds(method, 2000) == 2 * projection_seconds(method, 1000)
    assert projection_seconds("pca", 10**6) < projection_seconds("layout", 10**6)
    assert projection_seconds("layout", 10**6) < projection_seconds("umap", 10**6)


@pytest.mark.parametrize(
    ("method", "package", "extra"), [("tsne", "sklearn.manifold", "tsne"), ("umap", "umap", "umap")]
)
def test_a_missing_package_is_named(monkeypatch, method, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"reinforce2vec\[{extra}\]"):
        project(clouds()[0], method)


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([[1, 2], [np.nan, 1]], {}, "finite; that of row 1"),
        ([1, 2], {}, "a row for each node"),
        (np.empty((0, 3)), {}, "a row for each node"),
        ([[1, 2]], {"method": "mds"}, "one of auto, pca, tsne, umap, layout, not 'mds'"),
        ([[1, 2]], {"seed": -1}, "seed must be"),
    ],
)
def test_what_makes_no_picture_is_refused(vectors, options, message):
    with pytest.raises(InputError, match=message):
        project(vectors, **options)
