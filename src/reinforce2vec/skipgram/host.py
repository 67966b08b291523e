"""Training on the threads of this machine: what the fast and the plain engine share."""

from __future__ import annotations

import math
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._util.engine import fast_engine_compiles
from .._util.threads import Threads, in_turn
from ._preparation import count_nodes
from .corpus import BYTES_PER_WEIGHTED_ARC, Corpus, SampledWalks
from .engine import Chunk, Engine, Outcome, chunks
from .pairs import BYTES_PER_PART, PAIR_BYTES, PassWalks, WalkPairs, part_walks
from .passes import PassSettings, PassTrainer, outcome_of
from .rules import WindowTask, keep_chances
from .schedule import BYTES_TO_DEAL, blocks_for, pass_size
from .state import Settings, State, new_weights, scales_bytes

_BYTES_PER_THREAD = 2 << 20  # walks under way, and what they remember
_BYTES_PER_STEP = 128  # of a walk that is longer than this
_BYTES_PER_NEGATIVE = 64  # for each thread
_SPREAD = 1.5  # of the pairs of a walk: the largest pass of a training counts


def begin(corpus: Corpus, settings: Settings, workers: int) -> State:
    """Return the state before the first walk: new weights, and visits counted in a pilot round."""
    visits = np.zeros(corpus.n_nodes, np.int64)
    with Threads(workers) as pool:
        pilot = chunks(corpus, 0, corpus.n_pilot, part_walks(corpus))
        for nodes, _ in in_turn(pool, lambda part: corpus.take(*part), pilot, 2 * workers):
            count_nodes(nodes, visits)
    scales = settings.scales()
    return State([new_weights(len(visits), one.dimensions, one.seed) for one in scales], visits)


def bytes_for(corpus: Corpus, settings: Settings, workers: int, on_disk: bool = False) -> int:
    """Estimate the memory that training takes beside the graph or the walks.

    With large arrays `on_disk`, these are not counted: see :func:`bytes_on_disk`.
    """
    nodes, walks = corpus.n_nodes, pass_walks(corpus, settings, corpus.n_nodes)
    parts, copies = -(-walks // part_walks(corpus)), 2 if settings.subsample else 1
    tokens = max(walks * corpus.mean_length, int(corpus.largest_sum(walks, lambda sizes: sizes)))
    large = [matrices_bytes(corpus, settings), PAIR_BYTES * most_pairs(corpus, settings)]
    matrices, pairs = [0, 0] if on_disk else large
    kept = [
        matrices,
        table_bytes(corpus),
        12 * nodes,  # visits and starts
        13 * nodes * len(settings.windows),  # blocks, and the tables negatives are drawn from
        workers * _BYTES_PER_THREAD,
        workers * _BYTES_PER_STEP * corpus.longest,
        workers * _BYTES_PER_NEGATIVE * settings.negatives,
    ]
    of_pass = [
        pairs,
        4 * copies * tokens,
        8 * (walks + 2 * parts),  # where walks begin
        BYTES_PER_PART * parts * blocks_for(nodes) ** 2,
    ]
    return sum(kept) + max(BYTES_TO_DEAL * nodes, sum(of_pass))


def bytes_on_disk(corpus: Corpus, settings: Settings) -> int:
    """Estimate the bytes that training takes of a scratch folder: matrices and pairs.

    Where a pass has more pairs than those before it, both files exist for a moment.
    """
    pairs = PAIR_BYTES * most_pairs(corpus, settings)
    return matrices_bytes(corpus, settings) + 2 * pairs


def matrices_bytes(corpus: Corpus, settings: Settings) -> int:
    """Return the bytes that the matrices of all windows take."""
    return scales_bytes(corpus.n_nodes, settings.shares)


def table_bytes(corpus: Corpus) -> int:
    """Estimate the memory of the tables that edges are drawn from by weight; the graph keeps them.

    Their making takes more, but before the matrices are there.
    """
    if not isinstance(corpus, SampledWalks) or not corpus.graph.weighted:
        return 0
    return BYTES_PER_WEIGHTED_ARC * len(corpus.graph.indices) + 16 * corpus.n_nodes


def most_pairs(corpus: Corpus, settings: Settings) -> int:
    """Return about how many pairs all windows have in a pass, at most."""
    walks = pass_walks(corpus, settings, corpus.n_nodes)
    more = 1 + _SPREAD / math.sqrt(max(walks, 1))

    def pairs_of(sizes: ArrayLike) -> NDArray[np.float64]:
        return sum((_likely_pairs(sizes, one) for one in settings.windows), np.zeros(()))

    return int(more * corpus.largest_sum(walks, pairs_of))


def _likely_pairs(length: ArrayLike, window: int) -> NDArray[np.float64]:
    """Return about how many pairs walks of some lengths have.

    A node has pairs with those up to a distance that is drawn from 1 to the window.
    """
    length = np.asarray(length, np.float64)
    reach = np.clip(length - 1, 0, window)
    # the sum over distances k of 2 (length - k) (window - k + 1) / window
    first, second = reach * (reach + 1) / 2, reach * (reach + 1) * (2 * reach + 1) / 6
    pairs = length * (window + 1) * reach - (length + window + 1) * first + second
    return np.asarray(2 * pairs / window)


def pass_walks(corpus: Corpus, settings: Settings, n_nodes: int) -> int:
    """Return how many walks make a pass, where so many nodes are visited."""
    total, length = corpus.n_walks * settings.epochs, corpus.mean_length
    pairs = length * min(settings.widest + 1, length)  # of a walk, about
    return min(pass_size(total, pairs, n_nodes), corpus.n_walks)


def cpu_kernels(settings: Settings) -> ModuleType:
    """Return the functions that train on the CPU, compiled: the fast ones, or the plain ones."""

    def compile_fast() -> None:
        from .cpu.engine import compile_kernels

        compile_kernels(settings)

    if fast_engine_compiles(compile_fast):
        from .cpu import engine

        return engine
    from . import plain

    return plain


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
