"""The state of a training as arrays and counts, which files hold."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..files.array_files import read_array
from .row_files import StoredRows
from .state import State
from .weights import Weights, blank_weights, zeros

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
    rows: StoredRows | None = None,
    new_weights: Callable[[int, int], Weights] = blank_weights,
) -> State:
    """Read a state from a file of arrays; any exception if it does not fit together.

    If the `rows` of the matrices are in other files, these are what `new_weights` returns for a
    number of nodes and dimensions.
    """
    arrays = {name: read_array(archive, name) for name in _ARRAYS}
    n_nodes = len(arrays["visits"])
    scales = [
        new_weights(n_nodes, dimensions) if rows else _read_weights(archive, number, dimensions)
        for number, dimensions in enumerate(counts["dimensions"])
    ]
    rates = tuple(counts["rates"])
    known = {name: counts[name] for name in _COUNTS} | {"rates": rates}
    return State(scales, **arrays, **known, rows=rows)


def _read_weights(archive: zipfile.ZipFile, number: int, dimensions: int) -> Weights:
    """Read the matrices of one scale."""
    matrices = [_read_matrix(archive, f"{name}{number}", dimensions) for name in _MATRICES]
    return Weights(matrices[0], matrices[1], dimensions)


def _read_matrix(archive: zipfile.ZipFile, name: str, dimensions: int) -> Any:
    """Read a matrix into memory with aligned rows, without a second copy."""
    with archive.open(f"{name}.npy") as stream:
        shape = _shape(stream)
        matrix = zeros(shape[0], dimensions)
        if matrix.shape != shape:
            raise ValueError(shape)
        room = matrix.data.cast("B")
        while room:
            count = stream.readinto(room)  # type: ignore[attr-defined]
            if not count:
                raise EOFError
            room = room[count:]
        return matrix


def _shape(stream: IO[bytes]) -> tuple[int, ...]:
    np.lib.format.read_magic(stream)
    shape, _, kind = np.lib.format.read_array_header_1_0(stream)
    if kind != np.float32:
        raise ValueError(kind)
    return shape
