"""Benchmark training: speed beside gensim and GRAPE, and memory.

Everything runs on the same threads in turns, round after round, so that other load on the machine
affects all alike; what counts are the ratios within a round, given as median and range. A token is
a node in a walk. gensim and reinforce2vec train on the same walks; GRAPE makes its own, so its
whole fit is compared with our walks and training together.

    python benchmarks/training.py              # BlogCatalog (if its file is there) and R-MAT 2^20
    python benchmarks/training.py --no-peers --rmat-scale 16 --rounds 3
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np

import reinforce2vec as r2v
from measuring import DATA, THREADS, describe, in_new_process, in_turns, read_options, timed
from peering import Peer, versions
from reinforce2vec._util.machine import peak_bytes
from reporting import RESULTS, publish, select, size, spread, table
from skip_gram import LENGTH, NEGATIVES, WINDOW, contexts_per_token

DIMENSIONS, LEARNING_RATE = (64, 128), 0.025
OURS, ONE, WHOLE = "ours", "ours, 1 thread", "ours, walks + training"
LISTS, FILE, GRAPE = "gensim, lists of strings", "gensim, corpus_file", "GRAPE, walks + training"
COMPARED = ((OURS, LISTS), (OURS, FILE), (WHOLE, GRAPE), (OURS, ONE))
BLOGCATALOG = "BlogCatalog"


# -- measuring -----------------------------------------------------------------------------------


def model_for(dimensions: int, workers: int, walks_per_node: int = 1) -> r2v.Reinforce2Vec:
    return r2v.Reinforce2Vec(
        dimensions=dimensions,
        walk=r2v.FirstOrderWalk(),
        walk_length=LENGTH,
        walks_per_node=walks_per_node,
        window=WINDOW,
        negatives=NEGATIVES,
        epochs=1,
        learning_rate=LEARNING_RATE,
        subsample=0.0,
        smooth=False,
        seed=0,
        workers=workers,
    )


def train(graph: r2v.Graph, walks: np.ndarray, dimensions: int, workers: int) -> dict:
    """Run our training alone, without allocating the matrices, like gensim's train()."""
    model = model_for(dimensions, workers).fit_walks(walks, ids=graph.ids, progress=False)
    return {"tokens": model.n_tokens_, "seconds": model.seconds_}


def walk_and_train(graph: r2v.Graph, dimensions: int, walks_per_node: int) -> dict:
    """Run our whole fit."""
    model = model_for(dimensions, THREADS, walks_per_node)
    times, _ = timed(lambda: model.fit_transform(graph, progress=False))
    return {"tokens": model.n_tokens_, "seconds": times["seconds"]}


def shuffled_walks(graph: r2v.Graph, per_node: int) -> np.ndarray:
    """Return walks from all nodes with a neighbour, shuffled: any prefix is a fair sample."""
    options = {"length": LENGTH, "per_node": per_node, "workers": THREADS}
    starts = graph.ids[graph.degrees > 0]
    walks = r2v.sample_walks(graph, r2v.FirstOrderWalk(), starts=starts, **options)
    return np.random.default_rng(0).permutation(walks)


Tasks = dict[tuple[str, str, int], Callable[[], dict]]


