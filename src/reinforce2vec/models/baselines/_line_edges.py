"""What LINE draws its edges and negatives from.

To draw an edge i -> j by weight is to draw j by the weight of all edges that lead there, and then i
among those by weight. So j, the centre, is drawn once, with its negatives, and several sources i
for it: the step is the small dense product of skip-gram. A centre with few neighbours has no more
sources than these, lest one edge should count many times in a step, and is drawn the more often:
every edge has its right chance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...graph import Graph, csr
from ...skipgram.noise import Noise, noise_table
from ...skipgram.rules import BATCH

SHARING = BATCH  # edges, at most, that lead to one centre and share its negatives


class EdgeTables(NamedTuple):
    """Tables to draw from.

    Row j of the adjacency holds the nodes with an edge to j. `weighing` is None or the tables of
    :attr:`Graph.alias`, `chances` the alias table of all centres.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weighing: tuple[NDArray[Any], ...] | None
    chances: tuple[NDArray[Any], ...]
    noise: Noise


class LineTask(NamedTuple):
    """What the kernels need to train one order, beside the weights."""

    n_draws: int  # centres to draw: the learning rate falls with their number
    seed: np.uint64
    negatives: int
    learning_rate: float
    edges: EdgeTables


def tables_of(graph: Graph) -> tuple[EdgeTables, float]:
    """Return the tables of a graph, and how many edges are drawn for a centre on average.

    Negatives are drawn by degree ^ 0.75; as in the authors' program, the degree is the weight of
    all edges from a node and to it.
    """
    rows, weighing = np.array([0, graph.n_nodes]), graph.alias
    degrees = graph.degrees
    weights, shares = (degrees, None) if weighing is None else (weighing[2], weighing[4])
    draws = weights / np.clip(degrees, 1, SHARING)
    chances = csr.alias_tables(rows, draws)[:2]
    noise = noise_table(weights + np.bincount(graph.indices, shares, graph.n_nodes))
    edges = EdgeTables(graph.indptr, graph.indices, weighing, chances, noise)
    return edges, float(weights.sum() / draws.sum())


def incoming(graph: Graph, order: int) -> Graph:
    """Return the graph whose rows hold the nodes with an edge to the row's node."""
    if not graph.directed:
        return graph
    sources = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    turned = np.column_stack([graph.indices, sources])
    return Graph.from_numbered(
        turned, graph.weights, graph.ids, directed=order == 2, self_loops=True
    )
