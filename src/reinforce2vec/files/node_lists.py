"""Nodes that are given beside the edges, as a list or in a file: isolated ones, or all of them."""

from __future__ import annotations

import codecs
import io
import os
import re
from array import array
from collections.abc import Hashable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .._util.errors import InputError, excerpt, short_repr
from .._util.ids import Ids, as_ids, fits_int64, number_integers, number_objects
from .._util.machine import check_memory
from .._util.progress import counted
from ._lines import INTEGER, NUMBER, SMALL_CHUNK_BYTES, TextChunk, check_is_text
from .delimited import WHITESPACE, open_text
from .edge_lists import is_no_name
from .edges import Edges, listed_nodes, node_on_no_side
from .id_texts import COMMENTED, MISSING_IDS, marks_begin_ids, parse_ids, refuse_odd_id
from .node_tables import is_id_column
from .opening import opened

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BLANKS = b" \t\r\n"  # as in all text files: a form feed may be an id
_BYTES_PER_BYTE = 40  # of memory for each byte of text: short ids take most
_COMMENT = re.compile(r"[#%]+(\s|$)")


def add_nodes(edges: Edges, nodes: Any) -> Edges:
    """Return edges with further nodes; see :func:`reinforce2vec.read_graph` for `nodes`."""
    if nodes is None:
        return edges
    if isinstance(nodes, (str, os.PathLike)):
        edges, listed = _from_file(edges, Path(nodes))
    else:
        listed = listed_nodes(nodes)
    _check_kinds(edges.ids, listed)
    stranger = None if edges.sides is None else node_on_no_side(listed, edges.sides)
    if edges.sides is not None and stranger is not None:
        kinds = " nor ".join(f'"{side}:..."' for side in edges.sides)
        raise InputError(
            f"node {short_repr(stranger)} is neither {kinds}, as the nodes of this bipartite "
            "graph are"
        )
    codes, ids = _number(listed, edges.ids)
    return edges._replace(ends=codes[len(listed) :][edges.ends], ids=ids)


def _number(listed: list[Hashable], ids: Ids) -> tuple[Any, Ids]:
    """Number given nodes and then all others; the numbers of both, and the ids."""
    if ids.dtype == np.int64 and all(fits_int64(node) for node in listed):
        return number_integers(np.concatenate([np.array(listed, np.int64), ids]))
    return number_objects(listed, [ids.tolist()])


def _from_file(edges: Edges, path: Path) -> tuple[Edges, list[Any]]:
    """Return the nodes in a file, and edges whose ids are strings if the nodes' are."""
    with opened(path, path.suffix == ".gz") as stream:
        words, lines, notes = read_node_list(stream, str(path), edges.ids)
    edges = edges._replace(notes=(*edges.notes, *notes))
    if edges.ids.dtype != np.int64:
        return edges, words
    listed = chain(map(str, edges.ids[:1].tolist()), words)
    refuse_odd_id(listed, lambda number: f"{path}, line {lines[number - 1]}", COMMENTED)
    found = parse_ids(words)
    if found.dtype != np.int64 and edges.ids_are_text:
        notes = tuple("text ids" if note == "integer ids" else note for note in edges.notes)
        edges = edges._replace(ids=as_ids([str(node) for node in edges.ids.tolist()]), notes=notes)
    return edges, found.tolist()


class _NodeList(NamedTuple):
    """The ids in a file, in text, the numbers of their lines, and what was decided."""

    words: list[str]
    lines: Sequence[int]
    notes: tuple[str, ...]


