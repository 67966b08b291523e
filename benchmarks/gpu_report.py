"""The page docs/gpu.md, from the raw results of `gpu.py`."""

from __future__ import annotations

from statistics import mean, median, stdev

import numpy as np

from reporting import RESULTS, column, deviation, distinct, select, spread, table
from skip_gram import LENGTH, NEGATIVES, WINDOW, contexts_per_token, multiply_adds_per_token

BLOGCATALOG = "BlogCatalog"
RMAT = "R-MAT 2^20"
SECTOR = 32  # bytes that one random read transfers from memory


# -- numbers -------------------------------------------------------------------------------------


def rows_of(results: dict, part: str) -> list[dict]:
    return results.get(part, {}).get("rows", [])


def middle(numbers: list[float], unit: float = 1.0) -> str:
    """Return median and range as text."""
    return spread(numbers, ".3g" if median(numbers) / unit < 1000 else ",.0f", unit)


def bytes_per_token(d: int) -> int:
    """Return the bytes of the token's and its negatives' rows, read and written once."""
    return 2 * 4 * d * (NEGATIVES + 2)


def limit(results: dict, what: str) -> float:
    """Return a measured peak; NaN if it was not measured."""
    numbers = column(rows_of(results, "limits"), "per_second", what=what)
    return median(numbers) if numbers else float("nan")


# -- sections ------------------------------------------------------------------------------------


def describe_walks(results: dict) -> list[str]:
    reads = {  # the table that a step reads from is about as large as this
        BLOGCATALOG: limit(results, "random reads/s of 8 MB"),
        RMAT: limit(results, "random reads/s of 128 MB"),
    }
    memory, rows, lines = limit(results, "memory bytes/s"), rows_of(results, "walks"), []
    for graph, walk in distinct(rows, "graph", "walk"):
        numbers = column(rows, "per_second", graph=graph, walk=walk)
        speed = median(numbers)
        shares = 2 * speed / reads.get(graph, np.nan), (2 * SECTOR + 4) * speed / memory
        lines.append([graph, walk, spread(numbers, ",.0f", 1e6), *(f"{s:.0%}" for s in shares)])
    return [
        f"Walks of {LENGTH} nodes, written to GPU memory. Each step makes at least two random "
        "reads, the offset of a node's neighbours and the neighbour drawn, and writes four bytes. "
        "The shares are of the measured rate of random reads from a table of the graph's size, and "
        f"of the memory bandwidth if each read transfers {SECTOR} bytes (more than 100% is "
        "possible because of the cache).",
        "",
        *table(["graph", "walk", "million steps/s", "share of reads", "share of bandwidth"], lines),
    ]


def describe_training(results: dict) -> list[str]:
    peaks = ("multiply-adds/s", "cache bytes/s", "memory bytes/s")
    limits = [limit(results, what) for what in peaks]
    rows, lines = rows_of(results, "training"), []
    for graph, walk, d in distinct(rows, "graph", "walk", "dimensions"):
        numbers = column(rows, "per_second", graph=graph, walk=walk, dimensions=d)
        costs = multiply_adds_per_token(d), bytes_per_token(d), bytes_per_token(d)
        shares = [cost * median(numbers) / most for cost, most in zip(costs, limits, strict=True)]
        speed = spread(numbers, ",.0f", 1e6)
        lines.append([graph, walk, d, speed, *(f"{share:.0%}" for share in shares)])
    heads = ["graph", "walk", "d", "million tokens/s", "of multiply-adds"]
    return [
        f"Window {WINDOW}, {NEGATIVES} negatives; the time includes sampling walks, but no "
        f"preparation. A token (a node in a walk) has {contexts_per_token():.3f} contexts on "
        "average, and each context takes 3·d·(K + 1) multiply-adds: "
        f"{multiply_adds_per_token(128):,.0f} per token at d = 128. The rows of a token and of its "
        f"negatives are read and written at least once: {bytes_per_token(128):,} bytes at "
        "d = 128.",
        "",
        *table([*heads, "of the cache's bandwidth", "of the memory's"], lines),
    ]


def describe_whole(results: dict) -> list[str]:
    rows, huge, lines = rows_of(results, "whole"), rows_of(results, "huge"), []
    for graph, per_node, nodes, edges in distinct(
        rows, "graph", "walks_per_node", "nodes", "edges"
    ):
        seconds = [
            middle(column(rows, key, graph=graph)) for key in ("seconds", "training_seconds")
        ]
        peak = max(column(rows, "peak_bytes", graph=graph)) / 1e9
        size = f"{graph}: {nodes:,} nodes, {edges:,} edges"
        lines.append([size, per_node, *seconds, f"{peak:.1f}"])
    heads = ["graph", "walks per node", "seconds, graph to vectors", "of them training"]
    text = [
        "d = 128, the default walk; from a graph in host memory to vectors in host memory.",
        "",
        *table([*heads, "peak GPU memory, GB"], lines),
    ]
    if not huge:
        return text
    peaks = [f"{row['peak_bytes'] / 1e9:.1f}" if "peak_bytes" in row else "" for row in huge]
    stages = [
        [row["stage"], f"{row['seconds']:.1f}", peak] for row, peak in zip(huge, peaks, strict=True)
    ]
    size = f"{huge[0]['nodes']:,} nodes, {huge[0]['edges']:,} edges"
    return [
        *text,
        f"\nA graph of {size}, 5 walks per node, d = 128:\n",
        *table(["stage", "seconds", "peak GPU memory, GB"], stages),
    ]


