"""Arrays: blocks of rows, and digests of contents."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Vectors = NDArray[np.float32]
"""One vector per row."""

BLOCK_BYTES = 1 << 22  # of a matrix to work on at a time
_CACHE_LINE = 64  # bytes


def aligned_zeros(size: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Return zeros that begin at a cache line."""
    kind = np.dtype(dtype)
    room = np.zeros(size + _CACHE_LINE // kind.itemsize, kind)
    begin = -room.ctypes.data % _CACHE_LINE // kind.itemsize
    return room[begin : begin + size]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to; kernels that take such are compiled only once."""
    view = array.view()
    view.flags.writeable = False
    return view


def row_blocks(matrix: NDArray[Any]) -> Iterator[slice]:
    """Yield slices of the rows of a matrix, each of about BLOCK_BYTES."""
    rows = max(1, BLOCK_BYTES // (matrix.shape[1] * matrix.itemsize))
    for first in range(0, len(matrix), rows):
        yield slice(first, first + rows)


def digest(*arrays: Any) -> str:
    """Return a digest of the contents of arrays; files store it, so its value must not change."""
    result = hashlib.blake2b(digest_size=16)
    for array in arrays:
        if array is None:
            result.update(b"none")
            continue
        result.update(f"{array.dtype}{array.shape}".encode())
        if array.dtype == object:
            for node in array.tolist():
                result.update(f"{node!r}\n".encode(errors="surrogatepass"))
        elif isinstance(array, np.ndarray):
            result.update(np.ascontiguousarray(array).data)
        else:  # an array that is read from files, a slice at a time
            for first in range(0, len(array), BLOCK_BYTES):
                result.update(array[first : first + BLOCK_BYTES].data)
    return result.hexdigest()


class _Memory:
    """The memory of an array, without its protection."""

    def __init__(self, array: NDArray[Any]) -> None:
        interface = array.__array_interface__
        self.owner = array
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def unlocked(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of a read-only array that is not read-only, which nobody may write to.

    Numba compiles functions once more for read-only arrays, such as those that processes share.
    """
    return array if array.flags.writeable or not array.size else np.asarray(_Memory(array))
