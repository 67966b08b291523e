"""Computing a cell: a pure function of its description."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation import classify_nodes, hold_out_edges, score_links, transfer_links
from ..evaluation.splits import shuffle_seed, split_seeds
from ..graph import Dataset, Graph, planted_groups
from ..models import smooth
from .cells import (
    FULL,
    LINK_PREDICTION,
    LINK_TIMING,
    NODE_CLASSIFICATION,
    NODE_TIMING,
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

    `seconds` is everything; `fit_seconds` the embedding of one graph, or of the first of two, and
    `smooth_seconds` the smoothing of its vectors afterwards.

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
    run = _Run(cell, method, data_dir)
    scores = _TASKS[cell.task](run)
    return {
        "scores": scores,
        "seconds": round(time.perf_counter() - began, 2),
        **{name: round(value, 3) for name, value in run.seconds.items()},
        **more,
    }


@dataclass
class _Run:
    """A cell under way: what is computed, and the seconds that its parts took."""

    cell: Cell
    method: EmbeddingMethod
    data_dir: str | None
    seconds: dict[str, float] = field(default_factory=dict)


# -- graphs and vectors --------------------------------------------------------------------------


@lru_cache(maxsize=8)  # all that there are, so that a process reads each of them once
def _data_of(graph: str, planted: int, data_dir: str | None) -> Dataset:
    """Return a data set, or the generated graph that replaces it."""
    if planted:
        return planted_groups(planted, 4, degree=8.0, mixing=0.1, seed=len(graph))
    from ..datasets import load_dataset

    return load_dataset(graph, data_dir, progress=False)


@lru_cache(maxsize=1)
def _own_data(own: Any) -> Dataset:
    """Return the user's graph."""
    dataset: Dataset = own.read()
    return dataset


def _dataset_of(run: _Run) -> Dataset:
    """Return the graph of a cell, with its labels."""
    cell = run.cell
    if cell.graph == "toy":
        return Dataset("toy", toy_graph())
    own = cell.scale.own_graph
    if own is not None and cell.graph == own.name:
        return _own_data(own)
    return _data_of(cell.graph, cell.scale.planted, run.data_dir)


def _embed(run: _Run, graph: Graph, seed: int) -> dict[str, _Vectors]:
    """Return vectors of a graph: raw, and smoothed unless only validation scores are wanted."""
    cell, method = run.cell, run.method
    scale = cell.scale

    model = method.make(scale.dimensions, seed, scale.backend, max(scale.threads, 1))
    began = time.perf_counter()
    vectors: _Vectors = model.fit_transform(graph, progress=False)
    fitted = time.perf_counter()
    run.seconds.setdefault("fit_seconds", fitted - began)
    if method.smooths:
        return {"smoothed": vectors}
    if cell.scope == VALIDATION_ONLY:
        return {"raw": vectors}
    smoothed = smooth(vectors, graph, backend=scale.backend)
    run.seconds.setdefault("smooth_seconds", time.perf_counter() - fitted)
    return {"raw": vectors, "smoothed": smoothed}


_latest: tuple[Any, dict[str, _Vectors], dict[str, float]] | None = None


def _embed_whole(run: _Run, graph: Graph) -> dict[str, _Vectors]:
    """Return vectors of a whole graph, cached for seeds that share them."""
    global _latest
    cell, method = run.cell, run.method
    seed = cell.seed if method.seeded else None
    key = (cell.graph, cell.scale, cell.scope, str(method.settings()), seed)
    if _latest is None or _latest[0] != key:
        _latest = (key, _embed(run, graph, cell.seed), dict(run.seconds))
    run.seconds |= _latest[2]
    return _latest[1]


# -- tasks ---------------------------------------------------------------------------------------


