"""Walks on a graphics card: bit for bit those of the CPU, a thread for each.

The kernels are those of walks/plan.py in CUDA C++, with the same tables, draws and roundings. What
a walk remembers lies on the card as well: in its own row of the result (open.cu), in shared memory
(capped.cu, short walks), or in scratch memory, of which every thread at work has its part.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._util.cuda.compiling import compiled_module
from ..._util.cuda.device import SHARED_RESERVE, THREADS, Device, cupy, properties
from ...graph import Graph
from ..cpu.reinforced import reinforced_walks
from ..cpu.second_order import first_order_walks
from ..cpu.softmax import capped_walks, open_walks
from ..scores import Scores

if TYPE_CHECKING:
    from ..sampler import WalkSampler

RESIDENT = 768  # threads of a multiprocessor that have registers enough to remember
SCRATCH_BYTES = 1 << 30  # what all threads may remember together
BUFFER_BYTES = 64 << 20  # walks on their way to the host


class Memory(NamedTuple):
    """What a walk remembers while it is made, and how many can be made at once."""

    defines: dict[str, int]
    shared_bytes: int  # for each thread
    arrays: tuple[tuple[int, type], ...]  # for each thread: entries and their type
    sizes: tuple[Any, ...]  # what else the kernel needs to know

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch memory for each thread."""
        return sum(entries * np.dtype(kind).itemsize for entries, kind in self.arrays)


NO_MEMORY = Memory({}, 0, (), ())


