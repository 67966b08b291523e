"""Smooth vectors along a graph: ProNE's spectral propagation."""

from __future__ import annotations

from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from .._util import backend_choice
from .._util.checks import check_count, check_number
from .._util.cuda import device
from .._util.engine import fast_engine_compiles, use_plain
from .._util.errors import InputError
from .._util.hyperparameters import PARAMETERS
from .._util.machine import available_cpus, check_memory
from .._util.progress import terminal_progress
from ..embedding import Embedding
from ..embedding.alignment import rotation_towards
from ..embedding.embedding import checked_vectors
from ..embedding.matching import aligned_rows
from ..graph import Graph
from ..graph.graph import bytes_without_directions
from ..graph.matrices import unit_rows, with_moderate_weights
from . import _array_smoothing
from ._series import series
from ._sizes import (
    ClusterBytes,
    bytes_for_blocks,
    bytes_on_cluster,
    signal_bytes,
)
from .cuda.neighbour_sums import DeviceLinks


@overload
def smooth(
    embedding: Embedding,
    graph: Any,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str = "auto",
    workers: int | None = None,
    progress: bool = False,
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
    workers: int | None = None,
    progress: bool = False,
) -> NDArray[np.float32]: ...


def smooth(
    embedding: Any,
    graph: Any,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str = "auto",
    workers: int | None = None,
    progress: bool = False,
) -> Embedding | NDArray[np.float32]:
    """Smooth vectors along the graph: neighbours and groups of nodes become more similar.

    This is the spectral propagation of ProNE (Zhang et al., IJCAI 2019), which works on any
    vectors. Every column is a signal on the nodes. A band-pass filter, Gaussian around the
    eigenvalue `mu` of the random-walk Laplacian, keeps the frequencies near it; then every node
    gets the sum over its neighbours and itself. The columns are made orthogonal again, and each
    vector is scaled to length 1. The largest entry of each axis of the rotation is positive, so
    that the signs of columns do not depend on the machine.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors. Rows of an array are in `graph.ids` order; an Embedding is matched by ids.
    graph : Graph
        The graph, or anything that :meth:`Graph.from_any` accepts. Directions are ignored: an edge
        that leads both ways counts once, with the weights of both. Every node gets a self-loop
        with the mean weight of an edge.
    order : int, default 10
        Most terms of the Chebyshev series that approximates the filter. What follows a term is left
        out where it is smaller than the rounding error of float32: with the usual `theta`, more
        than 7 terms change nothing, and take no longer.
    mu : float, default 0.2
        Centre of the filter, from 0 (signals that hardly vary between neighbours) to 2.
    theta : float, default 0.5
        Narrowness of the filter.
    backend : {"auto", "cpu", "cuda", "ray"}, default "auto"
        Where to work. "auto" uses a GPU if there is one, the work is large enough and it fits into
        the GPU's memory, unless `workers` is given. Results are the same up to the last bits.
        "ray" works on a Ray cluster, or in processes of this machine, with the result of "cpu".
    workers : int, optional
        Threads on the CPU, or calls at a time on Ray; by default one for each CPU core. The result
        does not depend on it.
    progress : bool, default False
        Whether to show progress on the terminal.

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
    coefficients = series(*checked_filter(order, mu, theta))
    how = _How(coefficients, backend, PARAMETERS["workers"].check(workers), progress)
    graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
    if isinstance(embedding, Embedding):
        rows = aligned_rows(embedding, graph)
        smoothed = np.empty_like(embedding.vectors)
        smoothed[rows] = _smooth(embedding.vectors[rows], graph, how)
        info = {**embedding.info, "smoothed": True} if embedding.info else None
        return Embedding(embedding.ids, smoothed, info=info)
    vectors = checked_vectors(embedding)
    if len(vectors) != graph.n_nodes:
        raise InputError(
            f"the graph has {graph.n_nodes:,} nodes and the matrix {len(vectors):,} rows: each "
            "node needs its row, in the order of graph.ids"
        )
    return _smooth(vectors, graph, how)


def checked_filter(order: Any, mu: Any, theta: Any) -> tuple[int, float, float]:
    """Return the parameters of the filter; InputError if one is out of range."""
    return (
        check_count("order", order, 2),
        check_number("mu", mu, least=0.0, most=2.0),
        check_number("theta", theta, above=0.0, most=100.0),
    )


class _How(NamedTuple):
    """How to smooth: coefficients of the series, where, on how many threads."""

    coefficients: NDArray[np.float64]
    backend: str
    workers: int | None
    progress: bool
    checked: bool = False  # whether memory was checked before


def smooth_learned(
    vectors: NDArray[np.float32],
    graph: Graph,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str,
    workers: int | None = None,
    progress: bool,
) -> NDArray[np.float32]:
    """Smooth vectors that a model has learned, which checked the CPU's memory before it began.

    Another check could only throw them away: it would count freed memory that the allocator keeps.
    """
    coefficients = series(*checked_filter(order, mu, theta))
    return _smooth(vectors, graph, _How(coefficients, backend, workers, progress, backend == "cpu"))


def bytes_for(
    graph: Graph, dimensions: int, workers: int | None = None, on_disk: bool = False
) -> int:
    """Estimate the memory of smoothing on the CPU, beside the graph and the vectors."""
    making, links = bytes_without_directions(graph)
    if use_plain() and not graph.weighted:
        links += 8 * len(graph.indices) * (2 if graph.directed else 1)  # weights of 1
    workers = workers or available_cpus()
    return max(making, links + bytes_for_signals(graph.n_nodes, dimensions, workers, on_disk))


def bytes_for_signals(n_nodes: int, dimensions: int, workers: int, on_disk: bool = False) -> int:
    """Estimate the memory of smoothing on the CPU, beside graphs and the vectors.

    With large arrays `on_disk`, it is less by :func:`bytes_on_disk`.
    """
    if use_plain():
        result = 4 * dimensions * n_nodes
        return result + _array_smoothing.bytes_for_arrays(n_nodes, dimensions)
    needed = bytes_for_blocks(n_nodes, dimensions, workers)
    return needed - (bytes_on_disk(n_nodes, dimensions) if on_disk else 0)


def bytes_on_disk(n_nodes: int, dimensions: int) -> int:
    """Return the bytes that smoothing takes of a scratch folder; the plain engine takes none."""
    return 0 if use_plain() else signal_bytes(n_nodes, dimensions)


def bytes_on_gpu(graph: Graph, dimensions: int) -> int:
    """Estimate the GPU memory of smoothing, the graph included."""
    arcs = len(graph.indices) * (2 if graph.directed else 1)
    an_arc = 12 if graph.weighted else 4
    signals = _array_smoothing.bytes_for_arrays(graph.n_nodes, dimensions)
    return an_arc * arcs + 8 * graph.n_nodes + signals


def bytes_on_ray(graph: Graph, dimensions: int) -> ClusterBytes:
    """Estimate the memory of smoothing on Ray, beside the graph and the vectors."""
    arcs = len(graph.indices) * (2 if graph.directed else 1)
    links = (12 if graph.weighted else 4) * arcs + 8 * graph.n_nodes
    needed = bytes_on_cluster(graph.n_nodes, dimensions, links)
    return needed._replace(driver=needed.driver + bytes_without_directions(graph)[0])


def check_on_ray(ray: Any, graph: Graph, dimensions: int) -> None:
    """Raise InputError if a cluster has too little memory to smooth; for use before training."""
    if not use_plain():
        from .ray.smoothing import check_nodes

        check_nodes(ray, bytes_on_ray(graph, dimensions), (graph.n_nodes, dimensions))


def _smooth(vectors: NDArray[np.float32], graph: Graph, how: _How) -> NDArray[np.float32]:
    """Check vectors and memory, and smooth on the CPU, the GPU or Ray."""
    nodes, dimensions = vectors.shape
    if not np.isfinite([vectors.max(initial=0), vectors.min(initial=0)]).all():
        raise InputError("some vectors have numbers that are not finite: they cannot be smoothed")
    work = f"smoothing {nodes:,} vectors of {dimensions:,} dimensions"
    numbers = len(how.coefficients) * dimensions * (nodes + len(graph.indices))
    backend = backend_choice.choose(how.backend, "smoothing", numbers, workers=how.workers)
    report = terminal_progress("smoothing", "products", how.progress)
    needed = bytes_on_gpu(graph, dimensions)
    if backend == "cuda" and backend_choice.has_room(needed, work, how.backend):
        graph = _undirected(graph)
        unit, degrees = _with_self_loops(graph)
        return _array_smoothing.smoothed(
            device.cupy(), DeviceLinks(graph), vectors, unit, degrees, how.coefficients, report
        )
    fast = _fast_engine_compiles(graph.weighted)
    if backend == "ray" and fast:  # the plain engine works in this process
        on_ray = bytes_on_ray(graph, dimensions)
        check_memory(on_ray.driver, work)
        graph = _undirected(graph)
        unit, degrees = _with_self_loops(graph)
        from .ray.smoothing import smoothed

        return smoothed(
            vectors, graph, unit, degrees, how.coefficients, how.workers, on_ray, report
        )
    workers = how.workers or available_cpus()
    if not how.checked:
        check_memory(bytes_for(graph, dimensions, workers), work)
    graph = _undirected(graph)
    unit, degrees = _with_self_loops(graph)
    if fast:
        from .cpu import smoothing

        return smoothing.smoothed(vectors, graph, unit, degrees, how.coefficients, workers, report)
    links = _array_smoothing.HostLinks(graph)
    return _array_smoothing.smoothed(np, links, vectors, unit, degrees, how.coefficients, report)


def _fast_engine_compiles(weighted: bool) -> bool:
    def compile_fast() -> None:
        from .cpu.smoothing import compile_kernels

        compile_kernels(weighted)

    return fast_engine_compiles(compile_fast)


def _undirected(graph: Graph) -> Graph:
    """Return the graph without directions, with weights that can be added; their unit is lost."""
    return with_moderate_weights(graph).to_undirected()


def _with_self_loops(graph: Graph) -> tuple[float, NDArray[np.float64]]:
    """Return the factor that makes the mean weight 1, and the degrees with self-loops of 1."""
    if graph.weights is None or graph.weights.size == 0:
        return 1.0, 1 + graph.degrees.astype(np.float64)
    unit = float(1 / graph.weights.mean())
    sums, linked = np.zeros(graph.n_nodes), np.flatnonzero(graph.degrees)
    sums[linked] = np.add.reduceat(graph.weights, graph.indptr[linked])
    return unit, 1 + unit * sums


def aligned(
    vectors: NDArray[np.float32],
    rows: NDArray[np.integer[Any]],
    reference: NDArray[np.float32],
    workers: int | None = None,
) -> NDArray[np.float32]:
    """Rotate smoothed vectors so that some of their rows match earlier ones as well as possible.

    Every smoothing has axes of its own; after this, vectors are comparable with those of the
    reference. Solves the orthogonal Procrustes problem: scalar products between vectors stay.

    Parameters
    ----------
    vectors : float32 array (n_nodes, dimensions)
        Vectors of length 1, or zeros.
    rows : int array
        The row of `vectors` that belongs to each row of the reference.
    reference : float32 array (len(rows), dimensions)
        Earlier vectors.
    workers : int, optional
        Threads; by default one for each CPU core. The result does not depend on it.

    Returns
    -------
    float32 array (n_nodes, dimensions)
        A new array.
    """
    if _fast_engine_compiles(False):
        from .cpu import smoothing

        return smoothing.aligned(vectors, rows, reference, workers or available_cpus())
    products = vectors[rows].astype(np.float64).T @ reference.astype(np.float64)
    return unit_rows((vectors @ rotation_towards(products, np.linalg.eigh)).astype(np.float32))
