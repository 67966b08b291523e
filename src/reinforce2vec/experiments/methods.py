"""The methods that are compared, as data.

To add a setting of our own, add a line to `_OUR_SETTINGS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import product
from typing import Any

from ..evaluation.estimators import NamedEstimator
from ..models import Reinforce2Vec
from ..models.methods import BASELINES
from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from ..walks.policy import Walk
from . import paper
from .scale import Scale

REWARD_LABELS = {
    "vertex": "reinforce2vec-v",
    "kl": "reinforce2vec-d:KL",
    "js": "reinforce2vec-d:JS",
}
EXPLORATION_LABELS = {"none": "w/o exploration", "epsilon": "ε-greedy", "ucb": "UCB"}
READING_WALKS = {"paper": ReinforcedWalk.paper, "released": ReinforcedWalk.released}
READING_LABELS = {"paper": "equations as printed", "released": "authors' code"}

_BASELINES = ("line", "hope", "grarep", "prone", "netmf")  # Spectral came after the tables
_OF_THE_RUN = ("dimensions", "seed", "workers", "backend", "scratch")  # not settings of a method

# Our own settings: name, label, and their differences from the paper's training.
_FEW_WALKS = {"walks_per_node": 10, "learning_rate": 0.05}
_OUR_SETTINGS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "repelled-80",
        "ours: repelled by its path",
        {"walk": ReinforcedWalk(weight=0.0, attraction=0.03)},
    ),
    (
        "repelled",
        "ours: 10 walks per node, repelled",
        {"walk": ReinforcedWalk(weight=0.0, attraction=0.03, candidates=3)} | _FEW_WALKS,
    ),
    ("few-walks", "ours: 10 walks per node", {"walk": ReinforcedWalk()} | _FEW_WALKS),
)


@dataclass(frozen=True)
class EmbeddingMethod:
    """A method that turns a graph into vectors; plain data, so that it can be pickled.

    Parameters
    ----------
    name : str
        In file names: lower case and hyphens.
    label : str
        In tables and pictures.
    estimator : str
        A public class of this library, or the Python path of another one, `module:Class`.
    parameters : dict
        Its parameters, without dimensions, seed and workers.
    choices : tuple of (str, dict)
        If several parameters are tried by short trainings on the same graph: a name, and what it
        changes. The one with the best validation score is taken.
    pilot : dict
        Parameters of these short trainings that differ.
    group : {"baseline", "paper", "ours", "own"}
        Where the method comes from; "own" is the user's.
    like : str
        Its name in the paper, if it is there.
    smooths : bool
        Whether its vectors are smoothed already: it has no raw ones.
    source : str
        A digest of the source of an estimator that is not of this library.
    """

    name: str
    label: str
    estimator: str = "Reinforce2Vec"
    parameters: dict[str, Any] = field(default_factory=dict)
    choices: tuple[tuple[str, dict[str, Any]], ...] = ()
    pilot: dict[str, Any] = field(default_factory=dict)
    group: str = "baseline"
    like: str = ""
    smooths: bool = False
    source: str = ""

    def make(self, dimensions: int, seed: int, backend: str = "cpu", workers: int = 1) -> Any:
        """Return the estimator; by default with one thread, as others train at the same time."""
        if self.source:
            return NamedEstimator(self.estimator, dimensions, seed)
        import reinforce2vec

        kind = getattr(reinforce2vec, self.estimator)
        known = kind._parameters()
        running = {"workers": workers, "backend": backend}
        running = {name: value for name, value in running.items() if name in known}
        return kind(dimensions=dimensions, seed=seed, **running, **self.parameters)

    @property
    def seeded(self) -> bool:
        """Whether vectors of one graph depend on the seed."""
        import reinforce2vec

        return bool(getattr(getattr(reinforce2vec, self.estimator, None), "seeded", True))

    def chosen(self, number: int) -> EmbeddingMethod:
        """Return this method with one of its choices."""
        changes = self.parameters | self.choices[number][1]
        return replace(self, parameters=changes, choices=(), pilot={})

    def pilots(self) -> list[EmbeddingMethod]:
        """Return the short trainings that decide which choice to take."""
        return [
            EmbeddingMethod(
                f"{self.name}-{name}",
                self.label,
                self.estimator,
                self.parameters | changes | self.pilot,
            )
            for name, changes in self.choices
        ]

    def settings(self) -> dict[str, Any]:
        """Return a description of the method, for a JSON file."""
        described: dict[str, Any] = {"estimator": self.estimator} | _spelled_all(self.parameters)
        if self.choices:
            described["choices"] = {name: _spelled_all(changes) for name, changes in self.choices}
            described["pilot"] = _spelled_all(self.pilot)
        if self.source:
            described["source"] = self.source
        return described


def _spelled_all(parameters: dict[str, Any]) -> dict[str, str]:
    return {name: _parameter_text(value) for name, value in parameters.items()}


def _parameter_text(value: Any) -> str:
    """Return a parameter as text; of a walk only what differs from its defaults."""
    if not is_dataclass(value) or isinstance(value, type):
        return str(value)
    given = [
        f"{part.name}={_parameter_text(getattr(value, part.name))}"
        for part in fields(value)
        if getattr(value, part.name) != part.default
    ]
    return f"{type(value).__name__}({', '.join(given)})"


# -- the table -----------------------------------------------------------------------------------


def _walk_method(name: str, label: str, walk: Walk, scale: Scale, **more: Any) -> EmbeddingMethod:
    """Return skip-gram on walks, with the paper's amount of training."""
    return EmbeddingMethod(name, label, "Reinforce2Vec", {"walk": walk} | scale.training(), **more)


