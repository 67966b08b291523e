"""Check that the GPU makes the same walks as the CPU and stays within its memory.

    export REINFORCE2VEC_DATA=FOLDER               # where the files of the paper's graphs are
    PYTHONPATH=src python3 benchmarks/gpu_checks.py walks
    PYTHONPATH=src compute-sanitizer python3 benchmarks/gpu_checks.py memory

`walks` compares every kind of walk with the CPU's, byte by byte, on the paper's graphs; `memory`
runs every kernel on small graphs, for compute-sanitizer to check.
"""

from __future__ import annotations

import itertools
import os
import sys

import numpy as np

import reinforce2vec as r2v
from reinforce2vec.graph import edges_of

GRAPHS = ("facebook", "ppi", "blogcatalog", "ca-astroph", "dblp")
STARTS = 4000
WALKS = {
    "first-order": r2v.FirstOrderWalk(),
    "second-order, turning back": r2v.SecondOrderWalk(0.25, 4.0),
    "second-order, straying": r2v.SecondOrderWalk(4.0, 0.25),
    "annealed": r2v.ReinforcedWalk(annealing="linear"),
    "repelled": r2v.ReinforcedWalk(weight=0, attraction=0.03),
    "attracted, few candidates": r2v.ReinforcedWalk(candidates=3, attraction=3.0),
    "cold": r2v.ReinforcedWalk(temperature=0.1),
} | {
    f"{reading.__name__}, {reward}, {exploration}": reading(reward=reward, exploration=exploration)
    for reading in (r2v.ReinforcedWalk.paper, r2v.ReinforcedWalk.released)
    for reward in ("js", "kl", "vertex")
    for exploration in ("ucb", "epsilon", "none")
}
ON_WEIGHTS = {
    *("first-order", "second-order, turning back", "paper, js, ucb", "released, js, ucb"),
    *("paper, vertex, ucb", "released, js, epsilon"),
}  # the others differ by tables alone


def compare_walks() -> None:
    """Compare every walk on the five graphs, and some on directed, weighted graphs."""
    compared = differing = walks = 0
    for name in GRAPHS:
        graph = r2v.load_dataset(name, os.environ.get("REINFORCE2VEC_DATA")).graph
        ends, _ = edges_of(graph)
        weights = np.random.default_rng(1).random(len(ends)) + 0.1
        weighted = r2v.Graph.from_numbered(ends, weights, graph.ids, directed=True)
        starts = np.random.default_rng(0).permutation(graph.ids)[:STARTS]
        for (kind, walk), source in itertools.product(WALKS.items(), (graph, weighted)):
            if source is weighted and kind not in ON_WEIGHTS:
                continue
            options = {"length": 40, "per_node": 1, "seed": 5, "starts": starts}
            gpu, cpu = (
                r2v.sample_walks(source, walk, backend=backend, **options)
                for backend in ("cuda", "cpu")
            )
            compared, walks = compared + 1, walks + len(cpu)
            if not np.array_equal(gpu, cpu):
                differing += 1
                print(f"{name}, {kind}, weighted: {source is weighted}: differs", flush=True)
        print(f"{name}: done", flush=True)
    print(f"{compared} comparisons, {walks:,} walks: {differing} differ")
    if differing:
        sys.exit(1)


def touch_memory() -> None:
    """Run walks, training and smoothing of many shapes on small graphs."""
    arcs = [(1, 2, 0.5), (2, 3, 2.0), (3, 1, 1.0), (3, 4, 9.0), (4, 5, 1.0)]
    groups = r2v.planted_groups(300, 4, seed=1).graph
    graphs = (r2v.karate_club(), r2v.Graph.from_edges(arcs, directed=True), groups)
    for walk, graph, length in itertools.product(WALKS.values(), graphs, (1, 7, 40, 130)):
        r2v.sample_walks(graph, walk, length=length, per_node=3, backend="cuda")
    for d, negatives, window, subsample in (
        (128, 5, 10, 0.0), (64, 5, 10, 0.0), (100, 8, 5, 0.001), (30, 1, 20, 0.0), (300, 5, 10, 0.0)
    ):  # fmt: skip
        r2v.Reinforce2Vec(
            d, negatives=negatives, window=window, subsample=subsample, walks_per_node=3,
            walk_length=37, smooth=True, backend="cuda",
        ).fit(groups, progress=False)  # fmt: skip
    print("all done")


if __name__ == "__main__":
    {"walks": compare_walks, "memory": touch_memory}[sys.argv[1]]()
