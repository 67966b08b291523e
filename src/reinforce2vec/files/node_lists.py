"""Nodes that are given beside the edges, as a list or in a file: isolated ones, or all of them."""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._util.errors import InputError
from .._util.ids import Ids, as_ids, fits_int64, number_integers, number_objects
from ._lines import INTEGER, excerpt
from .columns import is_name_of_nodes
from .delimited import WHITESPACE, DelimitedText
from .edges import Edges, listed_nodes
from .id_texts import marks_begin_ids, parse_ids
from .opening import opened
from .sides import node_on_no_side

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
    if edges.sides is not None:
        _check_sides(edges.sides, listed)
    codes, ids = _number(listed, edges.ids)
    return edges._replace(ends=codes[len(listed) :][edges.ends], ids=ids)


def _check_sides(sides: tuple[str, str], listed: list[Hashable]) -> None:
    """Raise InputError for a node that is on no side of a bipartite graph."""
    stranger = node_on_no_side(listed, sides)
    if stranger is not None:
        kinds = " nor ".join(f'"{side}:..."' for side in sides)
        raise InputError(
            f"node {stranger!r} is neither {kinds}, as the nodes of this bipartite graph are"
        )


def _number(listed: list[Hashable], ids: Ids) -> tuple[Any, Ids]:
    """Number given nodes and then all others; the numbers of both, and the ids."""
    if ids.dtype == np.int64 and all(fits_int64(node) for node in listed):
        return number_integers(np.concatenate([np.array(listed, np.int64), ids]))
    return number_objects(listed, [ids.tolist()])


def _from_file(edges: Edges, path: Path) -> tuple[Edges, list[Any]]:
    """Return the nodes in a file, and edges whose ids are strings if the nodes' are."""
    with opened(path, path.suffix == ".gz") as stream:
        words = [word for _, word in read_node_list(stream, str(path), edges.ids)]
    if edges.ids.dtype != np.int64:
        return edges, words
    found = parse_ids(words)
    if found.dtype != np.int64 and edges.ids_are_text:
        edges = edges._replace(ids=as_ids([str(node) for node in edges.ids.tolist()]))
    return edges, found.tolist()


def read_node_list(stream: BinaryIO, name: str, ids: Ids) -> list[tuple[int, str]]:
    """Return ids in text: the first field of each line, with the number of the line.

    A first line that names the column is left out, unless it is one of the known `ids`. Blanks
    separate no fields: they are part of an id. Comments stand before the first id, and have a blank
    after their mark, so that "#tag" is an id if known ones begin with a mark, and else refused.
    """
    known = set(ids.tolist())
    data, comments = _without_comments(stream.read(), name, known, marks_begin_ids(ids))
    how: Any = {"comments": comments, "choice": False}
    found = DelimitedText(io.BytesIO(data), name, "node ids", **how).dialect.delimiter
    how["delimiter"] = "\t" if found == WHITESPACE else None
    text = DelimitedText(io.BytesIO(data), name, "node ids", **how)
    rows = []
    for line, fields in text.rows(header=False):
        if not fields[0]:
            raise InputError(f"{name}, line {line}: expected a node id, found none")
        if comments == "" and _COMMENT.match(fields[0]) and fields[0] not in known:
            raise InputError(
                f'{name}, line {line}: this looks like a comment ("{fields[0]}"), and only '
                "comments before the first id are skipped: move it there"
            )
        rows.append((line, fields[0]))
    integers = [INTEGER.fullmatch(word.encode()) is not None for _, word in rows]
    first = rows[0][1]
    named = is_name_of_nodes(first) and first not in known
    header = named or (not integers[0] and len(rows) > 1 and all(integers[1:]))
    return rows[1:] if header else rows


def _without_comments(
    data: bytes, name: str, known: set[Any], marked: bool
) -> tuple[bytes, str | None]:
    """Return a list without the comments before its first id, and which comments are left.

    `marked` says whether known ids begin as comments do. Lines keep their numbers.
    """
    lines = data.removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)
    for number, line in enumerate(lines):
        text = line.strip().decode(errors="replace")
        if text and not text.startswith(("#", "%")):
            return b"\n" * number + b"".join(lines[number:]), None
        if text in known or (marked and text and not _COMMENT.match(text)):
            return b"\n" * number + b"".join(lines[number:]), ""
        if text and not _COMMENT.match(text):
            raise InputError(
                f'{name}, line {number + 1}: this may be a comment or a node id ("'
                f'{excerpt(line.strip())}"): write a blank after the mark of a comment, or double '
                "quotes around an id"
            )
    return data, None


def _check_kinds(ids: Ids, listed: list[Hashable]) -> None:
    """Raise InputError if all nodes are integers and all ids strings, or the other way round."""
    kinds = [_kind(ids.tolist()), _kind(listed)]
    if None not in kinds and kinds[0] != kinds[1]:
        raise InputError(
            f"nodes={listed[0]!r}, ... are {kinds[1]}, but the ids of the edges are {kinds[0]}, "
            f"such as {ids.tolist()[0]!r}: write both alike"
        )


def _kind(ids: list[Hashable]) -> str | None:
    """Return what ids are, if all of them are of one kind."""
    for kind, name in ((int, "integers"), (str, "strings")):
        if ids and all(isinstance(node, kind) for node in ids):
            return name
    return None
