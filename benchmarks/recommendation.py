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
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import numpy as np
import scipy.sparse

import reinforce2vec as r2v
from graphs import DIRECTED, load
from measuring import DATA, measure_each, read_options, timed
from recommendation_graphs import GENERATED
from reinforce2vec._util.hyperparameters import LINK_SCORES
from reinforce2vec.evaluation import EdgeSplit
from reporting import column, deviation, distinct, select, table, title

PUBLISHED = ("facebook", "ca-astroph", "ppi", "blogcatalog")
GRAPHS = (*PUBLISHED, *DIRECTED, *GENERATED)
K = 10
ROWS = 256  # nodes that are scored at a time
AUTO = "auto"


# -- recommenders --------------------------------------------------------------------------------


def best_of(graph: r2v.Graph, sources: np.ndarray, scores: Callable) -> np.ndarray:
    """Return ten nodes per source, by a function that scores some sources with all nodes."""
    blocks = []
    for begin in range(0, len(sources), ROWS):
        rows = sources[begin : begin + ROWS]
        block = np.asarray(scores(rows), np.float64)
        for place, row in enumerate(rows):
            block[place, graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] = -np.inf
            block[place, row] = -np.inf
        blocks.append(np.argpartition(-block, K, axis=1)[:, :K])
    return np.concatenate(blocks)


def without_vectors(graph: r2v.Graph) -> dict[str, Callable]:
    """Return functions that score some sources with all nodes: popularity, paths of two steps.

    On directed graphs the two steps are along (→ →), against (← ←) and across (→ ←, ← →) the
    edges, and there is the number of paths → ← →.
    """
    links = graph.to_scipy()
    links.data[:] = 1  # weights have no effect
    inward = np.bincount(graph.indices, minlength=graph.n_nodes)
    degrees = np.maximum(graph.degrees + (inward if graph.directed else 0), 2)
    shares = {
        "common neighbours": np.ones(len(degrees)),
        "Adamic-Adar": 1 / np.log(degrees),
        "resource allocation": 1 / degrees,
    }
    steps = {"": (links, links)}
    methods = {"popularity": lambda rows: np.tile(inward, (len(rows), 1))}
    if graph.directed:
        ways = {"→": links, "←": links.T.tocsr()}
        pairs = ("→→", "→←", "←→", "←←")
        steps = {f" {a} {b}": (ways[a], ways[b]) for a, b in pairs}
    for name, share in shares.items():
        for way, (first, second) in steps.items():
            weighed = scipy.sparse.diags_array(share) @ second
            methods[name + way] = lambda rows, first=first, weighed=weighed: (
                first[rows] @ weighed
            ).toarray()
    if graph.directed:
        methods["paths → ← →"] = lambda rows: (links[rows] @ ways["←"] @ links).toarray()
    return methods


def judged(targets: np.ndarray, sources: np.ndarray, split: EdgeSplit) -> dict[str, float]:
    """Return precision and recall in percent, over nodes that lost edges."""
    size, lost = split.graph.n_nodes, split.edges
    if not split.graph.directed:
        lost = np.concatenate([lost, lost[:, ::-1]])
    counts = np.bincount(lost[:, 0], minlength=size)[sources]
    right = np.isin(sources[:, None] * size + targets, lost @ [size, 1]).sum(axis=1)
    precision, recall = (100 * float((right / of).mean()) for of in (K, counts))
    return {"precision": precision, "recall": recall}


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
        model = r2v.Reinforce2Vec(seed=seed, backend="cpu").fit(split.graph, progress=False)
        for method, scores in without_vectors(split.graph).items():
            targets = best_of(split.graph, sources, scores)
            row = {"seed": seed, "method": method, "library": False}
            results.append(row | judged(targets, sources, split))
        how = {"nodes": sources.tolist(), "progress": False}
        for score in LINK_SCORES:
            times, links = timed(
                lambda model=model, split=split, score=score, how=how: r2v.recommend_links(
                    model.embedding_, split.graph, K, score=score, **how
                )
            )
            row = {"seed": seed, "method": score, "library": True}
            row |= judged(links.targets.reshape(len(sources), K), sources, split)
            row |= {"scorer": links.scorer, "seconds": round(times["seconds"], 2)}
            results.append(row)
            print(name, row, file=sys.stderr)
    facts = {"nodes": graph.n_nodes, "edges": graph.n_edges, "directed": graph.directed}
    return {**facts, "scores": results}


# -- the page ------------------------------------------------------------------------------------


def overview(name: str, graph: dict, seeds: int) -> list[str]:
    """Return the line of a graph: the default beside the best of all others."""
    rows = graph["scores"]
    means = {
        way: mean(column(rows, "precision", method=way)) for (way,) in distinct(rows, "method")
    }
    others = [way for (way,) in distinct(select(rows, library=False), "method")]
    best = max(others, key=means.__getitem__)
    scorers = Counter(column(rows, "scorer", method=AUTO)).most_common()
    listed = ", ".join(s if count == seeds else f"{s} ({count})" for s, count in scorers)
    return [
        title(name) + (", directed" if graph["directed"] else ""),
        *(f"{graph['nodes']:,}", f"{graph['edges']:,}", f"{means[best]:.1f} ({best})"),
        *(f"{means['odds']:.1f}", f"{means['cosine']:.1f}", f"**{means[AUTO]:.1f}**", listed),
    ]


def render(report: dict) -> str:
    options, machine, results = report["options"], report["machine"], report["results"]
    heads = ["graph", "nodes", "edges", "best without vectors", "odds", "cosine"]
    lines = [
        "# Recommended links",
        f"\n{options['fraction']:.0%} of the edges held out; smoothed vectors, 20 walks per node, "
        f"d = 128. Of {K} recommendations for a node that lost edges (at most "
        f"{options['nodes']:,} such nodes), how many are right (precision), and how many of the "
        "lost edges are among them (recall), in percent: mean ± standard deviation of "
        f"{options['seeds']} seeds. {machine['date']}.\n",
        'The default, `score="auto"`, chooses by edges that it hides once more from the graph. '
        "It does not know the held-out edges.\n",
        *table(
            [*heads, f"default: precision@{K}", "chosen"],
            (overview(name, graph, options["seeds"]) for name, graph in results.items()),
        ),
        "\nGraphs from votes on are generated, a new one for each seed (the grid is always the "
        "same): `benchmarks/recommendation_graphs.py`. Other directed graphs are those of "
        "`benchmarks/graphs.py`. For them, arrows say which way the two steps go.",
    ]
    for name, graph in results.items():
        cells = []
        for method, library in distinct(graph["scores"], "method", "library"):
            rows = select(graph["scores"], method=method, library=library)
            label = f'`recommend_links(score="{method}")`' if library else method
            cells.append(
                [label, *(deviation(column(rows, key)) for key in ("precision", "recall"))]
            )
        lines += [
            f"\n## {title(name)}\n",
            *table(["method", f"precision@{K}", f"recall@{K}"], cells),
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    numbers = {"seeds": 3, "nodes": 1000, "fraction": 0.2}  # nodes that get recommendations
    options = read_options("recommendation", __doc__, only=GRAPHS, study=Path, **numbers)
    names = [name for name in GRAPHS if options.study or name not in DIRECTED]
    options.study = options.study and str(options.study)
    measure_each(options, names, measure, render)


if __name__ == "__main__":
    main()
