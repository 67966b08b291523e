"""What all that turns graphs into vectors have in common, by scikit-learn's conventions."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .embedding import Embedding
from .errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Self


class Estimator(ABC):
    """Constructor arguments are parameters, kept as they are; `fit` checks them and learns."""

    embedding_: Embedding

    @abstractmethod
    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> Self:
        """Learn vectors for the nodes of a graph."""

    def fit_transform(self, graph: Any, y: Any = None, **options: Any) -> NDArray[np.float32]:
        """Learn vectors and return them: float32 (nodes, dimensions), rows in `graph.ids` order.

        Takes what :meth:`fit` takes. The array is the model's own, so it is read-only: copy it to
        change it.
        """
        return self.fit(graph, y, **options).embedding_.vectors

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **changes: Any) -> Self:
        """Change parameters by name, as scikit-learn does."""
        known = self._parameters()
        for name, value in changes.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    @classmethod
    def _parameters(cls) -> dict[str, Any]:
        """Parameters of the constructor and their defaults."""
        signature = inspect.signature(cls)
        return {name: parameter.default for name, parameter in signature.parameters.items()}

    def __repr__(self) -> str:
        defaults = self._parameters()
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name] and value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(given)})"
