"""What is typical of groups: categories and words that their nodes have more often than others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ._columns import Column

_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")
_LEAST_SHARE = {"category": 0.35, "text": 0.15}  # of a group's nodes that have it
_LEAST_LIFT = 1.5  # times as often as in all nodes
_LEAST_SURPRISE = 3.0  # in standard deviations of chance
_LEAST_NODES = 3
_NAMED = 2  # categories or words in a name
_LONGEST = 30  # characters of each
_COMMON = """
the and for with from that this are was were has have had not but you your our their its his her
they them who what which when where how all any can will into over under about more most other some
such than then there these those between via per use using used new one two und der die das les des
est une del los las con por para
"""
_COMMON_WORDS = frozenset(_COMMON.split())

_Codes = NDArray[np.int32]


def typical_of(groups: _Codes, columns: Sequence[Column]) -> dict[int, str]:
    """Return a short text for each group that has something typical in the columns.

    A category or word is typical of a group if many of its nodes have it, clearly more often than
    all nodes, and more than by chance; the clearest are named first.

    Parameters
    ----------
    groups : int32 array
        The group of each node, -1 for none.
    columns : sequence of Column
        Those of categories and of texts count.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    if not n_groups:
        return {}
    inside = np.flatnonzero(groups >= 0)
    sizes = np.bincount(groups[inside], minlength=n_groups)
    belongs = scipy.sparse.csr_array(
        (np.ones(len(inside)), (groups[inside], inside)), shape=(n_groups, len(groups))
    )
    described: dict[int, list[tuple[float, str]]] = {}
    for column in columns:
        if column.kind not in _LEAST_SHARE:
            continue
        sets, names = _features(column)
        begins = np.cumsum([0, *map(len, sets)])
        places = np.array([each for some in sets for each in some], np.int64)
        features = scipy.sparse.csr_array(
            (np.ones(len(places)), places, begins), shape=(len(groups), len(names))
        )
        counts = (belongs @ features).tocoo()
        group, place, inside_counts = counts.row, counts.col, counts.data
        expected = (np.asarray(features.sum(axis=0)).ravel() / len(groups))[place]
        share = inside_counts / sizes[group]
        deviation = np.sqrt(np.maximum(expected * (1 - expected), 1e-12) / sizes[group])
        typical = (
            (inside_counts >= _LEAST_NODES)
            & (share >= _LEAST_SHARE[column.kind])
            & (share >= _LEAST_LIFT * expected)
            & (share - expected >= _LEAST_SURPRISE * deviation)
        )
        # how much better the group is described by it: common in it, rare elsewhere
        scores = share[typical] * np.log(share[typical] / expected[typical])
        facts = (part.tolist() for part in (group[typical], place[typical], scores))
        for of, which, score in zip(*facts, strict=True):
            name = names[which]
            name = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
            described.setdefault(of, []).append((-score, name))
    return {group: ", ".join(_foremost(described[group])) for group in sorted(described)}


def _foremost(some: list[tuple[float, str]]) -> list[str]:
    """Return the best names; of names that hold the same words, the best alone."""
    kept: list[str] = []
    seen: set[str] = set()
    for _, name in sorted(some):
        words = set(_WORD.findall(name.lower())) or {name.lower()}
        if not words <= seen and len(kept) < _NAMED:
            kept.append(name)
            seen |= words
    return kept


def _features(column: Column) -> tuple[Sequence[tuple[int, ...]], list[str]]:
    """Return which categories or words each node has, and what they are."""
    if column.kind == "category":
        sets = column.sets or [() if code < 0 else (code,) for code in column.values.tolist()]
        return sets, column.names
    words = [set(_WORD.findall(text.lower())) - _COMMON_WORDS for text in column.names]
    counts = Counter(word for some in words for word in some)
    known = sorted(word for word, count in counts.items() if count >= _LEAST_NODES)
    number = {word: place for place, word in enumerate(known)}
    return [tuple(number[word] for word in sorted(some & number.keys())) for some in words], known
