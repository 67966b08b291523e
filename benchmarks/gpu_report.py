"""What the study of the CUDA backend found, as a page."""

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
RMAT, LARGE = "R-MAT 2^20", "R-MAT 2^22"
SECTOR = 32  # bytes that a read of any place brings from memory
COUNTERS = Path(__file__).with_name("results") / "gpu_counters.json"
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"

# what is asked for: part, which rows, which number in which unit, and the least, or the most
TARGETS: list[tuple[str, str, dict[str, Any], str, float, str, float]] = [
    *(
        (f"training, d = {d}, {graph}, {walk}", "training",
         {"graph": graph, "dimensions": d, "walk": walk},
         "per_second", 1e6, "million tokens/s", least)
        for d, least in ((128, 250), (64, 400))
        for graph in (BLOGCATALOG, RMAT)
        for walk in ("first-order", "paper")
    ),
    *(
        (f"walks, {walk}, {RMAT}", "walks", {"graph": RMAT, "walk": walk},
         "per_second", 1e6, "million steps/s", least)
        for walk, least in (("first-order", 20_000), ("paper", 4_000), ("released", 1_500))
    ),
    *(
        (f"{graph}, graph to vectors, d = 128", "whole", {"graph": graph}, "seconds", 1, "s", -most)
        for graph, most in ((BLOGCATALOG, 0.3), (LARGE, 8))
    ),
]  # fmt: skip


# -- numbers -------------------------------------------------------------------------------------


def rows_of(found: dict, part: str, **where: Any) -> list[dict]:
    rows = found.get(part, {}).get("rows", [])
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]


def values(found: dict, part: str, key: str, **where: Any) -> list[float]:
    return [row[key] for row in rows_of(found, part, **where) if key in row]


def distinct(rows: Iterable[dict], *keys: str) -> list[tuple]:
    return list(dict.fromkeys(tuple(row.get(key) for key in keys) for row in rows))


def middle(numbers: list[float], unit: float = 1.0, form: str = "") -> str:
    """Median and range."""
    if not numbers:
        return "not measured"
    form = form or (".3g" if median(numbers) / unit < 1000 else ",.0f")
    shown = [format(f(numbers) / unit, form) for f in (median, min, max)]
    return f"{shown[0]} ({shown[1]} – {shown[2]})"


def contexts_per_token() -> float:
    """Expected contexts of a node in a walk, where the window is shrunk uniformly to 1 … window."""
    at, reach = np.arange(LENGTH)[:, None], np.arange(1, WINDOW + 1)
    return float((np.minimum(at, reach) + np.minimum(LENGTH - 1 - at, reach)).mean())


def multiply_adds_per_token(d: int) -> float:
    """A product of vectors and two updates for each context and each of its negatives."""
    return 3 * d * (NEGATIVES + 1) * contexts_per_token()


def bytes_per_token(d: int) -> int:
    """A row of inputs, and those of outputs of a node and its negatives, read and written once."""
    return 2 * 4 * d * (NEGATIVES + 2)


def limit(found: dict, what: str) -> float:
    """A measured ceiling; NaN if it was not."""
    numbers = values(found, "limits", "per_second", what=what)
    return median(numbers) if numbers else float("nan")


