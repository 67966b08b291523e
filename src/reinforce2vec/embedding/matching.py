"""Matching an embedding and a graph: which row of one belongs to which row of the other, by id.

Also whether the vectors were learned from this graph, as far as their file says, and rotating
vectors so that they are comparable with others of the same nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import row_blocks
from .._util.errors import InputError, short_repr
from .._util.ids import NamedRows
from .._util.progress import counted
from ..graph import Graph
from ..graph.fingerprint import content_digest
from ._exact_search import Floats, Places, slices
from .embedding import Embedding, as_numbers

_ROWS = 1 << 14  # multiplied at a time
_TIE = 1e-9  # of the largest product


def as_matrix(vectors: Any, graph: Graph | None = None) -> NDArray[Any]:
    """Return vectors as a matrix of float32 or float64; an Embedding's in the graph's order.

    InputError if a number is not finite or the rows do not fit the graph.
    """
    matrix = vectors
    if isinstance(vectors, Embedding):
        matrix = vectors.vectors if graph is None else vectors.vectors[aligned_rows(vectors, graph)]
    if getattr(matrix, "dtype", None) not in (np.float32, np.float64):
        matrix = as_numbers(matrix, np.float64)
    matrix = as_numbers(matrix)
    if 0 in matrix.shape or (graph is not None and len(matrix) != graph.n_nodes):
        wanted = "node" if graph is None else f"of {graph.n_nodes:,} nodes"
        raise InputError(f"expected a vector for each {wanted}, got shape {matrix.shape}")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise InputError(f"vectors must be finite; that of row {bad[0]:,} (from 0) is not")
    return matrix


def aligned_rows(embedding: Embedding, graph: Graph) -> Any:
    """Return rows of the embedding in the order of the graph's nodes; both need the same nodes."""
    if np.array_equal(embedding.ids, graph.ids):
        return slice(None)
    rows = rows_among(embedding, graph)
    missing = np.flatnonzero(rows < 0)
    if missing.size or len(embedding) != graph.n_nodes:
        detail = "all of them in the embedding"
        if missing.size:
            detail = f"node {short_repr(graph.ids.item(missing[0]))} only in the graph"
        raise InputError(
            f"the embedding has {len(embedding):,} nodes and the graph {graph.n_nodes:,}, "
            f"{detail}: both need the same nodes"
        )
    return rows


def rows_among(among: NamedRows, nodes: NamedRows) -> Places:
    """Return the row of each node among others, -1 for one that is not there; matched by id.

    InputError if the embedding and the graph have no node in common.
    """
    each = (among.row(node) if node in among else -1 for node in nodes.ids.tolist())
    rows = np.fromiter(each, np.int64, len(nodes))
    if (rows < 0).all():
        examples = sorted(short_repr(ids.item(0)) for ids in (nodes.ids, among.ids) if len(ids))
        raise InputError(
            f"no node of the embedding is in the graph; ids are such as {' and '.join(examples)}"
        )
    return rows


# -- is it the graph of the vectors? -----------------------------------------------------------


def graph_mismatch(embedding: Embedding, graph: Graph) -> InputError | None:
    """Return what to say if the vectors were learned from another graph, by :attr:`info`.

    None if they were not, or if nothing is known. The message carries the settings that it names,
    so that commands can name their options.
    """
    info = embedding.info
    if "graph" not in info or info["graph"] == content_digest(graph):
        return None
    for setting in ("directed", "weighted"):
        learned, present = info.get(setting), getattr(graph, setting)
        if isinstance(learned, bool) and learned != present:
            before, now = (
                f"a {setting}" if flag else f"an un{setting}" for flag in (learned, present)
            )
            return InputError(
                f"the vectors were learned from {before} graph, but this is {now} one: read it "
                f"with {setting}={learned}",
                settings=[(setting, learned)],
            )
    return InputError(
        "the vectors were learned from another graph: learn vectors from this graph, or pass the "
        "one they were learned from"
    )


def without_info(embedding: Embedding) -> Embedding:
    """Return the same vectors for a graph that was compared with them already: no more warnings."""
    return Embedding(embedding.ids, embedding.vectors, scales=embedding.scales)


