"""NodeFeatures: node embeddings as features, for scikit-learn."""

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

_CACHE_BYTES = 256 << 20


class NodeFeatures(Transformer):
    """Node embeddings as features in a scikit-learn pipeline whose samples are nodes.

    scikit-learn splits samples into training and test sets. Here samples are node ids, and the
    graph is a parameter: `fit` trains vectors for the whole graph, whatever nodes it gets, and
    `transform` looks up those of some nodes. So training is transductive: test nodes are part of
    the graph, but no labels are used.

    Vectors are trained once for each graph and set of the model's parameters: the folds of a
    cross-validation, and the candidates of a grid search over other steps, share them. The latest
    ones are cached for that, up to 256 MB, and the last one of any size. With `n_jobs`, every
    process trains its own; give the model `workers=1` then.

    Parameters
    ----------
    graph : Graph
        The graph; anything else that :meth:`Graph.from_any` accepts is converted, in every fit.
    model : Reinforce2Vec, or another estimator
        The estimator that trains the vectors; its parameters are `model__window` and so on.

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
        """Train vectors for the whole graph, or take them from the cache.

        Parameters
        ----------
        nodes, y : None
            Ignored; scikit-learn compatibility. All nodes of the graph get vectors.
        """
        if not isinstance(self.model, Estimator):
            raise InputError(f"model must be a model such as Reinforce2Vec(), not {self.model!r}")
        self.embedding_ = _trained(Graph.from_any(self.graph), self.model)
        return self

    def fit_transform(self, nodes: Any, y: Any = None) -> Vectors:
        """Fit, and return the vectors of some nodes."""
        return self.fit(nodes, y).transform(nodes)


# -- the cache ---------------------------------------------------------------------------------

_cache: OrderedDict[tuple[str, ...], Embedding] = OrderedDict()  # the latest one last
_learning = Lock()


def _trained(graph: Graph, model: Estimator) -> Embedding:
    """Return the vectors that a copy of the model computes for the graph, or has computed before.

    Graphs are compared by content, since other processes get copies of them.
    """
    params = model.get_params(deep=False)
    key = (fingerprint(graph), type(model).__qualname__, repr(params))
    with _learning:  # threads that need the same vectors wait for them; a training uses all CPUs
        if key not in _cache:
            copy = type(model)(**params)
            _cache[key] = copy.fit(graph, progress=False).embedding_
        _cache.move_to_end(key)
        embedding = _cache[key]
        while len(_cache) > 1 and _cache_size() > _CACHE_BYTES:
            _cache.popitem(last=False)
    return embedding


def _cache_size() -> int:
    """Return the bytes of all vectors in the cache."""
    return sum(embedding.vectors.nbytes for embedding in _cache.values())
