"""Time of a step on a weighted hub under a cap on candidates, as the hub grows.

A hub is joined to a ring of leaves, with weights of three kinds. The same number of walks, as the
authors' released code takes them (at most ten unvisited candidates), is made on hubs of growing
degree: the time of a step is to stay the same, apart from what caches cost.

    python reliability/weighted_hub.py
    python reliability/weighted_hub.py --degrees 1000 30000 --repeats 1
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from statistics import median

import numpy as np

from recording import record
from reinforce2vec import Graph, ReinforcedWalk, sample_walks

WALKS = {
    "released JS": ReinforcedWalk.released("js"),  # the kernel `capped`
    "released JS, temperature 0.01": ReinforcedWalk.released("js", temperature=0.01),
}
WEIGHTS = {
    "uniform": lambda rng, size: rng.uniform(0.5, 1.5, size),
    "lognormal": lambda rng, size: rng.lognormal(0, 2, size),
    "pareto": lambda rng, size: 1 + rng.pareto(1, size),  # the largest is about the sum of all
}


def hub(degree: int, kind: str) -> Graph:
    """Return a hub and a ring of leaves, with random weights."""
    leaves = np.arange(1, degree + 1)
    spokes = np.column_stack([np.zeros(degree, np.int64), leaves])
    ring = np.column_stack([leaves, np.roll(leaves, 1)])
    rng = np.random.default_rng(degree)
    return Graph.from_edges(np.concatenate([spokes, ring]), WEIGHTS[kind](rng, 2 * degree))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--degrees", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--walks", type=int, default=2_000, help="walks of 40 nodes (default 2000)")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for (name, walk), weights, degree in product(WALKS.items(), WEIGHTS, options.degrees):
        graph = hub(degree, weights)
        assert graph.alias is not None  # made before the clock starts
        starts = np.random.default_rng(1).choice(graph.ids, options.walks)
        how = {"length": 40, "per_node": 1, "starts": starts, "seed": 3, "workers": 1}
        sample_walks(graph, walk, backend="cpu", **how)  # compiles
        times = []
        for _ in range(options.repeats):
            begin = time.perf_counter()
            walks = sample_walks(graph, walk, backend="cpu", **how)
            times.append(time.perf_counter() - begin)
        row = {"walk": name, "weights": weights, "degree": degree, "backend": "cpu"}
        row["ns_per_step"] = round(median(times) / (options.walks * 39) * 1e9, 1)
        row["at_hub"] = round(float((walks == 0).mean()), 3)
        rows.append(row)
        print(*row.values(), flush=True)
    record("weighted_hub", {"rows": rows})


if __name__ == "__main__":
    main()
