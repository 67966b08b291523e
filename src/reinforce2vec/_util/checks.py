"""Checks of single parameters: what is wrong with one is said in a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import InputError


def check_count(name: str, value: Any, least: int) -> int:
    """An integer of at least so much."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, not {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> Any:
    """One of several words."""
    listed = tuple(choices)
    if value not in listed:
        raise InputError(f"{name} must be one of {', '.join(listed)}, not {value!r}")
    return value


def check_number(
    name: str,
    value: Any,
    least: float = -np.inf,
    above: float = -np.inf,
    most: float = np.inf,
) -> float:
    """A finite number within bounds."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or not (value >= least and value > above and value <= most and value < np.inf):
        wanted = f"above {above:g}" if above > -np.inf else f"at least {least:g}"
        limit = f" and at most {most:g}" if most < np.inf else ""
        raise InputError(f"{name} must be a number {wanted}{limit}, not {value!r}")
    return float(value)
