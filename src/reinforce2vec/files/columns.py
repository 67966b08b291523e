"""Which columns of a table hold the edges: one rule for text files, Parquet, and tables in memory.

Known names decide. What is unknown or ambiguous is refused, with the choice spelled out: a wrong
guess would give wrong vectors without a word. docs/howto/files.md has the rule as a table.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, python_setting, short_repr

_words = re.compile(r"\w+").findall
ID_COLUMN_NAMES: list[tuple[str, str]] = re.findall(
    r"(\w+) (\w+)",
    """
    source target, src dst, src dest, source destination, from to, fromnodeid tonodeid,
    from_node to_node, from_id to_id, source_id target_id, head tail, start end, u v, i j,
    node1 node2, node_1 node_2, node_a node_b, id1 id2, id_1 id_2, caller callee, sender receiver,
    sender recipient, follower followee, citing cited, parent child
    """,
)
"""Names of the two columns of node ids, in lower case."""

_WEIGHTS = ("weight", "weights", "edge_weight", "w")
# numbers that are no weights
_TIMES = _words("""
    time timestamp timestamps unixtime unix_time unix_timestamp ts date datetime year month day hour
    epoch created created_at updated updated_at
""")
_OTHERS = _words("""
    id edge_id edgeid edge key uuid row row_id index type kind label labels class category relation
    rel name layer
""")
# words that, with those above, name the two nodes of an edge, though not which is which
_NODES = _words("""
    user friend follows node neighbor neighbour who whom customer item product author paper reader
    book movie userid user_id itemid item_id productid product_id movieid movie_id
""")
_KNOWN = {
    *_WEIGHTS,
    *_TIMES,
    *_OTHERS,
    *_NODES,
    *(name for pair in ID_COLUMN_NAMES for name in pair),
}
_ONE_KIND = ({"user", "friend"}, {"user", "follows"}, {"node", "neighbor"}, {"who", "whom"})
_SIDE = re.compile(r"(?:[ _-]id)?(?:[ _-]?\d+|[ _-][abxy]|[ _-]id)?$")
_INDEX = ("", "unnamed: 0", "index", "level_0")  # pandas' names for its index, the first column
_ARROW_INDEX = re.compile(r"__index_level_\d+__")  # pandas' names for it in Parquet, the last ones
_WHOLE = re.compile(r"-?\d+")
_NUMBERED = re.compile(r"(?:column_?|f)?(\d+)")  # what packages call columns without a header
_MOST_LISTED = 10  # columns in a message


class ColumnChoice(NamedTuple):
    """The columns that the user names; None: found by the rule."""

    source: Any = None
    target: Any = None
    weight: Any = None
    alone: bool = False
    """Whether nothing but the named columns is read: without a name for it, no weight."""

    @property
    def given(self) -> dict[str, Any]:
        """What was named."""
        roles = {"source": self.source, "target": self.target, "weight": self.weight}
        return {role: name for role, name in roles.items() if name is not None}

    @classmethod
    def of(cls, columns: Any, source: Any, target: Any, weight: Any) -> ColumnChoice:
        """Return the choice that a user's `columns`, or the other three, make."""
        choice = cls(source, target, weight)
        if columns is None:
            return choice
        for role, name in choice.given.items():
            raise _excluded(("columns", columns), (role, name))
        if isinstance(columns, str):
            listed = next(csv.reader([columns.replace("\n", " ")], skipinitialspace=True), [])
        else:
            listed = list(columns) if isinstance(columns, Iterable) else [columns]
        if len(listed) not in (2, 3) or any(name in (None, "") for name in listed):
            raise InputError(
                "columns must be two or three columns, those of source, target and perhaps weight, "
                f"not {short_repr(columns)}",
                parameter="columns",
                value=columns,
            )
        return cls(listed[0], listed[1], listed[2] if len(listed) == 3 else None, True)


BY_THE_RULE = ColumnChoice()


class _EdgeColumns(NamedTuple):
    """Positions of the columns that hold edges, and what is to be reported of the choice."""

    source: int
    target: int
    weight: int | None
    notes: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[int, int]:
        """Positions of the two columns of node ids."""
        return self.source, self.target

    @property
    def used(self) -> list[int]:
        """All positions."""
        return [*self.ids, *([] if self.weight is None else [self.weight])]


