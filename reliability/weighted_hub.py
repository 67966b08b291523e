"""Time of a step on a weighted hub under a cap on candidates, as the hub grows.

A hub is joined to a ring of leaves, with weights of three kinds. The same number of walks, as the
authors' released code takes them (at most ten unvisited candidates), is made on hubs of growing
degree: the time of a step is to stay the same, apart from what caches cost. With a GPU, its walks
are made as well and compared with those of the CPU.

    python reliability/weighted_hub.py
    python reliability/weighted_hub.py --degrees 1000 30000 --repeats 1
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from recording import record
from reinforce2vec import Graph, ReinforcedWalk, sample_walks
from reinforce2vec._util.cuda import device

WALKS = {
    "released JS": ReinforcedWalk.released("js"),  # kernel `capped`
    "released JS, temperature 0.01": ReinforcedWalk.released(
        "js", temperature=0.01
    ),  # `reinforced`
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


def seconds_of(graph: Graph, walk: ReinforcedWalk, repeats: int, **options) -> tuple[float, object]:
    """Return the median time of sampling, and the walks."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        walks = sample_walks(graph, walk, **options)
        times.append(time.perf_counter() - begin)
    return statistics.median(times), walks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--degrees", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--walks", type=int, default=2_000, help="walks of 40 nodes (default 2000)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--name", default="weighted_hub", help="of the file of results")
    arguments = parser.parse_args()
    backends = ["cpu", "cuda"] if device.why_not() is None else ["cpu"]
    rows = []
    for name, walk in WALKS.items():
        for kind in WEIGHTS:
            for degree in arguments.degrees:
                graph = hub(degree, kind)
                assert graph.alias is not None  # made before the clock starts
                few = np.random.default_rng(1).choice(graph.ids, arguments.walks)
                options = {"length": 40, "per_node": 1, "starts": few, "seed": 3}
                found = {}
                for backend in backends:
                    where = {"backend": backend} | ({"workers": 1} if backend == "cpu" else {})
                    sample_walks(graph, walk, **options, **where)  # compiles
                    seconds, found[backend] = seconds_of(
                        graph, walk, arguments.repeats, **options, **where
                    )
                    steps = arguments.walks * 39
                    row = {"walk": name, "weights": kind, "degree": degree, "backend": backend}
                    row |= {"ns_per_step": round(seconds / steps * 1e9, 1)}
                    row |= {"at_hub": round(float((found[backend] == 0).mean()), 3)}
                    if backend == "cuda":
                        row["same_as_cpu"] = bool(np.array_equal(found["cpu"], found["cuda"]))
                    rows.append(row)
                    print(*row.values(), flush=True)
    print(record(arguments.name, {"rows": rows}, "numpy", "numba"))


if __name__ == "__main__":
    main()
