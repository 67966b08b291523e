"""Reads walks in text, and the ids beside a matrix of walks."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids
from ._fields import BLANK, DELIMITER, LINE_END, NEWLINE, ORDINARY, RETURN, TAB, find_tokens
from ._lines import CHUNK_BYTES, TextChunk, map_in_order, read_chunks
from ._tokens import TokenIds, Tokens
from .edges import kind_of_ids
from .opening import naming, opened
from .stored_walks import StoredWalks, WalkCollector

_SEPARATORS = {"\t": "tabs", " ": "spaces"}


class _WalkParser:
    """Parses chunks of walks in text; errors name the file and the line."""

    def __init__(self, name: str, separator: int) -> None:
        """Set the separator: each tab separates two ids, or each run of spaces does."""
        self.ids = TokenIds()
        self._name = name
        self._separator = separator
        self._kinds = np.full(256, ORDINARY, np.uint8)
        self._kinds[[NEWLINE, RETURN]] = LINE_END
        self._kinds[separator] = DELIMITER if separator == TAB else BLANK

    def parse(self, chunk: TextChunk) -> tuple[Tokens, NDArray[np.int64]]:
        """Return the ids of a chunk, and where among them each walk ends."""
        data = np.frombuffer(chunk.text, np.uint8)
        ends = np.empty(chunk.count_lines(), np.int64)
        separators = int(np.count_nonzero(data == self._separator))
        places = np.empty((separators + len(ends), 2), np.int32)
        lines, gap = find_tokens(data, self._kinds, places, ends)
        if gap >= 0:
            raise InputError(
                f"{self._name}, line {chunk.line_at(gap)}: expected node ids separated by single "
                "tabs, but one is empty"
            )
        ends = ends[:lines]
        return self.ids.parse(data, places[: ends[-1] if lines else 0]), ends


def read_text(path: Path, compressed: bool, delimiter: str | None) -> StoredWalks:
    """Read one walk per line."""
    if delimiter not in (None, *_SEPARATORS):
        raise InputError(
            f"a tab or spaces separate the ids of walks, not delimiter={delimiter!r}",
            parameter="delimiter",
            value=delimiter,
        )
    with opened(path, compressed) as stream:
        chosen = delimiter or _likely_separator(stream)
        lines = _WalkParser(str(path), ord(chosen))
        gathered = WalkCollector()
        for tokens, ends in map_in_order(lines.parse, read_chunks(stream, str(path), CHUNK_BYTES)):
            gathered.add(lines.ids.number(tokens), ends)
    ids = lines.ids.ids()
    with naming(str(path)):
        if delimiter is None and chosen == " ":
            _refuse_marks(ids)
        told = () if delimiter else (f"separated by {_SEPARATORS[chosen]}",)
        return gathered.walks(ids, (*told, kind_of_ids(ids)))


def _likely_separator(stream: BinaryIO) -> str:
    """Return a tab if there is one in a file, else a space."""
    blocks = iter(partial(stream.read, CHUNK_BYTES), b"")
    found = "\t" if any(b"\t" in block for block in blocks) else " "
    stream.seek(0)
    return found


def _refuse_marks(ids: Ids) -> None:
    """Raise InputError if a lone # or % is a node: walks have no comments."""
    for mark in sorted({"#", "%"}.intersection(ids.tolist() if ids.dtype == object else ())):
        raise InputError(
            f'"{mark}" stands where a node id is expected: leave comments out, or, if it is a '
            'node, delimiter=" " takes it for an id',
            settings=[("delimiter", " ")],
        )


def read_ids(stream: BinaryIO, path: Path) -> Ids:
    """Read node ids, one per line; InputError if one occurs twice."""
    ids, n = TokenIds(), 0
    for chunk in read_chunks(stream, str(path), CHUNK_BYTES):
        text = chunk.text.replace(b"\r\n", b"\n")
        data = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(data == NEWLINE).astype(np.int32)
        places = np.column_stack([np.append(np.int32(0), ends[:-1] + np.int32(1)), ends])
        rows = ids.number(ids.parse(data, places))
        empty = places[:, 0] == places[:, 1]
        for line in np.flatnonzero(empty | (rows != np.arange(n, n + len(rows))))[:1].tolist():
            found = "an empty line" if empty[line] else "one that was there before"
            raise InputError(
                f"{path}, line {chunk.line + line}: expected one node id a line, each once, "
                f"found {found}"
            )
        n += len(rows)
    return ids.ids()
