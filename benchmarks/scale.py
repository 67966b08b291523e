"""Benchmark every stage on R-MAT graphs of 10^4 to 10^7 nodes: time and memory for each token.

The stages are reading a text file of edges (16 for each node), walking, training, smoothing, a
whole fit with few and short walks, and the nearest neighbours of a thousand nodes. Each has a
process of its own, which takes its input from files in FOLDER; memory is the growth of its peak
while it works. The stage `scratch` is the whole fit once more, with its large arrays in files;
its memory is what is not in files. Results of several calls are merged into one file, so each
size can run separately, and the page is made from all of them.

Every node has at least one edge, so that graphs have as many nodes as they are named after: one
of its edges leads to a node that R-MAT draws, the other 15 for each node are R-MAT's.

There is one walk from each node, or as many as give --tokens. Training is measured from the end
of its first pass until it has trained on --tokens, at least to the end of another pass: the cost
of a token is compared, not that of a whole training.

    python benchmarks/scale.py --sizes 10000 100000 --workers 2
    python benchmarks/scale.py --sizes 10000000 --stages make read --folder /data/scale
    python benchmarks/scale.py --draw        # the page and the figure, from the results so far
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import hashlib
import json
import os
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import reinforce2vec as r2v
from measuring import THREADS, describe, in_new_process, measured, read_options
from reinforce2vec.models._memory import smoothing_bytes
from reporting import ROOT, distinct, publish, select, table

SHOWN = {  # what a stage does, and the unit of which the cost is compared
    "read": ("reading", "edge"),
    "walk": ("walking", "token"),
    "train": ("training", "token"),
    "smooth": ("smoothing", "node"),
    "neighbors": ("10 nearest of 1,000 nodes", "node and query"),
    "embed": ("whole fit with one walk of 10", "token"),
    "scratch": ("the same in a scratch folder", "token"),
}
DIMENSIONS, EDGE_FACTOR, LENGTH, QUERIES = 64, 16, 40, 1000
PART = 1 << 21  # edges that a process makes at a time
FROM, MOST = 100_000, 1.3  # the smallest size that the goal compares, and the growth it allows


# -- the graph -----------------------------------------------------------------------------------


def make(path: Path, nodes: int) -> None:
    """Write an R-MAT graph as a text file of edges; nodes are numbered below `nodes`."""
    edges = EDGE_FACTOR * nodes
    parts = [(nodes, first, min(PART, edges - first)) for first in range(0, edges, PART)]
    with path.open("wb") as file, get_context("spawn").Pool() as pool:
        for text in pool.imap(edge_lines, parts):
            file.write(text)


def edge_lines(part: tuple[int, int, int]) -> bytes:
    """Return lines of edges: of a number of nodes, the part's first edge and size."""
    nodes, first, size = part
    shuffled = np.random.default_rng(0).permutation(nodes)  # numbers do not reveal degrees
    rng = np.random.default_rng((1, first // PART))
    ends = np.zeros((2, size), np.int64)
    for _ in range(max(1, (nodes - 1).bit_length())):
        quarter = rng.random(size, np.float32)
        ends *= 2
        ends[0] += quarter >= 0.76
        ends[1] += ((quarter >= 0.57) & (quarter < 0.76)) | (quarter >= 0.95)
    ends %= nodes  # of other sizes than 2^k: folded
    linked = np.arange(first, min(first + size, nodes))  # the first edges are one of each node
    ends[0, : len(linked)] = linked
    return "".join(f"{a} {b}\n" for a, b in shuffled[ends].T.tolist()).encode()


def load(folder: Path) -> r2v.Graph:
    """Return the graph of a size."""
    graph = pickle.loads((folder / "graph.pickle").read_bytes())
    # copies are on huge pages, as the arrays of a graph that was read are
    return replace(graph, indptr=graph.indptr.copy(), indices=graph.indices.copy())


# -- the stages, each in a process of its own ----------------------------------------------------


def run_stage(stage: str, folder: Path, size: int, options: argparse.Namespace) -> dict:
    """Run a stage; return its units, seconds, memory and, for most, the estimated memory."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(options.workers))
    return STAGES[stage](folder, size, options)


def measure(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Measure some work after freed memory was returned to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return measured(work)


def read(folder: Path, size: int, _options: argparse.Namespace) -> dict:
    """Read the text file; the graph is kept for the other stages."""
    small = folder / "small.txt"
    small.write_text("1 2\n2 3\n" * 2000)
    r2v.read_graph(small)  # compiles
    facts, graph = measure(lambda: r2v.read_graph(folder / "edges.txt"))
    # to read a .npz takes 100 bytes an arc
    (folder / "graph.pickle").write_bytes(pickle.dumps(graph, protocol=5))
    sizes = {"nodes": graph.n_nodes, "arcs": len(graph.indices), "graph_bytes": graph.nbytes}
    return {"units": EDGE_FACTOR * size, **facts, **sizes}


def walk(folder: Path, _size: int, options: argparse.Namespace) -> dict:
    """Make walks of the default kind, and throw them away, as training does."""
    graph = load(folder)
    how = {"length": LENGTH, "workers": options.workers, "backend": "cpu"}
    r2v.WalkSampler(r2v.rmat(8), per_node=1, **how).sample()  # compiles
    per_node = -(-options.tokens // (LENGTH * graph.n_nodes))
    sampler = r2v.WalkSampler(graph, per_node=per_node, **how)
    facts, tokens = measure(lambda: sum(block.size for block in sampler))
    return {"units": tokens, **facts}  # no walk ends early: every node has an edge


class Enough(Exception):
    """Enough was trained."""


def train(folder: Path, _size: int, options: argparse.Namespace) -> dict:
    """Train the first passes of a fit with ten walks a node; the seconds are those of training."""
    how = {"dimensions": DIMENSIONS, "walk_length": LENGTH, "smooth": False}
    how |= {"workers": options.workers, "backend": "cpu"}
    r2v.Reinforce2Vec(walks_per_node=1, **how).fit(r2v.rmat(9), progress=False)  # compiles
    graph, model, moments = load(folder), r2v.Reinforce2Vec(walks_per_node=10, **how), []

    def watch(moment: Any) -> None:
        moments.append((moment.tokens, moment.seconds, time.process_time()))
        if moment.tokens >= options.tokens and len(moments) > 1:
            raise Enough

    def fit() -> None:
        with suppress(Enough):
            model.fit(graph, progress=False, callbacks=[watch])

    facts, _ = measure(fit)
    tokens, seconds, cpu_seconds = (b - a for a, b in zip(moments[0], moments[-1], strict=True))
    facts |= {"seconds": seconds, "cpu_seconds": cpu_seconds, "pass_tokens": moments[0][0]}
    return {"units": tokens, **facts, "estimate": model.estimate_memory(graph)}


def smooth(folder: Path, _size: int, options: argparse.Namespace) -> dict:
    """Smooth random vectors, and keep them for the last stage."""
    graph, how = load(folder), {"workers": options.workers, "backend": "cpu"}
    vectors = np.random.default_rng(0).random((graph.n_nodes, DIMENSIONS), np.float32)
    r2v.smooth(vectors[:256], r2v.rmat(8), **how)  # compiles
    facts, result = measure(lambda: r2v.smooth(vectors, graph, **how))
    np.save(folder / "vectors.npy", result)
    estimate = smoothing_bytes(graph, DIMENSIONS, options.workers)
    return {"units": graph.n_nodes, **facts, "estimate": estimate}


def neighbors(folder: Path, _size: int, _options: argparse.Namespace) -> dict:
    """Find the ten nearest of some nodes, exactly."""
    vectors = np.load(folder / "vectors.npy")
    embedding = r2v.Embedding(np.arange(len(vectors)), vectors)
    queries = np.random.default_rng(0).choice(len(vectors), QUERIES, replace=False).tolist()
    small = r2v.Embedding(np.arange(100), vectors[:100])
    r2v.nearest_neighbors(small, list(range(5)), k=3)  # compiles
    facts, _ = measure(lambda: r2v.nearest_neighbors(embedding, queries, k=10))
    return {"units": QUERIES * len(vectors), **facts}


def embed(folder: Path, _size: int, options: argparse.Namespace, **how: str) -> dict:
    """Fit with all that belongs to it, but few and short walks; keep the vectors."""
    how |= {"dimensions": DIMENSIONS, "walks_per_node": 1, "walk_length": 10}
    how |= {"workers": options.workers, "backend": "cpu"}
    r2v.Reinforce2Vec(**how).fit(r2v.rmat(9), progress=False)  # compiles
    graph, model = load(folder), r2v.Reinforce2Vec(**how)
    estimate, moments, private = model.estimate_memory(graph), [], []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            private.append(private_bytes())

    before = private_bytes()
    watcher = threading.Thread(target=watch)
    watcher.start()
    facts, _ = measure(lambda: model.fit(graph, progress=False, callbacks=[moments.append]))
    ended.set()
    watcher.join()
    if "scratch" in how:  # what is not in files
        facts["peak_bytes"] = max(private, default=before) - before
    vectors = model.embedding_.vectors
    np.save(folder / "vectors.npy", vectors)
    facts |= {"train_seconds": moments[-1].seconds, "estimate": estimate}
    blocks = range(0, len(vectors), 2**16)
    facts["finite"] = all(np.isfinite(vectors[at : at + 2**16]).all() for at in blocks)
    facts["sha256"] = hashlib.sha256(np.ascontiguousarray(vectors).data).hexdigest()[:16]
    return {"units": moments[-1].tokens, **facts}


def private_bytes() -> int:
    """Return the memory of this process that no file holds."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


def scratch(folder: Path, size: int, options: argparse.Namespace) -> dict:
    """Fit with matrices, pairs, arrays of smoothing and vectors in mapped files."""
    return embed(folder, size, options, scratch=str(folder))


STAGES = {
    "read": read,
    "walk": walk,
    "train": train,
    "smooth": smooth,
    "embed": embed,
    "scratch": scratch,
    "neighbors": neighbors,
}


# -- the run -------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> None:
    """Run the stages of all sizes, and merge what they measure with earlier results."""
    report, machine = read_report(options.out), describe()
    for size in options.sizes:
        folder = options.folder / str(size)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "edges.txt").exists():
            make(folder / "edges.txt", size)
        for stage in options.stages:
            row = in_new_process(run_stage, stage, folder, size, options)
            key = {"size": size, "stage": stage, "workers": options.workers}
            print(key, row, flush=True)
            earlier = select(report["results"], **key)
            results = [row for row in report["results"] if row not in earlier]
            results.append(row | key | {"machine": machine})
            order = list(STAGES)
            results.sort(key=lambda row: (row["size"], order.index(row["stage"]), row["workers"]))
            report["results"] = results
            options.out.write_text(json.dumps(report, indent=1) + "\n")


def read_report(path: Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {"results": []}


def cost(row: dict) -> float:
    """Return the nanoseconds of CPU time for each unit."""
    return 1e9 * row["cpu_seconds"] / row["units"]


def growth(results: list[dict]) -> dict[str, list[float]]:
    """Return, for each stage, the cost of a unit at each size from FROM on, beside that at FROM."""
    sizes = compared_sizes(results)
    multiples = {}
    for stage in SHOWN:
        costs = {row["size"]: cost(row) for row in select(results, stage=stage)}
        if len(sizes) > 1 and costs.keys() >= set(sizes):
            multiples[stage] = [costs[size] / costs[FROM] for size in sizes]
    return multiples


def compared_sizes(results: list[dict]) -> list[int]:
    return sorted(size for (size,) in distinct(results, "size") if size >= FROM)


def cells(row: dict) -> list[str]:
    words, unit = SHOWN[row["stage"]]
    each, peak = cost(row), row["peak_bytes"]
    return [
        *(f"{row['size']:,}", words, str(row["workers"])),
        *(f"{row['seconds']:.2f}", f"{row['cpu_seconds']:.2f}"),
        *(f"{each:,.1f}" if each < 100 else f"{each:,.0f}", unit),
        *(f"{peak / 1e6:,.0f}", f"{peak / row['size']:,.0f}"),
        f"{row['estimate'] / peak:.2f}" if "estimate" in row else "",
    ]


HEADS = (
    *("nodes", "stage", "threads", "seconds", "CPU s", "CPU ns for each", "unit", "peak MB"),
    *("bytes for each node", "estimate / peak"),
)


def render(report: dict) -> str:
    """Return the page."""
    results = report["results"]
    machines = {
        "{processor}, Python {python}, {date}, commit {commit}".format(**row["machine"])
        for row in results
    }
    lines = [
        "# From ten thousand to ten million nodes",
        "",
        f"R-MAT graphs with {EDGE_FACTOR} edges drawn for each node, {DIMENSIONS} dimensions. "
        f"Measured on: {'; '.join(sorted(machines))}. Each stage has a process of its own; memory "
        "is the growth of its peak. The estimate is that of `estimate_memory`; before a run "
        "starts, up to 32 MB are added to it for freed memory that the C library keeps.",
        "",
        *table(HEADS, map(cells, results)),
        *("", "## Growth", ""),
    ]
    multiples = growth(results)
    if not multiples:
        return "\n".join([*lines, "Results of two sizes from 100,000 nodes on are needed."]) + "\n"
    within = [SHOWN[stage][0] for stage, values in multiples.items() if values[-1] <= MOST]
    rows = (
        [SHOWN[stage][0], *(f"{value:.2f}" for value in values)]
        for stage, values in multiples.items()
    )
    lines += [
        f"CPU time for each unit, as a multiple of that with {FROM:,} nodes. Our goal is at most "
        f"{MOST} with 10,000,000 nodes; it is met by: {', '.join(within) or 'no stage'}. The work "
        "for each unit does not grow, but what it looks up does: arrays of the small graphs fit "
        "into the caches of the CPU, those of the large ones are in memory, where each node "
        "of a walk, each pair of rows and each new id is somewhere else.",
        "",
        *table(["stage", *(f"{size:,}" for size in compared_sizes(results))], rows),
    ]
    return "\n".join(lines) + "\n"


def draw(results: list[dict], path: Path) -> None:
    """Draw the growth of the CPU time of a unit, and the memory for each node."""
    from reinforce2vec.plotting.style import COLOURS, GREY, MARKERS, new_figure, save, styled

    with styled():
        figure = new_figure(8, 3.8)
        times, memory = figure.subplots(1, 2)
        multiples = growth(results)
        for stage, colour, marker in zip(SHOWN, COLOURS, MARKERS, strict=False):
            look = {"color": colour, "marker": marker, "markersize": 4}
            rows = select(results, stage=stage)
            if stage in multiples:
                times.plot(compared_sizes(results), multiples[stage], **look)
            each = [row["peak_bytes"] / row["size"] for row in rows]
            memory.plot([row["size"] for row in rows], each, label=SHOWN[stage][0], **look)
        times.axhline(MOST, color=GREY, linestyle="--", linewidth=1, label=f"goal: {MOST}")
        times.legend(fontsize=7)
        times.set(xscale="log", xlabel="nodes", ylim=0)
        times.set_title(f"CPU time for each unit, with {FROM:,} nodes = 1")
        memory.set(xscale="log", yscale="log", xlabel="nodes")
        memory.set_title("Bytes of memory for each node")
        figure.legend(*memory.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        save(figure, path, dpi=200)


def main() -> None:
    """Run, or draw."""
    options = read_options(
        "scale",
        __doc__,
        sizes=[10_000, 100_000],  # nodes
        stages=list(STAGES),
        workers=THREADS,
        tokens=10_000_000,  # to walk and to train on
        folder=Path("/tmp/scale"),  # for the graphs
        picture=ROOT / "docs" / "benchmarks" / "scale.png",
        draw=False,
    )
    if not options.draw:
        run(options)
    report = read_report(options.out)
    draw(report["results"], options.picture)
    publish(report, render, options.out)


if __name__ == "__main__":
    main()
