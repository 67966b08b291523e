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
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "scale.json"
PICTURE = HERE.parent / "docs" / "benchmarks" / "scale.png"
STAGES = ("make", "read", "walk", "train", "smooth", "embed", "scratch", "neighbors")
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


# -- the stages, each in a process of its own --------------------------------------------------


def make(folder: Path, given: argparse.Namespace) -> dict:
    """Write an R-MAT graph as a text file of edges; nodes are numbered below `nodes`."""
    from multiprocessing import get_context

    edges = EDGE_FACTOR * given.make_nodes
    parts = [
        (given.make_nodes, number, first, min(PART, edges - first))
        for number, first in enumerate(range(0, edges, PART))
    ]
    with (folder / "edges.txt").open("wb") as file, get_context("spawn").Pool() as pool:
        for text in pool.imap(edge_lines, parts):
            file.write(text)
    return {"units": edges, "bytes": (folder / "edges.txt").stat().st_size}


def edge_lines(part: tuple[int, int, int, int]) -> bytes:
    """Return lines of edges: of a number of nodes, the part's number, first edge and size."""
    import numpy as np

    nodes, number, first, size = part
    shuffled = np.random.default_rng(0).permutation(nodes)  # numbers do not reveal degrees
    rng = np.random.default_rng((1, number))
    ends = np.zeros((2, size), np.int64)
    for _ in range(max(1, (nodes - 1).bit_length())):
        quarter = rng.random(size, np.float32)
        ends *= 2
        ends[0] += quarter >= 0.76
        ends[1] += ((quarter >= 0.57) & (quarter < 0.76)) | (quarter >= 0.95)
    ends %= nodes  # of other sizes than 2^k: folded
    linked = np.arange(first, min(first + size, nodes))  # the first edges are one of each node
    ends[0, : len(linked)] = linked
    pairs = shuffled[ends].T.tolist()
    return "".join(f"{one} {other}\n" for one, other in pairs).encode()


def read(folder: Path, given: argparse.Namespace) -> dict:
    """Read the text file; the graph is kept for the other stages."""
    from reinforce2vec import read_graph

    small = folder / "small.txt"
    small.write_text("1 2\n2 3\n" * 2000)
    read_graph(small)  # compiles
    with Measured() as measured:
        graph = read_graph(folder / "edges.txt")
    with (folder / "graph.pickle").open("wb") as file:  # to read a .npz takes 100 bytes an arc
        pickle.dump(graph, file, protocol=5)
    facts = {"nodes": graph.n_nodes, "arcs": len(graph.indices), "graph_bytes": graph.nbytes}
    return measured.found(EDGE_FACTOR * given.make_nodes) | facts


def load(folder: Path):
    """Return the graph of a size."""
    with (folder / "graph.pickle").open("rb") as file:
        graph = pickle.load(file)
    # copies are on huge pages, as the arrays of a graph that was read are
    return replace(graph, indptr=graph.indptr.copy(), indices=graph.indices.copy())