def read_node_list(stream: BinaryIO, name: str, ids: Ids) -> _NodeList:
    """Return the ids of a file: the first field of each line.

    A first line that names the columns is left out, unless it is one of the known `ids`: a name
    such as "node" or "id", or words of which one is above numbers or dates. Blanks separate no
    fields: they are part of an id.
    Comments stand before the first id, and have a blank after their mark, so that "#tag" is an id
    if known ones begin with a mark, and else refused.
    """
    known = set(ids.tolist())
    data = _read_all(stream, name)
    check_is_text(TextChunk(data, 1), name)  # comments too, which are not read below
    data, comments, skipped = _without_comments(data, name, known, marks_begin_ids(ids))
    how: Any = {"comments": comments, "chunk_bytes": SMALL_CHUNK_BYTES}
    found = open_text(io.BytesIO(data), name, "node ids", **how).dialect.delimiter
    how["delimiter"] = "\t" if found == WHITESPACE else None
    text = open_text(io.BytesIO(data), name, "node ids", **how)
    words, lines, wide = list[str](), array("q"), 0
    for line, fields in text.rows(header=False):
        wide += len(fields) > 1
        if not fields[0]:
            raise InputError(f"{name}, line {line}: expected a node id, found none")
        if comments == "" and _COMMENT.match(fields[0]) and fields[0] not in known:
            raise InputError(
                f'{name}, line {line}: this looks like a comment ("{excerpt(fields[0])}"), and '
                "only comments before the first id are skipped: move it there"
            )
        words.append(fields[0])
        lines.append(line)
    first, notes = words[0], []
    header = is_id_column(first)
    if not header and len(words) > 1 and not NUMBER.fullmatch(first.encode()):
        header = all(map(_is_integer, islice(words, 1, None))) or _are_names(text.heads)
    header = header and first not in known
    if skipped:
        notes.append(f"{name}: {counted(skipped, 'comment')} skipped")
    if wide:
        notes.append(f"{name}: ids from the first column of several")
    if header:
        notes.append(f'{name}: the first line, "{excerpt(first)}", taken for a header')
        words, lines = words[1:], lines[1:]
    elif first not in known:
        notes.insert(0, f'{name}: no header: "{excerpt(first)}" is a node')
    return _NodeList(words, lines, tuple(notes))


def _read_all(stream: BinaryIO, name: str) -> bytes:
    """Return the content of a file; InputError if its ids will not fit into the memory."""
    parts: list[bytes] = []
    while part := stream.read(SMALL_CHUNK_BYTES):
        parts.append(part)
        what = f"{name}: a list of nodes"
        check_memory(_BYTES_PER_BYTE * len(part), what, place="further memory")
    return b"".join(parts)


def _is_integer(word: str) -> bool:
    return INTEGER.fullmatch(word.encode()) is not None


def _are_names(heads: list[list[bytes]]) -> bool:
    """Return whether the first line has words only, and one of them is above numbers or dates."""
    first, *others = heads
    if any(is_no_name(word) or word.decode().lower() in MISSING_IDS for word in first):
        return False
    columns = [[row[place] for row in others if place < len(row)] for place in range(len(first))]
    return any(
        word and any(values) and all(is_no_name(value) for value in values if value)
        for word, values in zip(first, columns, strict=True)
    )


def _without_comments(
    data: bytes, name: str, known: set[Any], marked: bool
) -> tuple[bytes, str | None, int]:
    """Return a list without the comments before its first id, which are left, and their number.

    `marked` says whether known ids begin as comments do. Lines keep their numbers.
    """
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    begin, before, skipped, comments = len(mark), 0, 0, None
    for number, line in enumerate(_LINE.finditer(data, begin)):
        text = line[0].strip(_BLANKS).decode()
        is_comment = text not in known and _COMMENT.match(text)
        if is_comment or not text:
            begin, before = line.end(), number + 1
            skipped += bool(is_comment)
            continue
        if text.startswith(("#", "%")):
            if not marked:
                raise InputError(
                    f'{name}, line {number + 1}: this may be a comment or a node id ("'
                    f'{excerpt(text)}"): write a blank after the mark of a comment, or double '
                    "quotes around an id"
                )
            comments = ""
        break
    return mark + b"\n" * before + data[begin:], comments, skipped


def _check_kinds(ids: Ids, listed: list[Hashable]) -> None:
    """Raise InputError if all nodes are integers and all ids strings, or the other way round."""
    types = {type(node) for node in listed}, {type(node) for node in ids.tolist()}
    if types in (({int}, {str}), ({str}, {int})):
        names = {int: "integers", str: "strings"}
        what, others = (names[kind] for kinds in types for kind in kinds)
        raise InputError(
            f"nodes={short_repr(listed[0])}, ... are {what}, but the ids of the edges are "
            f"{others}, such as {short_repr(ids.tolist()[0])}: write both alike"
        )