def _score_link_cell(run: _Run) -> CellScores:
    """Score link prediction: `shared` on one residual graph, `transfer` to a second one.

    Validation scores come from the training pairs of the first graph and do not use the test pairs
    of `shared`. The second graph is only tested on; but two halves of one graph have edges in
    common, so in `transfer` no choice is fully blind.
    """
    cell, graph = run.cell, _dataset_of(run).graph
    backend = cell.scale.backend
    seeds = split_seeds(cell.seed)
    first = hold_out_edges(graph, 0.5, seeds[0])
    kinds = _embed(run, first.graph, seeds[0])
    scores: CellScores = {}
    for kind, made in kinds.items():
        found = score_links(made, first, seed=cell.seed, part="validation", backend=backend)
        parts = {name: {"validation": one["auc"]} for name, one in found.items()}
        if cell.scope != VALIDATION_ONLY:
            shared = score_links(made, first, seed=cell.seed, backend=backend)
            parts = {name: shared[name] | parts[name] for name in shared}
        scores[kind] = {"shared": parts}
    if cell.scope == FULL:
        second = hold_out_edges(graph, 0.5, seeds[1])
        others = _embed(run, second.graph, seeds[1])
        for kind in kinds:
            scores[kind]["transfer"] = transfer_links(
                kinds[kind], first, others[kind], second, backend=backend
            )
    return scores


def _score_classification_cell(run: _Run) -> CellScores:
    """Score node classification: F1 of each shuffle, at each training fraction."""
    data = _dataset_of(run)
    return {
        kind: {
            f"{fraction:g}": _shuffles(run.cell, made, data.labels, fraction)
            for fraction in run.cell.fractions
        }
        for kind, made in _embed_whole(run, data.graph).items()
    }


def _shuffles(
    cell: Cell, vectors: _Vectors, labels: Any, fraction: float
) -> list[dict[str, float]]:
    headline = fraction == cell.fractions[0]
    found = []
    for number in range(cell.scale.shuffles if headline else cell.scale.more_shuffles):
        settings: dict[str, Any] = {
            "train": fraction,
            "seed": shuffle_seed(cell.seed, number),
            "backend": cell.scale.backend,
        }
        scores: dict[str, float] = {}
        if cell.scope != VALIDATION_ONLY:
            scores |= classify_nodes(vectors, labels, **settings)
        if fraction in cell.tuned_fractions:
            tuned = classify_nodes(vectors, labels, c="validation", **settings)
            scores |= {f"tuned_{name}": value for name, value in tuned.items()}
        if headline:
            validation = classify_nodes(vectors, labels, part="validation", **settings)
            scores |= {f"validation_{name}": value for name, value in validation.items()}
        found.append(scores)
    return found


def _time_links(run: _Run) -> CellScores:
    """Time the embedding of a graph without the held-out edges."""
    seed = split_seeds(run.cell.seed)[0]
    return _time(run, hold_out_edges(_dataset_of(run).graph, 0.5, seed).graph, seed)


def _time_nodes(run: _Run) -> CellScores:
    """Time the embedding of a whole graph."""
    return _time(run, _dataset_of(run).graph, run.cell.seed)


def _time(run: _Run, graph: Graph, seed: int) -> CellScores:
    """Return the seconds until there are raw, and smoothed, vectors; compiling does not count."""
    small = planted_groups(300, 3, seed=0).graph
    _embed(replace(run, seconds={}), small, seed)
    kinds = _embed(run, graph, seed)
    fitted, more = run.seconds["fit_seconds"], run.seconds.get("smooth_seconds", 0.0)
    return {kind: fitted + (more if kind == "smoothed" else 0.0) for kind in kinds}


def _score_path_cell(run: _Run) -> CellScores:
    """Follow long walks: how occupation vectors converge, and where walks get stuck."""
    graph = _dataset_of(run).graph
    return look_at_paths(graph, run.method.parameters["walk"], run.cell.scale.steps, run.cell.seed)


_TASKS = {
    LINK_PREDICTION: _score_link_cell,
    NODE_CLASSIFICATION: _score_classification_cell,
    PATHS: _score_path_cell,
    LINK_TIMING: _time_links,
    NODE_TIMING: _time_nodes,
}
