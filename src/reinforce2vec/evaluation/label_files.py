"""Labels of nodes from text files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..errors import InputError
from ..readers import opened

DELIMITERS = ("\t", ",", None)  # None: white space


def read_labels(
    path: str | os.PathLike[str], embedding: Embedding
) -> tuple[NDArray[np.bool_], list[str]]:
    """Which classes the nodes of an embedding are in, by a file of lines `id label label ...`.

    Fields are separated by tabs if the first line has one, else by commas, else by white space.
    Empty lines and those that begin with # are skipped; a node may have several lines.

    Returns
    -------
    bool array (n_nodes, classes)
        Classes in alphabetical order.
    list of str
        Ids in the file that the embedding does not have, and which were left out.
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
    delimiter = next(mark for mark in DELIMITERS if mark is None or mark in filled[0][1])
    integers = embedding.ids.dtype == np.int64
    found: dict[Any, set[str]] = {}
    strangers = []
    for number, line in filled:
        name, *labels = (word.strip() for word in line.split(delimiter))
        labels = [label for label in labels if label]
        if not labels:
            raise InputError(f"{path}: line {number:,}: expected a node id and a label: {line!r}")
        node = int(name) if integers and name.removeprefix("-").isdecimal() else name
        if node in embedding:
            found.setdefault(embedding.row(node), set()).update(labels)
        else:
            strangers.append(name)
    if not found:
        raise InputError(
            f"{path}: none of the nodes in this file has a vector, such as {strangers[0]!r}; "
            f"those with one are named like {next(iter(embedding))!r}"
        )
    classes = {name: number for number, name in enumerate(sorted(set().union(*found.values())))}
    matrix = np.zeros((len(embedding), len(classes)), bool)
    for row, names in found.items():
        matrix[row, [classes[name] for name in names]] = True
    return matrix, strangers
