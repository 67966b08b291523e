"""LINE: vectors learned from edges alone (Tang et al., WWW 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._util.checks import check_choice, check_count, check_number
from ..._util.errors import InputError
from ..._util.machine import available_cpus, check_dimensions
from ..._util.progress import terminal_progress
from ...graph import Graph
from ...graph.fingerprint import digest_bytes
from ...graph.graph import bytes_without_directions
from ...graph.matrices import unit_rows
from ...skipgram.pairs import BYTES_PER_PART, PAIR_BYTES
from ...skipgram.schedule import BYTES_TO_DEAL, blocks_for, pass_size
from ...skipgram.state import weights_bytes
from ..estimator import Estimator
from ._line_training import CENTRES, SHARING, LineSettings, LineTraining, incoming

_ORDERS = {"both": (1, 2), "first": (1,), "second": (2,)}
_NAMES = {1: "LINE, first order", 2: "LINE, second order"}
_SAMPLES_PER_NODE = 10_000
_MOST_SAMPLES = 2**60
_BYTES_PER_NODE = 40  # degrees, blocks, and the tables that nodes are drawn from
_BYTES_PER_WEIGHTED_ARC = 20  # tables that edges are drawn from


class LINE(Estimator):
    """LINE (Tang et al., WWW 2015): node embeddings trained on single edges.

    With first-order proximity, nodes with an edge between them get similar vectors; with
    second-order proximity, nodes with edges to the same nodes. Edges are drawn by weight, and
    contrasted with negative samples. Vectors have length 1; with both orders, each half has. A node
    has zeros where nothing can be learned: without edges and, for the second order, without edges
    that lead away from it.

    Parameters
    ----------
    dimensions : int, default 64
        Dimensions of a vector. With both orders, half of them, rounded up, are of the first order
        and the others of the second.
    order : {"both", "first", "second"}, default "both"
        The proximity to preserve. The first order treats directed edges as undirected.
    negatives : int, default 5
        Negative samples for each edge, drawn in proportion to degree ^ 0.75. Up to eight edges
        share them.
    samples : int, optional
        Edges to draw, for each order; by default 10,000 for each node. More hardly improve node
        classification.
    learning_rate : float, default 0.025
        The initial learning rate; it decays linearly to almost 0.
    seed : int, default 0
        Seed of all random numbers. One seed gives one result, to the last bit, with any number of
        threads.
    workers : int, optional
        Threads; by default one for each CPU that this process may use.

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
        """Train vectors for the nodes of a graph.

        Parameters
        ----------
        graph : Graph
            The graph; anything else that :meth:`Graph.from_any` accepts is converted.
        y : None
            Ignored; scikit-learn compatibility.
        progress : bool, default True
            Show a progress line if the output is a terminal.

        Returns
        -------
        self
        """
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        plan, workers = self._plan(graph.n_nodes), available_cpus()
        if self.workers is not None:
            workers = check_count("workers", self.workers, 1)
        if graph.n_nodes == 0:
            raise InputError("the graph has no nodes, so there is nothing to learn")

        def bytes_for(dimensions: int) -> int:
            other = type(self)(**(self.get_params(deep=False) | {"dimensions": dimensions}))
            return other.estimate_memory(graph)

        what = f"LINE on {graph.n_nodes:,} nodes"
        check_dimensions(self.dimensions, bytes_for, what, step=len(plan))
        vectors = np.zeros((graph.n_nodes, sum(part.dimensions for part in plan)), np.float32)
        end = 0
        for part in plan if graph.indices.size else ():
            begin, end = end, end + part.dimensions
            training = LineTraining(incoming(graph, part.order), part, workers)
            training.run(terminal_progress(_NAMES[part.order], "edges", progress))
            vectors[:, begin:end] = training.weights.vectors
            vectors[~_has_edges(graph, part.order), begin:end] = 0.0
            unit_rows(vectors[:, begin:end])
            del training  # before the next one takes memory
        self.embedding_ = self._embedding(graph.ids, vectors, graph)
        return self

    def estimate_memory(self, graph: Any) -> int:
        """Estimate the bytes that :meth:`fit` takes beside the graph."""
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        return _bytes_needed(graph, self._plan(graph.n_nodes))

    def _plan(self, n_nodes: int) -> list[LineSettings]:
        """Return the checked settings of each order."""
        check_choice("order", self.order, _ORDERS)
        orders = _ORDERS[self.order]
        dimensions = check_count("dimensions", self.dimensions, len(orders))
        negatives = check_count("negatives", self.negatives, 1)
        samples = _SAMPLES_PER_NODE * n_nodes
        if self.samples is not None:
            samples = check_count("samples", self.samples, 1)
        if samples > _MOST_SAMPLES:
            raise InputError(f"{samples:,} samples are above the limit of 2**60")
        rate = check_number("learning_rate", self.learning_rate, above=0.0)
        seed = check_count("seed", self.seed, 0) % 2**64
        sizes = [-(-dimensions // len(orders)), dimensions // len(orders)]
        return [
            LineSettings(order, size, negatives, samples, rate, seed)
            for order, size in zip(orders, sizes, strict=False)
        ]


def _has_edges(graph: Graph, order: int) -> NDArray[np.bool_]:
    """Return which nodes have edges that lead away; for the first order, any edges."""
    some = graph.degrees > 0
    if order == 1:
        some[graph.indices] = True
    return some


def _bytes_needed(graph: Graph, plan: list[LineSettings]) -> int:
    """Estimate the memory that training takes beside the graph, one order after the other."""
    stages, degrees = [digest_bytes(graph)], graph.degrees
    linked = graph.n_nodes - graph.n_isolated
    draws = float((degrees / np.clip(degrees, 1, SHARING)).sum())
    edges_per_draw = max(1.0, len(graph.indices) / max(draws, 1.0))
    for part in plan:
        matrices = weights_bytes(graph.n_nodes, part.dimensions) // (2 if part.order == 1 else 1)
        centres = pass_size(part.samples, 1.0, linked) / edges_per_draw
        pairs = 2 * PAIR_BYTES * int(centres * edges_per_draw)  # as drawn, and sorted
        parts = int(centres) // CENTRES + 1
        pairs += BYTES_PER_PART * parts * blocks_for(linked) ** 2
        stages.append(matrices + max(pairs, BYTES_TO_DEAL * graph.n_nodes))
    arcs, (making, kept) = len(graph.indices), bytes_without_directions(graph)
    tables = _BYTES_PER_WEIGHTED_ARC * graph.weighted * (2 if graph.directed else 1) * arcs
    node = _BYTES_PER_NODE + 4 * sum(part.dimensions for part in plan)
    return max(making, kept + tables + max(stages) + graph.n_nodes * node)
