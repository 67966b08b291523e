"""The map of many nodes: neighbours that are found fast, and a layout by forces."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import project
from reinforce2vec.embedding import _layout, projection
from reinforce2vec.embedding._layout import lay_out, rough_neighbors
from reinforce2vec.embedding.nearest import nearest_rows


def sheets(n=2000, groups=12, dimensions=16, seed=0):
    """Unit vectors on curved sheets, one for each group, and their groups."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % groups
    own = rng.normal(size=(groups, dimensions))
    along = rng.normal(size=(groups, 2, dimensions)) * 0.4
    places = rng.uniform(-1, 1, (n, 2))
    vectors = own[group] + np.einsum("ni,nij->nj", places, along[group])
    vectors += rng.normal(scale=0.02, size=vectors.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), group


def unreported(done, total):
    assert 0 < done <= total


def threads(monkeypatch, count):
    for module in (_layout,):
        monkeypatch.setattr(module, "available_cpus", lambda: count)
        monkeypatch.setattr(module, "_AT_A_TIME", 500)


def test_most_neighbours_are_found():
    vectors, _ = sheets()
    rows, cosines = rough_neighbors(vectors, 10, 0, unreported)
    exact, expected = nearest_rows(vectors, k=10, method="exact", progress=False)
    shared = [len({*a} & {*b}) for a, b in zip(rows.tolist(), exact.tolist(), strict=True)]
    assert np.mean(shared) > 9.5
    assert (np.diff(cosines, axis=1) <= 0).all()
    assert (rows != np.arange(len(rows))[:, None]).all()
    assert all(len(set(row)) == 10 for row in rows.tolist())
    own = np.einsum("ij,ikj->ik", vectors, vectors[rows])
    assert np.allclose(cosines, own, atol=1e-5)
    assert cosines.mean() == pytest.approx(float(expected.mean()), abs=1e-3)


def nearby(points, count):
    """The nearest points of each."""
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.argpartition(apart, count, axis=1)[:, :count]


def test_a_layout_keeps_neighbours_together():
    vectors, group = sheets(1500, 50)
    exact = nearest_rows(vectors, k=10, method="exact", progress=False)[0]
    kept = {}
    for method in ("layout", "pca"):
        near = nearby(project(vectors, method, progress=False), 20)
        shared = [len({*a} & {*b}) for a, b in zip(near.tolist(), exact.tolist(), strict=True)]
        kept[method] = np.mean(shared) / 10
    assert kept["layout"] > 0.9 > 0.8 > kept["pca"]
    assert (group[near] == group[:, None]).mean() < 0.8  # by PCA, groups overlap
    near = nearby(project(vectors, "layout", progress=False), 10)
    assert (group[near] == group[:, None]).mean() > 0.95


def test_one_seed_one_map_on_any_number_of_threads(monkeypatch):
    vectors, _ = sheets()
    monkeypatch.setattr(projection, "_SEARCHED_EXACTLY", 100)
    found = []
    for count in (1, 3):
        threads(monkeypatch, count)
        found.append(project(vectors, "layout", seed=5, progress=False))
    assert np.array_equal(*found)
    assert not np.array_equal(found[0], project(vectors, "layout", seed=6, progress=False))


def test_nodes_without_neighbours_and_equal_vectors_are_placed_too():
    nearest = np.array([[1, -1], [0, -1], [-1, -1], [-1, -1]], np.int32)
    points = lay_out(nearest, np.zeros((4, 2), np.float32), 0, unreported)
    assert np.isfinite(points).all()
    vectors = np.repeat(np.eye(3, dtype=np.float32), 400, axis=0)
    rows, cosines = rough_neighbors(vectors, 10, 0, unreported)
    assert (cosines[rows >= 0] == 1).mean() > 0.9
    points = lay_out(rows, np.zeros((1200, 2), np.float32) + np.eye(1200, 2), 0, unreported)
    assert np.isfinite(points).all()
