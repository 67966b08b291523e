"""A worker: it has rows of the matrices, makes walks, finds pairs, and trains.

`ring` says what each worker trains when. The driver calls the methods in this order, for each scale
of each pass: `find_pairs`, `take_pairs`, and `train` for each visit of a unit. Calls name the pass
and their number in it, and a worker that is elsewhere refuses: nothing is trained twice or left
out.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._util.cluster.waiting import WorkersLost
from ..._util.machine import available_bytes
from .._preparation import fill_inputs
from ..checkpoint import read_rows, write_rows
from ..corpus import Corpus
from ..engine import Chunk
from ..host import cpu_kernels
from ..pairs import PairSorter, PassWalks, WalkPairs
from ..ring import Ring, Tables, unit_begins
from ..rules import WindowTask, falling_rates
from ..schedule import BucketTask, Work, first_number
from ..state import Matrix, Settings, StoredRows, Weights, all_finite, row_size, zeros

_Piece = tuple[NDArray[np.int64], NDArray[np.uint64]]  # bounds of buckets, and pairs


class Turn(NamedTuple):
    """Which call it is: the pass, by the number of its first walk, and the number in the pass."""

    first: int
    call: int


class OutOfTurn(WorkersLost):
    """A call that is not the next one: another one was lost, or is repeated."""


class Machine(NamedTuple):
    """Where a worker is, and what is free there."""

    node: str
    free: int | None


class Plan(NamedTuple):
    """What all workers know of a training."""

    settings: Settings
    n_walks: int  # in all epochs
    ring: Ring
    tables: list[Tables]  # of each scale
    keep: NDArray[np.float32] | None


class Worker:
    """An actor of Ray; its number is its place in the ring."""

    def machine(self) -> Machine:
        """Return where this worker is."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        return Machine(node, available_bytes())

    def prepare(
        self,
        number: int,
        plan: Plan,
        corpus: Corpus,
        walks: int,
        alone: bool = True,
        addresses: Sequence[Address] = (),
    ) -> list[Address]:
        """Get ready to train from walk number `walks` on; compile everything.

        A worker that is not `alone` on its machine takes the memory at the addresses for its units,
        or new memory; it returns the addresses of what it shares.
        """
        self.plan, self.corpus = plan, corpus
        self.kernels = cpu_kernels(plan.settings)
        scales, tables = plan.settings.scales(), [one.unlocked() for one in plan.tables]
        sizes = [one.sizes(plan.ring.units) for one in tables]
        dimensions = [one.dimensions for one in scales]
        memories = _make_memories(sizes, dimensions, alone, addresses)
        self.scales = [
            _Scale(number, one, plan, of_scale, memory, self.kernels)
            for one, of_scale, memory in zip(scales, tables, memories, strict=True)
        ]
        own = sum(visit.worker == number for visit in plan.ring.visits)
        self.n_calls = len(self.scales) * (2 + own)  # of a pass
        self.turn, self.after = Turn(walks, self.n_calls), walks
        return [one.address for one in memories if isinstance(one, _SharedMemory)]

    # -- rows -------------------------------------------------------------------------------

    def fill(self) -> None:
        """Begin with random inputs and outputs of zero."""
        for scale in self.scales:
            scale.fill()

    def load(self, scale: int, inputs: Matrix, units: Mapping[int, Matrix]) -> None:
        """Take over rows, of one scale."""
        np.copyto(self.scales[scale].inputs, inputs)
        for unit, rows in units.items():
            self.adopt(scale, unit, rows)

    def adopt(self, scale: int, unit: int, rows: Matrix) -> None:
        """Take over a unit that has come back."""
        np.copyto(self.scales[scale].memory.rows(unit), rows)

    def inputs(self, scale: int) -> Matrix:
        """Return the rows of inputs of one scale."""
        return self.scales[scale].inputs

    def outputs(self, scale: int) -> dict[int, Matrix]:
        """Return the units of one scale that this worker owns."""
        return self.scales[scale].units()

    def finite(self) -> list[bool]:
        """Return whether every number is finite, for each scale."""
        return [all_finite(one.inputs, *one.units().values()) for one in self.scales]

    def probe(self, folder: Path) -> str:
        """Write a small file, and return its name; OSError or InputError if that fails."""
        path = folder / f"{os.getpid()}-{secrets.token_hex(4)}"
        with suppress(FileNotFoundError):  # the driver will miss the file
            path.write_bytes(b"?")
        return path.name

    def write(self, folder: Path) -> dict[str, str]:
        """Write all rows to files, block by block; return names and digests."""
        written: dict[str, str] = {}
        for number, scale in enumerate(self.scales):
            for name, block, rows in scale.blocks():
                written |= write_rows(folder, f"{name}{number}", block, rows)
        return written

    def read(self, stored: StoredRows) -> None:
        """Read all rows from files."""
        for number, scale in enumerate(self.scales):
            for name, block, rows in scale.blocks():
                read_rows(stored, f"{name}{number}", block, rows)

    # -- a pass -----------------------------------------------------------------------------

    def find_pairs(
        self, turn: Turn, scale: int, chunk: Chunk, share: Chunk
    ) -> tuple[int | _Piece | None, ...]:
        """Make a share of the walks of a pass, and find their pairs.

        Return how many nodes the walks have, and the pairs for each worker; those for itself stay.
        """
        self._check(turn, chunk)
        if scale == 0:
            self.chunk, self.walks = chunk, PassWalks(self.corpus, share)
        ring, own = self.plan.ring, self.scales[scale]
        sorter = PairSorter(
            own.finder(self.walks), list(range(len(self.walks.parts))), own.n_blocks
        )
        for part in range(len(sorter.parts)):
            sorter.count(part)
        sorter.assign(own.room)
        own.room = sorter.pairs
        for part in range(len(sorter.parts)):
            sorter.place(part)
        pieces: list[_Piece | None] = []
        for blocks in ring.shares:
            bounds = sorter.bounds[blocks.start * own.n_blocks : blocks.stop * own.n_blocks + 1]
            pieces.append((bounds - bounds[0], sorter.pairs[bounds[0] : bounds[-1]]))
        own.piece, pieces[own.number] = pieces[own.number], None
        return (self.walks.tokens(), *pieces)

    def take_pairs(self, turn: Turn, scale: int, *pieces: _Piece | None) -> NDArray[np.int64]:
        """Collect the pairs of this worker, found by all; return how many each bucket has."""
        self._check(turn)
        own = self.scales[scale]
        return own.take_pairs([own.piece if piece is None else piece for piece in pieces])

    def train(
        self, turn: Turn, scale: int, place: int, rows: Matrix | None, send: bool, after: Any = None
    ) -> tuple[NDArray[np.float64], Matrix | None]:
        """Train the buckets of a visit; return their losses, and the unit if it leaves the machine.

        The rows of the unit are given if it comes from another machine. `after` is what the visit
        before has returned: Ray waits for it.
        """
        self._check(turn)
        return self.scales[scale].train(place, self.chunk, rows, send)

    def _check(self, turn: Turn, begins: Chunk | None = None) -> None:
        """Raise OutOfTurn unless this call follows the one before."""
        expected = self.turn
        if expected.call == self.n_calls:  # the pass before is complete
            expected = Turn(self.after, 0)
        if turn != expected:
            raise OutOfTurn(f"a worker got the call {turn}, and expected {expected}")
        self.turn = Turn(turn.first, turn.call + 1)
        if begins is not None:
            self.after = begins.first + begins.size


