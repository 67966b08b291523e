"""Study: how many walks a graph needs, and which rule would know without labels.

Vectors of the default setting are trained with 2 to 80 walks per node. For each number: the score
(micro F1, or AUC of held-out edges), and two signs that need no labels: how many of the ten nearest
neighbours are still the same as with half of the walks, and how much the relative entropy of
degrees and visits changes with one more walk per node, by which HuGE and DistGER stop.

    python benchmarks/stopping.py --data FOLDER                       # an hour on two cores
    python benchmarks/stopping.py --data FOLDER --backend cuda        # a minute
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean

import numpy as np

import reinforce2vec as r2v
from machine import describe
from reinforce2vec.evaluation import classify_nodes, score_links
from reporting import publish, title

HERE = Path(__file__).parent
GRAPHS = ("blogcatalog", "ppi", "dblp", "facebook", "ca-astroph")
OF_LINKS = ("facebook", "ca-astroph")
WALKS = (2, 5, 10, 20, 40, 80)
SHARE = {"dblp": 0.05}  # of the labelled nodes that train; 0.5 elsewhere
SHUFFLES = 4
NEIGHBOURS, SAMPLE = 10, 1000  # nearest neighbours, of so many nodes
HUGE = 0.001  # HuGE and DistGER stop when the relative entropy changes by no more
ENOUGH = (0.5, 0.6, 0.7)  # shares of neighbours that stay, at which training could stop


def prepared(name: str, data: Path, seed: int) -> tuple[r2v.Graph, Callable]:
    """Return the graph to learn from, and the function that scores vectors."""
    found = r2v.load_dataset(name, data, progress=False)
    if name in OF_LINKS:
        split = r2v.hold_out_edges(found.graph, 0.5, seed)
        return split.graph, lambda v: score_links(v, split, seed=seed)["hadamard"]["auc"]

    def f1(vectors: np.ndarray) -> float:
        shuffles = range(SHUFFLES * seed, SHUFFLES * (seed + 1))
        share = SHARE.get(name, 0.5)
        return mean(
            classify_nodes(vectors, found.labels, train=share, seed=one)["micro"]
            for one in shuffles
        )

    return found.graph, f1


def nearest(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the nearest neighbours of some nodes; vectors have length 1."""
    alike = vectors[rows] @ vectors.T
    alike[np.arange(len(rows)), rows] = -np.inf
    return np.argpartition(-alike, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def same_neighbours(before: np.ndarray, after: np.ndarray) -> float:
    """Return the share of neighbours that are in both lists."""
    pairs = zip(before, after, strict=True)
    return mean(len(np.intersect1d(*pair)) / NEIGHBOURS for pair in pairs)


def entropy_changes(graph: r2v.Graph, seed: int) -> list[float]:
    """Return how much the relative entropy of degrees and visits changes, walk by walk."""
    degrees = graph.degrees / graph.degrees.sum()
    some = degrees > 0
    visits = np.zeros(graph.n_nodes)
    entropies = []
    walks = r2v.sample_walks(graph, per_node=max(WALKS), seed=seed, progress=False)
    for turn in walks.reshape(max(WALKS), graph.n_nodes, -1):
        visits += np.bincount(turn[turn >= 0], minlength=graph.n_nodes)
        shares = visits[some] / visits.sum()
        entropies.append(float((degrees[some] * np.log2(degrees[some] / shares)).sum()))
    return np.abs(np.diff(entropies)).tolist()


def measure(name: str, options: argparse.Namespace) -> list[dict]:
    """Return a record for each seed and number of walks."""
    records = []
    for seed in range(options.seeds):
        graph, score = prepared(name, options.data, seed)
        rows = np.random.default_rng(seed).permutation(graph.n_nodes)[:SAMPLE]
        changes = entropy_changes(graph, seed)
        huge = 2 + next((n for n, one in enumerate(changes) if one <= HUGE), len(changes) - 1)
        lists = {}
        for walks in sorted({*WALKS, *(max(1, walks // 2) for walks in WALKS)}):
            model = r2v.Reinforce2Vec(walks_per_node=walks, seed=seed, backend=options.backend)
            vectors = model.fit_transform(graph, progress=False)
            lists[walks] = nearest(vectors, rows)
            if walks in WALKS:
                record = {
                    "seed": seed,
                    "walks": walks,
                    "score": score(vectors),
                    "same": same_neighbours(lists[max(1, walks // 2)], lists[walks]),
                    "huge": huge,
                }
                print(name, record, file=sys.stderr)
                records.append(record)
    return records


# -- the page ------------------------------------------------------------------------------------


def stop_at(records: list[dict], enough: float) -> int:
    """Return after how many walks a rule would stop: the neighbours hardly change."""
    means = {w: mean(r["same"] for r in records if r["walks"] == w) for w in WALKS}
    return next((walks for walks in WALKS if means[walks] >= enough), max(WALKS))


def score_at(records: list[dict], walks: int) -> float:
    """Return the mean score with so many walks, or with the next smaller number."""
    known = max((one for one in WALKS if one <= walks), default=WALKS[0])
    return mean(r["score"] for r in records if r["walks"] == known)


def render(found: dict) -> str:
    """Return the page."""
    results, options = found["results"], found["options"]
    lines = [
        "# How many walks a graph needs",
        f"\nThe default setting with 2 to 80 walks per node: micro F1, or AUC (Facebook and "
        f"ca-AstroPh, Hadamard, `shared`), mean of {options['seeds']} seeds; in brackets the share "
        f"of the {NEIGHBOURS} nearest neighbours that are the same with half of the walks. "
        f"Computed on a {'GPU' if options['backend'] == 'cuda' else 'CPU'}, "
        f"{found['machine']['date']}.\n",
        "| walks per node | " + " | ".join(map(title, results)) + " |",
        "|---" * (len(results) + 1) + "|",
    ]
    for walks in WALKS:
        cells = []
        for records in results.values():
            same = mean(r["same"] for r in records if r["walks"] == walks)
            cells.append(f"{score_at(records, walks):.2f} ({same:.2f})")
        lines.append(f"| {walks} | " + " | ".join(cells) + " |")
    lines += [
        "\n## Rules that stop\n",
        "Walks per node at which each rule stops, and the score lost against 80.\n",
        "| rule | " + " | ".join(map(title, results)) + " |",
        "|---" * (len(results) + 1) + "|",
    ]
    rules = {
        f"HuGE: entropy changes by at most {HUGE}": lambda r: round(mean(x["huge"] for x in r))
    }
    rules |= {
        f"{enough:.0%} of the neighbours stay": (lambda r, e=enough: stop_at(r, e))
        for enough in ENOUGH
    }
    rules["always 20 (the default)"] = lambda r: 20
    for rule, stops in rules.items():
        cells = []
        for records in results.values():
            walks = stops(records)
            lost = score_at(records, max(WALKS)) - score_at(records, walks)
            cells.append(f"{walks}: {lost:.2f}")
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    parser.add_argument("--only", choices=GRAPHS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--output", type=Path, default=HERE / "results" / "stopping.json")
    options = parser.parse_args()
    chosen = [options.only] if options.only else GRAPHS
    found = {
        "machine": describe(),
        "options": {"seeds": options.seeds, "backend": options.backend},
        "results": {name: measure(name, options) for name in chosen},
    }
    publish(found, render, options.output)


if __name__ == "__main__":
    main()
