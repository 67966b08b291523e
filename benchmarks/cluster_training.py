"""Training by workers of Ray, beside threads of one process: the same bits, in what time?

Passes of the same training are trained in turns by threads and by Ray's workers, which are
processes of this machine, so that other load affects both alike; what counts is the ratio of a
pass. Ray is started before the first one. `bytes` counts what goes over the network of a cluster of
simulated machines with one worker each, beside the formula.

    python benchmarks/cluster_training.py speed                       # two workers, two threads
    python benchmarks/cluster_training.py speed --workers 8 --against-workers 1
    python benchmarks/cluster_training.py bytes --workers 8
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from typing import Any

import reinforce2vec as r2v
from machine import describe
from reinforce2vec._util.cluster.connection import connected
from reinforce2vec._util.threads import in_turn
from reinforce2vec.skipgram import backends
from reinforce2vec.skipgram.engine import Chunk
from reinforce2vec.skipgram.pairs import PAIR_BYTES
from reinforce2vec.skipgram.state import row_size
from reporting import publish

HERE = Path(__file__).parent
DIMENSIONS, WINDOW = 128, 10


class Training:
    """One training of the graph, pass by pass."""

    def __init__(self, graph: r2v.Graph, backend: str, workers: int, window: Any) -> None:
        model = r2v.Reinforce2Vec(dimensions=DIMENSIONS, window=window, smooth=False)
        self.corpus = model._corpus(graph)
        settings = model._settings(self.corpus)
        self.state = backends.begin(self.corpus, settings, workers, backend)
        self.engine = backends.make_engine(self.corpus, settings, self.state, workers, backend)
        self.engine.train(Chunk(0, 0))  # compiles
        self.first = self.tokens = self.pairs = 0

    def train(self, passes: int) -> float:
        """Train the next passes, as `Trainer` does; return how many seconds they took."""
        first, size, engine = self.first, self.engine.chunk_walks, self.engine
        start = time.perf_counter()
        parts = [Chunk(first + number * size, size) for number in range(passes)]
        with ThreadPoolExecutor(engine.threads) as threads:
            for done in in_turn(threads, engine.train, parts, 2 * engine.threads):
                self.tokens += done.tokens
                self.pairs += int(done.pairs.sum())
        self.first += passes * size
        return time.perf_counter() - start

    def close(self) -> None:
        self.engine.close()

    def vectors(self) -> bytes:
        self.engine.collect()
        return b"".join(one.tobytes() for scale in self.state.scales for one in scale[:2])


def speed(options: argparse.Namespace) -> dict:
    """Train passes by threads, or few workers, and by more workers, in turns."""
    graph, rounds = r2v.rmat(options.rmat_scale), []
    other = ("ray", options.against_workers) if options.against_workers else None
    places = {"other": other or ("cpu", options.against), "workers": ("ray", options.workers)}
    most = options.workers + (options.against_workers or 0)
    with ExitStack() as stack:
        stack.enter_context(connected(workers=most))
        trainings = {
            name: stack.enter_context(closing(Training(graph, *place, options.window)))
            for name, place in places.items()
        }
        for turn in range(options.rounds):
            found = {}
            for name in sorted(places, reverse=turn % 2 == 0):
                found[name] = trainings[name].train(options.passes) / options.passes
            rounds.append(found | {"load": os.getloadavg()[0]})
            print(f"round {turn + 1} of {options.rounds}: {found}", file=sys.stderr)
        digests = {name: one.vectors() for name, one in trainings.items()}
        if digests["other"] != digests["workers"]:
            raise SystemExit("the vectors differ")
        tokens = trainings["workers"].tokens // (options.rounds * options.passes)
    return {
        "machine": describe("ray"), "nodes": graph.n_nodes, "edges": graph.n_edges,
        "window": options.window, "workers": options.workers, "other": places["other"],
        "passes": options.passes, "tokens": tokens, "rounds": rounds,
    }  # fmt: skip


def render_speed(found: dict) -> str:
    backend, count = found["other"]
    other = f"{count} thread{'s' * (count > 1)}" if backend == "cpu" else f"{count} worker"
    ratios = [one["other"] / one["workers"] for one in found["rounds"]]
    machine, tokens = found["machine"], found["tokens"]
    lines = [
        f"Training on R-MAT with {found['nodes']:,} nodes and {found['edges']:,} edges, "
        f"{DIMENSIONS} dimensions, window {found['window']}: median (smallest – largest) of "
        f"{len(ratios)} rounds with {found['passes']} passes of {tokens:,} tokens. "
        f"{machine['processor']}, {machine['processors']} CPUs, Ray "
        f"{machine['versions']['ray']}, {machine['date']}, commit {machine['commit']}.",
        "",
        "| | seconds for a pass | tokens/s |",
        "|---|---|---|",
    ]
    for name, label in (("other", other), ("workers", f"{found['workers']} workers of Ray")):
        seconds = [one[name] for one in found["rounds"]]
        lines.append(f"| {label} | {spread(seconds)} | {tokens / median(seconds):,.0f} |")
    lines += ["", f"Speed of the workers as a multiple of {other}: {spread(ratios)}.", ""]
    return "\n".join(lines)


def spread(values: list[float]) -> str:
    return f"{median(values):.3g} ({min(values):.3g} – {max(values):.3g})"


def count_bytes(options: argparse.Namespace) -> dict:
    """Count what simulated machines send each other in a pass, and compare with the formula."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    from helpers.clusters import SimulatedCluster

    graph, count = r2v.rmat(options.rmat_scale), options.workers
    machines = SimulatedCluster(nodes=count, cpus=1, store_bytes=options.store << 20)
    rounds = []
    try:
        with closing(Training(graph, "ray", count, options.window)) as training:
            nodes = {one.node for one in training.engine.machines}
            for _ in range(options.rounds):
                before, tokens, pairs = loopback_bytes(), training.tokens, training.pairs
                training.train(1)
                rounds.append(
                    {
                        "sent": loopback_bytes() - before,
                        "tokens": training.tokens - tokens,
                        "pairs": training.pairs - pairs,
                    }
                )
                print(rounds[-1], file=sys.stderr)
            scales = [one.dimensions for one in training.state.scales]
    finally:
        machines.close()
    return {
        "machine": describe("ray"), "nodes": graph.n_nodes, "workers": count, "scales": scales,
        "machines": len(nodes), "window": options.window, "rounds": rounds,
    }  # fmt: skip


