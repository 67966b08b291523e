"""Link prediction: can vectors separate held-out edges from pairs that are no edges?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util import backend_choice
from .._util.checks import check_choice, check_count
from .._util.errors import InputError
from .._util.hyperparameters import PROTOCOLS
from ..embedding.embedding import OPERATORS
from ..embedding.matching import as_matrix
from ..files.converters import type_name
from ..graph import Graph
from ..models.estimator import Estimator
from ._classifier import CHOOSE, check_c, placed, predicted, rows_of
from ._metrics import auc, average_precision
from .results import Evaluation, MetricValues, check_part, run_seeds
from .splits import EdgeSplit, hold_out_edges, spare_fraction, split_seeds


@dataclass(frozen=True, repr=False)
class LinkPredictionResult(Evaluation):
    """AUC and average precision of link prediction, for each operator, in percent; a table.

    Attributes
    ----------
    seeds : tuple of int
        The seed of each run.
    scores : tuple of dict
        For each seed and operator, "auc" and "ap", and "c" where it was chosen; see also `mean`
        and `spread`.
    protocol : {"shared", "transfer"}
        How training and test pairs were separated.
    fraction : float
        Share of the edges that was held out.
    """

    protocol: str
    fraction: float

    @property
    def title(self) -> str:
        """What was evaluated."""
        return f"link prediction, {self.protocol} protocol, {self.fraction:.0%} of edges held out"


def evaluate_link_prediction(
    graph: Any,
    embed: Any,
    *,
    protocol: str = "shared",
    fraction: float | None = None,
    seeds: int | Iterable[int] = 3,
    c: float | str = 1.0,
    backend: str = "cpu",
    progress: bool = True,
) -> LinkPredictionResult:
    """Evaluate how well held-out edges can be predicted from vectors of the remaining graph.

    For each seed, edges are held out of the graph, which stays connected, and as many pairs without
    an edge are drawn. The rest of the graph is embedded, and a logistic regression on features of
    pairs learns to separate edges from non-edges.

    Parameters
    ----------
    graph : Graph, or anything that :meth:`Graph.from_any` takes
    embed : model, or callable
        A model such as :class:`Reinforce2Vec`: copies of it, with the seed of each run, are fitted.
        Or a function that takes a Graph and returns a matrix, a row for each node, or an Embedding.
    protocol : {"shared", "transfer"}
        "shared": half of the held-out pairs train the classifier and the others test it.
        "transfer", as in the paper's tables: one of two graphs, with other edges held out and
        vectors of its own, trains it, the other tests it. Seeds are those of :func:`split_seeds`.
    fraction : float, optional
        Share of the edges to hold out; by default half, or, with a warning, what can be spared.
    seeds : int or iterable of int, default 3
        How many runs, or the seed of each.
    c, backend
        As for :func:`score_links`.
    progress : bool, default True
        Show progress on the terminal, if there is one.

    Examples
    --------
    >>> from reinforce2vec import Reinforce2Vec, evaluate_link_prediction, karate_club
    >>> sorted(evaluate_link_prediction(karate_club(), Reinforce2Vec(8), seeds=2).mean["l1"])
    ['ap', 'auc']
    """
    check_choice("protocol", protocol, PROTOCOLS)
    fit: dict[str, Any] = {"c": check_c(c), "backend": backend}
    backend_choice.choose(backend, "regression")
    whole = graph if isinstance(graph, Graph) else Graph.from_any(graph)
    learn = _learner(embed, progress)
    share = spare_fraction(whole) if fraction is None else fraction

    def embedded(seed: int) -> tuple[Any, EdgeSplit]:
        split = hold_out_edges(whole, share, seed)
        return learn(split.graph, seed), split

    def run(seed: int) -> MetricValues:
        first, second = split_seeds(seed)
        if protocol == "shared":
            return score_links(*embedded(first), seed=seed, **fit)
        return transfer_links(*embedded(first), *embedded(second), **fit)

    runs = run_seeds("link prediction", seeds, progress, run)
    return LinkPredictionResult(*runs, protocol, float(share))


def _learner(embed: Any, progress: bool) -> Callable[[Graph, int], Any]:
    """Return a function that makes vectors from a graph and a seed."""
    if isinstance(embed, type) and hasattr(embed, "fit_transform"):
        name = embed.__name__
        raise InputError(f"embed must be a model, not the class {name}: pass an instance, {name}()")
    if isinstance(embed, Estimator):
        params = embed.get_params(deep=False)

        def learn(graph: Graph, seed: int) -> Any:
            own = {"seed": seed} if "seed" in params else {}
            return type(embed)(**(params | own)).fit_transform(graph, progress=progress)

        return learn
    if hasattr(embed, "fit_transform"):
        return lambda graph, seed: embed.fit_transform(graph)
    if not callable(embed):
        raise InputError(
            "embed must be a model with fit_transform, or a function from a graph to a matrix, not "
            f"a {type_name(embed)}: the graph without the held-out edges has to be embedded"
        )
    return lambda graph, seed: embed(graph)


def score_links(
    vectors: Any,
    split: EdgeSplit,
    *,
    seed: int = 0,
    operators: Iterable[str] = tuple(OPERATORS),
    part: str = "test",
    c: float | str = 1.0,
    backend: str = "cpu",
) -> MetricValues:
    """Score how well a classifier of pairs separates the edges of a split from its non-edges.

    The protocol `shared`: half of the pairs, drawn at random, train a logistic regression on the
    features of a pair, scaled to mean 0 and variance 1; the other half test it.

    Parameters
    ----------
    vectors : array (n_nodes, dimensions) or Embedding
        Learned from `split.graph`, rows in its order; an Embedding is matched by ids.
    split : EdgeSplit
        As :func:`hold_out_edges` makes it.
    seed : int, default 0
        Decides which half trains.
    operators : names of :data:`reinforce2vec.embedding.OPERATORS`, default all
        How the vectors of two nodes are combined into features of a pair.
    part : {"test", "validation"}
        "validation" does not touch the test pairs: half of the training pairs train, the other
        half are scored. Use it to choose hyperparameters.
    c : float or "validation", default 1
        C of the regression: how much training pairs count beside the penalty. "validation"
        chooses it, separately for each operator, from 0.1, 1, 10, 100 and 1000 by AUC: half of the
        training pairs train and the other half are scored; then all of them train with the best.
    backend : {"cpu", "cuda", "auto"}, default "cpu"
        Where to fit the regression. "auto" uses a GPU if there is one, the work is large enough
        and it fits into the GPU's memory. Results are the same up to rounding.

    Returns
    -------
    dict
        For each operator "auc" and "ap" (average precision) in percent, and "c" if it was chosen.
    """
    check_part(part)
    c = check_c(c)
    matrix = as_matrix(vectors, split.graph)
    pairs, truth = _labelled_pairs(split)
    order = np.random.default_rng(check_count("seed", seed, 0)).permutation(len(pairs))
    train, test = _halves(order)
    if part == "validation":
        train, test = _halves(train)
    there = placed(matrix, backend, len(train) + len(test))
    return {
        name: _score_classifier(
            *(_pair_features(there, pairs[train], name), truth[train]),
            *(_pair_features(there, pairs[test], name), truth[test]),
            c,
        )
        for name in operators
    }


def transfer_links(
    train_vectors: Any,
    train_split: EdgeSplit,
    test_vectors: Any,
    test_split: EdgeSplit,
    *,
    operators: Iterable[str] = tuple(OPERATORS),
    c: float | str = 1.0,
    backend: str = "cpu",
) -> MetricValues:
    """Score a classifier trained on all pairs of one split on those of another.

    The protocol `transfer`: as :func:`score_links`, but the classifier is trained on one embedding
    and tested on another, of another graph or of the same graph with other edges held out.
    """
    c = check_c(c)
    one = as_matrix(train_vectors, train_split.graph)
    other = as_matrix(test_vectors, test_split.graph)
    if one.shape[1] != other.shape[1]:
        raise InputError(
            f"vectors of {one.shape[1]} and of {other.shape[1]} dimensions cannot share a "
            "classifier"
        )
    (train, train_truth), (test, test_truth) = map(_labelled_pairs, (train_split, test_split))
    if c == CHOOSE:  # by the second half of the pairs
        order = np.random.default_rng(0).permutation(len(train))
        train, train_truth = train[order], train_truth[order]
    one, other = (placed(matrix, backend, len(train) + len(test)) for matrix in (one, other))
    return {
        name: _score_classifier(
            *(_pair_features(one, train, name), train_truth),
            *(_pair_features(other, test, name), test_truth),
            c,
        )
        for name in operators
    }


def _labelled_pairs(split: EdgeSplit) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return all pairs of a split, and whether they are edges."""
    pairs = np.concatenate([split.edges, split.non_edges])
    return pairs, np.repeat([True, False], [len(split.edges), len(split.non_edges)])


