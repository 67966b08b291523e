"""Benchmark recommended links: how many of the first ten are edges held out of the graph.

A fifth of the edges is held out, and vectors are learned from the rest. For nodes that lost edges,
each method makes ten recommendations: without vectors by popularity and by common neighbours (their
number, Adamic and Adar's index, resource allocation; on directed graphs along, against and across
the edges), and by every score of reinforce2vec.recommend_links. One of them is "auto", the default,
which chooses among the others without knowing the held-out edges.

    python benchmarks/recommendation.py                             # some minutes
    python benchmarks/recommendation.py --only facebook    # other graphs keep their results
    python benchmarks/recommendation.py --study FOLDER    # also directed graphs of graphs.py
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import scipy.sparse

import reinforce2vec as r2v
from graphs import DIRECTED, load
from machine import describe
from recommendation_graphs import GENERATED
from reinforce2vec._util.hyperparameters import LINK_SCORES
from reinforce2vec.evaluation import EdgeSplit
from reporting import publish, title

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
PUBLISHED = ("facebook", "ca-astroph", "ppi", "blogcatalog")
GRAPHS = (*PUBLISHED, *DIRECTED, *GENERATED)
K = 10
ROWS = 256  # nodes that are scored at a time
COMMON, ADAMIC, ALLOCATION = "common neighbours", "Adamic-Adar", "resource allocation"
POPULAR, THREE_STEPS = "popularity", "paths → ← →"
AUTO = "auto"


def vectors_of(graph: r2v.Graph, seed: int) -> r2v.Embedding:
    """Learn the vectors that recommendations are made from."""
    return r2v.Reinforce2Vec(seed=seed, backend="cpu").fit(graph, progress=False).embedding_


# -- recommenders --------------------------------------------------------------------------------


def by_scores(graph: r2v.Graph, sources: np.ndarray, scores: Callable) -> np.ndarray:
    """Return ten nodes per source, by a function that scores some sources with all nodes."""
    found = []
    for begin in range(0, len(sources), ROWS):
        rows = sources[begin : begin + ROWS]
        block = np.asarray(scores(rows), np.float64)
        for place, row in enumerate(rows):
            block[place, graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] = -np.inf
            block[place, row] = -np.inf
        found.append(np.argpartition(-block, K, axis=1)[:, :K])
    return np.concatenate(found)


def by_neighbours(graph: r2v.Graph, sources: np.ndarray) -> dict:
    """Return ten nodes per source by popularity and by paths of two steps.

    On directed graphs the two steps are along (→ →), against (← ←) and across (→ ←, ← →) the
    edges, and there is the number of paths → ← →.
    """
    links = graph.to_scipy()
    links.data[:] = 1  # weights have no effect
    inward = np.bincount(graph.indices, minlength=graph.n_nodes)
    degrees = np.maximum(graph.degrees + (inward if graph.directed else 0), 2)
    shares = {COMMON: np.ones(len(degrees)), ADAMIC: 1 / np.log(degrees), ALLOCATION: 1 / degrees}
    ways = {"": (links, links)}
    if graph.directed:
        back = links.T.tocsr()
        ways = {
            " → →": (links, links),
            " → ←": (links, back),
            " ← →": (back, links),
            " ← ←": (back, back),
        }
    found = {POPULAR: by_scores(graph, sources, lambda rows: np.tile(inward, (len(rows), 1)))}
    for name, share in shares.items():
        for way, (first, second) in ways.items():
            weighed = scipy.sparse.diags_array(share) @ second

            def scores(rows, first=first, weighed=weighed):
                return (first[rows] @ weighed).toarray()

            found[name + way] = by_scores(graph, sources, scores)
    if graph.directed:
        found[THREE_STEPS] = by_scores(
            graph, sources, lambda rows: (links[rows] @ back @ links).toarray()
        )
    return found


def by_library(
    embedding: r2v.Embedding, graph: r2v.Graph, sources: np.ndarray, score: str
) -> tuple[np.ndarray, str]:
    """Return ten nodes per source by a score of the library, and what was chosen for "auto"."""
    links = r2v.recommend_links(
        embedding, graph, K, nodes=sources.tolist(), score=score, progress=False
    )
    return links.targets.reshape(len(sources), K), links.scorer


# -- how many are right --------------------------------------------------------------------------


def judged(found: np.ndarray, sources: np.ndarray, split: EdgeSplit) -> dict[str, float]:
    """Return precision and recall in percent, over nodes that lost edges."""
    size, lost_edges = split.graph.n_nodes, split.edges
    if not split.graph.directed:
        lost_edges = np.concatenate([lost_edges, lost_edges[:, ::-1]])
    lost = np.bincount(lost_edges[:, 0], minlength=size)[sources]
    pairs = lost_edges[:, 0] * size + lost_edges[:, 1]
    right = np.isin(sources[:, None] * size + found, pairs).sum(axis=1)
    return {
        "precision": 100 * float((right / K).mean()),
        "recall": 100 * float((right / lost).mean()),
    }


def graph_named(name: str, seed: int, study: Path | None) -> r2v.Graph:
    """Return a graph whose ids are its row numbers."""
    if name in GENERATED:
        return GENERATED[name](seed=seed)
    if name in DIRECTED:
        return load(name, study)[0]
    graph = r2v.load_dataset(name, data_dir=DATA).graph
    ends = np.column_stack([np.repeat(np.arange(graph.n_nodes), graph.degrees), graph.indices])
    return r2v.Graph.from_edges(ends, nodes=range(graph.n_nodes))


def measure(name: str, options: argparse.Namespace) -> dict:
    results = []
    for seed in range(options.seeds):
        graph = graph_named(name, seed, options.study)
        split = r2v.hold_out_edges(graph, options.fraction, seed)
        sources = np.unique(split.edges[:, 0] if graph.directed else split.edges)
        if len(sources) > options.nodes:
            rng = np.random.default_rng(seed)
            sources = np.sort(rng.choice(sources, options.nodes, replace=False))
        embedding = vectors_of(split.graph, seed)
        for method, found in by_neighbours(split.graph, sources).items():
            scores = judged(found, sources, split)
            results.append({"seed": seed, "method": method, "library": False, **scores})
        for score in LINK_SCORES:
            began = time.perf_counter()
            found, scorer = by_library(embedding, split.graph, sources, score)
            took = time.perf_counter() - began
            scores = judged(found, sources, split)
            more = {"scorer": scorer, "seconds": round(took, 2)}
            results.append({"seed": seed, "method": score, "library": True, **scores, **more})
            print(f"{name}, seed {seed}, {score}: {scores} {scorer}", file=sys.stderr)
    facts = {"nodes": graph.n_nodes, "edges": graph.n_edges, "directed": graph.directed}
    return {**facts, "scores": results}


# -- the page ------------------------------------------------------------------------------------


def spread(values: list[float]) -> str:
    return f"{mean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def mean_precision(results: list[dict], method: str) -> float:
    return mean(result["precision"] for result in results if result["method"] == method)


def overview(found: dict) -> list[str]:
    """Return a table with a line for each graph: the default beside the best of all others."""
    lines = [
        f"| graph | nodes | edges | best without vectors | odds | cosine | default: precision@{K} "
        "| chosen |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, graph in found["results"].items():
        results = graph["scores"]
        without = dict.fromkeys(one["method"] for one in results if not one["library"])
        best = max(without, key=lambda way: mean_precision(results, way))
        chosen = Counter(result["scorer"] for result in results if result["method"] == AUTO)
        listed = ", ".join(
            scorer if count == found["options"]["seeds"] else f"{scorer} ({count})"
            for scorer, count in chosen.most_common()
        )
        cells = [
            title(name) + (", directed" if graph["directed"] else ""),
            *(f"{graph['nodes']:,}", f"{graph['edges']:,}"),
            f"{mean_precision(results, best):.1f} ({best})",
            *(f"{mean_precision(results, way):.1f}" for way in ("odds", "cosine")),
            *(f"**{mean_precision(results, AUTO):.1f}**", listed),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def render(found: dict) -> str:
    options, machine = found["options"], found["machine"]
    lines = [
        "# Recommended links",
        f"\n{options['fraction']:.0%} of the edges held out; smoothed vectors, 20 walks per node, "
        f"d = 128. Of {K} recommendations for a node that lost edges (at most "
        f"{options['nodes']:,} such nodes), how many are right (precision), and how many of the "
        "lost edges are among them (recall), in percent: mean ± standard deviation of "
        f"{options['seeds']} seeds. {machine['date']}.\n",
        'The default, `score="auto"`, chooses by edges that it hides once more from the graph. '
        "It does not know the held-out edges.\n",
        *overview(found),
        "\nGraphs from votes on are generated, a new one for each seed (the grid is always the "
        "same): `benchmarks/recommendation_graphs.py`. Other directed graphs are those of "
        "`benchmarks/graphs.py`. For them, arrows say which way the two steps go.",
    ]
    for name, graph in found["results"].items():
        results = graph["scores"]
        lines += [
            f"\n## {title(name)}\n",
            f"| method | precision@{K} | recall@{K} |",
            "|---|---|---|",
        ]
        for method, library in dict.fromkeys((r["method"], r["library"]) for r in results):
            own = [r for r in results if (r["method"], r["library"]) == (method, library)]
            cells = [spread([r[what] for r in own]) for what in ("precision", "recall")]
            label = f'`recommend_links(score="{method}")`' if library else method
            lines.append(f"| {' | '.join([label, *cells])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="names of graphs, separated by commas")
    parser.add_argument("--study", type=Path, help="folder of graphs.py")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=1000, help="that get recommendations, at most")
    parser.add_argument("--fraction", type=float, default=0.2)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "recommendation.json")
    options = parser.parse_args()
    known = [name for name in GRAPHS if options.study or name not in DIRECTED]
    chosen = options.only.split(",") if options.only else known
    results = {}
    if options.only and options.output.exists():
        results = json.loads(options.output.read_text())["results"]
    results |= {name: measure(name, options) for name in chosen}
    found = {
        "machine": describe(),
        "options": {
            key: value
            for key, value in vars(options).items()
            if key not in ("only", "output", "study")
        },
        "results": {name: results[name] for name in GRAPHS if name in results},
    }
    publish(found, render, options.output)


if __name__ == "__main__":
    main()
