"""Points in the plane: whatever the vectors, near ones lie close together."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from helpers.packages import with_package, without_package
from reinforce2vec import Embedding, InputError, project
from reinforce2vec.embedding import _layout
from reinforce2vec.embedding._layout import lay_out, rough_neighbors
from reinforce2vec.embedding.nearest import nearest_rows
from reinforce2vec.embedding.projection import project_method


@pytest.fixture(params=["pca", "tsne", "layout", pytest.param("umap", marks=pytest.mark.slow)])
def method(request):
    """Every method; UMAP compiles for ten seconds."""
    if request.param in ("umap", "tsne"):
        pytest.importorskip({"umap": "umap", "tsne": "sklearn"}[request.param])
    return request.param


def clouds(n=60, dimensions=8, seed=0):
    """Three groups of vectors that point different ways, of all lengths."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    vectors = np.eye(dimensions)[group] * 4 + rng.normal(scale=0.3, size=(n, dimensions))
    return (vectors * rng.uniform(0.1, 10, (n, 1))).astype(np.float32), group


def nearby(points, count):
    """The nearest points of each."""
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.argpartition(apart, count, axis=1)[:, :count]


def test_groups_stay_together_and_one_seed_makes_one_map(method):
    vectors, group = clouds()
    points = project(vectors, method, seed=4)
    assert (points.shape, points.dtype) == ((60, 2), np.float32)
    assert (group[nearby(points, 1)] == group[:, None]).mean() > 0.95
    assert np.array_equal(points, project(Embedding(range(60), vectors), method, seed=4))
    assert np.isfinite(project(vectors[:12], method, seed=2**64)).all()


def test_few_and_equal_nodes_are_placed_too(method):
    for n in (1, 2, 3, 5, 7):
        points = project(np.random.default_rng(0).normal(size=(n, 4)), method)
        assert np.isfinite(points).all()
        assert len(np.unique(points, axis=0)) == n
    assert not project(np.ones((9, 3)), method).any()
    points = project(np.repeat(np.eye(3)[:2], 6, axis=0), method)
    assert np.isfinite(points).all()
    assert points[:6].mean(axis=0) != pytest.approx(points[6:].mean(axis=0))


def test_pca_is_that_of_scikit_learn_on_vectors_of_length_one_with_fixed_signs():
    decomposition = pytest.importorskip("sklearn.decomposition")
    vectors, _ = clouds()
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    theirs = decomposition.PCA(2, svd_solver="full").fit_transform(directions)
    points = project(vectors, "pca")
    assert np.allclose(np.abs(points), np.abs(theirs), atol=1e-5)
    mirrored = project(vectors * np.array([-1, 1, -1, 1, 1, 1, -1, 1]), "pca")
    assert np.allclose(points, mirrored, atol=1e-5)
    assert project([[1.0], [-2.0], [3.0]], "pca")[:, 1].tolist() == [0, 0, 0]
    vectors[3] = 0
    assert np.isfinite(project(vectors, "pca")).all()


def test_which_method_auto_is(monkeypatch):
    with_package(monkeypatch, "sklearn")
    assert project_method("auto", 10_000) == "tsne"
    assert project_method("auto", 10_001) == "layout"
    assert project_method("tsne", 4) == "pca"
    assert project_method("tsne", 10_001) == "tsne"
    without_package(monkeypatch, "sklearn")
    assert project_method("auto", 100) == "layout"
    assert project_method("auto", 4) == "pca"


@pytest.mark.parametrize(
    ("vectors", "options", "message"),
    [
        ([[1, 2], [np.nan, 1]], {}, "finite; that of row 1"),
        ([1, 2], {}, "a row for each node"),
        (np.empty((0, 3)), {}, "a vector for each node"),
        ([[1, 2]], {"method": "mds"}, "method must be .*'mds'"),
        ([[1, 2]], {"seed": -1}, "seed must be"),
    ],
)
def test_what_makes_no_picture_is_refused(vectors, options, message):
    with pytest.raises(InputError, match=message):
        project(vectors, **options)


@pytest.mark.parametrize(("method", "package"), [("tsne", "sklearn.manifold"), ("umap", "umap")])
def test_a_missing_package_is_named(monkeypatch, method, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"reinforce2vec\[{method}\]"):
        project(clouds()[0], method)


# -- many nodes: neighbours that are found fast, and a layout by forces ------------------------


def sheets(n=2000, groups=12, dimensions=16):
    """Unit vectors on curved sheets, one for each group, and their groups."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % groups
    own = rng.normal(size=(groups, dimensions))
    along = rng.normal(size=(groups, 2, dimensions)) * 0.4
    vectors = own[group] + np.einsum("ni,nij->nj", rng.uniform(-1, 1, (n, 2)), along[group])
    vectors += rng.normal(scale=0.02, size=vectors.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), group


def within(done, total):
    assert 0 < done <= total


def test_most_neighbours_are_found():
    vectors, _ = sheets()
    rows, cosines = rough_neighbors(vectors, 10, 0, within)
    exact, expected = nearest_rows(vectors, k=10, method="exact", progress=False)
    shared = [len({*a} & {*b}) for a, b in zip(rows.tolist(), exact.tolist(), strict=True)]
    assert np.mean(shared) > 9.5
    assert (np.diff(cosines, axis=1) <= 0).all()
    assert (rows != np.arange(len(rows))[:, None]).all()
    assert all(len(set(row)) == 10 for row in rows.tolist())
    assert np.allclose(cosines, np.einsum("ij,ikj->ik", vectors, vectors[rows]), atol=1e-5)
    assert cosines.mean() == pytest.approx(float(expected.mean()), abs=1e-3)


def test_a_layout_keeps_neighbours_together():
    vectors, group = sheets(1500, 50)
    exact = nearest_rows(vectors, k=10, method="exact", progress=False)[0]
    kept = {}
    for method in ("layout", "pca"):
        near = nearby(project(vectors, method, progress=False), 20)
        shared = [len({*a} & {*b}) for a, b in zip(near.tolist(), exact.tolist(), strict=True)]
        kept[method] = np.mean(shared) / 10
    assert kept["layout"] > 0.9 > 0.8 > kept["pca"]
    near = nearby(project(vectors, "layout", progress=False), 10)
    assert (group[near] == group[:, None]).mean() > 0.95


@pytest.mark.slow
def test_one_seed_one_map_of_many_nodes_on_any_number_of_threads(monkeypatch):
    vectors, _ = sheets(20_001, dimensions=4)
    points = []
    for count in (1, 3):
        monkeypatch.setattr(_layout, "available_cpus", lambda count=count: count)
        points.append(project(vectors, "layout", seed=5, progress=False))
    assert np.array_equal(*points)
    assert not np.array_equal(points[0], project(vectors, "layout", seed=6, progress=False))


def test_nodes_without_neighbours_and_equal_vectors_are_placed_too():
    nearest = np.array([[1, -1], [0, -1], [-1, -1], [-1, -1]], np.int32)
    assert np.isfinite(lay_out(nearest, np.zeros((4, 2), np.float32), 0, within)).all()
    vectors = np.repeat(np.eye(3, dtype=np.float32), 400, axis=0)
    rows, cosines = rough_neighbors(vectors, 10, 0, within)
    assert (cosines[rows >= 0] == 1).mean() > 0.9
    assert np.isfinite(lay_out(rows, np.eye(1200, 2, dtype=np.float32), 0, within)).all()
