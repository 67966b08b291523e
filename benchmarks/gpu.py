"""Benchmark the CUDA backend: speed, share of the GPU's peak rates, quality of the vectors.

    export REINFORCE2VEC_DATA=FOLDER               # where the files of the paper's graphs are
    PYTHONPATH=src python3 benchmarks/gpu.py --out DIR                 # all parts: some minutes
    PYTHONPATH=src python3 benchmarks/gpu.py --out DIR --parts limits walks
    python benchmarks/gpu.py --out DIR --report    # DIR's parts to results/gpu.json, docs/gpu.md

It needs only numpy, scipy, numba and CuPy. Every measurement is printed and saved at once, to one
file per part, so that an interrupted run keeps its results. `--tiny` runs everything in seconds, on
a GPU emulated with g++ if there is none: its numbers mean nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import mean
from threading import Event, Thread

import numpy as np

import reinforce2vec as r2v
from gpu_limits import measure_limits, rmat_on_gpu, seconds_of
from gpu_report import BLOGCATALOG, report
from measuring import describe, read_options, timed
from reinforce2vec._util.cuda import device
from reinforce2vec._util.machine import available_cpus
from reporting import RESULTS, ROOT
from skip_gram import LENGTH

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
    large: int = 22
    huge: int = 25
    walks: int = 1 << 22  # made at a time
    per_node: int = 80  # walks, on the paper's graphs
    rmat_per_node: int = 10
    huge_per_node: int = 5
    dimensions: tuple[int, ...] = (128, 64)
    repeats: int = 5
    rmat_repeats: int = 3
    seeds: int = 4
    shuffles: int = 5


FULL = Sizes()
TINY = Sizes(True, 5, 5, 6, 64, 1, 1, 1, (8,), 1, 1, 2, 1)


# -- graphs and models ---------------------------------------------------------------------------


@lru_cache
def dataset(name: str, tiny: bool) -> r2v.Dataset:
    if tiny:
        return r2v.planted_groups(24, 2, degree=6.0)
    folder = os.environ.get("REINFORCE2VEC_DATA")  # named, so that no package looks for others
    return r2v.load_dataset(name, folder, progress=False)


@lru_cache(maxsize=1)
def drawn(scale: int, tiny: bool) -> r2v.Graph:
    """Generate an R-MAT graph on the GPU."""
    return rmat_on_gpu(scale, 4 if tiny else 16, xp=np if tiny else None)


@lru_cache
def speed_graphs(sizes: Sizes) -> dict[str, r2v.Graph]:
    blog = dataset("blogcatalog", sizes.tiny).graph
    return {BLOGCATALOG: blog, f"R-MAT 2^{sizes.rmat}": r2v.rmat(sizes.rmat)}


def model_for(dimensions: int, backend: str = "cuda", **options: object) -> r2v.Reinforce2Vec:
    raw = {"walks_per_node": 80, "window": 10, "smooth": False, "walk_length": LENGTH}
    raw |= {"workers": available_cpus() if backend == "cpu" else None}
    return r2v.Reinforce2Vec(dimensions=dimensions, backend=backend, **(raw | options))


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
    memory, over = {"bytes_before": used_bytes(), "peak_bytes": used_bytes()}, Event()

    def watch() -> None:
        while not over.wait(0.01):
            memory["peak_bytes"] = max(memory["peak_bytes"], used_bytes())

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield memory
    finally:
        over.set()
        watcher.join()


# -- speed ---------------------------------------------------------------------------------------


def measure_walks(sizes: Sizes) -> Rows:
    """Measure steps per second of each walk, written to GPU memory."""
    from reinforce2vec.walks.cuda.walker import DeviceWalker

    walks = device.cupy().empty((sizes.walks, LENGTH), np.int32)
    for graph_name, graph in speed_graphs(sizes).items():
        starts = np.random.default_rng(0).permutation(graph.ids[graph.degrees > 0])
        per_node = -(-(sizes.repeats + 1) * sizes.walks // len(starts))
        how = {"length": LENGTH, "per_node": per_node, "starts": starts, "backend": "cuda"}
        for name, walk in WALKS.items():
            walker = DeviceWalker(r2v.WalkSampler(graph, walk, **how).task)
            walker.fill(0, walks)  # compiles
            for repeat in range(sizes.repeats):
                first = (repeat + 1) * sizes.walks
                seconds = seconds_of(lambda walker=walker, first=first: walker.fill(first, walks))
                numbers = walks.get() if is_emulated() else walks
                steps = int((numbers[:, 1:] >= 0).sum())
                row = {"graph": graph_name, "walk": name, "repeat": repeat, "steps": steps}
                yield row | {"seconds": seconds, "per_second": steps / seconds}


def measure_training(sizes: Sizes) -> Rows:
    """Measure tokens per second of a warm fit, without the preparation."""
    for name, graph in speed_graphs(sizes).items():
        small = name == BLOGCATALOG
        per_node = sizes.per_node if small else sizes.rmat_per_node
        for walk in ("first-order", "paper"):
            for d in sizes.dimensions:
                model_for(d, walk=WALKS[walk], walks_per_node=1).fit(graph, progress=False)
                for repeat in range(sizes.repeats if small else sizes.rmat_repeats):
                    model = model_for(d, walk=WALKS[walk], walks_per_node=per_node, seed=repeat)
                    model.fit(graph, progress=False)
                    row = {"graph": name, "walk": walk, "dimensions": d, "repeat": repeat}
                    yield row | speed_of(model) | {"seconds": model.seconds_}


def speed_of(model: r2v.Reinforce2Vec) -> dict[str, float]:
    return {"tokens": model.n_tokens_, "per_second": model.n_tokens_ / model.seconds_}


def measure_whole(sizes: Sizes) -> Rows:
    """Measure whole fits: from a graph in host memory to vectors in host memory."""
    d = max(sizes.dimensions)
    model_for(d, walks_per_node=1).fit(dataset("blogcatalog", sizes.tiny).graph, progress=False)
    for name, make, per_node, repeats in (
        (BLOGCATALOG, lambda: dataset("blogcatalog", sizes.tiny).graph, sizes.per_node, 5),
        (f"R-MAT 2^{sizes.large}", lambda: drawn(sizes.large, sizes.tiny), sizes.rmat_per_node, 2),
    ):
        graph = make()
        facts = {"graph": name, "walks_per_node": per_node, "dimensions": d}
        facts |= {"nodes": graph.n_nodes, "edges": len(graph.indices) // 2}
        for repeat in range(min(repeats, sizes.repeats)):
            model = model_for(d, walks_per_node=per_node, seed=repeat)
            with watched_memory() as memory:
                times, _ = timed(lambda m=model, g=graph: m.fit_transform(g, progress=False))
            row = {"repeat": repeat, "seconds": times["seconds"], "tokens": model.n_tokens_}
            yield {**facts, **row, "training_seconds": model.seconds_, **memory}


def measure_huge(sizes: Sizes) -> Rows:
    """Measure one fit near the GPU's limit: seconds of each stage, and peak memory."""
    drawing, graph = timed(lambda: drawn(sizes.huge, sizes.tiny))
    size = {"nodes": graph.n_nodes, "edges": len(graph.indices) // 2}
    yield {"stage": "graph drawn, brought to the host", "seconds": drawing["seconds"], **size}
    model = model_for(max(sizes.dimensions), walks_per_node=sizes.huge_per_node)
    moments = []
    with watched_memory() as memory:
        began = time.perf_counter()
        model.fit(graph, progress=False, callbacks=[lambda _: moments.append(time.perf_counter())])
        trained, end = moments[-1], time.perf_counter()
    for stage, seconds, more in (
        ("compiling, graph to the GPU, pilot walks", trained - began - model.seconds_, {}),
        ("walks and training", model.seconds_, speed_of(model)),
        ("vectors to the host", end - trained, {}),
        ("whole fit", end - began, memory),
    ):
        yield {"stage": stage, "seconds": seconds, **more}


def measure_smoothing(sizes: Sizes) -> Rows:
    """Measure smoothing of vectors in host memory; the large graph on the GPU only."""
    d = max(sizes.dimensions)
    for name, graph in speed_graphs(sizes).items():
        vectors = np.random.default_rng(0).normal(size=(graph.n_nodes, d)).astype(np.float32)
        results = {}
        for backend in ("cpu", "cuda"):
            if is_emulated() if backend == "cuda" else name != BLOGCATALOG:
                continue
            for repeat in range(-1, sizes.rmat_repeats):  # the first one compiles
                times, results[backend] = timed(
                    lambda v=vectors, g=graph, b=backend: r2v.smooth(v, g, backend=b)
                )
                if repeat >= 0:
                    row = {"graph": name, "backend": backend, "dimensions": d, "repeat": repeat}
                    yield row | {"seconds": times["seconds"]}
        if len(results) == 2:
            difference = float(np.abs(results["cuda"] - results["cpu"]).max())
            yield {"graph": name, "dimensions": d, "largest_difference": difference}


# -- quality -------------------------------------------------------------------------------------


def measure_quality(sizes: Sizes) -> Rows:
    """Measure scores with both backends and several seeds, in percent."""
    shuffles = range(sizes.shuffles)
    for name, title in NAMES.items():
        data = dataset(name, sizes.tiny)
        for d in sizes.dimensions:
            for seed in range(sizes.seeds):
                split = r2v.hold_out_edges(data.graph, seed=seed) if name == "facebook" else None
                for backend in ("cpu", "cuda"):
                    model = model_for(d, backend, walks_per_node=sizes.per_node, seed=seed)
                    vectors = model.fit_transform(
                        split.graph if split else data.graph, progress=False
                    )
                    row = {"graph": title, "dimensions": d, "seed": seed, "backend": backend}
                    row |= speed_of(model)
                    if split:
                        links = [r2v.score_links(vectors, split, seed=s) for s in shuffles]
                        yield row | {"AUC": mean(score["hadamard"]["auc"] for score in links)}
                        continue
                    scores = [r2v.classify_nodes(vectors, data.labels, seed=s) for s in shuffles]
                    f1 = ("micro", "macro")
                    yield row | {f"{key}-F1": mean(score[key] for score in scores) for key in f1}


# -- running -------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Sizes], Rows]] = {
    "limits": lambda sizes: measure_limits(sizes.tiny, sizes.repeats),
    "walks": measure_walks,
    "training": measure_training,
    "whole": measure_whole,
    "huge": measure_huge,
    "smoothing": measure_smoothing,
    "quality": measure_quality,
}


