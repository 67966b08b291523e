"""The base classes of all estimators, which follow scikit-learn's conventions.

scikit-learn itself is not needed: it recognises estimators by their methods.
"""

from __future__ import annotations

import inspect
import os
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
from .model_file import Kept, read_model, write_model
from .new_nodes import vectors_of_new_nodes

if TYPE_CHECKING:
    from typing_extensions import Self

_OUTPUTS = ("default", "pandas")


class Transformer:
    """A transformer: the constructor keeps its arguments as they are, and `fit` checks them."""

    embedding_: Embedding

    # -- vectors -------------------------------------------------------------------------------

    def transform(self, nodes: Any) -> Vectors:
        """Return the vectors of nodes: float32 (nodes, dimensions), in the order of `nodes`.

        Parameters
        ----------
        nodes : iterable of node ids, column of a table, or Graph
            The nodes; of a graph, all of them. Each must have been in the training graph.
        """
        self._check_fitted()
        vectors: Vectors = self._as_output(self.embedding_[_listed_nodes(nodes)], nodes)
        return vectors

    def _check_fitted(self) -> None:
        """Raise InputError before the first call of fit."""
        if not hasattr(self, "embedding_"):
            raise InputError(f"this {type(self).__name__} is not fitted yet: call fit first")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for each dimension of the vectors, for scikit-learn."""
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.embedding_.dimensions)], object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: arrays ("default") or DataFrames ("pandas")."""
        if transform is not None:
            if transform not in _OUTPUTS:
                wanted = " or ".join(f'"{name}"' for name in _OUTPUTS)
                raise InputError(f"transform must be {wanted}, not {transform!r}")
            self._sklearn_output_config = {"transform": transform}  # clones take it over
        return self

    def _as_output(self, vectors: Vectors, nodes: Any) -> Any:
        """Return vectors as `set_output` chose; a table keeps the index of `nodes`."""
        if getattr(self, "_sklearn_output_config", {}).get("transform", "default") == "default":
            return vectors
        pandas = pandas_for('set_output(transform="pandas")')
        given = isinstance(nodes, (pandas.DataFrame, pandas.Series))
        index = nodes.index if given else None
        return pandas.DataFrame(vectors, index, self.get_feature_names_out())

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, also those of parameters."""
        params = {name: getattr(self, name) for name in self._parameters()}
        for name, value in list(params.items()) if deep else ():
            if hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params()
                params |= {f"{name}__{part}": inner[part] for part in inner}
        return params

    def set_params(self, **changes: Any) -> Self:
        """Change parameters by name; `model__window` is the parameter `window` of `model`."""
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
        """Return the parameters of the constructor, with their defaults."""
        signature = inspect.signature(cls)
        return {name: parameter.default for name, parameter in signature.parameters.items()}

    def __repr__(self) -> str:
        defaults = self._parameters()
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if value is not defaults[name]
            and (isinstance(value, np.ndarray) or value != defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, from 1.6 on: the input is no matrix, the output float32."""
        tags = import_module("sklearn.utils")
        return tags.Tags(
            estimator_type=None,
            target_tags=tags.TargetTags(required=False),
            transformer_tags=tags.TransformerTags(preserves_dtype=[]),
            input_tags=tags.InputTags(one_d_array=True, two_d_array=False, string=True),
        )


class Estimator(Transformer, ABC):
    """A model that computes vectors for the nodes of a graph."""

    @abstractmethod
    def fit(self, graph: Any, y: Any = None, *, progress: bool = True) -> Self:
        """Compute vectors for the nodes of a graph."""

    def fit_transform(self, graph: Any, y: Any = None, **options: Any) -> Vectors:
        """Fit, and return the vectors: float32 (nodes, dimensions), rows in `graph.ids` order.

        The parameters are those of :meth:`fit`. The array belongs to the model, so it is read-only:
        copy it to change it.
        """
        learned = self.fit(graph, y, **options).embedding_.vectors
        vectors: Vectors = self._as_output(learned, graph)
        return vectors

    def transform_nodes(self, edges: Any) -> Embedding:
        """Return vectors for nodes that were not in the training graph, from their edges.

        Nothing is learned, and neither the model nor any other vector changes. The vector of a new
        node is the mean of its neighbours' vectors, by the weight of its edges and less for
        neighbours with many edges: divided by the square root of their degree. It is as long as
        they are. Nodes with edges only to other new nodes get theirs from these.

        `partial_fit` makes better vectors, but takes longer and moves others.

        Parameters
        ----------
        edges : iterable of pairs, or anything that :meth:`Graph.from_any` accepts
            The edges of the new nodes; directions are ignored. Edges between two nodes of the model
            have no effect, with a warning.

        Returns
        -------
        Embedding
            The new nodes, in the order in which the edges name them.

        Raises
        ------
        InputError
            If no path leads from a new node to a node of the model; the message names such nodes.

        Examples
        --------
        >>> from reinforce2vec import Reinforce2Vec, karate_club
        >>> model = Reinforce2Vec(dimensions=8, workers=1).fit(karate_club())
        >>> model.transform_nodes([("new", 33), ("new", 34), ("newer", "new")])
        Embedding(2 nodes, 8 dimensions, 64 bytes)
        """
        self._check_fitted()
        return vectors_of_new_nodes(self.embedding_, getattr(self, "graph_", None), edges)

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file, whose name ends in .r2v; :meth:`load` reads it.

        The file holds the parameters and all that was learned. Nothing in it is pickled, so that
        a file from elsewhere can be loaded safely, and one seed gives one file, byte for byte. Node
        ids must be strings or 64-bit integers. It is written atomically: after an error or an
        interrupt, an older file of this name is unchanged.

        Of Reinforce2Vec, it is a few times as large as a file of vectors: it has both matrices of
        each window and the smoothed vectors, about 12 bytes for each node and dimension, and the
        graph, 8 bytes for each undirected edge, or 24 if it has weights. Saving takes no memory
        of this size.

        Parameters
        ----------
        path : path
            The file to write; its folder must exist.
        """
        self._check_fitted()
        write_model(path, self._kept())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted model from a file that :meth:`save` wrote.

        It goes on as if it had never been saved: `partial_fit` gives the same vectors, bit for bit.
        `seconds_` is 0, since the file holds no times.

        Raises
        ------
        InputError
            If the file is no model, damaged, of a later version, or of another estimator.
        """
        kept = read_model(path)
        if kept.estimator != cls.__name__:
            raise InputError(
                f"{path}: this is a model of {kept.estimator}, not of {cls.__name__}: "
                f"{kept.estimator}.load reads it, and only Reinforce2Vec can be updated"
            )
        unknown = kept.parameters.keys() - cls._parameters().keys()
        if unknown:
            raise InputError(
                f"{path}: this version of {cls.__name__} has no parameter {min(unknown)}: the "
                "model was written by another one"
            )
        model = cls(**kept.parameters)
        model._restore(kept)
        return model

    def _kept(self) -> Kept:
        """Return what a file keeps of this model."""
        found, parameters = self.embedding_, self.get_params(deep=False)
        return Kept(type(self).__name__, parameters, found.ids, found.vectors)

    def _restore(self, kept: Kept) -> None:
        """Take over what a file has kept."""
        self.embedding_ = Embedding(kept.ids, kept.vectors)


def _listed_nodes(nodes: Any) -> list[Any]:
    """Return node ids as a list: of a graph, of a column of a table, or of any iterable."""
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