def describe_smoothing(results: dict) -> list[str]:
    rows = rows_of(results, "smoothing")
    lines = [
        [graph, backend, middle(column(rows, "seconds", graph=graph, backend=backend))]
        for graph, backend in distinct(rows, "graph", "backend")
        if backend
    ]
    gaps = column(rows, "largest_difference")
    difference = f" CPU and GPU differ by at most {max(gaps):.1g}." if gaps else ""
    return [
        f"d = 128; vectors are copied from host memory to the GPU and back.{difference}",
        "",
        *table(["graph", "backend", "seconds"], lines),
    ]


def describe_quality(results: dict) -> list[str]:
    rows, lines = rows_of(results, "quality"), []
    for graph, d in distinct(rows, "graph", "dimensions"):
        for metric in ("micro-F1", "macro-F1", "AUC"):
            cpu, cuda = (
                column(rows, metric, graph=graph, dimensions=d, backend=name)
                for name in ("cpu", "cuda")
            )
            if len(cpu) > 1 and len(cuda) > 1:
                gap, deviations = mean(cuda) - mean(cpu), stdev(cpu)
                scores = [deviation(numbers, ".2f") for numbers in (cpu, cuda)]
                multiple = f"{gap / deviations:+.1f}" if deviations else "–"
                lines.append([graph, d, metric, *scores, f"{gap:+.2f}", multiple])
    heads = ["graph", "d", "score", "CPU", "CUDA", "difference", "in CPU's standard deviations"]
    return [
        "80 walks per node, the default walk; half of the labels or of the held-out pairs "
        "(`shared`, Hadamard) train; mean ± standard deviation over the seeds, in percent.",
        "",
        *table(heads, lines),
        "\nWhere the GPU is ahead by more than the spread, hubs are the likely reason: many walks "
        "update their rows at once, each update is scaled down, as with a smaller learning rate, "
        "and long training hurts link prediction from raw vectors.",
    ]


def describe_limits(results: dict) -> list[str]:
    rows = select(rows_of(results, "limits"))
    lines = [
        [what, spread(column(rows, "per_second", what=what), ",.0f", 1e9)]
        for (what,) in distinct(rows, "what")
        if what != "GPU"
    ]
    return table(["measured peak", "billion per second"], lines)


SECTIONS = {
    "Walks": (describe_walks, ("walks",)),
    "Training": (describe_training, ("training",)),
    "Whole fits": (describe_whole, ("whole", "huge")),
    "Smoothing": (describe_smoothing, ("smoothing",)),
    "Quality of the vectors": (describe_quality, ("quality",)),
    "Limits of the GPU": (describe_limits, ("limits",)),
}


def report(results: dict) -> str:
    """Return the page as Markdown."""
    gpus = select(rows_of(results, "limits"), what="GPU")
    unknown = dict.fromkeys(("driver", "clock", "highest_clock", "cupy"), "unknown")
    gpu = {"name": "unknown GPU", **unknown, **(gpus[0] if gpus else {})}
    machines = [part["machine"] for part in results.values()]
    machine = machines[0]
    commits = ", ".join(dict.fromkeys(m["commit"] or "unknown" for m in machines))
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    lines = [
        f"# The CUDA backend on one {gpu['name']}\n",
        f"Made by `benchmarks/gpu.py`; raw numbers in `benchmarks/results/gpu.json`. "
        f"{gpu['name']}, driver {gpu['driver']}, SM clock {gpu['clock']} of "
        f"{gpu['highest_clock']}, CuPy {gpu['cupy']}; {machine['processor']}, "
        f"{machine['processors']} threads; Python {machine['python']}, {versions}; "
        f"{machine['date']}, commit {commits}. Median and range over the repeats, everything "
        "compiled and warm.\n",
    ]
    for title, (section, parts) in SECTIONS.items():
        if any(part in results for part in parts):
            lines += [f"## {title}\n", *section(results), ""]
    missing = [part for _, parts in SECTIONS.values() for part in parts if part not in results]
    if missing:
        lines += [f"Not run: {', '.join(missing)}.", ""]
    return "\n".join([*lines, (RESULTS / "gpu_earlier.md").read_text()])
