"""Graphs in files: which format a file has, and how each format is read.

A new format is a function that reads a stream, and an entry in the table at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._util.errors import InputError, python_setting, short_repr
from .._util.progress import counted
from ._graphml import read_graphml
from ._parquet import import_arrow, open_parquet
from .array_files import array_names, open_archive, read_array
from .columns import BY_THE_RULE, ColumnChoice
from .converters import edges_from_matrix
from .edge_lists import read_edge_list
from .edge_tables import EdgeOptions, edges_from_arrow
from .edges import Edges
from .id_texts import ids_from_arrays
from .matrix_files import read_matlab, read_matrix_market, read_saved_matrix
from .opening import expecting, naming, opened, read_whole

_BYTES_OF_ROW = 64  # of a table of edges, while it becomes a graph; 72 to 78 were measured


def read_edges(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    key: str = "network",
    columns: ColumnChoice = BY_THE_RULE,
    bipartite: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str | None = None,
) -> Edges:
    """Return the edges in a file; see :func:`reinforce2vec.read_graph` for the parameters."""
    path = Path(path)
    if str(path) == "-" and format is None:
        format = "txt"
    suffix, compressed = format_of(path, format)
    options = EdgeOptions(directed, weighted, columns, bipartite)
    of_text = {"delimiter": delimiter, "header": header, "comments": comments}
    with opened(path, compressed) as stream, naming(str(path)):
        if suffix in _EDGE_LISTS:
            return _from_edge_list(stream, str(path), options, of_text)
        for name, value in of_text.items():
            if value is not None:
                raise InputError(
                    f"{python_setting(name, value)} is for edge lists, not for {suffix} files",
                    settings=[(name, value)],
                )
        if suffix != ".parquet":
            options.refuse_for(f"a {suffix} file", bipartite=suffix != ".graphml")
        if suffix in _AS_A_WHOLE and not (stream.seekable() and suffix in _IN_PARTS):
            stream = read_whole(stream, str(path))
        if suffix == ".mat":
            return edges_from_matrix(read_matlab(stream, key), options)
        return _READERS[suffix](stream, str(path), options)


def format_of(path: Path, format: str | None) -> tuple[str, bool]:
    """Return the suffix that names a file's format, and whether the file is compressed."""
    name = path.name if format is None else "." + format.lstrip(".")
    stem, compressed = re.subn(r"\.gz$", "", name.lower())
    suffix = Path(stem if format is None else "file" + stem).suffix
    if suffix not in _READERS or (compressed and suffix not in _COMPRESSIBLE):
        if format is None and path.is_dir():
            raise InputError(f"{path}: this is a folder, expected a file")
        what = f"unknown format {short_repr(format)}"
        if format is None:
            what = f"{path}: unknown suffix"
        raise InputError(
            f"{what}: expected one of {' '.join(_READERS)}, or with .gz after it one of "
            f"{' '.join(_COMPRESSIBLE)}; to read a file of another name, pass format=...",
            parameter="format",
            value=format,
            settings=[("format", ...)],
        )
    return suffix, bool(compressed)


# -- formats -----------------------------------------------------------------------------------


def _from_edge_list(
    stream: BinaryIO, name: str, options: EdgeOptions, of_text: dict[str, Any]
) -> Edges:
    """Read text with one edge a line."""
    columns, weighted = options.columns, options.weighted
    text = read_edge_list(stream, name, columns=columns, weighted=weighted, **of_text)
    skipped = [f"{counted(text.comments, 'comment')} skipped"] if text.comments else []
    edges = options.edges(*text[:3], sides=text.sides, notes=(*text.notes, *skipped))
    return edges._replace(ids_are_text=True)


def _from_matrix_market(stream: BinaryIO, name: str, options: EdgeOptions) -> Edges:
    """Read a MatrixMarket file, sparse or dense."""
    return edges_from_matrix(read_matrix_market(stream, name), options)


def _from_npz(stream: BinaryIO, name: str, options: EdgeOptions) -> Edges:
    """Read a sparse matrix that scipy saved; nothing in it is unpickled."""
    with expecting("a sparse matrix saved by scipy.sparse.save_npz"):
        archive = open_archive(stream)
        names = array_names(archive)
        if "vectors" in names:
            raise InputError("these are vectors of nodes, expected a graph")
        matrix = read_saved_matrix(archive)
    if not {"ids", "directed", "weighted"} <= names:
        return edges_from_matrix(matrix, options)
    options.refuse_for("a graph that Graph.save wrote")
    with expecting("a graph that Graph.save wrote"):
        ids = read_array(archive, "ids")
        if "begins" in names:
            ids = ids_from_arrays(ids, read_array(archive, "begins"))
        if ids.shape != matrix.shape[:1] or ids.dtype not in (np.int64, object):
            raise ValueError("its ids are not one for each node")
        if len(set(ids.tolist())) < len(ids):
            raise ValueError("two of its ids are the same")
        directed, weighted = (bool(read_array(archive, name)) for name in ("directed", "weighted"))
    directed = directed if options.directed is None else options.directed
    weighted = weighted if options.weighted is None else options.weighted
    return edges_from_matrix(
        matrix, replace(options, directed=directed, weighted=weighted)
    )._replace(ids=ids)


def _from_parquet(stream: BinaryIO, name: str, options: EdgeOptions) -> Edges:
    """Read a table of edges, only the columns that matter."""
    import_arrow("reading a .parquet file")
    with expecting("a Parquet file"):
        schema = open_parquet(stream, _BYTES_OF_ROW, part=0).schema_arrow

    def read(names: list[str]) -> Any:
        words = [name for name in names if str(schema.field(name).type) == "string"]
        with expecting("a Parquet file"):
            part = len(names) / max(1, len(schema.names))
            file = open_parquet(stream, part=part, read_dictionary=words)
            return file.read(names).select(names)

    with expecting("a Parquet file of edges"):
        return edges_from_arrow(schema, read, options)


# -- which reader for which suffix -------------------------------------------------------------

_EDGE_LISTS = (".txt", ".tsv", ".csv", ".edgelist", ".edges")
_READERS: dict[str, Callable[..., Edges]] = {
    **dict.fromkeys(_EDGE_LISTS, _from_edge_list),
    ".mtx": _from_matrix_market,
    ".mat": read_matlab,
    ".npz": _from_npz,
    ".parquet": _from_parquet,
    ".graphml": read_graphml,
}
_IN_PARTS = (".npz", ".parquet")  # not from the first byte to the last
_AS_A_WHOLE = (".mat", *_IN_PARTS)
_COMPRESSIBLE = (*_EDGE_LISTS, ".mtx", ".graphml")