def _halves(order: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the part that trains, and the part that is scored."""
    middle = len(order) // 2
    return order[:middle], order[middle:]


def _pair_features(matrix: Any, pairs: NDArray[np.int64], operator: str) -> Any:
    """Apply the operator to the vectors of each pair, where the vectors are."""
    check_choice("operator", operator, OPERATORS)
    return OPERATORS[operator](*(rows_of(matrix, ends) for ends in pairs.T))


def _score_classifier(
    train: Any,
    train_truth: NDArray[np.bool_],
    test: Any,
    test_truth: NDArray[np.bool_],
    c: float | str,
) -> dict[str, float]:
    """Train on one set of pairs, and score the other."""

    def known_auc(scores: NDArray[Any], some: slice) -> float:
        return auc(_mixed(train_truth[some], "validation"), scores[:, 0])

    truth = _mixed(test_truth, "test")
    found, chosen = predicted(train, train_truth[:, None], test, c, known_auc, standardise=True)
    scores = found[:, 0]
    return {"auc": auc(truth, scores), "ap": average_precision(truth, scores), **chosen}


def _mixed(truth: NDArray[np.bool_], part: str) -> NDArray[np.bool_]:
    """Return whether pairs are edges; InputError if all or none of them are."""
    if truth.all() or not truth.any():
        raise InputError(
            f"the {len(truth):,} {part} pairs are all edges or all non-edges: hold out more "
            "edges, or use another seed"
        )
    return truth
