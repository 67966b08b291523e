"""Compare the memory that estimates promise with the memory that is taken.

Each measurement has a process of its own. It makes an R-MAT graph, compiles what it needs on a
small one, and compares `estimate_memory` with the growth of its peak (VmHWM) during `fit` or
`smooth`. The ratio estimate / peak is to be between 1.0 and 1.3, where the peak is at least --least
MB: below, the allocator and the threads have more of it than the work.

Work is shortened where memory does not depend on it. Of a training only the first passes are
trained; with more than 2^18 nodes, pairs are found and sorted, but instead of training them their
rows are touched. Of a search for eigenvectors only so many products are made as fill its search
space; blocks of a matrix that are not kept are computed in two of them. A filter has three terms.

GraRep and NetMF keep blocks that may turn out sparse, which nobody knows before: their estimates
are upper bounds, and may be above 1.3 of the peak (not on R-MAT graphs, whose blocks are dense).
What a factorisation of I - beta A fills in (HOPE on directed graphs with a large beta) is not
estimated.

With --limit, each measurement is repeated under a limit of the address space (`ulimit -v`) between
40% and 160% of what is needed: it must end in a sentence before the work begins, or finish.
--told tells it, instead, that so much memory is free, and sees whether it takes more. --cgroup
FOLDER makes control groups below FOLDER (v1 or v2, as root), as containers have: a process begins
in a new group, which gets its limit before the work; a kill is a broken measurement. --nested
limits the parent of another group, too.

    python reliability/memory.py --quick             # a minute
    python reliability/memory.py --max-gb 6          # all that take up to 6 GB
    python reliability/memory.py --quick --limit
    python reliability/memory.py --quick --cgroup /sys/fs/cgroup/memory
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from recording import RESULTS, record

METHODS = (
    "default",
    "one-window",
    "deepwalk",
    "node2vec",
    "weighted",
    "directed",
    "subsampled",
    "unsmoothed",
)
METHODS += (
    "walks",
    "smooth",
    "smooth-weighted",
    "LINE",
    "HOPE",
    "HOPE-directed",
    "GraRep",
    "NetMF",
    "ProNE",
    "Spectral",
)
SLOW = {"GraRep": 16, "NetMF": 16}  # the largest scale: they compute n² numbers for each product
PASSES = 3  # of a training
TRAINED = 18  # the largest scale whose pairs are trained
REACHED: list = []  # which nodes of a larger graph have edges
LOW, HIGH = 1.0, 1.3
# glibc otherwise keeps up to 64 MB of what was freed, depending on what was freed before
STRICT = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}


# -- one measurement, in its own process -------------------------------------------------------


def status(name: str) -> int:
    """Return an entry of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def settle() -> None:
    """Give back what was freed, and forget the peak so far."""
    import gc

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def shorten() -> None:
    """Leave out work that takes time and no memory; see above."""
    import numpy as np

    from reinforce2vec.models import smoothing
    from reinforce2vec.models.baselines import _blocks, _spectrum
    from reinforce2vec.skipgram import passes, trainer

    trainer.DivergenceCheck.check_loss = lambda *_, **__: None  # a beginning has no mean loss
    train, done = passes.PassTrainer.train, {}

    def some(self, finder, parts, first, size):
        done[id(self)] = done.get(id(self), 0) + 1
        if done[id(self)] > PASSES + 1:  # the first one is empty
            return passes._PassOutcome(
                np.zeros(len(self.order)), np.zeros(len(self.order), np.int64)
            )
        if REACHED:
            self.executor.run = partial(touch, self.executor.weights.outputs)
        return train(self, finder, parts, first, size)

    def touch(outputs, thread):
        if thread == 0:
            outputs[REACHED[0]] = 0  # others stay untouched, as in a training

    passes.PassTrainer.train = some
    find = _spectrum.leading_eigenpairs

    def roughly(product, n, rank, rng, search, progress=False):
        _spectrum._PASSES = -(-search.most(rank) // search.block) + 2
        return find(product, n, rank, rng, search, progress)

    series, blocks_of = smoothing.series, _blocks.BlockMatrix.__iter__
    smoothing.series = lambda *given: series(*given)[:3]

    def some_blocks(self):
        self.products = getattr(self, "products", 0) + 1
        if self.products <= 2:
            yield from blocks_of(self)
        else:
            for block, matrix in zip(self.blocks, self.kept, strict=True):
                if matrix is not None:
                    yield block.rows, block.columns, matrix

    _blocks.BlockMatrix.__iter__ = some_blocks
    for name in ("grarep", "hope", "netmf", "prone", "spectral"):
        module = __import__(f"reinforce2vec.models.baselines.{name}", fromlist=["_"])
        module.leading_eigenpairs = roughly


def warm_libraries() -> None:
    """Let BLAS take its own memory, which it keeps: estimates do not count it."""
    import numpy as np

    for dtype in (np.float64, np.float32):
        tall = np.ones((1 << 16, 96), dtype)
        small = tall.T @ tall
        (tall @ small, np.asfortranarray(tall) @ small, np.linalg.eigh(small))


def prepare(method: str, scale: int, dimensions: int, workers: int) -> tuple[Callable, Callable]:
    """Return functions that estimate and work."""
    import numpy as np

    import reinforce2vec as r2v
    from reinforce2vec.models._memory import smoothing_bytes

    def graph_of(scale: int):
        graph = r2v.rmat(scale, 16, seed=1, directed=method.endswith("directed"))
        if method.endswith("weighted"):
            weights = 1.0 + (graph.indices % 7)
            if not graph.directed:  # the same in both directions
                rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees)
                weights = (
                    1.0 + (np.minimum(graph.indices, rows) + np.maximum(graph.indices, rows)) % 7
                )
                del rows
            graph = r2v.Graph(graph.indptr, graph.indices, weights, graph.ids, graph.directed)
        return graph

    graph, tiny = graph_of(scale), graph_of(8)
    if method.startswith("smooth"):
        vectors = np.random.default_rng(0).random((graph.n_nodes, dimensions), np.float32)
        r2v.smooth(vectors[: tiny.n_nodes], tiny, workers=workers)
        return (
            lambda: smoothing_bytes(graph, dimensions, workers),
            lambda: r2v.smooth(vectors, graph, workers=workers, backend="cpu"),
        )
    shared = {"dimensions": dimensions}
    ours = shared | {"workers": workers, "backend": "cpu"}

    def ready() -> None:
        if scale > TRAINED:
            reached = graph.degrees > 0
            reached[graph.indices] = True
            REACHED.append(reached)

    makers = {
        "default": lambda: r2v.Reinforce2Vec(**ours),
        "one-window": lambda: r2v.Reinforce2Vec(**ours, window=10, walks_per_node=10, smooth=False),
        "deepwalk": lambda: r2v.Reinforce2Vec(**ours, walk=r2v.FirstOrderWalk(), walks_per_node=5),
        "node2vec": lambda: r2v.Reinforce2Vec(**ours, walk=r2v.SecondOrderWalk(0.5, 2.0)),
        "subsampled": lambda: r2v.Reinforce2Vec(**ours, subsample=1e-4),
        "unsmoothed": lambda: r2v.Reinforce2Vec(**ours, smooth=False),
        "LINE": lambda: r2v.LINE(**shared, workers=workers),
        "HOPE": lambda: r2v.HOPE(**shared),
        "HOPE-directed": lambda: r2v.HOPE(**shared, beta=1e-4),  # beyond, it factorises
        "GraRep": lambda: r2v.GraRep(**shared),
        "NetMF": lambda: r2v.NetMF(**shared),
        "ProNE": lambda: r2v.ProNE(**shared),
        "Spectral": lambda: r2v.Spectral(**shared),
    }
    make = makers.get(method, makers["default"])
    if method == "walks":
        make = lambda: r2v.Reinforce2Vec(dimensions=dimensions, workers=workers, backend="cpu")  # noqa: E731
        few = r2v.WalkSampler(graph, length=40, per_node=4, seed=0).sample()
        stored = r2v.files.walk_readers.walks_from(few, graph.ids)
        make().fit_walks(r2v.WalkSampler(tiny, length=40, per_node=4).sample(), progress=False)
        ready()
        return lambda: make().estimate_memory(stored), lambda: make().fit_walks(
            stored, progress=False
        )
    make().fit(tiny, progress=False)
    make().fit(
        graph_of(11 if method in SLOW else 13), progress=False
    )  # threads and libraries have their own memory then
    ready()
    learner = make()
    return lambda: learner.estimate_memory(graph), lambda: learner.fit(graph, progress=False)


