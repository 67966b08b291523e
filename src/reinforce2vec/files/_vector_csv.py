"""Vectors as CSV: a column of node ids, then a column for each dimension."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .._util.arrays import BLOCK_BYTES, Vectors
from .._util.errors import InputError, excerpt
from .._util.ids import Ids
from ._decimals import parse_rows, write_rows
from ._lines import INTEGER, NUMBER, SHORT_INTEGER, read_lines
from .columns import is_name_in_edges, is_no_dimension, may_be_index
from .id_texts import EncodedIds, encode_texts, ids_as_text, quoted
from .node_tables import is_known_column

_NODE = "node"
_COMMA = ord(",")
_QUOTED = re.compile(rb'"([^"]*(?:""[^"]*)*)"(?=,|\r?\n|\r?\Z)')
_LONGEST_ID = 1 << 20
_QUOTED_NUMBER = re.compile(rb'(?<![^,])[ \t]*"([^",]*)"[ \t\r\n]*(?![^,])')
_NAMES = (b"node", b"id")  # of the column of ids
_ID_COLUMNS = (b"", *_NAMES)  # what names the ids above numbered columns
_EDGE_FIELDS = 2  # after the first: the other end of an edge, and perhaps a weight


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
    texts = ids_as_text(ids, path)
    if ids.dtype == object:
        texts = [quoted(text) for text in texts]
    return EncodedIds.of(encode_texts(texts, path))


def write_csv(stream: Any, words: EncodedIds, vectors: Vectors) -> None:
    """Write the names of the columns, then an id and its numbers per line."""
    stream.write(",".join([_NODE, *column_names(vectors.shape[1])]).encode() + b"\n")
    write_rows(stream, words, vectors, _COMMA)


# -- reading -----------------------------------------------------------------------------------


class _Record(NamedTuple):
    """The number of a line, the node id that it begins with, and the numbers after it."""

    line: int
    word: bytes
    rest: bytes


def read_csv(stream: BinaryIO, path: Path) -> tuple[list[bytes], Vectors]:
    """Read ids and vectors, as :func:`write_csv` or another program wrote them.

    The first column has the ids. The first line may have the names of the columns: words, or
    numbers from 0 on after an empty name, "node" or "id", as pandas writes them. A pandas index
    before a column named "node" or "id" is left out.
    """
    records = _records(stream, path)
    first = next(records, _Record(1, b"", b""))
    fields = [field.strip(b' "\r\n') for field in first.rest.split(b",")]
    unnamed = may_be_index(first.word.decode(errors="replace"), True)
    if unnamed and len(fields) > 1 and fields[0].lower() in _NAMES:
        records, fields = _without_index(records, path), fields[1:]
    if b"" in fields or first.rest.count(b'"') % 2:
        raise InputError(
            f"{path}, line {first.line}: expected a node id and numbers, separated by commas"
        )
    named = not any(map(NUMBER.fullmatch, fields))
    counted = fields == [b"%d" % number for number in range(len(fields))]
    headed = named or (counted and first.word in _ID_COLUMNS)
    of_edges = any(map(is_name_in_edges, fields)) if named else len(fields) <= _EDGE_FIELDS
    if of_edges and (named or not headed):
        raise InputError(
            f"{path}: expected vectors, but this may be a list of edges: name the columns node, "
            "d0, d1 and so on if it is not"
        )
    if headed:
        _check_names(fields, path)
    begins_numbered = _are_numbered([first.word, *fields])
    words: list[bytes] = []
    parts = [np.empty((0, len(fields)), np.float32)]
    block = [] if headed else [first]
    at_once = max(1, BLOCK_BYTES // (len(first.rest) + 1))
    while block := block + list(islice(records, at_once)):
        words += [record.word for record in block]
        texts = [
            _QUOTED_NUMBER.sub(rb"\1", record.rest) if b'"' in record.rest else record.rest
            for record in block
        ]
        lines = [record.line for record in block]
        parts.append(parse_rows(texts, len(fields), path, lines, ","))
        block = []
    no_names = words[1:] and not any(map(INTEGER.fullmatch, words[1:]))
    if begins_numbered and (headed or (no_names and all(map(NUMBER.fullmatch, words)))):
        raise InputError(
            f"{path}: it names {len(fields) + 1} dimensions and no column of node ids: write the "
            "ids as the first column, with the name node"
        )
    if not words and fields != [name.encode() for name in column_names(len(fields))]:
        raise InputError(f"{path}: expected vectors, but there is only one line")
    return words, np.concatenate(parts)


def _check_names(fields: list[bytes], path: Path) -> None:
    """Raise InputError if names of columns say that they are not the dimensions in their order."""
    names = [field.decode(errors="replace") for field in fields]
    ours = column_names(len(names))
    if names != ours and sorted(names) == sorted(ours):
        raise InputError(f"{path}: its columns d0, d1 and so on are in another order")
    numbered = sum(map(_is_numbered, names))
    for name in names:
        odd = 2 * numbered > len(names) and not _is_numbered(name)
        if odd or is_no_dimension(name) or is_known_column(name):
            raise InputError(
                f'{path}: the column "{excerpt(name)}" is no dimension of vectors: leave it out, '
                "or give it another name"
            )


def _are_numbered(names: list[bytes]) -> bool:
    """Return whether names are 0, 1, 2 or d0, d1, d2 and so on: dimensions, and no ids."""
    stem = names[0].removesuffix(b"0")
    return names == [b"%b%d" % (stem, number) for number in range(len(names))]


def _is_numbered(name: str) -> bool:
    """Return whether the name of a column ends with a number, as those of dimensions do."""
    return name[-1:].isdecimal()


def _without_index(records: Iterator[_Record], path: Path) -> Iterator[_Record]:
    """Leave out the first column, the index of a pandas frame that was written with it."""
    last = -1
    for line, word, rest in records:
        found = _QUOTED.match(rest)
        is_number = SHORT_INTEGER.fullmatch(word) is not None
        if not is_number or int(word) <= last or (rest[:1] == b'"' and not found):
            raise InputError(
                f"{path}, line {line}: the first column looks like the index of a pandas frame, "
                "but is not one here: write the file with to_csv(..., index=False)"
            )
        last = int(word)
        if found:
            yield _Record(line, found[1].replace(b'""', b'"'), rest[found.end() + 1 :])
        else:
            node, _, numbers = rest.partition(b",")
            yield _Record(line, node, numbers)


def _closing(text: bytearray, place: int) -> int:
    """Return where quotes close, from a place inside them on; the end of the text if nowhere."""
    while (place := text.find(b'"', place)) >= 0 and text[place + 1 : place + 2] == b'"':
        place += 2
    return place if place >= 0 else len(text)


def _records(stream: BinaryIO, path: Path) -> Iterator[_Record]:
    """Yield the lines of a file that are not blank; an id in quotes may hold line breaks."""

    def next_line() -> bytes:
        return b"".join(read_lines(stream, str(path), 1))

    number = 0
    for line in iter(next_line, b""):
        number += 1
        begin = number
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.startswith(b'"'):
            word, _, rest = line.partition(b",")
            word = word.strip(b" \t")
            if rest.strip() and not word and number > 1:
                raise InputError(f"{path}, line {number}: expected a node id, found none")
            if line.strip():
                yield _Record(begin, word, rest)
            continue
        text, place = bytearray(line), 1  # a copy for each line would take the square of the time
        while text[(place := _closing(text, place)) :] == b"" and len(text) < _LONGEST_ID:
            more = next_line()
            if not more:
                break
            text += more
            number += 1
        line = bytes(text)
        found = _QUOTED.match(line)
        if found is None:
            raise InputError(
                f"{path}, line {begin}: expected a node id in quotes and a comma, found "
                f'"{excerpt(line.splitlines()[0])}"'
            )
        yield _Record(begin, found[1].replace(b'""', b'"'), line[found.end() + 1 :])
