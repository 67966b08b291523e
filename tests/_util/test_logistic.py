"""Logistic regression, held against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from reinforce2vec._util import logistic
from reinforce2vec._util.cuda import device
from reinforce2vec._util.logistic import fit_logistic, predict


def answers(rng, x, n_classes, noise=1.0):
    """Classes of different sizes that have to do with x."""
    scores = x @ rng.normal(size=(x.shape[1], n_classes))
    scores += noise * scores.std() * rng.normal(size=scores.shape)
    bars = np.linspace(0.05, 0.97, n_classes + 2)[1:-1]
    return scores > [np.quantile(column, bar) for column, bar in zip(scores.T, bars, strict=True)]


def peer(x, y, c=1.0):
    fitted = LogisticRegression(C=c, tol=1e-9, max_iter=10_000, solver="newton-cholesky")
    fitted.fit(x.astype(np.float64), y)
    return fitted.coef_[0], fitted.intercept_[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [1, 3, 11])
@pytest.mark.parametrize(
    ("rows", "scale", "shift", "noise"),
    [
        (400, 1.0, 0.0, 1.0),
        (400, 0.01, 0.0, 1.0),  # the penalty rules
        (400, 30.0, 0.0, 0.0),  # separable
        (15, 1.0, 0.0, 1.0),  # fewer rows than dimensions
        (400, 1.0, 100.0, 1.0),  # far from 0
    ],
)
def test_weights_are_those_of_scikit_learn(dtype, n_classes, rows, scale, shift, noise):
    rng = np.random.default_rng(3)
    stretched = rng.normal(size=(rows, 20)) * np.geomspace(1, 0.1, 20)
    x = (scale * stretched @ rng.normal(size=(20, 20)) + shift).astype(dtype)
    y = answers(rng, x - shift, n_classes, noise)
    weights, intercepts = fit_logistic(x, y)
    assert weights.shape == (20, n_classes)
    for number in range(n_classes):
        expected, intercept = peer(x, y[:, number])
        largest = np.abs(expected).max()
        assert np.allclose(weights[:, number], expected, atol=1e-4 * largest, rtol=0)
        assert np.isclose(intercepts[number], intercept, atol=2e-4 * max(1, largest * shift))


def test_how_much_rows_count_is_as_in_scikit_learn():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 5))
    y = answers(rng, x, 6)
    for c in (0.01, 20.0):
        weights, intercepts = fit_logistic(x, y, c)
        expected, intercept = peer(x, y[:, 2], c)
        assert np.allclose(weights[:, 2], expected, atol=1e-4)
        assert np.isclose(intercepts[2], intercept, atol=1e-4)


def test_each_class_can_have_its_own_c():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 5)).astype(np.float32)
    y = answers(rng, x, 6)
    rates = np.geomspace(0.01, 1000, 6)
    weights, intercepts = fit_logistic(x, y, rates)
    for number, c in enumerate(rates.tolist()):
        alone, intercept = fit_logistic(x, y[:, [number]], c)
        assert np.allclose(weights[:, number], alone[:, 0], rtol=1e-4, atol=1e-5)
        assert np.isclose(intercepts[number], intercept[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [1, 3, 11])
@pytest.mark.parametrize("standardise", [False, True])
def test_a_gpu_finds_the_same_weights(cuda, monkeypatch, dtype, n_classes, standardise):
    rng = np.random.default_rng(8)
    x = (rng.normal(size=(700, 12)) * np.geomspace(1, 0.1, 12) + 3).astype(dtype)
    y = answers(rng, x - 3, n_classes)
    y[:, 0] &= n_classes != 3  # a class with one answer only
    rates = np.geomspace(0.1, 100, n_classes)
    expected = fit_logistic(x, y, rates, standardise=standardise)
    monkeypatch.setattr(logistic, "GPU_BLOCK_BYTES", 30_000)  # several blocks
    monkeypatch.setattr(logistic, "GPU_CLASSES_AT_ONCE", 8)
    there = device.cupy().asarray(x)
    found = fit_logistic(there, y, rates, standardise=standardise)
    for one, other in zip(expected, found, strict=True):
        assert np.allclose(other.get(), one, rtol=1e-4, atol=1e-4)
    scores = predict(there, *found)
    assert isinstance(scores, np.ndarray)
    assert np.allclose(scores, predict(x, *expected), rtol=1e-3, atol=1e-3)


def test_standardise_penalises_weights_as_if_columns_had_variance_1():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(500, 6)) * [1, 10, 0.01, 3, 5, 1] + [0, 5, 0, 0, 9, 0]
    x[:, 5] = 7.25  # a constant column
    y = answers(rng, x, 2)
    weights, intercepts = fit_logistic(x, y, standardise=True)
    spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    scaled = (x - x.mean(axis=0)) / spread
    by_hand, expected = fit_logistic(scaled, y)
    assert np.allclose(weights * spread[:, None], by_hand, atol=1e-5)
    assert np.allclose(predict(x, weights, intercepts), predict(scaled, by_hand, expected), 0, 1e-4)


def test_the_gradient_is_gone_on_many_rows_with_long_tails():
    """More rows than a sample for the equations and than a block; few of them far out."""
    rng = np.random.default_rng(5)
    x = rng.standard_t(2.2, size=(3 * logistic.SAMPLE + 17, 9)).astype(np.float32)
    y = answers(rng, x, 1, noise=0.3)
    weights, intercepts = fit_logistic(x, y)
    likely = 1 / (1 + np.exp(-predict(x, weights, intercepts)))
    gradient = weights + x.astype(np.float64).T @ (likely - y)
    first = x.astype(np.float64).T @ (y.mean() - y)
    assert np.linalg.norm(gradient) < 1e-4 * np.linalg.norm(first)
    assert abs((likely - y).sum()) < 1e-2


def test_more_classes_than_are_solved_at_once(monkeypatch):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(200, 4))
    y = answers(rng, x, 7)
    together = fit_logistic(x, y)
    monkeypatch.setattr(logistic, "CLASSES_AT_ONCE", 5)
    for one, other in zip(together, fit_logistic(x, y), strict=True):
        assert np.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 9])
def test_a_class_with_one_answer_only_is_certain(n_classes):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(50, 3))
    y = answers(rng, x, n_classes)
    y[:, 0], y[:, 1] = True, False
    weights, intercepts = fit_logistic(x, y)
    assert intercepts[0] == 1e9
    assert intercepts[1] == -1e9
    assert not weights[:, :2].any()
    assert (np.abs(intercepts[2:]) < 100).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 30), columns=st.integers(1, 40))
def test_rows_that_repeat_vanish_or_are_huge_give_finite_weights(seed, rows, columns):
    rng = np.random.default_rng(seed)
    x = rng.choice([0.0, 1.0, -1.0, 1e4], (rows, columns)).astype(np.float32)
    y = rng.random((rows, 6)) < 0.5
    weights, intercepts = fit_logistic(x, y)
    assert np.isfinite(weights).all()
    assert np.isfinite(intercepts).all()