def measure_here(given: dict, group: Path | None) -> dict:
    """Measure in this process; with a limit, say how the work ended."""
    if group:
        join(group)
    shorten()
    warm_libraries()
    estimate, work = prepare(given["method"], given["scale"], given["dimensions"], given["workers"])
    from reinforce2vec import InputError
    from reinforce2vec._util.machine import available_bytes

    settle()
    promised = int(estimate())
    before = status("VmRSS")
    if given.get("share"):
        limit_to(given["limit"], group, int(given["share"] * promised), before)
    allowed = int(given["share"] * promised) if given.get("limit") == "told" else None
    free, began, ending = available_bytes(), time.perf_counter(), "finished"
    try:
        work()
    except InputError as error:
        ending = f"refused: {error}"
    except MemoryError:
        ending = "MemoryError"
    peak = max(status("VmHWM") - before, 1)
    if allowed is not None and peak > allowed:
        ending = f"took {peak - allowed:,} bytes more than were reported as free ({ending})"
    return {
        **given,
        **({"at_the_limit": times_at_limit(group)} if group else {}),
        "estimate": promised,
        "peak": peak,
        "ratio": round(promised / peak, 3) if ending == "finished" else None,
        "seconds": round(time.perf_counter() - began, 1),
        "free": free,
        "ending": ending,
    }


