"""What a reader must do: return what is in the file, or raise an InputError in one sentence."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import numpy as np

LONGEST_MESSAGE = 2000  # characters
LARGE = "large"  # in the content of a result that is too large to be compared
_MOST_NODES = 100_000

Content = dict[str, Any]


class Wrong(Exception):
    """A result that is not what the file holds."""


def message_problem(message: str, names: list[str]) -> str | None:
    """Return what is wrong with the message of an InputError, if anything.

    It names one of some files. Tabs are harmless in a terminal.
    """
    if not message.strip():
        return "an empty message"
    odd = [
        one for one in message if one != "\t" and unicodedata.category(one) in ("Cc", "Zl", "Zp")
    ]
    if odd:
        return f"a message with U+{ord(odd[0]):04X}" + (" (a line break)" if odd[0] == "\n" else "")
    if len(message) > LONGEST_MESSAGE:
        return "a message of thousands of characters"
    if not any(name in message for name in names):
        return "a message without the name of the file"
    return None


# -- contents ----------------------------------------------------------------------------------


def graph_content(graph: Any) -> Content:
    """Return what a graph holds; Wrong if its arrays do not fit together."""
    indptr, indices, n = graph.indptr, graph.indices, len(graph.ids)
    if len(indptr) != n + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        raise Wrong("offsets that do not fit the edges")
    if (np.diff(indptr) < 0).any() or (
        len(indices) and not 0 <= indices.min() <= indices.max() < n
    ):
        raise Wrong("edges to nodes that do not exist")
    if graph.weights is not None:
        weights = graph.weights
        if len(weights) != len(indices) or not ((weights > 0) & (weights < np.inf)).all():
            raise Wrong("weights that are not positive and finite")
    if n > _MOST_NODES:  # a matrix that declares so many
        return {LARGE: n}
    sources = np.repeat(np.arange(n), np.diff(indptr)).tolist()
    values = [1.0] * len(indices) if graph.weights is None else graph.weights.tolist()
    arcs = dict(zip(zip(sources, indices.tolist(), strict=True), values, strict=True))
    if len(arcs) != len(indices):
        raise Wrong("an edge that is there twice")
    if not graph.directed:
        if any(arcs.get((b, a)) != weight for (a, b), weight in arcs.items()):
            raise Wrong("an undirected edge that leads one way only")
        arcs = {(a, b): weight for (a, b), weight in arcs.items() if a <= b}
    return {
        "ids": checked_ids(graph.ids),
        "directed": bool(graph.directed),
        "weighted": graph.weights is not None,
        "edges": arcs,
    }


def checked_ids(ids: Any) -> list[Any]:
    """Return ids as a list; Wrong if one is there twice."""
    listed = ids.tolist()
    if len(set(listed)) < len(listed):
        raise Wrong("an id that is there twice")
    return listed


def vectors_content(embedding: Any) -> Content:
    """Return what an embedding holds."""
    vectors = np.asarray(embedding.vectors)
    if vectors.dtype != np.float32 or vectors.ndim != 2 or len(vectors) != len(embedding.ids):
        raise Wrong("vectors that do not fit the ids")
    info = getattr(embedding, "info", None)
    return {"ids": checked_ids(embedding.ids), "vectors": vectors.tolist(), "info": repr(info)}


def walks_content(walks: Any) -> Content:
    """Return the walks as lists of ids."""
    ids = checked_ids(walks.ids)
    found = []
    for begin, end in zip(walks.begins[:-1].tolist(), walks.begins[1:].tolist(), strict=True):
        rows = [row for row in np.asarray(walks.nodes[begin:end]).tolist() if row != -1]
        if not rows or min(rows) < 0 or max(rows) >= len(ids):
            raise Wrong("a walk over nodes that do not exist")
        found.append([ids[row] for row in rows])
    return {"walks": found, "ids": ids}


def same(one: Any, other: Any) -> bool:
    """Return whether contents are equal: types too, floats up to rounding, NaN equal to NaN."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return (
            one == other
            or (one != one and other != other)
            or math.isclose(one, other, rel_tol=1e-9)
        )
    return type(one) is type(other) and one == other


def require(found: Content, wanted: Content, what: str) -> None:
    """Raise Wrong unless contents are the same; `what` says where the other one is from."""
    for part in wanted:
        if not same(found[part], wanted[part]):
            raise Wrong(
                f"{part} that differ from {what}: {found[part]!r:.300} != {wanted[part]!r:.300}"
            )


def outcome(message: str) -> str:
    """Return the kind of a message: without numbers, names and what is quoted.

    What is quoted may hold quotes: all is left out from the first one to the last.
    """
    text = re.sub(r"""["'].*["']|["'].*""", '""', message.split(": ", 1)[-1])
    return re.sub(r"0x[0-9a-f]+|[\d,.]+", "0", text)[:160]