def loopback_bytes() -> int:
    """Return the bytes that processes of this machine have sent each other by TCP."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.split()[0] == "lo:")


def expected_bytes(found: dict, one: dict) -> float:
    """Return what a pass sends: every row of outputs visits all workers, pairs go to one of them.

    A pair stays where it was found in one of W cases.
    """
    count = found["workers"]
    rows = sum(4 * row_size(dimensions) for dimensions in found["scales"]) * found["nodes"]
    return count * rows + PAIR_BYTES * one["pairs"] * (count - 1) / count


def render_bytes(found: dict) -> str:
    measured = [one["sent"] / one["tokens"] for one in found["rounds"]]
    formula = [expected_bytes(found, one) / one["tokens"] for one in found["rounds"]]
    ratios = [a / b for a, b in zip(measured, formula, strict=True)]
    return "\n".join(
        [
            f"Bytes for each trained token, R-MAT with {found['nodes']:,} nodes, {DIMENSIONS} "
            f"dimensions, window {found['window']}, {found['workers']} workers on as many "
            f"simulated machines, {len(ratios)} passes, {found['machine']['date']}, commit "
            f"{found['machine']['commit']}: measured {spread(measured)}, by the formula "
            f"{spread(formula)}, ratio {spread(ratios)}.",
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("speed", "bytes"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--against", type=int, default=2, help="threads of one process")
    parser.add_argument("--against-workers", type=int, help="workers of Ray in place of threads")
    parser.add_argument("--rmat-scale", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--passes", type=int, default=3, help="in a round")
    parser.add_argument("--window", type=int, default=WINDOW)
    parser.add_argument("--store", type=int, default=4096, help="MB of each object store")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.part == "speed":
        name = "cluster_training"
        if options.workers != 2:
            name += f"_{options.workers}"
        if options.workers != 2 and not options.against_workers:
            name += "_threads"
        publish(speed(options), render_speed, options.output or HERE / f"results/{name}.json")
    else:
        output = options.output or HERE / "results/cluster_bytes.json"
        publish(count_bytes(options), render_bytes, output)


if __name__ == "__main__":
    main()
