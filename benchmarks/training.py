"""Benchmark training: speed beside gensim and GRAPE, share of the CPU's peak, and memory.

Everything runs on the same threads in turns, round after round, so that other load on the machine
affects all alike; what counts are the ratios within a round, given as median and range. A token is
a node in a walk. gensim and reinforce2vec train on the same walks; GRAPE makes its own, so its
whole fit is compared with our walks and training together.

    python benchmarks/training.py              # BlogCatalog (if its file is found) and R-MAT 2^20
    python benchmarks/training.py --no-peers --rmat-scale 16 --rounds 3
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

import reinforce2vec as r2v
from fma import fma_peak
from machine import describe
from peering import Peer, versions
from reinforce2vec._util.machine import peak_bytes
from reporting import publish, size

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
THREADS = 2
LENGTH, WINDOW, NEGATIVES = 40, 10, 5
DIMENSIONS = (64, 128)

OURS, ONE, WHOLE = "ours", "ours, 1 thread", "ours, walks + training"
LISTS, FILE, GRAPE = "gensim, lists of strings", "gensim, corpus_file", "GRAPE, walks + training"
BLOGCATALOG = "BlogCatalog"


# -- what a token costs --------------------------------------------------------------------------


def contexts_per_token(length: int = LENGTH, window: int = WINDOW) -> float:
    """Return the expected contexts of a token; each window is drawn from 1 to `window`."""
    at = np.arange(length)[:, None]
    reach = np.arange(1, window + 1)
    return float((np.minimum(at, reach) + np.minimum(length - 1 - at, reach)).mean())


def grape_contexts_per_token(length: int = LENGTH, window: int = WINDOW) -> float:
    """Return the same for GRAPE, which never shrinks the window and sees one node less ahead."""
    at = np.arange(length)
    return float((np.minimum(at, window) + np.minimum(length - 1 - at, window - 1)).mean())


def multiply_adds_per_token(dimensions: int) -> float:
    """Return the count: a dot product and two updates per context and per negative."""
    return 3 * dimensions * (NEGATIVES + 1) * contexts_per_token()


# -- tasks ---------------------------------------------------------------------------------------


def model_for(dimensions: int, workers: int, walks_per_node: int = 1) -> r2v.Reinforce2Vec:
    return r2v.Reinforce2Vec(
        dimensions=dimensions,
        walk=r2v.FirstOrderWalk(),
        walk_length=LENGTH,
        walks_per_node=walks_per_node,
        window=WINDOW,
        negatives=NEGATIVES,
        epochs=1,
        learning_rate=0.025,
        subsample=0.0,
        smooth=False,
        seed=0,
        workers=workers,
    )


def train(graph: r2v.Graph, walks: np.ndarray, dimensions: int, workers: int) -> dict:
    """Run our training alone, without allocating the matrices, like gensim's train()."""
    model = model_for(dimensions, workers).fit_walks(walks, ids=graph.ids, progress=False)
    return {"tokens": model.n_tokens_, "seconds": model.seconds_}


def walk_and_train(graph: r2v.Graph, dimensions: int, walks_per_node: int) -> dict:
    """Run our whole fit."""
    model = model_for(dimensions, THREADS, walks_per_node)
    start = time.perf_counter()
    model.fit_transform(graph, progress=False)
    return {"tokens": model.n_tokens_, "seconds": time.perf_counter() - start}


def shuffled_walks(graph: r2v.Graph, per_node: int) -> np.ndarray:
    """Return walks from all nodes with a neighbour, shuffled: any prefix is a fair sample."""
    starts = graph.ids[graph.degrees > 0]
    walks = r2v.sample_walks(
        graph, r2v.FirstOrderWalk(), length=LENGTH, per_node=per_node, workers=THREADS,
        starts=starts,
    )  # fmt: skip
    return np.random.default_rng(0).permutation(walks)


Tasks = dict[tuple[str, str, int], Callable[[], dict]]


def tasks_on(
    name: str,
    graph: r2v.Graph,
    n_walks: int,
    per_node: int,
    folder: Path,
    options: argparse.Namespace,
) -> tuple[Tasks, list[Peer]]:
    """Return all tasks to measure on a graph, and the peers started for them."""
    walks = shuffled_walks(graph, per_node)
    ours = walks[:n_walks]
    tasks: Tasks = {}
    for d in DIMENSIONS:
        tasks[name, OURS, d] = lambda d=d: train(graph, ours, d, THREADS)
        tasks[name, WHOLE, d] = lambda d=d: walk_and_train(graph, d, per_node)
        tasks[name, ONE, d] = lambda d=d: train(graph, ours, d, 1)
    if not options.peers:
        return tasks, []
    n_gensim = options.gensim_walks if name == BLOGCATALOG else options.rmat_gensim_walks
    csr, npy = folder / f"{name}.npz", folder / f"{name}.npy"
    np.savez(csr, indptr=graph.indptr, indices=graph.indices, starts=graph.ids)
    np.save(npy, walks)
    same = {"threads": THREADS, "window": WINDOW, "negatives": NEGATIVES}
    gensim = Peer("gensim", "training", walks=npy, n_walks=n_gensim, **same)
    grape = Peer("grape", "training", graph=csr, length=LENGTH, per_node=per_node, **same)
    for d in DIMENSIONS:
        tasks[name, LISTS, d] = lambda d=d: gensim(dimensions=d, corpus="lists")
        tasks[name, FILE, d] = lambda d=d: gensim(dimensions=d, corpus="file")
        tasks[name, GRAPE, d] = lambda d=d: grape(dimensions=d)
    return tasks, [gensim, grape]


