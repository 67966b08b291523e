"""Training on the threads of this machine: what the fast and the plain engine share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import NamedTuple

import numpy as np

from .._util.threads import in_turn
from ._preparation import count_nodes
from .corpus import BYTES_PER_WEIGHTED_ARC, Corpus, SampledWalks
from .engine import Chunk, Engine, Outcome, chunks
from .loss_curve import outcome_of
from .noise import keep_chances
from .pairs import PAIR_BYTES
from .passes import PassSettings, PassTrainer
from .rules import WindowTask
from .schedule import pass_size
from .state import Settings, State
from .walk_pairs import PassWalks, WalkPairs, part_walks
from .weights import new_weights, scales_bytes

_BYTES_PER_NODE = 48  # visits, blocks, and the tables that negatives and edges are drawn from
_BYTES_PER_THREAD = 4 << 20  # walks under way, and what they remember
_BYTES_PER_STEP = 128  # of a walk that is longer than this
_BYTES_PER_NEGATIVE = 64  # for each thread


def begin(corpus: Corpus, settings: Settings, workers: int) -> State:
    """Return the state before the first walk: new weights, and visits counted in a pilot round."""
    visits = np.zeros(corpus.n_nodes, np.int64)
    with ThreadPoolExecutor(workers) as pool:
        pilot = chunks(corpus, 0, corpus.n_pilot, part_walks(corpus))
        for nodes, _ in in_turn(pool, lambda part: corpus.take(*part), pilot, 2 * workers):
            count_nodes(nodes, visits)
    scales = settings.scales()
    return State([new_weights(len(visits), one.dimensions, one.seed) for one in scales], visits)


def bytes_for(corpus: Corpus, settings: Settings, workers: int) -> int:
    """Estimate the memory that training takes beside the graph or the walks."""
    arcs = 0
    if isinstance(corpus, SampledWalks) and corpus.graph.weighted:
        arcs = len(corpus.graph.indices)
    walks = pass_walks(corpus, settings, corpus.n_nodes)
    scales = [one.dimensions for one in settings.scales()]
    a_thread = _BYTES_PER_THREAD + corpus.longest * _BYTES_PER_STEP
    a_thread += settings.negatives * _BYTES_PER_NEGATIVE
    copies = 2 if settings.subsample else 1
    return (
        scales_bytes(corpus.n_nodes, scales)
        + BYTES_PER_WEIGHTED_ARC * arcs
        + _BYTES_PER_NODE * corpus.n_nodes
        + workers * a_thread
        + PAIR_BYTES * most_pairs(corpus, settings)
        + 4 * copies * walks * corpus.mean_length
    )


def most_pairs(corpus: Corpus, settings: Settings) -> int:
    """Return how many pairs all windows have in a pass, at most."""
    walks, pairs = pass_walks(corpus, settings, corpus.n_nodes), 0
    for window in settings.windows:
        one_walk = corpus.longest * min(2 * window, corpus.longest)
        pairs += max(int(walks * _pairs_of_walk(corpus, window)), one_walk)
    return pairs


def _pairs_of_walk(corpus: Corpus, window: int) -> int:
    """Return about how many pairs a walk has."""
    return corpus.mean_length * min(window + 1, corpus.mean_length)


def pass_walks(corpus: Corpus, settings: Settings, n_nodes: int) -> int:
    """Return how many walks make a pass, where so many nodes are visited."""
    total = corpus.n_walks * settings.epochs
    return min(pass_size(total, _pairs_of_walk(corpus, settings.widest), n_nodes), corpus.n_walks)


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
        self.corpus, self.state, self.kernels, self.workers = corpus, state, kernels, workers
        self.n_walks = corpus.n_walks * settings.epochs
        keep = keep_chances(state.visits, settings.subsample)
        self.scales = []
        for one, weights in zip(settings.scales(), state.scales, strict=True):
            passes = PassSettings(one.seed, one.negatives, one.learning_rate, self.n_walks)
            trainer = PassTrainer(weights, state.visits, passes, kernels, workers)
            task = WindowTask(np.uint64(one.seed), one.widest, keep)
            self.scales.append(_Scale(trainer, task))
        self.chunk_walks = pass_walks(corpus, settings, int(np.count_nonzero(state.visits)))

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train each scale on them, in one pass."""
        walks, (first, size) = PassWalks(self.corpus, chunk, self.workers), chunk
        parts = list(range(len(walks.parts)))
        done = []
        for trainer, task in self.scales:
            finder = WalkPairs(walks, task, trainer.blocks.of, self.kernels)
            done.append(trainer.train(finder, parts, first, size))
        return outcome_of(chunk, self.n_walks, walks.tokens(), trainer.order, done)

    def collect(self, outputs: bool = True) -> None:
        """Do nothing: the matrices of the state are trained in place."""

    def finite(self) -> list[bool]:
        """Return whether every number of the matrices is finite, for each scale."""
        return [weights.finite() for weights in self.state.scales]

    def close(self) -> None:
        """End the threads."""
        for scale in self.scales:
            scale.trainer.close()
