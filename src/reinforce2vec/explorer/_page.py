"""The page: one HTML file with its script, its style and its data in it.

The data are a header and arrays of numbers, which web/src/data.js reads.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import struct
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEVEL = 6  # of compression; higher levels take much longer for a few percent
_NO_VALUE = -32768  # in place of a missing cosine or score
_INTEGER_TYPES = ("u1", "u2", "u4", "i1", "i2", "i4")
_ALIGNED = 8  # arrays begin at multiples of so many bytes, so that a browser needs no copy
_PLACEHOLDER = re.compile(rb"\{\{(\w+)\}\}")


def page_with(title: str, data: bytes = b"", source: str = "") -> bytes:
    """Return the whole page around its data, as text, or with the address of its data."""
    parts = {
        "title": html.escape(title, quote=True).encode("utf-8", "replace"),
        "policy": content_policy(served=bool(source)).encode(),
        "style": _static("explorer.css"),
        "script": _static("explorer.js"),
        "data": data,
        "source": source.encode(),
    }
    return _PLACEHOLDER.sub(lambda match: parts[match[1].decode()], _static("page.html"))


@cache
def content_policy(served: bool = False) -> str:
    """Return the content security policy: the page runs its own script and makes no requests.

    One that is served may ask its server.
    """
    script, style = _hash("explorer.js"), _hash("explorer.css")
    asked = "'self'" if served else "'none'"
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src data:; "
        f"connect-src {asked}; base-uri 'none'; form-action 'none'"
    )


def _hash(name: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(_static(name)).digest()).decode()}'"


def _static(name: str) -> bytes:
    content = (files(__package__) / "static" / name).read_bytes()
    return content.replace(b"\r\n", b"\n")  # browsers normalize line ends before they hash


# -- data --------------------------------------------------------------------------------------


def pack(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any] | None], *, planes: bool = False
) -> bytes:
    """Encode a header and arrays: the length of the header, the header in JSON, the arrays.

    With `planes`, each array is stored as all first bytes of its numbers, then all second ones:
    this compresses better.
    """
    stored = {name: _narrowed(array) for name, array in arrays.items() if array is not None}
    listed = [[name, array.dtype.str[1:], array.size] for name, array in stored.items()]
    text = json.dumps({**header, "planes": planes, "arrays": listed}).encode("ascii")
    content = bytearray(struct.pack("<I", len(text)) + text)
    for array in stored.values():
        flat = array.ravel().view(np.uint8)
        content += bytes(-len(content) % _ALIGNED)
        content += (flat.reshape(-1, array.itemsize).T if planes else flat).tobytes()
    return bytes(content)


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
    for integer in _INTEGER_TYPES:
        span = np.iinfo(integer)
        if span.min <= least and most <= span.max:
            return np.ascontiguousarray(array, "<" + integer)
    raise ValueError(f"numbers from {least} to {most} do not fit in 32 bits")
