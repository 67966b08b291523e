"""NodeFeatures: vectors of nodes as features of samples, for scikit-learn."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any

from .._util.arrays import Vectors
from .._util.errors import InputError
from ..embedding import Embedding
from ..graph import Graph
from ..graph.fingerprint import fingerprint
from .estimator import Estimator, Transformer

REMEMBERED_BYTES = 256 << 20


class NodeFeatures(Transformer):
    """The vectors of nodes as features, where samples are nodes: a step of a scikit-learn pipeline.

    scikit-learn splits samples into those that train and those that test. Here samples are node
    ids, and the graph is a parameter: `fit` learns vectors for the whole graph, whatever nodes it
    is given, and `transform` looks up those of the nodes asked for. So test nodes are part of the
    graph that is learned from, but nothing is learned from labels.

    Learning is done once for a graph and parameters of the model: folds of a cross-validation, and
    steps of a grid search that change other steps only, take the vectors that are there. The
    latest ones are remembered for that, up to 256 MB, and the very last of any size. With
    `n_jobs`, every process learns for itself; give the model `workers=1` then.

    Parameters
    ----------
    graph : Graph
        Anything else that :meth:`Graph.from_any` takes is converted, in every fit anew.
    model : Reinforce2Vec, or another model
        What learns the vectors; its parameters are `model__window` and so on.

    Attributes
    ----------
    embedding_ : Embedding
        The vectors of all nodes of the graph.

    Examples
    --------
    >>> from reinforce2vec import NodeFeatures, Reinforce2Vec, planted_groups
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import Pipeline
    >>> data = planted_groups(150, 3)
    >>> nodes, groups = data.graph.ids, data.labels.argmax(axis=1)
    >>> model = Reinforce2Vec(dimensions=16, walks_per_node=5, workers=1)
    >>> pipeline = Pipeline(
    ...     [("features", NodeFeatures(data.graph, model)), ("classify", LogisticRegression())]
    ... )
    >>> settings = {"features__model__window": [2, 10], "classify__C": [0.1, 1]}
    >>> search = GridSearchCV(pipeline, settings, cv=3).fit(nodes, groups)
    >>> print(f"{search.best_score_:.1f}", (search.predict([5, 7]) == groups[[5, 7]]).tolist())
    1.0 [True, True]
    """

    def __init__(self, graph: Any, model: Any) -> None:
        self.graph = graph
        self.model = model

    def fit(self, nodes: Any = None, y: Any = None) -> NodeFeatures:
        """Learn vectors for the whole graph, or take those that are there.

        Parameters
        ----------
        nodes, y : ignored
            There for scikit-learn: all nodes of the graph are learned, and no label is looked at.
        """
        if not isinstance(self.model, Estimator):
            raise InputError(f"model must be a model such as Reinforce2Vec(), not {self.model!r}")
        self.embedding_ = learned(Graph.from_any(self.graph), self.model)
        return self

    def fit_transform(self, nodes: Any, y: Any = None) -> Vectors:
        """Learn as :meth:`fit` does, and return the vectors of the nodes asked for."""
        return self.fit(nodes, y).transform(nodes)


# -- what was learned before -------------------------------------------------------------------

_remembered: OrderedDict[tuple[str, ...], Embedding] = OrderedDict()  # the latest one last
_learning = Lock()


def learned(graph: Graph, model: Estimator) -> Embedding:
    """What a copy of the model learns from the graph, or has learned before.

    Graphs are told apart by what they hold, since copies of one travel to other processes.
    """
    params = model.get_params()
    key = (fingerprint(graph), type(model).__qualname__, repr(params))
    with _learning:  # threads that want the same wait for it; each learning uses all processors
        if key not in _remembered:
            copy = type(model)(**params)
            _remembered[key] = copy.fit(graph, progress=False).embedding_
        _remembered.move_to_end(key)
        embedding = _remembered[key]
        while len(_remembered) > 1 and sizes() > REMEMBERED_BYTES:
            _remembered.popitem(last=False)
    return embedding


def sizes() -> int:
    """Bytes of all vectors that are remembered."""
    return sum(embedding.vectors.nbytes for embedding in _remembered.values())
