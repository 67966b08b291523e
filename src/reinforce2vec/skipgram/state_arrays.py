"""The state of a training as arrays and counts, which files hold."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.scratch import on_disk
from ..files.array_files import ArrayHeader, read_array, read_header, read_into
from .row_files import StoredRows
from .state import POINTS, State
from .weights import Weights, blank_weights, row_size, zeros

_MATRICES = ("inputs", "outputs")
_ARRAYS = ("visits", "losses", "pairs")
_COUNTS = ("walks", "tokens", "seconds", "rates")


def arrays_of(state: State, matrices: bool = True) -> dict[str, NDArray[Any]]:
    """Return all arrays of a state by name; rows of matrices as they are, with zeros at the end."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(state, name) for name in _ARRAYS}
    if not matrices:
        return arrays
    for number, weights in enumerate(state.scales):
        arrays |= {f"{name}{number}": getattr(weights, name) for name in _MATRICES}
    return arrays


def counts_of(state: State) -> dict[str, Any]:
    """Return what JSON can hold of a state."""
    dimensions = [weights.dimensions for weights in state.scales]
    return {"dimensions": dimensions} | {name: getattr(state, name) for name in _COUNTS}


def read_state(
    archive: zipfile.ZipFile,
    counts: Mapping[str, Any],
    n_nodes: int,
    rows: StoredRows | None = None,
    new_weights: Callable[[int, int], Weights] = blank_weights,
) -> State:
    """Read a state of `n_nodes` nodes from a file of arrays; any exception if it does not fit.

    Compiled code relies on its sizes and types. If the `rows` of the matrices are in other files,
    these are what `new_weights` returns for a number of nodes and dimensions.
    """
    arrays = {name: read_array(archive, name) for name in _ARRAYS}
    known = {name: counts[name] for name in _COUNTS} | {"rates": tuple(counts["rates"])}
    _check(arrays, known, counts["dimensions"], n_nodes)
    scales = [
        new_weights(n_nodes, dimensions)
        if rows
        else _read_weights(archive, number, n_nodes, dimensions)
        for number, dimensions in enumerate(counts["dimensions"])
    ]
    return State(scales, **arrays, **known, rows=rows)


def _check(
    arrays: Mapping[str, NDArray[Any]], known: Mapping[str, Any], dimensions: Any, n_nodes: int
) -> None:
    """Raise ValueError or TypeError unless arrays and counts are those of a state."""
    points = (len(dimensions), POINTS)
    expected = {
        "visits": ((n_nodes,), np.int64),
        "losses": (points, np.float64),
        "pairs": (points, np.int64),
    }
    for name, (shape, kind) in expected.items():
        if arrays[name].shape != shape or arrays[name].dtype != kind:
            raise ValueError(f"{name} {arrays[name].shape} of {arrays[name].dtype}")
    if arrays["visits"].min(initial=0) < 0 or arrays["pairs"].min(initial=0) < 0:
        raise ValueError("counts below 0")
    whole = [known["walks"], known["tokens"], *(size - 1 for size in dimensions)]
    if not all(type(count) is int and 0 <= count < 2**63 for count in whole):
        raise ValueError(whole)
    if not all(0 <= number < np.inf for number in (known["seconds"], *known["rates"])):
        raise ValueError(known)
    if len(known["rates"]) not in (0, len(dimensions)):
        raise ValueError(known["rates"])


def _read_weights(archive: zipfile.ZipFile, number: int, n_nodes: int, dimensions: int) -> Weights:
    """Read the matrices of one scale."""
    matrices = [_read_matrix(archive, f"{name}{number}", n_nodes, dimensions) for name in _MATRICES]
    return Weights(matrices[0], matrices[1], dimensions)


def _read_matrix(archive: zipfile.ZipFile, name: str, n_nodes: int, dimensions: int) -> Any:
    """Read a matrix with aligned rows, without a second copy."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as stream:
        header = read_header(stream, member.file_size, in_memory=not on_disk())
        if header != ArrayHeader((n_nodes, row_size(dimensions)), False, np.dtype(np.float32)):
            raise ValueError(header)
        matrix = zeros(n_nodes, dimensions)
        read_into(stream, matrix)
        return matrix
