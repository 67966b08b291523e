"""Walks and training of two versions of the code, timed in turns: has a change made them slower?

    python benchmarks/same_speed.py --against COMMIT          # or the folder of another checkout
    python benchmarks/same_speed.py --against COMMIT --workers 16 --repeats 9

Each repeat starts one process for each version, one after the other, which times every task after
a first run that compiles. Printed is the time of this checkout relative to the other: the median of
the repeats and their range.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from checkouts import ROOT, checkout_of, run_with


def tasks(workers: int) -> dict:
    """Return functions that do the work to be timed, by name; public names only."""
    import reinforce2vec as r2v

    graph = r2v.rmat(14, 16, seed=1)
    small = r2v.rmat(12, 8, seed=1)
    options = {"workers": workers, "backend": "cpu"}

    def walk(policy):
        return lambda: r2v.sample_walks(graph, policy, length=40, per_node=20, **options)

    def train(dimensions):
        model = r2v.Reinforce2Vec(
            dimensions,
            walk=r2v.FirstOrderWalk(),
            walks_per_node=10,
            window=10,
            smooth=False,
            **options,
        )
        return lambda: model.fit(small, progress=False)

    return {
        "walks, first-order": walk(r2v.FirstOrderWalk()),
        "walks, second-order": walk(r2v.SecondOrderWalk(0.5, 2.0)),
        "walks, paper": walk(r2v.ReinforcedWalk()),
        "walks, released": walk(r2v.ReinforcedWalk.released()),
        "walks, vertex": walk(r2v.ReinforcedWalk("vertex", "epsilon")),
        "training, d = 64": train(64),
        "training, d = 128": train(128),
    }


def measure(workers: int) -> dict[str, float]:
    """Return seconds of each task: the best of three runs after the first."""
    found = {}
    for name, work in tasks(workers).items():
        work()
        times = []
        for _ in range(3):
            began = time.perf_counter()
            work()
            times.append(time.perf_counter() - began)
        found[name] = min(times)
    return found


def compare(other: Path, workers: int, repeats: int) -> None:
    ratios: dict[str, list[float]] = {}
    for _ in range(repeats):
        words = ("--measure", "--workers", str(workers))
        before, after = (run_with(one, __file__, *words) for one in (other, ROOT))
        for name, seconds in after.items():
            ratios.setdefault(name, []).append(seconds / before[name])
    for name, found in ratios.items():
        low, high = min(found), max(found)
        print(f"{name:<22} {statistics.median(found):.3f}  ({low:.3f} to {high:.3f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="COMMIT", help="a commit, or the folder of a checkout")
    parser.add_argument("--workers", type=int, default=1, help="threads")
    parser.add_argument("--repeats", type=int, default=5, help="processes of each version")
    parser.add_argument("--measure", action="store_true", help="time this version, print JSON")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.workers)))
        return
    if options.against is None:
        parser.error("--against is needed: a commit, or the folder of another checkout")
    with checkout_of(options.against) as other:
        compare(other, options.workers, options.repeats)


if __name__ == "__main__":
    main()
