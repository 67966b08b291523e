"""Vectors as files hold them, with what is known of them: how they were made, in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._util.arrays import Vectors
from .._util.ids import Ids


class StoredVectors(NamedTuple):
    """Node ids, their vectors, and what only some formats keep."""

    ids: Ids
    vectors: Vectors
    scales: Sequence[int] | None = None
    """The number of columns of each scale; None if it is not known."""
    info: Mapping[str, Any] = {}
    """What is known of the vectors."""


def as_json(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as a file will hold them: arrays as lists, what JSON does not know as `repr`.

    Examples
    --------
    >>> as_json({"seed": np.int64(3), "window": (1, 10)})
    {'seed': 3, 'window': [1, 10]}
    """
    return decode_info(encode_info(info))


def encode_info(info: Mapping[str, Any]) -> bytes:
    """Return facts as a line of JSON."""
    return json.dumps(dict(info), default=_plain).encode()


def decode_info(text: bytes) -> dict[str, Any]:
    """Return facts from a line of JSON; ValueError if it is none."""
    try:
        info = json.loads(text)
    except RecursionError:
        raise ValueError("what it says about its vectors is nested too deeply") from None
    if not isinstance(info, dict):
        raise ValueError("what it says about its vectors is no JSON object")
    return info


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else repr(value)
