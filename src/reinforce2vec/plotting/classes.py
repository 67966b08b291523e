"""Classes of nodes, from labels in any form or from communities, and how each is drawn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.progress import counted
from ..embedding import Embedding
from ..evaluation.labels import by_rows
from ..files.label_files import NamedLabels, classes_in, one_class
from .palette import LOOKS, OTHERS

OTHER = -1


class Look(NamedTuple):
    """How the nodes of a class are drawn: its colour, and one of the shapes of the palette."""

    name: str
    colour: str
    shape: str
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Classes:
    """One class of each node.

    Attributes
    ----------
    codes : int32 array (n_nodes,)
        The number of each node's class; -1 if it has none.
    names : list of str
        The names of the classes.
    kind : str
        What captions and legends call them: the name of the column of labels, if it is known, else
        "label"; or "community".
    sets : list of tuples of int, optional
        The numbers of all classes of each node, if some have several.
    """

    codes: NDArray[np.int32]
    names: list[str]
    kind: str = "label"
    sets: list[tuple[int, ...]] | None = None

    def looks(self) -> tuple[list[Look], Look | None]:
        """Return how to draw each class, the largest first, and all other nodes, if there are any.

        Classes of one size are sorted by name. Each has a look of its own, up to the number of
        looks in the palette; the smallest of more classes share one.
        """
        sizes = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        order = sorted(
            np.flatnonzero(sizes).tolist(),
            key=lambda number: (-sizes[number], _numbers_first(self.names[number])),
        )
        shown = order[: len(LOOKS)]
        looks = [
            Look(self.names[number], look.light, look.shape, np.flatnonzero(self.codes == number))
            for number, look in zip(shown, LOOKS, strict=False)
        ]
        rest = np.flatnonzero(~np.isin(self.codes, shown))
        if not rest.size:
            return looks, None
        name = "no " + self.kind
        if len(order) > len(shown):
            name = counted(len(order) - len(shown), "other")
            name += ", or none" if (self.codes < 0).any() else ""
        return looks, Look(name, OTHERS.light, OTHERS.shape, rest)


def _numbers_first(name: str) -> tuple[float, str]:
    """Return the sort key of a name: numbers as numbers, before words."""
    return (int(name) if name.isdecimal() else float("inf"), name)


def classes_of(labels: Any, embedding: Embedding) -> Classes:
    """Return one class for each node of an embedding, from labels in any form.

    If a node has several classes, the one with the most nodes is taken. Text is the path of a file.
    """
    rows = labels if isinstance(labels, Classes) else by_rows(labels, embedding)
    if isinstance(rows, Classes):
        found = rows
    elif isinstance(rows, NamedLabels):
        found = replace(_from_matrix(rows.matrix, rows.names), kind=rows.column or "label")
    else:
        found = _from_objects(rows)
    if len(found.codes) != len(embedding):
        raise InputError(
            f"expected labels for each of {counted(len(embedding), 'node')}, got "
            f"{len(found.codes):,}"
        )
    # by name: those of one size have the same order in pictures and pages
    order = sorted(range(len(found.names)), key=lambda old: _numbers_first(found.names[old]))
    number = np.empty(len(order) + 1, np.int32)
    number[order], number[OTHER] = np.arange(len(order)), OTHER
    sets = found.sets and [tuple(sorted(number[list(one)].tolist())) for one in found.sets]
    names = [found.names[old] for old in order]
    return replace(found, codes=number[found.codes], names=names, sets=sets)


def _from_matrix(matrix: NDArray[np.bool_], names: list[str]) -> Classes:
    """Make classes from a matrix (nodes, classes)."""
    several = (matrix.sum(axis=1) > 1).any()
    sets = [tuple(np.flatnonzero(row).tolist()) for row in matrix] if several else None
    return Classes(one_class(matrix), names, sets=sets)


def _from_objects(labels: Any) -> Classes:
    """Make classes from a matrix of 0 and 1, or a list."""
    if isinstance(labels, np.ndarray) and labels.ndim == 2:
        if not np.isin(labels, (0, 1)).all():
            raise InputError("a matrix of labels (nodes, classes) holds 0 and 1 only")
        return _from_matrix(labels.astype(bool), [str(i) for i in range(labels.shape[1])])
    try:
        listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        several = [classes_in(each) for each in listed]
        sizes = Counter(one for each in several for one in each)
    except TypeError:
        raise InputError(
            "labels must be a class for each node, a dict {id: class}, or a matrix of 0 and 1"
        ) from None
    numbers = {name: number for number, name in enumerate(sizes)}
    codes = [numbers[max(each, key=lambda one: sizes[one])] if each else OTHER for each in several]
    sets = [tuple(sorted({numbers[one] for one in each})) for each in several]
    return Classes(
        np.array(codes, np.int32),
        [str(name) for name in numbers],
        sets=sets if any(len(each) > 1 for each in sets) else None,
    )