class DeviceWalks:
    """A sampler's walks, made on the card, with its graph, walk, seed and starts as they are now.

    Parameters
    ----------
    sampler : WalkSampler
        Whose walks to make.
    """

    def __init__(self, sampler: WalkSampler) -> None:
        cp, card, graph = cupy(), properties(), sampler.graph
        kernel, settings = sampler.plan.kernel, sampler.plan.settings
        self.length = sampler.length
        memory = memory_for(sampler, card)
        self._threads = threads_for(sampler, memory, card)
        self._shared = memory.shared_bytes * THREADS
        directed = graph.directed and kernel not in (first_order_walks, open_walks)
        macros = {"WEIGHTED": graph.alias is not None, "DIRECTED": directed, "WIDE": is_wide(graph)}
        defines = {name: 1 for name, given in macros.items() if given} | memory.defines
        source = f"walks/cuda/{kernel.__name__.removesuffix('_walks')}.cu"
        compiled = compiled_module(source, exact=True, **defines)
        self._kernel = compiled.get_function(kernel.__name__)
        if self._shared:
            self._kernel.max_dynamic_shared_size_bytes = card.shared_bytes_of_block
        self._graph = graph_arguments(graph, kernel is not first_order_walks)
        starts = cp.asarray(np.ascontiguousarray(sampler.starts, np.int32))
        self._starts = (starts, np.uint64(len(starts)), np.uint64(sampler.seed))
        self._settings: list[Any] = []
        for setting in settings:
            self._settings += arguments_of(setting)
        self._settings += [cp.empty(size * self._threads, kind) for size, kind in memory.arrays]
        self._settings += memory.sizes

    def fill(self, first: int, walks: Any) -> None:
        """Fill an int32 array (walks, length) on the card with the walks from `first` on.

        The card works on it when this returns, in the order of the current stream.
        """
        count = len(walks)
        if count == 0:
            return
        block = min(THREADS, self._threads)
        blocks = min(-(-count // block), self._threads // block)
        self._kernel(
            (blocks,),
            (block,),
            (
                *self._graph, *self._starts, np.uint64(first), walks, np.uint64(count),
                np.int32(self.length), *self._settings,
            ),
            shared_mem=self._shared,
        )  # fmt: skip


class Fetcher:
    """Walks made on the card and brought to the host, through a buffer."""

    def __init__(self, sampler: WalkSampler) -> None:
        self.rows = buffer_rows(sampler)
        self._seed, self._starts = sampler.seed, sampler.starts.copy()
        self._walker = DeviceWalks(sampler)
        self._buffer = cupy().empty((self.rows, sampler.length), np.int32)
        self._lock = Lock()

    def suits(self, sampler: WalkSampler) -> bool:
        """Whether seed and starts of the sampler are still the same."""
        return self._seed == sampler.seed and np.array_equal(self._starts, sampler.starts)

    def fill(self, first: int, walks: NDArray[np.int32]) -> None:
        """Fill an int32 array (walks, length) with the walks from number `first` on."""
        for at in range(0, len(walks), self.rows):
            part = walks[at : at + self.rows]
            with self._lock:
                made = self._buffer[: len(part)]
                self._walker.fill(first + at, made)
                if part.flags.c_contiguous and part.dtype == np.int32:
                    made.get(out=part)
                else:
                    part[...] = made.get()


def bytes_on_card(sampler: WalkSampler) -> int:
    """Memory that a sampler's walks take on the card, but for the walks themselves."""
    graph, card = sampler.graph, properties()
    arcs, nodes = len(graph.indices), graph.n_nodes
    total = nodes * (16 if is_wide(graph) else 8) + 4 * padded(arcs) + 4 * len(sampler.starts)
    if graph.alias is not None:
        total += 16 * arcs
        if sampler.plan.kernel is not first_order_walks:
            total += 8 * arcs + 16 * nodes
    for setting in sampler.plan.settings:
        tables = setting if isinstance(setting, Scores) else (setting,)
        total += sum(table.nbytes for table in tables if isinstance(table, np.ndarray))
    memory = memory_for(sampler, card)
    return int(total + memory.scratch_bytes * threads_for(sampler, memory, card))


def bytes_to_fetch(sampler: WalkSampler) -> int:
    """Memory that it takes on the card to fetch walks from there."""
    return bytes_on_card(sampler) + 4 * sampler.length * buffer_rows(sampler)


def buffer_rows(sampler: WalkSampler) -> int:
    """Walks that travel to the host at a time."""
    return max(1, min(sampler.n_walks, BUFFER_BYTES // (4 * sampler.length)))


# -- what walks remember -------------------------------------------------------------------------


def memory_for(sampler: WalkSampler, card: Device) -> Memory:
    """What each thread needs to remember a walk."""
    kernel, length = sampler.plan.kernel, sampler.length
    if kernel is capped_walks:
        count: Any = np.uint8 if length < 256 else np.uint16
        size = np.dtype(count).itemsize
        shared = length * (4 + size)
        block = shared * THREADS + SHARED_RESERVE
        if block <= min(card.shared_bytes // 2, card.shared_bytes_of_block):
            nothing = ((0, np.int32), (0, count))
            return Memory({"COUNT_BYTES": size, "NEAR": 1}, shared, nothing, ())
        return Memory({"COUNT_BYTES": size}, 0, ((length, np.int32), (length, count)), ())
    if kernel is reinforced_walks:
        place: Any = np.uint16 if length < 2**16 - 2 else np.uint32
        most = min(length, sampler.graph.n_nodes)
        cells = 16
        while cells < 2 * most:
            cells *= 2
        arrays = ((most, np.int32), (most + length + 2 + cells, place))
        sizes = (np.uint32(cells), np.int32(most))
        return Memory({"PLACE_BYTES": np.dtype(place).itemsize}, 0, arrays, sizes)
    return NO_MEMORY


def threads_for(sampler: WalkSampler, memory: Memory, card: Device) -> int:
    """Threads at work at once: without scratch memory one for each walk, as the card sees fit."""
    blocks = max(1, -(-sampler.n_walks // THREADS))
    if memory.scratch_bytes == 0:
        return min(blocks, 2**31 - 1) * THREADS
    held = card.multiprocessors * max(1, min(card.threads, RESIDENT) // THREADS)
    resident = min(blocks, held) * THREADS
    fitting = SCRATCH_BYTES // memory.scratch_bytes
    return max(1, min(resident, fitting if fitting < THREADS else fitting // THREADS * THREADS))


# -- what lies on the card -----------------------------------------------------------------------


def is_wide(graph: Graph) -> bool:
    """Whether positions of arcs need more than 32 bits."""
    return len(graph.indices) >= 2**32


def padded(arcs: int) -> int:
    """Entries of the list of neighbours, which is read eight at a time."""
    return -(-arcs // 8) * 8


def graph_arguments(graph: Graph, weighs: bool) -> list[Any]:
    """The graph as graph.cu takes it; where nothing but draws `weighs`, without the weights."""
    cp = cupy()
    rows = np.empty((graph.n_nodes, 2), np.uint64 if is_wide(graph) else np.uint32)
    rows[:, 0], rows[:, 1] = graph.indptr[:-1], graph.degrees
    arcs = len(graph.indices)
    per_arc = np.float32(1 / max(arcs, 1))
    indices = cp.zeros(padded(arcs), np.int32)
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


def arguments_of(setting: Any) -> list[Any]:
    """A setting of a plan as the kernels take it."""
    if isinstance(setting, Scores):
        tables = np.concatenate(
            [
                setting.explore, setting.total, setting.of_total, setting.unvisited_js,
                setting.of_count, setting.of_next_count, setting.log_visits, setting.vertex_bonus,
                setting.explore_table.ravel(), setting.exploit_table.ravel(),
            ]
        )  # fmt: skip
        counts = (len(setting.explore), len(setting.explore_table), setting.reward, setting.path)
        factors = (setting.inverse_temperature, setting.attraction)
        return [cupy().asarray(tables), *map(np.int32, counts), *map(np.float64, factors)]
    if isinstance(setting, np.ndarray):
        return [cupy().asarray(setting)]
    return [np.float64(setting) if isinstance(setting, float) else np.int32(setting)]
