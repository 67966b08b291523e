"""Benchmark smoothing on the CPU: its time beside training's, memory, and the memory's bandwidth.

For R-MAT graphs, vectors of 128 dimensions are smoothed on one thread and on two, and the model is
trained on two threads: 20 walks of 40 nodes per node, window 10. `--walks 4` trains with 4 of them,
and multiplies the time by 5. Every measurement has a process of its own. The bandwidth is that of
copying a large array, on as many threads. All that the loops of smoothing read and write counts,
cached or not; so caches can make it faster than a copy.

    python benchmarks/smoothing.py --scales 18 20
    python benchmarks/smoothing.py --against COMMIT    # the smallest also by another version
"""

from __future__ import annotations

import argparse
import inspect
import json
import pickle
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from checkouts import ROOT, checkout_of, run_with
from machine import describe
from reporting import publish

HERE = Path(__file__).parent
WALKS = 20  # from each node, of the training
COPIED = 1 << 27  # float32 numbers
FILTER = {"order": 10, "mu": 0.2, "theta": 0.5}


def timed(work) -> dict[str, float]:
    """Return the seconds of some work, and those of all CPUs together."""
    began, cpu_began = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu_began,
    }


# -- in a process of its own -------------------------------------------------------------------


def measure_copy(workers: int) -> dict:
    """Measure the bytes per second, read and written, of copying an array on some threads."""
    source, target = np.ones(COPIED, np.float32), np.zeros(COPIED, np.float32)
    parts = [slice(i * COPIED // workers, (i + 1) * COPIED // workers) for i in range(workers)]

    def copy(part: slice) -> None:
        target[part] = source[part]

    with ThreadPoolExecutor(workers) as threads:
        runs = [timed(lambda: list(threads.map(copy, parts))) for _ in range(8)]
    best = min(runs[1:], key=lambda run: run["cpu_seconds"])
    return {**best, "bytes": 2 * source.nbytes}


def measure_smoothing(path: Path, dimensions: int, workers: int) -> dict:
    """Smooth random vectors along a graph; also with a version that has no threads."""
    import reinforce2vec as r2v
    from reinforce2vec._util.machine import peak_bytes
    from reinforce2vec.models._memory import smoothing_bytes as bytes_for

    with path.open("rb") as stream:
        graph = pickle.load(stream)
    vectors = np.random.default_rng(0).random((graph.n_nodes, dimensions), np.float32)
    vectors -= 0.5
    threaded = "workers" in inspect.signature(r2v.smooth).parameters
    options = {**FILTER, "backend": "cpu", **({"workers": workers} if threaded else {})}
    r2v.smooth(np.eye(34, dtype=np.float32), r2v.karate_club(), **options)  # compiles
    before = peak_bytes()
    found = timed(lambda: r2v.smooth(vectors, graph, **options))
    peak = peak_bytes() - before
    return {**found, "peak_bytes": peak, "estimated_bytes": bytes_for(graph, dimensions)}


def measure_training(path: Path, dimensions: int, workers: int, walks: int) -> dict:
    """Train on some of the 20 walks from each node; times are for all of them."""
    import reinforce2vec as r2v

    graph = pickle.loads(path.read_bytes())
    model = r2v.Reinforce2Vec(
        dimensions=dimensions, walks_per_node=walks, window=10, workers=workers, smooth=False,
        backend="cpu",
    )  # fmt: skip
    model.fit(r2v.karate_club(), progress=False)  # compiles
    found = timed(lambda: model.fit(graph, progress=False))
    return {name: WALKS / walks * seconds for name, seconds in found.items()}


# -- the run -----------------------------------------------------------------------------------


def bytes_moved(nodes: int, arcs: int, dimensions: int) -> int:
    """Return all that smoothing reads and writes, cached or not."""
    from reinforce2vec.models._filter import COLUMNS, series

    row = 4 * COLUMNS
    a_pass = arcs * (4 + row) + nodes * (8 + 4 + 4 * row)  # four arrays: three read, one written
    first_and_last = nodes * 7 * row
    passes = len(series(*FILTER.values())) - 1
    blocks = -(-dimensions // COLUMNS)
    orthogonal = 3 * 4 * nodes * dimensions
    return blocks * (passes * a_pass + first_and_last) + orthogonal


def measure_graph(scale: int, options: argparse.Namespace, other: Path | None) -> dict:
    import reinforce2vec as r2v

    graph = r2v.rmat(scale, 16, seed=1)
    facts = {"scale": scale, "nodes": graph.n_nodes, "arcs": len(graph.indices)}
    facts["bytes_moved"] = bytes_moved(graph.n_nodes, len(graph.indices), options.dimensions)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph")
        path.write_bytes(pickle.dumps(graph))
        del graph

        def add(what: str, workers: int, version: Path = ROOT) -> None:
            numbers = options.dimensions, workers, options.walks
            found = run_with(version, __file__, "--child", what, str(path), *map(str, numbers))
            name = what if version == ROOT else f"{what}, before"
            results.append({"what": name, "workers": workers, **found})
            print(f"R-MAT 2^{scale} {results[-1]}", file=sys.stderr)

        for _ in range(options.repeats):
            for workers in (1, options.workers):
                add("copy", workers)
                add("smoothing", workers)
        if other is not None:
            add("smoothing", options.workers, other)
        add("training", options.workers)
    return {**facts, "results": results}


def middle(rows: list[dict], key: str, **wanted) -> float | None:
    found = [row[key] for row in rows if all(row[name] == wanted[name] for name in wanted)]
    return statistics.median(found) if found else None


def copy_speed(rows: list[dict], workers: int) -> float:
    """Return the bytes that a copy reads and writes in a second of a CPU."""
    own = {"what": "copy", "workers": workers}
    return middle(rows, "bytes", **own) / middle(rows, "cpu_seconds", **own)


def table(report: dict) -> str:
    """Format the results as Markdown."""
    lines = [
        "| graph | what | threads | seconds | CPU s | of training | of training's CPU s "
        "| GB per CPU s | of a copy | peak MB | estimate / peak |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for graph in report["graphs"]:
        rows = graph["results"]
        training = {
            key: middle(rows, key, what="training", workers=report["workers"])
            for key in ("seconds", "cpu_seconds")
        }
        kinds = list(dict.fromkeys((row["what"], row["workers"]) for row in rows))
        for what, workers in kinds:
            if what == "copy":
                continue
            own = {"what": what, "workers": workers}
            seconds, cpu = (middle(rows, key, **own) for key in ("seconds", "cpu_seconds"))
            cells = [f"{seconds:,.1f}", f"{cpu:,.1f}"]
            cells += [
                f"{seconds / training['seconds']:.1%}",
                f"{cpu / training['cpu_seconds']:.1%}",
            ]
            if what == "smoothing":
                speed = graph["bytes_moved"] / cpu
                cells += [f"{speed / 1e9:.1f}", f"{speed / copy_speed(rows, workers):.0%}"]
            else:
                cells += ["", ""]
            if what == "training":
                cells += ["", ""]
            else:
                peak, needed = (
                    middle(rows, f"{key}_bytes", **own) for key in ("peak", "estimated")
                )
                cells += [f"{peak / 1e6:,.0f}", f"{needed / peak:.2f}"]
            lines.append(f"| 2^{graph['scale']} | {what} | {workers} | {' | '.join(cells)} |")
    return "\n".join(lines)


def render(report: dict) -> str:
    machine = report["machine"]
    dimensions, walks = report["dimensions"], f"{WALKS} walks of 40 nodes per node, window 10"
    if report["walks"] != WALKS:
        walks += f" (measured with {report['walks']}, and multiplied)"
    repeats = report["repeats"]
    runs = "One run" if repeats == 1 else f"Medians of {repeats} runs"
    lines = [
        "# Smoothing beside training, on the CPU\n",
        f"{machine['processor']}, Python {machine['python']}, {machine['date']}. "
        f"R-MAT graphs, d = {dimensions}; training: {walks}. {runs}; the machine is shared, so "
        "compare CPU seconds.\n",
        table(report),
    ]
    for graph in report["graphs"]:
        speeds = [copy_speed(graph["results"], workers) / 1e9 for workers in (1, report["workers"])]
        lines.append(
            f"\nR-MAT 2^{graph['scale']}: {graph['nodes']:,} nodes, {graph['arcs']:,} arcs. "
            f"Smoothing reads and writes {graph['bytes_moved'] / 1e9:,.0f} GB, cached or not; a "
            f"copy reads and writes {speeds[0]:.1f} GB in a CPU second on one thread and "
            f"{speeds[1]:.1f} on {report['workers']}."
        )
    if report["against"]:
        lines.append(f"\nBefore: commit {report['against']}.")
    return "\n".join(lines) + "\n"


CHILDREN = {
    "copy": lambda path, dimensions, workers, walks: measure_copy(workers),
    "smoothing": lambda path, dimensions, workers, walks: measure_smoothing(
        path, dimensions, workers
    ),
    "training": measure_training,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", type=int, nargs="+", default=[18, 20])
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--against", metavar="COMMIT", help="a version to compare with, on the smallest"
    )
    parser.add_argument("--output", type=Path, default=HERE / "results" / "smoothing.json")
    parser.add_argument("--walks", type=int, default=WALKS, help="from each node, to train on")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        what, path, *numbers = options.child
        found = CHILDREN[what](Path(path), *map(int, numbers))
        print(json.dumps(found))
        return
    version = checkout_of(options.against) if options.against else nullcontext(None)
    with version as other:
        smallest = min(options.scales)
        graphs = [
            measure_graph(scale, options, other if scale == smallest else None)
            for scale in options.scales
        ]
    report = {
        "machine": describe(),
        "dimensions": options.dimensions,
        "workers": options.workers,
        "repeats": options.repeats,
        "walks": options.walks,
        "against": options.against,
        "graphs": graphs,
    }
    publish(report, render, options.output)


if __name__ == "__main__":
    main()
