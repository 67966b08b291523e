"""When two graphs are the same."""

from __future__ import annotations


def assert_same(one, other):
    """Two graphs have the same ids, in the same order and of one type, and the same edges."""
    assert one.ids.dtype == other.ids.dtype
    assert one.ids.tolist() == other.ids.tolist()
    assert (one.directed, one.weighted) == (other.directed, other.weighted)
    assert one.indptr.tolist() == other.indptr.tolist()
    assert one.indices.tolist() == other.indices.tolist()
    if one.weighted:
        assert one.weights.tolist() == other.weights.tolist()
    assert one.dropped_self_loops == other.dropped_self_loops
