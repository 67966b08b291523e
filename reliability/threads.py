"""Try training with many threads, in forks, under load and on hubs: nothing fails, hangs or leaks.

    python reliability/threads.py           # all trials: minutes on two cores
    python reliability/threads.py --quick   # fewer seeds, fits and nodes
    python reliability/threads.py --only growth forks

Every trial runs in a process of its own with a time limit, so a hang is a failure and not the end
of the script. Results are written to results/threads.json, trial by trial, except with --quick.
joblib is tried where it is installed. The exit code is 1 if anything failed.

| trial | what is done |
|---|---|
| hubs | stars at default settings: no training fails or begins again |
| graphs | odd and ordinary graphs, six methods, several seeds, 1 to 32 threads: the same bytes |
| stress | the same bytes with processes beside that take all CPUs |
| growth | many fits in one process: memory, threads and file descriptors |
| forks | a fit in a forked child: after the import, after a fit, while another thread fits |
| callers | Python threads, asyncio, process pools and joblib that fit at once: the same bytes |

A thread that raises, or cannot start, is tried by tests/skipgram/test_threads.py.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import reinforce2vec as r2v
from recording import record, run_apart

THREADS = (1, 2, 16, 32)
LIMIT = 7200  # seconds for a trial: that of hubs takes many minutes
FORK_LIMIT = 120  # seconds for a forked child


# -- what is trained -----------------------------------------------------------------------------


def stars(leaves: int, count: int = 1) -> r2v.Graph:
    """Return stars that have no node in common."""
    hubs = np.repeat(np.arange(count) * (leaves + 1), leaves)
    ends = hubs + np.tile(np.arange(1, leaves + 1), count)
    return r2v.Graph.from_edges(np.column_stack([hubs, ends]))


def some_graphs(quick: bool) -> dict[str, r2v.Graph]:
    """Return small graphs, odd and ordinary."""
    random, make = np.random.default_rng(1), r2v.Graph.from_edges
    graphs = {
        "one node": make([], nodes=["alone"]),
        "one edge": make([(0, 1)]),
        "nodes without edges": make([(0, 1)], nodes=range(50)),
        "complete": make([(a, b) for a in range(40) for b in range(a)]),
        "bipartite": make([(a, 100 + b) for a in range(20) for b in range(30)]),
        "path": make([(a, a + 1) for a in range(1000)]),
        "pairs": make([(2 * a, 2 * a + 1) for a in range(500)]),
        "directed star": make([(0, a) for a in range(1, 500)], directed=True),
        "weighted": make(random.integers(0, 300, (1500, 2)), random.exponential(size=1500)),
        "star": stars(2000),
        "ten stars": stars(200, 10),
        "karate club": r2v.karate_club(),
        "rmat": r2v.rmat(9),
    }
    if not quick:
        wheel = [(0, a) for a in range(1, 3000)] + [(a, a + 1) for a in range(1, 2999)]
        graphs |= {"wheel": make(wheel), "rmat, larger": r2v.rmat(12)}
    return graphs


def digest(model: Any) -> str:
    """Return a digest of a model's vectors; they must be finite."""
    vectors = np.ascontiguousarray(model.embedding_.vectors)
    assert np.isfinite(vectors).all(), "vectors are not finite"
    return hashlib.sha256(vectors.tobytes()).hexdigest()


def small_fit(seed: int = 0, workers: int = 2) -> str:
    """Return the digest of a small training with smoothing."""
    model = r2v.Reinforce2Vec(16, walks_per_node=2, seed=seed, workers=workers, backend="cpu")
    return digest(model.fit(r2v.rmat(8), progress=False))


class Trial:
    """What a trial found: figures, and sentences on what failed."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}
        self.failures: list[str] = []

    def check(self, holds: bool, failure: str) -> None:
        """Note a failure unless something holds."""
        if not holds:
            self.failures.append(failure)


@contextmanager
def counted_restarts() -> Iterator[list]:
    """Collect the warnings of trainings that begin again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        restarts: list = []
        yield restarts
        restarts += [w for w in caught if "began again" in str(w.message)]


# -- trials --------------------------------------------------------------------------------------


