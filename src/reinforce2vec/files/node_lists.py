"""Nodes that are given beside the edges, as a list or in a file: isolated ones, or all of them."""

from __future__ import annotations

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np

from .._util.errors import InputError
from .._util.ids import Ids, as_ids, fits_int64, number_integers, number_objects
from .edges import Edges, listed_nodes
from .id_texts import parse_ids


def add_nodes(edges: Edges, nodes: Any) -> Edges:
    """Return edges with further nodes; see :func:`reinforce2vec.read_graph` for `nodes`."""
    if nodes is None:
        return edges
    if isinstance(nodes, (str, os.PathLike)):
        edges, listed = _from_file(edges, Path(nodes))
    else:
        listed = listed_nodes(nodes)
    _check_kinds(edges.ids, listed)
    codes, ids = _number(listed, edges.ids)
    return edges._replace(ends=codes[len(listed) :][edges.ends], ids=ids)


def _number(listed: list[Hashable], ids: Ids) -> tuple[Any, Ids]:
    """Number given nodes and then all others; the numbers of both, and the ids."""
    if ids.dtype == np.int64 and all(fits_int64(node) for node in listed):
        return number_integers(np.concatenate([np.array(listed, np.int64), ids]))
    return number_objects(listed, [ids.tolist()])


def _from_file(edges: Edges, path: Path) -> tuple[Edges, list[Hashable]]:
    """Return the nodes in a file, and edges whose ids are strings if the nodes' are."""
    words = read_first_column(path)
    if edges.ids.dtype != np.int64:
        return edges, words
    found = parse_ids(words)
    if found.dtype != np.int64 and edges.ids_are_text:
        edges = edges._replace(ids=as_ids([str(node) for node in edges.ids.tolist()]))
    return edges, found.tolist()


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


def read_first_column(path: Path) -> list[str]:
    """TODO."""
    import csv

    with path.open(newline="") as stream:
        return [row[0].strip() for row in csv.reader(stream) if row]
