"""Checks of single arguments. Each raises an InputError that names the parameter and its value."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError, short_repr


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a path that the system cannot take: with a NUL, or half a character."""
    name = os.fspath(path)
    if "\0" in name:
        raise InputError(f"{short_repr(name)}: the name of a file cannot hold a NUL character")
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        letter = short_repr(name[error.start])
        raise InputError(f"{short_repr(name)}: no file can have {letter} in its name") from None


def _must_be(name: str, wanted: str, value: Any) -> InputError:
    """Return the error for a parameter that must be something else."""
    message = f"{name} must be {wanted}, not {short_repr(value)}"
    return InputError(message, parameter=name, value=value)


def check_count(name: str, value: Any, least: int, most: float = np.inf) -> int:
    """Return an integer from `least` to `most`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        limit = f" and at most {most:,}" if most < np.inf else ""
        raise _must_be(name, f"an integer of at least {least}{limit}", value)
    return int(value)


def check_counts(name: str, value: Any, least: int) -> int | tuple[int, ...]:
    """Return an integer of at least `least`, or several in ascending order."""
    several = isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim)
    if not several:
        return check_count(name, value, least)
    counts = tuple(check_count(name, count, least) for count in value)
    if not counts or any(a >= b for a, b in pairwise(counts)):
        raise _must_be(name, "an integer, or several in ascending order", value)
    return counts


def check_choice(name: str, value: Any, choices: Iterable[str]) -> Any:
    """Return one of several strings."""
    listed = tuple(choices)
    if value not in listed:
        raise _must_be(name, f"one of {', '.join(listed)}", value)
    return value


def check_folder(name: str, value: Any) -> Path:
    """Return the path of a folder that exists."""
    valid = isinstance(value, (str, Path)) and str(value) and "\0" not in str(value)
    if not valid or not Path(value).is_dir():
        raise _must_be(name, "a folder that exists", value)
    return Path(value)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise _must_be(name, "True or False", value)
    return bool(value)


def check_number(
    name: str, value: Any, least: float = -np.inf, above: float = -np.inf, most: float = np.inf
) -> float:
    """Return a finite number within bounds."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or not (value >= least and value > above and value <= most and value < np.inf):
        wanted = f"above {above:g}" if above > -np.inf else f"at least {least:g}"
        limit = f" and at most {most:g}" if most < np.inf else ""
        raise _must_be(name, f"a number {wanted}{limit}", value)
    return float(value)
