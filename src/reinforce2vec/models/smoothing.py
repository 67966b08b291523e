"""Smooth vectors along a graph: ProNE's spectral propagation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import iv

from .._util import backend_choice
from .._util.checks import check_count, check_number
from .._util.cuda import device
from .._util.errors import InputError
from .._util.machine import check_memory
from ..embedding import Embedding
from ..embedding.embedding import checked_vectors
from ..embedding.matching import aligned_rows
from ..graph import Graph
from ..graph.matrices import principal_axes, roots_of, undirected
from .cuda.neighbour_sums import DeviceLinks

_COLUMNS = 32  # filtered at a time, so that they stay in the cache; a warp has 32 lanes
_BLOCKS = 8  # of so many columns, in memory at once
_ROWS = 1 << 14  # turned at a time

_Array = Any  # of numpy, or of CuPy on a GPU


@overload
def smooth(
    embedding: Embedding,
    graph: Any,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str = "auto",
) -> Embedding: ...


@overload
def smooth(
    embedding: NDArray[Any],
    graph: Any,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str = "auto",
) -> NDArray[np.float32]: ...


def smooth(
    embedding: Any,
    graph: Any,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str = "auto",
) -> Embedding | NDArray[np.float32]:
    """Smooth vectors along the graph: neighbours and groups of nodes become more similar.

    This is the spectral propagation of ProNE (Zhang et al., IJCAI 2019), which works on any
    vectors. Every column is a signal on the nodes. A band-pass filter, Gaussian around the
    eigenvalue `mu` of the random-walk Laplacian, keeps the frequencies near it; then every node
    gets the sum over its neighbours and itself. The columns are made orthogonal again, and each
    vector is scaled to length 1.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors. Rows of an array are in `graph.ids` order; an Embedding is matched by ids.
    graph : Graph
        The graph, or anything that :meth:`Graph.from_any` accepts. Directions are ignored: an edge
        that leads both ways counts once, with the weights of both. Every node gets a self-loop
        with the mean weight of an edge.
    order : int, default 10
        Terms of the Chebyshev series that approximates the filter; each costs two products with
        the adjacency matrix.
    mu : float, default 0.2
        Centre of the filter, from 0 (signals that hardly vary between neighbours) to 2.
    theta : float, default 0.5
        Narrowness of the filter.
    backend : {"auto", "cpu", "cuda"}, default "auto"
        Where to work. "auto" uses a GPU if there is one, the work is large enough and it fits into
        the GPU's memory. Results are the same up to the last bits.

    Returns
    -------
    Embedding or float32 array
        Of the same type as the input, with rows in the same order.

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
        rows = aligned_rows(embedding, graph)
        smoothed = np.empty_like(embedding.vectors)
        smoothed[rows] = _smooth(embedding.vectors[rows], graph, order, mu, theta, backend)
        return Embedding(embedding.ids, smoothed)
    vectors = checked_vectors(embedding)
    if len(vectors) != graph.n_nodes:
        raise InputError(
            f"the graph has {graph.n_nodes:,} nodes and the matrix {len(vectors):,} rows: each "
            "node needs its row, in the order of graph.ids"
        )
    return _smooth(vectors, graph, order, mu, theta, backend)


def checked_filter(order: Any, mu: Any, theta: Any) -> tuple[int, float, float]:
    """Return the parameters of the filter; InputError if one is out of range."""
    return (
        check_count("order", order, 2),
        check_number("mu", mu, least=0.0, most=2.0),
        check_number("theta", theta, above=0.0, most=100.0),
    )


# -- where the vectors are ---------------------------------------------------------------------


class _Links(Protocol):
    """An undirected graph to smooth along."""

    def mixed(self, values: _Array, near: _Array, own: _Array) -> _Array:
        """Return own * values + near * (the weighted sum over the neighbours), for every node."""


class HostLinks:
    """An undirected graph in the CPU's memory."""

    def __init__(self, graph: Graph) -> None:
        self._adjacency = graph.to_scipy()

    def mixed(self, values: _Array, near: _Array, own: _Array) -> _Array:
        """Return own * values + near * (the weighted sum over the neighbours), for every node."""
        sums = self._adjacency @ values
        sums *= near[:, None]
        sums += own[:, None] * values
        return sums


def bytes_for(graph: Graph, dimensions: int) -> int:
    """Estimate the memory of smoothing on the CPU, beside the graph and the vectors."""
    an_arc = 60 if graph.directed else 16
    result = 4 * dimensions * graph.n_nodes
    return an_arc * len(graph.indices) + result + _bytes_for_signals(graph, dimensions)


def bytes_on_gpu(graph: Graph, dimensions: int) -> int:
    """Estimate the GPU memory of smoothing, the graph included."""
    arcs = len(graph.indices) * (2 if graph.directed else 1)
    an_arc = 12 if graph.weighted else 4
    return an_arc * arcs + 8 * graph.n_nodes + _bytes_for_signals(graph, dimensions)


def _bytes_for_signals(graph: Graph, dimensions: int) -> int:
    """Estimate the memory for all columns, the blocks under way, and the degrees."""
    columns = dimensions + _BLOCKS * min(_COLUMNS, dimensions) + 6
    return 8 * (columns * graph.n_nodes + 5 * dimensions * min(_ROWS, graph.n_nodes))