class _Scale:
    """The rows of one scale that a worker has, and what trains them."""

    def __init__(
        self,
        number: int,
        settings: Settings,
        plan: Plan,
        tables: Tables,
        memory: _UnitMemory,
        kernels: Any,
    ) -> None:
        self.number, self.settings, self.tables, self.kernels = number, settings, tables, kernels
        self.memory = memory
        self.ring, self.n_walks = plan.ring, plan.n_walks
        self.share = self.ring.shares[number]
        self.n_blocks = len(tables.begins) - 1
        self.seed = np.uint64(settings.seed)
        self.windows = WindowTask(self.seed, settings.widest, plan.keep)
        self.task = BucketTask(self.seed, settings.negatives, tables.of_units(), fetching=True)
        span = tables.span(self.share)
        self.inputs = zeros(span.stop - span.start, settings.dimensions)
        self.room = self.pairs = np.empty(0, np.uint64)
        self.bounds = np.zeros(self.n_blocks**2 + 1, np.int64)
        self.piece: _Piece | None = None

    def units(self) -> dict[int, Matrix]:
        """Return the rows of the units that this worker owns."""
        return {unit: self.memory.rows(unit) for unit in self.ring.owned(self.number)}

    def fill(self) -> None:
        nodes = self.tables.nodes_of(self.share)
        fill_inputs(self.inputs, nodes, self.settings.dimensions, self.seed)

    def blocks(self) -> list[tuple[str, int, Matrix]]:
        """Return the rows of all blocks: the name of the matrix, the block, and its rows."""
        begins, blocks_of_rows = self.tables.begins, []
        groups = [("inputs", self.share, self.inputs)]
        groups += [("outputs", self.ring.units[one], rows) for one, rows in self.units().items()]
        for name, blocks, rows in groups:
            for block in blocks:
                first, last = begins[block : block + 2] - begins[blocks.start]
                blocks_of_rows.append((name, block, rows[first:last]))
        return blocks_of_rows

    def finder(self, walks: PassWalks) -> WalkPairs:
        tables = self.tables
        return WalkPairs(walks, self.windows, tables.of, self.kernels, tables.places)

    def take_pairs(self, pieces: Sequence[Any]) -> NDArray[np.int64]:
        """Copy pairs bucket by bucket, with rows in place of nodes; return how many there are."""
        begins, n_blocks = self.tables.begins, self.n_blocks
        sizes: NDArray[np.int64] = np.array([np.diff(bounds) for bounds, _ in pieces])
        totals: NDArray[np.int64] = sizes.sum(axis=0)
        ends = np.cumsum(totals)
        first, last = self.share.start * n_blocks, self.share.stop * n_blocks
        self.bounds[first + 1 : last + 1] = ends
        self.bounds[last + 1 :] = ends[-1]
        if len(self.pairs) < ends[-1]:
            self.pairs = np.empty(ends[-1], np.uint64)
        context, units = int(begins[self.share.start]), unit_begins(begins, self.ring).tolist()
        at = 0
        for bucket in range(last - first):
            offset = np.uint64(context << 32 | units[bucket % n_blocks])
            for (bounds, pairs), size in zip(pieces, sizes[:, bucket], strict=True):
                some = pairs[bounds[bucket] : bounds[bucket + 1]]
                np.subtract(some, offset, out=self.pairs[at : at + size])
                at += size
        self.piece = None
        return totals

    def train(
        self, place: int, chunk: Chunk, rows: Matrix | None, send: bool
    ) -> tuple[NDArray[np.float64], Matrix | None]:
        """Train the buckets of a visit; see :meth:`Worker.train`."""
        visit = self.ring.visits[place]
        unit, order = self.memory.rows(visit.unit), visit.order
        if rows is not None:
            np.copyto(unit, rows)
        rates = falling_rates(self.settings.learning_rate, self.n_walks, *chunk, self.n_blocks)
        losses = np.zeros(len(order))
        number = first_number(chunk.first, self.n_blocks)
        weights = Weights(self.inputs, unit, self.settings.dimensions)
        executor = self.kernels.Executor(weights, self.task, order, 1)
        executor.begin(Work(self.pairs, self.bounds, number, order, rates[order["round"]], losses))
        executor.run(0)
        return losses, self.memory.leave(visit.unit) if send else None