def warn_of_mismatch(embedding: Embedding, graph: Graph, stacklevel: int) -> None:
    """Warn if the vectors were learned from another graph."""
    mismatch = graph_mismatch(embedding, graph)
    if mismatch is not None:
        warnings.warn(str(mismatch), stacklevel=stacklevel + 1)


# -- rotation towards other vectors of the same nodes (Procrustes) -------------------------------


def align(new: Embedding, old: Embedding) -> Embedding:
    """Rotate vectors so that they are comparable with those of an earlier, independent fit.

    Every fit has axes of its own: vectors of two fits cannot be compared, even on the same graph.
    This rotates all of `new` so that the nodes that both have come as close to `old` as possible
    (the orthogonal Procrustes problem). Lengths of vectors and cosines between two vectors of
    `new` stay as they were. If both have the same scales, each scale is rotated by itself.

    After :meth:`Reinforce2Vec.partial_fit` vectors are comparable already.

    Parameters
    ----------
    new : Embedding
        The vectors to rotate.
    old : Embedding
        The vectors to compare them with. Nodes are matched by their ids; each of the two may have
        others. If `new` has, there must be at least as many common nodes as dimensions.

    Returns
    -------
    Embedding
        The nodes of `new`, with vectors that are comparable with `old`.

    Examples
    --------
    >>> from reinforce2vec import Reinforce2Vec, align, karate_club
    >>> old, new = (Reinforce2Vec(8, seed=s, workers=1).fit(karate_club()) for s in (1, 2))
    >>> aligned = align(new.embedding_, old.embedding_)
    >>> aligned
    Embedding(34 nodes, 8 dimensions, 1.1 kB)
    """
    if not (isinstance(new, Embedding) and isinstance(old, Embedding)):
        raise InputError("align takes two Embeddings")
    if new.dimensions != old.dimensions:
        raise InputError(
            f"vectors of {new.dimensions} and of {old.dimensions} dimensions cannot be aligned: "
            "fit both with the same number"
        )
    rows, others = _common_rows(new, old)
    scales = new.scales if new.scales == old.scales else (new.dimensions,)
    if len(rows) < min(max(scales), len(new)):
        raise InputError(
            f"{counted(len(rows), 'node')} in common do not determine a rotation of "
            f"{max(scales)} dimensions: at least as many are needed"
        )
    vectors = np.empty_like(new.vectors)
    for end, width in zip(np.cumsum(scales).tolist(), scales, strict=True):
        columns = slice(end - width, end)
        products = np.zeros((width, width))
        for some in slices(len(rows), _ROWS):
            ours = new.vectors[rows[some], columns].astype(np.float64)
            products += ours.T @ old.vectors[others[some], columns].astype(np.float64)
        turn = rotation_towards(products, np.linalg.eigh)
        for block in row_blocks(new.vectors):
            vectors[block, columns] = new.vectors[block, columns].astype(np.float64) @ turn
    return Embedding(new.ids, vectors, scales=new.scales, info=new.info)


def _common_rows(new: Embedding, old: Embedding) -> Any:
    """Return the rows of nodes that both have, in each of the two."""
    if np.array_equal(new.ids, old.ids):
        return np.arange(len(new)), np.arange(len(old))
    pairs = [(row, old.row(node)) for row, node in enumerate(new) if node in old]
    return np.array(pairs, np.int64).reshape(-1, 2).T


def rotation_towards(products: Floats, eigenvectors: Callable[[Floats], Any]) -> Floats:
    """Return the orthogonal R for which X R is nearest to Y, from the products Xᵗ Y.

    It is U Vᵗ, where U S Vᵗ is the singular value decomposition of the products; an axis with
    products of zero stays. `eigenvectors` returns the eigenvalues of a symmetric matrix, ascending,
    and its eigenvectors as columns. Those of [0 XᵗY; YᵗX 0] are (u, v) / √2 with eigenvalues S.
    """
    n = len(products)
    largest = np.abs(products).max(initial=0.0) or 1.0
    pairs = np.zeros((2 * n, 2 * n))
    pairs[:n, n:] = products + _TIE * largest * np.eye(n)
    pairs[n:, :n] = pairs[:n, n:].T
    _, vectors = eigenvectors(pairs)
    return np.asarray(2 * np.einsum("ik,jk->ij", vectors[:n, n:], vectors[n:, n:]))
