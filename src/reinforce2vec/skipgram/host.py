"""Training on the threads of this machine: what the fast and the plain engine share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.threads import in_turn
from ._preparation import count_nodes
from .corpus import Corpus, SampledWalks
from .engine import Chunk, Engine, Outcome, chunks
from .noise import keep_chances
from .pairs import PAIR_BYTES
from .passes import PassSettings, PassTrainer
from .rules import WindowTask
from .schedule import pass_size
from .state import POINTS, Settings, State
from .weights import new_weights, weights_bytes

_PART_TOKENS = 1 << 14  # whose pairs a thread finds at a time: about a millisecond of work

_BYTES_PER_NODE = 48  # visits, blocks, and the tables that negatives and edges are drawn from
_BYTES_PER_WEIGHTED_ARC = 20
_BYTES_PER_THREAD = 4 << 20  # walks under way, and what they remember
_BYTES_PER_STEP = 128  # of a walk that is longer than this
_BYTES_PER_NEGATIVE = 64  # for each thread


def begin(corpus: Corpus, settings: Settings, workers: int) -> State:
    """Return the state before the first walk: new weights, and visits counted in a pilot round."""
    visits = np.zeros(corpus.n_nodes, np.int64)
    with ThreadPoolExecutor(workers) as pool:
        pilot = chunks(corpus, 0, corpus.n_pilot, _part_walks(corpus))
        for nodes, _ in in_turn(pool, lambda part: corpus.take(*part), pilot, 2 * workers):
            count_nodes(nodes, visits)
    return State(new_weights(corpus.n_nodes, settings.dimensions, settings.seed), visits)


def bytes_for(corpus: Corpus, settings: Settings, workers: int) -> int:
    """Estimate the memory that training takes beside the graph or the walks."""
    arcs = 0
    if isinstance(corpus, SampledWalks) and corpus.graph.weighted:
        arcs = len(corpus.graph.indices)
    one_walk = corpus.longest * min(2 * settings.window, corpus.longest)
    walks = pass_walks(corpus, settings, corpus.n_nodes)
    pairs = max(int(walks * _pairs_of_walk(corpus, settings)), one_walk)
    a_thread = _BYTES_PER_THREAD + corpus.longest * _BYTES_PER_STEP
    a_thread += settings.negatives * _BYTES_PER_NEGATIVE
    return (
        weights_bytes(corpus.n_nodes, settings.dimensions)
        + _BYTES_PER_WEIGHTED_ARC * arcs
        + _BYTES_PER_NODE * corpus.n_nodes
        + workers * a_thread
        + PAIR_BYTES * pairs
        + 4 * walks * corpus.mean_length
    )


def _pairs_of_walk(corpus: Corpus, settings: Settings) -> int:
    """Return about how many pairs a walk has."""
    return corpus.mean_length * min(settings.window + 1, corpus.mean_length)


def pass_walks(corpus: Corpus, settings: Settings, n_nodes: int) -> int:
    """Return how many walks make a pass, where so many nodes are visited."""
    total = corpus.n_walks * settings.epochs
    return min(pass_size(total, _pairs_of_walk(corpus, settings), n_nodes), corpus.n_walks)


def _part_walks(corpus: Corpus) -> int:
    """Return how many walks a thread takes at a time; the result does not depend on it."""
    return max(1, _PART_TOKENS // corpus.mean_length)


class _Found(NamedTuple):
    """Some walks, and how many nodes they had before subsampling."""

    first: int
    nodes: NDArray[np.int32]
    begins: NDArray[np.int64]
    tokens: int


class _WalkPairs:
    """Finds the pairs of walks; see `pairs.PairFinder`."""

    def __init__(
        self, corpus: Corpus, task: WindowTask, of: NDArray[np.uint8], kernels: ModuleType
    ) -> None:
        self.corpus, self.task, self.of, self.kernels = corpus, task, of, kernels

    def count(self, part: Chunk, counts: NDArray[np.int64]) -> _Found:
        """Make some walks, and count their pairs by bucket."""
        (nodes, begins), first = self.corpus.take(*part), part.first
        tokens = int(np.count_nonzero(nodes >= 0))
        if self.task.keep is not None:
            self.kernels.skip_visits(nodes, begins, first, self.task)
        room = np.empty(self.corpus.longest, np.uint8)
        self.kernels.count_pairs(nodes, begins, first, self.task, self.of, counts, room)
        return _Found(first, nodes, begins, tokens)

    def place(self, found: _Found, places: NDArray[np.int64], pairs: NDArray[np.uint64]) -> None:
        """Write each pair to the next place of its bucket."""
        room = np.empty(self.corpus.longest, np.uint8)
        self.kernels.place_pairs(
            found.nodes, found.begins, found.first, self.task, self.of, places, pairs, room
        )


class HostEngine(Engine):
    """Threads that make walks and train on them; each chunk is a pass."""

    threads, resizable = 1, False  # the passes have threads of their own

    def __init__(
        self, corpus: Corpus, settings: Settings, state: State, workers: int, kernels: ModuleType
    ) -> None:
        self.corpus, self.state = corpus, state
        passes = PassSettings(
            settings.seed,
            settings.negatives,
            settings.learning_rate,
            corpus.n_walks * settings.epochs,
        )
        self.trainer = PassTrainer(state.weights, state.visits, passes, kernels, workers)
        keep = keep_chances(state.visits, settings.subsample)
        window = WindowTask(np.uint64(settings.seed), settings.window, keep)
        self.finder = _WalkPairs(corpus, window, self.trainer.blocks.of, kernels)
        self.parts = workers  # at least, to keep all threads busy
        self.chunk_walks = pass_walks(corpus, settings, int(np.count_nonzero(state.visits)))

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them, in one pass."""
        first, size = chunk
        part = min(_part_walks(self.corpus), -(-size // self.parts) or 1)
        parts = list(chunks(self.corpus, first, first + size, part))
        done = self.trainer.train(self.finder, parts or [chunk], first, size)
        n_rounds, order = self.trainer.n_rounds, self.trainer.order
        total = self.trainer.settings.total * n_rounds
        begins = (first * n_rounds + size * number for number in range(n_rounds))
        points = np.array([POINTS * begin // total for begin in begins])[order["round"]]
        start = int(points[0])
        losses = np.bincount(points - start, done.losses).astype(np.float64)
        pairs = np.bincount(points - start, done.pairs).astype(np.int64)
        return Outcome(chunk, sum(part.tokens for part in done.found), start, losses, pairs)

    def collect(self, outputs: bool = True) -> None:
        """Do nothing: the matrices of the state are trained in place."""

    def finite(self) -> bool:
        """Return whether every number of the matrices is finite."""
        return self.state.weights.finite()

    def close(self) -> None:
        """End the threads."""
        self.trainer.close()