def tasks_on(name: str, graph: r2v.Graph, options: argparse.Namespace, stack: ExitStack) -> Tasks:
    """Return all tasks to measure on a graph; the stack ends the peers started for them."""
    small = name == BLOGCATALOG
    per_node = options.walks_per_node if small else 1
    walks = shuffled_walks(graph, per_node)
    own = walks if small else walks[: options.rmat_walks]
    tasks: Tasks = {}
    for d in DIMENSIONS:
        tasks[name, OURS, d] = lambda d=d: train(graph, own, d, THREADS)
        tasks[name, WHOLE, d] = lambda d=d: walk_and_train(graph, d, per_node)
        tasks[name, ONE, d] = lambda d=d: train(graph, own, d, 1)
    if options.peers:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        np.savez(folder / "csr.npz", indptr=graph.indptr, indices=graph.indices, starts=graph.ids)
        same = {"threads": THREADS, "window": WINDOW, "negatives": NEGATIVES}
        same |= {"learning_rate": LEARNING_RATE, "length": LENGTH, "walks": per_node}
        n_walks = options.gensim_walks if small else options.rmat_gensim_walks
        data = folder / "walks.npy"
        np.save(data, walks)
        gensim = Peer("gensim", "training", data=data, n_walks=n_walks, **same)
        grape = Peer("grape", "training", graph=folder / "csr.npz", **same)
        stack.enter_context(gensim)
        stack.enter_context(grape)
        for d in DIMENSIONS:
            tasks[name, LISTS, d] = lambda d=d: gensim(dimensions=d, corpus="lists")
            tasks[name, FILE, d] = lambda d=d: gensim(dimensions=d, corpus="file")
            tasks[name, GRAPE, d] = lambda d=d: grape(dimensions=d)
    return tasks


def measure_speed(graphs: dict[str, r2v.Graph], options: argparse.Namespace) -> list[dict]:
    """Run every task once a round; whole fits of the large graph only once."""
    with ExitStack() as stack:
        tasks: dict = {}
        for name, graph in graphs.items():
            tasks |= tasks_on(name, graph, options, stack)
        club = r2v.karate_club()  # everything is compiled, or loaded from the cache
        for d in DIMENSIONS:
            for workers in (1, THREADS):
                train(club, shuffled_walks(club, 1), d, workers)
            walk_and_train(club, d, 1)
        large = [key for key in tasks if key[0] != BLOGCATALOG and key[1] in (WHOLE, GRAPE)]
        rows = [named_row(0, key, tasks.pop(key)()) for key in large]
        return rows + [named_row(*row) for row in in_turns(tasks, options.rounds)]


def named_row(turn: int, key: tuple[str, str, int], result: dict) -> dict:
    return {"round": turn, "graph": key[0], "what": key[1], "dimensions": key[2], **result}


def memory_of(scale: int) -> dict:
    """Return the peak memory of this process while it fits, and that of its parts."""
    graph, d = r2v.rmat(scale), max(DIMENSIONS)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = peak_bytes()
    walk_and_train(graph, d, 1)
    return {
        "dimensions": d,
        "graph_bytes": graph.nbytes,
        "matrices_bytes": 2 * graph.n_nodes * d * 4,
        "before_bytes": before,
        "peak_bytes": peak_bytes(),
    }


# -- the page ------------------------------------------------------------------------------------


def speeds(rows: list[dict], graph: str, what: str, dimensions: int) -> dict[int, float]:
    """Return tokens per second in each round."""
    chosen = select(rows, graph=graph, what=what, dimensions=dimensions)
    return {row["round"]: row["tokens"] / row["seconds"] for row in chosen}


def ratios(a: dict[int, float], b: dict[int, float]) -> list[float]:
    """Return ratios within the rounds that have both."""
    return [a[turn] / b[turn] for turn in a if turn in b]


def by_dimensions(head: str, lines: list[tuple[str, Callable]], form: str) -> list[str]:
    """Return a table with a column for each number of dimensions, without empty lines."""
    values = [(label, [values_of(d) for d in DIMENSIONS]) for label, values_of in lines]
    return table(
        [head, *(f"d = {d}" for d in DIMENSIONS)],
        ([label, *(spread(v, form) for v in cells)] for label, cells in values if any(cells)),
    )


