"""Benchmark nearest neighbours: time of exact search and of an index, and recall of the index.

Vectors of a graph with planted groups and of an R-MAT graph, which has no groups, two walks per
node. For a sample of nodes the ten nearest among all are searched: by our blocked products, by a
full product in numpy, by scikit-learn's brute force, and in an index built by usearch. All run in
turns; CPU time is shown beside wall-clock time, which depends on other load on the machine.

    python benchmarks/neighbors.py                       # about two minutes
    python benchmarks/neighbors.py --only R-MAT --repeats 5
"""

from __future__ import annotations

import argparse
from functools import partial
from statistics import median

import numpy as np
from sklearn.neighbors import NearestNeighbors

import reinforce2vec as r2v
from measuring import in_turns, measure_each, read_options, timed
from reinforce2vec.embedding import _approximate_search as indexing
from reinforce2vec.embedding.nearest import _search_among, nearest_rows
from reporting import column, distinct, ratios, spread, table

K = 10
OURS, NUMPY, COSINE, EUCLIDEAN, INDEX = (
    "`nearest_neighbors`, exact",
    "numpy, full product and argpartition",
    'scikit-learn brute force, "cosine"',
    'scikit-learn brute force, "euclidean" of unit vectors',
    "usearch index, built before",
)
GRAPHS = {
    "planted groups": lambda n: r2v.planted_groups(n, max(1, n // 500), seed=0).graph,
    "R-MAT": lambda n: r2v.rmat(int(np.ceil(np.log2(n))), seed=0),
}


def by_numpy(units: np.ndarray, queries: np.ndarray) -> np.ndarray:
    cosines = units[queries] @ units.T
    cosines[np.arange(len(queries)), queries] = -np.inf
    best = np.argpartition(-cosines, K, axis=1)[:, :K]
    order = np.argsort(-np.take_along_axis(cosines, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


def measure(name: str, options: argparse.Namespace) -> dict:
    """Run all searches in turns, on the same vectors and queries."""
    graph = GRAPHS[name](options.nodes)
    model = r2v.Reinforce2Vec(options.dimensions, walks_per_node=2, smooth=options.smooth)
    vectors = model.fit_transform(graph, progress=False)
    vectors = np.ascontiguousarray(vectors[np.flatnonzero(graph.degrees)[: options.nodes]])
    size = min(options.queries, len(vectors))
    queries = np.sort(np.random.default_rng(0).choice(len(vectors), size, False)).astype(np.int32)
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    search = _search_among(vectors, queries)
    making, index = timed(lambda: indexing._build_index(search, lambda *_: None))
    trying, enough = timed(lambda: indexing._widen_search(index, search, K))
    if not enough:
        index.expansion_search = indexing._WIDTH

    def in_index() -> tuple[np.ndarray, np.ndarray]:
        rows, scores = np.full((size, K), -1, np.int32), np.full((size, K), np.nan)
        indexing._search_index(index, search, K, rows, scores, lambda *_: None)
        return rows, scores

    def by_sklearn(metric: str, rows: np.ndarray) -> partial:
        brute = NearestNeighbors(n_neighbors=K + 1, algorithm="brute", metric=metric).fit(rows)
        return partial(brute.kneighbors, rows[queries], return_distance=False)

    ways = {
        OURS: lambda: nearest_rows(vectors, queries, K, method="exact", progress=False),
        NUMPY: lambda: by_numpy(units, queries),
        COSINE: by_sklearn("cosine", vectors),
        EUCLIDEAN: by_sklearn("euclidean", units),
        INDEX: in_index,
    }
    neighbors: dict = {}

    def run(way: str) -> dict[str, float]:
        times, neighbors[way] = timed(ways[way])
        return times

    nearest_rows(vectors[:1000], k=K, progress=False)  # compiles
    turns = in_turns({way: partial(run, way) for way in ways}, options.repeats)
    results = [{"way": way, "turn": turn, **times} for turn, way, times in turns]
    (rows, cosines), (_, near) = neighbors[OURS], neighbors[INDEX]
    same = [np.isin(a, b).mean() for a, b in zip(rows, neighbors[NUMPY], strict=True)]
    return {
        "nodes": len(vectors),
        "queries": size,
        "index": {
            **making,
            "trying_cpu_seconds": trying["cpu_seconds"],
            "enough": enough,
            "width": index.expansion_search,
        },
        # as similar as the tenth, up to rounding, is as good as the tenth
        "recall": float((near >= cosines[:, -1:] - 1e-6).mean()),
        "agreement with numpy": float(np.mean(same)),
        "results": results,
    }


def render(results: dict) -> str:
    machine, options = results["machine"], results["options"]
    smoothed = ", smoothed" if options["smooth"] else ""
    lines = [
        "# Nearest neighbours",
        f"\nThe {K} nearest of all nodes for a sample, d = {options['dimensions']}{smoothed}; "
        f"{machine['processor']}, {machine['processors']} cores of a shared machine, "
        f"{machine['date']}. Medians of {options['repeats']} rounds (ranges); ratios are of CPU "
        "times within rounds.",
    ]
    heads = ["search", "ms per node", "CPU ms per node", "CPU time / exact"]
    for name, part in results["results"].items():
        rows, each = part["results"], part["nodes"] / part["queries"]
        cpu = {way: column(rows, "cpu_seconds", way=way) for (way,) in distinct(rows, "way")}
        ms = part["queries"] / 1000
        cells = (
            [
                *(way, spread(column(rows, "seconds", way=way), unit=ms, dash="-")),
                *(f"{median(cpu[way]) / ms:.2f}", f"{median(ratios(cpu[way], cpu[OURS])):.2f}"),
            ]
            for way in cpu
        )
        index = part["index"]
        whole = index["cpu_seconds"] + median(cpu[INDEX]) * each
        lines += [
            f"\n## {name}: {part['queries']:,} of {part['nodes']:,} nodes\n",
            *table(heads, cells),
            f"\nBuilding the index takes {index['cpu_seconds']:.0f} s of CPU time. It finds "
            f"{part['recall']:.1%} of the ten nearest (search width {index['width']}). For all "
            f"nodes, building and searching the index take {whole:.0f} s of CPU time, exact search "
            f"{median(cpu[OURS]) * each:.0f} s (extrapolated from the sample). "
            '`method="approximate"` '
            + ("uses the index." if index["enough"] else "falls back to exact search."),
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = read_options(
        "neighbors",
        __doc__,
        only=GRAPHS,
        nodes=100_000,
        queries=1024,
        dimensions=64,
        smooth=False,
        repeats=3,
    )
    measure_each(options, GRAPHS, measure, render)


if __name__ == "__main__":
    main()
