"""Benchmark recommended links: how many of the first ten are edges held out of the graph.

A fifth of the edges is held out, and vectors are learned from the rest. For nodes that lost edges,
each method makes ten recommendations: from raw and from smoothed vectors by
reinforce2vec.recommend_links (the odds, and the cosine), by the scalar product and by one weight
per dimension (logistic regression on products of vectors); and, without vectors, by common
neighbours: their number, Adamic and Adar's index, and resource allocation.

    python benchmarks/recommendation.py                             # some minutes
    python benchmarks/recommendation.py --only facebook --seeds 3
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import scipy.sparse

import reinforce2vec as r2v
from machine import describe
from reinforce2vec._util.logistic import fit_logistic
from reinforce2vec.evaluation import EdgeSplit
from reporting import publish

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
K = 10
ROWS = 256  # nodes that are scored at a time
ODDS, COSINE = "`recommend_links`", '`recommend_links(score="cosine")`'
DOT, WEIGHTS = "scalar product", "a weight for each dimension"
COMMON, ADAMIC, ALLOCATION = "common neighbours", "Adamic-Adar", "resource allocation"


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


def by_library(
    vectors: np.ndarray, graph: r2v.Graph, sources: np.ndarray, score: str
) -> np.ndarray:
    embedding = r2v.Embedding(range(graph.n_nodes), vectors)
    numbered = r2v.Graph.from_numbered(
        np.column_stack([np.repeat(np.arange(graph.n_nodes), graph.degrees), graph.indices]),
        *(None, embedding.ids),
    )
    links = r2v.recommend_links(
        embedding, numbered, K, nodes=sources.tolist(), score=score, progress=False
    )
    return links.targets.reshape(len(sources), K)


def weights_of(vectors: np.ndarray, graph: r2v.Graph, seed: int) -> np.ndarray:
    """Fit one weight per dimension, from edges that are left and as many random pairs."""
    rng = np.random.default_rng(seed)
    tails = np.repeat(np.arange(graph.n_nodes), graph.degrees)
    some = rng.permutation(len(tails))[:50_000]
    others = rng.integers(0, graph.n_nodes, (len(some), 2))
    a = np.concatenate([tails[some], others[:, 0]])
    b = np.concatenate([graph.indices[some], others[:, 1]])
    truth = np.repeat([True, False], len(some))[:, None]
    return fit_logistic(vectors[a] * vectors[b], truth, standardise=True)[0][:, 0]


def by_vectors(vectors: np.ndarray, graph: r2v.Graph, sources: np.ndarray, seed: int) -> dict:
    weights = weights_of(vectors, graph, seed)
    return {
        ODDS: by_library(vectors, graph, sources, "odds"),
        COSINE: by_library(vectors, graph, sources, "cosine"),
        DOT: by_scores(graph, sources, lambda rows: vectors[rows] @ vectors.T),
        WEIGHTS: by_scores(graph, sources, lambda rows: (vectors[rows] * weights) @ vectors.T),
    }


def by_neighbours(graph: r2v.Graph, sources: np.ndarray) -> dict:
    links, degrees = graph.to_scipy(), np.maximum(graph.degrees, 2)
    shares = {COMMON: np.ones(len(degrees)), ADAMIC: 1 / np.log(degrees), ALLOCATION: 1 / degrees}
    found = {}
    for name, share in shares.items():
        weighed = scipy.sparse.diags_array(share) @ links
        found[name] = by_scores(
            graph, sources, lambda rows, weighed=weighed: (links[rows] @ weighed).toarray()
        )
    return found


# -- how many are right --------------------------------------------------------------------------


def judged(found: np.ndarray, sources: np.ndarray, split: EdgeSplit) -> dict[str, float]:
    """Return precision and recall in percent, over nodes that lost edges."""
    size = split.graph.n_nodes
    both = np.concatenate([split.edges, split.edges[:, ::-1]])
    lost = np.bincount(both[:, 0], minlength=size)[sources]
    right = np.isin(sources[:, None] * size + found, both[:, 0] * size + both[:, 1]).sum(axis=1)
    return {
        "precision": 100 * float((right / K).mean()),
        "recall": 100 * float((right / lost).mean()),
    }


def measure(name: str, options: argparse.Namespace) -> list[dict]:
    graph = r2v.load_dataset(name, data_dir=DATA).graph
    results = []
    for seed in range(options.seeds):
        split = r2v.hold_out_edges(graph, options.fraction, seed)
        sources = np.unique(split.edges)
        if len(sources) > options.nodes:
            rng = np.random.default_rng(seed)
            sources = np.sort(rng.choice(sources, options.nodes, replace=False))
        model = r2v.Reinforce2Vec(
            dimensions=options.dimensions, walks_per_node=options.walks_per_node, seed=seed
        )
        raw = model.fit_transform(split.graph, progress=False)
        ways = {"": by_neighbours(split.graph, sources)}
        for kind, vectors in (("raw", raw), ("smoothed", r2v.smooth(raw, split.graph))):
            ways[kind] = by_vectors(vectors, split.graph, sources, seed)
        for kind, those in ways.items():
            for way, found in those.items():
                scores = judged(found, sources, split)
                results.append({"seed": seed, "vectors": kind, "way": way, **scores})
                print(f"{name}, seed {seed}, {kind} {way}: {scores}", file=sys.stderr)
    return results


# -- the page ------------------------------------------------------------------------------------


def spread(values: list[float]) -> str:
    return f"{mean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def render(found: dict) -> str:
    options, machine = found["options"], found["machine"]
    lines = [
        "# Recommended links",
        f"\n{options['fraction']:.0%} of the edges held out; {options['walks_per_node']} walks per "
        f"node, d = {options['dimensions']}. Of {K} recommendations for a node that lost edges "
        f"(at most {options['nodes']:,} such nodes), how many are right (precision), and how many "
        "of the lost edges are among them (recall), in percent: mean ± standard deviation of "
        f"{options['seeds']} seeds. {machine['date']}.",
    ]
    for name, results in found["results"].items():
        lines += [
            f"\n## {name}\n",
            f"| method | vectors | precision@{K} | recall@{K} |",
            "|---|---|---|---|",
        ]
        for way, kind in dict.fromkeys((result["way"], result["vectors"]) for result in results):
            own = [r for r in results if r["way"] == way and r["vectors"] == kind]
            cells = [spread([r[what] for r in own]) for what in ("precision", "recall")]
            lines.append(f"| {' | '.join([way, kind or '–', *cells])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("facebook", "ca-astroph"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=2000, help="that get recommendations, at most")
    parser.add_argument("--fraction", type=float, default=0.2)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--walks-per-node", type=int, default=10)
    parser.add_argument("--output", type=Path, default=HERE / "results" / "recommendation.json")
    options = parser.parse_args()
    chosen = [options.only] if options.only else ["facebook", "ca-astroph"]
    found = {
        "machine": describe(),
        "options": {key: value for key, value in vars(options).items() if key != "output"},
        "results": {name: measure(name, options) for name in chosen},
    }
    publish(found, render, options.output)


if __name__ == "__main__":
    main()