# -- memory for units ------------------------------------------------------------------------
# Workers of a machine hand units to each other without a copy: a unit has a fixed place in memory
# that all of them see. That memory has no name, and ends with the processes.


class Address(NamedTuple):
    """Where other processes of the machine find shared memory."""

    process: int
    file: int


class _UnitMemory(Protocol):
    """Memory for units of one scale."""

    def rows(self, unit: int) -> Matrix:
        """Return the rows of a unit."""

    def leave(self, unit: int) -> Matrix:
        """Return the rows of a unit that leaves the machine, valid until the next visit of one."""


class _OwnMemory:
    """Memory of one worker, for the units that it has; `sizes` are the rows of each unit."""

    def __init__(self, sizes: list[int], dimensions: int) -> None:
        self._sizes, self._dimensions = sizes, dimensions
        self._held: dict[int, Matrix] = {}
        self._free: list[Matrix] = []

    def rows(self, unit: int) -> Matrix:
        """Return the rows of a unit."""
        if unit not in self._held:
            room = self._free.pop() if self._free else zeros(max(self._sizes), self._dimensions)
            self._held[unit] = room
        return self._held[unit][: self._sizes[unit]]

    def leave(self, unit: int) -> Matrix:
        """Return the rows of a unit that leaves the machine, valid until the next visit of one."""
        rows = self.rows(unit)
        self._free.append(self._held.pop(unit))
        return rows


class _SharedMemory:
    """Memory of all workers of a machine, for all units; those that are elsewhere take none.

    Without an address it is new; OSError or AttributeError where the system has no such memory.
    """

    def __init__(self, sizes: list[int], dimensions: int, address: Address | None = None) -> None:
        self._width = row_size(dimensions)
        self._sizes = sizes
        place = -(-4 * self._width * max(sizes) // mmap.PAGESIZE) * mmap.PAGESIZE
        self._begins = [unit * place for unit in range(len(sizes))]
        if address is None:
            file = os.memfd_create("reinforce2vec")
            os.ftruncate(file, place * len(sizes))
        else:
            file = os.open(f"/proc/{address.process}/fd/{address.file}", os.O_RDWR)
        self.address = Address(os.getpid(), file)
        self._memory = mmap.mmap(file, place * len(sizes))

    def rows(self, unit: int) -> Matrix:
        """Return the rows of a unit."""
        shape = self._sizes[unit], self._width
        return np.ndarray(shape, np.float32, self._memory, self._begins[unit])

    def leave(self, unit: int) -> Matrix:
        """Return the rows of a unit that leaves the machine.

        They are a copy: the unit may come back to another worker at any time.
        """
        rows = self.rows(unit).copy()
        last = [*self._begins, len(self._memory)][unit + 1]
        self._memory.madvise(mmap.MADV_REMOVE, self._begins[unit], last - self._begins[unit])
        return rows


def _make_memories(
    sizes: list[list[int]], dimensions: list[int], alone: bool, addresses: Sequence[Address]
) -> Sequence[_OwnMemory | _SharedMemory]:
    """Return memory for the units of each scale: shared, new or of another worker.

    A worker that is `alone`, and one on a system without such memory, gets its own.
    """
    given: Sequence[Address | None] = addresses or [None] * len(sizes)
    if not alone:
        try:
            return [_SharedMemory(*one) for one in zip(sizes, dimensions, given, strict=True)]
        except (OSError, AttributeError):  # not Linux, or processes may not see each other
            pass
    return [_OwnMemory(*one) for one in zip(sizes, dimensions, strict=True)]
