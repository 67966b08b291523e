"""Vectors as tables: CSV, with a column for each dimension, Arrow and Parquet, with two columns."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .._util.arrays import BLOCK_BYTES, Vectors, row_blocks
from .._util.errors import InputError, excerpt, short_repr
from .._util.ids import Ids, as_ids
from .._util.machine import check_memory
from ._decimals import parse_rows, write_rows
from ._lines import INTEGER, NUMBER, TextChunk
from ._parquet import described, description, import_arrow, open_parquet, parquet_writer
from .columns import is_name_in_edges, is_no_dimension, may_be_index
from .delimited import open_text
from .id_texts import EncodedIds, arrow_ids, encode_texts, ids_as_text, parse_ids, quoted
from .node_tables import is_known_column
from .opening import expecting
from .writing import whole

_NODE, _COMMA = "node", ord(",")
_ID = rb'(?:[ \t]*"([^"]*(?:""[^"]*)*)"|(?![ \t]*")([^,\n]*))[ \t\r]*'
_LINE = re.compile(_ID + rb"(?:,([^\n]*))?\n")
_INDEXED_LINE = re.compile(rb'"?(?:0|[1-9][0-9]*)"?,' + _LINE.pattern)
_QUOTED_NUMBER = re.compile(rb'(?<![^,])[ \t]*"([^",]*)"[ \t\r\n]*(?![^,])')
_ID_NAMES = (b"", b"node", b"id")  # of the column of ids
_EDGE_FIELDS = 2  # after the first: the other end of an edge, and perhaps a weight


class StoredVectors(NamedTuple):
    """Node ids, their vectors, and what only some formats keep."""

    ids: Ids
    vectors: Vectors
    scales: Sequence[int] | None = None
    """The number of columns of each scale; None if it is not known."""
    info: Mapping[str, Any] = {}
    """What is known of the vectors."""


# -- CSV -----------------------------------------------------------------------------------------


def column_names(dimensions: int) -> list[str]:
    """Return the names of the columns of numbers: not numbers, so that all readers find the header.

    Examples
    --------
    >>> column_names(3)
    ['d0', 'd1', 'd2']
    """
    return [f"d{number}" for number in range(dimensions)]


def csv_ids(ids: Ids, path: Path) -> EncodedIds:
    """Return ids in UTF-8, in the quotes of CSV (RFC 4180) where they need them."""
    texts = kept_texts(ids, path, "[\r\0]|\n\ufeff")  # what no reader of text keeps
    return EncodedIds.of(encode_texts([quoted(text) for text in texts], path, "strict"))


def kept_texts(ids: Ids, path: Path, lost: str) -> list[str]:
    """Return ids as text; InputError if the pattern of what a format does not keep is in one."""
    texts = ids_as_text(ids, path)
    for text in filter(re.compile(lost).search, texts) if ids.dtype == object else ():
        raise InputError(
            f"{path}: this format does not keep the node id {short_repr(text)} (blanks, line ends "
            "and the like): write to a .npz, .parquet or .csv file instead"
        )
    return texts


def write_csv(stream: Any, words: EncodedIds, vectors: Vectors) -> None:
    """Write the names of the columns, then an id and its numbers per line."""
    stream.write(",".join([_NODE, *column_names(vectors.shape[1])]).encode() + b"\n")
    write_rows(stream, words, vectors, _COMMA)


def read_csv(stream: BinaryIO, path: Path) -> StoredVectors:
    """Read ids and vectors, as :func:`write_csv` or another program wrote them.

    The first column has the ids. The first line may have the names of the columns: words, or
    numbers from 0 on after an empty name, "node" or "id", as pandas writes them. A pandas index
    before a column named "node" or "id" is left out.
    """
    text = open_text(stream, str(path), "vectors", delimiter=",", comments="")
    first, *names = text.heads[0]
    indexed = len(names) > 1 and may_be_index(first.decode(), True)
    if indexed := indexed and names[0].lower() in _ID_NAMES[1:]:
        first, *names = names
    headed = _is_header(first, names, path)
    words: list[bytes] = []
    parts = [np.empty((0, len(names)), np.float32)]
    for chunk in text.chunks(headed):
        records = list(_records(chunk, path, indexed))
        words += [record.word for record in records]
        lines = [record.line for record in records]
        if records:
            texts = [record.rest for record in records]
            parts.append(parse_rows(texts, len(names), path, lines, ","))
    no_ids = not any(map(INTEGER.fullmatch, words[1:])) and all(map(NUMBER.fullmatch, words))
    if _are_numbered([first, *names]) and (headed or (words[1:] and no_ids)):
        raise InputError(
            f"{path}: it names {len(names) + 1} dimensions and no column of node ids: write the "
            "ids as the first column, with the name node"
        )
    if not words and names != [name.encode() for name in column_names(len(names))]:
        raise InputError(f"{path}: expected vectors, but there is only one line")
    if any(b"\n" in word for word in words):
        stream.seek(0)
        if any(b"\r" in block for block in iter(partial(stream.read, BLOCK_BYTES), b"")):
            raise InputError(
                f"{path}: line breaks in node ids and carriage returns cannot be distinguished: "
                "convert its line ends (dos2unix)"
            )
    return StoredVectors(parse_ids([word.decode() for word in words]), np.concatenate(parts))


def _is_header(first: bytes, names: list[bytes], path: Path) -> bool:
    """Return whether the first line names the columns; InputError if they are no dimensions."""
    if not names or b"" in names:
        raise InputError(f"{path}, line 1: expected a node id and numbers, separated by commas")
    named = not any(map(NUMBER.fullmatch, names))
    headed = named or (
        first in _ID_NAMES and names == [b"%d" % number for number in range(len(names))]
    )
    of_edges = any(map(is_name_in_edges, names)) if named else len(names) <= _EDGE_FIELDS
    if of_edges and (named or not headed):
        raise InputError(
            f"{path}: expected vectors, but this may be a list of edges: name the columns node, "
            "d0, d1 and so on if it is not"
        )
    texts = [name.decode() for name in names] if headed else []
    ours = column_names(len(texts))
    numbered = sum(text[-1:].isdecimal() for text in texts)
    for text, our in zip(texts, ours, strict=True):
        odd = 2 * numbered > len(texts) and not text[-1:].isdecimal()
        moved = text != our and sorted(texts) == sorted(ours)
        if odd or moved or is_no_dimension(text) or is_known_column(text):
            raise InputError(
                f'{path}: the column "{excerpt(text)}" is no dimension of vectors, or not in its '
                "place: leave it out, or give it another name"
            )
    return headed


def _are_numbered(names: list[bytes]) -> bool:
    """Return whether names are 0, 1, 2 or d0, d1, d2 and so on: dimensions, and no ids."""
    stem = names[0].removesuffix(b"0")
    return names == [b"%b%d" % (stem, number) for number in range(len(names))]


class _Record(NamedTuple):
    """The number of a line, the node id that it begins with, and the numbers after it."""

    line: int
    word: bytes
    rest: bytes


def _records(chunk: TextChunk, path: Path, indexed: bool) -> Iterator[_Record]:
    """Yield the lines of a chunk that are not blank; an id in quotes may hold line breaks."""
    place, line = 0, chunk.line
    pattern = _INDEXED_LINE if indexed else _LINE
    while place < len(chunk.text):
        record = pattern.match(chunk.text, place)
        quoted_id, plain_id, rest = record.groups() if record else (None, b"", b"")
        word = plain_id.strip(b" \t\r") if quoted_id is None else quoted_id.replace(b'""', b'"')
        end = record.end() if record else chunk.text.index(b"\n", place) + 1
        if word or quoted_id is not None:
            rest = (rest or b"").rstrip()
            yield _Record(line, word, _QUOTED_NUMBER.sub(rb"\1", rest) if b'"' in rest else rest)
        elif content := chunk.text[place:end].strip():
            raise InputError(
                f"{path}, line {line}: expected a node id, perhaps in quotes, and numbers, found "
                f'"{excerpt(content)}"'
            )
        line += 1 if quoted_id is None else chunk.text.count(b"\n", place, end)
        place = end


# -- Arrow and Parquet --------------------------------------------------------------------------


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
