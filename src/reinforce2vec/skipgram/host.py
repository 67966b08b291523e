"""Training on the threads of this machine: what the fast and the plain engine share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .._util.threads import in_turn
from ._preparation import count_nodes
from .corpus import Corpus, SampledWalks, Taken
from .engine import Chunk, Engine, Outcome, chunks
from .noise import Visits, keep_chances, noise_table
from .rules import TrainingTask
from .state import POINTS, Settings, State
from .weights import new_weights, row_size, weights_bytes

_CHUNK_TOKENS = 1 << 15  # of a usual chunk: about ten milliseconds of work
_USUAL_WORK = 128 * 6  # numbers in a token's targets; chunks are smaller if there are more

_BYTES_PER_NODE = 48  # visits, and the tables that negatives and edges are drawn from
_BYTES_PER_WEIGHTED_ARC = 20
_BYTES_PER_THREAD = 4 << 20  # walks under way, and what they remember
_BYTES_PER_STEP = 128  # of a walk that is longer than this
_BYTES_PER_NEGATIVE = 1 << 10  # for each thread


def begin(corpus: Corpus, settings: Settings, workers: int) -> State:
    """Return the state before the first walk: new weights, and visits counted in a pilot round."""
    visits = np.zeros(corpus.n_nodes, np.int64)
    with ThreadPoolExecutor(workers) as threads:
        pilot = chunks(corpus, 0, corpus.n_pilot, _chunk_walks(corpus, _CHUNK_TOKENS))
        for nodes, _ in in_turn(threads, lambda chunk: corpus.take(*chunk), pilot, 2 * workers):
            count_nodes(nodes, visits)
    return State(new_weights(corpus.n_nodes, settings.dimensions, settings.seed), visits)


def bytes_for(corpus: Corpus, settings: Settings, workers: int) -> int:
    """Estimate the memory that training takes beside the graph or the walks."""
    arcs = 0
    if isinstance(corpus, SampledWalks) and corpus.graph.weighted:
        arcs = len(corpus.graph.indices)
    a_thread = _BYTES_PER_THREAD + corpus.longest * _BYTES_PER_STEP
    a_thread += settings.negatives * _BYTES_PER_NEGATIVE
    return (
        weights_bytes(corpus.n_nodes, settings.dimensions)
        + _BYTES_PER_WEIGHTED_ARC * arcs
        + _BYTES_PER_NODE * corpus.n_nodes
        + workers * a_thread
    )


def task_for(settings: Settings, n_walks: int, visits: Visits) -> TrainingTask:
    """Return what the kernels need, for an epoch of so many walks."""
    return TrainingTask(
        n_walks * settings.epochs,
        np.uint64(settings.seed),
        settings.window,
        settings.negatives,
        settings.learning_rate,
        noise_table(visits),
        keep_chances(visits, settings.subsample),
    )


def scaled_chunk(usual: int, dimensions: int, negatives: int) -> int:
    """Return the size of a chunk that takes as long as one of the size `usual` usually does."""
    work = row_size(dimensions) * (negatives + 1)
    return usual * _USUAL_WORK // max(work, _USUAL_WORK)


def _chunk_walks(corpus: Corpus, tokens: int) -> int:
    """Return how many walks have about so many tokens, at most a hundredth of an epoch."""
    return max(1, min(tokens // corpus.mean_length, corpus.n_walks // POINTS))


class HostEngine(Engine, ABC):
    """Threads that train on chunks of walks, without locks on the weights."""

    def __init__(self, corpus: Corpus, settings: Settings, state: State, workers: int) -> None:
        self.corpus, self.state, self.threads = corpus, state, workers
        self.task = task_for(settings, corpus.n_walks, state.visits)
        tokens = scaled_chunk(_CHUNK_TOKENS, settings.dimensions, settings.negatives)
        self.chunk_walks = _chunk_walks(corpus, tokens)

    def train(self, chunk: Chunk) -> Outcome:
        """Make some walks and train on them, in the calling thread."""
        taken = self.corpus.take(*chunk)
        tokens, pairs, loss = self._train_walks(taken, chunk.first)
        point = chunk.first * POINTS // self.task.n_walks
        return Outcome(chunk, tokens, point, np.array([loss]), np.array([pairs]))

    @abstractmethod
    def _train_walks(self, taken: Taken, first: int) -> Any:
        """Train on walks; return the nodes in them, the pairs trained on, and their loss."""

    def collect(self, outputs: bool = True) -> None:
        """Do nothing: the matrices of the state are trained in place."""

    def finite(self) -> bool:
        """Return whether every number of the matrices is finite."""
        return self.state.weights.finite()

    def close(self) -> None:
        """Do nothing: there is nothing to free."""
