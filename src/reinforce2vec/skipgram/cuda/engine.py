"""The engine that trains on a GPU, with the kernels of skipgram.cu.

Graph, matrices and a block of walks stay on the GPU; `collect` copies the matrices to the state.
Every scale has matrices of its own, and all are trained on the same block of walks.
Draws are numbered as on the CPU, and with one walk in flight the result is nearly the same. With
many, walks that visit a node at the same time update its row at the same time, without the updates
of the others. That is harmless as long as they are few, so the number of walks in flight is bounded
by the size of the graph. A row that many walks are likely to update at once moves by a share of
each update only: their sum would throw hubs far away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.arrays import row_blocks
from ..._util.cuda.compiling import compiled_module
from ..._util.cuda.device import SHARED_RESERVE, THREADS, Device, cupy, properties
from ..._util.errors import InputError
from ...walks.cuda.walker import bytes_for_device
from ..corpus import Corpus, GivenWalks, SampledWalks
from ..engine import Chunk, Engine, Outcome, chunks
from ..pairs import count_visits
from ..rules import POWER, Visits, keep_chances, noise_table
from ..state import POINTS, Matrix, Settings, State, Weights, blank_weights

CROWD = 4.0  # walks in flight that hold a node's row at once, on average over all nodes
TURNS = 400  # a training takes at least so many turns of walks in flight
TOGETHER = 0.1  # learning rate that all walks which hold a row may have together
_MOST_CHUNK = 1 << 25  # tokens trained on at a time, about a tenth of a second of work
_LEAST_CHUNK = 1 << 20  # tokens that keep a GPU busy
_PARTS = 16  # chunks of a short training
_WARP = 32
_PLACES = 8  # room for the gradients of one context
_PAD = 16  # numbers between rows in shared memory, for tensor cores
_TENSOR_CAPABILITY = (8, 0)  # from which on tensor cores multiply rounded float32 numbers
_TARGETS_AT_ONCE = 8
_TARGET_NUMBERS = 48  # of all targets at once that a lane has registers for
_MOST_CONTEXTS = 8
_CONTEXT_NUMBERS = 24  # the same for contexts that are not in shared memory
_SCHEDULERS = 4  # of a multiprocessor, which has a quarter of the registers each
_MOST_WARPS = 12  # on a multiprocessor
_FEWEST_WARPS = 4  # that make it worthwhile to keep the window's rows in shared memory
_SOURCE = "skipgram/cuda/skipgram.cu"


class _Shape(NamedTuple):
    """What is compiled into the training kernel; see warp.cu."""

    numbers: int
    targets: int
    groups: int
    contexts: int
    slots: int
    tensor: int
    ahead: int
    blocks: int
    subsampled: int
    shared_bytes: int

    @property
    def width(self) -> int:
        """Numbers that a row takes on the GPU."""
        return _WARP * self.numbers


def shape_for(settings: Settings, gpu: Device) -> _Shape:
    """Return the shape of the kernel for the dimensions, negatives and window of one scale."""
    numbers = -(-settings.dimensions // _WARP)
    most = max(1, min(_TARGETS_AT_ONCE, _TARGET_NUMBERS // numbers))
    groups = -(-(settings.negatives + 1) // most)
    targets = -(-(settings.negatives + 1) // groups)
    ahead = max(1, min(_WARP, 1024 // settings.negatives))
    slots = 2 * min(settings.widest, _WARP) + 1
    tensor = int(gpu.capability >= _TENSOR_CAPABILITY)
    contexts = _MOST_CONTEXTS if tensor else min(_MOST_CONTEXTS, _WARP // targets)
    always = 4 * (_MOST_CONTEXTS * _PLACES + ahead * settings.negatives)
    width = _WARP * numbers
    rows = slots * (2 * width + _PAD * tensor) + tensor * targets * (width + _PAD)
    shared = always + 4 * rows
    blocks = gpu.shared_bytes // (shared + SHARED_RESERVE)
    if slots > _WARP or blocks < _FEWEST_WARPS:
        if always > gpu.shared_bytes_of_block:
            raise InputError(
                f"negatives={settings.negatives} are more than this GPU supports: "
                'use backend="cpu", or fewer',
                settings=[("negatives", settings.negatives), ("backend", "cpu")],
            )
        slots, tensor = 0, 0
        contexts = max(1, min(_MOST_CONTEXTS, _WARP // targets, _CONTEXT_NUMBERS // numbers))
        shared, blocks = always, gpu.shared_bytes // (always + SHARED_RESERVE)
    blocks = max(1, min(_MOST_WARPS, blocks))
    if blocks > _SCHEDULERS:
        blocks -= blocks % _SCHEDULERS
    subsampled = int(settings.subsample > 0)
    sizes = (numbers, targets, groups, contexts, slots, tensor, ahead, blocks)
    return _Shape(*sizes, subsampled, shared)


def _walks_in_flight(n_nodes: int, n_walks: int, shape: _Shape, gpu: Device) -> int:
    """Return how many walks are trained at once: as many as GPU, graph and training allow."""
    rows = shape.slots or shape.contexts
    held = gpu.multiprocessors * shape.blocks
    return max(1, min(held, int(CROWD * n_nodes / rows), n_walks // TURNS))


def alone(
    visits: Visits, settings: Settings, shape: _Shape, flying: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return 1 / (walks that hold a node's row at once), for `inputs` and for `outputs`."""
    visited = visits / max(visits.sum(), 1)
    noise = visits**POWER
    noise /= max(noise.sum(), 1)
    held = (shape.slots or shape.contexts) * visited
    aimed_at = 2 * (visited + settings.negatives * noise)  # now and next
    inputs, outputs = (
        1 / np.maximum(flying * np.minimum(of_one, 1), 1e-9) for of_one in (held, aimed_at)
    )
    return inputs.astype(np.float32), outputs.astype(np.float32)


