"""The base classes of all estimators, which follow scikit-learn's conventions.

scikit-learn itself is not needed: it recognises estimators by their methods.
"""

from __future__ import annotations

import inspect
import os
import reprlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._util.arrays import Vectors
from .._util.errors import InputError, excerpt, pandas_for
from .._util.ids import Ids
from ..embedding import Embedding
from ..files.opening import naming
from ..graph import Graph
from ..graph.fingerprint import content_digest
from ..walks.policy import Walk
from .model_file import Kept, damaged_model, read_model, settings_of, write_model
from .new_nodes import vectors_of_new_nodes

if TYPE_CHECKING:
    from typing_extensions import Self

_OUTPUTS = ("default", "pandas", "polars")
_LONGEST = 500  # characters of a parameter's value that are shown in full


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
        listed = self._nodes_of(nodes)
        vectors: Vectors = self._as_output(self.embedding_[listed], nodes, listed)
        return vectors

    def _check_fitted(self) -> None:
        """Raise InputError before the first call of fit."""
        if not hasattr(self, "embedding_"):
            raise InputError(f"this {type(self).__name__} is not fitted yet: call fit first")

    def _nodes_of(self, given: Any) -> list[Any]:
        """Return the node ids that `transform` was given."""
        return _listed_nodes(given)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return a name for each dimension of the vectors, for scikit-learn."""
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.embedding_.dimensions)], object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: arrays ("default"), or tables ("pandas", "polars").

        Without a choice, that of `sklearn.set_config(transform_output=...)` holds, if any.
        """
        if transform is not None:
            if transform not in _OUTPUTS:
                wanted = " or ".join(f'"{name}"' for name in _OUTPUTS)
                raise InputError(f"transform must be {wanted}, not {transform!r}")
            self._sklearn_output_config = {"transform": transform}  # clones take it over
        return self

    def _as_output(self, vectors: Vectors, given: Any, nodes: Iterable[Any]) -> Any:
        """Return vectors as `set_output` chose: those of `nodes`, which were given as `given`."""
        kind = getattr(self, "_sklearn_output_config", {}).get("transform") or _usual_output()
        if kind == "default":
            return vectors
        names = self.get_feature_names_out().tolist()
        if kind == "polars":
            return import_module("polars").DataFrame(np.array(vectors), schema=names, orient="row")
        pandas = pandas_for('set_output(transform="pandas")')
        index = self._row_labels(pandas, given, nodes)
        return pandas.DataFrame(vectors, index, names, copy=True)

    def _row_labels(self, pandas: Any, given: Any, nodes: Iterable[Any]) -> Any:
        """Return the index of a table of vectors: that of the samples, which are nodes."""
        table = isinstance(given, (pandas.DataFrame, pandas.Series))
        return given.index if table else None

    # -- parameters ----------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, also those of parameters.

        `walk__weight` is the parameter `weight` of the walk, also of a default walk.
        """
        params = {name: getattr(self, name) for name in self._parameters()}
        for name in list(params) if deep else ():
            inner = _params_of(self._effective(name))
            params |= {f"{name}__{part}": inner[part] for part in inner}
        return params

    def set_params(self, **changes: Any) -> Self:
        """Change parameters by name; `model__window` is the parameter `window` of `model`.

        A walk, which may be shared, is not changed but replaced: `walk__p=0.5` sets a new one.
        """
        known = self._parameters()
        nested: dict[str, dict[str, Any]] = {}
        for path, value in changes.items():
            name, _, inner = path.partition("__")
            if name not in known:
                raise InputError(_no_parameter(self, path, known))
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, inner_changes in nested.items():  # last: of values that may have been set above
            value = self._effective(name)
            if _has_params(value):
                value.set_params(**inner_changes)
                continue
            parts = _params_of(value)
            for part in inner_changes.keys() - parts.keys():
                if parts:
                    raise InputError(_no_parameter(value, part, parts))
                raise InputError(_no_parameter(self, f"{name}__{part}", known))
            setattr(self, name, replace(value, **inner_changes))
        return self

    def _effective(self, name: str) -> Any:
        """Return the value of a parameter, or what stands for it where it is None."""
        return getattr(self, name)

    @classmethod
    def _parameters(cls) -> dict[str, Any]:
        """Return the parameters of the constructor, with their defaults."""
        signature = inspect.signature(cls)
        return {name: parameter.default for name, parameter in signature.parameters.items()}

    def __repr__(self) -> str:
        defaults = self._parameters()
        given = [
            f"{name}={_spelled(value)}"
            for name, value in self.get_params(deep=False).items()
            if not _is_default(value, defaults[name])
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
        copy it to change it. After :meth:`set_output`, it is a table instead; the index of a
        pandas DataFrame has the ids of the nodes.
        """
        learned = self.fit(graph, y, **options).embedding_
        vectors: Vectors = self._as_output(learned.vectors, graph, learned)
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
            other = excerpt(kept.estimator)
            raise InputError(
                f"{path}: this is a model of {other}, not of {cls.__name__}: {other}.load reads "
                "it, and only Reinforce2Vec can be updated"
            )
        unknown = kept.parameters.keys() - cls._parameters().keys()
        if unknown:
            raise InputError(
                f"{path}: this version of {cls.__name__} has no parameter "
                f"{excerpt(min(unknown))}: the model was written by another one"
            )
        try:
            with naming(str(path)):
                model = cls(**kept.parameters)
                model._restore(kept)
        except (InputError, MemoryError):
            raise
        except Exception:  # what it says about itself may be anything
            raise damaged_model(path) from None
        return model

    def _kept(self) -> Kept:
        """Return what a file keeps of this model."""
        learned, parameters = self.embedding_, self.get_params(deep=False)
        facts = {"info": dict(learned.info)}
        return Kept(type(self).__name__, parameters, learned.ids, learned.vectors, facts)

    def _restore(self, kept: Kept) -> None:
        """Take over what a file has kept."""
        self.embedding_ = Embedding(kept.ids, kept.vectors, info=kept.facts["info"])

    def _nodes_of(self, given: Any) -> list[Any]:
        """Return node ids; of a graph, also as edges in a table or a list, those of its nodes."""
        if isinstance(given, Iterator):
            given = list(given)
        return _listed_nodes(
            Graph.from_any(given) if _holds_edges(given, self.embedding_) else given
        )

    def _row_labels(self, pandas: Any, given: Any, nodes: Iterable[Any]) -> Any:
        """Return the index of a table of vectors: the ids of the nodes."""
        return pandas.Index(list(nodes), name="node", tupleize_cols=False)

    def _embedding(
        self, ids: Ids, vectors: Any, graph: Graph | None, scales: Any = None
    ) -> Embedding:
        """Return learned vectors with all that is known of them, for :attr:`Embedding.info`."""
        settings = settings_of(self.get_params(deep=False))
        for name in ("workers", "scratch"):  # the result does not depend on them
            settings.pop(name, None)
        info: dict[str, Any] = {"method": type(self).__name__, "settings": settings}
        info["version"] = __version__
        if graph is not None:
            info |= {"directed": graph.directed, "weighted": graph.weighted}
            info |= {"nodes": graph.n_nodes, "edges": graph.n_edges}
            info |= {"graph": content_digest(graph)}
        return Embedding(ids, vectors, scales=scales, info=info)


