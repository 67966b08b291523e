"""Smooth vectors along a graph: ProNE's spectral propagation."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._util import backend_choice
from .._util.cuda import device
from .._util.engine import fast_engine_compiles
from .._util.errors import InputError
from .._util.hyperparameters import PARAMETERS
from .._util.machine import available_cpus, check_memory
from .._util.progress import terminal_progress
from ..embedding import Embedding
from ..embedding.embedding import checked_vectors
from ..embedding.matching import aligned_rows, rotation_towards
from ..graph import Graph
from ..graph.matrices import unit_rows, with_moderate_weights
from . import _array_smoothing
from ._filter import checked_filter, filter_along, series
from ._memory import smoothing_bytes, smoothing_bytes_on_gpu
from .cuda.neighbour_sums import DeviceLinks

_Vectors = TypeVar("_Vectors", Embedding, NDArray[Any])


def smooth(
    embedding: _Vectors,
    graph: Any,
    *,
    order: int = 10,
    mu: float = 0.2,
    theta: float = 0.5,
    backend: str = "auto",
    workers: int | None = None,
    progress: bool = False,
) -> _Vectors:
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
        "ray" is taken for "cpu", since this process has the vectors.
    workers : int, optional
        Threads on the CPU; by default one for each CPU core. The result does not depend on it.
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
    workers = PARAMETERS["workers"].check(workers)
    graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)

    def smooth_matrix(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return _smooth(vectors, graph, coefficients, backend, workers, progress)

    if isinstance(embedding, Embedding):
        rows = aligned_rows(embedding, graph)
        smoothed = np.empty_like(embedding.vectors)
        smoothed[rows] = smooth_matrix(embedding.vectors[rows])
        info = {**embedding.info, "smoothed": True} if embedding.info else None
        return Embedding(embedding.ids, smoothed, info=info)
    vectors = checked_vectors(embedding)
    if len(vectors) != graph.n_nodes:
        raise InputError(
            f"the graph has {graph.n_nodes:,} nodes and the matrix {len(vectors):,} rows: each "
            "node needs its row, in the order of graph.ids"
        )
    return smooth_matrix(vectors)


def smooth_learned(
    vectors: NDArray[np.float32],
    graph: Graph,
    coefficients: NDArray[np.float64] | None = None,
    *,
    backend: str,
    workers: int | None = None,
    progress: bool,
) -> NDArray[np.float32]:
    """Smooth vectors that a model has learned, which checked the CPU's memory before it began.

    Another check could only throw them away: it would count freed memory that the allocator keeps.
    """
    if coefficients is None:
        coefficients = series()
    return _smooth(vectors, graph, coefficients, backend, workers, progress, backend == "cpu")


def _smooth(
    vectors: NDArray[np.float32],
    graph: Graph,
    coefficients: NDArray[np.float64],
    backend: str,
    workers: int | None,
    progress: bool,
    checked: bool = False,
) -> NDArray[np.float32]:
    """Check vectors and, unless it was `checked` before, memory; smooth on the CPU or the GPU."""
    nodes, dimensions = vectors.shape
    if not np.isfinite([vectors.max(initial=0), vectors.min(initial=0)]).all():
        raise InputError("some vectors have numbers that are not finite: they cannot be smoothed")
    work = f"smoothing {nodes:,} vectors of {dimensions:,} dimensions"
    numbers = len(coefficients) * dimensions * (nodes + len(graph.indices))
    chosen = backend_choice.choose(backend, "smoothing", numbers, workers=workers)
    needed = smoothing_bytes_on_gpu(graph, dimensions)
    on_gpu = chosen == "cuda" and backend_choice.has_room(needed, work, backend)
    fast = not on_gpu and _fast_engine_compiles(graph.weighted)
    threads = workers or available_cpus()
    if chosen == "ray":  # they count processes of a cluster
        threads = min(threads, available_cpus())
    if not (on_gpu or checked):
        check_memory(smoothing_bytes(graph, dimensions, threads), work)
    report = terminal_progress("smoothing", "products", progress)
    # without directions, and with weights that can be added
    graph = with_moderate_weights(graph).to_undirected()
    how = filter_along(graph, coefficients)
    if on_gpu:
        return _array_smoothing.smoothed(device.cupy(), DeviceLinks(graph), vectors, how, report)
    if fast:
        from .cpu import smoothing

        return smoothing.smoothed(vectors, how, threads, report)
    links = _array_smoothing.HostLinks(graph)
    return _array_smoothing.smoothed(np, links, vectors, how, report)


def _fast_engine_compiles(weighted: bool) -> bool:
    def compile_fast() -> None:
        from .cpu.smoothing import compile_kernels

        compile_kernels(weighted)

    return fast_engine_compiles(compile_fast)


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
