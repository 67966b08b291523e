"""Reads matrices from MATLAB files of versions 4 to 7.

A reader of our own: that of SciPy ends the process on damaged files. It reads the headers of all
variables, and the numbers of the one that is wanted. It follows "MAT-File Format", MathWorks, 2023.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import short_repr
from .._util.machine import Advice, check_memory

_HEADER, _TAG = 128, 8  # bytes
_ARRAY, _COMPRESSED = 14, 15  # types of elements
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4"}
_TYPES |= {7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE, _OPAQUE = 5, 17  # classes of arrays
_CLASSES = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), 6))
_CLASS_NAMES = {1: "a cell array", 2: "a struct", 4: "text"}
_COMPLEX = 0x800
_HEAD = 1 << 12  # bytes of a compressed variable that hold its size and name

# version 4
_TYPES_4 = ("f8", "f4", "i4", "i2", "u2", "u1")
_HEADER_4 = 20  # bytes


@dataclass(frozen=True)
class MatlabVariable:
    """A variable of a file: its size, and a function that reads it."""

    name: str
    shape: tuple[int, ...]
    read: Callable[[], Any]
    """Returns an array or a sparse array; ValueError if it is damaged, or no matrix of numbers."""


def matlab_variables(content: bytes) -> list[MatlabVariable]:
    """Return the variables of a file; ValueError if it is no such file, or a damaged one."""
    if len(content) < _HEADER_4:
        raise ValueError("it is too short")
    if 0 in content[:4]:
        found = list(_variables_4(memoryview(content)))
    else:
        if len(content) < _HEADER or content[126:128] not in (b"IM", b"MI"):
            raise ValueError("it does not begin with the header of one")
        order = "<" if content[126:128] == b"IM" else ">"
        found = list(_variables_5(memoryview(content), order))
    names = [variable.name for variable in found]
    if len({*names}) < len(names):
        raise ValueError("two variables have the same name")
    return found


# -- versions 5 to 7 ---------------------------------------------------------------------------


class _Element(NamedTuple):
    """A piece of data with a type."""

    kind: int
    data: memoryview


class _Cursor:
    """Reads elements one after another; ValueError if there are too few bytes."""

    def __init__(self, data: memoryview, order: str) -> None:
        """Begin at the first byte; `order` is "<" or ">"."""
        self.rest, self._order = data, order

    def numbers(self, count: int, kind: str) -> list[int]:
        """Read integers."""
        found: list[int] = self.array(self.take(count * np.dtype(kind).itemsize), kind).tolist()
        return found

    def array(self, data: memoryview, kind: str) -> NDArray[Any]:
        """Return data as numbers, without a copy."""
        if len(data) % np.dtype(kind).itemsize:
            raise ValueError("an array ends within a number")
        return np.frombuffer(data, self._order + kind)

    def take(self, size: int) -> memoryview:
        """Read bytes."""
        if size > len(self.rest):
            raise ValueError("it ends too early; is it complete?")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def tag(self) -> tuple[int, int]:
        """Read the type and the size of a large element."""
        kind, size = self.numbers(2, "u4")
        return kind, size

    def element(self) -> _Element:
        """Read an element, large or small, and what fills it up to a multiple of 8 bytes."""
        first = self.numbers(1, "u4")[0]
        if first >> 16:  # small: type, size and data in 8 bytes
            data = self.take(4)
            if first >> 16 > len(data):
                raise ValueError("an element is larger than it can be")
            return _Element(first & 0xFFFF, data[: first >> 16])
        data = self.take(self.numbers(1, "u4")[0])
        self.rest = self.rest[-len(data) % 8 :]
        return _Element(first, data)

    def integers(self) -> list[int]:
        """Read an element of integers."""
        found = self.values()
        if found.dtype.kind not in "iu":
            raise ValueError(f"expected integers, found {found.dtype}")
        integers: list[int] = found.tolist()
        return integers

    def values(self) -> NDArray[Any]:
        """Read an element of numbers."""
        kind, data = self.element()
        if kind not in _TYPES:
            raise ValueError(f"expected numbers, found data of the type {kind}")
        return self.array(data, _TYPES[kind])


def _variables_5(content: memoryview, order: str) -> Iterator[MatlabVariable]:
    """Yield the variables of a file of version 5 to 7."""
    file = _Cursor(content[_HEADER:], order)
    while file.rest:
        kind, size = file.tag()
        data = file.take(size)
        if kind == _COMPRESSED:
            head = memoryview(_inflated(data, _HEAD)[0])
            yield _variable(head[_TAG:], _unpacker(data, order), order)
        elif kind == _ARRAY:
            yield _variable(data, lambda data=data: data, order)  # type: ignore[misc]
            file.rest = file.rest[-size % 8 :]
        else:
            raise ValueError(f"expected a variable, found data of the type {kind}")


def _inflated(data: memoryview, size: int) -> tuple[bytes, bool]:
    """Return at most `size` bytes of compressed data, and whether that is all of it."""
    packed = zlib.decompressobj()
    try:
        return packed.decompress(data, size), packed.eof
    except zlib.error as error:
        raise ValueError(f"a compressed variable is damaged: {error}") from None


def _unpacker(data: memoryview, order: str) -> Callable[[], memoryview]:
    """Return a function that unpacks a compressed variable, and compares its checksum."""

    def unpack() -> memoryview:
        kind, size = _Cursor(memoryview(_inflated(data, _TAG)[0]), order).tag()
        if kind != _ARRAY:
            raise ValueError(f"expected a variable, found data of the type {kind}")
        check_memory(size, "a variable in it", lambda missing: Advice("use a larger machine"))
        content, whole = _inflated(data, _TAG + size + 1)  # one more, to compare the checksum
        if len(content) != _TAG + size or not whole:
            raise ValueError("a compressed variable has another size than it announces")
        return memoryview(content)[_TAG:]

    return unpack


class _ArrayHead(NamedTuple):
    """What the first elements of an array say."""

    kind: int
    is_complex: bool
    shape: tuple[int, ...]
    name: str


def _array_head(cursor: _Cursor) -> _ArrayHead:
    """Read the first elements of an array."""
    flags = cursor.integers()
    if len(flags) != 2:
        raise ValueError("a variable has no class")
    kind, is_complex = flags[0] & 0xFF, bool(flags[0] & _COMPLEX)
    shape = () if kind == _OPAQUE else tuple(cursor.integers())
    name = bytes(cursor.element().data).decode()
    if min(shape, default=0) < 0:
        raise ValueError(f"a variable has the size {shape}")
    return _ArrayHead(kind, is_complex, shape, name)


def _variable(head: memoryview, content: Callable[[], memoryview], order: str) -> MatlabVariable:
    """Return a variable, of which `head` holds the beginning at least."""
    kind, is_complex, shape, name = _array_head(_Cursor(head, order))

    def read() -> Any:
        if kind not in (_SPARSE, *_CLASSES):
            raise ValueError(f"{short_repr(name)} is {_CLASS_NAMES.get(kind, 'an object')}")
        if is_complex:
            raise ValueError(f"{short_repr(name)} holds complex numbers")
        cursor = _Cursor(content(), order)
        if _array_head(cursor) != (kind, is_complex, shape, name):
            raise ValueError("a compressed variable is damaged")
        if kind == _SPARSE:
            return _sparse(cursor, shape)
        values = cursor.values()
        if math.prod(shape) != len(values):
            raise ValueError(
                f"{short_repr(name)} has {len(values):,} numbers, but the size {shape}"
            )
        with np.errstate(invalid="ignore"):
            numbers = values.astype(_CLASSES[kind])
        if numbers.dtype.kind in "iu" and not np.array_equal(numbers, values):
            raise ValueError(f"{short_repr(name)} has numbers that its class cannot hold")
        return numbers.reshape(shape, order="F")

    return MatlabVariable(name, shape, read)


def _sparse(cursor: _Cursor, shape: tuple[int, ...]) -> Any:
    """Read the numbers of a sparse matrix; there may be room for more than there are."""
    rows, begins, values = (cursor.values() for _ in range(3))
    return _compressed_columns(values, rows, begins, shape)


def _compressed_columns(
    values: NDArray[Any], rows: NDArray[Any], begins: NDArray[Any], shape: tuple[int, ...]
) -> Any:
    """Return a sparse array; its reader checks that indices are in range."""
    if len(shape) != 2 or rows.dtype.kind not in "iu" or begins.dtype.kind not in "iu":
        raise ValueError("it is not a sparse matrix")
    count = int(begins[-1]) if len(begins) else 0
    if not 0 <= count <= min(len(rows), len(values)):
        raise ValueError(f"a sparse matrix has {count:,} entries, but {len(rows):,} indices")
    own = [array.astype(array.dtype.newbyteorder("=")) for array in (values, rows, begins)]
    return scipy.sparse.csc_array((own[0][:count], own[1][:count], own[2]), shape=shape)


# -- version 4 ---------------------------------------------------------------------------------


def _variables_4(content: memoryview) -> Iterator[MatlabVariable]:
    """Yield the variables of a file of version 4."""
    while content:
        order = "<" if np.frombuffer(content[:4], "<u4").item() < 5000 else ">"
        cursor = _Cursor(content, order)
        kind, n_rows, n_columns, is_complex, n_letters = cursor.numbers(5, "u4")
        number_type, array_type = divmod(kind % 100, 10)
        if kind % 1000 // 100 or kind // 1000 != (order == ">") or number_type >= len(_TYPES_4):
            raise ValueError("it does not begin with the header of one")
        name = bytes(cursor.take(n_letters)).rstrip(b"\0").decode("latin-1")
        number = _TYPES_4[number_type]
        size = n_rows * n_columns * np.dtype(number).itemsize
        values = cursor.array(cursor.take(size), number)
        if is_complex:
            cursor.take(size)
        content = cursor.rest
        matrix = values.reshape((n_rows, n_columns), order="F")
        yield _variable_4(name, matrix, array_type, bool(is_complex))


def _variable_4(
    name: str, values: NDArray[Any], array_type: int, is_complex: bool
) -> MatlabVariable:
    """Return a variable of version 4: numbers (0), text (1) or a sparse matrix (2)."""
    shape = values.shape
    if array_type == 2 and values.shape[0] and values.shape[1] in (3, 4):
        last = values[-1, :2].astype(np.float64)
        if not ((last >= 0) & (last < 2**53) & (last % 1 == 0)).all():
            raise ValueError(f"{short_repr(name)} has the size {tuple(last.tolist())}")
        shape = tuple(int(size) for size in last)

    def read() -> Any:
        if array_type not in (0, 2):
            raise ValueError(f"{short_repr(name)} is text")
        if is_complex or (array_type == 2 and values.shape[1] != 3):
            raise ValueError(f"{short_repr(name)} holds complex numbers")
        if array_type == 0:
            return values.astype(values.dtype.newbyteorder("="))
        places = values[:-1, :2].astype(np.float64)
        if not ((places >= 1) & (places <= shape) & (places % 1 == 0)).all():
            raise ValueError(f"{short_repr(name)} has indices outside of its size {shape}")
        rows, columns = (places.T - 1).astype(np.int64)
        return scipy.sparse.coo_array((values[:-1, 2].astype(np.float64), (rows, columns)), shape)

    return MatlabVariable(name, shape, read)
