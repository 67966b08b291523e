"""Race of packages for node embeddings: same edge list, budget and threads, file to vectors.

Each contestant is a function of `peers/race.py` in an environment and a process of its own, and
reads the edge list as its users do. Contestants take turns, round after round, so that other load
on the machine affects all alike. A contestant that fails, takes too long or too much memory is
recorded with its error, and not started again on that graph.

    python benchmarks/race.py                                   # everything: an hour on two cores
    python benchmarks/race.py --graphs facebook --rounds 1 --contestants reinforce2vec GRAPE
    python benchmarks/race.py --draw                            # page and pictures again

The rows of a graph are those of one call: run all contestants together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

import reinforce2vec as r2v
from measuring import DATA, THREADS, describe, read_options
from peering import HERE, as_json, environment, versions, with_few_threads
from race_page import OURS, draw, render
from reporting import ROOT, publish

BUDGET = {"dimensions": 128, "window": 10, "negatives": 5, "threads": THREADS}
SHUFFLES = 3  # of the classifier's training data
MOST_BYTES = 12_000_000_000


class Contestant(NamedTuple):
    """A package, the method of it that runs, and its kind: "walks" has the budget of walks."""

    package: str
    variant: str = ""
    kind: str = "walks"


CONTESTANTS = {
    "reinforce2vec": Contestant(OURS, "same walks"),
    "reinforce2vec, DeepWalk": Contestant(OURS, "DeepWalk"),
    "gensim + networkx": Contestant("gensim"),
    "node2vec (eliorc)": Contestant("node2vec"),
    "PecanPy": Contestant("pecanpy"),
    "fastnode2vec": Contestant("fastnode2vec"),
    "nodevectors": Contestant("nodevectors"),
    "karateclub": Contestant("karateclub"),
    "GRAPE": Contestant("grape"),
    "PyTorch Geometric": Contestant("pyg"),
    "preset fast": Contestant(OURS, "fast", "preset"),
    "preset default": Contestant(OURS, "default", "preset"),
    "preset best": Contestant(OURS, "best", "preset"),
    "reinforce2vec, ProNE": Contestant(OURS, "ProNE", "other"),
    "reinforce2vec, Spectral": Contestant(OURS, "Spectral", "other"),
    "nodevectors, ProNE": Contestant("nodevectors", "ProNE", "other"),
    "scikit-network, Spectral": Contestant("sknetwork", "Spectral", "other"),
    "scikit-network, GSVD": Contestant("sknetwork", "GSVD", "other"),
}


class Course(NamedTuple):
    """A graph with its budget: walks from every node, nodes in a walk, seconds; who takes part."""

    walks: int
    length: int
    limit: int
    rounds: int
    kinds: tuple[str, ...] = ("walks", "preset", "other")


COURSES = {
    "facebook": Course(10, 40, 150, 3),
    "blogcatalog": Course(10, 40, 150, 2),
    "dblp": Course(5, 40, 150, 1),
    "rmat": Course(1, 20, 240, 1, kinds=("walks",)),  # it has no labels: nothing tells quality
}


# -- the graphs ----------------------------------------------------------------------------------


def start(name: str) -> tuple[r2v.Graph, Callable[[np.ndarray], dict[str, float]]]:
    """Return the graph that contestants embed, and what scores vectors in the order of its ids."""
    if name == "rmat":
        return r2v.rmat(20), lambda _vectors: {}
    dataset = r2v.load_dataset(name, DATA, progress=False)
    split = r2v.hold_out_edges(dataset.graph, seed=0) if name == "facebook" else None

    def score(vectors: np.ndarray) -> dict[str, float]:
        if split:
            links = [r2v.score_links(vectors, split, seed=shuffle) for shuffle in range(SHUFFLES)]
            return {"AUC": mean(scores["hadamard"]["auc"] for scores in links)}
        f1 = [r2v.classify_nodes(vectors, dataset.labels, seed=s) for s in range(SHUFFLES)]
        return {f"{kind} F1": mean(scores[kind] for scores in f1) for kind in ("micro", "macro")}

    return split.graph if split else dataset.graph, score


def in_order(path: Path, ids: np.ndarray) -> np.ndarray:
    """Return the vectors in the order of the ids; zeros for nodes without one."""
    with np.load(path) as arrays:
        own, vectors = arrays["ids"], arrays["vectors"]
    order = np.argsort(own)
    rows = order[np.minimum(np.searchsorted(own, ids, sorter=order), len(own) - 1)]
    return np.where((own[rows] == ids)[:, None], vectors[rows], np.float32(0))


# -- one run -------------------------------------------------------------------------------------


def run(who: Contestant, course: Course, edges: Path, out: Path, seed: int) -> dict:
    """Run a contestant; return its seconds, peak memory and, if it failed, its error."""
    python = sys.executable if who.package == OURS else environment(who.package)
    settings = {"walks": course.walks, "length": course.length, "variant": who.variant}
    settings |= {"edges": edges, "out": out, "seed": seed, **BUDGET}
    command = [python, HERE / "peers" / "race.py", who.package, as_json(settings)]
    begin, peak, error = time.perf_counter(), 0, ""
    looked = begin
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=errors,
            env=with_few_threads(THREADS),
            start_new_session=True,
            preexec_fn=use_few_cpus,
        )
        while process.poll() is None:
            time.sleep(0.05)
            if time.perf_counter() < looked + 1:  # a look takes time that the contestant needs
                continue
            looked = time.perf_counter()
            peak = max(peak, session_bytes(process.pid))
            if peak > MOST_BYTES:
                error = f"stopped: it took more than {MOST_BYTES / 1e9:.0f} GB"
            elif time.perf_counter() - begin > course.limit:
                error = f"stopped after {course.limit} s"
            if error:
                subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
                process.wait()
        for stream in (output, errors):
            stream.seek(0)
        if process.returncode and not error:
            lines = errors.read().strip().splitlines()
            error = lines[-1] if lines and process.returncode > 0 else ""
            error = error or f"exit status {process.returncode}"
        if error:
            return {"error": error, "peak": peak}
        facts = json.loads(output.read().strip().splitlines()[-1])
    return {**facts, "peak": max(peak, facts["peak"]), "total": sum(facts["seconds"].values())}


def use_few_cpus() -> None:
    """Give the process no more CPUs than threads, whatever its package does."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])


