"""Encoding of the page's data: a header and arrays of numbers."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEVEL = 6  # of compression; higher levels take much longer for a few percent
_NO_VALUE = -32768  # in place of a missing cosine or score
_INTEGER_TYPES = ("u1", "u2", "u4", "i1", "i2", "i4")
_ALIGNED = 8  # arrays begin at multiples of so many bytes, so that a browser needs no copy


def pack(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | None], *, planes: bool = False
) -> bytes:
    """Encode a header and arrays: the length of the header, the header in JSON, the arrays.

    With `planes`, each array is stored as all first bytes of its numbers, then all second ones:
    this compresses better.
    """
    given = {name: _narrowed(array) for name, array in arrays.items() if array is not None}
    listed = [[name, array.dtype.str[1:], array.size] for name, array in given.items()]
    text = json.dumps({**header, "planes": planes, "arrays": listed}).encode("ascii")
    parts = [struct.pack("<I", len(text)), text]
    length = sum(map(len, parts))
    for array in given.values():
        flat = array.ravel().view(np.uint8)
        parts.append(bytes(-length % _ALIGNED))
        parts.append((flat.reshape(-1, array.itemsize).T if planes else flat).tobytes())
        length += len(parts[-2]) + len(parts[-1])
    return b"".join(parts)


def as_text(packed: bytes) -> bytes:
    """Return packed data as base64 of gzip, which is safe in HTML whatever the ids are."""
    return base64.b64encode(gzip.compress(packed, _LEVEL, mtime=0))


def fixed_point(values: NDArray[Any], digits: int) -> NDArray[np.int16]:
    """Return numbers as integers with some decimal digits; `_NO_VALUE` for what is not finite."""
    finite = np.isfinite(values)
    whole = np.rint(np.where(finite, values, 0) * 10**digits).clip(_NO_VALUE + 1, -_NO_VALUE - 1)
    return np.where(finite, whole, _NO_VALUE).astype(np.int16)


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array to the smallest integer type that holds it; fractions keep their type."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in _INTEGER_TYPES:
        span = np.iinfo(kind)
        if span.min <= least and most <= span.max:
            return np.ascontiguousarray(array, "<" + kind)
    raise ValueError(f"numbers from {least} to {most} do not fit in 32 bits")
