"""Walks by processes of Ray, beside threads of one process: the same shards on disk.

Both write the same folder of shards in turns, round after round, so that other load on the machine
affects both alike; what counts is the ratio within a round. Ray runs on this machine, and is
started before the first round. A round includes copying the graph to the object store.

    python benchmarks/cluster_walks.py                  # R-MAT 2^20, two workers, two threads
    python benchmarks/cluster_walks.py --workers 8 --against 1 --rmat-scale 18
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import reinforce2vec as r2v
from machine import describe
from reinforce2vec._util.cluster.connection import connected
from reporting import publish

HERE = Path(__file__).parent
WALKS = {"paper js ucb": r2v.ReinforcedWalk.paper(), "first-order": r2v.FirstOrderWalk()}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(graph: r2v.Graph, walk: object, folder: Path, per_node: int, **where: object) -> dict:
    """Write the shards of a folder once."""
    sampler = r2v.WalkSampler(graph, walk, length=40, per_node=per_node, **where)
    start = time.perf_counter()
    steps = r2v.write_walks(f"{folder}/", sampler)
    return {"steps": steps, "seconds": time.perf_counter() - start}


def measure(options: argparse.Namespace) -> list[dict]:
    """Write shards of every walk by threads and by Ray's workers, once a round."""
    graph = r2v.rmat(options.rmat_scale)
    places = {
        "threads": {"backend": "cpu", "workers": options.against},
        "ray": {"backend": "ray", "workers": options.workers},
    }
    results = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for turn in range(-1, options.rounds):
            for name, walk in WALKS.items():
                folders = {place: Path(folder, place) for place in places}
                for place in sorted(places, reverse=turn % 2 == 0):
                    found = write(graph, walk, folders[place], options.per_node, **places[place])
                    if turn >= 0:  # the first time, everything is compiled
                        entry = {"round": turn, "walk": name, "place": place, **found}
                        results.append(entry | {"load": os.getloadavg()[0]})
                if turn < 0 and contents(folders["ray"]) != contents(folders["threads"]):
                    raise SystemExit(f"{name}: the files of Ray and of threads differ")
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
    return results


def speeds(results: list[dict], walk: str, place: str) -> list[float]:
    """Return million steps per second, by round."""
    return [
        one["steps"] / one["seconds"] / 1e6
        for one in results
        if (one["walk"], one["place"]) == (walk, place)
    ]


def spread(values: list[float], digits: int = 3) -> str:
    return f"{median(values):.{digits}g} ({min(values):.{digits}g} – {max(values):.{digits}g})"


def render(found: dict) -> str:
    machine, workers, threads = found["machine"], found["workers"], found["against"]
    lines = [
        "# Walks on Ray\n",
        f"{machine['processor']}, Python {machine['python']}, Ray {machine['versions']['ray']}, "
        f"{machine['date']}. {found['graph']}; shards on disk, {found['per_node']} walks from "
        f"every node. Ray started in {found['start_seconds']:.1f} s, which is not in the rounds.\n",
        f"| walk | {threads} threads, million steps/s | {workers} workers of Ray | ratio |",
        "|---|---|---|---|",
    ]
    for walk in WALKS:
        here, there = (speeds(found["rounds"], walk, place) for place in ("threads", "ray"))
        ratios = [b / a for a, b in zip(here, there, strict=True)]
        lines.append(f"| {walk} | {spread(here)} | {spread(there)} | {spread(ratios)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rmat-scale", type=int, default=20)
    parser.add_argument("--per-node", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2, help="of Ray")
    parser.add_argument("--against", type=int, default=2, help="threads")
    parser.add_argument("--folder", type=Path, help="where to write; default: that of the system")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "cluster_walks.json")
    options = parser.parse_args()
    start = time.perf_counter()
    with connected(workers=options.workers):
        seconds = time.perf_counter() - start
        rounds = measure(options)
    found = {
        "machine": describe("ray"),
        "graph": f"R-MAT 2^{options.rmat_scale}",
        "per_node": options.per_node,
        "workers": options.workers,
        "against": options.against,
        "start_seconds": seconds,
        "rounds": rounds,
    }
    publish(found, render, options.out)


if __name__ == "__main__":
    main()
