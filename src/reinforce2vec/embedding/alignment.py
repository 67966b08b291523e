"""Rotating vectors so that they are comparable with others of the same nodes (Procrustes)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import row_blocks
from .._util.errors import InputError
from .._util.progress import counted
from ._exact_search import slices
from .embedding import Embedding

_ROWS = 1 << 14  # multiplied at a time
_TIE = 1e-9  # of the largest product

_Matrix = NDArray[np.float64]


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


def rotation_towards(products: _Matrix, eigenvectors: Callable[[_Matrix], Any]) -> _Matrix:
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
