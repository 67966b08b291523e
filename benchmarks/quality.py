"""Benchmark quality: our vectors beside gensim's, trained on the same walks.

Node classification on BlogCatalog and link prediction on Facebook (the `shared` protocol), for
several seeds of walks and training; what counts is the difference within a seed.

    python benchmarks/quality.py                        # both, 3 seeds
    python benchmarks/quality.py --only facebook --seeds 5 --trainers ours gensim
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import numpy as np
from scipy.io import loadmat

import reinforce2vec as r2v
from machine import describe
from peering import Peer, versions
from reinforce2vec.evaluation import classify_nodes, score_links
from reporting import publish, title

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
THREADS = 2
OURS, GENSIM, GRAPE = "ours", "gensim", "grape"
WALKS = {"first-order": r2v.FirstOrderWalk(), "released": r2v.ReinforcedWalk.released()}


# -- training ------------------------------------------------------------------------------------


def train(
    trainer: str, graph: r2v.Graph, walks: np.ndarray, seed: int, options: argparse.Namespace
) -> np.ndarray:
    """Return vectors in the order of the graph's ids."""
    if trainer == OURS:
        model = r2v.Reinforce2Vec(
            dimensions=options.dimensions,
            window=options.window,
            negatives=options.negatives,
            epochs=1,
            learning_rate=options.learning_rate,
            subsample=0.0,
            smooth=False,
            seed=seed,
            workers=THREADS,
        )
        return model.fit_walks(walks, ids=graph.ids, progress=False).embedding_.vectors
    with tempfile.TemporaryDirectory() as folder:
        shared = {"threads": THREADS, "window": options.window, "negatives": options.negatives}
        if trainer == GENSIM:
            data = Path(folder) / "walks.npy"
            np.save(data, walks)
            shared |= {"walks": data, "learning_rate": options.learning_rate}
        else:  # walks of its own
            data = Path(folder) / "graph.npz"
            np.savez(data, indptr=graph.indptr, indices=graph.indices, starts=graph.ids)
            shared |= {"graph": data, "per_node": options.walks_per_node}
            shared |= {"length": walks.shape[1], "learning_rate": options.grape_learning_rate}
        peer = Peer(trainer, "training", **shared)
        saved = Path(folder) / "vectors.npy"
        peer(seed=seed, dimensions=options.dimensions, save=str(saved))
        peer.stop()
        vectors = np.load(saved)
    missing = graph.n_nodes - len(vectors)  # the last nodes, where no walk has met them
    return np.pad(vectors, ((0, missing), (0, 0)))


# -- tasks ---------------------------------------------------------------------------------------


def on_blogcatalog() -> Callable:
    graph = r2v.read_graph(DATA / "blogcatalog.mat")
    labels = loadmat(DATA / "blogcatalog.mat")["group"]

    def evaluate(vectors: np.ndarray, shuffle: int) -> dict[str, float]:
        scores = classify_nodes(vectors, labels, seed=shuffle)
        return {f"{kind}-F1": value for kind, value in scores.items()}

    def task(_seed: int) -> tuple[r2v.Graph, Callable]:
        return graph, evaluate

    return task


def on_facebook() -> Callable:
    graph = r2v.read_graph(DATA / "facebook_combined.txt.gz")

    def task(seed: int) -> tuple[r2v.Graph, Callable]:
        split = r2v.hold_out_edges(graph, seed=seed)

        def evaluate(vectors: np.ndarray, shuffle: int) -> dict[str, float]:
            scores = score_links(vectors, split, seed=shuffle)
            return {f"AUC {operator}": values["auc"] for operator, values in scores.items()}

        return split.graph, evaluate

    return task


TASKS = {"blogcatalog": on_blogcatalog, "facebook": on_facebook}


