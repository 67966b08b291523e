"""How long cells take: estimates, for the order of cells and for the time left.

The figures are seconds on one core of a server of 2020, measured with the data sets of the paper.
"""

from __future__ import annotations

from ..walks import FirstOrderWalk
from .cells import (
    FULL,
    HEADLINE,
    LINK_PREDICTION,
    NODE_CLASSIFICATION,
    PATHS,
    TABLES,
    VALIDATION_ONLY,
    Cell,
)

_START = 0.5
_LONG_WALKS = 2.0
_TOKENS_PER_SECOND = 1.7e6  # of walks, with 64 dimensions
_PATH_DEPENDENT = 1.4  # how much longer walks take that are not first-order
_PER_NODE = {"LINE": 1.2e-3, "GraRep": 2e-3, "NetMF": 1.5e-3, "HOPE": 1e-4, "ProNE": 1e-4}
_PER_NODE_OF_OTHERS = 1e-3
_PER_EDGE = 1.5e-5  # of methods that multiply by the adjacency matrix, and of smoothing

# Scoring: embeddings, and seconds for 10,000 edges, or for 100,000 rows times classes.
_LINKS = {FULL: (2, 0.4), HEADLINE: (1, 0.18), VALIDATION_ONLY: (1, 0.03)}
_GROUPS = {
    FULL: (1, 1.8),
    TABLES: (1, 1.6),
    HEADLINE: (1, 0.25),
    VALIDATION_ONLY: (1, 0.05),
}


def cost_of(cell: Cell) -> float:
    """Return an estimate of the seconds of a cell on one core."""
    if cell.task == PATHS:
        return _LONG_WALKS
    size = cell.scale.size(cell.graph)
    width = cell.scale.dimensions / 64
    if cell.task == LINK_PREDICTION:
        times, share = _LINKS[cell.scope]
        scoring = share * size.edges / 1e4 * width
    elif cell.task == NODE_CLASSIFICATION:
        times, share = _GROUPS[cell.scope]
        rows = size.nodes * (2 * cell.fractions[0] + 0.1) / 1.1  # to train on, and to score
        scoring = share * rows * size.classes / 1e5 * width**1.3
    else:
        times, scoring = 1, 0.0
    return _START + times * _embedding(cell) * (1 + 2 * width) / 3 + scoring


def _embedding(cell: Cell) -> float:
    """Return the seconds of embedding a graph in 64 dimensions, and of smoothing."""
    method, size = cell.method, cell.scale.size(cell.graph)
    along_edges = _PER_EDGE * size.edges
    if method.estimator != "Reinforce2Vec":
        return _PER_NODE.get(method.estimator, _PER_NODE_OF_OTHERS) * size.nodes + along_edges
    given = cell.scale.training() | method.parameters
    tokens = size.nodes * given["walks_per_node"] * given["walk_length"] * given["epochs"]
    longer = 1 if isinstance(given.get("walk"), FirstOrderWalk) else _PATH_DEPENDENT
    return float(tokens / _TOKENS_PER_SECOND * longer + along_edges)
