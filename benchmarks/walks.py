"""Benchmark walks: speed beside GRAPE and PecanPy, and memory.

Everything runs on the same threads in turns, round after round, so that other load on the machine
affects all alike; what counts are the ratios within a round, given as median and range. Peers have
environments of their own (PecanPy needs NumPy < 2).

    python benchmarks/walks.py                 # BlogCatalog (if its file is found) and R-MAT 2^20
    python benchmarks/walks.py --no-peers --rmat-scale 16
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import reinforce2vec as r2v
from machine import describe
from peering import Peer
from reinforce2vec._util.machine import peak_bytes
from reporting import publish, size, walk_in_words

HERE = Path(__file__).parent
ROOT = HERE.parent
DATA = ROOT.parent / "shared" / "data"
THREADS = 2
FIRST = "first-order"
GRAPE, PECANPY_FIRST, PECANPY = "GRAPE first-order", "PecanPy first-order", "PecanPy second-order"


def policies() -> dict[str, object]:
    found: dict[str, object] = {
        FIRST: r2v.FirstOrderWalk(),
        "second-order p=0.5 q=2": r2v.SecondOrderWalk(0.5, 2),
    }
    for reading in ("paper", "released"):
        for reward in ("js", "kl", "vertex"):
            for exploration in ("ucb", "epsilon", "none"):
                make = getattr(r2v.ReinforcedWalk, reading)
                found[f"{reading} {reward} {exploration}"] = make(reward, exploration)
    return found


# -- measuring -----------------------------------------------------------------------------------


def walk(graph: r2v.Graph, policy: object, starts: np.ndarray, steps: int, length: int) -> dict:
    """Make about `steps` steps, once."""
    per_node, n_starts = divmod(steps // (length - 1), len(starts))
    chosen = starts if per_node else starts[:n_starts]
    sampler = r2v.WalkSampler(
        graph, policy, length=length, per_node=max(per_node, 1), workers=THREADS, starts=chosen
    )
    start = time.perf_counter()
    walks = sampler.sample()
    seconds = time.perf_counter() - start
    return {"steps": int(np.count_nonzero(walks[:, 1:] >= 0)), "seconds": seconds}


def measure_speed(graph: r2v.Graph, options: argparse.Namespace) -> list[dict]:
    """Run every policy and every peer once a round."""
    rng = np.random.default_rng(0)
    starts = rng.permutation(graph.ids[graph.degrees > 0])
    tasks = {
        name: lambda policy=policy: walk(graph, policy, starts, options.steps, 40)
        for name, policy in policies().items()
    }
    for name in (FIRST, "paper js ucb", "released js ucb"):
        policy = policies()[name]
        tasks[f"{name}, L = 400"] = lambda policy=policy: walk(
            graph, policy, starts, options.steps, 400
        )
    peers = []
    with tempfile.TemporaryDirectory() as folder:
        if options.peers:
            whole, part = Path(folder) / "whole.npz", Path(folder) / "part.npz"
            csr = {"indptr": graph.indptr, "indices": graph.indices}
            np.savez(whole, starts=starts, **csr)
            np.savez(part, starts=starts[:5000], **csr)  # second order is slow
            rounds = max(1, options.steps // (39 * len(starts)))
            threads = {"threads": THREADS}
            tasks[GRAPE] = Peer("grape", "walks", graph=whole, per_node=rounds, **threads)
            tasks[PECANPY_FIRST] = Peer(
                "pecanpy", "walks", graph=whole, per_node=rounds, order="first", **threads
            )
            tasks[PECANPY] = Peer("pecanpy", "walks", graph=part, order="second", **threads)
            peers = [task for task in tasks.values() if isinstance(task, Peer)]
        for task in tasks.values():
            task()  # compiled, loaded, warm
        results = []
        for turn in range(options.rounds):
            for name, task in tasks.items():
                results.append({"round": turn, "what": name, **task()})
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
        for peer in peers:
            peer.stop()
    return results


def measure_memory(options: argparse.Namespace) -> list[dict]:
    """Measure peak memory beyond the graph and the walks, in a new process for each policy."""
    results = []
    for name in policies():
        command = [sys.executable, __file__, "--memory-of", name, "--rmat-scale",
                   str(options.rmat_scale)]  # fmt: skip
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results.append({"what": name, **json.loads(answer)})
    return results


def memory_of(name: str, scale: int) -> dict:
    """Return the memory that one run takes beyond the graph and the returned walks."""
    policy = policies()[name]
    r2v.sample_walks(r2v.rmat(8), policy, length=40, per_node=1, workers=THREADS)  # compiled code
    graph = r2v.rmat(scale)
    sampler = r2v.WalkSampler(graph, policy, length=40, per_node=1, workers=THREADS)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = peak_bytes()
    walks = sampler.sample()
    return {"extra_bytes": peak_bytes() - before - walks.nbytes}


def measure_start() -> dict:
    """Measure seconds of whole commands, from their second run on."""
    command = [sys.executable, "-m", "reinforce2vec"]
    with tempfile.TemporaryDirectory() as folder:
        edges = Path(folder) / "edges.txt"
        club = r2v.karate_club()
        rows = np.repeat(club.ids, club.degrees)
        np.savetxt(edges, np.column_stack([rows, club.ids[club.indices]]), fmt="%d")
        runs = {
            "--help": ["--help"],
            "walk": ["walk", str(edges), "-o", str(Path(folder) / "walks.txt")],
        }
        seconds: dict[str, list[float]] = {}
        for _ in range(6):
            for name, arguments in runs.items():
                start = time.perf_counter()
                subprocess.run([*command, *arguments], check=True, capture_output=True)
                seconds.setdefault(name, []).append(time.perf_counter() - start)
    return {name: times[1:] for name, times in seconds.items()}


# -- the page ------------------------------------------------------------------------------------


def speeds(results: list[dict], what: str) -> list[float]:
    return [r["steps"] / r["seconds"] for r in results if r["what"] == what]


def ratio(results: list[dict], what: str, to: str) -> str:
    """Return median and range of the ratio within a round."""
    pairs = zip(speeds(results, what), speeds(results, to), strict=True)
    ratios = [a / b for a, b in pairs]
    return f"{median(ratios):.2f} ({min(ratios):.2f} – {max(ratios):.2f})"


def render(found: dict) -> str:
    machine = found["machine"]
    lines = [
        "# Walks",
        f"\n{machine['processor']}, {THREADS} threads, Python {machine['python']}, "
        f"{machine['date']}. A step is a move from one node to the next. "
        "VRRW is the vertex-reinforced and DRRW the distribution-reinforced walk, by the paper's "
        "equations as printed or as in the authors' code; second-order walks are node2vec's.\n",
    ]
    for name, results in found["speed"].items():
        names = list(dict.fromkeys(result["what"] for result in results))
        lines += [f"\n## {name}: {size(found['graphs'][name])}\n"]
        lines += [
            "| walk | million steps/s (range) | times our first-order walk |",
            "|---|---|---|",
        ]
        for what in names:
            of = [speed / 1e6 for speed in speeds(results, what)]
            lines.append(
                f"| {walk_in_words(what)} | {median(of):.4g} ({min(of):.4g} – {max(of):.4g}) "
                f"| {ratio(results, what, FIRST)} |"
            )
        lines += ["\nTimes as fast, within a round:\n", "| walk | median (range) |", "|---|---|"]
        for what, to in (
            (FIRST, GRAPE),
            (FIRST, PECANPY_FIRST),
            *((what, PECANPY) for what in policies() if what != FIRST),
            ("paper js ucb", "paper js ucb, L = 400"),
            ("released js ucb", "released js ucb, L = 400"),
        ):
            if to in names:
                pair = f"{walk_in_words(what)}, beside {walk_in_words(to)}"
                lines.append(f"| {pair} | {ratio(results, what, to)} |")
    if found["memory"]:
        lines += ["\n## Memory beyond the graph and the walks\n", "| walk | MB |", "|---|---|"]
        lines += [
            f"| {walk_in_words(m['what'])} | {m['extra_bytes'] / 1e6:.1f} |"
            for m in found["memory"]
        ]
    lines += ["\n## Start-up time\n", "| command, second run | seconds (range) |", "|---|---|"]
    for name, times in found["start"].items():
        lines.append(f"| `{name}` | {median(times):.2f} ({min(times):.2f} – {max(times):.2f}) |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=20_000_000, help="of each walk, each round")
    parser.add_argument("--rmat-scale", type=int, default=20)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "walks.json")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        print(json.dumps(memory_of(options.memory_of, options.rmat_scale)))
        return
    graphs = {f"R-MAT 2^{options.rmat_scale}": r2v.rmat(options.rmat_scale)}
    if (DATA / "blogcatalog.mat").exists():
        graphs = {"BlogCatalog": r2v.read_graph(DATA / "blogcatalog.mat"), **graphs}
    found = {
        "machine": describe(),
        "graphs": {name: repr(graph) for name, graph in graphs.items()},
        "speed": {name: measure_speed(graph, options) for name, graph in graphs.items()},
        "memory": measure_memory(options) if sys.platform == "linux" else [],
        "start": measure_start(),
    }
    publish(found, render, options.out)


if __name__ == "__main__":
    main()
