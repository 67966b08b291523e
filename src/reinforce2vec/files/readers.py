"""Graphs in files: which format a file has, and how each format is read."""

from __future__ import annotations

import inspect
import io
import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from xml.etree import ElementTree

import numpy as np
import scipy.io
import scipy.sparse

from .._util import errors
from .._util.errors import InputError
from .converters import Wishes, arrow_columns, filled, from_arrow, from_matrix, times
from .edge_lists import read_edge_list
from .edges import Edges
from .id_texts import ids_of
from .opening import expecting, naming, opened


def read_edges(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    directed: bool | None = None,
    weighted: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    key: str = "network",
) -> Edges:
    """Edges of a graph in a file; :func:`reinforce2vec.read_graph` tells of the parameters."""
    path = Path(path)
    suffix, compressed = format_of(path, format)
    if suffix not in EDGE_LISTS and (delimiter is not None or header is not None):
        raise InputError(f"{path}: delimiter and header are for edge lists, not for {suffix} files")
    wishes = Wishes(directed, weighted)
    details = Details(str(path), delimiter, header, key)
    with opened(path, compressed) as stream:
        return READERS[suffix](stream, wishes, details)


@dataclass(frozen=True)
class Details:
    """What only some formats need to know."""

    name: str
    delimiter: str | None
    header: bool | None
    key: str


# -- files -------------------------------------------------------------------------------------


def format_of(path: Path, format: str | None) -> tuple[str, bool]:
    """The suffix that names a file's format, and whether the file is compressed."""
    name = path.name if format is None else "." + format.lstrip(".")
    stem, compressed = re.subn(r"\.gz$", "", name.lower())
    suffix = Path(stem if format is None else "file" + stem).suffix
    if suffix not in READERS or (compressed and suffix not in COMPRESSIBLE):
        if format is None and path.is_dir():
            raise InputError(f"{path}: this is a folder, expected a file")
        what = f"{path}: unknown suffix" if format is None else f"unknown format {format!r}"
        raise InputError(
            f"{what}: expected one of {' '.join(READERS)}, or with .gz after it one of "
            f"{' '.join(COMPRESSIBLE)}; to read a file of another name, pass format=...",
            parameter="format",
            value=format,
            settings=[("format", ...)],
        )
    return suffix, bool(compressed)


# -- formats -----------------------------------------------------------------------------------


def from_edge_list(stream: BinaryIO, wishes: Wishes, details: Details) -> Edges:
    """Text with an edge a line."""
    edges = read_edge_list(
        stream,
        details.name,
        weighted=wishes.weighted,
        delimiter=details.delimiter,
        header=details.header,
    )
    return wishes.edges(edges.ends, edges.weights, edges.ids, directed=False)


def as_arrays(read: Callable[..., Any]) -> dict[str, bool]:
    """What asks a reader of scipy for sparse arrays: newer versions warn unless told."""
    return {"spmatrix": False} if "spmatrix" in inspect.signature(read).parameters else {}


def from_matrix_market(stream: BinaryIO, wishes: Wishes, details: Details) -> Edges:
    """MatrixMarket, sparse or dense."""
    # an error that a file raises inside scipy's reader ends the process: so let it read memory
    text = io.BytesIO(stream.read())
    with expecting("a MatrixMarket file", details.name):
        matrix = scipy.io.mmread(text, **as_arrays(scipy.io.mmread))
    with naming(details.name):
        return from_matrix(matrix, wishes)


