"""Graphs in files: which format a file has, and how each format is read.

A new format is a function that reads a stream, and an entry in the table at the end.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.io
import scipy.sparse

from .._util import errors
from .._util.errors import InputError, python_setting
from .._util.progress import counted
from ._graphml import read_graphml
from .columns import BY_THE_RULE, ColumnChoice
from .converters import EdgeOptions, edges_from_arrow, edges_from_matrix, shape_text
from .edge_lists import read_edge_list
from .edges import Edges
from .id_texts import ids_from_arrays
from .opening import expecting, naming, opened


def read_edges(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str | None = None,
    key: str = "network",
    columns: ColumnChoice = BY_THE_RULE,
    bipartite: bool = False,
) -> Edges:
    """Return the edges in a file; see :func:`reinforce2vec.read_graph` for the parameters."""
    path = Path(path)
    suffix, compressed = format_of(path, format)
    for_text = {"delimiter": delimiter, "header": header, "comments": comments}
    for name, value in for_text.items() if suffix not in _EDGE_LISTS else ():
        if value is not None:
            raise InputError(
                f"{path}: {python_setting(name, value)} is for edge lists, not for {suffix} files",
                settings=[(name, value)],
            )
    options = EdgeOptions(directed, weighted, columns, bipartite)
    if suffix not in (*_EDGE_LISTS, ".parquet"):
        with naming(str(path)):
            options.refuse_for(f"a {suffix} file", bipartite=suffix != ".graphml")
    details = _FileOptions(str(path), delimiter, header, comments, key)
    with opened(path, compressed) as stream:
        return _READERS[suffix](stream, options, details)


@dataclass(frozen=True)
class _FileOptions:
    """The name of a file, and options that only some formats have."""

    name: str
    delimiter: str | None
    header: bool | None
    comments: str | None
    key: str


# -- files -------------------------------------------------------------------------------------


def format_of(path: Path, format: str | None) -> tuple[str, bool]:
    """Return the suffix that names a file's format, and whether the file is compressed."""
    name = path.name if format is None else "." + format.lstrip(".")
    stem, compressed = re.subn(r"\.gz$", "", name.lower())
    suffix = Path(stem if format is None else "file" + stem).suffix
    if suffix not in _READERS or (compressed and suffix not in _COMPRESSIBLE):
        if format is None and path.is_dir():
            raise InputError(f"{path}: this is a folder, expected a file")
        what = f"{path}: unknown suffix" if format is None else f"unknown format {format!r}"
        raise InputError(
            f"{what}: expected one of {' '.join(_READERS)}, or with .gz after it one of "
            f"{' '.join(_COMPRESSIBLE)}; to read a file of another name, pass format=...",
            parameter="format",
            value=format,
            settings=[("format", ...)],
        )
    return suffix, bool(compressed)


# -- formats -----------------------------------------------------------------------------------


def _from_edge_list(stream: BinaryIO, options: EdgeOptions, details: _FileOptions) -> Edges:
    """Read text with one edge a line."""
    edges = read_edge_list(
        stream,
        details.name,
        columns=options.columns,
        weighted=options.weighted,
        delimiter=details.delimiter,
        header=details.header,
        comments=details.comments,
    )
    notes = edges.header.notes
    if edges.comments:
        notes = (*notes, f"{counted(edges.comments, 'comment')} skipped")
    with naming(details.name):
        read = options.edges(*edges[:3], sides=edges.header.sides, notes=notes)
    return read._replace(ids_are_text=True)


def sparse_array_option(read: Callable[..., Any]) -> dict[str, bool]:
    """Return the option that makes a reader of scipy return sparse arrays, where it has one.

    Newer versions warn if it is not given, older ones do not have it.
    """
    return {"spmatrix": False} if "spmatrix" in inspect.signature(read).parameters else {}


def _from_matrix_market(stream: BinaryIO, options: EdgeOptions, details: _FileOptions) -> Edges:
    """Read a MatrixMarket file, sparse or dense."""
    # an error that a stream raises inside scipy's reader ends the process: so read from memory
    text = io.BytesIO(stream.read())
    with expecting("a MatrixMarket file", details.name):
        matrix = scipy.io.mmread(text, **sparse_array_option(scipy.io.mmread))
    with naming(details.name):
        return edges_from_matrix(matrix, options)


