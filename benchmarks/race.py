"""Race of packages for node embeddings: same edge list, budget and threads, file to vectors.

Each contestant is a script of `peers/` in an environment and a process of its own, and reads the
edge list as its users do. Contestants take turns, round after round, so that other load on the
machine affects all alike. A contestant that fails, takes too long or too much memory is recorded
with its error, and not started again on that graph.

    python benchmarks/race.py                                   # everything: an hour on two cores
    python benchmarks/race.py --graphs facebook --rounds 1 --contestants reinforce2vec GRAPE
    python benchmarks/race.py --draw                            # page and pictures again

The rows of a graph are those of one call: run all contestants together.
"""

from __future__ import annotations

import argparse
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
from machine import describe
from peering import HERE, environment, versions
from race_page import OURS, draw, render
from reinforce2vec.evaluation import classify_nodes, score_links
from reporting import RESULTS, publish

DATA = HERE.parent.parent / "shared" / "data"
BUDGET = {"dimensions": 128, "window": 10, "negatives": 5, "threads": 2}
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
    if name == "facebook":
        split = r2v.hold_out_edges(dataset.graph, seed=0)

        def links(vectors: np.ndarray) -> dict[str, float]:
            scores = [score_links(vectors, split, seed=shuffle) for shuffle in range(SHUFFLES)]
            return {"AUC": mean(score["hadamard"]["auc"] for score in scores)}

        return split.graph, links

    def classes(vectors: np.ndarray) -> dict[str, float]:
        found = [classify_nodes(vectors, dataset.labels, seed=s) for s in range(SHUFFLES)]
        return {f"{kind} F1": mean(score[kind] for score in found) for kind in ("micro", "macro")}

    return dataset.graph, classes


def in_order(found: Path, ids: np.ndarray) -> np.ndarray:
    """Return the vectors in the order of the ids; zeros for nodes without one."""
    with np.load(found) as held:
        own, vectors = held["ids"], held["vectors"]
    order = np.argsort(own)
    places = np.minimum(np.searchsorted(own, ids, sorter=order), len(own) - 1)
    rows = order[places]
    return np.where((own[rows] == ids)[:, None], vectors[rows], np.float32(0))


# -- one run -------------------------------------------------------------------------------------


def run(who: Contestant, course: Course, edges: Path, out: Path, seed: int) -> dict:
    """Run a contestant; return its seconds, peak memory and, if it failed, its error."""
    python = sys.executable if who.package == OURS else environment(who.package)
    budget = {
        "edges": edges,
        "out": out,
        "seed": seed,
        "walks": course.walks,
        "length": course.length,
        "variant": who.variant,
        **BUDGET,
    }
    names = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMBA")
    threads = {f"{name}_NUM_THREADS": str(BUDGET["threads"]) for name in names}
    command = [python, HERE / "peers" / f"{who.package}_race.py"]
    command += [f"--{name}={value}" for name, value in budget.items()]
    begin, peak, error = time.perf_counter(), 0, ""
    looked = begin
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, env=os.environ | threads,
            start_new_session=True, preexec_fn=use_few_cpus,
        )  # fmt: skip
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
        measured = json.loads(output.read().strip().splitlines()[-1])
    measured["peak"] = max(peak, measured["peak"])
    return {**measured, "total": sum(measured["seconds"].values())}


def use_few_cpus() -> None:
    """Give the process no more CPUs than threads, whatever its package does."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: BUDGET["threads"]])


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
    with tempfile.TemporaryDirectory() as folder:
        edges, out = Path(folder) / "edges.txt", Path(folder) / "vectors.npz"
        write_edges(graph, edges)
        for number in range(rounds or course.rounds):
            shift = number % len(names)  # another one is first in each round
            for label in names[shift:] + names[:shift]:
                if any(row["contestant"] == label and "error" in row for row in rows):
                    continue
                try:
                    found = run(CONTESTANTS[label], course, edges, out, seed=number)
                except (subprocess.CalledProcessError, ValueError, IndexError) as error:
                    found = {"error": f"cannot be installed or read: {error}"}
                if "error" not in found:
                    vectors = in_order(out, graph.ids)
                    out.unlink()
                    if np.isfinite(vectors).all():
                        found["scores"] = score(vectors)
                    else:
                        found["error"] = "its vectors are not finite"
                kind = CONTESTANTS[label].kind
                rows.append({"round": number, "contestant": label, "kind": kind, **found})
                print(name, json.dumps(rows[-1]), file=sys.stderr, flush=True)
    return rows


def write_edges(graph: r2v.Graph, path: Path) -> None:
    """Write each edge once, in random order, as two integers."""
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    ends = np.stack([rows, graph.indices], axis=1)[rows <= graph.indices]
    ends = np.random.default_rng(0).permutation(graph.ids[ends])
    with path.open("w") as file:
        for first in range(0, len(ends), 1_000_000):
            part = ends[first : first + 1_000_000].tolist()
            file.writelines(f"{one} {other}\n" for one, other in part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", nargs="+", choices=COURSES, default=list(COURSES))
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument(
        "--rounds", type=int, help="default: 3 on the smallest graph, 1 on large ones"
    )
    parser.add_argument("--remark", default="", help="what else ran on the machine, for the page")
    parser.add_argument("--draw", action="store_true", help="only draw and write the page again")
    parser.add_argument("--out", type=Path, default=RESULTS / "race.json")
    parser.add_argument("--pictures", type=Path, default=HERE.parent / "docs" / "benchmarks")
    options = parser.parse_args()
    found = json.loads(options.out.read_text()) if options.out.exists() else {"graphs": {}}
    if not options.draw:
        packages = {CONTESTANTS[label].package for label in options.contestants} - {OURS}
        for name in options.graphs:
            rows = race(name, options.contestants, options.rounds)
            course = COURSES[name]
            budget = {"walks": course.walks, "length": course.length, "limit": course.limit}
            budget |= {"remark": options.remark} if options.remark else {}
            graphs = found["graphs"] | {name: {**budget, "rows": rows}}
            found["graphs"] = {one: graphs[one] for one in COURSES if one in graphs}
            found |= {"budget": BUDGET, "machine": describe()}
            found.setdefault("peers", {}).update({one: installed(one) for one in sorted(packages)})
            options.out.write_text(json.dumps(found, indent=1) + "\n")
    publish(found, render, options.out)
    draw(found, options.pictures)


def installed(package: str) -> dict[str, str]:
    """Return the version of a peer, if it could be installed."""
    names = {"pyg": "torch-geometric", "sknetwork": "scikit-network"}
    try:
        return versions(package, names.get(package, package))
    except subprocess.CalledProcessError:
        return {}


if __name__ == "__main__":
    main()