# -- measuring -----------------------------------------------------------------------------------


def measure_speed(graphs: dict[str, r2v.Graph], options: argparse.Namespace) -> list[dict]:
    """Run every task once a round; whole fits of the large graph in the first rounds only.

    The peak rate of the CPU is measured in every round as well.
    """
    tasks: Tasks = {}
    peers: list[Peer] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in graphs.items():
            small = name == BLOGCATALOG
            n_walks = None if small else options.rmat_walks
            per_node = options.walks_per_node if small else 1
            more, started = tasks_on(name, graph, n_walks, per_node, Path(folder), options)
            tasks |= more
            peers += started
        compile_kernels()
        results = []
        for turn in range(options.rounds):
            for (name, what, d), task in tasks.items():
                whole = what in (WHOLE, GRAPE) and name != BLOGCATALOG
                if whole and turn >= options.whole_rounds:
                    continue
                found = {"round": turn, "graph": name, "what": what, "dimensions": d, **task()}
                results.append(found)
                print(f"{name}, {what}, d = {d}: {speed(found):,.0f} tokens/s", file=sys.stderr)
            peaks = {str(threads): fma_peak(threads) for threads in (1, THREADS)}
            results.append({"round": turn, "what": "fma", "peaks": peaks})
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
        for peer in peers:
            peer.stop()
    return results


def compile_kernels() -> None:
    """Compile all code, or load it from the cache, before anything is timed."""
    club = r2v.karate_club()
    walks = shuffled_walks(club, 1)
    for d in DIMENSIONS:
        for workers in (1, THREADS):
            train(club, walks, d, workers)
        walk_and_train(club, d, 1)


