"""LINE: vectors learned from edges alone (Tang et al., WWW 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._util.checks import check_count, check_number
from ..._util.errors import InputError
from ..._util.machine import available_cpus, check_memory
from ..._util.progress import terminal_progress
from ...embedding import Embedding
from ...graph import Graph
from ...graph.matrices import unit_rows
from ...skipgram.weights import weights_bytes
from ..estimator import Estimator
from ._line_edges import incoming
from ._line_training import LineSettings, LineTraining

ORDERS = {"both": (1, 2), "first": (1,), "second": (2,)}
NAMES = {1: "first order", 2: "second order"}
SAMPLES_PER_NODE = 10_000
MOST_SAMPLES = 2**60
BYTES_PER_NODE = 64  # degrees, and the tables that nodes are drawn from
BYTES_PER_WEIGHTED_ARC = 20  # tables that edges are drawn from
BYTES_PER_DIRECTED_ARC = 24  # the other direction


class LINE(Estimator):
    """Vectors for the nodes of a graph, learned from its edges one by one.

    Of the first order, nodes with an edge between them end up close; of the second, nodes with
    edges to the same nodes. Edges are drawn by weight, and each is told apart from random pairs.
    Vectors have length 1, each half of them if there are both orders. A node that nothing can be
    learned about has zeros: one without edges and, of the second order, without edges away from it.

    After Tang et al., LINE: Large-scale Information Network Embedding (WWW 2015).

    Parameters
    ----------
    dimensions : int, default 64
        Numbers in a vector. Half of them, rounded up, are of the first order and the others of the
        second, if there are both.
    order : {"both", "first", "second"}
        What it means to be close. The first order takes directed edges as undirected.
    negatives : int, default 5
        Nodes drawn at random that the end of an edge is told apart from, by degree ^ 0.75. They
        are drawn once and shared by up to eight edges that lead to the same node.
    samples : int, optional
        Edges to draw, for each order; by default 10,000 for each node. With many more, labels of
        nodes can hardly be told any better.
    learning_rate : float, default 0.025
        How far a vector moves at first; falls in a straight line to almost nothing.
    seed : int, default 0
        One seed, one result, to the last bit with `workers=1`. With more threads the edges are
        the same, but the order in which vectors move is not, and results differ a little.
    workers : int, optional
        Threads; by default one for each processor this process may use.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors, with the ids of their nodes.

    Examples
    --------
    >>> from reinforce2vec import LINE, karate_club
    >>> LINE(dimensions=16, samples=10_000, workers=1).fit(karate_club()).embedding_
    Embedding(34 nodes, 16 dimensions, 2.2 kB)
    """

    def __init__(
        self,
        dimensions: int = 64,
        order: str = "both",
        negatives: int = 5,
        samples: int | None = None,
        learning_rate: float = 0.025,
        seed: int = 0,
        workers: int | None = None,
    ) -> None:
        self.dimensions = dimensions
        self.order = order
        self.negatives = negatives
        self.samples = samples
        self.learning_rate = learning_rate
        self.seed = seed
        self.workers = workers

    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> LINE:
        """Learn vectors for the nodes of a graph.

        Parameters
        ----------
        graph : Graph
            Anything else that :meth:`Graph.from_any` takes is converted.
        y : ignored
            There for scikit-learn.
        progress : bool, default True
            Show a line on the terminal, if there is one.
        """
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        plan, workers = self._plan(graph.n_nodes), self._workers()
        if graph.n_nodes == 0:
            raise InputError("the graph has no nodes, so there is nothing to learn")
        check_memory(bytes_needed(graph, plan), "LINE")
        vectors = np.zeros((graph.n_nodes, sum(part.dimensions for part in plan)), np.float32)
        end = 0
        for part in plan if graph.indices.size else ():
            begin, end = end, end + part.dimensions
            training = LineTraining(incoming(graph, part.order), part)
            training.run(workers, terminal_progress(NAMES[part.order], "edges", progress))
            vectors[:, begin:end] = training.weights.vectors
            vectors[~sources_of(graph, part.order), begin:end] = 0.0
            unit_rows(vectors[:, begin:end])
        self.embedding_ = Embedding(graph.ids, vectors)
        return self

    def _plan(self, n_nodes: int) -> list[LineSettings]:
        """How to train each order."""
        if not isinstance(self.order, str) or self.order not in ORDERS:
            raise InputError(f'order must be "both", "first" or "second", not {self.order!r}')
        orders = ORDERS[self.order]
        dimensions = check_count("dimensions", self.dimensions, len(orders))
        negatives = check_count("negatives", self.negatives, 1)
        samples = SAMPLES_PER_NODE * n_nodes
        if self.samples is not None:
            samples = check_count("samples", self.samples, 1)
        if samples > MOST_SAMPLES:
            raise InputError(f"{samples:,} samples are above the limit of 2**60")
        rate = check_number("learning_rate", self.learning_rate, above=0.0)
        seed = check_count("seed", self.seed, 0) % 2**64
        sizes = [-(-dimensions // len(orders)), dimensions // len(orders)]
        return [
            LineSettings(order, size, negatives, samples, rate, seed)
            for order, size in zip(orders, sizes, strict=False)
        ]

    def _workers(self) -> int:
        return available_cpus() if self.workers is None else check_count("workers", self.workers, 1)


def sources_of(graph: Graph, order: int) -> NDArray[np.bool_]:
    """Which nodes edges lead away from, or, of the first order, have an edge at all."""
    some = graph.degrees > 0
    if order == 1:
        some[graph.indices] = True
    return some


def bytes_needed(graph: Graph, plan: list[LineSettings]) -> int:
    """Memory that training takes beside the graph, one order after the other."""
    matrices = max(weights_bytes(graph.n_nodes, part.dimensions) for part in plan)
    arc = BYTES_PER_WEIGHTED_ARC * graph.weighted + BYTES_PER_DIRECTED_ARC * graph.directed
    node = BYTES_PER_NODE + 4 * sum(part.dimensions for part in plan)
    return matrices + graph.n_nodes * node + len(graph.indices) * arc
