"""Our own studies beyond the paper, as sweeps.

A study is a :class:`Sweep`; `reinforce2vec reproduce NAME` runs it like a table of the paper.
"""

from __future__ import annotations

from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from ..walks.policy import Walk
from .sweeps import Sweep, SweepSetting

_GRAPHS = ("facebook", "blogcatalog", "ppi")  # training takes seconds on these
_RATES = (0.025, 0.05, 0.1)
_USUAL_RATE = 0.05
_WALKS_PER_NODE = (1, 5, 10, 20, 40, 80)


def _attracted(attraction: float, candidates: int | None = None) -> ReinforcedWalk:
    """Return a walk that weighs visited neighbours alike, however often they were visited."""
    return ReinforcedWalk(weight=0.0, attraction=attraction, candidates=candidates)


_FAMILY: dict[str, Walk] = {
    "first-order": FirstOrderWalk(),
    "paper": ReinforcedWalk.paper(),
    "paper, UCB weight 5": ReinforcedWalk.paper(weight=5.0),
    "paper, VRRW ε-greedy": ReinforcedWalk.paper("vertex", "epsilon"),
    "released": ReinforcedWalk.released(),
    "released, temperature 0.1": ReinforcedWalk.released(temperature=0.1),
    "released, UCB weight 1 to 0": ReinforcedWalk.released(weight=1.0, annealing="linear"),
    "attraction 0.03": _attracted(0.03),
    "attraction 0.03, 10 candidates": _attracted(0.03, 10),
    "attraction 0.03, 3 candidates": _attracted(0.03, 3),
    "attraction 0.3, 3 candidates": _attracted(0.3, 3),
    "attraction 1, 3 candidates": _attracted(1.0, 3),
    "attraction 3": _attracted(3.0),
    "attraction 3, 10 candidates": _attracted(3.0, 10),
    "attraction 3, 3 candidates": _attracted(3.0, 3),
    "attraction 10, 3 candidates": _attracted(10.0, 3),
    "node2vec, p 0.25, q 0.25": SecondOrderWalk(0.25, 0.25),
    "node2vec, p 4, q 1": SecondOrderWalk(4.0, 1.0),
}
_BY_BUDGET: dict[str, Walk] = {
    "first-order": FirstOrderWalk(),
    "released": ReinforcedWalk.released(),
    "attraction 0.03, 3 candidates": _attracted(0.03, 3),
}


_NAMES = (
    "Walks: *first-order* steps to any neighbour, as DeepWalk's; *released* is the walk of the "
    "authors' code, `ReinforcedWalk.released()`; *attraction* multiplies the weight of visited "
    "neighbours (below 1 the path repels the walk), and *candidates* is how many unvisited "
    "neighbours a step considers."
)


def _setting(row: str, walk: Walk, walks: int, rate: float, place: bool) -> SweepSetting:
    """Return a walk with one amount of training and one learning rate."""
    parameters = {"walk": walk, "walks_per_node": walks, "learning_rate": rate}
    words = "" if place else f"R {walks}, "
    return SweepSetting(row, parameters, walks if place else None, f"{words}rate {rate:g}")


_BUDGET = Sweep(
    "budget",
    "Quality by amount of training",
    tuple(
        _setting(row, walk, walks, rate, place=True)
        for row, walk in _BY_BUDGET.items()
        for walks in _WALKS_PER_NODE
        for rate in _RATES
    ),
    _GRAPHS,
    "walks per node",
    (
        _NAMES,
        f"The learning rate is chosen by validation from {', '.join(map(str, _RATES))}.",
    ),
)
_FAMILY_SEARCH = Sweep(
    "family",
    "The family of walks with 5 walks per node",
    tuple(_setting(row, walk, 5, _USUAL_RATE, place=False) for row, walk in _FAMILY.items()),
    _GRAPHS,
    notes=(
        f"{_NAMES} *paper* is `ReinforcedWalk.paper()`, and *node2vec* `SecondOrderWalk(p, q)`.",
        f"All at the learning rate {_USUAL_RATE}, our default for so few walks.",
    ),
)

STUDIES: tuple[Sweep, ...] = (_BUDGET, _FAMILY_SEARCH)