def session_bytes(leader: int) -> int:
    """Return the memory of all processes of a session, shared pages divided among them."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[3]) == leader:
                rows = (stat.parent / "smaps_rollup").read_text().splitlines()
                total += next(1024 * int(row.split()[1]) for row in rows if row.startswith("Pss:"))
        except (OSError, IndexError, StopIteration):  # it has ended
            continue
    return total


def race(name: str, names: list[str], rounds: int | None) -> list[dict]:
    """Return one row for each round and contestant on a graph."""
    course, (graph, score) = COURSES[name], start(name)
    names = [label for label in names if CONTESTANTS[label].kind in course.kinds]
    rows: list[dict] = []
    failed = set()
    with tempfile.TemporaryDirectory() as folder:
        edges, out = Path(folder) / "edges.txt", Path(folder) / "vectors.npz"
        write_edges(graph, edges)
        for turn in range(rounds or course.rounds):
            shift = turn % len(names)  # another one is first in each round
            for label in names[shift:] + names[:shift]:
                if label in failed:
                    continue
                try:
                    facts = run(CONTESTANTS[label], course, edges, out, seed=turn)
                except (subprocess.CalledProcessError, ValueError, IndexError) as error:
                    facts = {"error": f"cannot be installed or read: {error}"}
                if "error" not in facts:
                    vectors = in_order(out, graph.ids)
                    out.unlink()
                    finite = np.isfinite(vectors).all()
                    facts |= (
                        {"scores": score(vectors)}
                        if finite
                        else {"error": "its vectors are not finite"}
                    )
                if "error" in facts:
                    failed.add(label)
                kind = CONTESTANTS[label].kind
                rows.append({"round": turn, "contestant": label, "kind": kind, **facts})
                print(name, json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def write_edges(graph: r2v.Graph, path: Path) -> None:
    """Write each edge once, in random order, as two integers."""
    ends, _ = r2v.graph.edges_of(graph)
    ends = np.random.default_rng(0).permutation(graph.ids[ends])
    with path.open("w") as file:
        for first in range(0, len(ends), 1_000_000):
            part = ends[first : first + 1_000_000].tolist()
            file.writelines(f"{a} {b}\n" for a, b in part)


def main() -> None:
    lists = {"graphs": list(COURSES), "contestants": list(CONTESTANTS)}
    # the remark says on the page what else ran on the machine
    options = read_options("race", __doc__, rounds=int, remark="", draw=False, **lists)
    report = json.loads(options.out.read_text()) if options.out.exists() else {"graphs": {}}
    packages = {CONTESTANTS[label].package for label in options.contestants} - {OURS}
    for name in [] if options.draw else options.graphs:
        rows, course = race(name, options.contestants, options.rounds), COURSES[name]
        budget = {"walks": course.walks, "length": course.length, "limit": course.limit}
        budget |= {"remark": options.remark} if options.remark else {}
        graphs = report["graphs"] | {name: {**budget, "rows": rows}}
        report["graphs"] = {name: graphs[name] for name in COURSES if name in graphs}
        report |= {"budget": BUDGET, "machine": describe()}
        peers = {package: installed(package) for package in sorted(packages)}
        report["peers"] = report.get("peers", {}) | peers
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    publish(report, render, options.out)
    draw(report, ROOT / "docs" / "benchmarks")


def installed(package: str) -> dict[str, str]:
    """Return the version of a peer, if it could be installed."""
    names = {"pyg": "torch-geometric", "sknetwork": "scikit-network"}
    try:
        return versions(package, names.get(package, package))
    except subprocess.CalledProcessError:
        return {}


if __name__ == "__main__":
    main()
