"""What is searched: a table of parameters, and the settings that every search begins with.

A setting has a value for each parameter that says something: {"walk": "second-order", "p": 0.5,
...}. Here it becomes a model, the words of a command and some Python, which all mean the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from ..skipgram.trainer import usual_rate
from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from ..walks.policy import Walk

Value = Any  # a string, a number, a bool, or None
Setting = dict[str, Value]

WALK_LENGTH = 40  # what a longer walk gives, more walks give as well


class Parameter(NamedTuple):
    """One thing to choose."""

    name: str
    values: tuple[Value, ...]
    label: str  # in tables and pictures
    ordered: bool = True  # whether near values do similar things
    when: tuple[str, tuple[Value, ...]] | None = None  # which values of another one it goes with
    of_walk: str = ""  # what the walk calls it; "" for parameters of the model

    def applies(self, setting: Mapping[str, Value]) -> bool:
        """Whether it says something, given the parameters before it."""
        return self.when is None or setting.get(self.when[0]) in self.when[1]


Space = tuple[Parameter, ...]


class Family(NamedTuple):
    """A kind of walk, as Python and as the command make it."""

    make: Callable[..., Walk]
    options: dict[str, str]  # of the command
    fixed: dict[str, float] = {}  # noqa: RUF012  # parameters that are not searched


FAMILIES = {
    "first-order": Family(FirstOrderWalk, {"walk": "first-order"}),
    "second-order": Family(SecondOrderWalk, {"walk": "second-order"}),
    "paper": Family(ReinforcedWalk.paper, {"walk": "reinforced", "reading": "paper"}),
    "released": Family(ReinforcedWalk.released, {"walk": "reinforced", "reading": "released"}),
    "attraction": Family(ReinforcedWalk.paper, {"walk": "reinforced"}, {"weight": 0.0}),
}

READINGS = ("walk", ("paper", "released"))
SPACE: Space = (
    Parameter("walk", tuple(FAMILIES), "walk", ordered=False),
    *(
        Parameter(name, (0.25, 0.5, 1.0, 2.0, 4.0), name, True, ("walk", ("second-order",)), name)
        for name in ("p", "q")
    ),
    # KL divergence is left out: it walks as JS does. So is no exploration: it gets stuck.
    Parameter("reward", ("js", "vertex"), "reward", False, READINGS, "reward"),
    Parameter("exploration", ("ucb", "epsilon"), "exploration", False, READINGS, "exploration"),
    Parameter(
        "epsilon", (0.3, 0.5, 0.7, 0.9), "ε", True, ("exploration", ("epsilon",)), of_walk="weight"
    ),
    Parameter(
        *("attraction", (0.03, 0.1, 0.3, 3.0, 10.0), "attraction", True),
        *(("walk", ("attraction",)), "attraction"),
    ),
    Parameter(
        *("candidates", (3, 10, None), "candidates", True),
        *(("walk", ("attraction",)), "candidates"),
    ),
    Parameter("walks_per_node", (1, 2, 5, 10, 20, 40, 80), "walks per node"),
    Parameter("window", (2, 3, 5, 7, 10, 15), "window"),
    # times the usual one for so many walks, which is the default: the two go together
    Parameter("rate", (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8), "learning rate"),
    Parameter("smooth", (False, True), "smoothing", ordered=False),
)

DEFAULT: Setting = {
    "walk": "paper",
    "reward": "js",
    "exploration": "ucb",
    "walks_per_node": 80,
    "window": 10,
    "rate": 1.0,
    "smooth": False,
}

# What every search tries first: a name, and how it differs from the default.
STARTS: tuple[tuple[str, Setting], ...] = (
    ("default", {}),
    ("default, smoothed", {"smooth": True}),
    ("default, few walks, smoothed", {"walks_per_node": 10, "smooth": True}),
    ("DeepWalk", {"walk": "first-order"}),
    (
        "DeepWalk, few walks, smoothed",
        {"walk": "first-order", "walks_per_node": 10, "smooth": True},
    ),
    ("node2vec", {"walk": "second-order", "p": 0.25, "q": 0.25, "walks_per_node": 20}),
    ("released, smoothed", {"walk": "released", "walks_per_node": 20, "smooth": True}),
    (
        "repelled, smoothed",
        {
            **{"walk": "attraction", "attraction": 0.03, "candidates": None},
            **{"walks_per_node": 40, "smooth": True},
        },
    ),
)


def limited(most_walks: int) -> Space:
    """The space without more walks from every node than so many, one at least."""
    return tuple(
        one._replace(values=tuple(v for v in one.values if v <= max(most_walks, one.values[0])))
        if one.name == "walks_per_node"
        else one
        for one in SPACE
    )


def starts(space: Space) -> dict[str, Setting]:
    """The first settings by name, the default before all, then those with few walks."""
    (most,) = (max(one.values) for one in space if one.name == "walks_per_node")
    found: dict[str, Setting] = {}
    for name, changes in STARTS:
        values = DEFAULT | changes
        values["walks_per_node"] = min(values["walks_per_node"], most)
        setting: Setting = {}
        for one in space:
            if one.applies(setting):
                setting[one.name] = values[one.name]
        if setting not in found.values():
            found[name] = setting
    cheap = sorted(found, key=lambda name: (name != "default", found[name]["walks_per_node"]))
    return {name: found[name] for name in cheap}


# -- what a setting means ------------------------------------------------------------------------


def walk_options(setting: Setting) -> dict[str, Value]:
    """Parameters of the walk, as the walk calls them, without those that keep their default."""
    found = {one.of_walk: setting[one.name] for one in SPACE if one.of_walk and one.name in setting}
    given = FAMILIES[setting["walk"]].fixed | found
    return {name: value for name, value in given.items() if value is not None}


def learning_rate(setting: Setting) -> float | None:
    """The learning rate; None is the usual one for so many walks."""
    if setting["rate"] == 1.0:
        return None
    return float(f"{setting['rate'] * resolved_usual(setting):.2g}")


def resolved_usual(setting: Setting) -> float:
    """The learning rate that is the default for so many walks."""
    return usual_rate(WALK_LENGTH * setting["walks_per_node"])


def parameters_of(setting: Setting, dimensions: int) -> dict[str, Any]:
    """The parameters of :class:`Reinforce2Vec`."""
    return {
        "dimensions": dimensions,
        "walk": FAMILIES[setting["walk"]].make(**walk_options(setting)),
        "walks_per_node": setting["walks_per_node"],
        "window": setting["window"],
        "learning_rate": learning_rate(setting),
        "smooth": setting["smooth"],
    }


def option_words(setting: Setting, dimensions: int) -> list[str]:
    """The setting as options of `reinforce2vec embed`."""
    options = FAMILIES[setting["walk"]].options | walk_options(setting)
    parameters = parameters_of(setting, dimensions)
    options |= {
        name: value
        for name, value in parameters.items()
        if name not in ("walk", "smooth") and value is not None
    }
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", spelled(value)]
    return words + ["--smooth"] * setting["smooth"]


def spelled(value: Value) -> str:
    """A value as a person writes it, with all its digits."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def python_model(setting: Setting, dimensions: int) -> str:
    """The setting as Python."""
    parameters = parameters_of(setting, dimensions)
    given = {name: value for name, value in parameters.items() if value is not None}
    lines = [f"    {name}={as_python(value)},\n" for name, value in given.items()]
    return "r2v.Reinforce2Vec(\n" + "".join(lines) + ")"


def as_python(value: Any) -> str:
    """A parameter as Python; of a walk what differs from its defaults."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # the quotes that people use
    if not isinstance(value, Walk):
        return repr(value)
    given = [
        f"{part.name}={as_python(getattr(value, part.name))}"
        for part in fields(value)
        if getattr(value, part.name) != part.default
    ]
    return f"r2v.{type(value).__name__}({', '.join(given)})"


def in_words(setting: Setting) -> str:
    """The walk of a setting, briefly."""
    chosen = [one for one in SPACE if one.of_walk and one.name in setting]
    words = [
        setting[one.name] if not one.ordered else f"{one.label}={spelled(setting[one.name])}"
        for one in chosen
        if setting[one.name] is not None
    ]
    if setting["walk"] == "attraction":
        return " ".join(words)
    return " ".join([setting["walk"], *words])
