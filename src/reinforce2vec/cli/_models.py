"""Walks and models that the options of a command describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import reinforce2vec as r2v

from .._util.errors import InputError
from .._util.hyperparameters import METHODS, PARAMETERS, TRAINING, WALKS
from .._util.progress import counted
from ._options import MODEL_OPTIONS, OF_WALKS, WALK_OPTIONS
from ._run import Run, flag_of

if TYPE_CHECKING:
    from ..models.estimator import Estimator as Model
    from ..walks.policy import Walk


def walk_from(run: Run) -> Walk:
    """Return the walk that a command's options describe; those left at None keep their defaults."""
    kind = run.given.kind
    options: dict[str, Any] = {}
    for name in WALK_OPTIONS[1:]:
        value, of_walk = getattr(run.given, name), OF_WALKS.get(name, name)
        if value is None:
            continue
        owner = next((other for other, names in WALKS.items() if of_walk in names), "reinforced")
        if owner != kind:
            raise InputError(
                f"--{flag_of(name)} is for --walk {owner} and has no effect with --walk {kind}"
            )
        options[of_walk] = value
    walk: Walk
    if kind == "first-order":
        walk = r2v.FirstOrderWalk()
    elif kind == "second-order":
        walk = r2v.SecondOrderWalk(**options)
    else:
        presets = {"paper": r2v.ReinforcedWalk.paper, "released": r2v.ReinforcedWalk.released}
        walk = presets[options.pop("reading", "paper")](**options)
    try:
        walk.check()
    except InputError as error:
        raise error.renamed("weight", PARAMETERS["weight"].flag) from None
    return walk


def model_from(run: Run) -> Model:
    """Return the model that a command's options describe, checked."""
    given = vars(run.given)
    name = given["method"]
    from ..models.baselines import BASELINES

    if name in BASELINES:
        return _baseline_from(run, name)
    if METHODS[name]:
        run.refuse(["kind", "reading"], "--method reinforce2vec", f"--method {name}")
    training = {name: PARAMETERS[name].typed(given[name]) for name in TRAINING}
    training |= {name: given.get(name) for name in ("workers", "backend", "scratch")}
    model = r2v.Reinforce2Vec(walk=walk_from(run), seed=given.get("seed", 0), **training)
    model.check()
    return model


def _baseline_from(run: Run, name: str) -> Model:
    """Return a baseline; options that it has no parameter for are refused."""
    from ..models.baselines import BASELINES, Smoothed

    given, baseline = vars(run.given), BASELINES[name]
    known = baseline._parameters()
    smoothed = run.was_given("smooth") and given["smooth"] and "smooth" not in known
    usable = {"method", "dimensions", "smooth", "backend", *known}
    if smoothed:
        usable.add("workers")
    run.refuse(
        (option for option in MODEL_OPTIONS if option not in usable),
        "other methods",
        f"--method {name}",
    )
    parameters = {
        option: PARAMETERS[option].check(PARAMETERS[option].typed(given[option]))
        for option in (*TRAINING, "workers")
        if option == "dimensions" or (option in known and run.was_given(option))
    }
    if isinstance(parameters.get("window"), tuple):
        raise InputError(f"--method {name} has a single window, not {given['window']}")
    seed = PARAMETERS["seed"].check(given.get("seed", 0))
    if smoothed:
        return Smoothed(name, parameters, seed, given["backend"], given["workers"])
    model: Model = baseline(**parameters, seed=seed)
    return model


def model_facts(model: Model) -> dict[str, Any]:
    """Return the parameters of a model for JSON, by their names in Python."""
    from ..models.baselines import Smoothed
    from ..models.model_file import settings_of

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


def check_outputs(vectors: Path | None, model: Path | None) -> list[Path]:
    """Return the files that vectors and a model are written to; InputError if one cannot be."""
    from ..files.vector_files import check_vectors_path, metadata_path
    from ..models.model_file import check_model_path

    paths = list[Path]()
    if vectors is not None:
        paths.append(vectors)
        target = check_vectors_path(vectors)
        if target.suffix == ".tsv":
            paths.append(metadata_path(target))
    if model is not None:
        check_model_path(model)
        paths.append(model)
    return paths
