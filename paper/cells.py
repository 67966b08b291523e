"""Cells: one method on one graph with one seed, computed once and kept as a line of JSON."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import reinforce2vec as r2v
from methods import Scale, describe, make

LINKS, GROUPS, PATHS = "link-prediction", "node-classification", "paths"
_USUAL = (0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9)
# training fractions of the labelled nodes; the first is that of the paper's tables
FRACTIONS = {
    "blogcatalog": _USUAL,
    "ppi": _USUAL,
    "dblp": (0.05, 0.01, 0.02, 0.03, 0.04, 0.06, 0.07, 0.08, 0.09),
}
TITLES = {
    "facebook": "Facebook",
    "ca-astroph": "ca-AstroPh",
    "blogcatalog": "BlogCatalog",
    "ppi": "PPI",
    "dblp": "DBLP",
}
LINK_GRAPHS, GROUP_GRAPHS = ("facebook", "ca-astroph"), tuple(FRACTIONS)
TOY_EDGES = ((1, 3), (1, 5), (2, 4), (3, 4), (4, 5))  # of the caption of figure 1


def table_fractions(graph: str) -> tuple[float, ...]:
    """Return the three fractions in our tables: that of the paper's, the least and the largest."""
    return FRACTIONS[graph][0], min(FRACTIONS[graph]), max(FRACTIONS[graph])


class Cell(NamedTuple):
    """One method on one graph with one seed: the same cell always gives the same scores.

    `scope` says how much is scored: "full" is everything; "tables" three training fractions;
    "headline" the `shared` protocol alone, or the one training fraction of the paper's tables;
    "validation" only what chooses hyperparameters.
    """

    task: str
    graph: str
    method: str
    seed: int
    dimensions: int = 64
    scope: str = "full"
    backend: str = "cpu"

    @property
    def fractions(self) -> tuple[float, ...]:
        """The training fractions that are scored."""
        if self.scope == "full":
            return FRACTIONS[self.graph]
        shown = table_fractions(self.graph)
        return shown if self.scope == "tables" else shown[:1]

    def pilots(self, scale: Scale) -> list[Cell]:
        """Return the short trainings that choose p and q of node2vec: once a graph, with seed 0."""
        if self.method != "node2vec":
            return []
        names = [f"node2vec-p{p:g}-q{q:g}" for p in scale.choices for q in scale.choices]
        return [self._replace(method=name, seed=0, scope="validation") for name in names]


# -- the file ------------------------------------------------------------------------------------


def read_cells(path: Path) -> dict[Cell, dict[str, Any]]:
    """Read what was computed, without a last line that was cut off."""
    cells = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        cells[Cell(**record["cell"])] = record
    return cells


def compute_missing(
    wanted: Iterable[Cell], path: Path, scale: Scale, jobs: int, data_dir: str | None
) -> dict[Cell, dict[str, Any]]:
    """Compute the cells that the file lacks, several at a time; return all that it has then."""
    known = {
        cell: record
        for cell, record in read_cells(path).items()
        if record["settings"] == describe(cell.method, scale, cell.task)
    }
    wanted = list(dict.fromkeys(wanted))
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for each process
    pilots = list(dict.fromkeys(pilot for cell in wanted for pilot in cell.pilots(scale)))
    context = multiprocessing.get_context("spawn")
    for cells in (pilots, wanted):  # the pilots choose what others train
        missing = [cell for cell in cells if cell not in known]
        if not missing:
            continue
        with ProcessPoolExecutor(min(jobs, len(missing)), context) as pool, path.open("a") as file:
            running = {
                pool.submit(compute, cell, scale, _chosen(cell, known, scale), data_dir): cell
                for cell in missing
            }
            for number, done in enumerate(as_completed(running), 1):
                record = done.result()
                known[running[done]] = record
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                file.flush()
                cell = running[done]
                print(f"{number}/{len(missing)} {cell.task} {cell.graph} {cell.method}", flush=True)
    return known


def _chosen(cell: Cell, known: dict[Cell, dict[str, Any]], scale: Scale) -> str:
    """Return the method that the pilots of a cell chose, or its own."""
    pilots = cell.pilots(scale)
    return max(pilots, key=lambda pilot: _worth(known[pilot])).method if pilots else cell.method


def _worth(record: dict[str, Any]) -> float:
    """Return the validation score by which a pilot is chosen."""
    scores = record["scores"]["raw"]
    if record["cell"]["task"] == LINKS:
        return float(max(way["validation"] for way in scores["shared"].values()))
    (shuffles,) = scores.values()
    return float(np.mean([shuffle["validation_micro"] for shuffle in shuffles]))


# -- computing -----------------------------------------------------------------------------------


def compute(cell: Cell, scale: Scale, method: str, data_dir: str | None) -> dict[str, Any]:
    """Compute a cell with a method, its own or the one that pilots chose."""
    began = time.perf_counter()
    compute_scores = {LINKS: _link_scores, GROUPS: _group_scores, PATHS: _path_facts}[cell.task]
    record = {
        "cell": cell._asdict(),
        "settings": describe(cell.method, scale, cell.task),
        "scores": compute_scores(cell, method, scale, data_dir),
        "seconds": round(time.perf_counter() - began, 2),
        "version": r2v.__version__,
        "commit": _commit(),
    }
    if method != cell.method:
        record["chosen"] = method.removeprefix(f"{cell.method}-")
    return record


@lru_cache(maxsize=1)
def _commit() -> str:
    words = ["git", "describe", "--always", "--dirty"]
    where = Path(__file__).parent
    return subprocess.run(words, cwd=where, capture_output=True, text=True).stdout.strip()