def begin(corpus: Corpus, settings: Settings, workers: int = 1) -> State:
    """Return the state before the first walk; the engine fills the weights on the GPU."""
    scales = [blank_weights(corpus.n_nodes, one.dimensions) for one in settings.scales()]
    return State(scales, _count_visits(corpus, settings), blank=True)


def bytes_for(corpus: Corpus, settings: Settings, workers: int = 1) -> int:
    """Estimate the memory that training takes on the GPU."""
    shapes = [shape_for(one, properties()) for one in settings.scales()]
    matrices = sum(2 * 4 * shape.width + 8 + 8 for shape in shapes)
    copies = 2 if settings.subsample and len(shapes) > 1 else 1
    walks = _chunk_walks(corpus) * (4 * copies * corpus.mean_length + 8)
    if isinstance(corpus, SampledWalks):
        walks += bytes_for_device(corpus.sampler.task)
    return walks + corpus.n_nodes * (matrices + 8 + 4)


def _chunk_walks(corpus: Corpus) -> int:
    """Return how many walks are trained on at a time."""
    most, least = (max(1, tokens // corpus.mean_length) for tokens in (_MOST_CHUNK, _LEAST_CHUNK))
    return min(most, max(least, corpus.n_walks // _PARTS), max(1, corpus.n_walks))


def _count_visits(corpus: Corpus, settings: Settings) -> Visits:
    """Return how often nodes occur in the walks of the pilot round."""
    if isinstance(corpus, GivenWalks):
        return count_visits(corpus, 0, corpus.n_pilot)
    assert isinstance(corpus, SampledWalks)
    cp = cupy()
    shape = shape_for(settings.scales()[0], properties())
    count = _kernels(shape).get_function("count_nodes")
    visits = cp.zeros(corpus.n_nodes, np.int64)
    size = min(_chunk_walks(corpus), max(1, corpus.n_pilot))
    room = cp.empty((size, corpus.longest), np.int32)
    for first, some in chunks(corpus, 0, corpus.n_pilot, size):
        walks = room[:some]
        corpus.device_walker.fill(first, walks)
        count((_blocks_for(walks.size),), (THREADS,), (walks, np.int64(walks.size), visits))
    counted: Visits = visits.get()
    return counted


def _kernels(shape: _Shape) -> Any:
    """Return the kernels of training, compiled for one shape."""
    macros = {name.upper(): value for name, value in shape._asdict().items()}
    macros["PLACES"] = _PLACES
    del macros["SHARED_BYTES"]
    return compiled_module(_SOURCE, **macros)


def _blocks_for(size: int) -> int:
    """Return the blocks of threads for so many numbers; threads may get several of them."""
    return max(1, min(-(-size // THREADS), 32 * properties().multiprocessors))


class _DeviceScale:
    """The matrices of one scale, and what trains them."""

    def __init__(
        self, settings: Settings, state: State, weights: Weights, noise: Any, n_walks: int
    ) -> None:
        cp, gpu, n_nodes = cupy(), properties(), len(state.visits)
        self.settings, self.weights, self.noise, self.n_walks = settings, weights, noise, n_walks
        self.shape = shape_for(settings, gpu)
        self.flying = _walks_in_flight(n_nodes, n_walks, self.shape, gpu)
        compiled = _kernels(self.shape)
        self._train_walks = compiled.get_function("train_walks")
        self._train_walks.max_dynamic_shared_size_bytes = gpu.shared_bytes_of_block
        self._find_infinite = compiled.get_function("find_infinite")
        self.inputs = cp.empty((n_nodes, self.shape.width), np.float32)
        self.outputs = cp.empty((n_nodes, self.shape.width), np.float32)
        if state.blank:
            self._begin(compiled.get_function("fill_inputs"))
        else:
            self._load(weights.inputs, self.inputs)
            self._load(weights.outputs, self.outputs)
        rates = alone(state.visits, settings, self.shape, self.flying)
        self.alone = [cp.asarray(one) for one in rates]
        self.counters = cp.zeros(2 * POINTS + 2, np.int64)  # losses, pairs, tokens, walks begun

    def _begin(self, fill_inputs: Any) -> None:
        """Fill the weights as the CPU does."""
        settings, (rows, width) = self.settings, self.inputs.shape
        matrix = (self.inputs, np.int64(rows), np.int32(width))
        how = (np.int32(settings.dimensions), np.uint64(settings.seed))
        fill_inputs((_blocks_for(self.inputs.size),), (THREADS,), (*matrix, *how))
        self.outputs.fill(0)

    def train(self, nodes: Any, begins: Any, keep: Any, chunk: Chunk) -> None:
        """Train on some walks; `counters` then has losses, pairs and tokens."""
        settings = self.settings
        self.counters.fill(0)
        walks = (nodes, begins, np.uint32(chunk.size), np.uint64(chunk.first))
        curve = (np.uint64(self.n_walks), np.int32(POINTS), np.uint64(settings.seed))
        rows = (self.inputs, self.outputs, self.noise, np.int64(len(self.inputs)), keep)
        window, negatives = np.int32(settings.widest), np.int32(settings.negatives)
        rates = (*self.alone, np.float32(TOGETHER), window, negatives)
        rate = np.float64(settings.learning_rate)
        self._train_walks(
            (min(self.flying, chunk.size),),
            (_WARP,),
            (*walks, *curve, *rows, *rates, rate, self.counters),
            shared_mem=self.shape.shared_bytes,
        )

    def finite(self) -> bool:
        """Return whether every number of the matrices is finite."""
        flag = cupy().zeros(1, np.uint32)
        for matrix in (self.inputs, self.outputs):
            size = matrix.size
            arguments = (matrix, np.int64(size), flag)
            self._find_infinite((_blocks_for(size),), (THREADS,), arguments)
        return not flag.get()[0]

    def collect(self, outputs: bool) -> None:
        """Copy the matrices, as they are now, to the state; without `outputs` the inputs alone."""
        self._fetch(self.inputs, self.weights.inputs)
        if outputs:
            self._fetch(self.outputs, self.weights.outputs)

    def _fetch(self, there: Any, here: Matrix) -> None:
        columns = here.shape[1]
        for rows in row_blocks(here):
            part = there[rows, :columns]
            part = part if columns == self.shape.width else part.copy()
            part.get(out=here[rows])

    def _load(self, here: Matrix, there: Any) -> None:
        there.fill(0)
        for rows in row_blocks(here):
            there[rows, : here.shape[1]] = cupy().asarray(here[rows])


class TrainingEngine(Engine):
    """Makes walks on a GPU and trains on them there; threads of the CPU are not used."""

    threads, resizable = 1, True

    def __init__(self, corpus: Corpus, settings: Settings, state: State, workers: int = 1) -> None:
        cp = cupy()
        self.device = cp.cuda.Device()  # other threads would take the first
        self.corpus, self.state = corpus, state
        self.n_walks = corpus.n_walks * settings.epochs
        self.chunk_walks = _chunk_walks(corpus)
        self.walker = corpus.device_walker if isinstance(corpus, SampledWalks) else None
        keep, noise = keep_chances(state.visits, settings.subsample), noise_table(state.visits)
        self.subsampled = keep is not None
        self.keep = cp.zeros(1, np.float32) if keep is None else cp.asarray(keep)
        noise = cp.asarray(noise)
        self.scales = [
            _DeviceScale(one, state, weights, noise, self.n_walks)
            for one, weights in zip(settings.scales(), state.scales, strict=True)
        ]
        state.blank = False
        self.room: Any = None
        self.begins: Any = None
        if self.walker is not None:
            size, longest = self.chunk_walks, corpus.longest
            self.room = cp.empty((size, longest), np.int32)
            self.begins = cp.asarray(np.arange(0, size * longest + 1, longest))
        self.device.synchronize()

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them."""
        first, size = chunk
        point = first * POINTS // self.n_walks
        if size == 0:
            empty = np.zeros((len(self.scales), 0))
            return Outcome(chunk, 0, point, empty, empty.astype(np.int64))
        with self.device:
            nodes, begins = self._walks(first, size)
            for scale in self.scales:
                # subsampling changes the walks
                own = nodes.copy() if self.subsampled and scale is not self.scales[-1] else nodes
                scale.train(own, begins, self.keep, chunk)
            counters = np.stack([scale.counters.get() for scale in self.scales])
        last = (first + size - 1) * POINTS // self.n_walks
        losses, pairs = counters[:, :POINTS].view(np.float64), counters[:, POINTS : 2 * POINTS]
        points = slice(point, last + 1)
        tokens = int(counters[0, 2 * POINTS])
        return Outcome(chunk, tokens, point, losses[:, points], pairs[:, points])

    def _walks(self, first: int, size: int) -> tuple[Any, Any]:
        """Return some walks: their nodes, and where each begins."""
        if self.walker is not None:
            nodes = self.room[:size]
            self.walker.fill(first, nodes)
            return nodes, self.begins
        cp, (taken, places) = cupy(), self.corpus.take(first, size)
        return cp.asarray(taken), cp.asarray(places)

    def finite(self) -> list[bool]:
        """Return whether every number of the matrices is finite, for each scale."""
        return [scale.finite() for scale in self.scales]

    def collect(self, outputs: bool = True) -> None:
        """Copy the matrices, as they are now, to the state; without `outputs` the inputs alone."""
        for scale in self.scales:
            scale.collect(outputs)

    def close(self) -> None:
        """Free the GPU's memory, also that of CuPy's pool."""
        if isinstance(self.corpus, SampledWalks):
            self.corpus.__dict__.pop("device_walker", None)
        self.scales = []
        self.walker = self.keep = self.room = self.begins = None
        cupy().get_default_memory_pool().free_all_blocks()
