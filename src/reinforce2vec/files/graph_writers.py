"""Writing graphs: files from which `read_graph` makes the same graph."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .._util.errors import InputError, short_repr
from .._util.ids import as_ids
from ._parquet import described, import_arrow, parquet_writer
from .columns import ID_COLUMN_NAMES
from .edge_lists import is_read_without_header
from .edges import Edges
from .id_texts import arrow_ids, encode_texts, ids_as_arrays, ids_as_text, quoted
from .targets import known_suffix, resolve_target
from .writing import whole

_TEXT = (".csv", ".tsv", ".txt", ".edgelist", ".edges")
_SUFFIXES = (*_TEXT, *(f"{suffix}.gz" for suffix in _TEXT), ".parquet", ".npz")
_BLOCK = 1 << 16  # edges that are turned into text at once


def write_graph(path: str | os.PathLike[str], edges: Edges) -> None:
    """Write edges to a file; see :meth:`reinforce2vec.Graph.save`."""
    suffix = known_suffix(Path(path), _SUFFIXES, "a graph is written to")
    target = resolve_target(path)
    if suffix == ".npz":
        _write_npz(target, edges)
    elif suffix == ".parquet":
        _write_parquet(target, edges)
    else:
        _write_text(target, edges, suffix.removesuffix(".gz"), suffix.endswith(".gz"))


# -- lists of edges ----------------------------------------------------------------------------


def _ordered(edges: Edges, path: Path) -> tuple[NDArray[np.int32], Any]:
    """Return edges in the order in which they are written; isolated nodes as edges to themselves.

    A reader numbers nodes as lines name them. In the order of the rows, that is the case if each
    edge is written when the later of its nodes has its turn, and every node has an edge to an
    earlier one, or one to the next. That holds for graphs that were read from a file. Otherwise
    edges are written in the order of their first nodes.
    """
    ends, weights = edges.ends, edges.weights
    low, high = ends.min(axis=1), ends.max(axis=1)
    linked, named = np.zeros(len(edges.ids), bool), np.zeros(len(edges.ids), bool)
    linked[ends] = True
    named[high[low < high]] = True
    opens = ~named[low] & (high == low + 1) & (ends[:, 0] == low)
    named[low[opens | (low == high)]] = True
    isolated = np.flatnonzero(~linked).astype(np.int32)
    if isolated.size and np.any(low == high):
        raise InputError(
            f"{path}: a list of edges cannot hold self-loops together with isolated nodes, such as "
            f"{short_repr(edges.ids.tolist()[isolated[0]])}: write a .npz file"
        )
    ends = np.concatenate([ends, np.column_stack([isolated, isolated])])
    if weights is not None:
        weights = np.concatenate([weights, np.ones(len(isolated))])
    if np.all(named | ~linked):
        turn = np.concatenate([high, isolated])
        order = np.lexsort((np.concatenate([np.where(opens, -1, low), isolated]), turn))
        ends, weights = ends[order], None if weights is None else weights[order]
    return ends, weights


def _write_text(path: Path, edges: Edges, suffix: str, packed: bool) -> None:
    """Write an edge per line, below a header in .csv and .tsv files, and where readers need one."""
    texts = ids_as_text(edges.ids, path)
    delimiter = b"," if suffix == ".csv" else b"\t"
    fields = encode_texts([_field(text, path) for text in texts], path)
    ends, weights = _ordered(edges, path)
    blocks = _text_blocks(ends, weights, fields, delimiter)
    first, header = next(blocks, b""), b""
    if suffix in (".csv", ".tsv") or not is_read_without_header(first, weights is not None):
        names = next(pair for pair in ID_COLUMN_NAMES if not {*pair} & {*texts})
        words = [*names, *(["weight"] if weights is not None else [])]
        header = delimiter.join(word.encode() for word in words) + b"\n"
    with whole(path, packed) as stream:
        for block in (header, first, *blocks):
            stream.write(block)


def _text_blocks(
    ends: NDArray[np.int32], weights: Any, fields: list[bytes], delimiter: bytes
) -> Iterator[bytes]:
    """Yield the lines of a text file, many at a time."""
    for begin in range(0, len(ends), _BLOCK):
        block = slice(begin, begin + _BLOCK)
        columns = [[fields[row] for row in side] for side in ends[block].T.tolist()]
        if weights is not None:
            numbers = weights[block].tolist()
            columns.append([repr(number).removesuffix(".0").encode() for number in numbers])
        yield b"".join(delimiter.join(line) + b"\n" for line in zip(*columns, strict=True))


def _field(text: str, path: Path) -> str:
    """Return a node id as a field of delimited text, in the quotes of RFC 4180 if it needs them."""
    if not text or "\0" in text or "\r" in text:  # readers take all line ends for the same
        raise InputError(
            f"{path}: the node id {short_repr(text)} cannot be written as text: give the node "
            "another name, or write a .npz file"
        )
    return quoted(text)


def _write_parquet(path: Path, edges: Edges) -> None:
    """Write columns `source`, `target` and, if edges have weights, `weight`."""
    pyarrow, _ = import_arrow("writing a .parquet file")
    ends, weights = _ordered(edges, path)
    ids = pyarrow.array(arrow_ids(edges.ids, path))
    sides = {"source": ends[:, 0], "target": ends[:, 1]}
    columns = {name: ids.take(pyarrow.array(side)) for name, side in sides.items()}
    if weights is not None:
        columns["weight"] = pyarrow.array(weights)
    table = pyarrow.table(columns)
    schema = described(table.schema)
    with whole(path) as stream, parquet_writer(stream, schema) as write:
        write(table.cast(schema))


# -- .npz --------------------------------------------------------------------------------------


def _write_npz(path: Path, edges: Edges) -> None:
    """Write the adjacency matrix as scipy.sparse.load_npz reads it, and what it does not hold."""
    (rows, columns), n_nodes = edges.ends.T, len(edges.ids)
    data = np.ones(len(rows)) if edges.weights is None else edges.weights
    if not edges.directed:
        back = rows != columns
        rows, columns = np.append(rows, columns[back]), np.append(columns, edges.ends[back, 0])
        data = np.append(data, data[back])
    matrix = scipy.sparse.csr_array((data, (rows, columns)), shape=(n_nodes, n_nodes))
    arrays: dict[str, Any] = {
        "format": np.array(b"csr"),
        "_is_array": np.array(True),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "directed": np.array(edges.directed),
        "weighted": np.array(edges.weights is not None),
    }
    ids = edges.ids if edges.ids.dtype != object else as_ids(ids_as_text(edges.ids, path))
    arrays |= ids_as_arrays(ids, path)
    with whole(path) as stream:
        np.savez_compressed(stream, **arrays)
