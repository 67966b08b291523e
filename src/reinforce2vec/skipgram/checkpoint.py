"""The state of a training in a file, to resume it in another process."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._util.errors import InputError, python_setting
from ..files.writing import check_space, remove_abandoned, whole
from .state import State
from .weights import Weights, scales_bytes, zeros

_FORMAT = 3  # 1: trained by threads without an order; 2: a single window
_MATRICES = ("inputs", "outputs")
_ARRAYS = ("visits", "losses", "pairs")
_COUNTS = ("walks", "tokens", "seconds", "rates")

Origin = dict[str, Any]
"""All that the result of a training depends on: names, and values that JSON can hold."""


def check_room(path: Path, n_nodes: int, dimensions: list[int]) -> None:
    """Raise InputError if the disk is too small for a checkpoint and, later, the next one."""
    remove_abandoned(path)
    size = scales_bytes(n_nodes, dimensions) + 8 * n_nodes + (1 << 16)
    check_space(path, size if path.exists() else 2 * size)


def write_checkpoint(path: Path, state: State, origin: Origin) -> None:
    """Write the state of a training; the previous file is replaced when this one is complete."""
    dimensions = [weights.dimensions for weights in state.scales]
    about = {"format": _FORMAT, "origin": origin, "dimensions": dimensions}
    about |= {name: getattr(state, name) for name in _COUNTS}
    arrays = {name: getattr(state, name) for name in _ARRAYS}
    for number, weights in enumerate(state.scales):
        arrays |= {f"{name}{number}": getattr(weights, name) for name in _MATRICES}
    with whole(path) as stream:
        np.savez(stream, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)


def read_checkpoint(path: Path, origin: Origin) -> State:
    """Read the state of a training; InputError unless it is the one that `origin` describes."""
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(_read(archive, "about").tobytes())
            if about["format"] != _FORMAT:
                raise InputError(f"{path}: written by another version of reinforce2vec")
            _check_origin(path, about["origin"], origin)
            arrays = {name: _read(archive, name) for name in _ARRAYS}
            scales = [
                _read_weights(archive, number, dimensions)
                for number, dimensions in enumerate(about["dimensions"])
            ]
    except (InputError, MemoryError, PermissionError):
        raise
    except Exception:  # a damaged archive may raise anything
        raise InputError(
            f"{path}: not a checkpoint of reinforce2vec, or a damaged one: remove it to start again"
        ) from None
    about["rates"] = tuple(about["rates"])
    return State(scales, **arrays, **{name: about[name] for name in _COUNTS})


def _check_origin(path: Path, found: Origin, wanted: Origin) -> None:
    """Raise InputError if a checkpoint comes from another training."""
    for name in wanted:
        other, value = (
            tuple(one) if isinstance(one, list) else one for one in (found.get(name), wanted[name])
        )
        if other == value:
            continue
        if name == "fingerprint" or name not in found:
            raise InputError(f"{path}: this checkpoint was made on another graph or other walks")
        before, now = (
            f"{name}={one}" if isinstance(one, str) else python_setting(name, one)
            for one in (other, value)
        )
        raise InputError(
            f"{path}: this checkpoint was made with {before}, not {now}: "
            "use the same parameters to resume, or choose another file",
            parameter=name,
            value=value,
            settings=[(name, other), (name, value)],
        )


def _read(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(f"{name}.npy") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


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
