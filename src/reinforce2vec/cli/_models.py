"""Walks and models that the options of a command describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from .._util.errors import InputError
from .._util.hyperparameters import METHODS, PARAMETERS, PRESETS, READINGS, TRAINING, WALKS
from .._util.progress import counted
from ._options import MODEL_OPTIONS, OF_WALKS, WALK_OPTIONS, check_unused, flag_of, was_given

if TYPE_CHECKING:
    from ..models.estimator import Estimator as Model
    from ..walks.policy import Walk


def chosen_walk(kind: str, **options: Any) -> Walk:
    """Return the walk that the options describe; those left at None keep their defaults."""
    if kind not in WALKS:
        raise InputError(
            "--walk must be one of reinforced, first-order (DeepWalk), second-order (node2vec), "
            f"not {kind!r}"
        )
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        of_walk = OF_WALKS.get(name, name)
        owner = next((other for other, names in WALKS.items() if of_walk in names), "reinforced")
        if owner != kind:
            raise InputError(
                f"--{flag_of(name)} is for --walk {owner} and has no effect with --walk {kind}"
            )
    given = {OF_WALKS.get(name, name): value for name, value in given.items()}
    from .._util.checks import check_choice
    from ..walks import FirstOrderWalk, ReinforcedWalk, SecondOrderWalk

    walk: Walk
    if kind == "first-order":
        walk = FirstOrderWalk()
    elif kind == "second-order":
        walk = SecondOrderWalk(**given)
    else:
        presets = {"paper": ReinforcedWalk.paper, "released": ReinforcedWalk.released}
        name = check_choice("reading", given.pop("reading", "paper"), READINGS)
        walk = presets[name](**given)
    try:
        walk.check()
    except InputError as error:
        raise error.renamed("weight", PARAMETERS["weight"].flag) from None
    return walk


def walk_from(given: Mapping[str, Any]) -> Walk:
    """Return the walk that a command's options describe."""
    return chosen_walk(**{name: given[name] for name in WALK_OPTIONS})


def model_from(context: typer.Context) -> Model:
    """Return the model that a command's options describe, checked."""
    from .._util.checks import check_choice

    given = context.params
    name = check_choice("method", given["method"], METHODS)
    if given["preset"] is not None:
        check_choice("preset", given["preset"], PRESETS)
    from ..models import Reinforce2Vec
    from ..models.methods import BASELINES

    if name in BASELINES:
        return _baseline_from(context, name)
    if METHODS[name]:
        check_unused(context, ["kind", "reading"], "--method reinforce2vec", f"--method {name}")
    training = {name: PARAMETERS[name].typed(given[name]) for name in TRAINING}
    training |= {name: given.get(name) for name in ("workers", "backend", "scratch")}
    model = Reinforce2Vec(walk=walk_from(given), seed=given.get("seed", 0), **training)
    model.check()
    return model


def _baseline_from(context: typer.Context, name: str) -> Model:
    """Return a baseline; options that it has no parameter for are refused."""
    from ..models.methods import BASELINES, Smoothed

    given, kind = context.params, BASELINES[name]
    known = kind._parameters()
    smoothed = was_given(context, "smooth") and given["smooth"] and "smooth" not in known
    usable = {"method", "dimensions", "smooth", "backend", *known}
    unused = [one for one in MODEL_OPTIONS if one not in usable]
    if smoothed and "workers" in unused:
        unused.remove("workers")
    check_unused(context, unused, "other methods", f"--method {name}")
    parameters: dict[str, Any] = {"dimensions": PARAMETERS["dimensions"].check(given["dimensions"])}
    for one in (*TRAINING, "workers"):
        if one in known and was_given(context, one):
            parameters[one] = PARAMETERS[one].check(PARAMETERS[one].typed(given[one]))
    if isinstance(parameters.get("window"), tuple):
        raise InputError(f"--method {name} has a single window, not {given['window']}")
    seed = PARAMETERS["seed"].check(given.get("seed", 0))
    if not smoothed:
        model: Model = kind(**parameters, seed=seed)
        return model
    return Smoothed(name, parameters, seed, given["backend"], given["workers"])


def model_facts(model: Model) -> dict[str, Any]:
    """Return the parameters of a model for JSON, by their names in Python."""
    from ..models.methods import Smoothed
    from ..models.settings import settings_of

    parameters = model.get_params(deep=False)
    if isinstance(model, Smoothed):
        parameters |= {**parameters.pop("parameters"), "smooth": True}
        del parameters["method"]  # which JSON has beside the settings
    return settings_of(parameters)


def place_of(backend: str, workers: int | None = None) -> str:
    """Return where a model was trained, for a summary; nothing on the CPU of this machine."""
    if backend == "ray":
        return " on Ray" if workers is None else f" on {counted(workers, 'Ray worker')}"
    return " on the GPU" if backend == "cuda" else ""
