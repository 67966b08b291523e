"""The parameters of estimators as JSON holds them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .._util.errors import InputError
from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from ..walks.policy import Walk

_WALKS: dict[str, type[Walk]] = {
    "reinforced": ReinforcedWalk,
    "first-order": FirstOrderWalk,
    "second-order": SecondOrderWalk,
}


def walk_facts(walk: Walk) -> dict[str, Any]:
    """Return a walk for JSON: its kind, and its parameters by their names in Python."""
    kind = next(name for name, made in _WALKS.items() if isinstance(walk, made))
    return {"kind": kind} | asdict(walk)


def check_restorable(parameters: Mapping[str, Any]) -> None:
    """Raise InputError if a parameter is a walk of the user's own class, which no file can hold."""
    for value in parameters.values():
        if isinstance(value, Walk) and type(value) not in _WALKS.values():
            raise InputError(
                f"a model file holds no code, so it cannot hold a {type(value).__name__}, a walk "
                "of a class of your own: save the vectors, with embedding_.save"
            )


def settings_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of an estimator for JSON."""
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Walk):
        return {name: _plain(part) for name, part in walk_facts(value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if isinstance(value, np.generic) else value


def parameters_from(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that :func:`settings_of` described; any exception if it is not so."""
    return {name: _restored(value) for name, value in settings.items()}


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        kind = _WALKS[value["kind"]]
        return kind(**{name: part for name, part in value.items() if name != "kind"})
    return tuple(value) if isinstance(value, list) else value
