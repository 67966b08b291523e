"""A graph on a GPU, along which vectors are smoothed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._util.cuda.compiling import compiled_module
from ..._util.cuda.device import THREADS, cupy
from ...graph import Graph

_LONG = 512  # neighbours from which on a whole block of threads sums them


class DeviceLinks:
    """An undirected graph on a GPU, as HostLinks is one on the CPU."""

    def __init__(self, graph: Graph) -> None:
        cp = cupy()
        code = compiled_module(
            "models/cuda/neighbour_sums.cu",
            WEIGHTED=int(graph.weighted),
            LONG=_LONG,
            THREADS=THREADS,
        )
        self._kernel = code.get_function("mix_neighbours")
        long_rows = np.flatnonzero(graph.degrees > _LONG).astype(np.int32)
        weights = np.zeros(1) if graph.weights is None else graph.weights
        self._graph = tuple(
            cp.asarray(array) for array in (graph.indptr, graph.indices, weights, long_rows)
        )
        self._n_long, self._n_rows = len(long_rows), graph.n_nodes

    def mixed(self, values: Any, near: Any, own: Any) -> Any:
        """Return own * values + near * (the weighted sum over the neighbours), for every node."""
        out = cupy().empty(values.shape, np.float64)
        blocks = self._n_long + -(-self._n_rows // (THREADS // 32))
        if blocks:
            sizes = np.int32(self._n_long), np.int32(self._n_rows)
            width = np.int32(values.shape[1])
            self._kernel(
                (blocks,), (THREADS,), (*self._graph, *sizes, values, width, near, own, out)
            )
        return out
