"""Walks as text, one a line, and ids as text, one a line: read and written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._util.compiled import compiled
from .._util.errors import InputError, short_repr
from .._util.ids import Ids
from ._fields import BLANK, DELIMITER, LINE_END, NEWLINE, ORDINARY, RETURN, TAB, find_tokens
from ._lines import CHUNK_BYTES, TextChunk, map_in_order, read_chunks
from ._tokens import TokenIds, Tokens
from .edges import kind_of_ids
from .id_texts import EncodedIds, encode_texts, ids_as_text
from .opening import naming, opened
from .stored_walks import StoredWalks, WalkCollector

_SEPARATORS = {"\t": "tabs", " ": "spaces"}
_TEXT_BYTES = 16 << 20  # what is made ready to write at a time
_BYTE_ORDER_MARK = "\ufeff"


# -- reading -----------------------------------------------------------------------------------


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


def read_text(
    path: Path, compressed: bool, delimiter: str | None, chunk_bytes: int = CHUNK_BYTES
) -> StoredWalks:
    """Read one walk per line."""
    if delimiter not in (None, *_SEPARATORS):
        raise InputError(
            f"a tab or spaces separate the ids of walks, not delimiter={delimiter!r}",
            parameter="delimiter",
            value=delimiter,
        )
    with opened(path, compressed) as stream:
        separator = delimiter or _likely_separator(stream, chunk_bytes)
        parser, walks = _WalkParser(str(path), ord(separator)), WalkCollector()
        chunks = read_chunks(stream, str(path), chunk_bytes)
        for tokens, ends in map_in_order(parser.parse, chunks):
            walks.add(parser.ids.number(tokens), ends)
    ids = parser.ids.ids()
    with naming(str(path)):
        if delimiter is None and separator == " ":
            _refuse_marks(ids)
        detected = () if delimiter else (f"separated by {_SEPARATORS[separator]}",)
        return walks.walks(ids, (*detected, kind_of_ids(ids)))


def _likely_separator(stream: BinaryIO, chunk_bytes: int) -> str:
    """Return a tab if there is one in a file, else a space."""
    blocks = iter(partial(stream.read, chunk_bytes), b"")
    separator = "\t" if any(b"\t" in block for block in blocks) else " "
    stream.seek(0)
    return separator


def _refuse_marks(ids: Ids) -> None:
    """Raise InputError if a lone # or % is a node: walks have no comments."""
    for mark in sorted({"#", "%"}.intersection(ids.tolist() if ids.dtype == object else ())):
        raise InputError(
            f'"{mark}" stands where a node id is expected: leave comments out, or, if it is a '
            'node, delimiter=" " takes it for an id',
            settings=[("delimiter", " ")],
        )


def read_ids(stream: BinaryIO, path: Path, chunk_bytes: int = CHUNK_BYTES) -> Ids:
    """Read node ids, one per line; InputError if one occurs twice."""
    ids, n = TokenIds(), 0
    for chunk in read_chunks(stream, str(path), chunk_bytes):
        data = np.frombuffer(chunk.text.replace(b"\r\n", b"\n"), np.uint8)
        ends = np.flatnonzero(data == NEWLINE).astype(np.int32)
        places = np.column_stack([np.append(np.int32(0), ends[:-1] + np.int32(1)), ends])
        rows = ids.number(ids.parse(data, places))
        wrong = (places[:, 0] == places[:, 1]) | (rows != np.arange(n, n + len(rows)))
        for line in np.flatnonzero(wrong)[:1].tolist():
            raise InputError(
                f"{path}, line {chunk.line + line}: expected one node id a line, each once, but "
                "this line is empty, or its id was there before"
            )
        n += len(rows)
    return ids.ids()


# -- writing -----------------------------------------------------------------------------------


def encode_ids(ids: Ids, path: Path) -> EncodedIds:
    """Return node ids in UTF-8; InputError if an id holds what separates ids or lines."""
    texts = ids_as_text(ids, path)
    for text in texts if ids.dtype == object else ():
        if not text or text.startswith(_BYTE_ORDER_MARK) or set("\t\n\r\0") & set(text):
            raise InputError(
                f"{path}: the node id {short_repr(text)} cannot be written as text, in which tabs "
                "and line breaks separate ids: write a .npz file instead"
            )
    return EncodedIds.of(encode_texts(texts, path))


def write_lines(
    stream: IO[bytes],
    blocks: Iterable[NDArray[np.int32]],
    ids: EncodedIds,
    at_once: int = _TEXT_BYTES,
) -> None:
    """Write the ids of each row of some blocks as a line; about `at_once` bytes at a time."""
    width = ids.longest + 1
    for block in blocks:
        step = max(1, at_once // (block.shape[1] * width))
        for first in range(0, len(block), step):
            rows = block[first : first + step]
            text = np.empty(rows.size * width, np.uint8)
            stream.write(text[: _spell(rows, ids.letters, ids.begins, text)].data)


@compiled
def _spell(walks, letters, begins, out):  # type: ignore[no-untyped-def]
    """Write walks to `out` as lines of tab-separated ids; return the number of bytes written."""
    at = 0
    for walk in walks:
        for node in walk:
            if node < 0:
                break
            for i in range(begins[node], begins[node + 1]):
                out[at] = letters[i]
                at += 1
            out[at] = 9  # a tab
            at += 1
        out[at - 1] = 10  # a line break in place of the last tab
    return at
