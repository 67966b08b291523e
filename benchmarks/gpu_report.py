"""The page docs/gpu.md, from the raw results of `gpu.py`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np

from reinforce2vec._util.progress import counted

BLOGCATALOG = "BlogCatalog"
LENGTH, WINDOW, NEGATIVES = 40, 10, 5
RMAT = "R-MAT 2^20"
SECTOR = 32  # bytes that one random read transfers from memory
COUNTERS = Path(__file__).with_name("results") / "gpu_counters.json"
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


# -- numbers -------------------------------------------------------------------------------------


def rows_of(found: dict, part: str, **where: Any) -> list[dict]:
    rows = found.get(part, {}).get("rows", [])
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]


def values(found: dict, part: str, key: str, **where: Any) -> list[float]:
    return [row[key] for row in rows_of(found, part, **where) if key in row]


def distinct(rows: Iterable[dict], *keys: str) -> list[tuple]:
    return list(dict.fromkeys(tuple(row.get(key) for key in keys) for row in rows))


def middle(numbers: list[float], unit: float = 1.0, form: str = "") -> str:
    """Return median and range as text."""
    if not numbers:
        return "not measured"
    form = form or (".3g" if median(numbers) / unit < 1000 else ",.0f")
    shown = [format(f(numbers) / unit, form) for f in (median, min, max)]
    return f"{shown[0]} ({shown[1]} – {shown[2]})"


def contexts_per_token() -> float:
    """Return the expected contexts of a token; each window is drawn from 1 to `WINDOW`."""
    at, reach = np.arange(LENGTH)[:, None], np.arange(1, WINDOW + 1)
    return float((np.minimum(at, reach) + np.minimum(LENGTH - 1 - at, reach)).mean())


def multiply_adds_per_token(d: int) -> float:
    """Return the count: a dot product and two updates per context and per negative."""
    return 3 * d * (NEGATIVES + 1) * contexts_per_token()


def bytes_per_token(d: int) -> int:
    """Return the bytes of the token's and its negatives' rows, read and written once."""
    return 2 * 4 * d * (NEGATIVES + 2)


def limit(found: dict, what: str) -> float:
    """Return a measured peak; NaN if it was not measured."""
    numbers = values(found, "limits", "per_second", what=what)
    return median(numbers) if numbers else float("nan")


def table(heads: list[str], lines: Iterable[Iterable[Any]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |", "|---" * len(heads) + "|",
        *(f"| {' | '.join(map(str, line))} |" for line in lines), "",
    ]  # fmt: skip


# -- sections ------------------------------------------------------------------------------------


def describe_walks(found: dict) -> list[str]:
    reads = {  # the table that a step reads from is about as large as this
        BLOGCATALOG: limit(found, "random reads/s of 8 MB"),
        RMAT: limit(found, "random reads/s of 128 MB"),
    }
    memory = limit(found, "memory bytes/s")
    lines = []
    for graph, walk in distinct(rows_of(found, "walks"), "graph", "walk"):
        numbers = values(found, "walks", "per_second", graph=graph, walk=walk)
        speed = median(numbers)
        shares = 2 * speed / reads.get(graph, np.nan), (2 * SECTOR + 4) * speed / memory
        lines.append([graph, walk, middle(numbers, 1e6, ",.0f"), *(f"{s:.0%}" for s in shares)])
    return [
        f"Walks of {LENGTH} nodes, written to GPU memory. Each step makes at least two random "
        "reads, the offset of a node's neighbours and the neighbour drawn, and writes four bytes. "
        "The shares are of the measured rate of random reads from a table of the graph's size, and "
        f"of the memory bandwidth if each read transfers {SECTOR} bytes (more than 100% is "
        "possible because of the cache).",
        "",
        *table(["graph", "walk", "million steps/s", "share of reads", "share of bandwidth"], lines),
    ]


def describe_training(found: dict) -> list[str]:
    limits = [
        limit(found, f"{name}/s") for name in ("multiply-adds", "cache bytes", "memory bytes")
    ]
    lines = []
    for graph, walk, d in distinct(rows_of(found, "training"), "graph", "walk", "dimensions"):
        numbers = values(found, "training", "per_second", graph=graph, walk=walk, dimensions=d)
        costs = multiply_adds_per_token(d), bytes_per_token(d), bytes_per_token(d)
        shares = [cost * median(numbers) / most for cost, most in zip(costs, limits, strict=True)]
        told = (f"{share:.0%}" for share in shares)
        lines.append([graph, walk, d, middle(numbers, 1e6, ",.0f"), *told])
    return [
        f"Window {WINDOW}, {NEGATIVES} negatives; the time includes sampling walks, but no "
        f"preparation. A token (a node in a walk) has {contexts_per_token():.3f} contexts on "
        "average, and each context takes 3·d·(K + 1) multiply-adds: "
        f"{multiply_adds_per_token(128):,.0f} per token at d = 128. The rows of a token and of its "
        f"negatives are read and written at least once: {bytes_per_token(128):,} bytes at "
        "d = 128.",
        "",
        *table(["graph", "walk", "d", "million tokens/s", "of multiply-adds", "of the cache's "
                "bandwidth", "of the memory's"], lines),
        *describe_counters(),
    ]  # fmt: skip


def describe_counters() -> list[str]:
    """Summarize the counters of Nsight Compute for the training kernel, if they are there."""
    if not COUNTERS.exists():
        return []
    found = json.loads(COUNTERS.read_text())
    of = found["counters"]
    tokens, seconds = found["tokens"], of["gpu__time_duration.sum"] / 1e3
    return [
        f"What limits the speed, by the GPU's performance counters (`results/{COUNTERS.name}`; "
        f"{found['what']}; code {found['code']}): a token takes "
        f"{of['smsp__inst_executed.sum'] / tokens:,.0f} warp instructions and "
        f"{SECTOR * of['lts__t_sectors.sum'] / tokens:,.0f} bytes of L2 traffic, at "
        f"{tokens / seconds / 1e6:.0f} million tokens/s. The L2 cache runs at "
        f"{of['lts__throughput.avg.pct_of_peak_sustained_elapsed']:.0f}% of its peak, and "
        f"{of['smsp__issue_active.avg.pct_of_peak_sustained_active']:.0f}% of the cycles issue an "
        "instruction. Shared memory holds the windows of 8 walks per multiprocessor, which is two "
        "warps per scheduler, and these stall on arithmetic "
        f"({of[STALLED.format('wait')]:.1f} cycles per instruction), on shared memory "
        f"({of[STALLED.format('short_scoreboard')]:.1f}) and on the cache "
        f"({of[STALLED.format('long_scoreboard')]:.1f}). Two warps per walk would be the next "
        "step.",
        "",
    ]


def describe_whole(found: dict) -> list[str]:
    lines = []
    for graph, per_node, nodes, edges in distinct(
        rows_of(found, "whole"), "graph", "walks_per_node", "nodes", "edges"
    ):
        of = {"part": "whole", "graph": graph}
        peak = values(found, key="peak_bytes", **of)
        lines.append([
            f"{graph}: {nodes:,} nodes, {edges:,} edges", per_node,
            middle(values(found, key="seconds", **of), form=".3g"),
            middle(values(found, key="training_seconds", **of), form=".3g"),
            f"{max(peak) / 1e9:.1f}" if peak else "–",
        ])  # fmt: skip
    heads = [
        "graph",
        "walks per node",
        "seconds, graph to vectors",
        "of them training",
        "peak GPU memory, GB",
    ]
    rows = rows_of(found, "huge")
    stages = [
        [
            row["stage"],
            f"{row['seconds']:.1f}",
            f"{row['peak_bytes'] / 1e9:.1f}" if "peak_bytes" in row else "",
        ]
        for row in rows
    ]
    size = f"{rows[0]['nodes']:,} nodes, {rows[0]['edges']:,} edges" if rows else ""
    return [
        "d = 128, the default walk; from a graph in host memory to vectors in host memory.",
        "",
        *table(heads, lines),
        *([f"A graph of {size}, 5 walks per node, d = 128:", ""] if rows else []),
        *(table(["stage", "seconds", "peak GPU memory, GB"], stages) if rows else []),
    ]


def describe_smoothing(found: dict) -> list[str]:
    lines = [
        [
            graph,
            backend,
            middle(values(found, "smoothing", "seconds", graph=graph, backend=backend)),
        ]
        for graph, backend in distinct(rows_of(found, "smoothing"), "graph", "backend")
        if backend
    ]
    gaps = values(found, "smoothing", "largest_difference")
    told = f" CPU and GPU differ by at most {max(gaps):.1g}." if gaps else ""
    return [
        f"d = 128; vectors are copied from host memory to the GPU and back.{told}",
        "",
        *table(["graph", "backend", "seconds"], lines),
    ]


def describe_quality(found: dict) -> list[str]:
    lines = []
    for graph, d in distinct(rows_of(found, "quality"), "graph", "dimensions"):
        for metric in ("micro-F1", "macro-F1", "AUC"):
            of = {"part": "quality", "key": metric, "graph": graph, "dimensions": d}
            cpu, cuda = (values(found, backend=name, **of) for name in ("cpu", "cuda"))
            if len(cpu) > 1 and len(cuda) > 1:
                spread = stdev(cpu)
                gap = mean(cuda) - mean(cpu)
                told = f"{gap / spread:+.1f}" if spread else "–"
                lines.append([graph, d, metric, *(f"{mean(of):.2f} ± {stdev(of):.2f}"
                              for of in (cpu, cuda)), f"{gap:+.2f}", told])  # fmt: skip
    heads = ["graph", "d", "score", "CPU", "CUDA", "difference", "in CPU's standard deviations"]
    return [
        "80 walks per node, the default walk; half of the labels or of the held-out pairs "
        "(`shared`, Hadamard) train; mean ± standard deviation over the seeds, in percent.",
        "",
        *table(heads, lines),
        "Where the GPU is ahead by more than the spread, hubs are the likely reason: many walks "
        "update their rows at once, each update is scaled down, as with a smaller learning rate, "
        "and long training hurts link prediction from raw vectors.",
        "",
    ]


def describe_crowd(found: dict) -> list[str]:
    lines = []
    for graph, times, flying in distinct(rows_of(found, "crowd"), "graph", "times", "in_flight"):
        cells = []
        for bounded in (True, False):
            of = {"part": "crowd", "graph": graph, "times": times, "bounded": bounded}
            scores = [
                f"{name} {mean(numbers):.2f}"
                for name in ("micro-F1", "macro-F1", "AUC")
                if (numbers := values(found, key=name, **of))
            ]
            cells.append(", ".join(scores) or "training failed")
            if bounded:
                speed = median(values(found, key="per_second", **of)) / 1e6
        lines.append([graph, f"{times:g}", f"{flying:,}", *cells, f"{speed:,.0f}"])
    heads = ["graph", "times", "walks in flight", "mean scores", "unbounded", "million tokens/s"]
    return [
        "Walks trained at the same time, as multiples of the number that the backend chooses and "
        "at most as many as fit on the GPU. Unbounded: updates of rows that many walks share are "
        "not scaled down.",
        "",
        *table(heads, lines),
    ]


def efficiency(found: dict, graph: str, what: str, threads: int) -> float:
    """Return the speed on several threads, divided by their number times the speed on one."""
    of = {"part": "cpu", "key": "per_second", "graph": graph, "what": what}
    many, one = values(found, threads=threads, **of), values(found, threads=1, **of)
    return median(many) / (threads * median(one)) if many and one else float("nan")


def describe_cpu(found: dict) -> list[str]:
    rows = rows_of(found, "cpu")
    counts = [threads for (threads,) in distinct(rows, "threads")]
    lines = []
    for graph, what in distinct(rows, "graph", "what"):
        of = {"part": "cpu", "key": "per_second", "graph": graph, "what": what}
        speeds = [middle(values(found, threads=count, **of), 1e6, ".3g") for count in counts]
        lines.append([graph, what, *speeds, f"{efficiency(found, graph, what, max(counts)):.2f}"])
    heads = ["graph", "what", *(counted(count, "thread") for count in counts), "efficiency"]
    return [
        "Million steps or tokens (d = 128) per second, with the same work for each thread. "
        "Efficiency is the speed on the most threads, divided by their number times the speed on "
        "one thread.",
        "",
        *(table(heads, lines) if counts else []),
        "This was measured before training in blocks: on a small graph all threads updated the "
        "same few thousand rows, so that a row mostly had to come from another core's cache.",
        "",
    ]


def describe_limits(found: dict) -> list[str]:
    lines = [
        [what, middle(values(found, "limits", "per_second", what=what), 1e9, ",.0f")]
        for (what,) in distinct(rows_of(found, "limits"), "what")
        if what != "GPU"
    ]
    return table(["measured peak", "billion per second"], lines)


SECTIONS = {
    "Walks": (describe_walks, ("walks",)),
    "Training": (describe_training, ("training",)),
    "Whole fits": (describe_whole, ("whole", "huge")),
    "Smoothing": (describe_smoothing, ("smoothing",)),
    "Quality of the vectors": (describe_quality, ("quality",)),
    "Walks in flight": (describe_crowd, ("crowd",)),
    "The CPU backend": (describe_cpu, ("cpu",)),
    "Limits of the GPU": (describe_limits, ("limits",)),
}


def report(found: dict) -> str:
    """Return the page as Markdown."""
    gpu = next(iter(rows_of(found, "limits", what="GPU")), {})
    machines = [part["machine"] for part in found.values()]
    machine = machines[0]
    commits = ", ".join(dict.fromkeys(part["commit"] or "unknown" for part in machines))
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    lines = [
        f"# The CUDA backend on one {gpu.get('name', 'unknown GPU')}",
        "",
        f"Made by `benchmarks/gpu.py`; raw numbers in `benchmarks/results/gpu.json`. "
        f"{gpu.get('name', 'Unknown GPU')}, driver {gpu.get('driver', 'unknown')}, SM clock "
        f"{gpu.get('clock', 'unknown')} of {gpu.get('highest_clock', 'unknown')}, CuPy "
        f"{gpu.get('cupy', 'unknown')}; {machine['processor']}, {machine['processors']} threads; "
        f"Python {machine['python']}, {versions}; {machine['date']}, commit {commits}. Median and "
        "range over the repeats, everything compiled and warm.",
        "",
    ]
    for title, (describe, parts) in SECTIONS.items():
        if any(part in found for part in parts):
            lines += [f"## {title}", "", *describe(found)]
    missing = [part for _, parts in SECTIONS.values() for part in parts if part not in found]
    if missing:
        lines += [f"Not run: {', '.join(missing)}.", ""]
    return "\n".join(lines).rstrip() + "\n"
