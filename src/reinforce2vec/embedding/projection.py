"""Projection of vectors to two dimensions, for maps of an embedding."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import errors
from .._util.arrays import row_blocks
from .._util.checks import check_choice, check_count
from .._util.hyperparameters import PROJECTIONS
from .._util.progress import terminal_progress
from ..graph.matrices import principal_axes, unit_rows
from ._exact_search import Rows
from ._layout import lay_out, rough_neighbors
from .embedding import Embedding
from .matching import as_matrix
from .nearest import nearest_rows

_MOST_FOR_TSNE = 10_000  # nodes, beyond which it takes long
_FEWEST = 5  # nodes for methods other than PCA
_NEIGHBORS = 10  # that attract a node in a layout
_SEARCHED_EXACTLY = 20_000  # nodes; of more, the layout takes neighbours that are found fast

_ROOM = 0.01  # for each node, in the variance of the points at which a layout starts

_Points = NDArray[np.float32]
Nearest = tuple[Rows, NDArray[np.float32]]
"""The most similar rows of each, and their cosines, as :func:`nearest_rows` returns them."""


def project(
    embedding: Embedding | NDArray[Any],
    method: str = "auto",
    *,
    seed: int = 0,
    progress: bool = True,
) -> NDArray[np.float32]:
    """Project vectors to two dimensions, so that nodes with similar vectors are close together.

    Similarity is the cosine, as in all of this package: vectors are first scaled to length 1.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors.
    method : {"auto", "pca", "tsne", "umap", "layout"}
        "pca": the two principal components; fast and faithful to large distances, but groups may
        overlap. The others keep neighbours together and show groups; distances between groups mean
        little. "tsne" needs scikit-learn, and "umap" needs umap-learn. "layout" is the
        neighbour layout, for many nodes: similar nodes attract each other and random ones repel, as
        in UMAP, on all cores. "auto": t-SNE for up to 10,000 nodes if it is installed, else the
        layout. Fewer than five nodes are always projected by PCA.
    seed : int, default 0
        Seed of all but PCA: one seed, one result, on any number of threads. They start from the
        points of PCA, so that another seed does not rotate the map.
    progress : bool, default True
        Whether the layout shows its progress on the terminal, if there is one.

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
    return place_nodes(embedding, method, seed, progress=progress)[0]


def place_nodes(
    embedding: Embedding | NDArray[Any], method: str, seed: int, *, progress: bool
) -> tuple[_Points, Nearest | None]:
    """Return what :func:`project` does, and the neighbours that a layout was made with."""
    seed = check_count("seed", seed, 0)
    matrix = as_matrix(embedding)
    chosen = project_method(method, len(matrix))
    vectors = unit_rows(matrix.copy()).astype(np.float32, copy=False)
    points = _by_pca(vectors)
    if not points.any():  # all vectors are equal
        return points, None
    nearest = None
    if chosen == "tsne":
        points = _by_tsne(vectors, points, seed)
    elif chosen == "umap":
        points = _by_umap(vectors, points, seed)
    elif chosen == "layout":
        if len(vectors) <= _SEARCHED_EXACTLY:
            nearest = nearest_rows(vectors, k=_NEIGHBORS, method="exact", progress=progress)
        else:  # most of the nearest
            report = terminal_progress("neighbours", "", progress)  # of unequal steps, no nodes
            nearest = rough_neighbors(vectors, _NEIGHBORS, seed, report)
        report = terminal_progress("layout", "rounds", progress)
        spread = max(5.0, float(np.sqrt(_ROOM * len(points))))
        points = lay_out(nearest[0], _beginning(points, spread), seed, report)
    return points, nearest


def project_method(method: str, n_nodes: int) -> str:
    """Return the method that is used, which `method` names unless it is "auto"."""
    check_choice("method", method, PROJECTIONS)
    if n_nodes < _FEWEST:
        return "pca"
    if method != "auto":
        return method
    if n_nodes <= _MOST_FOR_TSNE and find_spec("sklearn") is not None:
        return "tsne"
    return "layout"


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
    manifold = errors.import_package("sklearn.manifold", "t-SNE", "tsne")
    threads = errors.import_package("threadpoolctl", "t-SNE", "tsne")
    perplexity = min(30.0, (len(vectors) - 1) / 3)
    maker = manifold.TSNE(
        perplexity=perplexity, init=_beginning(start, 1e-4), random_state=seed % 2**32
    )
    with threads.threadpool_limits(1):  # sums of several threads differ in their last bits
        return np.asarray(maker.fit_transform(vectors), np.float32)


def _by_umap(vectors: _Points, start: _Points, seed: int) -> _Points:
    """Return coordinates by umap-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about missing packages, and from its compiler
        umap = errors.import_package("umap", "UMAP", "umap")
        maker = umap.UMAP(
            n_neighbors=min(15, len(vectors) - 1),
            init=_beginning(start, 5.0),
            random_state=seed % 2**32,
            n_jobs=1,
        )
        return np.asarray(maker.fit_transform(vectors), np.float32)


def _beginning(points: _Points, size: float) -> _Points:
    """Return scaled points to start from, with noise, so that equal points can move apart."""
    shaken = points / points.std(axis=0).max()
    shaken += np.random.default_rng(0).normal(scale=0.01, size=points.shape)
    return np.asarray(shaken * size, np.float32)
