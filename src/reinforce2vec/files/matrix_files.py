"""Matrices from MatrixMarket, MATLAB and scipy files, checked before compiled code relies on them.

SciPy's readers of MatrixMarket and MATLAB take numbers that a line has too many, reserve what a
file announces, and end the process on some damaged files. So what they read is looked at first.
"""

from __future__ import annotations

import codecs
import io
import re
import struct
import warnings
import zipfile
import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, short_repr
from .._util.machine import check_memory
from .array_files import array_names, read_array
from .opening import expecting, read_whole

# -- structure ---------------------------------------------------------------------------------


class Entries(NamedTuple):
    """The entries of a matrix: row, column and value of each; zeros may be among them."""

    rows: NDArray[Any]
    columns: NDArray[Any]
    values: NDArray[np.float64]


def check_rows(indptr: Any, indices: Any, n_rows: int, n_columns: int) -> None:
    """Raise ValueError unless arrays are the structure of compressed sparse rows."""
    for array in (indptr, indices):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError("its offsets and indices are not lists of integers")
    if len(indptr) != n_rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"its offsets are not those of {n_rows:,} rows, one after another")
    if indptr[-1] > len(indices):
        raise ValueError(f"its rows have {indptr[-1]:,} entries, and {len(indices):,} are there")
    _check_range(indices[: indptr[-1]], n_columns)


def _check_range(indices: NDArray[Any], size: int) -> None:
    """Raise ValueError unless all indices are those of an axis."""
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        raise ValueError(f"it has indices outside of 0 to {size - 1:,}")


def matrix_entries(matrix: Any) -> Entries:
    """Return the entries of a sparse or dense matrix; ValueError if its structure is damaged."""
    if not scipy.sparse.issparse(matrix):
        dense = np.asarray(matrix)
        rows, columns = np.nonzero(dense)
        return Entries(rows, columns, dense[rows, columns].astype(np.float64))
    shape = matrix.shape
    if matrix.format in ("csr", "csc", "bsr"):
        block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        sizes = [size // side for size, side in zip(shape, block, strict=True)]
        if matrix.format == "csc":
            sizes.reverse()
        check_rows(matrix.indptr, matrix.indices, *sizes)
        if len(matrix.data) != len(matrix.indices):
            raise ValueError("it does not have one value for each index")
    entries = scipy.sparse.coo_array(matrix)
    if not entries.row.shape == entries.col.shape == entries.data.shape:
        raise ValueError("it does not have a row, a column and a value for each entry")
    for indices, size in zip((entries.row, entries.col), shape, strict=True):
        _check_range(indices, size)
    return Entries(entries.row, entries.col, entries.data.astype(np.float64, copy=False))


# -- scipy -------------------------------------------------------------------------------------

_PARTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "csr": (scipy.sparse.csr_array, ("indices", "indptr")),
    "csc": (scipy.sparse.csc_array, ("indices", "indptr")),
    "bsr": (scipy.sparse.bsr_array, ("indices", "indptr")),
    "coo": (scipy.sparse.coo_array, ("row", "col")),
    "dia": (scipy.sparse.dia_array, ("offsets",)),
}
_NAMES = {"format", "shape", "data", "coords", "indices", "indptr", "row", "col", "offsets"}


def read_saved_matrix(archive: zipfile.ZipFile) -> Any:
    """Read a matrix that `scipy.sparse.save_npz` wrote; any exception if it is none.

    Whether the indices are in range is left to :func:`matrix_entries`.
    """
    arrays = {name: read_array(archive, name) for name in sorted(_NAMES & array_names(archive))}
    form, shape = arrays["format"].item(), tuple(arrays["shape"].tolist())
    form = form.decode() if isinstance(form, bytes) else form
    if form not in _PARTS:
        raise ValueError(f"it has the unknown format {short_repr(form)}")
    if len(shape) != 2 or not all(type(size) is int and 0 <= size < 2**63 for size in shape):
        raise ValueError(f"it has the shape {shape}")
    if "coords" in arrays:
        arrays["row"], arrays["col"] = arrays["coords"]
    make, names = _PARTS[form]
    data, indices = arrays["data"], [arrays[name] for name in names]
    if any(array.dtype.kind not in "iu" for array in indices):
        raise ValueError("its indices are not integers")
    if "indptr" in names and indices[1][-1:].tolist() != [len(indices[0])]:
        raise ValueError("its offsets do not end where its entries do")
    return make((data, tuple(indices)) if form == "coo" else (data, *indices), shape=shape)