def table(heads: list[str], lines: Iterable[Iterable[Any]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |", "|---" * len(heads) + "|",
        *(f"| {' | '.join(map(str, line))} |" for line in lines), "",
    ]  # fmt: skip


# -- sections ------------------------------------------------------------------------------------


def tell_targets(found: dict) -> list[str]:
    lines, missed = [], []
    for text, part, where, key, unit, name, bound in TARGETS:
        numbers = values(found, part, key, **where)
        asked = f"at most {-bound:g} {name}" if bound < 0 else f"{bound:,} {name}"
        reached = bool(numbers) and (-1 if bound < 0 else 1) * median(numbers) / unit >= bound
        if numbers and not reached:
            missed.append(f"{text}: {middle(numbers, unit)} where {asked} was asked for")
        word = "yes" if reached else "**no**" if numbers else "–"
        lines.append([text, asked, middle(numbers, unit), word])
    for name in ("training", "first-order walks", "paper walks"):
        for (graph,) in distinct(rows_of(found, "cpu", what=name), "graph"):
            part = efficiency(found, graph, name, 16)
            text = f"the CPU's {name} on 16 threads, {graph}"
            word = "yes" if part >= 0.75 else "**no**" if part < 0.75 else "–"
            lines.append([text, "0.75 of 16 times one", f"{part:.2f}", word])
            if part < 0.75:
                missed.append(f"{text}: {part:.2f} of 16 times one thread where 0.75 was asked for")
    heads = ["what", "asked for", "median (range)", "reached"]
    told = ["Not reached:", "", *(f"- {line}" for line in missed), ""] if missed else []
    return [*table(heads, lines), *told]


def tell_walks(found: dict) -> list[str]:
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
        f"Walks of {LENGTH} nodes into the card's memory. Whatever a step does beside, it reads "
        "two places at random, where a node's neighbours are and the one drawn, and writes four "
        "bytes. The shares are of the reads at random places that the card was measured to do, "
        "from a table of the graph's size, and of its memory's bandwidth if each brings "
        f"{SECTOR} bytes (over 100% is the cache's doing).",
        "",
        *table(["graph", "walk", "million steps/s", "of random reads", "of memory"], lines),
    ]


def tell_training(found: dict) -> list[str]:
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
        f"Window {WINDOW}, {NEGATIVES} negatives, walks included, without the preparation. A token "
        f"has {contexts_per_token():.3f} contexts on average, and 3·d·(K + 1) multiply-adds for "
        f"each: {multiply_adds_per_token(128):,.0f} at d = 128. At least, its rows and its "
        f"negatives' are read and written once: {bytes_per_token(128):,} bytes at d = 128.",
        "",
        *table(["graph", "walk", "d", "million tokens/s", "of multiply-adds", "of the cache's "
                "bandwidth", "of the memory's"], lines),
        *tell_counters(),
    ]  # fmt: skip


def tell_counters() -> list[str]:
    """What Nsight Compute counted in the training kernel, if that is there."""
    if not COUNTERS.exists():
        return []
    found = json.loads(COUNTERS.read_text())
    of = found["counters"]
    tokens, seconds = found["tokens"], of["gpu__time_duration.sum"] / 1e3
    return [
        f"Where the rest goes, by the card's counters (`results/{COUNTERS.name}`; {found['what']}; "
        f"code {found['code']}): {of['smsp__inst_executed.sum'] / tokens:,.0f} instructions of a "
        f"warp and {SECTOR * of['lts__t_sectors.sum'] / tokens:,.0f} bytes of the second cache for "
        f"a token, at {tokens / seconds / 1e6:.0f} million tokens/s. The cache is busy for "
        f"{of['lts__throughput.avg.pct_of_peak_sustained_elapsed']:.0f}% of what it can do, and "
        f"{of['smsp__issue_active.avg.pct_of_peak_sustained_active']:.0f}% of the cycles issue an "
        "instruction: shared memory holds the windows of 8 walks on a multiprocessor, two warps "
        "for each of its schedulers, and these wait for their own results, of arithmetic "
        f"({of[STALLED.format('wait')]:.1f} cycles for each instruction), of shared memory "
        f"({of[STALLED.format('short_scoreboard')]:.1f}) and of the cache "
        f"({of[STALLED.format('long_scoreboard')]:.1f}). Two warps for a walk would be the next "
        "step.",
        "",
    ]


def tell_whole(found: dict) -> list[str]:
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
    heads = ["graph", "R", "seconds, graph to vectors", "of them training", "peak on the card, GB"]
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
        "d = 128, the default walk; a graph in the host's memory to vectors in the host's memory.",
        "",
        *table(heads, lines),
        *([f"A graph of {size}, R = 5, d = 128:", ""] if rows else []),
        *(table(["stage", "seconds", "peak on the card, GB"], stages) if rows else []),
    ]


def tell_smoothing(found: dict) -> list[str]:
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
    told = f" Numbers of the two differ by at most {max(gaps):.1g}." if gaps else ""
    return [
        f"d = 128; vectors from the host's memory, and back.{told}",
        "",
        *table(["graph", "backend", "seconds"], lines),
    ]


