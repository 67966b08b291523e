"""How many bytes training and smoothing take, stage by stage: what is checked before they begin."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .._util.engine import use_plain
from .._util.machine import available_cpus, check_dimensions
from .._util.scratch import check_free_space, is_in_memory
from ..graph import Graph
from ..graph.fingerprint import digest_bytes
from ..graph.graph import bytes_without_directions
from ..skipgram import host
from ..skipgram.backends import bytes_for
from ..skipgram.corpus import Corpus, GivenWalks, SampledWalks
from ..skipgram.state import Settings, row_size
from ._array_smoothing import ROWS as ARRAY_ROWS
from ._filter import COLUMNS, ROWS, padded
from ._steps import bytes_for_steps, likely_edges

_ALLOWANCE = 1.02  # for what the allocator adds to arrays
_OBJECTS = 1 << 18  # bytes of all that is no array


class TrainingMemory(NamedTuple):
    """The memory of a training of Reinforce2Vec, smoothing included."""

    corpus: Corpus
    settings: Settings
    workers: int
    scratch: Path | None  # the folder where large arrays are files
    smooth: bool
    smoothed_here: bool  # whether that is done on the CPU

    def on_host(self) -> int:
        """Estimate the memory of this process, beside the graph or the walks."""
        on_disk = self.scratch is not None and not is_in_memory(self.scratch)
        training = host.bytes_for(self.corpus, self.settings, self.workers, on_disk)
        return _OBJECTS + int(_ALLOWANCE * max(training, self._at_the_end(on_disk)))

    def _at_the_end(self, on_disk: bool) -> int:
        """Estimate the memory when all is trained: matrices, vectors, and what smoothing takes."""
        corpus = self.corpus
        arrays = host.table_bytes(corpus) + 12 * corpus.n_nodes
        if not on_disk:
            arrays += host.matrices_bytes(corpus, self.settings) + self._vectors()
        digest = digest_bytes(corpus.graph) if isinstance(corpus, SampledWalks) else 0
        return arrays + max(digest, self.of_smoothing(on_disk))

    def of_smoothing(self, on_disk: bool = False) -> int:
        """Estimate the memory of smoothing the vectors of the widest window, beside them."""
        corpus, widest = self.corpus, self._widest()
        if not self.smooth:
            return 0
        if not self.smoothed_here:
            return 4 * widest * corpus.n_nodes
        if isinstance(corpus, SampledWalks):
            return smoothing_bytes(corpus.graph, widest, self.workers, on_disk)
        assert isinstance(corpus, GivenWalks)
        if corpus.n_edges is None:
            corpus.n_edges = likely_edges(corpus.stored)
        making, kept = bytes_for_steps(corpus.stored, corpus.n_edges)
        signals = _signal_bytes(corpus.n_nodes, widest, self.workers, on_disk)
        return max(making, kept + signals)

    def on_disk(self) -> int:
        """Estimate the size of the files in the scratch folder."""
        ending = host.matrices_bytes(self.corpus, self.settings) + self._vectors()
        if self.smooth:
            ending += _large_signal_bytes(self.corpus.n_nodes, self._widest())
        return max(host.bytes_on_disk(self.corpus, self.settings), ending)

    def on_gpu(self) -> int:
        """Estimate the GPU memory."""
        needed = bytes_for(self.corpus, self.settings, self.workers, "cuda")
        if self.smooth and isinstance(self.corpus, SampledWalks):
            needed = max(needed, smoothing_bytes_on_gpu(self.corpus.graph, self._widest()))
        return needed

    def check(self) -> None:
        """Raise InputError if the memory of this process, or the disk, is too small."""
        what = f"training {self.corpus.n_nodes:,} nodes"
        if self.scratch is not None:
            check_free_space(self.scratch, self.on_disk(), what)

        def bytes_for(dimensions: int) -> int:
            settings = self.settings._replace(dimensions=dimensions, rates=())
            return self._replace(settings=settings).on_host()

        check_dimensions(self.settings.dimensions, bytes_for, what, step=row_size(1))

    def _widest(self) -> int:
        return max(scale.dimensions for scale in self.settings.scales())

    def _vectors(self) -> int:
        """Return the bytes of the vectors; those of a single window are part of its matrices."""
        if not self.smooth and len(self.settings.scales()) == 1:
            return 0
        return 4 * self.settings.dimensions * self.corpus.n_nodes


# -- smoothing ---------------------------------------------------------------------------------


def smoothing_bytes(
    graph: Graph, dimensions: int, workers: int | None = None, on_disk: bool = False
) -> int:
    """Estimate the memory of smoothing on the CPU, beside the graph and the vectors."""
    making, links = bytes_without_directions(graph)
    if use_plain() and not graph.weighted:
        links += 8 * _arcs(graph)  # weights of 1
    workers = workers or available_cpus()
    return max(making, links + _signal_bytes(graph.n_nodes, dimensions, workers, on_disk))


def _signal_bytes(nodes: int, dimensions: int, workers: int, on_disk: bool) -> int:
    """Estimate the memory of what is filtered and turned, and of the threads that do it."""
    if use_plain():
        return 4 * dimensions * nodes + _array_bytes(nodes, dimensions)
    products, rows = 8 * padded(dimensions) ** 2, 2 * 8 * ROWS * padded(dimensions)
    threads = (2 * workers + 6) * products + workers * rows
    large = 0 if on_disk else _large_signal_bytes(nodes, dimensions)
    return large + 28 * nodes + threads


def _large_signal_bytes(nodes: int, dimensions: int) -> int:
    """Return the bytes that may be on disk: the result, and three blocks of columns."""
    return 0 if use_plain() else 4 * (dimensions + 3 * COLUMNS) * nodes


def smoothing_bytes_on_gpu(graph: Graph, dimensions: int) -> int:
    """Estimate the GPU memory of smoothing, the graph included."""
    links = (12 if graph.weighted else 4) * _arcs(graph) + 8 * graph.n_nodes
    return links + _array_bytes(graph.n_nodes, dimensions)


def _array_bytes(nodes: int, dimensions: int) -> int:
    """Estimate the memory of smoothing with whole arrays: all signals, and columns or rows."""
    columns = 8 * min(COLUMNS, dimensions) * nodes
    rows = 5 * dimensions * min(ARRAY_ROWS, nodes)
    return 8 * ((dimensions + 6) * nodes + max(columns, rows))


def _arcs(graph: Graph) -> int:
    """Return the arcs of a graph without its directions, at most."""
    return len(graph.indices) * (2 if graph.directed else 1)
