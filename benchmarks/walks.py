"""Benchmark walks: speed beside GRAPE and PecanPy, and memory.

Everything runs on the same threads in turns, round after round, so that other load on the machine
affects all alike; what counts are the ratios within a round, given as median and range. Peers have
environments of their own (PecanPy needs NumPy < 2).

    python benchmarks/walks.py                 # BlogCatalog (if its file is there) and R-MAT 2^20
    python benchmarks/walks.py --no-peers --rmat-scale 16
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import numpy as np

import reinforce2vec as r2v
from measuring import (
    DATA,
    THREADS,
    describe,
    in_new_process,
    in_turns,
    measured,
    read_options,
    timed,
)
from peering import Peer
from reporting import distinct, publish, ratios, select, size, spread, table, walk_in_words

FIRST = "first-order"
GRAPE, PECANPY_FIRST, PECANPY = "GRAPE first-order", "PecanPy first-order", "PecanPy second-order"
WALKS: dict[str, object] = {
    FIRST: r2v.FirstOrderWalk(),
    "second-order p=0.5 q=2": r2v.SecondOrderWalk(0.5, 2),
} | {
    f"{source} {reward} {exploration}": getattr(r2v.ReinforcedWalk, source)(reward, exploration)
    for source, reward, exploration in product(
        ("paper", "released"), ("js", "kl", "vertex"), ("ucb", "epsilon", "none")
    )
}
LONG = (FIRST, "paper js ucb", "released js ucb")


# -- measuring -----------------------------------------------------------------------------------


def walk(graph: r2v.Graph, walk: object, starts: np.ndarray, steps: int, length: int) -> dict:
    """Make about `steps` steps, once."""
    per_node, n_starts = divmod(steps // (length - 1), len(starts))
    chosen = starts if per_node else starts[:n_starts]
    sampler = r2v.WalkSampler(
        graph, walk, length=length, per_node=max(per_node, 1), workers=THREADS, starts=chosen
    )
    times, walks = timed(sampler.sample)
    return {"steps": int(np.count_nonzero(walks[:, 1:] >= 0)), "seconds": times["seconds"]}


def measure_speed(graph: r2v.Graph, options: argparse.Namespace) -> list[dict]:
    """Run every walk and every peer once a round."""
    starts = np.random.default_rng(0).permutation(graph.ids[graph.degrees > 0])
    lengths = [(name, name, 40) for name in WALKS] + [(f"{n}, L = 400", n, 400) for n in LONG]
    tasks = {
        label: lambda name=name, length=length: walk(
            graph, WALKS[name], starts, options.steps, length
        )
        for label, name, length in lengths
    }
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        if options.peers:
            whole, part = Path(folder) / "whole.npz", Path(folder) / "part.npz"
            csr = {"indptr": graph.indptr, "indices": graph.indices}
            np.savez(whole, starts=starts, **csr)
            np.savez(part, starts=starts[:5000], **csr)  # second order is slow
            same = {"threads": THREADS, "length": 40}
            first = same | {"walks": max(1, options.steps // (39 * len(starts))), "graph": whole}
            peers = {
                GRAPE: Peer("grape", "walks", **first),
                PECANPY_FIRST: Peer("pecanpy", "walks", order="first", **first),
                PECANPY: Peer("pecanpy", "walks", order="second", walks=1, graph=part, **same),
            }
            tasks |= {name: stack.enter_context(peer) for name, peer in peers.items()}
        for task in tasks.values():
            task()  # compiled, loaded, warm
        return [
            {"round": turn, "what": name, **result}
            for turn, name, result in in_turns(tasks, options.rounds)
        ]


def memory_of(name: str, scale: int) -> dict:
    """Return the memory that one run takes beyond the graph and the returned walks."""
    options = {"length": 40, "per_node": 1, "workers": THREADS}
    r2v.sample_walks(r2v.rmat(8), WALKS[name], **options)  # compiles
    sampler = r2v.WalkSampler(r2v.rmat(scale), WALKS[name], **options)
    facts, walks = measured(sampler.sample)
    return {"what": name, "extra_bytes": facts["peak_bytes"] - walks.nbytes}


def measure_start() -> dict[str, list[float]]:
    """Measure seconds of whole commands, from their second run on."""
    with tempfile.TemporaryDirectory() as folder:
        edges = Path(folder) / "edges.txt"
        r2v.karate_club().save(edges)
        walks = str(Path(folder) / "walks.txt")
        commands = {"--help": ["--help"], "walk": ["walk", str(edges), "-o", walks]}
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(6):
            for name, words in commands.items():
                begin = time.perf_counter()
                command = [sys.executable, "-m", "reinforce2vec", *words]
                subprocess.run(command, check=True, capture_output=True)
                seconds[name].append(time.perf_counter() - begin)
    return {name: times[1:] for name, times in seconds.items()}


# -- the page ------------------------------------------------------------------------------------


def speeds(rows: list[dict], what: str) -> list[float]:
    return [row["steps"] / row["seconds"] for row in select(rows, what=what)]


def ratio(rows: list[dict], what: str, to: str) -> str:
    """Return median and range of the ratio within a round."""
    return spread(ratios(speeds(rows, what), speeds(rows, to)))


def render(results: dict) -> str:
    machine = results["machine"]
    lines = [
        "# Walks",
        f"\n{machine['processor']}, {THREADS} threads, Python {machine['python']}, "
        f"{machine['date']}. A step is a move from one node to the next. "
        "VRRW is the vertex-reinforced and DRRW the distribution-reinforced walk, by the paper's "
        "equations as printed or as in the authors' code; second-order walks are node2vec's.\n",
    ]
    for name, rows in results["speed"].items():
        names = [what for (what,) in distinct(rows, "what")]
        compared = [
            *((FIRST, GRAPE), (FIRST, PECANPY_FIRST)),
            *((what, PECANPY) for what in WALKS if what != FIRST),
            *((what, f"{what}, L = 400") for what in LONG[1:]),
        ]
        lines += [
            f"\n## {name}: {size(results['graphs'][name])}\n",
            *table(
                ["walk", "million steps/s (range)", "times our first-order walk"],
                (
                    [walk_in_words(w), spread(speeds(rows, w), ".4g", 1e6), ratio(rows, w, FIRST)]
                    for w in names
                ),
            ),
            "\nTimes as fast, within a round:\n",
            *table(
                ["walk", "median (range)"],
                (
                    [f"{walk_in_words(what)}, beside {walk_in_words(to)}", ratio(rows, what, to)]
                    for what, to in compared
                    if to in names
                ),
            ),
        ]
    if results["memory"]:
        extra = [
            [walk_in_words(row["what"]), f"{row['extra_bytes'] / 1e6:.1f}"]
            for row in results["memory"]
        ]
        lines += ["\n## Memory beyond the graph and the walks\n", *table(["walk", "MB"], extra)]
    start = [[f"`{name}`", spread(times)] for name, times in results["start"].items()]
    lines += ["\n## Start-up time\n", *table(["command, second run", "seconds (range)"], start)]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = read_options(
        "walks", __doc__, rounds=7, steps=20_000_000, rmat_scale=20, peers=True
    )  # steps of each walk, each round
    graphs = {f"R-MAT 2^{options.rmat_scale}": r2v.rmat(options.rmat_scale)}
    if (DATA / "blogcatalog.mat").exists():
        graphs = {"BlogCatalog": r2v.read_graph(DATA / "blogcatalog.mat"), **graphs}
    results = {
        "machine": describe(),
        "graphs": {name: repr(graph) for name, graph in graphs.items()},
        "speed": {name: measure_speed(graph, options) for name, graph in graphs.items()},
        "memory": [in_new_process(memory_of, name, options.rmat_scale) for name in WALKS],
        "start": measure_start(),
    }
    publish(results, render, options.out)


if __name__ == "__main__":
    main()
