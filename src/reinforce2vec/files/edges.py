"""Edges as plain arrays: what readers and converters return, and how pairs of ids become one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.errors import InputError
from .._util.ids import Ids, fits_int64, number_integers, number_objects


class Edges(NamedTuple):
    """The edges of a graph as they come from a file or an object of another package."""

    ends: NDArray[np.int32]  # (m, 2), row numbers into `ids`
    weights: Any  # one for each edge, or None
    ids: Ids
    directed: bool = False
    notes: tuple[str, ...] = ()  # what was decided while reading, for reports
    ids_are_text: bool = False  # integers only because all of them look like integers
    sides: tuple[str, str] | None = None  # kinds of the nodes of a bipartite graph


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
    if isinstance(nodes, (str, bytes)) or hasattr(nodes, "columns"):
        raise InputError(f"nodes must be a list of node ids, not a {type(nodes).__name__}")
    if not isinstance(nodes, Iterable):
        raise InputError(f"nodes must be a list of node ids, not {nodes!r}")
    return list(nodes)


def _as_pairs(edges: Any, weights: Any) -> tuple[Any, Any]:
    """Return edges as an integer (m, 2) array or a list of pairs, and the weights of triples."""
    if isinstance(edges, np.ndarray) and edges.dtype.kind in "iuf":
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise InputError(f"an array of edges has the shape (m, 2), not {edges.shape}")
        whole = edges.astype(np.int64) if np.isfinite(edges).all() else None
        if whole is None or not np.array_equal(whole, edges):
            raise InputError("an array of edges holds integer node ids that fit in 64 bits")
        return whole, weights
    if not isinstance(edges, Iterable) or isinstance(edges, (str, bytes)):
        raise InputError(f"edges are pairs of node ids, not a {type(edges).__name__}")
    if isinstance(edges, Mapping) and not isinstance(edges, Set):  # networkx's views are both
        raise InputError(f"edges are pairs of node ids, not a {type(edges).__name__}")
    if hasattr(edges, "columns") or hasattr(edges, "nodes"):
        raise InputError(
            f"a {type(edges).__name__} is not a list of pairs: use Graph.from_any, which knows it"
        )
    if isinstance(edges, np.ndarray):
        pairs = edges.tolist()
    else:
        pairs = [edge.tolist() if isinstance(edge, np.ndarray) else edge for edge in edges]
    sizes = {_size(edge) for edge in pairs}
    if sizes == {3} and weights is None:
        return [edge[:2] for edge in pairs], [edge[2] for edge in pairs]
    for number, edge in enumerate(pairs if sizes - {2} else ()):
        if _size(edge) != 2:
            raise InputError(
                f"edge {number:,} (counted from 0) is {edge!r}: expected a pair of node ids"
            )
    if pairs and all(type(a) is int and type(b) is int for a, b in pairs):
        try:
            return np.array(pairs, np.int64), weights
        except OverflowError:
            pass
    return pairs, weights


def _size(edge: Any) -> int:
    """Return the number of items in an edge; 0 if it is not a sequence of ids."""
    return len(edge) if isinstance(edge, Sequence) and not isinstance(edge, (str, bytes)) else 0


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
    try:
        array = np.ascontiguousarray(weights, np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one for each edge") from None
    if array.shape != (n_edges,):
        raise InputError(
            f"expected one weight for each of the {n_edges:,} edges, got an array of shape "
            f"{array.shape}"
        )
    bad = np.flatnonzero(~((array > 0) & (array < np.inf)))
    if bad.size:
        raise refuse(int(bad[0]), float(array[bad[0]]))
    return array
