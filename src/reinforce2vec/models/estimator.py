"""What all that turns graphs into vectors have in common, by scikit-learn's conventions.

scikit-learn itself is not needed: it knows its own by what they can do.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._util.arrays import Vectors
from .._util.errors import InputError, pandas_for
from ..embedding import Embedding
from ..graph import Graph

if TYPE_CHECKING:
    from typing_extensions import Self

OUTPUTS = ("default", "pandas")


class Transformer:
    """Constructor arguments are parameters, kept as they are; `fit` checks them and learns."""

    embedding_: Embedding

    # -- vectors -------------------------------------------------------------------------------

    def transform(self, nodes: Any) -> Vectors:
        """The learned vectors of nodes: float32 (nodes, dimensions), in the order asked for.

        Parameters
        ----------
        nodes : iterable of node ids, column of a table, or Graph
            Which nodes, all of them learned; of a graph, all that it has.
        """
        if not hasattr(self, "embedding_"):
            raise InputError(f"this {type(self).__name__} has learned nothing yet: call fit first")
        vectors: Vectors = self._as_output(self.embedding_[listed_nodes(nodes)], nodes)
        return vectors

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """A name for each number of a vector, as scikit-learn asks for them."""
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.embedding_.dimensions)], object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Return arrays ("default") or pandas tables ("pandas"), as scikit-learn has it."""
        if transform is not None:
            if transform not in OUTPUTS:
                wanted = " or ".join(f'"{name}"' for name in OUTPUTS)
                raise InputError(f"transform must be {wanted}, not {transform!r}")
            self._sklearn_output_config = {"transform": transform}  # clones take it over
        return self

    def _as_output(self, vectors: Vectors, nodes: Any) -> Any:
        """Vectors in the form that was asked for; a table has the index of the one given."""
        if getattr(self, "_sklearn_output_config", {}).get("transform", "default") == "default":
            return vectors
        pandas = pandas_for('set_output(transform="pandas")')
        given = isinstance(nodes, (pandas.DataFrame, pandas.Series))
        index = nodes.index if given else None
        return pandas.DataFrame(vectors, index, self.get_feature_names_out())

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as scikit-learn asks for them; deep: also those of a parameter."""
        params = {name: getattr(self, name) for name in self._parameters()}
        for name, value in list(params.items()) if deep else ():
            if hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params()
                params |= {f"{name}__{part}": inner[part] for part in inner}
        return params

    def set_params(self, **changes: Any) -> Self:
        """Change parameters by name, as scikit-learn does; `model__window` is model's window."""
        known = self._parameters()
        for path, value in changes.items():
            name, nested, inner = path.partition("__")
            if name not in known or (nested and not hasattr(getattr(self, name), "set_params")):
                raise InputError(
                    f"{type(self).__name__} has no parameter {path!r}; it has {', '.join(known)}"
                )
            if nested:
                getattr(self, name).set_params(**{inner: value})
            else:
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
            for name, value in self.get_params(deep=False).items()
            if value is not defaults[name] and value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn, from 1.6 on, wants to know: no matrix goes in, float32 comes out."""
        tags = import_module("sklearn.utils")
        return tags.Tags(
            estimator_type=None,
            target_tags=tags.TargetTags(required=False),
            transformer_tags=tags.TransformerTags(preserves_dtype=[]),
            input_tags=tags.InputTags(one_d_array=True, two_d_array=False, string=True),
        )


class Estimator(Transformer, ABC):
    """A model that learns vectors from a graph."""

    @abstractmethod
    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> Self:
        """Learn vectors for the nodes of a graph."""

    def fit_transform(self, graph: Any, y: Any = None, **options: Any) -> Vectors:
        """Learn vectors and return them: float32 (nodes, dimensions), rows in `graph.ids` order.

        Takes what :meth:`fit` takes. The array is the model's own, so it is read-only: copy it to
        change it.
        """
        learned = self.fit(graph, y, **options).embedding_.vectors
        vectors: Vectors = self._as_output(learned, graph)
        return vectors


def listed_nodes(nodes: Any) -> list[Any]:
    """Node ids as a list: those of a graph, of a column of a table, or as they are."""
    if isinstance(getattr(nodes, "graph", None), Graph):  # a Dataset
        nodes = nodes.graph
    if isinstance(nodes, (Graph, Embedding)):
        return list(nodes.ids.tolist())
    if hasattr(nodes, "to_numpy"):
        nodes = nodes.to_numpy()
    if isinstance(nodes, np.ndarray):
        if nodes.ndim == 2 and nodes.shape[1] == 1:
            nodes = nodes[:, 0]
        if nodes.ndim != 1:
            raise InputError(f"expected one node id a row, not an array of shape {nodes.shape}")
        return list(nodes.tolist())
    if isinstance(nodes, (str, bytes)) or not isinstance(nodes, Iterable):
        raise InputError(f"expected a list of node ids, not {nodes!r}")
    return list(nodes)
