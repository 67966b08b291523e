"""Columns of the page: categories, numbers, times and texts of the nodes.

Also what is typical of groups: categories and words that their nodes have more often than others.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.ids import is_missing
from ..files.node_tables import NodeTable, is_label_column

_FEW = 60  # distinct texts that are always categories
_SHARE, _MOST = 0.1, 2000  # more are, if they are at most such a share of the nodes and so many
_LONGEST = 2000  # characters of a text that are kept
_EXACT = 2**53  # beyond it, floats do not hold all whole numbers: texts show them as they are
_LOG_SPAN = 100  # positive numbers suit a logarithmic scale if the largest is so many times typical
_LOG_LEAST = 4  # different numbers for a logarithmic scale
_YEARS = 250_000  # before and after 1970 that the page can show
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})
_NUMBER = re.compile(r"[-+]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][-+]?\d+)?")  # 007 is a code
_TIME = re.compile(
    r"(\d{4}-\d\d(?:-\d\d)?)"
    r"(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(?:Z|([-+])(\d\d)(?::?(\d\d))?)?)?"
)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


# of what is typical
_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")
_LEAST_SHARE = {"category": 0.35, "text": 0.15}  # of a group's nodes that have it
_LEAST_LIFT = 1.5  # times as often as in all nodes
_LEAST_SURPRISE = 3.0  # in standard deviations of chance
_LEAST_NODES = 3
_NAMED = 2  # categories or words in a name
_LONGEST_NAME = 30  # characters of each
_COMMON = """
the and for with from that this are was were has have had not but you your our their its his her
they them who what which when where how all any can will into over under about more most other some
such than then there these those between via per use using used new one two und der die das les des
est une del los las con por para
"""
_COMMON_WORDS = frozenset(_COMMON.split())

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A column of the page.

    Attributes
    ----------
    name, title : str
        What addresses it, and what the page calls it.
    kind : {"category", "number", "time", "text"}
    values : array
        Numbers of categories, -1 for none; numbers, or seconds since 1970, NaN for none; of texts
        an empty array.
    names : list of str
        The categories, or the texts of all nodes.
    sets : list of tuples of int, optional
        All categories of each node, if some have several.
    facts : dict
        What else the header of the page says of it.
    """

    name: str
    title: str
    kind: str
    values: NDArray[Any]
    names: list[str] = field(default_factory=list)
    sets: list[tuple[int, ...]] | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def part(self, rows: NDArray[np.int64]) -> Column:
        """Return the same for some of the nodes."""
        if self.kind == "text":
            return replace(self, names=[self.names[row] for row in rows.tolist()])
        sets = None if self.sets is None else [self.sets[row] for row in rows.tolist()]
        return replace(self, values=self.values[rows], sets=sets)

    def packed(self, number: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what the header says of it, and its arrays, as web/src/data.js reads them."""
        header: dict[str, Any] = {"name": self.name, "title": self.title, "kind": self.kind}
        header |= self.facts
        if self.kind == "text":
            return header | {"texts": self.names}, {}
        arrays = {f"column{number}": self.values}
        if self.kind == "category":
            header["names"] = self.names
            if self.sets is not None:
                numbers: dict[tuple[int, ...], int] = {}  # of the different sets
                codes = [numbers.setdefault(each, len(numbers)) for each in self.sets]
                arrays[f"sets{number}"], header["sets"] = np.array(codes), list(numbers)
            return header, arrays
        known = self.values[~np.isnan(self.values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        header |= {"low": low, "high": high}
        if self.kind == "number":
            header["log"] = _suits_logarithm(known)
            arrays[f"column{number}"] = _smallest(self.values)
        else:
            header["days"] = bool((known % 86_400 == 0).all())
        return header, arrays


def _suits_logarithm(known: _Floats) -> bool:
    """Return whether numbers are positive or 0, and most are far smaller than the largest."""
    if not known.size or known.min() < 0 or len(np.unique(known)) < _LOG_LEAST:
        return False
    return bool(known.max() > _LOG_SPAN * float(np.median(known[known > 0])))


def _smallest(values: _Floats) -> NDArray[Any]:
    """Return numbers in the smallest type that holds them exactly."""
    if (values % 1 == 0).all() and np.abs(values).max(initial=0) < 2**31:
        return values.astype(np.int64)
    narrow = values.astype(np.float32)
    same = np.isnan(values) | (narrow.astype(np.float64) == values)
    return narrow if same.all() else values


# -- the user's columns ------------------------------------------------------------------------


def columns_of(table: NodeTable, taken: Sequence[str] = ()) -> list[Column]:
    """Return the columns of a table whose kinds are recognised by their values.

    Columns without any value are left out. A name that is among `taken` is changed.
    """
    columns: list[Column] = []
    used = set(taken)
    for title, values in zip(table.names, table.columns, strict=True):
        plain = [None if _is_gap(value) else value for value in values]
        if all(value is None for value in plain):
            continue
        names = (title, f"{title} (own)", *(f"{title} (own {copy})" for copy in range(2, 999)))
        name = next(name for name in names if name not in used)
        used.add(name)
        columns.append(_recognised(name, title, plain))
    return columns


def _recognised(name: str, title: str, values: list[Any]) -> Column:
    """Return a column of the kind that its values have."""
    known = [value for value in values if value is not None]
    flags = all(isinstance(value, (bool, np.bool_)) for value in known)
    times = None if flags else _converted(known, _seconds)
    if times is not None:
        return Column(name, title, "time", _spread(values, times))
    numbers = None if flags else _converted(known, _number)
    if numbers is not None:
        whole = bool((numbers % 1 == 0).all())
        if whole and is_label_column(title) and len(np.unique(numbers)) <= _MOST:
            texts = [None if value is None else str(int(float(value))) for value in values]
            return _categories(name, title, texts)
        return Column(name, title, "number", _spread(values, numbers))
    texts = [_written(value) for value in values]
    most = max(_FEW, min(_MOST, _SHARE * len(known)))
    if flags or len(set(texts) - {None}) <= most:
        return _categories(name, title, texts)
    return Column(name, title, "text", np.empty(0), [text or "" for text in texts])


def _is_gap(value: Any) -> bool:
    """Return whether a value is missing, or a text that says so."""
    if isinstance(value, str):
        return value.strip().lower() in _MISSING
    if isinstance(value, (list, tuple, set, dict, np.ndarray)):
        return not len(value)
    return is_missing(value)


def _written(value: Any) -> str | None:
    """Return a value as text."""
    if value is None:
        return None
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    elif isinstance(value, (list, tuple, set, np.ndarray)):
        value = ", ".join(map(str, value))
    text = str(value).strip()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _categories(name: str, title: str, texts: Sequence[str | None]) -> Column:
    """Return a column of categories, in the order of their names."""
    names = sorted({text for text in texts if text is not None}, key=_natural)
    number = {None: -1} | {text: place for place, text in enumerate(names)}
    codes = np.array([number[text] for text in texts], np.int32)
    return Column(name, title, "category", codes, names)


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """Return the sort key of a name: numbers in it count as numbers, before words."""
    parts = filter(None, re.split(r"([0-9]+)", text))
    return [(False, int(part), "") if part.isdecimal() else (True, 0, part) for part in parts]


def _spread(values: list[Any], known: _Floats) -> _Floats:
    """Return numbers for all nodes, with NaN where there is no value."""
    spread = np.full(len(values), np.nan)
    spread[[value is not None for value in values]] = known
    return spread


def _converted(known: list[Any], convert: Callable[[Any], float | None]) -> _Floats | None:
    """Return values as numbers; None if some are none, or all are NaN."""
    try:
        numbers = [convert(value) for value in known]
    except (ValueError, OverflowError):
        return None
    if None in numbers:
        return None
    converted = np.array(numbers, np.float64)
    return None if np.isnan(converted).all() else converted


def _number(value: Any) -> float | None:
    """Return a number or its text; NaN for infinity, None for what is too large to be exact."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return None
    elif not isinstance(value, (int, float, Decimal, np.integer, np.floating)):
        return None
    number = float(value)
    if abs(number) > _EXACT and not isinstance(value, (float, np.floating)):
        return None
    return number if math.isfinite(number) else math.nan


def _seconds(value: Any) -> float | None:
    """Return a date, a time or its ISO 8601 text in seconds since 1970, without a zone in UTC."""
    if isinstance(value, datetime.datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return (zoned - _EPOCH).total_seconds()
    if isinstance(value, datetime.date):
        return float((value - _EPOCH.date()).days * 86_400)
    if isinstance(value, np.datetime64):
        if abs(int(value.astype("datetime64[Y]").astype(np.int64))) > _YEARS:
            return None
        return float(value.astype("datetime64[us]").astype(np.int64)) / 1e6
    parts = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if parts is None:
        return None
    day, clock, sign, hours, minutes = parts.groups()
    moment = np.datetime64(day if clock is None else f"{day}T{clock}", "us")
    ahead = int(hours or 0) * 3600 + int(minutes or 0) * 60  # of UTC
    return float(moment.astype(np.int64)) / 1e6 - (-ahead if sign == "-" else ahead)


# -- what is typical of groups ------------------------------------------------------------------


def typical_of(groups: NDArray[np.int32], columns: Sequence[Column]) -> dict[int, str]:
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
            name = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
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