def tell_quality(found: dict) -> list[str]:
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
        "R = 80, the default walk, half of the labels or of the held-out pairs (`shared`, "
        "Hadamard) train; mean ± standard deviation over the seeds, in percent.",
        "",
        *table(heads, lines),
        "Where the card is ahead by more than the spread, hubs are likely the reason: many walks "
        "hold their rows at once, so they move by a share of their way, as with a smaller learning "
        "rate, and unsmoothed link prediction suffers from much training.",
        "",
    ]


def tell_crowd(found: dict) -> list[str]:
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
        "Times the walks in flight that the backend chooses, as far as the card holds them. "
        "Unbounded: rows that many walks hold move all of their way.",
        "",
        *table(heads, lines),
    ]


def efficiency(found: dict, graph: str, what: str, threads: int) -> float:
    """Speed on some threads over so many times that on one."""
    of = {"part": "cpu", "key": "per_second", "graph": graph, "what": what}
    many, one = values(found, threads=threads, **of), values(found, threads=1, **of)
    return median(many) / (threads * median(one)) if many and one else float("nan")


def tell_cpu(found: dict) -> list[str]:
    rows = rows_of(found, "cpu")
    counts = [threads for (threads,) in distinct(rows, "threads")]
    lines = []
    for graph, what in distinct(rows, "graph", "what"):
        of = {"part": "cpu", "key": "per_second", "graph": graph, "what": what}
        speeds = [middle(values(found, threads=count, **of), 1e6, ".3g") for count in counts]
        lines.append([graph, what, *speeds, f"{efficiency(found, graph, what, max(counts)):.2f}"])
    heads = ["graph", "what", *(counted(count, "thread") for count in counts), "efficiency"]
    return [
        "Million steps or tokens (d = 128) a second on more and more threads, each with as much to "
        "do. Efficiency is the speed on the most threads over so many times that on one.",
        "",
        *(table(heads, lines) if counts else []),
        "On a small graph all threads change the same few thousand rows, and a row mostly comes "
        "out of another core's cache.",
        "",
    ]


def tell_limits(found: dict) -> list[str]:
    lines = [
        [what, middle(values(found, "limits", "per_second", what=what), 1e9, ",.0f")]
        for (what,) in distinct(rows_of(found, "limits"), "what")
        if what != "card"
    ]
    return table(["the card can, measured", "billion a second"], lines)


SECTIONS = {
    "What was asked for": (tell_targets, ()),
    "Walks": (tell_walks, ("walks",)),
    "Training": (tell_training, ("training",)),
    "Whole fits": (tell_whole, ("whole", "huge")),
    "Smoothing": (tell_smoothing, ("smoothing",)),
    "Are the vectors as good?": (tell_quality, ("quality",)),
    "Walks in flight": (tell_crowd, ("crowd",)),
    "The CPU backend": (tell_cpu, ("cpu",)),
    "The card's limits": (tell_limits, ("limits",)),
}


def report(found: dict) -> str:
    """The page."""
    card = next(iter(rows_of(found, "limits", what="card")), {})
    machines = [part["machine"] for part in found.values()]
    machine = machines[0]
    commits = ", ".join(dict.fromkeys(part["commit"] or "unknown" for part in machines))
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    lines = [
        f"# The CUDA backend on one {card.get('name', 'card of unknown name')}",
        "",
        f"Made by `benchmarks/gpu.py`; raw numbers in `benchmarks/results/gpu.json`. "
        f"{card.get('name', 'Card')}, driver {card.get('driver', 'unknown')}, SM clock "
        f"{card.get('clock', 'unknown')} of {card.get('highest_clock', 'unknown')}, CuPy "
        f"{card.get('cupy', 'unknown')}; {machine['processor']}, {machine['processors']} threads; "
        f"Python {machine['python']}, {versions}; {machine['date']}, commit {commits}. Median and "
        "range over the repeats, everything compiled and warm.",
        "",
    ]
    for title, (tell, parts) in SECTIONS.items():
        if not parts or any(part in found for part in parts):
            lines += [f"## {title}", "", *tell(found)]
    missing = [part for _, parts in SECTIONS.values() for part in parts if part not in found]
    if missing:
        lines += [f"Not run: {', '.join(missing)}.", ""]
    return "\n".join(lines).rstrip() + "\n"