def _baselines(scale: Scale) -> list[EmbeddingMethod]:
    """Return the paper's baselines, two stronger ones, and DeepWalk with as few walks as ours."""
    pairs = product(scale.choices, repeat=2)
    return [
        _walk_method("deepwalk", "DeepWalk", FirstOrderWalk(), scale, like="deepwalk"),
        EmbeddingMethod(
            "deepwalk-10",
            "DeepWalk, 10 walks per node",
            parameters=scale.training() | {"walk": FirstOrderWalk()} | _FEW_WALKS,
        ),
        _walk_method(
            "node2vec",
            "node2vec",
            SecondOrderWalk(),
            scale,
            choices=tuple((f"p{p:g}-q{q:g}", {"walk": SecondOrderWalk(p, q)}) for p, q in pairs),
            pilot={"walks_per_node": scale.pilot_walks},
            like="node2vec",
        ),
        *(
            EmbeddingMethod(
                name,
                BASELINES[name].__name__,
                BASELINES[name].__name__,
                {"beta": 0.01} if name == "hope" else {},
                like=name if name in paper.TABLE_4["facebook"] else "",
            )
            for name in _BASELINES
        ),
    ]


def variant(reading: str, reward: str, exploration: str, scale: Scale) -> EmbeddingMethod:
    """Return one of the paper's walks in one of its two readings.

    Walks that take the best neighbour take the most visited one, whatever the reward: they are the
    same walks, and one method.
    """
    if not READING_WALKS[reading](reward, exploration).draws:
        reward = "js"
    label = f"{REWARD_LABELS[reward]} {EXPLORATION_LABELS[exploration]}, {READING_LABELS[reading]}"
    if (reward, exploration) == ("js", "ucb"):
        label = f"reinforce2vec, {READING_LABELS[reading]}"
    return _walk_method(
        f"{reading}-{reward}-{exploration}",
        label,
        READING_WALKS[reading](reward, exploration),
        scale,
        group="paper",
        like="reinforce2vec" if (reward, exploration) == ("js", "ucb") else "",
    )


def _readings(scale: Scale) -> list[EmbeddingMethod]:
    """Return what the paper calls reinforce2vec, in both readings."""
    return [variant(reading, "js", "ucb", scale) for reading in READING_WALKS]


def default_method(name: str = "default", **changes: Any) -> EmbeddingMethod:
    """Return Reinforce2Vec with its own defaults, all explicit in the description of a cell."""
    usual = Reinforce2Vec().get_params(deep=False)
    parameters = {key: usual[key] for key in usual if key not in _OF_THE_RUN} | changes
    return EmbeddingMethod(
        name,
        "reinforce2vec, default",
        "Reinforce2Vec",
        parameters,
        group="ours",
        smooths=bool(parameters["smooth"]),
    )


def _our_methods(scale: Scale) -> list[EmbeddingMethod]:
    """Return our default and our own settings as methods."""
    return [
        default_method(),
        *(
            EmbeddingMethod(name, label, "Reinforce2Vec", scale.training() | changes, group="ours")
            for name, label, changes in _OUR_SETTINGS
        ),
    ]


def _own_methods(scale: Scale) -> list[EmbeddingMethod]:
    """Return the user's estimator as a method, if there is one."""
    own = scale.own_estimator
    if own is None:
        return []
    slug = re.sub(r"[^a-z0-9.]+", "-", own.path.lower()).strip("-.")
    name = f"own-{slug}-{own.source[:8]}"
    return [EmbeddingMethod(name, own.path, own.path, group="own", source=own.source)]


def compared(scale: Scale) -> list[EmbeddingMethod]:
    """Return the methods of the tables that compare methods."""
    return [
        *_baselines(scale),
        *_readings(scale),
        *_our_methods(scale),
        *_own_methods(scale),
    ]


def ablation(reading: str, scale: Scale) -> dict[tuple[str, str], EmbeddingMethod]:
    """Return all rewards and explorations of one reading."""
    return {
        (reward, exploration): variant(reading, reward, exploration, scale)
        for reward in paper.REWARD_NAMES
        for exploration in paper.EXPLORATIONS
    }


def greedy(reading: str, epsilon: float, scale: Scale) -> EmbeddingMethod:
    """Return DRRW by JS divergence with probability ε of a random step."""
    if epsilon == 0.0:
        return variant(reading, "js", "none", scale)
    if epsilon == 0.5:
        return variant(reading, "js", "epsilon", scale)
    return _walk_method(
        f"{reading}-js-epsilon{epsilon:g}",
        f"ε = {epsilon:g}, {READING_LABELS[reading]}",
        READING_WALKS[reading]("js", "epsilon", weight=epsilon),
        scale,
        group="paper",
    )
