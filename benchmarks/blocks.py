"""Training in blocks beside training without: speed and quality, two versions of the code in turns.

Up to commit d737074 threads updated the same rows without locks; now they train blocks of nodes,
and every number of threads gives the same vectors.

    python benchmarks/blocks.py --against COMMIT speed                 # 1 and 2 threads
    python benchmarks/blocks.py --against COMMIT speed --threads 1 16 --dimensions 128
    python benchmarks/blocks.py --against COMMIT quality --processes 16

Speed: both versions run in turns on the same walks, one process each. Quality: every training uses
one thread of its own process; scores are means over the seeds, with the standard deviation.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median, stdev

import numpy as np

from checkouts import ROOT, checkout_of, run_with
from machine import describe
from reporting import publish

RESULTS = Path(__file__).parent / "results"
DATA = ROOT.parent / "shared" / "data"
SPEED_WALKS = {"blogcatalog": 120_000, "ppi": 120_000, "R-MAT 2^20": 250_000}
GRAPHS = ("blogcatalog", "ppi", "dblp", "facebook", "ca-astroph")
BUDGETS = {"80 walks, d = 128": (80, 128), "10 walks, d = 64": (10, 64)}
NEW, OLD = "blocks", "before"


# -- in a process with one version of the code -----------------------------------------------------


def walks_of(name: str, folder: str):
    """Return a graph and shuffled first-order walks."""
    import reinforce2vec as r2v

    if name.startswith("R-MAT"):
        graph = r2v.rmat(20)
    else:
        graph = r2v.load_dataset(name, data_dir=folder).graph
    per_node = -(-SPEED_WALKS[name] // int((graph.degrees > 0).sum()))
    starts = graph.ids[graph.degrees > 0]
    walks = r2v.sample_walks(
        graph, r2v.FirstOrderWalk(), length=40, per_node=per_node, starts=starts
    )
    return graph, np.random.default_rng(0).permutation(walks)[: SPEED_WALKS[name]]


def answer_speeds(folder: str) -> None:
    """Train as standard input says, line by line, and print tokens per second."""
    import reinforce2vec as r2v

    known: dict = {}
    for line in sys.stdin:
        name, dimensions, threads = json.loads(line)
        if name not in known:
            known[name] = walks_of(name, folder)
        graph, walks = known[name]
        raw = {"window": 10, "smooth": False}
        model = r2v.Reinforce2Vec(dimensions, learning_rate=0.025, workers=threads, **raw)
        model.fit_walks(walks, ids=graph.ids, progress=False)
        print(json.dumps(model.n_tokens_ / model.seconds_), flush=True)


def scores_of(name: str, walks: int, dimensions: int, seed: int, folder: str) -> dict:
    """Return the scores of one training, raw and smoothed."""
    import reinforce2vec as r2v
    from reinforce2vec.evaluation import classify_nodes, score_links

    data = r2v.load_dataset(name, data_dir=folder)
    raw = {"window": 10, "smooth": False}
    model = r2v.Reinforce2Vec(dimensions, walks_per_node=walks, seed=seed, workers=1, **raw)
    if data.labels is not None:
        vectors = model.fit_transform(data.graph, progress=False)
        graph = data.graph

        def score(vectors):
            found = [classify_nodes(vectors, data.labels, seed=k) for k in range(2)]
            return {f"{kind}-F1": mean(one[kind] for one in found) for kind in ("micro", "macro")}

    else:
        split = r2v.hold_out_edges(data.graph, seed=seed)
        vectors, graph = model.fit_transform(split.graph, progress=False), split.graph

        def score(vectors):
            found = score_links(vectors, split, seed=0)
            return {f"AUC {operator}": values["auc"] for operator, values in found.items()}

    return {"raw": score(vectors), "smoothed": score(r2v.smooth(vectors, graph))}


# -- both versions ---------------------------------------------------------------------------------


class Version:
    """A process that trains with one version of the code."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        path = os.pathsep.join([str(checkout / "src"), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, __file__, "--data", str(folder), "answer"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    def speed(self, *case: object) -> float:
        print(json.dumps(case), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def measure_speed(options: argparse.Namespace) -> list[dict]:
    results = []
    with checkout_of(options.against) as other:
        versions = {NEW: Version(ROOT, options.data), OLD: Version(other, options.data)}
        for turn in range(-1, options.rounds):  # the first one compiles
            for name in SPEED_WALKS:
                for dimensions in options.dimensions:
                    for threads in options.threads:
                        for version, process in versions.items():
                            if turn < 0 and (name, threads) != ("ppi", options.threads[0]):
                                continue
                            found = process.speed(name, dimensions, threads)
                            results.append(
                                {
                                    "round": turn, "graph": name, "dimensions": dimensions,
                                    "threads": threads, "version": version, "tokens_per_s": found,
                                }
                            )  # fmt: skip
            print(f"round {turn + 1} of {options.rounds}", file=sys.stderr)
        for process in versions.values():
            process.process.kill()
    return [one for one in results if one["round"] >= 0]


def measure_quality(options: argparse.Namespace) -> list[dict]:
    jobs = [
        {"graph": graph, "walks": walks, "dimensions": dimensions, "seed": seed, "version": version}
        for walks, dimensions in (BUDGETS[name] for name in options.budgets)
        for graph in sorted(GRAPHS, key=lambda name: name != "ca-astroph")  # long ones first
        for seed in range(options.seeds)
        for version in (NEW, OLD)
        if graph in options.graphs
    ]
    known = json.loads(options.reuse.read_text())["quality"] if options.reuse else []
    with checkout_of(options.against) as other, ThreadPoolExecutor(options.processes) as pool:

        def run(job: dict) -> dict:
            for row in known:
                if all(row[key] == value for key, value in job.items()):
                    return row
            words = [str(job[key]) for key in ("graph", "walks", "dimensions", "seed")]
            checkout = ROOT if job["version"] == NEW else other
            found = run_with(checkout, __file__, "--data", str(options.data), "scores", *words)
            print(json.dumps(job | found), file=sys.stderr, flush=True)
            return job | found

        return list(pool.map(run, jobs))


# -- the page --------------------------------------------------------------------------------------


def ratio(results: list[dict], one: dict, other: dict) -> str:
    """Return the median ratio of speeds within a round, and its range."""

    def speeds(which: dict) -> dict[int, float]:
        chosen = (r for r in results if all(r[key] == value for key, value in which.items()))
        return {r["round"]: r["tokens_per_s"] for r in chosen}

    a, b = speeds(one), speeds(other)
    found = [a[turn] / b[turn] for turn in a if turn in b]
    return f"{median(found):.2f} ({min(found):.2f} – {max(found):.2f})" if found else "–"


def counted(threads: int) -> str:
    return "1 thread" if threads == 1 else f"{threads} threads"


def render_speed(found: dict) -> list[str]:
    results, machine = found["speed"], found["machine"]
    threads = sorted({r["threads"] for r in results})
    lines = [
        f"{machine['processor']}, {machine['processors']} CPUs, {machine['date']}. Ratios of "
        "tokens per second within a round: median and range. Fused multiply-adds that the machine "
        "can do: "
        + ", ".join(f"{peak / 1e9:.0f} billion/s on {n}" for n, peak in found["fma"].items())
        + " threads.\n",
        "| graph | d | " + " | ".join(f"{counted(n)}: blocks / before" for n in threads)
        + f" | blocks: {counted(threads[-1])} / 1 | before: {counted(threads[-1])} / 1 |",
        "|---" * (4 + len(threads)) + "|",
    ]  # fmt: skip
    for graph in SPEED_WALKS:
        for dimensions in sorted({r["dimensions"] for r in results}):
            of = {"graph": graph, "dimensions": dimensions}
            cells = [
                ratio(
                    results,
                    of | {"threads": n, "version": NEW},
                    of | {"threads": n, "version": OLD},
                )
                for n in threads
            ]
            cells += [
                ratio(
                    results,
                    of | {"threads": threads[-1], "version": version},
                    of | {"threads": 1, "version": version},
                )
                for version in (NEW, OLD)
            ]
            lines.append(f"| {graph} | {dimensions} | {' | '.join(cells)} |")
    return lines


def render_quality(found: dict) -> list[str]:
    results = found["quality"]
    lines = [
        f"{found['seeds']} seeds, mean ± standard deviation; link prediction in the `shared` "
        "protocol.\n",
        "| graph | budget | score | blocks, raw | before, raw | blocks, smoothed "
        "| before, smoothed |",
        "|---|---|---|---|---|---|---|",
    ]
    for graph in GRAPHS:
        for budget, (walks, _) in BUDGETS.items():
            of = [r for r in results if (r["graph"], r["walks"]) == (graph, walks)]
            for metric in of[0]["raw"] if of else ():
                cells = []
                for kind in ("raw", "smoothed"):
                    for version in (NEW, OLD):
                        values = [r[kind][metric] for r in of if r["version"] == version]
                        cells.append(f"{mean(values):.2f} ± {stdev(values):.2f}")
                lines.append(f"| {graph} | {budget} | {metric} | {' | '.join(cells)} |")
    return lines


def render(found: dict) -> str:
    page = render_speed(found) if "speed" in found else render_quality(found)
    title = "speed" if "speed" in found else "quality"
    notes = [f"\n{found['note']}"] if "note" in found else []
    return "\n".join([f"# Blocks: {title}\n", *page, *notes, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", help="a commit, or the folder of a checkout")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, help="by default results/blocks_speed.json and so on")
    kinds = parser.add_subparsers(dest="kind", required=True)
    speed = kinds.add_parser("speed")
    speed.add_argument("--rounds", type=int, default=5)
    speed.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    speed.add_argument("--dimensions", type=int, nargs="+", default=[64, 128])
    quality = kinds.add_parser("quality")
    quality.add_argument("--seeds", type=int, default=4)
    quality.add_argument("--processes", type=int, default=2)
    quality.add_argument("--graphs", nargs="+", default=GRAPHS)
    quality.add_argument("--reuse", type=Path, help="a file of results; take rows from there")
    quality.add_argument("--budgets", nargs="+", choices=BUDGETS, default=list(BUDGETS))
    kinds.add_parser("answer", help="used by this script")
    scores = kinds.add_parser("scores", help="used by this script")
    scores.add_argument("words", nargs=4)
    options = parser.parse_args()
    if options.kind == "answer":
        answer_speeds(str(options.data))
    elif options.kind == "scores":
        name, *numbers = options.words
        print(json.dumps(scores_of(name, *map(int, numbers), str(options.data))))
    else:
        out = options.out or RESULTS / f"blocks_{options.kind}.json"
        found = {"machine": describe(), "against": options.against}
        if options.kind == "speed":
            from fma import fma_peak

            found["fma"] = {n: fma_peak(n) for n in options.threads}
            found["speed"] = measure_speed(options)
        else:
            found |= {"seeds": options.seeds, "quality": measure_quality(options)}
        publish(found, render, out)


if __name__ == "__main__":
    main()
