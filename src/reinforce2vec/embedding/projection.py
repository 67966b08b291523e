"""Projection of vectors to two dimensions, for maps of an embedding: PCA, t-SNE, UMAP."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import errors
from .._util.arrays import row_blocks
from .._util.checks import check_choice, check_count
from .._util.hyperparameters import PROJECTIONS
from ..graph.matrices import principal_axes, unit_rows
from .embedding import Embedding
from .matching import as_matrix

_MOST_FOR_TSNE = 10_000  # nodes, beyond which it takes long
_MOST_FOR_UMAP = 100_000  # nodes, likewise
_FEWEST = 5  # nodes for t-SNE and UMAP

_Points = NDArray[np.float32]


def project(
    embedding: Embedding | NDArray[Any], method: str = "auto", *, seed: int = 0
) -> NDArray[np.float32]:
    """Project vectors to two dimensions, so that nodes with similar vectors are close together.

    Similarity is the cosine, as in all of this package: vectors are first scaled to length 1.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors.
    method : {"auto", "pca", "tsne", "umap"}
        "pca": the two principal components; fast and faithful to large distances, but groups may
        overlap. "tsne" (needs scikit-learn) and "umap" (needs umap-learn) keep neighbours together
        and show groups; distances between groups mean little. "auto": t-SNE for up to 10,000 nodes
        and UMAP for up to 100,000, if they are installed, else PCA. Fewer than five nodes are
        always projected by PCA.
    seed : int, default 0
        Seed of t-SNE and UMAP, which run on one thread: one seed, one result. They start from the
        points of PCA, so that another seed does not rotate the map.

    Returns
    -------
    float32 array (n_nodes, 2)

    Examples
    --------
    >>> from reinforce2vec import project
    >>> project([[1, 0, 0], [0, 2, 0], [3, 0, 0]], "pca").round(2)
    array([[-0.47,  0.  ],
           [ 0.94,  0.  ],
           [-0.47,  0.  ]], dtype=float32)
    """
    seed = check_count("seed", seed, 0)
    matrix = as_matrix(embedding)
    chosen = project_method(method, len(matrix))
    vectors = unit_rows(matrix.copy()).astype(np.float32, copy=False)
    points = _by_pca(vectors)
    if not points.any():  # all vectors are equal
        return points
    if chosen == "tsne":
        points = _by_tsne(vectors, points, seed)
    elif chosen == "umap":
        points = _by_umap(vectors, points, seed)
    return points


def project_method(method: str, n_nodes: int) -> str:
    """Return the method that is used, which `method` names unless it is "auto"."""
    check_choice("method", method, PROJECTIONS)
    if n_nodes < _FEWEST:
        return "pca"
    if method != "auto":
        return method
    if n_nodes <= _MOST_FOR_TSNE and find_spec("sklearn") is not None:
        return "tsne"
    return "umap" if n_nodes <= _MOST_FOR_UMAP and find_spec("umap") is not None else "pca"


def _by_pca(vectors: _Points) -> _Points:
    """Return coordinates along the two principal axes.

    Computed from the covariance matrix: needs memory for that, and for some rows in float64.
    """
    centre = vectors.mean(axis=0, dtype=np.float64)
    width = vectors.shape[1]
    products = np.zeros((width, width))
    for rows in row_blocks(vectors):
        part = vectors[rows] - centre
        products += part.T @ part
    axes = principal_axes(products)[:, :2]
    points = np.zeros((len(vectors), 2), np.float32)
    for rows in row_blocks(vectors):
        points[rows, : axes.shape[1]] = (vectors[rows] - centre) @ axes
    points[np.abs(points) < 1e-6] = 0  # nothing but rounding errors, of unit vectors
    farthest = points[np.abs(points).argmax(axis=0), [0, 1]]
    return np.where(farthest < 0, -points, points)  # the sign of an axis is arbitrary


def _by_tsne(vectors: _Points, start: _Points, seed: int) -> _Points:
    """Return coordinates by scikit-learn's t-SNE."""
    try:
        manifold, threads = import_module("sklearn.manifold"), import_module("threadpoolctl")
    except ImportError:
        raise errors.missing("scikit-learn", "tsne", "t-SNE") from None
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    maker = manifold.TSNE(perplexity=perplexity, init=_beginning(start, 1e-4), random_state=seed)
    with threads.threadpool_limits(1):  # sums of several threads differ in their last bits
        return np.asarray(maker.fit_transform(vectors), np.float32)


def _by_umap(vectors: _Points, start: _Points, seed: int) -> _Points:
    """Return coordinates by umap-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about missing packages, and from its compiler
        try:
            umap = import_module("umap")
        except ImportError:
            raise errors.missing("umap-learn", "umap", "UMAP") from None
        maker = umap.UMAP(
            n_neighbors=min(15, len(vectors) - 1),
            init=_beginning(start, 5.0),
            random_state=seed,
            n_jobs=1,
        )
        return np.asarray(maker.fit_transform(vectors), np.float32)


def _beginning(points: _Points, size: float) -> _Points:
    """Return scaled points to start from, with noise, so that equal points can move apart."""
    shaken = points / points.std(axis=0).max()
    shaken += np.random.default_rng(0).normal(scale=0.01, size=points.shape)
    return np.asarray(shaken * size, np.float32)