def _from_matlab(stream: BinaryIO, options: EdgeOptions, details: _FileOptions) -> Edges:
    """Read a variable of a MATLAB file."""
    if stream.read(128).startswith(b"MATLAB 7.3"):
        raise InputError(
            f"{details.name}: MATLAB files of version 7.3 (HDF5) cannot be read: save it with "
            "save(..., '-v7') in MATLAB"
        )
    stream.seek(0)
    with expecting("a MATLAB file", details.name):
        variables = scipy.io.loadmat(stream, **sparse_array_option(scipy.io.loadmat))
    if details.key not in variables:
        square = [
            f"{name} ({shape_text(value.shape)})"
            for name, value in variables.items()
            if getattr(value, "ndim", 0) == 2 and value.shape[0] == value.shape[1]
        ]
        raise InputError(
            f'{details.name}: no variable "{details.key}"; square matrices in the file: '
            f"{', '.join(square) or 'none'} (name one with key=...)",
            parameter="key",
            value=details.key,
            settings=[("key", ...)],
        )
    with naming(details.name):
        return edges_from_matrix(variables[details.key], options)


def _from_npz(stream: BinaryIO, options: EdgeOptions, details: _FileOptions) -> Edges:
    """Read a sparse matrix that scipy saved; nothing in it is unpickled."""
    with expecting("a sparse matrix saved by scipy.sparse.save_npz", details.name):
        names = zipfile.ZipFile(stream).namelist()
    if "vectors.npy" in names:
        raise InputError(f"{details.name}: these are vectors of nodes, expected a graph")
    stream.seek(0)
    with expecting("a sparse matrix saved by scipy.sparse.save_npz", details.name):
        matrix = scipy.sparse.load_npz(stream)
    if not {"ids.npy", "directed.npy", "weighted.npy"} <= {*names}:
        with naming(details.name):
            return edges_from_matrix(matrix, options)
    stream.seek(0)
    with expecting("a graph that Graph.save wrote", details.name):
        archive = np.load(stream, allow_pickle=False)
        ids = archive["ids"]
        if "begins" in archive:
            ids = ids_from_arrays(ids, archive["begins"])
        if ids.shape != matrix.shape[:1] or ids.dtype not in (np.int64, object):
            raise ValueError("its ids are not one for each node")
        saved = EdgeOptions(bool(archive["directed"]), bool(archive["weighted"]))
    given = {name: value for name, value in vars(options).items() if value is not None}
    with naming(details.name):
        options.refuse_for("a graph that Graph.save wrote")
        return edges_from_matrix(matrix, replace(saved, **given))._replace(ids=ids)


def _from_parquet(stream: BinaryIO, options: EdgeOptions, details: _FileOptions) -> Edges:
    """Read a table of edges, only the columns that matter."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise errors.missing("pyarrow", "parquet", "reading a .parquet file") from None
    with expecting("a Parquet file", details.name):
        schema = parquet.read_schema(stream)

    def read(names: list[str]) -> Any:
        words = [name for name in names if str(schema.field(name).type) == "string"]
        with expecting("a Parquet file"):
            table = parquet.read_table(stream, columns=names, read_dictionary=words)
        return table.select(names)

    with naming(details.name):
        return edges_from_arrow(schema, read, options)


def _from_graphml(stream: BinaryIO, options: EdgeOptions, details: _FileOptions) -> Edges:
    """Read a GraphML file."""
    return read_graphml(stream, details.name, options)._replace(ids_are_text=True)


# -- which reader for which suffix -------------------------------------------------------------

_Reader = Callable[[BinaryIO, EdgeOptions, _FileOptions], Edges]
_EDGE_LISTS = (".txt", ".tsv", ".csv", ".edgelist", ".edges")
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(_EDGE_LISTS, _from_edge_list),
    ".mtx": _from_matrix_market,
    ".mat": _from_matlab,
    ".npz": _from_npz,
    ".parquet": _from_parquet,
    ".graphml": _from_graphml,
}
_COMPRESSIBLE = (*_EDGE_LISTS, ".mtx", ".graphml")
