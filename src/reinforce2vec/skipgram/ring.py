"""The schedule of training for several workers: who trains which buckets, and what travels.

Every worker has some blocks of contexts, whose rows of `inputs` stay with it. Rows of `outputs`
travel in *units*, some blocks each, from worker to worker against the order of the blocks. A unit
begins a pass with the worker of its own blocks, visits all workers once, and ends where it began.
A *visit* is what a worker trains while it has a unit. Its buckets are those that the order of
`schedule` allows: a bucket comes after the one before it in the row of its context block, and in
the column of its centre block. So the result is that of one worker, to the last bit.

In the square of a worker's own blocks, buckets above the diagonal come first in a pass, and those
below it last: a unit visits its own worker twice. Each worker has two units, if it has two blocks,
so that one of them can travel while the other is trained.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import unlocked
from .rules import Noise
from .schedule import Blocks, Order, in_turn, rounds

_UNITS = 2  # of a worker, at most


class _Visit(NamedTuple):
    """What a worker trains while it has a unit."""

    worker: int
    unit: int
    places: NDArray[np.int64]  # of its buckets in the order of the pass
    order: Order  # these buckets, as if they were all


class Ring(NamedTuple):
    """How workers share the training of a pass."""

    shares: list[range]  # blocks of each worker
    units: list[range]  # blocks of each unit
    owners: list[int]  # workers where units begin
    order: Order
    visits: list[_Visit]  # all, each after those that it has to wait for

    def owned(self, worker: int) -> list[int]:
        """Return the units that begin with a worker."""
        return [unit for unit, owner in enumerate(self.owners) if owner == worker]

    def next_workers(self) -> list[int]:
        """Return where units go after each of the visits."""
        after_visits, after = [], list(self.owners)
        for visit in reversed(self.visits):
            after_visits.append(after[visit.unit])
            after[visit.unit] = visit.worker
        return after_visits[::-1]


def make_ring(n_blocks: int, workers: int) -> Ring:
    """Return how so many workers, one for each block at most, train a pass.

    >>> ring = make_ring(4, 2)
    >>> ring.shares, ring.units, ring.owners
    ([range(0, 2), range(2, 4)], [range(0, 1), range(1, 2), range(2, 3), range(3, 4)], [0, 0, 1, 1])
    >>> [(visit.worker, visit.unit) for visit in ring.visits if visit.unit == 0]
    [(0, 0), (1, 0), (0, 0)]
    """
    shares = _equal_ranges(range(n_blocks), workers)
    units, owners = [], []
    for worker, share in enumerate(shares):
        own = _equal_ranges(share, min(_UNITS, len(share)))
        units += own
        owners += [worker] * len(own)
    order = in_turn(rounds(n_blocks))
    ring = Ring(shares, units, owners, order, [])
    queues = [_visits_of(ring, worker) for worker in range(workers)]
    trips = [_trip_of(ring, unit) for unit in range(len(units))]
    while any(queues):
        for queue in queues:
            while queue and trips[queue[0].unit][0] == queue[0][:2]:
                visit = queue.pop(0)
                trips[visit.unit].pop(0)
                if len(visit.places):
                    ring.visits.append(visit)
    return ring


def _equal_ranges(blocks: range, count: int) -> list[range]:
    cuts = [blocks.start + len(blocks) * part // count for part in range(count + 1)]
    return [range(*cuts[part : part + 2]) for part in range(count)]


def _visits_of(ring: Ring, worker: int) -> list[_Visit]:
    """Return the visits of units to a worker, in their order."""
    own, n_units = ring.owned(worker), len(ring.units)
    turns = [(own[0] + number) % n_units for number in range(n_units + len(own))]
    share, order = ring.shares[worker], ring.order
    contexts, centres = order["context_block"], order["centre_block"]
    here = (contexts >= share.start) & (contexts < share.stop)
    visits = []
    for number, unit in enumerate(turns):
        blocks = ring.units[unit]
        buckets = here & (centres >= blocks.start) & (centres < blocks.stop)
        if ring.owners[unit] == worker:
            buckets &= (centres >= contexts) == (number < len(own))
        visits.append(_Visit(worker, unit, np.flatnonzero(buckets), _as_all(order[buckets])))
    return visits


def _trip_of(ring: Ring, unit: int) -> list[tuple[int, int]]:
    """Return the workers that a unit visits, each with the unit."""
    owner, workers = ring.owners[unit], len(ring.shares)
    return [((owner - hop) % workers, unit) for hop in range(workers + 1)]


def _as_all(order: Order) -> Order:
    """Return some buckets that wait for each other alone, not for those before them."""
    for rows in ("inputs", "outputs"):
        before = order[f"{rows}_before"]
        least = np.full(order[rows].max(initial=0) + 1, len(order) + before.max(initial=0))
        np.minimum.at(least, order[rows], before)
        order[f"{rows}_before"] -= least[order[rows]]
    return order


BYTES_PER_NODE = 21  # of the tables of one scale


class Tables(NamedTuple):
    """Tables of one scale. Nodes have *places*: those of the first block come first."""

    places: NDArray[np.int32]  # of nodes; and -1, for what follows the end of a walk
    nodes: NDArray[np.int32]  # by place
    of: NDArray[np.uint8]  # the block of each place
    rows: NDArray[np.int32]  # the row of each place in its unit
    begins: NDArray[np.int64]  # the first place of each block, and where the last one ends
    noise: Noise  # by place; see `rules.noise_table`

    def unlocked(self) -> Tables:
        """Return the tables as kernels expect them."""
        return Tables(*(unlocked(table) for table in self))

    def of_units(self) -> Blocks:
        """Return the blocks as kernels see them that have the rows of one unit."""
        return Blocks(self.of, self.rows, self.begins, self.noise)

    def sizes(self, units: list[range]) -> list[int]:
        """Return how many rows each unit has."""
        return [int(self.begins[unit.stop] - self.begins[unit.start]) for unit in units]

    def nodes_of(self, blocks: range) -> NDArray[np.int32]:
        """Return the nodes of some blocks, by place."""
        return self.nodes[self.span(blocks)]

    def span(self, blocks: range) -> slice:
        """Return the places of some blocks."""
        return slice(int(self.begins[blocks.start]), int(self.begins[blocks.stop]))


def unit_begins(begins: NDArray[np.int64], ring: Ring) -> NDArray[np.int64]:
    """Return, for each block, the first place of the unit that it belongs to."""
    return np.concatenate([np.full(len(unit), begins[unit.start]) for unit in ring.units])


def tables_of(blocks: Blocks, ring: Ring) -> Tables:
    """Return the tables for the blocks of one scale."""
    n_nodes, sizes = len(blocks.members), np.diff(blocks.begins)
    places = np.full(n_nodes + 1, -1, np.int32)
    places[blocks.members] = np.arange(n_nodes, dtype=np.int32)
    rows = np.arange(n_nodes) - np.repeat(unit_begins(blocks.begins, ring), sizes)
    of = np.repeat(np.arange(blocks.n_blocks, dtype=np.uint8), sizes)
    return Tables(places, blocks.members, of, rows.astype(np.int32), blocks.begins, blocks.noise)
