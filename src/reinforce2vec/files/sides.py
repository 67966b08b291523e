"""Bipartite graphs: the sources and the targets of edges are nodes of two kinds."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError, excerpt, short_repr
from .._util.ids import Ids, as_ids, number_integers
from .._util.progress import counted
from .._util.terminal import on_one_line
from .edges import Edges

DEFAULT_SIDES = ("source", "target")

# Nouns in names of columns. Those of one line are of one kind, each of the others is its own.
_PEOPLE = (
    *("user", "customer", "client", "buyer", "shopper", "visitor", "member", "person", "people"),
    *("reader", "viewer", "listener", "author", "writer", "reviewer", "rater", "voter", "student"),
    *("patient", "actor", "player", "employee"),
)
_THINGS = (
    *("item", "product", "article", "book", "paper", "publication", "movie", "film", "video"),
    *("song", "track", "artist", "album", "game", "app", "page", "url", "post", "question"),
    *("restaurant", "business", "store", "shop", "hotel", "place", "venue", "event", "course"),
    *("drug", "disease", "gene", "protein", "tag", "topic", "keyword", "word", "category"),
    *("group", "team", "company", "organization", "order", "basket", "playlist", "session"),
)


def split_sides(edges: Edges, names: tuple[str, str]) -> Edges:
    """Return edges whose sources and targets are different nodes, although ids may be equal.

    The id 7 becomes "user:7" among the sources and "item:7" among the targets, if these are the
    names.
    """
    if names[0] == names[1]:
        raise InputError(f"bipartite=True: both columns have the name {short_repr(names[0])}")
    sided = 2 * edges.ends.astype(np.int64) + np.array([0, 1])
    codes, keys = number_integers(sided.ravel())
    texts = edges.ids.tolist()
    ids = as_ids([f"{names[key & 1]}:{texts[key >> 1]}" for key in keys.tolist()])
    if len(set(ids.tolist())) < len(ids):
        raise InputError(
            "bipartite=True: two node ids are the same as text, such as 1 and '1': write them alike"
        )
    return edges._replace(ends=codes.reshape(-1, 2), ids=ids, sides=names)


def node_on_no_side(nodes: Iterable[Hashable], sides: tuple[str, str]) -> Hashable:
    """Return the first node whose id does not begin with the name of a side; None if all do."""
    beginnings = tuple(f"{side}:" for side in sides)
    return next((node for node in nodes if not str(node).startswith(beginnings)), None)


def side_ids(size: int, name: str) -> Ids:
    """Return ids of numbered nodes of one side: "row:0", "row:1", ...."""
    return as_ids([f"{name}:{number}" for number in range(size)])


def warn_of_shared_ids(ends: NDArray[np.int32], ids: Ids, names: tuple[str, str]) -> None:
    """Warn if names say that sources and targets are of two kinds, and some ids are both."""
    kinds = _kind(names[0]), _kind(names[1])
    if None in kinds or kinds[0] == kinds[1]:
        return
    both = np.ones(len(ids), bool)
    for side in (0, 1):
        seen = np.zeros(len(ids), bool)
        seen[ends[:, side]] = True
        both &= seen
    if both.any():
        example = excerpt(str(ids[np.argmax(both)]))
        shared = counted(int(np.count_nonzero(both)), "id")
        warnings.warn(
            on_one_line(
                f'the columns "{names[0]}" and "{names[1]}" share {shared}, such as '
                f"{example}, and each is one node: bipartite=True (--bipartite) makes them two"
            ),
            stacklevel=2,
        )


def _kind(name: str) -> str | None:
    """Return the kind of nodes that the name of a column says, such as "user" for "UserID"."""
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    noun = re.sub(r"[ _-]?(ids?|names?|nos?|numbers?|keys?)$", "", words.strip())
    for spelling in (noun, noun.removesuffix("s"), re.sub("ies$", "y", noun)):
        if spelling in _PEOPLE:
            return "person"
        if spelling in _THINGS:
            return spelling
    return None