# -- MatrixMarket ------------------------------------------------------------------------------

_HEAD = re.compile(
    rb"(%%MatrixMarket[ \t][^\n]*)\n(?:[ \t\r]*(?:%[^\n]*)?\n)*([\d \t]+)\r?(?:\n|\Z)", re.I
)
_LONGEST_HEAD = 1 << 24  # bytes of comments and sizes
_LONGEST_ENTRY = 1 << 8  # bytes, with blank lines around it
_LINE = re.compile(rb"[^\n]+")
_ODD_INTEGERS = re.compile(rb"[^\d \t\r\n-]|-(?!\d)|\d-")
_ODD_NUMBERS = re.compile(
    rb"[^\d \t\r\n.eE+-]|[eE](?![+-]?\d+(?:\s|\Z))|\.\d*[.+-]|\d[+-]|[+-](?![\d.])|(?<!\d)\.(?!\d)"
)
_ODD_INDEX = re.compile(rb"\n[ \t\r]*(?:\d+[ \t]+)?\d*[.eE+-]")  # "3 1.0 5" is read as 3 1 .0


def read_matrix_market(stream: BinaryIO, name: str) -> Any:
    """Return the matrix in a MatrixMarket file; InputError unless it has what it announces.

    No more is read than the announced entries can take, and all of that must be numbers.
    """
    import scipy.io  # which few programs need

    with expecting("a MatrixMarket file"):
        content = stream.read(_LONGEST_HEAD).removeprefix(codecs.BOM_UTF8)
        head = _HEAD.match(content)
        if head is None or len(head[1].split()) != 5:
            raise ValueError('it does not begin with "%%MatrixMarket matrix ..." and the sizes')
        n_entries, width = _announced(head[1].lower().split(), head[2])
        check_memory(32 * n_entries * width, "the matrix that it announces")
        most = _LONGEST_HEAD + _LONGEST_ENTRY * n_entries
        content += read_whole(stream, name, most - len(content)).read()
        whole = b"pattern" in head[1].lower() or b"integer" in head[1].lower()
        odd = (_ODD_INTEGERS if whole else _ODD_NUMBERS).search(content, head.end())
        if width == 3 and odd is None:
            odd = _ODD_INDEX.search(content, head.end() - 1)
        if odd is not None:
            _refuse_line(content, odd.end() - 1)
        letters = np.frombuffer(content, np.uint8, offset=head.end() - 1) > ord(" ")
        n_numbers = int(np.count_nonzero(letters[1:] & ~letters[:-1]))
        for line in _LINE.finditer(content, head.end()) if n_numbers != n_entries * width else ():
            if len(line[0].split()) not in (0, width):
                _refuse_line(content, line.start())
        if n_numbers != n_entries * width:
            raise ValueError(f"it announces {n_entries:,} entries, and has {n_numbers // width:,}")
        return scipy.io.mmread(io.BytesIO(content))


def _announced(words: list[bytes], text: bytes) -> tuple[int, int]:
    """Return how many entries there should be, and how many numbers each has."""
    sizes, dense = [int(size) for size in text.split()], b"array" in words
    if len(sizes) != (2 if dense else 3):
        raise ValueError(f'its sizes are "{excerpt(text)}"')
    n_rows, n_columns = sizes[:2]
    n_entries = n_rows * n_columns if dense else sizes[2]
    if b"general" not in words and n_rows != n_columns:
        raise ValueError(f"a symmetric matrix is square, not {n_rows:,} x {n_columns:,}")
    if b"general" not in words and dense:
        n_entries = n_rows * (n_rows + (-1 if b"skew-symmetric" in words else 1)) // 2
    return n_entries, (not dense) * 2 + (b"pattern" not in words) + (b"complex" in words)


