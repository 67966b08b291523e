"""Numbering of ids: no file can hold ids that all collide, which would take a square of time."""

import numpy as np

from reinforce2vec._util import ids
from reinforce2vec.files import _tokens

_BITS = (1 << 64) - 1


def _value_of(hashed):
    """Return the integer whose hash, without a secret, is a number: the finalizer backwards."""
    for factor in (0xC4CEB9FE1A85EC53, 0xFF51AFD7ED558CCD):
        hashed ^= hashed >> 33
        hashed = hashed * pow(factor, -1, 1 << 64) & _BITS
    return hashed ^ hashed >> 33


def test_integers_made_to_collide_do_not(monkeypatch):
    values = np.array([_value_of(k << 30) for k in range(1, 1001)], np.uint64).view(np.int64)

    def used():
        table = ids.IntegerIds()
        assert table.number(values).tolist() == list(range(1000))
        return np.flatnonzero(table.slots >= 0)

    assert used().max() > 2000  # of 4096
    monkeypatch.setattr(ids, "HASH_SECRET", np.uint64(0))
    assert used().tolist() == list(range(1000))


def test_hashes_of_text_depend_on_the_secret(monkeypatch):
    data, places = np.frombuffer(b"annbob", np.uint8), np.array([[0, 3], [3, 6]], np.int32)
    hashes = _tokens.token_hashes(data, places)
    monkeypatch.setattr(_tokens, "HASH_SECRET", np.uint64(12345))
    assert (_tokens.token_hashes(data, places) != hashes).all()
