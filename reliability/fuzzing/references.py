"""Slow and simple readers, written from the documentation, to compare the library's with.

They decide nothing: delimiter, header and columns are arguments. `Refused` means that a file cannot
be read in this way.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import struct
from collections.abc import Iterator
from itertools import permutations
from typing import Any
from xml.etree import ElementTree

import numpy as np

WHITESPACE = " "
DELIMITERS = (WHITESPACE, ",", ";", "\t", "|")
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.I)
_WIDEST = 6  # columns of which all choices are tried

Row = list[str]


class Refused(Exception):
    """A file that cannot be read in this way."""


class _BadField(str):
    """A field with text after its quotes."""


# -- delimited text ----------------------------------------------------------------------------


def rows_of(data: bytes, delimiter: str, comments: str | None) -> list[Row]:
    """Return the fields of all lines that hold data.

    `comments` is the character that begins comments, "" for none, or None: those with # or % before
    the first line of data.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if "\0" in text:
        raise Refused("NUL")
    if "\r" in text.replace("\r\n", ""):
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.endswith("\n"):
        text += "\n"
    blanks = " \t\r".replace(delimiter, "")
    rows: list[Row] = []
    at = 0
    while at < len(text):
        end = text.index("\n", at)
        line = text[at:end].strip(" \t\r")
        if (
            not line
            or (comments is None and not rows and line[0] in "#%")
            or (comments and line[0] == comments)
        ):
            at = end + 1
        elif comments is None and line[0] in "#%" and (len(line) == 1 or line[1] in " \t\r"):
            raise Refused("a comment among data")
        elif delimiter == WHITESPACE:
            rows.append(re.split("[ \t\r]+", line))
            at = end + 1
        else:
            row, at = _fields(text, at, delimiter, blanks)
            rows.append(row)
    return rows


