"""The state of a training in a file, to resume it in another process."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from .._util.errors import InputError, python_setting
from ..files.array_files import read_about, write_arrays
from ..files.writing import check_space, remove_abandoned
from .state import State
from .state_arrays import arrays_of, counts_of, read_state
from .weights import scales_bytes

_FORMAT = 3  # 1: trained by threads without an order; 2: a single window

Origin = dict[str, Any]
"""All that the result of a training depends on: names, and values that JSON can hold."""


def check_room(path: Path, n_nodes: int, dimensions: list[int]) -> None:
    """Raise InputError if the disk is too small for a checkpoint and, later, the next one."""
    remove_abandoned(path)
    size = scales_bytes(n_nodes, dimensions) + 8 * n_nodes + (1 << 16)
    check_space(path, size if path.exists() else 2 * size)


def write_checkpoint(path: Path, state: State, origin: Origin) -> None:
    """Write the state of a training; the previous file is replaced when this one is complete."""
    about = {"format": _FORMAT, "origin": origin} | counts_of(state)
    write_arrays(path, about, arrays_of(state))


def read_checkpoint(path: Path, origin: Origin) -> State:
    """Read the state of a training; InputError unless it is the one that `origin` describes."""
    try:
        with zipfile.ZipFile(path) as archive:
            about = read_about(archive)
            if about["format"] != _FORMAT:
                raise InputError(f"{path}: written by another version of reinforce2vec")
            _check_origin(path, about["origin"], origin)
            return read_state(archive, about)
    except (InputError, MemoryError, PermissionError):
        raise
    except Exception:  # a damaged archive may raise anything
        raise InputError(
            f"{path}: not a checkpoint of reinforce2vec, or a damaged one: remove it to start again"
        ) from None


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
