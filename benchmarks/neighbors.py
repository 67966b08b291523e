"""Benchmark nearest neighbours: time of exact search and of an index, and recall of the index.

Vectors of a graph with planted groups and of an R-MAT graph, which has no groups, two walks per
node. For a sample of nodes the ten nearest among all are searched: by our blocked products, by a
full product in numpy, by scikit-learn's brute force, and in an index built by usearch. All run in
turns; CPU time is given beside wall-clock time, which depends on other load on the machine.

    python benchmarks/neighbors.py                       # about two minutes
    python benchmarks/neighbors.py --only R-MAT --repeats 5
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.neighbors import NearestNeighbors

import reinforce2vec as r2v
from machine import describe
from reinforce2vec.embedding import _approximate_search as indexing
from reinforce2vec.embedding.nearest import _search_among, nearest_rows
from reporting import publish

HERE = Path(__file__).parent
K = 10
OURS, NUMPY, COSINE, EUCLIDEAN, INDEX = (
    "`nearest_neighbors`, exact",
    "numpy, full product and argpartition",
    'scikit-learn brute force, "cosine"',
    'scikit-learn brute force, "euclidean" of unit vectors',
    "usearch index, built before",
)


# -- vectors -----------------------------------------------------------------------------------


def planted(options: argparse.Namespace) -> r2v.Graph:
    return r2v.planted_groups(options.nodes, max(1, options.nodes // 500), seed=0).graph


def structureless(options: argparse.Namespace) -> r2v.Graph:
    return r2v.rmat(int(np.ceil(np.log2(options.nodes))), seed=0)


GRAPHS = {"planted groups": planted, "R-MAT": structureless}


def vectors_of(graph: r2v.Graph, options: argparse.Namespace) -> np.ndarray:
    """Return the vectors of nodes that have neighbours."""
    model = r2v.Reinforce2Vec(
        dimensions=options.dimensions, walks_per_node=2, smooth=options.smooth
    )
    vectors = model.fit_transform(graph, progress=False)
    return np.ascontiguousarray(vectors[np.flatnonzero(graph.degrees)[: options.nodes]])


# -- searches ---------------------------------------------------------------------------------


def by_numpy(units: np.ndarray, queries: np.ndarray) -> np.ndarray:
    cosines = units[queries] @ units.T
    cosines[np.arange(len(queries)), queries] = -np.inf
    best = np.argpartition(-cosines, K, axis=1)[:, :K]
    order = np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


def by_sklearn(metric: str, vectors: np.ndarray) -> Callable:
    index = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric=metric).fit(vectors)
    return lambda queries: index.kneighbors(vectors[queries], return_distance=False)


def timed(work: Callable) -> tuple[dict[str, float], object]:
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    return {
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - processor,
    }, found


def measure(name: str, options: argparse.Namespace) -> dict:
    """Run all searches in turns, on the same vectors and queries."""
    vectors = vectors_of(GRAPHS[name](options), options)
    queries = np.sort(
        np.random.default_rng(0).choice(len(vectors), min(options.queries, len(vectors)), False)
    ).astype(np.int32)
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    search = _search_among(vectors, queries)
    making, index = timed(lambda: indexing._build_index(search, lambda done: None))
    trying, enough = timed(lambda: indexing._widen_search(index, search, K))
    print(f"{name}: index of {len(vectors):,} made in {making['seconds']:.1f} s", file=sys.stderr)
    if not enough:
        index.expansion_search = indexing._WIDTH

    def in_index() -> tuple:
        rows, scores = np.full((len(queries), K), -1, np.int32), np.full((len(queries), K), np.nan)
        indexing._search_index(index, search, K, rows, scores, lambda done: None)
        return rows, scores

    cosine, euclidean = by_sklearn("cosine", vectors), by_sklearn("euclidean", units)
    ways = {
        OURS: lambda: nearest_rows(vectors, queries, K, method="exact", progress=False),
        NUMPY: lambda: by_numpy(units, queries),
        COSINE: lambda: cosine(queries),
        EUCLIDEAN: lambda: euclidean(queries),
        INDEX: in_index,
    }
    results, found = [], {}
    nearest_rows(vectors[:1000], k=K, progress=False)  # compiles
    for turn in range(options.repeats):
        for way, work in ways.items():
            times, found[way] = timed(work)
            results.append({"way": way, "turn": turn, **times})
            print(f"{name}, {way}: {times['seconds']:.2f} s", file=sys.stderr)
    (rows, cosines), (_, near) = found[OURS], found[INDEX]
    # as similar as the tenth, up to rounding, is as good as the tenth
    recall = float((near >= cosines[:, -1:] - 1e-6).mean())
    agreeing = float(
        np.mean([np.isin(a, b).mean() for a, b in zip(rows, found[NUMPY], strict=True)])
    )
    return {
        "nodes": len(vectors),
        "queries": len(queries),
        "index": {
            **making,
            "trying_cpu_seconds": trying["cpu_seconds"],
            "enough": enough,
            "width": index.expansion_search,
        },
        "recall": recall,
        "agreement with numpy": agreeing,
        "results": results,
    }


# -- the page ----------------------------------------------------------------------------------


def of(results: list[dict], way: str, what: str) -> list[float]:
    return [result[what] for result in results if result["way"] == way]


def render(found: dict) -> str:
    machine, options = found["machine"], found["options"]
    smoothed = ", smoothed" if options["smooth"] else ""
    lines = [
        "# Nearest neighbours",
        f"\nThe {K} nearest of all nodes for a sample, d = {options['dimensions']}{smoothed}; "
        f"{machine['processor']}, {machine['processors']} cores of a shared machine, "
        f"{machine['date']}. Medians of {options['repeats']} rounds (ranges); ratios are of CPU "
        "times within rounds.",
    ]
    for name, part in found["results"].items():
        own = of(part["results"], OURS, "cpu_seconds")
        lines += [
            f"\n## {name}: {part['queries']:,} of {part['nodes']:,} nodes\n",
            "| search | ms per node | CPU ms per node | CPU time / exact |",
            "|---|---|---|---|",
        ]
        for way in dict.fromkeys(result["way"] for result in part["results"]):
            clock, cpu = (of(part["results"], way, what) for what in ("seconds", "cpu_seconds"))
            ratio = median(theirs / ours for theirs, ours in zip(cpu, own, strict=True))
            ms = 1000 / part["queries"]
            lines.append(
                f"| {way} | {median(clock) * ms:.2f} ({min(clock) * ms:.2f}-{max(clock) * ms:.2f}) "
                f"| {median(cpu) * ms:.2f} | {ratio:.2f} |"
            )
        in_index = of(part["results"], INDEX, "cpu_seconds")
        each = part["nodes"] / part["queries"]
        index, whole = part["index"], part["index"]["cpu_seconds"] + median(in_index) * each
        decision = "uses the index" if index["enough"] else "falls back to exact search"
        lines.append(
            f"\nBuilding the index takes {index['cpu_seconds']:.0f} s of CPU time. It finds "
            f"{part['recall']:.1%} of the ten nearest (search width {index['width']}). For all "
            f"nodes, building and searching the index take {whole:.0f} s of CPU time, exact search "
            f'{median(own) * each:.0f} s (extrapolated from the sample). `method="approximate"` '
            f"{decision}."
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=GRAPHS)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1024)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--smooth", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "neighbors.json")
    options = parser.parse_args()
    results = {name: measure(name, options) for name in GRAPHS if options.only in (None, name)}
    found = {
        "machine": describe("usearch", "scikit-learn"),
        "options": {key: value for key, value in vars(options).items() if key != "output"},
        "results": results,
    }
    publish(found, render, options.output)


if __name__ == "__main__":
    main()