def _fields(text: str, at: int, delimiter: str, blanks: str) -> tuple[Row, int]:
    """Return the fields of the line that begins at a place, and where the next line begins."""
    row = []
    while True:
        while text[at] in blanks:
            at += 1
        if text[at] == '"':
            field, at = _quoted(text, at + 1)
            while text[at] in blanks:
                at += 1
            if text[at] not in (delimiter, "\n"):  # wrong, if this field is read
                field = _BadField(field)
                while text[at] not in (delimiter, "\n"):
                    at += 1
        else:
            begin = at
            while text[at] not in (delimiter, "\n"):
                at += 1
            field = text[begin:at].rstrip(blanks)
        row.append(field)
        at += 1
        if text[at - 1] == "\n":
            return row, at


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return what is in the quotes that open before a place, and where the text goes on."""
    parts = []
    while True:
        end = text.find('"', at)
        if end < 0:
            raise Refused("open quotes")
        parts.append(text[at:end])
        if text[end + 1] != '"':
            return '"'.join(parts).replace("\r\n", "\n"), end + 1
        at = end + 2


def tables_of(data: bytes, options: dict[str, Any]) -> Iterator[tuple[Row | None, list[Row]]]:
    """Yield the header, or None, and the rows of a text in each way that it may be read."""
    given = options.get("delimiter")
    headers = (False, True) if options.get("header") is None else (options["header"],)
    known = options.get("comments")
    # a file whose known ids begin with a mark has no comments
    marks = (None, "") if known is None else (known,)
    for delimiter in DELIMITERS if given is None else (given,):
        for mark in marks:
            try:
                rows = rows_of(data, delimiter, mark)
            except Refused:
                continue
            for header in headers:
                if rows[header:] or header:
                    yield (rows[0] if header and rows else None), rows[header:]


# -- edges -------------------------------------------------------------------------------------

Edge = tuple[Any, Any, float | None]


def parsed_ids(words: list[str]) -> list[Any]:
    """Return ids: integers if all of them are, else strings."""
    if all(_INTEGER.fullmatch(word) and len(word) < 21 for word in words):
        numbers = [int(word) for word in words]
        if all(-(2**63) <= number < 2**63 for number in numbers):
            return list(numbers)
    return list(words)


def edges_in(rows: list[Row], columns: tuple[int, ...]) -> list[Edge]:
    """Return the edges of rows, from columns of source, target and perhaps weight."""
    words: list[str] = []
    weights: list[float | None] = []
    for row in rows:
        if len(row) <= max(columns):
            raise Refused("a column is missing")
        if any(isinstance(row[column], _BadField) for column in columns):
            raise Refused("text after quotes")
        words += [row[columns[0]], row[columns[1]]]
        if len(columns) > 2:
            if not _NUMBER.fullmatch(row[columns[2]]):
                raise Refused("no number")
            weights.append(float(row[columns[2]]))
        else:
            weights.append(None)
    if not all(words):
        raise Refused("an empty id")
    ids = parsed_ids(words)
    return list(zip(ids[::2], ids[1::2], weights, strict=True))


def column_choices(width: int, weighted: bool) -> Iterator[tuple[int, ...]]:
    """Yield the columns that may be source, target and weight, the usual ones first."""
    count = 3 if weighted else 2
    yield tuple(range(count))
    yield (1, 0, *range(2, count))  # as options name them, in tables of any width
    if width <= _WIDEST:
        for columns in permutations(range(width), count):
            if columns != tuple(range(count)):
                yield columns


def graph_of(
    edges: list[Edge], directed: bool, self_loops: bool, nodes: list[Any] | None = None
) -> dict[str, Any]:
    """Return what a graph of these edges is to hold, as `oracles.graph_content` returns it."""
    order: dict[Any, int] = {node: row for row, node in enumerate(nodes or ())}
    total: dict[tuple[int, int], float] = {}
    weighted = any(weight is not None for *_, weight in edges)
    for source, target, weight in edges:
        a, b = (order.setdefault(node, len(order)) for node in (source, target))
        if a == b and not self_loops:
            continue
        key = (a, b) if directed or a <= b else (b, a)
        total[key] = total.get(key, 0.0) + weight if weight is not None else 1.0
    return {"ids": list(order), "directed": directed, "weighted": weighted, "edges": total}


# -- other formats of graphs -------------------------------------------------------------------


def graphml_edges(data: bytes) -> tuple[list[str], list[Edge], bool]:
    """Return the nodes, the edges and the direction of a GraphML file."""
    # a brace in the name of a namespace is no error, but ElementTree refuses it
    data = re.sub(rb"xmlns[^=]*=[^>]*", lambda found: found[0].replace(b"}", b""), data)
    root = ElementTree.fromstring(data)
    nodes, edges, keys, directed = {}, [], {}, False
    own = set()
    default = None
    data_elements = [one for one in root.iter() if one.tag.rpartition("}")[2] == "data"]
    inner = {one for element in data_elements for one in list(element.iter())[1:]}  # of others
    for element in root.iter():
        if element in inner:
            continue
        tag = element.tag.rpartition("}")[2]
        name = element.get("attr.name", element.get("id", ""))
        if tag == "key" and name.lower() == "weight":
            if element.get("for") in ("edge", "all", None):
                keys[element.get("id")] = element
                found = element.find("{*}default")
                if found is not None:  # networkx has two keys, of which one may have it
                    default = float(found.text or "")
        elif tag == "graph":
            directed = element.get("edgedefault") == "directed"
        elif tag == "node":
            nodes[element.get("id")] = None
        elif tag == "edge":
            weight = default
            for one in element.iterfind("{*}data"):
                if one.get("key") in keys:
                    weight = float(one.text or "")
            own.add(element.get("directed", "").strip() or None)
            ends = element.get("source"), element.get("target")
            nodes |= dict.fromkeys(ends)
            edges.append((*ends, weight))
    if own and None not in own:  # all edges say whether they are directed
        directed = not own.isdisjoint(("true", "1"))
    return list(nodes), edges, directed


def matrix_market(data: bytes) -> tuple[tuple[int, int], dict[tuple[int, int], float], bool]:
    """Return the shape and the entries of a MatrixMarket file, and if all it lists are ones."""
    lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    words = lines[0].lower().split()
    if len(words) != 5 or words[:2] != [b"%%matrixmarket", b"matrix"]:
        raise Refused("another header")
    layout, field, symmetry = (word.decode("latin-1") for word in words[2:])

    def filled(lines: list[bytes]) -> list[int]:
        return [n for n, line in enumerate(lines) if line.strip() and line.lstrip()[:1] != b"%"]

    # a return alone ends a line of entries, and none before them
    size, *_ = filled(lines[1:])
    lines = [lines[size + 1], *b"\n".join(lines[size + 2 :]).splitlines()]
    body = [lines[number].split() for number in filled(lines)]
    n_rows, n_columns = int(body[0][0]), int(body[0][1])
    entries: dict[tuple[int, int], float] = {}
    listed = []
    if layout == "coordinate":
        for words in body[1:]:
            value = 1.0 if field == "pattern" else float(words[2])
            listed.append((int(words[0]) - 1, int(words[1]) - 1, value))
        if len(listed) != int(body[0][2]):
            raise Refused("another number of entries")
    else:
        values = iter([float(word) for words in body[1:] for word in words])
        for column in range(n_columns):
            first = column + (symmetry == "skew-symmetric") if symmetry != "general" else 0
            listed += [(row, column, next(values)) for row in range(first, n_rows)]
    for row, column, value in listed:
        if not (0 <= row < n_rows and 0 <= column < n_columns):
            raise Refused("outside of the matrix")
        entries[row, column] = entries.get((row, column), 0.0) + value
        if symmetry != "general" and row != column:
            mirrored = -value if symmetry == "skew-symmetric" else value
            entries[column, row] = entries.get((column, row), 0.0) + mirrored
    return (n_rows, n_columns), entries, all(value in (0, 1) for *_, value in listed)


def matrix_graph(
    size: int,
    entries: dict[tuple[int, int], float],
    directed: bool,
    weighted: bool | None,
    loops: bool,
    ones: bool,
) -> dict[str, Any]:
    """Return what the graph of an adjacency matrix is to hold; `ones`: it lists nothing else."""
    entries = {key: value for key, value in entries.items() if value}
    if weighted is None:  # entries that are repeated count once, if all are 1
        weighted = not ones
    if not weighted:
        entries = dict.fromkeys(entries, 1.0)
    symmetric = all(
        math.isclose(value, entries.get((column, row), 0.0), rel_tol=1e-9)
        for (row, column), value in entries.items()
    )
    total: dict[tuple[int, int], float] = {}
    for (row, column), value in entries.items():
        if row == column and not loops:
            continue
        if directed:
            total[row, column] = value
        elif symmetric:
            if row <= column:
                total[row, column] = value
        else:
            key = min(row, column), max(row, column)
            total[key] = total.get(key, 0.0) + value if weighted else 1.0
    ids = list(range(size))
    return {"ids": ids, "directed": directed, "weighted": weighted, "edges": total}


# -- walks and vectors -------------------------------------------------------------------------


def walks_in_text(data: bytes) -> list[list[Any]]:
    """Return the walks of a text: lines of ids between tabs, or else between spaces."""
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    if "\t" in text:
        walks = [line.split("\t") for line in text.split("\n") if line]
    else:
        walks = [[word for word in line.split(" ") if word] for line in text.split("\n")]
    walks = [walk for walk in walks if walk]
    if any(not word for walk in walks for word in walk):
        raise Refused("an empty id")
    ids = iter(parsed_ids([word for walk in walks for word in walk]))
    return [[next(ids) for _ in walk] for walk in walks]


def _vector(words: list[str]) -> list[float]:
    for word in words:
        if not (_NUMBER.fullmatch(word) or word.lower().lstrip("+-") in ("nan", "inf", "infinity")):
            raise Refused(f"no number: {word}")
    with np.errstate(over="ignore"):
        return np.array([float(word) for word in words], np.float32).tolist()


def word2vec_text(data: bytes) -> tuple[list[Any], list[list[float]]]:
    """Return ids and vectors of word2vec's text format."""
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    count, dimensions = map(int, lines[0].split())
    body = lines[1 : count + 1]
    if any(line.strip() for line in lines[count + 1 :]) or len(body) < count:
        raise Refused("another number of vectors")
    rows = [line.partition(" ") for line in body]
    vectors = [_vector(rest.split()) for _, _, rest in rows]
    if any(len(vector) != dimensions for vector in vectors):
        raise Refused("another number of dimensions")
    return parsed_ids([word for word, _, _ in rows]), vectors