def join(group: Path) -> None:
    """Let this process live in a control group, or in one below it if that exists."""
    inner = group / "inner"
    own = inner if inner.exists() else group
    (own / "cgroup.procs").write_text(str(os.getpid()))


def times_at_limit(group: Path) -> int:
    """Return how often a group was at its limit, where the system frees what it can."""
    if (group / "memory.failcnt").exists():
        return int((group / "memory.failcnt").read_text())
    events = dict(line.split() for line in (group / "memory.events").read_text().splitlines())
    return int(events["max"])


def limit_group(group: Path, more: int) -> None:
    """Limit a control group to what it has and `more` bytes; files that were read do not count."""
    stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    if (group / "memory.max").exists():
        used, most, cache = "memory.current", "memory.max", "inactive_file"
    else:
        used, most = "memory.usage_in_bytes", "memory.limit_in_bytes"
        cache = "total_inactive_file"
    (group / most).write_text(str(int((group / used).read_text()) - int(stat[cache]) + more))


def limit_to(kind: str, group: Path | None, more: int, resident: int) -> None:
    """Limit this process to what it has and `more` bytes."""
    if group:
        limit_group(group, more)
        return
    if kind == "rlimit":
        import resource

        most = status("VmSize") + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        return
    from reinforce2vec._util import machine

    ask = machine._kilobytes

    def answer(path: Path, name: str) -> int | None:
        if name == "MemAvailable":
            return max(0, resident + more - status("VmRSS"))
        return ask(path, name)

    machine._kilobytes = answer


# -- all measurements --------------------------------------------------------------------------


@contextmanager
def new_group(kind: str | None, below: str | None) -> Iterator[Path | None]:
    """Make a control group for a measurement that is limited by one, and remove it."""
    if below is None or kind not in ("cgroup", "nested"):
        yield None
        return
    group = Path(below) / f"reinforce2vec-{os.getpid()}"
    folders = [group, group / "inner"] if kind == "nested" else [group]
    for folder in folders:
        folder.mkdir()
    try:
        yield group
    finally:
        for folder in reversed(folders):
            folder.rmdir()


def measure(given: dict, timeout: float, group: Path | None) -> dict:
    """Measure in a process of its own."""
    command, environment = (
        [sys.executable, __file__, "--child", json.dumps(given)]
        + (["--group", str(group)] if group else []),
        dict(os.environ),
    )
    if "share" not in given:
        environment |= STRICT
    try:
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return {**given, "ending": f"not done after {timeout:.0f} s"}
    if run.returncode:
        last = (run.stderr.strip().splitlines() or [""])[-1]
        return {**given, "ending": f"exit {run.returncode}: {last}"}
    return json.loads(run.stdout.splitlines()[-1])


def fits(method: str, scale: int, dimensions: int, most: float) -> bool:
    """Return whether a measurement takes about so many bytes at most, its preparation included."""
    nodes = 1 << scale
    rows = {"LINE": 16, "HOPE": 36, "HOPE-directed": 36, "GraRep": 12, "NetMF": 24, "ProNE": 60}
    if scale > SLOW.get(method, 99):
        return False
    size = nodes * (rows.get(method, 18) * dimensions + 1500)
    return size <= most


