"""Edges as plain arrays: what readers and converters return, and how pairs of ids become one.

In a bipartite graph, the sources and the targets of edges are nodes of two sides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_choice
from .._util.errors import InputError, excerpt, short_repr
from .._util.hyperparameters import ID_TYPES
from .._util.ids import Ids, as_ids, fits_int64, number_integers, number_objects
from .._util.progress import counted
from ._lines import NUMBER, SHORT_INTEGER
from .columns import are_alike

DEFAULT_SIDES = ("source", "target")
_NUMBERS = "biufOSU"  # kinds of arrays that hold numbers, perhaps as text or objects


class Edges(NamedTuple):
    """The edges of a graph as they come from a file or an object of another package."""

    ends: NDArray[np.int32]  # (m, 2), row numbers into `ids`
    weights: Any  # one for each edge, or None
    ids: Ids
    directed: bool = False
    notes: tuple[str, ...] = ()  # what was decided while reading, for reports
    ids_are_text: bool = False  # integers only because all of them look like integers
    sides: tuple[str, str] | None = None  # kinds of the nodes of a bipartite graph
    merged: int = 0  # edges that the reader has merged with others already


def with_id_type(edges: Edges, id_type: str | None) -> Edges:
    """Return edges whose ids are all integers, or all strings; InputError if they cannot be.

    With None they stay as they are, and where text was read, the notes say what they became.
    """
    if id_type is not None:
        return edges._replace(ids=ids_of_type(edges.ids, id_type), ids_are_text=False)
    if not edges.ids_are_text:
        return edges
    return edges._replace(notes=(*edges.notes, kind_of_ids(edges.ids)))


def kind_of_ids(ids: Ids) -> str:
    """Return what ids in text became, for reports."""
    return "integer ids" if ids.dtype == np.int64 else "text ids"


def ids_of_type(ids: Ids, id_type: str) -> Ids:
    """Return ids as integers, or as strings; InputError if they cannot be."""
    check_id_type(id_type)
    if id_type == "int" and ids.dtype == np.int64:
        return ids
    listed = ids.tolist()
    if id_type == "int":
        for node in listed:
            word = str(node).encode(errors="replace")
            if not (isinstance(node, int) or SHORT_INTEGER.fullmatch(word)):
                raise _untypable(id_type, f"the node id {short_repr(str(node))} is not an integer")
    typed = as_ids([int(node) if id_type == "int" else str(node) for node in listed])
    if id_type == "int" and typed.dtype != np.int64:
        raise _untypable(id_type, "node ids do not fit in 64 bits")
    if len({*typed.tolist()}) < len(typed):
        raise _untypable(id_type, "two node ids are the same as text, such as 1 and '1'")
    return typed


def _untypable(id_type: str, problem: str) -> InputError:
    return InputError(f'id_type="{id_type}": {problem}', settings=[("id_type", id_type)])


def check_id_type(id_type: str | None) -> None:
    """Raise InputError for an unknown type of ids."""
    if id_type is not None:
        check_choice("id_type", id_type, ID_TYPES)


def check_nodes(n_nodes: int) -> None:
    """Raise InputError for more nodes than a graph can have."""
    if n_nodes >= 2**31:
        raise InputError("a graph may have at most 2,147,483,647 nodes")


# -- sides -------------------------------------------------------------------------------------


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


def refuse_shared_ids(ends: NDArray[np.int32], ids: Ids, names: tuple[str, str]) -> None:
    """Raise InputError if sources and targets share ids, though their columns have other names.

    A user and an item with the number 7 are two nodes, a source and a target are one.
    """
    if are_alike(*names):
        return
    both = np.ones(len(ids), bool)
    for side in (0, 1):
        both &= np.bincount(ends[:, side], minlength=len(ids)) > 0
    if both.any():
        raise InputError(
            f'the columns "{excerpt(names[0])}" and "{excerpt(names[1])}" share '
            f"{counted(int(both.sum()), 'id')}, such as {excerpt(str(ids[np.argmax(both)]))}: "
            "bipartite=True makes two nodes of each, bipartite=False one",
            settings=[("bipartite", True), ("bipartite", False)],
        )


def node_on_no_side(nodes: Iterable[Hashable], sides: tuple[str, str]) -> Hashable:
    """Return the first node whose id does not begin with the name of a side; None if all do."""
    beginnings = tuple(f"{side}:" for side in sides)
    return next((node for node in nodes if not str(node).startswith(beginnings)), None)


def side_ids(size: int, name: str) -> Ids:
    """Return ids of numbered nodes of one side: "row:0", "row:1", ...."""
    return as_ids([f"{name}:{number}" for number in range(size)])


# -- pairs -------------------------------------------------------------------------------------


def number_pairs(edges: Any, weights: Any, nodes: Iterable[Hashable] | None) -> Edges:
    """Number the nodes of edges that are given as for :meth:`reinforce2vec.Graph.from_edges`."""
    pairs, weights = _as_pairs(edges, weights)
    known = [] if nodes is None else listed_nodes(nodes)
    ids: Ids
    if isinstance(pairs, np.ndarray) and all(fits_int64(node) for node in known):
        flat = np.ascontiguousarray(pairs, np.int64).ravel()
        if known:
            flat = np.concatenate([np.array(known, np.int64), flat])
        codes, ids = number_integers(flat)
    else:
        listed = pairs.tolist() if isinstance(pairs, np.ndarray) else pairs
        codes, ids = number_objects(known, listed)
    ends = codes[len(known) :].reshape(-1, 2)
    return Edges(ends, weights, ids)


def listed_nodes(nodes: Any) -> list[Hashable]:
    """Return node ids that are given as a list, an array, or a column of a table."""
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(nodes, method) and not hasattr(nodes, "columns"):
            nodes = getattr(nodes, method)()
            break
    if (
        isinstance(nodes, (str, bytes))
        or hasattr(nodes, "columns")
        or not hasattr(nodes, "__iter__")
    ):
        raise InputError(f"nodes must be a list of node ids, not of type {type(nodes).__name__}")
    return list(nodes)


def _as_pairs(edges: Any, weights: Any) -> tuple[Any, Any]:
    """Return edges as an integer (m, 2) array or a list of pairs, and the weights of triples."""
    refuse_masked(edges, "node ids")
    if isinstance(edges, np.ndarray) and edges.dtype.kind in "iuf":
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise InputError(f"an array of edges has the shape (m, 2), not {edges.shape}")
        with np.errstate(invalid="ignore"):
            whole = edges.astype(np.int64)
        if not np.array_equal(whole, edges):
            raise InputError("an array of edges holds integer node ids that fit in 64 bits")
        refuse_rounded(edges, "an array of edges")
        return whole, weights
    is_mapping = isinstance(edges, Mapping) and not isinstance(edges, Set)  # networkx's are both
    if is_mapping or isinstance(edges, (str, bytes)) or not isinstance(edges, Iterable):
        raise InputError(f"edges are pairs of node ids, not a {type(edges).__name__}")
    if hasattr(edges, "columns") or hasattr(edges, "nodes"):
        raise InputError(
            f"a {type(edges).__name__} is not a list of pairs: use Graph.from_any, which knows it"
        )
    pairs = [edge.tolist() if isinstance(edge, np.ndarray) else edge for edge in edges]
    sizes = [_size(edge) for edge in pairs]
    if {*sizes} == {3} and weights is None:
        return [edge[:2] for edge in pairs], [edge[2] for edge in pairs]
    if {*sizes} - {2}:
        number = next(number for number, size in enumerate(sizes) if size != 2)
        raise InputError(
            f"edge {number:,} (counted from 0) is {short_repr(pairs[number])}: expected a pair of "
            "node ids"
        )
    if pairs and all(type(a) is int and type(b) is int for a, b in pairs):
        with suppress(OverflowError):
            return np.array(pairs, np.int64), weights
    return pairs, weights


def refuse_rounded(ids: NDArray[Any], where: str) -> None:
    """Raise InputError for whole numbers in floats that are so large that they may be rounded."""
    if ids.dtype.kind != "f":
        return
    limit = 2.0 ** (np.finfo(ids.dtype).nmant + 1)
    rounded = np.flatnonzero(np.abs(ids.ravel()) >= limit)
    if rounded.size:
        raise InputError(
            f"{where} holds node ids as {ids.dtype} that may be rounded, such as "
            f"{ids.ravel()[rounded[0]]:.0f}, so that two nodes would become one: read them as "
            "integers or text"
        )


def _size(edge: Any) -> int:
    """Return the number of items in an edge; 0 if it is not a sequence of ids."""
    return len(edge) if isinstance(edge, Sequence) and not isinstance(edge, (str, bytes)) else 0


def _is_written_number(value: Any) -> bool:
    """Return whether a value is a number, or text that is one in all files."""
    text = value.encode() if isinstance(value, str) else value
    return not isinstance(text, bytes) or NUMBER.fullmatch(text.strip()) is not None


def refuse_masked(values: Any, what: str) -> None:
    """Raise InputError for a masked array with missing values: numpy would use what is hidden."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"some {what} are missing: the array of {what} is masked")


def _refuse_by_number(edge: int, weight: float) -> InputError:
    return InputError(
        f"edge {edge:,} (counted from 0) has weight {weight:g}: weights must be positive and finite"
    )


def checked_weights(
    weights: Any, n_edges: int, refuse: Callable[[int, float], InputError] = _refuse_by_number
) -> NDArray[np.float64]:
    """Return edge weights as an array; InputError if one is not positive and finite.

    `refuse` makes that error, given the number of the edge and its weight.
    """
    refuse_masked(weights, "weights")
    try:
        values = np.asarray(weights)
        if values.dtype.kind not in _NUMBERS:
            raise TypeError  # numpy would make numbers of times, and drop imaginary parts
        if values.dtype.kind in "OUS" and not all(map(_is_written_number, values.flat)):
            raise TypeError  # numpy would make 10 of "1_0"
        array = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):  # also of lists of different lengths
        raise InputError("weights must be numbers, one for each edge") from None
    if array.shape != (n_edges,):
        raise InputError(
            f"expected one weight for each of the {n_edges:,} edges, not {array.shape}"
        )
    bad = np.flatnonzero(~((array > 0) & (array < np.inf)))
    if bad.size:
        raise refuse(int(bad[0]), float(array[bad[0]]))
    return array
