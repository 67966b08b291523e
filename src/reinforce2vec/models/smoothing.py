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

    This is the spectral propagation of ProNE (Zhang et al., IJCAI 2019), on any vectors. Every
    column is a signal on the nodes, of which a Gaussian band-pass filter keeps the frequencies near
    `mu`; then every node gets the sum over its neighbours and itself. The columns are made
    orthogonal again, with signs that do not depend on the machine, and vectors get the length 1.

    Parameters
    ----------
    embedding : Embedding or array (n_nodes, dimensions)
        The vectors. Rows of an array are in `graph.ids` order; an Embedding is matched by ids. The
        result, of float32, has the same type and order.
    graph : Graph
        The graph, or anything that :meth:`Graph.from_any` accepts. Directions are ignored. Every
        node gets a self-loop with the mean weight of an edge.
    order : int, default 10
        Most terms of the Chebyshev series that approximates the filter. With the usual `theta`,
        more than 7 terms change nothing, and take no longer.
    mu : float, default 0.2
        Centre of the filter: an eigenvalue of the random-walk Laplacian, from 0 (signals that
        hardly vary between neighbours) to 2.
    theta : float, default 0.5
        Narrowness of the filter.
    backend : {"auto", "cpu", "cuda", "ray"}, default "auto"
        Where to work; results are the same up to the last bits. "auto" uses a GPU if the work is
        large enough and fits, unless `workers` is given; "ray" is taken for "cpu".
    workers : int, optional
        Threads on the CPU; by default one for each CPU core. The result does not depend on it.
    progress : bool, default False
        Whether to show progress on the terminal.

    Examples
    --------
    >>> from reinforce2vec import karate_club, smooth
    >>> smooth([[row % 5, row % 3] for row in range(34)], karate_club()).shape
    (34, 2)
    """
    coefficients = series(*checked_filter(order, mu, theta))
    workers = PARAMETERS["workers"].check(workers)
    graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)

    if isinstance(embedding, Embedding):
        rows = aligned_rows(embedding, graph)
        vectors, smoothed = embedding.vectors[rows], np.empty_like(embedding.vectors)
        smoothed[rows] = _smooth(vectors, graph, coefficients, backend, workers, progress)
        info = {**embedding.info, "smoothed": True} if embedding.info else None
        return Embedding(embedding.ids, smoothed, info=info)
    vectors = _matrix_for(graph, embedding)
    return _smooth(vectors, graph, coefficients, backend, workers, progress)


def _matrix_for(graph: Graph, matrix: Any) -> NDArray[np.float32]:
    """Return an array as vectors; InputError unless each node has its row."""
    vectors: NDArray[np.float32] = checked_vectors(matrix)
    if len(vectors) != graph.n_nodes:
        raise InputError(
            f"the graph has {graph.n_nodes:,} nodes and the matrix {len(vectors):,} rows: each "
            "node needs its row, in the order of graph.ids"
        )
    return vectors


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
