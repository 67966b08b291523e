"""Reads labels of nodes from text files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import NamedRows
from .opening import opened

_DELIMITERS = ("\t", ",", None)  # None: whitespace


class NamedLabels(NamedTuple):
    """Which classes each node is in, and the names of the classes."""

    matrix: NDArray[np.bool_]
    """(n_nodes, classes)"""
    names: list[str]
    """Names of the classes, in alphabetical order."""
    strangers: list[str]
    """Ids in the file that are not among the nodes; their lines were ignored."""

    @property
    def display(self) -> NDArray[np.int32]:
        """One class of each node, to colour it by, as in :func:`one_class`."""
        return one_class(self.matrix)


def one_class(matrix: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return one class for each row of a matrix (nodes, classes); -1 for a row without classes.

    Of several classes it is the one with the most nodes, and of equally large ones the first.

    Examples
    --------
    >>> one_class(np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]], bool))
    array([ 2,  2, -1], dtype=int32)
    """
    chosen = np.full(len(matrix), -1, np.int32)
    for number in np.argsort(-matrix.sum(axis=0), kind="stable"):
        chosen[(chosen < 0) & matrix[:, number]] = number
    return chosen


def read_named_labels(path: str | os.PathLike[str], nodes: NamedRows) -> NamedLabels:
    """Read which classes the nodes of an embedding or a graph are in.

    The file has lines `id label ...`. Fields are separated by tabs if the first line has one, else
    by commas, else by whitespace. Empty lines and lines that begin with # are skipped; a node may
    have several lines.
    """
    file = Path(path)
    with opened(file, file.suffix == ".gz") as stream:
        try:
            lines = stream.read().decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise InputError(
                f"{path}: expected text in UTF-8, a node and its labels a line"
            ) from None
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip(" \t,")]
    filled = [(number, line) for number, line in filled if not line.startswith("#")]
    if not filled:
        raise InputError(f"{path}: there are no labels in this file")
    delimiter = next(mark for mark in _DELIMITERS if mark is None or mark in filled[0][1])
    integers = nodes.ids.dtype == np.int64
    found: dict[Any, set[str]] = {}
    strangers = []
    for number, line in filled:
        name, *labels = (word.strip() for word in line.split(delimiter))
        labels = [label for label in labels if label]
        if not labels:
            raise InputError(f"{path}: line {number:,}: expected a node id and a label: {line!r}")
        node = int(name) if integers and name.removeprefix("-").isdecimal() else name
        if node in nodes:
            found.setdefault(nodes.row(node), set()).update(labels)
        else:
            strangers.append(name)
    if not found:
        raise InputError(
            f"{path}: none of the nodes in this file is known: it has ids such as "
            f"{strangers[0]!r}, expected ids such as {nodes.ids[:1].tolist()[0]!r}"
        )
    names = sorted(set().union(*found.values()))
    column = {name: number for number, name in enumerate(names)}
    matrix = np.zeros((len(nodes), len(names)), bool)
    for row, classes in found.items():
        matrix[row, [column[name] for name in classes]] = True
    return NamedLabels(matrix, names, strangers)
