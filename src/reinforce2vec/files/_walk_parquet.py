"""Reads walks in Parquet: lists of node ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt
from ._parquet import import_arrow, open_parquet
from ._tokens import TokenIds, Tokens, token_hashes
from .opening import expecting, naming
from .stored_walks import WalkCollector, check_lengths

_BATCH_WALKS = 1 << 12  # walks of a file to convert at a time


def collect_parquet(stream: Any, name: str, ids: TokenIds, gathered: WalkCollector) -> None:
    """Append the walks of a file to others, and number the ids."""
    import_arrow("reading a .parquet file")
    with expecting("a Parquet file", name):
        file = open_parquet(stream, bytes_per_row=4)
    with naming(name):
        kind = _id_type(file.schema_arrow)
    for lengths, nodes in _read_batches(file, kind, name):
        ends = np.cumsum(lengths)
        with naming(name):
            _check_batch(lengths, nodes, ends, gathered.begins.size - 1)
        gathered.add(ids.number(_tokens_of(nodes)), ends)


def _id_type(schema: Any) -> str:
    """Return the type to which ids are converted: "int64" or "string"."""
    from pyarrow import types

    if schema.names.count("walk") != 1:
        raise InputError(
            'expected one column "walk" of lists of node ids, found the columns '
            f"{excerpt(', '.join(schema.names)) or '(none)'}"
        )
    column = schema.field("walk").type
    if types.is_list(column) or types.is_large_list(column) or types.is_fixed_size_list(column):
        ids = column.value_type
        if types.is_dictionary(ids):
            ids = ids.value_type
        if types.is_integer(ids):
            return "int64"
        if types.is_string(ids) or types.is_large_string(ids):
            return "string"
    raise InputError(f'expected a column "walk" of lists of integers or strings, found {column}')


def _read_batches(file: Any, kind: str, name: str) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield, for some walks at a time, how many nodes each has, and the ids of all nodes."""
    from pyarrow import compute

    with expecting("a Parquet file of walks", name):
        for batch in file.iter_batches(_BATCH_WALKS, columns=["walk"]):
            walks = batch.column(0)
            lengths = compute.list_value_length(walks).fill_null(0)
            nodes = walks.flatten().cast(kind)
            nodes.validate(full=True)  # other programs may write strings that are not UTF-8
            yield lengths.to_numpy().astype(np.int64), nodes


def _check_batch(
    lengths: NDArray[np.int64], nodes: Any, ends: NDArray[np.int64], first: int
) -> None:
    """Raise InputError for empty walks and missing ids; walks are numbered from `first`."""
    check_lengths(lengths, first)
    if nodes.null_count:
        walk = first + np.searchsorted(ends, nodes.is_null().index(True).as_py(), side="right")
        raise InputError(f"walk {walk:,} (counted from 0) holds a null, expected node ids")


def _tokens_of(nodes: Any) -> Tokens:
    """Return an Arrow array of integers or strings as tokens."""
    if str(nodes.type) == "int64":
        values = nodes.to_numpy(zero_copy_only=False, writable=True)
        return Tokens(np.empty(0, np.uint8), np.empty((0, 2), np.int32), values, None)
    _, offsets, letters = nodes.buffers()
    bounds = np.frombuffer(offsets, np.int32)[nodes.offset : nodes.offset + len(nodes) + 1]
    places = np.column_stack([bounds[:-1], bounds[1:]])
    data = np.frombuffer(letters or b"", np.uint8)
    data.flags.writeable = False  # like text from files, so that numba compiles kernels once
    return Tokens(data, places, None, token_hashes(data, places))