def measure(task: Callable, name: str, options: argparse.Namespace) -> list[dict]:
    """Score every trainer on the same walks and shuffles, for each seed and kind of walk."""
    results = []
    for seed in range(options.seeds):
        graph, evaluate = task(seed)
        for walk in options.walks:
            walks = r2v.sample_walks(
                graph,
                WALKS[walk],
                length=options.walk_length,
                per_node=options.walks_per_node,
                seed=seed,
                workers=THREADS,
            )
            walks = np.random.default_rng(seed).permutation(walks)
            for trainer in options.trainers:
                if trainer == GRAPE and walk != "first-order":
                    continue
                vectors = train(trainer, graph, walks, seed, options)
                scores = [evaluate(vectors, shuffle) for shuffle in range(options.shuffles)]
                means = {metric: mean(score[metric] for score in scores) for metric in scores[0]}
                results.append(
                    {"seed": seed, "walk": walk, "trainer": trainer, **means, "shuffles": scores}
                )
                shown = ", ".join(f"{metric} {value:.2f}" for metric, value in means.items())
                print(f"{name}, {walk}, seed {seed}, {trainer}: {shown}", file=sys.stderr)
    return results


# -- the page ------------------------------------------------------------------------------------


def spread(values: list[float]) -> str:
    """Format mean ± standard deviation over the seeds."""
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def column(results: list[dict], walk: str, trainer: str, metric: str) -> list[float]:
    chosen = [r for r in results if r["walk"] == walk and r["trainer"] == trainer]
    return [r[metric] for r in sorted(chosen, key=lambda r: r["seed"])]


def render(found: dict) -> str:
    machine, options = found["machine"], found["options"]
    lines = [
        "# Quality on the same walks",
        f"\n{options['walks_per_node']} walks of {options['walk_length']} nodes from every node, "
        f"d = {options['dimensions']}, window {options['window']}, {options['negatives']} "
        f"negatives, one pass, learning rate {options['learning_rate']}; mean ± standard deviation "
        f"of {options['seeds']} seeds, each the mean of {options['shuffles']} shuffles, in "
        f"percent. {machine['processor']}, {THREADS} threads, {machine['date']}.",
    ]
    for task, results in found["results"].items():
        trainers = list(dict.fromkeys(result["trainer"] for result in results))
        compared = OURS in trainers and GENSIM in trainers
        heads = ["walk", "metric", *trainers, *(["ours − gensim"] if compared else [])]
        lines += [f"\n## {title(task)}\n", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        metrics = [key for key in results[0] if key.startswith(("AUC", "micro", "macro"))]
        for walk in dict.fromkeys(result["walk"] for result in results):
            for metric in metrics:
                values = {name: column(results, walk, name, metric) for name in trainers}
                cells = [spread(of) if of else "" for of in values.values()]
                if compared:
                    pairs = zip(values[OURS], values[GENSIM], strict=True)
                    cells.append(spread([a - b for a, b in pairs]))
                lines.append(f"| {' | '.join([walk, metric, *cells])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=TASKS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shuffles", type=int, default=4)
    parser.add_argument(
        "--trainers", nargs="+", choices=(OURS, GENSIM, GRAPE), default=[OURS, GENSIM]
    )
    parser.add_argument("--walks", nargs="+", choices=WALKS, default=["first-order"])
    parser.add_argument("--walk-length", type=int, default=40)
    parser.add_argument("--walks-per-node", type=int, default=20)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--negatives", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.025)
    parser.add_argument("--grape-learning-rate", type=float, default=0.025)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "quality.json")
    options = parser.parse_args()
    chosen = [options.only] if options.only else list(TASKS)
    results = {name: measure(TASKS[name](), name, options) for name in chosen}
    found = {
        "machine": describe(),
        "peers": {name: versions(name, name) for name in options.trainers if name != OURS},
        "options": {key: value for key, value in vars(options).items() if key != "out"},
        "results": results,
    }
    publish(found, render, options.out)


if __name__ == "__main__":
    main()
