"""Encoding of the page's data: a header and arrays of numbers, compressed."""

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


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | None]) -> bytes:
    """Encode a header and arrays as base64 of gzip, which is safe in HTML whatever the ids are.

    The length of the header comes first, then the header in JSON, then the arrays. Each array is
    stored as all first bytes of its numbers, then all second ones: this compresses better.
    """
    given = {name: _narrowed(array) for name, array in arrays.items() if array is not None}
    listed = [[name, array.dtype.str[1:], array.size] for name, array in given.items()]
    text = json.dumps({**header, "arrays": listed}).encode("ascii")
    parts = [struct.pack("<I", len(text)), text]
    for array in given.values():
        parts.append(array.ravel().view(np.uint8).reshape(-1, array.itemsize).T.tobytes())
    return base64.b64encode(gzip.compress(b"".join(parts), _LEVEL, mtime=0))


def fixed_point(values: NDArray[Any], digits: int) -> NDArray[np.int16]:
    """Return numbers as integers with some decimal digits; `_NO_VALUE` for what is not finite."""
    finite = np.isfinite(values)
    whole = np.rint(np.where(finite, values, 0) * 10**digits).clip(_NO_VALUE + 1, -_NO_VALUE - 1)
    return np.where(finite, whole, _NO_VALUE).astype(np.int16)


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Convert an array to the smallest integer type that holds it; fractions to float32."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, "<f4")
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in _INTEGER_TYPES:
        span = np.iinfo(kind)
        if span.min <= least and most <= span.max:
            return np.ascontiguousarray(array, "<" + kind)
    raise ValueError(f"numbers from {least} to {most} do not fit in 32 bits")
