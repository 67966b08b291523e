"""The methods that are compared: their labels, and how each is made."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import reinforce2vec as r2v

READINGS = {"paper": r2v.ReinforcedWalk.paper, "released": r2v.ReinforcedWalk.released}
READING_LABELS = {"paper": "equations as printed", "released": "authors' code"}
REWARDS = {
    "vertex": "reinforce2vec-v",
    "kl": "reinforce2vec-d:KL",
    "js": "reinforce2vec-d:JS",
}
EXPLORATIONS = {"none": "w/o exploration", "epsilon": "ε-greedy", "ucb": "UCB"}
PILOTS = "node2vec-p"
_OF_THE_RUN = ("dimensions", "seed", "workers", "backend", "scratch")  # not settings of a method
_FEW_WALKS = {"walks_per_node": 10, "learning_rate": 0.05}


class Scale(NamedTuple):
    """Sizes and amounts of all experiments; the defaults are the paper's d, R, L and C."""

    dimensions: int = 64
    walks_per_node: int = 80
    walk_length: int = 40
    window: int = 10
    pilot_walks: int = 5  # walks per node in the trainings that choose node2vec's p and q
    choices: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)  # values of p and q
    shuffles: int = 5
    steps: int = 10_000  # of long walks
    planted: int = 0  # nodes of a generated graph that replaces every data set, for tests

    def training(self) -> dict[str, Any]:
        """Return the paper's training, all explicit, so that defaults do not matter."""
        return {
            "walk_length": self.walk_length,
            "walks_per_node": self.walks_per_node,
            "window": self.window,
            "negatives": 5,
            "epochs": 1,
            "learning_rate": 0.025,
            "subsample": 0.0,
            "smooth": False,
        }


SMALL = Scale(8, 2, 10, 3, 1, (0.5, 2.0), 2, 200, 200)


class Method(NamedTuple):
    """A method of the tables: its label, where it comes from, and its name in the paper."""

    label: str
    group: str = "baseline"  # or "paper", or "ours"
    like: str = ""


COMPARED = {
    "deepwalk": Method("DeepWalk", like="deepwalk"),
    "deepwalk-10": Method("DeepWalk, 10 walks per node"),
    "node2vec": Method("node2vec", like="node2vec"),
    "line": Method("LINE", like="line"),
    "hope": Method("HOPE", like="hope"),
    "grarep": Method("GraRep", like="grarep"),
    "prone": Method("ProNE"),
    "netmf": Method("NetMF"),
    "paper-js-ucb": Method("reinforce2vec, equations as printed", "paper", "reinforce2vec"),
    "released-js-ucb": Method("reinforce2vec, authors' code", "paper", "reinforce2vec"),
    "default": Method("reinforce2vec, default", "ours"),
    "repelled-80": Method("ours: repelled by its path", "ours"),
    "repelled": Method("ours: 10 walks per node, repelled", "ours"),
    "few-walks": Method("ours: 10 walks per node", "ours"),
}
_BASELINES = {
    "line": (r2v.LINE, {}),
    "hope": (r2v.HOPE, {"beta": 0.01}),
    "grarep": (r2v.GraRep, {}),
    "prone": (r2v.ProNE, {}),
    "netmf": (r2v.NetMF, {}),
}


def variant(reading: str, reward: str, exploration: str) -> str:
    """Return the name of one of the paper's walks in one of its two readings.

    Walks that take the best neighbour take the most visited one, whatever the reward: they are the
    same walks, and one method.
    """
    by_score = reading == "released" or reward != "vertex"
    if by_score and exploration in ("none", "epsilon"):
        reward = "js"
    return f"{reading}-{reward}-{exploration}"


def greedy(reading: str, epsilon: float) -> str:
    """Return the name of DRRW by JS divergence with probability ε of a random step."""
    known = {0.0: "none", 0.5: "epsilon"}
    return f"{reading}-js-{known.get(epsilon, f'epsilon{epsilon:g}')}"


def _attracted(attraction: float, candidates: int | None = None) -> r2v.ReinforcedWalk:
    return r2v.ReinforcedWalk(weight=0.0, attraction=attraction, candidates=candidates)