def measure_memory(options: argparse.Namespace) -> dict:
    """Measure peak memory of a fit on the large graph, in a new process."""
    command = [sys.executable, __file__, "--memory", f"--rmat-scale={options.rmat_scale}"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(answer)


def memory_of(scale: int) -> dict:
    """Return the peak memory of this process while it fits, and that of its parts."""
    graph = r2v.rmat(scale)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = peak_bytes()
    d = max(DIMENSIONS)
    walk_and_train(graph, d, 1)
    matrices = 2 * graph.n_nodes * d * 4
    return {
        "dimensions": d,
        "graph_bytes": graph.nbytes,
        "matrices_bytes": matrices,
        "before_bytes": before,
        "peak_bytes": peak_bytes(),
    }


# -- the page ------------------------------------------------------------------------------------


def speed(result: dict) -> float:
    return result["tokens"] / result["seconds"]


def speeds(results: list[dict], graph: str, what: str, dimensions: int) -> dict[int, float]:
    """Return tokens per second in each round."""
    return {
        result["round"]: speed(result)
        for result in results
        if (result.get("graph"), result["what"], result.get("dimensions"))
        == (graph, what, dimensions)
    }


def ratios(a: dict[int, float], b: dict[int, float]) -> list[float]:
    """Return ratios within the rounds that have both."""
    return [a[turn] / b[turn] for turn in a if turn in b]


def middle(values: list[float], form: str = "{:.2f}") -> str:
    """Return median and range as text."""
    if not values:
        return "–"
    shown = [form.format(value) for value in (median(values), min(values), max(values))]
    return f"{shown[0]} ({shown[1]} – {shown[2]})"


def render_speeds(results: list[dict], graph: str) -> list[str]:
    lines = ["| thousand tokens/s | d = 64 | d = 128 |", "|---|---|---|"]
    for what in (OURS, ONE, WHOLE, LISTS, FILE, GRAPE):
        found = [speeds(results, graph, what, d) for d in DIMENSIONS]
        if any(found):
            cells = [middle([s / 1e3 for s in of.values()], "{:,.0f}") for of in found]
            lines.append(f"| {what} | {' | '.join(cells)} |")
    return lines


COMPARED = ((OURS, LISTS), (OURS, FILE), (WHOLE, GRAPE), (OURS, ONE))


def render_ratios(results: list[dict], graphs: list[str]) -> list[str]:
    lines = ["| times as fast, within a round | d = 64 | d = 128 |", "|---|---|---|"]
    for graph in graphs:
        for what, to in COMPARED:
            found = [
                ratios(speeds(results, graph, what, d), speeds(results, graph, to, d))
                for d in DIMENSIONS
            ]
            if any(found):
                cells = " | ".join(middle(of) for of in found)
                lines.append(f"| {graph}: {what}, beside {to} | {cells} |")
    if BLOGCATALOG in graphs:
        for graph in (name for name in graphs if name != BLOGCATALOG):
            cells = " | ".join(
                middle(
                    ratios(speeds(results, graph, OURS, d), speeds(results, BLOGCATALOG, OURS, d))
                )
                for d in DIMENSIONS
            )
            lines.append(f"| ours: {graph}, beside {BLOGCATALOG} | {cells} |")
    return lines


def render_limit(results: list[dict], graphs: list[str]) -> list[str]:
    """Render which share of the CPU's peak of fused multiply-adds the training reaches."""
    peaks = {
        threads: {r["round"]: r["peaks"][threads] for r in results if r["what"] == "fma"}
        for threads in ("1", str(THREADS))
    }
    lines = [
        f"\n3·d·(K + 1) multiply-adds per context, {contexts_per_token():.3f} contexts per token. "
        "The machine reaches "
        + " and ".join(
            f"{middle([peak / 1e9 for peak in of.values()], '{:.0f}')} billion per second on "
            f"{threads} thread{'s' if threads != '1' else ''}"
            for threads, of in peaks.items()
        )
        + ".\n",
        "| percent of the peak | d = 64 | d = 128 |",
        "|---|---|---|",
    ]
    for graph in graphs:
        for what, threads in ((OURS, str(THREADS)), (ONE, "1")):
            found = [
                [
                    100 * multiply_adds_per_token(d) * part
                    for part in ratios(speeds(results, graph, what, d), peaks[threads])
                ]
                for d in DIMENSIONS
            ]
            if any(found):
                cells = " | ".join(middle(of, "{:.0f}") for of in found)
                lines.append(f"| {graph}: {what} | {cells} |")
    return lines


def render(found: dict) -> str:
    machine, results = found["machine"], found["speed"]
    graphs = list(found["graphs"])
    lines = [
        "# Training",
        f"\n{machine['processor']}, {THREADS} threads, Python {machine['python']}, "
        f"{machine['date']}. Walks of {LENGTH} nodes, window {WINDOW}, {NEGATIVES} negatives, no "
        "subsampling, one pass. Median and range over the rounds.",
    ]
    for name in graphs:
        lines += [f"\n## {name}: {size(found['graphs'][name])}\n", *render_speeds(results, name)]
    lines += ["\n## Times as fast\n", *render_ratios(results, graphs)]
    grape = grape_contexts_per_token() + NEGATIVES
    lines.append(
        "\ngensim, which is slower, trains on a part of the same walks. Whole fits of the large "
        "graph run in one round only."
    )
    lines.append(
        "\nThe work per token differs: word2vec and reinforce2vec update "
        f"{NEGATIVES + 1} rows for each of {contexts_per_token():.1f} contexts, "
        f"{(NEGATIVES + 1) * contexts_per_token():.0f} in all; GRAPE, which draws negatives once "
        f"per token, updates {grape:.0f} or fewer."
    )
    lines += ["\n## Share of the CPU's peak", *render_limit(results, graphs)]
    if memory := found["memory"]:
        lines += [
            "\n## Memory\n",
            f"A fit of {graphs[-1]} ({size(found['graphs'][graphs[-1]])}) at "
            f"d = {memory['dimensions']}: a peak of "
            f"{memory['peak_bytes'] / 1e6:,.0f} MB, of which the graph takes "
            f"{memory['graph_bytes'] / 1e6:,.0f} and the two matrices "
            f"{memory['matrices_bytes'] / 1e6:,.0f}. Before the fit the process used "
            f"{memory['before_bytes'] / 1e6:,.0f} MB.",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--whole-rounds", type=int, default=1, help="with whole fits of R-MAT")
    parser.add_argument("--walks-per-node", type=int, default=10, help="on BlogCatalog")
    parser.add_argument("--rmat-walks", type=int, default=250_000, help="trained on by us")
    parser.add_argument("--gensim-walks", type=int, default=25_000, help="of the same, by gensim")
    parser.add_argument("--rmat-gensim-walks", type=int, default=10_000)
    parser.add_argument("--rmat-scale", type=int, default=20)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "training.json")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        print(json.dumps(memory_of(options.rmat_scale)))
        return
    graphs = {f"R-MAT 2^{options.rmat_scale}": r2v.rmat(options.rmat_scale)}
    if (DATA / "blogcatalog.mat").exists():
        graphs = {BLOGCATALOG: r2v.read_graph(DATA / "blogcatalog.mat"), **graphs}
    peers = {"gensim": ("gensim",), "grape": ("grape", "embiggen", "ensmallen")}
    found = {
        "machine": describe(),
        "peers": {p: versions(p, *names) for p, names in peers.items()} if options.peers else {},
        "options": {key: value for key, value in vars(options).items() if key != "out"},
        "graphs": {name: repr(graph) for name, graph in graphs.items()},
        "speed": measure_speed(graphs, options),
        "memory": measure_memory(options) if sys.platform == "linux" else None,
    }
    publish(found, render, options.out)


if __name__ == "__main__":
    main()
