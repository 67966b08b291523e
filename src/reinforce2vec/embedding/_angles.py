"""Cosines of angles between vectors, the same to the last bit however they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import row_blocks


def row_products(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return scalar products of the rows of two matrices, in float64, without copying the matrices.

    By einsum, not by a matrix product, whose last bits depend on the position of a row: equal
    vectors must be equally similar.
    """
    products = np.empty(len(a))
    with np.errstate(invalid="ignore"):  # infinite vectors
        for rows in row_blocks(a):
            one, other = (part[rows].astype(np.float64, order="C") for part in (a, b))
            np.einsum("ij,ij->i", one, other, out=products[rows])
    return products


def norms(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return the Euclidean norms of vectors."""
    lengths: NDArray[np.float64] = np.sqrt(row_products(vectors, vectors))
    return lengths


def cosines(products: NDArray[np.float64], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cosines from scalar products and products of norms; 0 where a norm is 0."""
    with np.errstate(invalid="ignore"):
        ratios = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths != 0)
    return np.clip(ratios, -1, 1)


def highest(values: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return places of the k highest values, highest first, equal ones in order; NaN is last."""
    ranks = np.where(np.isnan(values), np.inf, -values)
    rows = np.arange(len(ranks))
    if k < len(ranks):
        rows = np.flatnonzero(ranks <= np.partition(ranks, k - 1)[k - 1])
    best: NDArray[np.int64] = rows[np.argsort(ranks[rows], kind="stable")][:k]
    return best