# the family of walks of our own study, and some of them by amount of training
FAMILY = {
    "first-order": r2v.FirstOrderWalk(),
    "paper": r2v.ReinforcedWalk.paper(),
    "paper, UCB weight 5": r2v.ReinforcedWalk.paper(weight=5.0),
    "paper, VRRW ε-greedy": r2v.ReinforcedWalk.paper("vertex", "epsilon"),
    "released": r2v.ReinforcedWalk.released(),
    "released, temperature 0.1": r2v.ReinforcedWalk.released(temperature=0.1),
    "released, UCB weight 1 to 0": r2v.ReinforcedWalk.released(weight=1.0, annealing="linear"),
    "attraction 0.03": _attracted(0.03),
    "attraction 0.03, 10 candidates": _attracted(0.03, 10),
    "attraction 0.03, 3 candidates": _attracted(0.03, 3),
    "attraction 0.3, 3 candidates": _attracted(0.3, 3),
    "attraction 1, 3 candidates": _attracted(1.0, 3),
    "attraction 3": _attracted(3.0),
    "attraction 3, 10 candidates": _attracted(3.0, 10),
    "attraction 3, 3 candidates": _attracted(3.0, 3),
    "attraction 10, 3 candidates": _attracted(10.0, 3),
    "node2vec, p 0.25, q 0.25": r2v.SecondOrderWalk(0.25, 0.25),
    "node2vec, p 4, q 1": r2v.SecondOrderWalk(4.0, 1.0),
}
BY_BUDGET = ("first-order", "released", "attraction 0.03, 3 candidates")
BUDGETS, RATES = (1, 5, 10, 20, 40, 80), (0.025, 0.05, 0.1)


def parameters_of(name: str, scale: Scale) -> dict[str, Any]:
    """Return the parameters of `Reinforce2Vec` for a method on walks."""
    usual = scale.training()
    named = {
        "deepwalk": {"walk": r2v.FirstOrderWalk()},
        "deepwalk-10": {"walk": r2v.FirstOrderWalk()} | _FEW_WALKS,
        "node2vec": {"walk": r2v.SecondOrderWalk()},
        "few-walks": {"walk": r2v.ReinforcedWalk()} | _FEW_WALKS,
        "repelled": {"walk": _attracted(0.03, 3)} | _FEW_WALKS,
        "repelled-80": {"walk": _attracted(0.03)},
    }
    if name == "default":
        known = r2v.Reinforce2Vec().get_params(deep=False)
        return {key: value for key, value in known.items() if key not in _OF_THE_RUN}
    if name in named:
        return usual | named[name]
    if name.startswith(PILOTS):
        p, q = (float(part[1:]) for part in name.split("-")[1:])
        walk = r2v.SecondOrderWalk(p, q)
        return usual | {"walk": walk, "walks_per_node": scale.pilot_walks}
    if "@" in name:  # of our own studies: walk@walks@rate
        walk_name, walks, rate = name.split("@")
        more = {"walks_per_node": int(walks), "learning_rate": float(rate)}
        return usual | {"walk": FAMILY[walk_name]} | more
    reading, reward, exploration = name.split("-")
    more = {}
    if exploration not in EXPLORATIONS:
        more, exploration = {"weight": float(exploration.removeprefix("epsilon"))}, "epsilon"
    return usual | {"walk": READINGS[reading](reward, exploration, **more)}


def make(name: str, scale: Scale, dimensions: int, seed: int, backend: str) -> Any:
    """Return the estimator of a method, with one thread: others train at the same time."""
    if name in _BASELINES:
        kind, parameters = _BASELINES[name]
        known = kind(dimensions=dimensions, seed=seed, **parameters)
        if "workers" in known.get_params(deep=False):
            known.set_params(workers=1)
        return known
    parameters = parameters_of(name, scale)
    running = {"workers": 1, "backend": backend}
    return r2v.Reinforce2Vec(dimensions=dimensions, seed=seed, **running, **parameters)


def describe(name: str, scale: Scale, task: str) -> dict[str, str]:
    """Return all that the scores of a method depend on, as text, for the file of cells."""
    if name in _BASELINES:
        kind, parameters = _BASELINES[name]
        return {"estimator": kind.__name__} | {key: str(value) for key, value in parameters.items()}
    parameters = parameters_of(name, scale)
    if task == "paths":
        return {"walk": _text(parameters["walk"]), "steps": str(scale.steps)}
    return {"estimator": "Reinforce2Vec"} | {k: _text(value) for k, value in parameters.items()}


def _text(value: Any) -> str:
    """Return a parameter as text; of a walk only what differs from its defaults."""
    if not is_dataclass(value):
        return str(value)
    given = [
        f"{part.name}={getattr(value, part.name)}"
        for part in fields(value)
        if getattr(value, part.name) != part.default
    ]
    return f"{type(value).__name__}({', '.join(given)})"
