"""Computing a cell: a pure function of its description."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import classify_nodes, hold_out_edges, score_links, transfer_links
from ..evaluation.splits import shuffle_seed, split_seeds
from ..graph import Graph
from ..models import smooth
from .cells import (
    FULL,
    LINK_PREDICTION,
    NODE_CLASSIFICATION,
    PATHS,
    VALIDATION_ONLY,
    Cell,
    CellScores,
)
from .choosing import pilot_score
from .methods import EmbeddingMethod
from .paths import look_at_paths
from .toy import toy_graph

_Vectors = NDArray[np.float32]


def compute(cell: Cell, data_dir: str | None, pilots: list[CellScores]) -> dict[str, Any]:
    """Compute the scores of a cell; return them with the seconds they took.

    Parameters
    ----------
    cell : Cell
        The cell to compute.
    data_dir : str, optional
        A folder with the data sets.
    pilots : list
        Scores of the cells that this one needs, in their order.
    """
    began = time.perf_counter()
    method, more = cell.method, {}
    if pilots:
        best = int(np.argmax([pilot_score(cell.task, scores) for scores in pilots]))
        more["chosen"] = method.choices[best][0]
        method = method.chosen(best)
    scores = _TASKS[cell.task](cell, method, data_dir)
    return {"scores": scores, "seconds": round(time.perf_counter() - began, 2)} | more


# -- graphs and vectors --------------------------------------------------------------------------


@lru_cache(maxsize=2)
def _data_of(graph: str, planted: int, data_dir: str | None) -> Any:
    """Return a data set, or the generated graph that replaces it."""
    if planted:
        from ..graph import planted_groups

        return planted_groups(planted, 4, degree=8.0, mixing=0.1, seed=len(graph))
    from ..datasets import load_dataset

    return load_dataset(graph, data_dir, progress=False)


def _graph_of(cell: Cell, data_dir: str | None) -> Graph:
    """Return the graph of a cell."""
    if cell.graph == "toy":
        return toy_graph()
    graph: Graph = _data_of(cell.graph, cell.scale.planted, data_dir).graph
    return graph


def _embed(method: EmbeddingMethod, graph: Graph, dimensions: int, seed: int) -> _Vectors:
    """Return vectors of a graph, trained with one thread."""
    vectors: _Vectors = method.make(dimensions, seed).fit_transform(graph, progress=False)
    return vectors


_latest: tuple[Any, _Vectors, _Vectors] | None = None


def _embed_whole(cell: Cell, method: EmbeddingMethod, graph: Graph) -> tuple[_Vectors, _Vectors]:
    """Return vectors of a whole graph, raw and smoothed; cached for seeds that share them."""
    global _latest
    size = cell.scale.dimensions
    seed = cell.seed if method.seeded else None
    key = (cell.graph, cell.scale, cell.scope, str(method.settings()), seed)
    if _latest is None or _latest[0] != key:
        raw = _embed(method, graph, size, cell.seed)
        smoothed = raw if cell.scope == VALIDATION_ONLY else smooth(raw, graph)
        _latest = (key, raw, smoothed)
    return _latest[1:]


# -- tasks ---------------------------------------------------------------------------------------


def _score_link_cell(cell: Cell, method: EmbeddingMethod, data_dir: str | None) -> CellScores:
    """Score link prediction: `shared` on one residual graph, `transfer` to a second one.

    Validation scores come from the training pairs of the first graph and do not use the test pairs
    of `shared`. The second graph is only tested on; but two halves of one graph have edges in
    common, so in `transfer` no choice is fully blind.
    """
    graph = _graph_of(cell, data_dir)
    seeds = split_seeds(cell.seed)
    first = hold_out_edges(graph, 0.5, seeds[0])
    vectors = _embed(method, first.graph, cell.scale.dimensions, seeds[0])
    if cell.scope == VALIDATION_ONLY:
        return {"raw": {"shared": _validation(vectors, first, cell.seed)}}
    kinds = {"raw": vectors, "smoothed": smooth(vectors, first.graph)}
    scores: CellScores = {}
    for kind, made in kinds.items():
        shared = score_links(made, first, seed=cell.seed)
        validation = _validation(made, first, cell.seed)
        scores[kind] = {"shared": {name: shared[name] | validation[name] for name in shared}}
    if cell.scope == FULL:
        second = hold_out_edges(graph, 0.5, seeds[1])
        other = _embed(method, second.graph, cell.scale.dimensions, seeds[1])
        others = {"raw": other, "smoothed": smooth(other, second.graph)}
        for kind in kinds:
            scores[kind]["transfer"] = transfer_links(kinds[kind], first, others[kind], second)
    return scores


def _validation(vectors: _Vectors, split: Any, seed: int) -> dict[str, dict[str, float]]:
    found = score_links(vectors, split, seed=seed, part="validation")
    return {name: {"validation": scores["auc"]} for name, scores in found.items()}


def _score_classification_cell(
    cell: Cell, method: EmbeddingMethod, data_dir: str | None
) -> CellScores:
    """Score node classification: F1 of each shuffle, at each training fraction."""
    data = _data_of(cell.graph, cell.scale.planted, data_dir)
    raw, smoothed = _embed_whole(cell, method, data.graph)
    kinds = {"raw": raw} if cell.scope == VALIDATION_ONLY else {"raw": raw, "smoothed": smoothed}
    return {
        kind: {
            f"{fraction:g}": _shuffles(cell, made, data.labels, fraction)
            for fraction in cell.fractions
        }
        for kind, made in kinds.items()
    }


def _shuffles(
    cell: Cell, vectors: _Vectors, labels: Any, fraction: float
) -> list[dict[str, float]]:
    headline = fraction == cell.fractions[0]
    found = []
    for number in range(cell.scale.shuffles if headline else cell.scale.more_shuffles):
        settings: dict[str, Any] = {"train": fraction, "seed": shuffle_seed(cell.seed, number)}
        scores: dict[str, float] = {}
        if cell.scope != VALIDATION_ONLY:
            scores |= classify_nodes(vectors, labels, **settings)
        if headline:
            validation = classify_nodes(vectors, labels, part="validation", **settings)
            scores |= {f"validation_{name}": value for name, value in validation.items()}
        found.append(scores)
    return found


def _score_path_cell(cell: Cell, method: EmbeddingMethod, data_dir: str | None) -> CellScores:
    """Follow long walks: how occupation vectors converge, and where walks get stuck."""
    graph = _graph_of(cell, data_dir)
    return look_at_paths(graph, method.parameters["walk"], cell.scale.steps, cell.seed)


_TASKS = {
    LINK_PREDICTION: _score_link_cell,
    NODE_CLASSIFICATION: _score_classification_cell,
    PATHS: _score_path_cell,
}