def render(results: dict) -> str:
    machine, rows, graphs = results["machine"], results["speed"], list(results["graphs"])
    lines = [
        "# Training",
        f"\n{machine['processor']}, {THREADS} threads, Python {machine['python']}, "
        f"{machine['date']}. Walks of {LENGTH} nodes, window {WINDOW}, {NEGATIVES} negatives, no "
        "subsampling, one pass. Median and range over the rounds.",
    ]

    def thousands(graph: str, what: str) -> Callable:
        return lambda d: [speed / 1e3 for speed in speeds(rows, graph, what, d).values()]

    def beside(graph: str, what: str, other: str, to: str) -> Callable:
        return lambda d: ratios(speeds(rows, graph, what, d), speeds(rows, other, to, d))

    for graph in graphs:
        whats = [(what, thousands(graph, what)) for what in (OURS, ONE, WHOLE, LISTS, FILE, GRAPE)]
        lines += [
            f"\n## {graph}: {size(results['graphs'][graph])}\n",
            *by_dimensions("thousand tokens/s", whats, ",.0f"),
        ]
    compared = [
        (f"{graph}: {what}, beside {to}", beside(graph, what, graph, to))
        for graph in graphs
        for what, to in COMPARED
    ] + [
        (f"ours: {graph}, beside {BLOGCATALOG}", beside(graph, OURS, BLOGCATALOG, OURS))
        for graph in graphs
        if graph != BLOGCATALOG
    ]
    updates = (NEGATIVES + 1) * contexts_per_token()
    lines += [
        "\n## Times as fast\n",
        *by_dimensions("times as fast, within a round", compared, ".2f"),
        "\ngensim, which is slower, trains on a part of the same walks. Whole fits of the large "
        "graph run in one round only.",
        "\nThe work per token differs: word2vec and reinforce2vec update "
        f"{NEGATIVES + 1} rows for each of {contexts_per_token():.1f} contexts, "
        f"{updates:.0f} in all; GRAPE, which draws negatives once "
        f"per token, updates {grape_contexts_per_token() + NEGATIVES:.0f} or fewer.",
    ]
    if memory := results["memory"]:
        lines += [
            "\n## Memory\n",
            f"A fit of {graphs[-1]} ({size(results['graphs'][graphs[-1]])}) at "
            f"d = {memory['dimensions']}: a peak of "
            f"{memory['peak_bytes'] / 1e6:,.0f} MB, of which the graph takes "
            f"{memory['graph_bytes'] / 1e6:,.0f} and the two matrices "
            f"{memory['matrices_bytes'] / 1e6:,.0f}. Before the fit the process used "
            f"{memory['before_bytes'] / 1e6:,.0f} MB.",
        ]
    return "\n".join([*lines, "", (RESULTS / "training_earlier.md").read_text()])


def grape_contexts_per_token() -> float:
    """Return the contexts of GRAPE, which never shrinks the window and sees one node less ahead."""
    at = np.arange(LENGTH)
    return float((np.minimum(at, WINDOW) + np.minimum(LENGTH - 1 - at, WINDOW - 1)).mean())


def main() -> None:
    options = read_options(
        "training",
        __doc__,
        rounds=5,
        walks_per_node=10,  # on BlogCatalog
        rmat_walks=250_000,  # trained on by us
        gensim_walks=25_000,  # of the same, by gensim
        rmat_gensim_walks=10_000,
        rmat_scale=20,
        peers=True,
    )
    graphs = {f"R-MAT 2^{options.rmat_scale}": r2v.rmat(options.rmat_scale)}
    if (DATA / "blogcatalog.mat").exists():
        graphs = {BLOGCATALOG: r2v.read_graph(DATA / "blogcatalog.mat"), **graphs}
    peers = {"gensim": ("gensim",), "grape": ("grape", "embiggen", "ensmallen")}
    results = {
        "machine": describe(),
        "peers": {p: versions(p, *names) for p, names in peers.items()} if options.peers else {},
        "options": {key: value for key, value in vars(options).items() if key != "out"},
        "graphs": {name: repr(graph) for name, graph in graphs.items()},
        "speed": measure_speed(graphs, options),
        "memory": in_new_process(memory_of, options.rmat_scale),
    }
    publish(results, render, options.out)


if __name__ == "__main__":
    main()
