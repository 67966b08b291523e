"""Node classification: can the labels of a node be predicted from its vector?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.checks import check_count, check_number
from .._util.errors import InputError, python_setting
from .._util.progress import counted
from ..embedding import Embedding
from ..embedding.matching import as_matrix
from ._classifier import check_c, placed, predicted, rows_of
from ._metrics import f1_scores
from .labels import as_indicators
from .results import Evaluation, MetricValues, check_part, run_seeds


@dataclass(frozen=True, repr=False)
class NodeClassificationResult(Evaluation):
    """Micro and macro F1 of node classification, for each share of training nodes, in percent.

    Attributes
    ----------
    seeds : tuple of int
        The seed of each run.
    scores : tuple of dict
        For each seed and share, "micro" and "macro", and "c" where it was chosen; see also `mean`
        and `spread`.
    """

    @property
    def title(self) -> str:
        """What was evaluated."""
        return "node classification by share of training nodes"

    def row_name(self, way: Hashable) -> str:
        """The share in percent."""
        return f"{100 * float(str(way)):g}%"


def evaluate_node_classification(
    vectors: Any,
    labels: Any,
    *,
    train: float | Iterable[float] = (0.5,),
    seeds: int | Iterable[int] = 5,
    c: float | str = 1.0,
    backend: str = "cpu",
    progress: bool = True,
) -> NodeClassificationResult:
    """Evaluate how well the labels of nodes can be predicted from their vectors.

    As in the published tables: one-vs-rest logistic regression on the vectors as they are, with
    C = 1 by default; for each test node as many labels are predicted as it has, those with the
    highest scores.

    Parameters
    ----------
    vectors : array (n_nodes, dimensions) or Embedding
        From any method; all numbers must be finite.
    labels : array or sparse matrix (n_nodes, classes) of 0 and 1, list, dict, table, or path
        Which classes a node is in; or the class of each, or a list of its classes. Nodes without
        a class (also None and NaN) are left out. With an Embedding, labels with ids are matched by
        them: a dict {id: class}, a pandas Series whose index holds ids, a table (pandas, polars,
        Arrow) with a column of ids and one of classes, the path of such a file, and what
        :func:`read_labels` returns. Lists and arrays are in row order.
    train : float or iterable of float, default 0.5
        Shares of the labelled nodes that train; the others test.
    seeds : int or iterable of int, default 5
        How many random choices of the training nodes, or the seed of each.
    c, backend
        As for :func:`classify_nodes`.
    progress : bool, default True
        Show progress on the terminal, if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from reinforce2vec import evaluate_node_classification
    >>> classes = np.repeat(["left", "right"], 50)
    >>> places = np.where(classes == "left", -3.0, 3.0) + np.random.default_rng(0).normal(size=100)
    >>> evaluate_node_classification(places[:, None], classes, train=[0.1, 0.5], seeds=2)
    node classification by share of training nodes: mean ± standard deviation of 2 seeds, in percent
              micro-F1       macro-F1
    10%  100.00 ± 0.00  100.00 ± 0.00
    50%  100.00 ± 0.00  100.00 ± 0.00
    """
    shares = list(train) if isinstance(train, Iterable) else [train]
    if not shares:
        raise InputError("train must name at least one share of the nodes", parameter="train")
    c = check_c(c)
    matrix, classes = _checked(vectors, labels)
    there = placed(matrix, backend, *classes.shape)

    def run(seed: int) -> MetricValues:
        return {share: _classify(there, classes, share, seed, "test", c) for share in shares}

    return NodeClassificationResult(*run_seeds("node classification", seeds, progress, run))


def classify_nodes(
    vectors: Any,
    labels: Any,
    *,
    train: float = 0.5,
    seed: int = 0,
    part: str = "test",
    c: float | str = 1.0,
    backend: str = "cpu",
) -> dict[str, float]:
    """Score how well one-vs-rest logistic regression predicts the labels of nodes from vectors.

    As in the published tables: vectors as they are, C = 1 by default; for each test node as many
    labels are predicted as it has, those with the highest scores.

    Parameters
    ----------
    vectors : array (n_nodes, dimensions) or Embedding
    labels : as for :func:`evaluate_node_classification`
        Which classes a node is in. Nodes in no class are left out.
    train : float, default 0.5
        Share of the nodes that train.
    seed : int, default 0
        Which nodes train.
    part : {"test", "validation"}
        "validation" leaves the test nodes alone: half of the training nodes train, the other half
        are scored. For choosing settings.
    c : float or "validation", default 1
        C of the regression: how much training nodes count beside the penalty. "validation"
        chooses it from 0.1, 1, 10, 100 and 1000 by micro F1: half of the
        training nodes train and the other half are scored; then all of them train with the best.
    backend : {"cpu", "cuda", "auto"}, default "cpu"
        Where to fit the regression. "auto" uses a GPU if there is one, the work is large enough
        and it fits into the GPU's memory. Results are the same up to rounding.

    Returns
    -------
    dict
        F1 in percent: "micro" over all answers, "macro" the mean over the classes; and "c" if it
        was chosen.
    """
    check_part(part)
    c = check_c(c)
    matrix, classes = _checked(vectors, labels)
    return _classify(placed(matrix, backend, *classes.shape), classes, train, seed, part, c)


def _checked(vectors: Any, labels: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the vectors as a matrix, and the classes of each row."""
    matrix = as_matrix(vectors)
    nodes = vectors if isinstance(vectors, Embedding) else None
    return matrix, as_indicators(labels, len(matrix), nodes)


