"""Benchmark quality: our vectors beside gensim's, trained on the same walks.

Node classification on BlogCatalog and link prediction on Facebook (the `shared` protocol), for
several seeds of walks and training; what counts is the difference within a seed.

    python benchmarks/quality.py                        # both, 3 seeds
    python benchmarks/quality.py --only facebook --seeds 5
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import mean

import numpy as np

import reinforce2vec as r2v
from measuring import DATA, THREADS, measure_each, read_options
from peering import Peer, versions
from reporting import column, deviation, distinct, table, title

OURS, GENSIM = "ours", "gensim"
GRAPHS = ("blogcatalog", "facebook")


def train(trainer: str, graph: r2v.Graph, walks: np.ndarray, seed: int, options) -> np.ndarray:
    """Return vectors in the order of the graph's ids."""
    shared = {"window": options.window, "negatives": options.negatives}
    shared |= {"learning_rate": options.learning_rate}
    if trainer == OURS:
        model = r2v.Reinforce2Vec(
            dimensions=options.dimensions,
            epochs=1,
            subsample=0.0,
            smooth=False,
            seed=seed,
            workers=THREADS,
            **shared,
        )
        return model.fit_walks(walks, ids=graph.ids, progress=False).embedding_.vectors
    with tempfile.TemporaryDirectory() as folder:
        data, saved = Path(folder) / "walks.npy", Path(folder) / "vectors.npy"
        np.save(data, walks)
        with Peer(trainer, "training", data=data, n_walks=None, threads=THREADS, **shared) as peer:
            peer(seed=seed, dimensions=options.dimensions, save=str(saved))
        vectors = np.load(saved)
    missing = graph.n_nodes - len(vectors)  # the last nodes, where no walk has met them
    return np.pad(vectors, ((0, missing), (0, 0)))


def measure(name: str, options: argparse.Namespace) -> list[dict]:
    """Score both trainers on the same walks and shuffles, for each seed."""
    data, rows = r2v.load_dataset(name, DATA, progress=False), []
    for seed in range(options.seeds):
        split = r2v.hold_out_edges(data.graph, seed=seed) if name == "facebook" else None
        graph = split.graph if split else data.graph
        walks = r2v.sample_walks(
            graph,
            r2v.FirstOrderWalk(),
            length=options.walk_length,
            per_node=options.walks_per_node,
            seed=seed,
            workers=THREADS,
        )
        walks = np.random.default_rng(seed).permutation(walks)
        for trainer in (OURS, GENSIM):
            vectors, scores = train(trainer, graph, walks, seed, options), []
            for shuffle in range(options.shuffles):
                if split:
                    links = r2v.score_links(vectors, split, seed=shuffle)
                    scores.append({f"AUC {name}": score["auc"] for name, score in links.items()})
                else:
                    classes = r2v.classify_nodes(vectors, data.labels, seed=shuffle)
                    scores.append({f"{name}-F1": value for name, value in classes.items()})
            means = {metric: mean(score[metric] for score in scores) for metric in scores[0]}
            row = {"seed": seed, "walk": "first-order", "trainer": trainer, **means}
            rows.append({**row, "shuffles": scores})
            print(name, row, file=sys.stderr)
    return rows


def render(results: dict) -> str:
    machine, options = results["machine"], results["options"]
    lines = [
        "# Quality on the same walks",
        f"\n{options['walks_per_node']} walks of {options['walk_length']} nodes from every node, "
        f"d = {options['dimensions']}, window {options['window']}, {options['negatives']} "
        f"negatives, one pass, learning rate {options['learning_rate']}; mean ± standard deviation "
        f"of {options['seeds']} seeds, each the mean of {options['shuffles']} shuffles, in "
        f"percent. {machine['processor']}, {THREADS} threads, {machine['date']}.",
    ]
    for name, rows in results["results"].items():
        metrics = [key for key in rows[0] if key.startswith(("AUC", "micro", "macro"))]
        cells = []
        for (walk,) in distinct(rows, "walk"):
            for metric in metrics:
                ours, theirs = (column(rows, metric, walk=walk, trainer=t) for t in (OURS, GENSIM))
                gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
                cells.append([walk, metric, *(deviation(v, ".2f") for v in (ours, theirs, gaps))])
        heads = ["walk", "metric", OURS, GENSIM, "ours − gensim"]
        lines += [f"\n## {title(name)}\n", *table(heads, cells)]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = read_options(
        "quality",
        __doc__,
        only=GRAPHS,
        seeds=3,
        shuffles=4,
        walk_length=40,
        walks_per_node=20,
        dimensions=128,
        window=10,
        negatives=5,
        learning_rate=0.025,
    )
    peers = {GENSIM: versions(GENSIM, GENSIM)}
    measure_each(options, GRAPHS, measure, render, peers=peers)


if __name__ == "__main__":
    main()