def try_hubs(trial: Trial, quick: bool) -> None:
    """Stars at default settings."""
    sizes = [(30_000, 1), (100_000, 1), (300, 100), (5_000, 10), (50_000, 10)]
    rows: list[dict[str, Any]] = []
    for leaves, count in [(3_000, 1), (1_000, 10)] if quick else sizes:
        graph, began = stars(leaves, count), time.monotonic()
        with counted_restarts() as restarts:
            model = r2v.Reinforce2Vec(backend="cpu").fit(graph, progress=False)
        digest(model)
        row = {"stars": count, "leaves": leaves, "began_again": len(restarts)}
        row |= {"seconds": round(time.monotonic() - began, 1)}
        trial.check(not restarts, f"{count} stars of {leaves} leaves: training began again")
        if count > 1:  # leaves of a star are near each other
            row["neighbours_of_the_same_star"] = same_star(model.embedding_, leaves, count)
            trial.check(row["neighbours_of_the_same_star"] > 0.9, f"neighbours of {row}")
        rows.append(row)
    for leaves in (300, 1000) if quick else (300, 3000):
        digest(r2v.LINE().fit(stars(leaves), progress=False))
        rows.append({"method": "LINE", "leaves": leaves})
    trial.figures["stars"] = rows


def same_star(embedding: r2v.Embedding, leaves: int, count: int) -> float:
    """Return the share of neighbours of leaves that belong to the same star."""
    nodes = [star * (leaves + 1) + 1 + leaf for star in range(count) for leaf in (0, leaves // 2)]
    near = r2v.nearest_neighbors(embedding, nodes, k=10, progress=False)
    star = np.asarray(embedding.ids)[near.rows] // (leaves + 1)
    return round(float((star == np.array(nodes)[:, None] // (leaves + 1)).mean()), 3)


def try_graphs(trial: Trial, quick: bool) -> None:
    """Graphs, methods, seeds and threads."""
    walks, seeds, fits, again = 2 if quick else 5, range(1 if quick else 2), 0, 0
    trained = {
        r2v.Reinforce2Vec: {"walks_per_node": walks, "backend": "cpu"},
        r2v.LINE: {"samples": 200_000},
    }
    for graph_name, graph in some_graphs(quick).items():
        for method in (*trained, r2v.HOPE, r2v.NetMF, r2v.ProNE, r2v.GraRep):
            for seed in seeds:
                digests = set()
                for workers in THREADS if method in trained else (None,):
                    how = trained[method] | {"workers": workers} if workers else {}
                    what = f"{method.__name__} on {graph_name}, seed {seed}, {workers} threads"
                    with counted_restarts() as restarts:
                        try:
                            digests.add(digest(method(seed=seed, **how).fit(graph, progress=False)))
                        except Exception as error:  # a factorisation may refuse in a sentence
                            if isinstance(error, r2v.InputError) and method not in trained:
                                continue
                            trial.failures.append(f"{what}: {type(error).__name__}: {error}")
                    fits += 1
                    again += len(restarts)
                trial.check(len(digests) <= 1, f"{what}: threads change the bytes")
    trial.figures = {"fits": fits, "seeds": len(seeds), "graphs": len(some_graphs(quick))}
    trial.figures |= {"threads": THREADS, "began_again": again}


def try_stress(trial: Trial, quick: bool) -> None:
    """The same bytes while other processes take all CPUs."""

    def line(workers: int) -> str:
        model = r2v.LINE(16, samples=50_000, workers=workers)
        return digest(model.fit(r2v.karate_club(), progress=False))

    expected, expected_line = small_fit(workers=1), line(1)
    loop = [sys.executable, "-c", "while True: pass"]
    burning = [subprocess.Popen(loop) for _ in range(2 * len(os.sched_getaffinity(0)))]
    fits, slowest = 0, 0.0
    try:
        for workers in THREADS * (2 if quick else 10):
            began = time.monotonic()
            trial.check(small_fit(workers=workers) == expected, f"{workers} threads differ")
            slowest = max(slowest, time.monotonic() - began)
            trial.check(line(workers) == expected_line, f"LINE: {workers} threads differ")
            fits += 2
    finally:
        for process in burning:
            process.kill()
            process.wait()
    trial.figures = {"fits": fits, "burning_processes": len(burning)}
    trial.figures["slowest_fit_s"] = round(slowest, 2)


def try_growth(trial: Trial, quick: bool) -> None:
    """Many fits in one process."""

    def figures() -> dict[str, int]:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return {
            "memory_bytes": pages * os.sysconf("SC_PAGE_SIZE"),
            "threads": len(os.listdir("/proc/self/task")),
            "python_threads": threading.active_count(),
            "file_descriptors": len(os.listdir("/proc/self/fd")),
        }

    warm, fits = (10, 40) if quick else (20, 200)
    for number in range(fits):
        if number == warm:
            first = figures()
        small_fit(seed=number, workers=THREADS[number % len(THREADS)])
    last = figures()
    growth = {name: last[name] - first[name] for name in first}
    trial.figures = {"fits": fits, f"after_{warm}": first, f"after_{fits}": last, "growth": growth}
    for name, number in growth.items():
        most = 20e6 if name == "memory_bytes" else 0
        trial.check(number <= most, f"{name} grew by {number:,}")


def forked(trial: Trial, name: str, expected: str | None) -> None:
    """Let a forked child fit: it must end in time, with the bytes that are expected."""
    process = multiprocessing.get_context("fork").Process(target=fit_in_child, args=(expected,))
    process.start()
    process.join(FORK_LIMIT)
    if process.exitcode is None:
        process.kill()
    trial.check(process.exitcode == 0, f"{name}: the child ended with {process.exitcode}")
    trial.figures[name] = trial.figures.get(name, 0) + 1


def fit_in_child(expected: str | None) -> None:
    os._exit(0 if small_fit() == (expected or small_fit()) else 3)


def try_forks(trial: Trial, quick: bool) -> None:
    """Fits in forked children."""
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns at forks with threads
    forked(trial, "after the import", None)  # nothing is compiled or loaded
    expected = small_fit()
    for _ in range(2 if quick else 10):
        forked(trial, "after a fit", expected)
    ended = threading.Event()

    def fit_on() -> None:
        while not ended.is_set():
            small_fit(workers=4)

    others = [threading.Thread(target=fit_on) for _ in range(2)]
    for thread in others:
        thread.start()
    try:
        for _ in range(3 if quick else 20):
            forked(trial, "while threads fit", expected)
    finally:
        ended.set()
        for thread in others:
            thread.join()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        digests = pool.map_async(fit_number, range(4)).get(FORK_LIMIT)
    trial.check(set(digests) == {expected}, "multiprocessing fork: other bytes")
    trial.figures["pool of forked processes"] = len(digests)


def fit_number(_number: int) -> str:
    return small_fit()


def try_callers(trial: Trial, quick: bool) -> None:
    """Several fits at once, by all the ways of Python."""
    expected, count = small_fit(), 8 if quick else 32

    def check(name: str, digests: list[str]) -> None:
        trial.check(set(digests) == {expected}, f"{name}: other bytes")
        trial.figures[name] = len(digests)

    async def together() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(small_fit) for _ in range(count)))

    with ThreadPoolExecutor(8) as threads:
        check("Python threads", list(threads.map(fit_number, range(count))))
    check("asyncio", asyncio.run(together()))
    for method in ("spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as processes:
            check(f"processes, {method}", list(processes.map(fit_number, range(4))))
    try:
        import joblib
    except ImportError:
        return
    for backend in ("loky", "threading"):
        jobs = [joblib.delayed(small_fit)() for _ in range(4 if quick else 8)]
        check(f"joblib, {backend}", joblib.Parallel(n_jobs=2, backend=backend)(jobs))


TRIALS: dict[str, Callable[[Trial, bool], None]] = {
    "hubs": try_hubs,
    "graphs": try_graphs,
    "stress": try_stress,
    "growth": try_growth,
    "forks": try_forks,
    "callers": try_callers,
}


def run(name: str, quick: bool) -> dict[str, Any]:
    """Run a trial in this process."""
    trial, began = Trial(), time.monotonic()
    try:
        TRIALS[name](trial, quick)
    except Exception as error:
        trial.failures.append(f"{type(error).__name__}: {error}")
    seconds = round(time.monotonic() - began, 1)
    return {**trial.figures, "failures": trial.failures, "seconds": seconds}


def main() -> int:
    """Run all trials, each in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer seeds, fits and nodes")
    parser.add_argument("--only", nargs="+", choices=TRIALS, help="some of the trials")
    options = parser.parse_args()
    failed = False
    for name in options.only or TRIALS:
        results = run_apart(LIMIT, run, name, options.quick)
        if isinstance(results, str):
            results = {"failures": [results]}
        failed |= bool(results["failures"])
        print(name, json.dumps(results), flush=True)
        if not options.quick:
            record("threads", results, part=name)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