def cells(arguments: argparse.Namespace) -> list[dict]:
    """Return all measurements that fit."""
    most = arguments.max_gb * 1e9
    return [
        {"method": method, "scale": scale, "dimensions": dimensions, "workers": arguments.workers}
        for scale in arguments.scales
        for dimensions in arguments.dimensions
        for method in arguments.methods
        if fits(method, scale, dimensions, most)
    ]


def summary(results: list[dict], least: int) -> dict:
    """Return how many measurements are within the bounds."""
    done = [one for one in results if one.get("ending") == "finished" and not one.get("share")]
    large = [one for one in done if one["peak"] >= least]
    ratios = sorted(one["ratio"] for one in large)
    limited = [one for one in results if one.get("share")]
    return {
        "measured": len(done),
        "of_at_least_bytes": least,
        "compared": len(large),
        "smallest_ratio": ratios[0] if ratios else None,
        "largest_ratio": ratios[-1] if ratios else None,
        "within": sum(LOW <= ratio <= HIGH for ratio in ratios),
        "under_a_limit": len(limited),
        "finished": sum(one["ending"] == "finished" for one in limited),
        "refused": sum(one["ending"].startswith("refused") for one in limited),
        "not_done_in_time": sum(one["ending"].startswith("not done") for one in results),
        "broken": sum(
            not one["ending"].startswith(("refused", "finished", "not done")) for one in results
        ),
    }


def main() -> None:
    """Measure, and record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="scales 14 and 16, dimensions 16 and 128"
    )
    parser.add_argument(
        "--scales", type=int, nargs="*", default=range(14, 22), help="2^scale nodes"
    )
    parser.add_argument("--dimensions", type=int, nargs="*", default=[16, 32, 64, 128, 256])
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--max-gb", type=float, default=6.0, help="that a measurement may take")
    parser.add_argument("--least", type=float, default=50, help="MB of a peak that is compared")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of a measurement")
    parser.add_argument("--limit", action="store_true", help="repeat under limits of addresses")
    parser.add_argument(
        "--told", action="store_true", help="repeat, told that so much memory is free"
    )
    parser.add_argument("--cgroup", help="repeat under control groups below this folder")
    parser.add_argument("--nested", action="store_true", help="and limit the parents of groups")
    parser.add_argument("--shares", type=float, nargs="*", default=[0.4, 0.9, 1.05, 1.2, 1.3, 1.6])
    parser.add_argument("--name", default="memory", help="of the file of results")
    parser.add_argument("--append", action="store_true", help="keep other results of this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--group", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure_here(json.loads(arguments.child), arguments.group)))
        return
    if arguments.quick:
        arguments.scales, arguments.dimensions = [14, 16], [16, 128]
    results, least = [], int(arguments.least * 1e6)
    file = RESULTS / f"{arguments.name}.json"
    if arguments.append and file.exists():
        results = json.loads(file.read_text())["results"]
    kinds = ["rlimit"] * arguments.limit + ["told"] * arguments.told
    if arguments.cgroup:
        kinds += ["cgroup"] + ["nested"] * arguments.nested
    plan = cells(arguments)
    if kinds:
        plan = [one | {"limit": kind, "share": share}
                for one in plan for kind in kinds for share in arguments.shares]  # fmt: skip

    def key(one: dict) -> tuple:
        names = ("method", "scale", "dimensions", "workers", "limit", "share")
        return tuple(one.get(name) for name in names)

    planned = {key(one) for one in plan}
    results = [one for one in results if key(one) not in planned]
    for number, given in enumerate(plan, 1):
        with new_group(given.get("limit"), arguments.cgroup) as group:
            found = measure(given, arguments.timeout, group)
        results.append(found)
        words = f"{found['method']:16} 2^{found['scale']} d={found['dimensions']:3}"
        share = f" limit {found['share']}" if "share" in found else ""
        ratio = (
            f"estimate {found['estimate'] / 1e6:8.1f} MB, peak {found['peak'] / 1e6:8.1f} MB, "
            f"ratio {found['ratio']:.2f}"
            if found.get("ratio")
            else ""
        )
        print(f"{number}/{len(plan)} {words}{share} {ratio} {found['ending'][:110]}", flush=True)
        record(arguments.name, {"summary": summary(results, least), "results": results})
    print(json.dumps(summary(results, least), indent=1))


if __name__ == "__main__":
    main()
