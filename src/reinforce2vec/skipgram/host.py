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
from .weights import new_weights, scales_bytes

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
    scales = settings.scales()
    return State([new_weights(len(visits), one.dimensions, one.seed) for one in scales], visits)


def bytes_for(corpus: Corpus, settings: Settings, workers: int) -> int:
    """Estimate the memory that training takes beside the graph or the walks."""
    arcs = 0
    if isinstance(corpus, SampledWalks) and corpus.graph.weighted:
        arcs = len(corpus.graph.indices)
    walks, pairs = pass_walks(corpus, settings, corpus.n_nodes), 0
    for window in settings.windows:
        one_walk = corpus.longest * min(2 * window, corpus.longest)
        pairs += max(int(walks * _pairs_of_walk(corpus, window)), one_walk)
    scales = [one.dimensions for one in settings.scales()]
    a_thread = _BYTES_PER_THREAD + corpus.longest * _BYTES_PER_STEP
    a_thread += settings.negatives * _BYTES_PER_NEGATIVE
    copies = 2 if settings.subsample else 1
    return (
        scales_bytes(corpus.n_nodes, scales)
        + _BYTES_PER_WEIGHTED_ARC * arcs
        + _BYTES_PER_NODE * corpus.n_nodes
        + workers * a_thread
        + PAIR_BYTES * pairs
        + 4 * copies * walks * corpus.mean_length
    )


def _pairs_of_walk(corpus: Corpus, window: int) -> int:
    """Return about how many pairs a walk has."""
    return corpus.mean_length * min(window + 1, corpus.mean_length)


def pass_walks(corpus: Corpus, settings: Settings, n_nodes: int) -> int:
    """Return how many walks make a pass, where so many nodes are visited."""
    total = corpus.n_walks * settings.epochs
    return min(pass_size(total, _pairs_of_walk(corpus, settings.widest), n_nodes), corpus.n_walks)


def _part_walks(corpus: Corpus) -> int:
    """Return how many walks a thread takes at a time; the result does not depend on it."""
    return max(1, _PART_TOKENS // corpus.mean_length)


class _Walks(NamedTuple):
    """Some walks: the number of the first, their nodes, and where each begins."""

    first: int
    nodes: NDArray[np.int32]
    begins: NDArray[np.int64]
    tokens: int  # nodes in the walks, before subsampling


class _PassWalks:
    """The walks of a pass, part by part: made for the first scale, and kept for the others."""

    def __init__(self, corpus: Corpus, parts: list[Chunk]) -> None:
        self.corpus, self.parts = corpus, parts
        self.made: list[_Walks | None] = [None] * len(parts)

    def part(self, number: int) -> _Walks:
        """Return a part; a thread that takes a part for a scale is the only one that has it."""
        walks = self.made[number]
        if walks is None:
            chunk = self.parts[number]
            nodes, begins = self.corpus.take(*chunk)
            walks = _Walks(chunk.first, nodes, begins, int(np.count_nonzero(nodes >= 0)))
            self.made[number] = walks
        return walks

    def tokens(self) -> int:
        """Return how many nodes all walks have, once all were made."""
        return sum(walks.tokens for walks in self.made if walks)


class _WalkPairs:
    """Finds the pairs of walks; see `pairs.PairFinder`."""

    def __init__(
        self, walks: _PassWalks, task: WindowTask, of: NDArray[np.uint8], kernels: ModuleType
    ) -> None:
        self.walks, self.task, self.of, self.kernels = walks, task, of, kernels

    def count(self, part: int, counts: NDArray[np.int64]) -> _Walks:
        """Make some walks, unless they are there, and count their pairs by bucket."""
        walks = self.walks.part(part)
        if self.task.keep is not None:
            walks = walks._replace(nodes=walks.nodes.copy())
            self.kernels.skip_visits(walks.nodes, walks.begins, walks.first, self.task)
        self.kernels.count_pairs(
            walks.nodes, walks.begins, walks.first, self.task, self.of, counts, self._room()
        )
        return walks

    def place(self, found: _Walks, places: NDArray[np.int64], pairs: NDArray[np.uint64]) -> None:
        """Write each pair to the next place of its bucket."""
        self.kernels.place_pairs(
            found.nodes, found.begins, found.first, self.task, self.of, places, pairs, self._room()
        )

    def _room(self) -> NDArray[np.uint8]:
        return np.empty(self.walks.corpus.longest, np.uint8)


class _Scale(NamedTuple):
    """One window under training."""

    trainer: PassTrainer
    task: WindowTask


class HostEngine(Engine):
    """Threads that make walks and train on them; each chunk is a pass of every scale."""

    threads, resizable = 1, False  # the passes have threads of their own

    def __init__(
        self, corpus: Corpus, settings: Settings, state: State, workers: int, kernels: ModuleType
    ) -> None:
        self.corpus, self.state, self.kernels = corpus, state, kernels
        self.n_walks = corpus.n_walks * settings.epochs
        keep = keep_chances(state.visits, settings.subsample)
        self.scales = []
        for one, weights in zip(settings.scales(), state.scales, strict=True):
            passes = PassSettings(one.seed, one.negatives, one.learning_rate, self.n_walks)
            trainer = PassTrainer(weights, state.visits, passes, kernels, workers)
            task = WindowTask(np.uint64(one.seed), one.widest, keep)
            self.scales.append(_Scale(trainer, task))
        self.parts = workers  # at least, to keep all threads busy
        self.chunk_walks = pass_walks(corpus, settings, int(np.count_nonzero(state.visits)))

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train each scale on them, in one pass."""
        first, size = chunk
        part = min(_part_walks(self.corpus), -(-size // self.parts) or 1)
        parts = list(chunks(self.corpus, first, first + size, part)) or [chunk]
        walks = _PassWalks(self.corpus, parts)
        start = POINTS * first // self.n_walks
        curves = [self._train_scale(scale, walks, chunk, start) for scale in self.scales]
        losses, pairs = (np.stack(one) for one in zip(*curves, strict=True))
        return Outcome(chunk, walks.tokens(), start, losses, pairs)

    def _train_scale(
        self, scale: _Scale, walks: _PassWalks, chunk: Chunk, start: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Train one scale; return losses and pairs from point `start` of the loss curve on."""
        trainer, (first, size) = scale.trainer, chunk
        finder = _WalkPairs(walks, scale.task, trainer.blocks.of, self.kernels)
        done = trainer.train(finder, list(range(len(walks.parts))), first, size)
        n_rounds, total = trainer.n_rounds, self.n_walks * trainer.n_rounds
        begins = (first * n_rounds + size * number for number in range(n_rounds))
        points = np.array([POINTS * begin // total for begin in begins])[trainer.order["round"]]
        losses = np.bincount(points - start, done.losses).astype(np.float64)
        pairs = np.bincount(points - start, done.pairs).astype(np.int64)
        return losses, pairs

    def collect(self, outputs: bool = True) -> None:
        """Do nothing: the matrices of the state are trained in place."""

    def finite(self) -> list[bool]:
        """Return whether every number of the matrices is finite, for each scale."""
        return [weights.finite() for weights in self.state.scales]

    def close(self) -> None:
        """End the threads."""
        for scale in self.scales:
            scale.trainer.close()
