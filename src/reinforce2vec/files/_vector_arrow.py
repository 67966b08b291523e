"""Vectors as tables of Arrow and files of Parquet: columns "node" and "vector"."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._util.arrays import Vectors, row_blocks
from .._util.ids import as_ids
from .._util.machine import check_memory
from ._parquet import described, description, import_arrow, open_parquet, parquet_writer
from .id_texts import arrow_ids
from .opening import expecting
from .stored_vectors import StoredVectors
from .writing import whole


def arrow_table(stored: StoredVectors) -> Any:
    """Return a pyarrow Table of ids and vectors; vectors are not copied."""
    import_arrow("to_arrow()")
    nodes = arrow_ids(stored.ids, Path("to_arrow()"))
    return _table(nodes, stored.vectors, slice(None), _schema(stored))


def write_parquet(path: Path, stored: StoredVectors) -> None:
    """Write the same to a file, a row group for each block."""
    nodes, schema = arrow_ids(stored.ids, path), _schema(stored)
    # dictionaries, which vectors do not need, would make all NaNs equal
    with whole(path) as stream, parquet_writer(stream, schema, use_dictionary=False) as write:
        for rows in row_blocks(stored.vectors):
            write(_table(nodes, stored.vectors, rows, schema))


def _schema(stored: StoredVectors) -> Any:
    """Return the types of the columns, and what is known of the vectors."""
    pyarrow, _ = import_arrow("a table of vectors")
    id_type = pyarrow.string() if stored.ids.dtype == object else pyarrow.int64()
    vector_type = pyarrow.list_(pyarrow.float32(), stored.vectors.shape[1])
    more: dict[str, Any] = {"info": stored.info} if stored.info else {}
    if stored.scales is not None and len(stored.scales) > 1:
        more["scales"] = list(stored.scales)
    return described(pyarrow.schema([("node", id_type), ("vector", vector_type)]), more)


def _table(nodes: Any, vectors: Vectors, rows: slice, schema: Any) -> Any:
    """Return some rows."""
    pyarrow, _ = import_arrow("a table of vectors")
    numbers = pyarrow.array(np.ascontiguousarray(vectors[rows]).ravel())
    columns = [
        pyarrow.array(nodes[rows], schema.field("node").type),
        pyarrow.FixedSizeListArray.from_arrays(numbers, type=schema.field("vector").type),
    ]
    return pyarrow.Table.from_arrays(columns, schema=schema)


# -- reading -----------------------------------------------------------------------------------


def read_parquet(stream: BinaryIO, path: Path) -> StoredVectors:
    """Read a table with a column "node" and a column "vector" of lists of one size."""
    import_arrow("reading a .parquet file")
    with expecting("a Parquet file of nodes and vectors", str(path)):
        file = open_parquet(stream, bytes_per_row=4)
        types = {field.name: field.type for field in file.schema_arrow}
        for column, fits in (("node", _is_id_type), ("vector", _is_vector_type)):
            if column not in types or not fits(types[column]):
                raise ValueError(f'its column "{column}" is {types.get(column, "missing")}')
        shape = file.metadata.num_rows, _list_size(file, types["vector"])
        check_memory(4 * math.prod(shape), f"a matrix of {shape[0]:,} x {shape[1]:,} numbers")
        vectors = np.empty(shape, np.float32)
        nodes: list[Any] = []
        for batch in file.iter_batches(columns=["node", "vector"]):
            lists, done = batch["vector"], len(nodes)
            numbers = lists.flatten()
            if batch["node"].null_count or lists.null_count or numbers.null_count:
                raise ValueError("it has missing values")
            if not set(lists.value_lengths().to_pylist()) <= {vectors.shape[1]}:
                raise ValueError("its vectors do not all have as many numbers")
            nodes += batch["node"].to_pylist()
            if len(nodes) > len(vectors):
                raise ValueError("it has more rows than it announces")
            vectors[done : len(nodes)] = numbers.to_numpy().reshape(-1, vectors.shape[1])
        if len(nodes) < len(vectors):
            raise ValueError("it has fewer rows than it announces")
        more = description(file)
        return StoredVectors(as_ids(nodes), vectors, more.get("scales"), more.get("info", {}))


def _is_id_type(arrow_type: Any) -> bool:
    """Return whether an arrow type is one of integers or strings, by its name."""
    return re.fullmatch(r"u?int\d+|(large_)?string(_view)?", str(arrow_type)) is not None


def _is_vector_type(arrow_type: Any) -> bool:
    """Return whether an arrow type is one of lists of floats, by its name."""
    lists = r"(fixed_size_|large_)?list<\w+: (float|double).*>(\[[1-9]\d*\])?"
    return re.fullmatch(lists, str(arrow_type)) is not None


def _list_size(file: Any, arrow_type: Any) -> int:
    """Return how many numbers a vector has: by the type of a list, or else of the first one."""
    size = getattr(arrow_type, "list_size", None)
    if size is None:
        first = next((batch["vector"][0] for batch in file.iter_batches(1) if len(batch)), None)
        size = None if first is None else len(first.as_py() or ())
    if not size:
        raise ValueError("its first vector has no numbers")
    return int(size)
