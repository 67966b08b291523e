"""The search space, and the settings that every search begins with.

A setting has a value for each parameter that has an effect: {"walk": "second-order", "p": 0.5,
...}. Here it becomes a model, the options of a command and Python, which all mean the same. Names
and defaults come from the table of hyperparameters; the values to search are here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, NamedTuple

from .._util.hyperparameters import PARAMETERS, READINGS, REINFORCED, SECOND_ORDER
from ..skipgram.rules import usual_rate
from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk
from ..walks.policy import Walk

_Value = Any  # a string, a number, a bool, or None
Setting = dict[str, _Value]

# not searched: more walks have the same effect as longer ones
WALK_LENGTH = int(PARAMETERS["walk_length"].default)


class SearchedParameter(NamedTuple):
    """One parameter of the search."""

    name: str
    values: tuple[_Value, ...]
    ordered: bool = True  # whether near values have similar effects
    when: tuple[str, tuple[_Value, ...]] | None = None  # which values of another one it goes with
    hyperparameter: str = ""  # its name in the table, if it is another one

    def applies(self, setting: Mapping[str, _Value]) -> bool:
        """Return whether it has an effect, given the parameters before it."""
        return self.when is None or setting.get(self.when[0]) in self.when[1]

    @property
    def of_walk(self) -> str:
        """Its name as a parameter of the walk; "" for parameters of the model."""
        name = self.hyperparameter or self.name
        return name if name in (*REINFORCED, *SECOND_ORDER) else ""

    @property
    def label(self) -> str:
        """Its name in reports and figures."""
        known = PARAMETERS.get(self.hyperparameter or self.name)
        return self.name if known is None else known.title


Space = tuple[SearchedParameter, ...]


class _Family(NamedTuple):
    """A kind of walk, as Python and as the command make it."""

    make: Callable[..., Walk]
    options: dict[str, str]  # of the command
    fixed: Mapping[str, float] = MappingProxyType({})  # parameters that are not searched


_FAMILIES = {
    "first-order": _Family(FirstOrderWalk, {"walk": "first-order"}),
    "second-order": _Family(SecondOrderWalk, {"walk": "second-order"}),
    "paper": _Family(ReinforcedWalk.paper, {"walk": "reinforced", "reading": "paper"}),
    "released": _Family(ReinforcedWalk.released, {"walk": "reinforced", "reading": "released"}),
    "attraction": _Family(ReinforcedWalk.paper, {"walk": "reinforced"}, {"weight": 0.0}),
}

_OF_READINGS = ("walk", READINGS)
_OF_ATTRACTION = ("walk", ("attraction",))
SPACE: Space = (
    SearchedParameter("walk", tuple(_FAMILIES), ordered=False),
    *(
        SearchedParameter(name, (0.25, 0.5, 1.0, 2.0, 4.0), when=("walk", ("second-order",)))
        for name in SECOND_ORDER
    ),
    # KL divergence is left out: it walks as JS does. So is no exploration: it gets stuck.
    SearchedParameter("reward", ("js", "vertex"), ordered=False, when=_OF_READINGS),
    SearchedParameter("exploration", ("ucb", "epsilon"), ordered=False, when=_OF_READINGS),
    SearchedParameter(
        *("epsilon", (0.3, 0.5, 0.7, 0.9)),
        when=("exploration", ("epsilon",)),
        hyperparameter="weight",
    ),
    SearchedParameter("attraction", (0.03, 0.1, 0.3, 3.0, 10.0), when=_OF_ATTRACTION),
    SearchedParameter("candidates", (3, 10, None), when=_OF_ATTRACTION),
    SearchedParameter("walks_per_node", (1, 2, 5, 10, 20, 40, 80)),
    SearchedParameter("window", ("1", "2", "5", "10", "1,3", "1,5", "1,10", "1,20"), ordered=False),
    # a factor on the usual one for so many walks, which is the default: the two go together
    SearchedParameter(
        "rate", (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8), hyperparameter="learning_rate"
    ),
    SearchedParameter("smooth", (False, True), ordered=False),
)

DEFAULT_SETTING: Setting = {"walk": "paper", "rate": 1.0} | {
    name: PARAMETERS[name].default for name in ("reward", "exploration", "walks_per_node", "smooth")
}
_WINDOW = PARAMETERS["window"]
DEFAULT_SETTING["window"] = _WINDOW.spelled(_WINDOW.default)

# What every search tries first: a name, and what differs from the default.
_STARTS: tuple[tuple[str, Setting], ...] = (
    ("default", {}),
    ("default, few walks", {"walks_per_node": 10}),
    ("near neighbours", {"window": "1,3"}),
    ("wide window", {"window": "1,20"}),
    ("DeepWalk", {"walk": "first-order", "window": "10", "smooth": False}),
    ("node2vec", {"walk": "second-order", "p": 0.25, "q": 0.25}),
    ("released", {"walk": "released"}),
    (
        "repelled",
        {"walk": "attraction", "attraction": 0.03, "candidates": None, "walks_per_node": 40},
    ),
)


def limited(most_walks: int) -> Space:
    """Return the space with at most so many walks per node, but at least the fewest."""
    return tuple(
        one._replace(values=tuple(v for v in one.values if v <= max(most_walks, one.values[0])))
        if one.name == "walks_per_node"
        else one
        for one in SPACE
    )


def starts(space: Space) -> dict[str, Setting]:
    """Return the first settings by name: the default, then the others by their number of walks."""
    (most,) = (max(one.values) for one in space if one.name == "walks_per_node")
    found: dict[str, Setting] = {}
    for name, changes in _STARTS:
        values = DEFAULT_SETTING | changes
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


def _walk_options(setting: Setting) -> dict[str, _Value]:
    """Return parameters of the walk, without those that keep their default."""
    found = {one.of_walk: setting[one.name] for one in SPACE if one.of_walk and one.name in setting}
    given = {**_FAMILIES[setting["walk"]].fixed, **found}
    return {name: value for name, value in given.items() if value is not None}


def learning_rate(setting: Setting) -> float | None:
    """Return the learning rate; None is the default for so many walks."""
    if setting["rate"] == 1.0:
        return None
    return float(f"{setting['rate'] * default_rate(setting):.2g}")


def default_rate(setting: Setting) -> float:
    """Return the learning rate that is the default for so many walks."""
    return usual_rate(WALK_LENGTH * setting["walks_per_node"])


def parameters_of(setting: Setting, dimensions: int) -> dict[str, Any]:
    """Return the parameters of :class:`Reinforce2Vec`."""
    return {
        "dimensions": dimensions,
        "walk": _FAMILIES[setting["walk"]].make(**_walk_options(setting)),
        "walks_per_node": setting["walks_per_node"],
        "window": _WINDOW.typed(setting["window"]),
        "learning_rate": learning_rate(setting),
        "smooth": setting["smooth"],
    }


def option_words(setting: Setting, dimensions: int) -> list[str]:
    """Return the setting as options of `reinforce2vec embed`."""
    options = _FAMILIES[setting["walk"]].options | _walk_options(setting)
    parameters = parameters_of(setting, dimensions)
    options |= {
        name: value
        for name, value in parameters.items()
        if name not in ("walk", "smooth") and value is not None
    }
    words = []
    for name, value in options.items():
        flag = PARAMETERS[name].option if name in PARAMETERS else f"--{name}"
        words += [flag, spelled(value)]
    return words + ([] if setting["smooth"] else ["--no-smooth"])


def spelled(value: _Value) -> str:
    """Return a value as it is typed, with all its digits."""
    if isinstance(value, tuple):
        return str(_WINDOW.spelled(value))
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def python_model(setting: Setting, dimensions: int) -> str:
    """Return the setting as Python."""
    parameters = parameters_of(setting, dimensions)
    given = {name: value for name, value in parameters.items() if value is not None}
    lines = [f"    {name}={as_python(value)},\n" for name, value in given.items()]
    return "r2v.Reinforce2Vec(\n" + "".join(lines) + ")"


def as_python(value: Any) -> str:
    """Return a value as Python; of a walk, what differs from its defaults."""
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


def walk_text(setting: Setting) -> str:
    """Return the walk of a setting in a few words."""
    chosen = [one for one in SPACE if one.of_walk and one.name in setting]
    words = [
        setting[one.name] if not one.ordered else f"{one.label}={spelled(setting[one.name])}"
        for one in chosen
        if setting[one.name] is not None
    ]
    if setting["walk"] == "attraction":
        return " ".join(words)
    return " ".join([setting["walk"], *words])