def _refuse_line(content: bytes, place: int) -> None:
    """Raise ValueError for the line that holds the byte at `place`."""
    before = content.rfind(b"\n", 0, place) + 1
    line = excerpt(content[before:].split(b"\n", 1)[0].strip())
    number = content.count(b"\n", 0, before) + 1
    raise ValueError(f'line {number}: expected an entry of the matrix, found "{line}"')


# -- MATLAB ------------------------------------------------------------------------------------

_HEADER = 128  # bytes
_ARRAY, _COMPRESSED = 14, 15  # types of elements
_NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13)
_SPARSE, _LAST_CLASS = 5, 15  # classes of matrices: sparse, and 6 to 15 for numbers
_COMPLEX = 0x800
_NAME = 2  # the element of an array that may be no number


def read_matlab(stream: BinaryIO, key: str) -> Any:
    """Return a matrix in a MATLAB file of versions 4 to 7.2."""
    import scipy.io

    content = stream.read()
    if content.startswith(b"MATLAB 7.3"):
        raise InputError("this is MATLAB 7.3 (HDF5): save it with save(..., '-v7')")
    with expecting("a MATLAB file with a matrix of that name"), warnings.catch_warnings():
        warnings.simplefilter("error")
        file = io.BytesIO(_plain_matlab(content))
        variables = {found: (shape, kind) for found, shape, kind in scipy.io.whosmat(file)}
        if key not in variables:
            shapes = (f"{found} {shape}" for found, (shape, _) in variables.items())
            raise InputError(
                f'no variable "{key}": there are {excerpt(", ".join(shapes), 300)} '
                "(name one with key=...)",
                parameter="key",
                value=key,
                settings=[("key", ...)],
            )
        if variables[key][1] in ("char", "cell", "struct", "object", "function", "opaque"):
            raise ValueError(f"{short_repr(key)} is no matrix, but a {variables[key][1]}")
        file.seek(0)
        return scipy.io.loadmat(file, variable_names=[key])[key]


def _plain_matlab(content: bytes) -> bytes:
    """Return a file of version 5 to 7.2 without compression; ValueError if it is damaged."""
    if 0 in content[:4]:  # version 4, which is read by Python
        return content
    order = "<" if content[126:_HEADER] == b"IM" else ">"
    parts, place = [content[:_HEADER]], _HEADER
    while place < len(content):
        element, size = struct.unpack_from(f"{order}II", content, place)
        data = content[place : place + 8 + size]
        place += 8 + size
        if place > len(content):
            raise ValueError("it ends too early; is it complete?")
        if element == _COMPRESSED:
            unpacker = zlib.decompressobj()
            try:
                head = unpacker.decompress(data[8:], 8)
                (size,) = struct.unpack_from(f"{order}I", head, 4)
                check_memory(2 * size, "a variable in it")
                data = head + unpacker.decompress(unpacker.unconsumed_tail, size + 1)
            except zlib.error as error:
                raise ValueError(f"a compressed variable is damaged: {error}") from None
            if not unpacker.eof or len(data) != 8 + size:
                raise ValueError("a compressed variable has another size than it announces")
        _check_variable(data, order)
        parts.append(data)
    return b"".join(parts)


def _check_variable(data: bytes, order: str) -> None:
    """Raise ValueError unless an array of numbers has elements of known types, as many as it needs.

    SciPy looks their types up without a check. It never reads cells, structs and the like.
    """
    array, _, _, _, flags = struct.unpack_from(f"{order}5I", data)
    if array != _ARRAY:
        raise ValueError(f"expected a variable, found data of the type {array}")
    if not _SPARSE <= flags & 0xFF <= _LAST_CLASS:
        return
    place, elements = 8, 0
    while place < len(data):
        element, size = struct.unpack_from(f"{order}II", data, place)
        is_small = element >> 16  # type, size and data in 8 bytes
        if is_small:
            element, size = element & 0xFFFF, is_small
        end = place + 8 + (0 if is_small else size)
        if end > len(data) or is_small > 4 or (element not in _NUMBERS and elements != _NAME):
            raise ValueError("a variable is damaged")
        place = end + (0 if is_small else -size % 8)
        elements += 1
    if elements != 3 + (3 if flags & 0xFF == _SPARSE else 1) + bool(flags & _COMPLEX):
        raise ValueError("a variable is damaged")
