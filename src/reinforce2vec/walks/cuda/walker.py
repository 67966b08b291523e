"""Walks on a GPU: bit for bit those of the CPU, a thread for each.

The kernels are those of walks/plan.py in CUDA C++, with the same tables, draws and roundings. What
a walk remembers lies in GPU memory as well: in its own row of the result (open.cu), in shared
memory (capped.cu, short walks), or in scratch memory, of which every thread at work has its part.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.cuda.compiling import compiled_module
from ..._util.cuda.device import SHARED_RESERVE, THREADS, Device, cupy, properties
from ...graph import Graph
from ..plan import MOST_PROPOSALS, Kernel, Task
from ..scores import Scores

_RESIDENT = 768  # threads of a multiprocessor that have registers enough to remember
_SCRATCH_BYTES = 1 << 30  # what all threads may remember together
_BUFFER_BYTES = 64 << 20  # walks on their way to the host


class _ThreadMemory(NamedTuple):
    """What a walk remembers while it is made, and how many can be made at once."""

    defines: dict[str, int]
    shared_bytes: int  # for each thread
    arrays: tuple[tuple[int, type], ...]  # for each thread: entries and their type
    sizes: tuple[Any, ...]  # what else the kernel needs to know

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch memory for each thread."""
        return sum(entries * np.dtype(kind).itemsize for entries, kind in self.arrays)


_NO_MEMORY = _ThreadMemory({}, 0, (), ())


