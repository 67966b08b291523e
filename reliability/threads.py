"""Try training with many threads, in forks, under load and on hubs: nothing fails, hangs or leaks.

    python reliability/threads.py           # all trials: minutes on two cores
    python reliability/threads.py --quick   # fewer seeds, fits and nodes
    python reliability/threads.py --only growth forks

Every trial runs in a process of its own with a time limit, so a hang is a failure and not the end
of the script. Results are written to results/threads.json, trial by trial, except with --quick. It
needs the package and what it depends on; joblib is tried where it is installed.
The exit code is 1 if anything failed.

| trial | what is done |
|---|---|
| hubs | stars at default settings: no training fails or begins again |
| graphs | odd and ordinary graphs, six methods, several seeds, 1 to 32 threads: the same bytes |
| stress | the same bytes with processes beside that take all CPUs |
| spread | AUC of link prediction over seeds, with each number of threads |
| growth | many fits in one process: memory, threads and file descriptors |
| forks | a fit in a forked child: after the import, after a fit, while another thread fits |
| callers | Python threads, asyncio, process pools and joblib that fit at once: the same bytes |
| errors | a thread that raises, or cannot start, ends every kind of run with its error |
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recording import record_one

THREADS = (1, 2, 16, 32)
LIMIT = 7200  # seconds for a trial: that of hubs takes many minutes
FORK_LIMIT = 120  # seconds for a forked child


# -- what is trained -----------------------------------------------------------------------------


def stars(leaves: int, count: int = 1) -> Any:
    """Return stars that have no node in common."""
    import numpy as np

    from reinforce2vec import Graph

    hubs = np.repeat(np.arange(count) * (leaves + 1), leaves)
    return Graph.from_edges(
        np.column_stack([hubs, hubs + np.tile(np.arange(1, leaves + 1), count)])
    )


def some_graphs(quick: bool) -> dict[str, Any]:
    """Return small graphs, odd and ordinary."""
    import numpy as np

    from reinforce2vec import Graph, karate_club, rmat

    random = np.random.default_rng(1)
    pairs = [(a, b) for a in range(40) for b in range(a)]
    graphs = {
        "one node": Graph.from_edges([], nodes=["alone"]),
        "one edge": Graph.from_edges([(0, 1)]),
        "nodes without edges": Graph.from_edges([(0, 1)], nodes=range(50)),
        "complete": Graph.from_edges(pairs),
        "bipartite": Graph.from_edges([(a, 100 + b) for a in range(20) for b in range(30)]),
        "path": Graph.from_edges([(a, a + 1) for a in range(1000)]),
        "pairs": Graph.from_edges([(2 * a, 2 * a + 1) for a in range(500)]),
        "directed star": Graph.from_edges([(0, a) for a in range(1, 500)], directed=True),
        "weighted": Graph.from_edges(
            random.integers(0, 300, (1500, 2)), random.exponential(size=1500)
        ),
        "star": stars(2000),
        "ten stars": stars(200, 10),
        "karate club": karate_club(),
        "rmat": rmat(9),
    }  # fmt: skip
    if not quick:
        wheel = [(0, a) for a in range(1, 3000)] + [(a, a + 1) for a in range(1, 2999)]
        graphs |= {"wheel": Graph.from_edges(wheel), "rmat, larger": rmat(12)}
    return graphs


def methods(quick: bool) -> dict[str, Callable[..., Any]]:
    """Return estimators by name, with default settings but for how long they learn."""
    from reinforce2vec import HOPE, LINE, GraRep, NetMF, ProNE, Reinforce2Vec

    def make(kind: Any, **options: Any) -> Callable[..., Any]:
        return lambda seed, workers: kind(seed=seed, workers=workers, **options)

    def without_threads(kind: Any) -> Callable[..., Any]:
        return lambda seed, workers: kind(seed=seed)

    walks = 2 if quick else 5
    return {
        "Reinforce2Vec": make(Reinforce2Vec, walks_per_node=walks, backend="cpu"),
        "LINE": make(LINE, samples=200_000),
        "HOPE": without_threads(HOPE),
        "NetMF": without_threads(NetMF),
        "ProNE": without_threads(ProNE),
        "GraRep": without_threads(GraRep),
    }


def digest(model: Any) -> str:
    """Return a digest of a model's vectors; they must be finite."""
    import numpy as np

    vectors = np.ascontiguousarray(model.embedding_.vectors)
    assert np.isfinite(vectors).all(), "vectors are not finite"
    return hashlib.sha256(vectors.tobytes()).hexdigest()