def from_matlab(stream: BinaryIO, wishes: Wishes, details: Details) -> Edges:
    """A variable of a MATLAB file."""
    if stream.read(128).startswith(b"MATLAB 7.3"):
        raise InputError(
            f"{details.name}: MATLAB files of version 7.3 (HDF5) cannot be read: save it with "
            "save(..., '-v7') in MATLAB"
        )
    stream.seek(0)
    with expecting("a MATLAB file", details.name):
        variables = scipy.io.loadmat(stream, **as_arrays(scipy.io.loadmat))
    if details.key not in variables:
        square = [
            f"{name} ({times(value.shape)})"
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
        return from_matrix(variables[details.key], wishes)


def from_npz(stream: BinaryIO, wishes: Wishes, details: Details) -> Edges:
    """A sparse matrix as scipy saves it; nothing in it is unpickled."""
    with expecting("a sparse matrix saved by scipy.sparse.save_npz", details.name):
        names = zipfile.ZipFile(stream).namelist()
    if "vectors.npy" in names:
        raise InputError(f"{details.name}: these are vectors of nodes, expected a graph")
    stream.seek(0)
    with expecting("a sparse matrix saved by scipy.sparse.save_npz", details.name):
        matrix = scipy.sparse.load_npz(stream)
    with naming(details.name):
        return from_matrix(matrix, wishes)


def from_parquet(stream: BinaryIO, wishes: Wishes, details: Details) -> Edges:
    """A table of edges; only the columns that matter are read."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise errors.missing("pyarrow", "parquet", "reading a .parquet file") from None
    with expecting("a Parquet file", details.name):
        schema = parquet.read_schema(stream)
    with naming(details.name):
        columns = arrow_columns(schema, wishes.weighted).used
    with expecting("a Parquet file", details.name):
        words = [name for name in columns if str(schema.field(name).type) == "string"]
        table = parquet.read_table(stream, columns=columns, read_dictionary=words)
    with naming(details.name):
        return from_arrow(table.select(columns), wishes)


# -- GraphML -----------------------------------------------------------------------------------


class GraphmlGraph:
    """Gathers a graph from the elements of a GraphML file as they come."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.element: ElementTree.Element | None = None  # that of the graph
        self.directed = False
        self.rows: dict[str, int] = {}
        self.ends: list[int] = []
        self.weights: list[float | None] = []
        self.weight_key: str | None = None
        self.default_weight: float | None = None
        self.mixed = False

    def take(self, event: str, element: ElementTree.Element) -> None:
        """Look at an element when it starts or ends."""
        tag = element.tag.rpartition("}")[2]
        if (event, tag) == ("start", "graph"):
            self._begin(element)
        elif (event, tag) == ("end", "key"):
            self._take_key(element)
        elif (event, tag) == ("end", "node"):
            self._row(element, "id")
        elif (event, tag) == ("end", "edge"):
            self._take_edge(element)
        elif tag == "hyperedge":
            raise InputError("it holds hyperedges, expected edges between two nodes")
        if event == "end" and tag in ("node", "edge") and self.element is not None:
            self.element.clear()  # what was looked at need not be kept

    def _begin(self, element: ElementTree.Element) -> None:
        if self.element is not None:
            raise InputError("it holds more than one graph")
        self.element = element
        self.directed = element.get("edgedefault") == "directed"

    def _take_key(self, element: ElementTree.Element) -> None:
        if element.get("attr.name") == "weight" and element.get("for") in ("edge", "all"):
            self.weight_key = element.get("id")
            default = element.findtext("{*}default")
            self.default_weight = None if default is None else self._weight(default)

    def _take_edge(self, element: ElementTree.Element) -> None:
        self.ends += [self._row(element, "source"), self._row(element, "target")]
        weight = self.default_weight
        for data in element.iterfind("{*}data"):
            if data.get("key") == self.weight_key:
                weight = self._weight(data.text or "")
        self.weights.append(weight)
        own = element.get("directed")
        self.mixed |= own is not None and (own == "true") != self.directed

    def _row(self, element: ElementTree.Element, attribute: str) -> int:
        node = element.get(attribute)
        if node is None:
            tag = element.tag.rpartition("}")[2]
            raise InputError(f'{tag} number {self._count(tag) + 1:,} has no "{attribute}"')
        return self.rows.setdefault(node, len(self.rows))

    def _count(self, tag: str) -> int:
        return len(self.rows) if tag == "node" else len(self.weights)

    def _weight(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise InputError(
                f'edge number {len(self.weights) + 1:,} has the weight "{text}", expected a number'
            ) from None

    def edges(self, wishes: Wishes) -> Edges:
        """The edges that were gathered."""
        if self.element is None:
            raise InputError("it holds no graph element")
        if self.mixed and wishes.directed is None:
            raise InputError(
                "some edges are directed and some are not: pass directed=True or directed=False",
                settings=[("directed", True), ("directed", False)],
            )
        ends = np.array(self.ends, np.int32).reshape(-1, 2)
        return wishes.edges(ends, filled(self.weights), ids_of(list(self.rows)), self.directed)


def from_graphml(stream: BinaryIO, wishes: Wishes, details: Details) -> Edges:
    """GraphML; the file is never in memory as a whole."""
    found = GraphmlGraph()
    with naming(details.name):
        try:
            for event, element in ElementTree.iterparse(stream, ("start", "end")):
                found.take(event, element)
        except InputError:
            raise
        except (ElementTree.ParseError, ValueError, LookupError) as error:  # also of encodings
            raise InputError(f"not a GraphML file: {error}") from None
        return found.edges(wishes)


# -- which reader for which suffix -------------------------------------------------------------

Reader = Callable[[BinaryIO, Wishes, Details], Edges]
EDGE_LISTS = (".txt", ".tsv", ".csv", ".edgelist", ".edges")
READERS: dict[str, Reader] = {
    **dict.fromkeys(EDGE_LISTS, from_edge_list),
    ".mtx": from_matrix_market,
    ".mat": from_matlab,
    ".npz": from_npz,
    ".parquet": from_parquet,
    ".graphml": from_graphml,
}
COMPRESSIBLE = (*EDGE_LISTS, ".mtx", ".graphml")
