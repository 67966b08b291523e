"""Labels of nodes in any accepted form, as a boolean matrix."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError, line_of_user, short_repr
from .._util.ids import NamedRows
from .._util.progress import counted
from ..files.label_files import ClassPairs, NamedLabels, classes_in, labels_by_id, read_labels
from ..files.node_tables import is_default_index, is_known_column, is_table, table_columns

_WANTED = (
    "labels must be a class, or a list of classes, for each node, or a matrix (nodes, classes) of "
    "0 and 1"
)


def as_indicators(labels: Any, n_nodes: int, nodes: NamedRows | None = None) -> NDArray[np.bool_]:
    """Return labels as a boolean matrix (nodes, classes), matched by ids where both have them."""
    labels = by_rows(labels, nodes)
    found = labels.matrix if isinstance(labels, NamedLabels) else _matrix_of(labels)
    if len(found) != n_nodes:
        raise InputError(f"expected labels for each of {n_nodes:,} nodes, got {len(found):,}")
    return found


def by_rows(labels: Any, nodes: NamedRows | None) -> Any:
    """Return labels in the order of the nodes, if they have ids.

    A file, a table with ids, and a Series become NamedLabels; a dict becomes a list, and an
    indicator table or sparse matrix an array. Everything else is in row order already.
    """
    if isinstance(labels, NamedLabels):
        return labels
    by_id = isinstance(labels, Mapping) or (is_table(labels) and not _are_indicators(labels))
    if by_id and nodes is None:
        raise InputError(
            "labels by node id need vectors with ids: give an Embedding, such as a model's "
            ".embedding_"
        )
    if nodes is not None:
        if isinstance(labels, Mapping):
            return _from_mapping(labels, nodes)
        if by_id or isinstance(labels, (str, os.PathLike)):
            return _reported(read_labels(labels, nodes))
    if hasattr(labels, "index") and hasattr(labels, "iloc"):
        return _from_pandas(labels, nodes)
    if is_table(labels):
        return np.array(table_columns(labels)[1]).T
    return labels.toarray() if scipy.sparse.issparse(labels) else labels


def _reported(labels: NamedLabels) -> NamedLabels:
    """Warn of nodes with labels that are not there."""
    if labels.strangers:
        warnings.warn(
            f"labels of {counted(len(labels.strangers), 'node')} were left out: "
            f"{short_repr(labels.strangers[0])}, ... has no vector",
            stacklevel=line_of_user(),
        )
    return labels


def _from_mapping(labels: Mapping[Any, Any], nodes: NamedRows) -> list[Any]:
    """Return the labels of each node in the order of the ids; None where there are none."""
    ids = nodes.ids.tolist()
    if labels and not any(node in labels for node in ids):
        raise InputError(
            "none of the nodes with labels has a vector: labels have ids such as "
            f"{short_repr(next(iter(labels)))}, vectors have ids such as {short_repr(ids[0])}"
        )
    return [labels.get(node) for node in ids]


def _are_indicators(table: Any) -> bool:
    """Return whether a table holds 0 and 1 alone, a class a column, and neither ids nor names."""
    names, columns = table_columns(table)
    if len(names) < 2 or any(map(is_known_column, names)):
        return False
    numbers = (bool, int, float)
    return all(isinstance(one, numbers) and one in (0, 1) for column in columns for one in column)


def _from_pandas(labels: Any, nodes: NamedRows | None) -> Any:
    """Return a Series, or a table of indicators, by the ids in its index."""
    if nodes is None:
        return labels.tolist() if labels.ndim == 1 else labels.to_numpy()
    index = labels.index.tolist()
    if is_default_index(labels.index) and set(nodes.ids.tolist()) != set(index):
        raise InputError(
            "labels have the default index 0, 1, 2, ..., which are not the ids of the nodes, such "
            f"as {short_repr(nodes.ids.tolist()[0])}: pass the table that has a column of ids "
            "beside them, or set the ids as their index; a list or an array is taken in row order"
        )
    if labels.ndim == 1:
        pairs = zip(index, map(classes_in, labels.tolist()), strict=True)
        return _reported(labels_by_id(pairs, nodes))
    names = np.array(labels.columns.tolist(), object)
    rows = [names[row].tolist() for row in labels.to_numpy().astype(bool)]
    return _reported(labels_by_id(zip(index, rows, strict=True), nodes))


def _matrix_of(labels: Any) -> NDArray[np.bool_]:
    """Return a matrix of 0 and 1 as it is; make one from lists of classes."""
    sequence = isinstance(labels, (list, tuple))
    try:
        array = np.asarray(labels)
    except (TypeError, ValueError):
        if sequence:  # of lists of different lengths
            return _columns_of(labels)
        raise InputError(_WANTED) from None
    if array.ndim == 2 and (
        array.dtype == bool or (array.dtype.kind in "uif" and np.isin(array, (0, 1)).all())
    ):
        return array.astype(bool)
    if array.ndim == 1 or (array.ndim == 2 and sequence):
        return _columns_of(labels if sequence else array.tolist())
    if array.ndim == 2 and array.shape[1] == 1:
        raise InputError("labels are a column of classes: give a flat array, as labels.ravel()")
    raise InputError(_WANTED)


def _columns_of(labels: Iterable[Any]) -> NDArray[np.bool_]:
    """Return a column for each class, sorted if possible; None and NaN are no class."""
    found, row = ClassPairs(), -1
    try:
        for row, one in enumerate(labels):
            found.add(row, classes_in(one))
    except TypeError:  # a class must be hashable
        raise InputError(_WANTED) from None
    return found.indicators(row + 1)[1]
