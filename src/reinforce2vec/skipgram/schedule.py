"""The schedule of training: what is trained when, and what may be trained at the same time.

Walks are trained in *passes*. The pairs of a pass are sorted into *buckets*, by the blocks of their
nodes: a bucket changes rows of `inputs` of its context block, and rows of `outputs`
of its centre block. Buckets come in *rounds*. Those of a round have no row in common, so they can
be trained at once; the result is that of one after the other, with any number of threads. All of
this depends on the training alone, never on the machine. An executor (`cpu.engine`, `plain`) runs
it.

Nodes are sorted by their visits and dealt one to each block in turn, so that all blocks get equally
many of the busy nodes; which of the next few nodes goes where is random, so that no block has a
part of the graph to itself. Negatives of a centre are drawn from its own block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._preparation import deal
from .rules import Noise, noise_table

Bucket = tuple[int, int]  # the block of its contexts, the block of its centres

_TURN = np.dtype(
    [
        ("round", np.int64),
        ("context_block", np.int64),
        ("centre_block", np.int64),
        ("inputs", np.int64),  # which rows it changes: a number for each block of each matrix
        ("outputs", np.int64),
        ("inputs_before", np.int64),  # buckets that change these rows earlier
        ("outputs_before", np.int64),
    ]
)
Order = NDArray[np.void]  # of _TURN

BYTES_TO_DEAL = 56  # for each node, while blocks are made
_MOST_BLOCKS = 32
_LEAST_NODES = 64  # that a block has, of those with a visit: fewer make poor negatives
_NODE_PAIRS = 80  # of a pass, for each node: a thousand cost a point of raw F1 on BlogCatalog
_FEWEST_PASSES = 100  # of a training, one for each point of the loss curve
_BUCKET_PAIRS = 1 << 9  # that a bucket has at least, on average: less is not worth its overhead
_LEAST_PAIRS = 1 << 15  # of a pass, about a millisecond of work
_MOST_PAIRS = 1 << 23  # of a pass, which take 64 MB; or, if the graph is large,
_MOST_NODE_PAIRS = 32  # for each node, which take half of its two rows at 64 dimensions


class Blocks(NamedTuple):
    """Which node is in which block, and what negatives are drawn from.

    Block b has the nodes members[begins[b] : begins[b + 1]]. Each has an entry in `noise`, see
    `rules.noise_table`.
    """

    of: NDArray[np.uint8]
    members: NDArray[np.int32]
    begins: NDArray[np.int64]
    noise: Noise

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.begins) - 1


def blocks_for(n_nodes: int) -> int:
    """Return how many blocks nodes are dealt into, where so many are visited.

    >>> blocks_for(34), blocks_for(1000), blocks_for(10**6)
    (1, 15, 32)
    """
    return min(max(n_nodes // _LEAST_NODES, 1), _MOST_BLOCKS)


def dealt(visits: NDArray[Any], seed: int) -> Blocks:
    """Deal nodes into blocks, by their visits or another weight."""
    count = blocks_for(int(np.count_nonzero(visits)))
    of = np.empty(len(visits), np.uint8)
    deal(np.argsort(-visits, kind="stable"), np.arange(count), np.uint64(seed), of)
    members = np.argsort(of, kind="stable").astype(np.int32)
    begins = np.append(0, np.cumsum(np.bincount(of, minlength=count)))
    return Blocks(of, members, begins, noise_table(visits[members], begins))


def rounds(n_blocks: int, one_matrix: bool = False) -> list[list[Bucket]]:
    """Return the buckets of a pass, round by round; those of a round have no row in common.

    With one matrix, contexts and centres are rows of the same. Then rounds are those of a
    tournament, in which every block meets every other once in each role.

    >>> rounds(3)
    [[(0, 0), (1, 1), (2, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 2), (1, 0), (2, 1)]]
    >>> rounds(4, one_matrix=True)[:3]
    [[(0, 0), (1, 1), (2, 2), (3, 3)], [(3, 0), (1, 2)], [(0, 3), (2, 1)]]
    """
    blocks = range(n_blocks)
    if not one_matrix:
        return [[(i, (i + shift) % n_blocks) for i in blocks] for shift in blocks]
    tournament = [[(i, i) for i in blocks]]
    around = n_blocks - 1 + n_blocks % 2  # of an even number, the last does not move around
    for turn in range(around if n_blocks > 1 else 0):
        meetings = [] if n_blocks % 2 else [(around, turn)]
        meetings += [((turn + k) % around, (turn - k) % around) for k in range(1, around // 2 + 1)]
        tournament += [meetings, [(j, i) for i, j in meetings]]
    return tournament


def in_turn(all_rounds: list[list[Bucket]], one_matrix: bool = False) -> Order:
    """Return all buckets in the order in which they are trained, and what each has to wait for."""
    n_blocks = 1 + max(i for i, _ in all_rounds[0])
    done = np.zeros(2 * n_blocks, np.int64)  # buckets, for the rows of each block
    order = np.zeros(sum(map(len, all_rounds)), _TURN)
    numbered = ((number, *bucket) for number, some in enumerate(all_rounds) for bucket in some)
    for turn, (number, i, j) in zip(order, numbered, strict=True):
        rows = [i, j if one_matrix else n_blocks + j]
        turn["round"], turn["context_block"], turn["centre_block"] = number, i, j
        turn["inputs"], turn["outputs"] = rows
        turn["inputs_before"], turn["outputs_before"] = done[rows]
        np.add.at(done, rows, 1)
    return order


class Lanes(NamedTuple):
    """Buckets that come one after the other: lane k has the kth bucket of every round.

    Lane k has the buckets at places[begins[k] : begins[k + 1]] of the order. In the ring they have
    the same context block.
    """

    places: NDArray[np.int64]
    begins: NDArray[np.int64]


def lanes_of(order: Order) -> Lanes:
    """Return the lanes of an order."""
    counts = np.bincount(order["round"])
    lane = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Lanes(np.argsort(lane, kind="stable"), np.append(0, np.cumsum(np.bincount(lane))))


def largest_pass(n_nodes: int) -> int:
    """Return how many pairs a pass has at most, unless a single walk has more.

    Longer passes take more memory, shorter ones move the rows of a cluster more often.
    """
    return max(_MOST_PAIRS, _MOST_NODE_PAIRS * n_nodes)


def pass_size(total: int, pairs: float, n_nodes: int) -> int:
    """Return how many walks make a pass, of `total` walks with about so many pairs each.

    `n_nodes` counts the nodes that are visited.

    >>> pass_size(825_000, 440, 10_312), pass_size(646_000, 440, 646_000)
    (1874, 6460)
    >>> pass_size(2_720, 440, 34), pass_size(7, 10**9, 34)
    (27, 1)
    """
    least = max(_BUCKET_PAIRS * blocks_for(n_nodes) ** 2, _LEAST_PAIRS)
    usual = max(_NODE_PAIRS * n_nodes, least)
    most = largest_pass(n_nodes)
    return max(1, int(min(usual / pairs, total / _FEWEST_PASSES, most / pairs)))


def first_number(first: int, n_blocks: int) -> int:
    """Return the number, for draws, of the first bucket of the pass from walk `first` on."""
    return first * n_blocks**2 % 2**62


class BucketTask(NamedTuple):
    """What it takes to train any bucket, beside the weights."""

    seed: np.uint64
    negatives: int
    blocks: Blocks
    fetching: bool  # whether to fetch the rows of a batch before it is their turn


class Work(NamedTuple):
    """A pass, ready to train: its pairs, and the order of their buckets."""

    pairs: NDArray[np.uint64]  # see `pairs.PairSorter`
    bounds: NDArray[np.int64]
    number: int  # of its first bucket, for draws
    order: Order
    rates: NDArray[np.float32]  # of each bucket in order
    losses: NDArray[np.float64]  # to be written