class DeviceWalker:
    """Makes the walks of a task in GPU memory. A copy of the starts is made: it stays as it is."""

    def __init__(self, task: Task) -> None:
        cp, gpu, graph, kernel = cupy(), properties(), task.graph, task.plan.kernel
        self._length = task.length
        memory = _memory_for(task, gpu)
        self._threads = _threads_for(task, memory, gpu)
        self._shared = memory.shared_bytes * THREADS
        looks_up_edges = kernel not in (Kernel.FIRST_ORDER, Kernel.OPEN)
        macros = {
            "WEIGHTED": graph.alias is not None,
            "DIRECTED": graph.directed and looks_up_edges,
            "WIDE": _is_wide(graph),
        }
        defines = {name: 1 for name, given in macros.items() if given} | memory.defines
        defines["MOST_PROPOSALS"] = MOST_PROPOSALS
        compiled = compiled_module(f"walks/cuda/{kernel.value}.cu", exact=True, **defines)
        self._kernel = compiled.get_function(f"{kernel.value}_walks")
        if self._shared:
            self._kernel.max_dynamic_shared_size_bytes = gpu.shared_bytes_of_block
        self._graph = _graph_arguments(graph, kernel is not Kernel.FIRST_ORDER)
        starts = cp.asarray(np.ascontiguousarray(task.starts, np.int32))
        self._starts = (starts, np.uint64(len(starts)), np.uint64(task.seed))
        self._settings: list[Any] = []
        for setting in task.plan.settings:
            self._settings += _arguments_of(setting)
        self._settings += [cp.empty(size * self._threads, kind) for size, kind in memory.arrays]
        self._settings += memory.sizes

    def fill(self, first: int, walks: Any) -> None:
        """Fill an int32 array (walks, length) in GPU memory with the walks from `first` on.

        The GPU still works on it when this returns, in the order of the current stream.
        """
        count = len(walks)
        if count == 0:
            return
        block = min(THREADS, self._threads)
        blocks = min(-(-count // block), self._threads // block)
        result = (np.uint64(first), walks, np.uint64(count), np.int32(self._length))
        arguments = (*self._graph, *self._starts, *result, *self._settings)
        self._kernel((blocks,), (block,), arguments, shared_mem=self._shared)


class Walker:
    """Makes walks on the GPU and copies them to the host, through a buffer."""

    uses_threads = False

    def __init__(self, task: Task) -> None:
        self.chunk = _buffer_rows(task)
        self._seed, self._starts = task.seed, task.starts.copy()
        self._walker = DeviceWalker(task)
        self._buffer = cupy().empty((self.chunk, task.length), np.int32)
        self._lock = Lock()

    def suits(self, task: Task) -> bool:
        """Return whether a task, of the same graph and plan, has the same seed and starts."""
        return self._seed == task.seed and np.array_equal(self._starts, task.starts)

    def fill(self, first: int, walks: NDArray[np.int32]) -> None:
        """Fill an array (walks, length) with the walks from number `first` on."""
        for at in range(0, len(walks), self.chunk):
            part = walks[at : at + self.chunk]
            with self._lock:
                buffer = self._buffer[: len(part)]
                self._walker.fill(first + at, buffer)
                if part.flags.c_contiguous and part.dtype == np.int32:
                    buffer.get(out=part)
                else:
                    part[...] = buffer.get()


def bytes_for(task: Task) -> int:
    """Return how much GPU memory a Walker takes."""
    return bytes_for_device(task) + 4 * task.length * _buffer_rows(task)


def bytes_for_device(task: Task) -> int:
    """Return how much GPU memory a DeviceWalker takes, without the walks themselves."""
    graph, gpu = task.graph, properties()
    arcs, nodes = len(graph.indices), graph.n_nodes
    total = nodes * (16 if _is_wide(graph) else 8) + 4 * _padded(arcs) + 4 * len(task.starts)
    if graph.alias is not None:
        total += 16 * arcs
        if task.plan.kernel is not Kernel.FIRST_ORDER:
            total += 8 * arcs + 16 * nodes
    for setting in task.plan.settings:
        tables = setting if isinstance(setting, Scores) else (setting,)
        total += sum(table.nbytes for table in tables if isinstance(table, np.ndarray))
    memory = _memory_for(task, gpu)
    return int(total + memory.scratch_bytes * _threads_for(task, memory, gpu))


def _buffer_rows(task: Task) -> int:
    """Return how many walks are copied to the host at a time."""
    return max(1, min(task.n_walks, _BUFFER_BYTES // (4 * task.length)))


# -- what walks remember -------------------------------------------------------------------------


def _memory_for(task: Task, gpu: Device) -> _ThreadMemory:
    """Return what each thread needs to remember a walk."""
    kernel, length = task.plan.kernel, task.length
    if kernel is Kernel.CAPPED:
        count: Any = np.uint8 if length < 256 else np.uint16
        size = np.dtype(count).itemsize
        shared = length * (4 + size)
        block = shared * THREADS + SHARED_RESERVE
        if block <= min(gpu.shared_bytes // 2, gpu.shared_bytes_of_block):
            nothing = ((0, np.int32), (0, count))
            return _ThreadMemory({"COUNT_BYTES": size, "NEAR": 1}, shared, nothing, ())
        return _ThreadMemory({"COUNT_BYTES": size}, 0, ((length, np.int32), (length, count)), ())
    if kernel is Kernel.REINFORCED:
        place: Any = np.uint16 if length < 2**16 - 2 else np.uint32
        most = min(length, task.graph.n_nodes)
        cells = 16
        while cells < 2 * most:
            cells *= 2
        arrays = ((most, np.int32), (most + length + 2 + cells, place))
        sizes = (np.uint32(cells), np.int32(most))
        return _ThreadMemory({"PLACE_BYTES": np.dtype(place).itemsize}, 0, arrays, sizes)
    return _NO_MEMORY


def _threads_for(task: Task, memory: _ThreadMemory, gpu: Device) -> int:
    """Return how many threads work at once: without scratch memory, one for each walk."""
    blocks = max(1, -(-task.n_walks // THREADS))
    if memory.scratch_bytes == 0:
        return min(blocks, 2**31 - 1) * THREADS
    held = gpu.multiprocessors * max(1, min(gpu.threads, _RESIDENT) // THREADS)
    resident = min(blocks, held) * THREADS
    fitting = _SCRATCH_BYTES // memory.scratch_bytes
    return max(1, min(resident, fitting if fitting < THREADS else fitting // THREADS * THREADS))


# -- what lies in GPU memory ---------------------------------------------------------------------


def _is_wide(graph: Graph) -> bool:
    """Return whether positions of arcs need more than 32 bits."""
    return len(graph.indices) >= 2**32


def _padded(arcs: int) -> int:
    """Return the size of the list of neighbours, which is read eight entries at a time."""
    return -(-arcs // 8) * 8


def _graph_arguments(graph: Graph, weighs: bool) -> list[Any]:
    """Return the graph as graph.cu takes it; the weights themselves only if the kernel `weighs`."""
    cp = cupy()
    rows = np.empty((graph.n_nodes, 2), np.uint64 if _is_wide(graph) else np.uint32)
    rows[:, 0], rows[:, 1] = graph.indptr[:-1], graph.degrees
    arcs = len(graph.indices)
    per_arc = np.float32(1 / max(arcs, 1))
    indices = cp.zeros(_padded(arcs), np.int32)
    if arcs:
        indices[:arcs].set(graph.indices)
    arguments = [cp.asarray(rows), indices, per_arc]
    if graph.alias is None:
        return arguments
    threshold, alias, total, largest, weights = graph.alias
    cells = np.empty(len(threshold), [("threshold", np.float64), ("ends", np.int32, 2)])
    cells["threshold"] = threshold
    cells["ends"][:, 0] = graph.indices[np.repeat(graph.indptr[:-1], graph.degrees) + alias]
    cells["ends"][:, 1] = graph.indices
    arguments.append(cp.asarray(cells.view(np.uint64)))
    sums = np.column_stack([total, largest]) if weighs else np.zeros(2)
    return [*arguments, cp.asarray(sums), cp.asarray(weights if weighs else np.zeros(1))]


def _arguments_of(setting: Any) -> list[Any]:
    """Return a setting of a plan as the kernels take it."""
    if isinstance(setting, Scores):
        arrays = [table.ravel() for table in setting if isinstance(table, np.ndarray)]
        tables = np.concatenate(arrays)  # in the order of scores.cu
        counts = (len(setting.explore), len(setting.explore_table), setting.reward, setting.path)
        factors = (setting.inverse_temperature, setting.attraction)
        return [cupy().asarray(tables), *map(np.int32, counts), *map(np.float64, factors)]
    if isinstance(setting, np.ndarray):
        return [cupy().asarray(setting)]
    return [np.float64(setting) if isinstance(setting, float) else np.int32(setting)]
