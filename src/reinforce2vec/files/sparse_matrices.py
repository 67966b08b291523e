"""Sparse matrices from elsewhere: their structure is checked before compiled code relies on it."""

from __future__ import annotations

import zipfile
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import short_repr
from .array_files import array_names, read_array


class Entries(NamedTuple):
    """The entries of a matrix: row, column and value of each; zeros may be among them."""

    rows: NDArray[Any]
    columns: NDArray[Any]
    values: NDArray[np.float64]


def check_rows(indptr: Any, indices: Any, n_rows: int, n_columns: int) -> None:
    """Raise ValueError unless arrays are the structure of compressed sparse rows."""
    for array, what in ((indptr, "offsets of rows"), (indices, "indices")):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"its {what} are not a list of integers")
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


# -- files -------------------------------------------------------------------------------------


def read_saved_matrix(archive: zipfile.ZipFile) -> Any:
    """Read a matrix that `scipy.sparse.save_npz` wrote; any exception if it is none.

    Whether the indices are in range is left to :func:`matrix_entries`.
    """
    arrays = {name: read_array(archive, name) for name in sorted(_PARTS & array_names(archive))}
    kind, shape = arrays["format"].item(), tuple(arrays["shape"].tolist())
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind not in _KINDS:
        raise ValueError(f"it has the unknown format {short_repr(kind)}")
    if len(shape) != 2 or not all(type(size) is int and 0 <= size < 2**63 for size in shape):
        raise ValueError(f"it has the shape {shape}")
    if "coords" in arrays:
        arrays["row"], arrays["col"] = arrays["coords"]
    made, parts = _KINDS[kind]
    data, *others = (arrays[name] for name in ("data", *parts))
    if any(indices.dtype.kind not in "iu" for indices in others):
        raise ValueError("its indices are not integers")
    if kind in ("csr", "csc", "bsr") and arrays["indptr"][-1:].tolist() != [len(arrays["indices"])]:
        raise ValueError("its offsets do not end where its entries do")
    return made((data, tuple(others)) if kind == "coo" else (data, *others), shape=shape)


_KINDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "csr": (scipy.sparse.csr_array, ("indices", "indptr")),
    "csc": (scipy.sparse.csc_array, ("indices", "indptr")),
    "bsr": (scipy.sparse.bsr_array, ("indices", "indptr")),
    "coo": (scipy.sparse.coo_array, ("row", "col")),
    "dia": (scipy.sparse.dia_array, ("offsets",)),
}
_PARTS = {"format", "shape", "data", "coords"} | {
    part for _, parts in _KINDS.values() for part in parts
}