def _classify(
    matrix: Any, classes: NDArray[np.bool_], train: float, seed: int, part: str, c: float | str
) -> dict[str, float]:
    """Score vectors that are where the work is to be done."""
    train = check_number("train", train, above=0.0, most=1.0)
    labelled = np.flatnonzero(classes.any(axis=1))
    _refuse_certain(classes[labelled])
    order = labelled[np.random.default_rng(check_count("seed", seed, 0)).permutation(len(labelled))]
    known, asked = np.split(order, [max(1, int(train * len(order)))])
    if part == "validation":
        known, asked = np.split(known, [len(known) // 2])
    if not (known.size and asked.size) or (isinstance(c, str) and known.size < 2):
        raise InputError(
            f"{python_setting('train', train)} of {len(order):,} labelled nodes leaves "
            f"{len(known):,} to train on and {len(asked):,} to score: each needs at least one"
            + (", and choosing c two to train on" if isinstance(c, str) else ""),
            parameter="train",
            value=train,
            settings=[("train", train)],
        )

    def micro_f1(scores: NDArray[Any], some: slice) -> float:
        return _f1(scores, classes[known[some]])[0]

    rows = rows_of(matrix, known), classes[known], rows_of(matrix, asked)
    scores, chosen = predicted(*rows, c, micro_f1)
    micro, macro = _f1(scores, classes[asked])
    return {"micro": micro, "macro": macro, **chosen}


def _f1(scores: NDArray[Any], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Return micro and macro F1 if the number of classes of each row is known."""
    return f1_scores(truth, _most_likely(scores, truth.sum(axis=1)))


def _most_likely(scores: NDArray[Any], how_many: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the classes with the highest scores in each row, as many as `how_many` says."""
    chosen = np.zeros(scores.shape, bool)
    single = np.flatnonzero(how_many == 1)  # which need no sorting
    chosen[single, scores[single].argmax(axis=1)] = True
    several = np.flatnonzero(how_many > 1)
    order = (-scores[several]).argsort(axis=1, kind="stable")
    wanted = np.arange(scores.shape[1]) < how_many[several, None]
    chosen[np.repeat(several, how_many[several]), order[wanted]] = True
    return chosen


def _refuse_certain(classes: NDArray[np.bool_]) -> None:
    """Raise InputError if all nodes have the same labels, so that every prediction is right."""
    used = classes.any(axis=0)
    if len(classes) and classes[:, used].all():
        raise InputError(
            "there is nothing to predict: every node with a label is in "
            + ("the same class" if used.sum() == 1 else f"all {counted(int(used.sum()), 'class')}")
        )