def walk(folder: Path, given: argparse.Namespace) -> dict:
    """Make walks of the default kind, and throw them away, as training does."""
    from reinforce2vec import WalkSampler, rmat

    graph = load(folder)
    options = {"length": LENGTH, "workers": given.workers, "backend": "cpu"}
    WalkSampler(rmat(8), per_node=1, **options).sample()  # compiles
    tokens, per_node = 0, -(-given.tokens // (LENGTH * graph.n_nodes))
    with Measured() as measured:
        for block in WalkSampler(graph, per_node=per_node, **options):
            tokens += block.size  # no walk ends early: every node has an edge
    return measured.found(tokens)


def train(folder: Path, given: argparse.Namespace) -> dict:
    """Train the first passes of a fit with ten walks a node; the seconds are those of training."""
    from reinforce2vec import Reinforce2Vec, rmat

    how = {"dimensions": DIMENSIONS, "walks_per_node": 10, "walk_length": LENGTH, "smooth": False,
           "workers": given.workers, "backend": "cpu"}  # fmt: skip
    Reinforce2Vec(**(how | {"walks_per_node": 1})).fit(rmat(9), progress=False)  # compiles
    graph, learner, moments = load(folder), Reinforce2Vec(**how), []

    def watch(moment) -> None:
        moments.append((moment.tokens, moment.seconds, time.process_time()))
        if moment.tokens >= given.tokens and len(moments) > 1:
            raise Enough

    promised = learner.estimate_memory(graph)
    with Measured() as measured, suppress(Enough):
        learner.fit(graph, progress=False, callbacks=[watch])
    tokens, seconds, cpu_seconds = (b - a for a, b in zip(moments[0], moments[-1], strict=True))
    facts = {"seconds": seconds, "cpu_seconds": cpu_seconds, "pass_tokens": moments[0][0]}
    return measured.found(tokens) | facts | {"estimate": promised}


class Enough(Exception):
    """Enough was trained."""


def smooth(folder: Path, given: argparse.Namespace) -> dict:
    """Smooth random vectors, and keep them for the last stage."""
    import numpy as np

    from reinforce2vec import rmat
    from reinforce2vec import smooth as smoothed
    from reinforce2vec.models._memory import smoothing_bytes as bytes_for

    graph, rng = load(folder), np.random.default_rng(0)
    vectors = rng.random((graph.n_nodes, DIMENSIONS), np.float32)
    how = {"workers": given.workers, "backend": "cpu"}
    smoothed(vectors[:256], rmat(8), **how)
    with Measured() as measured:
        result = smoothed(vectors, graph, **how)
    del vectors
    np.save(folder / "vectors.npy", result)
    return measured.found(graph.n_nodes) | {"estimate": bytes_for(graph, DIMENSIONS, given.workers)}


def neighbors(folder: Path, given: argparse.Namespace) -> dict:
    """Find the ten nearest of some nodes, exactly."""
    import numpy as np

    from reinforce2vec import Embedding, nearest_neighbors

    vectors = np.load(folder / "vectors.npy")
    embedding = Embedding(np.arange(len(vectors)), vectors)
    queries = np.random.default_rng(0).choice(len(vectors), QUERIES, replace=False)
    nearest_neighbors(Embedding(np.arange(100), vectors[:100]), list(range(5)), k=3)  # compiles
    with Measured() as measured:
        nearest_neighbors(embedding, [int(one) for one in queries], k=10)
    return measured.found(QUERIES * len(vectors))


def embed(folder: Path, given: argparse.Namespace, **how) -> dict:
    """Fit with all that belongs to it, but few and short walks; keep the vectors."""
    import numpy as np

    from reinforce2vec import Reinforce2Vec, rmat

    how |= {"dimensions": DIMENSIONS, "walks_per_node": 1, "walk_length": 10,
            "workers": given.workers, "backend": "cpu"}  # fmt: skip
    Reinforce2Vec(**how).fit(rmat(9), progress=False)  # compiles
    graph, learner = load(folder), Reinforce2Vec(**how)
    promised, moments = learner.estimate_memory(graph), []
    with Measured("RssAnon" if "scratch" in how else None) as measured:
        learner.fit(graph, progress=False, callbacks=[moments.append])
    vectors = learner.embedding_.vectors
    np.save(folder / "vectors.npy", vectors)
    facts = {"train_seconds": moments[-1].seconds, "estimate": promised}
    facts["finite"] = all(np.isfinite(vectors[at : at + 2**16]).all()
                          for at in range(0, len(vectors), 2**16))  # fmt: skip
    facts["sha256"] = hashlib.sha256(np.ascontiguousarray(vectors).data).hexdigest()[:16]
    return measured.found(moments[-1].tokens) | facts


def scratch(folder: Path, given: argparse.Namespace) -> dict:
    """Fit with matrices, pairs, arrays of smoothing and vectors in mapped files."""
    return embed(folder, given, scratch=str(folder))


class Measured:
    """Measures a block: seconds, CPU seconds and the growth of the peak of memory.

    The peak is that of all memory, or of an entry of /proc/self/status, which is looked at ten
    times a second.
    """

    def __init__(self, looked_at: str | None = None) -> None:
        self.looked_at = looked_at

    def __enter__(self) -> Measured:
        import ctypes
        import gc

        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
        self.before = self.highest = status(self.looked_at or "VmRSS")
        if self.looked_at:
            self.ended = threading.Event()
            self.looking = threading.Thread(target=self.look)
            self.looking.start()
        self.began, self.cpu_began = time.perf_counter(), time.process_time()
        return self

    def look(self) -> None:
        """Note the highest value of the entry, until the block ends."""
        while not self.ended.wait(0.1):
            self.highest = max(self.highest, status(self.looked_at))

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self.began
        self.cpu_seconds = time.process_time() - self.cpu_began
        if self.looked_at:
            self.ended.set()
            self.looking.join()
        else:
            self.highest = status("VmHWM")
        self.peak = self.highest - self.before

    def found(self, units: int) -> dict:
        """Return what was measured, for so many edges, tokens or nodes."""
        return {
            "units": units,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_bytes": self.peak,
        }


def status(name: str) -> int:
    """Return an entry of /proc/self/status in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


# -- the run -----------------------------------------------------------------------------------


def run(arguments: argparse.Namespace) -> dict:
    """Run the stages of all sizes, and merge what they find with earlier results."""
    sys.path.insert(0, str(HERE))
    from machine import describe

    report = {"results": []}
    if arguments.output.exists():
        report = json.loads(arguments.output.read_text())
    results = report["results"]
    machine = describe()
    for size in arguments.sizes:
        folder = arguments.folder / str(size)
        folder.mkdir(parents=True, exist_ok=True)
        for stage in arguments.stages:
            if stage == "make" and (folder / "edges.txt").exists():
                continue
            command = [sys.executable, __file__, "--child", stage, "--sizes", str(size)]
            command += ["--folder", str(arguments.folder), "--workers", str(arguments.workers)]
            command += ["--tokens", str(arguments.tokens)]
            begun = time.perf_counter()
            child = subprocess.run(command, capture_output=True, text=True, check=False)
            if child.returncode:
                print(child.stderr, file=sys.stderr)
                raise SystemExit(f"{stage} of {size:,} nodes failed")
            found = json.loads(child.stdout.splitlines()[-1])
            whole = time.perf_counter() - begun
            print(f"{size:,} {stage}: {whole:.1f} s {json.dumps(found)}", flush=True)
            if stage == "make":
                continue
            same = (size, stage, arguments.workers)
            results = [
                one for one in results if (one["size"], one["stage"], one["workers"]) != same
            ]
            found |= {
                "size": size,
                "stage": stage,
                "workers": arguments.workers,
                "machine": machine,
            }
            results.append(found)
            results.sort(key=lambda one: (one["size"], STAGES.index(one["stage"]), one["workers"]))
            report = {"results": results}
            arguments.output.write_text(json.dumps(report, indent=1) + "\n")
    return report


def cost(one: dict) -> float:
    """Return the nanoseconds of CPU time for each unit."""
    return 1e9 * one["cpu_seconds"] / one["units"]


def in_digits(number: float) -> str:
    """Format a number with at least two digits."""
    return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"


def growth(results: list[dict]) -> dict[str, list[float]]:
    """Return, for each stage, the cost of a unit at each size from FROM on, beside that at FROM."""
    sizes = sorted({one["size"] for one in results if one["size"] >= FROM})
    found = {}
    for stage in SHOWN:
        costs = {one["size"]: cost(one) for one in results if one["stage"] == stage}
        if len(sizes) > 1 and costs.keys() >= set(sizes):
            found[stage] = [costs[size] / costs[FROM] for size in sizes]
    return found


def render(report: dict) -> str:
    """Return the page."""
    results = report["results"]
    machines = sorted({f"{one['machine']['processor']}, Python {one['machine']['python']}, "
                       f"{one['machine']['date']}, commit {one['machine']['commit']}"
                       for one in results})  # fmt: skip
    lines = [
        "# From ten thousand to ten million nodes",
        "",
        f"R-MAT graphs with {EDGE_FACTOR} edges drawn for each node, {DIMENSIONS} dimensions. "
        f"Measured on: {'; '.join(machines)}. Each stage has a process of its own; memory is the "
        "growth of its peak. The estimate is that of `estimate_memory`; before a run starts, up to "
        "32 MB are added to it for freed memory that the C library keeps.",
        "",
        "| nodes | stage | threads | seconds | CPU s | CPU ns for each | unit | peak MB "
        "| bytes for each node | estimate / peak |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in results:
        words, unit = SHOWN[one["stage"]]
        ratio = f"{one['estimate'] / one['peak_bytes']:.2f}" if "estimate" in one else ""
        lines.append(
            f"| {one['size']:,} | {words} | {one['workers']} | {one['seconds']:.2f} "
            f"| {one['cpu_seconds']:.2f} | {in_digits(cost(one))} | {unit} "
            f"| {one['peak_bytes'] / 1e6:,.0f} | {one['peak_bytes'] / one['size']:,.0f} | {ratio} |"
        )
    lines += ["", "## Growth", ""]
    grown = growth(results)
    if not grown:
        return "\n".join([*lines, "Results of two sizes from 100,000 nodes on are needed."]) + "\n"
    within = [SHOWN[stage][0] for stage, one in grown.items() if one[-1] <= MOST]
    lines += [
        f"CPU time for each unit, as a multiple of that with {FROM:,} nodes. Our goal is at most "
        f"{MOST} with 10,000,000 nodes; it is met by: {', '.join(within) or 'no stage'}. The work "
        "for each unit does not grow, but what it looks up does: arrays of the small graphs fit "
        "into the caches of the CPU, those of the large ones are in memory, where each node "
        "of a walk, each pair of rows and each new id is somewhere else.",
        "",
    ]
    sizes = sorted({one["size"] for one in results if one["size"] >= FROM})
    lines += [
        f"| stage | {' | '.join(f'{size:,}' for size in sizes)} |",
        "|---" * (1 + len(sizes)) + "|",
    ]
    for stage, multiples in grown.items():
        lines.append(f"| {SHOWN[stage][0]} | {' | '.join(f'{one:.2f}' for one in multiples)} |")
    return "\n".join(lines) + "\n"


def draw(report: dict, path: Path) -> None:
    """Draw the growth of the CPU time of a unit, and the memory for each node."""
    from reinforce2vec.plotting.style import COLOURS, GREY, MARKERS, new_figure, save, styled

    with styled():
        figure = new_figure(8, 3.8)
        times, memory = figure.subplots(1, 2)
        grown = growth(report["results"])
        for stage, colour, marker in zip(SHOWN, COLOURS, MARKERS, strict=False):
            look = {"color": colour, "marker": marker, "markersize": 4}
            of_stage = [one for one in report["results"] if one["stage"] == stage]
            sizes = [one["size"] for one in of_stage]
            if stage in grown:
                times.plot([size for size in sizes if size >= FROM], grown[stage], **look)
            each = [one["peak_bytes"] / one["size"] for one in of_stage]
            memory.plot(sizes, each, label=SHOWN[stage][0], **look)
        times.axhline(MOST, color=GREY, linestyle="--", linewidth=1)
        times.annotate(f"goal: {MOST}", (FROM, MOST), xytext=(2, 3), textcoords="offset points",
                       fontsize=7, color=GREY)  # fmt: skip
        times.set(xscale="log", xlabel="nodes", ylim=0)
        times.set_title(f"CPU time for each unit, with {FROM:,} nodes = 1")
        memory.set(xscale="log", yscale="log", xlabel="nodes")
        memory.set_title("Bytes of memory for each node")
        figure.legend(*memory.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        save(figure, path, dpi=200)


def main() -> None:
    """Run, or draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000], help="nodes")
    parser.add_argument("--stages", nargs="*", choices=STAGES, default=STAGES)
    parser.add_argument("--workers", type=int, default=2, help="threads")
    parser.add_argument("--tokens", type=int, default=10_000_000, help="to walk and to train on")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/scale"), help="for the graphs")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    parser.add_argument("--draw", action="store_true", help="only make the page and the picture")
    parser.add_argument("--child", choices=STAGES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        (arguments.make_nodes,) = arguments.sizes
        folder = arguments.folder / str(arguments.make_nodes)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", str(arguments.workers))
        print(json.dumps(globals()[arguments.child](folder, arguments)))
        return
    report = json.loads(arguments.output.read_text()) if arguments.draw else run(arguments)
    if not report["results"]:
        return
    draw(report, arguments.picture)
    page = render(report)
    arguments.output.with_suffix(".md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