def small_fit(seed: int = 0, workers: int = 2) -> str:
    """Return the digest of a small training with smoothing."""
    from reinforce2vec import Reinforce2Vec, rmat

    model = Reinforce2Vec(16, walks_per_node=2, seed=seed, workers=workers, backend="cpu")
    return digest(model.fit(rmat(8), progress=False))


class Trial:
    """What a trial found: figures, and sentences on what failed."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.failures: list[str] = []

    def check(self, holds: bool, failure: str) -> None:
        """Note a failure unless something holds."""
        if not holds:
            self.failures.append(failure)


def say(found: dict[str, Any]) -> None:
    """Print how far a trial has come."""
    print(json.dumps(found), file=sys.stderr, flush=True)


# -- trials --------------------------------------------------------------------------------------


def try_hubs(trial: Trial, quick: bool) -> None:
    """Stars at default settings."""
    from reinforce2vec import LINE, Reinforce2Vec

    sizes = [(30_000, 1), (100_000, 1), (300, 100), (5_000, 10), (50_000, 10)]
    rows: list[dict[str, Any]] = []
    for leaves, count in [(3_000, 1), (1_000, 10)] if quick else sizes:
        graph, began = stars(leaves, count), time.monotonic()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = Reinforce2Vec(backend="cpu").fit(graph, progress=False)
        again = sum("began again" in str(one.message) for one in told)
        digest(model)
        trial.check(not again, f"{count} stars of {leaves} leaves: training began again")
        row = {"stars": count, "leaves": leaves, "began_again": again}
        row |= {"seconds": round(time.monotonic() - began, 1)}
        row |= {"losses": [round(float(loss), 3) for loss in model.loss_curve_[-1]]}
        if count > 1:  # leaves of a star are near each other
            row["neighbours_of_the_same_star"] = same_star(model.embedding_, leaves, count)
            trial.check(row["neighbours_of_the_same_star"] > 0.9, f"neighbours of {row}")
        rows.append(row)
        say(row)
    for leaves in (300, 1000) if quick else (300, 3000):
        digest(LINE().fit(stars(leaves), progress=False))
        rows.append({"method": "LINE", "leaves": leaves})
    trial.found["stars"] = rows


def same_star(embedding: Any, leaves: int, count: int) -> float:
    """Return the share of neighbours of leaves that belong to the same star."""
    import numpy as np

    some = [star * (leaves + 1) + 1 + leaf for star in range(count) for leaf in (0, leaves // 2)]
    vectors = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    ids, same = np.asarray(embedding.ids), []
    for node in some:
        near = ids[np.argsort(-(vectors @ vectors[np.flatnonzero(ids == node)[0]]))[:11]]
        same.append(np.mean(near // (leaves + 1) == node // (leaves + 1)))
    return round(float(np.mean(same)), 3)


def try_graphs(trial: Trial, quick: bool) -> None:
    """Graphs, methods, seeds and threads."""
    seeds = range(1 if quick else 2)
    fits = again = 0
    for graph_name, graph in some_graphs(quick).items():
        for name, make in methods(quick).items():
            for seed in seeds:
                digests = set()
                for workers in THREADS if name in ("Reinforce2Vec", "LINE") else (1,):
                    what = f"{name} on {graph_name}, seed {seed}, {workers} threads"
                    with warnings.catch_warnings(record=True) as told:
                        warnings.simplefilter("always")
                        try:
                            digests.add(digest(make(seed, workers).fit(graph, progress=False)))
                        except Exception as error:
                            if refused(name, graph, error):
                                continue
                            trial.failures.append(f"{what}: {type(error).__name__}: {error}")
                    fits += 1
                    again += sum("began again" in str(one.message) for one in told)
                trial.check(len(digests) <= 1, f"{name} on {graph_name}: threads change the bytes")
        say({"graph": graph_name, "fits": fits, "failures": len(trial.failures)})
    trial.found |= {
        "fits": fits,
        "seeds": len(seeds),
        "graphs": len(some_graphs(quick)),
        "threads": THREADS,
        "began_again": again,
    }


def refused(name: str, graph: Any, error: Exception) -> bool:
    """Return whether a factorisation refuses a graph in a sentence; trained methods never do."""
    from reinforce2vec import InputError

    return isinstance(error, InputError) and name not in ("Reinforce2Vec", "LINE")


def try_stress(trial: Trial, quick: bool) -> None:
    """The same bytes while other processes take all CPUs."""
    from reinforce2vec import LINE, karate_club

    expected = small_fit(workers=1)
    line = digest(LINE(16, samples=50_000, workers=1).fit(karate_club(), progress=False))
    burning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(2 * len(os.sched_getaffinity(0)))
    ]
    fits, slowest = 0, 0.0
    try:
        for _ in range(2 if quick else 10):
            for workers in THREADS:
                began = time.monotonic()
                trial.check(small_fit(workers=workers) == expected, f"{workers} threads differ")
                slowest = max(slowest, time.monotonic() - began)
                found = LINE(16, samples=50_000, workers=workers).fit(karate_club(), progress=False)
                trial.check(digest(found) == line, f"LINE: {workers} threads differ")
                fits += 2
    finally:
        for process in burning:
            process.kill()
            process.wait()
    trial.found |= {
        "fits": fits,
        "burning_processes": len(burning),
        "slowest_fit_s": round(slowest, 2),
    }


def try_spread(trial: Trial, quick: bool) -> None:
    """AUC of link prediction over seeds, the same with each number of threads."""
    import numpy as np

    from reinforce2vec import LINE, Reinforce2Vec

    found: dict[str, Any] = {}
    for name in ("Reinforce2Vec", "LINE"):
        scores: dict[int, list[float]] = {workers: [] for workers in THREADS}
        for seed in range(2 if quick else 6):
            for workers in THREADS:
                if name == "LINE":
                    model: Any = LINE(seed=seed, workers=workers, samples=300_000)
                else:
                    model = Reinforce2Vec(
                        seed=seed, workers=workers, walks_per_node=5, backend="cpu"
                    )
                scores[workers].append(auc(model, seed))
        one = scores[THREADS[0]]
        trial.check(all(some == one for some in scores.values()), f"{name}: AUC depends on threads")
        trial.check(min(one) > np.mean(one) - 0.05, f"{name}: AUC {one} leaves its spread")
        found[name] = {
            "seeds": len(one),
            "auc_mean": round(float(np.mean(one)), 4),
            "auc_least": round(min(one), 4),
            "auc_most": round(max(one), 4),
        }
    trial.found |= found | {"threads": THREADS}


def auc(model: Any, seed: int) -> float:
    """Return how often the cosine of a held-out edge is above that of a pair without an edge."""
    import numpy as np

    from reinforce2vec import hold_out_edges, planted_groups

    split = hold_out_edges(planted_groups(500, seed=seed).graph, seed=seed)
    vectors = model.fit(split.graph, progress=False).embedding_.vectors
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    near, far = (
        np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])
        for pairs in (split.edges, split.non_edges)
    )
    return float(np.mean(near[:, None] > far[None, :]))


def try_growth(trial: Trial, quick: bool) -> None:
    """Many fits in one process."""
    import gc
    import threading

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
    first = {}
    for number in range(fits):
        small_fit(seed=number, workers=THREADS[number % len(THREADS)])
        if number + 1 == warm:
            first = figures()
    last = figures()
    growth = {name: last[name] - first[name] for name in first}
    trial.found |= {"fits": fits, f"after_{warm}": first, f"after_{fits}": last, "growth": growth}
    trial.check(growth["memory_bytes"] < 20e6, f"memory grew by {growth['memory_bytes']:,} bytes")
    for name in ("threads", "python_threads", "file_descriptors"):
        trial.check(growth[name] <= 0, f"{name} grew by {growth[name]}")


def forked(trial: Trial, name: str, work: Callable[[], str], expected: str | None) -> None:
    """Let a forked child work: it must end in time, with the bytes that are expected."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            found = work()
            code = 0 if expected is None or found == expected else 3
        finally:
            os._exit(code)
    while time.monotonic() - began < FORK_LIMIT:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            trial.check(code == 0, f"{name}: the child ended with {code}")
            trial.found[name] = trial.found.get(name, 0) + 1
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    trial.failures.append(f"{name}: the child hung")


