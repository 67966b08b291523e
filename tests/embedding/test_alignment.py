"""Vectors of independent fits become comparable by a rotation, which keeps cosines."""

from __future__ import annotations

import numpy as np
import pytest

from reinforce2vec import Embedding, InputError, Reinforce2Vec, align, planted_groups

RNG = np.random.default_rng(0)


def rotation(size):
    return np.linalg.qr(RNG.normal(size=(size, size)))[0]


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def some(n=60, dimensions=8, **settings):
    return Embedding(range(n), RNG.normal(size=(n, dimensions)), **settings)


def test_a_rotation_is_undone():
    old = some()
    new = Embedding(old.ids, old.vectors @ rotation(8))
    np.testing.assert_allclose(align(new, old).vectors, old.vectors, atol=1e-5)


def test_rows_are_matched_by_ids_and_others_are_rotated_along():
    old = some()
    turned, order = old.vectors @ rotation(8), RNG.permutation(60)[:40]
    new = Embedding([*order.tolist(), 101, 102], np.vstack([turned[order], turned[[3, 4]]]))
    found = align(new, old)
    assert found.ids.tolist() == new.ids.tolist()
    expected = old.vectors[[*order, 3, 4]]
    np.testing.assert_allclose(found.vectors, expected, atol=1e-5)


def test_each_scale_is_rotated_by_itself():
    old = some(scales=(2, 6))
    turned = np.hstack([old.vectors[:, :2] @ rotation(2), old.vectors[:, 2:] @ rotation(6)])
    found = align(Embedding(old.ids, turned, scales=(2, 6)), old)
    assert found.scales == (2, 6)
    np.testing.assert_allclose(found.vectors, old.vectors, atol=1e-5)
    mixed = Embedding(old.ids, old.vectors @ rotation(8), scales=(2, 6))
    apart = align(mixed, old).vectors
    assert np.abs(apart - old.vectors).max() > 0.1  # no rotation of the scales does it
    lengths = [np.linalg.norm(one[:, :2], axis=1) for one in (apart, mixed.vectors)]
    np.testing.assert_allclose(*lengths, rtol=1e-5)
    whole = align(Embedding(old.ids, mixed.vectors, scales=(4, 4)), old)
    np.testing.assert_allclose(whole.vectors, old.vectors, atol=1e-5)


@pytest.mark.parametrize("smooth", [False, True])
def test_two_fits_become_comparable_and_keep_their_cosines(smooth):
    groups = planted_groups(300, 5, degree=15, seed=3).graph
    old, new = (
        Reinforce2Vec(32, seed=seed, workers=1, smooth=smooth).fit(groups).embedding_
        for seed in (1, 2)
    )
    found = align(new, old)
    before, after = (np.einsum("ij,ij->i", *map(unit, (old.vectors, one.vectors)))
                     for one in (new, found))  # fmt: skip
    assert np.median(before) < 0.3
    assert np.median(after) > 0.8
    np.testing.assert_allclose(
        unit(found.vectors) @ unit(found.vectors).T, unit(new.vectors) @ unit(new.vectors).T,
        atol=1e-5,
    )  # fmt: skip


def test_what_cannot_be_aligned_is_refused():
    with pytest.raises(InputError, match="of 8 and of 4 dimensions cannot be aligned"):
        align(some(), some(dimensions=4))
    few = Embedding([*range(5), *range(100, 120)], RNG.normal(size=(25, 8)))
    with pytest.raises(InputError, match=r"5 nodes in common do not determine .* of 8 dimensions"):
        align(few, some())
    with pytest.raises(InputError, match="0 nodes in common"):
        align(Embedding(["a", "b"], np.ones((2, 8))), some())
    with pytest.raises(InputError, match="two Embeddings, not a ndarray"):
        align(np.ones((3, 2)), some())
    small = Embedding(range(3), RNG.normal(size=(3, 8)))  # all of its nodes are common
    assert len(align(small, some())) == 3


def test_what_is_known_of_the_vectors_stays():
    new, old = (Embedding([1, 2], np.eye(2), info={"method": name}) for name in ("new", "old"))
    assert align(new, old).info == {"method": "new"}
