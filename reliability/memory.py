"""Compare the memory that estimates promise with the memory that is taken.

Each measurement has a process of its own. It makes an R-MAT graph, compiles what it needs on a
small one, and compares `estimate_memory` with the growth of its peak (VmHWM) during `fit` or
`smooth`. The ratio estimate / peak is to be between 1.0 and 1.3, where the peak is at least --least
MB: below, the allocator and the threads have more of it than the work. Trainings have one short
walk from each node, since their memory does not depend on more.

GraRep and NetMF keep blocks that may turn out sparse, which nobody knows before: their estimates
are upper bounds, and may be above 1.3 of the peak (not on R-MAT graphs, whose blocks are dense).
What a factorisation of I - beta A fills in (HOPE on directed graphs with a large beta) is not
estimated.

With --limit, each measurement is repeated under a limit of the address space (`ulimit -v`)
between 40% and 160% of what is needed: it must end in a sentence before the work begins, or finish.
--told tells it, instead, that so much memory is free, and sees whether it takes more. --cgroup
FOLDER makes control groups below FOLDER (v1 or v2, as root), as containers have: a process begins
in a new group, which gets its limit before the work; a kill is a broken measurement.

    python reliability/memory.py --quick             # some minutes
    python reliability/memory.py --max-gb 6          # all that take up to 6 GB
    python reliability/memory.py --quick --limit --told
    python reliability/memory.py --quick --cgroup /sys/fs/cgroup/memory
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import resource
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np

import reinforce2vec as r2v
from recording import RESULTS, record, run_apart
from reinforce2vec._util import machine
from reinforce2vec.models._memory import smoothing_bytes

WALKS = {"walks_per_node": 1, "walk_length": 10}
TRAINED: dict[str, dict] = {  # settings of Reinforce2Vec
    "default": {},
    "one-window": {"window": 10, "smooth": False},
    "deepwalk": {"walk": r2v.FirstOrderWalk()},
    "node2vec": {"walk": r2v.SecondOrderWalk(0.5, 2.0)},
    "weighted": {},
    "directed": {},
    "subsampled": {"subsample": 1e-4},
    "unsmoothed": {"smooth": False},
}
BASELINES: dict[str, Callable[..., r2v.NodeFeatures]] = {
    "HOPE": r2v.HOPE,
    "HOPE-directed": lambda d: r2v.HOPE(d, beta=1e-4),  # beyond, it factorises
    "GraRep": r2v.GraRep,
    "NetMF": r2v.NetMF,
    "ProNE": r2v.ProNE,
    "Spectral": r2v.Spectral,
}
METHODS = (*TRAINED, "smooth", "smooth-weighted", "LINE", *BASELINES)
# numbers for each node and dimension, and the largest scale of those that compute n² numbers
ROWS = {"LINE": 16, "HOPE": 36, "HOPE-directed": 36, "GraRep": 12, "NetMF": 24, "ProNE": 60}
SLOW = {"GraRep": 14, "NetMF": 14}
LOW, HIGH = 1.0, 1.3
# glibc otherwise keeps up to 64 MB of what was freed, depending on what was freed before
STRICT = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


# -- one measurement, in its own process ---------------------------------------------------------


def status(name: str) -> int:
    """Return an entry of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def warm_libraries() -> None:
    """Let BLAS take its own memory, which it keeps: estimates do not count it."""
    for dtype in (np.float64, np.float32):
        tall = np.ones((1 << 16, 96), dtype)
        small = tall.T @ tall
        (tall @ small, np.asfortranarray(tall) @ small, np.linalg.eigh(small))


def graph_of(method: str, scale: int) -> r2v.Graph:
    graph = r2v.rmat(scale, 16, seed=1, directed=method.endswith("directed"))
    if not method.endswith("weighted"):
        return graph
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
    weights = 1.0 + (graph.indices + rows) % 7  # the same in both directions
    return r2v.Graph(graph.indptr, graph.indices, weights, graph.ids, graph.directed)


def prepare(method: str, scale: int, dimensions: int, workers: int) -> tuple[Callable, Callable]:
    """Return functions that estimate and work."""
    graph, tiny = graph_of(method, scale), graph_of(method, 8)
    how = {"workers": workers, "backend": "cpu"}
    if method.startswith("smooth"):
        vectors = np.random.default_rng(0).random((graph.n_nodes, dimensions), np.float32)
        r2v.smooth(vectors[: tiny.n_nodes], tiny, **how)
        return (
            lambda: smoothing_bytes(graph, dimensions, workers),
            lambda: r2v.smooth(vectors, graph, **how),
        )
    if method in TRAINED:
        model = r2v.Reinforce2Vec(dimensions, **how, **WALKS, **TRAINED[method])
    elif method == "LINE":
        model = r2v.LINE(dimensions, workers=workers, samples=1_000_000)
    else:
        model = BASELINES[method](dimensions)
    for small in (tiny, graph_of(method, 11)):  # threads and libraries take their own memory
        model.fit(small, progress=False)
    return lambda: model.estimate_memory(graph), lambda: model.fit(graph, progress=False)