def try_forks(trial: Trial, quick: bool) -> None:
    """Fits in forked children."""
    import multiprocessing
    import threading

    from reinforce2vec import Reinforce2Vec

    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns at forks with threads
    assert Reinforce2Vec  # imported, and nothing compiled or loaded
    forked(trial, "after the import", small_fit, None)
    expected = small_fit()
    for _ in range(2 if quick else 10):
        forked(trial, "after a fit", small_fit, expected)
    ended = threading.Event()

    def fit_on() -> None:
        while not ended.is_set():
            small_fit(workers=4)

    others = [threading.Thread(target=fit_on) for _ in range(2)]
    for thread in others:
        thread.start()
    try:
        for _ in range(3 if quick else 20):
            forked(trial, "while threads fit", small_fit, expected)
    finally:
        ended.set()
        for thread in others:
            thread.join()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        jobs = [pool.apply_async(small_fit) for _ in range(4)]
        found = [job.get(timeout=FORK_LIMIT) for job in jobs]
    trial.check(set(found) == {expected}, "multiprocessing fork: other bytes")
    trial.found["pool of forked processes"] = len(found)


def try_callers(trial: Trial, quick: bool) -> None:
    """Several fits at once, by all the ways of Python."""
    import asyncio
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    expected, count = small_fit(), 8 if quick else 32

    def check(name: str, found: list[str]) -> None:
        trial.check(set(found) == {expected}, f"{name}: other bytes")
        trial.found[name] = len(found)

    with ThreadPoolExecutor(8) as threads:
        check(
            "Python threads",
            [job.result() for job in [threads.submit(small_fit) for _ in range(count)]],
        )

    async def together() -> list[str]:
        return await asyncio.gather(*(asyncio.to_thread(small_fit) for _ in range(count)))

    check("asyncio", asyncio.run(together()))
    for method in ("spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as processes:
            jobs = [processes.submit(small_fit) for _ in range(4)]
            check(f"processes, {method}", [job.result() for job in jobs])
    try:
        import joblib
    except ImportError:
        trial.found["joblib"] = "not installed"
        return
    for backend in ("loky", "threading"):
        jobs = [joblib.delayed(small_fit)() for _ in range(4 if quick else 8)]
        check(f"joblib, {backend}", joblib.Parallel(n_jobs=2, backend=backend)(jobs))


class Broken(Exception):
    """What a thread raises that has to fail."""


def try_errors(trial: Trial, quick: bool) -> None:
    """A thread that raises, or does not start, ends the run with its error."""
    import threading
    from unittest import mock

    from reinforce2vec import LINE, InputError, Reinforce2Vec, WalkSampler, rmat, smooth
    from reinforce2vec.models.baselines._line_training import EdgePairs
    from reinforce2vec.models.cpu import smoothing
    from reinforce2vec.skipgram import corpus
    from reinforce2vec.skipgram.cpu import engine
    from reinforce2vec.walks.cpu.walker import Walker

    graph = rmat(9)
    model = Reinforce2Vec(8, walks_per_node=2, workers=16, backend="cpu").fit(graph, progress=False)
    vectors = model.embedding_.vectors
    runs: dict[str, Callable[[], Any]] = {
        "training": lambda: model.fit(graph, progress=False),
        "LINE": lambda: LINE(8, samples=50_000, workers=16).fit(graph, progress=False),
        "walks": lambda: WalkSampler(graph, workers=16, progress=False).sample(),
        "smoothing": lambda: smooth(vectors, graph, workers=16, progress=False),
    }
    runs["LINE"]()
    places = [
        ("training", corpus.SampledWalks, "take"),
        ("training", engine, "count_pairs"),
        ("training", engine, "place_pairs"),
        ("training", engine, "train_buckets"),
        ("LINE", EdgePairs, "count"),
        ("LINE", EdgePairs, "place"),
        ("LINE", engine, "train_buckets"),
        ("walks", Walker, "fill"),
        ("smoothing", smoothing, "take_step"),
        ("smoothing", smoothing, "add_products"),
        ("smoothing", smoothing, "turn_rows"),
    ]
    count = 0
    for name, home, function in places:
        for number in (1, 2, 17)[home is Walker :]:  # which fails; the first one tries the engine
            usual, calls = getattr(home, function), iter(range(1, 10**9))

            def fails(
                *arguments: Any, usual=usual, calls=calls, number=number, **options: Any
            ) -> Any:
                if next(calls) == number:
                    raise Broken(f"call {number}")
                return usual(*arguments, **options)

            with (
                mock.patch.object(home, function, fails),
                mock.patch.object(engine, "compile_kernels"),  # which is not to fail
                mock.patch.object(smoothing, "compile_kernels"),
            ):
                try:
                    runs[name]()
                    reached = next(calls) > number
                    trial.check(not reached, f"{name}: {function} failed, and nobody noticed")
                except Broken:
                    count += 1
    trial.found["threads_that_raised"] = count
    trial.check(count >= len(places), f"only {count} calls failed in {len(places)} places")
    start, refusals = threading.Thread.start, 0
    for run in runs.values():
        for allowed in (0, 1, 5):
            left = iter([True] * allowed)

            def refuse(thread: Any, left=left) -> None:
                if not next(left, False):
                    raise RuntimeError("can't start new thread")
                start(thread)

            with mock.patch.object(threading.Thread, "start", refuse):
                try:
                    run()  # few pieces of work need few threads
                except InputError:
                    refusals += 1
        run()
    trial.found["threads_that_did_not_start"] = refusals
    trial.check(refusals >= 2 * len(runs), f"only {refusals} runs missed a thread")


TRIALS = {
    "hubs": try_hubs,
    "graphs": try_graphs,
    "stress": try_stress,
    "spread": try_spread,
    "growth": try_growth,
    "forks": try_forks,
    "callers": try_callers,
    "errors": try_errors,
}


def run_one(name: str, quick: bool) -> None:
    """Run a trial in this process, and print what it found."""
    trial, began = Trial(), time.monotonic()
    try:
        TRIALS[name](trial, quick)
    except Exception as error:
        trial.failures.append(f"{type(error).__name__}: {error}")
    found = {**trial.found, "failures": trial.failures}
    print(json.dumps(found | {"seconds": round(time.monotonic() - began, 1)}))


def main() -> int:
    """Run all trials, each in a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer seeds, fits and nodes")
    parser.add_argument("--only", nargs="+", choices=TRIALS, help="some of the trials")
    parser.add_argument("--here", choices=TRIALS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        run_one(given.here, given.quick)
        return 0
    failed = False
    for name in given.only or TRIALS:
        found = run_apart(name, given.quick)
        failed |= bool(found["failures"])
        print(name, json.dumps(found), flush=True)
        if not given.quick:
            record_one("threads", name, found)
    return int(failed)


def run_apart(name: str, quick: bool) -> dict[str, Any]:
    """Run a trial in a process of its own; return what it found."""
    command = [sys.executable, __file__, "--here", name, *["--quick"] * quick]
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"failures": [f"hung: not done after {LIMIT} seconds"]}
    if ended.returncode:
        return {"failures": [f"the process ended with {ended.returncode}"]}
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
