"""The paper's toy example, computed step by step with the printed equations.

The figure is not in the paper's source. Its caption says: from "1" there are "3" and "5", from "4"
there are "2", "3" and "5", and the path goes 1, 3, 4, 3. So five edges are certain, and there are
at least five nodes; the caption does not say whether "2" and "3", "2" and "5" or "3" and "5" are
joined, and here they are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph

TOY_EDGES = ((1, 3), (1, 5), (2, 4), (3, 4), (4, 5))
CAPTION_PATH = (1, 3, 4, 3)  # the path in the caption
_STEPS = 8
_Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ToyStep:
    """One step: the path so far, the scores of the neighbours, and the next node."""

    path: tuple[int, ...]
    occupation: _Vector  # w(n), by node
    divergences: dict[str, dict[int, float]]  # "kl" and "js", by neighbour
    following: int
    tied: bool


def toy_graph() -> Graph:
    """Return the graph: five nodes, five edges."""
    return Graph.from_edges(TOY_EDGES, nodes=range(1, 6))


def toy_walk(steps: int = _STEPS, seed: int = 0) -> list[ToyStep]:
    """Walk by DRRW with KL divergence, without exploration: first as in the caption, then on.

    Ties are decided as in the caption; later ones at random.
    """
    rng = np.random.default_rng(seed)
    neighbours = {
        node: sorted({a + b - node for a, b in TOY_EDGES if node in (a, b)}) for node in range(1, 6)
    }
    path = [CAPTION_PATH[0]]
    taken: list[ToyStep] = []
    while len(taken) < steps:
        before = _occupation_vector(path)
        found: dict[str, dict[int, float]] = {"kl": {}, "js": {}}
        for node in neighbours[path[-1]]:
            after = _occupation_vector([*path, node])
            found["kl"][node] = _kullback_leibler(before, after)
            found["js"][node] = _jensen_shannon(before, after)
        least = min(found["kl"].values())
        best = [node for node, moved in found["kl"].items() if moved <= least + 1e-12]
        following = (
            CAPTION_PATH[len(path)] if len(path) < len(CAPTION_PATH) else int(rng.choice(best))
        )
        taken.append(ToyStep(tuple(path), before, found, following, len(best) > 1))
        path.append(following)
    return taken


def _occupation_vector(path: list[int]) -> _Vector:
    """Return w(n): every node counts once, and once more for each visit at steps 1 to n."""
    visits = np.ones(5)
    for node in path[1:]:
        visits[node - 1] += 1
    shares: _Vector = visits / visits.sum()
    return shares


def _kullback_leibler(p: _Vector, q: _Vector) -> float:
    """Return D_KL(p || q) in nats, term by term."""
    return float(np.sum(p * np.log(p / q)))


def _jensen_shannon(p: _Vector, q: _Vector) -> float:
    """Return the mean divergence of both from their mean, in nats."""
    middle = (p + q) / 2
    return (_kullback_leibler(p, middle) + _kullback_leibler(q, middle)) / 2
