"""Vectors made smoother along a graph: ProNE's spectral propagation."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import iv

from .checks import check_count, check_number
from .embedding import Embedding, checked_vectors
from .errors import InputError
from .graph import Graph
from .matrices import check_memory, singular_factors, undirected_adjacency, unit_rows

COLUMNS = 32  # filtered at a time, so that what is in use stays near the processor


@overload
def smooth(
    embedding: Embedding, graph: Any, *, order: int = 10, mu: float = 0.2, theta: float = 0.5
) -> Embedding: ...


@overload
def smooth(
    embedding: NDArray[Any], graph: Any, *, order: int = 10, mu: float = 0.2, theta: float = 0.5
) -> NDArray[np.float32]: ...


def smooth(
    embedding: Any, graph: Any, *, order: int = 10, mu: float = 0.2, theta: float = 0.5
) -> Embedding | NDArray[np.float32]:
    """Make vectors follow the graph: neighbours and whole groups of nodes come closer.

    This is the spectral propagation of ProNE (Zhang et al., IJCAI 2019), which works on vectors
    of any origin. Every column is seen as a signal on the nodes. A band-pass filter, Gaussian
    around the eigenvalue `mu` of the random-walk Laplacian, keeps what varies along the graph
    at about that pace; then every node takes the sum over its neighbours and itself. The columns
    are made orthogonal again, and each vector gets the length 1.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors. Rows of an array stand in `graph.ids` order; an Embedding is matched by ids.
    graph : Graph
        The graph, or anything that :meth:`Graph.from_any` takes. Directions are set aside: an
        edge that leads both ways counts once, with the weights of both. Every node gets a
        self-loop, as heavy as the mean edge.
    order : int, default 10
        Terms of the Chebyshev series that stands for the filter; each costs two products with
        the adjacency.
    mu : float, default 0.2
        Where the filter is centred, from 0 (what hardly varies between neighbours) to 2.
    theta : float, default 0.5
        How narrow the filter is.

    Returns
    -------
    Embedding or float32 array
        Of the kind that was given, and with its rows in the same order.

    Examples
    --------
    >>> import numpy as np
    >>> from reinforce2vec import karate_club, smooth
    >>> club = karate_club()
    >>> random = np.random.default_rng(0).normal(size=(34, 8))
    >>> smooth(random, club).shape
    (34, 8)
    """
    order, mu, theta = checked_filter(order, mu, theta)
    graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
    if isinstance(embedding, Embedding):
        rows = rows_in(embedding, graph)
        smoothed = np.empty_like(embedding.vectors)
        smoothed[rows] = _smooth(embedding.vectors[rows], graph, order, mu, theta)
        return Embedding(embedding.ids, smoothed)
    vectors = checked_vectors(embedding)
    if len(vectors) != graph.n_nodes:
        raise InputError(
            f"the graph has {graph.n_nodes:,} nodes and the matrix {len(vectors):,} rows: each "
            "node needs its row, in the order of graph.ids"
        )
    return _smooth(vectors, graph, order, mu, theta)


def checked_filter(order: Any, mu: Any, theta: Any) -> tuple[int, float, float]:
    """The parameters of the filter; InputError if one makes no sense."""
    return (
        check_count("order", order, 2),
        check_number("mu", mu, least=0.0, most=2.0),
        check_number("theta", theta, above=0.0, most=100.0),
    )


def rows_in(embedding: Embedding, graph: Graph) -> Any:
    """Rows of the embedding in the order of the graph's nodes."""
    if np.array_equal(embedding.ids, graph.ids):
        return slice(None)
    missing = [node for node in graph.ids.tolist() if node not in embedding]
    if missing or len(embedding) != graph.n_nodes:
        raise InputError(
            f"the embedding has {len(embedding):,} nodes and the graph {graph.n_nodes:,}, "
            + (f"node {missing[0]!r} only in the graph" if missing else "all of them among those")
            + ": both need the same nodes"
        )
    return embedding.rows(graph.ids.tolist())


def _smooth(
    vectors: NDArray[np.float32], graph: Graph, order: int, mu: float, theta: float
) -> NDArray[np.float32]:
    """Filter a few columns at a time, then make them orthogonal: 24 bytes a number."""
    nodes, dimensions = vectors.shape
    if not np.isfinite(vectors).all():
        raise InputError("some vectors hold numbers that are not finite: they cannot be smoothed")
    check_memory(
        bytes_for(graph, dimensions), f"smoothing {nodes:,} vectors of {dimensions:,} dimensions"
    )
    links = undirected_adjacency(graph)
    mean_weight = links.data.mean() if links.nnz else 1.0
    links = scipy.sparse.csr_array(links / mean_weight + scipy.sparse.eye(nodes, format="csr"))
    laplacian = _centred_laplacian(links, mu)
    filtered = np.empty((nodes, dimensions))
    for first in range(0, dimensions, COLUMNS):
        columns = slice(first, first + COLUMNS)
        signal = vectors[:, columns].astype(np.float64)
        filtered[:, columns] = links @ _band_rejected(laplacian, signal, order, theta)
    return unit_rows(singular_factors(filtered)[0].astype(np.float32))


def bytes_for(graph: Graph, dimensions: int) -> int:
    """Memory that smoothing takes beside the graph and the vectors."""
    nodes = graph.n_nodes
    columns = 24 * dimensions + 5 * 8 * min(COLUMNS, dimensions)
    return nodes * columns + 60 * (len(graph.indices) + nodes)


def _centred_laplacian(links: Any, mu: float) -> Any:
    """The random-walk Laplacian less mu: (1 − mu) I − D⁻¹ A, A with its self-loops."""
    steps = links.copy()
    steps.data /= np.repeat(np.asarray(links.sum(axis=1)).ravel(), np.diff(links.indptr))
    return scipy.sparse.csr_array((1 - mu) * scipy.sparse.eye(len(steps.indptr) - 1) - steps)


def _band_rejected(
    laplacian: Any, signal: NDArray[np.float64], order: int, theta: float
) -> NDArray[np.float64]:
    """Signal − exp(−θ y(M)) signal, where y(M) = M²/2 − 1 and M is the centred Laplacian.

    exp(−θ y) = I₀(θ) + 2 Σ (−1)ⁱ Iᵢ(θ) Tᵢ(y), with modified Bessel functions I and Chebyshev
    polynomials T; for mu from 0 to 2 every eigenvalue of y is in [−1, 1], where that converges.
    """

    def twice_y(values: NDArray[np.float64]) -> NDArray[np.float64]:
        product: NDArray[np.float64] = laplacian @ (laplacian @ values)
        product -= 2 * values
        return product

    before, term = signal, twice_y(signal) / 2
    rest: NDArray[np.float64] = (1 - iv(0, theta)) * signal
    rest += 2 * iv(1, theta) * term
    for i in range(2, order):
        following = twice_y(term)
        following -= before
        before, term = term, following
        rest -= 2 * (-1) ** i * iv(i, theta) * term
    return rest
