"""Odd graphs: every operation on stars, paths, cliques, dead ends, extreme weights and the like.

Each operation on each graph must end in finite numbers or in one sentence (InputError). A graph
whose size can grow is tried at two sizes: the ratio of the times shows the growth. Operations whose
cost is more than linear in the nodes (NetMF, GraRep), training and evaluation run on small graphs
only.

    python reliability/odd_graphs.py
    python reliability/odd_graphs.py --graphs star path --small-only
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import reinforce2vec as r2v
from recording import record
from reinforce2vec import Graph, InputError, ReinforcedWalk

SMALL = (300, 600)  # nodes, for every operation
LARGE = (10_000, 100_000)  # for those that take linear time
LARGEST = (100_000, 1_000_000)
CLIQUE = (1_000, 2_000)


# -- graphs: from a size -------------------------------------------------------------------------


def star(n: int, weights: Any = None, directed: bool = False) -> Graph:
    leaves = np.arange(1, n)
    edges = np.column_stack([np.zeros_like(leaves), leaves])
    return Graph.from_edges(edges, weights, directed=directed)


def weighted_star(n: int) -> Graph:
    return star(n, np.random.default_rng(0).lognormal(0, 2, n - 1))


def path(n: int) -> Graph:
    return Graph.from_edges(np.column_stack([np.arange(n - 1), np.arange(1, n)]))


def clique(n: int) -> Graph:
    return Graph.from_edges(np.column_stack(np.triu_indices(n, 1)))


def bipartite(n: int) -> Graph:
    """Return two sides of n / 2 nodes, each node with eight random neighbours on the other."""
    rng, half = np.random.default_rng(0), n // 2
    return Graph.from_edges(
        np.column_stack([np.repeat(np.arange(half), 8), half + rng.integers(0, half, 8 * half)]),
        nodes=range(n),
    )


def self_loops(n: int) -> Graph:
    return Graph.from_edges(np.column_stack([np.arange(n)] * 2), self_loops=True)


def dropped_loops(n: int) -> Graph:
    return Graph.from_edges(np.column_stack([np.arange(n)] * 2))


def dead_ends(n: int) -> Graph:
    """Return a directed tree: every walk ends at a leaf."""
    nodes = np.arange(1, n)
    return Graph.from_edges(np.column_stack([(nodes - 1) // 2, nodes]), directed=True)


def sinks(n: int) -> Graph:
    """Return a star whose leaves all point to the hub, where every walk ends."""
    leaves = np.arange(1, n)
    return Graph.from_edges(np.column_stack([leaves, np.zeros_like(leaves)]), directed=True)


def parallel(n: int) -> Graph:
    """Return a path in which every edge is given three times, with weights, and once backwards."""
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    every = np.concatenate([edges, edges, edges, edges[:, ::-1]])
    return Graph.from_edges(every, np.linspace(1, 2, len(every)))


def with_weights(low: float, high: float, directed: bool = False) -> Callable[[int], Graph]:
    """Return a function that makes random graphs with weights from 10^low to 10^high."""

    def make(n: int) -> Graph:
        rng = np.random.default_rng(0)
        ends = np.column_stack([np.repeat(np.arange(n), 4), rng.integers(0, n, 4 * n)])
        weights = 10.0 ** rng.uniform(low, high, len(ends))
        return Graph.from_edges(ends, weights, directed=directed)

    return make


def types_of_ids(n: int) -> Graph:
    """Return a ring of ids that differ only by their types; Python finds some of them equal."""
    ids = [1, "1", b"1", 1.0, True, np.int64(1), np.float32(1), ("1",), (1,), frozenset([1])]
    return Graph.from_edges(list(zip(ids, ids[1:] + ids[:1], strict=True)))


GROWING = {
    "star": (star, LARGEST),
    "weighted star": (weighted_star, LARGEST),
    "path": (path, LARGEST),
    "self-loops": (self_loops, LARGE),
    "self-loops, dropped": (dropped_loops, LARGE),
    "dead ends": (dead_ends, LARGE),
    "sinks": (sinks, LARGE),
    "parallel edges": (parallel, LARGE),
    "bipartite": (bipartite, LARGE),
    "clique": (clique, CLIQUE),
}
FIXED = {
    "one node": lambda _: Graph.from_edges([], nodes=["a"]),
    "one node with a self-loop": lambda _: Graph.from_edges([("a", "a")], self_loops=True),
    "two nodes": lambda _: Graph.from_edges([("a", "b")]),
    "two nodes apart": lambda _: Graph.from_edges([], nodes=["a", "b"]),
    "two nodes, one weighted arc": lambda _: Graph.from_edges(
        [("a", "b")], [1e-300], directed=True
    ),
    "ids that differ by type": types_of_ids,
    "weights 1e-300 to 1e300": with_weights(-300, 300),
    "weights 1e-300 to 1e-160": with_weights(-300, -160),
    "weights 1e160 to 1e300": with_weights(160, 300),
    "weights 1e307 to 1e308": with_weights(307, 308),
    "weights 1e307 to 1e308, directed": with_weights(307, 308, directed=True),
    "weights that are denormal": with_weights(-323, -310),
    "weights 1e-15 to 1e15": with_weights(-15, 15),
    "weights whose sums overflow": lambda _: Graph.from_edges([(1, 2), (1, 2)], [1.7e308, 1.7e308]),
}


# -- operations ----------------------------------------------------------------------------------


def walks(walk: Any) -> Callable[[Graph], Any]:
    def sample(graph: Graph) -> Any:
        starts = graph.ids[:: -(-graph.n_nodes // 1_000)]
        return r2v.sample_walks(graph, walk, length=40, per_node=1, starts=starts, workers=1)

    return sample


def vectors_of(graph: Graph) -> r2v.Embedding:
    numbers = np.random.default_rng(1).normal(size=(graph.n_nodes, 16)).astype(np.float32)
    return r2v.Embedding(graph.ids, numbers)


def fitted(estimator: Callable[[], Any]) -> Callable[[Graph], Any]:
    return lambda graph: estimator().fit_transform(graph, progress=False)


def split(graph: Graph) -> Any:
    held = r2v.hold_out_edges(graph)
    scores = r2v.score_links(vectors_of(held.graph).vectors, held)
    return np.array([value for of in dict(scores).values() for value in of.values()], float)


def classify(graph: Graph) -> Any:
    labels = {node: str(i % 2) for i, node in enumerate(graph.ids.tolist())}
    return np.array(list(r2v.classify_nodes(vectors_of(graph), labels).values()))


LINEAR = {
    "first-order walks": walks(r2v.FirstOrderWalk()),
    "second-order walks": walks(r2v.SecondOrderWalk(0.5, 2)),
    "DRRW": walks(ReinforcedWalk.paper()),
    "DRRW, released": walks(ReinforcedWalk.released()),
    "DRRW, greedy": walks(ReinforcedWalk.released("kl", "epsilon")),
    "VRRW": walks(ReinforcedWalk.paper("vertex", "epsilon")),
    "VRRW, UCB": walks(ReinforcedWalk.paper("vertex")),
    "smoothing": lambda graph: r2v.smooth(vectors_of(graph), graph, workers=1).vectors,
    "neighbours of a node": lambda graph: np.array(
        [score for _, score in vectors_of(graph).most_similar(graph.ids[0])]
    ),
    "communities": lambda graph: r2v.find_communities(graph),
    "components": lambda graph: np.array([graph.n_components]),
}
EVERY = LINEAR | {
    "training": fitted(
        lambda: r2v.Reinforce2Vec(dimensions=16, walks_per_node=2, walk_length=20, workers=1)
    ),
    "LINE": fitted(lambda: r2v.LINE(16, samples=20_000, workers=1)),
    "HOPE": fitted(lambda: r2v.HOPE(16)),
    "ProNE": fitted(lambda: r2v.ProNE(16)),
    "Spectral": fitted(lambda: r2v.Spectral(16)),
    "NetMF": fitted(lambda: r2v.NetMF(16)),
    "GraRep": fitted(lambda: r2v.GraRep(16)),
    "link prediction": split,
    "node classification": classify,
    "projection": lambda graph: r2v.project(vectors_of(graph), "pca", progress=False),
}


def outcome_of(action: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    """Run something; return seconds and outcome, and what it returned."""
    begin, found = time.perf_counter(), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = action()
        except InputError as error:
            outcome = f"refused: {error}"
        except Exception as error:
            outcome = f"FAILED: {type(error).__name__}: {error}"
        else:
            numbers = found if isinstance(found, np.ndarray) else np.zeros(0)
            outcome = "finite" if np.isfinite(numbers).all() else "FAILED: not finite"
    row = {"outcome": outcome, "seconds": round(time.perf_counter() - begin, 3)}
    if caught:
        row["warnings"] = sorted({str(warning.message) for warning in caught})
    return row, found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", nargs="+", choices=[*GROWING, *FIXED], metavar="GRAPH")
    parser.add_argument("--small-only", action="store_true", help="leave the large sizes out")
    arguments = parser.parse_args()
    tasks = [(name, make, sizes) for name, (make, _) in GROWING.items() for sizes in [SMALL]]
    tasks += [(name, make, (SMALL[0],)) for name, make in FIXED.items()]
    if not arguments.small_only:
        tasks += [(name, make, sizes) for name, (make, sizes) in GROWING.items()]
    rows: list[dict[str, Any]] = []
    warmed = r2v.karate_club()
    for action in EVERY.values():  # compile everything before the clock starts
        outcome_of(lambda action=action: action(warmed))
        outcome_of(lambda action=action: action(weighted_star(50)))
    for name, make, sizes in tasks:
        if arguments.graphs and name not in arguments.graphs:
            continue
        operations = EVERY if sizes[0] <= SMALL[0] and name != "clique" else LINEAR
        for size in sizes:
            row, graph = outcome_of(lambda make=make, size=size: make(size))
            place = {"graph": name, "size": size}
            rows.append(place | {"operation": "making the graph"} | row)
            print(*rows[-1].values(), flush=True)
            for operation, action in operations.items() if graph is not None else ():
                row, _ = outcome_of(lambda action=action, graph=graph: action(graph))
                rows.append(place | {"operation": operation} | row)
                print(*rows[-1].values(), flush=True)
        if not arguments.graphs:  # what an interrupted run has found is kept
            record("odd_graphs", summary(rows) | {"rows": rows})
    print(summary(rows))
    print(*(row for row in rows if row["outcome"].startswith("FAILED")), sep="\n")


def summary(rows: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many trials there were, and how they ended."""
    endings = [row["outcome"].partition(":")[0] for row in rows]
    counts = {ending: endings.count(ending) for ending in ("finite", "refused", "FAILED")}
    return {"trials": len(rows)} | counts


if __name__ == "__main__":
    main()