def word2vec_binary(data: bytes) -> tuple[list[Any], list[list[float]]]:
    """Return ids and vectors of word2vec's binary format."""
    head, _, rest = data.removeprefix(codecs.BOM_UTF8).partition(b"\n")
    count, dimensions = map(int, head.split())
    words, vectors = [], []
    for _ in range(count):
        word, found, rest = rest.partition(b" ")
        if not found or len(rest) < 4 * dimensions:
            raise Refused("too short")
        words.append(word.lstrip(b"\n").decode("utf-8", "surrogateescape"))
        vectors.append(list(struct.unpack(f"<{dimensions}f", rest[: 4 * dimensions])))
        rest = rest[4 * dimensions :]
    if rest.strip():
        raise Refused("too long")
    return parsed_ids(words), vectors


def vectors_csv(data: bytes) -> Iterator[tuple[list[Any], list[list[float]]]]:
    """Yield ids and vectors of a CSV file in each way that it may be read."""
    text = data.decode("utf-8-sig", "surrogateescape")
    if "\r" in text.replace("\r\n", ""):
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    rows = [row for row in rows if len(row) > 1 or row[0].strip()]
    for header in (1, 0):
        for index in (0, 1):
            try:
                vectors = [
                    _vector([word.strip() for word in row[index + 1 :]]) for row in rows[header:]
                ]
                words = [row[index] for row in rows[header:]]
            except (Refused, IndexError):
                continue
            if len({len(vector) for vector in vectors}) <= 1:
                yield parsed_ids(words), vectors
                # blanks around ids without quotes are left out; the module csv hides the quotes
                yield parsed_ids([word.strip(" \t") for word in words]), vectors