# -- nodes and tables --------------------------------------------------------------------------


def _usual_output() -> str:
    """Return the choice of `sklearn.set_config`, which can only be made where it is imported."""
    get_config = getattr(sys.modules.get("sklearn"), "get_config", None)
    return "default" if get_config is None else str(get_config()["transform_output"])


def _holds_edges(given: Any, embedding: Embedding) -> bool:
    """Return whether something is a graph of any kind, rather than a list or a column of ids."""
    if isinstance(given, (str, os.PathLike)) or not isinstance(given, Iterable):
        return True
    shape = getattr(given, "shape", ())
    if shape:
        return len(shape) == 2 and shape[1] != 1
    first = next(iter(given), None)
    if not isinstance(first, (tuple, list)):
        return False
    return isinstance(first, list) or first not in embedding


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


# -- parameters of parameters ------------------------------------------------------------------


def _has_params(value: Any) -> bool:
    """Return whether a value is an estimator itself."""
    return hasattr(value, "set_params") and not isinstance(value, type)


def _params_of(value: Any) -> dict[str, Any]:
    """Return the parameters of an estimator or of a walk; else none."""
    if _has_params(value):
        return dict(value.get_params())
    return asdict(value) if isinstance(value, Walk) else {}


def _no_parameter(owner: Any, name: str, known: Iterable[str]) -> str:
    """Return the message for a parameter that does not exist."""
    others = ", ".join(known) or "none"
    return f"{type(owner).__name__} has no parameter {name!r}; it has {others}"


def _is_default(value: Any, default: Any) -> bool:
    """Return whether a parameter has its default."""
    if value is default or default is inspect.Parameter.empty:
        return value is default
    try:
        return bool(value == default)
    except (TypeError, ValueError):  # an array or a table, which is compared number by number
        return False


def _spelled(value: Any) -> str:
    """Return a parameter on one line, long ones by their beginning."""
    shown = reprlib.repr(value) if isinstance(value, (list, dict, set)) else repr(value)
    return excerpt(" ".join(shown.split()), _LONGEST)