@dataclass(frozen=True)
class Table:
    """What the rule has to know of a table; columns are counted from 0.

    Parameters
    ----------
    names : sequence
        Labels of the columns; of a text file without a header, numbers from 1. A column may be
        named by its position, from 1, unless labels are numbers.
    is_number : function
        Whether the values of a column are numbers.
    is_ascending : function
        Whether the values of a column are whole numbers, each larger than the one before.
    has_header : bool
        Whether the labels are names.
    is_text : bool
        Whether it is a text file, of which only the first lines are known.
    numbers : function
        The first values of a column of numbers, 100 at most, without missing ones.
    place : str
        Where the options are given, if not to the function that reads: for messages.
    """

    names: Sequence[Any]
    is_number: Callable[[int], bool]
    is_ascending: Callable[[int], bool]
    has_header: bool = True
    is_text: bool = False
    numbers: Callable[[int], NDArray[np.float64]] = lambda _: np.empty(0)
    place: str = ""

    def plain(self, column: int) -> str:
        """Return a column's name as the known names are written."""
        return str(self.names[column]).strip().lower()

    def spelled(self, column: int) -> str:
        """Return how a message names a column."""
        name = self.names[column]
        return f'"{excerpt(str(name))}"' if self.has_header else f"column {name}"

    def listed(self, columns: Sequence[int] | None = None) -> str:
        """Return columns for a message: at most ten."""
        columns = range(len(self.names)) if columns is None else columns
        more = len(columns) - _MOST_LISTED
        listed = ", ".join(map(self.spelled, columns[:_MOST_LISTED]))
        return listed + (f" and {more} more" if more > 0 else "")

    def sides(self, chosen: _EdgeColumns) -> tuple[str, str] | None:
        """Return the names of the two columns of ids, if columns have names."""
        if not self.has_header:
            return None
        return str(self.names[chosen.source]), str(self.names[chosen.target])

    def may_be_times(self, column: int) -> bool:
        """Return whether values could be times.

        They are whole numbers of seconds since 1970, from 1973 to 2286, or of thousandths or
        smaller parts of one; years; or days such as 20241231.
        """
        values = self._finite(column)
        month, day = values // 100 % 100, values % 100
        spans = [(values >= 1e8) & (values < 1e13)]
        if not np.any(values % 1):
            ends = ((1e14, 1e16), (1e17, 1e19), (1900, 2101), (19000101, 21010101))
            spans += [(values >= low) & (values < high) for low, high in ends]
            spans[-1] &= (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
        return len(values) > 0 and any(span.all() for span in spans)

    def may_be_row_numbers(self, column: int) -> bool:
        """Return whether the first values, at least ten, are consecutive whole numbers."""
        values = self._finite(column)
        return len(values) >= 10 and bool(np.all(np.diff(values) == 1) and values[0] % 1 == 0)

    def has_fractions(self, column: int) -> bool:
        """Return whether values are numbers, some of them not whole."""
        return bool(np.any(self._finite(column) % 1))

    def _finite(self, column: int) -> NDArray[np.float64]:
        values = self.numbers(column) if self.is_number(column) else np.empty(0)
        return values[np.isfinite(values)]


# -- names -------------------------------------------------------------------------------------


def _known_pairs(names: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the positions of columns that are known to be the two nodes of an edge."""
    place = {str(name).strip().lower(): number for number, name in enumerate(names)}
    return [(place[a], place[b]) for a, b in ID_COLUMN_NAMES if a in place and b in place]


def are_alike(first: str, second: str) -> bool:
    """Return whether the names of two columns say that both hold nodes of one kind."""
    names = [name.strip().lower() for name in (first, second)]
    if len({_SIDE.sub("", name) for name in names}) == 1 or max(map(len, names)) == 1:
        return True  # "gene_a" and "gene_b"; "x" and "y"
    return bool(_known_pairs(names)) or {*names} in _ONE_KIND


def are_known(names: Sequence[str]) -> bool:
    """Return whether names, in lower case, are those of columns: a known pair, or all of them."""
    return bool(_known_pairs(names)) or (len(names) > 1 and all(name in _KNOWN for name in names))


def is_name_in_edges(name: bytes) -> bool:
    """Return whether a name is that of a column of edges: of one of their nodes, or of weights."""
    word = name.decode(errors="replace").strip().lower()
    return word in _WEIGHTS or any(word in pair for pair in ID_COLUMN_NAMES)


def is_no_dimension(name: str) -> bool:
    """Return whether a name is that of a column of times or classes, not of numbers of a vector."""
    return name.strip().lower() in (*_TIMES, *_OTHERS)


def has_names(labels: Sequence[Any]) -> bool:
    """Return whether labels of columns are names, not the numbers that stand in for them."""
    numbers = [int(match[1]) for label in labels if (match := _NUMBERED.fullmatch(str(label)))]
    return numbers != [numbers[0] + i for i in range(len(labels))] if numbers else True


def has_numbers(labels: Iterable[Any]) -> bool:
    """Return whether some labels of columns are whole numbers: then no number is a position."""
    return any(_WHOLE.fullmatch(str(label).strip()) for label in labels)


def may_be_index(label: Any, first: bool) -> bool:
    """Return whether a label is one of those that pandas gives to its index."""
    name = str(label).strip()
    return bool(_ARROW_INDEX.fullmatch(name)) or (first and name.lower() in _INDEX)


# -- the choice --------------------------------------------------------------------------------


def choose_columns(table: Table, choice: ColumnChoice, weighted: bool | None) -> _EdgeColumns:
    """Return which columns hold the edges; InputError, with the choice, where that is unclear.

    Parameters
    ----------
    table : Table
        The table.
    choice : ColumnChoice
        What the user names.
    weighted : bool, optional
        True: there must be weights. False: weights are left out.
    """
    named = {role: _find(table, role, name) for role, name in choice.given.items()}
    if ("source" in named) != ("target" in named):
        one, other = ("source", "target") if "source" in named else ("target", "source")
        setting = (one, choice.given[one])
        raise InputError(
            f"{python_setting(*setting)} needs {other}=... as well",
            settings=[setting, (other, ...)],
        )
    if len(set(named.values())) < len(named):
        raise InputError("source, target and weight must be different columns")
    weight = named.get("weight")
    if weighted is False and weight is not None:
        raise _excluded(("weight", choice.weight), ("weighted", False))
    ids = (named["source"], named["target"]) if "source" in named else _find_ids(table, weight)
    if weight is None and weighted and choice.alone:
        raise InputError(
            "weighted=True, but columns names no column of weights: name it as the third",
            settings=[("weighted", True)],
        )
    decided = weighted is False or choice.alone
    if weight is None and not decided:
        weight = _find_weight(table, ids, bool(weighted))
    return _EdgeColumns(*ids, weight, tuple(_notes(table, ids, weight, decided)))


def _excluded(*settings: tuple[str, Any]) -> InputError:
    """Return the error for two settings that exclude each other."""
    spelled = " and ".join(python_setting(*setting) for setting in settings)
    return InputError(f"{spelled} exclude each other", settings=settings)


def _find(table: Table, role: str, name: Any) -> int:
    """Return the position of a column that the user names."""
    labels = list(table.names)
    places = [i for i, label in enumerate(labels) if type(label) is type(name) and label == name]
    places = places or [
        i for i in range(len(labels)) if table.plain(i) == str(name).strip().lower()
    ]
    if not places and re.fullmatch(r"[1-9]\d{0,8}", str(name)) and not has_numbers(labels):
        places = [int(name) - 1] if int(name) <= len(labels) else []
    if len(places) == 1:
        return places[0]
    problem = "several columns have this name" if places else "there is no such column"
    raise InputError(
        f"{python_setting(role, name)}: {problem}: the columns are {table.listed()}",
        settings=[(role, name)],
    )


def _find_ids(table: Table, weight: int | None) -> tuple[int, int]:
    """Return the two columns of ids: those with known names, else the only two there are."""
    columns = [i for i in range(len(table.names)) if i != weight]
    if len(columns) < 2:
        raise InputError(
            f"expected a table with two columns of node ids, found {len(columns)}: {table.listed()}"
        )
    if not table.has_header:
        return columns[0], columns[1]
    pairs = _known_pairs(table.names)
    if len(pairs) == 1:
        return _without_twins(table, *pairs[0])
    if pairs:
        known = " or ".join(table.listed(pair) for pair in pairs)
        raise _unclear(table, f"the nodes of an edge may be {known}", pairs[0])
    dropped = [
        i
        for i in columns
        if table.plain(i) in _TIMES or (weight is None and table.plain(i) in _WEIGHTS)
    ]
    left = [i for i in columns if i not in dropped and not _is_index(table, i)]
    if len(left) == 2 and _may_be_nodes(table, left, bool(dropped)):
        return _without_twins(table, *left)
    likely = [i for i in left if table.plain(i) not in _OTHERS]
    likely = likely if len(likely) >= 2 else left if len(left) >= 2 else columns
    words = [i for i in likely if not table.is_number(i)]
    problem = f"which columns hold the two nodes of an edge? There are {table.listed()}"
    raise _unclear(table, problem, words if len(words) >= 2 else likely)


def _without_twins(table: Table, first: int, second: int) -> tuple[int, int]:
    """Return two columns that the rule chose; InputError if others have the same names."""
    if any(list(table.names).count(table.names[i]) > 1 for i in (first, second)):
        raise InputError(f"two columns of the table have the same name: {table.listed()}")
    return first, second


def _may_be_nodes(table: Table, ids: list[int], among_others: bool) -> bool:
    """Return whether the only two columns left may be the two nodes of an edge.

    Not if one is known to be something else or holds fractions. Beside times or weights, numbers
    next to words are ids only if their name says so: "user, rating, year" has no edges.
    """
    if any(table.plain(i) in _OTHERS or table.has_fractions(i) for i in ids):
        return False
    numbers = [i for i in ids if table.is_number(i)]
    return not among_others or len(numbers) != 1 or table.plain(numbers[0]) in _NODES


def _unclear(table: Table, problem: str, ids: Sequence[int]) -> InputError:
    """Return the error for ids that cannot be told; `ids` are columns to name as an example."""
    settings = [(role, table.names[i]) for role, i in zip(("source", "target"), ids, strict=False)]
    spelled = ", ".join(python_setting(*setting) for setting in settings)
    return InputError(f"{problem}; name two{table.place}: {spelled}", settings=settings)


def _is_index(table: Table, column: int) -> bool:
    """Return whether a column is the index of a pandas frame that was written with it."""
    return may_be_index(table.names[column], column == 0) and table.is_ascending(column)


def _find_weight(table: Table, ids: tuple[int, int], weighted: bool) -> int | None:
    """Return the column of weights, or None; InputError if numbers may be weights or not.

    In a table without names, it is the third, if there is no other.
    """
    others = [i for i in range(len(table.names)) if i not in ids]
    if not table.has_header and ids == (0, 1):
        numbers = [i for i in others if table.is_number(i)]
        if weighted:
            return 2 if others or table.is_text else None
        clear = others == [2] and not table.may_be_times(2) and not table.may_be_row_numbers(2)
    else:
        known = [i for i in others if table.plain(i) in _WEIGHTS]
        numbers = known or [
            i
            for i in others
            if table.plain(i) not in (*_TIMES, *_OTHERS)
            and not may_be_index(table.names[i], i == 0)
            and table.is_number(i)
        ]
        clear = len(numbers) == 1 and (bool(known) or weighted)
    if numbers and not clear:
        raise _perhaps(table, numbers)
    return numbers[0] if numbers else None


def _perhaps(table: Table, numbers: list[int]) -> InputError:
    """Return the error for columns of numbers that may be weights."""
    what = "weights"
    if table.may_be_times(numbers[0]):
        what = "times or weights"
    elif table.may_be_row_numbers(numbers[0]):
        what = "numbers of rows or weights"
    weight = ("weight", table.names[numbers[0]])
    return InputError(
        f"{table.listed(numbers)} may hold {what}: {python_setting(*weight)} makes weights of it, "
        f"weighted=False leaves numbers out{table.place}",
        settings=[weight, ("weighted", False)],
    )


def _notes(table: Table, ids: tuple[int, int], weight: int | None, decided: bool) -> list[str]:
    """Return what to report: the columns that were used and those that were not.

    `decided` says whether the user has chosen to have no weights.
    """
    notes = []
    if table.has_header or ids != (0, 1):
        notes.append(f"nodes from {table.spelled(ids[0])} and {table.spelled(ids[1])}")
    if weight is not None:
        notes.append(f"weights from {table.spelled(weight)}")
    elif not decided:
        notes.append("no weights")
    rest = [i for i in range(len(table.names)) if i not in (*ids, weight)]
    return [*notes, f"left out {table.listed(rest)}"] if rest else notes
