"""Benchmark the CUDA backend: speed, share of the GPU's peak rates, quality of the vectors.

    export REINFORCE2VEC_DATA=FOLDER               # where the files of the paper's graphs are
    PYTHONPATH=src python3 benchmarks/gpu.py --out DIR                 # all parts: some minutes
    PYTHONPATH=src python3 benchmarks/gpu.py --out DIR --parts limits,walks
    python benchmarks/gpu.py --out DIR --report    # DIR's parts to results/gpu.json, docs/gpu.md

It needs only numpy, scipy, numba and CuPy. Every measurement is printed and saved at once, to one
file per part, so that an interrupted run keeps its results. `--tiny` runs everything in seconds, on
a GPU emulated with g++ if there is none: its numbers mean nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from statistics import mean
from threading import Event, Thread

import numba
import numpy as np
import scipy

import reinforce2vec as r2v
from gpu_limits import measure_limits, rmat_on_gpu, seconds_of
from gpu_report import BLOGCATALOG, report
from machine import processor
from reinforce2vec._util.cuda import device
from reinforce2vec._util.machine import available_cpus

HERE = Path(__file__).parent
LENGTH = 40
WALKS = {
    "first-order": r2v.FirstOrderWalk(),
    "paper": r2v.ReinforcedWalk.paper(),
    "released": r2v.ReinforcedWalk.released(),
    "second-order": r2v.SecondOrderWalk(0.5, 2),
}
NAMES = {"blogcatalog": BLOGCATALOG, "ppi": "PPI", "facebook": "Facebook"}
Rows = Iterator[dict]


@dataclass(frozen=True)
class Sizes:
    """Sizes and repeats of all measurements."""

    tiny: bool = False
    rmat: int = 20  # its scale
    walks: int = 1 << 22  # made at a time
    repeats: int = 5
    rmat_repeats: int = 3  # of trainings on it
    per_node: int = 80  # walks, on the paper's graphs
    rmat_per_node: int = 10
    dimensions: tuple[int, ...] = (128, 64)
    large: int = 22
    large_repeats: int = 2
    huge: int = 25
    huge_per_node: int = 5
    seeds: int = 4
    shuffles: int = 5
    crowds: tuple[float, ...] = (0.25, 1, 4, 16)  # times the walks in flight
    crowd_seeds: int = 2
    threads: tuple[int, ...] = (1, 2, 4, 8, 16)
    thread_repeats: int = 2
    thread_steps: int = 4_000_000  # for each thread
    thread_walks: int = 20_000  # to train on, for each thread, at most


FULL = Sizes()
TINY = replace(
    FULL, tiny=True, rmat=5, walks=64, repeats=1, rmat_repeats=1, per_node=1, rmat_per_node=1,
    dimensions=(8,), large=5, large_repeats=1, huge=6, huge_per_node=1, seeds=2, shuffles=1,
    crowds=(1, 4), crowd_seeds=1, threads=(1, 2), thread_repeats=1, thread_steps=1000,
    thread_walks=20,
)  # fmt: skip


# -- graphs and models ---------------------------------------------------------------------------


@lru_cache
def dataset(name: str, tiny: bool) -> r2v.Dataset:
    if tiny:
        return r2v.planted_groups(24, 2, degree=6.0)
    folder = os.environ.get("REINFORCE2VEC_DATA")  # given, so that no package looks for others
    return r2v.load_dataset(name, folder, progress=False)


@lru_cache(maxsize=1)
def drawn(scale: int, tiny: bool) -> r2v.Graph:
    """Generate an R-MAT graph on the GPU."""
    return rmat_on_gpu(scale, 4 if tiny else 16, xp=np if tiny else None)


@lru_cache
def speed_graphs(sizes: Sizes) -> dict[str, r2v.Graph]:
    return {
        BLOGCATALOG: dataset("blogcatalog", sizes.tiny).graph,
        f"R-MAT 2^{sizes.rmat}": r2v.rmat(sizes.rmat),
    }


def linked_starts(graph: r2v.Graph) -> np.ndarray:
    """Return the nodes with a neighbour, in random order."""
    return np.random.default_rng(0).permutation(graph.ids[graph.degrees > 0])


def model_for(dimensions: int, backend: str = "cuda", **options: object) -> r2v.Reinforce2Vec:
    workers = available_cpus() if backend == "cpu" else None
    raw = {"walks_per_node": 80, "window": 10, "smooth": False}
    chosen = raw | {"walk_length": LENGTH, "workers": workers} | options
    return r2v.Reinforce2Vec(dimensions=dimensions, backend=backend, **chosen)


def is_emulated() -> bool:
    return not hasattr(device.cupy().cuda, "Event")


def used_bytes() -> int:
    """Return how much GPU memory is in use."""
    free, total = device.cupy().cuda.runtime.memGetInfo()
    return int(total - free)


@contextmanager
def watched_memory() -> Iterator[dict]:
    """Record GPU memory in use before and at its peak, sampled a hundred times per second."""
    device.cupy().get_default_memory_pool().free_all_blocks()
    seen = {"bytes_before": used_bytes(), "peak_bytes": used_bytes()}
    over = Event()

    def watch() -> None:
        while not over.wait(0.01):
            seen["peak_bytes"] = max(seen["peak_bytes"], used_bytes())

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


# -- speed ---------------------------------------------------------------------------------------


def measure_walks(sizes: Sizes) -> Rows:
    """Measure steps per second of each walk, written to GPU memory."""
    from reinforce2vec.walks.cuda.walker import DeviceWalker

    cp = device.cupy()
    walks = cp.empty((sizes.walks, LENGTH), np.int32)
    for graph_name, graph in speed_graphs(sizes).items():
        starts = linked_starts(graph)
        per_node = -(-(sizes.repeats + 1) * sizes.walks // len(starts))
        for name, walk in WALKS.items():
            sampler = r2v.WalkSampler(
                graph, walk, length=LENGTH, per_node=per_node, starts=starts, backend="cuda"
            )
            walker = DeviceWalker(sampler.task)
            for repeat in range(-1, sizes.repeats):  # the first one compiles
                first = (repeat + 1) * sizes.walks
                seconds = seconds_of(lambda walker=walker, first=first: walker.fill(first, walks))
                if repeat < 0:
                    continue
                made = walks.get() if is_emulated() else walks
                steps = int((made[:, 1:] >= 0).sum())
                yield {
                    "graph": graph_name, "walk": name, "repeat": repeat, "steps": steps,
                    "seconds": seconds, "per_second": steps / seconds,
                }  # fmt: skip


def measure_training(sizes: Sizes) -> Rows:
    """Measure tokens per second of a warm fit, without the preparation."""
    for graph_name, graph in speed_graphs(sizes).items():
        small = graph_name == BLOGCATALOG
        per_node = sizes.per_node if small else sizes.rmat_per_node
        for walk in ("first-order", "paper"):
            for d in sizes.dimensions:
                model_for(d, walk=WALKS[walk], walks_per_node=1).fit(graph, progress=False)
                for repeat in range(sizes.repeats if small else sizes.rmat_repeats):
                    model = model_for(d, walk=WALKS[walk], walks_per_node=per_node, seed=repeat)
                    model.fit(graph, progress=False)
                    yield {
                        "graph": graph_name, "walk": walk, "dimensions": d, "repeat": repeat,
                        "tokens": model.n_tokens_, "seconds": model.seconds_,
                        "per_second": model.n_tokens_ / model.seconds_,
                    }  # fmt: skip


def measure_whole(sizes: Sizes) -> Rows:
    """Measure whole fits: from a graph in host memory to vectors in host memory."""
    d = max(sizes.dimensions)
    blog = dataset("blogcatalog", sizes.tiny).graph
    model_for(d, walks_per_node=1).fit(blog, progress=False)  # compiled
    large = f"R-MAT 2^{sizes.large}"
    for name, per_node, repeats in (
        (BLOGCATALOG, sizes.per_node, sizes.repeats),
        (large, sizes.rmat_per_node, sizes.large_repeats),
    ):
        graph = drawn(sizes.large, sizes.tiny) if name == large else blog
        for repeat in range(repeats):
            model = model_for(d, walks_per_node=per_node, seed=repeat)
            with watched_memory() as memory:
                begin = time.perf_counter()
                model.fit_transform(graph, progress=False)
                seconds = time.perf_counter() - begin
            yield {
                "graph": name, "walks_per_node": per_node, "dimensions": d, "repeat": repeat,
                "seconds": seconds, "training_seconds": model.seconds_, "tokens": model.n_tokens_,
                "nodes": graph.n_nodes, "edges": len(graph.indices) // 2, **memory,
            }  # fmt: skip


def measure_huge(sizes: Sizes) -> Rows:
    """Measure one fit near the GPU's limit: seconds of each stage, and peak memory."""
    moments = [time.perf_counter()]
    graph = drawn(sizes.huge, sizes.tiny)
    moments.append(time.perf_counter())
    size = {"nodes": graph.n_nodes, "edges": len(graph.indices) // 2}
    yield {"stage": "graph drawn, brought to the host", "seconds": moments[1] - moments[0], **size}
    model = model_for(max(sizes.dimensions), walks_per_node=sizes.huge_per_node)
    with watched_memory() as memory:
        began = time.perf_counter()
        model.fit(graph, progress=False, callbacks=[lambda _: moments.append(time.perf_counter())])
        trained, end = moments[-1], time.perf_counter()
    speed = {"tokens": model.n_tokens_, "per_second": model.n_tokens_ / model.seconds_}
    for stage, seconds, more in (
        ("compiling, graph to the GPU, pilot walks", trained - began - model.seconds_, {}),
        ("walks and training", model.seconds_, speed),
        ("vectors to the host", end - trained, {}),
        ("whole fit", end - began, memory),
    ):
        yield {"stage": stage, "seconds": seconds, **more}


def measure_smoothing(sizes: Sizes) -> Rows:
    """Measure smoothing of vectors in host memory; the large graph on the GPU only."""
    d = max(sizes.dimensions)
    for name, graph in speed_graphs(sizes).items():
        vectors = np.random.default_rng(0).normal(size=(graph.n_nodes, d)).astype(np.float32)
        found = {}
        for backend in ("cpu", "cuda"):
            if is_emulated() if backend == "cuda" else name != BLOGCATALOG:
                continue
            for repeat in range(-1, sizes.rmat_repeats):  # the first one compiles
                begin = time.perf_counter()
                found[backend] = r2v.smooth(vectors, graph, backend=backend)
                seconds = time.perf_counter() - begin
                if repeat >= 0:
                    row = {"graph": name, "backend": backend, "dimensions": d, "repeat": repeat}
                    yield row | {"seconds": seconds}
        if len(found) == 2:
            difference = float(np.abs(found["cuda"] - found["cpu"]).max())
            yield {"graph": name, "dimensions": d, "largest_difference": difference}


# -- quality -------------------------------------------------------------------------------------


def evaluate(job: tuple[str, int, Sizes, np.ndarray]) -> dict[str, float]:
    """Return mean scores of vectors over several shuffles, in percent."""
    name, seed, sizes, vectors = job
    data, shuffles = dataset(name, sizes.tiny), range(sizes.shuffles)
    if name == "facebook":
        split = r2v.hold_out_edges(data.graph, seed=seed)
        scores = [r2v.score_links(vectors, split, seed=s, operators=["hadamard"]) for s in shuffles]
        return {"AUC": mean(score["hadamard"]["auc"] for score in scores)}
    scores = [r2v.classify_nodes(vectors, data.labels, seed=shuffle) for shuffle in shuffles]
    return {f"{kind}-F1": mean(score[kind] for score in scores) for kind in ("micro", "macro")}


def scored(trained: Iterator[tuple[dict, str, int, np.ndarray]], sizes: Sizes) -> Rows:
    """Train one after the other, each with the whole machine; then evaluate all in parallel."""
    done = list(trained)
    jobs = [(name, seed, sizes, vectors) for _, name, seed, vectors in done]
    if sizes.tiny:
        yield from (row | evaluate(job) for (row, *_), job in zip(done, jobs, strict=True))
        return
    spawn = multiprocessing.get_context("spawn")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for each process
    with ProcessPoolExecutor(available_cpus(), mp_context=spawn) as processes:
        for (row, *_), scores in zip(done, processes.map(evaluate, jobs), strict=True):
            yield row | scores


def trained_on(name: str, seed: int, d: int, backend: str, sizes: Sizes) -> r2v.Reinforce2Vec:
    graph = dataset(name, sizes.tiny).graph
    if name == "facebook":
        graph = r2v.hold_out_edges(graph, seed=seed).graph
    model = model_for(d, backend, walks_per_node=sizes.per_node, seed=seed)
    return model.fit(graph, progress=False)


def measure_quality(sizes: Sizes) -> Rows:
    """Measure scores with both backends and several seeds."""

    def trained() -> Iterator[tuple[dict, str, int, np.ndarray]]:
        for name, title in NAMES.items():
            for d in sizes.dimensions:
                for seed in range(sizes.seeds):
                    for backend in ("cpu", "cuda"):
                        model = trained_on(name, seed, d, backend, sizes)
                        row = {"graph": title, "dimensions": d, "seed": seed, "backend": backend}
                        row["per_second"] = model.n_tokens_ / model.seconds_
                        yield row, name, seed, model.embedding_.vectors

    return scored(trained(), sizes)


def measure_crowd(sizes: Sizes) -> Rows:
    """Measure the effect of more walks in flight, with and without scaled-down updates."""
    from reinforce2vec.skipgram.cuda import engine as training
    from reinforce2vec.skipgram.state import Settings

    names = ("CROWD", "TURNS", "TOGETHER")
    usual = {name: getattr(training, name) for name in names}
    gpu, d = device.properties(), max(sizes.dimensions)
    shape = training.shape_for(Settings(dimensions=d), gpu)
    failed = []

    def trained() -> Iterator[tuple[dict, str, int, np.ndarray]]:
        for name, title in NAMES.items():
            n_nodes = dataset(name, sizes.tiny).graph.n_nodes
            for times, bounded in itertools.product(sizes.crowds, (True, False)):
                training.CROWD, training.TURNS = usual["CROWD"] * times, usual["TURNS"] / times
                training.TOGETHER = usual["TOGETHER"] if bounded else 1e9
                n_walks = n_nodes * sizes.per_node
                flying = training.walks_in_flight(n_nodes, n_walks, shape, gpu)
                for seed in range(sizes.crowd_seeds):
                    row = {"graph": title, "times": times, "bounded": bounded, "seed": seed}
                    row |= {"in_flight": flying, "dimensions": d}
                    try:
                        model = trained_on(name, seed, d, "cuda", sizes)
                    except r2v.InputError as error:
                        failed.append(row | {"failed": str(error)})
                        continue
                    row["per_second"] = model.n_tokens_ / model.seconds_
                    yield row, name, seed, model.embedding_.vectors

    try:
        yield from scored(trained(), sizes)
        yield from failed
    finally:
        for name, value in usual.items():
            setattr(training, name, value)


# -- the CPU -------------------------------------------------------------------------------------


def measure_cpu(sizes: Sizes) -> Rows:
    """Measure the CPU backend on 1 to 16 threads, with the same work for each thread."""
    tasks: dict[tuple[str, str], Callable[[int], tuple[int, float]]] = {}
    for graph_name, graph in speed_graphs(sizes).items():
        starts, small = linked_starts(graph), graph_name == BLOGCATALOG
        for name in ("first-order", "paper"):
            if not small:
                tasks[graph_name, f"{name} walks"] = walking(graph, WALKS[name], starts, sizes)
        walks = r2v.sample_walks(
            graph, WALKS["first-order"], per_node=10 if small else 1, starts=starts, backend="cpu"
        )
        walks = np.random.default_rng(0).permutation(walks)
        tasks[graph_name, "training"] = learning(graph, walks, sizes)
    counts = [threads for threads in sizes.threads if threads <= available_cpus()]
    for repeat in range(-1, sizes.thread_repeats):  # the first one compiles
        for (graph_name, what), task in tasks.items():
            for threads in counts if repeat >= 0 else (1,):
                amount, seconds = task(threads)
                if repeat >= 0:
                    yield {
                        "graph": graph_name, "what": what, "threads": threads, "repeat": repeat,
                        "amount": amount, "seconds": seconds, "per_second": amount / seconds,
                    }  # fmt: skip


def walking(graph: r2v.Graph, walk: object, starts: np.ndarray, sizes: Sizes) -> Callable:
    each = -(-sizes.thread_steps // (LENGTH - 1))
    size = (each * max(sizes.threads), LENGTH)
    walks = np.zeros(size, np.int32)  # allocated, not timed
    sampler = r2v.WalkSampler(
        graph, walk, length=LENGTH, per_node=-(-len(walks) // len(starts)), starts=starts,
        backend="cpu",
    )  # fmt: skip

    def task(threads: int) -> tuple[int, float]:
        made, chunk = walks[: threads * each], 1024
        begins = range(0, len(made), chunk)
        with ThreadPoolExecutor(threads) as pool:
            begin = time.perf_counter()
            list(pool.map(lambda at: sampler.fill(at, made[at : at + chunk]), begins))
            seconds = time.perf_counter() - begin
        return int(np.count_nonzero(made[:, 1:] >= 0)), seconds

    return task


def learning(graph: r2v.Graph, walks: np.ndarray, sizes: Sizes) -> Callable:
    each = min(len(walks) // max(sizes.threads), sizes.thread_walks)

    def task(threads: int) -> tuple[int, float]:
        model = model_for(max(sizes.dimensions), "cpu", workers=threads)
        model.fit_walks(walks[: threads * each], ids=graph.ids, progress=False)
        return model.n_tokens_, model.seconds_

    return task


# -- running -------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Sizes], Rows]] = {
    "limits": lambda sizes: measure_limits(sizes.tiny, sizes.repeats),
    "walks": measure_walks,
    "training": measure_training,
    "whole": measure_whole,
    "huge": measure_huge,
    "smoothing": measure_smoothing,
    "quality": measure_quality,
    "crowd": measure_crowd,
    "cpu": measure_cpu,
}


def describe() -> dict:
    """Return machine, versions, date and, where git knows it, the commit."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(command, cwd=HERE, capture_output=True, text=True).stdout.strip()
    except OSError:
        commit = ""
    modules = (r2v, np, scipy, numba)
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": processor(),
        "processors": available_cpus(),
        "python": platform.python_version(),
        "versions": {module.__name__: module.__version__ for module in modules},
        "commit": commit,
    }


def run(part: str, sizes: Sizes, folder: Path) -> None:
    """Measure a part; save the results after every measurement."""
    found = {"machine": describe(), "rows": []}
    begin = time.perf_counter()
    for row in PARTS[part](sizes):
        found["rows"].append(row)
        found["seconds"] = time.perf_counter() - begin
        (folder / f"{part}.json").write_text(json.dumps(found, indent=1) + "\n")
        shown = (f"{value:.6g}" if isinstance(value, float) else value for value in row.values())
        print(f"{part}:", *shown, flush=True)
    print(f"{part}: done in {time.perf_counter() - begin:.1f} s", flush=True)


def use_emulator_if_needed() -> None:
    """Emulate a GPU with g++ if there is none (for --tiny)."""
    if device.why_not() is not None:
        sys.path.insert(0, str(HERE.parent / "tests"))
        from helpers import emulator

        sys.modules["cupy"] = emulator
        device.why_not.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the parts' results")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of: " + ", ".join(PARTS))
    parser.add_argument("--tiny", action="store_true", help="only check that everything runs")
    parser.add_argument("--report", action="store_true", help="only write the page, from --out")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "gpu.md")
    parser.add_argument("--raw", type=Path, default=HERE / "results" / "gpu.json")
    parser.add_argument("--commit", help="the commit measured, where git did not know it")
    options = parser.parse_args()
    if not options.report:
        options.out.mkdir(parents=True, exist_ok=True)
        if options.tiny:
            use_emulator_if_needed()
        for part in options.parts.split(","):
            run(part, TINY if options.tiny else FULL, options.out)
        return
    files = {part: options.out / f"{part}.json" for part in PARTS}
    found = {part: json.loads(path.read_text()) for part, path in files.items() if path.exists()}
    for part in found.values():
        part["machine"]["commit"] = options.commit or part["machine"]["commit"]
    options.raw.parent.mkdir(parents=True, exist_ok=True)
    options.raw.write_text(json.dumps(found, indent=1) + "\n")
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(report(found))
    print(f"wrote {os.path.relpath(options.raw)} and {os.path.relpath(options.page)}")


if __name__ == "__main__":
    main()