def measure_here(cell: dict, group: Path | None) -> dict:
    """Measure in this process; with a limit, say how the work ended."""
    if group:
        (group / "cgroup.procs").write_text(str(os.getpid()))
    warm_libraries()
    names = ("method", "scale", "dimensions", "workers")
    estimate, work = prepare(*(cell[name] for name in names))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    promised, before = int(estimate()), status("VmRSS")
    allowed = int(cell["share"] * promised) if "share" in cell else None
    if group:
        limit_group(group, allowed)
    elif allowed:
        limit_process(cell["limit"], allowed, before)
    began, ending = time.perf_counter(), "finished"
    try:
        work()
    except r2v.InputError as error:
        ending = f"refused: {error}"
    except MemoryError:
        ending = "MemoryError"
    peak = max(status("VmHWM") - before, 1)
    if cell.get("limit") == "told" and peak > allowed:
        ending = f"took {peak - allowed:,} bytes more than were reported as free ({ending})"
    return {
        **cell,
        "estimate": promised,
        "peak": peak,
        "ratio": round(promised / peak, 3) if ending == "finished" else None,
        "seconds": round(time.perf_counter() - began, 1),
        "ending": ending,
    }


def limit_group(group: Path, more: int) -> None:
    """Limit a control group to what it has and `more` bytes; files that were read do not count."""
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    if (group / "memory.max").exists():
        used, most, cache = "memory.current", "memory.max", "inactive_file"
    else:
        used, most = "memory.usage_in_bytes", "memory.limit_in_bytes"
        cache = "total_inactive_file"
    (group / most).write_text(str(int((group / used).read_text()) - int(stat[cache]) + more))


def limit_process(limit: str, more: int, resident: int) -> None:
    """Limit this process to what it has and `more` bytes, or tell it that these are free."""
    if limit == "rlimit":
        most = status("VmSize") + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        return
    ask = machine._kilobytes

    def answer(path: Path, name: str) -> int | None:
        if name == "MemAvailable":
            return max(0, resident + more - status("VmRSS"))
        return ask(path, name)

    machine._kilobytes = answer


# -- all measurements ----------------------------------------------------------------------------


def measure(cell: dict, timeout: float) -> dict:
    """Measure in a process of its own, and in a control group if its limit is a folder."""
    group = None
    if "/" in cell.get("limit", ""):
        group = Path(cell["limit"]) / f"reinforce2vec-{os.getpid()}"
        group.mkdir()
    if "share" not in cell:
        os.environ.update(STRICT)  # for the new process
    result = run_apart(timeout, measure_here, cell, group)
    if group:
        group.rmdir()
    return cell | {"ending": result} if isinstance(result, str) else result


def fits(method: str, scale: int, dimensions: int, most: float) -> bool:
    """Return whether a measurement takes about so many bytes at most, its preparation included."""
    size = (1 << scale) * (ROWS.get(method, 18) * dimensions + 1500)
    return size <= most and scale <= SLOW.get(method, 99)


def summary(results: list[dict], least: int) -> dict:
    """Return how many measurements are within the bounds."""
    done = [row for row in results if row["ending"] == "finished" and "share" not in row]
    ratios = sorted(row["ratio"] for row in done if row["peak"] >= least)
    limited = [row["ending"] for row in results if "share" in row]
    endings = [row["ending"] for row in results]
    return {
        "measured": len(done),
        "of_at_least_bytes": least,
        "compared": len(ratios),
        "smallest_ratio": ratios[0] if ratios else None,
        "largest_ratio": ratios[-1] if ratios else None,
        "within": sum(LOW <= ratio <= HIGH for ratio in ratios),
        "under_a_limit": len(limited),
        "finished": limited.count("finished"),
        "refused": sum(ending.startswith("refused") for ending in limited),
        "not_done_in_time": sum(ending.startswith("not done") for ending in endings),
        "broken": sum(not e.startswith(("refused", "finished", "not done")) for e in endings),
    }


def main() -> None:
    """Measure, and record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="scales 14 and 16, dimensions 16 and 128")
    add("--scales", type=int, nargs="*", default=range(14, 22), help="2^scale nodes")
    add("--dimensions", type=int, nargs="*", default=[16, 32, 64, 128, 256])
    add("--methods", nargs="*", default=METHODS, choices=METHODS)
    add("--workers", type=int, default=2)
    add("--max-gb", type=float, default=6.0, help="that a measurement may take")
    add("--least", type=float, default=50, help="MB of a peak that is compared")
    add("--timeout", type=float, default=600, help="seconds of a measurement")
    add("--limit", action="store_true", help="repeat under limits of addresses")
    add("--told", action="store_true", help="repeat, told that so much memory is free")
    add("--cgroup", help="repeat under control groups below this folder")
    add("--shares", type=float, nargs="*", default=[0.4, 0.9, 1.05, 1.2, 1.3, 1.6])
    add("--name", default="memory", help="of the file of results")
    add("--append", action="store_true", help="keep other results of this file")
    options = parser.parse_args()
    if options.quick:
        options.scales, options.dimensions = [14, 16], [16, 128]
    plan = [
        {"method": method, "scale": scale, "dimensions": dimensions, "workers": options.workers}
        for scale, dimensions, method in product(
            options.scales, options.dimensions, options.methods
        )
        if fits(method, scale, dimensions, options.max_gb * 1e9)
    ]
    limits = ["rlimit"] * options.limit + ["told"] * options.told
    limits += [options.cgroup] if options.cgroup else []
    if limits:
        limited = product(plan, limits, options.shares)
        plan = [cell | {"limit": limit, "share": share} for cell, limit, share in limited]
    results, file = [], RESULTS / f"{options.name}.json"
    if options.append and file.exists():
        earlier = json.loads(file.read_text())["results"]
        results = [row for row in earlier if not any(row.items() >= c.items() for c in plan)]
    for cell in plan:
        results.append(measure(cell, options.timeout))
        print(json.dumps(results[-1]), flush=True)
        counts = summary(results, int(options.least * 1e6))
        record(options.name, {"summary": counts, "results": results})
    print(json.dumps(counts, indent=1))


if __name__ == "__main__":
    main()