@lru_cache(maxsize=8)
def _dataset(graph: str, scale: Scale, data_dir: str | None) -> r2v.Dataset:
    if graph == "toy":
        return r2v.Dataset("toy", r2v.Graph.from_edges(TOY_EDGES, nodes=range(1, 6)))
    if scale.planted:
        return r2v.planted_groups(scale.planted, 4, degree=8.0, mixing=0.1, seed=len(graph))
    return r2v.load_dataset(graph, data_dir, progress=False)


def _embed(cell: Cell, graph: Any, seed: int, method: str, scale: Scale) -> dict[str, Any]:
    """Return vectors of a graph: raw and smoothed, as far as the method has both."""
    model = make(method, scale, cell.dimensions, seed, cell.backend)
    vectors = model.fit_transform(graph, progress=False)
    if method.startswith("default"):
        return {"smoothed": vectors}
    if cell.scope == "validation":
        return {"raw": vectors}
    return {"raw": vectors, "smoothed": r2v.smooth(vectors, graph, backend=cell.backend)}


def _link_scores(cell: Cell, method: str, scale: Scale, data_dir: str | None) -> dict[str, Any]:
    """Score link prediction: `shared` on one residual graph, `transfer` to a second one.

    Validation scores come from the training pairs of the first graph and do not use the test pairs
    of `shared`. The second graph is only tested on; but two halves of one graph have edges in
    common, so in `transfer` no choice is fully blind.
    """
    graph = _dataset(cell.graph, scale, data_dir).graph
    seeds, more = r2v.split_seeds(cell.seed), {"backend": cell.backend}
    first = r2v.hold_out_edges(graph, 0.5, seeds[0])
    trained = _embed(cell, first.graph, seeds[0], method, scale)
    scores: dict[str, Any] = {}
    for vectors, matrix in trained.items():
        validation = r2v.score_links(matrix, first, seed=cell.seed, part="validation", **more)
        shared = {way: {"validation": found["auc"]} for way, found in validation.items()}
        if cell.scope != "validation":
            tested = r2v.score_links(matrix, first, seed=cell.seed, **more)
            shared = {way: tested[way] | shared[way] for way in tested}
        scores[vectors] = {"shared": shared}
    if cell.scope == "full":
        second = r2v.hold_out_edges(graph, 0.5, seeds[1])
        others = _embed(cell, second.graph, seeds[1], method, scale)
        for vectors, matrix in trained.items():
            pair = matrix, first, others[vectors], second
            scores[vectors]["transfer"] = r2v.transfer_links(*pair, **more)
    return scores


def _group_scores(cell: Cell, method: str, scale: Scale, data_dir: str | None) -> dict[str, Any]:
    """Score node classification: F1 of each shuffle, at each training fraction."""
    data = _dataset(cell.graph, scale, data_dir)
    return {
        vectors: {
            f"{fraction:g}": _shuffles(cell, matrix, data.labels, fraction, scale)
            for fraction in cell.fractions
        }
        for vectors, matrix in _embed(cell, data.graph, cell.seed, method, scale).items()
    }


def _shuffles(
    cell: Cell, vectors: Any, labels: Any, fraction: float, scale: Scale
) -> list[dict[str, float]]:
    """Score several shuffles at the fraction of the paper's tables, one at the others."""
    headline, shuffles = fraction == cell.fractions[0], []
    for number in range(scale.shuffles if headline else 1):
        seed = r2v.shuffle_seed(cell.seed, number)
        settings: dict[str, Any] = {"train": fraction, "seed": seed, "backend": cell.backend}
        scores: dict[str, float] = {}
        if cell.scope != "validation":
            scores |= r2v.classify_nodes(vectors, labels, **settings)
        if cell.scope in ("full", "tables") and fraction in table_fractions(cell.graph):
            tuned = r2v.classify_nodes(vectors, labels, c="validation", **settings)
            scores |= {f"tuned_{name}": value for name, value in tuned.items()}
        if headline:
            validation = r2v.classify_nodes(vectors, labels, part="validation", **settings)
            scores |= {f"validation_{name}": value for name, value in validation.items()}
        shuffles.append(scores)
    return shuffles


def _path_facts(cell: Cell, method: str, scale: Scale, data_dir: str | None) -> dict[str, Any]:
    """Follow 20 long walks: how occupation vectors converge, and among how many nodes they end."""
    graph, steps = _dataset(cell.graph, scale, data_dir).graph, scale.steps
    rng = np.random.default_rng(cell.seed)
    central = np.flatnonzero(graph.degrees >= min(20, np.median(graph.degrees)))  # no dead ends
    rows = rng.choice(central, 20, replace=central.size < 20)
    if cell.graph == "toy":
        rows[0] = 0
    walk = make(method, scale, cell.dimensions, 0, "cpu").walk
    starts = graph.ids[rows].tolist()
    walks = r2v.sample_walks(
        graph, walk, length=steps + 1, per_node=1, seed=cell.seed, starts=starts, workers=1
    )
    looked = sorted({max(1, steps // 100), max(1, steps // 10), steps})
    ends = {step: [r2v.stuck_set(path, step, 100)[1] for path in walks] for step in looked}
    places = np.unique(np.geomspace(1, steps - 1, 60).astype(np.int64))
    places = np.union1d(places, [10**power for power in range(1, len(str(steps - 1)))])
    moved = np.stack([r2v.divergences(path, graph.n_nodes, "js", "path")[places] for path in walks])
    facts = {
        "looked": looked,
        "frequencies": [ends[step][0].tolist() for step in looked],
        "nodes": [[len(counts) for counts in ends[step]] for step in looked],
        "steps": places.tolist(),
        "moved": np.median(moved, axis=0).tolist(),
    }
    if cell.graph == "toy":
        facts["occupation"] = r2v.occupation(walks[0], graph.n_nodes, places.tolist()).tolist()
    return facts
