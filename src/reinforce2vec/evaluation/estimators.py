"""Estimators of the user's, named by a Python path such as `mypackage.models:MyModel`."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .._util.errors import InputError
from ..embedding import Embedding
from ..embedding.matching import as_matrix
from ..graph import Graph
from ..models.estimator import Estimator

if TYPE_CHECKING:
    from typing_extensions import Self

_PASSED = ("dimensions", "seed")  # what an estimator may take


class NamedEstimator(Estimator):
    """A model of the user's, as an estimator like ours.

    Parameters
    ----------
    path : str
        `module:Class`, or `module:factory`, a function that returns a model. The module may be in
        the current folder. `dimensions` and `seed` are passed if it has parameters of these names.
        The model has a method `fit_transform(graph)`, which returns a matrix with a row for each
        node in the order of `graph.ids`, or an Embedding.
    dimensions : int
        Dimensions of a vector.
    seed : int, default 0
        Seed of all random numbers.
    """

    def __init__(self, path: str, dimensions: int, seed: int = 0) -> None:
        self.path = path
        self.dimensions = dimensions
        self.seed = seed

    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> Self:
        """Compute vectors; InputError, which names the estimator, whatever fails in it."""
        graph = graph if isinstance(graph, Graph) else Graph.from_any(graph)
        make = _load(self.path)
        try:
            model = make(**_accepted(make, {"dimensions": self.dimensions, "seed": self.seed}))
            found = model.fit_transform(graph) if hasattr(model, "fit_transform") else None
        except MemoryError:
            raise
        except Exception as error:
            raise InputError(f"{self.path} failed: {_told(error)}") from None
        if not hasattr(model, "fit_transform"):
            raise _no_method(self.path)
        try:
            vectors = as_matrix(found, graph)
        except InputError as error:
            raise InputError(f"{self.path}: fit_transform must return vectors: {error}") from None
        self.embedding_ = Embedding(graph.ids, vectors.astype(np.float32))
        return self


def check_estimator(path: str) -> None:
    """Raise InputError, with what is missing, if a path cannot name an estimator."""
    make = _load(path)
    if isinstance(make, type) and not hasattr(make, "fit_transform"):
        raise _no_method(path)
    for parameter in _parameters(make):
        variable = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.default is parameter.empty and not variable and parameter.name not in _PASSED:
            raise InputError(
                f"{path}: its parameter {parameter.name} has no default; only dimensions and seed "
                "are passed"
            )


def _load(path: str) -> Callable[..., Any]:
    """Import the class or function of a path."""
    module, colon, name = str(path).partition(":")
    if not (module and colon and name):
        raise InputError(
            f"{path}: expected a Python path such as mypackage.models:MyModel: a module, a colon "
            "and a class, or a function that returns a model",
            parameter="estimator",
            value=path,
        )
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise InputError(f"{path}: {module} cannot be imported: {error}") from None
        raise InputError(
            f"{path}: there is no module {error.name}, neither in the current folder nor installed"
        ) from None
    except Exception as error:
        raise InputError(f"{path}: {module} cannot be imported: {_told(error)}") from None
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"{path}: the module {module} has no {name}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(
            f"{path}: expected a class, or a function that returns a model, not a "
            f"{type(found).__name__}"
        )
    make: Callable[..., Any] = found
    return make


def _parameters(make: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a class or function; none if Python does not know them."""
    try:
        return list(inspect.signature(make).parameters.values())
    except (TypeError, ValueError):
        return []


def _accepted(make: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return those options that a class or function has parameters for."""
    names = {one.name for one in _parameters(make)}
    return {name: value for name, value in options.items() if name in names}


def _no_method(path: str) -> InputError:
    return InputError(
        f"{path}: it has no method fit_transform(graph), which returns a vector for each node"
    )


def _told(error: Exception) -> str:
    """Return an error in one line, with the place where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    lines = str(error).strip().splitlines()
    words = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return f"{words} ({os.path.basename(last.filename)}, line {last.lineno})"
