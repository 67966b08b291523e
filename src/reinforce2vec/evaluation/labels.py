"""Labels of nodes in any accepted form, as a boolean matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids, is_missing

SEVERAL = (list, tuple, set, frozenset, np.ndarray)
_WANTED = (
    "labels must be a class, or a list of classes, for each node, or a matrix (nodes, classes) of "
    "0 and 1"
)


def as_indicators(labels: Any, n_nodes: int, ids: Ids | None = None) -> NDArray[np.bool_]:
    """Return labels as a boolean matrix (nodes, classes), matched by ids where both have them."""
    if isinstance(labels, Mapping):
        labels = labels_from_mapping(labels, ids)
    elif hasattr(labels, "index") and hasattr(labels, "iloc"):
        labels = labels_from_pandas(labels, ids)
    elif scipy.sparse.issparse(labels):
        labels = labels.toarray()
    found = _matrix_of(labels)
    if len(found) != n_nodes:
        raise InputError(f"expected labels for each of {n_nodes:,} nodes, got {len(found):,}")
    return found


def labels_from_mapping(labels: Mapping[Any, Any], ids: Ids | None) -> list[Any]:
    """Return the labels of each node in the order of the ids; None where there are none."""
    if ids is None:
        raise InputError(
            "labels by node id need vectors with ids: give an Embedding, such as a model's "
            ".embedding_"
        )
    found = [labels.get(node) for node in ids.tolist()]
    if labels and not any(node in labels for node in ids.tolist()):
        raise InputError(
            "none of the nodes with labels has a vector: labels have ids such as "
            f"{next(iter(labels))!r}, vectors have ids such as {ids.tolist()[0]!r}"
        )
    return found


def labels_from_pandas(labels: Any, ids: Ids | None) -> Any:
    """Return the values of a Series or DataFrame, by ids if its index holds them."""
    if ids is not None:
        index = labels.index.tolist()
        places = {node: place for place, node in enumerate(index)}
        if len(index) == len(ids) and places.keys() == set(ids.tolist()):
            labels = labels.iloc[[places[node] for node in ids.tolist()]]
        elif not _is_default(labels.index):
            raise InputError(
                "the index of labels must be 0, 1, 2, ... or the ids of the embedding; for labels "
                "of more or fewer nodes, pass a dict {id: class}"
            )
    return labels.tolist() if labels.ndim == 1 else labels.to_numpy()


def _is_default(index: Any) -> bool:
    """Return whether an index is the default that pandas makes."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


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
    rows = [
        [name for name in (one if isinstance(one, SEVERAL) else [one]) if not is_missing(name)]
        for one in labels
    ]
    try:
        names = list(dict.fromkeys(chain.from_iterable(rows)))
    except TypeError:  # a class must be hashable
        raise InputError(_WANTED) from None
    with suppress(TypeError):
        names.sort()
    column = {name: number for number, name in enumerate(names)}
    found = np.zeros((len(rows), len(names)), bool)
    for row, classes in enumerate(rows):
        found[row, [column[name] for name in classes]] = True
    return found