def run(part: str, sizes: Sizes, folder: Path) -> None:
    """Measure a part; save the results after every measurement."""
    results: dict = {"machine": describe(), "rows": []}
    for row in PARTS[part](sizes):
        results["rows"].append(row)
        (folder / f"{part}.json").write_text(json.dumps(results, indent=1) + "\n")
        print(f"{part}: {row}", flush=True)


def use_emulator_if_needed() -> None:
    """Emulate a GPU with g++ if there is none (for --tiny)."""
    if device.why_not() is not None:
        sys.path.insert(0, str(ROOT / "tests"))
        from helpers import emulator

        sys.modules["cupy"] = emulator
        device.why_not.cache_clear()


def main() -> None:
    more = {"parts": list(PARTS), "out": Path("gpu-results"), "commit": str}
    options = read_options("gpu", __doc__, tiny=False, report=False, **more)
    if not options.report:
        options.out.mkdir(parents=True, exist_ok=True)
        if options.tiny:
            use_emulator_if_needed()
        for part in options.parts:
            run(part, TINY if options.tiny else FULL, options.out)
        return
    files = {part: options.out / f"{part}.json" for part in PARTS}
    results = {part: json.loads(path.read_text()) for part, path in files.items() if path.exists()}
    for part in results.values():  # where git did not know the commit
        part["machine"]["commit"] = options.commit or part["machine"]["commit"]
    (RESULTS / "gpu.json").write_text(json.dumps(results, indent=1) + "\n")
    (ROOT / "docs" / "gpu.md").write_text(report(results))


if __name__ == "__main__":
    main()