# -- smoothing ---------------------------------------------------------------------------------


def _smooth(
    vectors: NDArray[np.float32], graph: Graph, order: int, mu: float, theta: float, backend: str
) -> NDArray[np.float32]:
    """Check vectors and memory, and smooth on the CPU or the GPU."""
    nodes, dimensions = vectors.shape
    if not np.isfinite(vectors).all():
        raise InputError("some vectors have numbers that are not finite: they cannot be smoothed")
    work = f"smoothing {nodes:,} vectors of {dimensions:,} dimensions"
    numbers = order * dimensions * (nodes + len(graph.indices))
    on_gpu = backend_choice.choose(backend, "smoothing", numbers) == "cuda"
    xp: Any
    links: _Links
    if on_gpu and backend_choice.has_room(bytes_on_gpu(graph, dimensions), work, backend):
        graph = undirected(graph)
        xp, links = device.cupy(), DeviceLinks(graph)
    else:
        check_memory(bytes_for(graph, dimensions), work)
        graph = undirected(graph)
        xp, links = np, HostLinks(graph)
    unit, degrees = _with_self_loops(graph)
    signals = xp.empty((nodes, dimensions), np.float64)
    for rows in _blocks(nodes, _ROWS):
        signals[rows] = xp.asarray(vectors[rows])
    _propagate(xp, links, signals, unit, degrees, order, mu, theta)
    return _orthogonal_units(xp, signals)


def _blocks(size: int, step: int) -> Iterator[slice]:
    return (slice(first, first + step) for first in range(0, size, step))


def _with_self_loops(graph: Graph) -> tuple[float, NDArray[np.float64]]:
    """Return the factor that makes the mean weight 1, and the degrees with self-loops of 1."""
    if graph.weights is None or graph.weights.size == 0:
        return 1.0, 1 + graph.degrees.astype(np.float64)
    unit = float(1 / graph.weights.mean())
    return unit, 1 + unit * np.asarray(graph.to_scipy().sum(axis=1)).ravel()


def _propagate(
    xp: Any,
    links: _Links,
    signals: _Array,
    unit: float,
    degrees: NDArray[np.float64],
    order: int,
    mu: float,
    theta: float,
) -> None:
    """Filter signals and sum them over neighbours, in place; with numpy or CuPy as xp.

    The random-walk Laplacian less mu is (1 − mu) I − D⁻¹ A, A with its self-loops.
    """
    near, own = xp.asarray(-unit / degrees), xp.asarray(1 - mu - 1 / degrees)
    units, ones = (xp.asarray(np.full(len(degrees), value)) for value in (unit, 1.0))
    for columns in _blocks(signals.shape[1], _COLUMNS):
        signal = xp.ascontiguousarray(signals[:, columns])
        rest = _band_rejected(lambda values: links.mixed(values, near, own), signal, order, theta)
        signals[:, columns] = links.mixed(rest, units, ones)


def _band_rejected(
    centred: Callable[[_Array], _Array], signal: _Array, order: int, theta: float
) -> _Array:
    """Return signal − exp(−θ y(M)) signal, where y(M) = M²/2 − 1 and M is the centred Laplacian.

    exp(−θ y) = I₀(θ) + 2 Σ (−1)ⁱ Iᵢ(θ) Tᵢ(y), with modified Bessel functions I and Chebyshev
    polynomials T; for mu from 0 to 2 every eigenvalue of y is in [−1, 1], where that converges.
    """

    def twice_y(values: _Array) -> _Array:
        product = centred(centred(values))
        product -= 2 * values
        return product

    bessel = [float(iv(i, theta)) for i in range(order)]
    before, term = signal, twice_y(signal)
    term /= 2
    rest = (1 - bessel[0]) * signal
    rest += 2 * bessel[1] * term
    for i in range(2, order):
        following = twice_y(term)
        following -= before
        before, term = term, following
        rest -= 2 * (-1) ** i * bessel[i] * term
    return rest


def _orthogonal_units(xp: Any, signals: _Array) -> NDArray[np.float32]:
    """Return U √S of the thin singular value decomposition, with rows of length 1.

    Works as :func:`singular_factors`, but on a few rows at a time, and overwrites the signals.
    """
    nodes, dimensions = signals.shape
    turn = xp.asarray(principal_axes(_to_host(signals.T @ signals)))
    squares = xp.zeros(dimensions)
    for rows in _blocks(nodes, _ROWS):
        turned = signals[rows] @ turn
        squares += (turned * turned).sum(axis=0)
        signals[rows] = turned
    scale = xp.asarray(roots_of(np.sqrt(_to_host(squares)), np.float64)[1])
    result = np.empty((nodes, dimensions), np.float32)
    for rows in _blocks(nodes, _ROWS):
        part = signals[rows] * scale
        lengths = xp.sqrt((part * part).sum(axis=1, keepdims=True))
        part /= xp.where(lengths > 0, lengths, 1)
        result[rows] = _to_host(part.astype(np.float32))
    return result


def _to_host(array: _Array) -> NDArray[Any]:
    return np.asarray(array if isinstance(array, np.ndarray) else array.get())
