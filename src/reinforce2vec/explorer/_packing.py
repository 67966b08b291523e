"""What the page holds, as it travels in it: a header and arrays of numbers, compressed."""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEVEL = 6  # of compression; higher ones take much longer for some percent
_NO_VALUE = -32768  # in place of a cosine or a score that is not there
_INTEGER_TYPES = ("u1", "u2", "u4", "i1", "i2", "i4")


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | None]) -> bytes:
    """A header and arrays as base64 of gzip, which is harmless in a page whatever ids hold.

    The length of the header comes first, then the header in JSON, then the arrays. Of an array all
    first bytes of its numbers come first, then all second ones: zeros come together.
    """
    given = {name: _narrowed(array) for name, array in arrays.items() if array is not None}
    listed = [[name, array.dtype.str[1:], array.size] for name, array in given.items()]
    text = json.dumps({**header, "arrays": listed}).encode("ascii")
    parts = [struct.pack("<I", len(text)), text]
    for array in given.values():
        parts.append(array.ravel().view(np.uint8).reshape(-1, array.itemsize).T.tobytes())
    return base64.b64encode(gzip.compress(b"".join(parts), _LEVEL, mtime=0))


def fixed_point(values: NDArray[Any], digits: int) -> NDArray[np.int16]:
    """Numbers with so many digits after the point, as whole ones; what is not finite is NOTHING."""
    finite = np.isfinite(values)
    whole = np.rint(np.where(finite, values, 0) * 10**digits).clip(_NO_VALUE + 1, -_NO_VALUE - 1)
    return np.where(finite, whole, _NO_VALUE).astype(np.int16)


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers in the smallest kind that holds them; fractions as float32."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, "<f4")
    least, most = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in _INTEGER_TYPES:
        span = np.iinfo(kind)
        if span.min <= least and most <= span.max:
            return np.ascontiguousarray(array, "<" + kind)
    raise ValueError(f"numbers from {least} to {most} do not fit in 32 bits")
