"""The state of a training in a file, to resume it in another process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._util.errors import InputError, excerpt, python_setting
from ..files.array_files import open_archive, read_about, write_arrays
from ..files.targets import check_no_device, check_space
from ..files.writing import remove_abandoned
from .row_files import StoredRows, folder_of_rows, remove_rows
from .state import Settings, State
from .state_arrays import arrays_of, counts_of, read_state
from .weights import blank_weights, roomy_weights, scales_bytes

# 1: trained by threads without an order; 2: a single window; 3: shorter passes; 4: rows of hubs may
# grow without bounds
_FORMAT = 5

Origin = dict[str, Any]
"""All that the result of a training depends on: names, and values that JSON can hold."""


def check_new(path: str | os.PathLike[str], resume: bool) -> None:
    """Raise InputError if there is a checkpoint that is not resumed from, or no file at all."""
    check_no_device(path)
    if os.path.exists(path) and not resume:
        raise InputError(
            f"{path}: this checkpoint exists: resume from it (resume=True), or remove it to start "
            "again",
            settings=[("resume", True)],
        )


def check_room(path: Path, n_nodes: int, dimensions: list[int]) -> None:
    """Raise InputError if the disk is too small for a checkpoint and, later, the next one."""
    remove_abandoned(path)
    size = scales_bytes(n_nodes, dimensions) + 8 * n_nodes + (1 << 16)
    check_space(path, size if path.exists() else 2 * size)


def write_checkpoint(
    path: Path, state: State, origin: Origin, rows: StoredRows | None = None
) -> None:
    """Write the state of a training; the previous file is replaced when this one is complete.

    If the `rows` of the matrices are in files already, these are named in place of the matrices.
    """
    about = {"format": _FORMAT, "origin": origin} | counts_of(state)
    if rows is not None:
        about["rows"] = {"folder": rows.folder.name, "digests": dict(rows.digests)}
    write_arrays(path, about, arrays_of(state, matrices=rows is None))
    remove_rows(path, but=None if rows is None else rows.folder.name)


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint with all its files."""
    path.unlink(missing_ok=True)
    remove_rows(path)


def read_checkpoint(
    path: Path, origin: Origin, settings: Settings, n_nodes: int, matrices: bool = True
) -> State:
    """Read the state of a training; InputError unless it is the one that `origin` describes.

    It has a row for each of `n_nodes` nodes. Without `matrices`, those that are in other files are
    left to the engine.
    """
    try:
        with path.open("rb") as stream, open_archive(stream) as archive:
            about = read_about(archive)
            if about["format"] != _FORMAT:
                raise InputError(
                    f"{path}: written by another version of reinforce2vec, which would train other "
                    "vectors: resume with that version, or remove the file to start again"
                )
            _check_origin(path, about["origin"], origin)
            rows = None
            if "rows" in about:
                folder = folder_of_rows(path, about["rows"]["folder"])
                rows = StoredRows(folder, dict(about["rows"]["digests"]))
            if about["dimensions"] != [one.dimensions for one in settings.scales()]:
                raise ValueError(about["dimensions"])
            new_weights = blank_weights if matrices else roomy_weights
            state = read_state(archive, about, n_nodes, rows, new_weights)
        if matrices and rows is not None:
            for number, one in enumerate(settings.scales()):
                rows.read_all(number, state.scales[number], state.visits, one.seed)
            state.rows = None
        return state
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
            f"{name}={excerpt(one)}" if isinstance(one, str) else python_setting(name, one)
            for one in (other, value)
        )
        raise InputError(
            f"{path}: this checkpoint was made with {before}, not {now}: "
            "use the same parameters to resume, or choose another file",
            parameter=name,
            value=value,
            settings=[(name, other), (name, value)],
        )
