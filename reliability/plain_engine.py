"""Run all of the plain engine on small graphs: every kind of walk, a training and LINE.

    REINFORCE2VEC_ENGINE=plain NUMBA_DISABLE_JIT=1 python reliability/plain_engine.py result.npz

Without the compiler, a tool for coverage sees which lines of its kernels run: `make platform
ARGS=--kernels` does that, and compares the results with those of the compiled plain engine.
"""

from __future__ import annotations

import argparse

import numpy as np

from reinforce2vec import (
    LINE,
    FirstOrderWalk,
    Graph,
    Reinforce2Vec,
    ReinforcedWalk,
    SecondOrderWalk,
    karate_club,
    sample_walks,
)

CLUB = karate_club()
STAR = Graph.from_edges([(0, leaf) for leaf in range(1, 60)] + [(1, 2), (3, 4)])
PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)], nodes=[9], directed=True)
WEIGHTED = Graph.from_edges(
    [(a, b) for a in range(12) for b in range(a)], weights=[1 + n % 7 for n in range(66)]
)
WALKS = [
    FirstOrderWalk(),
    SecondOrderWalk(0.3, 4.0),
    SecondOrderWalk(1e6, 1e-6),  # proposals are refused until all neighbours are weighed
    *(ReinforcedWalk.paper(score, "ucb") for score in ("vertex", "js", "kl")),
    *(
        ReinforcedWalk.released(score, rule)
        for score in ("js", "kl")
        for rule in ("epsilon", "ucb")
    ),
    *(ReinforcedWalk.released("vertex", rule) for rule in ("epsilon", "ucb")),
    ReinforcedWalk("js", weight=1e6),
    ReinforcedWalk("kl", weight=1e5, annealing="linear"),
    ReinforcedWalk.released("js", weight=1e6),
    ReinforcedWalk.released("kl", weight=1e4, candidates=2, attraction=0.01),
    ReinforcedWalk("js", temperature=1e-3, annealing="linear"),
    ReinforcedWalk.released("kl", temperature=1e-5),
    ReinforcedWalk("vertex", temperature=1e-3),
    ReinforcedWalk("kl", candidates=2, temperature=0.01),
    ReinforcedWalk.released("vertex", candidates=1, temperature=0.01),
    ReinforcedWalk("vertex", candidates=3),
    ReinforcedWalk("js", candidates=5, attraction=1e-3),
]


GRAPHS = {"club": CLUB, "star": STAR, "path": PATH, "weighted": WEIGHTED}
TRAININGS = [
    {"dimensions": 4, "window": (1, 3)},
    {"dimensions": 4, "window": 3, "subsample": 1e-2, "epochs": 2, "negatives": 13},
]


def all_results() -> dict[str, np.ndarray]:
    """Return walks and vectors, by names."""
    found = {}
    for name, graph in GRAPHS.items():
        for number, walk in enumerate(WALKS):
            some = {"starts": graph.ids[:4], "length": 20, "per_node": 1, "seed": 3}
            found[f"walks {name} {number}"] = np.array(sample_walks(graph, walk, **some))
    for number, settings in enumerate(TRAININGS):
        model = Reinforce2Vec(**settings, walks_per_node=1, walk_length=8, workers=1)
        found[f"vectors {number}"] = model.fit(CLUB, progress=False).embedding_.vectors
    found["LINE"] = LINE(4, samples=200, workers=1).fit_transform(CLUB, progress=False)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("result", help="the .npz file to write walks and vectors to")
    np.savez(parser.parse_args().result, **all_results())


if __name__ == "__main__":
    main()
