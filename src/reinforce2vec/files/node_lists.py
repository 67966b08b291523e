"""Nodes that are given beside the edges, as a list or in a file: isolated ones, or all of them."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from .._util.errors import InputError
from .._util.ids import Ids, as_ids, fits_int64, number_integers, number_objects
from ._lines import INTEGER
from .columns import is_name_of_nodes
from .delimited import WHITESPACE, DelimitedText
from .edges import Edges, listed_nodes
from .id_texts import parse_ids
from .opening import opened


def add_nodes(edges: Edges, nodes: Any) -> Edges:
    """Return edges with further nodes; see :func:`reinforce2vec.read_graph` for `nodes`."""
    if nodes is None:
        return edges
    if isinstance(nodes, (str, os.PathLike)):
        edges, listed = _from_file(edges, Path(nodes))
    else:
        listed = listed_nodes(nodes)
    _check_kinds(edges.ids, listed)
    _check_sides(edges.sides or (), listed)
    codes, ids = _number(listed, edges.ids)
    return edges._replace(ends=codes[len(listed) :][edges.ends], ids=ids)


def _check_sides(sides: tuple[str, ...], listed: list[Hashable]) -> None:
    """Raise InputError for a node that is on no side of a bipartite graph."""
    for node in listed if sides else ():
        if not str(node).startswith(tuple(f"{side}:" for side in sides)):
            kinds = " nor ".join(f'"{side}:..."' for side in sides)
            raise InputError(
                f"node {node!r} is neither {kinds}, as the nodes of this bipartite graph are"
            )


def _number(listed: list[Hashable], ids: Ids) -> tuple[Any, Ids]:
    """Number given nodes and then all others; the numbers of both, and the ids."""
    if ids.dtype == np.int64 and all(fits_int64(node) for node in listed):
        return number_integers(np.concatenate([np.array(listed, np.int64), ids]))
    return number_objects(listed, [ids.tolist()])


def _from_file(edges: Edges, path: Path) -> tuple[Edges, list[Any]]:
    """Return the nodes in a file, and edges whose ids are strings if the nodes' are."""
    words = _first_column(path, edges.ids)
    if edges.ids.dtype != np.int64:
        return edges, words
    found = parse_ids(words)
    if found.dtype != np.int64 and edges.ids_are_text:
        edges = edges._replace(ids=as_ids([str(node) for node in edges.ids.tolist()]))
    return edges, found.tolist()


def _first_column(path: Path, ids: Ids) -> list[str]:
    """Return the ids in a text file: each line, up to a tab, comma or semicolon."""
    packed, name = path.suffix == ".gz", str(path)
    with opened(path, packed) as stream:
        blanks = DelimitedText(stream, name, "node ids").dialect.delimiter == WHITESPACE
    with opened(path, packed) as stream:
        text = DelimitedText(stream, name, "node ids", delimiter="\t" if blanks else None)
        words = []
        for line, fields in text.rows(header=False):
            if not fields[0]:
                raise InputError(f"{name}, line {line}: expected a node id, found none")
            words.append(fields[0])
    integers = [INTEGER.fullmatch(word.encode()) is not None for word in words]
    named = is_name_of_nodes(words[0]) and words[0] not in ids.tolist()
    header = named or (not integers[0] and len(words) > 1 and all(integers[1:]))
    return words[1:] if header else words


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
